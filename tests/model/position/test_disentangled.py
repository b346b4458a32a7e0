import itertools
from functools import partial

import pytest
import torch
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

from ptcli.errors import ConfigError
from ptcli.model.position.disentangled import DisentangledPositions, log_buckets

from ..build import encoder, random_rows
from .relative import PLACES, SHAPE, attention, by_pairs, plain_value, run

TERMS = ("content_to_content", "content_to_position", "position_to_content")
CHOSEN = [chosen for chosen in itertools.product([True, False], repeat=3) if any(chosen[1:])]


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("chosen", CHOSEN, ids=str)
def test_equals_the_formula_for_each_choice_of_terms(chosen, share):
    settings = dict(zip(TERMS, chosen, strict=True))
    position = DisentangledPositions(SHAPE, max_distance=3, share_projections=share, dropout=0.0, **settings)
    module, hidden = attention(position), torch.randn(2, 6, 16)
    part, table = module.relations["position"], position.table.weight
    if share:
        queries, keys, _ = module._project(table).chunk(3, -1)
    else:
        queries = part.query(table) if chosen[2] else None
        keys = part.key(table) if chosen[1] else None

    def score(row, head, i, j, query, key):
        distance = int((PLACES[row, i] - PLACES[row, j] + 3).clamp(0, 5))
        mine = slice(8 * head, 8 * head + 8)
        terms = [query @ key] if chosen[0] else []
        terms += [query @ keys[distance, mine]] if chosen[1] else []
        terms += [key @ queries[distance, mine]] if chosen[2] else []
        return sum(terms) / (8 * len(terms)) ** 0.5

    wanted = by_pairs(module, hidden, score, plain_value)
    torch.testing.assert_close(run(module, position, hidden), wanted, rtol=1e-4, atol=1e-5)


def test_a_table_longer_than_the_row_changes_nothing_but_its_length():
    short, long = (DisentangledPositions(SHAPE, max_distance=n, dropout=0.0) for n in (6, 40))
    module, hidden = attention(long), torch.randn(2, 6, 16)
    with torch.no_grad():
        short.table.weight.copy_(long.table.weight[34:46])
    assert torch.equal(run(module, long, hidden), run(module, short, hidden))


@pytest.mark.parametrize(("num_buckets", "max_distance"), [(256, 512), (8, 40), (32, 100)])
def test_classes_are_those_of_deberta_v2(num_buckets, max_distance):
    apart = torch.arange(1 - max_distance, max_distance)
    theirs = make_log_bucket_position(apart, num_buckets, max_distance).long()
    ours = log_buckets(apart, num_buckets=num_buckets, max_distance=max_distance)
    assert torch.equal(ours, theirs)
    assert ours.max() == num_buckets - 1
    assert torch.equal(ours, -ours.flip(0))


def test_the_table_is_dropped_out_in_training_only():
    model = encoder(position={"disentangled": partial(DisentangledPositions, dropout=0.5)})
    batch = random_rows([[9]])
    assert not torch.equal(model(batch), model(batch))
    model.eval()
    assert torch.equal(model(batch), model(batch))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"max_distance": 0}, "max_distance=0 must be at least 1"),
        ({"num_buckets": 7}, "num_buckets=7 must be even"),
        ({"num_buckets": 256, "max_distance": 100}, "less than twice model.position.disentangled.max_distance=100"),
        ({"content_to_position": False, "position_to_content": False}, "leaves positions nothing to do"),
        ({"dropout": 1.0}, r"dropout=1.0 must lie in \[0, 1\)"),
    ],
)
def test_refusals(changes, words):
    with pytest.raises(ConfigError, match=words):
        DisentangledPositions(SHAPE, **changes)
