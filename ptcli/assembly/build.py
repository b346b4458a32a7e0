"""Constructing what a configuration names, with errors that reach the user as one line."""

from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.config.targets import locate
from ptcli.errors import ConfigError, PtcliError


def build(config: DictConfig, key: str, *, plugins: tuple[str, ...] = (), **given: Any) -> Any:
    """The object that `config.<key>` names, with `given` as further arguments. Plain dicts and lists go in.

    A value that its constructor refuses becomes ConfigError with the key. Targets outside the allowed ones are refused
    here too, so that a configuration that did not pass the nets brings no code.
    """
    from hydra.errors import InstantiationException
    from hydra.utils import instantiate

    node = OmegaConf.select(config, key)
    _check_targets(OmegaConf.to_container(node, resolve=True), plugins)
    try:
        # Partial first: what is given stays the object it is, where Hydra would make a config of a dataclass.
        return instantiate(node, _convert_="all", _partial_=True)(**given)
    except (InstantiationException, ValueError, TypeError) as error:
        raise _told(error, key) from error


def _told(error: BaseException, key: str) -> PtcliError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, PtcliError):
            return cause
        if isinstance(cause, ValueError | TypeError) and cause.__cause__ is None:
            return ConfigError(f"{key}: {cause}")
        cause = cause.__cause__
    return ConfigError(f"{key}: {error}")


def _check_targets(node: Any, plugins: tuple[str, ...]) -> None:
    if isinstance(node, dict):
        if "_target_" in node:
            locate(str(node["_target_"]), plugins)
        for value in node.values():
            _check_targets(value, plugins)
    elif isinstance(node, list):
        for value in node:
            _check_targets(value, plugins)
