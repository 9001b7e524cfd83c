"""Files that appear whole or not at all."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from forecast_attn.errors import RunError

PARTIAL_SUFFIX = ".partial"


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream to a temporary file beside `path` that takes its place when the block ends well, and else vanishes.

    A process killed in between leaves `path` as it was, and the temporary file beside it. A link is followed; a device
    or a pipe (/dev/null, /dev/stdout) is written to, never replaced.

    Raises:
        RunError: the folder is missing, may not be written to, or is full. Errors inside the block stay what they are.
    """
    if path.exists() and not path.is_file():
        with _written_in_place(path) as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}{PARTIAL_SUFFIX}")
    with write_errors_of(path):
        stream = partial.open("xb")
    try:
        yield stream
        with write_errors_of(path):
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()
            partial.replace(target)
    finally:
        with contextlib.suppress(OSError):  # closing tries again to write what a full disk has refused
            stream.close()
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def _written_in_place(path: Path) -> Iterator[BinaryIO]:
    """A stream to a device or a pipe; a directory is refused by the operating system."""
    with write_errors_of(path):
        stream = path.open("wb")
    try:
        yield stream
        with write_errors_of(path):
            stream.close()
    finally:
        with contextlib.suppress(OSError):
            stream.close()


@contextlib.contextmanager
def write_errors_of(path: Path) -> Iterator[None]:
    """Say a failure to write in the user's words.

    Raises:
        RunError: the folder is missing, may not be written to, or is full.
    """
    try:
        yield
    except OSError as error:
        hint = "check that the folder exists, may be written to, and is not full"
        raise RunError(f"cannot write '{path}': {error.strerror or error}", hint) from None


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write a small file whole or not at all.

    Raises:
        RunError: the folder is missing, may not be written to, or is full.
    """
    with write_errors_of(path), replacing(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
