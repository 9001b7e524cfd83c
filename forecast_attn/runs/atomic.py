"""Files that appear whole or not at all."""

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from forecast_attn.errors import RunError

try:
    import fcntl
except ImportError:  # Windows, which keeps an open file from being deleted anyway
    fcntl = None  # type: ignore[assignment]

PARTIAL_SUFFIX = ".partial"
_PARTIAL = re.compile(r"\..+\.[0-9a-f]{8}\.partial")


def check_name(path: Path) -> None:
    """Refuse a path that is not UTF-8: the readers of Parquet and of weights open no such file.

    Raises:
        RunError: it is none.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise RunError(f"'{path}' is not a UTF-8 path, which runs and Parquet files need", "rename it") from None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream to a temporary file beside `path` that takes its place when the block ends well, and else vanishes.

    A process killed in between leaves `path` as it was, and the temporary file beside it, which the next writer in that
    folder removes. A link is followed; a device or a pipe (/dev/null, /dev/stdout) is written to, never replaced.

    Raises:
        RunError: the folder is missing, may not be written to, or is full. Errors inside the block stay what they are.
    """
    if path.exists() and not path.is_file():
        with _written_in_place(path) as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    with write_errors_of(path):
        remove_partials(target.parent)
        stream, partial = _begun(target)
    try:
        yield stream
        with write_errors_of(path):
            stream.flush()
            os.fsync(stream.fileno())
            if fcntl is None:  # such a system renames no open file
                stream.close()
            partial.replace(target)  # while it is locked, or another process could take it for a leftover
    finally:
        with contextlib.suppress(OSError):  # closing tries again to write what a full disk has refused
            stream.close()
        partial.unlink(missing_ok=True)


def make_scratch(folder: Path, mark: str) -> None:
    """Make an empty folder to work in. One that a killed process left there has a file `mark`, and is removed first.

    Raises:
        RunError: something else is there.
        OSError: the folder cannot be made.
    """
    if folder.is_symlink() or folder.is_file() or (folder.is_dir() and not _is_ours(folder, mark)):
        raise RunError(f"'{folder}' is in the way, and not of this program", "move it, or choose another --out")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


def _is_ours(folder: Path, mark: str) -> bool:
    """Check for our mark in a folder, or nothing but the mark's beginning."""
    return (folder / mark).is_file() or all(each.name.endswith(PARTIAL_SUFFIX) for each in folder.iterdir())


def _begun(target: Path) -> tuple[BinaryIO, Path]:
    """A new temporary file beside its target, locked: a lock says that its writer is alive."""
    while True:
        partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}{PARTIAL_SUFFIX}")
        stream = partial.open("xb")
        if not _lock(stream, wait=True) or partial.exists():
            return stream, partial
        stream.close()  # another process took it for a leftover before the lock was there


def remove_partials(folder: Path) -> None:
    """Delete what killed processes left half-written in a folder; what a living one writes is locked, and stays."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_partial(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_unless_locked(Path(entry.path))


def is_partial(name: str) -> bool:
    """Return True for the name of a file that `replacing` has not finished."""
    return _PARTIAL.fullmatch(name) is not None


def _remove_unless_locked(partial: Path) -> None:
    with contextlib.suppress(OSError), partial.open("rb") as stream:
        if _lock(stream, wait=False):
            partial.unlink(missing_ok=True)


def _lock(stream: BinaryIO, *, wait: bool) -> bool:
    """Lock an open file until it is closed; False where that cannot be done, or another process holds the lock."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


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
