"""Which pairs of choices do not go together: `make docs` writes docs/combinations.md."""

import itertools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptcli.config import choices as conf
from ptcli.config.bind import plain_values
from ptcli.config.compose import composer
from ptcli.config.facts import Facts, Part, facts_of
from ptcli.config.locate import conf_folder
from ptcli.config.rules import RULES

NO_SLOTS = ("recipe", "task")  # a recipe chooses for other groups; a task is what is done with a finished model


@dataclass(frozen=True)
class Choice:
    """One choice of one slot, with the facts that it brings and no others."""

    group: str
    name: str
    parts: Mapping[str, tuple[Part, ...]]
    values: Mapping[str, Any]

    @property
    def typed(self) -> str:
        """As it is typed."""
        return f"{self.group}={self.name}"


@dataclass(frozen=True)
class Refused:
    """A pair of choices that no other choice can save."""

    first: str
    second: str
    rule: str
    message: str


def slots(folder: Path | None = None) -> dict[str, list[Choice]]:
    """Every choice of every slot with its facts; slots inside the model are composed with the default model."""
    names = [group for group in conf.groups(folder) if group.split("/")[0] not in NO_SLOTS]
    outer, inner = [g for g in names if "/" not in g], [g for g in names if "/" in g]
    found: dict[str, list[Choice]] = {group: [] for group in names}
    with composer("pretrain", folder=folder) as compose:
        for together_composed in (outer, inner):
            columns = [[choice.name for choice in conf.choices(group, folder)] for group in together_composed]
            for row in itertools.zip_longest(*columns):  # one composition shows a choice of every slot
                chosen = {group: name for group, name in zip(together_composed, row, strict=True) if name}
                composed = compose([f"{group}={name}" for group, name in chosen.items()])
                facts = facts_of(plain_values(composed.config), composed.choices, folder=folder)
                for group, name in chosen.items():
                    mine = {at: parts for at, parts in facts.parts.items() if f"{at}/".startswith(f"{group}/")}
                    found[group].append(Choice(group, name, mine, _only(facts.values, group)))
    return found


def together(*chosen: Choice, folder: Path | None = None) -> Facts:
    """The facts of some choices and of nothing else, so that only rules between them can speak.

    A slot inside the model replaces what the model itself brought.
    """
    parts: dict[str, tuple[Part, ...]] = {}
    values: dict[str, Any] = {}
    for choice in sorted(chosen, key=lambda choice: choice.group.count("/")):
        parts |= choice.parts
        values = _merged(values, choice.values)
    return Facts(parts, values, folder)


def refused_pairs(found: Mapping[str, list[Choice]], folder: Path | None = None) -> Iterator[Refused]:
    """Pairs of choices of two slots that a rule refuses whatever the other slots hold."""
    for first_group, second_group in itertools.combinations(found, 2):
        for first, second in itertools.product(found[first_group], found[second_group]):
            facts = together(first, second, folder=folder)
            for rule in RULES:
                message = rule(facts)
                if message is not None:
                    yield Refused(first.typed, second.typed, rule.__name__, message)


def page(refused: list[Refused]) -> str:
    """docs/combinations.md."""
    lines = [
        "# Combinations that are refused",
        "",
        "Any two choices that are not listed here go together. Made by `make docs`.",
        "",
    ]
    for rule in RULES:
        pairs = [pair for pair in refused if pair.rule == rule.__name__]
        if pairs:
            reason = (rule.__doc__ or "").splitlines()[0]
            lines += [f"## {reason}", "", "| choice | with | what ptcli says |", "|---|---|---|"]
            lines += [f"| `{pair.first}` | `{pair.second}` | {pair.message} |" for pair in pairs]
            lines.append("")
    return "\n".join(lines)


def _only(values: Mapping[str, Any], group: str) -> dict[str, Any]:
    first, *rest = group.split("/")
    if first not in values:
        return {}
    if not rest:
        return {first: values[first]}
    return {first: _only(values[first], "/".join(rest))}


def _merged(values: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(values)
    for key, value in more.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and "_target_" not in value:
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged


def main() -> int:
    """Write the page beside conf/."""
    path = conf_folder().parent / "docs" / "combinations.md"
    refused = list(refused_pairs(slots()))
    path.parent.mkdir(exist_ok=True)
    path.write_text(page(refused), encoding="utf-8")
    print(f"{path}: {len(refused)} refused pairs", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
