"""Sentences of a token a line, as in CoNLL 2003 (Tjong Kim Sang and De Meulder, cs/0306050): a blank line ends one."""

from collections.abc import Iterable, Iterator

from ptcli.task.reading.bad_rows import BadRows
from ptcli.task.reading.record import Record

DOCUMENT = "-DOCSTART-"  # marks where a document begins; no sentence


def conll_records(lines: Iterable[str], *, file: str, bad: BadRows) -> Iterator[Record]:
    """Each sentence as a record of lists, a list for each column: "0" holds the tokens. Its source is its first line.

    Columns are separated by tabs where a line has any, else by white space. A line of white space ends a sentence. A
    sentence whose lines have different numbers of columns is a bad row.
    """
    sentence: list[list[str]] = []
    first = 1
    for number, line in enumerate(lines, start=1):
        if line.strip():
            if not sentence:
                first = number
            sentence.append(line.split("\t") if "\t" in line else line.split())
        elif sentence:
            yield from _record(sentence, first, file, bad)
            sentence = []
    if sentence:
        yield from _record(sentence, first, file, bad)


def _record(sentence: list[list[str]], first: int, file: str, bad: BadRows) -> Iterator[Record]:
    if sentence[0][0] == DOCUMENT:
        return
    width = len(sentence[0])
    for number, values in enumerate(sentence):
        if len(values) != width:
            reason = f"begins a sentence of {width} columns, but line {first + number} has {len(values)}"
            bad.add(f"{file}:{first}", reason)
            return
    columns = {str(column): [values[column] for values in sentence] for column in range(width)}
    yield Record(columns, f"{file}:{first}", named=False)
