import numpy as np

from ptcli.mask.none import NoMask
from tests.mask.synthetic import IGNORE, examples, vocabulary


def test_nothing_is_changed_or_scored():
    batch = examples([10, 0, 30])
    masked = NoMask(vocabulary=vocabulary())(batch, seed=0, epoch=3)
    assert np.array_equal(masked.input_ids, batch.tokens)
    assert (masked.labels == IGNORE).all()
    assert not masked.kinds.any()
    assert NoMask().ratio_at(5) == 0
    assert NoMask().data_epoch(5) == 5
