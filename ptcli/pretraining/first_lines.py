"""What is said before a pretraining begins."""

from typing import Any

from ptcli.assembly.data import Data
from ptcli.assembly.phases import first_length, lines_of
from ptcli.optimizer.groups import describe_groups
from ptcli.report.statistics import Statistics
from ptcli.run.job import Job

_MEASURED = 1000  # examples


def first_lines(job: Job, data: Data, step: Any, loader: Any, optimizer: Any) -> list[str]:
    """What is about to be trained on what, in figures that are counted and not assumed."""
    config = job.config
    epoch = loader.epoch(0)
    counted = epoch.counts
    parameters = sum(parameter.numel() for parameter in step.parameters())
    tokens = sum(documents.num_tokens for documents in data.training)
    fill = counted["tokens"] / (epoch.num_rows * first_length(config))
    lines = [
        f"model: {parameters:,} parameters, vocabulary {data.vocabulary.size:,}; {job.trainer.describe()}",
        f"text: {tokens:,} tokens {loader.rows_of} to train on; {data.store.split_remark(config.eval.fraction)}",
        f"rows: {epoch.num_rows:,} {loader.rows_of}, {fill:.1%} full{packing_remarks(counted)}",
    ]
    lines += mask_lines(data.mask, loader) if job.trainer.ranks.is_first else []
    if not step.model.isolates:
        lines.append("each example has a row of its own: the attention lets the examples of a row see each other")
    lines += [f"optimizer: {line}" for line in describe_groups(optimizer.param_groups)]
    if config.eval.fraction and config.eval.tokens < sum(d.num_tokens for d in data.held_out):
        lines.append(f"each evaluation reads {config.eval.tokens:,} of the held-out tokens (eval.tokens)")
    return [*lines, *lines_of(config)]


def mask_lines(mask: Any, loader: Any) -> list[str]:
    """What the mask does to the first examples, beside what was asked of it; nothing where it hides nothing."""
    found = Statistics()
    for number, (gathered, masked) in enumerate(loader.first_epoch()):
        asked = mask.ratio_at(number)
        found.add(gathered.examples, masked, added={}, num_rows=gathered.num_rows, ratio_asked=asked)
        if found.examples >= _MEASURED:
            break
    if not found.selected:
        return []
    line = (
        f"mask: {found.ratio:.2%} of the maskable tokens of the first {found.examples:,} examples "
        f"({found.ratio_asked:.2%} asked)"
    )
    if law := getattr(mask, "mean_words", None):
        line += f", in units of {found.mean_unit_words:.2f} words (the law's mean is {law:.2f})"
    return [line]


def packing_remarks(counted: dict[str, int]) -> str:
    """What packing cut, dropped, skipped and labelled, as " (12 dropped truncated, ...)"; empty where nothing is."""
    told = {name: n for name, n in counted.items() if n and name.split("_")[0] in ("cut", "dropped", "skipped")}
    labels = {name.removeprefix("label_"): value for name, value in counted.items() if name.startswith("label_")}
    parts = [f"{value:,} {name.replace('_', ' ')}" for name, value in told.items()]
    parts += [f"{value / sum(labels.values()):.1%} {name.replace('_', ' ')}" for name, value in labels.items() if value]
    return f" ({', '.join(parts)})" if parts else ""
