"""Training from a stream: the same rows as from a store, once a pass, from any position."""

import itertools
import json
import threading
from typing import ClassVar

import numpy as np
import pytest
import torch

from ptcli.batch.stream import StreamLoader
from ptcli.corpus.document import Document
from ptcli.corpus.stream import DocumentStream, Head
from ptcli.corpus.text import Text
from ptcli.errors import DataError
from ptcli.packing.full_sentences import FullSentences
from ptcli.pair.none import NoPair
from ptcli.store import blocks
from ptcli.store.blocks import Encoder
from ptcli.store.prepare import prepare
from ptcli.store.window import TokenStream, token_type, tokenise
from ptcli.tokenizer.wordpiece import WordPiece
from ptcli.words.unicode import Unicode
from tests.batch.fakes import EveryThird

CHARACTERS = 15_000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """800 documents of a few sentences, each with a number of its own."""
    file = tmp_path_factory.mktemp("corpus") / "a.txt"
    sentences = [f"The number of this one is {n} here. " + "It goes on and on. " * (n % 4) for n in range(800)]
    file.write_text("\n\n".join(sentences))
    return Text(str(file), streaming=True, window=CHARACTERS)


@pytest.fixture(scope="module")
def store(corpus, tmp_path_factory):
    head = Head(DocumentStream(corpus, characters=CHARACTERS))
    tokenizer = WordPiece(vocab_size=400).build(corpus, cache=tmp_path_factory.mktemp("tokenizer"))
    return prepare(head, Unicode(), tokenizer, folder=tmp_path_factory.mktemp("stores"))


def token_stream(corpus, store, characters=CHARACTERS):
    return TokenStream(
        DocumentStream(corpus, characters=characters),
        words=Unicode(),
        tokenizer=store.tokenizer(),
        first_shard=len(store.shards),
    )


def tokenised(documents, store, number=5):
    tokenizer = store.tokenizer()
    encoder = Encoder(words=Unicode(), tokenizer=tokenizer, language="en")
    return tokenise(documents, encoder=encoder, dtype=token_type(tokenizer), number=number)


def loader(corpus, store, *, fraction=0.1, characters=CHARACTERS, **changes):
    training, _ = store.split(fraction)
    chosen = {
        "stream": token_stream(corpus, store, characters),
        "shards": store.shards,
        "documents": training,
        "packing": FullSentences(),
        "pair": NoPair(),
        "mask": EveryThird(),
        "vocabulary": store.tokenizer().vocabulary,
        "max_length": 32,
        "batch_size": 16,
        "micro_size": 8,
        "seed": 1,
    }
    return StreamLoader(**{**chosen, **changes})


def take(feed, number, position=None, first_step=0):
    steps = feed.steps(position, first_step)
    try:
        return list(itertools.islice(steps, number))
    finally:
        steps.close()


def same(a, b):
    return all(torch.equal(x[key], y[key]) for x, y in zip(a.micro_batches, b.micro_batches, strict=True) for key in x)


def bag(store, steps):
    """How often each ordinary token was fed, masks undone."""
    vocabulary = store.tokenizer().vocabulary
    counts = np.zeros(vocabulary.size, np.int64)
    for batch in itertools.chain.from_iterable(step.micro_batches for step in steps):
        ids = torch.where(batch["labels"] >= 0, batch["labels"], batch["input_ids"])
        counts += np.bincount(ids.numpy().ravel(), minlength=vocabulary.size)
    return counts * ~vocabulary.special


def steps_of_a_pass(feed):
    steps = feed.steps()
    kept = []
    for step in steps:
        kept.append(step)
        if step.position["place"]["pass"] == 1:
            steps.close()
            return kept
    raise AssertionError


def test_a_window_is_tokenised_as_a_store_is(corpus, store):
    head = list(Head(DocumentStream(corpus, characters=CHARACTERS)).documents())
    shard, documents = tokenised(head, store)
    kept = store.shards[0]
    np.testing.assert_array_equal(shard.tokens, kept.tokens)
    np.testing.assert_array_equal(shard.word_starts, kept.word_starts)
    np.testing.assert_array_equal(documents.sentence_offsets, kept.sentence_offsets)
    ends = kept.document_offsets
    np.testing.assert_array_equal(documents.ranges, np.stack([ends[:-1], ends[1:]], axis=1))
    assert documents.shard == 5
    assert shard.tokens.dtype == kept.tokens.dtype
    nothing, none = tokenised([], store)
    assert nothing.tokens.shape == (0,)
    assert none.ranges.shape == (0, 2)


def test_a_pass_is_every_document_once_but_those_held_out(corpus, store):
    steps = steps_of_a_pass(loader(corpus, store, batch_size=1, micro_size=1))
    assert len({step.position["place"]["window"] for step in steps}) >= 3
    whole, _ = tokenised(list(corpus.documents()), store)
    expected = np.bincount(whole.tokens, minlength=store.tokenizer().vocabulary.size)
    _, held_out = store.split(0.1)
    assert 0 < sum(len(view.ranges) for view in held_out) < store.num_documents
    for view in held_out:
        for first, last in view.sentence_offsets[view.ranges]:
            expected -= np.bincount(store.shards[view.shard].tokens[first:last], minlength=expected.shape[0])
    np.testing.assert_array_equal(bag(store, steps), expected)


@pytest.mark.parametrize("stop", [1, 9, 17, 30])
def test_a_resumed_stream_goes_on_where_the_other_stood(corpus, store, stop):
    straight = take(loader(corpus, store), 50)
    assert straight[-1].position["place"]["window"] >= 2 or straight[-1].position["place"]["pass"] == 1
    position = json.loads(json.dumps(straight[stop - 1].position))
    resumed = take(loader(corpus, store), 50 - stop, position, stop)
    assert all(same(a, b) for a, b in zip(straight[stop:], resumed, strict=True))
    assert straight[-1].position == resumed[-1].position
    assert [step.measured for step in straight[stop:]] == [step.measured for step in resumed]


def test_a_resume_tokenises_nothing_before_its_window(corpus, store, monkeypatch):
    straight = take(loader(corpus, store), 30)
    place = straight[-1].position["place"]
    assert place["window"] > 1
    made = []
    whole = TokenStream._tokenised
    monkeypatch.setattr(
        TokenStream, "_tokenised", lambda self, window: made.append(window.place) or whole(self, window)
    )
    take(loader(corpus, store), 1, straight[-1].position, 30)
    assert made[0] == place


def test_packing_pair_and_mask_see_passes_and_not_windows(corpus, store):
    class Noting(EveryThird):
        seen: ClassVar = []

        def data_epoch(self, epoch):
            return epoch + 10

        def __call__(self, examples, *, seed, epoch, step=0):
            self.seen.append(epoch)
            return super().__call__(examples, seed=seed, epoch=epoch, step=step)

    first = steps_of_a_pass(loader(corpus, store))
    take(loader(corpus, store, mask=Noting()), len(first) + 3)
    assert list(dict.fromkeys(Noting.seen)) == [10, 11]
    passes = [step.measured["epoch"] for step in first]
    assert passes == sorted(passes) and set(passes[:-1]) == {0.0}


def test_a_pass_has_an_order_of_its_own(corpus, store):
    first = steps_of_a_pass(loader(corpus, store, batch_size=1, micro_size=1))
    again = take(loader(corpus, store, batch_size=1, micro_size=1), len(first) + 20)
    assert not all(same(a, b) for a, b in zip(again[:20], again[len(first) :], strict=True))


def test_how_much_is_tokenised_at_once_changes_nothing(corpus, store, monkeypatch):
    documents = [*itertools.islice(corpus.documents(), 60), Document("A long one. " * 100)]
    shard, view = tokenised(documents, store)
    monkeypatch.setattr(blocks, "TOGETHER", 500)
    monkeypatch.setattr(blocks, "BLOCK", 200)
    other, other_view = tokenised(documents, store)
    np.testing.assert_array_equal(shard.tokens, other.tokens)
    np.testing.assert_array_equal(shard.word_starts, other.word_starts)
    np.testing.assert_array_equal(view.ranges, other_view.ranges)
    np.testing.assert_array_equal(view.sentence_offsets, other_view.sentence_offsets)


def test_before_the_steps_the_first_window_is_known_and_nothing_is_read(corpus, store, monkeypatch):
    monkeypatch.setattr(TokenStream, "windows", None)
    feed = loader(corpus, store)
    training, _ = store.split(0.1)
    assert feed.epoch(0).counts["tokens"] >= sum(view.num_tokens for view in training)
    assert feed.rows_of == "in the stream's first window"


def test_leaving_the_stream_ends_its_threads(corpus, store):
    before = threading.active_count()
    take(loader(corpus, store), 2)
    assert threading.active_count() == before


def test_a_window_without_a_row_is_passed_over_and_a_stream_of_them_ends(corpus, store, monkeypatch, caplog):
    whole = StreamLoader._rows_of
    empty = loader(corpus, store)._make_epoch(0, [], [], 0)

    def rows(self, window, number):
        return empty if window.place["window"] in barren else whole(self, window, number)

    monkeypatch.setattr(StreamLoader, "_rows_of", rows)
    barren = {1}
    windows = {step.position["place"]["window"] for step in take(loader(corpus, store), 40)}
    assert 2 in windows
    assert "window 1 of the stream makes no row and is passed over" in caplog.text
    barren = set(range(100))
    with pytest.raises(DataError, match="The stream makes no example at max_length=32"):
        take(loader(corpus, store), 1)


def test_an_error_in_the_corpus_reaches_the_trainer(corpus, store, monkeypatch):
    def broken(self, window):
        raise DataError("a bad row")

    monkeypatch.setattr(TokenStream, "_tokenised", broken)
    with pytest.raises(DataError, match="a bad row"):
        take(loader(corpus, store), 40)


def test_other_rows_begin_a_window_anew_and_passes_stay(corpus, store):
    straight = take(loader(corpus, store), 20)
    position, passes = loader(corpus, store).begin_anew(straight[-1].position)
    last = straight[-1].position
    assert (position["epoch"], position["row"], position["place"]) == (last["epoch"] + 1, 0, last["place"])
    assert passes == straight[-1].measured["epoch"]
    anew = take(loader(corpus, store, max_length=16, batch_size=8), 6, position, 20)
    assert anew[0].position["place"] == last["place"]
    resumed = take(loader(corpus, store, max_length=16, batch_size=8), 3, anew[2].position, 23)
    assert all(same(a, b) for a, b in zip(anew[3:], resumed, strict=True))


def test_the_examples_of_a_step_are_named(corpus, store):
    feed = loader(corpus, store)
    steps = take(feed, 3)
    assert feed.examples(None) == "rows 0 to 15 of window 0 of the stream (pass 0)"
    told = feed.examples(steps[1].position)
    assert told.startswith("rows 32 to 47 of window 0 of the stream (pass 0")
