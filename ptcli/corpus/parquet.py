"""Parquet files, a column of text."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ptcli.corpus.column import TextColumn
from ptcli.corpus.document import Document
from ptcli.corpus.files import content_identity, find_files
from ptcli.corpus.sentences import check_language
from ptcli.corpus.stream import check_window
from ptcli.errors import ConfigError, DataError

ENDINGS = (".parquet",)
_ROWS = 1000  # that are held at once


class Parquet:
    """Documents from Parquet files: the strings of the column `text_key`. No other column is read."""

    has_gold_words = False

    def __init__(
        self,
        path: str | Sequence[str] | None,
        *,
        text_key: str = "text",
        language: str = "en",
        streaming: bool = False,
        window: int | None = None,
    ):
        self.path = path
        self.column = TextColumn(text_key)
        self.language = language
        self.streaming, self.window = streaming, window

    @cached_property
    def _found(self) -> tuple[list[Path], list[str]]:
        return find_files(self.path, endings=ENDINGS, packed=False)

    def check(self) -> None:
        """Raise ConfigError where the path names no file, or the first file is no Parquet or has no such column."""
        check_window(streaming=self.streaming, window=self.window)
        check_language(self.language)
        try:
            self._table(self._found[0][0])
        except DataError as error:
            raise ConfigError(str(error)) from error

    def documents(self) -> Iterator[Document]:
        """The documents, row after row."""
        import pyarrow

        self.column.begin()
        for file in self._found[0]:
            table, row = self._table(file), 0
            try:
                for batch in table.iter_batches(batch_size=_ROWS, columns=[self.column.name]):
                    for text in batch.column(0).to_pylist():
                        row += 1
                        source = f"{file}:{row}"
                        if document := self.column.document(text, source=source, columns=table.schema_arrow.names):
                            yield document
            except (pyarrow.ArrowException, OSError) as error:
                raise DataError(f"{file} is damaged after row {row:,}: {error}. Fetch it again.") from error

    def identity(self) -> dict[str, Any]:
        """What the files hold and how it is read; where they lie does not count."""
        return {
            "corpus": "parquet",
            "text_key": self.column.name,
            "language": self.language,
            **content_identity(self._found[0], read=not self.streaming),
        }

    def remarks(self) -> list[str]:
        """What was left out or replaced."""
        return [*self._found[1], *self.column.remarks()]

    def _table(self, file: Path) -> Any:
        import pyarrow
        from pyarrow.parquet import ParquetFile

        try:
            table = ParquetFile(file)
        except (pyarrow.ArrowException, OSError) as error:
            raise DataError(f"{file} is no Parquet file: {error}. Choose corpus=jsonl, csv or text.") from error
        if self.column.name not in table.schema_arrow.names:
            raise DataError(self.column.missing(table.schema_arrow.names, source=str(file)))
        return table
