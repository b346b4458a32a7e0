"""Heads of fine-tuned models, and the classes of transformers that hold them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ptcli.interop.family import Entry, Family, weights_and_biases

_TOP = "objective.head.classifier"
_DENSE_IN_POOLING, _DENSE_IN_HEAD = "objective.pooling.pooler.dense", "objective.head.dense"
_TOKEN_FAMILIES = ("bert", "roberta", "electra", "albert", "ernie", "deberta", "deberta-v2", "roformer")
_PROBLEMS = {
    "class": "single_label_classification",
    "value": "regression",
    "classes": "multi_label_classification",
}


@dataclass(frozen=True)
class TaskHead:
    """A class of transformers for a family and a kind of task. `numbers`: further entries of config.json."""

    architecture: str
    entries: list[Entry]
    numbers: Mapping[str, Any] = field(default_factory=dict)


def task_head(family: Family, tensors: Mapping[str, Any], *, target: str) -> TaskHead | str:
    """The class that holds the head among a step's `tensors`, or why there is none.

    Classes for whole texts have a dense layer and tanh between the classification token and the logits: ours is in the
    pooling (task/pooling=pooler) or in the head (task/head=tanh).
    """
    name, model_type = family.body_class.removesuffix("Model"), family.model_type
    if any(key.startswith("objective.mix") for key in tensors):
        return "transformers has no class that mixes layers (task.mix_layers)"
    if target in ("tokens", "span"):
        own = {"objective.head.classifier.weight", "objective.head.classifier.bias"}
        if model_type not in _TOKEN_FAMILIES or {key for key in tensors if key.startswith("objective.")} != own:
            return f"{name} of transformers has another head for tokens; task/head=linear with bert's families is one"
        suffix, top = (
            ("ForTokenClassification", "classifier") if target == "tokens" else ("ForQuestionAnswering", "qa_outputs")
        )
        return TaskHead(f"{name}{suffix}", weights_and_biases([(_TOP, (top,))]))
    dense = [one for one in (_DENSE_IN_POOLING, _DENSE_IN_HEAD) if f"{one}.weight" in tensors]
    own = {f"{one}.{kind}" for one in (*dense, _TOP) for kind in ("weight", "bias")}
    if len(dense) != 1 or {key for key in tensors if key.startswith("objective.")} != own:
        return (
            f"{name} of transformers has one dense layer and tanh behind the classification token, then the logits. "
            "task/pooling=pooler task/head=linear is that, and task/pooling=cls task/head=tanh"
        )
    places = _places(family, target)
    if places is None:
        return f"transformers has no {name} class with tanh in its head for this kind of task"
    numbers = {"problem_type": _PROBLEMS[target]} if target in _PROBLEMS else {}
    if model_type.startswith("deberta"):
        numbers |= {"pooler_hidden_act": "tanh"}
    suffix = "ForMultipleChoice" if target == "choice" else "ForSequenceClassification"
    modules = [(dense[0], (places[0],)), (_TOP, (places[1],))]
    return TaskHead(f"{name}{suffix}", weights_and_biases(modules), numbers)


def _places(family: Family, target: str) -> tuple[str, str] | None:
    """Where dense layer and logits stand in the class for whole texts, or for choices."""
    if target not in ("class", "value", "classes", "choice"):
        return None
    pooler = {"albert": f"{family.prefix}.pooler"}.get(family.model_type, f"{family.prefix}.pooler.dense")
    if family.model_type in ("bert", "ernie", "albert") or (family.model_type == "roberta" and target == "choice"):
        return pooler, "classifier"
    if family.model_type == "roberta":
        return "classifier.dense", "classifier.out_proj"
    if family.model_type in ("deberta", "deberta-v2") and target != "choice":
        return "pooler.dense", "classifier"
    return None
