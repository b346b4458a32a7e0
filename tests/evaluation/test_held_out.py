"""Evaluation with a stand-in for model and objective whose losses are known at every position."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch import nn

from ptcli.batch.loader import Loader
from ptcli.evaluation.held_out import Evaluation, left_plateau
from ptcli.evaluation.scored import groups
from ptcli.mask.baselines import unigram_losses
from ptcli.mask.span import SpanMask
from ptcli.mask.token import TokenMask
from ptcli.objective.loss import Loss
from tests.batch.fakes import MASK, Shard, TwoARow, documents, vocabulary

SIZE = 5000


class Known(nn.Module):
    """Loses a thousandth of the label's id at [MASK], 1 elsewhere; right where the id is even."""

    main = "masked_lm"

    def forward(self, model, batch):
        at = batch["label_positions"]
        labels, shown = (batch[key].reshape(-1)[at] for key in ("labels", "input_ids"))
        losses = torch.where(shown == MASK, labels / 1000, torch.ones(len(at)))
        hits = labels % 2 == 0
        parts = {"sums": {"masked_lm": losses.sum()}, "counts": {"masked_lm": torch.tensor(len(at))}}
        return Loss(**parts, positions={"masked_lm": losses}, hits={"masked_lm": hits})


def loader(mask, num_tokens=2000):
    return Loader(
        shards=[Shard(num_tokens)],
        documents=[documents(num_tokens, sentence=20)],
        packing=TwoARow(),
        pair=None,
        mask=mask,
        vocabulary=vocabulary(SIZE),
        max_length=64,
        batch_size=4,
        micro_size=4,
        seed=0,
        needs=("documents",),
    )


@pytest.fixture(scope="module")
def evaluation():
    replace = [0.6, 0.2, 0.2]
    known = {"vocabulary": vocabulary(SIZE)}
    return Evaluation(
        fixed=loader(TokenMask(replace=[1.0, 0.0, 0.0], copies=1, **known)),
        own=loader(SpanMask(replace=replace, ratio=0.4, **known)),
        max_tokens=None,
        counts=np.ones(SIZE, np.int64),
        replace=replace,
        vocabulary=vocabulary(SIZE),
        num_characters=lambda id: len(str(id)),
    )


SETTINGS = {"device": torch.device("cpu"), "autocast": nullcontext}


def test_metrics_are_means_over_what_was_scored(evaluation):
    model = nn.Linear(1, 1)
    metrics = evaluation(model, Known(), **SETTINGS)
    fixed, own = evaluation.measure(model, Known(), **SETTINGS)
    assert metrics["eval/masked_lm_loss"] == pytest.approx(fixed.losses.mean())
    assert metrics["eval/own_mask_loss"] == pytest.approx(own.losses.mean())
    assert metrics["eval/own_mask_loss_per_character"] == pytest.approx(own.losses.sum() / own.characters.sum())
    assert metrics["eval/own_mask/kept_loss"] == metrics["eval/own_mask/random_loss"] == 1.0
    at_mask = groups(own.scored)["masked"]
    assert metrics["eval/own_mask/masked_loss"] == pytest.approx(own.losses[at_mask].mean())
    assert metrics["eval/difficulty"] == pytest.approx(own.losses[at_mask].sum() / own.unigram[at_mask].sum())
    assert set(own.characters) <= {2, 3, 4}
    assert fixed.tokens == 2000 + 2 * 100
    assert metrics["eval/own_mask/unit_of_5_or_more_accuracy"] == pytest.approx(0.5, abs=0.15)


def test_losses_kinds_and_documents_belong_to_one_position(evaluation):
    _, own = evaluation.measure(nn.Linear(1, 1), Known(), **SETTINGS)
    shown_mask = own.scored.kinds == 1
    assert (own.losses[~shown_mask] == 1).all()
    ids = np.rint(own.losses[shown_mask] * 1000).astype(int)  # the label, from its loss
    assert np.array_equal((ids - 10) // 20, own.scored.documents[shown_mask])
    assert np.array_equal(ids % 2 == 0, own.hits[shown_mask])
    assert own.unigram == pytest.approx(
        unigram_losses(np.full(own.losses.size, 20), counts=np.ones(SIZE), vocabulary=vocabulary(SIZE))
    )


def test_training_mode_is_put_back(evaluation):
    model = nn.Linear(1, 1).train()
    evaluation(model, Known(), **SETTINGS)
    assert model.training


def test_leaving_the_plateau_takes_a_tenth_of_a_nat():
    assert left_plateau({"eval/masked_lm_loss": 5.0, "eval/unigram_loss": 5.2}, main="masked_lm") is True
    assert left_plateau({"eval/masked_lm_loss": 5.15, "eval/unigram_loss": 5.2}, main="masked_lm") is False
    assert left_plateau({"eval/pair_loss": 0.5}, main="masked_lm") is None
