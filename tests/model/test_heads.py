import pytest
import torch
from torch import nn

from ptcli.errors import ConfigError
from ptcli.model.heads import MaskedLMHead, PairHead
from ptcli.model.norm.layernorm import LayerNorm


def head(**changes):
    torch.manual_seed(0)
    arguments = {
        "hidden_size": 8,
        "embedding_size": 8,
        "vocab_size": 11,
        "activation": nn.GELU(),
        "norm": LayerNorm,
    }
    return MaskedLMHead(**(arguments | changes))


def test_tied_head_owns_no_output_matrix():
    names = [name for name, _ in head(embedding_size=4).named_parameters()]
    assert sorted(names) == ["bias", "dense.bias", "dense.weight", "norm.bias", "norm.weight"]


def test_tied_head_without_transform_is_an_inner_product():
    plain = head(transform=False)
    hidden, embeddings = torch.randn(3, 8), torch.randn(11, 8)
    torch.testing.assert_close(plain(hidden, embeddings), hidden @ embeddings.T)


@pytest.mark.parametrize("transform", [True, False])
def test_untied_head_has_a_matrix_of_hidden_size_and_leaves_the_embeddings_alone(transform):
    untied = head(tie=False, transform=transform, embedding_size=4)
    assert untied.decoder.weight.shape == (11, 8)
    embeddings = torch.randn(11, 4, requires_grad=True)
    untied(torch.randn(3, 8), embeddings).sum().backward()
    assert embeddings.grad is None
    assert all(p.grad is not None for p in untied.parameters())


def test_no_transform_between_different_widths_is_refused():
    with pytest.raises(ConfigError, match=r"8 and 4 wide.*objective.transform=true"):
        head(transform=False, embedding_size=4)


def test_pair_head_is_bounded_by_its_tanh():
    pair = PairHead(hidden_size=8, num_labels=3)
    assert pair(torch.randn(5, 8)).shape == (5, 3)
    assert pair.pooler(torch.randn(5, 8) * 1e6).abs().max() <= 1
