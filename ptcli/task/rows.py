"""A row of a task: its texts or words, and its label where it has one. What every reader makes and every kind reads."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in the text of an extractive question: `text` begins at character `start` of the row's last text.

    A start of -1 says that the text is not there as such: the answer can be compared with, not learnt.
    """

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Row:
    """One row, as it was read. `label` is None where the row has none: such rows can be predicted, not trained on.

    texts and label by the kind's `target`:

    class    (text,) or (text, pair)              the label's name, str
    value    (text,) or (text, pair)              float
    classes  (text,) or (text, pair)              names, tuple of str; () is a label, too
    tokens   (); the text is in `words`           a tag for each word, tuple of str
    span     (question, context)                  tuple of Answer, each another way to put it; () has no answer
    choice   (text,) or (text, question); the     number of the right one in `choices`, from 0
             ways to go on are in `choices`
    rank     (query, candidate); the candidates   relevance, float: more is better
             of a query have one `group`
    """

    index: int  # place in the split, from 0: predictions come in this order
    texts: tuple[str, ...]
    label: Any = None
    words: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    group: str | None = None  # rows of one group never come to lie on two sides of a split
    id: str | None = None  # the data's own name for the row, for predictions
    source: str = ""  # file:line, for messages
