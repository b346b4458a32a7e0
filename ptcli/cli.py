"""The command line: words to a sub-command. What a command is and does stands in ptcli/command/<name>.py."""

import io
import os
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import ptcli
from ptcli.config.choices import default_choices, root
from ptcli.config.command import Command, commands, find
from ptcli.config.outside import bring, sort_out
from ptcli.config.own_folders import check_own_folders, refuse_unread
from ptcli.errors import ConfigError, PtcliError

_HELP = ("help", "--help", "-h")
_TAKES_THE_NEXT = ("--cfg", "-c", "--info", "-i", "--package", "-p", "--config-dir", "-cd")  # flags of Hydra


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code. `words` default to the process's own."""
    words = list(sys.argv[1:] if words is None else words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = _main(words)
        sys.stdout.flush()
        return code
    except PtcliError as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            traceback.print_exc()
        print(f"ptcli: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("ptcli: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has enough: not an error
        return 0


def _main(words: list[str]) -> int:
    if "-sc" in words[:1] or "--shell-completion" in words[:1]:
        from ptcli.command_line.completion import complete

        return complete(words[1:])
    if not words:
        print(_overview())
        return 0
    if words[0] in ("--version", "-V", "version"):
        print(f"ptcli {ptcli.__version__}")
        return 0
    outside, others = sort_out(words)
    if outside.packages:
        from ptcli.config.targets import check_plugins

        check_plugins(outside.packages, words)
    with bring(outside):
        check_own_folders()
        if others[:1] and others[0] in _HELP:
            return _help(others[1:])
        return _command(words, others)


def _command(words: list[str], others: list[str]) -> int:
    """Run the command that is the first word. `others`: the words but those that bring something from outside."""
    command, rest = _find(words[0]), words[1:]
    if any(word in _HELP for word in rest):
        return _help([command.name])
    for name, value in command.environment.items():
        os.environ.setdefault(name, value)
    if command.root is None:
        return _without_configuration(command, others[1:])
    refuse_unread()
    if not root(command.name).path.is_file():
        raise ConfigError(
            f"ptcli {command.name} needs its configuration, {command.name}.yaml, in a folder of yours. "
            f"Type --config-dir=FOLDER"
        )
    from ptcli.launch.environment import is_one_of_several
    from ptcli.launch.run import run

    overrides, positional = _positional(command, rest)
    if any(word.startswith("checkpoint=") for word in overrides) and "model" in default_choices(command.name):
        from ptcli.run.initial_weights import implied  # of the model that is typed

        overrides = [*implied(overrides), *overrides]
    lead = partial(run, command.name, overrides, positional=positional)
    if command.trains and is_one_of_several():
        from ptcli.launch.group import end_at_once, lead_or_follow

        end_at_once(lead_or_follow(lead))
    return lead()


def _find(name: str) -> Command:
    """The command of this name; ConfigError with the list and the nearest one where there is none."""
    if found := find(name):
        return found
    from ptcli.command_line.suggest import did_you_mean

    names = [command.name for command in commands()]
    if "=" in name or name.startswith("-"):
        raise ConfigError(f"the command comes first: ptcli COMMAND {name}\nCommands: {', '.join(names)}")
    own = next((path for path in sorted(Path().glob("*/command/*.py")) if path.stem == name), None)
    hint = f" {own} is found by plugins=[{own.parts[0]}]." if own else did_you_mean(name, names)
    raise ConfigError(f"there is no command {name}.{hint}\nCommands: {', '.join(names)}")


def _without_configuration(command: Command, words: list[str]) -> int:
    from ptcli.config.context import Context

    flag = next((word for word in words if word.startswith("-")), None)
    if flag:
        raise ConfigError(f"{flag}: ptcli {command.name} takes {command.words} and no flags")
    context = Context(command.name, tuple(words))
    result = command.code.run(None, context)
    return result if isinstance(result, int) else 0


def _positional(command: Command, words: list[str]) -> tuple[list[str], list[str]]:
    """Split overrides from positional words, which Hydra must not see: an override has a key before an equals sign."""
    if not command.words:
        return words, []
    import re

    override = re.compile(r"^(\+\+?|~)?[A-Za-z_][\w./@-]*\s?=|^-")
    overrides: list[str] = []
    positional: list[str] = []
    for position, word in enumerate(words):
        follows_flag = position > 0 and words[position - 1] in _TAKES_THE_NEXT
        (overrides if override.match(word) or follows_flag else positional).append(word)
    return overrides, positional


def _help(names: list[str]) -> int:
    if not names:
        print(_overview())
        return 0
    from ptcli.command_line.help import command_help

    print(command_help(_find(names[0])))
    return 0


def _overview() -> str:
    width = max(len(command.name) for command in commands()) + 2
    lines = [ptcli.__doc__ or "", "", "usage: ptcli COMMAND [key=value ...]", "", "commands:"]
    lines += [f"  {command.name:<{width}}{command.line}" for command in commands()]
    lines += [
        "",
        "first steps:",
        "  ptcli pretrain recipe=demo     train a small model on the embedded corpus, in minutes",
        "  ptcli pretrain --help          groups, keys and examples of a command",
        "  ptcli options mask             the choices of a group and their keys",
        '  eval "$(ptcli -sc install=bash)"   tab completion in this shell',
    ]
    return "\n".join(lines)
