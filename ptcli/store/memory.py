"""A memory of the pieces of text that were tokenised before: most of what stands between two spaces comes again."""

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np

from ptcli.compiled import compiled
from ptcli.corpus.document import Document
from ptcli.store.pieces import Pieces, joined, pieces_apart, pieces_behind_spaces, pieces_of
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.contract import Words

_MOST_PIECES = 1 << 17  # remembered, about 20 MB; beyond it the memory starts anew
_LONGEST_PIECES = 16  # characters on an average: text without spaces hardly repeats itself
_SPACE = ord(" ")
_SIGNS = ',.;:!?"()-'
"""Where a letter of ASCII stands before one of these, a piece ends too: "word," and "word" are one piece then."""


class Memory:
    """Remembers the tokens and words of what stands between two spaces, or between a letter and a sign.

    Only for a tokenizer and words of which nothing reaches over a space; at signs only where nothing reaches over these
    either. What holds other white space, or too few spaces, goes the usual way. The result is the same.
    """

    def __init__(self, *, words: Words, tokenizer: Tokenizer):
        self._how = {"words": words, "tokenizer": tokenizer}
        # A subclass may have other rules: the fact must stand in the class itself.
        facts = vars(type(words))
        self._helps = tokenizer.cuts_at_spaces and facts.get("ends_at_spaces", False)
        self._is_sign = np.zeros(128, np.bool_)
        if tokenizer.cuts_at_signs and facts.get("ends_at_signs", False):
            self._is_sign[[ord(sign) for sign in _SIGNS]] = True
        self._forget()

    def pieces_of(self, documents: Sequence[Document]) -> Pieces:
        """As the function of this name: each document as a piece."""
        if not self._helps:
            return pieces_of(documents, **self._how)
        stretches = [_stretches(document) for document in documents]
        flat = list(chain.from_iterable(stretches))
        texts = [stretch for stretch in flat if isinstance(stretch, str)]
        if not texts:
            return pieces_of(documents, **self._how)
        codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        numbers, pieces_in = self._look_up(codes, lengths)
        found = Pieces(*_compose(*self._known, self._stops, numbers, pieces_in))
        others = [stretch for stretch in flat if not isinstance(stretch, str)]
        if not others:
            return found
        both = joined([found, pieces_of(others, **self._how)])
        known = np.fromiter((isinstance(stretch, str) for stretch in flat), bool, len(flat))
        order = np.argsort(np.concatenate((np.flatnonzero(known), np.flatnonzero(~known))))
        of_each = np.fromiter(map(len, stretches), np.int64, len(stretches))
        return Pieces(*_compose(*both, np.cumsum(both.counts), order, of_each))

    def _look_up(self, codes: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the pieces of some texts, and how many each text has; what is new is learnt."""
        if self._size > _MOST_PIECES:
            self._forget()
        most = len(lengths) + int((codes == _SPACE).sum()) + int(self._is_sign[codes[codes < 128]].sum())
        self._make_room(len(codes), most)
        before = self._size
        numbers, pieces_in, self._size = _find(
            codes, lengths, most, self._is_sign, self._table, self._letters, self._ends, self._hashes, before
        )
        if self._size > before:
            self._learn(before)
        return numbers, pieces_in

    def _make_room(self, letters: int, pieces: int) -> None:
        """For so many more letters and pieces; for more than that where it is too little, so that copies are few."""
        if self._size + pieces > len(self._hashes):
            room = (self._size + pieces) * 5 // 4
            self._ends, self._hashes = _grown(self._ends, room + 1), _grown(self._hashes, room)
            self._table = np.full(1 << (room + room // 2).bit_length(), -1, np.int32)
            _fill(self._table, self._hashes, self._size)
        if self._ends[self._size] + letters > len(self._letters):
            self._letters = _grown(self._letters, (int(self._ends[self._size]) + letters) * 5 // 4)

    def _learn(self, before: int) -> None:
        """The tokens of the pieces from number `before` on."""
        bounds = self._ends[before : self._size + 1]
        text = self._letters[bounds[0] : bounds[-1]].tobytes().decode("utf-32-le")
        new = [text[start:end] for start, end in pairwise((bounds - bounds[0]).tolist())]
        behind = np.array([piece[0] == " " for piece in new])
        parts = []
        if behind.any():
            parts.append(pieces_behind_spaces([piece for piece in new if piece[0] == " "], **self._how))
        if not behind.all():
            parts.append(pieces_apart([piece for piece in new if piece[0] != " "], **self._how))
        learnt = joined(parts)
        order = np.argsort(np.concatenate((np.flatnonzero(behind), np.flatnonzero(~behind))))
        learnt = Pieces(*_compose(*learnt, np.cumsum(learnt.counts), order, np.ones(len(new), np.int64)))
        self._add(learnt, before)

    def _add(self, learnt: Pieces, before: int) -> None:
        """Put the pieces behind the `before` ones that are known. The arrays have room, so that few copies are made."""
        tokens = int(self._stops[before - 1]) if before else 0
        self._stops = _put(self._stops, tokens + np.cumsum(learnt.counts), before)
        places = [before] * 4 + [tokens] * 4
        self._known = Pieces(*(_put(*each) for each in zip(self._known, learnt, places, strict=True)))

    def _forget(self) -> None:
        self._size = 0  # pieces
        self._table = np.full(2, -1, np.int32)  # number of a piece at a place that follows from its hash, or -1
        self._letters = np.zeros(0, np.uint32)  # of all pieces, with the space before each that has one; then room
        self._ends = np.zeros(1, np.int64)  # piece n is letters [n], [n + 1]
        self._hashes = np.zeros(0, np.uint64)
        self._stops = np.zeros(0, np.int64)  # where the tokens of each piece end
        number, character = np.zeros(0, np.int64), np.zeros(0, np.int32)
        self._known = Pieces(
            number, number, number, number, character, character, character, begins_word=np.zeros(0, bool)
        )


def _stretches(document: Document) -> Sequence[str | Document]:
    """A text cut at single spaces: what holds no other white space is a string, what the memory cannot find a document.

    Texts with too few spaces for their pieces to come again are left whole.
    """
    text = document.text
    if len(text) > _LONGEST_PIECES * (text.count(" ") + 1):
        return [document]
    # No white space but the space itself is printable.
    if text.isprintable() and "  " not in text and text[0] != " " and text[-1] != " ":
        return [text]
    pieces = text.split(" ")
    odd = np.fromiter((not piece or not piece.isprintable() for piece in pieces), bool, len(pieces))
    beside = odd.copy()  # both neighbours too: no cut is made beside other white space
    beside[1:] |= odd[:-1]
    beside[:-1] |= odd[1:]
    spaces = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)) + 1) - 1  # behind each piece
    borders = np.flatnonzero(beside[1:] != beside[:-1])
    bounds = [0, *spaces[borders].tolist(), len(text)]
    kinds = beside[np.append(borders, len(pieces) - 1)].tolist()
    cut = (text[start:end] for start, end in pairwise(bounds))
    return [Document(stretch) if kind else stretch for stretch, kind in zip(cut, kinds, strict=True)]


def _put(array: np.ndarray, values: np.ndarray, place: int) -> np.ndarray:
    """The array, or a larger one, with the values from a place on."""
    end = place + len(values)
    if end > len(array):
        array = _grown(array, end * 5 // 4)
    array[place:end] = values
    return array


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    grown = np.zeros(size, array.dtype)
    grown[: len(array)] = array
    return grown


@compiled
def _find(codes, lengths, most, is_sign, table, letters, ends, hashes, known):
    """Numbers of the pieces of each text; new pieces are added to table, letters, ends and hashes after `known`."""
    numbers = np.empty(most, np.int64)
    pieces_in = np.zeros(lengths.shape[0], np.int64)
    mask = np.uint64(table.shape[0] - 1)
    found = 0
    at = 0
    for text in range(lengths.shape[0]):
        stop = at + lengths[text]
        while at < stop:
            end = at + 1
            value = np.uint64(codes[at]) * np.uint64(0x9E3779B97F4A7C15)
            while end < stop and codes[end] != 32:
                before = codes[end - 1] | np.uint32(32)  # in lower case
                if codes[end] < 128 and is_sign[codes[end]] and 97 <= before <= 122:
                    break
                value = (value ^ np.uint64(codes[end])) * np.uint64(0x9E3779B97F4A7C15)
                value ^= value >> np.uint64(32)
                end += 1
            size = end - at
            place = value & mask
            number = table[place]
            while number >= 0:
                begin = ends[number]
                if hashes[number] == value and ends[number + 1] - begin == size:
                    same = True
                    for i in range(size):
                        if letters[begin + i] != codes[at + i]:
                            same = False
                            break
                    if same:
                        break
                place = (place + np.uint64(1)) & mask
                number = table[place]
            if number < 0:
                number = known
                table[place] = number
                for i in range(size):
                    letters[ends[number] + i] = codes[at + i]
                ends[number + 1] = ends[number] + size
                hashes[number] = value
                known += 1
            numbers[found] = number
            found += 1
            pieces_in[text] += 1
            at = end
    return numbers[:found], pieces_in, known


@compiled
def _fill(table, hashes, size):
    mask = np.uint64(table.shape[0] - 1)
    for number in range(size):
        place = hashes[number] & mask
        while table[place] >= 0:
            place = (place + np.uint64(1)) & mask
        table[place] = number


@compiled
def _compose(counts, lengths, words, unaligned, ids, characters, ends, begins_word, stops, numbers, pieces_in):
    """Larger pieces from smaller ones: `numbers` of the small ones in order, so many in each large one."""
    size = 0
    for n in range(numbers.shape[0]):
        size += counts[numbers[n]]
    large = np.zeros((4, pieces_in.shape[0]), np.int64)
    out_ids = np.empty(size, np.int32)
    out_characters = np.empty(size, np.int32)
    out_ends = np.empty(size, np.int32)
    out_begins = np.empty(size, np.bool_)
    n = t = 0
    for p in range(pieces_in.shape[0]):
        shift = 0
        for _ in range(pieces_in[p]):
            number = numbers[n]
            for source in range(stops[number] - counts[number], stops[number]):
                out_ids[t] = ids[source]
                out_characters[t] = characters[source] + shift
                out_ends[t] = ends[source] + shift
                out_begins[t] = begins_word[source]
                t += 1
            shift += lengths[number]
            large[0, p] += counts[number]
            large[2, p] += words[number]
            large[3, p] += unaligned[number]
            n += 1
        large[1, p] = shift
    return large[0], large[1], large[2], large[3], out_ids, out_characters, out_ends, out_begins
