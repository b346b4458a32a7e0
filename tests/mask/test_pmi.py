import dataclasses

import numpy as np
import pytest

from ptcli.errors import ConfigError
from ptcli.mask.examples import Examples
from ptcli.mask.pmi import PmiMask
from tests.mask.synthetic import IGNORE, examples, vocabulary
from tests.mask.test_collocations import hash_of, text


def mask(*ngrams, **options) -> PmiMask:
    hashes = np.array(sorted(map(hash_of, ngrams)), np.uint64)
    return PmiMask(vocabulary=vocabulary(), ngrams=hashes, **options)


def sentence(words, separator_before: int | None = None) -> Examples:
    tokens, starts, maskable = [8], [False], [False]
    for number, word in enumerate(words):
        if number == separator_before:
            tokens, starts, maskable = [*tokens, 9], [*starts, True], [*maskable, False]
        tokens += word
        starts += [True] + [False] * (len(word) - 1)
        maskable += [True] * len(word)
    return Examples(
        np.array([*tokens, 9], np.int32),
        np.array([0, len(tokens) + 1]),
        np.array([*maskable, False]),
        np.array([*starts, True]),
        np.array([1], np.uint64),
    )


NEW, YORK, CITY, IS, BIG = (20,), (21, 22), (23,), (24,), (25,)


def units(pmi, batch) -> list[int]:
    return np.flatnonzero(pmi(batch, seed=0, epoch=0).units).tolist()


def test_the_longest_n_gram_is_taken():
    batch = sentence([NEW, YORK, CITY, IS, BIG])
    assert units(mask((NEW, YORK)), batch) == [1, 4, 5, 6]
    assert units(mask((NEW, YORK), (NEW, YORK, CITY)), batch) == [1, 5, 6]
    assert units(mask((NEW, YORK), (YORK, CITY), (IS, BIG)), batch) == [1, 4, 5]
    assert units(mask((NEW, YORK, CITY), max_ngram=2), batch) == [1, 2, 4, 5, 6], "too long for this mask"
    assert units(mask((YORK, CITY, IS, BIG)), batch) == [1, 2]
    assert units(mask(((20,), (21,))), batch) == [1, 2, 4, 5, 6], "a piece of a word is no word"


def test_n_grams_do_not_cross_a_separator():
    batch = sentence([NEW, YORK, CITY], separator_before=1)
    assert units(mask((NEW, YORK), (YORK, CITY)), batch) == [1, 3]


def test_an_n_gram_is_selected_whole():
    batch = sentence([NEW, YORK, CITY, IS, BIG])
    for seed in range(100):
        chosen = mask((NEW, YORK, CITY))(batch, seed=seed, epoch=0).labels != IGNORE
        assert chosen[1:5].sum() in (0, 4)


def test_what_is_counted_is_found_in_the_text():
    shards, documents, _ = text(1000)
    special = np.zeros(60, bool)
    special[3] = True
    settings = PmiMask(min_count=5, max_ngram=4, min_score=1.0)
    found = settings.learn(shards, documents, vocabulary=dataclasses.replace(vocabulary(), special=special))
    pmi = PmiMask(vocabulary=vocabulary(), ngrams=found, max_ngram=4)
    batch = sentence([(12,), (13,), (14, 51), (6,)])  # the words 7, 8, 9 and 1 of that text
    assert units(pmi, batch)[0] == 1
    assert len(units(pmi, batch)) <= 2


def test_without_n_grams_it_is_whole_word_masking():
    from ptcli.mask.whole_word import WholeWordMask

    batch = examples([50, 90], pairs=True)
    assert (
        units(mask(), batch)
        == np.flatnonzero(WholeWordMask(vocabulary=vocabulary())(batch, seed=0, epoch=0).units).tolist()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_ngram": 1}, "from 2 to 8"),
        ({"max_ngram": 9}, "from 2 to 8"),
        ({"min_count": 0}, "from 1 to 200"),
        ({"min_count": 255}, "from 1 to 200"),
        ({"max_ngrams": 0}, "from 1"),
        ({"min_score": -1}, "from 0"),
        ({"min_score": float("nan")}, "from 0"),
    ],
)
def test_settings_out_of_range_are_refused(options, message):
    with pytest.raises(ConfigError) as error:
        PmiMask(**options)
    assert message in str(error.value)
