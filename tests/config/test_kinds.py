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
    ],
)
def test_types_are_known_without_importing_a_part(key, takes):
    assert kinds(key, "pretrain") == takes


def test_places_of_groups():
    assert group_at("eval.mask", "pretrain") == "mask"
    assert group_at("model.size", "pretrain") == "model/size"
    assert group_at("eval", "pretrain") is None
