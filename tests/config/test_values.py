import pytest

from ptcli.config.compose import compose
from ptcli.config.values import check_values


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["seed=-1"], "seed=-1: must be 0 or more"),
        (["batch.size=0"], "batch.size=0: must be 1 or more"),
        (["max_length=2"], "at least 4"),
        (["eval.fraction=5"], "write 0.05"),
        (["eval.fraction=-0.1"], "from 0 to below 1"),
        (["eval.every=1.5"], "whole steps"),
        (["budget.steps=3", "budget.minutes=2"], "one budget"),
        (["budget.steps=null"], "no budget"),
        (["budget.minutes=0"], "above 0"),
        (["batch.micro_size=64"], "batch.micro_size=32 or less"),
        (["batch.micro_size=8", "trainer.accumulate=3"], "Give one of the two"),
        (["trainer.accumulate=64"], "micro-batches make a step"),
        (["resume=maybe"], "one of auto, never, must"),
        (["run.name=a/b"], "plain name"),
        (["run.name=a b"], "plain name"),
        (["run.name=.."], "plain name"),
    ],
)
def test_out_of_range(words, says):
    problems = check_values(compose("pretrain", words).config, command="pretrain")
    assert len(problems) == 1
    assert says in problems[0]


def test_in_range():
    words = ["batch.micro_size=8", "trainer.accumulate=4", "run.name=café-1e3", "eval.every=0", "save.every=100"]
    assert check_values(compose("pretrain", words).config, command="pretrain") == []


def test_a_checkpoint_is_asked_for():
    (problem,) = check_values(compose("fill").config, command="fill")
    assert "checkpoint=RUN" in problem
