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
    (tmp_path / "vocab" / "vocab.txt").write_text("[PAD]")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "tokenizer.json").write_text("{}")
    for path, message in [
        (None, "tokenizer.path=FOLDER"),
        (tmp_path / "none", "does not exist"),
        (tmp_path / "vocab", r"holds no tokenizer\.json, but vocab\.txt"),
        (tmp_path / "bad", "is no tokenizer"),
        (bert(tmp_path / "gpt", tokens=("[PAD]", "[UNK]")), "needs a mask_token"),
        (bert(tmp_path / "no_pad", tokens=("[UNK]", "[MASK]")), "needs a pad_token"),
        (bert(tmp_path / "declared", tokenizer_config={"mask_token": "<m>"}), "declares <m>"),
    ]:
        with pytest.raises(ConfigError, match=message):
            Pretrained(path if path is None else str(path)).check()
