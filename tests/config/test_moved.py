"""Runs that were saved before a class moved: their configurations are read, the same commands find their folders."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from ptcli.config.compose import compose
from ptcli.config.identity import fingerprint, read, resolve, run_name
from ptcli.config.moved import MOVED
from ptcli.config.targets import shipped_targets

HERE = Path(__file__).parent
TRAINING = ["batch.size=4", "max_length=32", "trainer.device=cpu"]
PRETRAINING = ["model/size=tiny", "mask=whole_word", "eval.every=6", "eval.tokens=512", "budget.steps=12", *TRAINING]
CLASSIFICATION = ["checkpoint=old/runs/pre", "task=classification", "task.path=rev", "batch.size=16", "max_length=32"]
SEVERAL = ["checkpoint=old/runs/pre", "task=[one:classification,two:classification]", "task/mixing=temperature"]
SEVERAL += [f"task.members.{name}.path=rev" for name in ("one", "two")]


def is_within(saved, whole) -> bool:
    """Whether every value of `saved` stands in `whole`, too."""
    if isinstance(saved, dict) and isinstance(whole, dict):
        return all(key in whole and is_within(value, whole[key]) for key, value in saved.items())
    return saved == whole


@pytest.mark.parametrize(
    ("file", "root", "words"),
    [
        ("saved_pretraining.yaml", "pretrain", PRETRAINING),
        ("saved_fine_tuning.yaml", "finetune", [*SEVERAL, "batch.size=16", "trainer.device=cpu"]),
    ],
)
def test_a_saved_configuration_is_read_as_the_same_command_composes_it_now(file, root, words):
    """The files are parts of a config.yaml that was written before the classes moved."""
    loaded, remarks = read(HERE / file)
    assert remarks == []
    composed = resolve(compose(root, words).config)
    differing = [key for key, value in resolve(loaded).items() if not is_within(value, composed[key])]
    assert differing == []


def test_the_same_commands_find_the_folders_of_runs_that_began_before():
    """A setting that is new since changes these names, too: then an interrupted run is not found any more."""
    for root, words, name in (
        ("pretrain", PRETRAINING, "bert-whole_word-6fa03e7a"),
        ("finetune", CLASSIFICATION, "classification-88454ca8"),
    ):
        composed = compose(root, words)
        assert run_name(composed.config, composed.choices) == name


@pytest.mark.parametrize("old", MOVED)
def test_a_class_is_the_same_by_both_of_its_names(old):
    assert MOVED[old] in shipped_targets()
    assert old not in shipped_targets()
    one, other = (OmegaConf.create({"part": {"_target_": name}}) for name in (old, MOVED[old]))
    assert fingerprint(one) == fingerprint(other)
