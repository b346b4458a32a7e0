"""Which class of transformers holds a model exactly, found by composing what each family's config.json stands for."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from ptcli.config.bind import plain_values
from ptcli.config.compose import compose
from ptcli.interop.families import FAMILIES
from ptcli.interop.family import Expanded, Family, differences


@dataclass(frozen=True)
class Target:
    """A family that holds a model exactly, and how. `head`: whether its masked-LM head is one of theirs."""

    family: Family
    expanded: Expanded
    numbers: dict[str, Any]  # of config.json
    head: bool
    tied: bool
    remarks: list[str]

    @property
    def architecture(self) -> str:
        """The class that holds it, without heads for pairs."""
        return self.family.masked_lm_class if self.head else self.family.body_class


def find_target(settings: dict[str, Any], *, pad_token_id: int) -> tuple[Target | None, list[str]]:
    """The family that holds the model of a resolved configuration exactly; where there is none, what stands against it.

    A family's own configuration of it is composed and compared with the model's, key by key. Where several hold it, one
    with its head comes first, then that of model.name, then the one that needs the fewest words.
    """
    against: dict[str, list[str]] = {}
    found: list[Target] = []
    for family in FAMILIES:
        expanded = family.expand(settings["model"])
        numbers = {**family.defaults, **family.describe(expanded.node, pad_token_id=pad_token_id)}
        theirs = _composed(tuple(family.overrides(numbers)))
        unlike = [
            f"{key}={ours} (there {there})"
            for key, (ours, there) in differences(expanded.node, theirs["model"]).items()
        ]
        if not unlike:
            found.append(_with_head(family, expanded, numbers, settings["objective"], theirs["objective"]))
        else:
            against[family.model_type] = unlike
    name = settings["model"].get("name")
    best = min(found, key=lambda t: (not t.head, t.family.model_type != name, len(t.remarks)), default=None)
    nearest = min(against, key=lambda model_type: len(against[model_type]), default=None)
    return best, [f"{nearest}: {', '.join(against[nearest])}"] if nearest else []


@cache
def _composed(overrides: tuple[str, ...]) -> dict[str, Any]:
    return plain_values(compose("pretrain", list(overrides)).config)


def _with_head(
    family: Family, expanded: Expanded, numbers: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]
) -> Target:
    unlike = {k: v for k, v in differences(ours, theirs, "objective").items() if k != "objective.pair_weight"}
    tied = "objective.tie" not in unlike
    if not tied and not family.tied_head_only:
        del unlike["objective.tie"]
    told = ", ".join(f"{key}={value}" for key, (value, _) in unlike.items())
    remarks = [*expanded.remarks, *([f"the head stays behind: {family.masked_lm_class} has no {told}"] if told else [])]
    return Target(family, expanded, numbers, head=not unlike, tied=tied, remarks=remarks)
