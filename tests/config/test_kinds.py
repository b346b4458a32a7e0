import subprocess
import sys

import pytest

from ptcli.config.kinds import group_at, kinds


@pytest.mark.parametrize(
    ("key", "takes"),
    [
        ("seed", {"int"}),
        ("budget.minutes", {"float"}),
        ("run.name", {"str"}),
        ("mask.ratio", {"float"}),
        ("mask.favor", {"str"}),
        ("mask.schedule_steps", {"int"}),
        ("eval.mask.ratio", {"float"}),
        ("trainer.device", {"str"}),
        ("model.position.rotary.base", {"float"}),
        ("nothing.here", set()),
        ("mask.nothing", set()),
        ("mask.never", set()),  # a list
        ("trainer.clip", {"float"}),
        ("corpus.path", {"str"}),
        ("model.embedding_size", {"int"}),
        ("optimizer.layer_decay", {"float"}),
    ],
)
def test_types_are_known_before_anything_is_composed(key, takes):
    assert kinds(key, "pretrain") == takes


def test_places_of_groups():
    assert group_at("eval.mask", "pretrain") == "mask"
    assert group_at("model.size", "pretrain") == "model/size"
    assert group_at("eval", "pretrain") is None


def test_a_constructor_says_what_its_default_does_not():
    assert kinds("task.text", "finetune") == {"str", "int"}, "a column: its name or its number"
    assert kinds("task.r_drop", "finetune") == {"float"}, "of a parameter that several tasks inherit"


def test_classes_of_what_a_command_does_not_build_are_not_imported():
    code = "import sys; from ptcli.config.kinds import kinds; kinds('optimizer.learning_rate', 'prepare'); " + (
        "kinds('objective.width', 'prepare'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
