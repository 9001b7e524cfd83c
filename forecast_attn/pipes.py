"""Pipes in the place of files, of `mkfifo` or `<(command)`: opening one that has nobody at its other end never ends."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from forecast_attn.errors import RunError

SECONDS = 5.0
"""Time that the other end of a pipe has to come."""
_AGAIN = 0.3
"""The same for a pipe that was read before: commands are tried before they are proposed, on the same table."""
_read: set[tuple[int, int]] = set()
"""Device and inode of each."""


def read(path: Path, most: int) -> bytes:
    """Read at most so many bytes of a file or a pipe. A writer may take as long as it likes, once it is there.

    Raises:
        OSError: the file cannot be read, or nothing comes out of the pipe and nobody writes to it.
    """
    if not path.is_fifo():
        with path.open("rb") as stream:
            return stream.read(most)
    with open(path, "rb", opener=_open_at_once) as stream:
        status = os.fstat(stream.fileno())
        pipe = (status.st_dev, status.st_ino)
        end = time.monotonic() + (_AGAIN if pipe in _read else SECONDS)
        _read.add(pipe)
        while (first := stream.read(1)) == b"":  # None if a writer is there that has not written yet
            if time.monotonic() > end:
                raise TimeoutError(errno.ETIMEDOUT, "nobody writes to this pipe")
            time.sleep(0.05)
        os.set_blocking(stream.fileno(), True)
        return (first or b"") + stream.read(most - len(first or b""))


def open_to_write(path: str, flags: int) -> int:
    """Open a pipe that somebody reads, for `open`.

    Raises:
        RunError: nobody reads it.
    """
    end = time.monotonic() + SECONDS
    while True:
        try:
            descriptor = _open_at_once(path, flags)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
        else:
            os.set_blocking(descriptor, True)
            return descriptor
        if time.monotonic() > end:
            raise RunError(f"cannot write '{path}': nobody reads this pipe", f"start its reader first: cat '{path}' &")
        time.sleep(0.05)


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
