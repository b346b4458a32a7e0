"""Every model preset, size and slot choice composes, builds, and has the papers' parameter counts."""

import pytest
import torch
from hydra.utils import instantiate

from ptcli.objective.masked_lm import MaskedLM

from .build import CONF, NO_PAIR, PAIR, Together, compose_model, random_rows, scored

PRESETS = sorted(path.stem for path in (CONF / "model").glob("*.yaml"))
SIZES = sorted(path.stem for path in (CONF / "model" / "size").glob("*.yaml"))
SLOTS = sorted(
    f"model/{slot.name}={choice.stem}"
    for slot in (CONF / "model").iterdir()
    if slot.is_dir() and slot.name != "size"
    for choice in slot.glob("*.yaml")
)
GENERIC = {  # layers, width, heads, feed-forward
    "tiny": (2, 128, 2, 512),
    "mini": (4, 256, 4, 1024),
    "small": (4, 512, 8, 2048),
    "medium": (8, 512, 8, 2048),
    "base": (12, 768, 12, 3072),
    "large": (24, 1024, 16, 4096),
}


def build(folder, *overrides, vocab_size=30522, device="meta"):
    config = compose_model(folder, *overrides)
    with torch.device(device):
        return instantiate(config.model, vocab_size=vocab_size), config


def count(*modules) -> int:
    return sum(p.numel() for module in modules for p in module.parameters())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_takes_every_size(tmp_path, preset, size):
    model, config = build(tmp_path, f"model={preset}", f"model/size={size}")
    numbers = (
        config.model.num_layers,
        config.model.hidden_size,
        config.model.num_heads,
        config.model.intermediate_size,
    )
    assert numbers == GENERIC.get(size, numbers)
    assert len(model.layers()) == config.model.num_layers
    assert model.hidden_size == config.model.hidden_size
    assert model.embedding_size == (config.model.embedding_size or model.hidden_size)
    if size in GENERIC:
        assert model.shape.head_size == 64


@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_takes_every_slot_choice(tmp_path, preset, slot):
    model, config = build(tmp_path, f"model={preset}", "model/size=tiny", slot, vocab_size=61, device="cpu")
    objective = instantiate(config.objective, model=model, pair=PAIR)
    loss = objective(model, scored(random_rows([[5, 4], [9]])))
    sum(loss.sums.values()).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in Together(model, objective).parameters())


def test_single_numbers_stay_reachable_under_a_size(tmp_path):
    model, _ = build(tmp_path, "model=albert", "model/size=mini", "model.num_layers=3", "model.hidden_size=320")
    assert (len(model.layers()), model.hidden_size, model.shape.num_heads) == (3, 320, 4)


def test_positions_combine_and_leave(tmp_path):
    model, _ = build(tmp_path, "model/position=[learned,rotary]", "model.position.rotary.base=500.0")
    assert list(model.positions) == ["learned", "rotary"]
    assert model.positions["rotary"].base == 500
    assert not build(tmp_path, "model/position=none")[0].positions


def test_albert_is_its_paper(tmp_path):
    model, config = build(tmp_path, "model=albert")
    assert config.model.embedding_size == 128
    assert (config.model.dropout, config.model.attention_dropout, config.model.ffn.approximate) == (0, 0, "tanh")
    assert len(model.blocks) == 1


ALBERT = ("model=albert", "objective=masked_lm")


@pytest.mark.parametrize(
    ("overrides", "vocab_size", "encoder_and_pooler", "masked_lm", "with_pair"),
    [
        (("model=bert",), 30522, 109_482_240, 109_514_298, 110_106_428),
        (ALBERT, 30000, 11_683_584, 11_221_680, 11_813_810),
        ((*ALBERT, "model/size=albert_xxlarge"), 30000, 222_595_584, None, None),
        ((*ALBERT, "model/sharing=groups", "model.sharing.num_groups=4"), 30000, 32_947_200, None, None),
        ((*ALBERT, "model/sharing=groups", "model.sharing.num_groups=12"), 30000, 89_650_176, None, None),
        ((*ALBERT, "model/sharing=none"), 30000, 89_650_176, None, None),
        ((*ALBERT, "model.sharing.inner_group_num=2"), 30000, 18_771_456, None, None),
    ],
    ids=["bert", "albert", "albert-xxlarge", "groups-4", "groups-12", "no-sharing", "inner-2"],
)
def test_parameter_counts_are_exact(tmp_path, overrides, vocab_size, encoder_and_pooler, masked_lm, with_pair):
    model, config = build(tmp_path, *overrides, vocab_size=vocab_size)
    with torch.device("meta"):
        alone = instantiate(config.objective, model=model, pair=NO_PAIR)
        paired = instantiate(config.objective, model=model, pair=PAIR)
    assert count(model, paired.pair_head.pooler) == encoder_and_pooler
    if masked_lm:
        assert count(model, alone) == masked_lm
        assert count(model, paired) == with_pair


def test_the_head_belongs_to_the_objective_alone(tmp_path):
    model, _ = build(tmp_path)
    together = Together(model, MaskedLM(model=model, pair=NO_PAIR))
    names = [name for name, _ in together.named_parameters(remove_duplicate=False)]
    assert len(names) == len(set(names)) == len(together.state_dict())
    assert not any("pool" in name for name in names)
