"""`compiled`: numba's njit as every compiled loop here uses it, cached in the user's cache folder.

The cache lies outside the package, so that a read-only install works, and its folder carries the versions of ptcli,
numba and Python, so that no loop compiled by another version is ever loaded.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ptcli
from ptcli.cache import cache_folder


@contextmanager
def _without(name: str) -> Iterator[None]:
    """While entered, a module that is not imported yet cannot be."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]


with _without("scipy"):  # numba looks for its BLAS, for products of matrices, which no loop has: 75 ms and 20 MB
    import numba
    import numba.np.arraymath  # it is this one that looks; it would be imported with the first loop, outside


def _cache_folder() -> Path:
    return cache_folder() / "compiled" / f"ptcli-{ptcli.__version__}-numba-{numba.__version__}-py{sys.hexversion:x}"


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(_cache_folder())  # type: ignore[attr-defined]

compiled = numba.njit(cache=True, nogil=True)
"""Decorator: compile on first use, keep the machine code for the next process, release the GIL while running."""
