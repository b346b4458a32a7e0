import errno
import json
import logging
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import decoders, models, pre_tokenizers

from ptcli.corpus.document import Document
from ptcli.corpus.sentences import sentence_spans
from ptcli.corpus.text import Text
from ptcli.errors import ConfigError, DataError
from ptcli.store import batches, blocks, files
from ptcli.store.prepare import fingerprint, prepare
from ptcli.store.store import Store
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.wordpiece import WordPiece
from ptcli.words.alignment import word_starts
from ptcli.words.gold import Gold
from ptcli.words.unicode import Unicode
from tests.waiting import finish, finish_all, until_line


class Given:
    """A corpus of given texts."""

    language = "en"
    has_gold_words = False

    def __init__(self, texts, words=None):
        self.texts = texts
        self.words = words
        self.has_gold_words = words is not None

    def check(self):
        pass

    def documents(self):
        for number, text in enumerate(self.texts):
            yield Document(text, words=None if self.words is None else self.words[number])

    def identity(self):
        return {"texts": self.texts, "bytes": 1000}

    def remarks(self):
        return ["a remark"]


TEXTS = [
    "One sentence here. Another one follows! Don't stop.",
    "Single.",
    "\x00 \x01",  # no token
    "他说：很好。然后走了！\n\nThe end of it.",
    "Numbers 1,000 and words. " * 30,
    "[MASK] in the text. Fin.",
]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return WordPiece(vocab_size=120).build(Given(TEXTS), cache=tmp_path_factory.mktemp("tokenizer"))


def read_back(store):
    """Every document as a list of sentences of (token, begins a word)."""
    documents = []
    for shard in store.shards:
        bits = np.unpackbits(shard.word_starts, bitorder="little")[: shard.num_tokens].astype(bool)
        np.testing.assert_array_equal(bits, shard.word_starts_at(np.arange(shard.num_tokens)))
        sentences = [
            list(zip(shard.tokens[a:b].tolist(), bits[a:b].tolist(), strict=True))
            for a, b in zip(shard.sentence_offsets[:-1], shard.sentence_offsets[1:], strict=True)
        ]
        offsets = shard.document_offsets
        documents += [sentences[a:b] for a, b in pairwise(offsets)]
    return documents


def expected(texts, tokenizer):
    """The same, a document and a sentence at a time."""
    documents = []
    for text in texts:
        ids, starts, ends = tokenizer.encode([text])[0]
        begins, _, _ = word_starts(starts, ends, Unicode().spans(Document(text)), len(text))
        sentences = []
        for first, last in sentence_spans(text, "en"):
            mine = (starts >= first) & (starts < last)
            if mine.any():
                sentences.append(list(zip(ids[mine].tolist(), begins[mine].tolist(), strict=True)))
        if sentences:
            documents.append(sentences)
    return documents


def test_the_store_holds_what_tokenizer_sentences_and_words_say(tokenizer, tmp_path):
    seen = []
    store = prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path, progress=lambda *done: seen.append(done))
    assert read_back(store) == expected(TEXTS, tokenizer)
    counts = store.manifest["counts"]
    tokens = np.concatenate([shard.tokens for shard in store.shards])
    assert counts["documents"] == 5
    assert counts["empty_documents"] == 1
    assert counts["one_sentence_documents"] == 1
    assert counts["sentences"] == 3 + 1 + 3 + 30 + 2
    assert counts["tokens"] == tokens.size
    assert counts["special_tokens_in_text"] == 1
    assert counts["unknown_tokens"] == (tokens == tokenizer.vocabulary.unk_token_id).sum()
    assert counts["characters"] == sum(map(len, TEXTS))
    assert counts["unaligned_words"] == 3  # [MASK] is one token over three words
    assert counts["words"] == sum(len(Unicode().spans(Document(t))) for t in TEXTS) - 2  # \x00 and \x01 have no token
    np.testing.assert_array_equal(store.token_counts, np.bincount(tokens, minlength=tokenizer.vocabulary.size))
    assert seen[-1] == (counts["characters"], len(TEXTS))
    assert store.manifest["remarks"][0] == "a remark"
    assert any("special ones written in the text" in remark for remark in store.manifest["remarks"])
    assert store.tokenizer().hash == store.manifest["tokenizer"] == tokenizer.hash
    assert tokens.dtype == np.uint16
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == [store.folder.name]


@settings(deadline=None, max_examples=30)
@example(texts=["One two.\n\n\x00", "x"], block=5, together=1, batch=1, largest_shard=50)  # a block without a token
@example(texts=["x", "\x00", "y"], block=5, together=9, batch=9, largest_shard=1)  # a shard without a token
@given(
    texts=st.lists(
        st.lists(st.sampled_from(["One two. ", "他说。", "x", "\n\n", "\x00", "Don't! ", " "]), min_size=1, max_size=12)
        .map("".join)
        .filter(lambda text: text.strip()),
        min_size=1,
        max_size=8,
    ),
    block=st.integers(5, 60),
    together=st.integers(1, 100),
    batch=st.integers(1, 100),
    largest_shard=st.integers(1, 100),
)
def test_blocks_batches_and_shards_change_nothing(
    tokenizer, tmp_path_factory, texts, block, together, batch, largest_shard
):
    whole = expected(texts, tokenizer)
    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        patch.setattr(blocks, "TOGETHER", together)
        patch.setattr(batches, "BATCH", batch)
        try:
            store = prepare(Given(texts), Unicode(), tokenizer, folder=folder, largest_shard=largest_shard)
        except DataError:
            assert not whole
            return
    assert read_back(store) == whole
    assert store.num_documents == len(whole)
    assert store.manifest["counts"]["empty_documents"] == len(texts) - len(whole)
    first = 0
    for shard in store.shards:
        assert shard.first_document == first
        assert shard.num_tokens > 0
        assert shard.num_documents == shard.document_offsets.size - 1
        first += shard.num_documents


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 60), st.integers(1, 60))
def test_a_shard_ends_with_the_document_that_fills_it(lengths, batch, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "BATCH", batch)
        made = list(batches.batches([Document("x" * n) for n in lengths], limit=limit))
    assert [len(d.text) for b in made for d in b.documents] == lengths
    assert [d.number for b in made for d in b.documents] == list(range(len(lengths)))
    assert all(len(b.documents) == 1 or sum(len(d.text) for d in b.documents) <= batch for b in made)
    shards = [[len(d.text) for b in made if b.shard == number for d in b.documents] for number in range(31)]
    shards = [shard for shard in shards if shard]
    assert sorted({b.shard for b in made}) == list(range(len(shards)))
    assert all(sum(shard) >= limit > sum(shard[:-1]) for shard in shards[:-1])
    assert not shards or sum(shards[-1][:-1]) < limit


def test_gold_words_reach_the_store(tokenizer, tmp_path, monkeypatch):
    text = "unstoppable other. third word here."
    words = np.array([[0, 5], [5, 11], [12, 17], [17, 18], [19, 24], [25, 34], [34, 35]], np.int32)
    monkeypatch.setattr(blocks, "BLOCK", 20)
    store = prepare(Given([text], words=[words]), Gold(), tokenizer, folder=tmp_path)
    counts = store.manifest["counts"]
    assert counts["words"] == 7
    ((first, second),) = read_back(store)
    assert sum(begins for _, begins in first + second) >= 7 - counts["unaligned_words"]
    with pytest.raises(ConfigError, match="words=gold"):
        prepare(Given([text]), Gold(), tokenizer, folder=tmp_path)


def test_byte_level_tokens_of_white_space_stay_in_their_document(tmp_path):
    """Such a tokenizer makes tokens of white space, and of a word together with the space before it."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *alphabet, "ĠT"]
    inner = tokenizers.Tokenizer(models.BPE({t: i for i, t in enumerate(names)}, [("Ġ", "T")], unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens(names[:5])
    inner.save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer.load(tmp_path / "tokenizer.json")
    texts = ["One is. Two is.  \n", "Three. The end. "]
    store = prepare(Given(texts), Unicode(), tokenizer, folder=tmp_path / "stores")
    documents = read_back(store)
    said = [[tokenizer.decode([token for token, _ in sentence]) for sentence in document] for document in documents]
    assert said == [["One is.", " Two is.  \n"], ["Three.", " The end. "]]
    assert all(document[0][0][1] for document in documents)  # each begins a word, also after white space
    assert store.manifest["counts"]["words"] == 11
    assert store.manifest["counts"]["unaligned_words"] == 0


def test_it_is_found_again_and_rebuilt_when_anything_changes(tokenizer, tmp_path, monkeypatch):
    corpus = Given(TEXTS)
    first = prepare(corpus, Unicode(), tokenizer, folder=tmp_path)
    made = (first.folder / "manifest.json").stat().st_mtime_ns
    assert prepare(corpus, Unicode(), tokenizer, folder=tmp_path).folder == first.folder
    assert (first.folder / "manifest.json").stat().st_mtime_ns == made
    name = fingerprint(corpus, Unicode(), tokenizer)
    other = WordPiece(lowercase=False).build(corpus, cache=tmp_path / "tokenizer")
    changed = {name, fingerprint(corpus, Unicode(), other), fingerprint(Given([*TEXTS, "x"]), Unicode(), tokenizer)}
    changed.add(fingerprint(corpus, Gold(), tokenizer))
    corpus.language = "zh"
    changed.add(fingerprint(corpus, Unicode(), tokenizer))
    assert len(changed) == 5


@pytest.mark.parametrize("damage", ["cut", "absent", "manifest", "tokenizer", "counts"])
def test_a_damaged_store_is_refused_and_made_again(tokenizer, tmp_path, caplog, damage):
    store = prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path)
    whole = read_back(store)
    tokens = store.folder / "shard-00000" / "tokens.npy"
    if damage == "cut":
        os.truncate(tokens, tokens.stat().st_size - 1)
    elif damage == "absent":
        (store.folder / "shard-00000" / "sentence_offsets.npy").unlink()
    elif damage == "manifest":
        (store.folder / "manifest.json").write_text('{"format": 1, "shards"')
    elif damage == "tokenizer":
        (store.folder / "tokenizer" / "tokenizer.json").unlink()
    else:
        np.save(store.folder / "token_counts.npy", store.token_counts + 1)
    with pytest.raises(DataError):
        Store.open(store.folder)
    with caplog.at_level(logging.WARNING):
        assert read_back(prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path)) == whole
    assert "is damaged and made again" in caplog.text


def test_a_store_of_another_format_is_refused(tokenizer, tmp_path):
    store = prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path)
    manifest = json.loads((store.folder / "manifest.json").read_text())
    (store.folder / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))
    with pytest.raises(DataError, match="format 99"):
        Store.open(store.folder)
    with pytest.raises(DataError, match=r"manifest\.json"):
        Store.open(tmp_path / "nothing")


def test_a_full_disk_is_told_and_leaves_nothing(tokenizer, tmp_path, monkeypatch):
    def full(self, values):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.GrowingArray, "append", full)
    with pytest.raises(DataError, match=r"no space left in .* takes about .* MB.*PTCLI_CACHE"):
        prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path / "stores")
    assert [p for p in (tmp_path / "stores").iterdir() if p.is_dir()] == []
    monkeypatch.undo()
    prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path / "stores")


def test_a_corpus_that_fails_or_makes_no_token_leaves_nothing(tokenizer, tmp_path):
    class Fails(Given):
        def documents(self):
            yield Document("good. " * 100_000)
            raise DataError("bad bytes")

    for corpus, message in [(Fails([]), "bad bytes"), (Given([]), "makes no token"), (Given(["\x00"]), "a remark")]:
        with pytest.raises(DataError, match=message):
            prepare(corpus, Unicode(), tokenizer, folder=tmp_path)
    assert [p for p in tmp_path.iterdir() if p.is_dir()] == []


def test_a_folder_that_cannot_be_made_is_told(tokenizer, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"cannot be kept in .*PTCLI_CACHE"):
        prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path / "file" / "stores")


SLOW = """
import sys, time
from pathlib import Path
from ptcli.corpus.text import Text
from ptcli.store.prepare import prepare
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.unicode import Unicode

class Slow(Text):
    def documents(self):
        for number, document in enumerate(super().documents()):
            while number == 30 and not Path(sys.argv[4]).exists():  # half of them are made, and no more
                time.sleep(0.01)
            yield document

import ptcli.store.batches
ptcli.store.batches.BATCH = 1
def progress(characters, documents):
    print("going", flush=True)
tokenizer = Tokenizer.load(Path(sys.argv[2]))
print(prepare(Slow(sys.argv[1]), Unicode(), tokenizer, folder=Path(sys.argv[3]), progress=progress).folder)
"""


@pytest.fixture
def slow(tokenizer, tmp_path):
    (tmp_path / "a.txt").write_text("A sentence. And more.\n\n" * 60)
    tokenizer.save(tmp_path / "tokenizer")
    command = [sys.executable, "-c", SLOW, *(str(tmp_path / n) for n in ("a.txt", "tokenizer", "stores", "go-on"))]

    def start():
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_a_killed_preparation_is_never_used_and_is_cleared_away(slow, tmp_path):
    first = slow()
    until_line(first, "going")
    first.kill()
    finish(first)
    left = [p.name for p in (tmp_path / "stores").iterdir() if p.is_dir()]
    assert len(left) == 1
    assert ".building-" in left[0]
    (tmp_path / "go-on").touch()
    ((code, out, error),) = finish_all([slow()])
    assert code == 0, error
    assert "removed" in error
    assert [p for p in (tmp_path / "stores").iterdir() if p.is_dir()] == [Store.open(out.split()[-1]).folder]


@pytest.mark.skipif(os.name != "posix", reason="needs file locks")
def test_two_at_once_do_the_work_once_and_the_second_says_that_it_waits(slow, tmp_path):
    first = slow()
    until_line(first, "going")
    second = slow()
    until_line(second, "another process is making the store of tokens; waiting for it", second.stderr)
    (tmp_path / "go-on").touch()
    (code, first_out, first_error), (second_code, out, error) = finish_all([first, second])
    assert (code, second_code) == (0, 0), first_error + error
    assert "going" not in out
    assert out.split()[-1] == first_out.split()[-1]


def test_a_forked_worker_reads_the_store(tokenizer, tmp_path):
    store = prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path)
    store.shards[0].tokens  # noqa: B018  # mapped here, mapped again there
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (total,) = pool.map(_total, [store.shards])
    assert total == sum(int(shard.tokens.sum()) for shard in store.shards)


def _total(shards):
    return sum(int(shard.tokens.sum()) for shard in shards)


def test_memory_does_not_grow_with_the_corpus(tokenizer, tmp_path):
    resource = pytest.importorskip("resource")
    text = "The quick brown fox jumps over the lazy dog. " * 40
    peaks = []
    for size in (1_000_000, 7_000_000):
        (tmp_path / "a.txt").write_text((text + "\n\n") * (size // len(text)))
        shutil.rmtree(tmp_path / "stores", ignore_errors=True)
        prepare(Text(str(tmp_path / "a.txt")), Unicode(), tokenizer, folder=tmp_path / "stores")
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert peaks[1] - peaks[0] < 20_000  # KiB


def test_a_huge_document_on_one_line(tokenizer, tmp_path):
    """Three times the text takes three times the processor's time, not nine times."""
    took = []
    for sentences in (1, 20_000, 60_000):  # the first compiles; the last has 3 MB
        text = "他说今天很好，我去了那里看见很多人。" * sentences
        (tmp_path / "a.txt").write_text(text, encoding="utf-8")
        begun = time.process_time()
        store = prepare(Text(str(tmp_path / "a.txt"), language="zh"), Unicode(), tokenizer, folder=tmp_path / "stores")
        took.append(time.process_time() - begun)
        assert store.manifest["counts"]["sentences"] == sentences
        assert store.manifest["counts"]["tokens"] == len(text)
    assert took[2] < 6 * took[1]


def files_of(store):
    """Every file of a store but what its manifest says of time."""
    manifest = json.loads((store.folder / "manifest.json").read_text())
    files = {p.relative_to(store.folder).as_posix(): p.read_bytes() for p in store.folder.rglob("*") if p.is_file()}
    return {**files, "manifest.json": {**manifest, "seconds": 0}}
