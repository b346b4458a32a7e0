import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import ConfigError
from ptcli.task.examples import cut_longest_first
from ptcli.task.pair_classification import PairClassification
from ptcli.task.rows import Row
from tests.task.words import examples, letters

LABELS = ("no", "yes")


def pairs(*texts: tuple[str, str]):
    return [Row(index=i, texts=both, label="yes", source=f"rows.tsv:{i}") for i, both in enumerate(texts)]


@given(first=st.integers(0, 40), second=st.integers(0, 40), room=st.integers(2, 50))
def test_the_longer_piece_is_cut_one_by_one(first, second, room):
    """As BERT's code does it: while both do not fit, the longer one loses its last token, of equals the second."""
    lengths = [first, second]
    while sum(lengths) > room:
        lengths[0 if lengths[0] > lengths[1] else 1] -= 1
    assert cut_longest_first([first, second], room) == lengths


def test_two_texts_are_two_segments():
    encoded = PairClassification().encode(
        pairs(("the cat", "dog"), ("", "mat")), tokenizer=letters(), max_length=16, labels=LABELS
    )
    assert examples(encoded) == ["[CLS] the cat [SEP] dog [SEP]", "[CLS] [SEP] mat [SEP]"]
    assert encoded.segments.tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 1, 1]
    assert encoded.question_numbers is None


def test_a_pair_too_long_loses_from_the_longer_text():
    rows = pairs(("the cat sat on the mat", "who"), ("who", "the cat"))
    encoded = PairClassification().encode(rows, tokenizer=letters(), max_length=7, labels=LABELS)
    assert examples(encoded) == ["[CLS] the cat sat [SEP] who [SEP]", "[CLS] who [SEP] the cat [SEP]"]
    assert encoded.num_truncated == 1


def test_robertas_two_separators_are_of_the_first_segment():
    tokenizer = letters("roberta")
    encoded = PairClassification().encode(pairs(("the", "cat")), tokenizer=tokenizer, max_length=8, labels=LABELS)
    assert examples(encoded, tokenizer) == ["<s> the </s> </s> cat </s>"]
    assert encoded.segments.tolist() == [0, 0, 0, 0, 1, 1]


def test_texts_apart_are_examples_of_their_own_with_one_label():
    task = PairClassification(apart=True)
    encoded = task.encode(pairs(("the cat", "dog"), ("who", "mat")), tokenizer=letters(), max_length=4, labels=LABELS)
    assert examples(encoded) == ["[CLS] the cat [SEP]", "[CLS] dog [SEP]", "[CLS] who [SEP]", "[CLS] mat [SEP]"]
    assert encoded.row_of_example.tolist() == [0, 0, 1, 1]
    assert encoded.question_numbers is not None and encoded.question_numbers.tolist() == [0, 0, 1, 1]
    assert encoded.example_labels is not None and encoded.example_labels.tolist() == [1, 1]
    assert not encoded.segments.any()


def test_a_row_apart_counts_once_as_cut():
    task = PairClassification(apart=True)
    rows = pairs(("the cat sat", "the cat sat"), ("a", "b"))
    assert task.encode(rows, tokenizer=letters(), max_length=4, labels=LABELS).num_truncated == 1


def test_swapped_pairs_are_another_version_of_the_rows():
    rows = pairs(("the cat", "dog"))
    assert PairClassification().versions(rows) == [rows]
    one, other = PairClassification(swap_pairs=True).versions(rows)
    assert (one[0].texts, other[0].texts) == (("the cat", "dog"), ("dog", "the cat"))
    assert (other[0].label, other[0].index) == (rows[0].label, rows[0].index)


def test_a_pair_and_its_swap_are_of_one_group():
    task = PairClassification()
    one, other, third = pairs(("a", "b"), ("b", "a"), ("a", "c"))
    assert task.group_of(one) == task.group_of(other) != task.group_of(third)


@pytest.mark.parametrize("key", ["apart", "swap_pairs"])
def test_what_does_nothing_without_a_second_text_is_refused(key, tmp_path):
    (tmp_path / "train.tsv").write_text("a\tb\t1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"task\.{key}=true does nothing"):
        PairClassification(path=str(tmp_path), pair=None, **{key: True}).check()


def test_anonymised_ids_are_text():
    from tokenizers import Tokenizer as Inner
    from tokenizers import models, pre_tokenizers

    from ptcli.tokenizer.families import dress, family
    from ptcli.tokenizer.tokenizer import Tokenizer

    chosen = family("bert")
    inner = Inner(models.WordLevel({t: n for n, t in enumerate([*chosen.first, "0", "12", "7"])}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # type: ignore[assignment]
    dress(inner, chosen)
    ids = Tokenizer(inner, special_tokens=chosen.roles)
    encoded = PairClassification().encode(pairs(("12 0", "99 7")), tokenizer=ids, max_length=8, labels=LABELS)
    assert examples(encoded, ids) == ["[CLS] 12 0 [SEP] [UNK] 7 [SEP]"]
    assert np.array_equal(encoded.offsets, [0, 7])
