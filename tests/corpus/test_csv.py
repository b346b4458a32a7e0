import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.corpus.csv import Csv
from ptcli.errors import ConfigError, DataError


def write(folder, text, name="a.csv"):
    file = folder / name
    file.write_bytes(text.encode())
    return str(file)


def texts(path, **settings):
    return [document.text for document in Csv(path, **settings).documents()]


def test_rows_are_documents_and_those_without_text_are_counted(tmp_path):
    path = write(tmp_path, '\ufeffid,text\r\n1,"a, ""b""\r\n\r\nc"\r\n2,\r\n\r\n3,d\r\n')
    corpus = Csv(path)
    corpus.check()
    documents = list(corpus.documents())
    assert [document.text for document in documents] == ['a, "b"\n\nc', "d"]
    assert documents[1].source == f"{path}:7"
    assert corpus.remarks() == ["1 rows have no text"]


VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8))
def test_what_the_standard_library_writes_is_read_back(tmp_path_factory, rows):
    written = io.StringIO(newline="")
    csv.writer(written).writerows([("text", "other"), *rows])
    path = write(tmp_path_factory.mktemp("csv"), written.getvalue())
    expected = [text.replace("\r\n", "\n").replace("\r", "\n").strip() for text, _ in rows]
    assert texts(path) == [text for text in expected if text]


def test_a_missing_column_names_those_that_there_are(tmp_path):
    path = write(tmp_path, "title;body\nt;b\n")
    with pytest.raises(ConfigError, match=r"a\.csv:1 has no column text.*title, body.*corpus\.text_key="):
        Csv(path, delimiter=";").check()
    assert texts(path, delimiter=";", text_key="body") == ["b"]
    write(tmp_path, "text\nx\n", name="0.csv")
    with pytest.raises(DataError, match=r"a\.csv:1 has no column text"):
        texts(str(tmp_path), delimiter=";")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text,n\na,1\nb\n", r"a\.csv:3 has 1 values, but the first row names 2 columns"),
        ('text,n\n"a"b,1\n', r"a\.csv:2 is no row of separated values.*corpus\.quote=null"),
        ('text,n\n"never closed,1\n', "no row of separated values"),
    ],
)
def test_bad_rows_name_file_and_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        texts(write(tmp_path, text))


def test_marks_are_one_character(tmp_path):
    path = write(tmp_path, "text\nx")
    for settings_ in ({"delimiter": "||"}, {"quote": ""}):
        with pytest.raises(ConfigError, match="must be one character"):
            Csv(path, **settings_).check()


def test_a_field_may_be_longer_than_pythons_limit(tmp_path):
    long = "word " * 100_000
    assert texts(write(tmp_path, f'text\n"{long}"\n')) == [long.strip()]


def test_the_preset_tsv(tmp_path):
    from ptcli.assembly.parts import part
    from ptcli.config.compose import compose

    path = write(tmp_path, 'text\tn\nHe said "yes\t1\nIt\'s a, "b"\t2\n', name="a.tsv")
    corpus = part(compose("pretrain", ["corpus=tsv", f"corpus.path={tmp_path}"]).config, "corpus")
    assert [document.text for document in corpus.documents()] == ['He said "yes', 'It\'s a, "b"']
    assert Csv(path).identity() != Csv(path, delimiter="\t").identity()
