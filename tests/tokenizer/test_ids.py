import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import tokenizers
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, models, pre_tokenizers, processors

from ptcli.errors import ConfigError, DataError
from ptcli.tokenizer.ids import AnonymisedIds
from ptcli.tokenizer.pretrained import Pretrained
from ptcli.tokenizer.tokenizer import Tokenizer
from tests.tokenizer.recipes import RECIPES, Memory, mixed

ROWS = ["7 7 7 12 12\n300 12 7", "7 12 300 300 9 9", "9 5"]  # 7: 5, 12: 4, 300: 3, 9: 3, 5: 1


def test_the_vocabulary_goes_by_count_and_rare_ids_are_unknown(tmp_path):
    tokenizer = AnonymisedIds(min_frequency=3).build(Memory(ROWS), cache=tmp_path)
    assert [tokenizer.token(i) for i in tokenizer.vocabulary.ordinary_ids] == ["7", "12", "300", "9"]
    ids, starts, ends = tokenizer.encode([ROWS[0] + " 5 70"])[0]
    assert [tokenizer.token(i) for i in ids] == ["7"] * 3 + ["12"] * 2 + ["300", "12", "7", "[UNK]", "[UNK]"]
    assert starts[:4].tolist() == [0, 2, 4, 6]
    assert ends[3] == 8
    assert tokenizer.decode(ids[:6]) == "7 7 7 12 12 300"


def test_a_limit_leaves_out_the_rarest_and_says_so(tmp_path):
    recipe = AnonymisedIds(min_frequency=1, vocab_size=7)
    tokenizer = recipe.build(Memory(ROWS), cache=tmp_path)
    assert [tokenizer.token(i) for i in tokenizer.vocabulary.ordinary_ids] == ["7", "12"]
    assert recipe.remarks() == ["3 rare ids have no place in the vocabulary: they become unknown"]


def test_facts():
    assert (AnonymisedIds.has_words, AnonymisedIds.reads_text) == (False, False)


def bert(folder, **arrays):
    """Ordinary tokens 5 to 9, and one unused."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "of", "7", "and", "zebra", "[unused0]"]
    inner = tokenizers.Tokenizer(models.WordPiece({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names[:5]])
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    (folder / "tokenizer").mkdir(parents=True)
    inner.save(str(folder / "tokenizer" / "tokenizer.json"))
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return folder


def places(tokenizer, ids):
    return [int(tokenizer.encode([number])[0][0][0]) for number in ids]


def test_mapped_by_order(tmp_path):
    other = bert(tmp_path / "bert")
    recipe = AnonymisedIds(map_to=str(other))
    recipe.check()
    tokenizer = recipe.build(Memory(ROWS), cache=tmp_path)
    assert places(tokenizer, ["7", "12", "300", "9", "5"]) == [5, 6, 7, 8, 1]
    vocabulary = tokenizer.vocabulary
    assert vocabulary.size == 11
    assert vocabulary.ordinary_ids.tolist() == [5, 6, 7, 8]  # no id stands for the last one: it is never drawn
    assert [tokenizer.token(i) for i in range(5)] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert "4 ids stand for the 4 most frequent tokens" in recipe.remarks()[0]
    assert "by the order of its vocabulary" in recipe.remarks()[0]
    real = Tokenizer.load(other / "tokenizer")
    assert vocabulary.layout == real.vocabulary.layout
    assert tokenizer.mapped_to == real.hash


def test_mapped_by_counts(tmp_path):
    other = bert(tmp_path / "bert", token_counts=np.array([0, 9, 0, 0, 0, 50, 70, 10, 70, 2, 0]))
    recipe = AnonymisedIds(map_to=str(other), min_frequency=1)
    tokenizer = recipe.build(Memory([*ROWS, "1 1 2"]), cache=tmp_path)
    assert places(tokenizer, ["7", "12", "300", "9", "1", "2", "5"]) == [6, 8, 5, 7, 9, 1, 1]
    assert "by the counts kept with it" in recipe.remarks()[0]
    assert recipe.remarks()[1].startswith("2 rare ids have no place")


def test_a_mapped_tokenizer_loads_with_what_it_stands_for(tmp_path):
    tokenizer = AnonymisedIds(map_to=str(bert(tmp_path / "bert"))).build(Memory(ROWS), cache=tmp_path)
    tokenizer.save(tmp_path / "saved")
    loaded = Tokenizer.load(tmp_path / "saved")
    assert (loaded.hash, loaded.mapped_to) == (tokenizer.hash, tokenizer.mapped_to)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert theirs("7 12", "9 5")["input_ids"] == [2, 5, 6, 3, 8, 1, 3]
    assert Pretrained(str(tmp_path / "saved")).build(None, cache=tmp_path).hash == tokenizer.hash  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", RECIPES)
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 1000))
def test_the_more_frequent_id_has_the_more_frequent_token(tmp_path_factory, kind, seed):
    folder = tmp_path_factory.mktemp("map")
    real = RECIPES[kind](layout="roberta").build(mixed(), cache=folder)
    rng = np.random.default_rng(seed)
    real.save(folder / "tokenizer")
    counts = rng.integers(0, 50, real.vocabulary.size)
    np.save(folder / "token_counts.npy", counts)
    rows = [" ".join(map(str, rng.zipf(1.3, 300) % 1000)) for _ in range(3)]
    tokenizer = AnonymisedIds(map_to=str(folder), min_frequency=2).build(Memory(rows), cache=folder)
    seen = Counter(" ".join(rows).split())
    ids = [token for token, count in seen.items() if count >= 2]
    taken = dict(zip(ids, places(tokenizer, ids), strict=True))
    known = {token: place for token, place in taken.items() if place != real.vocabulary.unk_token_id}
    assert len(set(known.values())) == len(known) == min(len(ids), real.vocabulary.ordinary_ids.size)
    ranked = sorted(known, key=lambda token: -seen[token])
    for before, after in pairwise(ranked):
        assert seen[before] == seen[after] or counts[known[before]] >= counts[known[after]]
    assert set(known.values()) <= set(real.vocabulary.ordinary_ids.tolist())


def test_the_identity_changes_with_what_it_is_mapped_to(tmp_path):
    plain = AnonymisedIds().identity()
    other = bert(tmp_path / "bert")
    mapped = AnonymisedIds(map_to=str(other)).identity()
    np.save(other / "token_counts.npy", np.arange(11))
    counted = AnonymisedIds(map_to=str(other)).identity()
    assert len({json.dumps(i, sort_keys=True) for i in (plain, mapped, counted)}) == 3
    moved = other.rename(tmp_path / "moved")
    assert AnonymisedIds(map_to=str(moved)).identity() == counted


def test_refusals(tmp_path):
    other = str(bert(tmp_path / "bert"))
    for given_, message in [
        ({"min_frequency": 0}, "min_frequency=0"),
        ({"vocab_size": 5}, "vocab_size=5"),
        ({"map_to": str(tmp_path / "none")}, "map_to=.* does not exist"),
        ({"map_to": other, "vocab_size": 100}, "the other tokenizer's"),
        ({"map_to": other, "layout": "gpt"}, "the other tokenizer's"),
    ]:
        with pytest.raises(ConfigError, match=message):
            AnonymisedIds(**given_).check()
    with pytest.raises(DataError, match=r"whole numbers, but the corpus holds 'x'.*corpus=anonymised"):
        AnonymisedIds().build(Memory(["1 2 x"]), cache=tmp_path)
    with pytest.raises(DataError, match="no text"):
        AnonymisedIds().build(Memory([]), cache=tmp_path)
    np.save(tmp_path / "bert" / "token_counts.npy", np.arange(3))
    with pytest.raises(DataError, match="are of 3 ids, not of 11"):
        AnonymisedIds(map_to=other).build(Memory(ROWS), cache=tmp_path)
