"""Asking a model about the rows of a task: answers, and the metrics of training that follow from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ptcli.batch.task_loader import TaskLoader
from ptcli.task.metrics.score import Score, doubts
from ptcli.task.outputs import outputs_of
from ptcli.task.rows import Row
from ptcli.trainer.trainer import Trainer

RESAMPLES, FEWER_RESAMPLES = 1000, 200
"""Bootstrap samples of an interval: where it is asked for, and where it is told at the end of training."""

Answers = list[dict[str, Any]]
"""What the task's `decode` says, one a row, in the order of the rows."""


def ask(
    step: Any,
    task: Any,
    encoded: Any,
    *,
    tokenizer: Any,
    max_length: int,
    batch_size: int,
    trainer: Trainer,
) -> dict[str, Any]:
    """The outputs of a model for encoded rows, in their order: numpy arrays by name."""
    loader = TaskLoader(
        [encoded],
        isolates=step.model.isolates,
        longest_row=step.model.longest_row,
        vocabulary=tokenizer.vocabulary,
        max_length=max_length,
        batch_size=batch_size,
        micro_size=batch_size,
        seed=0,
    )
    return outputs_of(
        step, loader.once(), encoded, target=task.target, device=trainer.device, autocast=trainer.autocast
    )


@dataclass(frozen=True)
class Judge:
    """Evaluates a model on the validation rows while it is trained.

    Metrics of the first split are called eval/<metric>, those of others eval/<split>/<metric>.
    """

    task: Any
    splits: Mapping[str, Sequence[Row]]
    encoded: Mapping[str, Any]
    labels: Sequence[str]
    tokenizer: Any
    max_length: int
    batch_size: int
    trainer: Trainer
    say: Callable[[str], None]
    said: set[str] = field(default_factory=set)

    def answers(self, step: Any, split: str) -> Answers:
        """What the model says of the rows of a split."""
        return self.task.decode(self._outputs(step, split), self.encoded[split], self.splits[split], labels=self.labels)

    def settle(self, step: Any) -> list[str]:
        """Let the task choose by the first split what is left to it; what it is, a line each."""
        if not self.task.is_to_settle:
            return []
        split = next(iter(self.splits))
        return self.task.settle(self._outputs(step, split), self.encoded[split], self.splits[split])

    def _outputs(self, step: Any, split: str) -> dict[str, Any]:
        return ask(
            step,
            self.task,
            self.encoded[split],
            tokenizer=self.tokenizer,
            max_length=self.max_length,
            batch_size=self.batch_size,
            trainer=self.trainer,
        )

    def score(self, split: str, answers: Answers, *, resamples: int = 0) -> dict[str, Score]:
        """The metrics of a split, with intervals where `resamples` is not 0."""
        return self.task.score(answers, self.splits[split], labels=self.labels, resamples=resamples)

    def __call__(self, step: Any) -> dict[str, float]:
        """Metrics by name. One that the rows do not determine is left out; why is said once."""
        metrics: dict[str, float] = {}
        for number, split in enumerate(self.splits):
            prefix = "eval/" if number == 0 else f"eval/{split}/"
            scores = self.score(split, self.answers(step, split))
            metrics |= {f"{prefix}{name}": score.value for name, score in scores.items() if score.value is not None}
            for doubt in doubts(scores):
                if f"{split}: {doubt}" not in self.said:
                    self.said.add(f"{split}: {doubt}")
                    self.say(f"{split}: {doubt}")
        return metrics
