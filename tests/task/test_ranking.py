import numpy as np
import pytest

from ptcli.errors import ConfigError
from ptcli.task.ranking import Ranking
from tests.task.words import examples, letters

ROWS = "query\tcandidate\trelevance\nwho\tthe cat\t1\nwho\tdog\t0\non\tmat\t2.5\nwho\tsat\t\n"


def read(tmp_path, text=ROWS, **settings):
    (tmp_path / "train.tsv").write_text(text, encoding="utf-8")
    columns = {"text": "query", "pair": "candidate", "label": "relevance", **settings}
    task = Ranking(path=str(tmp_path / "train.tsv"), **columns)
    task.check()
    return task, task.read("train", labelled=False)


def test_candidates_are_numbered_by_query(tmp_path):
    task, rows = read(tmp_path)
    encoded = task.encode(rows, tokenizer=letters(), max_length=8)
    assert examples(encoded)[0] == "[CLS] who [SEP] the cat [SEP]"
    assert encoded.question_numbers is not None and encoded.question_numbers.tolist() == [0, 0, 1, 0]
    assert encoded.example_labels is not None and encoded.example_labels.dtype == np.float32
    assert encoded.example_labels[:3].tolist() == [1, 0, 2.5] and np.isnan(encoded.example_labels[3])
    predictions = task.decode({"scores": np.array([2.0, 1, 0, 3])}, encoded, rows)
    assert [prediction["rank"] for prediction in predictions] == [2, 3, 1, 1]
    assert task.score(predictions, rows)["reciprocal_rank"].value == 1


def test_a_column_says_what_belongs_together(tmp_path):
    text = "query\tcandidate\trelevance\tset\nwho\ta\t1\tx\nwho\tb\t0\ty\n"
    task, rows = read(tmp_path, text, group="set")
    assert [row.group for row in rows] == ["x", "y"]
    assert task.group_of(rows[0]) != task.group_of(rows[1])


def test_names_can_be_labels(tmp_path):
    text = "query\tcandidate\trelevance\nwho\ta\tentailment\nwho\tb\tnot_entailment\n"
    _, rows = read(tmp_path, text, relevant="entailment")
    assert [row.label for row in rows] == [1, 0]


def test_a_ranking_without_candidates_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"task\.pair=COLUMN"):
        Ranking(path=str(tmp_path), pair=None).check()
