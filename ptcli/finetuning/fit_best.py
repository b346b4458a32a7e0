"""Training on tasks: judged on the way, and left with the weights that were judged best."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig

from ptcli.assembly.parts import part
from ptcli.config.identity import fingerprint
from ptcli.finetuning.model import best_of
from ptcli.run.job import Job
from ptcli.trainer.budget import Budget
from ptcli.trainer.feed import Phase
from ptcli.trainer.parallel import Single
from ptcli.trainer.training import Training


@dataclass(frozen=True)
class Judged:
    """By what weights are judged. `measure`: metrics of the weights as they are now, by name; `save`: writes these
    weights, told their metrics.

    `metric`: the one that says which are best, the lowest where `lower`; `told`: what it is called where no evaluation
    gave it.
    """

    measure: Callable[[], dict[str, float]]
    save: Callable[[dict[str, float]], None]
    metric: str
    told: str
    lower: bool = False


def fit_best(
    job: Job, loader: Any, judged: Judged, *, strategy: Single, optimizer: Any, identity: Mapping[str, str]
) -> None:
    """Train what `strategy` spreads for the budget; the folder's model is what was saved when it was judged best."""
    config, folder = job.config, job.folder
    step: Any = strategy.step

    def evaluate() -> dict[str, float]:
        """Called with the weights that are judged in place: those that are best are kept as they are now."""
        metrics, before = judged.measure(), best_of(folder.model).get(judged.metric)
        value = metrics.get(judged.metric)
        if value is not None and (before is None or (value < before if judged.lower else value > before)):
            judged.save(metrics)
        return metrics

    def export() -> None:
        if best_of(folder.model).get(judged.metric) is None:
            job.logger.say(f"no evaluation gave {judged.told}: the weights are those of the last step")
            judged.save({})

    training = Training(
        step=step,
        optimizer=optimizer,
        schedule=part(config, "schedule"),
        phases=[Phase(lambda: loader, operations=3 * step.model.flops_per_token(config.max_length))],
        budget=job.budget,
        seed=config.seed,
        strategy=strategy,
        evaluate=evaluate,
        best_metric=judged.metric,
        higher_is_better=not judged.lower,
        export=export,
        identity={"configuration": fingerprint(config), **identity},
        resume_command=job.context.command_line,
    )
    often = _every(config, job.budget)
    job.trainer.fit(training, folder, job.logger, every=job.every(evaluate=often, save=often))


def _every(config: DictConfig, budget: Budget) -> float:
    """How often to evaluate: as set, else after each epoch, or at each tenth of a budget of another kind."""
    if config.eval.every is not None:
        return config.eval.every
    if budget.unit != "epochs":
        return 0.1
    return 1 / budget.amount if budget.amount > 1 else 0
