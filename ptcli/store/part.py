"""A part of a store: some of its shards, made by one process and its workers, perhaps on a machine of its own."""

import json
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError, DataError
from ptcli.store.batches import batches
from ptcli.store.blocks import Encoding
from ptcli.store.shard import shard_folder
from ptcli.store.workers import encode_batches
from ptcli.store.writer import ShardWriter
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.contract import Words

Progress = Callable[[int, int], None]
"""Called about every 50,000 characters with the characters and the documents that are done."""


@dataclass(frozen=True, slots=True)
class Part:
    """Part `number` of `of`, counted from 1: every `of`-th shard."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> "Part":
        """Read "3/64". Raises ConfigError where it is nothing of the kind."""
        match = re.fullmatch(r"(\d+)/(\d+)", str(text))
        if match and 1 <= int(match[1]) <= int(match[2]):
            return cls(int(match[1]), int(match[2]))
        raise ConfigError(f"prepare.shard={text}: write which of how many, from 1/64 to 64/64 for 64 jobs.")

    def has(self, shard: int) -> bool:
        """Whether the shard with this number, from 0, belongs to the part."""
        return shard % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass(frozen=True, slots=True)
class Made:
    """What a part's folder holds. `shards`: the facts of each, with its number in the whole corpus as "number"."""

    folder: Path
    shards: list[dict[str, Any]]
    counts: dict[str, int]
    remarks: list[str]
    seconds: float
    token_counts: np.ndarray

    @classmethod
    def load(cls, folder: Path) -> "Made":
        """Read a part. Raises DataError where it is damaged."""
        try:
            content = json.loads((folder / "part.json").read_text(encoding="utf-8"))
            return cls(folder, **content, token_counts=np.load(folder / "token_counts.npy"))
        except (OSError, ValueError, TypeError, EOFError) as error:
            raise DataError(f"{folder} holds no part of a store: {error!r}. Delete it.") from error


def make_part(
    folder: Path,
    corpus: Corpus,
    words: Words,
    tokenizer: Tokenizer,
    *,
    part: Part,
    workers: int,
    largest_shard: int,
    progress: Progress | None = None,
) -> Made:
    """Write the shards of a part into `folder`. The whole corpus is read, the part of it is tokenised."""
    begun = time.perf_counter()
    size = tokenizer.vocabulary.size
    counts: Counter[str] = Counter()
    token_counts = np.zeros(size, np.int64)
    mine = (batch for batch in batches(corpus.documents(), limit=largest_shard) if part.has(batch.shard))
    encoded = encode_batches(mine, words=words, tokenizer=tokenizer, language=corpus.language, workers=workers)
    shards = []
    for number, encodings in groupby(encoded, key=lambda pair: pair[0]):
        place = shard_folder(folder, number)
        writer = ShardWriter(place, token_type=token_type(size), has_units=words.makes_units)
        for _, encoding in encodings:
            counts["empty_documents"] += _write(writer, encoding)
            counts["read_documents"] += encoding.num_documents
            for name in ("characters", "words"):
                counts[name] += getattr(encoding, f"num_{name}")
            counts["unaligned_words"] += encoding.num_unaligned
            counts["cut_units"] += encoding.num_cut_units
            token_counts += np.bincount(encoding.tokens, minlength=size)
            if progress is not None:
                progress(counts["characters"], counts["read_documents"])
        writer.close()
        counts["one_sentence_documents"] += writer.one_sentence_documents
        if not writer.num_tokens:
            shutil.rmtree(place)
            continue
        facts = {f"num_{name}": getattr(writer, f"num_{name}") for name in ("tokens", "sentences", "documents")}
        shards.append({"number": number, **facts, "num_units": writer.num_units})
    content = {
        "shards": shards,
        "counts": dict(counts),
        "remarks": corpus.remarks(),
        "seconds": round(time.perf_counter() - begun, 3),
    }
    np.save(folder / "token_counts.npy", token_counts)
    (folder / "part.json").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return Made.load(folder)


def token_type(vocab_size: int) -> str:
    """How a token lies on disk."""
    return "uint16" if vocab_size <= 1 << 16 else "uint32"


def _write(writer: ShardWriter, encoding: Encoding) -> int:
    """Hand an encoding to the writer; the number of its documents that have no token."""
    document = encoding.document_of_sentence
    present = np.unique(document)
    ended_before = False
    if encoding.num_documents and 0 not in present:  # what was begun in the encoding before has no more tokens
        ended_before = writer.end_document()
    last = np.append(document[1:] != document[:-1], True) if document.size else np.zeros(0, bool)
    ends_document = last & (document < encoding.num_documents)
    writer.append(encoding.tokens, encoding.word_starts, encoding.sentence_lengths, ends_document, encoding.units)
    return encoding.num_documents - int((present < encoding.num_documents).sum()) - ended_before
