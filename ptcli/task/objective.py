"""What a task is trained by: states of a model, pooled, through a head, to a loss."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.objective.loss import Loss
from ptcli.task.layer_mix import LayerMix
from ptcli.task.losses.labels import ClassLoss, TokenLoss
from ptcli.task.losses.questions import ChoiceLoss, RankLoss
from ptcli.task.losses.scored import Scored
from ptcli.task.losses.spans import SpanLoss
from ptcli.task.losses.values import ClassesLoss, ValueLoss
from ptcli.task.pooling import ComparedPairs, EveryPlace, LabelledTokens
from ptcli.task.r_drop import RDrop

LOSSES: Mapping[str, type[nn.Module]] = {
    "class": ClassLoss,
    "value": ValueLoss,
    "classes": ClassesLoss,
    "tokens": TokenLoss,
    "span": SpanLoss,
    "choice": ChoiceLoss,
    "rank": RankLoss,
}
"""By a kind's `target`."""
_UNPOOLED: Mapping[str, type[nn.Module]] = {"tokens": LabelledTokens, "span": EveryPlace}
_PAIRS = ("class", "value", "classes")  # targets of rows whose two texts may be encoded apart
_COUNT = "scored"  # what sums are divided by: the targets of the step


class TaskObjective(nn.Module):
    """One task on any model that gives hidden states.

    Args:
        model: that is trained; `hidden_size` and `initializer` are asked for.
        target: what is predicted, as a kind calls it: class, value, classes, tokens, span, choice, or rank.
        num_labels: of targets with labels.
        head: a factory, see ptcli.task.head.
        pooling: a factory, see ptcli.task.pooling; None for tokens and spans, and for a head that reads all states.
        apart: whether the two texts of a row are examples of their own, 2 i and 2 i + 1, compared behind the pooling.
        mix_layers: how many of the last layers are mixed; None: the last one alone.
        label_smoothing, class_weights: see ClassLoss; for class and tokens alone.
        adversarial: see ptcli.task.adversarial; None: nothing.
        r_drop: weight of the divergence of two passes (RDrop); None: one pass.
        name: of the loss in metrics.

    Its loss has a part `name` and, where they are asked for, `<name>_adversarial` and `<name>_r_drop`.
    """

    def __init__(
        self,
        *,
        model: Any,
        target: str,
        head: Callable[..., nn.Module],
        num_labels: int = 1,
        pooling: Callable[..., nn.Module] | None = None,
        apart: bool = False,
        mix_layers: int | None = None,
        label_smoothing: float = 0.0,
        class_weights: Sequence[float] | None = None,
        adversarial: Any = None,
        r_drop: float | None = None,
        name: str = "task",
    ):
        super().__init__()
        self.name, self.target = name, target
        self.loss = _loss(target, label_smoothing=label_smoothing, class_weights=class_weights)
        make_head = partial(head, num_outputs=self.loss.num_outputs(num_labels), initializer=model.initializer)
        reads_states = bool(getattr(getattr(head, "func", head), "reads_states", False))
        self.pooling = _pooling(model, target, pooling, apart=apart, reads_states=reads_states)
        self.head = make_head(model.hidden_size * getattr(self.pooling, "width", 1))
        self.mix = None if mix_layers is None else LayerMix(model, num_layers=mix_layers)
        self.smoothness: Any = adversarial if callable(adversarial) else None
        self._second_pass = getattr(adversarial, "second_pass", None)
        self.r_drop = None if r_drop is None else RDrop(weight=r_drop)
        if self.r_drop is not None and not _has_dropout(model, self):
            raise ConfigError(
                f"task.r_drop={r_drop} compares two passes with different dropout, but nothing is dropped. "
                "Use model.dropout=0.1, or task.r_drop=null."
            )
        self.weights = {name: 1.0}
        if self.smoothness is not None:
            self.weights[f"{name}_adversarial"] = self.smoothness.weight
        if self.r_drop is not None:
            self.weights[f"{name}_r_drop"] = self.r_drop.weight
        self.denominators = dict.fromkeys(self.weights, _COUNT)

    def forward(self, model: Any, batch: Mapping[str, Shaped[Tensor, "..."]]) -> Loss:
        """Sums and counts of a task batch; in training those of the regularisers, too."""
        outputs = self._outputs(model, batch)
        scored: Scored = self.loss(outputs, batch)
        count = scored.is_scored.sum()
        sums = {self.name: scored.losses.sum()}
        if self.training and self.r_drop is not None:
            other = self._outputs(model, batch)
            sums[self.name] = (sums[self.name] + self.loss(other, batch).losses.sum()) / 2
            sums[f"{self.name}_r_drop"] = self.r_drop(outputs, other, self._divergence(batch))
        if self.training and self.smoothness is not None:
            sums[f"{self.name}_adversarial"] = self.smoothness(
                outputs,
                lambda noise: self._outputs(model, {**batch, "token_noise": noise}),
                self._divergence(batch),
                like=outputs.new_zeros(*batch["input_ids"].shape, model.embedding_size).float(),
            )
        return Loss(
            sums=sums,
            counts=dict.fromkeys(sums, count),
            correct={} if scored.hits is None else {self.name: (scored.hits & scored.is_scored).sum()},
            weights=self.weights,
        )

    def predict(self, model: nn.Module, batch: Mapping[str, Shaped[Tensor, "..."]]) -> dict[str, Float[Tensor, "..."]]:
        """float32 tensors by name: "logits" (E, C) of class and classes, "values" (E,), "scores" (E,) of choice and
        rank, "token_logits" (T, C) along token_positions, "start_logits" and "end_logits" (B * S,) of spans, -inf where
        no answer may lie. Where texts are encoded apart, there is one entry for each two examples.
        """
        return self.loss.predictions(self._outputs(model, batch), batch)  # type: ignore[operator]

    def flops_per_token(self, model: Any, length: int) -> int:
        """Floating-point operations of a forward pass for each token of a row of `length`; the head is not counted."""
        return model.flops_per_token(length)

    @property
    def second_pass(self) -> Callable[[nn.Module], AbstractContextManager[None]] | None:
        """What to enter for a second pass over each micro-batch, after its backward pass; None: there is none."""
        return self._second_pass

    def _outputs(self, model: Any, batch: Mapping[str, Tensor]) -> Tensor:
        hidden = self._states(model, _known_segments(model, batch))
        if self.pooling is None:
            return self.head(hidden, batch)
        return self.head(self.pooling(hidden, batch))

    def _states(self, model: Any, batch: Mapping[str, Tensor]) -> Tensor:
        return model(batch) if self.mix is None else self.mix(model, batch)

    def _divergence(self, batch: Mapping[str, Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
        return lambda one, other: self.loss.divergence(one, other, batch)  # type: ignore[operator]


def _loss(target: str, **settings: Any) -> Any:
    given = {key: value for key, value in settings.items() if value}
    if given and not issubclass(LOSSES[target], ClassLoss):
        key, value = next(iter(given.items()))
        raise ConfigError(
            f"task.{key}={value} is for labels of which one is right, which this task has not. Leave it out."
        )
    return LOSSES[target](**given)


def _pooling(model: Any, target: str, pooling: Any, *, apart: bool, reads_states: bool) -> nn.Module | None:
    """The module between states and head. ConfigError for what does not go together."""
    if apart and target not in _PAIRS:
        raise ConfigError("task.apart=true is for tasks on pairs of texts. Use task.apart=false.")
    if target in _UNPOOLED:
        if reads_states or pooling is not None:
            raise ConfigError(
                f"{'task/head=san' if reads_states else 'task/pooling'} makes one vector of an example, but this task "
                "looks at each of its tokens. Use task/head=linear, and task.pooling=null."
            )
        return _UNPOOLED[target]()
    if reads_states:
        if target != "class":
            raise ConfigError(
                "task/head=san gives probabilities of labels, one of which is right. Use task/head=linear."
            )
        if pooling is not None or apart:
            raise ConfigError(
                "task/head=san pools the two texts of a row by itself. Type task.pooling=null with it, and "
                "task.apart=false."
            )
        return None
    if pooling is None:
        raise ConfigError("task.pooling=null leaves a head without a vector. Use task/pooling=cls, mean, or another.")
    made = pooling(model.hidden_size, initializer=model.initializer)
    return ComparedPairs(made) if apart else made


def _known_segments(model: Any, batch: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The batch, its second segments told as the first to a model that knows only one (RoBERTa)."""
    types = model.embeddings.types
    if types is None or types.num_embeddings > 1:
        return batch
    return {**batch, "token_type_ids": batch["token_type_ids"].clamp(max=0)}


def _has_dropout(*modules: nn.Module) -> bool:
    parts = [part for module in modules for part in module.modules()]
    return any(isinstance(part, nn.Dropout) and part.p > 0 for part in parts) or any(
        getattr(module, "attention_dropout", 0) > 0 for module in modules
    )
