"""Net 2: every `_target_` node of a configuration against the signature of what it names. Nothing is constructed."""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ptcli.command_line.suggest import listing, nearest
from ptcli.config import choices
from ptcli.config.targets import HYDRAS, locate, refusals
from ptcli.errors import ConfigError

Find = Callable[[str], Callable[..., Any]]  # the class of a _target_
_KIND_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
_MOST_PROBLEMS = 10


def bind(config: DictConfig | dict[str, Any], *, plugins: Iterable[str] = (), folder: Path | None = None) -> None:
    """Raise ConfigError with every problem found: unknown keys, values of another type, values where a part belongs.

    `config`: composed, or its plain values.
    """
    container = plain_values(config) if isinstance(config, DictConfig) else config
    problems = list(_parts_replaced(container, folder))
    refused = dict(refusals(container, plugins=plugins, folder=folder))
    problems += [f"{key}: {reason}" for key, reason in refused.items()]
    problems += _problems(container, "", functools.partial(locate, plugins=tuple(plugins), folder=folder), refused)
    if problems:
        shown = problems[:_MOST_PROBLEMS]
        more = [f"and {len(problems) - len(shown)} more"] if len(problems) > len(shown) else []
        raise ConfigError("\n".join([*shown, *more]))


def plain_values(config: DictConfig, *, whole: bool = False) -> dict[str, Any]:
    """Nested dicts and lists with all references replaced. ConfigError where one leads nowhere.

    `whole`: also where a value is missing.
    """
    try:
        values: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=whole)
    except OmegaConfBaseException as error:
        raise ConfigError(f"{getattr(error, 'full_key', '')}: {str(error).splitlines()[0]}") from error
    return values


def _parts_replaced(container: Any, folder: Path | None) -> Iterator[str]:
    """`model.position=rotary` typed for `model/position=rotary`: a value stands where a group's choice belongs."""
    for group in choices.groups(folder):
        node: Any = container
        for segment in group.split("/"):
            node = node.get(segment) if isinstance(node, dict) else None
        key = group.replace("/", ".")
        if isinstance(node, str | int | float):
            names = listing(choice.name for choice in choices.choices(group, folder))
            how = f"typed with a slash. Write {group}={node}" if "/" in group else f"one of {names}"
            yield f"{key}={node}: {group} is a group; its choice is {how}"


def _problems(node: Any, path: str, find: Find, refused: Container[str]) -> list[str]:
    if isinstance(node, list):
        return [problem for i, item in enumerate(node) for problem in _problems(item, f"{path}[{i}]", find, refused)]
    if not isinstance(node, dict):
        return []
    found: list[str] = []
    if "_target_" in node and path not in refused:
        found += _problems_of_target(node, path, find)
    for key, value in node.items():
        found += _problems(value, f"{path}.{key}" if path else str(key), find, refused)
    return found


def _problems_of_target(node: dict[str, Any], path: str, find: Find) -> list[str]:
    try:
        target = find(str(node["_target_"]))
    except ConfigError as error:
        return [f"{path}: {error}"]
    parameters, takes_any = signature(target)
    found = []
    for key, value in node.items():
        if key in HYDRAS:
            continue
        if key not in parameters and not takes_any:
            names = [name for name in node if name in parameters]
            near = nearest(key, names)
            hint = f" Did you mean {path}.{near}?" if near else ""
            has = f"It takes {listing(f'{path}.{name}' for name in names)}" if names else "It takes none"
            found.append(f"{path}.{key}: {_short(node['_target_'])} takes no {key}.{hint} {has}")
        elif value == "???":
            found.append(f"{path}.{key} must be given: write {path}.{key}=VALUE")
        elif key in parameters and (wanted := mismatch(value, parameters[key])):
            found.append(f"{path}.{key}={value}: takes {wanted}")
    return found


@functools.cache
def signature(target: Callable[..., Any]) -> tuple[dict[str, Any], bool]:
    """Parameters with their annotations (`self` aside), and whether any keyword is taken."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return {}, True
    hints = _hints(target)
    named = {
        p.name: hints.get(p.name, p.annotation)
        for p in parameters
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }
    rest = [p for p in parameters if p.kind is p.VAR_KEYWORD]
    if rest and typing.get_origin(hints.get(rest[0].name)) is typing.Unpack:  # **settings: Unpack[a TypedDict]
        return {**named, **typing.get_type_hints(typing.get_args(hints[rest[0].name])[0])}, False
    return named, bool(rest)


def _hints(target: Callable[..., Any]) -> dict[str, Any]:
    function = target.__init__ if inspect.isclass(target) else target
    try:
        return typing.get_type_hints(function)
    except Exception:  # an annotation that cannot be evaluated tells nothing; the constructor checks
        return {}


def mismatch(value: Any, annotation: Any) -> str:
    """What is wanted instead of a value of the wrong plain type, or nothing. Only plain annotations are judged."""
    members = members_of(annotation)
    plain = plain_types(annotation)
    if len(plain) + (types.NoneType in members) != len(members) or isinstance(value, dict | list):
        return ""
    if value is None:
        return "" if types.NoneType in members else " or ".join(_KIND_WORDS[member] for member in plain)
    fits = {
        bool: isinstance(value, bool),
        int: isinstance(value, int) and not isinstance(value, bool),
        float: isinstance(value, int | float) and not isinstance(value, bool),
        str: isinstance(value, str),
    }
    return "" if any(fits[member] for member in plain) else " or ".join(_KIND_WORDS[member] for member in plain)


def members_of(annotation: Any) -> tuple[Any, ...]:
    """The types that an annotation joins with |."""
    union = typing.get_origin(annotation) in (types.UnionType, typing.Union)
    return typing.get_args(annotation) if union else (annotation,)


def plain_types(annotation: Any) -> list[type]:
    """Those of them that one word can be: numbers, true or false, texts."""
    return [member for member in members_of(annotation) if member in _KIND_WORDS]


def _short(target: str) -> str:
    return target.rpartition(".")[2]
