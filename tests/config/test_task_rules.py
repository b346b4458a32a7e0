import pytest

from ptcli.config import task_rules
from ptcli.config.compose import compose
from ptcli.config.fit import check, fit
from ptcli.errors import ConfigError

from .test_rules import facts, part

SAN = part("task/head", "san", reads_states=True)
LINEAR = part("task/head", "linear", reads_states=False)
PAIRS = part("task", "pair_classification", num_texts=2, target="class")


def checked(*words):
    composed = compose("finetune", ["checkpoint=somewhere", *words])
    check(composed.config, composed.choices, command="finetune")


def test_a_head_that_compares_needs_two_texts_and_one_label():
    rule = task_rules.comparing_head_needs_two_texts
    assert rule(facts(SAN, PAIRS)) is None
    assert rule(facts(LINEAR, part("task", "tagging", num_texts=1, target="tokens"))) is None
    message = rule(facts(SAN, part("task", "classification", num_texts=1, target="class")))
    assert "task=classification has rows of one text" in message
    assert "task=pair_classification" in message
    message = rule(facts(SAN, part("task", "regression", num_texts=2, target="value")))
    assert "task=regression does not ask for one of several labels" in message


def test_a_head_that_compares_takes_no_pooling_and_no_texts_apart():
    rule = task_rules.comparing_head_takes_no_pooling
    mean = part("task/pooling", "mean")
    assert rule(facts(SAN, PAIRS)) is None
    assert rule(facts(LINEAR, PAIRS, mean, values={"task": {"apart": True}})) is None
    assert "task/pooling=mean would do nothing. Use task.pooling=null" in rule(facts(SAN, PAIRS, mean))
    assert "Use task.apart=false" in rule(facts(SAN, PAIRS, values={"task": {"apart": True}}))


def test_parts_of_weights_go_through_once():
    rule = task_rules.parts_of_weights_go_through_once
    sharded = {"trainer": {"strategy": "fsdp"}}
    smart, none = part("task/adversarial", "smart"), part("task/adversarial", "none")
    assert rule(facts(PAIRS, smart)) is None
    assert rule(facts(PAIRS, none, values=sharded)) is None
    assert "task/adversarial=smart sends each row" in rule(facts(PAIRS, smart, values=sharded))
    assert "Use trainer.strategy=ddp, or task.r_drop=null" in rule(facts(values={**sharded, "task": {"r_drop": 1.0}}))


def test_moved_embeddings_must_learn():
    rule = task_rules.moving_embeddings_need_a_gradient
    fgm, smart = (part("task/adversarial", name, follows_gradient=name == "fgm") for name in ("fgm", "smart"))
    frozen = {"task": {"freeze_embeddings": True}}
    assert rule(facts(fgm)) is None
    assert rule(facts(smart, values=frozen)) is None
    assert "Use task.freeze_embeddings=false" in rule(facts(fgm, values=frozen))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["task=sst2", "task/head=san", "task.pooling=null"], "task=sst2 has rows of one text"),
        (["task=rte", "task/head=san"], "would do nothing"),
        (["task=rte", "task/adversarial=fgm", "task.freeze_embeddings=true"], "gives them none"),
    ],
)
def test_real_choices_are_refused_before_anything_is_read(words, message):
    with pytest.raises(ConfigError, match=message):
        checked(*words)


def test_real_choices_go_together():
    checked("task=rte", "task/head=san", "task.pooling=null")


def test_every_rule_is_asked_and_says_why():
    public = {
        value
        for name, value in vars(task_rules).items()
        if callable(value) and getattr(value, "__module__", "") == task_rules.__name__ and not name.startswith("_")
    }
    assert public == set(task_rules.TASK_RULES)
    assert all(rule.__doc__ for rule in task_rules.TASK_RULES)
    assert len(fit(facts(SAN, PAIRS, part("task/pooling", "mean")))) == 1
