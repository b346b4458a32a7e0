"""Which classes a configuration may name, and finding them.

Allowed are ptcli's own, the library classes that the shipped YAML names, and packages that the user names in
`plugins=[...]` on the command line. A name is judged by where the object found was defined, so that a path through one
of our modules (`ptcli.x.os.system`) leads nowhere.
"""

import functools
import importlib
import importlib.util
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ptcli.config.locate import conf_folder
from ptcli.errors import ConfigError


@functools.cache
def shipped_targets(folder: Path | None = None) -> frozenset[str]:
    """Every `_target_` that a file of conf/ names."""
    pattern = re.compile(r"_target_:\s*([\w.]+)")
    return frozenset(
        name for path in (folder or conf_folder()).rglob("*.yaml") for name in pattern.findall(path.read_text("utf-8"))
    )


def locate(target: str, plugins: Iterable[str] = ()) -> Callable[..., Any]:
    """The class or function that `_target_` names. Raises ConfigError where it is not allowed or not there."""
    return _locate(target, tuple(plugins))


@functools.cache
def _locate(target: str, plugins: tuple[str, ...]) -> Callable[..., Any]:
    allowed = ("ptcli", *plugins)
    if target not in shipped_targets() and target.split(".")[0] not in allowed:
        raise ConfigError(
            f"_target_: {target} is not run, because only classes of ptcli and those that its own YAML names are. "
            f"For your own class type plugins=[{target.split('.')[0]}] on the command line"
        )
    found = _import(target)
    home = getattr(found, "__module__", None) or ""
    if target not in shipped_targets() and home.split(".")[0] not in allowed:
        raise ConfigError(
            f"_target_: {target} is not run: it belongs to {home or 'another library'}, not to {allowed[0]}"
        )
    if not callable(found):
        raise ConfigError(f"_target_: {target} is no class or function")
    return found


def _import(target: str) -> Any:
    module_name, _, name = target.rpartition(".")
    if not module_name:
        raise ConfigError(f"_target_: {target} names no class: write package.module.Class")
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
        if not re.search(rf"\b{re.escape(name)}\b", line):
            raise ConfigError(f"plugins: {name} comes from a file; code is named on the command line: plugins=[{name}]")
    if plugins and "" not in sys.path:
        sys.path.insert(0, "")
    for name in plugins:
        if importlib.util.find_spec(name.split(".")[0]) is None:
            raise ConfigError(f"plugins=[{name}]: there is no package {name} in the current folder or the environment")
    return tuple(name.split(".")[0] for name in plugins)
