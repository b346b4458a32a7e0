import numpy as np
import pytest

from ptcli.config.compose import compose
from ptcli.errors import ConfigError
from ptcli.task.mixing.temperature import Temperature

SIZES = [1, 7, 90, 902]


def test_by_size_gives_each_task_the_steps_in_which_its_rows_are_seen_once():
    assert Temperature(exponent=1.0)(SIZES) == SIZES
    generator = np.random.default_rng(0)
    for _ in range(200):
        sizes = generator.integers(1, 100_000, generator.integers(2, 9)).tolist()
        assert Temperature(exponent=1.0)(sizes) == sizes


@pytest.mark.parametrize("exponent", [0.0, 0.3, 0.7, 1.0])
def test_shares_go_as_a_power_of_the_size_and_an_epoch_keeps_its_length(exponent):
    counts = Temperature(exponent=exponent)(SIZES)
    expected = np.array(SIZES) ** exponent / (np.array(SIZES) ** exponent).sum() * sum(SIZES)
    assert sum(counts) == sum(SIZES)
    assert np.abs(counts - expected).max() < 1


def test_equal_is_equal_to_a_step():
    counts = Temperature(exponent=0.0)([3, 100, 7])
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("exponent", [-0.1, 1.5, float("nan")])
def test_an_exponent_out_of_range_is_refused(exponent):
    with pytest.raises(ConfigError, match="between 0"):
        Temperature(exponent=exponent)


def test_the_presets_are_its_ends():
    for name, exponent in (("size", 1.0), ("equal", 0.0), ("temperature", 0.5)):
        config = compose("finetune", ["task=[rte,stsb]", f"task/mixing={name}"]).config
        assert config.task.mixing.exponent == exponent
