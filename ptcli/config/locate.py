"""Where conf/ lies: inside the installed package, or beside it in a checkout."""

from pathlib import Path

import ptcli


def conf_folder() -> Path:
    """The absolute path of conf/, looked for from the package's own path, so that no stale copy elsewhere is read."""
    package = Path(ptcli.__file__).resolve().parent
    inside = package / "conf"
    return inside if inside.is_dir() else package.parent / "conf"
