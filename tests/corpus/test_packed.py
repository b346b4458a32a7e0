"""Packed files and files in zips, read as if they lay open."""

import bz2
import gzip
import os
import zipfile

import pytest
import zstandard

from ptcli.corpus import packed
from ptcli.corpus.jsonl import Jsonl
from ptcli.corpus.text import Text
from ptcli.errors import ConfigError, DataError


def texts(path, **settings):
    return [document.text for document in Text(str(path), **settings).documents()]


def zipped(path, files, **how):
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_zstd_of_several_frames_and_of_many_chunks(tmp_path):
    long = "many words " * 300_000
    frames = zstandard.compress(b"one\n\n") + zstandard.compress(b"two\n\n") + zstandard.compress(long.encode())
    (tmp_path / "a.txt.zst").write_bytes(frames)
    assert texts(tmp_path) == ["one", "two", long.strip()]


def test_the_files_of_a_zip_are_files(tmp_path):
    files = {
        "b/two.txt": "two",
        "b/one.TXT": "one",
        "a.txt.gz": gzip.compress(b"packed"),
        "README": "never",
        "__MACOSX/b/._two.txt": "never",
        ".hidden.txt": "never",
        "empty/": "",
        "c.txt": "",
    }
    file = zipped(tmp_path / "books.zip", files, compression=zipfile.ZIP_DEFLATED)
    corpus = Text(str(tmp_path))
    documents = list(corpus.documents())
    assert [document.text for document in documents] == ["packed", "one", "two"]
    assert documents[1].source == f"{file}/b/one.TXT:1"
    assert corpus.remarks() == [
        f"{file}: 1 files in it with other endings are left out: README",
        "1 files hold no text",
    ]
    assert list(corpus.documents()) == documents
    jsonl = zipped(tmp_path / "rows.zip", {"x.jsonl": '{"text": "a"}\n{"text": "b"}'})
    assert [document.text for document in Jsonl(str(jsonl)).documents()] == ["a", "b"]


def test_the_name_of_a_packed_file_does_not_matter(tmp_path):
    (tmp_path / "a.txt").write_bytes(gzip.compress(b"text"))
    (tmp_path / "b.txt").write_bytes(zstandard.compress(b"more"))
    assert texts(tmp_path) == ["text", "more"]


def test_identity_is_the_zip(tmp_path):
    first = Text(str(zipped(tmp_path / "a.zip", {"a.txt": "one"}))).identity()
    assert Text(str(zipped(tmp_path / "b.zip", {"a.txt": "two"}))).identity() != first


def locked(path):
    """A zip whose one member says that it wants a password."""
    data = bytearray(zipped(path, {"a.txt": "secret"}).read_bytes())
    data[6] |= 1  # in the member's own header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and in the directory's
    path.write_bytes(data)
    return path


def test_what_cannot_be_unpacked_is_said(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match=r"a\.zip holds no file that ends in \.txt.*only x\.pdf.*Unpack it"):
        Text(str(zipped(tmp_path / "a.zip", {"x.pdf": "x"}))).check()
    with pytest.raises(ConfigError, match="it is empty"):
        Text(str(zipped(tmp_path / "e.zip", {}))).check()
    (tmp_path / "cut.zip").write_bytes(zipped(tmp_path / "b.zip", {"x.txt": "x" * 1000}).read_bytes()[:80])
    with pytest.raises(ConfigError, match="damaged zip"):
        Text(str(tmp_path / "cut.zip")).check()
    with pytest.raises(DataError, match=r"cannot be unpacked: .*password"):
        texts(locked(tmp_path / "locked.zip"))
    (tmp_path / "cut.txt.zst").write_bytes(zstandard.compress(os.urandom(1000))[:8] + b"rubbish" * 20)
    with pytest.raises(DataError, match="damaged zstd"):
        texts(tmp_path / "cut.txt.zst", encoding="latin-1")
    wrong = bytearray(zipped(tmp_path / "sum.zip", {"a.txt": "sum"}).read_bytes())
    wrong[wrong.index(b"sum")] ^= 1
    (tmp_path / "sum.zip").write_bytes(wrong)
    with pytest.raises(DataError, match=r"sum\.zip/a\.txt is damaged.*CRC"):
        texts(tmp_path / "sum.zip")
    monkeypatch.setattr(packed, "_zstd", lambda: None)
    (tmp_path / "a.txt.zst").write_bytes(zstandard.compress(b"x"))
    with pytest.raises(ConfigError, match="pip install zstandard"):
        Text(str(tmp_path / "a.txt.zst")).check()


def test_what_is_packed_otherwise_is_no_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(bz2.compress(b"some text " * 100))
    with pytest.raises(DataError, match=r"a\.txt is not utf-8 text"):
        texts(tmp_path / "a.txt")
