"""transformers' heirs of BERT, the presets made as small as they are, and where their weights stand in ours."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from hydra.utils import instantiate
from torch import Tensor, nn
from transformers import (
    DebertaConfig,
    DebertaForMaskedLM,
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    ElectraConfig,
    ElectraForMaskedLM,
    ErnieConfig,
    ErnieForMaskedLM,
    ModernBertConfig,
    ModernBertForMaskedLM,
    PreTrainedModel,
    RobertaConfig,
    RobertaForMaskedLM,
)

from .build import NO_PAIR, Together, compose_model
from .reference import SIZES, bert_names, stacked

Tensors = dict[str, Tensor]
LAYERS = 4


@dataclass(frozen=True)
class Family:
    """One model, small: ours, theirs, and their tensors (weights or gradients) under our names."""

    ours: Together
    theirs: PreTrainedModel
    convert: Callable[[Tensors], Tensors]
    segments: bool = False


def _ours(preset: str, *overrides: str) -> Together:
    """The shipped preset, small; `overrides` are typed."""
    sizes = {"num_layers": LAYERS, "hidden_size": 32, "num_heads": 4, "intermediate_size": 48}
    still = {"dropout": 0.0, "attention_dropout": 0.0, "initializer_range": 0.2}
    typed = [f"model.{key}={value}" for key, value in (sizes | still).items()]
    with TemporaryDirectory() as folder:
        config = compose_model(Path(folder), f"model={preset}", *typed, *overrides)
    torch.manual_seed(0)
    model = instantiate(config.model, vocab_size=61)
    return Together(model, instantiate(config.objective, model=model, pair=NO_PAIR))


def _theirs(kind: type[PreTrainedModel], config) -> PreTrainedModel:
    torch.manual_seed(0)
    module = kind(config)
    with torch.no_grad():  # biases and norms start at constants, which would hide an exchanged pair of them
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter) * (0.1 if parameter.ndim == 1 else 0.01))
    return module.eval()


def _bert_like(prefix: str, head: dict[str, str]) -> dict[str, list[str]]:
    """BERT's names below another prefix, and the head's names where they differ."""
    names = {}
    for ours, theirs in bert_names(LAYERS).items():
        if "pair_head" in ours:
            continue
        part = ours.removeprefix("objective.masked_lm_head.")
        kind = part.split(".")[0]
        names[ours] = [t.replace("bert.", f"{prefix}.", 1) for t in theirs]
        if kind in head and ours != part:
            names[ours] = [head[kind] + part.removeprefix(kind)]
    return names


def roberta() -> Family:
    config = RobertaConfig(
        **SIZES | {"max_position_embeddings": 42},
        num_hidden_layers=LAYERS,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        pad_token_id=1,
    )
    names = _bert_like("roberta", {"bias": "lm_head.bias", "dense": "lm_head.dense", "norm": "lm_head.layer_norm"})
    ours = _ours("roberta", "model.position.learned.max_positions=40")
    return Family(ours, _theirs(RobertaForMaskedLM, config), partial(stacked, names=names))


def ernie(tasks: int = 0) -> Family:
    config = ErnieConfig(
        **SIZES, num_hidden_layers=LAYERS, hidden_act="relu", use_task_id=bool(tasks), task_type_vocab_size=tasks or 1
    )
    names = _bert_like("ernie", {})
    if tasks:
        names["model.embeddings.task_types.weight"] = ["ernie.embeddings.task_type_embeddings.weight"]
    ours = _ours("ernie", "model.position.learned.max_positions=40", f"model.task_type_vocab_size={tasks}")
    return Family(ours, _theirs(ErnieForMaskedLM, config), partial(stacked, names=names), segments=True)


def electra(embedding_size: int = 16) -> Family:
    config = ElectraConfig(**SIZES, num_hidden_layers=LAYERS, embedding_size=embedding_size)
    names = _bert_like(
        "electra",
        {
            "bias": "generator_lm_head.bias",
            "dense": "generator_predictions.dense",
            "norm": "generator_predictions.LayerNorm",
        },
    )
    projects = embedding_size != 32
    if projects:
        for kind in ("weight", "bias"):
            names[f"model.embeddings.projection.{kind}"] = [f"electra.embeddings_project.{kind}"]
    ours = _ours(
        "electra",
        "model.position.learned.max_positions=40",
        f"model.embedding_size={embedding_size if projects else 'null'}",
    )
    return Family(ours, _theirs(ElectraForMaskedLM, config), partial(stacked, names=names), segments=True)


def deberta(max_distance: int = 40, terms: tuple[str, ...] = ("c2p", "p2c")) -> Family:
    config = DebertaConfig(
        **SIZES,
        num_hidden_layers=LAYERS,
        relative_attention=True,
        position_biased_input=False,
        max_relative_positions=max_distance,
        pos_att_type=list(terms),
        type_vocab_size=0,
        layer_norm_eps=1e-7,
    )
    names = _bert_like("deberta", {})
    for name in list(names):
        if ".types." in name or "positions.learned" in name or ".qkv." in name:
            del names[name]
    names["model.positions.disentangled.table.weight"] = ["deberta.encoder.rel_embeddings.weight"]
    for layer in range(LAYERS):
        ours, theirs = f"model.blocks.{layer}.attention", f"deberta.encoder.layer.{layer}.attention.self"
        if "c2p" in terms:
            names[f"{ours}.relations.disentangled.key.weight"] = [f"{theirs}.pos_proj.weight"]
        if "p2c" in terms:
            for kind in ("weight", "bias"):
                names[f"{ours}.relations.disentangled.query.{kind}"] = [f"{theirs}.pos_q_proj.{kind}"]

    def convert(tensors: Tensors) -> Tensors:
        found = stacked(tensors, names)
        for layer in range(LAYERS):
            ours, theirs = f"model.blocks.{layer}.attention", f"deberta.encoder.layer.{layer}.attention.self"
            by_head = tensors[f"{theirs}.in_proj.weight"].unflatten(0, (4, 3, 8))  # heads, then query, key, value
            found[f"{ours}.qkv.weight"] = by_head.transpose(0, 1).flatten(0, 2)
            biases = [tensors[f"{theirs}.{kind}_bias"] for kind in ("q", "v")]
            found[f"{ours}.query_value_bias"] = torch.stack(biases)
        return found

    ours = _ours(
        "deberta",
        "objective=masked_lm",
        f"model.position.disentangled.max_distance={max_distance}",
        f"model.position.disentangled.content_to_position={'c2p' in terms}",
        f"model.position.disentangled.position_to_content={'p2c' in terms}",
    )
    return Family(ours, _theirs(DebertaForMaskedLM, config), convert)


def deberta_v3(num_buckets: int = 8) -> Family:
    config = DebertaV2Config(
        **SIZES,
        num_hidden_layers=LAYERS,
        relative_attention=True,
        position_biased_input=False,
        max_relative_positions=40,
        position_buckets=num_buckets,
        pos_att_type=["c2p", "p2c"],
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        type_vocab_size=0,
        layer_norm_eps=1e-7,
    )
    names = _bert_like("deberta", {})
    for name in list(names):
        if ".types." in name or "positions.learned" in name:
            del names[name]
        elif ".qkv." in name:
            parts = [theirs.rsplit(".", 1) for theirs in names[name]]
            names[name] = [f"{theirs}_proj.{kind}" for theirs, kind in parts]
    names["model.positions.disentangled.table.weight"] = ["deberta.encoder.rel_embeddings.weight"]
    for kind in ("weight", "bias"):
        names[f"model.positions.disentangled.norm.{kind}"] = [f"deberta.encoder.LayerNorm.{kind}"]
    ours = _ours(
        "deberta_v3",
        "model.position.disentangled.max_distance=40",
        f"model.position.disentangled.num_buckets={num_buckets}",
    )
    return Family(ours, _theirs(DebertaV2ForMaskedLM, config), partial(stacked, names=names))


def modernbert() -> Family:
    sizes = {key: value for key, value in SIZES.items() if key != "hidden_dropout_prob"}
    config = ModernBertConfig(
        **sizes | {"attention_probs_dropout_prob": 0.0},
        num_hidden_layers=LAYERS,
        local_attention=8,
        global_attn_every_n_layers=3,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        cls_token_id=1,
        sep_token_id=2,
    )
    names = {
        "model.embeddings.tokens.weight": ["model.embeddings.tok_embeddings.weight"],
        "model.embeddings.norm.weight": ["model.embeddings.norm.weight"],
        "model.final_norm.weight": ["model.final_norm.weight"],
        "objective.masked_lm_head.dense.weight": ["head.dense.weight"],
        "objective.masked_lm_head.norm.weight": ["head.norm.weight"],
        "objective.masked_lm_head.bias": ["decoder.bias"],
    }
    for layer in range(LAYERS):
        ours, theirs = f"model.blocks.{layer}", f"model.layers.{layer}"
        names |= {
            f"{ours}.attention.qkv.weight": [f"{theirs}.attn.Wqkv.weight"],
            f"{ours}.attention.output.weight": [f"{theirs}.attn.Wo.weight"],
            f"{ours}.ffn.up.weight": [f"{theirs}.mlp.Wi.weight"],
            f"{ours}.ffn.down.weight": [f"{theirs}.mlp.Wo.weight"],
            f"{ours}.ffn_residual.norm.weight": [f"{theirs}.mlp_norm.weight"],
        }
        if layer:
            names[f"{ours}.attention_residual.norm.weight"] = [f"{theirs}.attn_norm.weight"]
    ours = _ours("modernbert", "model.attention.window=8")
    return Family(ours, _theirs(ModernBertForMaskedLM, config), partial(stacked, names=names))


FAMILIES: dict[str, Callable[[], Family]] = {
    "roberta": roberta,
    "ernie": ernie,
    "ernie-tasks": lambda: ernie(tasks=3),
    "electra": lambda: electra(embedding_size=32),
    "electra-narrow": electra,
    "deberta": deberta,
    "deberta-clipped": lambda: deberta(max_distance=6),
    "deberta-c2p": lambda: deberta(terms=("c2p",)),
    "deberta-p2c": lambda: deberta(terms=("p2c",)),
    "deberta_v3": deberta_v3,
    "modernbert": modernbert,
}


def body_of(theirs: nn.Module) -> nn.Module:
    """Their encoder."""
    return theirs.base_model  # type: ignore[return-value]
