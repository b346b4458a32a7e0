import itertools
import threading

import numpy as np
import pytest
import torch

from ptcli.batch.loader import Loader
from ptcli.errors import DataError
from tests.batch.fakes import CLS, PAD, SEP, EveryThird, Shard, TwoARow, documents, vocabulary


def loader(num_tokens=(105, 50), **changes):
    settings = {
        "shards": [Shard(n) for n in num_tokens],
        "documents": [documents(n, shard=i) for i, n in enumerate(num_tokens)],
        "packing": TwoARow(),
        "pair": None,
        "mask": EveryThird(),
        "vocabulary": vocabulary(),
        "max_length": 16,
        "batch_size": 4,
        "micro_size": 4,
        "seed": 0,
    }
    return Loader(**{**settings, **changes})


def take(loader, n, position=None, first_step=0):
    return list(itertools.islice(loader.steps(position, first_step), n))


def same(a, b):
    return all(torch.equal(x[key], y[key]) for x, y in zip(a.micro_batches, b.micro_batches, strict=True) for key in x)


def originals(step):
    """The text of a step, masks undone, specials and padding left out."""
    out = []
    for batch in step.micro_batches:
        ids = torch.where(batch["labels"] >= 0, batch["labels"], batch["input_ids"])
        out += ids[(batch["attention_mask"] == 1) & ~torch.isin(ids, torch.tensor([CLS, SEP]))].tolist()
    return out


def test_every_row_once_an_epoch_and_steps_run_over_its_end():
    feed = loader()
    rows = feed.epoch(0).num_rows
    assert rows == 16  # 21 documents in one shard make 11 rows, 10 in the other make 5
    steps = take(feed, 8)
    first, second = (sorted(t for s in steps[a:b] for t in originals(s)) for a, b in ((0, 4), (4, 8)))
    assert first == second == sorted([*range(10, 115), *range(10, 60)])
    assert [originals(s) for s in steps[:4]] != [originals(s) for s in steps[4:]]  # another order
    uneven = loader(batch_size=5, micro_size=5)
    tokens = sorted(t for s in take(uneven, 16) for t in originals(s))  # 80 rows: five epochs
    assert tokens == sorted([*range(10, 115), *range(10, 60)] * 5)


@pytest.mark.parametrize("stop", [1, 3, 4, 7])
def test_a_resumed_loader_goes_on_where_the_other_stood(stop):
    straight = take(loader(batch_size=3, micro_size=2), 12)
    resumed = take(loader(batch_size=3, micro_size=2), 12 - stop, straight[stop - 1].position, stop)
    assert all(same(a, b) for a, b in zip(straight[stop:], resumed, strict=True))
    assert straight[-1].position == resumed[-1].position


def test_micro_batches_change_nothing_of_a_step():
    whole, split = take(loader(), 3), take(loader(micro_size=1), 3)
    for a, b in zip(whole, split, strict=True):
        assert sorted(originals(a)) == sorted(originals(b))
        assert a.counts["labels"] == b.counts["labels"] and len(b.micro_batches) == 4


def test_counts_and_measured_ratio():
    step = take(loader(), 1)[0]
    batch = step.micro_batches[0]
    assert step.counts["labels"] == int((batch["labels"] >= 0).sum())
    assert step.counts["tokens"] == int(batch["attention_mask"].sum())
    assert step.measured["mask_ratio"] == pytest.approx(step.counts["labels"] / step.counts["maskable"])
    assert step.position == {"epoch": 0, "row": 4, "rows": 4}


def test_static_length_gives_one_shape_and_short_rows_are_padded_to_the_longest():
    assert take(loader(static_length=True), 1)[0].micro_batches[0]["input_ids"].shape == (4, 16)
    short = loader(num_tokens=(5,), batch_size=1, micro_size=1)
    assert take(short, 1)[0].micro_batches[0]["input_ids"].shape == (1, 8)
    assert int(take(short, 1)[0].micro_batches[0]["input_ids"][0, -1]) == PAD


def test_an_empty_corpus_is_said():
    empty = loader(shards=[Shard(0)], documents=[documents(0)])
    with pytest.raises(DataError, match="makes no example at max_length=16"):
        take(empty, 1)


def test_leaving_the_loader_ends_its_thread():
    before = threading.active_count()
    steps = loader().steps()
    next(steps)
    steps.close()
    assert threading.active_count() == before


def test_a_finite_pass_stops_at_the_token_limit_and_is_the_same_every_time():
    feed = loader()
    everything = list(feed.once(max_tokens=None))
    assert sum(int(b["attention_mask"].sum()) for b in everything) == 155 + 2 * 31
    some = list(feed.once(max_tokens=60))
    assert 60 <= sum(int(b["attention_mask"].sum()) for b in some) < 60 + 4 * 14
    assert all(torch.equal(a["input_ids"], b["input_ids"]) for a, b in zip(everything, some[:-1], strict=False))
    assert np.unique([b["input_ids"].shape[0] for b in everything]).max() == 4


@pytest.mark.parametrize("limit", [1, 20, 60, 154, 155, 1000])
def test_a_limited_pass_gives_the_same_rows_whatever_the_micro_batch(limit):
    def rows(micro_size):
        batches = list(loader(micro_size=micro_size).once(max_tokens=limit))
        shown = [torch.where(batch["labels"] >= 0, batch["labels"], batch["input_ids"]) for batch in batches]
        return [[token for token in row.tolist() if token not in (PAD, CLS, SEP)] for ids in shown for row in ids]

    wanted = rows(1)
    assert all(sorted(rows(size)) == sorted(wanted) for size in (2, 3, 4, 7))
    assert sum(map(len, wanted[:-1])) < limit
    assert sum(map(len, wanted)) >= min(limit, 155)


def test_other_rows_begin_anew_with_the_next_epochs_first():
    straight = take(loader(batch_size=3, micro_size=3), 2)
    position, passes = loader().begin_anew(straight[-1].position)
    assert (position, passes) == ({"epoch": 1, "row": 0, "rows": 6}, 1.0)
    anew = take(loader(batch_size=2, micro_size=2), 8, position)
    tokens = sorted(t for step in anew for t in originals(step))
    assert tokens == sorted([*range(10, 115), *range(10, 60)])  # a whole epoch of its own
    assert anew[-1].position == {"epoch": 2, "row": 0, "rows": 22}
    assert anew[-1].measured["epoch"] == 2.0


def test_the_examples_of_a_step_are_named():
    feed = loader(batch_size=3, micro_size=2)
    steps = take(feed, 2)
    rows = feed.epoch(0).rows(3, 6)
    # TwoARow: row r of a shard holds its documents 2r and 2r + 1; the first shard has 21 in 11 rows
    documents = sorted(
        d for r in rows for d in ((2 * r, 2 * r + 1) if r < 11 else (21 + 2 * (r - 11), 22 + 2 * (r - 11)))
    )
    expected = ", ".join(str(d) for d in documents if d != 21 or 11 in rows)
    assert feed.examples(steps[0].position) == f"rows 3 to 5 of epoch 0, of training documents {expected}"
    assert feed.examples(None).startswith("rows 0 to 2 of epoch 0, of training documents ")
    assert loader(batch_size=16, micro_size=16).examples(None).endswith(" and 11 more")


def test_naming_examples_beside_the_loaders_thread_disturbs_nothing():
    feed, reference = loader(num_tokens=(5,), batch_size=1, micro_size=1), loader((5,), batch_size=1, micro_size=1)
    position, named = None, []
    for step, expected in itertools.islice(zip(feed.steps(), reference.steps(), strict=False), 200):
        named.append(feed.examples(position))
        position = step.position
        assert same(step, expected)
    assert named[150] == "rows 0 to 0 of epoch 150, of training documents 0"
