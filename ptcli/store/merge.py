"""From parts to a store: the shards in order, one manifest over all."""

import json
import os
import platform
import re
import shutil
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import ptcli
from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError, DataError
from ptcli.store.part import Made, Part, token_type
from ptcli.store.shard import shard_folder
from ptcli.store.store import FORMAT
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.contract import Words

_COUNTS = (
    "documents",
    "one_sentence_documents",
    "empty_documents",
    "sentences",
    "words",
    "unaligned_words",
    "units",
    "cut_units",
    "tokens",
    "unknown_tokens",
    "special_tokens_in_text",
    "characters",
)


def part_folder(parts: Path, part: Part) -> Path:
    """Where a part lies among the others."""
    return parts / f"{part.number}-of-{part.of}"


def finished_parts(parts: Path) -> list[Path]:
    """The folders of all parts that make a store together; none where there is no part.

    Raises ConfigError, naming those missing, where some are there.
    """
    found: dict[int, set[int]] = {}
    for path in parts.iterdir() if parts.is_dir() else ():
        if match := re.fullmatch(r"(\d+)-of-(\d+)", path.name):
            found.setdefault(int(match[2]), set()).add(int(match[1]))
    if not found:
        return []
    of = max(found, key=lambda of: len(found[of]) / of)
    missing = sorted(set(range(1, of + 1)) - found[of])
    if missing:
        shown = ", ".join(str(Part(number, of)) for number in missing[:20]) + (", ..." if len(missing) > 20 else "")
        raise ConfigError(
            f"this corpus is being prepared in {of} parts, and {len(missing)} of them are missing: {shown}. Type "
            f"ptcli prepare with the same words and prepare.shard={missing[0]}/{of} for each, or delete {parts} to "
            "prepare the whole at once."
        )
    return [part_folder(parts, Part(number, of)) for number in range(1, of + 1)]


def merge(folder: Path, made: list[Made], *, corpus: Corpus, words: Words, tokenizer: Tokenizer) -> None:
    """Fill the folder of a store from parts, which stay as they are. Raises DataError where they hold no token."""
    vocabulary = tokenizer.vocabulary
    token_counts = sum((part.token_counts for part in made), np.zeros(vocabulary.size, np.int64))
    counts = _counts(made, token_counts, vocabulary.special, vocabulary.unk_token_id)
    if not counts["tokens"]:
        read, remarks = sum(part.counts.get("read_documents", 0) for part in made), corpus.remarks()
        raise DataError(
            f"the corpus makes no token: {read:,} documents, {counts['characters']:,} characters. "
            + " ".join([*remarks, "Check corpus.path."])
        )
    shards = []
    first_document = 0
    for facts, place in sorted(_places(made), key=lambda pair: pair[0]["number"]):
        _link_files(place, shard_folder(folder, len(shards)))
        own = {name: value for name, value in facts.items() if name != "number"}
        shards.append({**own, "first_document": first_document})
        first_document += facts["num_documents"]
    np.save(folder / "token_counts.npy", token_counts)
    tokenizer.save(folder / "tokenizer")
    manifest = {
        "format": FORMAT,
        "token_type": token_type(vocabulary.size),
        "vocab_size": vocabulary.size,
        "counts": counts,
        "shards": shards,
        "tokenizer": tokenizer.hash,
        "corpus": corpus.identity(),
        "words": words.identity(),
        "unit_types": list(words.unit_types),
        "language": corpus.language,
        "remarks": [*made[0].remarks, *_remarks(counts)],
        "versions": _versions(),
        "seconds": round(sum(part.seconds for part in made), 3),
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2)
    (folder / "manifest.json").write_text(text + "\n", encoding="utf-8")


def _counts(made: list[Made], token_counts: np.ndarray, special: np.ndarray, unknown_id: int | None) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in made:
        total.update(part.counts)
        for facts in part.shards:
            total.update({name: facts[f"num_{name}"] or 0 for name in ("documents", "sentences", "tokens", "units")})
    total["unknown_tokens"] = 0 if unknown_id is None else int(token_counts[unknown_id])
    total["special_tokens_in_text"] = int(token_counts[special].sum()) - total["unknown_tokens"]
    return {name: total[name] for name in _COUNTS}


def _places(made: list[Made]) -> list[tuple[dict[str, Any], Path]]:
    return [(facts, shard_folder(part.folder, facts["number"])) for part in made for facts in part.shards]


def _link_files(source: Path, target: Path) -> None:
    """The same files in another folder: no byte is copied where the file system can do that."""
    target.mkdir()
    for file in source.iterdir():
        try:
            os.link(file, target / file.name)
        except OSError:
            shutil.copyfile(file, target / file.name)


def _remarks(counts: dict[str, int]) -> list[str]:
    told = {
        "empty_documents": "documents make no token and are left out",
        "cut_units": "named units begin or end inside a token and are left out",
        "special_tokens_in_text": "tokens are special ones written in the text itself; they are never masked",
    }
    return [f"{counts[name]:,} {what}" for name, what in told.items() if counts[name]]


def _versions() -> dict[str, Any]:
    return {
        "ptcli": ptcli.__version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "tokenizers", "sentencex")},
    }
