from torch import nn


class LayerNorm(nn.LayerNorm):
    """Zero mean and unit variance over the features, then a learned scale and, with `bias`, a shift (arXiv:1607.06450).

    `eps` is added to the variance: 1e-12 in BERT.
    """

    def __init__(self, size: int, *, eps: float = 1e-12, bias: bool = True):
        super().__init__(size, eps=eps, bias=bias)
