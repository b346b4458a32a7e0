"""What conf/ offers: groups, their choices, and what each says of itself. Reads files, imports no part."""

import functools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from ptcli.config.comments import description, key_comments
from ptcli.config.locate import conf_folder

Keys = dict[str, tuple[Any, str]]
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C, where PyYAML has it, is ten times faster


@dataclass(frozen=True)
class Choice:
    """One YAML file of a group."""

    group: str
    name: str
    path: Path

    @cached_property
    def _text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def values(self) -> dict[str, Any]:
        """The file's own content, its defaults list included."""
        loaded = yaml.load(self._text, Loader=_LOADER)
        return loaded if isinstance(loaded, dict) else {}

    @property
    def description(self) -> str:
        """One sentence: the first comment line of the file."""
        return description(self._text)

    @property
    def is_part(self) -> bool:
        """True where the choice has code of its own; a preset has only YAML."""
        return (Path(__file__).parents[1] / self.group / f"{self.name}.py").is_file()

    def base(self) -> "Choice | None":
        """The choice of the same group that this one begins with, if any. The types of a root are no file."""
        names = [entry for entry in self.values.get("defaults") or [] if isinstance(entry, str) and entry != "_self_"]
        found = (find(self.group, name, folder=_root_of(self)) for name in names)
        return next((choice for choice in found if choice is not None), None)

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
    """All groups of conf/, nested ones as `model/position`, in alphabetical order."""
    return _groups(folder or conf_folder())


@functools.cache
def _groups(root: Path) -> tuple[str, ...]:
    found = {path.parent.relative_to(root).as_posix() for path in root.rglob("*.yaml")}
    return tuple(sorted(found - {"."}))


def choices(group: str, folder: Path | None = None) -> list[Choice]:
    """The choices of a group in alphabetical order; none where there is no such group."""
    root = folder or conf_folder()
    return [Choice(group, path.stem, path) for path in sorted((root / group).glob("*.yaml"))]


def find(group: str, name: str, folder: Path | None = None) -> Choice | None:
    """One choice of a group, or None. A name is no path: a phase of a loaded configuration gives one."""
    if Path(name).name != name:
        return None
    path = (folder or conf_folder()) / group / f"{name}.yaml"
    return Choice(group, name, path) if path.is_file() else None


def root(name: str, folder: Path | None = None) -> Choice:
    """A root file (conf/pretrain.yaml) read in the same way as a choice."""
    return Choice("", name, (folder or conf_folder()) / f"{name}.yaml")


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
            if (choice.path.parent / inner).is_dir():
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


def _root_of(choice: Choice) -> Path:
    depth = len(Path(choice.group).parts)
    return choice.path.parents[depth]
