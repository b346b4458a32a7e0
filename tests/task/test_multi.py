import numpy as np
import pytest

from ptcli.config.compose import compose
from ptcli.errors import ConfigError
from ptcli.task.classification import Classification
from ptcli.task.multi import Multi, Temperature
from ptcli.task.regression import Regression

SIZES = [1, 7, 90, 902]


def multi(*, exponent=1.0, regression=None, **settings) -> Multi:
    members = {"b": Classification(path="rows"), "a": Regression(path="rows", **(regression or {}))}
    return Multi(members=members, mixing=Temperature(exponent=exponent), **settings)


def test_members_have_one_order_however_they_are_typed():
    assert list(multi().members) == ["a", "b"]


@pytest.mark.parametrize(("share", "further"), [(0.0, 0), (0.2, 25), (0.5, 100), (0.001, 1)])
def test_pretraining_has_its_share_of_the_steps(share, further):
    assert multi(pretraining=share).steps_of_epoch([30, 70]) == [30, 70, further]


def test_what_goes_together_passes():
    multi().check()
    multi(pretraining=0.3, then_epochs=0.5).check()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pretraining": 1.0}, "task.pretraining=1.0"),
        ({"pretraining": -0.1}, "task.pretraining=-0.1"),
        ({"then_epochs": 0}, "task.then_epochs=0"),
        (
            {"regression": {"metrics": ["mean_squared_error", "pearson"]}},
            "task.members.a.best_metric=mean_squared_error falls.*pearson, spearman",
        ),
        ({"regression": {"freeze_layers": 2}}, "Type task.freeze_layers=2"),
        ({"regression": {"freeze_embeddings": True}}, "Type task.freeze_embeddings=true"),
    ],
)
def test_what_does_not_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        multi(**settings).check()


def test_a_metric_that_falls_may_be_measured_beside_one_that_rises():
    multi(regression={"metrics": ["pearson", "mean_squared_error"]}).check()


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
