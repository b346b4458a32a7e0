"""What a sub-command says of itself, and finding it: the file ptcli/command/<name>.py is the whole index.

A command of the user's own is `<package>/command/<name>.py` of a package that `plugins=[...]` names.
"""

import functools
import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any


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
    """Every command, in alphabetical order."""
    return _below("ptcli.command")


@functools.cache
def _below(package: str) -> tuple[Command, ...]:
    folder = importlib.import_module(package).__path__
    return tuple(_record(f"{package}.{found.name}") for found in pkgutil.iter_modules(folder))


def _record(module: str) -> Command:
    record: Any = importlib.import_module(module).COMMAND
    return record


@functools.cache
def find(name: str) -> Command | None:
    """The command of this name, or None."""
    is_there = name.isidentifier() and importlib.util.find_spec(f"ptcli.command.{name}") is not None
    return _record(f"ptcli.command.{name}") if is_there else None


def code_of(name: str) -> ModuleType:
    """The file of a command that is there."""
    command = find(name)
    assert command is not None, name
    return command.code


def root_of(name: str) -> type | None:
    """The types of a command's configuration; None where there is no such command, or it has none."""
    command = find(name)
    return command.root if command else None
