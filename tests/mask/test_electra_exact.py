"""Figures of google-research/electra's code."""

import numpy as np

from ptcli.mask.electra_exact import ElectraExactMask
from ptcli.mask.examples import KEPT, MASKED
from tests.mask.synthetic import IGNORE, examples, per_example, vocabulary


def test_of_512_tokens_14_percent_are_hit():
    """round(0.15 * 512) = 77 draws with replacement from 510 tokens hit 510 (1 - (1 - 1/510)^77) of them."""
    batch = examples([510] * 2000)
    counts = per_example(ElectraExactMask(vocabulary=vocabulary())(batch, seed=0, epoch=0).labels != IGNORE, batch)
    assert abs(counts.mean() - 510 * (1 - (1 - 1 / 510) ** 77)) < 0.3
    assert abs(counts.mean() / 510 - 0.14) < 0.002
    assert counts.max() <= 77
    limited = ElectraExactMask(vocabulary=vocabulary(), max_predictions=19)(batch, seed=0, epoch=0)
    assert per_example(limited.labels != IGNORE, batch).max() <= 19


def test_they_show_the_mask_token_or_themselves():
    batch = examples([300] * 1000)
    masked = ElectraExactMask(vocabulary=vocabulary(), ratio=0.4)(batch, seed=0, epoch=0)
    kinds = masked.kinds[masked.labels != IGNORE]
    assert set(np.unique(kinds)) == {MASKED, KEPT}
    assert abs(np.mean(kinds == MASKED) - 0.85) < 0.005


def test_every_token_is_hit_alike():
    batch = examples([20] * 40_000)
    chosen = (ElectraExactMask(vocabulary=vocabulary())(batch, seed=0, epoch=0).labels != IGNORE).reshape(40_000, -1)
    assert np.abs(chosen.mean(0)[1:-1] - (1 - (1 - 1 / 20) ** 3)).max() < 0.01
