"""From documents to the segments of examples, one or two each: what most packings lay out in rows."""

from typing import NamedTuple

import numpy as np

from ptcli.compiled import compiled
from ptcli.errors import ConfigError
from ptcli.packing.index import unpaired
from ptcli.packing.sentences import cut_sentences
from ptcli.pair.chunks import Chunks, Pair, substream
from ptcli.randomness import draw, draws, key_of, uniforms
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout

_SHORT, _TARGET, _CUT, _SPLIT, _TRUNCATE = range(5)


class Segments(NamedTuple):
    """E examples of k segments. `length.sum()` + dropped_* = the documents' tokens + repeated_*."""

    start: np.ndarray  # int64 (E, k): first token of each segment in the shard
    length: np.ndarray  # int64 (E, k)
    labels: np.ndarray  # int64 (E,)
    counts: dict[str, int]


def room_for(layout: Layout, *, max_length: int, segments: int) -> int:
    """Tokens of text that fit into an example of `max_length`; ConfigError where a segment would stay empty."""
    special = layout.num_special(segments)
    if max_length < special + segments:
        raise ConfigError(
            f"max_length={max_length} leaves no room for text: an example of {segments} segment(s) has {special} "
            f"special tokens. Use max_length={special + segments} or more (128 is usual)."
        )
    return max_length - special


def make_segments(
    documents: Documents,
    *,
    layout: Layout,
    pair: Pair,
    max_length: int,
    short_sequence_probability: float,
    sentence_window: float,
    move_cuts: bool,
    seed: int,
    epoch: int,
) -> Segments:
    """The examples of one shard, in the order of its text, as many segments each as `pair` has.

    With `short_sequence_probability` a document's examples aim at a length drawn uniformly from 2 to all the room.
    Single segments are cut at a sentence's end if one lies in the last `sentence_window` (a share) of the length, else
    at the full length; with `move_cuts` at other places in each epoch.
    """
    room = room_for(layout, max_length=max_length, segments=pair.segments)
    key = key_of(seed, "packing", epoch, documents.shard)
    if pair.segments == 1:
        target = _targets(len(documents.ranges), room=room, probability=short_sequence_probability, key=key)
        return _single(documents, target, window=sentence_window, move=move_cuts, key=key)
    # A longer sentence could never be read in full; halves of the room leave nothing of it to truncation.
    documents, counts = cut_sentences(documents, longest=room, piece=room // 2, split_length=pair.split_length)
    target = _targets(len(documents.ranges), room=room, probability=short_sequence_probability, key=key)
    pair_key = key_of(seed, "pair", epoch, documents.shard)
    elsewhere, least = elsewhere_of(pair, documents, key=pair_key)
    document, first, split, end, *left_out = _chunk(
        documents.sentence_offsets, documents.ranges, target, elsewhere, least, substream(key, _SPLIT)
    )
    chunks = Chunks(document, first, split, end, target[document], elsewhere[first])
    segments = pair_up(chunks, documents, pair=pair, room=room, key=key, pair_key=pair_key)
    counts |= dict(zip(("skipped_one_sentence", "dropped_one_sentence"), map(int, left_out), strict=True))
    return segments._replace(counts=counts | segments.counts)


def elsewhere_of(pair: Pair, documents: Documents, *, key: np.uint64) -> tuple[np.ndarray, int]:
    """Where chunks take their second segment from elsewhere (bool (S,)), and the fewest sentences of a chunk."""
    elsewhere = pair.second_elsewhere(documents, key=key)
    if elsewhere is None:
        elsewhere = np.zeros(len(documents.sentence_offsets) - 1, bool)
    return elsewhere, 1 if pair.split_length is None else 2


def pair_up(
    chunks: Chunks, documents: Documents, *, pair: Pair, room: int, key: np.uint64, pair_key: np.uint64
) -> Segments:
    """The pairs of chunks, each brought down to `room` tokens, and their labels counted."""
    pairs = pair.make(chunks, documents, key=pair_key)
    counts = dict(pairs.counts)
    counts["dropped_truncated"] = int(_truncate(pairs.start, pairs.length, room, substream(key, _TRUNCATE)))
    for label, name in enumerate(pair.label_names):
        counts[f"label_{name}"] = int(np.count_nonzero(pairs.label == label))
    return Segments(pairs.start, pairs.length, pairs.label, counts)


def _targets(num_documents: int, *, room: int, probability: float, key: np.uint64) -> np.ndarray:
    """How many tokens the examples of each document aim at: int64 (D,)."""
    number = np.arange(num_documents)
    smallest = min(2, room)
    drawn = smallest + (draws(substream(key, _TARGET), number) % np.uint64(room - smallest + 1)).astype(np.int64)
    return np.where(uniforms(substream(key, _SHORT), number) < probability, drawn, room)


def _single(documents: Documents, target: np.ndarray, *, window: float, move: bool, key: np.uint64) -> Segments:
    arguments = (documents.sentence_offsets, documents.ranges, target, float(window), move, substream(key, _CUT))
    nothing = np.empty(0, np.int64)
    count = _cut_documents(*arguments, nothing, nothing)
    start, length = np.empty(count, np.int64), np.empty(count, np.int64)
    _cut_documents(*arguments, start, length)
    return Segments(start[:, None], length[:, None], unpaired(count), {})


@compiled
def _cut_documents(offsets, ranges, target, window, move, key, start, length):
    """Fill `start` and `length`, or only count where they are empty. Returns the number of pieces.

    What is left over by full pieces comes last, or, with `move`, at a drawn place: so all cuts move from epoch to epoch
    and no document gets more pieces than it needs.
    """
    count, fill = 0, start.shape[0] > 0
    for d in range(ranges.shape[0]):
        sentence = ranges[d, 0]
        position, stop = offsets[sentence], offsets[ranges[d, 1]]
        remainder = (stop - position) % target[d]
        full_before = -1  # full pieces before the one that takes the remainder
        if move and remainder > 0:
            full_before = np.int64(draw(key, np.uint64(d)) % np.uint64((stop - position) // target[d] + 1))
        while position < stop:
            limit = remainder if full_before == 0 else target[d]
            full_before -= 1
            cut = stop
            if stop - position > limit:
                while offsets[sentence + 1] <= position + limit:
                    sentence += 1
                cut = offsets[sentence]
                if cut <= position or cut < position + limit - np.int64(window * limit):
                    cut = position + limit
            if fill:
                start[count], length[count] = position, cut - position
            count += 1
            position = cut
    return count


@compiled
def _chunk(offsets, ranges, target, elsewhere, least, key):
    """Sentences up to the target, and where the first segment ends: any sentence but the last, drawn uniformly.

    With `least` 2 no sentence is left alone at a document's end: the chunk before gives one back, or takes it in.
    """
    most = (ranges[:, 1] - ranges[:, 0]).sum()
    document, first = np.empty(most, np.int64), np.empty(most, np.int64)
    split, end = np.empty(most, np.int64), np.empty(most, np.int64)
    count, skipped, dropped = 0, 0, 0
    for d in range(ranges.shape[0]):
        begin, last = ranges[d, 0], ranges[d, 1]
        if last - begin < least:
            skipped += 1
            dropped += offsets[last] - offsets[begin]
            continue
        while begin < last:
            stop = begin + 1
            while stop < last and offsets[stop] - offsets[begin] < target[d]:
                stop += 1
            if least == 2:
                stop = max(stop, begin + 2)
                if last - stop == 1:
                    stop += -1 if stop - begin > 2 else 1
            choices = stop - begin - 1
            if least == 2 and elsewhere[begin] and stop == last:
                choices -= 1
            document[count], first[count], end[count] = d, begin, stop
            split[count] = stop
            if choices > 0:
                split[count] = begin + 1 + np.int64(draw(key, np.uint64(begin)) % np.uint64(choices))
            begin = split[count] if elsewhere[begin] else stop
            count += 1
    # Copies, so that what is not used of the buffers is given back.
    return document[:count].copy(), first[:count].copy(), split[:count].copy(), end[:count].copy(), skipped, dropped


@compiled
def _truncate(start, length, room, key):
    """Bring each pair down to `room` tokens, in place; returns how many were dropped.

    One token at a time from the longer segment (the second if equal), from its front or its back by a fair coin.
    """
    dropped = 0
    for e in range(start.shape[0]):
        too_many = length[e, 0] + length[e, 1] - room
        if too_many <= 0:
            continue
        dropped += too_many
        coins = draw(key, np.uint64(e))
        for t in range(too_many):
            segment = 0 if length[e, 0] > length[e, 1] else 1
            start[e, segment] += np.int64(draw(coins, np.uint64(t)) >> np.uint64(63))
            length[e, segment] -= 1
    return dropped
