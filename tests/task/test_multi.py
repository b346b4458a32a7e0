import pytest

from ptcli.errors import ConfigError
from ptcli.task.classification import Classification
from ptcli.task.mixing.temperature import Temperature
from ptcli.task.multi import Multi
from ptcli.task.regression import Regression


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
