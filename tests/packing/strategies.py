"""Ragged documents for hypothesis: sentences without tokens, one-sentence documents, sentences longer than a row."""

from hypothesis import settings
from hypothesis import strategies as st

from tests.packing.documents import documents_of

_sentence = st.one_of(st.integers(0, 12), st.integers(1, 90))
_document = st.lists(_sentence, min_size=1, max_size=12).filter(lambda lengths: sum(lengths) > 0)

ragged_documents = st.lists(_document, max_size=8).map(documents_of)

no_deadline = settings(deadline=None)
"""Decorator: the first example may have to wait for a loop to be compiled."""
