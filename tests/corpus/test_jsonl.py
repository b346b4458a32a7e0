import json

import pytest

from ptcli.corpus.jsonl import Jsonl
from ptcli.errors import ConfigError, DataError


def write(tmp_path, *rows):
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return str(file)


def test_rows_are_documents_and_those_without_text_are_counted(tmp_path):
    path = write(
        tmp_path, {"text": "a\r\nb"}, "", {"text": None}, {"text": "  "}, {"text": "一\u2028二"}, '{"text": "x\\ud83d"}'
    )
    corpus = Jsonl(path)
    corpus.check()
    assert [document.text for document in corpus.documents()] == ["a\nb", "一\u2028二", "x\ufffd"]
    assert corpus.remarks() == ["2 rows have no text", "1 rows held half surrogate pairs, now U+FFFD"]
    assert next(corpus.documents()).source == f"{path}:1"


def test_a_missing_column_names_those_that_there_are(tmp_path):
    path = write(tmp_path, {"title": "t", "body": "b"})
    with pytest.raises(ConfigError, match=r"a\.jsonl:1 has no column text.*title, body.*corpus\.text_key="):
        Jsonl(path).check()
    assert [d.text for d in Jsonl(path, text_key="body").documents()] == ["b"]
    with pytest.raises(DataError, match=r":2 has no column text"):
        list(Jsonl(write(tmp_path, {"text": "a"}, {"x": 1})).documents())


@pytest.mark.parametrize(
    ("row", "message"), [("{'text': 1}", "no JSON"), ("[1]", "no object"), ('{"text": 7}', "not a string")]
)
def test_bad_rows_name_file_and_line(tmp_path, row, message):
    path = write(tmp_path, {"text": "a"}, row)
    with pytest.raises(DataError, match=rf"a\.jsonl:2.*{message}"):
        list(Jsonl(path).documents())


def test_identity_changes_with_the_column(tmp_path):
    path = write(tmp_path, {"text": "a", "title": "b"})
    assert Jsonl(path).identity() != Jsonl(path, text_key="title").identity()
