"""Means between two log lines, kept on the device so that a step does not wait for it."""

import time
from typing import Any

import torch
from torch import Tensor

from ptcli.objective.loss import Loss
from ptcli.trainer.ranks import Ranks

# What the loader measures is a share of one of its counts; averaged by that count, the mean is the pooled share.
WEIGHTS = {"mask_ratio": "maskable", "mask_ratio_asked": "maskable", "fill": "positions"}
_STEPS = "number of steps"


class Meter:
    """Sums over steps. Loss means are weighted by scored positions; what the loader measures by its own count."""

    def __init__(
        self, device: torch.device, saved: dict[str, Any], *, ceiling: float | None = None, ranks: Ranks | None = None
    ):
        self._device, self._ranks = device, ranks or Ranks()
        self._ceiling = ceiling  # operations a second that could be reached; None: not known
        self._sums: dict[str, Tensor] = {
            name: torch.tensor(
                value if self._ranks.is_first or not _is_share(name) else 0.0, dtype=torch.float64, device=device
            )
            for name, value in saved.get("sums", {}).items()
        }
        self._weights: dict[str, float] = dict(saved.get("weights", {}))  # of the loss's terms
        self._measured: dict[str, list[float]] = {k: list(v) for k, v in saved.get("measured", {}).items()}
        self._bad_step = torch.full((), -1, dtype=torch.int64, device=device)
        self._restart()

    def _restart(self) -> None:
        self._tokens = 0  # of this process: speed is about now
        self._operations: float | None = 0.0
        self._waited = 0.0
        self._begun = time.perf_counter()
        self._paused = 0.0

    def _add(self, name: str, value: Tensor) -> None:
        value = value.detach().to(self._device, torch.float64)
        self._sums[name] = self._sums[name] + value if name in self._sums else value

    def add_loss(self, loss: Loss) -> None:
        """One micro-batch."""
        for term, value in loss.sums.items():
            self._add(f"loss/{term}", value)
            self._add(f"count/{term}", loss.counts[term])
            self._weights[term] = loss.weights.get(term, 1.0)
        for term, value in loss.correct.items():
            self._add(f"correct/{term}", value)

    def add_work(self, *, tokens: int, operations: float | None, waited: float) -> None:
        """One optimiser step's tokens, operations for each (None: not known), and seconds that it was waited for."""
        self._tokens += tokens
        self._waited += waited
        known = self._operations is not None and operations is not None
        self._operations = self._operations + tokens * operations if known else None  # type: ignore[operator]

    def add_step(
        self, *, step: int, total: Tensor, norm: Tensor, counts: dict[str, int], measured: dict[str, float]
    ) -> None:
        """One optimiser step, the `step`-th: its loss, its gradient's norm, what the loader measured."""
        self._add("norm", norm)
        steps = self._measured.setdefault(_STEPS, [0.0, 0.0])
        steps[0] += 1.0
        for name, value in measured.items():
            weight = float(counts.get(WEIGHTS.get(name, "tokens"), 0))
            pooled = self._measured.setdefault(name, [0.0, 0.0])  # mean so far, its weight
            pooled[1] += weight
            if weight:
                pooled[0] += (value - pooled[0]) * (weight / pooled[1])  # exact where all values are equal
        is_bad = (~(torch.isfinite(total.detach()) & torch.isfinite(norm.detach()))) & (self._bad_step < 0)
        self._bad_step = torch.where(is_bad, torch.full_like(self._bad_step, step), self._bad_step)

    def pause(self, seconds: float) -> None:
        """Time that is not to count as training speed."""
        self._paused += seconds

    def bad_step(self) -> int | None:
        """The first step whose loss or gradient was not finite. Waits for the device."""
        step = int(self._bad_step)
        return step if step >= 0 else None

    def line(self) -> dict[str, float | None]:
        """The means since the last line, by metric name; None where nothing was counted. Begins anew."""
        sums = self._totals()
        metrics: dict[str, float | None] = {"train/loss": 0.0}
        total = 0.0
        for term, weight in self._weights.items():
            count = sums.get(f"count/{term}", 0.0)
            total += weight * sums.get(f"loss/{term}", 0.0) / max(count, 1.0)
            metrics[f"train/{term}_loss"] = sums[f"loss/{term}"] / count if count else None
            if f"correct/{term}" in sums:
                metrics[f"train/{term}_accuracy"] = sums[f"correct/{term}"] / count if count else None
        steps, _ = self._measured.pop(_STEPS, [0.0, 0.0])
        metrics["train/loss"] = total if steps else None
        for name, (value, weight) in self._measured.items():
            metrics[f"train/{name}"] = value if weight else None
        metrics["train/grad_norm"] = sums["norm"] / steps if steps else None
        elapsed = max(time.perf_counter() - self._begun - self._paused, 1e-9)
        metrics["train/tokens_per_second"] = self._tokens / elapsed
        metrics["train/data_wait"] = min(self._waited / elapsed, 1.0)
        if self._ceiling and self._operations is not None:
            metrics["train/mfu"] = self._operations / elapsed / self._ceiling
        self._sums, self._measured = {}, {}
        self._restart()
        return metrics

    def _totals(self) -> dict[str, float]:
        """The sums over all ranks. Every rank must call it."""
        sums = {name: float(value) for name, value in self._sums.items()}
        return sums | self._ranks.sums({name: value for name, value in sums.items() if _is_share(name)})

    def saved(self) -> dict[str, Any]:
        """What a checkpoint keeps, so that the next log line after a resume is the undisturbed one."""
        return {
            "sums": self._totals(),
            "weights": self._weights,
            "measured": self._measured,
        }


def _is_share(name: str) -> bool:
    """Whether each rank sums what its own rows make of it; the rest is the same on all."""
    return name.startswith(("loss/", "count/", "correct/"))
