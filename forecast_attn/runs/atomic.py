"""Files that appear whole or not at all."""

import contextlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from forecast_attn.errors import RunError
from forecast_attn.pipes import open_to_write

try:
    import fcntl
except ImportError:  # Windows, which keeps an open file from being deleted anyway
    fcntl = None  # type: ignore[assignment]

PARTIAL_SUFFIX = ".partial"
_PARTIAL = re.compile(r"\..+\.[0-9a-f]{8}\.partial")


def check_name(path: Path) -> None:
    """Refuse a path that is not UTF-8, or not read as such: readers of Parquet and of weights open no such file.

    Raises:
        RunError: it is not.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        try:
            os.fsencode(path).decode()
        except UnicodeDecodeError:
            raise RunError(f"'{path}' is not a UTF-8 path, which runs and Parquet files need", "rename it") from None
        encoding = sys.getfilesystemencoding()
        raise RunError(f"'{path}' is UTF-8, and Python is set to read paths as {encoding}", "PYTHONUTF8=1") from None


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


@contextlib.contextmanager
def appearing_folder(folder: Path) -> Iterator[Path]:
    """A folder beside `folder` that takes its name when the block ends well, and else vanishes.

    A process killed in between leaves it there; the next one that makes a folder beside it removes it.

    Raises:
        RunError: it cannot be made or renamed. Errors inside the block stay what they are.
    """
    with write_errors_of(folder):
        _remove_partial_folders(folder.parent)
        partial, lock = _begun_folder(folder)
    try:
        yield partial.absolute()
        with write_errors_of(folder):
            partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _begun_folder(target: Path) -> tuple[Path, int | None]:
    """A new folder beside its target, and the descriptor by which it is locked; None where folders have no locks."""
    while True:
        partial = _partial_of(target)
        partial.mkdir()
        if fcntl is None:
            return partial, None
        lock = os.open(partial, os.O_RDONLY)
        if not _lock(lock, wait=True) or partial.exists():
            return partial, lock
        os.close(lock)  # another process took it for a leftover before the lock was there


def _remove_partial_folders(parent: Path) -> None:
    """Delete what killed processes left of `appearing_folder`, unless somebody put something else into it."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if fcntl is not None and is_partial(entry.name) and entry.is_dir(follow_symlinks=False):
                _remove_folder_unless_locked(Path(entry.path))


def _remove_folder_unless_locked(partial: Path) -> None:
    with contextlib.suppress(OSError):
        lock = os.open(partial, os.O_RDONLY)
        try:
            if _lock(lock, wait=False) and all(_is_output(each) for each in partial.rglob("*")):
                shutil.rmtree(partial, ignore_errors=True)
        finally:
            os.close(lock)


def _is_output(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".parquet" or is_partial(path.name)


def make_scratch(folder: Path, mark: str) -> None:
    """Make an empty folder to work in. One that a killed process left there has a file `mark`, and is removed first.

    Raises:
        RunError: something else is there.
        OSError: the folder cannot be made.
    """
    if folder.is_symlink() or folder.is_file() or (folder.is_dir() and not _is_ours(folder, mark)):
        raise RunError(f"'{folder}' is in the way, and not of this program", "move it, or choose another --out")
    remove_scratch(folder, mark)
    folder.mkdir()


def remove_scratch(folder: Path, mark: str) -> None:
    """Delete a folder of `make_scratch`, its mark last: killed in between, the next process still knows it as ours."""
    with contextlib.suppress(OSError):
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name != mark:
                entry.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path, mark: str) -> bool:
    """Check for our mark in a folder, or nothing but the mark's beginning."""
    return (folder / mark).is_file() or all(each.name.endswith(PARTIAL_SUFFIX) for each in folder.iterdir())


def _begun(target: Path) -> tuple[BinaryIO, Path]:
    """A new temporary file beside its target, locked as long as its writer lives."""
    while True:
        partial = _partial_of(target)
        stream = partial.open("xb")
        if not _lock(stream, wait=True) or partial.exists():
            return stream, partial
        stream.close()  # another process took it for a leftover before the lock was there


def _partial_of(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}{PARTIAL_SUFFIX}")


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


def _lock(stream: BinaryIO | int, *, wait: bool) -> bool:
    """Lock an open file until it is closed; False where that cannot be done, or another process holds the lock."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a file of a folder that only one process may work in, until the block ends or the process dies.

    Raises:
        RunError: another process holds it.
    """
    with path.open("rb") as stream:
        try:
            if fcntl is not None:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"another process is at work in '{path.parent}'", "let it end first") from None
        except OSError:  # a disk without locks
            pass
        yield


@contextlib.contextmanager
def _written_in_place(path: Path) -> Iterator[BinaryIO]:
    """A stream to a device or a pipe; a directory is refused by the operating system."""
    with write_errors_of(path):
        stream = open(path, "wb", opener=open_to_write if path.is_fifo() else None)  # noqa: SIM115
    try:
        yield stream
        with write_errors_of(path):
            stream.close()
    finally:
        with contextlib.suppress(OSError):
            stream.close()


@contextlib.contextmanager
def write_errors_of(path: Path) -> Iterator[None]:
    """Turn a failure to write into an error with a hint.

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
