"""Handing over to Hydra's own main, which reads sys.argv and the environment; both are put back afterwards."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.config.compose import chosen_in
from ptcli.config.locate import conf_folder
from ptcli.config.root import register
from ptcli.launch.python314 import guard


def hydra_main(task: Callable[[DictConfig], Any], *, command: str, words: Sequence[str]) -> None:
    """Hand over to Hydra's own main, which reads sys.argv; what it raises comes through."""
    import hydra

    guard()
    register(command)
    job_name = [] if "-sc" in words else [f"hydra.job.name={command}"]
    with _argv(["ptcli", *words, *job_name]), _errors_come_through(), _composed_once(words):
        hydra.main(config_path=str(conf_folder()), config_name=command, version_base="1.3")(task)()


def hydra_choices() -> dict[str, str | list[str]]:
    """Group -> choice of the job that Hydra is running."""
    from hydra.core.hydra_config import HydraConfig

    return chosen_in(OmegaConf.create({"hydra": HydraConfig.get()}))


@contextmanager
def _argv(words: list[str]) -> Iterator[None]:
    before, sys.argv = sys.argv, words
    try:
        yield
    finally:
        sys.argv = before


@contextmanager
def _composed_once(words: Sequence[str]) -> Iterator[None]:
    """Hydra composes everything once more to look for hydra.mode, which only a flag or a key of its own can set."""
    from hydra._internal.hydra import Hydra

    asked = any(word.startswith("-") or "hydra" in word.split("=", 1)[0] for word in words)
    if asked or not hasattr(Hydra, "get_mode"):
        yield
        return
    before = Hydra.get_mode
    Hydra.get_mode = lambda self, config_name, overrides: None  # as it answers where nothing sets it
    try:
        yield
    finally:
        Hydra.get_mode = before


@contextmanager
def _errors_come_through() -> Iterator[None]:
    """HYDRA_FULL_ERROR makes Hydra raise instead of printing and exiting; the user's own setting is put back."""
    before = os.environ.get("HYDRA_FULL_ERROR")
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        yield
    finally:
        os.environ.pop("HYDRA_FULL_ERROR", None)
        if before is not None:
            os.environ["HYDRA_FULL_ERROR"] = before
