"""One example a row, of natural sentences: two where the pair has two segments, else one."""

import numpy as np

from ptcli.compiled import compiled
from ptcli.packing.index import Index, unpaired
from ptcli.packing.segment_pair import index_of
from ptcli.packing.segments import Segments, elsewhere_of, pair_up, room_for
from ptcli.packing.sentences import cut_sentences
from ptcli.pair.chunks import Chunks, Pair
from ptcli.randomness import key_of
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout


class SentencePair:
    """SENTENCE-PAIR (Liu et al., arXiv:1907.11692): each segment is one natural sentence.

    Rows are short: raise batch.size, and group them by length. Neighbours are taken two by two. A document's last
    sentence that finds itself alone makes a pair with the one before it, which is then read twice ("repeated_last"),
    unless its second segment comes from elsewhere. A sentence longer than a row is cut in parts ("cut_sentences"); two
    that are too long together are truncated as segment_pair does it ("dropped_truncated").
    """

    isolated = False
    max_segments = 2

    def index(
        self, documents: Documents, *, layout: Layout, pair: Pair, max_length: int, seed: int, epoch: int
    ) -> Index:
        """The rows of one shard in one data epoch, in the order of the text. ConfigError: max_length is too small."""
        room = room_for(layout, max_length=max_length, segments=pair.segments)
        if pair.segments == 1:
            segments = _single(documents, room=room)
        else:
            segments = _paired(documents, pair=pair, room=room, seed=seed, epoch=epoch)
        rows = np.arange(len(segments.labels) + 1)
        return index_of(segments, shard=documents.shard, layout=layout, row_examples=rows)


def _single(documents: Documents, *, room: int) -> Segments:
    documents, counts = cut_sentences(documents, longest=room, piece=room)
    sizes = documents.ranges[:, 1] - documents.ranges[:, 0]
    before = np.cumsum(sizes) - sizes
    sentence = np.arange(sizes.sum()) + np.repeat(documents.ranges[:, 0] - before, sizes)
    start = documents.sentence_offsets[sentence]
    length = documents.sentence_offsets[sentence + 1] - start
    return Segments(start[:, None], length[:, None], unpaired(len(sentence)), counts)


def _paired(documents: Documents, *, pair: Pair, room: int, seed: int, epoch: int) -> Segments:
    documents, counts = cut_sentences(documents, longest=room, piece=room // 2, split_length=pair.split_length)
    pair_key = key_of(seed, "pair", epoch, documents.shard)
    elsewhere, least = elsewhere_of(pair, documents, key=pair_key)
    document, first, split, end, is_elsewhere, *counted = _two_by_two(
        documents.sentence_offsets, documents.ranges, elsewhere, least
    )
    # A target of one token: a second segment from elsewhere is one sentence too.
    chunks = Chunks(document, first, split, end, np.ones(len(first), np.int64), is_elsewhere)
    key = key_of(seed, "packing", epoch, documents.shard)
    segments = pair_up(chunks, documents, pair=pair, room=room, key=key, pair_key=pair_key)
    names = ("skipped_one_sentence", "dropped_one_sentence", "repeated_last")
    counts |= dict(zip(names, map(int, counted), strict=True))
    return segments._replace(counts=counts | segments.counts)


@compiled
def _two_by_two(offsets, ranges, elsewhere, least):
    """Chunks of two sentences; of one where a last one stands alone and may."""
    most = (ranges[:, 1] - ranges[:, 0]).sum()
    document, first = np.empty(most, np.int64), np.empty(most, np.int64)
    split, end = np.empty(most, np.int64), np.empty(most, np.int64)
    is_elsewhere = np.empty(most, np.bool_)
    count, skipped, dropped, repeated = 0, 0, 0, 0
    for d in range(ranges.shape[0]):
        begin, last = ranges[d, 0], ranges[d, 1]
        if last - begin < least:
            skipped += 1
            dropped += offsets[last] - offsets[begin]
            continue
        while begin < last:
            chosen = elsewhere[begin]
            following = begin + 1 if chosen else begin + 2
            if last - begin == 1 and least == 2 and not chosen:
                begin -= 1
                repeated += offsets[begin + 1] - offsets[begin]
            document[count], first[count], is_elsewhere[count] = d, begin, chosen
            split[count], end[count] = begin + 1, min(begin + 2, last)
            begin = following
            count += 1
    return (
        document[:count].copy(),
        first[:count].copy(),
        split[:count].copy(),
        end[:count].copy(),
        is_elsewhere[:count].copy(),
        skipped,
        dropped,
        repeated,
    )
