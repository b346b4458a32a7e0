"""NEZHA, MosaicBERT, NeoBERT and crammed BERT have no class in transformers 5: here they are written down from their
papers, one function each, and the presets compute the same from the same weights.
"""

import math

import pytest
import torch
from hydra.utils import instantiate
from torch import Tensor
from torch.nn import functional as F

from .build import NO_PAIR, PAIR, Together, compose_model, random_rows, scored

HEADS, LAYERS, LENGTH = 3, 2, 21
Weights = dict[str, Tensor]


def norm(w: Weights, name: str, x: Tensor, eps: float = 1e-12) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * w[f"{name}.weight"] + w[f"{name}.bias"]


def root_mean_square(w: Weights, name: str, x: Tensor) -> Tensor:
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * w[f"{name}.weight"]


def dense(w: Weights, name: str, x: Tensor) -> Tensor:
    return x @ w[f"{name}.weight"].T + w.get(f"{name}.bias", 0)


def heads(w: Weights, name: str, x: Tensor) -> list[Tensor]:
    """Queries, keys, values, (h, S, d_h) each."""
    return [part.unflatten(-1, (HEADS, -1)).transpose(0, 1) for part in dense(w, f"{name}.qkv", x).chunk(3, -1)]


def together(w: Weights, name: str, gathered: Tensor) -> Tensor:
    return dense(w, f"{name}.output", gathered.transpose(0, 1).flatten(1))


def waves(places: Tensor, size: int) -> Tensor:
    out = torch.zeros(len(places), size)
    for i in range(0, size, 2):
        out[:, i] = torch.sin(places / 10000 ** (i / size))
        out[:, i + 1] = torch.cos(places / 10000 ** (i / size))
    return out


def gated(w: Weights, name: str, x: Tensor, activation) -> Tensor:
    wide = dense(w, f"{name}.up", x)
    inner = wide.shape[-1] // 2
    return dense(w, f"{name}.down", activation(wide[:, :inner]) * wide[:, inner:])


def nezha(w: Weights, ids: Tensor, types: Tensor) -> Tensor:
    """BERT without places, a fixed wave of the distance in keys and values (arXiv:1909.00204)."""
    x = norm(w, "embeddings.norm", w["embeddings.tokens.weight"][ids] + w["embeddings.types.weight"][types])
    places = torch.arange(LENGTH)
    apart = (places[None, :] - places[:, None]).clamp(-64, 64) + 64
    for layer in range(LAYERS):
        at = f"blocks.{layer}"
        q, k, v = heads(w, f"{at}.attention", x)
        vectors = waves(torch.arange(129.0), q.shape[-1])[apart]  # (S, S, d_h)
        scores = (q @ k.transpose(1, 2) + torch.einsum("hid,ijd->hij", q, vectors)) / math.sqrt(q.shape[-1])
        weights = scores.softmax(-1)
        gathered = weights @ v + torch.einsum("hij,ijd->hid", weights, vectors)
        x = norm(w, f"{at}.attention_residual.norm", x + together(w, f"{at}.attention", gathered))
        inner = F.gelu(dense(w, f"{at}.ffn.up", x))
        x = norm(w, f"{at}.ffn_residual.norm", x + dense(w, f"{at}.ffn.down", inner))
    return x


def mosaicbert(w: Weights, ids: Tensor, types: Tensor) -> Tensor:
    """BERT's order of norms, symmetric ALiBi, a gate with GELU whose widening has no bias (arXiv:2312.17482)."""
    x = norm(w, "embeddings.norm", w["embeddings.tokens.weight"][ids] + w["embeddings.types.weight"][types])
    places = torch.arange(LENGTH)
    falls = torch.tensor([2**-4.0, 2**-8.0, 2**-2.0])  # two heads' slopes, then the first of four heads'
    bias = -falls[:, None, None] * (places[:, None] - places[None, :]).abs()
    for layer in range(LAYERS):
        at = f"blocks.{layer}"
        assert f"{at}.ffn.up.bias" not in w
        q, k, v = heads(w, f"{at}.attention", x)
        weights = (q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]) + bias).softmax(-1)
        x = norm(w, f"{at}.attention_residual.norm", x + together(w, f"{at}.attention", weights @ v))
        x = norm(w, f"{at}.ffn_residual.norm", x + gated(w, f"{at}.ffn", x, F.gelu))
    return x


def turned(x: Tensor) -> Tensor:
    """Rotary places: feature i of a head's first half with feature i of its second."""
    half = x.shape[-1] // 2
    angles = torch.arange(LENGTH)[:, None] / 10000 ** (torch.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()), -1)


def neobert(w: Weights, ids: Tensor, types: Tensor) -> Tensor:
    """Norms first, root mean square, rotary places, SwiGLU, no biases, embeddings as they are (arXiv:2502.19587)."""
    x = w["embeddings.tokens.weight"][ids]
    for layer in range(LAYERS):
        at = f"blocks.{layer}"
        q, k, v = heads(w, f"{at}.attention", root_mean_square(w, f"{at}.attention_residual.norm", x))
        weights = (turned(q) @ turned(k).transpose(1, 2) / math.sqrt(q.shape[-1])).softmax(-1)
        x = x + together(w, f"{at}.attention", weights @ v)
        x = x + gated(w, f"{at}.ffn", root_mean_square(w, f"{at}.ffn_residual.norm", x), F.silu)
    return root_mean_square(w, "final_norm", x)


def crammed(w: Weights, ids: Tensor, types: Tensor) -> Tensor:
    """Norms first and one after the embeddings, scaled waves, a gate with GELU, no biases (arXiv:2212.14034)."""
    x = w["embeddings.tokens.weight"][ids]
    x = x + w["positions.scaled_sinusoidal.scale"] * waves(torch.arange(LENGTH), x.shape[-1])
    x = norm(w, "embeddings.norm", x)
    for layer in range(LAYERS):
        at = f"blocks.{layer}"
        q, k, v = heads(w, f"{at}.attention", norm(w, f"{at}.attention_residual.norm", x))
        weights = (q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])).softmax(-1)
        x = x + together(w, f"{at}.attention", weights @ v)
        x = x + gated(w, f"{at}.ffn", norm(w, f"{at}.ffn_residual.norm", x), F.gelu)
    return norm(w, "final_norm", x)


def bert_head(w: Weights, x: Tensor, embeddings: Tensor) -> Tensor:
    x = norm(w, "masked_lm_head.norm", F.gelu(dense(w, "masked_lm_head.dense", x)))
    return x @ embeddings.T + w["masked_lm_head.bias"]


def own_matrix(w: Weights, x: Tensor, embeddings: Tensor) -> Tensor:
    return x @ w["masked_lm_head.decoder.weight"].T + w["masked_lm_head.bias"]


def product(w: Weights, x: Tensor, embeddings: Tensor) -> Tensor:
    return x @ embeddings.T


MODELS = {
    "nezha": (nezha, bert_head),
    "mosaicbert": (mosaicbert, bert_head),
    "neobert": (neobert, own_matrix),
    "crammed": (crammed, product),
}


@pytest.fixture
def preset(tmp_path):
    def build(name: str) -> Together:
        sizes = {"num_layers": LAYERS, "hidden_size": 48, "num_heads": HEADS, "intermediate_size": 40}
        changes = [
            f"model.{key}={value}" for key, value in (sizes | {"dropout": 0.0, "attention_dropout": 0.0}).items()
        ]
        config = compose_model(tmp_path, f"model={name}", "model.initializer_range=0.2", *changes)
        torch.manual_seed(0)
        model = instantiate(config.model, vocab_size=61)
        whole = Together(model, instantiate(config.objective, model=model, pair=NO_PAIR))
        with torch.no_grad():
            for parameter in whole.parameters():
                if parameter.ndim == 1:
                    parameter.add_(torch.randn_like(parameter) * 0.1)
        return whole

    return build


@pytest.mark.parametrize("padded", [False, True], ids=["unpadded", "padded"])
@pytest.mark.parametrize("name", MODELS)
def test_hidden_states_logits_and_gradients_equal_the_paper_s(preset, name, padded):
    encode, predict = MODELS[name]
    whole: Together = preset(name)
    segments = whole.model.embeddings.types is not None
    batch = scored(random_rows([[LENGTH], [5]], types=segments, length=LENGTH + (4 if padded else 0)))
    weights = {key: value.detach().clone().requires_grad_() for key, value in whole.model.state_dict().items()}
    head = {key: value.detach() for key, value in whole.objective.state_dict().items()}

    hidden = whole.model(batch)[0, :LENGTH]
    wanted = encode(weights, batch["input_ids"][0, :LENGTH], batch["token_type_ids"][0, :LENGTH])
    torch.testing.assert_close(hidden, wanted, rtol=1e-4, atol=1e-5 * wanted.abs().max().item())

    logits = whole.objective.predict(whole.model, batch)
    places = batch["label_positions"][batch["label_positions"] < batch["input_ids"].shape[1]]
    wanted_logits = predict(head, wanted[places], weights["embeddings.tokens.weight"])
    tolerance = 1e-5 * wanted_logits.abs().max().item()
    torch.testing.assert_close(logits[: len(places)], wanted_logits, rtol=1e-4, atol=tolerance)

    direction = torch.linspace(-1, 1, wanted.numel()).view_as(wanted).sin()
    (hidden * direction).sum().backward()
    (wanted * direction).sum().backward()
    for key, parameter in whole.model.named_parameters():
        if "qkv.bias" in key:  # its key part moves no score: noise around 0
            continue
        ours, theirs = parameter.grad, weights[key].grad
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=2e-5 * theirs.abs().max().item(), msg=key)


def test_nezha_s_positions_go_on_albert_with_one_override(tmp_path):
    config = compose_model(tmp_path, "model=albert", "model/size=tiny", "model/position=nezha")
    model = instantiate(config.model, vocab_size=61)
    assert len(model.blocks) == 1
    objective = instantiate(config.objective, model=model, pair=PAIR)
    sum(objective(model, scored(random_rows([[9, 4]]))).sums.values()).backward()


def test_absolute_and_relative_places_together(tmp_path):
    listed = "[learned,t5,shaw,rotary,disentangled]"
    config = compose_model(tmp_path, "model/size=tiny", f"model/position={listed}", "model.dropout=0.0")
    model = instantiate(config.model, vocab_size=61).eval()
    batch = random_rows([[9, 4]])
    whole = model(batch)
    for name in model.positions:
        left = listed.replace(f"{name},", "").replace(f",{name}]", "]")
        other = instantiate(
            compose_model(tmp_path, "model/size=tiny", f"model/position={left}", "model.dropout=0.0").model,
            vocab_size=61,
        ).eval()
        weights = {key: value for key, value in model.state_dict().items() if key in other.state_dict()}
        other.load_state_dict(weights)
        assert not torch.allclose(other(batch), whole, atol=1e-4), name
