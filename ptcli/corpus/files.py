"""From what a user types as a path to the files to read, and their bytes."""

import glob
import gzip
import hashlib
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from ptcli.errors import ConfigError, DataError

_CHUNK = 1 << 20


def find_files(path: str | Sequence[str] | None, *, endings: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The files that `path` (a file, a folder, a pattern, or a list of these) names, and remarks on what is left out.

    A folder is searched with its subfolders for the `endings` (also followed by .gz); hidden files are passed over.
    A file that is named itself may have any ending. The order is that of the list, sorted within a folder or pattern.
    """
    if not path:
        raise ConfigError("the corpus has no path. Give a file, a folder or a pattern: corpus.path=books/")
    files: list[Path] = []
    remarks: list[str] = []
    for one in path if isinstance(path, Sequence) and not isinstance(path, str) else [path]:
        found, left_out = _find(str(one), tuple(endings))
        files += found
        remarks += left_out
    unique = list({file.resolve(): file for file in files}.values())
    if len(unique) < len(files):
        remarks.append(f"{len(files) - len(unique)} files are named twice by corpus.path and are read once")
    for file in unique:
        _check(file)
    if not any(file.stat().st_size for file in unique):
        raise ConfigError(f"corpus.path={path} holds no text: every file there is empty. Give another path.")
    return unique, remarks


def read_chunks(file: Path) -> Iterator[bytes]:
    """The content of a file, unpacked where it is gzip."""
    with file.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        try:
            stream = gzip.GzipFile(fileobj=raw) if packed else raw
            while chunk := stream.read(_CHUNK):
                yield chunk
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"{file} is a damaged gzip file ({error}). Fetch or pack it again.") from error


def content_identity(files: Sequence[Path]) -> dict[str, str | int]:
    """A hash of what is in the files, in order, and their size in bytes; names and folders do not count."""
    digest = hashlib.blake2b(digest_size=16)
    total = 0
    for file in files:
        stat = file.stat()
        total += stat.st_size
        digest.update(_file_hash(str(file.resolve()), stat.st_size, stat.st_mtime_ns))
    return {"files": len(files), "bytes": total, "content": digest.hexdigest()}


@cache
def _file_hash(file: str, size: int, modified: int) -> bytes:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "blake2b").digest()


def _find(path: str, endings: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    place = Path(path).expanduser()
    if place.is_dir():
        return _search(place, endings)
    if place.exists():
        return [place], []
    if glob.has_magic(path):
        found = sorted(Path(name) for name in glob.glob(str(place), recursive=True) if Path(name).is_file())
        if not found:
            raise ConfigError(f"corpus.path={path} matches no file. Check the pattern, or give a folder.")
        return found, []
    raise ConfigError(f"corpus.path={path} does not exist.{_nearest(place)} Check the spelling of the path.")


def _nearest(place: Path) -> str:
    parent = place.absolute().parent
    while not parent.is_dir():
        parent = parent.parent
    names = sorted(entry.name for entry in parent.iterdir() if not entry.name.startswith("."))
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f" {parent} holds: {shown}." if names else f" {parent} is empty."


def _search(folder: Path, endings: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    wanted, others = [], Counter()
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or any(part.startswith(".") for part in file.relative_to(folder).parts):
            continue
        if file.name.lower().removesuffix(".gz").endswith(endings):
            wanted.append(file)
        else:
            others[file.suffix.lower() or "no ending"] += 1
    listed = ", ".join(f"{ending} ({number})" for ending, number in others.most_common(6))
    if not wanted:
        raise ConfigError(
            f"corpus.path={folder} holds no file that ends in {', '.join(endings)}"
            + (
                f", but {listed}. Name such files by a pattern: corpus.path='{folder}/*'"
                if others
                else ": it is empty."
            )
        )
    remarks = [f"{folder}: {others.total()} files with other endings are left out: {listed}"] if others else []
    return wanted, remarks


def _check(file: Path) -> None:
    try:
        with file.open("rb") as stream:
            start = stream.read(4)
    except OSError as error:
        raise ConfigError(f"corpus.path={file} cannot be read: {error.strerror}.") from error
    if start == b"PK\x03\x04":
        raise ConfigError(f"corpus.path={file} is a zip file. Unpack it and give the folder: corpus.path=FOLDER")
    if start == b"\x28\xb5\x2f\xfd":
        raise ConfigError(f"corpus.path={file} is packed with zstd. Unpack it first: unzstd '{file}'")
