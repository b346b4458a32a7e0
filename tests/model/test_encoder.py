import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from ptcli.errors import ConfigError
from ptcli.model.attention.full import FullAttention
from ptcli.model.attention.sliding import SlidingAttention
from ptcli.model.ffn.geglu import GegluFeedForward
from ptcli.model.ffn.grouped import GroupedFeedForward
from ptcli.model.ffn.relu import ReluFeedForward
from ptcli.model.ffn.swiglu import SwigluFeedForward
from ptcli.model.position.alibi import AlibiPositions
from ptcli.model.position.disentangled import DisentangledPositions
from ptcli.model.position.learned import LearnedPositions
from ptcli.model.position.nezha import NezhaPositions
from ptcli.model.position.rotary import RotaryPositions
from ptcli.model.position.scaled_sinusoidal import ScaledSinusoidalPositions
from ptcli.model.position.shaw import ShawPositions
from ptcli.model.position.sinusoidal import SinusoidalPositions
from ptcli.model.position.t5 import T5Positions
from ptcli.model.position.transformer_xl import TransformerXLPositions
from ptcli.model.residual.post import PostNorm
from ptcli.model.residual.pre import PreNorm
from ptcli.model.residual.sandwich import SandwichNorm
from ptcli.model.sharing.attention_only import AttentionSharing
from ptcli.model.sharing.ffn_only import FeedForwardSharing
from ptcli.model.sharing.groups import GroupSharing
from ptcli.model.sharing.none import NoSharing
from ptcli.objective.masked_lm import MaskedLM

from .build import NO_PAIR, encoder, random_rows, rows

POSITIONS = {
    "learned": {"learned": partial(LearnedPositions, max_positions=40)},
    "sinusoidal": {"sinusoidal": SinusoidalPositions},
    "rotary": {"rotary": RotaryPositions},
    "scaled_sinusoidal": {"scaled_sinusoidal": ScaledSinusoidalPositions},
    "alibi": {"alibi": AlibiPositions},
    "t5": {"t5": T5Positions},
    "shaw": {"shaw": ShawPositions},
    "nezha": {"nezha": partial(NezhaPositions, max_distance=5)},
    "transformer_xl": {"transformer_xl": TransformerXLPositions},
    "disentangled": {"disentangled": partial(DisentangledPositions, max_distance=6, dropout=0.0)},
    "disentangled_long": {"disentangled": partial(DisentangledPositions, dropout=0.0)},
    "disentangled_log": {
        "disentangled": partial(
            DisentangledPositions, max_distance=40, num_buckets=8, share_projections=True, norm_eps=1e-7, dropout=0.0
        )
    },
    "learned-rotary": {"learned": partial(LearnedPositions, max_positions=40), "rotary": RotaryPositions},
    "learned-shaw-t5": {
        "learned": partial(LearnedPositions, max_positions=40),
        "shaw": ShawPositions,
        "t5": T5Positions,
    },
    "none": None,
}
ATTENTIONS = {"full": FullAttention, "sliding": partial(SlidingAttention, window=4, full_every=2)}


class DistanceBias(nn.Module):
    """A position of the kind that enters as a bias of the scores: minus the distance, in every second head."""

    enters = "bias"
    extrapolates = True

    def __init__(self, shape):
        super().__init__()
        self.heads = torch.arange(shape.num_heads) % 2

    def forward(self, position_ids):
        distance = (position_ids[:, None, :, None] - position_ids[:, None, None, :]).abs()
        return -(distance * self.heads[:, None, None]).float()


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("residual", [PostNorm, PreNorm, SandwichNorm])
@pytest.mark.parametrize("position", [*POSITIONS, "bias"])
def test_packed_equals_unpacked_at_every_position(position, residual, attention):
    positions = {"distance": DistanceBias} if position == "bias" else POSITIONS[position]
    model = encoder(position=positions, residual=residual, attention=ATTENTIONS[attention])
    lengths = [[5, 9, 3], [17], [1, 1, 2, 8]]
    packed = random_rows(lengths, length=20)
    hidden = model(packed)
    for at, ids in enumerate(packed["sequence_ids"]):
        for example in set(ids.tolist()) - {0}:
            inside = ids == example
            alone = rows([[packed["input_ids"][at][inside].tolist()]])
            torch.testing.assert_close(model(alone)[0], hidden[at][inside], rtol=1e-5, atol=1e-5)


def test_examples_of_a_row_are_blind_to_each_other_and_not_to_themselves():
    model = encoder()
    one, other = random_rows([[6, 7]]), random_rows([[6, 7]])
    other["input_ids"][0, 6:] = 3
    difference = (model(one) - model(other)).abs().amax(-1)[0]
    assert (difference[:6] == 0).all()
    assert (difference[6:] > 0).all()
    together = {key: value.clone() for key, value in one.items()}
    together["sequence_ids"][:] = 1  # a packing that does not isolate
    changed = together | {"input_ids": other["input_ids"]}
    assert (model(together) - model(changed)).abs().amax(-1)[0, :6].min() > 0


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("packed", [False, True])
def test_padding_changes_no_real_position(position, packed, attention):
    model = encoder(position=POSITIONS[position], attention=ATTENTIONS[attention])
    lengths = [[4, 7], [11]] if packed else [[11], [11]]
    short, long = random_rows(lengths), random_rows(lengths, length=19)
    long["input_ids"][:, 11:] = 5  # whatever stands there
    torch.testing.assert_close(model(long)[:, :11], model(short), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bfloat16", [False, True])
@pytest.mark.parametrize("lengths", [[[], [5]], [[], []], [[], [3, 2]]], ids=["padded", "empty", "packed"])
def test_rows_without_a_token_give_finite_numbers(lengths, bfloat16):
    model = encoder(position=POSITIONS["learned-rotary"])
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        hidden = model(random_rows(lengths, length=6))
    assert hidden.isfinite().all()
    hidden.float().square().sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("position", [name for name in POSITIONS if "learned" not in name and name != "none"])
def test_any_length_goes_where_the_encoding_extrapolates(position):
    model = encoder(position=POSITIONS[position], num_layers=1)
    assert model.longest_row is None
    batch = rows([[[7] + [5] * 59]], types=False)
    hidden = model(batch)[0]
    assert hidden.isfinite().all()
    assert (hidden[1:] - hidden[1]).abs().max() > 1e-4, "every place looks the same"
    shifted = model(batch | {"position_ids": batch["position_ids"] + 3})[0]
    (part,) = model.positions.values()
    only_differences_count = torch.allclose(shifted, hidden, rtol=1e-4, atol=1e-4)
    assert only_differences_count is (part.enters != "embedding")


@pytest.mark.parametrize("position", POSITIONS)
def test_every_weight_of_every_position_gets_a_gradient(position):
    model = encoder(position=POSITIONS[position])
    model(random_rows([[9, 8], [13]])).sin().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    inside = [p for name, p in model.named_parameters() if "positions" in name or "relations" in name]
    assert all(p.grad.abs().max() > 0 for p in inside)


@pytest.mark.parametrize("position", POSITIONS)
def test_autocast_computes_every_position(position):
    model = encoder(position=POSITIONS[position], initializer_range=0.02)
    batch = random_rows([[5, 9, 3], [12, 5]])
    with torch.no_grad():
        exact = model(batch)
        with torch.autocast("cpu", torch.bfloat16):
            evaluated = model(batch)
    with torch.autocast("cpu", torch.bfloat16):
        trained = model(batch)
    trained.float().square().sum().backward()
    assert (evaluated - exact).abs().max() < 0.05
    assert (trained.detach() - exact).abs().max() < 0.05


def test_positions_come_from_the_batch():
    model = encoder()
    batch = random_rows([[8]])
    shifted = batch | {"position_ids": batch["position_ids"] + 3}
    assert not torch.allclose(model(batch), model(shifted))


def test_bias_positions_add_to_the_scores():
    torch.manual_seed(0)
    with_bias, without = encoder(position={"distance": DistanceBias}), encoder(position=None)
    without.load_state_dict(with_bias.state_dict())
    batch = random_rows([[9], [4]])
    assert not torch.allclose(with_bias(batch), without(batch))
    same_place = batch | {"position_ids": torch.zeros_like(batch["position_ids"])}
    torch.testing.assert_close(with_bias(same_place), without(batch))


def test_bfloat16_stays_near_float32_in_both_forms_of_attention():
    model = encoder(position=POSITIONS["rotary"], initializer_range=0.02)
    batch = random_rows([[5, 9, 3], [12, 5]])
    with torch.no_grad():
        exact = model(batch)
        with torch.autocast("cpu", torch.bfloat16):
            evaluated = model(batch)
    with torch.autocast("cpu", torch.bfloat16):
        trained = model(batch).detach()
    assert (evaluated - exact).abs().max() < 0.03
    assert (trained - exact).abs().max() < 0.03


SHARINGS = {
    "none": (NoSharing(), 4, 4),
    "all": (GroupSharing(), 1, 1),
    "groups": (GroupSharing(num_groups=2), 2, 2),
    "inner": (GroupSharing(num_groups=2, inner_group_num=3), 6, 6),
    "attention_only": (AttentionSharing(), 1, 4),
    "ffn_only": (FeedForwardSharing(), 4, 1),
}


@pytest.mark.parametrize("sharing", SHARINGS)
def test_sharing_counts_and_what_is_shared(sharing):
    choice, attentions, ffns = SHARINGS[sharing]
    model = encoder(num_layers=4, sharing=choice)
    d, f = 32, 48
    of_attention, of_ffn = 4 * (d * d + d) + 2 * d, 2 * d * f + f + d + 2 * d
    rest = sum(p.numel() for part in (model.embeddings, model.positions) for p in part.parameters())
    assert sum(p.numel() for p in model.parameters()) == rest + attentions * of_attention + ffns * of_ffn
    layers = model.layers()
    assert len(layers) == 4 * getattr(choice, "inner_group_num", 1)
    assert len({id(layer.attention) for layer in layers}) == attentions
    assert len({id(layer.attention_residual) for layer in layers}) == attentions
    assert len({id(layer.ffn) for layer in layers}) == ffns
    assert len({id(layer.ffn_residual) for layer in layers}) == ffns


@pytest.mark.parametrize("sharing", SHARINGS)
def test_shared_layers_compute_what_copies_would(sharing):
    shared = encoder(num_layers=4, sharing=SHARINGS[sharing][0])
    layers = shared.layers()
    spread = encoder(num_layers=len(layers))
    for copy, layer in zip(spread.layers(), layers, strict=True):
        copy.load_state_dict(layer.state_dict())
    spread.embeddings.load_state_dict(shared.embeddings.state_dict())
    spread.positions.load_state_dict(shared.positions.state_dict())
    batch = random_rows([[7, 6]])
    torch.testing.assert_close(shared(batch), spread(batch), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("changes", "once"),
    [
        ({"ffn": ReluFeedForward}, 0),
        ({"ffn": GegluFeedForward}, 0),
        ({"ffn": SwigluFeedForward}, 0),
        ({"ffn": GroupedFeedForward}, 0),
        ({"position": {"shaw": ShawPositions}}, 0),
        ({"position": {"nezha": NezhaPositions}}, 0),
        ({"position": POSITIONS["disentangled"]}, 2 * 2 * 2 * 12 * 32 * 32),
        ({"position": POSITIONS["disentangled_long"]}, 2 * 2 * 2 * 24 * 32 * 32),
        ({"position": POSITIONS["disentangled_log"]}, 2 * 2 * 3 * 16 * 32 * 32),
        ({"position": {"transformer_xl": TransformerXLPositions}}, 2 * 2 * 23 * 32 * 32),
    ],
    ids=[
        *("relu", "geglu", "swiglu", "grouped", "shaw", "nezha"),
        *("disentangled", "disentangled_long", "disentangled_log", "transformer_xl"),
    ],
)
def test_flops_of_every_part_are_those_that_torch_counts(changes, once):
    """`once`: projections of tables of distances, once a batch and layer."""
    model = encoder(**changes)
    with FlopCounterMode(display=False) as counter, torch.autocast("cpu", torch.bfloat16):
        model(random_rows([[12], [12]]))
    assert model.flops_per_batch(12) == once
    assert counter.get_total_flops() == pytest.approx(24 * model.flops_per_token(12) + once, rel=0.01)


@pytest.mark.parametrize("embedding_size", [None, 16])
@pytest.mark.parametrize("sharing", SHARINGS)
def test_flops_are_those_that_torch_counts(sharing, embedding_size):
    # torch's counter knows nothing of fused attention on the CPU, so the products are spelt out by a bfloat16 pass.
    model = encoder(num_layers=4, sharing=SHARINGS[sharing][0], embedding_size=embedding_size)
    batch = random_rows([[12], [12]])
    with FlopCounterMode(display=False) as counter, torch.autocast("cpu", torch.bfloat16):
        model(batch)
    assert counter.get_total_flops() == 24 * model.flops_per_token(12)


def test_initial_weights():
    model = encoder(hidden_size=128, intermediate_size=512, vocab_size=400, initializer_range=0.02)
    for name, parameter in model.named_parameters():
        if "norm.weight" in name:
            assert (parameter == 1).all(), name
        elif parameter.ndim == 1:
            assert (parameter == 0).all(), name
        elif parameter.numel() > 4000:
            assert abs(parameter.mean()) < 5 * 0.02 / math.sqrt(parameter.numel()), name
            assert abs(parameter.std() / 0.02 - 1) < 5 / math.sqrt(2 * parameter.numel()), name


def test_initial_weights_cut_off_and_scaled_by_depth():
    wide = {"hidden_size": 128, "intermediate_size": 512, "vocab_size": 400, "num_layers": 8}
    model = encoder(**wide, initializer_range=0.02, initializer_cutoff=2.0, initializer_depth_scaled=True)
    head = MaskedLM(model=model, pair=NO_PAIR).masked_lm_head
    cut = 0.8796  # the deviation of a normal that is cut at two deviations, as a share of its own
    for name, parameter in [*model.named_parameters(), ("head.dense.weight", head.dense.weight)]:
        if parameter.ndim == 1 or parameter.numel() < 4000:
            continue
        outward = any(part in name for part in ("attention.output", "ffn.down", "head"))
        std = 0.02 / 4 if outward else 0.02  # 4: the root of twice 8 layers
        assert parameter.abs().max() <= 2 * std * (1 + 1e-6), name
        assert abs(parameter.std() / (cut * std) - 1) < 5 / math.sqrt(2 * parameter.numel()), name


def test_same_seed_same_weights():
    one, other, third = encoder(seed=1), encoder(seed=1), encoder(seed=2)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert not torch.equal(one.embeddings.tokens.weight, third.embeddings.tokens.weight)


@pytest.mark.parametrize("changes", [{"dropout": 0.5}, {"attention_dropout": 0.5}])
def test_dropout_acts_in_training_only(changes):
    model, batch = encoder(**changes), random_rows([[30], [30]])
    torch.manual_seed(0)
    first, second = model(batch), model(batch)
    assert not torch.equal(first, second)
    torch.manual_seed(0)
    assert torch.equal(model(batch), first)
    model.eval()
    assert torch.equal(model(batch), model(batch))


def test_no_dropout_no_module():
    assert not any(isinstance(part, nn.Dropout) for part in encoder().modules())


def test_the_longest_row_is_the_positions_own():
    assert encoder().longest_row == 40
    assert encoder(position=POSITIONS["learned-rotary"]).longest_row == 40
    assert encoder(position=POSITIONS["rotary"]).longest_row is None


def test_task_types_add_the_row_of_this_training():
    model = encoder(task_type_vocab_size=3, task_type=1)
    batch = random_rows([[8]])
    before = model(batch)
    with torch.no_grad():
        model.embeddings.task_types.weight[2] += 1
    assert torch.equal(model(batch), before)
    with torch.no_grad():
        model.embeddings.task_types.weight[1] += torch.linspace(-1, 1, 32)
    assert not torch.allclose(model(batch), before)


def test_without_a_norm_over_the_embeddings():
    bare, normed = encoder(embedding_norm=False, residual=PreNorm), encoder(residual=PreNorm)
    assert "embeddings.norm.weight" not in bare.state_dict()
    assert "embeddings.norm.weight" in normed.state_dict()


def test_without_segments():
    model = encoder(type_vocab_size=0)
    batch = random_rows([[8]])
    assert model.embeddings.types is None
    assert torch.equal(model(batch), model(batch | {"token_type_ids": torch.ones(1, 8, dtype=torch.int64)}))


def test_final_norm_belongs_to_pre_norm():
    assert encoder(residual=PostNorm).final_norm is None
    hidden = encoder(residual=PreNorm)(random_rows([[8]]))
    torch.testing.assert_close(hidden.mean(-1), torch.zeros(1, 8), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_heads": 5}, "num_heads=5 does not divide model.hidden_size=32.*Use model.num_heads=4"),
        ({"num_layers": 0}, "model.num_layers=0 must be at least 1"),
        ({"vocab_size": 0}, "vocab_size"),
        ({"embedding_size": -1}, "model.embedding_size=-1"),
        ({"dropout": 1.0}, r"model.dropout=1.0 must lie in \[0, 1\)"),
        ({"attention_dropout": -0.1}, "model.attention_dropout"),
        ({"type_vocab_size": -1}, "model.type_vocab_size"),
        ({"task_type": 1}, "model.task_type=1 is no row of model.task_type_vocab_size=0.*Use"),
        ({"task_type_vocab_size": -1}, "task_type_vocab_size=-1"),
        ({"initializer_range": 0.0}, "model.initializer_range"),
        ({"initializer_cutoff": 0.0}, "model.initializer_cutoff=0.0 must be above 0"),
        ({"sharing": GroupSharing(num_groups=3), "num_layers": 4}, "num_groups=3 does not divide.*Use one of 1, 2, 4"),
        ({"hidden_size": 12, "position": {"rotary": RotaryPositions}}, "heads are 3 wide"),
    ],
)
def test_refusals_name_the_key_and_the_way_out(changes, words):
    with pytest.raises(ConfigError, match=words):
        encoder(**changes)
