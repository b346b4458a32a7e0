"""`ptcli pretrain`: text to a trained model, read top to bottom."""

import logging
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.command.assemble import (
    Data,
    check_parts,
    make_data,
    make_evaluation,
    make_model,
    part,
    prepare_text,
    read_corpus,
    training_loader,
)
from ptcli.command.start import start_from
from ptcli.config.context import Context
from ptcli.config.identity import dump, fingerprint, read, resolve
from ptcli.errors import CheckpointError, ConfigError
from ptcli.logger.console import Console
from ptcli.logger.jsonl import Jsonl
from ptcli.logger.logger import Logger
from ptcli.trainer.budget import Budget
from ptcli.trainer.folder import RunFolder
from ptcli.trainer.loop import Trainer
from ptcli.trainer.seeds import seed_everything
from ptcli.trainer.signals import Interrupted
from ptcli.trainer.weights import save_model

log = logging.getLogger(__name__)


def run(config: DictConfig, context: Context) -> float | int | None:
    """Train one run, or go on with it; its last fixed-mask loss, or an exit code where a signal stopped it."""
    read_corpus(config)
    check_parts(config)
    trainer: Trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    micro_size = trainer.micro_size(config.batch.size, config.batch.micro_size)
    sinks = [Console(), Jsonl(), *(part(config, f"logger.{name}") for name in config.logger or {})]

    with RunFolder(Path(config.run.dir) / config.run.name) as folder:
        if config.resume != "never":
            _refuse_another(folder, config)
            if _is_finished(folder, budget):
                return _say_finished(folder, context)
        if aside := folder.begin(config.resume):
            log.info(f"what {folder.path} held is put aside in {aside}")
        _write_down(folder, config, context)
        with Logger(sinks) as logger:
            logger.start(folder=folder.path, name=config.run.name, group=context.sweep, config=resolve(config))
            try:
                return _train(config, context, folder, logger, trainer, budget, micro_size)
            except Interrupted as stopped:
                logger.say(str(stopped))
                logger.finish("interrupted")
                return stopped.exit_code


def _train(
    config: DictConfig,
    context: Context,
    folder: RunFolder,
    logger: Logger,
    trainer: Trainer,
    budget: Budget,
    micro_size: int,
) -> float | None:
    store = prepare_text(config)
    tokenizer = store.tokenizer()
    data = make_data(config, store, tokenizer.vocabulary)
    counts = data.learnt["token_counts"]

    seed_everything(config.seed)
    step = make_model(config, tokenizer.vocabulary.size, data.pair)
    if config.checkpoint:
        remarks = start_from(config.checkpoint, step, tokenizer, resize_vocabulary=config.resize_vocabulary)
        for remark in remarks:
            logger.say(remark)
    step.to(trainer.device)

    optimizer, schedule = part(config, "optimizer", module=step), part(config, "schedule")
    on_cuda = trainer.device.type == "cuda"
    loader = training_loader(config, data, micro_size=micro_size, static_length=on_cuda)
    evaluation = make_evaluation(config, data, counts=counts, micro_size=micro_size)
    for line in _first_lines(config, data, step, loader, trainer, optimizer):
        logger.say(line)

    def evaluate() -> dict[str, float]:
        return evaluation(step.model, step.objective, device=trainer.device, autocast=trainer.autocast)

    def export() -> None:
        save_model(
            folder.model,
            step,
            config=resolve(config),
            tokenizer_folder=store.folder / "tokenizer",
            arrays=data.learnt,
        )

    from ptcli.evaluation.held_out import left_plateau

    state = trainer.fit(
        step=step,
        optimizer=optimizer,
        schedule=schedule,
        loader=loader,
        budget=budget,
        run=folder,
        logger=logger,
        seed=config.seed,
        evaluate=evaluate if evaluation else None,
        left_plateau=left_plateau,
        export=export,
        log_every=config.log.every,
        eval_every=config.eval.every,
        save_every=config.save.every,
        keep=config.save.keep,
        identity={"configuration": fingerprint(config), "corpus": store.folder.name},
        resume_command=context.command_line,
    )
    logger.say(f'the model is in {folder.model}; look at it: ptcli fill checkpoint={folder.path} "...[MASK]..."')
    return state.metrics.get("eval/masked_lm_loss")


def _refuse_another(folder: RunFolder, config: DictConfig) -> None:
    """A folder named by hand may hold a run of another configuration: say which keys differ."""
    before = folder.path / "config.yaml"
    if not before.exists():
        return
    try:
        old, _ = read(before)
    except CheckpointError as error:
        raise ConfigError(f"{error}. Type run.name=NAME for another folder, or resume=never to begin anew.") from error
    if fingerprint(old) == fingerprint(config):
        return
    changed = [
        f"{key}={_short(there)} there, {_short(here)} now"
        for key, (there, here) in _differences(resolve(old), resolve(config)).items()
        if key.split(".")[0] not in ("run", "resume", "logger", "log", "save", "budget", "sweep")
    ]
    raise ConfigError(
        f"{folder.path} holds a run of another configuration ({'; '.join(changed[:6])}"
        f"{'; ...' if len(changed) > 6 else ''}). Type run.name=NAME for a new run, "
        "or resume=never to begin this one anew."
    )


def _differences(one: Any, other: Any, key: str = "") -> dict[str, tuple[Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        found: dict[str, tuple[Any, Any]] = {}
        for name in dict.fromkeys([*one, *other]):
            found |= _differences(one.get(name), other.get(name), f"{key}.{name}".lstrip("."))
        return found
    return {} if one == other else {key: (one, other)}


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _is_finished(folder: RunFolder, budget: Budget) -> bool:
    summary = folder.summary()
    return summary.get("status") == "finished" and summary.get("budget") == budget.as_dict()


def _say_finished(folder: RunFolder, context: Context) -> float | None:
    summary = folder.summary()
    log.info(
        f"{folder.path} is finished: step {summary['step']:,}, {summary['seconds']:,.0f} s. Nothing is left to do. "
        "A larger budget goes on from here; resume=never begins anew; seed=2 is another run."
    )
    return (summary.get("metrics") or {}).get("eval/masked_lm_loss")


def _write_down(folder: RunFolder, config: DictConfig, context: Context) -> None:
    dump(config, folder.path / "config.yaml")
    (folder.path / "overrides.txt").write_text("".join(f"{word}\n" for word in context.overrides), encoding="utf-8")


def _first_lines(config: DictConfig, data: Data, step: Any, loader: Any, trainer: Trainer, optimizer: Any) -> list[str]:
    """What is about to be trained on what, in figures that are counted and not assumed."""
    epoch = loader.epoch(0)
    counted = epoch.counts
    parameters = sum(parameter.numel() for parameter in step.parameters())
    tokens = sum(documents.num_tokens for documents in data.training)
    fill = counted["tokens"] / (epoch.num_rows * config.max_length)
    lines = [
        f"model: {parameters:,} parameters, vocabulary {data.vocabulary.size:,}; {trainer.describe()}",
        f"text: {tokens:,} tokens {loader.rows_of} to train on; {data.store.split_remark(config.eval.fraction)}",
        f"rows: {epoch.num_rows:,} {loader.rows_of}, {fill:.1%} full{packing_remarks(counted)}",
    ]
    if config.eval.fraction and config.eval.tokens < sum(d.num_tokens for d in data.held_out):
        lines.append(f"each evaluation reads {config.eval.tokens:,} of the held-out tokens (eval.tokens)")
    return lines


def packing_remarks(counted: dict[str, int]) -> str:
    """What packing cut, dropped, skipped and labelled, as " (12 dropped truncated, ...)"; empty where nothing is."""
    told = {name: n for name, n in counted.items() if n and name.split("_")[0] in ("cut", "dropped", "skipped")}
    labels = {name.removeprefix("label_"): value for name, value in counted.items() if name.startswith("label_")}
    parts = [f"{value:,} {name.replace('_', ' ')}" for name, value in told.items()]
    parts += [f"{value / sum(labels.values()):.1%} {name.replace('_', ' ')}" for name, value in labels.items() if value]
    return f" ({', '.join(parts)})" if parts else ""
