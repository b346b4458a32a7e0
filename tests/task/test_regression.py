import numpy as np
import pytest

from ptcli.errors import DataError
from ptcli.task.regression import Regression
from tests.task.words import examples, letters


def read(tmp_path, *labels: str, **settings):
    table = tmp_path / "train.tsv"
    table.write_text("text\tpair\tlabel\n" + "".join(f"the cat\tdog\t{label}\n" for label in labels), encoding="utf-8")
    return Regression(path=str(table), **settings).read("train")


def test_numbers_are_targets_and_predictions(tmp_path):
    rows = read(tmp_path, "3.25", "-1", "1e2", pair="pair")
    task = Regression(pair="pair")
    encoded = task.encode(rows, tokenizer=letters(), max_length=8)
    assert examples(encoded)[0] == "[CLS] the cat [SEP] dog [SEP]"
    assert encoded.example_labels is not None and encoded.example_labels.dtype == np.float32
    assert encoded.example_labels.tolist() == [3.25, -1, 100]
    assert task.collect_labels({"train": rows}) == ()
    predictions = task.decode({"values": np.array([3.25, -1, 100])}, encoded, rows)
    assert task.score(predictions, rows)["pearson"].value == pytest.approx(1)


def test_rows_without_a_number_are_nan(tmp_path):
    (tmp_path / "rows.tsv").write_text("text\tlabel\na\t\nb\t1\n", encoding="utf-8")
    rows = Regression(path=str(tmp_path / "rows.tsv")).read("train", labelled=False)
    labels = Regression().encode(rows, tokenizer=letters(), max_length=8).example_labels
    assert labels is not None and np.isnan(labels).tolist() == [True, False]


@pytest.mark.parametrize("label", ["five", "nan", "inf"])
def test_what_is_no_number_is_named(tmp_path, label):
    with pytest.raises(DataError, match=r"train\.tsv:3 has .*as its label"):
        read(tmp_path, "1", label)
