"""Every real corpus reads cleanly, or fails with an error that says what to type. Preparing them: tests/store."""

import os
from itertools import islice
from pathlib import Path

import pytest

from ptcli.corpus.jsonl import Jsonl
from ptcli.corpus.sentences import sentence_spans
from ptcli.corpus.text import Text
from ptcli.errors import DataError

DATA = Path(os.environ.get("PTCLI_DATA") or "absent") / "corpora"
pytestmark = [pytest.mark.data, pytest.mark.skipif(not DATA.is_dir(), reason="PTCLI_DATA names no folder")]

# One of the addresses in each zip, or six, have quotation marks as Big5 writes them; one has a half and a cent sign.
NOT_UTF8 = {
    "laocanyouji_gb18030.txt": {"gb18030": 1},
    "nltk_inaugural.zip": {"big5": 1},
    "nltk_state_union.zip": {"cp1252": 1, "big5": 5},
}
FILES = sorted(str(path.relative_to(DATA)) for path in DATA.rglob("*") if path.is_file())


def corpus(name, **settings):
    make = Jsonl if name.endswith(".jsonl") else Text
    return make(str(DATA / name), language="zh" if name.startswith("zh") else "en", **settings)


@pytest.mark.parametrize("name", FILES)
def test_a_file_reads_whole_or_says_what_to_type(name):
    encodings = NOT_UTF8.get(Path(name).name, {})
    if encodings:
        first = next(iter(encodings))
        with pytest.raises(DataError, match=rf"is not utf-8 text: .* at byte .*corpus\.encoding={first}.*=detect"):
            list(corpus(name).documents())
    chosen = corpus(name, encoding="detect" if encodings else "utf-8")
    chosen.check()
    documents = list(chosen.documents())
    text = "\n".join(document.text for document in documents)
    assert all(document.text.strip() for document in documents)
    assert not text.startswith("\ufeff") and not set("\r\0") & set(text)
    assert "\ufffd" not in text or name.endswith("c4_sample.jsonl")  # web dirt: 18 of them stand in the text itself
    assert len(text) > 0.25 * (DATA / name).stat().st_size
    for encoding, number in encodings.items():
        assert f"{number} files are read as {encoding}" in chosen.remarks()
    for document in islice(documents, 200):
        spans = sentence_spans(document.text, chosen.language)
        assert "".join(document.text[start:end] for start, end in spans) == document.text


@pytest.mark.parametrize("name", [name for name in FILES if "gutenberg/" in name])
def test_novels_without_their_frame(name):
    whole = "\n\n".join(document.text for document in corpus(name).documents())
    novel = "\n\n".join(document.text for document in corpus(name, strip_gutenberg=True).documents())
    assert "Project Gutenberg" in whole
    assert "PROJECT GUTENBERG" not in novel
    assert "General Terms of Use" not in novel
    assert 15_000 < len(whole) - len(novel) < 25_000
    assert novel in whole


@pytest.mark.parametrize("name", ["en/nltk_inaugural.zip", "en/nltk_state_union.zip"])
def test_addresses_in_a_zip_are_a_document_each(name):
    chosen = corpus(name, encoding="detect", documents="file", join_lines=True)
    documents = list(chosen.documents())
    assert len(documents) > 50
    assert all(".txt:1" in document.source for document in documents)
    text = "".join(document.text for document in documents)
    assert {letter for letter in text if letter > "\x7f"} <= set("—–‘’“”…　½¢é")


def test_a_book_on_one_line_is_many_sentences():
    name = next(name for name in FILES if "gutenberg_trad/" in name)
    (document,) = corpus(name, documents="line").documents()
    assert len(sentence_spans(document.text, "zh")) > 100
