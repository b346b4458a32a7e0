"""Where the rows of a task lie, and in which form: files of any format by split, or a data set of the hub."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ptcli.corpus.decoding import check_encoding
from ptcli.corpus.files import find_files
from ptcli.corpus.lines import LineFiles
from ptcli.corpus.packed import PACKINGS, File
from ptcli.errors import ConfigError, DataError, PtcliError
from ptcli.task.reading.bad_rows import BadRows
from ptcli.task.reading.conll import conll_records
from ptcli.task.reading.delimited import delimited_records
from ptcli.task.reading.dialogues import dialogue_records
from ptcli.task.reading.hub import hub_records
from ptcli.task.reading.json_lines import document_of, json_records, list_records
from ptcli.task.reading.parquet import parquet_records
from ptcli.task.reading.record import MISSING, Record
from ptcli.task.reading.squad import squad_records

FORMATS = ("auto", "csv", "tsv", "jsonl", "json", "parquet", "conll", "squad", "c3")
_BY_ENDING = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "document",  # looked into
    ".parquet": "parquet",
    ".conll": "conll",
    ".bio": "conll",
    ".iob": "conll",
}
_NAMES_OF_SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev", "testa"),  # testa, testb: CoNLL 2003's
    "test": ("test", "testb"),
}
_HUB_SPLITS = {"train": "train", "validation": "validation", "test": "test"}
_OF_SEVERAL = (".txt", ".json")  # endings of files of several formats
_MARKS = {"csv": (",", '"'), "tsv": ("\t", None)}


class Source:
    """The records of each split.

    Args:
        path: a folder, a file, or a list of files; None: the hub's `name`.
        name, subset, revision: a data set of the hub, or a local folder of one.
        format: one of FORMATS; auto: by a file's ending.
        splits: file or files of each split, in the folder `path`; a split of null is none. None: the files that have
            train, dev, test, ... in their names. Where `path` is no folder, all of it is the train split.
        hub_splits: the same for the hub: names of its splits; None: train, validation and test.
        delimiter, quote: of csv and tsv; auto: as the format has them; a quote of None is no quote.
        header: whether the first row names the columns; None: where it has one of the names asked for.
        where: values that columns must have, one or a list; other rows are left out and counted. null among them takes
            rows that have no such column.
        skip_bad_rows: leave out and count rows that cannot be used, in place of stopping.
    """

    def __init__(
        self,
        *,
        path: str | Sequence[str] | None = None,
        name: str | None = None,
        subset: str | None = None,
        revision: str | None = None,
        format: str = "auto",
        splits: Mapping[str, str | Sequence[str]] | None = None,
        hub_splits: Mapping[str, str | Sequence[str]] | None = None,
        delimiter: str = "auto",
        quote: str | None = "auto",
        header: bool | None = None,
        encoding: str = "utf-8",
        where: Mapping[str, Any] | None = None,
        skip_bad_rows: bool = False,
    ):
        self.path, self.name, self.subset, self.revision = path, name, subset, revision
        self.format, self.delimiter, self.quote, self.header = format, delimiter, quote, header
        self.encoding, self.where = encoding, dict(where or {})
        self._splits = {split: _listed(files) for split, files in (splits or {}).items() if files}
        self._hub_splits = {split: _listed(names) for split, names in (hub_splits or _HUB_SPLITS).items() if names}
        self.bad = BadRows(skip=skip_bad_rows)
        self._elsewhere = 0
        self._remarks: list[str] = []

    def check(self) -> None:
        """Raise ConfigError where nothing is named, a file is absent, or a setting is out of its range."""
        if self.format not in FORMATS:
            raise ConfigError(f"task.format={self.format} is unknown; choose one of {', '.join(FORMATS)}")
        for key, mark in (("delimiter", self.delimiter), ("quote", self.quote)):
            if mark not in ("auto", None) and len(mark) != 1:
                raise ConfigError(f"task.{key}={mark!r} must be one character, or auto.")
        with _as_task():
            check_encoding(self.encoding)
        if self.path is None and self.name is None:
            raise ConfigError("the task has no rows. Give a file or folder, task.path=FOLDER, or task.name=OWNER/NAME.")
        if self.path is not None:
            for split, files in self.files().items():
                for file in files:
                    if not file.is_file():
                        raise ConfigError(_absent(split, file))
        elif (
            self.name is not None
            and self.name.startswith((".", "/", "~"))
            and not Path(self.name).expanduser().is_dir()
        ):
            raise ConfigError(f"task.name={self.name} is no folder. Give an id of the hub, or task.path=FOLDER.")

    def splits(self) -> list[str]:
        """The names of the splits that there are."""
        return list(self.files()) if self.path is not None else list(self._hub_splits)

    def files(self) -> dict[str, list[Path]]:
        """The files of each split."""
        assert self.path is not None
        places = [Path(place).expanduser() for place in _listed(self.path)]
        for place in places:
            if not place.exists():
                raise ConfigError(_absent(None, place))
        if len(places) > 1 or not places[0].is_dir():
            return {"train": places}
        if self._splits:
            return {split: [places[0] / name for name in names] for split, names in self._splits.items()}
        return _by_name(places[0])

    def records(self, split: str, *, names: set[str]) -> Iterator[Record]:
        """The records of a split; `names` of columns tell a header. What was said of the split before is forgotten."""
        self._begin()
        if self.path is None:
            assert self.name is not None
            for part in self._hub_splits[split]:
                read = hub_records(self.name, subset=self.subset, split=part, revision=self.revision)
                yield from self._wanted(read)
        else:
            files = self.files()
            if self._splits and self._splits.keys() != files.keys():
                self._remarks.append("task.path is no folder: all of it is the train split, whatever task.splits says")
            for file in files[split]:
                yield from self._wanted(self._records_of(str(file), names, own=True))

    def records_of(self, path: str | Path, *, names: set[str]) -> Iterator[Record]:
        """The records of any file laid out as the task's own, or in another format that its ending tells."""
        self._begin()
        yield from self._wanted(self._records_of(str(path), names, own=False))

    def remarks(self) -> list[str]:
        """What was left out or replaced in the split read last."""
        elsewhere = f"{self._elsewhere:,} rows are left out by task.where" if self._elsewhere else ""
        return [*self._remarks, *self.bad.remarks(), *([elsewhere] if elsewhere else [])]

    def _begin(self) -> None:
        self.bad.begin()
        self._elsewhere, self._remarks = 0, []

    def _wanted(self, records: Iterator[Record]) -> Iterator[Record]:
        for record in records:
            for column, value in self.where.items():
                found = record.find(column)
                wanted = value if isinstance(value, list | tuple) else [value]
                if found is MISSING and None in wanted:
                    continue
                if found is MISSING:
                    raise DataError(
                        f"{record.source} has no column {column}, which task.where names. Correct it, or take the "
                        f"rows without one, too: task.where={{{column}: [{', '.join(map(str, wanted))}, null]}}"
                    )
                if str(found) not in [str(one) for one in wanted if one is not None]:
                    self._elsewhere += 1
                    break
            else:
                yield record

    def _records_of(self, path: str, names: set[str], own: bool) -> Iterator[Record]:
        with _as_task():
            form = self._format_of(path, own)
            if form == "parquet":
                for file in find_files(path, endings=(".parquet",), packed=False)[0]:
                    yield from parquet_records(file)
                return
            files = LineFiles(path, endings=tuple(_BY_ENDING), encoding=self.encoding)
            files.check()
            for file in files:
                yield from self._line_records(files, file, form, names)
            self._remarks += [remark.replace("corpus.", "task.") for remark in files.remarks()]

    def _line_records(self, files: LineFiles, file: File, form: str, names: set[str]) -> Iterator[Record]:
        lines, told, bad = files.lines(file), str(file), self.bad
        if form in _MARKS:
            delimiter, quote = _MARKS[form]
            delimiter = delimiter if self.delimiter == "auto" else self.delimiter
            quote = quote if self.quote == "auto" else self.quote
            yield from delimited_records(
                lines, file=told, delimiter=delimiter, quote=quote, header=self.header, names=names, bad=bad
            )
        elif form == "jsonl" or (form == "document" and _is_lines(files.lines(file))):
            yield from json_records(lines, file=told, bad=bad)
        elif form == "conll":
            yield from conll_records(lines, file=told, bad=bad)
        else:
            document = document_of(lines, file=told)
            if form == "squad" or (form == "document" and _is_squad(document)):
                yield from squad_records(document, file=told, bad=bad)
            elif form == "c3" or (form == "document" and _is_c3(document)):
                yield from dialogue_records(document, file=told, bad=bad)
            else:
                yield from list_records(document, file=told, bad=bad)

    def _format_of(self, path: str, own: bool) -> str:
        name = path.lower()
        for packing in (*PACKINGS, ".zip"):
            name = name.removesuffix(packing)
        ending = Path(name).suffix
        if self.format != "auto" and (own or ending in _OF_SEVERAL or ending not in _BY_ENDING):
            return self.format
        if ending not in _BY_ENDING:
            raise DataError(f"{path}: its format cannot be told from its ending. Give it: task.format=tsv, jsonl, ...")
        return _BY_ENDING[ending]


@contextmanager
def _as_task() -> Iterator[None]:
    """Errors of the corpus room name keys of `corpus`; here they are the task's."""
    try:
        yield
    except PtcliError as error:
        if "corpus." not in str(error):
            raise
        raise type(error)(str(error).replace("corpus.", "task.")) from error


def _listed(one: str | Sequence[str]) -> list[str]:
    return [one] if isinstance(one, str) else list(one)


def _absent(split: str | None, file: Path) -> str:
    of = f" (the {split} split)" if split else ""
    beside = file.parent if file.parent.is_dir() else None
    names = sorted(entry.name for entry in beside.iterdir() if not entry.name.startswith(".")) if beside else []
    held = f" {beside} holds: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}." if names else ""
    return (
        f"{file}{of} does not exist.{held} Name the files by task.path and task.splits, such as {{train: train.tsv}}"
        f"{f', or do without: task.splits.{split}=null' if split not in (None, 'train') else ''}."
    )


def _by_name(folder: Path) -> dict[str, list[Path]]:
    """The files of a folder whose name has the name of one split among its parts, between points and signs."""
    found: dict[str, list[Path]] = {}
    for file in sorted(folder.iterdir()):
        parts = set(re.split(r"[-_.]", file.name.lower()))
        of = [split for split, names in _NAMES_OF_SPLITS.items() if parts & set(names)]
        if file.is_file() and len(of) == 1:
            found.setdefault(of[0], []).append(file)
    if "train" not in found and "validation" not in found and "test" not in found:
        raise ConfigError(
            f"task.path={folder} holds no file called train, validation (or dev) or test. "
            "Name the files of the splits: task.splits={train: FILE, validation: FILE}"
        )
    return found


def _is_lines(lines: Iterator[str]) -> bool:
    """Whether the first line is an object by itself, and none that holds a whole SQuAD file."""
    first = next((line for line in lines if line.strip()), "")
    try:
        values = json.loads(first)
    except ValueError:
        return False
    return isinstance(values, dict) and not isinstance(values.get("data"), list)


def _is_squad(document: Any) -> bool:
    if isinstance(document, list):
        return bool(document) and isinstance(document[0], dict) and "context_text" in document[0]
    return isinstance(document, dict) and "data" in document


def _is_c3(document: Any) -> bool:
    return isinstance(document, list) and bool(document) and isinstance(document[0], list)
