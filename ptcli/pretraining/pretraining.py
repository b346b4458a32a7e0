"""Pretraining: a configuration to a trained model in its run folder."""

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from ptcli.assembly.data import Data, make_data
from ptcli.assembly.evaluation import make_evaluation
from ptcli.assembly.model import check_parts, make_model
from ptcli.assembly.parts import part
from ptcli.assembly.phases import check_batches, make_phases
from ptcli.assembly.text import prepare_text, read_corpus
from ptcli.config.context import Context
from ptcli.config.identity import fingerprint, resolve
from ptcli.evaluation.held_out import left_plateau
from ptcli.logger.jsonl import Jsonl
from ptcli.logger.logger import Logger
from ptcli.pretraining.first_lines import first_lines
from ptcli.run.folder import RunFolder
from ptcli.run.initial_weights import start_from
from ptcli.run.job import Job, Result, budget_of, do_job, silent_job
from ptcli.trainer.seeds import seed_everything
from ptcli.trainer.training import Training
from ptcli.trainer.weights import save_model


def pretrain(config: DictConfig, context: Context) -> Result:
    """Train one run, or go on with it; its last fixed-mask loss, or an exit code where a signal stopped it."""
    read_corpus(config)
    check_parts(config)
    trainer = part(config, "trainer")
    part(config, "schedule").check(total_steps=budget_of(config).total_steps)
    trainer.micro_size(config.batch.size, config.batch.micro_size)
    check_batches(config, trainer)
    if trainer.devices > trainer.ranks.size:
        from ptcli.launch.launcher import launch

        return launch(config, context, devices=trainer.devices)  # each rank comes here again
    return do_job(config, context, run_folder(config), train, finished=last_value)


def train(job: Job, *, leave_after: int | None = None) -> float | None:
    """Train on the text with the other ranks. `leave_after`: a step after which nothing more is done."""
    data = _text(job.config)
    told = {"config": resolve(job.config), "context": asdict(job.context)}
    with job.trainer.ranks.together(told):  # what rank 0 has made of the text, the others find
        return _fit(job, data, leave_after=leave_after)


def train_steps(config: DictConfig, context: Context, *, steps: int) -> Path:
    """Train the first steps of a run, nothing else, and say nothing; its folder."""
    with RunFolder(run_folder(config)) as folder, Logger([Jsonl()]) as logger:
        logger.start(folder=folder.path, name=config.run.name)
        train(Job(config, context, folder, logger, part(config, "trainer"), budget_of(config)), leave_after=steps)
    return folder.path


def follow(config: DictConfig, context: Context) -> None:
    """Train with rank 0, which has begun: as it does, but without a word and without writing anything."""
    _fit(silent_job(config, context, run_folder(config)), _text(config))


def run_folder(config: DictConfig) -> Path:
    """Where the run lies."""
    return Path(config.run.dir) / config.run.name


def last_value(summary: dict[str, Any]) -> float | None:
    """The last value of what a finished run is judged by."""
    best = summary.get("best") or {}
    return (summary.get("metrics") or {}).get(best.get("metric"))


def _text(config: DictConfig) -> Data:
    store = prepare_text(config)
    return make_data(config, store, store.tokenizer().vocabulary)


def _fit(job: Job, data: Data, *, leave_after: int | None = None) -> float | None:
    config, trainer, logger, folder = job.config, job.trainer, job.logger, job.folder
    store, tokenizer = data.store, data.store.tokenizer()
    seed_everything(config.seed)
    step = make_model(config, tokenizer.vocabulary.size, data.pair)
    if config.checkpoint:
        remarks = start_from(config.checkpoint, step, tokenizer, resize_vocabulary=config.resize_vocabulary)
        for remark in remarks:
            logger.say(remark)
    trainer.place(step)
    strategy = trainer.distribute(step, layers=step.model.layers())
    optimizer = part(config, "optimizer", module=strategy.trained)
    phases = make_phases(config, data, trainer=trainer, model=step.model)
    loader = phases[0].loader()
    phases[0] = replace(phases[0], loader=lambda: loader)  # its rows are counted already
    evaluation: Any = None
    if leave_after is None:
        counts = data.learnt["token_counts"]
        evaluation = make_evaluation(config, data, model=step.model, counts=counts, micro_size=job.micro_size)
    for line in first_lines(job, data, step, loader, optimizer):
        logger.say(line)

    def evaluate() -> dict[str, float]:
        return evaluation(step.model, step.objective, device=trainer.device, autocast=trainer.autocast)

    def export() -> None:
        tokenizer_folder = store.folder / "tokenizer"
        save_model(folder.model, step, config=resolve(config), tokenizer_folder=tokenizer_folder, arrays=data.learnt)

    main = step.objective.main
    training = Training(
        step=step,
        optimizer=optimizer,
        schedule=part(config, "schedule"),
        phases=phases,
        budget=job.budget,
        seed=config.seed,
        strategy=strategy,
        evaluate=evaluate if evaluation else None,
        left_plateau=partial(left_plateau, main=main),
        best_metric=f"eval/{main}_loss",
        export=export,
        identity={"configuration": fingerprint(config), "corpus": store.folder.name},
        resume_command=job.context.command_line,
    )
    every = job.every(evaluate=config.eval.every, save=config.save.every)
    state = trainer.fit(training, folder, logger, every=every, leave_after=leave_after)
    logger.say(f'the model is in {folder.model}; look at it: ptcli fill checkpoint={folder.path} "...[MASK]..."')
    return state.metrics.get(f"eval/{main}_loss")
