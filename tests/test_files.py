import errno
import os

import pytest

from ptcli.files import is_disk_full, remove_temporary, to_json, whole_folder, write_whole


def test_a_file_is_replaced_whole(tmp_path):
    write_whole(tmp_path / "a", "one")
    write_whole(tmp_path / "a", "二")
    assert (tmp_path / "a").read_text(encoding="utf-8") == "二"
    assert os.listdir(tmp_path) == ["a"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    write_whole(tmp_path / "a", "one")

    def fail(*paths):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        write_whole(tmp_path / "a", "two")
    assert (tmp_path / "a").read_text() == "one"
    assert os.listdir(tmp_path) == ["a"]


def test_a_folder_is_there_whole_or_as_before(tmp_path):
    with whole_folder(tmp_path / "x") as folder:
        (folder / "a").write_text("1")
        assert not (tmp_path / "x").exists()
    with pytest.raises(NotADirectoryError), whole_folder(tmp_path / "x") as folder:
        (folder / "b" if (folder / "b").write_text("2") else folder).joinpath("c").write_text("3")
    assert [p.name for p in (tmp_path / "x").iterdir()] == ["a"]
    assert os.listdir(tmp_path) == ["x"]


def test_leftovers_are_removed(tmp_path):
    (tmp_path / ".tmp-x").mkdir()
    (tmp_path / ".tmp-y").write_text("")
    (tmp_path / "z").write_text("")
    remove_temporary(tmp_path)
    assert os.listdir(tmp_path) == ["z"]


def test_which_errors_mean_a_full_disk():
    assert is_disk_full(OSError(errno.ENOSPC, "x"))
    assert is_disk_full(RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)"))
    assert not is_disk_full(OSError(errno.EACCES, "x"))
    assert not is_disk_full(ValueError("x"))


def test_json_has_no_nan():
    assert to_json({"a": float("nan"), "b": [1.5, float("inf")], "c": {"d": None}}).replace("\n", "").replace(
        " ", ""
    ) == ('{"a":null,"b":[1.5,null],"c":{"d":null}}')
