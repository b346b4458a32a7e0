"""The rows of a split as token ids: flat arrays. What a kind's `encode` makes, the loader lays out, `decode` reads."""

from dataclasses import dataclass, field

import numpy as np

from ptcli.batch.contract import IGNORE_INDEX

__all__ = ["IGNORE_INDEX", "Encoded"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """N tokens of E examples, special ones put in. Example e is tokens[offsets[e] : offsets[e + 1]].

    A row makes several examples where the kind says so: one a choice, one a window of a long text, one a text where
    two are encoded apart. They stand one after the other, in the order of the rows. Arrays that the kind's target does
    not need are None. Where a row has no label, its targets are IGNORE_INDEX, or NaN where they are float32.

    target   arrays
    class    example_labels int64 (E,), numbers of `labels`
    value    example_labels float32 (E,)
    classes  example_labels float32 (E, C), 0 or 1
    tokens   token_positions int64 (T,): the first token of each word, as an index into `tokens`, ascending;
             token_words int64 (T,): which word of its row; token_labels int64 (T,). Every word that has a token is in
             one example only
    span     span_starts, span_ends int64 (E,): first and last token of the first answer that lies whole in the
             example, counted from the example's beginning; both its classification token where there is none;
             context (N,) bool: where an answer may lie, the classification token among them
    choice   example_labels int64 (E,): 1 for the right choice, 0 for the others
    rank     example_labels float32 (E,): the relevance

    Where two texts are encoded apart, example_labels have one entry for each two examples: (E / 2,) or (E / 2, C).

    question_numbers int64 (E,) say which examples are judged together: the choices of a row, the candidates of a query,
    the two texts of a row that are encoded apart. The loader never divides them.
    """

    tokens: np.ndarray  # int32 (N,)
    offsets: np.ndarray  # int64 (E + 1,)
    segments: np.ndarray  # uint8 (N,)
    row_of_example: np.ndarray  # int64 (E,): place in the rows that were encoded, ascending
    classify_last: bool = False  # the last token of an example, not its first, stands for the whole (XLNet's <cls>)
    example_labels: np.ndarray | None = None
    token_positions: np.ndarray | None = None
    token_words: np.ndarray | None = None
    token_labels: np.ndarray | None = None
    span_starts: np.ndarray | None = None
    span_ends: np.ndarray | None = None
    context: np.ndarray | None = None
    question_numbers: np.ndarray | None = None
    # Of each token, where it lies in its text: characters [start, end), -1 for a special token. Only for span.
    starts: np.ndarray | None = None  # int32 (N,)
    ends: np.ndarray | None = None  # int32 (N,)
    num_truncated: int = 0  # rows of which tokens were left out
    remarks: list[str] = field(default_factory=list)  # what was cut, moved or could not be placed, counted; for users

    @property
    def num_examples(self) -> int:
        """E."""
        return self.row_of_example.shape[0]

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each example, int64 (E,)."""
        return np.diff(self.offsets)

    @property
    def classification_places(self) -> np.ndarray:
        """Each example's classification token, as an index into `tokens`, int64 (E,)."""
        return self.offsets[1:] - 1 if self.classify_last else self.offsets[:-1]
