"""What all schedules have in common."""

import itertools

import pytest

from ptcli.cli import main
from tests.schedule.curves import CONF, by_share, factors, from_yaml

NAMES = sorted(path.stem for path in CONF.glob("*.yaml") if "_target_" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_every_factor_lies_above_zero_up_to_one(name):
    schedule = from_yaml(name)
    for total in (1, 2, 3, 7, 50, 1000):
        schedule.check(total_steps=total)
        assert all(0 < factor <= 1 for factor in factors(schedule, total)), total
        assert all(0 < factor <= 1 for factor in by_share(schedule, total)), total


@pytest.mark.parametrize("name", NAMES)
def test_tokens_epochs_and_minutes_give_the_curve_of_the_steps(name):
    """All but steps are told as shares of the budget; the warm-up then is a share, too."""
    schedule = from_yaml(name, warmup=0.1)
    assert by_share(schedule, 200) == pytest.approx(factors(schedule, 200), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_rate_falls_after_the_warmup_where_the_class_says_that_it_decays(name):
    schedule = from_yaml(name, warmup=0.1)
    found = factors(schedule, 200)
    falls = any(after < before for before, after in itertools.pairwise(found))
    assert falls == schedule.decays


@pytest.mark.parametrize("typed", [["schedule=wsd", "schedule.decay=2000"], ["schedule.warmup=1001"]])
def test_what_does_not_fit_the_budget_is_told_before_any_work(tmp_path, capsys, typed):
    assert main(["pretrain", "trainer.device=cpu", f"run.dir={tmp_path}", "budget.steps=1000", *typed]) == 2
    assert "is longer than budget.steps=1000" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
