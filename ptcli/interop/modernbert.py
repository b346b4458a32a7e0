"""ModernBERT as transformers has it."""

from collections.abc import Mapping
from typing import Any

from ptcli.errors import CheckpointError
from ptcli.interop.family import Entry, Expanded, Family, Node

_FULL, _WINDOW = "full_attention", "sliding_attention"


class ModernBertFamily(Family):
    """ModernBERT (arXiv:2412.13663): no segments, rotary places, windows in most layers."""

    def expand(self, node: Node) -> Expanded:
        """Nothing is written out."""
        return Expanded(node)

    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        attention, position = node["attention"], node["position"]
        rotary = position.get("rotary", {}) if isinstance(position, dict) else {}
        base, every = rotary.get("base", 160000.0), attention.get("full_every", 3)
        return {
            "num_hidden_layers": node["num_layers"],
            "hidden_size": node["hidden_size"],
            "num_attention_heads": node["num_heads"],
            "intermediate_size": node["intermediate_size"],
            "embedding_dropout": node["dropout"],
            "mlp_dropout": node["dropout"],
            "attention_dropout": node["attention_dropout"],
            "initializer_range": node["initializer_range"],
            "norm_eps": node["norm"].get("eps", 1e-5),
            "norm_bias": node["norm"].get("bias", False),
            "attention_bias": attention.get("bias", False),
            "mlp_bias": node["ffn"].get("bias", False),
            "local_attention": attention.get("window", 128),
            "layer_types": [_FULL if every and i % every == 0 else _WINDOW for i in range(node["num_layers"])],
            "rope_parameters": {
                _FULL: {"rope_type": "default", "rope_theta": base},
                _WINDOW: {"rope_type": "default", "rope_theta": rotary.get("local_base") or base},
            },
        }

    def overrides(self, config: Mapping[str, Any]) -> list[str]:
        for key, value in (("hidden_activation", "gelu"), ("decoder_bias", True), ("classifier_bias", False)):
            if config[key] != value:
                raise CheckpointError(f"config.json says {key}={config[key]}, but ptcli reads {value} only.")
        if config["embedding_dropout"] != config["mlp_dropout"]:
            raise CheckpointError("config.json has an embedding_dropout and another mlp_dropout: ptcli has one.")
        bases = _bases(config)
        values = {
            "num_layers": config["num_hidden_layers"],
            "hidden_size": config["hidden_size"],
            "num_heads": config["num_attention_heads"],
            "intermediate_size": config["intermediate_size"],
            "dropout": config["mlp_dropout"],
            "attention_dropout": config["attention_dropout"],
            "initializer_range": config["initializer_range"],
            "norm.eps": config["norm_eps"],
            "norm.bias": config["norm_bias"],
            "attention.bias": config["attention_bias"],
            "attention.window": config["local_attention"],
            "attention.full_every": _full_every(config),
            "ffn.bias": config["mlp_bias"],
            "position.rotary.base": bases[0],
            "position.rotary.local_base": bases[1],
        }
        return ["model=modernbert", *(f"model.{key}={_typed(value)}" for key, value in values.items())]

    def body(self, config: Mapping[str, Any], *, order: tuple[int, ...]) -> list[Entry]:
        norm = ["weight", *(["bias"] if config["norm_bias"] else [])]
        attention = ["weight", *(["bias"] if config["attention_bias"] else [])]
        inner = ["weight", *(["bias"] if config["mlp_bias"] else [])]
        modules = [("model.embeddings.norm", "model.embeddings.norm", norm)]
        for layer, block in enumerate(order):
            ours, theirs = f"model.blocks.{block}", f"model.layers.{layer}"
            if layer:  # the first has none: the embeddings are normed
                modules.append((f"{ours}.attention_residual.norm", f"{theirs}.attn_norm", norm))
            modules += [
                (f"{ours}.attention.qkv", f"{theirs}.attn.Wqkv", attention),
                (f"{ours}.attention.output", f"{theirs}.attn.Wo", attention),
                (f"{ours}.ffn_residual.norm", f"{theirs}.mlp_norm", norm),
                (f"{ours}.ffn.up", f"{theirs}.mlp.Wi", inner),
                (f"{ours}.ffn.down", f"{theirs}.mlp.Wo", inner),
            ]
        modules.append(("model.final_norm", "model.final_norm", norm))
        tokens = Entry("model.embeddings.tokens.weight", ("model.embeddings.tok_embeddings.weight",))
        return [tokens, *_entries(modules)]

    def masked_lm_head(self, config: Mapping[str, Any]) -> list[Entry]:
        norm = ["weight", *(["bias"] if config["norm_bias"] else [])]
        modules = [
            ("objective.masked_lm_head.dense", "head.dense", ["weight"]),
            ("objective.masked_lm_head.norm", "head.norm", norm),
        ]
        return [*_entries(modules), Entry("objective.masked_lm_head.bias", ("decoder.bias",))]

    def pooler(self) -> list[Entry]:
        return []

    def pair_classifier(self) -> list[Entry]:
        return []


def _entries(modules: list[tuple[str, str, list[str]]]) -> list[Entry]:
    return [Entry(f"{ours}.{kind}", (f"{theirs}.{kind}",)) for ours, theirs, kinds in modules for kind in kinds]


def _bases(config: Mapping[str, Any]) -> tuple[float, float]:
    """Those of layers that see all and of those that see a window; older files have two plain numbers."""
    ropes = config.get("rope_parameters") or {}
    plain = (config.get("global_rope_theta", 160000.0), config.get("local_rope_theta", 10000.0))
    for rope in ropes.values():
        if rope.get("rope_type", "default") != "default":
            raise CheckpointError(f"config.json says rope_type={rope['rope_type']}; ptcli reads default ones only.")
    found = [ropes.get(kind, {}).get("rope_theta", base) for kind, base in zip((_FULL, _WINDOW), plain, strict=True)]
    return found[0], found[1]


def _full_every(config: Mapping[str, Any]) -> int:
    kinds = config.get("layer_types")
    if kinds is None:
        return config.get("global_attn_every_n_layers", 3)
    full = [layer for layer, kind in enumerate(kinds) if kind == _FULL]
    every = 0 if not full else len(kinds) if len(full) == 1 else full[1]
    if full != ([] if not every else list(range(0, len(kinds), every))) or every == 1:
        raise CheckpointError("config.json has layer_types that ptcli does not build: every n-th sees all.")
    return every


def _typed(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


MODERNBERT = ModernBertFamily(
    model_type="modernbert",
    prefix="model",
    body_class="ModernBertModel",
    masked_lm_class="ModernBertForMaskedLM",
    pretraining_class=None,
    tied_head_only=True,
    defaults={
        "num_hidden_layers": 22,
        "hidden_size": 768,
        "num_attention_heads": 12,
        "intermediate_size": 1152,
        "max_position_embeddings": 8192,
        "hidden_activation": "gelu",
        "embedding_dropout": 0.0,
        "mlp_dropout": 0.0,
        "attention_dropout": 0.0,
        "initializer_range": 0.02,
        "norm_eps": 1e-5,
        "norm_bias": False,
        "attention_bias": False,
        "mlp_bias": False,
        "decoder_bias": True,
        "classifier_bias": False,
        "local_attention": 128,
        "type_vocab_size": 1,
        "tie_word_embeddings": True,
        "cls_token_id": None,
        "sep_token_id": None,
    },
)
