"""Windows over a corpus."""

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.corpus.document import Document
from ptcli.corpus.stream import DocumentStream, Head, head_of
from ptcli.corpus.text import Text
from ptcli.errors import DataError


class Given:
    """Documents of given lengths."""

    language = "en"
    has_gold_words = False

    def __init__(self, lengths):
        self.lengths = lengths

    def check(self):
        pass

    def documents(self):
        return (Document("x" * length, source=str(number)) for number, length in enumerate(self.lengths))

    def identity(self):
        return {"lengths": self.lengths}

    def remarks(self):
        return ["a remark"]


def sources(window):
    return [int(document.source) for document in window.documents]


LENGTHS = st.lists(st.integers(1, 30), min_size=1, max_size=40)


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 100))
def test_a_pass_is_every_document_once_and_passes_are_the_same(lengths, characters):
    windows = DocumentStream(Given(lengths), characters=characters).windows()
    passes = [[], [], []]
    for window in windows:
        if window.place["pass"] == 3:
            break
        passes[window.place["pass"]].append(sources(window))
    assert passes[0] == passes[1] == passes[2]
    assert list(itertools.chain(*passes[0])) == list(range(len(lengths)))
    sizes = [sum(lengths[n] for n in window) for window in passes[0]]
    assert all(size >= characters for size in sizes[:-1])
    assert all(size - lengths[window[-1]] < characters for size, window in zip(sizes, passes[0], strict=True))


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 100), st.integers(0, 20))
def test_a_stream_goes_on_from_any_window(lengths, characters, stop):
    def windows(place=None):
        return DocumentStream(Given(lengths), characters=characters).windows(place)

    straight = list(itertools.islice(windows(), stop + 3))
    place = json.loads(json.dumps(straight[stop].place))
    assert list(itertools.islice(windows(place), 3)) == straight[stop:]
    assert list(itertools.islice(windows(straight[stop].next), 2)) == straight[stop + 1 :]


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 100), st.integers(1, 5))
def test_ranks_share_each_window(lengths, characters, world):
    whole = DocumentStream(Given(lengths), characters=characters).windows()
    shares = [
        DocumentStream(Given(lengths), characters=characters, rank=r, world=world).windows() for r in range(world)
    ]
    for _ in range(6):
        window, parts = next(whole), [next(share) for share in shares]
        assert sorted(itertools.chain(*map(sources, parts))) == sources(window)
        assert {json.dumps([part.place, part.next]) for part in parts} == {json.dumps([window.place, window.next])}
        assert all(document.number == int(document.source) for part in parts for document in part.documents)


def test_the_head_is_the_first_window():
    stream = DocumentStream(Given([10] * 100), characters=45)
    head = Head(stream)
    first = next(stream.windows())
    assert [document.source for document in head.documents()] == [str(n) for n in sources(first)] == list("01234")
    assert head.remarks()[0] == "a remark"
    assert "the first 5 documents (50 characters) are prepared" in head.remarks()[1]
    assert head.identity() != Head(DocumentStream(Given([10] * 100), characters=55)).identity()


def test_only_a_streamed_corpus_has_a_head(tmp_path):
    (tmp_path / "a.txt").write_text("one\n\ntwo\n\nthree")
    whole = Text(str(tmp_path))
    assert head_of(whole) is whole
    assert [d.text for d in head_of(Text(str(tmp_path), streaming=True, window=4)).documents()] == ["one", "two"]


def test_a_stream_of_nothing_ends_at_once():
    with pytest.raises(DataError, match="holds no document"):
        next(DocumentStream(Given([])).windows())
