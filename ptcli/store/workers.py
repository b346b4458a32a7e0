"""Tokenising in several processes, in order: batches go out in turn, their encodings come back in the same turn."""

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import threading
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import cycle
from multiprocessing.connection import Connection
from operator import attrgetter
from typing import Any

from ptcli.corpus.document import Document
from ptcli.errors import DataError
from ptcli.store.batches import Batch
from ptcli.store.blocks import Encoder, Encoding
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.contract import Words

_AHEAD = 2  # batches that a process may hold: it works on one while the next one arrives


def encode_batches(
    batches: Iterable[Batch], *, words: Words, tokenizer: Tokenizer, language: str, workers: int
) -> Iterator[tuple[int, Encoding]]:
    """Number of the shard and encoding, in the order of the documents, whatever the number of `workers`.

    One worker is this process. More are processes of their own, which end with this one. An error of theirs is raised
    here; DataError where one is killed.
    """
    how: dict[str, Any] = {"words": words, "tokenizer": tokenizer, "language": language}
    if workers == 1:
        encode = Encoder(**how)
        for batch in batches:
            for encoding in encode(batch.documents):
                yield batch.shard, encoding
        return
    pool: list[_Worker] = []
    waiting: deque[tuple[int, _Worker]] = deque()
    try:
        for _ in range(workers):
            pool.append(_Worker(how, others=pool))
        for batch, worker in zip(batches, cycle(pool), strict=False):
            if len(waiting) == _AHEAD * workers:
                yield from _received(*waiting.popleft())
            worker.send(batch.documents)
            waiting.append((batch.shard, worker))
        while waiting:
            yield from _received(*waiting.popleft())
    finally:
        for worker in pool:
            worker.stop()


def _received(shard: int, worker: "_Worker") -> Iterator[tuple[int, Encoding]]:
    for encoding in worker.results():
        yield shard, encoding


class _Worker:
    """A process that encodes the documents it is sent, and this side's end of the pipe to it."""

    def __init__(self, how: dict[str, Any], *, others: "list[_Worker]"):
        forks = _may_fork()
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self._connection, theirs = context.Pipe()
        # A fork has this side's ends of all pipes, too: they would not end with this process.
        ours = [self._connection, *(other._connection for other in others)] if forks else []
        self._process = context.Process(target=_work, args=(theirs, how, ours), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe

    def send(self, documents: list[Document]) -> None:
        try:
            self._connection.send([*zip(*map(_columns, documents), strict=True)])
        except OSError as error:
            raise self._ended() from error

    def results(self) -> Iterator[Encoding]:
        """What the oldest batch without an answer makes."""
        while True:
            try:
                answer = self._connection.recv()
            except (EOFError, OSError) as error:
                raise self._ended() from error
            if answer is None:
                return
            if isinstance(answer, _Failure):
                raise answer.error
            yield answer

    def stop(self) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.join()

    def _ended(self) -> DataError:
        self._process.join(timeout=5)
        return DataError(
            f"a process that tokenises ended with exit code {self._process.exitcode}, perhaps killed for want of "
            "memory. Type the command again with a smaller prepare.workers."
        )


class _Failure:
    """An error on its way to the process that asked."""

    def __init__(self, error: Exception):
        self.error = error
        self.error.add_note(traceback.format_exc())
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # it cannot travel as it is
            self.error = RuntimeError(traceback.format_exc())


def _may_fork() -> bool:
    """Whether this process has one thread, of Python or of a library: a fork would hold the locks of the others.

    A fork has all that is imported and compiled at once; a process that is started anew takes a second for it.
    """
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:  # not Linux
        return False


_columns = attrgetter(*(each.name for each in fields(Document)))  # documents travel as lists of texts, of sources, ...


def _work(connection: Connection, how: dict[str, Any], not_ours: list[Connection]) -> None:
    """Answer batches until the pipe ends."""
    for other in not_ours:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the asking one decides
    inbox: queue.SimpleQueue[list[Document] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, inbox), daemon=True).start()
    encode = Encoder(**how)
    with contextlib.suppress(OSError):  # nobody is there any more
        while (documents := inbox.get()) is not None:
            for answer in _answers(documents, encode):
                connection.send(answer)


def _answers(documents: list[Document], encode: Encoder) -> Iterator[Encoding | _Failure | None]:
    """The encodings of the documents and None, or a failure."""
    try:
        yield from encode(documents)
        yield None
    except Exception as error:
        yield _Failure(error)


def _read(connection: Connection, inbox: queue.SimpleQueue) -> None:
    """Always ready to receive: a process that only sends while the other one only sends would wait for ever."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            inbox.put([Document(*each) for each in zip(*connection.recv(), strict=True)])
    inbox.put(None)
