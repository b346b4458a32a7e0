import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from ptcli.model.position.alibi import AlibiPositions, slopes
from ptcli.model.shape import Shape


def alibi(num_heads: int) -> AlibiPositions:
    shape = {"vocab_size": 5, "num_layers": 1, "hidden_size": 4 * num_heads, "num_heads": num_heads}
    return AlibiPositions(Shape(**shape, intermediate_size=8, embedding_size=8))


@pytest.mark.parametrize("num_heads", [1, 2, 6, 8, 12, 16, 25])
def test_slopes_are_bloom_s(num_heads):
    theirs = build_alibi_tensor(torch.ones(1, 2), num_heads, torch.float32)[:, 0, 1]  # slope times place 1
    torch.testing.assert_close(torch.tensor(slopes(num_heads)), theirs, rtol=1e-6, atol=0)


def test_falls_alike_in_both_directions():
    bias = alibi(8)(torch.tensor([[0, 1, 2, 0, 1]]))
    assert bias.shape == (1, 8, 5, 5)
    assert torch.equal(bias, bias.transpose(2, 3))
    torch.testing.assert_close(bias[0, 0, 0], -0.5 * torch.tensor([0.0, 1, 2, 0, 1]))
    assert not list(alibi(8).parameters())
