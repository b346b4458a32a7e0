import pyarrow
import pytest
from pyarrow import parquet

from ptcli.corpus.parquet import Parquet
from ptcli.errors import ConfigError, DataError


def write(path, **columns):
    parquet.write_table(pyarrow.table(columns), path)
    return str(path)


def test_rows_are_documents_and_those_without_text_are_counted(tmp_path):
    numbers = [f"document {n}" for n in range(2500)]
    path = write(tmp_path / "a.parquet", text=[*numbers, None, "  "], other=[0] * 2502)
    write(tmp_path / "b.parquet", text=pyarrow.array(["large"], pyarrow.large_string()))
    corpus = Parquet(str(tmp_path))
    corpus.check()
    documents = list(corpus.documents())
    assert [document.text for document in documents] == [*numbers, "large"]
    assert documents[-2].source == f"{path}:2500"
    assert corpus.remarks() == ["2 rows have no text"]


def test_what_is_no_such_table_is_said(tmp_path):
    path = write(tmp_path / "a.parquet", title=["t"], n=[1])
    with pytest.raises(ConfigError, match=r"a\.parquet has no column text.*title, n.*corpus\.text_key="):
        Parquet(path).check()
    with pytest.raises(DataError, match=r"a\.parquet:1: n is 1, not a string.*title, n"):
        list(Parquet(path, text_key="n").documents())
    (tmp_path / "b.parquet").write_text("text")
    with pytest.raises(ConfigError, match=r"b\.parquet is no Parquet file.*corpus=jsonl"):
        Parquet(str(tmp_path / "b.parquet")).check()
    damaged = bytearray((tmp_path / "a.parquet").read_bytes())
    damaged[4:40] = b"\xff" * 36
    (tmp_path / "c.parquet").write_bytes(damaged)
    with pytest.raises(DataError, match=r"c\.parquet is damaged"):
        list(Parquet(str(tmp_path / "c.parquet"), text_key="title").documents())


def test_identity_changes_with_the_column_and_the_content(tmp_path):
    path = write(tmp_path / "a.parquet", text=["a"], title=["b"])
    first = Parquet(path).identity()
    assert Parquet(path, text_key="title").identity() != first
    write(tmp_path / "a.parquet", text=["b"], title=["b"])
    assert Parquet(path).identity() != first
