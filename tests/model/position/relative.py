"""Attention with a relative position, spelt out pair by pair."""

from functools import partial

import torch
from torch import Tensor

from ptcli.model.attention.full import FullAttention
from ptcli.model.context import Context
from ptcli.model.shape import Shape

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=16, num_heads=2, intermediate_size=8, embedding_size=16)
PLACES = torch.tensor([[0, 1, 2, 3, 4, 5], [0, 1, 2, 0, 1, 2]])


def attention(position, **settings) -> FullAttention:
    """One layer's attention with this position's part in it; every weight random, none at 0."""
    torch.manual_seed(0)
    module = FullAttention(SHAPE, dropout=0.0, relations={"position": position.relation()}, **settings)
    with torch.no_grad():
        for parameter in (*module.parameters(), *position.parameters()):
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    return module


def run(module: FullAttention, position, hidden: Tensor) -> Tensor:
    """What the module gathers, with the places above."""
    return module(hidden, Context(None, relations={"position": position(PLACES)}))


def by_pairs(module: FullAttention, hidden: Tensor, score, value) -> Tensor:
    """The same from functions of (row, head, i, j, query, key) and (row, head, i, j, value); nothing is vectorised."""
    query, key, content = (part.unflatten(-1, (2, 8)).transpose(1, 2) for part in module._project(hidden).chunk(3, -1))
    gathered = torch.zeros_like(content)
    length = hidden.shape[1]
    for row in range(hidden.shape[0]):
        for head in range(2):
            for i in range(length):
                at = partial(score, row, head, i)
                scores = torch.stack([at(j, query[row, head, i], key[row, head, j]) for j in range(length)])
                weights = scores.softmax(-1)
                for j in range(length):
                    gathered[row, head, i] += weights[j] * value(row, head, i, j, content[row, head, j])
    return module.output(gathered.transpose(1, 2).flatten(2))


def plain_value(row, head, i, j, value: Tensor) -> Tensor:
    """Values that no position changes."""
    return value
