"""Data sets of the Hugging Face hub, or a local folder of one."""

import copy
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from ptcli.corpus.column import TextColumn
from ptcli.corpus.document import Document
from ptcli.corpus.sentences import check_language
from ptcli.corpus.stream import check_window
from ptcli.errors import ConfigError, DataError


class Hub:
    """Documents from `datasets.load_dataset(name, subset, split=split)`: the strings of the column `text_key`.

    `name` is an id of the hub or a folder of data files; `revision` pins a version. Only data is loaded: the library
    runs no code of a data set. With `streaming` nothing is downloaded ahead, and a run resumes by the library's own
    state.
    """

    has_gold_words = False

    def __init__(
        self,
        name: str | None,
        *,
        subset: str | None = None,
        split: str = "train",
        text_key: str = "text",
        revision: str | None = None,
        language: str = "en",
        streaming: bool = False,
        window: int | None = None,
    ):
        self.name = name
        self.subset, self.split, self.revision = subset, split, revision
        self.column = TextColumn(text_key)
        self.language = language
        self.streaming, self.window = streaming, window
        self._rows = 0
        self._live: Any = None

    def check(self) -> None:
        """Raise ConfigError where there is no name, or a local folder is absent; the hub is asked when it is read."""
        if not self.name:
            raise ConfigError("corpus=hub has no name. Give an id of the hub or a folder: corpus.name=OWNER/NAME")
        place = Path(self.name).expanduser()
        if self.name.startswith((".", "/", "~")) and not place.is_dir():
            raise ConfigError(
                f"corpus.name={self.name} is no folder. Give an id of the hub, or a folder of data files."
            )
        check_window(streaming=self.streaming, window=self.window)
        check_language(self.language)

    def documents(self) -> Iterator[Document]:
        """The documents, row after row. Raises DataError where the data set, a split or the column is not there."""
        yield from self._documents(None)

    def documents_from(self, state: dict[str, Any]) -> Iterator[Document]:
        """The documents that come after `state`; with streaming=True only."""
        yield from self._documents(state)

    def state(self) -> dict[str, Any]:
        """Where the iteration stands; with streaming=True only."""
        return {"rows": self._rows, "dataset": copy.deepcopy(self._live.state_dict())}

    def identity(self) -> dict[str, Any]:
        """What was asked for, and the revision on the hub, or the times of change of local files, that answer it."""
        return {
            "corpus": "hub",
            "name": self.name,
            "subset": self.subset,
            "split": self.split,
            "text_key": self.column.name,
            "language": self.language,
            "origin": self._origin,
        }

    def remarks(self) -> list[str]:
        """What was left out or replaced."""
        return self.column.remarks()

    def _documents(self, state: dict[str, Any] | None) -> Iterator[Document]:
        self.column.begin()
        self._rows = 0
        dataset = self._live = self._load()
        if dataset.column_names:
            self._refuse_missing(dataset.column_names)
            dataset = self._live = dataset.select_columns([self.column.name])
        if state is not None:
            self._rows = state["rows"]
            dataset.load_state_dict(copy.deepcopy(state["dataset"]))
        rows = iter(dataset)
        while (row := self._asked(lambda: next(rows, None))) is not None:
            self._rows += 1
            self._refuse_missing(row)
            source = f"{self.name}/{self.split}:{self._rows}"
            if document := self.column.document(row[self.column.name], source=source, columns=row):
                yield document

    def _refuse_missing(self, columns: Iterable[str]) -> None:
        if self.column.name not in columns:
            raise DataError(self.column.missing(columns, source=f"{self.name}/{self.split}"))

    @property
    def _path(self) -> str:
        assert self.name is not None, "check() comes first"
        place = Path(self.name).expanduser()
        return str(place) if place.is_dir() else self.name

    @cached_property
    def _origin(self) -> list[str]:
        import datasets

        builder = self._asked(lambda: datasets.load_dataset_builder(self._path, self.subset, revision=self.revision))
        files = builder.config.data_files or {}
        return [str(origin) for split in sorted(files) for origin in files[split].origin_metadata] or [builder.hash]

    def _load(self) -> Any:
        import datasets

        return self._asked(
            lambda: datasets.load_dataset(
                self._path, self.subset, split=self.split, revision=self.revision, streaming=self.streaming
            )
        )

    def _asked(self, question: Any) -> Any:
        from datasets.exceptions import DatasetsError

        try:
            return question()
        except (DatasetsError, OSError, ValueError, RuntimeError) as error:
            raise DataError(
                f"datasets cannot read {self.name}: {str(error).splitlines()[0] if str(error) else error!r} "
                f"(corpus.name={self.name} corpus.subset={self.subset or 'null'} corpus.split={self.split} "
                f"corpus.revision={self.revision or 'null'}). Correct what is wrong there, or see to the network."
            ) from error
