"""What a fine-tuned model gets wrong: a file of its worst rows, and a page with a confusion matrix."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ptcli.errors import ConfigError
from ptcli.finetuning.answer_file import FORMATS, AnswerFile
from ptcli.report.answers import confusion, reliability
from ptcli.report.figures import Figure
from ptcli.report.page import figures_page
from ptcli.task.metrics.answer_texts import chinese_f1, english_f1
from ptcli.task.metrics.score import Score, doubts
from ptcli.task.rows import Row

_LEAST = 1e-12  # of a probability whose logarithm is taken

Answers = Sequence[Mapping[str, Any]]


def told_scores(scores: Mapping[str, Score]) -> list[str]:
    """A line for each metric: its value and its interval; then what to doubt, each remark once."""
    lines = []
    for name, score in scores.items():
        value = "undefined" if score.value is None else f"{score.value:.4f}"
        interval = "" if score.low is None else f" (95 %: {score.low:.4f} to {score.high:.4f})"
        lines.append(f"{name} {value}{interval}")
    return [*lines, *doubts(scores)]


def check_errors(path: str | None) -> None:
    """Raise ConfigError where the name of an errors file does not say its format."""
    if path is not None and Path(path).suffix.lower() not in FORMATS:
        raise ConfigError(f"errors={path}: end the file's name with {', '.join(FORMATS)}.")


def write_errors(path: Path, task: Any, rows: Sequence[Row], answers: Answers) -> int:
    """Write the labelled rows that were not answered right, worst first; how many there are."""
    cost_of = _COSTS[task.target]
    costs = [(None if row.label is None else cost_of(row, answer)) for row, answer in zip(rows, answers, strict=True)]
    wrong = [place for place, cost in enumerate(costs) if cost]
    wrong.sort(key=lambda place: (-costs[place], place))  # type: ignore[operator]
    with AnswerFile.open(str(path), FORMATS[path.suffix.lower()]) as file:
        file.write([_told(rows[place], answers[place], costs[place]) for place in wrong])
    return len(wrong)


def write_page(path: Path, figures: Sequence[Figure], scores: Mapping[str, Score], *, title: str) -> None:
    """Write the metrics and figures as one HTML file."""
    page = "".join(figures_page(figures, title=title, notes=told_scores(scores)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def figures_of(task: Any, rows: Sequence[Row], answers: Answers, *, labels: Sequence[str]) -> list[Figure]:
    """A confusion matrix where one label is right, and a reliability plot where answers have probabilities."""
    pairs = [(row, answer) for row, answer in zip(rows, answers, strict=True) if row.label is not None]
    if not pairs:
        return []
    if task.target == "class":
        truth, said = [row.label for row, _ in pairs], [answer["label"] for _, answer in pairs]
        sure = np.array([answer["probability"] for _, answer in pairs])
    elif task.target == "choice":
        truth, said = [str(row.label) for row, _ in pairs], [str(answer["choice"]) for _, answer in pairs]
        sure = np.array([max(answer["probabilities"]) for _, answer in pairs])
    elif task.target == "tokens":
        words = [
            (true, tag, probability)
            for row, answer in pairs
            for true, tag, probability in zip(row.label, answer["tags"], answer["probabilities"], strict=True)
            if probability > 0
        ]
        truth, said = [true for true, _, _ in words], [tag for _, tag, _ in words]
        sure = np.array([probability for _, _, probability in words])
    else:
        return []
    right = np.array([one == other for one, other in zip(truth, said, strict=True)])
    plot = [reliability(sure, right)] if len(right) else []
    return [*([confusion(truth, said, labels=labels)] if labels else []), *plot]


def _told(row: Row, answer: Mapping[str, Any], cost: float | None) -> dict[str, Any]:
    texts = {f"text_{number}": text for number, text in enumerate((*row.texts, *row.choices), 1)}
    words = {"words": " ".join(row.words)} if row.words else {}
    plain = {name: value for name, value in answer.items() if name not in ("probabilities", "entities")}
    return {"cost": cost, "source": row.source, "id": row.id, "true": _plain(row.label), **plain, **texts, **words}


def _plain(label: Any) -> Any:
    if isinstance(label, tuple):
        return [getattr(one, "text", one) for one in label]
    return label


def _class(row: Row, answer: Mapping[str, Any]) -> float | None:
    if answer["label"] == row.label:
        return None
    return -math.log(max(answer["probabilities"][row.label], _LEAST))


def _value(row: Row, answer: Mapping[str, Any]) -> float:
    return abs(answer["value"] - row.label)


def _classes(row: Row, answer: Mapping[str, Any]) -> float | None:
    if set(answer["labels"]) == set(row.label):
        return None
    chances = [p if label in row.label else 1 - p for label, p in answer["probabilities"].items()]
    return -sum(math.log(max(chance, _LEAST)) for chance in chances) / len(chances)


def _tokens(row: Row, answer: Mapping[str, Any]) -> float | None:
    wrong = sum(true != tag for true, tag in zip(row.label, answer["tags"], strict=True))
    return wrong or None


def _span(row: Row, answer: Mapping[str, Any]) -> float | None:
    if not row.label:
        return 1.0 if answer["answer"] else None
    best = max(max(english_f1(answer["answer"], a.text), chinese_f1(answer["answer"], a.text)) for a in row.label)
    return (1 - best) or None


def _choice(row: Row, answer: Mapping[str, Any]) -> float | None:
    if answer["choice"] == row.label:
        return None
    return -math.log(max(answer["probabilities"][row.label], _LEAST))


def _rank(row: Row, answer: Mapping[str, Any]) -> float | None:
    return float(answer["rank"] - 1) or None if row.label > 0 else None


_COSTS: Mapping[str, Callable[[Row, Mapping[str, Any]], float | None]] = {
    "class": _class,
    "value": _value,
    "classes": _classes,
    "tokens": _tokens,
    "span": _span,
    "choice": _choice,
    "rank": _rank,
}
"""By a kind's `target`: what a wrong answer costs, None for a right one. Class, choice: -log of the right one's
probability; value: the distance; classes: binary cross-entropy; tokens: wrong words; span: 1 - F1; rank: places above a
relevant candidate."""
