"""`datasets.load_dataset` on a local folder: the library's own code, without network."""

import json
import os

import pytest

from ptcli.corpus.hub import Hub
from ptcli.corpus.stream import DocumentStream
from ptcli.errors import ConfigError, DataError


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()


@pytest.fixture
def folder(tmp_path):
    """A data set of two splits, the first in two files."""
    place = tmp_path / "set"
    place.mkdir()
    for name, numbers in (("train-0", range(40)), ("train-1", range(40, 70)), ("test-0", range(3))):
        rows = [{"text": f"document {n}", "title": f"title {n}"} for n in numbers]
        (place / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with (place / "train-1.jsonl").open("a") as file:
        file.write('\n{"text": " ", "title": "t"}\n{"text": null, "title": "t"}')
    return str(place)


@pytest.mark.parametrize("streaming", [False, True])
def test_rows_are_documents(folder, streaming):
    corpus = Hub(folder, streaming=streaming)
    corpus.check()
    documents = list(corpus.documents())
    assert [document.text for document in documents] == [f"document {n}" for n in range(70)]
    assert documents[41].source == f"{folder}/train:42"
    assert corpus.remarks() == ["2 rows have no text"]
    assert len(list(Hub(folder, split="test", text_key="title", streaming=streaming).documents())) == 3


def test_a_slice_of_a_split(folder):
    assert len(list(Hub(folder, split="train[:10]").documents())) == 10


@pytest.mark.parametrize("stop", [1, 3, 6])
def test_a_stream_goes_on_by_the_librarys_state(folder, stop, monkeypatch):
    def windows(place=None, number=9):
        stream = DocumentStream(Hub(folder, streaming=True), characters=100).windows(place)
        return [next(stream) for _ in range(number)]

    straight = windows()
    place = json.loads(json.dumps(straight[stop].place))  # as a checkpoint keeps it
    assert place["source"]["rows"] == sum(len(window.documents) for window in straight[:stop])
    monkeypatch.setattr(Hub, "documents", None)  # nothing is read from the beginning
    resumed = windows(place, 1)[0]
    assert resumed.documents == straight[stop].documents
    assert resumed.next == straight[stop].next


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"split": "valid"}, "corpus.split=valid"),
        ({"subset": "none"}, "corpus.subset=none"),
        ({"text_key": "body"}, r"has no column body.*text, title.*corpus\.text_key="),
    ],
)
def test_what_is_not_there_is_said(folder, streaming, settings, message):
    with pytest.raises(DataError, match=message):
        list(Hub(folder, streaming=streaming, **settings).documents())


def test_the_hub_out_of_reach_is_said():
    with pytest.raises(DataError, match=r"datasets cannot read nobody/nothing: .*see to the network"):
        Hub("nobody/nothing").identity()


def test_refusals_name_the_way_out(tmp_path):
    for name, message in ((None, "corpus.name=OWNER/NAME"), (str(tmp_path / "absent"), "is no folder")):
        with pytest.raises(ConfigError, match=message):
            Hub(name).check()


def test_code_of_a_data_set_does_not_run(tmp_path):
    place = tmp_path / "evil"
    place.mkdir()
    (place / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(DataError, match="datasets cannot read"):
        list(Hub(str(place)).documents())
    assert not (tmp_path / "ran").exists()


def test_identity_changes_with_the_files(folder):
    first = Hub(folder).identity()
    assert Hub(folder).identity() == first
    assert Hub(folder, text_key="title").identity() != first
    os.utime(f"{folder}/train-0.jsonl", (1, 1))
    assert Hub(folder).identity() != first
