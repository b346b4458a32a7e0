"""Rows of a Parquet file."""

from collections.abc import Iterator
from pathlib import Path

from ptcli.errors import DataError
from ptcli.task.reading.class_names import named, names_in_metadata
from ptcli.task.reading.record import Record

_ROWS = 1000  # that are held at once


def parquet_records(file: Path) -> Iterator[Record]:
    """The rows; where the file keeps the names of classes, names for numbers."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    number = 0
    try:
        table = ParquetFile(file)
        names = names_in_metadata(table.schema_arrow.metadata)
        for batch in table.iter_batches(batch_size=_ROWS):
            for values in batch.to_pylist():
                number += 1
                yield Record({key: named(value, names.get(key)) for key, value in values.items()}, f"{file}:{number}")
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(
            f"{file} is damaged or no Parquet file, after row {number:,}: {error}. Fetch it again."
        ) from error
