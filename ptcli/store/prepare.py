"""From a corpus to its store: found and reused, or built whole, or a part at a time."""

import hashlib
import json
import logging
import shutil
from importlib import metadata
from pathlib import Path

from ptcli.cache import obtain
from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError, DataError
from ptcli.store.merge import finished_parts, merge, part_folder
from ptcli.store.part import Made, Part, Progress, make_part
from ptcli.store.store import FORMAT, Store
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.contract import Words

LARGEST_SHARD = 1 << 26
"""Characters: about 15 million tokens of English. A document is never cut, so a shard may be one document larger."""

_log = logging.getLogger(__name__)


def prepare(
    corpus: Corpus,
    words: Words,
    tokenizer: Tokenizer,
    *,
    folder: Path,
    workers: int = 1,
    progress: Progress | None = None,
    largest_shard: int = LARGEST_SHARD,
) -> Store:
    """The store of a corpus, in `folder`/<fingerprint>: opened where it is there and whole, merged, or built.

    It is the same whatever the number of `workers` (processes that tokenise) and of parts. Two processes that want the
    same store make it once; one that is killed leaves nothing that is used. Raises DataError where the corpus holds no
    text, its bytes are no text or the disk is full, and ConfigError where some parts of a store are missing.
    """
    place = _place(corpus, words, tokenizer, folder, largest_shard)
    parts = _parts(place)

    def build(building: Path) -> None:
        made = [Made.load(path) for path in finished_parts(parts)]
        whole = building / "part"
        if not made:
            _say_size(corpus, tokenizer, place.parent, workers)
            whole.mkdir()
            one = Part(1, 1)
            made = [
                make_part(
                    whole,
                    corpus,
                    words,
                    tokenizer,
                    part=one,
                    workers=workers,
                    largest_shard=largest_shard,
                    progress=progress,
                )
            ]
        merge(building, made, corpus=corpus, words=words, tokenizer=tokenizer)
        shutil.rmtree(whole, ignore_errors=True)

    store = obtain(
        place,
        load=Store.open,
        build=build,
        what="the store of tokens",
        needed=lambda: _needed(corpus, tokenizer, place),
    )
    shutil.rmtree(parts, ignore_errors=True)  # they are in the store now
    return store


def find(corpus: Corpus, words: Words, tokenizer: Tokenizer, *, folder: Path) -> Store | None:
    """The store of a corpus where `prepare` has made it; None where it is absent or damaged."""
    place = _place(corpus, words, tokenizer, folder, LARGEST_SHARD)
    try:
        return Store.open(place) if place.is_dir() else None
    except DataError:
        return None


def prepare_part(
    corpus: Corpus,
    words: Words,
    tokenizer: Tokenizer,
    *,
    folder: Path,
    part: Part,
    workers: int = 1,
    progress: Progress | None = None,
    largest_shard: int = LARGEST_SHARD,
) -> Made | None:
    """One part of a store, for `prepare` to merge once all are there; None where the whole store is there already.

    Every machine must see the same `folder` and the same text.
    """
    place = _place(corpus, words, tokenizer, folder, largest_shard)
    if place.is_dir():
        return None

    def build(building: Path) -> None:
        _say_size(corpus, tokenizer, place.parent, workers, share=part.of)
        make_part(
            building,
            corpus,
            words,
            tokenizer,
            part=part,
            workers=workers,
            largest_shard=largest_shard,
            progress=progress,
        )

    return obtain(
        part_folder(_parts(place), part),
        load=Made.load,
        build=build,
        what=f"part {part} of the store of tokens",
        needed=lambda: _needed(corpus, tokenizer, part_folder(_parts(place), part), share=part.of),
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


def _place(corpus: Corpus, words: Words, tokenizer: Tokenizer, folder: Path, largest_shard: int) -> Path:
    if words.needs_gold_words and not corpus.has_gold_words:
        raise ConfigError("words=gold needs a corpus that brings its words. Choose words=unicode or words=chinese.")
    return Path(folder) / fingerprint(corpus, words, tokenizer, largest_shard=largest_shard)


def _parts(place: Path) -> Path:
    return place.with_name(place.name + ".parts")


def _estimate(corpus: Corpus, tokenizer: Tokenizer) -> float | None:
    """Bytes that the store takes, from the bytes of the corpus; None where these are not known."""
    size = corpus.identity().get("bytes")
    per_byte = 0.7 if tokenizer.vocabulary.size <= 1 << 16 else 1.4  # seen: 0.5 for English, 0.7 for Chinese
    return None if size is None else size * per_byte


def _say_size(corpus: Corpus, tokenizer: Tokenizer, folder: Path, workers: int, *, share: int = 1) -> None:
    """Say what is about to be done and how much room it takes. Raises DataError where there clearly is not enough."""
    processes = f" in {workers} processes" if workers > 1 else ""
    estimate = _estimate(corpus, tokenizer)
    if estimate is None:
        _log.info(f"tokenising the corpus{processes}")
        return
    needed, free = estimate / share, shutil.disk_usage(folder).free
    room = f"about {needed / 1e6:,.1f} MB in {folder}, where {free / 1e6:,.0f} MB are free"
    if needed > 2 * free:
        raise DataError(
            f"the store of tokens takes {room}. Nothing was begun. Free some room, or set PTCLI_CACHE to a folder "
            "with more."
        )
    text = f"{corpus.identity()['bytes'] / 1e6:,.1f} MB of text"
    _log.info(f"tokenising {text}{f', one part of {share},' if share > 1 else ''}{processes}; it takes {room}")
    if needed > free:
        _log.warning("this may not be enough room")


def _needed(corpus: Corpus, tokenizer: Tokenizer, place: Path, *, share: int = 1) -> str:
    """How much room it takes, for the message of a full disk: what is written so far, and the estimate."""
    written = sum(f.stat().st_size for f in place.parent.glob(f"{place.name}.building-*/**/*") if f.is_file())
    estimate = _estimate(corpus, tokenizer)
    if estimate is None:
        return f": {written / 1e6:,.0f} MB were written"
    return f", which takes about {max(estimate / share, written) / 1e6:,.0f} MB: {written / 1e6:,.0f} MB were written"
