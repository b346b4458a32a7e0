"""What is known of each model family of transformers, in numbers and names. No torch: settings are read fast."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ptcli.errors import CheckpointError
from ptcli.interop.layout import Chunks, Layout

Node = dict[str, Any]
"""The plain values of `model` or `objective` of a configuration."""

LARGEST_ERROR = 1e-4
"""How far an exported model's numbers may lie from the run's, as a share of the largest; float32 gives about 1e-6."""


@dataclass(frozen=True)
class Entry:
    """One of our tensors and where it stands in the other file, in one tensor or several: `layout`.

    `zeros`: where ours has no such tensor, it is zeros of this shape (the segments of a model without segments).
    `waves`: the same for a fixed table: sines, then cosines, of so many places at this width. `rows`: only the last so
    many rows of ours (a table of places, without rows that are never used). `read`: false for what transformers
    expects in a file and ptcli does not need.
    """

    ours: str
    theirs: tuple[str, ...]
    layout: Layout = field(default_factory=Chunks)
    zeros: tuple[int, ...] | None = None
    waves: tuple[int, int] | None = None
    rows: int | None = None
    read: bool = True


@dataclass(frozen=True)
class Expanded:
    """A model node as a family can hold it: with the same numbers, and what had to be written out for that."""

    node: Node
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Family(ABC):
    """A `model_type` of config.json. Names of tensors are those of the file; ours those of a TrainingStep."""

    model_type: str
    prefix: str
    body_class: str
    masked_lm_class: str
    pretraining_class: str | None  # with a head for pairs of two labels
    tied_head_only: bool
    defaults: Mapping[str, Any]  # of what a config.json may leave out

    @abstractmethod
    def expand(self, node: Node) -> Expanded:
        """`node` in the form that this family has room for, with the same outputs."""

    @abstractmethod
    def describe(self, node: Node, *, pad_token_id: int) -> dict[str, Any]:
        """The entries of config.json for an expanded node, the vocabulary's aside."""

    @abstractmethod
    def overrides(self, config: Mapping[str, Any]) -> list[str]:
        """What to type for the model of a config.json. CheckpointError for what ptcli does not build."""

    @abstractmethod
    def body(self, config: Mapping[str, Any], *, order: tuple[int, ...]) -> list[Entry]:
        """Tensors of the encoder. `order`: the block of ours that each layer runs."""

    @abstractmethod
    def masked_lm_head(self, config: Mapping[str, Any]) -> list[Entry]:
        """Tensors of the masked-LM head."""

    @abstractmethod
    def pooler(self) -> list[Entry]:
        """Tensors of the pooler; empty where the family has none."""

    @abstractmethod
    def pair_classifier(self) -> list[Entry]:
        """Tensors of the classifier of pairs; empty where the family has none."""


BERT_DEFAULTS: Mapping[str, Any] = {
    "num_hidden_layers": 12,
    "hidden_size": 768,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "initializer_range": 0.02,
    "type_vocab_size": 2,
    "max_position_embeddings": 512,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
    "tie_word_embeddings": True,
}
"""Those of transformers, which families share as far as they do not say otherwise."""

ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "relu": "relu"}
"""hidden_act -> model/ffn=."""

NUMBERS = {
    "num_layers": "num_hidden_layers",
    "hidden_size": "hidden_size",
    "num_heads": "num_attention_heads",
    "intermediate_size": "intermediate_size",
    "type_vocab_size": "type_vocab_size",
    "dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
    "initializer_range": "initializer_range",
}
"""Ours -> theirs, in every family here."""

RECORDS = ("name", "size", "initializer_cutoff", "initializer_depth_scaled")
"""Keys of a model that tell where its numbers come from: what it computes does not depend on them."""

NO_SHARING = {"_target_": "ptcli.model.sharing.none.NoSharing"}
GROUP_SHARING = "ptcli.model.sharing.groups.GroupSharing"
ATTENTION_SHARING = "ptcli.model.sharing.attention_only.AttentionSharing"
FEED_FORWARD_SHARING = "ptcli.model.sharing.ffn_only.FeedForwardSharing"


def described_numbers(node: Node) -> dict[str, Any]:
    """What all families call alike. What a node lacks is left out, so that a comparison shows it."""
    numbers = {theirs: node[ours] for ours, theirs in NUMBERS.items()}
    learned = node["position"].get("learned", {}) if isinstance(node.get("position"), dict) else {}
    return numbers | {
        "max_position_embeddings": learned.get("max_positions", 512),
        "layer_norm_eps": node["norm"].get("eps", 1e-12),
        "hidden_act": _activation(node["ffn"]),
    }


def _activation(ffn: Node) -> str:
    if ffn.get("_target_") == "ptcli.model.ffn.relu.ReluFeedForward":
        return "relu"
    return "gelu_new" if ffn.get("approximate") == "tanh" else "gelu"


def overrides_of_numbers(config: Mapping[str, Any]) -> list[str]:
    """What to type for the entries of `described_numbers`. CheckpointError for what ptcli does not build."""
    activation = config["hidden_act"]
    if activation not in ACTIVATIONS:
        raise CheckpointError(
            f"config.json says hidden_act={activation}, but ptcli builds {', '.join(ACTIVATIONS)} in this family."
        )
    positions = config.get("position_embedding_type", "absolute")
    if positions != "absolute":
        raise CheckpointError(f"config.json says position_embedding_type={positions}, but ptcli reads absolute ones.")
    return [
        f"model/ffn={ACTIVATIONS[activation]}",
        *(f"model.{ours}={config[theirs]}" for ours, theirs in NUMBERS.items()),
        f"model.position.learned.max_positions={config['max_position_embeddings']}",
        f"model.norm.eps={config['layer_norm_eps']}",
    ]


def with_segments(expanded: Expanded) -> Expanded:
    """A family that always has a segment table: a model without segments gets one of a single row of zeros."""
    if expanded.node["type_vocab_size"]:
        return expanded
    remark = "the model has no segments, the file has a segment table of one row of zeros"
    return Expanded({**expanded.node, "type_vocab_size": 1}, [*expanded.remarks, remark])


def without_unused_places(expanded: Expanded) -> Expanded:
    """A family whose table of places begins with place 0."""
    position = expanded.node["position"]
    offset = position.get("learned", {}).get("offset", 0) if isinstance(position, dict) else 0
    if not offset:
        return expanded
    learned = {**position["learned"], "offset": 0}
    remark = f"{offset} rows of the table of places, which come before place 0 and are never used, are left out"
    return Expanded({**expanded.node, "position": {**position, "learned": learned}}, [*expanded.remarks, remark])


def weights_and_biases(modules: Iterable[tuple[str, tuple[str, ...]]]) -> list[Entry]:
    """Entries of modules that have a weight and a bias. One of ours may stand there several times (shared layers)."""
    return [
        Entry(f"{ours}.{kind}", tuple(f"{name}.{kind}" for name in theirs))
        for ours, theirs in modules
        for kind in ("weight", "bias")
    ]


def differences(one: Any, other: Any, key: str = "model") -> dict[str, tuple[Any, Any]]:
    """Dotted keys in which two nodes differ, with both values; None for one that is absent."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.get("_target_") != other.get("_target_"):
            return {key: (_name(one), _name(other))}
        found: dict[str, tuple[Any, Any]] = {}
        for name in dict.fromkeys([*one, *other]):
            if not name.startswith("_") and name not in RECORDS:
                found |= differences(one.get(name), other.get(name), f"{key}.{name}")
        return found
    return {} if one == other else {key: (_name(one), _name(other))}


def _name(value: Any) -> Any:
    if isinstance(value, dict):
        return str(value["_target_"]).rpartition(".")[2] if "_target_" in value else sorted(value)
    return value
