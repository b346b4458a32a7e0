"""Tab completion (bash): commands here, groups, choices and keys by Hydra, which knows nothing of sub-commands."""

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress

from ptcli.config import choices
from ptcli.config.command import commands
from ptcli.config.outside import Outside, bring, sort_out
from ptcli.config.targets import check_plugins
from ptcli.errors import ConfigError


def complete(words: Sequence[str]) -> int:
    """Answer `ptcli -sc install=bash` and the question that the shell asks at every tab (`-sc query=bash`)."""
    with bring(_typed_so_far()):
        return _complete(words)


def _typed_so_far() -> Outside:
    """What the line brings from outside, also behind the cursor; nothing where that is not there (yet)."""
    outside = Outside()
    with suppress(ConfigError, ValueError):
        typed = shlex.split(os.environ.get("COMP_LINE", ""))
        found, _ = sort_out(typed)
        outside = Outside(found.folders)
        check_plugins(found.packages, typed)
        with bring(found):
            commands()
        outside = found
    return outside


def _complete(words: Sequence[str]) -> int:
    known = {command.name: command for command in commands()}
    if not any(word.startswith("query=") for word in words):
        _hydra_completion(words, command=next(name for name, command in known.items() if command.root))
        return 0
    line = os.environ.get("COMP_LINE", "")
    line = line[: int(os.environ.get("COMP_POINT", len(line)) or len(line))]
    typed = line.split()
    at_new_word = line.endswith((" ", "\t")) or not line
    if len(typed) < 2 or (len(typed) == 2 and not at_new_word):
        start = typed[1] if len(typed) == 2 else ""
        print("\n".join(name for name in [*known, "help"] if name.startswith(start)))
        return 0
    name = typed[1]
    if name in ("help", "--help", "-h"):
        print("\n".join(known))
        return 0
    start = "" if at_new_word else typed[-1]
    if name not in known or known[name].root is None:
        groups = choices.groups() if name in known else ()
        group = start.partition("=")[0]
        several = (f"{group}={choice.name}" for choice in choices.choices(group)) if "=" in start else groups
        print("\n".join(word for word in several if word.startswith(start)))
        return 0
    if start.startswith("-") or not choices.root(name).path.is_file():
        return 0
    before = [word for word in _others(typed[2:] if at_new_word else typed[2:-1]) if not word.startswith("-")]
    os.environ["COMP_LINE"] = line = " ".join(["ptcli", *before, start])
    os.environ["COMP_POINT"] = str(len(line))
    _hydra_completion(words, command=name)
    return 0


def _others(words: Sequence[str]) -> list[str]:
    """The words but those that bring something from outside, which Hydra's completion does not read."""
    with suppress(ConfigError):
        return sort_out(words)[1]
    return list(words)


def _hydra_completion(words: Sequence[str], *, command: str) -> None:
    from ptcli.launch.hydra_main import hydra_main

    hydra_main(lambda config: None, command=command, words=["-sc", *words])
