"""What one choice of a group changes against another: two composed configurations, told in a line a group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import OmegaConf

from ptcli.config import choices as conf
from ptcli.config.choices import flatten
from ptcli.config.compose import Composed, compose

_SAY_NOTHING = ("model.name",)  # goes with the choice


@dataclass(frozen=True)
class Difference:
    """One line: a group or a root key, and what each side has there."""

    name: str
    there: str  # the choice that is compared with
    here: str


def differences(group: str, here: str, there: str) -> list[Difference]:
    """What `group`=`here` changes against `group`=`there`, in the order of the configuration. Raises ConfigError.

    Of a group, its choice is told where that differs, and the values of keys that both sides have; keys of one side
    alone go with its choice.
    """
    return list(_differences(*(compose("pretrain", [f"{group}={name}"]) for name in (there, here)), skip=group))


def _differences(there: Composed, here: Composed, *, skip: str) -> Iterator[Difference]:
    values = [_by_line(composed) for composed in (there, here)]
    order = list(there.config)
    chosen_groups = {name for composed in (there, here) for name in composed.choices if name.split("/")[0] in order}
    names = chosen_groups | {*values[0], *values[1]}
    for name in sorted(names, key=lambda name: (order.index(name.split("/")[0]), name)):
        one, other = (side.get(name, {}) for side in values)
        chosen = [_choice(composed, name) for composed in (there, here)]
        keys = [key for key in one if key in other and one[key] != other[key] and key not in _SAY_NOTHING]
        named = chosen[0] != chosen[1] and name != skip
        if not keys and not named:
            continue
        cells = [
            _cell(choice if named else None, {key: side[key] for key in keys if key in side}, name)
            for choice, side in zip(chosen, (one, other), strict=True)
        ]
        yield Difference(name, *cells)


def _by_line(composed: Composed) -> dict[str, dict[str, Any]]:
    """Values by the line that tells them: a group's own keys by the group, other keys by their first segment."""
    lines: dict[str, dict[str, Any]] = {}
    groups = sorted(conf.groups(), key=len, reverse=True)
    raw: Any = OmegaConf.to_container(composed.config)  # what only follows another key is no difference of its own
    for key, value in flatten(raw):
        name = next((g for g in groups if key.startswith(g.replace("/", ".") + ".")), key.split(".")[0])
        lines.setdefault(name, {})[key] = value
    return lines


def _choice(composed: Composed, name: str) -> str | None:
    found: Any = composed.choices.get(name)
    return "+".join(found) if isinstance(found, list) else found


def _cell(choice: str | None, values: Mapping[str, Any], name: str) -> str:
    prefix = name.replace("/", ".") + "."
    told = [
        _shown(value) if key == name else f"{key.removeprefix(prefix)} {_shown(value)}"
        for key, value in values.items()
        if name != "budget" or value is not None
    ]
    return ": ".join(part for part in (choice or "", ", ".join(told)) if part)


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return conf.shown(value)
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):  # phases
        return "; ".join(", ".join(f"{key} {_shown(one)}" for key, one in entry.items()) for entry in value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
