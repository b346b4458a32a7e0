"""What a sub-command says of itself, and finding it: the file ptcli/command/<name>.py is the whole index.

A command of the user's own is `<package>/command/<name>.py` of a package that `plugins=[...]` names.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ptcli.config.outside import brought, package_folders
from ptcli.errors import ConfigError


@dataclass(frozen=True)
class Command:
    """The record COMMAND of a command's file, beside which `run(config, context)` does the work.

    What it imports is imported whenever commands are listed: what is heavy (torch, numpy) is imported inside `run`.
    """

    module: str
    """`__name__` of the file; its last word is the command."""
    line: str
    """What the command does, for the list of commands."""
    root: type | None = None
    """Types of the keys of conf/<name>.yaml; None: it takes no configuration, and `run` is given None."""
    words: str = ""
    """What positional words are, where it takes any."""
    examples: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    """What the key `format` may be."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """Keys that must be given, each with what to type behind `ptcli <name>`."""
    refuses: Mapping[str, str] = field(default_factory=dict)
    """Keys that stand in its configuration and must be left alone, each with the reason and the way out."""
    unbuilt: tuple[str, ...] = ()
    """Groups of which it builds nothing: their classes are not imported, and their keys typed all the same."""
    trains: bool = False
    """It makes run folders, and several processes may do one job of it together (torchrun, srun)."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that are set before anything is imported, unless they are."""

    @property
    def name(self) -> str:
        """As it is typed."""
        return self.module.rpartition(".")[2]

    @property
    def code(self) -> ModuleType:
        """The file itself, with `run`, and `follow` where it trains."""
        return importlib.import_module(self.module)


def commands() -> tuple[Command, ...]:
    """Every command, also of the packages that the command line brings, in alphabetical order."""
    return tuple(_record(module) for _, module in sorted(_modules(brought().packages).items()))


def names() -> list[str]:
    """The names of all commands, in alphabetical order; no file is imported."""
    return sorted(_modules(brought().packages))


def find(name: str) -> Command | None:
    """The command of this name, or None."""
    module = _modules(brought().packages).get(name)
    return _record(module) if module else None


def _modules(packages: tuple[str, ...]) -> dict[str, str]:
    """The module of each command by its name. Files are listed, none is imported."""
    found: dict[str, str] = {}
    for package in ("ptcli", *dict.fromkeys(packages)):
        folders = [str(Path(folder) / "command") for folder in package_folders(package)]
        for file in pkgutil.iter_modules(folders):
            if file.name.startswith("_"):
                continue
            if taken := found.get(file.name):
                theirs = "ptcli" if taken.startswith("ptcli.") else taken.removesuffix(f".command.{file.name}")
                raise ConfigError(
                    f"{package}/command/{file.name}.py: {theirs} has a command {file.name} already. "
                    "Give the file another name"
                )
            found[file.name] = f"{package}.command.{file.name}"
    return found


def _record(module: str) -> Command:
    if module.startswith("ptcli."):
        ours: Command = importlib.import_module(module).COMMAND
        return ours
    try:
        code: Any = importlib.import_module(module)
    except Exception as error:  # in code that is not ours anything may go wrong
        raise ConfigError(f"{module} cannot be imported: {type(error).__name__}: {error}") from error
    record = getattr(code, "COMMAND", None)
    if not isinstance(record, Command) or not callable(getattr(code, "run", None)):
        raise ConfigError(
            f"{module} is no command: it needs COMMAND = Command(__name__, ...) and def run(config, context). "
            "A file beside commands that is none begins with _"
        )
    if record.module != module:
        raise ConfigError(f"{module}: its record names {record.module}. Write COMMAND = Command(__name__, ...)")
    if record.root and not (is_dataclass(record.root) and "plugins" in {each.name for each in fields(record.root)}):
        raise ConfigError(f"{module}: {record.root.__name__} is no dataclass that begins with ptcli.config.root.Root")
    return record


def code_of(name: str) -> ModuleType:
    """The file of a command that is there."""
    command = find(name)
    assert command is not None, name
    return command.code


def root_of(name: str) -> type | None:
    """The types of a command's configuration; None where there is no such command, or it has none."""
    command = find(name)
    return command.root if command else None
