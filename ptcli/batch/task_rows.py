"""Examples of a task laid out in rows: the arrays of a task batch. numpy only.

Beside input_ids, attention_mask, token_type_ids, position_ids and sequence_ids of ptcli.batch.contract, (B, S) each, a
task batch has E examples in the order of visiting, those of a question one after the other. A flat place is b * S + s.

example_positions int64 (E,)    the flat place of each example's classification token
example_numbers   int64 (E,)    which example of Encoded it is
example_labels    as Encoded    (E,) or (E, C); (E / 2,) or (E / 2, C) where two texts are encoded apart
question_numbers  int64 (E,)    which examples are judged together
token_positions   int64 (T,)    the flat place of each word's first token
token_labels      int64 (T,)
span_starts, span_ends int64 (E,)   flat places of the answer's first and last token; IGNORE_INDEX: not known
context_places    bool (B, S)   where an answer may lie, the classification places among them

Only those that the kind of task has are there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.task.encoded import Encoded


class Examples:
    """The examples of one or more versions of the same rows, by question. They are numbered version after version."""

    def __init__(self, versions: Sequence[Encoded]):
        self.versions = list(versions)
        self.first = np.cumsum([0] + [each.num_examples for each in versions])
        self.lengths = np.concatenate([each.lengths for each in versions])
        self._questions = [_by_question(each) for each in versions]
        self.num_versions, self.num_questions = len(self.versions), len(self._questions[0][1]) - 1
        assert all(len(ends) - 1 == self.num_questions for _, ends in self._questions), "versions of the same rows"

    def of(self, questions: np.ndarray, versions: np.ndarray) -> np.ndarray:
        """The examples of questions, each in a version of its own: int64 (E,), question after question."""
        parts = [np.zeros(0, np.int64)]
        for question, version in zip(questions.tolist(), versions.tolist(), strict=True):
            order, ends = self._questions[version]
            parts.append(order[ends[question] : ends[question + 1]] + self.first[version])
        return np.concatenate(parts)

    def longest_of(self, questions: np.ndarray) -> np.ndarray:
        """Tokens of each question's longest example, in its first version: int64 (n,)."""
        order, ends = self._questions[0]
        return np.maximum.reduceat(self.lengths[order], ends[:-1])[questions]

    def rows_of(self, questions: np.ndarray) -> list[int]:
        """The rows that questions are from, ascending."""
        numbers = self.of(questions, np.zeros_like(questions))
        return np.unique(self.versions[0].row_of_example[numbers]).tolist()


@dataclass(frozen=True, slots=True)
class Laid:
    """The arrays of a batch, and what is in it."""

    arrays: dict[str, np.ndarray]
    num_examples: int
    num_tokens: int


def lay_out(
    examples: Examples,
    numbers: np.ndarray,
    *,
    order: np.ndarray,
    row_examples: np.ndarray,
    pad_token_id: int,
    length: int | None,
    length_step: int,
    most: int,
) -> Laid:
    """Examples `numbers` (E,) in rows: `order` says which of them follow each other, `row_examples` where rows begin.

    `length`: positions of a row; None: those of the fullest, to a multiple of `length_step`, at most `most`.
    """
    lengths = examples.lengths[numbers]
    ends = np.cumsum(lengths[order])
    row_of = np.repeat(np.arange(len(row_examples) - 1), np.diff(row_examples))
    before = np.concatenate(([0], ends))[row_examples[:-1]]  # tokens in earlier rows
    start = ends - lengths[order] - before[row_of]
    if length is None:
        fullest = int((np.concatenate(([0], ends))[row_examples[1:]] - before).max())
        length = min(most, -(-fullest // length_step) * length_step)
    base = np.empty(len(numbers), np.int64)  # the flat place of each example's first token
    base[order] = row_of * length + start
    in_row = np.empty(len(numbers), np.int64)
    in_row[order] = np.arange(len(order)) - row_examples[row_of] + 1

    shape = (len(row_examples) - 1, length)
    within = _ranges(np.zeros_like(lengths), lengths)
    places = np.repeat(base, lengths) + within
    arrays: dict[str, np.ndarray] = {"input_ids": np.full(shape, pad_token_id, np.int64)}
    arrays |= {
        name: np.zeros(shape, np.int64) for name in ("attention_mask", "token_type_ids", "position_ids", "sequence_ids")
    }
    version = np.searchsorted(examples.first, numbers, side="right") - 1
    local = numbers - examples.first[version]
    arrays["input_ids"].reshape(-1)[places] = _taken(examples, "tokens", version, local, lengths)
    arrays["token_type_ids"].reshape(-1)[places] = _taken(examples, "segments", version, local, lengths)
    arrays["attention_mask"].reshape(-1)[places] = 1
    arrays["position_ids"].reshape(-1)[places] = within
    arrays["sequence_ids"].reshape(-1)[places] = np.repeat(in_row, lengths)

    one = examples.versions[0]
    arrays["example_positions"] = base + (lengths - 1 if one.classify_last else 0)
    arrays["example_numbers"] = local
    if one.question_numbers is not None:
        arrays["question_numbers"] = one.question_numbers[local]  # equal in all versions
    if one.example_labels is not None:
        pairs = len(one.example_labels) * 2 == one.num_examples
        arrays["example_labels"] = one.example_labels[local[::2] // 2 if pairs else local]  # equal in all versions
    if one.token_positions is not None:
        arrays |= _words(one, local, base)
    if one.span_starts is not None and one.span_ends is not None and one.context is not None:
        for name, inside in (("span_starts", one.span_starts), ("span_ends", one.span_ends)):
            found = inside[local]
            arrays[name] = np.where(found == IGNORE_INDEX, IGNORE_INDEX, base + found)
        arrays["context_places"] = np.zeros(shape, bool)
        arrays["context_places"].reshape(-1)[places] = _taken(examples, "context", version, local, lengths)
    return Laid(arrays, len(numbers), int(lengths.sum()))


def num_scored(arrays: dict[str, np.ndarray]) -> int:
    """How many targets of a batch have a loss: labels, words, spans, or questions, as its objective counts them."""
    if "token_labels" in arrays:
        return int((arrays["token_labels"] != IGNORE_INDEX).sum())
    if "span_starts" in arrays:
        return int((arrays["span_starts"] != IGNORE_INDEX).sum())
    labels = arrays["example_labels"]
    together = "question_numbers" in arrays and len(labels) == len(arrays["example_numbers"])
    if labels.dtype == np.int64:
        return int((labels == 1).sum() if together else (labels != IGNORE_INDEX).sum())
    if not together:
        return int((~np.isnan(labels.reshape(len(labels), -1)).any(axis=1)).sum())
    # a query is scored where its candidates differ in relevance
    known = ~np.isnan(labels)
    different = np.unique(np.stack((arrays["question_numbers"][known], labels[known]), axis=1), axis=0)
    return int((np.unique(different[:, 0], return_counts=True)[1] > 1).sum())


def _by_question(encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
    """The examples by question, and where each question's begin, the end last: int64. Questions go by first example."""
    if encoded.question_numbers is None:
        return np.arange(encoded.num_examples), np.arange(encoded.num_examples + 1)
    _, first, number = np.unique(encoded.question_numbers, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    question = rank[number]
    return np.argsort(question, kind="stable"), np.concatenate(([0], np.cumsum(np.bincount(question))))


def _taken(examples: Examples, name: str, version: np.ndarray, local: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """An array along tokens, at the tokens of some examples, one example after the other."""
    if examples.num_versions == 1:
        one = examples.versions[0]
        return getattr(one, name)[_ranges(one.offsets[local], one.offsets[local + 1])]
    parts = [np.zeros(0, getattr(examples.versions[0], name).dtype)]
    for which, number, length in zip(version.tolist(), local.tolist(), lengths.tolist(), strict=True):
        first = examples.versions[which].offsets[number]
        parts.append(getattr(examples.versions[which], name)[first : first + length])
    return np.concatenate(parts)


def _words(encoded: Encoded, local: np.ndarray, base: np.ndarray) -> dict[str, np.ndarray]:
    """The first tokens of the words of some examples, and their labels."""
    assert encoded.token_positions is not None and encoded.token_labels is not None
    first = np.searchsorted(encoded.token_positions, encoded.offsets[local])
    last = np.searchsorted(encoded.token_positions, encoded.offsets[local + 1])
    words = _ranges(first, last)
    moved = np.repeat(base - encoded.offsets[local], last - first)
    return {"token_positions": encoded.token_positions[words] + moved, "token_labels": encoded.token_labels[words]}


def _ranges(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The numbers of [first[0], last[0]), then of [first[1], last[1]), and so on: int64."""
    size = last - first
    ends = np.cumsum(size)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - size - first, size)
