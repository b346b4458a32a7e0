"""A trained model for those who have ids and no batch of ptcli's: called as transformers' models are."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class PlainModel(nn.Module):
    """An encoder and the head of its objective. `model` and `objective` are those of a TrainingStep.

    All arguments are (B, S): `attention_mask` is 1 at real positions, which come first; `token_type_ids` default to 0.
    """

    def __init__(self, model: nn.Module, objective: Any):
        super().__init__()
        self.model = model
        self.objective = objective

    @property
    def vocab_size(self) -> int:
        """Ids that it knows."""
        return self.model.vocab_size  # type: ignore[return-value]

    @property
    def num_types(self) -> int:
        """Segments that it tells apart, at least 1."""
        types: Any = self.model.embeddings.types  # type: ignore[union-attr]
        return 1 if types is None else types.num_embeddings

    def forward(
        self,
        input_ids: Int[Tensor, "B S"],
        attention_mask: Int[Tensor, "B S"] | None = None,
        token_type_ids: Int[Tensor, "B S"] | None = None,
    ) -> Float[Tensor, "B S V"]:
        """Logits over the vocabulary at every position."""
        batch = _batch(input_ids, attention_mask, token_type_ids)
        batch["label_positions"] = torch.arange(input_ids.numel(), device=input_ids.device)
        return self.objective.predict(self.model, batch).unflatten(0, tuple(input_ids.shape))

    def hidden_states(
        self,
        input_ids: Int[Tensor, "B S"],
        attention_mask: Int[Tensor, "B S"] | None = None,
        token_type_ids: Int[Tensor, "B S"] | None = None,
    ) -> Float[Tensor, "B S H"]:
        """What the last layer gives at every position; at padding it is arbitrary."""
        return self.model(_batch(input_ids, attention_mask, token_type_ids))


class PlainTask(PlainModel):
    """A fine-tuned encoder and its head: a row is an example. `target`: of its task, as a kind calls it."""

    def __init__(self, model: nn.Module, objective: Any, *, target: str):
        super().__init__(model, objective)
        self.target = target

    def forward(
        self,
        input_ids: Int[Tensor, "B S"],
        attention_mask: Int[Tensor, "B S"] | None = None,
        token_type_ids: Int[Tensor, "B S"] | None = None,
    ) -> Float[Tensor, "..."]:
        """Logits: (B, C) of labels, (B, 1) of a number or a candidate, (B, S, C) of tags, (B, S, 2) of an answer's
        start and end, at every position.
        """
        batch = _batch(input_ids, attention_mask, token_type_ids)
        rows, length = input_ids.shape
        batch["example_positions"] = torch.arange(rows, device=input_ids.device) * length
        batch["token_positions"] = torch.arange(rows * length, device=input_ids.device)
        batch["context_places"] = torch.ones_like(input_ids, dtype=torch.bool)
        found = self.objective.predict(self.model, batch)
        if self.target == "span":
            return torch.stack((found["start_logits"], found["end_logits"]), -1).view(rows, length, 2)
        if self.target == "tokens":
            return found["token_logits"].view(rows, length, -1)
        return found["logits"] if "logits" in found else next(iter(found.values()))[:, None]


def _batch(input_ids: Tensor, attention_mask: Tensor | None, token_type_ids: Tensor | None) -> dict[str, Tensor]:
    mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
    return {
        "input_ids": input_ids,
        "attention_mask": mask,
        "token_type_ids": torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids,
        "position_ids": torch.arange(input_ids.shape[1], device=input_ids.device).expand_as(input_ids),
        "sequence_ids": mask,
    }
