import pytest

from ptcli.errors import ConfigError
from ptcli.tokenizer.families import FAMILIES, family
from ptcli.tokenizer.words import WordVocabulary
from tests.tokenizer.recipes import Memory

PLACES = {
    "bert": (["[CLS]"], ["[SEP]"], ["[SEP]"], False),
    "roberta": (["<s>"], ["</s>", "</s>"], ["</s>"], False),
    "xlnet": ([], ["<sep>"], ["<sep>", "<cls>"], True),
    "t5": ([], ["</s>"], ["</s>"], True),
    "gpt": (["<start>"], ["<delimiter>"], ["<extract>"], True),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_where_special_tokens_stand(tmp_path, name):
    tokenizer = WordVocabulary(min_frequency=1, layout=name).build(Memory(["a b"]), cache=tmp_path)
    layout = tokenizer.vocabulary.layout
    found = [[tokenizer.token(i) for i in part] for part in (layout.prefix, layout.between, layout.suffix)]
    assert (*found, layout.classify_last) == PLACES[name]
    for role in ("pad_token", "unk_token", "mask_token"):
        token = getattr(FAMILIES[name].roles, role)
        assert getattr(tokenizer.vocabulary, f"{role}_id") == tokenizer.id(token)


def test_the_first_sentinel_of_t5_is_the_last_id(tmp_path):
    tokenizer = WordVocabulary(min_frequency=1, layout="t5").build(Memory(["a b"]), cache=tmp_path)
    assert tokenizer.vocabulary.size == 4 + 2 + 100
    assert tokenizer.id("<extra_id_0>") == 105
    assert tokenizer.id("<extra_id_99>") == 6


def test_an_unknown_family_is_refused():
    with pytest.raises(ConfigError, match="Choose one of bert, roberta, xlnet, t5, gpt"):
        family("elmo")
