"""The help of one command: its groups with their choices, its keys with meaning and default, examples."""

import shutil
import textwrap
from collections.abc import Sequence

from ptcli.config import choices
from ptcli.config.choices import shown
from ptcli.config.command import Command


def command_help(command: Command) -> str:
    """Plain text, as wide as the terminal; built from its record and its YAML, without Hydra."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    positional = f" [{command.words}]" if command.words else ""
    overrides = " [key=value ...]" if command.root else ""
    parts = [f"ptcli {command.name}: {command.line}", "", f"usage: ptcli {command.name}{overrides}{positional}"]
    if command.root and not choices.root(command.name).path.is_file():
        parts += ["", f"its keys are in {command.name}.yaml: type --config-dir=FOLDER as well"]
    elif command.root:
        parts += _groups(command.name, width)
        parts += _keys(command.name, width)
        parts += [
            "",
            "also: -m (all combinations of values with commas, one run each), --cfg job (show the configuration),",
            "      --cfg provenance (and the file that set each value),",
            "      --config-dir=FOLDER (your own choices, as FOLDER/mask/mine.yaml), plugins=[PACKAGE] (your code),",
            "      --info, --hydra-help",
        ]
    if command.examples:
        parts += ["", "examples:", *(f"  {example}" for example in command.examples)]
    return "\n".join(parts)


def _groups(root: str, width: int) -> list[str]:
    chosen = choices.default_choices(root)
    used = {group.partition("@")[0] for group in chosen}
    names = [group for group in choices.groups() if group.split("/")[0] in used]
    if not names:
        return []
    rows = []
    for group in names:
        default = chosen.get(group)
        listed = ", ".join(f"{c.name}*" if c.name == default else c.name for c in choices.choices(group))
        rows.append((group, listed))
    places = [f"{group}@{place}" for group, _, place in (entry.partition("@") for entry in chosen) if place]
    title = "groups (group=choice; * is the default; `ptcli options GROUP` tells more):"
    lines = ["", title, *_columns(rows, width)]
    return [*lines, *(f"  {entry}=CHOICE   the same choices in another place" for entry in places)]


def _keys(root: str, width: int) -> list[str]:
    rows = [
        (f"{key}={shown(value)}", comment)
        for key, (value, comment) in choices.root(root).key_table().items()
        if not key.startswith("hydra.")
    ]
    return ["", "keys and their defaults (those of a choice: `ptcli options GROUP`):", *_columns(rows, width)]


def _columns(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    first = min(max(len(left) for left, _ in rows) + 2, 34)
    lines = []
    for left, right in rows:
        wrapped = textwrap.wrap(right, max(width - first - 2, 20)) or [""]
        lead = f"  {left:<{first}}" if len(left) < first else f"  {left}\n  {'':<{first}}"
        lines.append((lead + wrapped[0]).rstrip())
        lines += [f"  {'':<{first}}{line}" for line in wrapped[1:]]
    return lines
