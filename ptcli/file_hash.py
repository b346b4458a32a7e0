"""Hashes of files, remembered in the cache folder, so that a large corpus is not read again at each start."""

import contextlib
import hashlib
import os
import time
from functools import cache
from pathlib import Path

from ptcli.cache import cache_folder

_WORTH_IT = 1 << 20  # bytes: a smaller file is read faster than it is looked up
_YOUNG = 2.0  # seconds: a file changed so lately may change again without its times showing it


def file_hash(file: Path) -> bytes:
    """blake2b of the content, 64 bytes; looked up by path, size, times and inode where it was hashed before."""
    stat = file.stat()
    return _hash(str(file.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


@cache
def _hash(file: str, size: int, modified: int, changed: int, inode: int) -> bytes:
    if size < _WORTH_IT:
        return _read(file)
    key = hashlib.blake2b(f"{file}\0{size}\0{modified}\0{changed}\0{inode}".encode(), digest_size=16).hexdigest()
    memo = cache_folder() / "file-hashes" / key
    with contextlib.suppress(OSError, ValueError):
        known = bytes.fromhex(memo.read_text(encoding="ascii"))
        if len(known) == 64:
            return known
    found = _read(file)
    if time.time() - max(modified, changed) / 1e9 > _YOUNG:
        with contextlib.suppress(OSError):  # a cache that cannot be written only costs time
            memo.parent.mkdir(parents=True, exist_ok=True)
            writing = memo.with_name(f"{memo.name}.{os.getpid()}")
            writing.write_text(found.hex(), encoding="ascii")
            writing.replace(memo)
    return found


def _read(file: str) -> bytes:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "blake2b").digest()
