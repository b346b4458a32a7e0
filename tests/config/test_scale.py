import pytest

from ptcli.cli import main
from ptcli.config.compose import compose
from ptcli.config.identity import run_name
from ptcli.config.scale import apply_scale
from ptcli.errors import ConfigError
from ptcli.launch.sweep import check_sweep


def scaled(*words, **values):
    """A composed configuration, `values` of the schedule set as a recipe's own, under its scale."""
    composed = compose("pretrain", words)
    for name, value in values.items():
        composed.config.schedule[name] = value
    return composed, apply_scale(composed.config, composed.choices, words)


def test_budget_and_lengths_in_steps_shrink_and_nothing_else_does():
    composed, told = scaled("recipe=bert", "scale=0.001", warmup=10_000)
    plain = compose("pretrain", ["recipe=bert"]).config
    config = composed.config
    assert (config.budget.steps, config.schedule.warmup, config.scale) == (1000, 10, 1.0)
    assert "budget.steps 1,000,000 -> 1,000" in told
    assert "schedule.warmup 10,000 -> 10" in told
    config.budget.steps, config.schedule.warmup = plain.budget.steps, plain.schedule.warmup
    assert config == plain


def test_counts_stay_at_least_one_and_shares_stay_shares():
    composed, _ = scaled("recipe=bert", "scale=1e-9", warmup=10_000)
    assert (composed.config.budget.steps, composed.config.schedule.warmup) == (1, 1)
    composed, _ = scaled("recipe=demo", "scale=0.1")
    assert composed.config.schedule.warmup == 0.06


def test_what_is_typed_stays():
    composed, _ = scaled("recipe=bert", "schedule.warmup=7", "scale=0.01")
    assert (composed.config.budget.steps, composed.config.schedule.warmup) == (10_000, 7)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["scale=0.1"], "recipe=none"),
        (["recipe=demo", "scale=0"], "above 0"),
        (["recipe=demo", "scale=-1"], "above 0"),
        (["recipe=demo", "scale=0.1", "budget.steps=10"], "budget.steps replaces it"),
        (["recipe=demo", "scale=0.9999"], "changes nothing"),
    ],
)
def test_a_scale_that_cannot_take_effect_is_refused(words, says):
    with pytest.raises(ConfigError, match=says):
        scaled(*words)


def test_the_command_line_and_sweeps_apply_it(tmp_path, capsys):
    assert main(["pretrain", "scale=0.1"]) == 2
    assert "recipe=none" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="job 2 of 2"):
        check_sweep("pretrain", ["recipe=demo", "scale=0.5,0"])


def test_a_scaled_run_is_the_run_of_its_numbers():
    composed, _ = scaled("recipe=bert", "scale=0.001")
    by_hand = compose("pretrain", ["recipe=bert", "budget.steps=1000"])
    assert run_name(composed.config, composed.choices) == run_name(by_hand.config, by_hand.choices)
