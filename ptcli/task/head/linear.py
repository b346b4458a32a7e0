from jaxtyping import Float
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.initialization import Initializer
from ptcli.model.initialization import dropout as dropout_of


class LinearHead(nn.Module):
    """Dropout and one matrix (BERT, arXiv:1810.04805). `dropout`: share of the vector's numbers, in [0, 1)."""

    reads_states = False

    def __init__(self, size: int, *, num_outputs: int, initializer: Initializer | None = None, dropout: float = 0.1):
        super().__init__()
        check_dropout(dropout)
        self.dropout = dropout_of(dropout)
        self.classifier = nn.Linear(size, num_outputs)
        (initializer or Initializer()).start(self)

    def forward(self, states: Float[Tensor, "M H"]) -> Float[Tensor, "M C"]:
        """Logits."""
        return self.classifier(self.dropout(states))


def check_dropout(dropout: float, *, key: str = "dropout") -> None:
    """Raise ConfigError for a share outside [0, 1)."""
    if not 0 <= dropout < 1:
        raise ConfigError(f"task.head.{key}={dropout} must lie in [0, 1): it is a share of what is set to zero.")
