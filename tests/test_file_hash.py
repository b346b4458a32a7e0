import hashlib
import os
import time

import pytest

from ptcli import file_hash as module
from ptcli.file_hash import file_hash


@pytest.fixture
def reads(monkeypatch, tmp_path):
    """The files that were really read."""
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_WORTH_IT", 10)
    module._hash.cache_clear()
    seen = []
    read = module._read
    monkeypatch.setattr(module, "_read", lambda file: seen.append(file) or read(file))
    yield seen
    module._hash.cache_clear()


def written(folder, content, *, age=100):
    file = folder / "a.txt"
    file.write_text(content)
    stamp = time.time() - age
    os.utime(file, (stamp, stamp))
    return file


def again(file):
    """As another process would ask."""
    module._hash.cache_clear()
    return file_hash(file)


def test_a_file_is_read_once_over_processes(reads, tmp_path, monkeypatch):
    file = written(tmp_path, "some text here")
    monkeypatch.setattr(module, "_YOUNG", -1.0)
    assert file_hash(file) == hashlib.blake2b(b"some text here").digest()
    assert again(file) == file_hash(file)
    assert len(reads) == 1


def test_a_changed_file_is_read_again(reads, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_YOUNG", -1.0)
    file = written(tmp_path, "some text here")
    before = file_hash(file)
    file = written(tmp_path, "some text HERE", age=99)
    assert again(file) != before
    assert len(reads) == 2


def test_a_file_that_was_just_written_is_not_remembered(reads, tmp_path):
    file = written(tmp_path, "some text here", age=0)
    file_hash(file)
    again(file)
    assert len(reads) == 2


def test_a_small_file_is_not_remembered(reads, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_YOUNG", -1.0)
    file = written(tmp_path, "some")
    file_hash(file)
    again(file)
    assert len(reads) == 2


@pytest.mark.parametrize("content", ["", "zz", "00"])
def test_a_damaged_memo_is_made_again(reads, tmp_path, monkeypatch, content):
    monkeypatch.setattr(module, "_YOUNG", -1.0)
    file = written(tmp_path, "some text here")
    good = file_hash(file)
    (memo,) = (tmp_path / "cache" / "file-hashes").iterdir()
    memo.write_text(content)
    assert again(file) == good
    assert bytes.fromhex(memo.read_text()) == good


def test_a_cache_that_cannot_be_written_is_no_error(reads, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_YOUNG", -1.0)
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert file_hash(written(tmp_path, "some text here")) == hashlib.blake2b(b"some text here").digest()
