from ptcli.tokenizer.words import WordVocabulary
from tests.tokenizer.recipes import Memory


def test_the_frequent_words_are_known_and_the_others_are_not(tmp_path):
    corpus = Memory(["the cat, the dog, the cow; a cat a dog 中国 中国 once"])
    tokenizer = WordVocabulary().build(corpus, cache=tmp_path)
    words = [tokenizer.token(number) for number in tokenizer.vocabulary.ordinary_ids]
    assert words == ["the", ",", "a", "cat", "dog", "中", "国"]
    few = WordVocabulary(vocab_size=8, min_frequency=1).build(corpus, cache=tmp_path)
    ids = few.encode(["The cat, the zebra"])[0][0]
    assert [few.token(number) for number in ids] == ["[UNK]", "[UNK]", ",", "the", "[UNK]"]
