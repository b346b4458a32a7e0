"""Arrays on disk that grow while they are written and are plain .npy files when closed."""

import os
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike


class GrowingArray:
    """A one-dimensional .npy file that is appended to: memory does not grow with it."""

    def __init__(self, path: Path, *, dtype: DTypeLike):
        self.dtype = np.dtype(dtype)
        self.length = 0
        self._file = path.open("wb")
        self._header_size = self._write_header()

    def append(self, values: np.ndarray) -> None:
        """Add the values at the end."""
        self._file.write(np.ascontiguousarray(values, self.dtype).data)
        self.length += values.shape[0]

    def close(self) -> None:
        """Write the true length into the header and the whole to disk."""
        self._file.seek(0)
        assert self._write_header() == self._header_size, "numpy leaves room in the header for growth"
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def _write_header(self) -> int:
        description = {"descr": npy.dtype_to_descr(self.dtype), "fortran_order": False, "shape": (self.length,)}
        npy.write_array_header_1_0(self._file, description)
        return self._file.tell()


class GrowingBits:
    """One bit a value, little bit order, in a uint8 .npy file."""

    def __init__(self, path: Path):
        self.length = 0
        self._bytes = GrowingArray(path, dtype=np.uint8)
        self._rest = np.zeros(0, bool)

    def append(self, values: np.ndarray) -> None:
        """Add bool values at the end."""
        self.length += values.shape[0]
        values = np.concatenate((self._rest, values))
        whole = values.shape[0] // 8 * 8
        self._bytes.append(np.packbits(values[:whole], bitorder="little"))
        self._rest = values[whole:]

    def close(self) -> None:
        """Write the last, partly filled byte, and the whole to disk."""
        self._bytes.append(np.packbits(self._rest, bitorder="little"))
        self._bytes.close()


def size_on_disk(length: int, dtype: DTypeLike) -> int:
    """Bytes of the .npy file of a one-dimensional array."""
    return 128 + length * np.dtype(dtype).itemsize
