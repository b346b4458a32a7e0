"""One group of ranks for a whole command: rank 0 does the command, the others follow it from job to job."""

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from omegaconf import DictConfig

from ptcli.config.command import code_of
from ptcli.config.context import Context
from ptcli.config.outside import bring
from ptcli.config.targets import check_plugins
from ptcli.errors import PtcliError
from ptcli.launch.environment import translate_slurm
from ptcli.trainer.ranks import Ranks, join, leave
from ptcli.trainer.signals import Interrupted

T = TypeVar("T")


def lead_or_follow(lead: Callable[[], T]) -> T | int:
    """Join the other processes. Rank 0 calls `lead`, which gives them their jobs; what it returns. The others return 0.

    An error in the middle of a job ends this process without a word to the others: what started them ends them, and
    the error that it names is this one.
    """
    translate_slurm()
    ranks = join()
    if not ranks.is_first:
        follow(ranks)
        leave()
        return 0
    try:
        result = lead()
    except BaseException:
        if not ranks.is_busy:
            _dismiss(ranks)
        raise
    if not ranks.is_busy:
        _dismiss(ranks)
    return result


def _dismiss(ranks: Ranks) -> None:
    ranks.from_first(lambda: None)
    leave()


def follow(ranks: Ranks) -> None:
    """Do one job after the other with rank 0, until it has none."""
    logging.getLogger("ptcli").setLevel(logging.ERROR)  # rank 0 tells the rest
    while (job := ranks.from_first(_nothing)) is not None:
        config, context = read_job(job)
        try:
            with bring(context.outside), suppress(Interrupted):
                code_of(context.command).follow(config, context, job)
        except PtcliError as error:
            error.args = (f"rank {ranks.rank}: {error}",)
            raise


def read_job(job: dict[str, Any]) -> tuple[DictConfig, Context]:
    """The configuration and the context that a job holds; the user's packages are importable from now on."""
    config, context = DictConfig(job["config"]), Context.from_dict(job["context"])
    check_plugins(config.plugins, context.typed)
    return config, context


def _nothing() -> Any:
    raise AssertionError("only rank 0 makes what it tells")


def end_at_once(code: int) -> NoReturn:
    """Leave without taking threads of communication down: they may wait for ranks that are gone, or abort."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
