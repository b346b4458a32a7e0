"""The table of sub-commands. What a command does lies in ptcli/command/<name>.py and is imported when it is chosen."""

import io
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import ptcli
from ptcli.errors import ConfigError, PtcliError


@dataclass(frozen=True)
class Command:
    """One line of the table. `root`: conf/<root>.yaml; None for a command without a configuration."""

    name: str
    line: str
    root: str | None
    words: str = ""  # what positional words are, where there are any
    examples: tuple[str, ...] = ()


COMMANDS = (
    Command(
        "pretrain",
        "train a model on text",
        "pretrain",
        examples=(
            "ptcli pretrain                                          BERT on the embedded corpus",
            "ptcli pretrain recipe=demo                              a small model that learns in minutes",
            "ptcli pretrain model=albert model/size=mini mask=span corpus=text corpus.path=books/ budget.minutes=3",
            "ptcli pretrain -m mask.ratio=0.15,0.3,0.4 seed=1,2,3    nine runs, one after the other",
        ),
    ),
    Command(
        "finetune",
        "train a pretrained model on a task",
        "finetune",
        examples=(
            "ptcli finetune checkpoint=runs/NAME task=classification task.path=reviews/ max_length=64",
            "ptcli finetune checkpoint=runs/NAME task=sst2 task.path=SST-2/     a benchmark's own layout",
            "ptcli finetune -m checkpoint=runs/NAME task=rte seed=1,2,3,4,5     five runs, one after the other",
            "ptcli finetune checkpoint=runs/NAME task=[mnli,qqp,stsb]           one encoder with a head for each",
        ),
    ),
    Command(
        "predict",
        "let a fine-tuned model answer the rows of a file",
        "predict",
        examples=(
            "ptcli predict checkpoint=runs/NAME input=test.tsv output=answers.csv",
            "ptcli predict checkpoint=runs/NAME input=test.tsv output=sub.tsv format=submission",
        ),
    ),
    Command(
        "prepare",
        "tokenise a corpus and store it, as pretrain would",
        "prepare",
        examples=(
            "ptcli prepare corpus=text corpus.path=books/ prepare.workers=8          in eight processes",
            "ptcli prepare corpus=text corpus.path=books/ prepare.shard=3/64       one of 64 jobs",
        ),
    ),
    Command(
        "view",
        "show rows as training will be fed them, and measure what the mask does",
        "view",
        examples=(
            "ptcli view mask=span                                    rows and figures in the terminal",
            "ptcli view mask=span show=0 examples=10000              figures alone",
            "ptcli view compare=[token,whole_word,span]              the same rows under several masks",
            "ptcli view mask=span format=html output=view.html       a page for the browser",
        ),
    ),
    Command(
        "check",
        "say whether a configuration fits together, what it needs and how long it takes; trains nothing",
        "check",
        examples=(
            "ptcli check model=albert model/size=albert_xxlarge",
            "ptcli check recipe=bert corpus=text corpus.path=books/      time for the whole recipe on this machine",
        ),
    ),
    Command(
        "evaluate",
        "measure a model on held-out text, or a fine-tuned one on its task",
        "evaluate",
        examples=(
            "ptcli evaluate checkpoint=runs/NAME                         on the documents it held out",
            "ptcli evaluate checkpoint=runs/NAME corpus.path=other.txt",
            "ptcli evaluate checkpoint=runs/FINE-TUNED errors=errors.tsv  on its task; the worst rows first",
        ),
    ),
    Command(
        "fill",
        "let a model fill in the [MASK]s of a sentence",
        "fill",
        words="the sentence",
        examples=('ptcli fill checkpoint=runs/NAME "Paris is the [MASK] of France."',),
    ),
    Command(
        "export",
        "write a model for transformers or for ONNX, and check that it gives the same numbers",
        "export",
        examples=(
            "ptcli export checkpoint=runs/NAME output=my-bert               a folder that transformers loads",
            "ptcli export checkpoint=runs/NAME format=onnx output=my-onnx   model.onnx for onnxruntime",
        ),
    ),
    Command(
        "reproduce",
        "take the first steps of a run once more, and say whether they are bitwise equal",
        "reproduce",
        words="a run folder",
        examples=("ptcli reproduce runs/NAME", "ptcli reproduce runs/NAME steps=5"),
    ),
    Command(
        "options",
        "list the groups of options, the choices of one group and their keys, or how two choices differ",
        None,
        words="a group, or group=choice against=choice",
        examples=(
            "ptcli options",
            "ptcli options mask",
            "ptcli options model/position",
            "ptcli options recipe=roberta against=bert               what the paper changed",
        ),
    ),
)
_HELP = ("help", "--help", "-h")


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

        return complete(words[1:], commands={command.name: command.root for command in COMMANDS})
    if not words:
        print(_overview())
        return 0
    if words[0] in ("--version", "-V", "version"):
        print(f"ptcli {ptcli.__version__}")
        return 0
    if words[0] in _HELP:
        return _help(words[1:])
    command, rest = _find(words[0]), words[1:]
    if any(word in _HELP for word in rest):
        return _help([command.name])
    if command.root is None:
        return _without_configuration(command, rest)
    if command.name == "prepare":  # it multiplies no matrices; of a process of one thread others can be forked
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ptcli.launch.run import run

    overrides, positional = _positional(command, rest)
    trains = command.root in ("pretrain", "prepare", "check", "view")  # what is trained, or looked at before it is
    if trains and any(word.startswith("checkpoint=") for word in overrides):
        from ptcli.run.initial_weights import implied

        overrides = [*implied(overrides), *overrides]
    from ptcli.launch.environment import is_one_of_several

    lead = partial(run, command.name, overrides, root=command.root, positional=positional)
    if command.name in ("pretrain", "finetune") and is_one_of_several():
        from ptcli.launch.group import end_at_once, lead_or_follow

        end_at_once(lead_or_follow(lead))
    return lead()


def _find(name: str) -> Command:
    """The command of this name; ConfigError with the list and the nearest one where there is none."""
    for command in COMMANDS:
        if command.name == name:
            return command
    from ptcli.command_line.suggest import did_you_mean

    names = [command.name for command in COMMANDS]
    if "=" in name or name.startswith("-"):
        raise ConfigError(f"the command comes first: ptcli COMMAND {name}\nCommands: {', '.join(names)}")
    raise ConfigError(f"there is no command {name}.{did_you_mean(name, names)}\nCommands: {', '.join(names)}")


def _without_configuration(command: Command, words: list[str]) -> int:
    import importlib

    from ptcli.config.context import Context

    flag = next((word for word in words if word.startswith("-")), None)
    if flag:
        raise ConfigError(f"{flag}: ptcli {command.name} takes {command.words} and no flags")
    context = Context(command.name, tuple(words))
    result = importlib.import_module(f"ptcli.command.{command.name}").run(None, context)
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
        follows_flag = position > 0 and words[position - 1] in ("--cfg", "-c", "--info", "-i", "--package", "-p")
        (overrides if override.match(word) or follows_flag else positional).append(word)
    return overrides, positional


def _help(names: list[str]) -> int:
    if not names:
        print(_overview())
        return 0
    command = _find(names[0])
    from ptcli.command_line.help import command_help

    print(command_help(command.name, command.line, root=command.root, words=command.words, examples=command.examples))
    return 0


def _overview() -> str:
    width = max(len(command.name) for command in COMMANDS) + 2
    lines = [ptcli.__doc__ or "", "", "usage: ptcli COMMAND [key=value ...]", "", "commands:"]
    lines += [f"  {command.name:<{width}}{command.line}" for command in COMMANDS]
    lines += [
        "",
        "first steps:",
        "  ptcli pretrain recipe=demo     train a small model on the embedded corpus, in minutes",
        "  ptcli pretrain --help          groups, keys and examples of a command",
        "  ptcli options mask             the choices of a group and their keys",
        '  eval "$(ptcli -sc install=bash)"   tab completion in this shell',
    ]
    return "\n".join(lines)
