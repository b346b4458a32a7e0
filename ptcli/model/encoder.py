"""The bidirectional encoder that every encoder preset fills with its own slots and numbers."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.block import Block
from ptcli.model.context import Context, compute_dtype, visibility_mask, window_mask
from ptcli.model.embeddings import Embeddings
from ptcli.model.initialization import Initializer
from ptcli.model.shape import Shape
from ptcli.model.sparse import band_of, band_width, cuda_blocks, examples_of


class Encoder(nn.Module):
    """A Transformer encoder of the BERT family (arXiv:1810.04805), put together from slots.

    `position`, `attention`, `ffn`, `norm` and `residual` are factories and `sharing` an object: see `ptcli.model`.
    `embedding_size`: None for embeddings as wide as the layers; a number, even an equal one, factorises them as ALBERT
    does (arXiv:1909.11942). `embedding_norm`: whether their sum is normed. `type_vocab_size`: segments that are told
    apart, 0 for none. `task_type_vocab_size`: rows of a table of tasks (ERNIE 2.0), of which `task_type` is added
    everywhere; 0 for none. `name` is what the model is called and `size` the named shape from which a configuration
    took its numbers: records, from which nothing here is read.
    """

    bidirectional = True

    def __init__(
        self,
        *,
        vocab_size: int,
        num_layers: int,
        hidden_size: int,
        num_heads: int,
        intermediate_size: int,
        attention: Callable[..., nn.Module],
        ffn: Callable[..., nn.Module],
        norm: Callable[[int], nn.Module],
        residual: Callable[..., nn.Module],
        sharing: Any,
        position: Mapping[str, Callable[..., nn.Module]] | None = None,
        embedding_size: int | None = None,
        embedding_norm: bool = True,
        type_vocab_size: int = 2,
        task_type_vocab_size: int = 0,
        task_type: int = 0,
        dropout: float = 0.1,
        attention_dropout: float = 0.1,
        initializer_range: float = 0.02,
        initializer_cutoff: float | None = None,
        initializer_depth_scaled: bool = False,
        name: str | None = None,
        size: Mapping[str, int] | None = None,
    ):
        super().__init__()
        for key, value in (("dropout", dropout), ("attention_dropout", attention_dropout)):
            if not 0 <= value < 1:
                raise ConfigError(f"model.{key}={value} must lie in [0, 1): it is a share of activations set to zero.")
        if type_vocab_size < 0:
            raise ConfigError(f"model.type_vocab_size={type_vocab_size} must be 0 (no segments) or more.")
        if task_type_vocab_size < 0 or not 0 <= task_type < max(task_type_vocab_size, 1):
            raise ConfigError(
                f"model.task_type={task_type} is no row of model.task_type_vocab_size={task_type_vocab_size}, which "
                f"must be 0 (no tasks) or more. Use model.task_type_vocab_size={max(task_type, 0) + 1}, or "
                f"model.task_type=0."
            )
        for key, value in (("range", initializer_range), ("cutoff", initializer_cutoff)):
            if value is not None and not value > 0:
                raise ConfigError(f"model.initializer_{key}={value} must be above 0.")
        shape = Shape(
            vocab_size=vocab_size,
            num_layers=num_layers,
            hidden_size=hidden_size,
            num_heads=num_heads,
            intermediate_size=intermediate_size,
            embedding_size=hidden_size if embedding_size is None else embedding_size,
        )
        self.shape = shape
        self.norm_factory = norm
        self.embeddings = Embeddings(
            vocab_size=vocab_size,
            embedding_size=shape.embedding_size,
            hidden_size=hidden_size,
            project=embedding_size is not None,
            type_vocab_size=type_vocab_size,
            norm=norm if embedding_norm else None,
            dropout=dropout,
            task_type_vocab_size=task_type_vocab_size,
            task_type=task_type,
        )
        self.positions = nn.ModuleDict({name: factory(shape) for name, factory in (position or {}).items()})
        plan: list[tuple[int, int]] = sharing.plan(num_layers)

        make_residual = partial(residual, hidden_size, norm=norm, dropout=dropout)
        numbers = [number for number, _ in plan]
        attentions = {
            number: {
                "attention": attention(shape, dropout=attention_dropout, relations=self._relations()),
                "attention_residual": make_residual(first=number == numbers[0] and numbers.count(number) == 1),
            }
            for number in dict.fromkeys(numbers)
        }
        ffns = {
            number: {"ffn": ffn(shape), "ffn_residual": make_residual()}
            for number in dict.fromkeys(number for _, number in plan)
        }
        distinct = list(dict.fromkeys(plan))
        self.blocks = nn.ModuleList(Block(**attentions[a], **ffns[f]) for a, f in distinct)
        self.order = tuple(distinct.index(pair) for pair in plan)
        self.windows = tuple(b.attention.window(layer) for layer, b in enumerate(self.layers()))  # type: ignore
        ends_with_norm = any(block.attention_residual.final_norm for block in self.blocks)  # type: ignore[union-attr]
        self.final_norm = norm(hidden_size) if ends_with_norm else None
        self.initializer = Initializer(
            std=initializer_range,
            cutoff=initializer_cutoff,
            outward=(2 * len(self.order)) ** -0.5 if initializer_depth_scaled else 1.0,
        )
        self.initializer.start(self)
        if initializer_depth_scaled:
            for part in (
                *(a["attention"].output for a in attentions.values()),
                *(f["ffn"].down for f in ffns.values()),
            ):
                self.initializer.scale_outward(part)  # type: ignore[arg-type]
        self.attention_dropout = attention_dropout
        # Whether nothing is added to the scores, so that hidden pairs can be left out.
        self.sparse = not self._entering("bias", "score", "value") and all(
            getattr(block.attention, "sparse", False) for block in self.blocks
        )

    @property
    def hidden_size(self) -> int:
        """Width of the hidden states."""
        return self.shape.hidden_size

    @property
    def embedding_size(self) -> int:
        """Width of the token embeddings."""
        return self.shape.embedding_size

    @property
    def vocab_size(self) -> int:
        """Rows of the token embeddings."""
        return self.shape.vocab_size

    @property
    def longest_row(self) -> int | None:
        """The longest row that positions and attention can take; None where they set no limit."""
        limits = [p.max_positions for p in self.positions.values() if not p.extrapolates]
        limits += [a for block in self.blocks if (a := getattr(block.attention, "longest_row", None)) is not None]
        return min(limits, default=None)  # type: ignore[type-var]

    @property
    def isolates(self) -> bool:
        """Whether the examples of a row do not see each other; where they do, each has to have a row of its own."""
        return all(getattr(block.attention, "isolates", True) for block in self.blocks)

    @property
    def activation(self) -> nn.Module:
        """The feed-forward networks' activation; heads use it too."""
        return self.blocks[0].ffn.activation  # type: ignore[union-attr, return-value]

    def layers(self) -> list[nn.Module]:
        """The layers in the order in which they run; a shared one stands in several places."""
        return [self.blocks[number] for number in self.order]

    def flops_per_token(self, length: int) -> int:
        """Floating-point operations of a forward pass for each token of a row of `length` tokens, 2 a multiply-add.

        Matrix products of the body only: look-ups, norms, activations and the heads are not counted. Forward and
        backward together take three times as much. What `flops_per_batch` counts comes on top.
        """
        projection = 2 * self.embedding_size * self.hidden_size if self.embeddings.projection is not None else 0
        return projection + sum(self.layer_flops_per_token(layer, length) for layer in range(len(self.order)))

    def layer_flops_per_token(self, layer: int, length: int) -> int:
        """The same for the layer that runs at this place of the stack. Windows count as they are worked out on CPUs."""
        window = self.windows[layer]
        keys = band_width(length, window) if self.sparse and window is not None else None
        return self.blocks[self.order[layer]].flops_per_token(keys or length)  # type: ignore[operator]

    def flops_per_batch(self, length: int) -> int:
        """Floating-point operations of a forward pass over rows of `length` tokens that are done once for all rows.

        Layers project tables of distances so.
        """
        return sum(layer.attention.flops_per_batch(length) for layer in self.layers())  # type: ignore[operator]

    def forward(self, batch: Mapping[str, Shaped[Tensor, "..."]]) -> Float[Tensor, "B S H"]:
        """Hidden states of a batch: reads input_ids, token_type_ids, position_ids and sequence_ids.

        A position sees the real positions of its own example, nothing else. What stands at padding is arbitrary.
        """
        return self.finish(self.run(self.embed(batch), self.contexts(batch)))

    def embed(self, batch: Mapping[str, Shaped[Tensor, "..."]]) -> Float[Tensor, "B S H"]:
        """What enters the first layer. A batch may hold `token_noise` (B, S, E), added to the token vectors."""
        positions = [position(batch["position_ids"]) for _, position in self._entering("embedding")]
        return self.embeddings(batch["input_ids"], batch["token_type_ids"], positions, batch.get("token_noise"))

    def contexts(self, batch: Mapping[str, Shaped[Tensor, "..."]]) -> dict[int | None, Context]:
        """What layers share, by the window that they see; None: all."""
        position_ids, sequence_ids = batch["position_ids"], batch["sequence_ids"]
        dtype = compute_dtype(self.embeddings.tokens.weight)
        relations = {name: position(position_ids) for name, position in self._entering("score", "value")}
        left_out = {window: self._left_out(sequence_ids, window, dtype) for window in dict.fromkeys(self.windows)}
        masks: list[Tensor | None] = []
        if not all(left_out.values()):
            masks = [visibility_mask(sequence_ids, dtype)]
            masks += [bias(position_ids).to(dtype) for _, bias in self._entering("bias")]
        contexts = {}
        for window, sparse in left_out.items():
            near = [window_mask(position_ids, window, dtype)] if window is not None and not sparse else []
            rotations = tuple(
                position(position_ids, dtype=dtype, local=window is not None)
                for _, position in self._entering("query_key")
            )
            mask = None if sparse else _total([*masks, *near])
            contexts[window] = Context(mask=mask, rotations=rotations, relations=relations, **sparse)
        return contexts

    def run(
        self,
        hidden: Float[Tensor, "B S H"],
        contexts: Mapping[int | None, Context],
        *,
        layers: range | None = None,
        queries: Float[Tensor, "B S H"] | None = None,
    ) -> Float[Tensor, "B S H"]:
        """The hidden states after `layers`, all by default. `queries`: who looks at `hidden`, where not it itself."""
        for layer in range(len(self.order)) if layers is None else layers:
            hidden = self.blocks[self.order[layer]](hidden, contexts[self.windows[layer]], queries)
        return hidden

    def finish(self, hidden: Float[Tensor, "B S H"]) -> Float[Tensor, "B S H"]:
        """The last layer's states as they leave the model."""
        return hidden if self.final_norm is None else self.final_norm(hidden)

    def _left_out(self, sequence_ids: Tensor, window: int | None, dtype: torch.dtype) -> dict[str, Any]:
        """The `band`, `examples` or `blocks` of a context; empty where layers take a mask."""
        if not self.sparse:
            return {}
        if window is not None and (band := band_of(sequence_ids, window, dtype)) is not None:
            return {"band": band}
        if window is None and (examples := examples_of(sequence_ids)) is not None:
            return {"examples": examples}
        if self.training and self.attention_dropout:  # FlexAttention has none
            return {}
        blocks = cuda_blocks(sequence_ids, window, head_size=self.shape.head_size)
        return {} if blocks is None else {"blocks": blocks}

    def _entering(self, *ways: str) -> list[tuple[str, nn.Module]]:
        return [(name, position) for name, position in self.positions.items() if position.enters in ways]

    def _relations(self) -> dict[str, nn.Module]:
        return {name: position.relation() for name, position in self._entering("score", "value")}  # type: ignore


def _total(masks: list[Tensor | None]) -> Tensor | None:
    total = None
    for mask in masks:
        if mask is not None:
            total = mask if total is None else total + mask
    return total
