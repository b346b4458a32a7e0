import numpy as np
import pytest

from ptcli.errors import ConfigError
from ptcli.mask.examples import Examples
from ptcli.mask.phrase import PhraseMask
from tests.mask.synthetic import IGNORE, MASK, examples, take, vocabulary, words_of

#        [CLS] Ada  Love ##lace met  the  old  ma ##n [SEP]
TOKENS = [8, 20, 21, 22, 23, 24, 25, 26, 27, 9]
WORDS = [1, 1, 1, 0, 1, 1, 1, 1, 0, 1]
STARTS = [0, 1, 0, 0, 0, 1, 0, 0, 0, 0]
TYPES = [0, 1, 1, 1, 0, 2, 2, 0, 0, 0]  # an entity, Ada Lovelace; a phrase, the old


def sentence() -> Examples:
    return Examples(
        tokens=np.array(TOKENS, np.int32),
        offsets=np.array([0, len(TOKENS)]),
        maskable=np.array([t > 9 for t in TOKENS]),
        word_starts=np.array(WORDS, bool),
        keys=np.array([1], np.uint64),
        columns={"unit_starts": np.array(STARTS, bool), "unit_types": np.array(TYPES, np.uint8)},
    )


def units(batch=None, *, step: int | None = None, **options) -> list[int]:
    mask = PhraseMask(vocabulary=vocabulary(), **options)
    return np.flatnonzero(mask(batch or sentence(), seed=0, epoch=0, step=step).units).tolist()


def test_units_are_entities_then_phrases_then_words():
    assert units(levels=["entity"]) == [1, 4, 5, 7]
    assert units(levels=["phrase"]) == [1, 2, 4, 5, 7]
    assert units(levels=["basic"]) == [1, 2, 4, 5, 6, 7]
    assert units(levels=["entity"], basic="token") == [1, 4, 5, 7, 8]
    assert units(levels=["basic"], basic="token") == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_unit_next_to_another_begins_anew():
    batch = sentence()
    batch["unit_starts"][4], batch["unit_types"][4] = True, 1
    batch["unit_types"][5:8] = 1  # the rest of what was a phrase
    assert units(batch) == [1, 4, 5, 8]


def test_a_unit_ends_at_what_is_not_maskable():
    batch = sentence()
    batch.maskable[2] = False
    assert units(batch) == [1, 3, 4, 5, 7]


def test_levels_follow_one_another():
    staged = {"levels": ["basic", "phrase", "entity"], "schedule_steps": 300}
    mask = PhraseMask(vocabulary=vocabulary(), **staged)
    assert [mask.level_at(step) for step in (0, 99, 100, 199, 200, 299, 5000, None)] == [
        *["basic"] * 2, *["phrase"] * 2, *["entity"] * 4
    ]  # fmt: skip
    for step, level in ((0, "basic"), (150, "phrase"), (250, "entity"), (None, "entity")):
        assert units(step=step, **staged) == units(levels=[level])


def test_each_unit_is_selected_whole_and_as_often_as_any_other():
    batch = take(sentence(), [0] * 1)
    many = Examples(
        *(np.tile(getattr(batch, name), 40_000) for name in ("tokens",)),
        np.arange(40_001) * len(TOKENS),
        np.tile(batch.maskable, 40_000),
        np.tile(batch.word_starts, 40_000),
        np.random.default_rng(0).integers(0, 2**63, 40_000).astype(np.uint64),
        {
            "unit_starts": np.tile(np.array(STARTS, bool), 40_000),
            "unit_types": np.tile(np.array(TYPES, np.uint8), 40_000),
        },
    )
    masked = PhraseMask(vocabulary=vocabulary(), ratio=0.5, at_least_one=False)(many, seed=0, epoch=0)
    chosen = (masked.labels != IGNORE).reshape(40_000, -1)
    assert np.abs(chosen.mean(0)[1:-1] - 0.5).max() < 0.012
    assert (chosen[:, 1] == chosen[:, 2]).all()
    assert (chosen[:, 2] == chosen[:, 3]).all()
    assert (chosen[:, 5] == chosen[:, 6]).all()
    kinds = masked.kinds.reshape(40_000, -1)
    assert (kinds[:, 1] == kinds[:, 3]).all(), "one draw for all of a unit"
    assert (masked.input_ids.reshape(40_000, -1)[kinds == 1] == MASK).all()


def test_words_outside_are_whole():
    batch = examples([100] * 50, pairs=True)
    masked = PhraseMask(vocabulary=vocabulary(), ratio=0.3)(batch, seed=0, epoch=0)
    words = words_of(batch)[batch.maskable]
    shares = np.bincount(words, (masked.labels != IGNORE)[batch.maskable]) / np.bincount(words)
    assert np.isin(shares, (0, 1)).all()


def test_text_without_units_is_refused():
    batch = sentence()
    plain = Examples(batch.tokens, batch.offsets, batch.maskable, batch.word_starts, batch.keys)
    with pytest.raises(ConfigError, match="the text has none"):
        units(plain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": "entity"}, "write a list"),
        ({"levels": []}, "write a list"),
        ({"levels": ["word"]}, "basic, phrase, entity"),
        ({"basic": "char"}, "word, token"),
        ({"levels": ["phrase"], "unit_types": ["entity"]}, "the text has no phrases, only entity"),
        ({"schedule_steps": 100}, "does nothing"),
    ],
)
def test_settings_out_of_range_are_refused(options, message):
    with pytest.raises(ConfigError) as error:
        PhraseMask(**options)
    assert message in str(error.value)
