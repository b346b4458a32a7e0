"""What the chosen parts declare of themselves as class attributes, read without constructing anything."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptcli.config import choices as conf
from ptcli.config.targets import locate
from ptcli.errors import ConfigError


@dataclass(frozen=True)
class Part:
    """One chosen part: the group, the name of the choice, the class, and the values that the configuration gives it."""

    group: str
    name: str
    target: Callable[..., Any] | None  # None where the choice names no class
    values: Mapping[str, Any]

    def fact(self, name: str, default: Any = None) -> Any:
        """A class attribute; `default` where the class does not declare it or only an object would know."""
        return fact(self.target, name, default)

    @property
    def typed(self) -> str:
        """As it is typed: `pair=next_sentence`."""
        return f"{self.group}={self.name}"


def fact(target: Callable[..., Any] | None, name: str, default: Any = None) -> Any:
    """A plain class attribute of a target; `default` for a property, a method or nothing."""
    found = inspect.getattr_static(target, name, default) if target is not None else default
    plain = isinstance(found, bool | int | float | str | tuple | frozenset | set | list) or found is None
    return found if plain else default


@dataclass(frozen=True)
class Facts:
    """All parts of a configuration and its plain values."""

    parts: Mapping[str, tuple[Part, ...]]
    values: Mapping[str, Any]
    folder: Path | None = None
    plugins: tuple[str, ...] = ()

    def one(self, group: str) -> Part | None:
        """The part of a group that takes one choice."""
        found = self.parts.get(group, ())
        return found[0] if found else None

    def several(self, group: str) -> tuple[Part, ...]:
        """The parts of a group that takes several choices, such as model/position."""
        return self.parts.get(group, ())

    def value(self, key: str, default: Any = None) -> Any:
        """A value by its dotted key."""
        node: Any = self.values
        for segment in key.split("."):
            if not isinstance(node, Mapping) or segment not in node:
                return default
            node = node[segment]
        return node

    def others(self, group: str, fits: Callable[[Callable[..., Any]], bool], limit: int = 3) -> list[str]:
        """Choices of a group, as typed, whose class `fits`; parts before presets."""
        found = [choice for choice in conf.choices(group, self.folder) if _fits(choice, fits, self.plugins)]
        found.sort(key=lambda choice: not choice.is_part)
        return [f"{group}={choice.name}" for choice in found[:limit]]


def facts_of(
    values: Mapping[str, Any],
    choices: Mapping[str, str | list[str]],
    *,
    plugins: Iterable[str] = (),
    folder: Path | None = None,
) -> Facts:
    """Facts of the plain values of a composed configuration that has passed bind."""
    parts: dict[str, tuple[Part, ...]] = {}
    plugins = tuple(plugins)
    find = functools.partial(locate, plugins=plugins, folder=folder)
    for group in conf.groups(folder):
        node: Any = values
        for segment in group.split("/"):
            node = node.get(segment) if isinstance(node, dict) else None
        if isinstance(node, dict):
            parts[group] = _parts_at(group, node, choices.get(group), find)
    parts["noise"] = tuple(
        Part(part.group, part.name, find(noise["_target_"]), noise)
        for part in parts.get("auxiliary", ())
        if isinstance(noise := part.values.get("noise"), dict)
    )
    return Facts(parts, values, folder, plugins)


def _parts_at(
    group: str, node: dict[str, Any], chosen: Any, find: Callable[[str], Callable[..., Any]]
) -> tuple[Part, ...]:
    if "_target_" in node:
        return (Part(group, str(chosen), find(node["_target_"]), node),)
    inner = {
        name: value for name, value in node.items() if isinstance(value, dict) and "_target_" in value
    }  # a group whose choices are nested by name
    return tuple(Part(group, name, find(value["_target_"]), value) for name, value in inner.items())


@functools.cache
def target_of(choice: conf.Choice, plugins: tuple[str, ...] = ()) -> Callable[..., Any] | None:
    """The class that a choice names itself, or through the choice that it begins with; None where there is none."""
    if choice.target:
        try:
            return locate(choice.target, plugins)
        except ConfigError:
            return None
    base = choice.base()
    return target_of(base, plugins) if base else None


def _fits(choice: conf.Choice, fits: Callable[[Callable[..., Any]], bool], plugins: tuple[str, ...]) -> bool:
    target = target_of(choice, plugins)
    return target is not None and fits(target)
