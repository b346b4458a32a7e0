"""What kind of value a key takes (str, int, float, bool), known before anything is composed.

Root keys have their dataclass. A choice's keys have the types of their defaults in YAML; where those are no numbers,
the parameters of the constructors say what else may stand there.
"""

import dataclasses
import functools
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptcli.config import choices
from ptcli.config.bind import plain_types, signature
from ptcli.config.command import find, root_of
from ptcli.config.outside import Outside, brought
from ptcli.config.targets import locate
from ptcli.errors import ConfigError

Kinds = frozenset[str]
UNKNOWN: Kinds = frozenset()


def kinds(key: str, root: str, folder: Path | None = None) -> Kinds:
    """Names of the types that the dotted key takes in this root; empty where that is not known."""
    return _kinds(key, root, folder, brought())


@functools.cache
def _kinds(key: str, root: str, folder: Path | None, outside: Outside) -> Kinds:
    segments = key.split(".")
    found = _in_dataclass(root_of(root), segments)
    if found:
        return found
    for length in range(len(segments) - 1, 0, -1):
        group = group_at(".".join(segments[:length]), root, folder)
        if group:
            record = find(root)
            built = record is None or group.split("/")[0] not in record.unbuilt
            return _in_group(group, segments[length:], folder, built=built)
    return UNKNOWN


def group_at(package: str, root: str, folder: Path | None = None) -> str | None:
    """The group that fills a place of the configuration: `eval.mask` -> `mask`, `model.size` -> `model/size`."""
    package = re.sub(r"^task\.members\.\w+", "task", package)  # one of several tasks is as if it were alone
    for entry in choices.default_choices(root, folder):
        group, _, place = entry.partition("@")
        if place == package:
            return group
    as_group = package.replace(".", "/")
    return as_group if as_group in choices.groups(folder) else None


def _in_dataclass(node: Any, segments: list[str]) -> Kinds:
    for position, segment in enumerate(segments):
        if not dataclasses.is_dataclass(node):
            return UNKNOWN
        hints = typing.get_type_hints(node)
        if segment not in hints:
            return UNKNOWN
        node = hints[segment]
        if position == len(segments) - 1:
            return frozenset(member.__name__ for member in plain_types(node))
    return UNKNOWN


def _in_group(group: str, segments: list[str], folder: Path | None, *, built: bool) -> Kinds:
    """`built`: whether the command builds the group's classes, so that they may be imported."""
    *parents, last = segments
    nodes = [
        node
        for choice in choices.choices(group, folder)
        for values in _with_bases(choice)
        if isinstance(node := _inside(values, parents), dict)
    ]
    defaults = [node[last] for node in nodes if last in node]
    found = {type(value).__name__ for value in defaults if isinstance(value, str | int | float) and not _follows(value)}
    is_number = bool(defaults) and all(isinstance(value, int | float) for value in defaults)
    if built and not is_number:
        found |= {kind for node in nodes for kind in _of_parameter(node.get("_target_"), last, folder)}
    return frozenset(found)


def _with_bases(choice: choices.Choice) -> list[dict[str, Any]]:
    base = choice.base()
    return [choice.values, *(_with_bases(base) if base else [])]


def _inside(node: Any, segments: list[str]) -> Any:
    for segment in segments:
        node = node.get(segment) if isinstance(node, dict) else None
    return node


def _follows(default: Any) -> bool:
    """Whether a default is another key's value."""
    return isinstance(default, str) and default.startswith("${")


def _of_parameter(target: Any, name: str, folder: Path | None) -> Iterator[str]:
    try:
        parameters, _ = signature(locate(str(target), plugins=brought().packages, folder=folder))
    except ConfigError:  # a node without a class, or with one that may not be run
        return
    if name in parameters:
        yield from (member.__name__ for member in plain_types(parameters[name]))
