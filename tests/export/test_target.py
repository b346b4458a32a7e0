"""Which class of transformers holds which model, by its name where several do."""

import pytest

from ptcli.config.bind import plain_values
from ptcli.config.compose import compose
from ptcli.export.target import Target, find_target


def target_of(*overrides: str) -> Target | None:
    return find_target(plain_values(compose("pretrain", list(overrides)).config), pad_token_id=1)[0]


@pytest.mark.parametrize(
    ("overrides", "architecture"),
    [
        (("model=bert",), "BertForMaskedLM"),
        (("model=structbert", "model/ffn=relu"), "BertForMaskedLM"),
        (("model=electra",), "ElectraForMaskedLM"),
        (("model=electra", "model/size=electra_small"), "ElectraForMaskedLM"),
        (("model=electra", "objective.tie=false"), "BertForMaskedLM"),  # ELECTRA's head is tied: BERT's keeps it
        (("model=ernie",), "ErnieForMaskedLM"),
        (("model=ernie", "model.name=bert"), "BertForMaskedLM"),
        (("model=bert", "model/position=rotary"), "RoFormerForMaskedLM"),
        (("model=electra", "model/size=electra_small", "model/position=rotary"), "RoFormerForMaskedLM"),
        (("model=deberta",), "DebertaModel"),  # its mask decoder is in no class
        (("model=deberta", "objective=masked_lm"), "DebertaForMaskedLM"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_the_class_of_each_model(overrides, architecture):
    target = target_of(*overrides)
    assert target is not None
    assert target.architecture == architecture


@pytest.mark.parametrize(
    "overrides",
    [
        ("model=nezha",),
        ("model=deberta", "model.position.disentangled.content_to_content=false"),
    ],
    ids=" ".join,
)
def test_what_no_class_holds_has_none(overrides):
    assert target_of(*overrides) is None


def test_the_nearest_class_is_that_with_the_fewest_differences():
    settings = plain_values(compose("pretrain", ["model/position=rotary", "model.position.rotary.base=500.0"]).config)
    _, against = find_target(settings, pad_token_id=1)
    assert against == ["roformer: model.position.rotary.base=500.0 (there 10000.0)"]
