import numpy as np
import pytest

from ptcli.pair.none import NoPair
from tests.packing.documents import documents_of


def test_nothing_is_asked():
    pair = NoPair()
    assert (pair.num_labels, pair.segments, pair.label_names) == (0, 1, ())
    documents = documents_of([[3]])
    pair.check_documents([documents])
    pair.check_documents([])
    assert pair.second_elsewhere(documents, key=np.uint64(0)) is None
    with pytest.raises(AssertionError):
        pair.make(None, documents, key=np.uint64(0))  # type: ignore[arg-type]
