"""`ptcli evaluate`: a model on the documents that its run held out, or on any other text."""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING, DictConfig, OmegaConf

from ptcli.assembly.parts import part
from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.root import DeviceAndPrecision, Root, RowBatch
from ptcli.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table

    from ptcli.evaluation.held_out import Measured

log = logging.getLogger(__name__)


@dataclass
class HeldOut:
    """On what and under which mask a finished model is evaluated."""

    max_length: int = MISSING
    tokens: int | None = None
    mask: Any = MISSING


@dataclass
class TaskText:
    """Other rows for the task of a fine-tuned model."""

    path: str | None = None
    split: str = MISSING


@dataclass
class EvaluateRoot(Root):
    """Types of conf/evaluate.yaml."""

    corpus: Any = MISSING
    task: TaskText = field(default_factory=TaskText)
    errors: str | None = None
    page: str | None = None
    checkpoint: str | None = None
    seed: int = MISSING
    batch: RowBatch = field(default_factory=RowBatch)
    eval: HeldOut = field(default_factory=HeldOut)
    trainer: DeviceAndPrecision = field(default_factory=DeviceAndPrecision)


COMMAND = Command(
    __name__,
    "measure a model on held-out text, or a fine-tuned one on its task",
    root=EvaluateRoot,
    needs={"checkpoint": "checkpoint=RUN"},
    examples=(
        "ptcli evaluate checkpoint=runs/NAME                         on the documents it held out",
        "ptcli evaluate checkpoint=runs/NAME corpus.path=other.txt",
        "ptcli evaluate checkpoint=runs/FINE-TUNED errors=errors.tsv  on its task; the worst rows first",
    ),
)


def run(config: DictConfig, context: Context) -> float | None:
    """Print the evaluation as two tables, all of it and by kind of position; its fixed-mask loss."""
    from rich.console import Console

    from ptcli.assembly.data import make_data
    from ptcli.assembly.evaluation import make_evaluation
    from ptcli.assembly.text import prepare_text
    from ptcli.evaluation.held_out import meanings, metrics_of
    from ptcli.run.find import is_fine_tuned
    from ptcli.run.load import load

    if is_fine_tuned(config.checkpoint):
        from ptcli.finetuning import evaluate as evaluate_task

        return evaluate_task.run(config, context)
    _refuse_task_keys(context)
    device = part(
        OmegaConf.create({"trainer": {"_target_": "ptcli.trainer.trainer.Trainer", **config.trainer}}), "trainer"
    )
    saved = load(config.checkpoint, plugins=tuple(config.plugins))
    for remark in saved.remarks:
        log.info(remark)
    measured = saved.config
    other_text = any(re.match(r"[+~]*corpus\b", word) for word in context.overrides)
    measured.eval.update({"max_length": config.eval.max_length, "tokens": config.eval.tokens, "mask": config.eval.mask})
    if other_text:
        measured.corpus = config.corpus
    store = prepare_text(measured, tokenizer=saved.tokenizer)
    data = make_data(measured, store, saved.tokenizer.vocabulary, saved.learnt)
    if other_text:  # nothing of it was trained on: all of it is held out
        data.held_out[:] = store.split(0.0)[0]
        log.info(f"{store.num_documents:,} documents, {sum(d.num_tokens for d in data.held_out):,} tokens")
    else:
        log.info(store.split_remark(measured.eval.fraction))
    evaluation = make_evaluation(
        measured, data, model=saved.step.model, counts=saved.counts, micro_size=config.batch.size
    )
    if evaluation is None:
        log.info("the run held nothing out (eval.fraction=0): give other text with corpus.path=FILE")
        return None
    device.place(saved.step)
    fixed, own = evaluation.measure(
        saved.step.model, saved.step.objective, device=device.device, autocast=device.autocast
    )
    console = Console(highlight=False)
    metrics = metrics_of(fixed, own)
    objective = saved.step.objective
    console.print(_whole(metrics, fixed, own, meanings=meanings(objective.predicts, main=objective.main)))
    if own.losses.size:
        console.print("\nUnder the training's own mask, by kind of scored position:")
        console.print(_by_kind(own))
    console.print(f"\nIntervals: 95 %, over {_num_documents(fixed):,} documents drawn anew 1,000 times.")
    return metrics.get(f"eval/{objective.main}_loss")


def _refuse_task_keys(context: Context) -> None:
    key = next((word for word in context.overrides if re.match(r"[+~]*(task\.|errors=|page=)", word)), None)
    if key:
        raise ConfigError(
            f"{key} is for a fine-tuned model, and this one was not fine-tuned. Give other text with corpus.path=FILE, "
            "or fine-tune it first: ptcli finetune"
        )


def _whole(metrics: dict[str, float], fixed: "Measured", own: "Measured", *, meanings: dict[str, str]) -> "Table":
    from rich.table import Table

    table = Table("metric", "value", "95 % interval", "what it is", box=None, pad_edge=False)
    intervals = {name: _interval(*given) for name, *given in _ratios(fixed, own)}
    for name, value in metrics.items():
        if name in meanings:
            figure = f"{value:,.0f}" if name == "eval/tokens" else f"{value:.4f}"
            table.add_row(name, figure, intervals.get(name, ""), meanings[name])
    return table


def _ratios(fixed: "Measured", own: "Measured") -> "Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]":
    """Name, numerators, denominators and documents of what has an interval."""
    import numpy as np

    for name, passed in ((fixed.main, fixed), ("own_mask", own)):
        documents, ones = passed.scored.documents, np.ones_like(passed.losses)
        if passed.losses.size:
            yield f"eval/{name}_loss", passed.losses, ones, documents
            yield f"eval/{name}_loss_per_character", passed.losses, passed.characters, documents
            yield f"eval/{name}_accuracy", passed.hits, ones, documents


def _by_kind(own: "Measured") -> "Table":
    import numpy as np
    from rich.table import Table

    from ptcli.evaluation.held_out import ratio
    from ptcli.evaluation.scored import groups

    columns = ("kind", "positions", "share", "loss", "95 % interval", "accuracy", "unigram loss")
    table = Table(*columns, box=None, pad_edge=False)
    for name, members in groups(own.scored).items():
        if number := int(members.sum()):
            losses, ones = own.losses[members], np.ones(number)
            table.add_row(
                name.replace("_", " "),
                f"{number:,}",
                f"{number / len(members):.1%}",
                f"{ratio(losses):.4f}",
                _interval(losses, ones, own.scored.documents[members]),
                f"{ratio(own.hits[members]):.4f}",
                f"{ratio(own.unigram[members]):.4f}",
            )
    return table


def _interval(values: "np.ndarray", weights: "np.ndarray", documents: "np.ndarray") -> str:
    from ptcli.evaluation.intervals import interval

    found = interval(values, weights, documents)
    return "one document" if found is None else f"{found[0]:.4f} to {found[1]:.4f}"


def _num_documents(measured: "Measured") -> int:
    import numpy as np

    return len(np.unique(measured.scored.documents))
