import pytest

from ptcli.corpus.text import Text
from ptcli.errors import ConfigError, DataError
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.wordpiece import WordPiece

ENGLISH = "The quick brown fox jumps over the lazy dog. Unbelievable internationalisation happens!\n\n" * 3
CHINESE = "我喜欢自然语言处理。他们在北京学习，天气很好！\n\n" * 3


@pytest.fixture
def corpus(tmp_path):
    file = tmp_path / "corpus.txt"
    file.write_text(ENGLISH + CHINESE, encoding="utf-8")
    return Text(str(file))


def test_special_tokens_and_size(corpus, tmp_path):
    tokenizer = WordPiece(vocab_size=300).build(corpus, cache=tmp_path)
    vocabulary = tokenizer.vocabulary
    assert [tokenizer.token(i) for i in range(5)] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert vocabulary.size <= 300
    assert vocabulary.mask_token_id == tokenizer.id("[MASK]") == 4
    ids, starts, ends = tokenizer.encode(["a [MASK] b"])[0]
    assert (ids == 4).sum() == 1
    at = int((ids == 4).argmax())
    assert (starts[at], ends[at]) == (2, 8)
    assert vocabulary.special.sum() == 5
    assert vocabulary.ordinary_ids.tolist() == list(range(5, vocabulary.size))
    assert (vocabulary.layout.prefix, vocabulary.layout.between, vocabulary.layout.suffix) == ((2,), (3,), (3,))


def test_it_encodes_and_decodes(corpus, tmp_path):
    tokenizer = WordPiece().build(corpus, cache=tmp_path)
    ids, starts, ends = tokenizer.encode(["The quick 我喜欢!"])[0]
    assert tokenizer.decode(ids) == "the quick 我 喜 欢!"
    assert ["The quick 我喜欢!"[a:b].lower() for a, b in zip(starts, ends, strict=True)] == [
        tokenizer.token(i).removeprefix("##") for i in ids
    ]
    assert tokenizer.encode([]) == []
    assert tokenizer.encode([""])[0][0].size == 0
    cased = WordPiece(lowercase=False).build(corpus, cache=tmp_path)
    assert cased.decode(cased.encode(["The Quick"])[0][0]).startswith("The ")


def test_a_vocabulary_that_the_corpus_cannot_fill_is_said(corpus, tmp_path):
    recipe = WordPiece(vocab_size=30522)
    size = recipe.build(corpus, cache=tmp_path).vocabulary.size
    assert recipe.remarks() == [f"tokenizer.vocab_size=30522 asked, the corpus gives {size}"]
    again = WordPiece(vocab_size=30522)
    again.build(corpus, cache=tmp_path)
    assert again.remarks() == recipe.remarks()  # also when it comes from the cache


def test_characters_without_room_are_said(corpus, tmp_path):
    recipe = WordPiece(vocab_size=40)
    assert recipe.build(corpus, cache=tmp_path).vocabulary.size == 40
    assert "has no room for" in recipe.remarks()[0]


def test_a_sample_is_said(corpus, tmp_path):
    recipe = WordPiece(sample_characters=200)
    recipe.build(corpus, cache=tmp_path)
    assert any("was trained on" in remark for remark in recipe.remarks())


def test_it_is_found_again_and_changes_with_settings_and_text(corpus, tmp_path, monkeypatch):
    first = WordPiece().build(corpus, cache=tmp_path)
    monkeypatch.setattr(WordPiece, "_train", lambda *a: pytest.fail("trained again"))
    assert WordPiece().build(corpus, cache=tmp_path).hash == first.hash
    monkeypatch.undo()
    assert WordPiece(vocab_size=100).build(corpus, cache=tmp_path).hash != first.hash
    assert WordPiece(lowercase=False).build(corpus, cache=tmp_path).hash != first.hash
    (tmp_path / "corpus.txt").write_text(ENGLISH.replace("fox", "wolf"), encoding="utf-8")
    assert WordPiece().build(Text(str(tmp_path / "corpus.txt")), cache=tmp_path).hash != first.hash
    assert len(list((tmp_path / "tokenizers").glob("*/tokenizer.json"))) == 4


@pytest.mark.parametrize("name", ["tokenizer.json", "training.json", "special_tokens_map.json"])
def test_a_damaged_one_is_trained_again(corpus, tmp_path, name):
    first = WordPiece().build(corpus, cache=tmp_path)
    (file,) = (tmp_path / "tokenizers").glob(f"*/{name}")
    file.write_text("{")
    assert WordPiece().build(corpus, cache=tmp_path).hash == first.hash


def test_save_and_load(corpus, tmp_path):
    tokenizer = WordPiece().build(corpus, cache=tmp_path)
    tokenizer.save(tmp_path / "saved")
    loaded = Tokenizer.load(tmp_path / "saved")
    assert loaded.hash == tokenizer.hash
    assert loaded.encode([ENGLISH])[0][0].tolist() == tokenizer.encode([ENGLISH])[0][0].tolist()
    (tmp_path / "saved" / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match=r"tokenizer\.json"):
        Tokenizer.load(tmp_path / "saved")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vocab_size": 5}, "tokenizer.vocab_size=5"),
        ({"min_frequency": 0}, "min_frequency=0"),
        ({"sample_characters": 0}, "sample"),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(ConfigError, match=message):
        WordPiece(**settings).check()


def test_a_corpus_without_text_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text(" \n ")
    with pytest.raises(DataError, match="no text"):
        WordPiece().build(Text(str(tmp_path / "a.txt")), cache=tmp_path)
    assert [p.name for p in (tmp_path / "tokenizers").iterdir() if p.is_dir()] == []
