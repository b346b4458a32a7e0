"""What holds for every tokenizer that is trained."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.corpus.document import Document
from ptcli.errors import ConfigError, DataError
from ptcli.mask.examples import Examples
from ptcli.mask.whole_word import WholeWordMask
from ptcli.tokenizer.families import FAMILIES
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.trained import TrainedTokenizer
from ptcli.words.alignment import word_starts
from ptcli.words.unicode import Unicode
from tests.tokenizer.recipes import CHINESE, HUAWEI, RECIPES, TEXTS, UNBELIEVABLE, Memory, mixed


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Tokenizer and the one that transformers loads from its folder, by kind and layout; each made once."""
    made = {}

    def get(kind, layout="bert"):
        if (kind, layout) not in made:
            folder = tmp_path_factory.mktemp(kind)
            tokenizer = RECIPES[kind](layout=layout).build(mixed(), cache=folder)
            tokenizer.save(folder / "saved")
            made[kind, layout] = tokenizer, transformers.AutoTokenizer.from_pretrained(folder / "saved")
        return made[kind, layout]

    return get


def groups(tokenizer, text):
    """The words that the tokens make, as text."""
    _, starts, ends = tokenizer.encode([text])[0]
    begins, num_words, num_unaligned = word_starts(starts, ends, Unicode().spans(Document(text)), len(text))
    firsts = np.append(np.flatnonzero(begins), starts.size)
    found = [text[starts[a:b].min() : ends[a:b].max()].strip() for a, b in pairwise(firsts)]
    return found, num_words, num_unaligned


@pytest.mark.parametrize("kind", RECIPES)
def test_words_are_the_same_three(trained, kind):
    found, num_words, num_unaligned = groups(trained(kind)[0], UNBELIEVABLE)
    assert (found, num_words, num_unaligned) == (UNBELIEVABLE.split(), 3, 0)


@pytest.mark.parametrize("kind", RECIPES)
@pytest.mark.parametrize("text", [HUAWEI, CHINESE, "Hello,  world-wide (naïve)"])
def test_each_aligned_word_is_whole_and_the_others_are_counted(trained, kind, text):
    found, num_words, num_unaligned = groups(trained(kind)[0], text)
    words = [text[a:b] for a, b in Unicode().spans(Document(text))]
    assert num_words == len(words)
    assert len([word for word in words if word in found]) >= num_words - num_unaligned
    if kind in ("wordpiece", "words") and text != HUAWEI:  # ¥5999😀 is one word of BERT's
        assert (found, num_unaligned) == (words, 0)


@pytest.mark.parametrize("kind", RECIPES)
@settings(deadline=None, max_examples=60)
@given(text=st.text(st.sampled_from("ab éﬁ Ｈ中国。,-'\u0301\u200d😀\t\n[]MASK"), max_size=40))
def test_masks_undone_are_what_transformers_gives_for_the_line(trained, kind, text):
    tokenizer, theirs = trained(kind)
    ids, starts, ends = tokenizer.encode([text])[0]
    layout, special = tokenizer.vocabulary.layout, tokenizer.vocabulary.special
    tokens = np.concatenate([layout.prefix, ids, layout.suffix]).astype(np.int32)
    begins = np.zeros(tokens.size, bool)
    begins[len(layout.prefix) : len(layout.prefix) + ids.size] = word_starts(
        starts, ends, Unicode().spans(Document(text)), len(text)
    )[0]
    examples = Examples(
        tokens, np.array([0, tokens.size], np.int64), ~special[tokens], begins, np.array([7], np.uint64)
    )
    masked = WholeWordMask(vocabulary=tokenizer.vocabulary, ratio=0.5)(examples, seed=1, epoch=0)
    undone = np.where(masked.labels >= 0, masked.labels, masked.input_ids)
    assert undone.tolist() == theirs(text)["input_ids"]


@pytest.mark.parametrize("layout", FAMILIES)
@pytest.mark.parametrize("kind", RECIPES)
def test_transformers_lays_out_single_and_pair_alike(trained, kind, layout):
    tokenizer, theirs = trained(kind, layout)
    vocabulary, chosen = tokenizer.vocabulary, FAMILIES[layout]
    around = vocabulary.layout
    first, second = (ids.tolist() for ids, _, _ in tokenizer.encode(["the river", CHINESE]))
    single = theirs("the river")
    assert single["input_ids"] == [*around.prefix, *first, *around.suffix]
    pair = theirs("the river", CHINESE)
    assert pair["input_ids"] == [*around.prefix, *first, *around.between, *second, *around.suffix]
    front, back = len(around.prefix) + len(first) + len(around.between), len(second) + len(around.suffix)
    assert pair["token_type_ids"] == [0] * front + [1] * back
    assert (theirs.mask_token_id, theirs.pad_token_id) == (vocabulary.mask_token_id, vocabulary.pad_token_id)
    assert theirs.mask_token == chosen.roles.mask_token
    assert len(theirs) == vocabulary.size
    tokens = [tokenizer.token(number) for number in range(vocabulary.size)]
    assert tokens[: len(chosen.first)] == list(chosen.first)
    assert tokens[vocabulary.size - len(chosen.last) :] == list(chosen.last)
    assert vocabulary.special.sum() == chosen.size


@pytest.mark.parametrize("kind", RECIPES)
def test_the_mask_token_in_a_text_is_one_token(trained, kind):
    tokenizer, _ = trained(kind)
    ids, starts, ends = tokenizer.encode(["the [MASK] of"])[0]
    at = ids.tolist().index(tokenizer.vocabulary.mask_token_id)
    assert (starts[at], ends[at]) == (3 if kind in ("bpe", "unigram") else 4, 10), "with the space that its word holds"
    assert tokenizer.vocabulary.special[ids].sum() == 1


@pytest.mark.parametrize("layout", ["bert", "roberta"])
@pytest.mark.parametrize("kind", RECIPES)
@pytest.mark.parametrize(
    "text", ["The fox's river, of a naïve fox (3.14).", "Hello,  world-wide\n\nagain: the rivers!", CHINESE]
)
def test_a_mask_typed_for_a_word_is_what_training_fed(trained, kind, layout, text):
    """A word's tokens replaced by one mask, as training does; and the mask token typed in the place of the word."""
    tokenizer, theirs = trained(kind, layout)
    mask, name = tokenizer.vocabulary.mask_token_id, tokenizer.special_tokens.mask_token
    ids, starts, ends = tokenizer.encode([text])[0]
    begins, _, _ = word_starts(starts, ends, Unicode().spans(Document(text)), len(text))
    tried = 0
    for first, last in Unicode().spans(Document(text)):
        inside = np.flatnonzero((starts < last) & (ends > first))
        whole = (
            begins[inside[0]]
            and (ends[inside[-1]] == last)
            and text[starts[inside[0]] : last].strip() == text[first:last]
        )
        if not whole:  # its tokens reach over its neighbours: no mask of whole words hides it
            continue
        fed = [*ids[: inside[0]], mask, *ids[inside[-1] + 1 :]]
        typed = text[:first] + name + text[last:]
        assert tokenizer.encode([typed])[0][0].tolist() == fed
        assert theirs(typed, add_special_tokens=False)["input_ids"] == fed
        tried += 1
    assert tried > 1 or text == CHINESE


@pytest.mark.parametrize("kind", RECIPES)
def test_training_is_the_same_in_every_process(tmp_path, kind):
    code = (
        "import sys; from pathlib import Path; from tests.tokenizer.recipes import RECIPES, mixed;"
        "print(RECIPES[sys.argv[1]]().build(mixed(), cache=Path(sys.argv[2])).hash)"
    )
    hashes = set()
    for seed in ("0", "1"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "RAYON_NUM_THREADS": str(1 + int(seed)),
            "TOKENIZERS_PARALLELISM": "true",
        }
        command = [sys.executable, "-c", code, kind, str(tmp_path / seed)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        hashes.add(done.stdout)
    assert len(hashes) == 1


@pytest.mark.parametrize("kind", RECIPES)
def test_it_is_found_again_and_loads_as_it_was_saved(tmp_path, kind, monkeypatch):
    recipe = RECIPES[kind]()
    first = recipe.build(mixed(), cache=tmp_path)
    monkeypatch.setattr(TrainedTokenizer, "_train", lambda *a: pytest.fail("trained again"))
    again = RECIPES[kind]()
    assert again.build(mixed(), cache=tmp_path).hash == first.hash
    assert again.remarks() == recipe.remarks()
    first.save(tmp_path / "saved")
    loaded = Tokenizer.load(tmp_path / "saved")
    assert loaded.hash == first.hash
    assert [a.tolist() for a in loaded.encode(TEXTS)[0]] == [a.tolist() for a in first.encode(TEXTS)[0]]


@pytest.mark.parametrize("kind", RECIPES)
def test_settings_change_the_identity(kind):
    plain = RECIPES[kind]().identity()
    for change in ({"vocab_size": 410}, {"lowercase": not plain["lowercase"]}, {"nfkc": not plain["nfkc"]}):
        assert RECIPES[kind](**change).identity() != plain
    assert RECIPES[kind](layout="xlnet").identity() != plain


@pytest.mark.parametrize("kind", RECIPES)
def test_normalisation(tmp_path, kind):
    text = "Ｈello Ünder ﬁsh Hello under fish " * 3
    for lowercase, strip_accents, nfkc in [(False, False, False), (True, None, True), (False, True, True)]:
        given = {"lowercase": lowercase, "strip_accents": strip_accents, "nfkc": nfkc}
        tokenizer = RECIPES[kind](**given).build(Memory([text]), cache=tmp_path)
        encoded = [ids.tolist() for ids, _, _ in tokenizer.encode(["Ｈello", "Hello", "Ünder", "Under", "under"])]
        assert (encoded[0] == encoded[1]) is nfkc
        assert (encoded[2] == encoded[3]) is (lowercase or bool(strip_accents))
        assert (encoded[3] == encoded[4]) is lowercase


@pytest.mark.parametrize("kind", RECIPES)
def test_refusals(tmp_path, kind):
    for change, message in [
        ({"vocab_size": 5}, "vocab_size=5"),
        ({"sample_characters": 0}, "sample_characters=0"),
        ({"layout": "elmo"}, "layout=elmo is unknown. Choose one of bert, roberta"),
    ]:
        with pytest.raises(ConfigError, match=message):
            RECIPES[kind](**change).check()
    with pytest.raises(DataError, match="no text"):
        RECIPES[kind]().build(Memory([" \n "]), cache=tmp_path)


@pytest.mark.parametrize("kind", RECIPES)
def test_a_sample_is_said(tmp_path, kind):
    recipe = RECIPES[kind](sample_characters=3000)
    recipe.build(mixed(), cache=tmp_path)
    assert any("was trained on" in remark for remark in recipe.remarks())
