"""DeBERTa as transformers has it: version 1, and versions 2 and 3."""

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
from ptcli.interop.layout import HeadByHead, Rows

_TABLE = "model.positions.disentangled"
_KINDS = {"c2p": "content_to_position", "p2c": "position_to_content"}


class DebertaFamily(BertFamily):
    """DeBERTa (arXiv:2006.03654): content looks at distances and distances at content.

    The enhanced mask decoder is in no class of transformers.
    """

    _preset = "deberta"
    _must_be: Mapping[str, Any] = {"relative_attention": True, "position_biased_input": False, "legacy": True}

    def expand(self, node: Node) -> Expanded:
        """Shared layers are written out."""
        return without_sharing(node)

    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        places = _places(node)
        return described_numbers(node) | {
            **self._must_be,
            "max_relative_positions": places.get("max_distance", 512),
            "pos_att_type": [name for name, ours in _KINDS.items() if places.get(ours, True)],
        }

    def overrides(self, config: Mapping[str, Any]) -> list[str]:
        for key, value in self._must_be.items():
            if config[key] != value:
                raise CheckpointError(f"config.json says {key}={config[key]}, but ptcli reads {value} only.")
        numbers = [word for word in overrides_of_numbers(config) if not word.startswith("model.position.")]
        values = self._position(config)
        places = [f"model.position.disentangled.{key}={str(value).lower()}" for key, value in values.items()]
        tied = str(config["tie_word_embeddings"]).lower()
        return [f"model={self._preset}", "objective=masked_lm", *numbers, *places, f"objective.tie={tied}"]

    def body(self, config: Mapping[str, Any], *, order: tuple[int, ...]) -> list[Entry]:
        embeddings = f"{self.prefix}.embeddings"
        types = Entry("model.embeddings.types.weight", (f"{embeddings}.token_type_embeddings.weight",))
        return [
            Entry("model.embeddings.tokens.weight", (f"{embeddings}.word_embeddings.weight",)),
            *([types] if config["type_vocab_size"] else []),
            Entry(f"{_TABLE}.table.weight", (f"{self.prefix}.encoder.rel_embeddings.weight",)),
            *weights_and_biases([("model.embeddings.norm", (f"{embeddings}.LayerNorm",))]),
            *self._attention(config, order),
        ]

    def _position(self, config: Mapping[str, Any]) -> dict[str, Any]:
        farthest, kinds = config["max_relative_positions"], config["pos_att_type"] or []
        kinds = kinds.lower().split("|") if isinstance(kinds, str) else kinds
        return {
            "max_distance": farthest if farthest > 0 else config["max_position_embeddings"],
            **{ours: name in kinds for name, ours in _KINDS.items()},
        }

    def _attention(self, config: Mapping[str, Any], order: tuple[int, ...]) -> list[Entry]:
        """All layers: queries, keys and values lie head by head, and distances have projections of their own."""
        entries = [entry for entry in self._layers(order) if ".attention.qkv." not in entry.ours]
        kinds = self._position(config)
        for layer, block in enumerate(order):
            ours, theirs = f"model.blocks.{block}.attention", f"{self.prefix}.encoder.layer.{layer}.attention.self"
            relation = f"{ours}.relations.disentangled"
            by_head = HeadByHead(config["num_attention_heads"])
            entries.append(Entry(f"{ours}.qkv.weight", (f"{theirs}.in_proj.weight",), by_head))
            entries.append(Entry(f"{ours}.query_value_bias", (f"{theirs}.q_bias", f"{theirs}.v_bias"), Rows()))
            if kinds["content_to_position"]:
                entries.append(Entry(f"{relation}.key.weight", (f"{theirs}.pos_proj.weight",)))
            if kinds["position_to_content"]:
                entries += weights_and_biases([(f"{relation}.query", (f"{theirs}.pos_q_proj",))])
        return entries

    def pooler(self) -> list[Entry]:
        return []

    def pair_classifier(self) -> list[Entry]:
        return []


class DebertaV2Family(DebertaFamily):
    """DeBERTa v2 and v3 (arXiv:2111.09543): distances share the content's projections, and fall into classes."""

    _preset = "deberta_v3"
    _projections = ("query_proj", "key_proj", "value_proj")
    _must_be: Mapping[str, Any] = {
        **DebertaFamily._must_be,
        "share_att_key": True,
        "conv_kernel_size": 0,
        "norm_rel_ebd": "layer_norm",
    }

    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        described = super().describe(node, pad_token_id=pad_token_id)
        return described | {"position_buckets": _places(node).get("num_buckets") or -1}

    def body(self, config: Mapping[str, Any], *, order: tuple[int, ...]) -> list[Entry]:
        norm = weights_and_biases([(f"{_TABLE}.norm", (f"{self.prefix}.encoder.LayerNorm",))])
        return [*super().body(config, order=order), *norm]

    def _position(self, config: Mapping[str, Any]) -> dict[str, Any]:
        buckets = config["position_buckets"]
        return super()._position(config) | {
            "num_buckets": buckets if buckets > 0 else "null",
            "norm_eps": config["layer_norm_eps"],
        }

    def _attention(self, config: Mapping[str, Any], order: tuple[int, ...]) -> list[Entry]:
        return self._layers(order)


def _places(node: Node) -> dict[str, Any]:
    position = node["position"]
    return position.get("disentangled", {}) if isinstance(position, dict) else {}


DEBERTA = DebertaFamily(
    model_type="deberta",
    prefix="deberta",
    body_class="DebertaModel",
    masked_lm_class="DebertaForMaskedLM",
    pretraining_class=None,
    tied_head_only=False,
    defaults={
        **BERT_DEFAULTS,
        "type_vocab_size": 0,
        "layer_norm_eps": 1e-7,
        "relative_attention": False,
        "position_biased_input": True,
        "legacy": True,
        "max_relative_positions": -1,
        "pos_att_type": [],
    },
)

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
