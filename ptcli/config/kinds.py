"""What kind of value a key takes (str, int, float, bool), known before anything is composed or imported.

Root keys have their dataclass; a choice's keys have the annotation of the constructor's parameter, read from source
without importing it, and the type of the YAML's default.
"""

import ast
import dataclasses
import functools
import re
import types
import typing
from contextlib import suppress
from pathlib import Path
from typing import Any

from ptcli.config import choices
from ptcli.config.command import root_of
from ptcli.config.outside import Outside, brought, package_folders

Kinds = frozenset[str]
UNKNOWN: Kinds = frozenset()
_NAMES = {"str", "int", "float", "bool"}


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
            return _in_group(group, segments[length:], folder)
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
            return _of_annotation(node)
    return UNKNOWN


def _of_annotation(annotation: Any) -> Kinds:
    members = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    return frozenset(member.__name__ for member in members if getattr(member, "__name__", "") in _NAMES)


def _in_group(group: str, segments: list[str], folder: Path | None) -> Kinds:
    found: set[str] = set()
    for choice in choices.choices(group, folder):
        for values in _with_bases(choice):
            found |= _in_values(values, segments)
    return frozenset(found)


def _with_bases(choice: choices.Choice) -> list[dict[str, Any]]:
    base = choice.base()
    return [choice.values, *(_with_bases(base) if base else [])]


def _in_values(values: dict[str, Any], segments: list[str]) -> set[str]:
    node: Any = values
    for segment in segments[:-1]:
        node = node.get(segment) if isinstance(node, dict) else None
    if not isinstance(node, dict):
        return set()
    last = segments[-1]
    found = set()
    if isinstance(node.get(last), str) and not node[last].startswith("${"):
        found.add("str")
    if isinstance(node.get("_target_"), str):
        annotation = _annotation(node["_target_"], last)
        found |= (
            {name.id for name in ast.walk(annotation) if isinstance(name, ast.Name)} & _NAMES if annotation else set()
        )
    return found


def _annotation(target: str, parameter: str) -> ast.expr | None:
    module, _, name = target.rpartition(".")
    body = _source(module) if module.split(".")[0] in ("ptcli", *brought().packages) else []
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return _parameter_of(node, parameter) or _unpacked(node, body, parameter)
    return None


@functools.cache
def _source(module: str) -> list[ast.stmt]:
    """The statements of a module of a package; none where it cannot be read."""
    package, *inner = module.split(".")
    for folder in package_folders(package) if inner else ():
        path = Path(folder, *inner).with_suffix(".py")
        if path.is_file():
            with suppress(SyntaxError, ValueError):
                return ast.parse(path.read_text(encoding="utf-8")).body
    return []


def _unpacked(node: ast.ClassDef, body: list[ast.stmt], parameter: str) -> ast.expr | None:
    """The annotation in the TypedDict of `**settings: Unpack[...]`, which the module imports by name."""
    imported = {
        alias.name: f"{item.module}.{alias.name}"
        for item in body
        if isinstance(item, ast.ImportFrom)
        for alias in item.names
    }
    for item in node.body:
        rest = item.args.kwarg if isinstance(item, ast.FunctionDef) and item.name == "__init__" else None
        if rest and isinstance(rest.annotation, ast.Subscript) and isinstance(rest.annotation.slice, ast.Name):
            return _annotation(imported.get(rest.annotation.slice.id, ""), parameter)
    return None


def _parameter_of(node: ast.ClassDef, parameter: str) -> ast.expr | None:
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            for argument in [*item.args.args, *item.args.kwonlyargs]:
                if argument.arg == parameter:
                    return argument.annotation
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id == parameter:
            return item.annotation
    return None
