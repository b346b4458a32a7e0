"""Several processes make the same store as one, and none of their misfortunes goes unsaid."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from ptcli.corpus.document import Document
from ptcli.errors import DataError
from ptcli.store import workers as workers_module
from ptcli.store.batches import Batch
from ptcli.store.workers import encode_batches
from ptcli.tokenizer.wordpiece import WordPiece
from ptcli.words.unicode import Unicode
from tests.store.test_prepare import Given
from tests.waiting import finish, until_gone, until_line

TEXTS = [f"Sentence {n} of it. Another one, {'long ' * (n % 7)}and over! " * (1 + n % 5) for n in range(60)]


class Fails(Unicode):
    """Words that fail on one document, in the way that is asked for."""

    def __init__(self, how):
        self.how = how

    def spans(self, document):
        if document.text.startswith("Sentence 17 "):
            if self.how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            raise {"data": DataError("bad words"), "odd": OddError(1, 2), "system": OSError("no such file")}[self.how]
        return super().spans(document)


class OddError(Exception):
    """It cannot be unpickled."""

    def __init__(self, one, two):
        super().__init__("odd")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return WordPiece(vocab_size=120).build(Given(TEXTS), cache=tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(params=["fork", "spawn"], autouse=True)
def start(request, monkeypatch):
    """Both ways in which a process can begin."""
    if request.param == "fork" and sys.platform != "linux":
        pytest.skip("forks on Linux only")
    monkeypatch.setattr(workers_module, "_may_fork", lambda: request.param == "fork")


def encoded(tokenizer, *, workers, words=None, texts=TEXTS):
    some = [Batch(n // 4, [Document(text) for text in texts[n : n + 3]]) for n in range(0, len(texts), 3)]
    how = {"words": words or Unicode(), "tokenizer": tokenizer, "language": "en"}
    return list(encode_batches(some, workers=workers, **how))


def test_what_comes_back_is_in_order_and_the_same(tokenizer):
    one, three = encoded(tokenizer, workers=1), encoded(tokenizer, workers=3)
    assert [shard for shard, _ in one] == [shard for shard, _ in three]
    for (_, ours), (_, theirs) in zip(one, three, strict=True):
        for name in ours.__slots__:
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("start", ["spawn"], indirect=True)
def test_a_process_with_threads_is_not_forked():
    command = """
import threading
from ptcli.store.workers import _may_fork
alone = _may_fork()
threading.Thread(target=threading.Event().wait, daemon=True).start()
print(alone, _may_fork())
"""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # a BLAS has threads of its own
    said = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True, env=environment)
    assert said.stdout.split() == ["True", "False"]


def test_nothing_of_a_document_is_lost_on_its_way():
    documents = [
        Document("a b", words=np.array([[0, 1], [2, 3]]), source="f:1", language="de", sentences=(0, 2), number=7),
        Document("c", number=8, start=5),
    ]
    columns = [*zip(*map(workers_module._columns, documents), strict=True)]
    assert [repr(Document(*each)) for each in zip(*columns, strict=True)] == [*map(repr, documents)]


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("data", DataError, "bad words"),
        ("odd", RuntimeError, "OddError: odd"),
        ("system", OSError, "no such file"),
        ("killed", DataError, r"exit code -9.*prepare\.workers"),
    ],
)
def test_an_error_of_a_process_is_raised_here(tokenizer, how, error, message):
    with pytest.raises(error, match=message):
        encoded(tokenizer, workers=2, words=Fails(how))


def test_a_document_larger_than_a_pipe_holds_passes_both_ways(tokenizer):
    """Both sides would wait for each other if neither read while it writes."""
    texts = ["A sentence of words. " * 20_000] * 12
    assert sum(e.num_documents for _, e in encoded(tokenizer, workers=2, texts=texts)) == 12


PARENT = """
import sys, time
from ptcli.corpus.document import Document
from ptcli.store.batches import Batch
from ptcli.store.workers import encode_batches
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.unicode import Unicode

def batches():
    while True:
        yield Batch(0, [Document("A sentence. " * 50)])

if __name__ == "__main__":
    made = encode_batches(
        batches(), words=Unicode(), tokenizer=Tokenizer.load(sys.argv[1]), language="en", workers=2
    )
    next(made)
    import multiprocessing
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    for _ in made:
        time.sleep(0.01)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_processes_end_with_the_one_that_asked(tokenizer, tmp_path, how):
    tokenizer.save(tmp_path / "tokenizer")
    (tmp_path / "parent.py").write_text(PARENT)
    command = [sys.executable, str(tmp_path / "parent.py"), str(tmp_path / "tokenizer")]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    children = [int(pid) for pid in until_line(parent, "\n").split()]
    assert len(children) == 2
    parent.send_signal(how)
    finish(parent)
    until_gone(children)
