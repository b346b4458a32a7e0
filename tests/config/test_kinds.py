import subprocess
import sys

import pytest

from ptcli.config.kinds import group_at, kinds
from ptcli.config.outside import Outside, bring


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


def test_types_of_a_users_own_class_are_read_too(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = f"kinds_of_{tmp_path.name}"
    (tmp_path / package).mkdir()
    (tmp_path / "mask").mkdir()
    code = "class Mine:\n    def __init__(self, *, mark: str | None = None): ...\n"
    (tmp_path / package / "mine.py").write_text(code)
    (tmp_path / "mask" / "mine.yaml").write_text(f"_target_: {package}.mine.Mine\nmark: null\n")
    assert kinds("mask.mark", "pretrain") == set()
    with bring(Outside((str(tmp_path),), (package,))):
        assert kinds("mask.mark", "pretrain") == {"str"}
    with bring(Outside((str(tmp_path),))):
        assert kinds("mask.mark", "pretrain") == set(), "code is what plugins= names"


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
