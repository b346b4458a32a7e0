"""Tab completion (bash): commands here, groups, choices and keys by Hydra, which knows nothing of sub-commands."""

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress

from ptcli.config import choices
from ptcli.config.command import find, names
from ptcli.config.outside import Outside, bring, sort_out
from ptcli.config.targets import check_plugins
from ptcli.errors import ConfigError


def complete(words: Sequence[str]) -> int:
    """Answer `ptcli -sc install=bash` and the question that the shell asks at every tab (`-sc query=bash`)."""
    with bring(_typed_so_far()), suppress(ConfigError):  # a word that is wrong is told when the line is run
        _complete(words)
    return 0


def _typed_so_far() -> Outside:
    """What the line brings from outside, also behind the cursor; nothing where that is not there (yet)."""
    outside = Outside()
    with suppress(ConfigError, ValueError):
        typed = shlex.split(os.environ.get("COMP_LINE", ""))
        found, _ = sort_out(typed)
        outside = Outside(found.folders)
        check_plugins(found.packages, typed)
        with bring(found):
            names()
        outside = found
    return outside


def _complete(words: Sequence[str]) -> None:
    if not any(word.startswith("query=") for word in words):
        _hydra_completion(words, command="pretrain")  # any that Hydra composes
        return
    line = os.environ.get("COMP_LINE", "")
    line = line[: int(os.environ.get("COMP_POINT", len(line)) or len(line))]
    typed = line.split()
    at_new_word = line.endswith((" ", "\t")) or not line
    if len(typed) < 2 or (len(typed) == 2 and not at_new_word):
        start = typed[1] if len(typed) == 2 else ""
        print("\n".join(name for name in [*names(), "help"] if name.startswith(start)))
        return
    name = typed[1]
    if name in ("help", "--help", "-h"):
        print("\n".join(names()))
        return
    start = "" if at_new_word else typed[-1]
    command = find(name)
    if command is None or command.root is None:
        groups = choices.groups() if command else ()
        group = start.partition("=")[0]
        several = (f"{group}={choice.name}" for choice in choices.choices(group)) if "=" in start else groups
        print("\n".join(word for word in several if word.startswith(start)))
        return
    if start.startswith("-") or not choices.root(name).path.is_file():
        return
    before = _others(typed[2:] if at_new_word else typed[2:-1])
    sweeps = ["-m"] if {"-m", "--multirun"} & set(before) else []  # Hydra's completion wants flags first
    overrides = [word for word in before if not word.startswith("-")]
    os.environ["COMP_LINE"] = line = " ".join(["ptcli", *sweeps, *overrides, start])
    os.environ["COMP_POINT"] = str(len(line))
    _hydra_completion(words, command=name)


def _others(words: Sequence[str]) -> list[str]:
    """The words but those that bring something from outside, which Hydra's completion does not read."""
    with suppress(ConfigError):
        return sort_out(words)[1]
    return list(words)


def _hydra_completion(words: Sequence[str], *, command: str) -> None:
    from ptcli.launch.hydra_main import hydra_main

    hydra_main(lambda config: None, command=command, words=["-sc", *words])
