"""DeBERTa in its second and third version, as transformers has it."""

from collections.abc import Mapping
from typing import Any

from ptcli.errors import CheckpointError
from ptcli.interop.bert import BertFamily, without_sharing
from ptcli.interop.family import (
    BERT_DEFAULTS,
    Entry,
    Expanded,
    Node,
    described_numbers,
    overrides_of_numbers,
    weights_and_biases,
)

_MUST_BE = {
    "relative_attention": True,
    "share_att_key": True,
    "position_biased_input": False,
    "conv_kernel_size": 0,
    "norm_rel_ebd": "layer_norm",
    "legacy": True,
}


class DebertaV2Family(BertFamily):
    """DeBERTa v2 and v3 (arXiv:2111.09543): content looks at distances and distances at content, no segments.

    The enhanced mask decoder is in no class of transformers.
    """

    _projections = ("query_proj", "key_proj", "value_proj")

    def expand(self, node: Node) -> Expanded:
        """Shared layers are written out."""
        return without_sharing(node)

    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        """The entries of config.json."""
        position = node["position"]
        places = position.get("disentangled", {}) if isinstance(position, dict) else {}
        kinds = {"c2p": "content_to_position", "p2c": "position_to_content"}
        return described_numbers(node) | {
            **_MUST_BE,
            "type_vocab_size": 0,
            "position_buckets": places.get("num_buckets") or -1,
            "max_relative_positions": places.get("max_distance", 512),
            "pos_att_type": [name for name, ours in kinds.items() if places.get(ours, True)],
        }

    def overrides(self, config: Mapping[str, Any]) -> list[str]:
        """What to type for a config.json of this family."""
        for key, value in _MUST_BE.items():
            if config[key] != value:
                raise CheckpointError(f"config.json says {key}={config[key]}, but ptcli reads {value} only.")
        farthest, kinds = config["max_relative_positions"], config["pos_att_type"]
        kinds = kinds.lower().split("|") if isinstance(kinds, str) else kinds
        values = {
            "max_distance": farthest if farthest > 0 else config["max_position_embeddings"],
            "num_buckets": config["position_buckets"] if config["position_buckets"] > 0 else "null",
            "content_to_position": "c2p" in kinds,
            "position_to_content": "p2c" in kinds,
            "norm_eps": config["layer_norm_eps"],
        }
        numbers = [word for word in overrides_of_numbers(config) if not word.startswith("model.position.")]
        places = [f"model.position.disentangled.{key}={str(value).lower()}" for key, value in values.items()]
        untied = [] if config["tie_word_embeddings"] else ["objective.tie=false"]
        return ["model=deberta_v3", *numbers, *places, *untied]

    def body(self, config: Mapping[str, Any], *, order: tuple[int, ...]) -> list[Entry]:
        """Tensors of the encoder."""
        embeddings, places = f"{self.prefix}.embeddings", "model.positions.disentangled"
        norms = [
            ("model.embeddings.norm", (f"{embeddings}.LayerNorm",)),
            (f"{places}.norm", (f"{self.prefix}.encoder.LayerNorm",)),
        ]
        return [
            Entry("model.embeddings.tokens.weight", (f"{embeddings}.word_embeddings.weight",)),
            Entry(f"{places}.table.weight", (f"{self.prefix}.encoder.rel_embeddings.weight",)),
            *weights_and_biases(norms),
            *self._layers(order),
        ]

    def pooler(self) -> list[Entry]:
        """None: it has no pairs."""
        return []

    def pair_classifier(self) -> list[Entry]:
        """None: it has no pairs."""
        return []


DEBERTA_V2 = DebertaV2Family(
    model_type="deberta-v2",
    prefix="deberta",
    body_class="DebertaV2Model",
    masked_lm_class="DebertaV2ForMaskedLM",
    pretraining_class=None,
    tied_head_only=False,
    defaults={
        **BERT_DEFAULTS,
        "hidden_size": 1536,
        "num_hidden_layers": 24,
        "num_attention_heads": 24,
        "intermediate_size": 6144,
        "type_vocab_size": 0,
        "layer_norm_eps": 1e-7,
        "relative_attention": False,
        "share_att_key": False,
        "position_biased_input": True,
        "conv_kernel_size": 0,
        "norm_rel_ebd": "none",
        "legacy": True,
        "position_buckets": -1,
        "max_relative_positions": -1,
        "pos_att_type": [],
    },
)
