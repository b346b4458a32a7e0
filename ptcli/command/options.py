"""`ptcli options [group]`: what can be chosen, read from YAML; what one choice changes against another."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ptcli.command_line.suggest import did_you_mean, listing
from ptcli.config import choices
from ptcli.config.choices import shown
from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.own_folders import unread
from ptcli.errors import ConfigError

COMMAND = Command(
    __name__,
    "list the groups of options, the choices of one group and their keys, or how two choices differ",
    words="a group, group=choice, or group=choice against=choice",
    examples=(
        "ptcli options",
        "ptcli options mask",
        "ptcli options model/position",
        "ptcli options mask=span                                 one choice with all of its keys",
        "ptcli options mask --config-dir=FOLDER                  your own choices among ours",
        "ptcli options recipe=roberta against=bert               what the paper changed",
    ),
)

_GROUPS = {
    "corpus": "where the text comes from",
    "words": "where words begin and end",
    "tokenizer": "how text becomes tokens",
    "pair": "what is asked about two segments",
    "packing": "how sentences fill the rows",
    "mask": "which tokens are hidden, and behind what",
    "noise": "how a sequence is corrupted where its length changes",
    "model": "the architecture",
    "model/attention": "what a token looks at",
    "model/ffn": "the feed-forward network of a layer",
    "model/norm": "the normalisation",
    "model/position": "how order is known; takes a list",
    "model/residual": "where the norms stand",
    "model/sharing": "which layers share weights",
    "model/size": "layers and widths",
    "objective": "what is predicted",
    "auxiliary": "further losses; takes a list",
    "optimizer": "how weights are updated",
    "schedule": "how the learning rate goes",
    "trainer": "device, precision and the loop",
    "logger": "where metrics go beside console and metrics.jsonl; takes a list",
    "recipe": "the choices of a whole paper or a demonstration",
    "task": "what a model is fine-tuned for",
    "task/adversarial": "small changes of the input that must not matter, while a task is trained",
    "task/head": "from what stands for an example to an answer",
    "task/mixing": "how often each of several tasks is trained",
    "task/pooling": "what stands for an example of a task",
}


def run(config: None, context: Context) -> int:
    """List all groups, the choices of each group named, or one choice; with `against=choice`, how the two differ.

    Raises ConfigError for a group or a choice that does not exist.
    """
    console = Console(highlight=False, soft_wrap=False)
    if not context.words:
        console.print(_overview())
        console.print("A choice is typed as group=choice, a key as group.key=value. More: ptcli options GROUP")
    if any(word.startswith("against=") for word in context.words):
        _compare(context.words, console)
        return 0
    for word in context.words:
        group, _, name = word.partition("=")
        _show(group.strip("/").replace(".", "/"), name, console)
    return 0


def _compare(words: Sequence[str], console: Console) -> None:
    from ptcli.config.difference import differences  # Hydra: to list choices takes none

    against = [word.removeprefix("against=") for word in words if word.startswith("against=")]
    named = [word for word in words if not word.startswith("against=")]
    if len(against) != 1 or len(named) != 1 or not all(named[0].partition("=")) or not against[0]:
        raise ConfigError("against= compares two choices of a group: ptcli options recipe=roberta against=bert")
    group, _, here = named[0].partition("=")
    there = against[0].removeprefix(f"{group}=")
    if group not in choices.groups():
        raise ConfigError(f"there is no group {group}.{_near(group)} Groups: {listing(choices.groups(), 40)}")
    found = differences(group, here, there)
    if not found:
        console.print(f"{group}={here} and {group}={there} are the same configuration")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", style="cyan", overflow="fold")
    table.add_column(f"{group}={there}", overflow="fold")
    table.add_column(f"{group}={here}", overflow="fold")
    for line in found:
        table.add_row(line.name, escape(line.there), escape(line.here))
    console.print(table)


def _overview(folder: Path | None = None) -> Table:
    table = _table("group", "what it decides", "choices")
    for group in choices.groups(folder):
        found = sorted(choices.choices(group, folder), key=lambda choice: not choice.is_own)
        names = listing((choice.name for choice in found), 12)
        table.add_row(group, _GROUPS.get(group, ""), names)
    return table


def _show(group: str, name: str, console: Console) -> None:
    """Show a group with all its choices, or with a `name` one choice."""
    found = choices.choices(group)
    if not found:
        near = _near(group)
        raise ConfigError(f"there is no group {group}.{near} Groups: {listing(choices.groups(), 40)}")
    if name:
        choice = choices.find(group, name)
        if choice is None:
            names = [choice.name for choice in found]
            told = f"there is no such choice.{did_you_mean(name, names)}"
            raise ConfigError(f"{group}={name}: {told} Choices of {group}: {listing(names, 40)}")
        console.print(escape(f"{_kind(choice)}, {choice.path}: {choice.description}"))
        _show_keys(choice, choice.key_table(), console)
        return
    default = choices.default_choices("pretrain").get(group)
    console.print(f"[bold]{group}[/bold]: {_GROUPS.get(group, '')}".rstrip(": "))
    table = _table("choice", "", "what it is")
    for choice in found:
        name = f"{choice.name} (default)" if choice.name == default else choice.name
        table.add_row(name, _kind(choice), escape(choice.description))
    console.print(table)
    for choice, _ in unread(group):
        console.print(f"{choice.path} is never read: {group}={choice.name} is another. Give the file another name")
    shared = choices.find(group, choices.SHARED)
    for choice in [*([shared] if shared else []), *found]:
        base = choice.base()  # what a preset inherits is shown with the choice that it begins with
        inherited = base.key_table() if base else {}
        _show_keys(choice, {k: told for k, told in choice.key_table().items() if inherited.get(k) != told}, console)
    inner = [name for name in choices.groups() if name.startswith(f"{group}/")]
    if inner:
        console.print(f"Groups inside: {', '.join(inner)}")


def _kind(choice: choices.Choice) -> str:
    return ("your " if choice.is_own else "") + ("part" if choice.is_part else "preset")


def _show_keys(choice: choices.Choice, keys: choices.Keys, console: Console) -> None:
    keys = {key: told for key, told in keys.items() if told[0] != {}}
    if not keys:
        return
    base = choice.base()
    begins = f", begins with {base.name}" if base and base.name != choices.SHARED else ""
    is_shared = choice.name == choices.SHARED
    console.print(
        f"[bold]shared settings[/bold]: {choice.description}"
        if is_shared
        else f"[bold]{choice.group}={choice.name}[/bold]{begins}"
    )
    table = _table("key", "default", "meaning")
    for key, (value, comment) in keys.items():
        place = choice.group.replace("/", ".")
        name = key if choice.group == "recipe" else f"{place}.{key}"
        table.add_row(escape(name), escape(shown(value)), escape(comment))
    console.print(table)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=False, ratio=None, style="cyan" if number == 0 else None)
    return table


def _near(group: str) -> str:
    names = choices.groups()
    for name in names:  # a choice was typed where its group belongs
        if choices.find(name, group):
            return f" {group} is a choice of {name}: ptcli options {name}."
    inner = next((name for name in names if name.split("/")[-1] == group), None)
    return f" Did you mean {inner}?" if inner else did_you_mean(group, names)
