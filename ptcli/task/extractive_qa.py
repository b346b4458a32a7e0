"""An answer cut from a text."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ptcli.errors import ConfigError
from ptcli.task.encoded import IGNORE_INDEX, Encoded
from ptcli.task.examples import begins_of, length_of, put_together, room_for
from ptcli.task.metrics import extractive_qa as metrics
from ptcli.task.metrics.threshold import best_threshold
from ptcli.task.reading.bad_rows import UnusableError
from ptcli.task.reading.record import Record
from ptcli.task.rows import Answer, Row
from ptcli.task.settings import Column, TaskSettings
from ptcli.task.spans import best_answers, tokens_of_answer, windows_of, without_space
from ptcli.task.task import Task
from ptcli.tokenizer.tokenizer import Tokenizer


class ExtractiveQA(Task):
    """A question's answer is a stretch of a context (SQuAD, arXiv:1606.05250, 1806.03822). Settings are Task's, and:

    A context that is too long becomes several examples, windows that overlap (Devlin et al. 2018, arXiv:1810.04805); in
    those without the whole answer the classification token is the target. `text` is the column of the question, `label`
    that of the answers: texts and places as SQuAD has them.

    Args:
        context: the column of the text in which answers lie.
        no_answer: whether a question may have none (SQuAD 2.0); otherwise each must have one to be trained on.
        stride: tokens from the beginning of a window to that of the next.
        max_query_length: tokens of a question; longer ones are cut and counted.
        longest_answer: tokens that a predicted answer has at most.
        threshold: how far the score of no answer must lie above the best answer's to be predicted; None: as is best on
            validation rows, by the metric that judges (`settle`), and 0 until then.
    """

    num_texts = 2
    target = "span"
    metrics_of_kind = metrics.METRICS
    usual_metrics = ("exact_match", "f1")

    def __init__(
        self,
        *,
        context: Column = "context",
        no_answer: bool = False,
        stride: int = 128,
        max_query_length: int = 64,
        longest_answer: int = 30,
        threshold: float | None = None,
        **settings: Unpack[TaskSettings],
    ):
        super().__init__(**settings)
        self.context, self.no_answer, self.stride = context, no_answer, stride
        self.max_query_length, self.longest_answer, self.threshold = max_query_length, longest_answer, threshold

    def check(self) -> None:
        for key in ("stride", "max_query_length", "longest_answer"):
            if getattr(self, key) < 1:
                raise ConfigError(f"task.{key}={getattr(self, key)} must be at least 1 token.")
        if self.threshold is not None and not self.no_answer:
            raise ConfigError(
                f"task.threshold={self.threshold} decides between an answer and none, but each question has one. Use "
                "task.no_answer=true, or task.threshold=null."
            )
        super().check()

    def columns(self) -> list[Column]:
        """The context's column, too."""
        return [*super().columns(), self.context]

    def group_of(self, row: Row) -> str:
        """The questions on one context stay together."""
        return row.group if row.group is not None else row.texts[1]

    def texts_of(self, record: Record) -> dict[str, Any]:
        """Question and context."""
        return {
            "texts": (self.text_at(record, self.text, "text"), self.text_at(record, self.context, "context")),
        }

    def label_of(self, value: Any, record: Record, row: dict[str, Any]) -> tuple[Answer, ...] | None:
        """The answers where they stand; those a few characters off are moved, and counted.

        Raises UnusableError where the context holds none of them, or there is none and `no_answer` is false.
        """
        if record.values.get("is_impossible"):
            value = []
        context = row["texts"][1]
        given = list(_given(value))
        answers = [self._placed(text, start, context) for text, start in given if text]
        if answers and all(answer.start < 0 for answer in answers):
            raise UnusableError(f"has the answer {given[0][0][:40]!r}, which its context does not hold")
        if not answers and not self.no_answer:
            raise UnusableError("has no answer; task.no_answer=true takes questions without")
        return tuple(sorted(answers, key=lambda answer: answer.start < 0))  # the first is learnt

    def encode(
        self, rows: Sequence[Row], *, tokenizer: Tokenizer, max_length: int, labels: Sequence[str] = ()
    ) -> Encoded:
        """Each row as one example or, where its context is too long, several windows."""
        layout = tokenizer.vocabulary.layout
        room = room_for(2, layout, max_length)
        examples: list[list[np.ndarray]] = []
        row_of: list[int] = []
        first_of: list[int] = []
        last_of: list[int] = []
        starts_of: list[np.ndarray] = []
        ends_of: list[np.ndarray] = []
        context_of: list[np.ndarray] = []
        longer = without = cut = 0
        # a paragraph has several questions: it is tokenised once
        texts = list(dict.fromkeys(text for row in rows for text in row.texts))
        tokens = dict(zip(texts, tokenizer.encode(texts), strict=True))
        for place, row in enumerate(rows):
            question = tokens[row.texts[0]][0]
            asked = question[: min(self.max_query_length, room - 1)]
            cut += len(asked) < len(question)
            ids, starts, ends = tokens[row.texts[1]]
            starts = without_space(starts, ends, row.texts[1])
            span = tokens_of_answer(row, starts, ends)
            windows = windows_of(len(ids), room - len(asked), self.stride)
            longer += len(windows) > 1
            held = 0
            for begin, end in windows:
                pieces = [asked, ids[begin:end]]
                offset, length = begins_of(pieces, layout)[1], length_of(pieces, layout)
                classify = length - 1 if layout.classify_last else 0
                inside = span is not None and begin <= span[0] and span[1] < end
                held += inside
                if row.label is None or (row.label and row.label[0].start < 0):
                    target = (IGNORE_INDEX, IGNORE_INDEX)
                elif inside and span is not None:
                    target = (offset + span[0] - begin, offset + span[1] - begin)
                else:
                    target = (classify, classify)
                first_of.append(target[0])
                last_of.append(target[1])
                examples.append(pieces)
                row_of.append(place)
                of_token = np.full((2, length), -1, np.int32)
                of_token[:, offset : offset + end - begin] = starts[begin:end], ends[begin:end]
                starts_of.append(of_token[0])
                ends_of.append(of_token[1])
                may = np.zeros(length, bool)
                may[offset : offset + end - begin] = True
                may[classify] = True
                context_of.append(may)
            without += bool(row.label) and row.label[0].start >= 0 and not held
        remarks = [
            *(
                [f"{longer:,} contexts are longer than max_length={max_length} and become several windows"]
                * (longer > 0)
            ),
            *([f"{without:,} answers lie whole in no window: they count as having none"] * (without > 0)),
            *([f"{cut:,} questions of more than {min(self.max_query_length, room - 1)} tokens are cut"] * (cut > 0)),
        ]
        return put_together(
            examples,
            rows=np.array(row_of, np.int64),
            layout=layout,
            num_truncated=cut,
            remarks=remarks,
            span_starts=np.array(first_of, np.int64),
            span_ends=np.array(last_of, np.int64),
            context=np.concatenate(context_of) if context_of else np.zeros(0, bool),
            starts=np.concatenate(starts_of) if starts_of else np.zeros(0, np.int32),
            ends=np.concatenate(ends_of) if ends_of else np.zeros(0, np.int32),
        )

    def decode(
        self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row], *, labels: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """`answer`, `start`, `end`, `score` of each row, of `start_logits` and `end_logits` (N,)."""
        found = self.settled.get("threshold", 0.0) if self.threshold is None else self.threshold
        return self._decode(outputs, encoded, rows, threshold=found)

    @property
    def is_to_settle(self) -> bool:
        """Whether the threshold is left to validation rows."""
        return self.no_answer and self.threshold is None

    def settle(self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row]) -> list[str]:
        """Choose the threshold, where it may be none: as is best on these rows for the metric that judges."""
        self.settled = {}
        if not self.is_to_settle or all(row.label is None for row in rows):
            return []
        answers = self._decode(outputs, encoded, rows, threshold=np.inf)
        given, none = metrics.outcomes_of(answers, rows), metrics.outcomes_of([{"answer": ""}] * len(rows), rows)
        at_zero = metrics.outcomes_of(self._decode(outputs, encoded, rows), rows)
        scores = np.array([answer["no_answer_score"] for answer in answers], np.float64)  # None becomes NaN
        scores = np.nan_to_num(scores, nan=np.inf)[[row.label is not None for row in rows]]
        judging = self.best_metric if self.best_metric in metrics.COMPARED else "f1"
        lines = []
        for name in dict.fromkeys([*(name for name in self.metrics if name in metrics.COMPARED), judging]):
            compare = metrics.COMPARED[name]
            threshold, value = best_threshold(scores, given.best(compare), none.best(compare))
            lines.append(
                f"{name} is best where no answer must lie more than {threshold:.4f} above the best span: {value:.4f}, "
                f"at 0 {at_zero.best(compare).mean():.4f}{' (kept as task.threshold)' if name == judging else ''}"
            )
            if name == judging:
                self.settled = {"threshold": threshold}
        return lines

    def _decode(
        self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row], *, threshold: float = 0.0
    ) -> list[dict[str, Any]]:
        return best_answers(
            outputs["start_logits"],
            outputs["end_logits"],
            encoded,
            rows,
            no_answer=self.no_answer,
            threshold=threshold,
            longest=self.longest_answer,
        )

    def outcomes(self, predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]) -> Any:
        return metrics.outcomes_of(predictions, rows)

    def remarks(self) -> list[str]:
        lines = super().remarks()
        if moved := self.counts["moved"]:
            lines.append(f"{moved:,} answers stand elsewhere than the file says and are moved to the nearest place")
        if absent := self.counts["unplaced"]:
            lines.append(f"{absent:,} answers are not in their context as such: they are compared with, not learnt")
        return lines

    def _placed(self, text: str, start: int | None, context: str) -> Answer:
        if start is not None and start >= 0 and context.startswith(text, start):
            return Answer(text, start)
        places = [found.start() for found in re.finditer(re.escape(text), context)]
        if not places:
            self.counts["unplaced"] += 1
            return Answer(text, -1)
        self.counts["moved"] += start is not None and start >= 0
        return Answer(text, min(places, key=lambda place: abs(place - (start or 0))))


def _given(value: Any) -> list[tuple[str, int | None]]:
    """Texts and places of answers, as a list of objects (SQuAD's files), lists by key (the hub's copies), or a text."""
    if isinstance(value, str):
        return [(value, None)]
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        starts = value.get("answer_start") or [None] * len(value["text"])
        return list(zip(value["text"], starts, strict=True))
    if isinstance(value, list) and all(isinstance(each, dict) and isinstance(each.get("text"), str) for each in value):
        return [(each["text"], each.get("answer_start")) for each in value]
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return [(each, None) for each in value]
    raise UnusableError(f"has no answers but {str(value)[:40]}")
