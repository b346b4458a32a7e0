"""The table of recipes, made from conf/; `make docs` writes it in its place."""

import sys
from pathlib import Path

from ptcli.config.choices import choices
from ptcli.config.compose import Composed, compose
from ptcli.config.phases import configuration_of, phases_of
from writers.tables import BEGIN, END

_COLUMNS = (
    "recipe=",
    "model",
    "vocabulary",
    "mask, pair",
    "packing",
    "rows x length",
    "budget",
    "optimizer",
    "schedule",
)
_SHORT = {10**12: " T", 10**9: " B", 10**6: " M"}


def recipes_table() -> str:
    """A Markdown table: every recipe with what it is made of."""
    lines = [f"| {' | '.join(_COLUMNS)} |", "|---" * len(_COLUMNS) + "|"]
    for choice in choices("recipe"):
        if choice.name != "none":
            lines.append(f"| `{choice.name}` | {' | '.join(_cells(compose('pretrain', [f'recipe={choice.name}'])))} |")
    return "\n".join(lines)


def with_table(text: str) -> str:
    """A page with the table put between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{recipes_table()}\n{END}{after}"


def _cells(composed: Composed) -> list[str]:
    config, chosen = composed.config, composed.choices
    phases = [configuration_of(config, phase) for phase in phases_of(config)] or [config]
    (budget,) = [f"{_short(value)} {name}" for name, value in config.budget.items() if value is not None]
    vocabulary = config.tokenizer.get("vocab_size")
    pair = "" if chosen["pair"] == "none" else f", {chosen['pair']}"
    return [
        f"{chosen['model']}, {config.model.num_layers}x{config.model.hidden_size}",
        "the ids" if vocabulary is None else f"{vocabulary:,}",
        f"{chosen['mask']} {config.mask.ratio:.0%}{pair}",
        str(chosen["packing"]),
        ", then ".join(dict.fromkeys(f"{one.batch.size:,} x {one.max_length:,}" for one in phases)),
        budget,
        f"{chosen['optimizer']}, {config.optimizer.learning_rate:g}",
        f"{chosen['schedule']}, {config.schedule.warmup:.2%} up",
    ]


def _short(value: float) -> str:
    for size, name in _SHORT.items():
        if value >= size:
            return f"{value / size:g}{name}"
    return f"{value:,g}" if value < 10**6 else f"{value:,}"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
