"""Root values that no constructor sees: ranges, and keys of which exactly one or at least one is needed."""

from collections.abc import Iterator
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.config.command import Command, find
from ptcli.config.root import BUDGETS

RESUME = ("auto", "never", "must")
_AT_LEAST_ONE = (
    "batch.size",
    "batch.micro_size",
    "prepare.workers",
    "save.keep",
    "log.every",
    "eval.tokens",
    "top",
    "steps",
    "examples",
    "chunk",
    "eval.batch_size",
    "finetune.batch_size",
)
_AT_LEAST_TWO = ("folds",)
_AT_LEAST_ZERO = ("seed", "eval.every", "save.every", "show")


def check_values(config: DictConfig, *, command: str) -> list[str]:
    """Every root value out of its range, a line each."""
    checks = (_ranges, _budget, _batch, _accumulation, _plain, _resize)
    record = find(command)
    of_command = _of_command(config, record) if record else ()
    return [*(problem for check in checks for problem in check(config)), *of_command]


def _get(config: DictConfig, key: str) -> Any:
    return OmegaConf.select(config, key)


def _ranges(config: DictConfig) -> Iterator[str]:
    for keys, least in ((_AT_LEAST_TWO, 2), (_AT_LEAST_ONE, 1), (_AT_LEAST_ZERO, 0)):
        for key in keys:
            value = _get(config, key)
            if isinstance(value, int | float) and not value >= least:
                yield f"{key}={value}: must be {least} or more"
    for key in ("max_length", "eval.max_length"):
        length = _get(config, key)
        if isinstance(length, int) and length < 4:
            yield f"{key}={length}: a row holds at least 4 tokens, special ones included"
    fraction = _get(config, "eval.fraction")
    if isinstance(fraction, float) and not 0 <= fraction < 1:
        yield f"eval.fraction={fraction}: a share of the documents, from 0 to below 1" + _as_percent(fraction)
    for key in ("eval.every", "save.every"):
        value = _get(config, key)
        if isinstance(value, float) and value > 1 and value != int(value):
            yield f"{key}={value}: whole steps from 1 on, or a share of the budget below 1"


def _as_percent(fraction: float) -> str:
    return f". {fraction:g} means {fraction * 100:g} %; write {fraction / 100:g}" if 1 < fraction <= 100 else ""


def _budget(config: DictConfig) -> Iterator[str]:
    if _get(config, "budget") is None:
        return
    given = {name: value for name in BUDGETS if (value := _get(config, f"budget.{name}")) is not None}
    shown = ", ".join(f"budget.{name}={value}" for name, value in given.items())
    if len(given) > 1:
        yield f"{shown}: a run has one budget. Give one of them"
    elif not given:
        yield "no budget: give budget.steps, budget.tokens, budget.epochs or budget.minutes"
    elif not min(given.values()) > 0:
        yield f"{shown}: must be above 0"


def _batch(config: DictConfig) -> Iterator[str]:
    size, micro = _get(config, "batch.size"), _get(config, "batch.micro_size")
    if isinstance(size, int) and isinstance(micro, int) and micro > size >= 1:
        yield f"batch.micro_size={micro} is more than batch.size={size}. Use batch.micro_size={size} or less"


def _accumulation(config: DictConfig) -> Iterator[str]:
    size, micro, count = (_get(config, key) for key in ("batch.size", "batch.micro_size", "trainer.accumulate"))
    if isinstance(count, int) and isinstance(size, int) and not 1 <= count <= max(size, 1):
        yield f"trainer.accumulate={count}: from 1 to batch.size={size} micro-batches make a step"
    elif isinstance(count, int) and isinstance(micro, int) and micro >= 1 and -(-size // micro) != count:
        yield (
            f"trainer.accumulate={count} does not go with batch.micro_size={micro}, which makes {-(-size // micro)} "
            f"micro-batches of batch.size={size}. Give one of the two"
        )


def _plain(config: DictConfig) -> Iterator[str]:
    resume = _get(config, "resume")
    if resume is not None and resume not in RESUME:
        yield f"resume={resume}: one of {', '.join(RESUME)}"
    for key in ("run.name", "sweep.name"):
        name = _get(config, key)
        if isinstance(name, str) and (not name.strip(". ") or any(letter in name for letter in '=,/\\:*?"<>| \t\n')):
            yield f'{key}={name}: a plain name without spaces or any of = , / \\ : * ? " < > |'


def _of_command(config: DictConfig, command: Command) -> Iterator[str]:
    """What the command's record asks of its configuration."""
    for key, line in command.needs.items():
        if not _get(config, key):
            yield f"{key} is missing: ptcli {command.name} {line}"
    for key, why in command.refuses.items():
        if (value := _get(config, key)) is not None:
            shown = key if isinstance(value, DictConfig) else f"{key}={value}"
            yield f"{shown}: {why.format(command=command.name)}"
    if command.formats and (value := _get(config, "format")) not in command.formats:
        yield f"format={value}: one of {', '.join(command.formats)}"


def _resize(config: DictConfig) -> Iterator[str]:
    if _get(config, "resize_vocabulary") and not _get(config, "checkpoint"):
        yield "resize_vocabulary=true changes the vocabulary of a checkpoint, but none is given. Write checkpoint=RUN"
