"""Named units of text (entities, phrases) as ranges of tokens."""

from typing import NamedTuple

import numpy as np


class Units(NamedTuple):
    """The named units of one shard, in ascending order and disjoint; where a words choice makes them."""

    first: np.ndarray  # int64 (U,): the first token of each
    length: np.ndarray  # int32 (U,): its tokens
    type: np.ndarray  # uint8 (U,): number of its type in `words.unit_types`


UNIT_TYPES = {"first": np.int64, "length": np.int32, "type": np.uint8}
"""How each array lies on disk, in unit_<name>.npy."""
