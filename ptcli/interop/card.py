"""The model card: a README.md that says what a model is, what it was trained on, how, and how well."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ptcli.interop.papers import bibtex


@dataclass(frozen=True)
class Card:
    """All that a card tells. `metrics` are a run's last ones by name; `settings` the resolved configuration."""

    name: str
    architecture: str
    loads: str  # code that loads it
    settings: Mapping[str, Any]
    metrics: Mapping[str, float]
    parameters: int
    papers: Sequence[str]  # arXiv ids
    notes: Sequence[str] = field(default_factory=list)
    library: str = "transformers"
    mask_token: str | None = None

    def text(self) -> str:
        """README.md, with the header that the hub reads."""
        parts = [
            "---",
            f"library_name: {self.library}",
            "pipeline_tag: fill-mask",
            "tags: [ptcli, masked-language-model]",
            "---",
            "",
            f"# {self.name}",
            "",
            f"{self.architecture}, {self.parameters:,} parameters, pretrained with ptcli.",
            "",
            "```python",
            self.loads,
            "```",
            *(["", *(f"- {note}" for note in self.notes)] if self.notes else []),
            *_section("Data", self._data()),
            *_section("Masks", self._masks()),
            *_section("Training", self._training()),
            *_section("Losses", self._losses()),
            *(["", "## Papers", "", "```bibtex", *map(bibtex, self.papers), "```"] if self.papers else []),
        ]
        return "\n".join(parts) + "\n"

    def _data(self) -> dict[str, Any]:
        held = self.settings.get("eval", {}).get("fraction")
        return {
            **_settings_of(self.settings.get("corpus")),
            "tokenizer": _class_of(self.settings.get("tokenizer")),
            "held out for evaluation": None if held is None else f"{held:.0%} of the documents",
        }

    def _masks(self) -> dict[str, Any]:
        measured = self.metrics.get("train/mask_ratio")
        return {
            **_settings_of(self.settings.get("mask")),
            "mask token": f"`{self.mask_token}`" if self.mask_token else None,
            "ratio measured": None if measured is None else f"{measured:.4f}",
        }

    def _training(self) -> dict[str, Any]:
        budget = {key: value for key, value in (self.settings.get("budget") or {}).items() if value is not None}
        return {
            "objective": _class_of(self.settings.get("objective")),
            "sentence pairs": _class_of(self.settings.get("pair")),
            "packing": _class_of(self.settings.get("packing")),
            "longest row": f"{self.settings.get('max_length')} tokens; longer ones were never seen",
            "rows a step": (self.settings.get("batch") or {}).get("size"),
            "budget": ", ".join(f"{value:g} {key}" for key, value in budget.items()) or None,
            "optimizer": _class_of(self.settings.get("optimizer")),
            "learning rate": (self.settings.get("optimizer") or {}).get("learning_rate"),
            "seed": self.settings.get("seed"),
            "tokens read": _figure(self.metrics.get("tokens")),
            "weights before": self.settings.get("checkpoint"),
        }

    def _losses(self) -> dict[str, Any]:
        return {
            name: f"{value:.4f}"
            for name, value in self.metrics.items()
            if name.startswith(("train/", "eval/")) and ("loss" in name or "accuracy" in name or "difficulty" in name)
        }


def _section(title: str, rows: Mapping[str, Any]) -> list[str]:
    rows = {name: value for name, value in rows.items() if value is not None}
    table = [f"| {name} | {_cell(value)} |" for name, value in rows.items()]
    return ["", f"## {title}", "", *(["| | |", "|---|---|", *table] if table else ["Not known."])]


def _settings_of(node: Any) -> dict[str, Any]:
    if not isinstance(node, Mapping):
        return {}
    plain = {name: value for name, value in node.items() if not str(name).startswith("_")}
    if plain.get("path"):
        plain["path"] = Path(str(plain["path"])).name  # where it lay is nobody's business
    return {"kind": _class_of(node), **plain}


def _class_of(node: Any) -> str | None:
    return str(node["_target_"]).rpartition(".")[2] if isinstance(node, Mapping) and "_target_" in node else None


def _figure(value: Any) -> str | None:
    return f"{value:,.0f}" if isinstance(value, int | float) else None


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")
