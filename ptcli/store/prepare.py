"""From a corpus to its store: found and reused, or built whole."""

import hashlib
import json
import platform
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import ptcli
from ptcli.cache import obtain
from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError, DataError
from ptcli.store.blocks import Encoding, blocks, encode
from ptcli.store.store import FORMAT, Store
from ptcli.store.writer import ShardWriter
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.contract import Words

LARGEST_SHARD = 1 << 26
"""Tokens."""

Progress = Callable[[int, int], None]
"""Called about every 200,000 characters with the characters and the documents that are done."""


def prepare(
    corpus: Corpus,
    words: Words,
    tokenizer: Tokenizer,
    *,
    folder: Path,
    progress: Progress | None = None,
    largest_shard: int = LARGEST_SHARD,
) -> Store:
    """The store of a corpus, in `folder`/<fingerprint>: opened where it is there and whole, else built.

    Two processes that want the same store make it once; one that is killed leaves nothing that is used. Raises
    DataError where the corpus holds no text, its bytes are no text or the disk is full.
    """
    if words.needs_gold_words and not corpus.has_gold_words:
        raise ConfigError("words=gold needs a corpus that brings its words. Choose words=unicode or words=chinese.")
    place = Path(folder) / fingerprint(corpus, words, tokenizer, largest_shard=largest_shard)

    def build(building: Path) -> None:
        _build(building, corpus, words, tokenizer, progress=progress, limit=largest_shard)

    return obtain(
        place,
        load=Store.open,
        build=build,
        what="the store of tokens",
        needed=lambda: _needed(corpus, tokenizer, place.parent, place.name),
    )


def fingerprint(corpus: Corpus, words: Words, tokenizer: Tokenizer, *, largest_shard: int = LARGEST_SHARD) -> str:
    """24 hex digits that change with anything that changes the store."""
    defining = {
        "format": FORMAT,
        "corpus": corpus.identity(),
        "language": corpus.language,
        "sentencex": metadata.version("sentencex"),
        "words": words.identity(),
        "tokenizer": tokenizer.hash,
        "largest_shard": largest_shard,
    }
    return hashlib.blake2b(json.dumps(defining, sort_keys=True).encode(), digest_size=12).hexdigest()


def _build(
    building: Path, corpus: Corpus, words: Words, tokenizer: Tokenizer, *, progress: Progress | None, limit: int
) -> None:
    begun = time.perf_counter()
    vocabulary = tokenizer.vocabulary
    token_type = "uint16" if vocabulary.size <= 1 << 16 else "uint32"
    writer = ShardWriter(building, token_type=token_type, limit=limit)
    token_counts = np.zeros(vocabulary.size, np.int64)
    characters = read_documents = num_words = num_unaligned = empty_documents = 0
    for batch in blocks(corpus.documents(), language=corpus.language):
        encoding = encode(batch, words=words, tokenizer=tokenizer)
        empty_documents += _write(writer, encoding)
        token_counts += np.bincount(encoding.tokens, minlength=vocabulary.size)
        characters += sum(len(block.document.text) for block in batch)
        read_documents += encoding.num_documents
        num_words += encoding.num_words
        num_unaligned += encoding.num_unaligned
        if progress is not None:
            progress(characters, read_documents)
    writer.close()
    if not writer.tokens:
        raise DataError(
            f"the corpus makes no token: {read_documents:,} documents, {characters:,} characters. "
            + " ".join([*corpus.remarks(), "Check corpus.path."])
        )
    unknown = 0 if vocabulary.unk_token_id is None else int(token_counts[vocabulary.unk_token_id])
    counts = {
        "documents": writer.documents,
        "one_sentence_documents": writer.one_sentence_documents,
        "empty_documents": empty_documents,
        "split_documents": writer.split_documents,
        "sentences": writer.sentences,
        "words": num_words,
        "unaligned_words": num_unaligned,
        "tokens": writer.tokens,
        "unknown_tokens": unknown,
        "special_tokens_in_text": int(token_counts[vocabulary.special].sum()) - unknown,
        "characters": characters,
    }
    np.save(building / "token_counts.npy", token_counts)
    tokenizer.save(building / "tokenizer")
    manifest = {
        "format": FORMAT,
        "token_type": token_type,
        "vocab_size": vocabulary.size,
        "counts": counts,
        "shards": writer.shards,
        "tokenizer": tokenizer.hash,
        "corpus": corpus.identity(),
        "words": words.identity(),
        "language": corpus.language,
        "remarks": [*corpus.remarks(), *_remarks(counts)],
        "versions": _versions(),
        "seconds": round(time.perf_counter() - begun, 3),
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2)
    (building / "manifest.json").write_text(text + "\n", encoding="utf-8")


def _write(writer: ShardWriter, encoding: Encoding) -> int:
    """Hand a batch to the writer; the number of its documents that have no token."""
    document = encoding.document_of_sentence
    present = np.unique(document)
    ended_before = False
    if encoding.num_documents and 0 not in present:  # what was begun in the batch before has no more tokens
        ended_before = writer.end_document()
    last = np.append(document[1:] != document[:-1], True) if document.size else np.zeros(0, bool)
    ends_document = last & (document < encoding.num_documents)
    writer.append(encoding.tokens, encoding.word_starts, encoding.sentence_lengths, ends_document)
    return encoding.num_documents - int((present < encoding.num_documents).sum()) - ended_before


def _remarks(counts: dict[str, int]) -> list[str]:
    told = {
        "empty_documents": "documents make no token and are left out",
        "split_documents": "documents are longer than a shard and were split in two or more",
        "special_tokens_in_text": "tokens are special ones written in the text itself; they are never masked",
    }
    return [f"{counts[name]:,} {what}" for name, what in told.items() if counts[name]]


def _needed(corpus: Corpus, tokenizer: Tokenizer, folder: Path, name: str) -> str:
    """How much room the store takes: what is written so far, and an estimate from the size of the corpus."""
    written = sum(f.stat().st_size for f in folder.glob(f"{name}.building-*/**/*") if f.is_file())
    size = corpus.identity().get("bytes")
    if size is None:
        return f": {written / 1e6:,.0f} MB were written"
    per_byte = 0.7 if tokenizer.vocabulary.size <= 1 << 16 else 1.4  # seen: 0.5 for English, 0.7 for Chinese
    return f", which takes about {max(size * per_byte, written) / 1e6:,.0f} MB: {written / 1e6:,.0f} MB were written"


def _versions() -> dict[str, Any]:
    return {
        "ptcli": ptcli.__version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "tokenizers", "sentencex")},
    }
