import json

import pytest
import tokenizers
from tokenizers import AddedToken, models, pre_tokenizers, processors

from ptcli.errors import ConfigError
from ptcli.tokenizer.pretrained import Pretrained


def bert(folder, tokens=("[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), **files):
    names = [*tokens, "a", "b", "##b", "<ent>"]
    inner = tokenizers.Tokenizer(models.WordPiece({t: i for i, t in enumerate(names)}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.add_special_tokens(
        [AddedToken(t, special=True, normalized=False) for t in names if t[0] in "[<" and "unused" not in t]
    )
    inner.enable_truncation(max_length=3)
    inner.enable_padding(length=8)
    folder.mkdir(parents=True, exist_ok=True)
    inner.save(str(folder / "tokenizer.json"))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def roberta(folder, processor=False):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = ["<s>", "<pad>", "</s>", "<unk>", *alphabet, "<mask>"]
    inner = tokenizers.Tokenizer(models.BPE({t: i for i, t in enumerate(names)}, [], unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True), "<s>", "<pad>", "</s>", "<unk>"])
    if processor:
        inner.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    folder.mkdir()
    inner.save(str(folder / "tokenizer.json"))
    return folder


def build(path):
    recipe = Pretrained(str(path))
    recipe.check()
    return recipe.build(None, cache=None)  # type: ignore[arg-type]


def test_a_folder_a_file_and_a_run(tmp_path):
    folder = bert(tmp_path / "bert")
    run = bert(tmp_path / "run" / "model").parent
    tokenizer = build(folder)
    assert build(folder / "tokenizer.json").hash == build(run).hash == tokenizer.hash
    assert Pretrained(str(folder)).identity() == Pretrained(str(run)).identity()


def test_ids_are_found_by_name_and_unused_and_added_ones_are_special(tmp_path):
    vocabulary = build(bert(tmp_path / "bert")).vocabulary
    assert (vocabulary.pad_token_id, vocabulary.unk_token_id, vocabulary.cls_token_id) == (0, 2, 3)
    assert (vocabulary.sep_token_id, vocabulary.mask_token_id, vocabulary.size) == (4, 5, 10)
    assert vocabulary.ordinary_ids.tolist() == [6, 7, 8]  # not [unused0], not <ent>


def test_a_stored_truncation_and_padding_cut_nothing(tmp_path):
    ids, _, _ = build(bert(tmp_path / "bert")).encode(["a b a b a"])[0]
    assert ids.tolist() == [6, 7, 6, 7, 6]


def test_names_that_the_folder_declares_win(tmp_path):
    folder = bert(
        tmp_path / "bert",
        tokens=("[PAD]", "[UNK]", "[BOS]", "[SEP]", "[MASK]", "[HIDE]"),
        special_tokens_map={"cls_token": {"content": "[BOS]"}},
        tokenizer_config={"mask_token": "[HIDE]", "cls_token": "[SEP]"},
    )
    vocabulary = build(folder).vocabulary
    assert vocabulary.cls_token_id == 2
    assert vocabulary.mask_token_id == 5


@pytest.mark.parametrize("processor", [False, True])
def test_roberta_doubles_the_separator_and_may_use_id_0(tmp_path, processor):
    tokenizer = build(roberta(tmp_path / "roberta", processor))
    layout = tokenizer.vocabulary.layout
    assert (layout.prefix, layout.between, layout.suffix) == ((0,), (2, 2), (2,))
    assert tokenizer.vocabulary.mask_token_id == tokenizer.id("<mask>")
    ids, starts, ends = tokenizer.encode(["x <mask>é"])[0]
    assert tokenizer.token(ids[1]) == "<mask>"
    assert (starts[1], ends[1]) in ((1, 8), (2, 8))
    assert (starts[-1], ends[-1]) == (8, 9)


def test_refusals(tmp_path):
    (tmp_path / "vocab").mkdir()
    (tmp_path / "vocab" / "vocab.bin").write_text("[PAD]")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "tokenizer.json").write_text("{}")
    for path, message in [
        (None, "tokenizer.path=FOLDER"),
        (tmp_path / "none", "does not exist"),
        (tmp_path / "vocab", r"holds no tokenizer\.json and no vocab\.txt, but vocab\.bin"),
        (tmp_path / "bad", "is no tokenizer"),
        (bert(tmp_path / "gpt", tokens=("[PAD]", "[UNK]")), "needs a mask_token"),
        (bert(tmp_path / "no_pad", tokens=("[UNK]", "[MASK]")), "needs a pad_token"),
        (bert(tmp_path / "declared", tokenizer_config={"mask_token": "<m>"}), "declares <m>"),
    ]:
        with pytest.raises(ConfigError, match=message):
            Pretrained(path if path is None else str(path)).check()


VOCABULARY = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hello", "un", "##able", "é", "中", ","]


def bare(folder, entries=VOCABULARY, **config):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(entries) + "\n", encoding="utf-8")
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def test_a_bare_vocabulary_is_read_as_bert_reads_it(tmp_path):
    tokenizer = build(bare(tmp_path / "bert"))
    assert build(tmp_path / "bert" / "vocab.txt").hash == tokenizer.hash
    assert [tokenizer.token(i) for i in tokenizer.encode(["Hello unable, 中中 [MASK] x"])[0][0]] == (
        ["hello", "un", "##able", ",", "中", "中", "[MASK]", "[UNK]"]
    )
    layout = tokenizer.vocabulary.layout
    assert (layout.prefix, layout.between, layout.suffix) == ((3,), (4,), (4,))
    assert tokenizer.vocabulary.ordinary_ids.tolist() == [6, 7, 8, 9, 10, 11]
    theirs = pytest.importorskip("transformers").BertTokenizerFast(str(tmp_path / "bert" / "vocab.txt"))
    for line in ("Hello, unable 中 [MASK]", "hello\x00 , é"):
        assert theirs(line)["input_ids"] == [3, *tokenizer.encode([line])[0][0], 4]


def test_whether_a_bare_vocabulary_is_uncased(tmp_path):
    def knows(folder, **given):
        tokenizer = Pretrained(str(folder), **given).build(None, cache=None)  # type: ignore[arg-type]
        return tokenizer.vocabulary.unk_token_id not in tokenizer.encode(["Hello"])[0][0]

    assert knows(bare(tmp_path / "small"))
    assert not knows(tmp_path / "small", lowercase=False)
    assert not knows(bare(tmp_path / "capitals", [*VOCABULARY, "World"]))
    assert knows(bare(tmp_path / "said", [*VOCABULARY, "World"], do_lower_case=True))
    assert (
        Pretrained(str(tmp_path / "small"), lowercase=False).identity()
        != Pretrained(str(tmp_path / "small")).identity()
    )


def test_refusals_of_bare_vocabularies(tmp_path):
    for folder, given, message in [
        (bare(tmp_path / "twice", [*VOCABULARY, "un", "é"]), {}, "2 of its lines stand there twice"),
        (bare(tmp_path / "no_cls", [e for e in VOCABULARY if e != "[CLS]"]), {}, "lacks"),
        (bert(tmp_path / "whole"), {"lowercase": True}, r"lowercase does nothing, because .*tokenizer\.json"),
    ]:
        with pytest.raises(ConfigError, match=message):
            Pretrained(str(folder), **given).check()


def test_a_run_and_a_store(tmp_path):
    assert build(bert(tmp_path / "run" / "model" / "tokenizer").parents[1]).hash
    assert build(bert(tmp_path / "store" / "tokenizer").parent).hash
