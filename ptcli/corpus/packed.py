"""The bytes of a file as it lies, of one packed by gzip or zstd, and of the files in a zip."""

import contextlib
import gzip
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ptcli.errors import ConfigError, DataError

PACKINGS = (".gz", ".zst")
"""What may follow an ending; what a file is, its first bytes say."""

File = Path | zipfile.Path
"""A file, or one inside a zip: both are opened, named and printed alike."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the latter where it is empty
_CHUNK = 1 << 16


def read_chunks(file: File) -> Iterator[bytes]:
    """The content of a file, unpacked where it is gzip or zstd. Raises DataError where it is damaged or locked."""
    try:
        with file.open("rb") as raw:
            start = raw.read(4)
            raw.seek(0)
            with _unpacked(raw, start) as stream:
                while chunk := stream.read(_CHUNK):
                    yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{file} is a damaged gzip file ({error}). Fetch or pack it again.") from error
    except zipfile.BadZipFile as error:
        raise DataError(f"{file} is damaged ({error}). Fetch the zip again.") from error
    except (RuntimeError, NotImplementedError) as error:  # a password, or a method that Python cannot unpack
        raise DataError(f"{file} cannot be unpacked: {error}. Unpack the zip and give the folder.") from error
    except Exception as error:
        if type(error).__name__ != "ZstdError":  # of whichever package is there
            raise
        raise DataError(f"{file} is a damaged zstd file ({error}). Fetch or pack it again.") from error


def members(files: Sequence[Path], *, endings: Sequence[str]) -> tuple[list[File], list[str]]:
    """The files, each zip replaced by the files in it that have an ending, sorted; and remarks on those left out."""
    found: list[File] = []
    remarks: list[str] = []
    for file in files:
        if not _is_zip(file):
            found.append(file)
            continue
        names, others = _names(file, tuple(endings))
        root = zipfile.Path(str(file))
        found += [root / name for name in names]
        if others:
            remarks.append(f"{file}: {len(others)} files in it with other endings are left out: {_some(others)}")
    return found, remarks


def check_packing(file: Path, start: bytes, *, endings: tuple[str, ...]) -> None:
    """Raise ConfigError where a file that begins with these four bytes cannot be unpacked, or is a zip of no text."""
    if start in _ZIP:
        names, others = _names(file, endings)
        if not names:
            held = f"holds only {_some(others)}" if others else "is empty"
            raise ConfigError(
                f"corpus.path={file} holds no file that ends in {', '.join(endings)}: it {held}. "
                "Unpack it and name its files by a pattern: corpus.path='FOLDER/*'"
            )
    if start == _ZSTD and _zstd() is None:
        raise ConfigError(f"corpus.path={file} is packed with zstd. Type: pip install zstandard")


def _is_zip(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(4) in _ZIP


def _names(file: Path, endings: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The files in a zip: those with an ending, and the others; hidden ones and folders are in neither."""
    try:
        with zipfile.ZipFile(file) as archive:
            every = sorted(name for name in archive.namelist() if not name.endswith("/"))
    except zipfile.BadZipFile as error:
        raise ConfigError(f"corpus.path={file} is a damaged zip ({error}). Fetch it again.") from error
    shown = [name for name in every if not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))]
    wanted = tuple(ending + packing for ending in endings for packing in ("", *PACKINGS))
    chosen = [name for name in shown if name.lower().endswith(wanted)]
    return chosen, [name for name in shown if name not in set(chosen)]


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _unpacked(raw: Any, start: bytes) -> Any:
    if start.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw)
    if start == _ZSTD and (zstd := _zstd()) is not None:
        return zstd(raw)
    return contextlib.nullcontext(raw)


def _zstd() -> Any:
    """What unpacks a zstd stream: the standard library's from Python 3.14 on, before it a package; None without."""
    with contextlib.suppress(ImportError):
        from compression.zstd import ZstdFile  # pyright: ignore[reportMissingImports]

        return ZstdFile
    with contextlib.suppress(ImportError):
        import zstandard

        return lambda raw: zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    return None
