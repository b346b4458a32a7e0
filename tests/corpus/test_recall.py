from collections import Counter

import numpy as np
import pytest

from ptcli.corpus.recall import Recall
from ptcli.corpus.sentences import sentence_spans
from ptcli.errors import ConfigError


@pytest.mark.parametrize(("distance", "blocks"), [(1, 3), (7, 1), (16, 2)])
def test_each_word_equals_the_one_at_the_distance(distance, blocks):
    corpus = Recall(distance=distance, blocks=blocks, documents=5)
    corpus.check()
    documents = [document.text.split() for document in corpus.documents()]
    assert len(documents) == 5
    for words in documents:
        assert len(words) == 2 * distance * blocks
        for place, word in enumerate(words):
            partner = place + distance if place // distance % 2 == 0 else place - distance
            assert words[partner] == word


def test_words_are_drawn_evenly_and_blocks_of_their_own():
    corpus = Recall(words=50, documents=500)
    counts = Counter(word for document in corpus.documents() for word in document.text.split())
    assert len(counts) == 50
    expected = 500 * 4 * 15 / 50
    # each draw comes twice: the variance of a count is twice that of independent draws; five standard deviations
    assert max(abs(count - expected) for count in counts.values()) < 5 * np.sqrt(2 * expected)
    first = [document.text.split()[:15] for document in corpus.documents()]
    assert len({tuple(words) for words in first}) == 500


def test_a_block_is_a_sentence():
    text = next(Recall().documents()).text
    assert len(sentence_spans(text, "en")) == 4


def test_the_same_settings_give_the_same_text_and_other_ones_another():
    def texts(**settings):
        return [document.text for document in Recall(documents=3, **settings).documents()]

    assert texts() == texts()
    assert texts() != texts(seed=1)
    assert Recall().identity() != Recall(seed=1).identity()
    assert len(set(" ".join(texts(words=7225)).split())) > 50


@pytest.mark.parametrize("settings", [{"distance": 0}, {"words": 1}, {"words": 7226}, {"blocks": 0}, {"documents": 0}])
def test_numbers_out_of_range_are_refused(settings):
    with pytest.raises(ConfigError, match=f"corpus.{next(iter(settings))}="):
        Recall(**settings).check()
