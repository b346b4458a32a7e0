import json
from types import SimpleNamespace

import pytest

from ptcli.errors import ConfigError, DataError
from ptcli.task.rows import Row
from ptcli.task.submission import Submission


def task(target, *, name=None, best_metric="accuracy"):
    return SimpleNamespace(target=target, source=SimpleNamespace(name=name), best_metric=best_metric)


def rows(number=2, **settings):
    return [Row(index=i, texts=("x",), id=str(10 + i), source=f"f:{i}", **settings) for i in range(number)]


def lines(task, answers, *, labels=("no", "yes"), given=None):
    submission, given = Submission(task, labels=labels), given or rows(len(answers))
    middle = [line for row, answer in zip(given, answers, strict=True) for line in submission.lines([row], [answer])]
    return [*submission.begin(), *middle, *submission.end()]


ANSWERS = [{"label": "yes", "probabilities": {"no": 0.25, "yes": 0.75}}, {"label": "no", "probabilities": {"yes": 0.5}}]


def test_a_table_below_its_names():
    assert lines(task("class"), ANSWERS) == ["index\tprediction", "0\tyes", "1\tno"]
    assert lines(task("value"), [{"value": 2.5}]) == ["index\tprediction", "0\t2.5"]


def test_a_probability_a_line_where_the_metric_looks_at_it():
    assert lines(task("class", best_metric="roc_auc"), ANSWERS) == ["0.75", "0.5"]


@pytest.mark.parametrize(("name", "key"), [("clue/clue", "id"), ("aps/super_glue", "idx")])
def test_objects_with_the_rows_name(name, key):
    found = [json.loads(line) for line in lines(task("class", name=name), ANSWERS)]
    assert found == [{key: 10, "label": "yes"}, {key: 11, "label": "no"}]


def test_answers_are_one_object_whatever_the_chunks():
    found = json.loads("\n".join(lines(task("span"), [{"answer": 'a "b"'}, {"answer": ""}])))
    assert found == {"10": 'a "b"', "11": ""}


def test_tags_stand_beside_their_words():
    given = rows(words=("New", "York"))
    found = lines(task("tokens"), [{"tags": ["B", "I"]}, {"tags": ["O", "O"]}], given=given)
    assert found == ["New\tB", "York\tI", "", "New\tO", "York\tO"]


def test_what_has_no_form_is_refused():
    for target in ("classes", "rank"):
        with pytest.raises(ConfigError, match="no benchmark's form"):
            Submission(task(target), labels=())
    nameless = [Row(index=0, texts=("x",), source="f:1")]
    with pytest.raises(DataError, match="f:1 has no name"):
        lines(task("span"), [{"answer": "a"}], given=nameless)
