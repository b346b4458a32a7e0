"""From what a user types as a path to the files to read."""

import glob
import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ptcli.corpus.packed import PACKINGS, check_packing
from ptcli.errors import ConfigError
from ptcli.file_hash import file_hash


def find_files(
    path: str | Sequence[str] | None, *, endings: Sequence[str], packed: bool = True
) -> tuple[list[Path], list[str]]:
    """The files that `path` (a file, a folder, a pattern, or a list of these) names, and remarks on what is left out.

    A folder is searched with its subfolders for the `endings`, where `packed` also followed by .gz or .zst, and for
    .zip; hidden files are passed over. A file that is named itself may have any ending. The order is that of the list,
    sorted within a folder or pattern.
    """
    if not path:
        raise ConfigError("the corpus has no path. Give a file, a folder or a pattern: corpus.path=books/")
    wanted = tuple(endings)
    if packed:
        wanted = (*endings, *(ending + packing for ending in endings for packing in PACKINGS), ".zip")
    files: list[Path] = []
    remarks: list[str] = []
    for one in path if isinstance(path, Sequence) and not isinstance(path, str) else [path]:
        found, left_out = _find(str(one), wanted)
        files += found
        remarks += left_out
    unique = list({file.resolve(): file for file in files}.values())
    if len(unique) < len(files):
        remarks.append(f"{len(files) - len(unique)} files are named twice by corpus.path and are read once")
    for file in unique:
        _check(file, packed=packed, endings=tuple(endings))
    if not any(file.stat().st_size for file in unique):
        raise ConfigError(f"corpus.path={path} holds no text: every file there is empty. Give another path.")
    return unique, remarks


def content_identity(files: Sequence[Path], *, read: bool = True) -> dict[str, str | int]:
    """A hash of what is in the files, in order, and their size in bytes; names and folders do not count.

    With read=False, for what is too large to be read twice, their names, sizes and times of change stand for the
    content.
    """
    digest = hashlib.blake2b(digest_size=16)
    total = 0
    for file in files:
        stat = file.stat()
        total += stat.st_size
        if read:
            digest.update(file_hash(file))
        else:
            digest.update(f"{file.name}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
    return {"files": len(files), "bytes": total, "content": digest.hexdigest()}


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
        if file.name.lower().endswith(endings):
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


def _check(file: Path, *, packed: bool, endings: tuple[str, ...]) -> None:
    try:
        with file.open("rb") as stream:
            start = stream.read(4)
    except OSError as error:
        raise ConfigError(f"corpus.path={file} cannot be read: {error.strerror}.") from error
    if packed:
        check_packing(file, start, endings=endings)
