"""What conf/ offers: groups, their choices, and what each says of itself. Reads files, imports no part."""

import functools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from ptcli.config.comments import description, key_comments
from ptcli.config.outside import conf_folders
from ptcli.errors import ConfigError

Keys = dict[str, tuple[Any, str]]

SHARED = "_settings"
"""The file of a group that holds what several of its choices share: they begin with it, and it is no choice itself."""
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C, where PyYAML has it, is ten times faster


@dataclass(frozen=True)
class Choice:
    """One YAML file of a group."""

    group: str
    name: str
    path: Path

    @cached_property
    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{self.path} cannot be read: it is not UTF-8") from error

    @cached_property
    def values(self) -> dict[str, Any]:
        """The file's own content, its defaults list included."""
        try:
            loaded = yaml.load(self._text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            line = f" line {error.problem_mark.line + 1}:" if error.problem_mark else ""
            raise ConfigError(f"{self.path} cannot be read:{line} {error.problem}") from error
        return loaded if isinstance(loaded, dict) else {}

    @property
    def description(self) -> str:
        """One sentence: the first comment line of the file."""
        return description(self._text)

    @property
    def is_own(self) -> bool:
        """True where it lies in a folder of the user's."""
        return self.folder in conf_folders()[1:]

    @property
    def is_part(self) -> bool:
        """True where the choice has code of its own; a preset has only YAML."""
        if self.is_own:
            return self.target is not None and not self.target.startswith("ptcli.")
        return (Path(__file__).parents[1] / self.group / f"{self.name}.py").is_file()

    @property
    def target(self) -> str | None:
        """The `_target_` that the file itself names, where it names one."""
        nested = self.values.get(self.name)  # of a group whose choices lie beside each other by their names
        named = self.values.get("_target_") or (nested.get("_target_") if isinstance(nested, dict) else None)
        return str(named) if named else None

    @property
    def folder(self) -> Path:
        """The folder that holds the groups."""
        return self.path.parents[len(Path(self.group).parts)]

    def base(self) -> "Choice | None":
        """The choice of the same group that this one begins with, if any. The types of a root are no file."""
        names = [entry for entry in self.values.get("defaults") or [] if isinstance(entry, str) and entry != "_self_"]
        alone = None if self.folder in conf_folders() else self.folder
        found = (find(self.group, name, folder=alone) for name in names)
        return next((choice for choice in found if choice is not None), None)

    def with_base(self) -> dict[str, Any]:
        """The file's values over those of the choice that it begins with, key by key; without the defaults list."""
        base = self.base()
        own = {key: value for key, value in self.values.items() if key != "defaults"}
        return {**(base.with_base() if base else {}), **own}

    def key_table(self) -> Keys:
        """Dotted keys with default and comment: its own, then those of the choice that it begins with.

        What has the same first word stands together.
        """
        base = self.base()
        inherited: Keys = base.key_table() if base else {}
        comments = key_comments(self._text)
        own = {
            key: (value, comments.get(key) or inherited.get(key, (None, ""))[1])
            for key, value in flatten({k: v for k, v in self.values.items() if k != "defaults"})
        }
        keys = own | {key: told for key, told in inherited.items() if key not in own}
        order = list(dict.fromkeys(key.split(".")[0] for key in keys))
        return dict(sorted(keys.items(), key=lambda item: order.index(item[0].split(".")[0])))


def flatten(node: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Dotted keys and plain values of a nested mapping; Hydra's own keys (_target_ and the like) are left out."""
    pairs: list[tuple[str, Any]] = []
    for key, value in node.items():
        if str(key).startswith("_"):
            continue
        if isinstance(value, dict) and value:
            pairs += flatten(value, f"{prefix}{key}.")
        else:
            pairs.append((f"{prefix}{key}", value))
    return pairs


def groups(folder: Path | None = None) -> tuple[str, ...]:
    """All groups of conf/, nested ones as `model/position`, in alphabetical order; also those of a user's own roots.

    Here and below `folder` is one that is looked into alone; None: conf/ and the folders that the command line brings.
    """
    first, *others = _folders(folder)
    own = {group for other in others for group in _groups_of_roots(other)}
    return tuple(sorted({*_groups(first), *own})) if own else _groups(first)


@functools.cache
def _groups(root: Path) -> tuple[str, ...]:
    found = {path.parent.relative_to(root).as_posix() for path in root.rglob("*.yaml")}
    return tuple(sorted(found - {"."}))


def _groups_of_roots(own: Path) -> set[str]:
    """What lies in a user's folder is no group for that alone: its defaults list says so."""
    named = {group for path in own.glob("*.yaml") for group, _ in _entries(Choice("", path.stem, path))}
    return {group for group in named if "@" not in group and (own / group).is_dir()}


def choices(group: str, folder: Path | None = None) -> list[Choice]:
    """The choices of a group in alphabetical order; none where there is no such group. `_name.yaml` is no choice."""
    found: dict[str, Choice] = {}
    for root in _folders(folder):
        for path in (root / group).glob("[!_]*.yaml"):
            found.setdefault(path.stem, Choice(group, path.stem, path))
    return [found[name] for name in sorted(found)]


def find(group: str, name: str, folder: Path | None = None) -> Choice | None:
    """One choice of a group, or None. A name is no path: a phase of a loaded configuration gives one."""
    if Path(name).name != name:
        return None
    paths = (root / group / f"{name}.yaml" for root in _folders(folder))
    return next((Choice(group, name, path) for path in paths if path.is_file()), None)


def root(name: str, folder: Path | None = None) -> Choice:
    """A root file (conf/pretrain.yaml) read in the same way as a choice."""
    return find("", name, folder) or Choice("", name, _folders(folder)[0] / f"{name}.yaml")


def _folders(folder: Path | None) -> tuple[Path, ...]:
    return (folder,) if folder else conf_folders()


def default_choices(root_name: str, folder: Path | None = None) -> dict[str, str]:
    """What a root's defaults list chooses: group (with @package where it has one) -> choice; groups inside included.

    A root that begins with another one has its choices too.
    """
    base = root(root_name, folder).base()
    chosen = default_choices(base.name, folder) if base else {}
    for group, name in _entries(root(root_name, folder)):
        chosen[group] = name
        choice = find(group, name, folder) if "@" not in group else None
        if choice is None:
            continue
        for inner, inner_name in _entries(choice):
            if f"{group}/{inner}" in groups(folder):
                chosen[f"{group}/{inner}"] = inner_name
    return chosen


def shown(value: Any) -> str:
    """A default as it is typed; one that follows another key is shown by that key's name."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return text[2:-1].lstrip(".") if text.startswith("${") and text.endswith("}") else text


def _entries(choice: Choice) -> list[tuple[str, str]]:
    mappings = [entry for entry in choice.values.get("defaults") or [] if isinstance(entry, dict)]
    return [(k, v) for entry in mappings for k, v in entry.items() if not k.startswith(("override ", "/")) and v]
