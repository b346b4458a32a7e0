"""`ptcli check`: whether a configuration fits together, what it needs, and how long it takes; trains nothing."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING, DictConfig, OmegaConf

from ptcli.assembly.model import check_parts, make_model, model_shape
from ptcli.assembly.parts import part
from ptcli.cache import cache_folder
from ptcli.command.pretrain import NO_PART, NO_TASK, PretrainRoot
from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.phases import configuration_of, phases_of
from ptcli.errors import ConfigError
from ptcli.run.begin import refuse_another
from ptcli.run.folder import RunFolder
from ptcli.trainer.budget import Budget

if TYPE_CHECKING:
    from ptcli.trainer.estimate import Fixed, Measured


@dataclass
class CheckRoot(PretrainRoot):
    """Types of conf/check.yaml: what pretrain takes, and whether a few steps are trained."""

    measure: bool = MISSING


COMMAND = Command(
    __name__,
    "say whether a configuration fits together, what it needs and how long it takes; trains nothing",
    root=CheckRoot,
    refuses=NO_TASK | NO_PART,
    examples=(
        "ptcli check model=albert model/size=albert_xxlarge",
        "ptcli check recipe=bert corpus=text corpus.path=books/      time for the whole recipe on this machine",
    ),
)

_MEBIBYTE, _GIBIBYTE = 2**20, 2**30
_CPU_TOKENS = 1024  # that are measured at once on a CPU, about; a GPU takes a whole micro-batch


def run(config: DictConfig, context: Context) -> None:
    """Print what the run needs: the model, memory, text, budget, time, disk and the machine. Raises ConfigError.

    Text that is prepared already is looked at; none is prepared. What the run would be refused for is refused here.
    """
    from ptcli.trainer.environment import environment
    from ptcli.trainer.estimate import fixed_bytes

    trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    part(config, "schedule").check(total_steps=budget.total_steps)
    for name in config.logger or {}:
        part(config, f"logger.{name}")
    text = _text(config)
    vocab_size = text.get("vocab_size") or OmegaConf.select(config, "tokenizer.vocab_size") or _vocabulary_of(config)
    micro_size = trainer.micro_size(config.batch.size, config.batch.micro_size)
    step = check_parts(config, vocab_size=vocab_size).to(trainer.precision.weights_type)
    fixed = fixed_bytes(
        step,
        part(config, "optimizer", module=step),
        averages=trainer.average is not None,
        parts=trainer.devices if trainer.strategy == "fsdp" else 1,
    )
    measured, why_not = _measured(config, trainer, vocab_size, micro_size, fixed.total)
    if measured and fixed.optimizer is None:
        fixed = replace(fixed, optimizer=measured.optimizer_bytes)
    _print(
        {"run": _folder(config), "device": trainer.describe()},
        _model(config, step, vocab_size),
        _memory(config, trainer, fixed, measured, micro_size),
        {**_told_text(text), **_budget(config, trainer, budget, text, measured, why_not)},
        _disk(config, fixed.checkpoint),
        {**environment(trainer.device), "wandb": _wandb()},
    )
    if problems := _no_room(config, trainer, fixed):
        raise ConfigError("\n".join(problems))
    print("everything fits together")


def _folder(config: DictConfig) -> str:
    """What the run's folder holds. Raises ConfigError where the run would be refused there."""
    folder = RunFolder(Path(config.run.dir) / config.run.name)
    summary = folder.summary()
    if config.resume != "never":
        refuse_another(folder, config)
    if config.resume == "must" and not any(folder.checkpoints.glob("step-*")):
        raise ConfigError(f"resume=must: {folder.path} holds no checkpoint to go on from. Type resume=auto to begin.")
    if not os.access(_existing(folder.path), os.W_OK):
        raise ConfigError(f"run.dir={config.run.dir}: nothing can be written there. Type run.dir=FOLDER")
    state = f"{summary['status']} at step {summary['step']:,}" if summary else "new"
    return f"{folder.path} ({state})"


def _print(*sections: dict[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for section in sections:
        for name, value in section.items():
            table.add_row(name, value)
        table.add_row()
    Console(highlight=False, soft_wrap=True).print(table)


def _model(config: DictConfig, step: Any, vocab_size: int) -> dict[str, str]:
    parameters = sum(p.numel() for p in step.parameters())
    layers = step.model.layers()
    length, rows = config.max_length, config.batch.micro_size or config.batch.size
    forward = step.objective.flops_per_token(step.model, length) + step.model.flops_per_batch(length) / (rows * length)
    head = step.objective.head_flops(step.model) * _ratio(config)
    return {
        "parameters": f"{parameters:,} at a vocabulary of {vocab_size:,} ({len(layers)} layers, "
        f"{len(set(map(id, layers)))} of them with weights of their own)",
        "operations": f"{3 * (forward + head) / 1e6:,.1f} M a token, forward and backward, "
        f"{head / (forward + head):.0%} of them in the heads",
    }


def _memory(
    config: DictConfig, trainer: Any, fixed: "Fixed", measured: "Measured | None", micro_size: int
) -> dict[str, str]:
    from ptcli.trainer.estimate import memory_of

    scores = micro_size * config.model.num_heads * config.max_length**2 * 4
    share = "" if fixed.parts == 1 else f", divided among {fixed.parts} devices"
    assumed = "" if fixed.optimizer is not None else ", if it has two moments: it does not tell"
    rows = {
        "weights": _size(fixed.weights) + share,
        "gradients": _size(fixed.weights) + share,
        "optimizer": _size(fixed.states) + share + assumed,
        **({"average": _size(fixed.average) + share} if fixed.average else {}),
        "attention": f"{_size(scores)} where a layer's scores are held whole ({micro_size} rows, "
        f"{config.model.num_heads} heads, {config.max_length} x {config.max_length}, fp32)",
    }
    total = fixed.total
    if measured:
        kept = round(measured.activation_bytes / measured.tokens * micro_size * config.max_length)
        total += kept
        rows["activations"] = f"{_size(kept)} for a micro-batch of {micro_size} full rows, attention among them"
    there = memory_of(trainer.device)
    rows["memory in all"] = _size(total) + ("" if measured else " without activations")
    if there:
        rows["memory in all"] += f"; {_size(there[0])} of {_size(there[1])} are free"
        if total > there[0]:
            rows["memory in all"] += ". More than is free: a smaller batch.micro_size keeps fewer activations"
    return rows


def _measured(
    config: DictConfig, trainer: Any, vocab_size: int, micro_size: int, fixed: int
) -> "tuple[Measured | None, str]":
    """A few steps of the real thing on made-up tokens, or why there are none."""
    import torch

    from ptcli.assembly.data import make_noises
    from ptcli.batch.made_up import made_up_batch
    from ptcli.trainer.estimate import measure, memory_of

    if not config.measure:
        return None, "not measured (measure=false)"
    there = memory_of(trainer.device)
    if there and 1.2 * fixed > there[0]:
        return None, "not measured: weights, gradients and optimizer do not fit into the memory that is free"
    on_cuda = trainer.device.type == "cuda"
    rows = micro_size if on_cuda else min(micro_size, max(1, _CPU_TOKENS // config.max_length))
    pair = part(config, "pair")
    added = [column for noise in make_noises(config).values() for column in noise.adds]
    batch, counts = made_up_batch(
        rows, config.max_length, vocab_size=vocab_size, ratio=_ratio(config), pairs=bool(pair.num_labels), added=added
    )
    step = make_model(config, vocab_size, pair)
    trainer.place(step)
    batch = {name: tensor.to(trainer.device) for name, tensor in batch.items()}
    try:
        return measure(step, part(config, "optimizer", module=step), batch, counts, autocast=trainer.autocast), ""
    except torch.cuda.OutOfMemoryError:
        return None, f"not measured: a micro-batch of {rows} rows does not fit into the memory. Lower batch.micro_size"


def _text(config: DictConfig) -> dict[str, Any]:
    """What is known of the text: of a store that is there already, its counts; `why` where there is none."""
    from ptcli.assembly.data import row_facts
    from ptcli.assembly.text import preparation, read_corpus
    from ptcli.store.prepare import find

    corpus, words, recipe = read_corpus(config)
    if OmegaConf.select(config, "corpus.streaming", default=False):
        return {"why": "streamed: no epochs, and nothing is counted before"}
    cache = cache_folder() / "tokenizers"
    place = getattr(recipe, "place", None)
    if place is None or place(corpus, cache=cache).is_dir():
        tokenizer = recipe.build(corpus, cache=cache)
        store = find(corpus, words, tokenizer, folder=preparation(config)["folder"])
        if store is not None:
            rows = row_facts(config, store, tokenizer.vocabulary, isolates=model_shape(config).isolates)
            return {**store.manifest["counts"], **rows} | {"vocab_size": tokenizer.vocabulary.size}
    return {"why": "not prepared yet, so not counted: ptcli prepare with the same words does both"}


def _told_text(text: dict[str, Any]) -> dict[str, str]:
    if "why" in text:
        return {"text": text["why"]}
    trained = text["tokens"] - text["held_out_tokens"]
    return {
        "text": f"{trained:,} tokens an epoch, {text['held_out_tokens']:,} held out",
        "rows": f"{text['rows']:,} an epoch, {text['fill']:.1%} full",
    }


def _budget(
    config: DictConfig, trainer: Any, budget: Budget, text: dict[str, Any], measured: "Measured | None", why_not: str
) -> dict[str, str]:
    shares = _shares(config)
    positions = sum(share * rows * length for share, rows, length in shares)  # in a step, over the phases
    fill, rows = text.get("fill", 1.0), sum(share * rows for share, rows, _ in shares)
    steps: float | None = {
        "steps": budget.amount,
        "tokens": budget.amount / (positions * fill),
        "epochs": budget.amount * text["rows"] / rows if "rows" in text else None,
        "minutes": None,
    }[budget.unit]
    told = {"budget": f"{budget.amount:,.10g} {budget.unit}", "speed": why_not}
    if measured:
        seconds = positions * measured.seconds / measured.tokens / trainer.devices + measured.update_seconds
        told["speed"] = (
            f"{positions / seconds:,.0f} tokens a second ({measured.steps} step{'s' * (measured.steps > 1)} of "
            f"{measured.tokens:,} made-up tokens; a step of {rows:,.10g} rows takes {_duration(seconds)})"
        )
        if trainer.devices > 1:
            told["speed"] += (
                f", at most: measured on one of {trainer.devices} devices, which then also exchange gradients"
            )
        if budget.unit == "minutes":
            steps = budget.amount * 60 / seconds
        told["time"] = _duration(steps * seconds) if steps else "not known before the text is prepared"
    if steps:
        most = "" if "fill" in text else "at most "
        counted = "" if budget.unit == "steps" else f"{steps:,.0f} steps, "
        told["budget"] += f": {counted}{most}{steps * positions * fill:,.0f} tokens"
        if "rows" in text:
            told["budget"] += f", {steps * rows / text['rows']:,.2f} epochs of {text['rows'] / rows:,.1f} steps"
    return told


def _shares(config: DictConfig) -> list[tuple[float, int, int]]:
    """(share of the budget, rows in a step, their length) of each phase."""
    begun, found = 0.0, []
    for phase in phases_of(config):
        inside = configuration_of(config, phase)
        found.append((phase.until - begun, inside.batch.size, inside.max_length))
        begun = phase.until
    return found or [(1.0, config.batch.size, config.max_length)]


def _disk(config: DictConfig, checkpoint: int) -> dict[str, str]:
    number = config.save.keep + 2
    free = shutil.disk_usage(_existing(Path(config.run.dir))).free
    return {
        "disk": f"{_size(number * checkpoint)}: {number} checkpoints of {_size(checkpoint)} "
        f"(save.keep={config.save.keep}, the best, and one that is being written); {_size(free)} are free there"
    }


def _no_room(config: DictConfig, trainer: Any, fixed: "Fixed") -> list[str]:
    """What cannot be: less disk than two checkpoints, less memory than the model alone."""
    from ptcli.trainer.estimate import memory_of

    problems = []
    free, there = shutil.disk_usage(_existing(Path(config.run.dir))).free, memory_of(trainer.device)
    if free < (config.save.keep + 2) * fixed.checkpoint:
        problems.append(
            f"run.dir={config.run.dir}: {_size(free)} are free, but {config.save.keep + 2} checkpoints take "
            f"{_size((config.save.keep + 2) * fixed.checkpoint)}. Free some room, or use "
            "another run.dir or a smaller save.keep"
        )
    if there and fixed.total > there[1]:
        problems.append(
            f"weights, gradients and optimizer take {_size(fixed.total)}, but the device has {_size(there[1])}. "
            "Use a smaller model/size, or an optimizer with a smaller state"
        )
    return problems


def _existing(folder: Path) -> Path:
    folder = folder.absolute()
    return next(path for path in (folder, *folder.parents) if path.exists())


def _ratio(config: DictConfig) -> float:
    return float(OmegaConf.select(config, "mask.ratio") or 1.0)


def _wandb() -> str:
    from ptcli.logger.wandb import has_key

    return "a key is at hand" if has_key() else "no key: runs are kept offline (wandb login makes them online)"


def _size(count: int) -> str:
    return f"{count / _GIBIBYTE:,.1f} GiB" if count >= _GIBIBYTE else f"{count / _MEBIBYTE:,.0f} MiB"


def _duration(seconds: float) -> str:
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.1f} {name}"
    return f"{seconds:,.2f} seconds"


def _vocabulary_of(config: DictConfig) -> int:
    """The size of a vocabulary that is loaded, not trained."""
    from ptcli.assembly.text import read_corpus

    corpus, _, recipe = read_corpus(config)
    return recipe.build(corpus, cache=cache_folder() / "tokenizers").vocabulary.size
