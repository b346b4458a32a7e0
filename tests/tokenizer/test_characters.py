import numpy as np
import pytest

from ptcli.tokenizer.characters import NUM_CHARACTER_IDS, character_ids
from ptcli.tokenizer.words import WordVocabulary
from tests.tokenizer.recipes import Memory


@pytest.mark.parametrize("layout", ["bert", "xlnet"])
def test_words_as_bytes_between_their_begin_and_end(tmp_path, layout):
    long = "x" * 60
    tokenizer = WordVocabulary(min_frequency=1, layout=layout).build(Memory([f"cat é {long}"]), cache=tmp_path)
    table = character_ids(tokenizer)
    assert table.shape == (tokenizer.vocabulary.size, 50)
    assert table.max() < NUM_CHARACTER_IDS

    def row(token):
        return table[tokenizer.id(token)].tolist()

    assert row("cat") == [259, *(1 + b for b in b"cat"), 260, *[261] * 45]
    assert row("é") == [259, 0xC3 + 1, 0xA9 + 1, 260, *[261] * 46]
    assert row(long) == [259, *[1 + ord("x")] * 48, 260]


def test_special_tokens_have_a_character_of_their_own_and_padding_none(tmp_path):
    tokenizer = WordVocabulary(min_frequency=1).build(Memory(["cat"]), cache=tmp_path)
    table = character_ids(tokenizer, width=5)
    assert table[tokenizer.vocabulary.pad_token_id].tolist() == [0] * 5
    assert table[tokenizer.vocabulary.cls_token_id].tolist() == [259, 257, 260, 261, 261]
    assert table[tokenizer.vocabulary.sep_token_id].tolist() == [259, 258, 260, 261, 261]
    assert len(np.unique(table, axis=0)) == len(table)
