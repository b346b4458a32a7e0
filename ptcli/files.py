"""Files and folders that are there whole or not at all, whenever the process or the machine stops."""

import errno
import hashlib
import json
import math
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_TEMPORARY = ".tmp-"


def sync(path: Path) -> None:
    """Wait until the file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:  # some network file systems sync no folders
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def write_whole(path: Path, text: str) -> None:
    """Replace a file by `text` in one move."""
    temporary = path.with_name(f"{_TEMPORARY}{path.name}")
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A temporary folder to write into, that becomes `path` when the block ends without an error; else it is removed.

    A folder that stood there before is replaced.
    """
    temporary = path.with_name(f"{_TEMPORARY}{path.name}")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        for file in temporary.rglob("*"):
            sync(file)
        sync(temporary)
        if path.exists():
            remove_whole(path)
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync(path.parent)


def remove_whole(path: Path) -> None:
    """Remove a folder so that no half of it is ever seen under its name."""
    doomed = path.with_name(f"{_TEMPORARY}removed-{path.name}")
    shutil.rmtree(doomed, ignore_errors=True)
    os.rename(path, doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def remove_temporary(folder: Path) -> None:
    """Remove what a killed process left half-written. Only for the holder of the run's lock."""
    for path in folder.glob(f"{_TEMPORARY}*"):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def digest(path: Path) -> dict[str, Any]:
    """Length in bytes and SHA-256 of a file."""
    with open(path, "rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def is_disk_full(error: BaseException) -> bool:
    """Whether a write failed for want of room, also where a library tells it in words only."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return True
    return any(sign in str(error) for sign in ("No space left", "os error 28", "os error 122", "quota exceeded"))


def to_json(values: dict[str, Any]) -> str:
    """JSON that every reader takes: not-a-number and infinity become null."""
    return json.dumps(_finite(values), ensure_ascii=False, indent=2) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
