"""Optimiser steps of several loaders that take turns, each step of one of them, from any position."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import torch

from ptcli.batch.contract import MEMBER
from ptcli.batch.loader import Step
from ptcli.randomness import key_of, permute


class Member(Protocol):
    """What is asked of a loader."""

    def steps(self, position: dict[str, Any] | None = None, first_step: int = 0) -> Iterator[Step]:
        """Steps for ever, from a data state on."""
        ...

    def examples(self, position: dict[str, Any] | None) -> str:
        """What the step behind a data state is made of, in words."""
        ...


class JointLoader:
    """Feeds a trainer with the steps of several loaders.

    An epoch has steps[name] of each, in an order that is shuffled anew: a pure function of (seed, epoch). Each loader
    goes on where it stopped whenever its turn comes. A position holds theirs.

    Args:
        members: the loaders by name; batches say by their place here whose they are (ptcli.batch.contract, member).
        steps: how many of an epoch's steps each has, by name; 0 or more.
    """

    def __init__(self, members: Mapping[str, Member], *, steps: Mapping[str, int], seed: int):
        assert members.keys() == steps.keys() and sum(steps.values()) > 0
        self._members, self._seed = dict(members), seed
        self._names = tuple(members)
        self._ends = np.cumsum([steps[name] for name in self._names])
        self.epoch_steps = int(self._ends[-1])

    def order(self, epoch: int) -> Sequence[str]:
        """Whose each step of an epoch is."""
        return self._whose(epoch, np.arange(self.epoch_steps))

    def steps(self, position: dict[str, Any] | None = None, first_step: int = 0) -> Iterator[Step]:
        """Steps for ever, from a data state on. They do not depend on the step's number."""
        epoch, number, own = self._position(position)
        running: dict[str, Iterator[Step]] = {}
        try:
            while True:
                name = self._whose(epoch, np.array([number]))[0]
                if name not in running:
                    running[name] = self._members[name].steps(own[name]["position"], own[name]["steps"])
                step = next(running[name])
                own = {**own, name: {"steps": own[name]["steps"] + 1, "position": step.position}}
                number += 1
                if number == self.epoch_steps:
                    epoch, number = epoch + 1, 0
                mark = torch.empty((0, self._names.index(name)), dtype=torch.uint8)
                yield replace(
                    step,
                    micro_batches=[{**batch, MEMBER: mark} for batch in step.micro_batches],
                    position={"epoch": epoch, "step": number, "members": own},
                    measured={**step.measured, "epoch": epoch + number / self.epoch_steps},
                )
        finally:
            for each in running.values():
                each.close()  # type: ignore[attr-defined]  (generators: a thread may stand behind one)

    def examples(self, position: dict[str, Any] | None) -> str:
        """What the step behind a data state is made of, in words."""
        epoch, number, own = self._position(position)
        name = self._whose(epoch, np.array([number]))[0]
        return f"{name}: {self._members[name].examples(own[name]['position'])}"

    def _whose(self, epoch: int, numbers: np.ndarray) -> list[str]:
        places = permute(numbers, self.epoch_steps, key_of(self._seed, "task.mixing", epoch))
        return [self._names[place] for place in np.searchsorted(self._ends, places, side="right")]

    def _position(self, position: dict[str, Any] | None) -> tuple[int, int, dict[str, Any]]:
        """Epoch, step of it, and of each member its steps so far and its data state."""
        if position:
            return position["epoch"], position["step"], position["members"]
        return 0, 0, {name: {"steps": 0, "position": None} for name in self._names}
