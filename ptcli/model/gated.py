"""The gated feed-forward network that geglu and swiglu fill with their activations."""

from jaxtyping import Float
from torch import Tensor, nn

from ptcli.model.shape import Shape


class GatedFeedForward(nn.Module):
    """One product widens to twice the inner width; its first half, activated, is multiplied by the second, and a
    second product narrows ("GLU Variants Improve Transformer", arXiv:2002.05202).

    The inner width is model.intermediate_size: a network of as many weights as an ungated one takes two thirds of it.
    `bias`: of the product that widens. `output_bias`: of the one that narrows.
    """

    def __init__(self, shape: Shape, *, activation: nn.Module, bias: bool, output_bias: bool):
        super().__init__()
        self.up = nn.Linear(shape.hidden_size, 2 * shape.intermediate_size, bias=bias)
        self.activation = activation
        self.down = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=output_bias)

    def forward(self, hidden: Float[Tensor, "B S H"]) -> Float[Tensor, "B S H"]:
        """The network's output, before the residual connection."""
        activated, gate = self.up(hidden).chunk(2, dim=-1)
        return self.down(self.activation(activated) * gate)

    def flops_per_token(self) -> int:
        """Floating-point operations of a forward pass for each token, 2 a multiply-add."""
        return 2 * 3 * self.down.in_features * self.down.out_features
