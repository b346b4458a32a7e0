"""Which documents make which shard: a function of the text alone, so that any process knows its share."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ptcli.corpus.document import Document, numbered

BATCH = 100_000
"""Characters that are handed on together; a longer document comes alone."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Neighbouring documents of one shard."""

    shard: int  # counted from 0 over the whole corpus
    documents: list[Document]


def batches(documents: Iterable[Document], *, limit: int) -> Iterator[Batch]:
    """The documents in order. A shard ends with the document that fills it to `limit` characters or more."""
    shard = filled = held = 0
    batch: list[Document] = []
    for document in numbered(documents):
        length = len(document.text)
        if batch and held + length > BATCH:
            yield Batch(shard, batch)
            batch, held = [], 0
        batch.append(document)
        held += length
        filled += length
        if filled >= limit:
            yield Batch(shard, batch)
            batch, held = [], 0
            shard, filled = shard + 1, 0
    if batch:
        yield Batch(shard, batch)
