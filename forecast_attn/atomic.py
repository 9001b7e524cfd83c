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

    A process killed in between leaves `path` as it was, and the temporary file beside it.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}{PARTIAL_SUFFIX}")
    try:
        with partial.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


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
