import pytest
from omegaconf import OmegaConf

from ptcli.config.compose import compose, composer, settle
from ptcli.errors import ConfigError


def test_defaults_compose():
    composed = compose("pretrain")
    assert composed.config.budget.steps == 1000
    assert composed.choices["mask"] == "token"
    assert composed.choices["mask@eval.mask"] == "evaluation"
    assert "hydra" not in composed.config


def test_the_budget_that_is_typed_replaces_the_other():
    assert compose("pretrain", ["budget.minutes=3"]).config.budget.steps is None
    assert compose("pretrain", ["recipe=demo", "budget.steps=5"]).config.budget.minutes is None
    assert settle(["seed=1"]) == ["seed=1"]
    both = compose("pretrain", ["budget.steps=5", "budget.minutes=3"]).config.budget
    assert (both.steps, both.minutes) == (5, 3)  # net 3 refuses it


def test_the_user_wins_over_recipe_and_presets():
    words = ["recipe=demo", "model=bert", "mask=span", "model/size=mini", "max_length=100", "model.dropout=0.2"]
    config = compose("pretrain", words).config
    assert config.model.num_layers == 4
    assert config.max_length == 100
    assert config.model.dropout == 0.2
    assert config.mask._target_.endswith("SpanMask")
    assert config.optimizer.learning_rate == 2e-3  # the rest of the recipe stands


def test_the_evaluation_mask_is_its_own():
    config = compose("pretrain", ["mask=span", "mask.ratio=0.4"]).config
    assert config.eval.mask.ratio == 0.15
    assert list(config.eval.mask.replace) == [1.0, 0.0, 0.0]
    assert compose("pretrain", ["mask@eval.mask=span"]).config.eval.mask._target_.endswith("SpanMask")
    assert compose("pretrain", ["eval.mask.ratio=0.3"]).config.eval.mask.ratio == 0.3


def test_positions_are_a_list():
    config = compose("pretrain", ["model/position=[learned,rotary]"]).config
    assert set(config.model.position) == {"learned", "rotary"}
    assert set(compose("pretrain", ["model/position=rotary"]).config.model.position) == {"rotary"}


def test_values_set_afterwards_equal_those_composed_by_hydra():
    words = [
        "mask=span",
        "mask.ratio=0.3",
        "seed=7",
        "model.dropout=0.0",
        "run.name='x y'",
        "mask.replace=[1.0,0.0,0.0]",
    ]
    from hydra import compose as hydra_compose

    with composer("pretrain") as mine:
        fast = mine(words).config
        slow = hydra_compose("pretrain", words)
    assert OmegaConf.to_container(fast) == OmegaConf.to_container(slow)


def test_no_job_of_a_sweep_sees_the_values_of_another():
    with composer("pretrain") as mine:
        first, second = mine(["mask.ratio=0.3"]), mine(["seed=2"])
    assert first.config.mask.ratio == 0.3
    assert second.config.mask.ratio == 0.15


EXPLAINED = {
    "mask=spam": "Did you mean span?",
    "model=whole_word": "mask=whole_word exists",
    "model/position=rotery": "Did you mean rotary?",
    "model/positon=rotary": "Did you mean model/position?",
    "mask.rato=0.3": "Did you mean mask.ratio?",
    "masc=span": "Did you mean mask=CHOICE?",
    "stps=3": "Did you mean budget.steps?",
    "steps=3": "Did you mean budget.steps?",
    "learning_rate=0.1": "optimizer.learning_rate?",
    "lerning_rate=0.1": "optimizer.learning_rate?",
    "optimizer.ratio=0.1": "Did you mean mask.ratio?",
    "seed=abc": "seed takes a whole number",
    "batch.size=2.5": "batch.size takes a whole number",
    "seed=null": "seed takes a whole number",
    "budget=3": "budget.steps",
    "corpus.path=/x/y": "corpus.path=/x/y",
    "logger.project=x": "Write logger=wandb logger.wandb.project=x",
    "logger.wandb.project=x": "Write logger=wandb",
    "+mask.ratio=0.4": "Write mask.ratio=0.4",
    "eval.mask.rato=0.3": "Did you mean eval.mask.ratio?",
    "hydra/launcher=jobl": "Choices of hydra/launcher: basic",
    "foo/bar=x": "there is no group foo/bar",
}


@pytest.mark.parametrize(("word", "says"), EXPLAINED.items())
def test_errors_are_explained(word, says):
    with pytest.raises(ConfigError) as caught:
        compose("pretrain", [word])
    assert says in str(caught.value), str(caught.value)
    assert "append to your config" not in str(caught.value)
    assert str(caught.value).startswith(word)


def test_a_corpus_key_of_another_choice_says_the_whole_line():
    with pytest.raises(ConfigError, match=r"corpus=text.*Write corpus=\w+ corpus\.path=/x/y"):
        compose("pretrain", ["corpus.path=/x/y"])


def test_other_roots():
    assert compose("fill", ["text=Paris is the [MASK] of France, isn't it?"]).config.text.endswith("isn't it?")
    assert compose("evaluate", ["corpus.path=书.txt"]).config.corpus.path == "书.txt"
    with pytest.raises(ConfigError, match="fill"):
        compose("fill", ["mask.ratio=0.3"])
