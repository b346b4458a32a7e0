"""What defines a run, and the name that follows from it; a configuration written down and read back as data."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf

from ptcli.config.bind import plain_values
from ptcli.config.moved import FIRST, MOVED, renamed
from ptcli.config.several_tasks import name_of_task
from ptcli.config.targets import refuse
from ptcli.errors import CheckpointError, ConfigError

_NOT_DEFINING = ("run", "resume", "logger", "log", "save", "budget", "sweep", "prepare", "trainer.device")
_NOT_DEFINING += ("scale", "measure")  # in force already; of ptcli check alone
_NOT_DEFINING += ("trainer.devices", "trainer.strategy", "trainer.activation_checkpointing")  # where, not what


def resolve(config: DictConfig) -> dict[str, Any]:
    """Plain nested dicts and lists: interpolations replaced by their values. ConfigError where a value is missing."""
    return plain_values(config, whole=True)


def fingerprint(config: DictConfig) -> str:
    """16 hex digits of what defines a run: where it lies, how long it trains and how it is logged do not.

    A class counts by the first name that it had, so that the same command finds a run that began before it moved.
    """
    container = renamed(resolve(config), FIRST)
    if "corpus" in container:  # of a pretraining: what is done with the finished model
        container.pop("task", None)
        container.pop("finetune", None)
    if not container.get("auxiliary"):  # a run without any keeps the name that it had before there were such losses
        container.pop("auxiliary", None)
    for key in _NOT_DEFINING:
        node: Any = container
        *parents, last = key.split(".")
        for parent in parents:
            node = node.get(parent) if isinstance(node, dict) else None
        if isinstance(node, dict):
            node.pop(last, None)
    text = json.dumps(container, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def run_name(config: DictConfig, choices: Mapping[str, str | list[str]]) -> str:
    """`run.name` where it is set; else `<model>-<mask>-<8 hex digits>`, the same for the same configuration.

    Of a fine-tuning: `<task>-<8 hex digits>`.
    """
    named = OmegaConf.select(config, "run.name")
    if named is not None:
        return str(named)
    parts = [choices.get("model"), choices.get("mask")] if "model" in choices else [name_of_task(choices)]
    return "-".join([*map(plain, parts), fingerprint(config)[:8]])


def plain(name: Any) -> str:
    """A name with nothing that a shell, a URL or Hydra would read: letters, digits, point, underscore, hyphen."""
    return re.sub(r"[^\w.-]+", "-", str(name or "none")).strip("-.") or "none"


def dump(config: DictConfig | Mapping[str, Any], path: Path) -> None:
    """Write a configuration as YAML."""
    container = resolve(config) if isinstance(config, DictConfig) else dict(config)
    path.write_text(yaml.safe_dump(container, sort_keys=False, allow_unicode=True), encoding="utf-8")


def read(path: Path, *, plugins: Sequence[str] = ()) -> tuple[DictConfig, list[str]]:
    """A config.yaml that anyone may have written, as data, and remarks on what in it is not used.

    Classes that have moved since are called by the names of today.
    Nothing in it is resolved or run: interpolations are refused; of its plugins those stay that the user names, too.
    Raises CheckpointError; ConfigError for a class that may not stand where it does.
    """
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(f"{path.parent} holds no {path.name}: it is not a run folder") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path} is damaged: {str(error).splitlines()[0]}") from error
    if not isinstance(loaded, dict):
        raise CheckpointError(f"{path} holds no configuration")
    if key := _interpolated(loaded):
        raise CheckpointError(f"{path}: {key} holds a reference (${{...}}); a saved configuration has plain values")
    values: dict[str, Any] = renamed(loaded, MOVED)
    remarks = []
    if named := values.get("plugins"):
        values["plugins"] = [name for name in plugins if isinstance(named, list) and name in named]
        if values["plugins"] != named:
            remarks.append(f"{path}: plugins {named} are not loaded; name them on the command line to use them")
    try:
        refuse(values, plugins=plugins)
    except ConfigError as error:
        raise ConfigError("\n".join([*remarks, f"{path}: {error}"])) from error
    return OmegaConf.create(values), remarks


def _interpolated(node: Any, path: str = "") -> str:
    if isinstance(node, str) and "${" in node:
        return path or "a value"
    if isinstance(node, dict) and any("${" in str(key) for key in node):
        return f"a key in {path}" if path else "a key"
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return next((found for key, value in items if (found := _interpolated(value, f"{path}.{key}".strip(".")))), "")
