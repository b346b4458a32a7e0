"""Training on tasks: judged on the way, and left with the weights that were judged best."""

from collections.abc import Callable, Mapping
from typing import Any

from omegaconf import DictConfig

from ptcli.assembly.parts import part
from ptcli.config.context import Context
from ptcli.config.identity import fingerprint
from ptcli.finetuning.model import best_of
from ptcli.logger.logger import Logger
from ptcli.run.folder import RunFolder
from ptcli.trainer.budget import Budget
from ptcli.trainer.feed import Phase
from ptcli.trainer.loop import Trainer


def fit_best(
    config: DictConfig,
    context: Context,
    folder: RunFolder,
    logger: Logger,
    trainer: Trainer,
    budget: Budget,
    *,
    step: Any,
    optimizer: Any,
    strategy: Any,
    loader: Any,
    measure: Callable[[], dict[str, float]],
    save: Callable[[dict[str, float]], None],
    best_metric: str,
    told: str,
    lower: bool = False,
    identity: Mapping[str, str],
) -> None:
    """Train `step` for the budget; the folder's model is what `save` wrote when `best_metric` was best.

    `measure`: metrics of the weights as they are now, by name. `save`: writes these weights, told their metrics.
    `lower`: whether lower values of `best_metric` are better; `told`: what it is called where no evaluation gave it.
    """

    def evaluate() -> dict[str, float]:
        """Called with the weights that are judged in place: those that are best are kept as they are now."""
        metrics, before = measure(), best_of(folder.model).get(best_metric)
        value = metrics.get(best_metric)
        if value is not None and (before is None or (value < before if lower else value > before)):
            save(metrics)
        return metrics

    def export() -> None:
        if best_of(folder.model).get(best_metric) is None:
            logger.say(f"no evaluation gave {told}: the weights are those of the last step")
            save({})

    trainer.fit(
        step=step,
        optimizer=optimizer,
        schedule=part(config, "schedule"),
        loader=[Phase(lambda: loader, operations=3 * step.model.flops_per_token(config.max_length))],
        budget=budget,
        run=folder,
        logger=logger,
        seed=config.seed,
        evaluate=evaluate,
        export=export,
        best_metric=best_metric,
        higher_is_better=not lower,
        log_every=config.log.every,
        log_norms=config.log.norms,
        eval_every=_every(config, budget),
        save_every=_every(config, budget),
        keep=config.save.keep,
        identity={"configuration": fingerprint(config), **identity},
        resume_command=context.command_line,
        strategy=strategy,
    )


def _every(config: DictConfig, budget: Budget) -> float:
    """How often to evaluate: as set, else after each epoch, or at each tenth of a budget of another kind."""
    if config.eval.every is not None:
        return config.eval.every
    if budget.unit != "epochs":
        return 0.1
    return 1 / budget.amount if budget.amount > 1 else 0
