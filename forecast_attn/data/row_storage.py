"""Arrays with an entry for every row of a table: in memory, or in files where the table is too large for it.

The files have no name: no other process sees them, and the system removes them when the arrays are gone, or when the
process is killed. Their pages are read when they are needed and given back when memory is short.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from forecast_attn.data.segments import ROWS_AT_ONCE
from forecast_attn.errors import RunError


@dataclass(frozen=True)
class RowStorage:
    """Makes arrays of row length."""

    folder: Path | None = None
    """Folder on the disk that holds them; None for memory."""

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """An array whose values are not set.

        Raises:
            RunError: the disk has no room for it.
        """
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self.folder is None or size == 0:
            return np.empty(shape, dtype)
        with _room_on(self.folder), tempfile.TemporaryFile(dir=self.folder) as file:
            _reserve(file, size)
            return _mapped(file, shape, dtype)

    def joined(self, chunks: Iterable[NDArray[Any]]) -> NDArray[Any]:
        """The rows of some arrays, at least one, behind each other.

        Raises:
            RunError: the disk has no room for them.
        """
        with RowWriter(self.folder) as rows:
            for chunk in chunks:
                rows.write(chunk)
            return rows.array()

    def chosen(self, values: NDArray[Any], choose: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> NDArray[Any]:
        """The values for which `choose`, which is called with some of them at a time, gives True."""
        blocks = (values[rows] for rows in row_blocks(len(values)))
        return self.joined(block[choose(block)] for block in blocks)

    def copied(self, values: NDArray[Any]) -> NDArray[Any]:
        """A copy that may be written to."""
        copy = self.empty(values.shape, values.dtype)
        copy[:] = values
        return copy


class RowWriter(contextlib.AbstractContextManager["RowWriter"]):
    """Writes an array whose length is not known before its last rows."""

    def __init__(self, folder: Path | None) -> None:
        """Write to a disk, or to memory where there is no folder."""
        self._folder = folder
        with _room_on(folder):
            self._file = None if folder is None else tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed at exit
        self._chunks: list[NDArray[Any]] = []
        self._rows = 0

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, rows: NDArray[Any]) -> None:
        """Add rows, of the same type and width each time."""
        self._rows += len(rows)
        if self._file is None:
            self._chunks.append(rows)
            return
        self._chunks = [rows[:0].copy()]
        with _room_on(self._folder):
            np.ascontiguousarray(rows).tofile(self._file)

    def array(self) -> NDArray[Any]:
        """All rows; none may be added any more."""
        shape = (self._rows, *self._chunks[0].shape[1:])
        if self._file is None or 0 in shape:
            return np.concatenate(self._chunks) if self._file is None else np.empty(shape, self._chunks[0].dtype)
        with _room_on(self._folder):
            self._file.flush()
            return _mapped(self._file, shape, self._chunks[0].dtype)


def row_blocks(number: int) -> Iterator[slice]:
    """Split a number of rows into blocks, so that temporary arrays stay small beside the table."""
    for first in range(0, max(number, 1), ROWS_AT_ONCE):
        yield slice(first, min(first + ROWS_AT_ONCE, number))


def _reserve(file: IO[bytes], size: int) -> None:
    """Take the room on the disk now: a mapped page for which there is none later would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)


def _mapped(file: IO[bytes], shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    return np.asarray(np.memmap(file, dtype, "r+", shape=shape))


@contextlib.contextmanager
def _room_on(folder: Path | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"cannot keep the rows of the table in '{folder}': {error.strerror or error}"
        raise RunError(message, "--out on a disk with more room") from None
