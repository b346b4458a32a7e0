import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import ConfigError
from ptcli.trainer.budget import Budget, check_every, is_due
from ptcli.trainer.state import TrainingState


@pytest.mark.parametrize(
    ("settings", "state"),
    [
        ({"steps": 200}, TrainingState(step=50)),
        ({"tokens": 4000}, TrainingState(tokens=1000)),
        ({"epochs": 2.0}, TrainingState(epoch=0.5)),
        ({"minutes": 2.0}, TrainingState(seconds=30.0)),
    ],
)
def test_share_of_each_unit(settings, state):
    budget = Budget(**settings)
    assert budget.share(state) == 0.25
    assert not budget.done(state)
    assert budget.total_steps == settings.get("steps")
    assert budget.as_dict() == settings


def test_done_at_the_end_and_beyond():
    assert Budget(steps=10).done(TrainingState(step=10))
    assert not Budget(steps=10).done(TrainingState(step=9))
    assert Budget(tokens=10).share(TrainingState(tokens=15)) == 1.0


@pytest.mark.parametrize(
    "settings", [{}, {"steps": 1, "minutes": 2}, {"steps": 0}, {"minutes": -1.0}, {"epochs": float("nan")}]
)
def test_what_is_no_budget(settings):
    with pytest.raises(ConfigError):
        Budget(**settings)


@given(st.integers(1, 500), st.integers(1, 20))
def test_a_share_of_the_budget_is_due_so_many_times(total, times):
    budget, due = Budget(steps=total), []
    for step in range(1, total + 1):
        before, after = (budget.share(TrainingState(step=s)) for s in (step - 1, step))
        if is_due(1 / times if times > 1 else 0.999999, step=step, before=before, after=after):
            due.append(step)
    if times > 1:
        assert len(due) == min(times, total)
        assert due[-1] == total


def test_a_tenth_of_a_hundred_is_every_tenth_step():
    due = [s for s in range(1, 101) if is_due(0.1, step=s, before=(s - 1) / 100, after=s / 100)]
    assert due == list(range(10, 101, 10))
    assert [s for s in range(1, 101) if is_due(30, step=s, before=0, after=0)] == [30, 60, 90]
    assert not any(is_due(0, step=s, before=(s - 1) / 100, after=s / 100) for s in range(1, 101))


@pytest.mark.parametrize("every", [-1, 1.5, float("inf"), float("nan")])
def test_what_is_no_interval(every):
    with pytest.raises(ConfigError, match=r"save\.every"):
        check_every("save.every", every)
