"""Net 1: words become a typed configuration, or an explained error. Also in tests, without the command line."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ptcli.command_line.explain import explain
from ptcli.command_line.quoting import Words
from ptcli.config import choices as conf
from ptcli.config.locate import conf_folder
from ptcli.config.root import BUDGETS, register


@dataclass(frozen=True)
class Composed:
    """A configuration without its hydra node, and what was chosen in each group."""

    config: DictConfig
    choices: dict[str, str | list[str]]


def compose(root: str, words: Sequence[str] = (), *, folder: Path | None = None) -> Composed:
    """Compose conf/<root>.yaml with what a user types behind the command. Raises ConfigError."""
    overrides = settle(Words(words, root=root, folder=folder).overrides)
    with composer(root, folder=folder) as composed:
        return composed(overrides)


def settle(overrides: Sequence[str]) -> list[str]:
    """The budget that is typed replaces the one that the files give: the others become null."""
    typed = {_bare_key(word) for word in overrides}
    if not typed & {f"budget.{name}" for name in BUDGETS}:
        return list(overrides)
    return [*overrides, *(f"budget.{name}=null" for name in BUDGETS if f"budget.{name}" not in typed)]


class composer:  # noqa: N801 - a context manager, used as a function
    """Compose many configurations of one root. Those that differ in values alone are composed once and then changed."""

    def __init__(self, root: str, *, folder: Path | None = None) -> None:
        """`folder`: one that is looked into alone; None: conf/ and the folders that the command line brings."""
        self._root, self._folder = root, folder
        self._cache: dict[tuple[str, ...], Composed] = {}

    def __enter__(self) -> "composer":
        register(self._root)
        self._outer = GlobalHydra.instance().hydra  # a command may compose more while Hydra runs it
        GlobalHydra.instance().clear()
        self._hydra = initialize_config_dir(str(self._folder or conf_folder()), version_base="1.3", job_name=self._root)
        self._hydra.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._hydra.__exit__(*error)
        GlobalHydra.instance().hydra = self._outer

    def __call__(self, overrides: Sequence[str]) -> Composed:
        """Compose with overrides that are ready for Hydra (quoted, settled)."""
        with explained(root=self._root, overrides=overrides, folder=self._folder):
            chosen, values = self._split(overrides)
            base = self._cache.get(chosen)
            if base is None:
                base = self._cache[chosen] = self._compose(chosen)
            config = copy.deepcopy(base.config)
            for override in values:
                _apply(override, config)
            return Composed(config, base.choices)

    def _compose(self, overrides: Sequence[str]) -> Composed:
        config = hydra_compose(self._root, list(overrides), return_hydra_config=True)
        chosen = chosen_in(config)
        OmegaConf.set_struct(config, False)
        del config["hydra"]
        OmegaConf.set_struct(config, True)
        return Composed(config, chosen)

    def _split(self, overrides: Sequence[str]) -> tuple[tuple[str, ...], list[Override]]:
        """Words that Hydra must see (groups, + and ~, its own keys), and plain values that can be set afterwards."""
        chosen: list[str] = []
        values: list[Override] = []
        groups = set(conf.groups(self._folder))
        for word in overrides:
            key = word.split("=", 1)[0]
            if key[0] in "+~" or "/" in key or "@" in key or key in groups or key.startswith("hydra."):
                chosen.append(word)
            else:
                values.append(OverridesParser.create().parse_override(word))
        return tuple(chosen), values


@contextmanager
def explained(*, root: str, overrides: Sequence[str], folder: Path | None = None) -> Iterator[None]:
    """Turn what Hydra raises inside into a ConfigError in this command line's words."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise explain(error, root=root, overrides=overrides, folder=folder) from error


def chosen_in(config: DictConfig) -> dict[str, str | list[str]]:
    """Group -> choice of a configuration that still has its hydra node; Hydra's own groups are left out."""
    chosen = OmegaConf.to_container(config.hydra.runtime.choices)
    assert isinstance(chosen, dict)
    return {str(group): name for group, name in chosen.items() if not str(group).startswith("hydra/")}


def _apply(override: Override, config: DictConfig) -> None:
    """Set a plain value in a struct configuration, with the errors that Hydra would raise."""
    from hydra.errors import ConfigCompositionException

    if override.is_sweep_override():
        raise ConfigCompositionException(f"Sweep parameters '{override.input_line}' requires --multirun")
    try:
        OmegaConf.update(config, override.key_or_group, override.value(), merge=True)
    except OmegaConfBaseException as error:
        unknown = "is not in struct" in str(error) or "not in '" in str(error)
        message = "Could not override" if unknown else "Error merging override"
        raise ConfigCompositionException(f"{message} '{override.key_or_group}'.") from error


def _bare_key(word: str) -> str:
    return word.split("=", 1)[0].lstrip("+~")
