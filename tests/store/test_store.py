import pickle
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.errors import ConfigError
from ptcli.store.files import GrowingArray, GrowingBits, size_on_disk
from ptcli.store.shard import Shard, shard_folder
from ptcli.store.store import Store
from ptcli.store.writer import ShardWriter


def make(folder, documents, shard=1000):
    """A store of documents given as lists of sentence lengths, so many a shard; tokens count up."""
    folder.mkdir(exist_ok=True)
    shards, num_tokens = [], 0
    for number, some in enumerate(batched(documents, shard)):
        lengths = np.array([n for document in some for n in document], np.int64)
        ends = np.concatenate([np.arange(len(d)) == len(d) - 1 for d in some])
        tokens = (num_tokens + np.arange(lengths.sum())) % 1000
        writer = ShardWriter(shard_folder(folder, number), token_type="uint16")
        writer.append(tokens, tokens % 2 == 0, lengths, ends)
        writer.close()
        facts = {f"num_{name}": getattr(writer, f"num_{name}") for name in ("tokens", "sentences", "documents")}
        place = shard_folder(folder, number)
        shards.append(Shard(place, number, token_type="uint16", first_document=number * shard, **facts))
        num_tokens += writer.num_tokens
    counts = {"documents": len(documents), "tokens": num_tokens}
    return Store(folder, {"counts": counts}, shards, np.bincount(np.arange(num_tokens) % 1000, minlength=1000))


def batched(documents, size):
    return [documents[at : at + size] for at in range(0, len(documents), size)]


def sentences(views):
    return [(v.shard, s) for v in views for first, last in v.ranges for s in range(first, last)]


def test_whole_documents_are_held_out_about_as_many_as_asked(tmp_path):
    store = make(tmp_path / "s", [[5, 5, 5]] * 2000, shard=450)
    assert len(store.shards) > 3
    training, held_out = store.split(0.05)
    assert len(training) == len(held_out) == len(store.shards)
    assert sum(len(v.ranges) for v in training) + sum(len(v.ranges) for v in held_out) == 2000
    assert sum(len(v.ranges) for v in held_out) == pytest.approx(100, abs=30)  # three standard deviations
    assert sorted(sentences(training) + sentences(held_out)) == [
        (s.number, i) for s in store.shards for i in range(s.num_sentences)
    ]
    assert all((v.ranges[:, 1] - v.ranges[:, 0] == 3).all() for v in training + held_out)
    assert "whole documents" in store.split_remark(0.05)


def test_what_is_held_out_is_fixed_and_grows_with_the_share(tmp_path):
    store = make(tmp_path / "s", [[2]] * 500)
    small, again, large = (set(sentences(store.split(f)[1])) for f in (0.05, 0.05, 0.2))
    assert small == again
    assert small < large
    first = make(tmp_path / "t", [[2]] * 400)  # more documents behind change nothing for those before
    assert set(sentences(first.split(0.2)[1])) == {(s, i) for s, i in large if i < 400}


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=99),
    st.floats(0, 0.9),
)
def test_few_documents_lose_their_tails(tmp_path_factory, lengths, fraction):
    store = make(tmp_path_factory.mktemp("s"), [[1] * n for n in lengths])
    training, held_out = store.split(fraction)
    assert sorted(sentences(training) + sentences(held_out)) == [(0, s) for s in range(sum(lengths))]
    kept = training[0].ranges
    assert len(kept) == len(lengths)  # every document keeps its beginning
    assert (kept[:, 0] == store.shards[0].document_offsets[:-1]).all()
    held = sum(lengths) - int((kept[:, 1] - kept[:, 0]).sum())
    assert held <= fraction * sum(lengths) + 1
    if fraction > 0 and max(lengths) > 1:
        assert held >= 1
    if min(lengths) > 1 / (1 - fraction) + 1:  # no document is too short to give its share
        assert held >= int(fraction * sum(lengths))


def test_tails_are_said(tmp_path):
    store = make(tmp_path / "s", [[3] * 20] * 5)
    assert "the last sentences of each document, because there are only 5" in store.split_remark(0.05)
    _, held_out = store.split(0.05)
    assert [r.tolist() for r in held_out[0].ranges] == [[s * 20 + 19, s * 20 + 20] for s in range(5)]
    assert held_out[0].num_tokens == 15


def test_nothing_or_too_much_is_held_out(tmp_path):
    store = make(tmp_path / "s", [[1]] * 150)
    training, held_out = store.split(0)
    assert sentences(held_out) == []
    assert held_out[0].ranges.shape == (0, 2)
    assert len(sentences(training)) == 150
    assert store.split_remark(0) == "nothing is held out for evaluation"
    assert len(sentences(store.split(1e-9)[1])) == 1  # never none when some is asked for
    for fraction in (1, -0.1, float("nan")):
        with pytest.raises(ConfigError, match=r"eval\.fraction"):
            store.split(fraction)


def test_a_shard_travels_without_its_arrays(tmp_path):
    shard = make(tmp_path / "s", [[50] * 100]).shards[0]
    _ = shard.tokens, shard.word_starts
    sent = pickle.dumps(shard)
    assert len(sent) < 1000
    np.testing.assert_array_equal(pickle.loads(sent).tokens, shard.tokens)


@settings(deadline=None)
@given(st.lists(st.lists(st.booleans(), max_size=20), max_size=10))
def test_growing_files_are_plain_npy(tmp_path_factory, parts):
    folder = tmp_path_factory.mktemp("files")
    bits, numbers = GrowingBits(folder / "bits.npy"), GrowingArray(folder / "numbers.npy", dtype=np.int64)
    for part in parts:
        bits.append(np.array(part, bool))
        numbers.append(np.arange(len(part)))
    bits.close()
    numbers.close()
    whole = np.array(list(chain(*parts)), bool)
    np.testing.assert_array_equal(np.load(folder / "bits.npy"), np.packbits(whole, bitorder="little"))
    np.testing.assert_array_equal(
        np.load(folder / "numbers.npy"), np.concatenate([np.arange(len(p)) for p in [[], *parts]])
    )
    assert (folder / "numbers.npy").stat().st_size == size_on_disk(whole.size, np.int64)
