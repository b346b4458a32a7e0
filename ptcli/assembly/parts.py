"""One part of a configuration as an object."""

from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from ptcli.assembly.build import build

if TYPE_CHECKING:
    pass


def plugins_of(config: DictConfig) -> tuple[str, ...]:
    """The user's packages whose classes may be built."""
    return tuple(config.get("plugins") or ())


def part(config: DictConfig, key: str, **given: Any) -> Any:
    """The object that a key of the configuration names."""
    return build(config, key, plugins=plugins_of(config), **given)
