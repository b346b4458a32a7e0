"""The tokenised corpus on disk: opened, checked, and split into training and held-out documents."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ptcli.errors import ConfigError, DataError
from ptcli.randomness import key_of, uniforms
from ptcli.store.documents import Documents
from ptcli.store.shard import Shard, shard_folder
from ptcli.tokenizer.tokenizer import Tokenizer

FORMAT = 2
"""Version of what lies in a store's folder and of how it is made; another one is another store."""

_FEW = 100  # documents: below it their tails are held out, not whole documents


@dataclass(frozen=True)
class Store:
    """A folder of shards with a manifest. `token_counts`: how often each id occurs, int64 (V,)."""

    folder: Path
    manifest: dict[str, Any]
    shards: list[Shard]
    token_counts: np.ndarray

    @classmethod
    def open(cls, folder: Path) -> "Store":
        """The store in a folder. Raises DataError where anything is absent, cut or of another format."""
        folder = Path(folder)
        manifest = _read_manifest(folder)
        try:
            shards = [
                Shard(shard_folder(folder, number), number, token_type=manifest["token_type"], **facts)
                for number, facts in enumerate(manifest["shards"])
            ]
            token_counts = np.load(folder / "token_counts.npy")
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            raise DataError(f"the store {folder} is damaged: {error!r}. Delete it and prepare again.") from error
        for shard in shards:
            shard.check()
        if not (folder / "tokenizer" / "tokenizer.json").is_file():
            raise DataError(f"the store {folder} is damaged: its tokenizer is absent. Delete it and prepare again.")
        if token_counts.sum() != manifest["counts"]["tokens"]:
            raise DataError(f"the store {folder} is damaged: its token counts do not add up. Delete it.")
        return cls(folder, manifest, shards, token_counts)

    @property
    def num_documents(self) -> int:
        """Documents in all shards."""
        return self.manifest["counts"]["documents"]

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that made the store, kept beside its arrays."""
        return Tokenizer.load(self.folder / "tokenizer")

    def split(self, fraction: float) -> tuple[list[Documents], list[Documents]]:
        """Training and held-out documents, a view for each shard, empty ones kept.

        Which documents are held out depends on nothing but their numbers and `fraction`, 0 to below 1. Stores of fewer
        than 100 documents hold out the last sentences of each document instead; `split_remark` says so.
        """
        if not 0 <= fraction < 1:
            raise ConfigError(f"eval.fraction={fraction} must be at least 0 and below 1; 0.05 holds out a twentieth.")
        ranges = [np.stack((s.document_offsets[:-1], s.document_offsets[1:]), axis=1) for s in self.shards]
        split = _split_tails if self.num_documents < _FEW else _split_documents
        parts = split(ranges, fraction)
        views = [[self._view(shard, part) for shard, part in zip(self.shards, side, strict=True)] for side in parts]
        return views[0], views[1]

    def split_remark(self, fraction: float) -> str:
        """One line on what `split` holds out."""
        if fraction == 0:
            return "nothing is held out for evaluation"
        training, held_out = (sum(view.num_tokens for view in side) for side in self.split(fraction))
        share = f"{held_out:,} tokens ({held_out / (training + held_out):.1%})"
        if self.num_documents < _FEW:
            return (
                f"held out: {share}, the last sentences of each document, because there are only {self.num_documents}; "
                "with 100 documents or more whole ones are held out"
            )
        return f"held out: {share}, whole documents"

    def _view(self, shard: Shard, ranges: np.ndarray) -> Documents:
        return Documents(shard.number, shard.sentence_offsets, ranges[ranges[:, 0] < ranges[:, 1]])


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{folder} holds no readable manifest.json: {error}. Prepare the corpus again.") from error
    if manifest.get("format") != FORMAT:
        found = manifest.get("format")
        raise DataError(f"the store {folder} has format {found}, this ptcli reads {FORMAT}. Prepare the corpus again.")
    return manifest


def _split_documents(ranges: list[np.ndarray], fraction: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    number = sum(map(len, ranges))
    draws = uniforms(key_of("held_out"), np.arange(number, dtype=np.uint64))
    out = draws < fraction
    if fraction > 0 and not out.any():
        out[np.argmin(draws)] = True
    if out.all():
        out[np.argmax(draws)] = False
    shares = np.split(out, np.cumsum([len(r) for r in ranges])[:-1])
    return (
        [r[~share] for r, share in zip(ranges, shares, strict=True)],
        [r[share] for r, share in zip(ranges, shares, strict=True)],
    )


def _split_tails(ranges: list[np.ndarray], fraction: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    lengths = np.concatenate([r[:, 1] - r[:, 0] for r in ranges]) if ranges else np.zeros(0, np.int64)
    # what rounding leaves over goes to the next document, so that the whole has its share
    held = np.minimum(np.diff(np.floor(np.cumsum(lengths * fraction) + 1e-9), prepend=0).astype(np.int64), lengths - 1)
    if fraction > 0 and lengths.size and not held.any() and lengths.max() > 1:
        held[np.argmax(lengths)] = 1
    shares = np.split(held, np.cumsum([len(r) for r in ranges])[:-1])
    training = [np.stack((r[:, 0], r[:, 1] - h), axis=1) for r, h in zip(ranges, shares, strict=True)]
    held_out = [np.stack((r[:, 1] - h, r[:, 1]), axis=1) for r, h in zip(ranges, shares, strict=True)]
    return training, held_out
