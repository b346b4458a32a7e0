"""The processes that train one model together: who this one is, and what they tell one another.

Numbers of every step go through one collective; what rank 0 alone decides goes through the store as JSON, which is
waited for as long as it takes and unpickled by nobody.
"""

import gc
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from ptcli.errors import PtcliError
from ptcli.trainer.signals import Interrupted, StopSignals

T = TypeVar("T")

_PATIENCE = timedelta(minutes=30)  # for a rank that does not come to a collective
_ANSWER = 20.0  # seconds in which rank 0 must react to a signal
_STOP = "stop"


class RankLostError(PtcliError):
    """Another rank does not answer."""


class Ranks:
    """This process's place among `size` that train together; alone, every method is as good as nothing.

    `local_rank`: its number on this host, of `local_size`; on GPUs the number of its device.
    """

    def __init__(self, *, rank: int = 0, size: int = 1, local_rank: int = 0, local_size: int = 1, store: Any = None):
        assert 0 <= rank < size and (size == 1 or store is not None)
        self.rank, self.size, self.local_rank, self.local_size = rank, size, local_rank, local_size
        self._store = store
        self._number = 0  # of what rank 0 has told
        self.is_busy = False  # of rank 0: whether the others are at work on a job

    @property
    def is_first(self) -> bool:
        """Whether this is rank 0: the one that writes, speaks and evaluates."""
        return self.rank == 0

    def gather(self, numbers: Sequence[float]) -> list[list[float]]:
        """The numbers of every rank, in float64, by rank. Every rank gives as many."""
        if self.size == 1:
            return [list(numbers)]
        own = torch.tensor(list(numbers), dtype=torch.float64)
        everyone = [torch.empty_like(own) for _ in range(self.size)]
        dist.all_gather(everyone, own)
        return [tensor.tolist() for tensor in everyone]

    def sums(self, values: dict[str, float]) -> dict[str, float]:
        """Values by name, summed over ranks. Every rank gives the same names."""
        names = sorted(values)
        rows = self.gather([values[name] for name in names])
        totals = {name: sum(row[place] for row in rows) for place, name in enumerate(names)}
        return {name: totals[name] for name in values}

    def from_first(self, make: Callable[[], T], *, stop: StopSignals | None = None) -> T:
        """What rank 0 makes (plain data), on every rank; the others wait. `stop`: a signal to any rank reaches rank 0.

        Raise RankLostError where rank 0 does not answer after a signal.
        """
        if self._store is None:
            return make()
        self._number += 1
        key = f"told/{self._number}"
        if self.is_first:
            with self._hearing(f"{_STOP}/{self._number}", listens=stop is not None):
                value = make()
            self._store.set(key, json.dumps(value))
            return value
        return self._wait(key, f"{_STOP}/{self._number}", stop)

    @contextmanager
    def together(self, job: dict[str, Any]) -> Iterator[None]:
        """While entered on rank 0, the others are at work on `job`. An error leaves them in the middle of it.

        Raise SystemExit where an earlier job has ended so: this group cannot go on.
        """
        if self.size == 1:
            yield
            return
        if self.is_busy:
            raise SystemExit("the other ranks are still in a job that failed: nothing more can be done with them")
        self.from_first(lambda: job)
        self.is_busy = True
        try:
            yield
        except Interrupted:
            self.is_busy = False  # they have stopped after the same step
            raise
        self.is_busy = False

    def _wait(self, key: str, stop_key: str, stop: StopSignals | None) -> Any:
        assert self._store is not None
        told_at = None
        while not self._store.check([key]):
            time.sleep(0.02)
            if stop is not None and stop.requested is not None:
                if told_at is None:
                    told_at = time.monotonic()
                    self._store.set(stop_key, str(stop.requested))
                elif time.monotonic() - told_at > _ANSWER:
                    raise RankLostError(f"rank 0 has not answered rank {self.rank} for {_ANSWER:.0f} s")
        return json.loads(self._store.get(key))

    @contextmanager
    def _hearing(self, key: str, *, listens: bool) -> Iterator[None]:
        """While entered, a signal that another rank tells of is raised here as well."""
        if not listens:
            yield
            return
        is_over = threading.Event()

        def listen() -> None:
            assert self._store is not None
            while not is_over.wait(0.2):
                if self._store.check([key]):
                    number = int(self._store.get(key))
                    if not is_over.is_set():
                        signal.pthread_kill(threading.main_thread().ident or 0, number)  # it may be in a long call
                    return

        thread = threading.Thread(target=listen, name="signals of other ranks", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


_current: Ranks | None = None


def current() -> Ranks:
    """The ranks that this process has joined; alone where it has not."""
    return _current or Ranks()


def join() -> Ranks:
    """Join the processes that RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT name; wait for all of them.

    On CPUs the threads of a host are divided among its ranks, where OMP_NUM_THREADS does not say otherwise.
    """
    global _current
    assert _current is None, "a process joins once"
    size, local_size = int(os.environ["WORLD_SIZE"]), int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    rank, local_rank = int(os.environ["RANK"]), int(os.environ.get("LOCAL_RANK", "0"))
    has_cuda = torch.cuda.is_available()
    if has_cuda:
        torch.cuda.set_device(local_rank % torch.cuda.device_count())
    elif "OMP_NUM_THREADS" not in os.environ:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        torch.set_num_threads(max(1, cores // local_size))
    store, _, _ = next(rendezvous("env://", rank, size))
    # torchrun keeps the store when it starts ranks again: what the earlier ones wrote must not be read
    store = PrefixStore(f"{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}-of-{size}", store)
    backend = "cpu:gloo,cuda:nccl" if has_cuda else "gloo"
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=_PATIENCE)
    own = PrefixStore("ptcli", store)
    _current = Ranks(rank=rank, size=size, local_rank=local_rank, local_size=local_size, store=own)
    return _current


def leave() -> None:
    """Part from the others in peace, when all have come: after an error they are to see the connection break."""
    global _current
    if _current is not None:
        _current.gather([0.0])  # the store may live in rank 0, and others still read from it
        dist.destroy_process_group()
        _current = None
        gc.collect()  # sharded modules in cycles hold their groups, whose threads must not outlive the interpreter
