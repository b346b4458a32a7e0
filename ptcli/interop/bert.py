"""BERT and the families of transformers that have its layers: RoBERTa, ELECTRA, ERNIE."""

from collections.abc import Mapping
from typing import Any

from ptcli.interop.family import (
    BERT_DEFAULTS,
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


class BertFamily(Family):
    """BERT (arXiv:1810.04805)."""

    _projections = ("query", "key", "value")

    def expand(self, node: Node) -> Expanded:
        return with_segments(without_unused_places(without_sharing(node)))

    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        return described_numbers(node)

    def overrides(self, config: Mapping[str, Any]) -> list[str]:
        untied = [] if config["tie_word_embeddings"] else ["objective.tie=false"]
        return ["model=bert", *overrides_of_numbers(config), *untied]

    def body(self, config: Mapping[str, Any], *, order: tuple[int, ...]) -> list[Entry]:
        embeddings = f"{self.prefix}.embeddings"
        return [
            Entry("model.embeddings.tokens.weight", (f"{embeddings}.word_embeddings.weight",)),
            Entry(
                "model.positions.learned.table.weight",
                (f"{embeddings}.position_embeddings.weight",),
                rows=config["max_position_embeddings"],
            ),
            Entry(
                "model.embeddings.types.weight",
                (f"{embeddings}.token_type_embeddings.weight",),
                zeros=(1, config.get("embedding_size", config["hidden_size"])),
            ),
            *weights_and_biases([("model.embeddings.norm", (f"{embeddings}.LayerNorm",))]),
            *self._layers(order),
        ]

    def masked_lm_head(self, config: Mapping[str, Any]) -> list[Entry]:
        head = "cls.predictions"
        return self._head(f"{head}.transform.dense", f"{head}.transform.LayerNorm", head, config)

    def pooler(self) -> list[Entry]:
        return weights_and_biases([("objective.pair_head.pooler.dense", (f"{self.prefix}.pooler.dense",))])

    def pair_classifier(self) -> list[Entry]:
        return weights_and_biases([("objective.pair_head.classifier", ("cls.seq_relationship",))])

    def _layers(self, order: tuple[int, ...]) -> list[Entry]:
        modules: list[tuple[str, tuple[str, ...]]] = []
        for layer, block in enumerate(order):
            ours, theirs = f"model.blocks.{block}", f"{self.prefix}.encoder.layer.{layer}"
            modules += [
                (f"{ours}.attention.qkv", tuple(f"{theirs}.attention.self.{name}" for name in self._projections)),
                (f"{ours}.attention.output", (f"{theirs}.attention.output.dense",)),
                (f"{ours}.attention_residual.norm", (f"{theirs}.attention.output.LayerNorm",)),
                (f"{ours}.ffn.up", (f"{theirs}.intermediate.dense",)),
                (f"{ours}.ffn.down", (f"{theirs}.output.dense",)),
                (f"{ours}.ffn_residual.norm", (f"{theirs}.output.LayerNorm",)),
            ]
        return weights_and_biases(modules)

    def _head(self, dense: str, norm: str, top: str, config: Mapping[str, Any]) -> list[Entry]:
        ours = "objective.masked_lm_head"
        entries = weights_and_biases([(f"{ours}.dense", (dense,)), (f"{ours}.norm", (norm,))])
        entries.append(Entry(f"{ours}.bias", (f"{top}.bias",), read=config["tie_word_embeddings"]))
        if not config["tie_word_embeddings"]:  # then the decoder has weights of its own
            entries.append(Entry(f"{ours}.bias", (f"{top}.decoder.bias",)))
            entries.append(Entry(f"{ours}.decoder.weight", (f"{top}.decoder.weight",)))
        return entries


class RobertaFamily(BertFamily):
    """RoBERTa (arXiv:1907.11692): places are counted from the row behind the padding token's id."""

    def expand(self, node: Node) -> Expanded:
        """As BERT, but the table of places keeps its first rows."""
        return with_segments(without_sharing(node))

    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        numbers = described_numbers(node)
        rows = numbers["max_position_embeddings"] + pad_token_id + 1
        return numbers | {"max_position_embeddings": rows, "pad_token_id": pad_token_id}

    def overrides(self, config: Mapping[str, Any]) -> list[str]:
        offset = config["pad_token_id"] + 1
        places = config["max_position_embeddings"] - offset
        untied = [] if config["tie_word_embeddings"] else ["objective.tie=false"]
        numbers = overrides_of_numbers({**config, "max_position_embeddings": places})
        return ["model=roberta", *numbers, f"model.position.learned.offset={offset}", *untied]

    def masked_lm_head(self, config: Mapping[str, Any]) -> list[Entry]:
        return self._head("lm_head.dense", "lm_head.layer_norm", "lm_head", config)

    def pair_classifier(self) -> list[Entry]:
        return []


class ElectraFamily(BertFamily):
    """ELECTRA (arXiv:2003.10555): BERT's layers on embeddings that may be narrower. Its masked-LM head has GELU."""

    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        narrow = node["embedding_size"] or node["hidden_size"]
        return described_numbers(node) | {"embedding_size": narrow, "hidden_act": "gelu"}

    def overrides(self, config: Mapping[str, Any]) -> list[str]:
        narrow = config["embedding_size"] if config["embedding_size"] != config["hidden_size"] else "null"
        return ["model=electra", *overrides_of_numbers(config), f"model.embedding_size={narrow}"]

    def body(self, config: Mapping[str, Any], *, order: tuple[int, ...]) -> list[Entry]:
        entries = super().body(config, order=order)
        if config["embedding_size"] != config["hidden_size"]:
            entries += weights_and_biases([("model.embeddings.projection", (f"{self.prefix}.embeddings_project",))])
        return entries

    def masked_lm_head(self, config: Mapping[str, Any]) -> list[Entry]:
        head = "generator_predictions"
        return self._head(f"{head}.dense", f"{head}.LayerNorm", "generator_lm_head", config)

    def pooler(self) -> list[Entry]:
        return []

    def pair_classifier(self) -> list[Entry]:
        return []


class ErnieFamily(BertFamily):
    """ERNIE (arXiv:1904.09223), with the task embeddings of later versions, of which it reads the first unasked."""

    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        tasks = node["task_type_vocab_size"]
        return described_numbers(node) | {"task_type_vocab_size": tasks, "use_task_id": tasks > 0}

    def overrides(self, config: Mapping[str, Any]) -> list[str]:
        tasks = config["task_type_vocab_size"] if config["use_task_id"] else 0
        return ["model=ernie", *super().overrides(config)[1:], f"model.task_type_vocab_size={tasks}"]

    def body(self, config: Mapping[str, Any], *, order: tuple[int, ...]) -> list[Entry]:
        tasks = Entry("model.embeddings.task_types.weight", (f"{self.prefix}.embeddings.task_type_embeddings.weight",))
        return [*super().body(config, order=order), *([tasks] if config["use_task_id"] else [])]


def without_sharing(node: Node) -> Expanded:
    """A family whose layers have weights of their own."""
    if node["sharing"] == NO_SHARING:
        return Expanded(node)
    layers = node["num_layers"] * node["sharing"].get("inner_group_num", 1)
    remark = f"shared weights are written out for each of the {layers} layers that use them"
    return Expanded({**node, "sharing": NO_SHARING, "num_layers": layers}, [remark])


BERT = BertFamily(
    model_type="bert",
    prefix="bert",
    body_class="BertModel",
    masked_lm_class="BertForMaskedLM",
    pretraining_class="BertForPreTraining",
    tied_head_only=False,
    defaults=BERT_DEFAULTS,
)

ROBERTA = RobertaFamily(
    model_type="roberta",
    prefix="roberta",
    body_class="RobertaModel",
    masked_lm_class="RobertaForMaskedLM",
    pretraining_class=None,
    tied_head_only=False,
    defaults={**BERT_DEFAULTS, "pad_token_id": 1},
)

ELECTRA = ElectraFamily(
    model_type="electra",
    prefix="electra",
    body_class="ElectraModel",
    masked_lm_class="ElectraForMaskedLM",
    pretraining_class=None,
    tied_head_only=True,
    defaults={
        **BERT_DEFAULTS,
        "embedding_size": 128,
        "hidden_size": 256,
        "num_attention_heads": 4,
        "intermediate_size": 1024,
    },
)

ERNIE = ErnieFamily(
    model_type="ernie",
    prefix="ernie",
    body_class="ErnieModel",
    masked_lm_class="ErnieForMaskedLM",
    pretraining_class="ErnieForPreTraining",
    tied_head_only=False,
    defaults={**BERT_DEFAULTS, "task_type_vocab_size": 3, "use_task_id": False},
)
