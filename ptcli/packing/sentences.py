"""Sentences that no example could hold are cut, so that packing need not think of them."""

import numpy as np

from ptcli.store.documents import Documents


def cut_sentences(
    documents: Documents, *, longest: int, piece: int, split_length: int | None = None
) -> tuple[Documents, dict[str, int]]:
    """The same tokens in sentences of 1 to `longest` tokens, and how many were cut ("cut_sentences").

    A longer one becomes equal parts of at most `piece` tokens. With `split_length`, a document's only sentence is cut
    in two where it has that many tokens. Sentences and documents without tokens vanish.
    """
    offsets, first, last = documents.sentence_offsets, documents.ranges[:, 0], documents.ranges[:, 1]
    length = np.diff(offsets)
    parts = np.where(length > longest, -(-length // piece), length > 0)
    if split_length is not None:
        filled = np.concatenate([[0], np.cumsum(length > 0)])
        before = filled[first]
        only = np.searchsorted(filled, before[filled[last] - before == 1] + 1) - 1
        parts[only] = np.maximum(parts[only], 1 + (length[only] >= split_length))
    if np.all(parts == 1):
        return documents, {"cut_sentences": 0}
    cut = np.concatenate([[0], np.cumsum(parts > 1)])
    before = np.concatenate([[0], np.cumsum(parts)])
    part = np.arange(before[-1]) - np.repeat(before[:-1], parts)
    starts = np.repeat(offsets[:-1], parts) + np.repeat(length, parts) * part // np.repeat(parts, parts)
    ranges = np.stack([before[first], before[last]], axis=1)
    view = Documents(documents.shard, np.append(starts, offsets[-1]), ranges[ranges[:, 1] > ranges[:, 0]])
    return view, {"cut_sentences": int((cut[last] - cut[first]).sum())}
