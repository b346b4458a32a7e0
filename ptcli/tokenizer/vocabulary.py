"""What packing, masks and objectives know of a tokenizer: ids, never text."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Layout:
    """Special ids around the segments of one example: prefix A suffix, or prefix A between B suffix.

    BERT: ([CLS],) ([SEP],) ([SEP],). RoBERTa: (<s>,) (</s>, </s>) (</s>,). XLNet: () (<sep>,) (<sep>, <cls>). Segment
    ids follow the piece before a special; the prefix takes the first piece's.
    """

    prefix: tuple[int, ...]
    between: tuple[int, ...]
    suffix: tuple[int, ...]
    classify_last: bool = False  # the last token, not the first, stands for the whole example (XLNet's <cls>)

    def num_special(self, num_pieces: int) -> int:
        """How many special tokens an example of `num_pieces` pieces holds."""
        return len(self.prefix) + (num_pieces - 1) * len(self.between) + len(self.suffix)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The ids of a tokenizer. Special ids are looked up by name, never by position; id 0 may be an ordinary token."""

    size: int
    pad_token_id: int
    mask_token_id: int | None
    cls_token_id: int | None
    sep_token_id: int | None
    unk_token_id: int | None
    special: np.ndarray  # bool (size,): special, added and unused ids: never selected, never drawn
    layout: Layout

    @property
    def ordinary_ids(self) -> np.ndarray:
        """The ids that may be drawn as random replacements, ascending, int32. The unknown token is not one of them."""
        return np.flatnonzero(~self.special).astype(np.int32)
