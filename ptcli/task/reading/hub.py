"""Rows of a data set of the Hugging Face hub, or of a local folder of one. Only data is loaded, no code is run."""

from collections.abc import Iterator
from pathlib import Path

from ptcli.errors import DataError
from ptcli.task.reading.class_names import named, names_in_features
from ptcli.task.reading.record import Record


def hub_records(name: str, *, subset: str | None, split: str, revision: str | None) -> Iterator[Record]:
    """The rows of a split; numbers of classes become their names, and -1, which stands for no label, None."""
    import datasets
    from datasets.exceptions import DatasetsError

    place = Path(name).expanduser()
    where = f"task.name={name} task.subset={subset or 'null'} task.revision={revision or 'null'}, split {split}"
    try:
        rows = datasets.load_dataset(
            str(place) if place.is_dir() else name, subset, split=split, revision=revision, streaming=False
        )
    except (DatasetsError, OSError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else repr(error)
        raise DataError(
            f"datasets cannot read {where}: {reason}. Correct what is wrong there, see to the network, or give a local "
            "copy: task.path=FOLDER."
        ) from error
    names = names_in_features(dict(rows.features or {}))  # type: ignore[union-attr]
    for number, values in enumerate(rows):
        row = {key: named(value, names.get(key)) for key, value in values.items()}  # type: ignore[union-attr]
        yield Record(row, f"{name}/{split}:{number}")
