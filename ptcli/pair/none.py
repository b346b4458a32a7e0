"""No pair: an example is one segment, and nothing is asked about it."""

import numpy as np

from ptcli.pair.chunks import Chunks, Pairs
from ptcli.store.documents import Documents


class NoPair:
    """No second segment, no pair label, no pair head; as RoBERTa found best (arXiv:1907.11692)."""

    num_labels = 0
    segments = 1
    label_names: tuple[str, ...] = ()
    split_length = None

    def check_documents(self, documents: list[Documents]) -> None:
        """Nothing to check: any document makes an example."""

    def second_elsewhere(self, documents: Documents, *, key: np.uint64) -> np.ndarray | None:
        """None: there is no second segment."""

    def make(self, chunks: Chunks, documents: Documents, *, key: np.uint64) -> Pairs:
        """Never called: a packing asks for pairs only where `segments` is 2."""
        raise AssertionError("pair=none makes no pairs")
