"""Every real corpus prepares, or fails with an error that says what to type."""

import os
from pathlib import Path

import pytest

from ptcli.corpus.csv import Csv
from ptcli.corpus.jsonl import Jsonl
from ptcli.corpus.text import Text
from ptcli.errors import DataError
from ptcli.store.prepare import prepare
from ptcli.tokenizer.wordpiece import WordPiece
from ptcli.words.chinese import Chinese
from ptcli.words.unicode import Unicode

DATA = Path(os.environ.get("PTCLI_DATA") or "absent") / "corpora"
pytestmark = [pytest.mark.data, pytest.mark.skipif(not DATA.is_dir(), reason="PTCLI_DATA names no folder")]

CORPORA = {
    "novels": (lambda: Text(str(DATA / "en/gutenberg/[ac]*.txt")), Unicode),
    "novels by file": (lambda: Text(str(DATA / "en/gutenberg/alice.txt"), documents="file"), Unicode),
    "novels without their frame": (
        lambda: Text(str(DATA / "en/gutenberg/[ac]*.txt"), join_lines=True, strip_gutenberg=True),
        Unicode,
    ),
    "addresses in a zip, in two encodings": (
        lambda: Text(str(DATA / "en/nltk_inaugural.zip"), documents="file", join_lines=True, encoding="detect"),
        Unicode,
    ),
    "a Chinese novel in a folder of two encodings": (
        lambda: Text(str(DATA / "zh/classics/[lr]*"), language="zh", encoding="detect"),
        Unicode,
    ),
    "questions of a table": (
        lambda: Csv(str(DATA.parent / "tasks/en/qnli"), text_key="sentence", delimiter="\t", quote=None),
        Unicode,
    ),
    "plays": (lambda: Text(str(DATA / "en/tinyshakespeare.txt")), Unicode),
    "wikitext": (lambda: Text(str(DATA / "en/wikitext2.valid.tokens")), Unicode),
    "dirty lines": (lambda: Text(str(DATA / "en/dirty_*.txt"), documents="line"), Unicode),
    "web": (lambda: Jsonl(str(DATA / "en/c4_sample.jsonl")), Unicode),
    "articles": (lambda: Jsonl(str(DATA / "en/enwiki_squad_articles.jsonl")), Unicode),
    "one line a book": (lambda: Text(str(DATA / "zh/gutenberg_trad"), language="zh"), Unicode),
    "GB18030": (lambda: Text(str(DATA / "zh/classics/lao*"), language="zh", encoding="gb18030"), Chinese),
    "Chinese articles": (lambda: Jsonl(str(DATA / "zh/zhwiki_paragraphs.jsonl"), language="zh"), Chinese),
}


@pytest.mark.parametrize("name", CORPORA)
def test_it_prepares(name, tmp_path):
    make, words = CORPORA[name]
    corpus = make()
    corpus.check()
    tokenizer = WordPiece(vocab_size=8192).build(corpus, cache=tmp_path)
    counts = prepare(corpus, words(), tokenizer, folder=tmp_path / "stores").manifest["counts"]
    assert counts["documents"] == sum(1 for _ in corpus.documents()) - counts["empty_documents"]
    assert counts["characters"] == sum(len(d.text) for d in corpus.documents())
    assert counts["unknown_tokens"] <= 0.001 * counts["tokens"]
    assert counts["unaligned_words"] <= 0.001 * counts["words"]
    assert counts["sentences"] > counts["documents"]


def test_gb18030_says_what_to_type(tmp_path):
    with pytest.raises(DataError, match=r"laocanyouji_gb18030\.txt .*type corpus\.encoding=gb18030"):
        WordPiece().build(Text(str(DATA / "zh/classics"), language="zh"), cache=tmp_path)
