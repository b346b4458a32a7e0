"""A store made in parts, on machines of their own, is the store made at once."""

import logging
import shutil

import pytest

from ptcli.errors import ConfigError, DataError
from ptcli.store import batches
from ptcli.store import prepare as preparing
from ptcli.store.merge import finished_parts
from ptcli.store.part import Part
from ptcli.store.prepare import prepare, prepare_part
from ptcli.tokenizer.wordpiece import WordPiece
from ptcli.words.unicode import Unicode
from tests.store.test_prepare import Given, files_of, read_back

TEXTS = [f"Sentence {n} of it. Another one, {'long ' * (n % 7)}and over! " * (1 + n % 5) for n in range(60)]
TEXTS[20:24] = ["\x00"] * 4  # with shards of 100 characters or more, some shard holds only these


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return WordPiece(vocab_size=120).build(Given(TEXTS), cache=tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 100)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("largest_shard", [1, 500, 10_000])
def test_parts_and_workers_make_the_same_bytes(tokenizer, tmp_path, largest_shard):
    def make(folder, **how):
        return prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path / folder, largest_shard=largest_shard, **how)

    whole = make("whole")
    assert files_of(make("workers", workers=2)) == files_of(whole)
    for number in (2, 3, 1):
        made = prepare_part(
            Given(TEXTS),
            Unicode(),
            tokenizer,
            folder=tmp_path / "parts",
            part=Part(number, 3),
            largest_shard=largest_shard,
        )
        assert made.remarks == ["a remark"]
    merged = make("parts")
    assert files_of(merged) == files_of(whole)
    assert read_back(merged) == read_back(whole)
    assert [path.name for path in (tmp_path / "parts").iterdir() if path.is_dir()] == [merged.folder.name]


def part_of(tokenizer, folder, number, of=4):
    return prepare_part(Given(TEXTS), Unicode(), tokenizer, folder=folder, part=Part(number, of), largest_shard=500)


def test_missing_parts_are_named(tokenizer, tmp_path):
    for number in (1, 3):
        part_of(tokenizer, tmp_path, number)
    part_of(tokenizer, tmp_path, 1, of=40)  # begun another way: the one nearer to its end counts
    with pytest.raises(ConfigError, match=r"in 4 parts, and 2 of them are missing: 2/4, 4/4.*prepare\.shard=2/4"):
        prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path, largest_shard=500)
    for number in (2, 4):
        part_of(tokenizer, tmp_path, number)
    assert prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path, largest_shard=500).num_documents == 56


def test_a_part_is_made_once_and_not_where_the_store_is_there(tokenizer, tmp_path):
    made = part_of(tokenizer, tmp_path, 2)
    before = (made.folder / "part.json").stat().st_mtime_ns
    assert part_of(tokenizer, tmp_path, 2).folder == made.folder
    assert (made.folder / "part.json").stat().st_mtime_ns == before
    shutil.rmtree(made.folder.parent)
    prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path, largest_shard=500)
    assert part_of(tokenizer, tmp_path, 2) is None


def test_a_merge_that_fails_leaves_the_parts(tokenizer, tmp_path, monkeypatch):
    for number in (1, 2, 3, 4):
        folder = part_of(tokenizer, tmp_path, number).folder.parent
    monkeypatch.setattr(preparing, "merge", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path, largest_shard=500)
    monkeypatch.undo()
    assert len(finished_parts(folder)) == 4
    (folder / "2-of-4" / "part.json").write_text("{")
    with pytest.raises(DataError, match="2-of-4 holds no part"):
        prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path, largest_shard=500)
    (folder / "2-of-4" / "part.json").unlink()
    part_of(tokenizer, tmp_path, 2)
    prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path, largest_shard=500)


def test_links_are_copies_where_the_file_system_has_none(tokenizer, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError

    whole = prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path / "a")
    monkeypatch.setattr("os.link", refuse)
    assert files_of(prepare(Given(TEXTS), Unicode(), tokenizer, folder=tmp_path / "b")) == files_of(whole)


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/0", "-1/4", "1/4/2"])
def test_what_is_no_part_is_refused(text):
    with pytest.raises(ConfigError, match=r"prepare\.shard=.*1/64"):
        Part.read(text)


def test_a_part_is_read():
    assert Part.read("3/64") == Part(3, 64)
    assert [shard for shard in range(10) if Part(2, 4).has(shard)] == [1, 5, 9]


def test_the_size_is_said_first_and_too_little_room_is_refused(tokenizer, tmp_path, monkeypatch, caplog):
    class Free:
        def __init__(self, free):
            self.free = free

    class Large(Given):
        def identity(self):
            return {**super().identity(), "bytes": 10_000_000}

    log = logging.getLogger("ptcli")
    with caplog.at_level(logging.INFO, logger="ptcli"):
        monkeypatch.setattr(shutil, "disk_usage", lambda folder: Free(3_000_000))
        with pytest.raises(DataError, match=r"takes about 7\.0 MB .* 3 MB are free\. Nothing was begun\..*PTCLI_CACHE"):
            prepare(Large(TEXTS), Unicode(), tokenizer, folder=tmp_path)
        assert caplog.text == ""
        monkeypatch.setattr(shutil, "disk_usage", lambda folder: Free(5_000_000))
        prepare(Large(TEXTS), Unicode(), tokenizer, folder=tmp_path, progress=lambda *_: log.info("going"))
    assert caplog.messages[0].startswith("tokenising 10.0 MB of text; it takes about 7.0 MB in")
    assert caplog.messages[1] == "this may not be enough room"
    assert caplog.messages[2] == "going"
