"""`ptcli pretrain`: text to a trained model, read top to bottom."""

from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING, DictConfig, OmegaConf

from ptcli.assembly.model import check_parts, make_model
from ptcli.assembly.parts import part
from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.identity import fingerprint, resolve
from ptcli.config.root import Kept, TrainingRoot
from ptcli.launch.environment import is_one_of_several
from ptcli.logger.console import Console
from ptcli.logger.jsonl import Jsonl
from ptcli.logger.logger import Logger
from ptcli.run.begin import begin
from ptcli.run.folder import RunFolder
from ptcli.trainer.budget import Budget
from ptcli.trainer.signals import Interrupted

if TYPE_CHECKING:
    from ptcli.assembly.data import Data
    from ptcli.trainer.loop import Trainer


@dataclass
class Prepare:
    """How a corpus is tokenised."""

    workers: int = MISSING
    shard: str | None = None


@dataclass
class Evaluation:
    """When, on what and under which mask the model is evaluated while it trains."""

    every: float = MISSING
    fraction: float = MISSING
    max_length: int = MISSING
    tokens: int = MISSING
    mask: Any = MISSING


@dataclass
class Save(Kept):
    """When checkpoints are made and how many are kept."""

    every: float = MISSING


@dataclass
class FineTuning:
    """How the finished model of a pretraining is fine-tuned."""

    epochs: float = MISSING
    batch_size: int = MISSING
    learning_rate: float = MISSING
    max_length: int | None = None


@dataclass
class PretrainRoot(TrainingRoot):
    """Types of conf/pretrain.yaml."""

    corpus: Any = MISSING
    words: Any = MISSING
    tokenizer: Any = MISSING
    pair: Any = MISSING
    packing: Any = MISSING
    mask: Any = MISSING
    objective: Any = MISSING
    auxiliary: Any = MISSING
    model: Any = MISSING
    finetune: FineTuning = field(default_factory=FineTuning)
    scale: float = MISSING
    prepare: Prepare = field(default_factory=Prepare)
    phases: list[Any] = field(default_factory=list)
    eval: Evaluation = field(default_factory=Evaluation)
    save: Save = field(default_factory=Save)
    resize_vocabulary: bool = MISSING


NO_PART = {"prepare.shard": "only ptcli prepare makes a part of a store. Leave it out of ptcli {command}"}
NO_TASK = {"task": "ptcli {command} is about pretraining. Leave task= out; ptcli pretrain and ptcli finetune take it"}
"""What commands refuse that begin with conf/pretrain.yaml."""

COMMAND = Command(
    __name__,
    "train a model on text",
    root=PretrainRoot,
    refuses=NO_PART,
    trains=True,
    examples=(
        "ptcli pretrain                                          BERT on the embedded corpus",
        "ptcli pretrain recipe=demo                              a small model that learns in minutes",
        "ptcli pretrain model=albert model/size=mini mask=span corpus=text corpus.path=books/ budget.minutes=3",
        "ptcli pretrain -m mask.ratio=0.15,0.3,0.4 seed=1,2,3    nine runs, one after the other",
    ),
)


def run(config: DictConfig, context: Context) -> float | int | None:
    """Train one run, or go on with it, then fine-tune its model where a task is given.

    Its last fixed-mask loss, or the value of the task's metric; an exit code where a signal stopped it.
    """
    from ptcli.trainer.ranks import current

    if is_one_of_several() and current().size == 1:  # started by a launcher of Hydra's, which calls this on each rank
        from ptcli.launch.group import lead_or_follow

        return lead_or_follow(lambda: run(config, context))
    if OmegaConf.select(config, "task") is None:
        return pretrain(config, context)
    from ptcli.finetuning.after_pretraining import fine_tuning, finetune_after

    fine_tuning(config, context)  # what does not fit is told before anything is trained
    alone = config.copy()
    alone.task = None
    context = replace(context, sweep=context.sweep or config.run.name)  # one group of runs
    result = pretrain(alone, context)
    return result if isinstance(result, int) else finetune_after(config, context)


def pretrain(config: DictConfig, context: Context) -> float | int | None:
    """Train one run, or go on with it; its last fixed-mask loss, or an exit code where a signal stopped it."""
    from ptcli.assembly.phases import check_batches
    from ptcli.assembly.text import read_corpus

    read_corpus(config)
    check_parts(config)
    trainer: Trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    part(config, "schedule").check(total_steps=budget.total_steps)
    micro_size = trainer.micro_size(config.batch.size, config.batch.micro_size)
    check_batches(config, trainer)
    if trainer.devices > trainer.ranks.size:
        from ptcli.launch.launcher import launch

        return launch(config, context, devices=trainer.devices)  # each rank comes here again
    sinks = [Console(), Jsonl(), *(part(config, f"logger.{name}") for name in config.logger or {})]

    with RunFolder(Path(config.run.dir) / config.run.name) as folder:
        if finished := begin(folder, config, context, budget):
            return (finished.get("best") or {}).get("value")
        with Logger(sinks) as logger:
            logger.start(folder=folder.path, name=config.run.name, group=context.sweep, config=resolve(config))
            try:
                return _train(config, context, folder, logger, trainer, budget, micro_size)
            except Interrupted as stopped:
                logger.say(str(stopped))
                logger.finish("interrupted")
                return stopped.exit_code


def train_steps(config: DictConfig, context: Context, *, steps: int) -> Path:
    """Train the first steps of a run, nothing else, and say nothing; its folder."""
    trainer: Trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    with RunFolder(Path(config.run.dir) / config.run.name) as folder, Logger([Jsonl()]) as logger:
        logger.start(folder=folder.path, name=config.run.name)
        micro_size = trainer.micro_size(config.batch.size, config.batch.micro_size)
        _train(config, context, folder, logger, trainer, budget, micro_size, leave_after=steps)
    return folder.path


def _train(
    config: DictConfig,
    context: Context,
    folder: RunFolder,
    logger: Logger,
    trainer: "Trainer",
    budget: Budget,
    micro_size: int,
    *,
    leave_after: int | None = None,
) -> float | None:
    data = _text(config)
    job = {"config": resolve(config), "context": asdict(context)}
    with trainer.ranks.together(job):  # what rank 0 has made of the text, the others find
        return _fit(config, context, folder, logger, trainer, budget, micro_size, data, leave_after=leave_after)


def follow(config: DictConfig, context: Context, job: dict[str, Any]) -> None:
    """Train with rank 0, which has begun with `run`: as it does, but without a word and without writing anything."""
    trainer: Trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    micro_size = trainer.micro_size(config.batch.size, config.batch.micro_size)
    folder = RunFolder(Path(config.run.dir) / config.run.name)  # rank 0 holds its lock
    _fit(config, context, folder, Logger([]), trainer, budget, micro_size, _text(config))


def _text(config: DictConfig) -> "Data":
    from ptcli.assembly.data import make_data
    from ptcli.assembly.text import prepare_text

    store = prepare_text(config)
    return make_data(config, store, store.tokenizer().vocabulary)


def _fit(
    config: DictConfig,
    context: Context,
    folder: RunFolder,
    logger: Logger,
    trainer: "Trainer",
    budget: Budget,
    micro_size: int,
    data: "Data",
    *,
    leave_after: int | None = None,
) -> float | None:
    from ptcli.assembly.evaluation import make_evaluation
    from ptcli.assembly.phases import make_phases
    from ptcli.evaluation.held_out import left_plateau
    from ptcli.run.initial_weights import start_from
    from ptcli.trainer.seeds import seed_everything
    from ptcli.trainer.weights import save_model

    store, tokenizer, counts = data.store, data.store.tokenizer(), data.learnt["token_counts"]

    seed_everything(config.seed)
    step = make_model(config, tokenizer.vocabulary.size, data.pair)
    if config.checkpoint:
        remarks = start_from(config.checkpoint, step, tokenizer, resize_vocabulary=config.resize_vocabulary)
        for remark in remarks:
            logger.say(remark)
    trainer.place(step)

    strategy = trainer.distribute(step, layers=step.model.layers())
    optimizer, schedule = part(config, "optimizer", module=strategy.trained), part(config, "schedule")
    phases = make_phases(config, data, trainer=trainer, model=step.model)
    loader = phases[0].loader()
    phases[0] = replace(phases[0], loader=lambda: loader)  # its rows are counted already
    evaluation: Any = None
    if leave_after is None:
        evaluation = make_evaluation(config, data, model=step.model, counts=counts, micro_size=micro_size)
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

    state = trainer.fit(
        step=step,
        optimizer=optimizer,
        schedule=schedule,
        loader=phases,
        budget=budget,
        run=folder,
        logger=logger,
        seed=config.seed,
        evaluate=evaluate if evaluation else None,
        left_plateau=partial(left_plateau, main=step.objective.main),
        best_metric=f"eval/{step.objective.main}_loss",
        export=export,
        log_every=config.log.every,
        log_norms=config.log.norms,
        eval_every=config.eval.every,
        save_every=config.save.every,
        keep=config.save.keep,
        identity={"configuration": fingerprint(config), "corpus": store.folder.name},
        resume_command=context.command_line,
        leave_after=leave_after,
        strategy=strategy,
    )
    logger.say(f'the model is in {folder.model}; look at it: ptcli fill checkpoint={folder.path} "...[MASK]..."')
    return state.metrics.get(f"eval/{step.objective.main}_loss")


def _first_lines(
    config: DictConfig, data: "Data", step: Any, loader: Any, trainer: "Trainer", optimizer: Any
) -> list[str]:
    """What is about to be trained on what, in figures that are counted and not assumed."""
    from ptcli.assembly.phases import first_length, lines_of
    from ptcli.optimizer.groups import describe_groups

    epoch = loader.epoch(0)
    counted = epoch.counts
    parameters = sum(parameter.numel() for parameter in step.parameters())
    tokens = sum(documents.num_tokens for documents in data.training)
    fill = counted["tokens"] / (epoch.num_rows * first_length(config))
    lines = [
        f"model: {parameters:,} parameters, vocabulary {data.vocabulary.size:,}; {trainer.describe()}",
        f"text: {tokens:,} tokens {loader.rows_of} to train on; {data.store.split_remark(config.eval.fraction)}",
        f"rows: {epoch.num_rows:,} {loader.rows_of}, {fill:.1%} full{packing_remarks(counted)}",
    ]
    lines += [f"optimizer: {line}" for line in describe_groups(optimizer.param_groups)]
    if config.eval.fraction and config.eval.tokens < sum(d.num_tokens for d in data.held_out):
        lines.append(f"each evaluation reads {config.eval.tokens:,} of the held-out tokens (eval.tokens)")
    return [*lines, *lines_of(config)]


def packing_remarks(counted: dict[str, int]) -> str:
    """What packing cut, dropped, skipped and labelled, as " (12 dropped truncated, ...)"; empty where nothing is."""
    told = {name: n for name, n in counted.items() if n and name.split("_")[0] in ("cut", "dropped", "skipped")}
    labels = {name.removeprefix("label_"): value for name, value in counted.items() if name.startswith("label_")}
    parts = [f"{value:,} {name.replace('_', ' ')}" for name, value in told.items()]
    parts += [f"{value / sum(labels.values()):.1%} {name.replace('_', ' ')}" for name, value in labels.items() if value]
    return f" ({', '.join(parts)})" if parts else ""
