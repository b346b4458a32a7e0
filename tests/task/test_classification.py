import numpy as np
import pytest

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError, DataError
from ptcli.task.classification import Classification
from ptcli.task.rows import Row
from tests.task.words import examples, letters

LABELS = ("bad", "good")


def rows_of(*texts: str, labels=None):
    labels = labels or [None] * len(texts)
    return [
        Row(index=i, texts=(text,), label=label, source=f"rows.tsv:{i + 1}")
        for i, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def test_texts_become_examples_with_special_tokens_and_numbers_of_labels():
    rows = rows_of("the cat", "", "a mat", labels=["good", "bad", None])
    encoded = Classification().encode(rows, tokenizer=letters(), max_length=8, labels=LABELS)
    assert examples(encoded) == ["[CLS] the cat [SEP]", "[CLS] [SEP]", "[CLS] a mat [SEP]"]
    assert encoded.example_labels is not None
    assert encoded.example_labels.tolist() == [1, 0, IGNORE_INDEX]
    assert encoded.example_labels.dtype == np.int64 and encoded.tokens.dtype == np.int32
    assert encoded.row_of_example.tolist() == [0, 1, 2]
    assert (encoded.num_truncated, encoded.classification_places.tolist()) == (0, [0, 4, 6])


@pytest.mark.parametrize(("layout", "told"), [("roberta", "<s> the cat </s>"), ("xlnet", "the cat <sep> <cls>")])
def test_layouts_are_the_tokenizers_own(layout, told):
    tokenizer = letters(layout)
    encoded = Classification().encode(rows_of("the cat", "dog"), tokenizer=tokenizer, max_length=8, labels=LABELS)
    assert examples(encoded, tokenizer)[0] == told
    classified = [tokenizer.token(encoded.tokens[place]) for place in encoded.classification_places]
    assert classified == [tokenizer.special_tokens.cls_token] * 2


def test_long_texts_are_cut_at_their_end_and_counted():
    encoded = Classification().encode(rows_of("the cat sat on", "the"), tokenizer=letters(), max_length=4)
    assert examples(encoded) == ["[CLS] the cat [SEP]", "[CLS] the [SEP]"]
    assert encoded.num_truncated == 1
    with pytest.raises(ConfigError, match=r"max_length=2 leaves no room.*max_length=3 or more"):
        Classification().encode(rows_of("the"), tokenizer=letters(), max_length=2)


def test_a_label_that_the_model_does_not_know_is_named_with_its_row():
    with pytest.raises(DataError, match=r"rows\.tsv:1: the label 'fair' is none of the model's: bad, good"):
        Classification().encode(rows_of("a", labels=["fair"]), tokenizer=letters(), max_length=8, labels=LABELS)


def test_no_rows_make_no_examples():
    encoded = Classification().encode([], tokenizer=letters(), max_length=8, labels=LABELS)
    assert (encoded.num_examples, len(encoded.tokens)) == (0, 0)


def test_outputs_become_predictions_and_scores():
    task, rows = Classification(), rows_of("a", "b", labels=["good", "bad"])
    encoded = task.encode(rows, tokenizer=letters(), max_length=8, labels=LABELS)
    predictions = task.decode({"logits": np.array([[0.0, 9.0], [0.0, 9.0]])}, encoded, rows, labels=LABELS)
    assert [prediction["label"] for prediction in predictions] == ["good", "good"]
    assert task.score(predictions, rows, labels=LABELS)["accuracy"].value == 0.5
