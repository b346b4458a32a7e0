"""The held-out text, measured twice: under one fixed mask that no setting changes, and under the training's own.

Under the fixed mask (15 % of the tokens, always [MASK]) losses of runs with different masks, packings and lengths of
training compare. Under the own mask they show how hard the task is that the run was given. Beside each stands what can
be reached without a model: guessing training frequencies, and the best guess from the shown token alone.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ptcli.batch.contract import LABELS
from ptcli.batch.loader import Loader
from ptcli.evaluation.scored import Scored, groups, joined, scored_positions
from ptcli.mask.baselines import no_context_losses, unigram_losses
from ptcli.mask.examples import MASKED
from ptcli.tokenizer.vocabulary import Vocabulary

PLATEAU_MARGIN = 0.1
"""Nats below the unigram loss, at positions that show [MASK], from which on a model counts as having learnt context."""


@dataclass(frozen=True)
class Measured:
    """One pass over held-out rows. Arrays are over the scored positions of the objective's main term, N of them."""

    losses: np.ndarray  # float64 (N,): nats
    hits: np.ndarray  # bool (N,): predicted right
    unigram: np.ndarray  # float64 (N,): the loss of guessing the training frequencies
    no_context: np.ndarray  # float64 (N,): the loss of the best guess from the shown token alone
    characters: np.ndarray  # int64 (N,): of the token that is to be predicted
    scored: Scored
    terms: dict[str, tuple[float, int, int | None]]  # sum of losses, count and hits (None: no such thing) by term
    tokens: int  # real tokens read
    main: str  # the term that the arrays are about


class Evaluation:
    """Evaluates an objective and its model on held-out rows.

    `fixed` and `own` feed the same held-out documents under the fixed mask and the training's own; each pass reads
    whole rows until `max_tokens` real tokens were seen (None: all). `counts` (V,) are token counts of the training
    text; `replace` is the own mask's [mask, random, keep] and `unrelated` (V,) the chances of its random ids (None: all
    ordinary ones alike); `num_characters` says how long the text of an id is.
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
        num_characters: Callable[[int], int],
        unrelated: np.ndarray | None = None,
    ) -> None:
        self._loaders = {"fixed": fixed, "own": own}
        self._max_tokens, self._counts = max_tokens, counts
        self._replace, self._vocabulary, self._num_characters = replace, vocabulary, num_characters
        self._unrelated = unrelated
        self._rows: dict[str, list[_Rows]] = {}  # small, and the same at every evaluation

    def __call__(
        self, model: nn.Module, objective: Any, *, device: torch.device, autocast: Callable[[], AbstractContextManager]
    ) -> dict[str, float]:
        """Metrics by name (`eval/masked_lm_loss`, ...), in nats and shares; a term with no position has no metric."""
        return metrics_of(*self.measure(model, objective, device=device, autocast=autocast))

    def measure(
        self, model: nn.Module, objective: Any, *, device: torch.device, autocast: Callable[[], AbstractContextManager]
    ) -> tuple[Measured, Measured]:
        """Both passes, position by position: under the fixed mask, under the training's own."""
        training = model.training
        model.eval()
        objective.eval()
        try:
            fixed = self._pass("fixed", model, objective, device, autocast)
            own = self._pass("own", model, objective, device, autocast)
        finally:
            model.train(training)
            objective.train(training)
        return fixed, own

    def _pass(self, name: str, model: nn.Module, objective: Any, device: torch.device, autocast: Any) -> Measured:
        if name not in self._rows:
            self._rows[name] = list(self._read(self._loaders[name]))
        losses, hits, terms, main = [], [], {}, objective.main
        for rows in self._rows[name]:
            with torch.inference_mode(), autocast():
                loss = objective(model, {key: value.to(device) for key, value in rows.batch.items()})
            for term, total in loss.sums.items():
                before = terms.get(term, (0.0, 0, 0))
                right = before[2] + int(loss.correct[term]) if term in loss.correct else None
                terms[term] = before[0] + float(total), before[1] + int(loss.counts[term]), right
            if main in loss.positions:
                losses.append(loss.positions[main].double().cpu().numpy())
                hits.append(loss.hits[main].cpu().numpy())
        rows = self._rows[name] if losses else []
        return Measured(
            losses=_joined(losses, np.float64),
            hits=_joined(hits, bool),
            unigram=_joined([r.unigram for r in rows], np.float64),
            no_context=_joined([r.no_context for r in rows], np.float64),
            characters=_joined([r.characters for r in rows], np.int64),
            scored=joined([r.scored for r in self._rows[name]]),
            terms=terms,
            tokens=sum(int(r.batch["attention_mask"].sum()) for r in self._rows[name]),
            main=main,
        )

    def _read(self, loader: Loader) -> Iterator["_Rows"]:
        for gathered, masked in loader.once_flat(max_tokens=self._max_tokens):
            batch = loader.tensors_of(gathered, masked)
            at = batch[LABELS.positions]
            shown, labels = (batch[key].reshape(-1)[at].numpy() for key in ("input_ids", LABELS.name))
            known = {"counts": self._counts, "vocabulary": self._vocabulary}
            ids, place = np.unique(labels, return_inverse=True)
            yield _Rows(
                batch=batch,
                scored=scored_positions(gathered, masked),
                unigram=unigram_losses(labels, **known),
                no_context=no_context_losses(shown, labels, replace=self._replace, unrelated=self._unrelated, **known),
                characters=np.array([self._num_characters(int(i)) for i in ids], np.int64)[place],
            )


@dataclass(frozen=True)
class _Rows:
    """A micro-batch and what of its scored positions does not depend on the model."""

    batch: dict[str, Tensor]
    scored: Scored
    unigram: np.ndarray
    no_context: np.ndarray
    characters: np.ndarray


def metrics_of(fixed: Measured, own: Measured) -> dict[str, float]:
    """The metrics of both passes by name; those without any position are left out."""
    shown_mask = own.scored.kinds == MASKED if own.losses.size else np.zeros(0, bool)
    metrics = {
        f"eval/{fixed.main}_loss": ratio(fixed.losses),
        f"eval/{fixed.main}_loss_per_character": ratio(fixed.losses, fixed.characters),
        f"eval/{fixed.main}_accuracy": ratio(fixed.hits),
        "eval/unigram_loss": ratio(fixed.unigram),
        "eval/own_mask_loss": ratio(own.losses),
        "eval/own_mask_loss_per_character": ratio(own.losses, own.characters),
        "eval/own_mask_accuracy": ratio(own.hits),
        "eval/no_context_loss": ratio(own.no_context),
        "eval/difficulty": ratio(own.losses[shown_mask], own.unigram[shown_mask]),
    }
    for term, (loss, count, hits) in own.terms.items():
        if term != own.main and count:
            metrics[f"eval/{term}_loss"] = loss / count
            metrics[f"eval/{term}_accuracy"] = None if hits is None else hits / count
    metrics["eval/tokens"] = float(fixed.tokens)
    for name, members in groups(own.scored).items() if own.losses.size else ():
        metrics[f"eval/own_mask/{name}_loss"] = ratio(own.losses[members])
        metrics[f"eval/own_mask/{name}_accuracy"] = ratio(own.hits[members])
    return {name: value for name, value in metrics.items() if value is not None}


def ratio(values: np.ndarray, weights: np.ndarray | None = None) -> float | None:
    """The mean of `values`, or their sum for each of `weights`; None where there is nothing to divide by."""
    total = float(len(values) if weights is None else weights.sum())
    return float(values.sum()) / total if total > 0 else None


def _joined(pieces: list[np.ndarray], kind: Any) -> np.ndarray:
    return np.concatenate(pieces) if pieces else np.zeros(0, kind)


def left_plateau(metrics: dict[str, float], *, main: str) -> bool | None:
    """Whether an evaluation shows that context is used, by the loss of the objective's `main` term; None where it says
    nothing of it.
    """
    loss, unigram = metrics.get(f"eval/{main}_loss"), metrics.get("eval/unigram_loss")
    return None if loss is None or unigram is None else loss < unigram - PLATEAU_MARGIN


def meanings(predicts: Mapping[str, str], *, main: str) -> dict[str, str]:
    """What each metric is, by its name; `predicts`: what each term of the objective predicts, by its name."""
    found = {
        f"eval/{main}_loss": "fixed mask (15 %, always [MASK]), nats a token",
        f"eval/{main}_loss_per_character": "the same, nats a character of the scored tokens",
        f"eval/{main}_accuracy": "fixed mask",
        "eval/unigram_loss": "always guessing the training frequencies, same positions",
        "eval/own_mask_loss": "the training's own mask, nats a token",
        "eval/own_mask_loss_per_character": "the same, nats a character of the scored tokens",
        "eval/own_mask_accuracy": "the training's own mask",
        "eval/no_context_loss": "the best without looking at any neighbour, same positions",
        "eval/difficulty": "own mask at [MASK], loss / unigram loss: 0 solved, 1 nothing learnt",
    }
    for term in predicts.keys() - {main}:
        found |= {f"eval/{term}_loss": f"{predicts[term]}, nats", f"eval/{term}_accuracy": predicts[term]}
    return {**found, "eval/tokens": "real tokens read"}
