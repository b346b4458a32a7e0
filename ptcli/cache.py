"""What is made once and found again: built beside its place, moved there when whole, by one process at a time."""

import contextlib
import errno
import logging
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import platformdirs

from ptcli.errors import ConfigError, DataError

try:
    import fcntl
except ImportError:  # Windows: no lock; the rename below still keeps half-built folders out of use
    fcntl = None

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_FULL = (errno.ENOSPC, errno.EDQUOT)


def cache_folder() -> Path:
    """Where ptcli keeps what it makes once: $PTCLI_CACHE, or the user's cache folder."""
    return Path(os.environ.get("PTCLI_CACHE") or platformdirs.user_cache_dir("ptcli", appauthor=False))


def obtain(
    folder: Path,
    *,
    load: Callable[[Path], _T],
    build: Callable[[Path], None],
    what: str,
    needed: Callable[[], str] = str,
) -> _T:
    """`load(folder)`, after `build` has filled it where it is absent or damaged.

    `load` raises DataError where the folder cannot be used. `what` names the thing in messages; `needed()` says how
    much room it takes, where the disk is full. A second process that wants the same folder waits for the first.
    """
    if folder.is_dir():
        with contextlib.suppress(DataError):
            return load(folder)
    _make(folder.parent, what)
    with locked(folder.with_name(folder.name + ".lock"), what=what):
        if folder.is_dir():
            try:
                return load(folder)
            except DataError as error:
                _log.warning("%s is damaged and made again: %s", what, error)
                shutil.rmtree(folder)
        for abandoned in remove_abandoned(folder):
            _log.warning("removed %s, left by a process that was killed", abandoned)
        building = _building_folder(folder)
        try:
            build(building)
            _publish(building, folder, load)
        except OSError as error:
            if error.errno in _FULL:
                raise DataError(_full(what, folder, needed())) from error
            raise
        finally:
            shutil.rmtree(building, ignore_errors=True)
    return load(folder)


@contextlib.contextmanager
def locked(path: Path, *, what: str) -> Iterator[None]:
    """Hold the lock file `path` alone; waiting for another process is said. No lock where the system has none."""
    with path.open("a") as file:
        if fcntl is not None and not _try_lock(file):
            _log.warning("another process is making %s; waiting for it", what)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def remove_abandoned(folder: Path) -> list[Path]:
    """Remove the building folders of `folder` whose process on this host is dead; call it with the lock held."""
    gone = []
    for path in sorted(folder.parent.glob(folder.name + ".building-*")):
        host, _, rest = path.name.removeprefix(folder.name + ".building-").partition("-")
        pid = rest.partition("-")[0]
        if host == _host() and pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(path, ignore_errors=True)
            gone.append(path)
    return gone


def _building_folder(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=f"{folder.name}.building-{_host()}-{os.getpid()}-", dir=folder.parent))


def _publish(building: Path, folder: Path, load: Callable[[Path], _T]) -> None:
    building.chmod(0o777 & ~_umask())  # mkdtemp makes it private; a cache may be shared
    try:
        building.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        try:
            load(folder)  # where there is no lock another process may have won: its folder is as good as ours
        except DataError:
            shutil.rmtree(folder)
            building.rename(folder)


def _make(folder: Path, what: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{what} cannot be kept in {folder}: {error.strerror}. Set PTCLI_CACHE to a folder that can be written."
        ) from error


def _full(what: str, folder: Path, needed: str) -> str:
    free = shutil.disk_usage(folder.parent).free
    return (
        f"no space left in {folder.parent} for {what}{needed}; {free / 1e6:,.0f} MB are free there now. "
        "What was begun is removed. Free some room, or set PTCLI_CACHE to a folder with more."
    )


def _try_lock(file) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # type: ignore[union-attr]
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks
    return True


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _host() -> str:
    return "".join(c for c in socket.gethostname() if c.isalnum()) or "host"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
