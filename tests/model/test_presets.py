"""Every model preset, size and slot choice composes, builds, and has the papers' parameter counts."""

import pytest
import torch
from hydra.utils import instantiate

from ptcli.model.initialization import Initializer
from ptcli.objective.masked_lm import MaskedLM

from .build import CONF, NO_PAIR, PAIR, Together, compose_model, random_rows, scored

PRESETS = sorted(path.stem for path in (CONF / "model").glob("*.yaml"))
SIZES = sorted(path.stem for path in (CONF / "model" / "size").glob("*.yaml"))
SLOTS = {
    slot.name: sorted(choice.stem for choice in slot.glob("*.yaml"))
    for slot in sorted((CONF / "model").iterdir())
    if slot.is_dir() and slot.name != "size"
}
# Rows that hold every choice of every slot: shorter slots begin again.
ROWS = [
    [f"model/{slot}={names[at % len(names)]}" for slot, names in SLOTS.items()]
    for at in range(max(len(names) for slot, names in SLOTS.items() if slot != "position"))
]
NOTHING_OF_THEIR_OWN = ("electra", "spanbert", "structbert")  # BERT under another name: they differ in what they learn
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


@pytest.mark.parametrize(
    ("preset", "size"),
    [*((preset, "mini") for preset in PRESETS), *((preset, size) for preset in ("bert", "albert") for size in SIZES)],
)
def test_every_preset_takes_a_generic_size_and_two_take_all(tmp_path, preset, size):
    model, config = build(tmp_path, f"model={preset}", f"model/size={size}", "model.num_layers=2")
    numbers = (config.model.hidden_size, config.model.num_heads, config.model.intermediate_size)
    assert numbers == GENERIC.get(size, (2, *numbers))[1:]
    assert len(model.layers()) == 2
    assert model.hidden_size == config.model.hidden_size
    assert model.embedding_size == (config.model.embedding_size or model.hidden_size)
    if size in GENERIC:
        assert model.shape.head_size == 64
        assert compose_model(tmp_path, f"model={preset}", f"model/size={size}").model.num_layers == GENERIC[size][0]


def trains(config) -> None:
    model = instantiate(config.model, vocab_size=61)
    objective = instantiate(config.objective, model=model, pair=PAIR)
    batch = scored(random_rows([[5, 4], [9]], types=config.model.type_vocab_size > 1))
    loss = objective(model, batch)
    sum(loss.sums.values()).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in Together(model, objective).parameters())


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
@pytest.mark.parametrize("preset", [preset for preset in PRESETS if preset not in NOTHING_OF_THEIR_OWN])
def test_every_preset_takes_every_slot_choice(tmp_path, preset, row):
    trains(compose_model(tmp_path, f"model={preset}", "model/size=tiny", *row))


@pytest.mark.parametrize("position", SLOTS["position"])
@pytest.mark.parametrize("preset", ["bert", "albert", "modernbert"])
def test_every_position_goes_with_post_norm_with_shared_layers_and_with_windows(tmp_path, preset, position):
    trains(compose_model(tmp_path, f"model={preset}", "model/size=tiny", f"model/position={position}"))


@pytest.mark.parametrize("objective", sorted(path.stem for path in (CONF / "objective").glob("masked_lm*.yaml")))
@pytest.mark.parametrize("preset", ["bert", "deberta_v3", "neobert"])
def test_presets_take_every_masked_lm(tmp_path, preset, objective):
    trains(compose_model(tmp_path, f"model={preset}", "model/size=tiny", f"objective={objective}"))


def test_single_numbers_stay_reachable_under_a_size(tmp_path):
    model, _ = build(tmp_path, "model=albert", "model/size=mini", "model.num_layers=3", "model.hidden_size=320")
    assert (len(model.layers()), model.hidden_size, model.shape.num_heads) == (3, 320, 4)


def test_positions_combine_and_leave(tmp_path):
    model, _ = build(tmp_path, "model/position=[learned,rotary]", "model.position.rotary.base=500.0")
    assert list(model.positions) == ["learned", "rotary"]
    assert model.positions["rotary"].base == 500
    assert not build(tmp_path, "model/position=none")[0].positions


def test_a_size_may_say_how_wide_embeddings_are(tmp_path):
    assert compose_model(tmp_path, *SMALL).model.embedding_size == 128
    assert compose_model(tmp_path, *SMALL, "model.embedding_size=64").model.embedding_size == 64
    assert compose_model(tmp_path, "model=electra", "model/size=small").model.embedding_size is None


def test_modernbert_begins_as_its_paper_says(tmp_path):
    model = build(tmp_path, "model=modernbert", "model/size=tiny", vocab_size=900, device="cpu")[0]
    assert model.initializer == Initializer(std=0.02, cutoff=2.0, outward=0.5)
    std = model.blocks[0].ffn.down.weight.std()
    assert abs(std / (0.5 * 0.02 * 0.8796) - 1) < 0.05
    assert build(tmp_path, "model=bert")[0].initializer == Initializer()


def test_albert_is_its_paper(tmp_path):
    model, config = build(tmp_path, "model=albert")
    assert config.model.embedding_size == 128
    assert (config.model.dropout, config.model.attention_dropout, config.model.ffn.approximate) == (0, 0, "tanh")
    assert len(model.blocks) == 1


ALBERT = ("model=albert", "objective=masked_lm")
ERNIE_3 = ("model=ernie", "model.task_type_vocab_size=3", "model.type_vocab_size=4")
SMALL = ("model=electra", "model/size=electra_small")


@pytest.mark.parametrize(
    ("overrides", "vocab_size", "encoder_and_pooler", "masked_lm", "with_pair"),
    [
        (("model=bert",), 30522, 109_482_240, 109_514_298, 110_106_428),
        (("model=roberta",), 50265, 124_645_632, 124_697_433, None),
        (("model=ernie",), 18000, None, 99_885_648, 100_477_778),
        ((*ERNIE_3, "model.position.learned.max_positions=2048"), 40000, None, None, 118_578_498),
        (("model=nezha",), 21128, None, None, 102_489_226),
        (SMALL, 30522, None, 13_546_682, None),
        (("model=electra", "model/size=electra_small", "model.embedding_size=768"), 30522, None, 33_740_602, None),
        (("model=deberta", "objective=masked_lm"), 50265, None, 139_244_121, None),
        (("model=deberta",), 50265, None, 139_244_121 + 512 * 768, None),
        (("model=deberta_v3",), 128100, None, 184_551_780, None),
        (("model=modernbert",), 50368, None, 149_655_232, None),
        (("model=mosaicbert",), 30528, None, 137_400_384, None),
        (("model=neobert",), 30522, None, 245_136_954, None),
        (("model=crammed",), 32768, None, 119_589_889, None),
        (ALBERT, 30000, 11_683_584, 11_221_680, 11_813_810),
        ((*ALBERT, "model/size=albert_xxlarge"), 30000, 222_595_584, None, None),
        ((*ALBERT, "model/sharing=groups", "model.sharing.num_groups=4"), 30000, 32_947_200, None, None),
        ((*ALBERT, "model/sharing=groups", "model.sharing.num_groups=12"), 30000, 89_650_176, None, None),
        ((*ALBERT, "model/sharing=none"), 30000, 89_650_176, None, None),
        ((*ALBERT, "model.sharing.inner_group_num=2"), 30000, 18_771_456, None, None),
    ],
    ids=[
        *(
            "bert",
            "roberta",
            "ernie",
            "ernie-3",
            "nezha",
            "electra-small",
            "electra-base-generator",
            "deberta-no-decoder",
        ),
        *("deberta", "deberta-v3", "modernbert", "mosaicbert", "neobert", "crammed", "albert"),
        *("albert-xxlarge", "groups-4", "groups-12", "no-sharing", "inner-2"),
    ],
)
def test_parameter_counts_are_exact(tmp_path, overrides, vocab_size, encoder_and_pooler, masked_lm, with_pair):
    model, config = build(tmp_path, *overrides, vocab_size=vocab_size)
    with torch.device("meta"):
        alone = instantiate(config.objective, model=model, pair=NO_PAIR)
        paired = instantiate(config.objective, model=model, pair=PAIR)
    if encoder_and_pooler:
        assert count(model, paired.pair_head.pooler) == encoder_and_pooler
    if masked_lm:
        assert count(model, alone) == masked_lm
    if with_pair:
        assert count(model, paired) == with_pair


@pytest.mark.parametrize(
    ("overrides", "vocab_size", "parameters"),
    [
        (("model=electra",), 30522, 109_483_009 - (768 * 768 + 768) - 769),  # without the discriminator's head
        (SMALL, 30522, 13_549_057 - 256 * 258 - 1),
        (("model=deberta",), 50265, 138_601_728),
        (("model=deberta_v3",), 128100, 183_831_552),
        (("model=modernbert",), 50368, 149_014_272),
        (("model=neobert",), 30522, 221_665_536),
    ],
    ids=["electra", "electra-small", "deberta", "deberta-v3", "modernbert", "neobert"],
)
def test_parameter_counts_of_encoders_are_exact(tmp_path, overrides, vocab_size, parameters):
    assert count(build(tmp_path, *overrides, vocab_size=vocab_size)[0]) == parameters


def test_the_head_belongs_to_the_objective_alone(tmp_path):
    model, _ = build(tmp_path)
    together = Together(model, MaskedLM(model=model, pair=NO_PAIR))
    names = [name for name, _ in together.named_parameters(remove_duplicate=False)]
    assert len(names) == len(set(names)) == len(together.state_dict())
    assert not any("pool" in name for name in names)
