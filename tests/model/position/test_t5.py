import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from ptcli.errors import ConfigError
from ptcli.model.position.t5 import T5Positions
from ptcli.model.shape import Shape

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=16, num_heads=2, intermediate_size=8, embedding_size=16)


@pytest.mark.parametrize(("num_buckets", "max_distance"), [(32, 128), (16, 20), (8, 1000)])
def test_classes_are_those_of_t5(num_buckets, max_distance):
    ahead = torch.arange(-1500, 1501)
    theirs = T5Attention._relative_position_bucket(ahead, True, num_buckets, max_distance)
    ours = T5Positions(SHAPE, num_buckets=num_buckets, max_distance=max_distance).buckets(ahead)
    assert torch.equal(ours, theirs)
    assert set(ours.tolist()) == set(range(num_buckets)) - {num_buckets // 2}  # nothing is 0 places ahead


def test_the_bias_is_the_class_s_number_for_each_head():
    position = T5Positions(SHAPE)
    bias = position(torch.tensor([[0, 1, 2, 3]]))
    assert bias.shape == (1, 2, 4, 4)
    assert torch.equal(bias[0, :, 0, 3], position.table.weight[16 + 3])  # the key three ahead
    assert torch.equal(bias[0, :, 3, 0], position.table.weight[3])


def test_refusals():
    with pytest.raises(ConfigError, match=r"num_buckets=30 must be a multiple of 4.*Use 28"):
        T5Positions(SHAPE, num_buckets=30)
    with pytest.raises(ConfigError, match="max_distance=8 must be above 8"):
        T5Positions(SHAPE, max_distance=8)
