"""`--cfg provenance`: the composed configuration, and behind each value the file that set it."""

from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf

from ptcli.command_line.quoting import Words
from ptcli.config.choices import groups
from ptcli.config.compose import composer
from ptcli.config.outside import conf_folders
from ptcli.config.scale import apply_scale

_COLUMN = 48  # where comments begin, at the earliest

Origins = dict[str, str]


def provenance(command: str, words: Words, overrides: Sequence[str]) -> str:
    """YAML whose comments name the file of each value, `typed`, or how `scale` changed it. Raises ConfigError."""
    with composer(command) as compose:
        composed = compose(overrides)
        origins = _origins(command, overrides, conf_folders())
    as_composed = dict(_leaves(OmegaConf.to_container(composed.config)))
    scale = composed.config.scale if "scale" in composed.config else 1.0
    apply_scale(composed.config, composed.choices, overrides)
    typed = {word.split("=", 1)[0].lstrip("+~") for word in words.typed} - set(groups())
    settled = {word.split("=", 1)[0] for word in overrides}
    told = {key: _told(key, origins, typed, settled) for key in as_composed}
    for key, value in _leaves(OmegaConf.to_container(composed.config)):
        if value != as_composed[key]:
            told[key] += f", under scale={scale:g}"
    return "\n".join(_lines(OmegaConf.to_container(composed.config), told))


def _origins(root: str, overrides: Sequence[str], folders: Sequence[Path]) -> Origins:
    """Dotted key -> file that gave its last value, in the order in which Hydra merges. Inside an open composer."""
    from hydra.core.global_hydra import GlobalHydra
    from hydra.types import RunMode

    loader = GlobalHydra.instance().config_loader()
    found: Origins = {}
    for entry in loader.compute_defaults_list(root, list(overrides), RunMode.RUN).defaults:
        for folder in folders:
            path = folder / f"{entry.config_path}.yaml"
            if path.is_file():
                loaded = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
                shown = f"{entry.config_path}.yaml" if folder == folders[0] else str(path)
                prefix = "" if entry.package in (None, "", "_global_") else f"{entry.package}."
                for key, _ in _leaves({k: v for k, v in loaded.items() if k != "defaults"}, prefix):
                    found[key] = shown
                break
    return found


def _told(key: str, origins: Origins, typed: Set[str], settled: Set[str]) -> str:
    parents = [key.rsplit(".", n)[0] for n in range(key.count(".") + 1)]  # the key itself, then what it lies in
    if any(parent in typed for parent in parents):
        return "typed"
    if key in settled:
        return "because another budget is typed"
    if key in groups() and key not in origins:
        return "nothing is chosen"
    return next((origins[parent] for parent in parents if parent in origins), "no file: its type's default")


def _leaves(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _leaves(value, f"{prefix}{key}.")
    else:
        yield prefix.rstrip("."), node


def _lines(node: Any, told: Origins, path: str = "", indent: str = "") -> Iterator[str]:
    for key, value in node.items():
        place = f"{path}{key}"
        if isinstance(value, dict) and value:
            yield f"{indent}{key}:"
            yield from _lines(value, told, f"{place}.", f"{indent}  ")
        else:
            plain = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True)
            text = plain.removesuffix("...\n").strip()
            yield f"{f'{indent}{key}: {text}':<{_COLUMN}}  # {told[place]}"


def asks_for_provenance(flags: Sequence[str]) -> bool:
    """Whether Hydra's --cfg is given our value."""
    after = [value for flag, value in pairwise(flags) if flag in ("--cfg", "-c")]
    return "provenance" in after or "--cfg=provenance" in flags
