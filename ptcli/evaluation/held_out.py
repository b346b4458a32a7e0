"""The held-out text, measured twice: under one fixed mask that no setting changes, and under the training's own.

Under the fixed mask (15 % of the tokens, always [MASK]) losses of runs with different masks, packings and lengths of
training compare. Under the own mask they show how hard the task is that the run was given. Beside each stands what can
be reached without a model: guessing training frequencies, and the best guess from the shown token alone.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ptcli.batch.loader import Loader
from ptcli.mask.baselines import no_context_losses, unigram_losses
from ptcli.tokenizer.vocabulary import Vocabulary

PLATEAU_MARGIN = 0.1
"""Nats below the unigram loss, at positions that show [MASK], from which on a model counts as having learnt context."""


@dataclass
class _Totals:
    """Sums over batches of one pass."""

    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    correct: dict[str, int] = field(default_factory=dict)
    tokens: int = 0

    def add(self, part: str, total: float, count: int, correct: int = 0) -> None:
        self.sums[part] = self.sums.get(part, 0.0) + total
        self.counts[part] = self.counts.get(part, 0) + count
        self.correct[part] = self.correct.get(part, 0) + correct

    def mean(self, part: str) -> float | None:
        count = self.counts.get(part, 0)
        return self.sums[part] / count if count else None

    def accuracy(self, part: str) -> float | None:
        count = self.counts.get(part, 0)
        return self.correct[part] / count if count else None


class Evaluation:
    """Evaluates an objective and its model on held-out rows.

    `fixed` and `own` feed the same held-out documents under the fixed mask and the training's own; each pass reads
    whole rows until `max_tokens` real tokens were seen (None: all). `counts` (V,) are token counts of the training
    text; `replace` is the own mask's [mask, random, keep].
    """

    def __init__(
        self,
        *,
        fixed: Loader,
        own: Loader,
        max_tokens: int | None,
        counts: np.ndarray,
        replace: list[float],
        vocabulary: Vocabulary,
    ) -> None:
        self._loaders = {"fixed": fixed, "own": own}
        self._max_tokens, self._counts = max_tokens, counts
        self._replace, self._vocabulary = replace, vocabulary
        self._batches: dict[str, list[dict[str, Tensor]]] = {}  # small, and the same at every evaluation

    def __call__(
        self, model: nn.Module, objective: Any, *, device: torch.device, autocast: Callable[[], AbstractContextManager]
    ) -> dict[str, float]:
        """Metrics by name (`eval/masked_lm_loss`, ...), in nats and shares; a part with no position has no metric."""
        training = model.training
        model.eval()
        objective.eval()
        try:
            fixed = self._pass("fixed", model, objective, device, autocast)
            own = self._pass("own", model, objective, device, autocast)
        finally:
            model.train(training)
            objective.train(training)
        difficulty = None
        if own.counts.get("shown_mask"):
            difficulty = own.sums["shown_mask"] / max(own.sums["shown_mask_unigram"], 1e-12)
        metrics = {
            "eval/masked_lm_loss": fixed.mean("masked_lm"),
            "eval/masked_lm_accuracy": fixed.accuracy("masked_lm"),
            "eval/unigram_loss": fixed.mean("unigram"),
            "eval/own_mask_loss": own.mean("masked_lm"),
            "eval/own_mask_accuracy": own.accuracy("masked_lm"),
            "eval/no_context_loss": own.mean("no_context"),
            "eval/difficulty": difficulty,
            "eval/pair_loss": own.mean("pair"),
            "eval/pair_accuracy": own.accuracy("pair"),
            "eval/tokens": float(fixed.tokens),
        }
        return {name: value for name, value in metrics.items() if value is not None}

    def _pass(self, name: str, model: nn.Module, objective: Any, device: torch.device, autocast: Any) -> _Totals:
        if name not in self._batches:
            self._batches[name] = list(self._loaders[name].once(max_tokens=self._max_tokens))
        totals = _Totals()
        for batch in self._batches[name]:
            with torch.inference_mode(), autocast():
                loss = objective(model, {key: value.to(device) for key, value in batch.items()})
            for part, value in loss.sums.items():
                totals.add(part, float(value), int(loss.counts[part]), int(loss.correct.get(part, 0)))
            totals.tokens += int(batch["attention_mask"].sum())
            if "masked_lm" in loss.positions:
                self._add_baselines(totals, batch, loss.positions["masked_lm"].float().cpu().numpy())
        return totals

    def _add_baselines(self, totals: _Totals, batch: dict[str, Tensor], losses: np.ndarray) -> None:
        at = batch["label_positions"]
        shown, labels = (batch[key].reshape(-1)[at].numpy() for key in ("input_ids", "labels"))
        known = {"counts": self._counts, "vocabulary": self._vocabulary}
        unigram = unigram_losses(labels, **known)
        no_context = no_context_losses(shown, labels, replace=self._replace, **known)
        masked = shown == self._vocabulary.mask_token_id
        totals.add("unigram", float(unigram.sum()), len(labels))
        totals.add("no_context", float(no_context.sum()), len(labels))
        totals.add("shown_mask", float(losses[masked].sum()), int(masked.sum()))
        totals.add("shown_mask_unigram", float(unigram[masked].sum()), int(masked.sum()))


def left_plateau(metrics: dict[str, float]) -> bool | None:
    """Whether an evaluation shows that context is used; None where it says nothing of it."""
    if "eval/masked_lm_loss" not in metrics or "eval/unigram_loss" not in metrics:
        return None
    return metrics["eval/masked_lm_loss"] < metrics["eval/unigram_loss"] - PLATEAU_MARGIN
