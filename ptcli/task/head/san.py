from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.initialization import Initializer
from ptcli.model.initialization import dropout as dropout_of
from ptcli.task.head.linear import check_dropout
from ptcli.task.places import Places

_LEAST = 1e-30  # of a probability, so that its logarithm is finite


class SanHead(nn.Module):
    """An answer to a pair that is thought over in several steps ("Stochastic Answer Networks", arXiv:1804.07888, as the
    head of MT-DNN, arXiv:1901.11504).

    A memory, pooled from the second text, looks at the first text; step k predicts from memory and what it saw, and a
    GRU makes the next memory of them. The answer is the mean of the steps' probabilities, as logarithms. In training
    each step of each example is left out of the mean with the chance `step_dropout`, but never all of them; what is
    left is averaged (MT-DNN's code divides by all steps and rescales, which its softmax undoes). `steps`: 1 or more.
    """

    reads_states = True

    def __init__(
        self,
        size: int,
        *,
        num_outputs: int,
        initializer: Initializer | None = None,
        steps: int = 5,
        step_dropout: float = 0.1,
        dropout: float = 0.1,
    ):
        super().__init__()
        check_dropout(dropout)
        check_dropout(step_dropout, key="step_dropout")
        if steps < 1:
            raise ConfigError(f"task.head.steps={steps}: 1 step or more.")
        if num_outputs < 2:
            raise ConfigError(
                "task/head=san averages probabilities of labels, but this task has one output. Use task/head=linear."
            )
        if steps == 1 and step_dropout:
            raise ConfigError(
                f"task.head.step_dropout={step_dropout} leaves out steps, but task.head.steps=1 has one alone. "
                "Use task.head.step_dropout=0, or more steps."
            )
        self.steps, self.step_dropout = steps, step_dropout
        self.dropout = dropout_of(dropout)
        self.pool = nn.Linear(size, 1)
        self.look = nn.Linear(size, size)
        self.classifier = nn.Linear(4 * size, num_outputs)
        self.remember = nn.GRUCell(size, size) if steps > 1 else None
        (initializer or Initializer()).start(self)

    def forward(
        self, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, "E C"]:
        """Logarithms of the mean probabilities, for each example."""
        places, states = Places(batch), self.dropout(hidden.flatten(0, 1)).float()
        first, second = texts_of(batch)
        memory = places.sum(places.log_softmax(self.pool(states)[:, 0].float(), second).exp()[:, None] * states)
        answers = []
        for step in range(self.steps):
            scores = (self.look(memory).float()[places.owner.clamp(max=places.num_examples - 1)] * states).sum(-1)
            seen = places.sum(places.log_softmax(scores, first).exp()[:, None] * states)
            features = torch.cat((memory, seen, (memory - seen).abs(), memory * seen), -1)
            answers.append(self.classifier(self.dropout(features)).float().softmax(-1))
            if self.remember is not None and step < self.steps - 1:
                memory = self.remember(seen, memory).float()
        return self._mean(torch.stack(answers)).clamp(min=_LEAST).log()

    def _mean(self, answers: Float[Tensor, "K E C"]) -> Float[Tensor, "E C"]:
        if not self.training or not self.step_dropout:
            return answers.mean(0)
        draws = torch.rand(answers.shape[:2], device=answers.device)
        kept = (draws >= self.step_dropout) | (draws == draws.max(0).values)
        return (kept[..., None] * answers).sum(0) / kept.sum(0)[:, None]


def texts_of(batch: Mapping[str, Shaped[Tensor, "..."]]) -> tuple[Bool[Tensor, " N"], Bool[Tensor, " N"]]:
    """Which places of a batch are of the first text of a pair, and which of the second: each with the special tokens
    that follow it. Batches have segments also for models that have no use for them.
    """
    real = batch["sequence_ids"].flatten() > 0
    second = batch["token_type_ids"].flatten() == 1
    return real & ~second, real & second
