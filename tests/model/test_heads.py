import pytest
import torch
from torch import nn

from ptcli.errors import ConfigError
from ptcli.model.heads import EnhancedMaskDecoder, MaskedLMHead, PairHead
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


@pytest.mark.parametrize("width", [None, 4, 8, 6])
def test_the_width_of_an_untied_matrix(width):
    untied = head(tie=False, width=width, embedding_size=4)
    assert untied.dense.weight.shape == (width or 8, 8)
    assert untied.decoder.weight.shape == (11, width or 8)
    assert untied(torch.randn(3, 8), torch.randn(11, 4)).shape == (3, 11)


def test_biases_leave():
    names = [name for name, _ in head(bias=False, dense_bias=False).named_parameters()]
    assert sorted(names) == ["dense.weight", "norm.bias", "norm.weight"]


@pytest.mark.parametrize("changes", [{"width": 6}, {"tie": False, "width": 0}])
def test_widths_that_do_not_go_are_refused(changes):
    with pytest.raises(ConfigError, match=r"objective\.width=.*Use objective\.width=null"):
        head(**changes)


def test_the_mask_decoder_runs_the_last_layer_twice_on_the_same_keys():
    decoder = EnhancedMaskDecoder(max_positions=9, hidden_size=8)
    before, places = torch.randn(2, 5, 8), torch.arange(5).expand(2, -1)
    calls = []

    def last_layer(seen, queries):
        calls.append(queries)
        assert seen is before
        return 2 * queries

    out = decoder(before, places, last_layer)
    torch.testing.assert_close(calls[0], before + decoder.table(places))
    torch.testing.assert_close(calls[1], 2 * calls[0])
    torch.testing.assert_close(out, 4 * calls[0])
    with pytest.raises(ConfigError, match=r"objective\.decoder_positions=0"):
        EnhancedMaskDecoder(max_positions=0, hidden_size=8)


def test_no_transform_between_different_widths_is_refused():
    with pytest.raises(ConfigError, match=r"8 and 4 wide.*objective.transform=true"):
        head(transform=False, embedding_size=4)


def test_pair_head_is_bounded_by_its_tanh():
    pair = PairHead(hidden_size=8, num_labels=3)
    assert pair(torch.randn(5, 8)).shape == (5, 3)
    assert pair.pooler(torch.randn(5, 8) * 1e6).abs().max() <= 1
