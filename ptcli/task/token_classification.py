"""A tag for each word: entities, parts of speech."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ptcli.task.encoded import IGNORE_INDEX, Encoded
from ptcli.task.examples import put_together, room_for
from ptcli.task.labels import number_of
from ptcli.task.metrics import token_classification as metrics
from ptcli.task.metrics.entities import entities, have_entities, repaired
from ptcli.task.probabilities import softmax
from ptcli.task.reading.bad_rows import UnusableError
from ptcli.task.reading.entity_spans import tags_of_spans
from ptcli.task.reading.record import Record
from ptcli.task.rows import Row
from ptcli.task.settings import TaskSettings
from ptcli.task.task import Task
from ptcli.tokenizer.tokenizer import Tokenizer


class TokenClassification(Task):
    """Each word has a tag, learnt and read at its first token. Settings are Task's, and:

    A sentence longer than max_length becomes several examples, cut between words: no word is left without a tag but
    those that have no token of their own. `text` and `label` are columns of lists; a text that is no list is cut at
    spaces, or, where its label names places (CLUENER), into characters.

    Args:
        word_separator: what stands between words in running text: a space; "" for Chinese.
        repair: whether an I- that continues nothing is predicted as a B- of its type (IOB2 only).
    """

    num_texts = 1
    target = "tokens"
    has_labels = True
    metrics_of_kind = metrics.METRICS
    usual_metrics = ("f1", "accuracy")

    def __init__(self, *, word_separator: str = " ", repair: bool = False, **settings: Unpack[TaskSettings]):
        super().__init__(**settings)
        self.word_separator, self.repair = word_separator, repair

    def texts_of(self, record: Record) -> dict[str, Any]:
        """The words."""
        value = self.value_at(record, self.text, "text")
        if isinstance(value, str):
            by_character = isinstance(record.find(self.label), dict) or (not self.word_separator and " " not in value)
            value = list(value) if by_character else value.split()
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise UnusableError(f"has no list of words but {str(value)[:40]}")
        return {"texts": (), "words": tuple(value)}

    def label_of(self, value: Any, record: Record, row: dict[str, Any]) -> tuple[str, ...]:
        """A tag for each word."""
        words = row["words"]
        if isinstance(value, dict):
            return tags_of_spans("".join(words), value)
        tags = value.split() if isinstance(value, str) else value
        if not isinstance(tags, list) or len(tags) != len(words):
            raise UnusableError(f"has {len(tags) if isinstance(tags, list) else 'no'} tags for {len(words)} words")
        if any(tag is None for tag in tags):
            raise UnusableError("has a word without a tag")
        return tuple(self.names.canonical(tag) for tag in tags)

    def encode(
        self, rows: Sequence[Row], *, tokenizer: Tokenizer, max_length: int, labels: Sequence[str] = ()
    ) -> Encoded:
        """Each row as one example or, where it is too long, several."""
        layout = tokenizer.vocabulary.layout
        room = room_for(1, layout, max_length)
        numbers = {label: number for number, label in enumerate(labels)}
        examples: list[list[np.ndarray]] = []
        row_of: list[int] = []
        positions: list[np.ndarray] = []
        words: list[np.ndarray] = []
        targets: list[np.ndarray] = []
        base = without = divided = cut = 0
        texts = [self.word_separator.join(row.words) for row in rows]
        for place, (row, (ids, starts, ends)) in enumerate(zip(rows, tokenizer.encode(texts), strict=True)):
            word_of_token, first = first_tokens(_word_spans(row.words, self.word_separator), starts, ends)
            without += len(row.words) - len(word_of_token)
            tags = _numbers(row, numbers)
            windows = windows_of(first, len(ids), room)
            divided += len(windows) > 1
            cut += sum(end - begin > room for begin, end in windows)
            for begin, end in windows:
                end = min(end, begin + room)
                inside = (first >= begin) & (first < end)
                examples.append([ids[begin:end]])
                row_of.append(place)
                positions.append(base + len(layout.prefix) + first[inside] - begin)
                words.append(word_of_token[inside])
                targets.append(tags[word_of_token[inside]])
                base += end - begin + layout.num_special(1)
        remarks = [
            *(
                [f"{divided:,} sentences are longer than max_length={max_length} and become several examples"]
                * (divided > 0)
            ),
            *([f"{without:,} words have no token of their own: they get no tag"] * (without > 0)),
            *([f"{cut:,} words of more than {room:,} tokens are cut"] * (cut > 0)),
        ]
        return put_together(
            examples,
            rows=np.array(row_of, np.int64),
            layout=layout,
            num_truncated=cut,
            remarks=remarks,
            token_positions=_joined(positions),
            token_words=_joined(words),
            token_labels=_joined(targets),
        )

    def decode(
        self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row], *, labels: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """`tags` and their `probabilities`, one a word, of `token_logits` (T, C) at the encoded `token_positions`.

        Words that no token stands for (cut off, or without a piece) are `unread`, counted: their tag is O where the
        labels have one, else "", and their probability 0. `entities` are added where the labels mark some: type, first
        and last word, and the text.
        """
        positions, words = encoded.token_positions, encoded.token_words
        assert positions is not None and words is not None, "encoded for another kind of task"
        table = softmax(outputs["token_logits"].reshape(-1, len(labels)))
        row_of = encoded.row_of_example[np.searchsorted(encoded.offsets, positions, side="right") - 1]
        outside = "O" if "O" in labels else ""
        tags = [[outside] * len(row.words) for row in rows]
        probabilities = [[0.0] * len(row.words) for row in rows]
        unread = [len(row.words) for row in rows]
        best = zip(table.argmax(axis=1).tolist(), table.max(axis=1).tolist(), strict=True)
        for row, word, (number, probability) in zip(row_of.tolist(), words.tolist(), best, strict=True):
            tags[row][word], probabilities[row][word] = labels[number], probability
            unread[row] -= 1
        tags = [repaired(own) for own in tags] if self.repair else tags
        predictions: list[dict[str, Any]] = [
            {"tags": own, "probabilities": sure, "unread": missing}
            for own, sure, missing in zip(tags, probabilities, unread, strict=True)
        ]
        if have_entities(labels):
            for row, prediction in zip(rows, predictions, strict=True):
                prediction["entities"] = self._entities(row, prediction["tags"])
        return predictions

    def _entities(self, row: Row, tags: Sequence[str]) -> list[dict[str, Any]]:
        return [
            {"type": name, "first_word": a, "last_word": b, "text": self.word_separator.join(row.words[a : b + 1])}
            for name, a, b in entities(tags)
        ]

    def outcomes(self, predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]) -> Any:
        return metrics.outcomes_of(predictions, rows)


def first_tokens(spans: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words that have a first token of their own, and those tokens: int64 (W,) each, ascending.

    `spans` (n, 2): characters of the words; `starts`, `ends` (T,): of the tokens. Of words that share a token, the
    first has it.
    """
    if not len(starts):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    first = np.searchsorted(ends, spans[:, 0], side="right")
    inside = first < len(starts)
    inside[inside] = starts[first[inside]] < spans[inside, 1]
    words = np.flatnonzero(inside)
    first = first[words]
    own = np.append(True, first[1:] > first[:-1])[: len(first)]
    return words[own], first[own].astype(np.int64)


def windows_of(first: np.ndarray, num_tokens: int, room: int) -> list[tuple[int, int]]:
    """Stretches [begin, end) of tokens that hold whole words, as many as fit in `room`; together all tokens.

    `first`: the first token of each word. A word longer than the room has a stretch of its own, which is longer, too.
    """
    if not num_tokens:
        return [(0, 0)]
    ends = np.append(first[first > 0], num_tokens)  # of words
    windows: list[tuple[int, int]] = []
    begin = 0
    while begin < num_tokens:
        next_word = int(np.searchsorted(ends, begin, side="right"))
        last_that_fits = int(np.searchsorted(ends, begin + room, side="right")) - 1
        windows.append((begin, int(ends[max(next_word, last_that_fits)])))
        begin = windows[-1][1]
    return windows


def _word_spans(words: Sequence[str], separator: str) -> np.ndarray:
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    begins = np.cumsum(lengths + len(separator)) - lengths - len(separator)
    return np.stack((begins, begins + lengths), axis=1)


def _numbers(row: Row, numbers: Mapping[str, int]) -> np.ndarray:
    if row.label is None:
        return np.full(len(row.words), IGNORE_INDEX, np.int64)
    return np.array([number_of(label, numbers, source=row.source) for label in row.label], np.int64)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)
