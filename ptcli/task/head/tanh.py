import torch
from jaxtyping import Float
from torch import Tensor, nn

from ptcli.model.initialization import Initializer
from ptcli.model.initialization import dropout as dropout_of
from ptcli.task.head.linear import check_dropout


class TanhHead(nn.Module):
    """Dropout, a dense layer, tanh, dropout, and one matrix (RoBERTa, arXiv:1907.11692).

    `dropout`: share of a vector's numbers that each of the two drops, in [0, 1).
    """

    reads_states = False

    def __init__(self, size: int, *, num_outputs: int, initializer: Initializer | None = None, dropout: float = 0.1):
        super().__init__()
        check_dropout(dropout)
        self.dropout = dropout_of(dropout)
        self.dense = nn.Linear(size, size)
        self.classifier = nn.Linear(size, num_outputs)
        (initializer or Initializer()).start(self)

    def forward(self, states: Float[Tensor, "M H"]) -> Float[Tensor, "M C"]:
        """Logits."""
        return self.classifier(self.dropout(torch.tanh(self.dense(self.dropout(states)))))
