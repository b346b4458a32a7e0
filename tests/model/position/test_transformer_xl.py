import pytest
import torch
from transformers import XLNetConfig
from transformers.models.xlnet.modeling_xlnet import XLNetModel

from ptcli.errors import ConfigError
from ptcli.model.position.transformer_xl import TransformerXLPositions
from ptcli.model.shape import Shape

from .relative import PLACES, SHAPE, attention, by_pairs, plain_value, run


def test_equals_the_formula_with_xlnet_s_waves():
    position = TransformerXLPositions(SHAPE)
    module, hidden = attention(position), torch.randn(2, 6, 16)
    part = module.relations["position"]
    config = XLNetConfig(vocab_size=5, d_model=16, n_layer=1, n_head=2, d_inner=8)
    waves = XLNetModel(config).relative_positional_encoding(6, 6)[:, 0]  # distances 6 to -5

    def score(row, head, i, j, query, key):
        distance = int(PLACES[row, i] - PLACES[row, j])
        turned = (part.projection.weight @ waves[6 - distance])[8 * head : 8 * head + 8]
        content, place = part.content_bias[head, 0], part.position_bias[head, 0]
        return ((query + content) @ key + (query + place) @ turned) / 8**0.5

    wanted = by_pairs(module, hidden, score, plain_value)
    torch.testing.assert_close(run(module, position, hidden), wanted, rtol=1e-4, atol=1e-5)


def test_refusals():
    with pytest.raises(ConfigError, match=r"transformer_xl\.base"):
        TransformerXLPositions(SHAPE, base=0.5)
    sizes = {"vocab_size": 5, "num_layers": 1, "num_heads": 1, "intermediate_size": 8, "embedding_size": 7}
    with pytest.raises(ConfigError, match=r"hidden_size=7 is odd. Use model\.hidden_size=8"):
        TransformerXLPositions(Shape(**sizes, hidden_size=7))
