"""Multiple-choice questions on dialogues and texts, as C3 lays them out (arXiv:1904.09679)."""

from collections.abc import Iterator
from typing import Any

from ptcli.errors import DataError
from ptcli.task.reading.bad_rows import BadRows
from ptcli.task.reading.record import Record


def dialogue_records(document: Any, *, file: str, bad: BadRows) -> Iterator[Record]:
    """A record a question: id, context (the lines, joined), question, choice, answer (absent in test files)."""
    if not isinstance(document, list):
        raise DataError(f"{file} is no C3 file: it holds no list. Say what it is: task.format=jsonl, csv, ...")
    for number, entry in enumerate(document):
        place = f"{file}, text {number}"
        if not (isinstance(entry, list) and len(entry) >= 2 and all(isinstance(part, list) for part in entry[:2])):
            bad.add(place, "is no list of lines and questions")
            continue
        lines, questions, *rest = entry
        name = rest[0] if rest else number
        for which, question in enumerate(questions):
            values = {
                "id": f"{name}-{which}",
                "context": "\n".join(map(str, lines)),
                "question": question.get("question"),
                "choice": question.get("choice"),
            }
            if "answer" in question:
                values["answer"] = question["answer"]
            yield Record(values, f"{place}, question {which}")
