"""ALBERT as transformers has it."""

from collections.abc import Mapping
from typing import Any

from ptcli.errors import CheckpointError
from ptcli.interop.family import (
    ATTENTION_SHARING,
    BERT_DEFAULTS,
    FEED_FORWARD_SHARING,
    GROUP_SHARING,
    NO_SHARING,
    Entry,
    Expanded,
    Family,
    Node,
    described_numbers,
    overrides_of_numbers,
    weights_and_biases,
    with_segments,
    without_unused_places,
)


class AlbertFamily(Family):
    """ALBERT (arXiv:1909.11942).

    Its layers are shared in groups only: sharing the attention alone, or the feed-forward network alone, is written as
    one group a layer, with the shared weights in each.
    """

    def expand(self, node: Node) -> Expanded:
        """Sharing as groups, a model without segments gets a table of zeros."""
        remarks, target = [], node["sharing"].get("_target_")
        if target in (ATTENTION_SHARING, FEED_FORWARD_SHARING):
            remarks.append(f"what layers share is written out: a group for each of the {node['num_layers']} layers")
        if target in (ATTENTION_SHARING, FEED_FORWARD_SHARING, NO_SHARING["_target_"]):
            groups = {"_target_": GROUP_SHARING, "num_groups": node["num_layers"], "inner_group_num": 1}
            node = {**node, "sharing": groups}
        return with_segments(without_unused_places(Expanded(node, remarks)))

    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        return described_numbers(node) | {
            "embedding_size": node["embedding_size"],
            "num_hidden_groups": node["sharing"].get("num_groups", 1),
            "inner_group_num": node["sharing"].get("inner_group_num", 1),
            "classifier_dropout_prob": 0.1,
        }

    def overrides(self, config: Mapping[str, Any]) -> list[str]:
        if not config["tie_word_embeddings"]:
            raise CheckpointError("config.json says tie_word_embeddings=false, which ptcli does not build for ALBERT.")
        return [
            "model=albert",
            "model/sharing=groups",
            *overrides_of_numbers(config),
            f"model.embedding_size={config['embedding_size']}",
            f"model.sharing.num_groups={config['num_hidden_groups']}",
            f"model.sharing.inner_group_num={config['inner_group_num']}",
        ]

    def body(self, config: Mapping[str, Any], *, order: tuple[int, ...]) -> list[Entry]:
        embeddings = f"{self.prefix}.embeddings"
        entries = [
            Entry("model.embeddings.tokens.weight", (f"{embeddings}.word_embeddings.weight",)),
            Entry(
                "model.positions.learned.table.weight",
                (f"{embeddings}.position_embeddings.weight",),
                rows=config["max_position_embeddings"],
            ),
            Entry(
                "model.embeddings.types.weight",
                (f"{embeddings}.token_type_embeddings.weight",),
                zeros=(1, config["embedding_size"]),
            ),
        ]
        modules: list[tuple[str, tuple[str, ...]]] = [
            ("model.embeddings.norm", (f"{embeddings}.LayerNorm",)),
            ("model.embeddings.projection", (f"{self.prefix}.encoder.embedding_hidden_mapping_in",)),
        ]
        inner_group_num = config["inner_group_num"]
        for block in dict.fromkeys(order):
            group, inner = divmod(block, inner_group_num)
            ours = f"model.blocks.{block}"
            theirs = f"{self.prefix}.encoder.albert_layer_groups.{group}.albert_layers.{inner}"
            modules += [
                (f"{ours}.attention.qkv", tuple(f"{theirs}.attention.{name}" for name in ("query", "key", "value"))),
                (f"{ours}.attention.output", (f"{theirs}.attention.dense",)),
                (f"{ours}.attention_residual.norm", (f"{theirs}.attention.LayerNorm",)),
                (f"{ours}.ffn.up", (f"{theirs}.ffn",)),
                (f"{ours}.ffn.down", (f"{theirs}.ffn_output",)),
                (f"{ours}.ffn_residual.norm", (f"{theirs}.full_layer_layer_norm",)),
            ]
        return [*entries, *weights_and_biases(modules)]

    def masked_lm_head(self, config: Mapping[str, Any]) -> list[Entry]:
        return [
            *weights_and_biases(
                [
                    ("objective.masked_lm_head.dense", ("predictions.dense",)),
                    ("objective.masked_lm_head.norm", ("predictions.LayerNorm",)),
                ]
            ),
            Entry("objective.masked_lm_head.bias", ("predictions.bias",)),
        ]

    def pooler(self) -> list[Entry]:
        return weights_and_biases([("objective.pair_head.pooler.dense", (f"{self.prefix}.pooler",))])

    def pair_classifier(self) -> list[Entry]:
        return weights_and_biases([("objective.pair_head.classifier", ("sop_classifier.classifier",))])


ALBERT = AlbertFamily(
    model_type="albert",
    prefix="albert",
    body_class="AlbertModel",
    masked_lm_class="AlbertForMaskedLM",
    pretraining_class="AlbertForPreTraining",
    tied_head_only=True,
    defaults={
        **BERT_DEFAULTS,
        "embedding_size": 128,
        "hidden_size": 4096,
        "num_attention_heads": 64,
        "intermediate_size": 16384,
        "num_hidden_groups": 1,
        "inner_group_num": 1,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "hidden_act": "gelu_new",
    },
)
