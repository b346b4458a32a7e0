from torch import nn


class RMSNorm(nn.RMSNorm):
    """Unit mean square over the features, then a learned scale: no mean is taken off, no shift is added
    (arXiv:1910.07467). `eps` is added to the mean square.
    """

    def __init__(self, size: int, *, eps: float = 1e-6):
        super().__init__(size, eps=eps)
