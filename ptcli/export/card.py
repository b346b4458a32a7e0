"""The model card of an exported model, from its configuration and the last metrics of its run."""

import json
from pathlib import Path
from typing import Any

from ptcli.config.bind import plain_values
from ptcli.config.targets import locate
from ptcli.interop.card import Card
from ptcli.interop.papers import cited
from ptcli.run.load import Model


def write_card(
    saved: Model,
    folder: Path,
    *,
    name: str,
    architecture: str,
    loads: str,
    notes: list[str],
    library: str = "transformers",
) -> None:
    """Write README.md into `folder`. `loads`: code that loads it; `notes`: what a user of it must know."""
    settings = plain_values(saved.config)
    card = Card(
        name=name,
        architecture=architecture,
        loads=loads,
        settings=settings,
        metrics=_metrics(saved.folder),
        parameters=sum(p.numel() for p in saved.step.parameters()),
        papers=_papers(settings),
        notes=notes,
        library=library,
        mask_token=saved.tokenizer.special_tokens.mask_token,
    )
    (folder / "README.md").write_text(card.text(), encoding="utf-8")


def _metrics(folder: Path) -> dict[str, float]:
    """The last metrics of the run whose `model/` this is; nothing where it is no run's."""
    summary = folder.parent / "summary.json"
    if folder.name != "model" or not summary.is_file():
        return {}
    content = json.loads(summary.read_text(encoding="utf-8"))
    return {**content.get("metrics", {}), "tokens": content.get("tokens")}


def _papers(settings: dict[str, Any]) -> list[str]:
    """The papers that the parts name in their docstrings."""
    groups = ("model", "objective", "mask", "pair", "packing", "optimizer", "schedule")
    return cited(doc for group in groups for doc in _docstrings(settings.get(group)))


def _docstrings(node: Any) -> list[str]:
    if not isinstance(node, dict):
        return []
    own = []
    if str(node.get("_target_", "")).startswith("ptcli."):
        own = [locate(node["_target_"]).__doc__ or ""]
    return [*own, *(doc for value in node.values() for doc in _docstrings(value))]
