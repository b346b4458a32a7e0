"""RoFormer as transformers has it."""

from collections.abc import Mapping
from dataclasses import replace
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
    with_segments,
)
from ptcli.interop.layout import TurnedPairs

_PLACES = 1536  # rows of its table of waves, unless rows are longer


class RoFormerFamily(BertFamily):
    """RoFormer (arXiv:2104.09864): BERT's layers with rotary places, on embeddings that may be narrower."""

    def expand(self, node: Node) -> Expanded:
        return with_segments(without_sharing(node))

    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        return described_numbers(node) | {
            "embedding_size": node["embedding_size"] or node["hidden_size"],
            "max_position_embeddings": _PLACES,
            "rotary_value": False,
        }

    def overrides(self, config: Mapping[str, Any]) -> list[str]:
        if config["rotary_value"]:
            raise CheckpointError("config.json says rotary_value=true, but ptcli turns queries and keys only.")
        narrow = config["embedding_size"] or config["hidden_size"]
        numbers = [word for word in overrides_of_numbers(config) if not word.startswith("model.position.")]
        return [
            "model=bert",
            "model.name=roformer",
            "model/position=rotary",
            *numbers,
            f"model.embedding_size={narrow if narrow != config['hidden_size'] else 'null'}",
            *([] if config["tie_word_embeddings"] else ["objective.tie=false"]),
        ]

    def body(self, config: Mapping[str, Any], *, order: tuple[int, ...]) -> list[Entry]:
        embeddings = f"{self.prefix}.embeddings"
        narrow, hidden_size = config["embedding_size"] or config["hidden_size"], config["hidden_size"]
        num_heads = config["num_attention_heads"]
        modules: list[tuple[str, tuple[str, ...]]] = [("model.embeddings.norm", (f"{embeddings}.LayerNorm",))]
        if narrow != hidden_size:
            modules.append(("model.embeddings.projection", (f"{self.prefix}.embeddings_project",)))
        turned = TurnedPairs(num_heads)
        return [
            Entry("model.embeddings.tokens.weight", (f"{embeddings}.word_embeddings.weight",)),
            Entry(
                "model.embeddings.types.weight",
                (f"{embeddings}.token_type_embeddings.weight",),
                zeros=(1, narrow),
            ),
            Entry(
                "the waves of its rotation",
                (f"{self.prefix}.encoder.embed_positions.weight",),
                waves=(config["max_position_embeddings"], hidden_size // num_heads),
                read=False,
            ),
            *weights_and_biases(modules),
            *(
                replace(entry, layout=turned) if ".attention.qkv." in entry.ours else entry
                for entry in self._layers(order)
            ),
        ]

    def pooler(self) -> list[Entry]:
        return []

    def pair_classifier(self) -> list[Entry]:
        return []


ROFORMER = RoFormerFamily(
    model_type="roformer",
    prefix="roformer",
    body_class="RoFormerModel",
    masked_lm_class="RoFormerForMaskedLM",
    pretraining_class=None,
    tied_head_only=False,
    defaults={
        **BERT_DEFAULTS,
        "embedding_size": None,
        "max_position_embeddings": _PLACES,
        "rotary_value": False,
    },
)
