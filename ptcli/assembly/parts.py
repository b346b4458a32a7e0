"""One part of a configuration as an object, with errors that reach the user as one line."""

from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.config.targets import locate, refuse
from ptcli.errors import ConfigError, PtcliError


def plugins_of(config: DictConfig) -> tuple[str, ...]:
    """The user's packages whose classes may be built."""
    return tuple(config.get("plugins") or ())


def part(config: DictConfig, key: str, **given: Any) -> Any:
    """The object that `config.<key>` names, with `given` as further arguments. Plain dicts and lists go in.

    A value that its constructor refuses becomes ConfigError with the key. What may not stand at the key is refused here
    too, before anything is imported, so that a configuration that did not pass the nets brings no code.
    """
    from hydra.errors import InstantiationException
    from hydra.utils import instantiate

    plugins = plugins_of(config)
    node = OmegaConf.select(config, key)
    around = key.split(".")[0]  # what may stand inside a plugin's part depends on where that part stands
    refuse(OmegaConf.to_container(OmegaConf.select(config, around), resolve=True), around, plugins=plugins)
    _find_all(OmegaConf.to_container(node, resolve=True), plugins)
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


def _find_all(node: Any, plugins: tuple[str, ...]) -> None:
    """Find every class by the rules of `locate`, which Hydra does not know."""
    if isinstance(node, dict) and "_target_" in node:
        locate(node["_target_"], plugins)
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _find_all(value, plugins)
