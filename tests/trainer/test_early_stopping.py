import json

import pytest

from ptcli.errors import ConfigError
from ptcli.trainer.checkpoint import Checkpoints
from ptcli.trainer.trainer import Trainer
from tests.trainer.test_loop import StopAt, StopError
from tests.trainer.toy import Recorder, train

LOSSES = {4: 3.0, 8: 1.0, 12: 2.0, 16: 1.5, 20: 0.5, 24: 0.4}


def patient(evaluations):
    return Trainer(device="cpu", precision="fp32", patience=evaluations)


def losses():
    values = iter(LOSSES.values())
    return lambda: {"eval/masked_lm_loss": next(values)}


def test_it_ends_after_evaluations_without_a_better_one(tmp_path):
    recorder = Recorder()
    state = train(
        tmp_path, steps=24, trainer=patient(2), evaluate=losses(), eval_every=4, sinks=[recorder], export=True
    ).state
    assert (state.step, state.best_step, state.without_better) == (16, 8, 2)
    assert Checkpoints(tmp_path / "checkpoints").steps() == [8, 12, 16]
    assert (tmp_path / "model/model.safetensors").exists()
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["status"], summary["stopped_early"]) == ("finished", True)
    assert (
        "stopped early at step 16: 2 evaluations were no better than eval/masked_lm_loss 1.0 at step 8 "
        "(trainer.patience)" in recorder.said
    )


def test_it_stays_ended_and_more_patience_goes_on(tmp_path):
    def fail():
        raise AssertionError("nothing is left to evaluate")

    train(tmp_path, steps=24, trainer=patient(2), evaluate=losses(), eval_every=4)
    assert train(tmp_path, steps=24, trainer=patient(2), evaluate=fail, eval_every=4).state.step == 16
    state = train(
        tmp_path, steps=24, trainer=patient(3), evaluate=lambda: {"eval/masked_lm_loss": 0.5}, eval_every=4
    ).state
    assert (state.step, state.best_step) == (24, 20)


def test_a_stop_keeps_the_count(tmp_path):
    with pytest.raises(StopError):
        train(tmp_path, steps=24, trainer=patient(2), evaluate=losses(), eval_every=4, save_every=1, sinks=[StopAt(14)])
    later = iter([1.5, 0.5])
    state = train(
        tmp_path, steps=24, trainer=patient(2), evaluate=lambda: {"eval/masked_lm_loss": next(later)}, eval_every=4
    ).state
    assert (state.step, state.without_better) == (16, 2)


def test_without_it_the_budget_alone_ends_a_run(tmp_path):
    state = train(tmp_path, steps=24, evaluate=losses(), eval_every=4).state
    assert (state.step, state.without_better) == (24, 0)
    assert json.loads((tmp_path / "summary.json").read_text())["stopped_early"] is False


def test_without_evaluations_on_the_way_it_is_refused(tmp_path):
    for options in ({"evaluate": None}, {"eval_every": 0}):
        with pytest.raises(ConfigError, match=r"trainer\.patience=2 counts evaluations"):
            train(tmp_path, trainer=patient(2), **options)
    with pytest.raises(ConfigError, match=r"trainer\.patience=0"):
        patient(0)


def test_of_a_metric_that_rises_the_highest_is_the_best(tmp_path):
    values = iter([0.2, 0.7, 0.6, 0.5])
    state = train(
        tmp_path,
        steps=24,
        trainer=patient(2),
        evaluate=lambda: {"eval/accuracy": next(values)},
        eval_every=4,
        best_metric="eval/accuracy",
        higher_is_better=True,
    ).state
    assert (state.step, state.best, state.best_step, state.without_better) == (16, 0.7, 8, 2)
    assert 8 in Checkpoints(tmp_path / "checkpoints").steps()
