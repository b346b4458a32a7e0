import torch
from transformers.models.t5.modeling_t5 import T5LayerNorm

from ptcli.model.norm.rmsnorm import RMSNorm


def test_equals_t5_s():
    ours, theirs = RMSNorm(8, eps=1e-3), T5LayerNorm(8, eps=1e-3)
    with torch.no_grad():
        ours.weight.copy_(torch.randn(8))
        theirs.weight.copy_(ours.weight)
    hidden = torch.randn(3, 5, 8) + 2
    torch.testing.assert_close(ours(hidden), theirs(hidden), rtol=1e-5, atol=1e-6)
    assert [name for name, _ in ours.named_parameters()] == ["weight"]
