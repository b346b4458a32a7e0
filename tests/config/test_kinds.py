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
    ],
)
def test_types_are_known_without_importing_a_part(key, takes):
    assert kinds(key, "pretrain") == takes


def test_types_of_a_users_own_class_are_read_too(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = f"kinds_of_{tmp_path.name}"
    (tmp_path / package).mkdir()
    (tmp_path / "mask").mkdir()
    code = "import nothing_there\nclass Mine:\n    def __init__(self, *, mark: str | None = None): ...\n"
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
