import json

import numpy as np
import pytest

from ptcli.corpus.document import Document
from ptcli.errors import ConfigError, DataError
from ptcli.store.prepare import prepare
from ptcli.words.chinese import Chinese
from ptcli.words.gold import Gold
from ptcli.words.spans import Spans
from ptcli.words.unicode import Unicode
from tests.tokenizer.recipes import RECIPES, Memory


def written(path, *lines):
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n", encoding="utf-8")
    return path


def spans(path, *lines, base=None):
    return Spans(path=str(written(path, *lines)), base=base or Unicode())


def test_units_in_order_without_white_space_and_words_cut_at_them(tmp_path):
    text = "New York University, um"
    words = spans(
        tmp_path / "spans.jsonl",
        {"document": 3, "spans": [[19, 20, "phrase"], [0, 9, "entity"]]},
        {"document": 0, "spans": [[12, 15, "entity"]]},
    )
    words.check()
    document = Document(text, number=3)
    assert words.units(document).tolist() == [[0, 8, 0], [19, 20, 1]]
    assert [text[a:b] for a, b in words.spans(document)] == ["New", "York", "University", ",", "um"]
    cut = words.spans(Document(text, number=0))
    assert [text[a:b] for a, b in cut] == ["New", "York", "Uni", "ver", "sity", ",", "um"]
    assert words.units(Document(text, number=1)).shape == (0, 3)
    assert Spans(path=words.path, base=Chinese()).spans(Document("我喜欢", number=1)).tolist() == [[0, 1], [1, 3]]


def test_a_stretch_of_a_document_has_its_own_words(tmp_path):
    words = spans(tmp_path / "spans.jsonl", {"document": 0, "spans": [[12, 15, "entity"]]})
    assert words.spans(Document("University, um", number=0, start=9)).tolist() == [
        [0, 3],
        [3, 6],
        [6, 10],
        [10, 11],
        [12, 14],
    ]


@pytest.mark.parametrize("kind", RECIPES)
def test_the_store_has_the_units_of_numbered_documents(tmp_path, kind):
    """Every document n is 'number n stands in the river of time'; its entity is the river, its phrase `of time`."""
    texts = [f"number {n} stands in the river of time" for n in range(50)]
    lines = []
    for number, text in enumerate(texts):
        river, time = text.index("river"), text.index("of time")
        lines.append({"document": number, "spans": [[river, river + 5, "entity"], [time, time + 7, "phrase"]]})
    corpus = Memory(texts)
    tokenizer = RECIPES[kind]().build(corpus, cache=tmp_path)
    store = prepare(corpus, spans(tmp_path / "spans.jsonl", *lines), tokenizer, folder=tmp_path / "stores")
    shard = store.shards[0]
    assert shard.units is not None
    found = [
        (tokenizer.decode(shard.tokens[first : first + length]).strip(), int(kind_))
        for first, length, kind_ in zip(*shard.units, strict=True)
    ]
    assert found == [("river", 0), ("of time", 1)] * 50


def test_identity_follows_the_content_and_the_words(tmp_path):
    line = {"document": 0, "spans": [[0, 1, "entity"]]}
    first = spans(tmp_path / "a.jsonl", line)
    assert spans(tmp_path / "b.jsonl", line).identity() == first.identity()
    assert Spans(path=first.path, base=Chinese()).identity() != first.identity()
    assert spans(tmp_path / "c.jsonl", {**line, "document": 1}).identity() != first.identity()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"document": 0, "spans": [[0, 5, "place"]]}, "with types entity or phrase"),
        ({"document": 0, "spans": [[0, 5]]}, "is not like"),
        ({"document": 0.5, "spans": []}, "whole and not negative"),
        ({"document": 0, "spans": [[-1, 5, "entity"]]}, "whole and not negative"),
        ({"spans": []}, "is not like"),
        ([], "is not like"),
        ({"document": 0, "spans": [[3, 3, "entity"]]}, "empty or overlaps"),
        ({"document": 0, "spans": [[4, 9, "entity"], [0, 5, "phrase"]]}, r"\[4, 9\] of document 0 .*overlaps \[0, 5\]"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, message):
    words = spans(tmp_path / "spans.jsonl", {"document": 7, "spans": []}, line)
    with pytest.raises(DataError, match=r"spans\.jsonl:2.*" + message):
        words.spans(Document("text", number=0))
    with pytest.raises(ConfigError, match="its first line.*" + message):
        spans(tmp_path / "first.jsonl", line).check()


def test_refusals(tmp_path):
    for path, message in [(None, "needs words.path=FILE"), (str(tmp_path), "is no file")]:
        with pytest.raises(ConfigError, match=message):
            Spans(path=path, base=Unicode()).check()
    with pytest.raises(ConfigError, match="cannot be used"):
        spans(tmp_path / "empty.jsonl").check()
    with pytest.raises(ConfigError, match=r"words@words\.base=unicode"):
        spans(tmp_path / "gold.jsonl", base=Gold()).check()
    with pytest.raises(ConfigError, match=r"words@words\.base=chinese"):
        Spans(path="x", base="chinese")  # type: ignore[arg-type]
    twice = spans(tmp_path / "twice.jsonl", {"document": 0, "spans": []}, {"document": 0, "spans": []})
    with pytest.raises(DataError, match=r":2: document 0 has a line already"):
        twice.units(Document("text", number=0))
    far = spans(tmp_path / "far.jsonl", {"document": 0, "spans": [[0, 9, "entity"]]})
    with pytest.raises(DataError, match=r"document 0 ends at 9, but its text \(a\.txt:1\) has 4 characters"):
        far.units(Document("text", number=0, source="a.txt:1"))
    (tmp_path / "latin.jsonl").write_bytes(b'{"document": 0, "spans": []}\n\xe9')
    with pytest.raises(DataError, match="not UTF-8"):
        Spans(path=str(tmp_path / "latin.jsonl"), base=Unicode()).spans(Document("text", number=0))
    assert np.array_equal(far.spans(Document("text", number=1)), [[0, 4]])
