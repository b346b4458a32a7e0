"""Which classes a configuration may name, where it may name them, and finding them.

A node may name only what the YAML of conf/ names at that very place, letter by letter: `mask` one of the masks,
`model.position.rotary` the class of rotary.yaml alone, `model.embedding_size` nothing. Packages that the user names in
`plugins=[...]` on the command line may fill any of these places with classes of their own. All of it is decided by
names, before anything is imported: a folder from somebody else holds a configuration too (SECURITY.md).
"""

import functools
import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptcli.config import choices
from ptcli.config.locate import conf_folder
from ptcli.errors import ConfigError

HYDRAS = frozenset({"_target_", "_args_", "_partial_", "_recursive_", "_convert_", "_copy_", "_call_"})
"""Keys that say what is done with a node. All others are arguments."""

Settings = frozenset[tuple[str, str]]  # of HYDRAS, beside the target: key and value as Python writes it
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Places:
    """What conf/ names where. `named`: groups whose choices lie below it by their names, such as model.position."""

    classes: Mapping[str, Mapping[str, Settings]]
    groups: frozenset[str]
    named: frozenset[str]
    also: Mapping[str, str]  # eval.mask: mask
    members: frozenset[str]  # groups of which a choice holds others below `members`

    def of(self, key: str) -> str:
        """The place that a key is as good as: `mask` for eval.mask, `task` for task.members.mnli."""
        for elsewhere, group in self.also.items():
            if key == elsewhere or key.startswith(f"{elsewhere}."):
                return self.of(group + key.removeprefix(elsewhere))
        for group in self.members:
            if inside := re.match(rf"{group}\.members\.[\w-]+(?=\.|$)", key):
                return self.of(group + key[inside.end() :])
        return key

    def is_slot(self, place: str) -> bool:
        """Whether a group's choice belongs there."""
        return place in self.groups or place.rpartition(".")[0] in self.named


@functools.cache
def places(folder: Path | None = None) -> Places:
    """The places of conf/, or of another folder laid out like it."""
    folder = folder or conf_folder()
    classes: dict[str, dict[str, Settings]] = {}
    also: dict[str, str] = {}
    members: set[str] = set()
    empty: set[str] = set()
    groups = {group.replace("/", ".") for group in choices.groups(folder)}
    for path in sorted(folder.rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        group = path.parent.relative_to(folder).as_posix()
        choice = choices.Choice("" if group == "." else group, path.stem, path)
        place = "" if group == "." or "@package _global_" in text else group.replace("/", ".")
        if place and not choice.values:
            empty.add(place)
        for entry in choice.values.get("defaults") or []:
            also |= _elsewhere(entry, place)
        for inner, node in _nodes(choice.values, place):
            beside = frozenset((key, repr(node[key])) for key in node if key in HYDRAS - {"_target_"})
            known = classes.setdefault(inner, {})
            known[node["_target_"]] = known.get(node["_target_"], frozenset()) | beside
        if choice.values.get("members") == {}:
            members.add(place)
    named = {place.rpartition(".")[0] for place in classes if place not in groups} & groups
    named |= empty  # a choice that is nothing at all: those beside it stand by their names
    return Places(classes, frozenset(groups), frozenset(named), also, frozenset(members))


def _elsewhere(entry: Any, place: str) -> dict[str, str]:
    """`mask@eval.mask: evaluation` of a defaults list: where else a group's choice stands."""
    found = {}
    for name in entry if isinstance(entry, dict) else ():
        group, _, package = str(name).removeprefix("override ").lstrip("/").partition("@")
        where = package.removeprefix("_global_.") if "_global_" in package else f"{place}.{package}".strip(".")
        if package and where != group.replace("/", "."):
            found[where] = group.replace("/", ".")
    return found


def _nodes(node: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        if "_target_" in node:
            yield place, node
        for key, value in node.items():
            yield from _nodes(value, f"{place}.{key}".strip("."))


@functools.cache
def shipped_targets(folder: Path | None = None) -> frozenset[str]:
    """Every `_target_` that a file of conf/ names."""
    return frozenset(name for known in places(folder).classes.values() for name in known)


def refusals(
    node: Any, key: str = "", *, plugins: Iterable[str] = (), folder: Path | None = None
) -> Iterator[tuple[str, str]]:
    """Key and reason of all that may not stand in `node`, the value of `key` or a whole configuration.

    Nothing is imported. Inside a class of a plugin, its package and every class of conf/ may be named.
    """
    yield from _refusals(node, key, tuple(plugins), folder, inside_plugin=False)


def _refusals(
    node: Any, key: str, plugins: tuple[str, ...], folder: Path | None, *, inside_plugin: bool
) -> Iterator[tuple[str, str]]:
    if isinstance(node, list):
        for number, item in enumerate(node):
            yield from _refusals(item, f"{key}[{number}]", plugins, folder, inside_plugin=inside_plugin)
    if not isinstance(node, dict):
        return
    known = places(folder)
    place, target = known.of(key), node.get("_target_")
    inside_plugin = inside_plugin or (known.is_slot(place) and _is_of(target, plugins))
    if "_target_" in node and (reason := _reason(target, place, plugins, folder, inside_plugin=inside_plugin)):
        yield key, reason
    elif not inside_plugin:
        allowed = known.classes.get(place, {}).get(str(target), frozenset())
        for name in sorted(HYDRAS.intersection(node) - {"_target_"}):
            if (name, repr(node[name])) not in allowed:
                yield f"{key}.{name}".strip("."), f"{name} is not for configurations to set. Leave it out"
    for name, value in node.items():
        segment = str(name) if isinstance(name, str) and "." not in name and "[" not in name else repr(name)
        yield from _refusals(value, f"{key}.{segment}".strip("."), plugins, folder, inside_plugin=inside_plugin)


def _reason(target: Any, place: str, plugins: tuple[str, ...], folder: Path | None, *, inside_plugin: bool) -> str:
    """Why a target may not stand at a place; nothing where it may."""
    known = places(folder)
    if isinstance(target, str) and target in known.classes.get(place, {}):
        return ""
    if inside_plugin and (_is_of(target, plugins) or target in shipped_targets(folder)):
        return ""
    if not known.is_slot(place):
        return f"_target_: {target} is not run, because no class belongs there. Give a value, or leave it out"
    group = place if place in known.groups else place.rpartition(".")[0]
    return f"_target_: {target} is not run, because it is no choice of {group.replace('.', '/')}.{_own_class(target)}"


def _own_class(target: Any) -> str:
    package = str(target).split(".")[0]
    if package == "ptcli" or not _NAME.fullmatch(package):
        return ""
    return f" For your own class type plugins=[{package}] on the command line"


def _is_of(target: Any, plugins: tuple[str, ...]) -> bool:
    """Whether a target lies below one of the user's packages. Names such as __main__ are nobody's class."""
    names = target.split(".") if isinstance(target, str) else []
    plain = len(names) > 1 and all(_NAME.fullmatch(name) and not name.startswith("__") for name in names)
    return plain and any(target.startswith(f"{plugin}.") for plugin in plugins if plugin.split(".")[0] != "ptcli")


def refuse(node: Any, key: str = "", *, plugins: Iterable[str] = (), folder: Path | None = None) -> None:
    """Raise ConfigError with all that may not stand in a node."""
    if problems := [": ".join(found).strip(": ") for found in refusals(node, key, plugins=plugins, folder=folder)]:
        raise ConfigError("\n".join(problems))


def locate(target: str, plugins: Iterable[str] = (), folder: Path | None = None) -> Callable[..., Any]:
    """The class that a `_target_` names: of conf/, or of a plugin. Whether it may stand where it does, `refusals` says.

    Raises ConfigError where it is not allowed or not there.
    """
    return _locate(target, tuple(plugins), folder)


@functools.cache
def _locate(target: str, plugins: tuple[str, ...], folder: Path | None = None) -> Callable[..., Any]:
    is_shipped = target in shipped_targets(folder)
    if not is_shipped and not _is_of(target, plugins):
        raise ConfigError(
            f"_target_: {target} is not run, because only classes that the YAML of ptcli names are.{_own_class(target)}"
        )
    found = _import(target)
    if not inspect.isclass(found):
        raise ConfigError(f"_target_: {target} is no class")
    home = found.__module__.split(".")[0]
    if not is_shipped and home not in {plugin.split(".")[0] for plugin in plugins}:
        raise ConfigError(f"_target_: {target} is not run: it belongs to {home}, not to {target.split('.')[0]}")
    return found


def _import(target: str) -> Any:
    module_name, _, name = target.rpartition(".")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise ConfigError(f"_target_: {target}: there is no module {error.name}") from error
        raise ConfigError(f"_target_: {target} needs the package {error.name}, which is not installed") from error
    if not hasattr(module, name):
        raise ConfigError(f"_target_: {target}: the module {module_name} has no {name}")
    return getattr(module, name)


def check_plugins(plugins: Iterable[str], typed: Iterable[str]) -> tuple[str, ...]:
    """The user's packages, importable from the current folder from now on.

    Raises ConfigError for one that was not typed on the command line (a file cannot bring code) or is not there.
    """
    import sys

    plugins = tuple(plugins)
    line = next((word for word in typed if word.lstrip("+").startswith("plugins=")), "")
    for name in plugins:
        if name not in re.findall(r"[\w.]+", line.partition("=")[2]):
            raise ConfigError(f"plugins: {name} comes from a file; code is named on the command line: plugins=[{name}]")
        if name.split(".")[0] == "ptcli":
            raise ConfigError(f"plugins=[{name}]: ptcli's own classes are chosen by their groups (ptcli options)")
    if plugins and "" not in sys.path:
        sys.path.insert(0, "")
    for name in plugins:
        if importlib.util.find_spec(name.split(".")[0]) is None:
            raise ConfigError(f"plugins=[{name}]: there is no package {name} in the current folder or the environment")
    return plugins
