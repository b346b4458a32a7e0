import numpy as np
import pytest

from ptcli.errors import ConfigError
from ptcli.mask.examples import Examples
from ptcli.mask.frequency import FrequencyMask
from tests.mask.strategies import counts
from tests.mask.synthetic import IGNORE, SIZE, examples, one_body, per_example, vocabulary


def shares_of_ids(power: float, ratio: float = 0.15):
    """How often each id occurs in a text of the known frequencies, and how often it is selected."""
    p = counts() / counts().sum()
    batch = one_body([1] * 100, copies=8000)
    tokens = batch.tokens.copy()
    tokens[batch.maskable] = np.random.default_rng(0).choice(SIZE, batch.maskable.sum(), p=p)
    batch = Examples(tokens, batch.offsets, batch.maskable, batch.word_starts, batch.keys)
    mask = FrequencyMask(vocabulary=vocabulary(), counts=counts(), power=power, ratio=ratio)
    selected = mask(batch, seed=0, epoch=0).labels != IGNORE
    assert np.isin(per_example(selected, batch), (15, 16)).all() or ratio != 0.15
    occurs = np.bincount(tokens[batch.maskable], minlength=SIZE)
    return occurs, np.bincount(tokens[selected], minlength=SIZE)


def test_power_0_prefers_nothing():
    occurs, selected = shares_of_ids(0.0)
    often = occurs > 2000
    assert np.abs(selected[often] / occurs[often] - 0.15).max() < 0.04


def test_power_1_selects_every_id_about_equally_often():
    """As far as the text has it: ids that are rare are selected whenever they occur."""
    occurs, selected = shares_of_ids(1.0, ratio=0.05)
    often = occurs > 2 * 8000 * 100 * 0.05 / 195
    assert often.sum() > 30
    assert selected[often].max() / selected[often].min() < 3
    assert occurs[often].max() / occurs[often].min() > 15


def test_rarer_ids_are_preferred_more_with_a_higher_power():
    chances = []
    for power in (0.0, 0.25, 0.5, 1.0):
        occurs, selected = shares_of_ids(power)
        order = np.argsort(occurs)
        chances.append(selected[order[-5:]].sum() / occurs[order[-5:]].sum())
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 2 * chances[-1]


def test_the_order_is_a_draw_without_replacement_by_weight():
    """Two ids with weights 1 and 3: the heavy one of a pair comes first three times out of four."""
    given = np.zeros(SIZE, np.int64)
    given[[20, 21]] = 8, 2  # with one added: 9 and 3
    batch = one_body([1, 1], copies=40_000)
    tokens = np.tile(np.array([8, 20, 21, 9], np.int32), 40_000)
    batch = Examples(tokens, batch.offsets, batch.maskable, batch.word_starts, batch.keys)
    mask = FrequencyMask(vocabulary=vocabulary(), counts=given, power=1.0, ratio=0.5)
    first = (mask(batch, seed=0, epoch=0).labels != IGNORE).reshape(-1, 4)
    assert (first.sum(1) == 1).all()
    assert abs(first[:, 2].mean() - 0.75) < 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"power": 1.5}, "from 0"),
        ({"power": -1}, "from 0"),
        ({"power": float("nan")}, "from 0"),
        ({"budget": "bernoulli"}, "stochastic_round"),
        ({"vocabulary": vocabulary()}, "needs the counts"),
    ],
)
def test_settings_out_of_range_are_refused(options, message):
    with pytest.raises(ConfigError) as error:
        FrequencyMask(**options)
    assert message in str(error.value)


def test_an_empty_batch_has_an_empty_mask():
    mask = FrequencyMask(vocabulary=vocabulary(), counts=counts())
    assert mask(examples([]), seed=0, epoch=0).labels.shape == (0,)
