"""Questions on paragraphs, as SQuAD (arXiv:1606.05250, 1806.03822), CMRC 2018 and DRCD lay them out."""

from collections.abc import Iterator
from typing import Any

from ptcli.errors import DataError
from ptcli.task.reading.bad_rows import BadRows
from ptcli.task.reading.record import Record


def squad_records(document: Any, *, file: str, bad: BadRows) -> Iterator[Record]:
    """A record a question: id, question, context, title, answers (as in the file), is_impossible.

    `document` is SQuAD's object, or the list of CMRC 2018's first release, whose answers are texts without places.
    """
    if isinstance(document, list):
        yield from _first_release(document, file, bad)
        return
    if not isinstance(document, dict) or not isinstance(document.get("data"), list):
        raise DataError(
            f"{file} is no SQuAD file: it holds no list `data`. Say what it is: task.format=jsonl, csv, ..."
        )
    for article_number, article in enumerate(document["data"]):
        for number, paragraph in enumerate(article.get("paragraphs", ())):
            place = f"{file}, paragraph {number} of article {article_number}"
            if not isinstance(paragraph.get("context"), str):
                bad.add(place, "has no context")
                continue
            for question in paragraph.get("qas", ()):
                values = {"title": article.get("title"), **question, "context": paragraph["context"]}
                yield Record(values, f"{place}, question {question.get('id')}")


def _first_release(paragraphs: list[Any], file: str, bad: BadRows) -> Iterator[Record]:
    for number, paragraph in enumerate(paragraphs):
        place = f"{file}, paragraph {number}"
        if not isinstance(paragraph, dict) or not isinstance(paragraph.get("context_text"), str):
            bad.add(place, "has no context_text")
            continue
        for question in paragraph.get("qas", ()):
            values = {
                "id": question.get("query_id"),
                "question": question.get("query_text"),
                "context": paragraph["context_text"],
                "answers": [{"text": text} for text in question.get("answers", ())],
            }
            yield Record(values, f"{place}, question {values['id']}")
