"""The view of a shard that packing and pairs work on: where sentences and documents lie, no token."""

from typing import NamedTuple

import numpy as np


class Documents(NamedTuple):
    """Documents of one shard as token and sentence offsets. One may be part of a stored one (a held-out tail)."""

    shard: int  # number of the shard: part of every example's identity
    sentence_offsets: np.ndarray  # int64 (S + 1,): where each sentence of the shard begins in its tokens
    ranges: np.ndarray  # int64 (D, 2): [first, last) sentence of each document; no document is empty

    @property
    def num_tokens(self) -> int:
        """Tokens in all documents of the view."""
        return int((self.sentence_offsets[self.ranges[:, 1]] - self.sentence_offsets[self.ranges[:, 0]]).sum())
