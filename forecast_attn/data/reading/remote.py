"""Tables at a URL (s3://, gs://, https://, …): copied to this machine through fsspec, and only where a user names one.

The rest of the program knows paths alone: a URL in a run, which may be somebody else's, opens no connection.
"""

from __future__ import annotations

import contextlib
import glob
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from forecast_attn.data.reading.parts import MAGIC, PARQUET, TablePart, before_wildcard, parts_named
from forecast_attn.data.reading.source import CHUNK, Source
from forecast_attn.errors import ConfigError, DataError, RunError, UserError
from forecast_attn.urls import url_of, without_secrets

DONE = "_SUCCESS"
"""Empty file that marks the results as complete, as Spark and Hive write it."""
CHECK = "check its name, your rights and the connection"
PACKAGES = "pip install s3fs for s3://, gcsfs for gs://, adlfs for abfs://"


def fetched(table: Any) -> Any:
    """A table that a user named: copied to this machine where it is at a URL, else as it is.

    The copy is in the folder for temporary files, and goes with the `Source`.

    Raises:
        ConfigError: fsspec, or what it needs for this kind of URL, is not installed.
        DataError: there is no such table, or it cannot be fetched.
    """
    url = url_of(table)
    if url is None:
        return table
    keep, name = _TemporaryFolder(), without_secrets(url)
    folder = keep.path
    if parts := remote_parts(url):
        parts = tuple(fetched_part(part, folder / str(number)) for number, part in enumerate(parts))
        return Source(f"'{name}'", parts[0].path, None, parts, url=name, keep=keep)
    _copy(url, folder / "table")
    return Source(f"'{name}'", folder / "table", None, url=name, keep=keep)


def remote_parts(table: Any) -> tuple[TablePart, ...]:
    """The Parquet files of a folder or a pattern at a URL, none of which is fetched; none where it is a single file.

    Raises:
        ConfigError, DataError: as `fetched`.
    """
    url = url_of(table)
    if url is None or url.startswith(("http:", "https:")):  # a web server lists no folders
        return ()
    with _reaching(url) as fs:
        where = fs._strip_protocol(url)
        if glob.has_magic(where):
            root, files = "/".join(before_wildcard(where.split("/"))) or "/", fs.glob(where, detail=True)
        elif fs.isdir(where):
            root, files = where, fs.find(where, detail=True)
        else:
            return ()
        files = {PurePosixPath(file).relative_to(root): file for file, info in files.items() if _may_be_part(info)}
        kept, others = parts_named(files, lambda names: fs.cat_ranges([files[name] for name in names], 0, len(MAGIC)))
        urls = {part.name: fs.unstrip_protocol(files[PurePosixPath(part.name)]) for part in kept}
    if not kept or others:
        what = f"has '{others[0]}' beside its Parquet files" if kept else "has no Parquet files"
        hint = "a table at a URL is a file, or Parquet files alone, of a folder or a pattern"
        raise DataError(f"'{without_secrets(url)}' {what}", hint)
    return tuple(replace(part, url=urls[part.name]) for part in kept)


def _may_be_part(info: dict[str, Any]) -> bool:
    """False for folders and for the empty files that some stores keep in their place."""
    return info["type"] == "file" and (info["size"] != 0 or PurePosixPath(info["name"]).suffix in PARQUET)


def fetched_part(part: TablePart, folder: Path) -> TablePart:
    """A part whose file is on this machine: one at a URL is copied into a folder."""
    if part.url is None:
        return part
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PurePosixPath(part.name).name
    _copy(part.url, path)
    return replace(part, path=path)


def check_is_empty(url: str) -> None:
    """Refuse to write into a folder at a URL that holds something.

    Raises:
        ConfigError: as `fetched`.
        RunError: it holds something, or cannot be reached.
    """
    with _reaching(url, to_write=True) as fs:
        is_taken = fs.exists(url) and bool(fs.find(url))
    if is_taken:
        raise RunError(f"'{without_secrets(url)}' exists already", "name a new folder, or remove it")


def send(path: Path, url: str) -> None:
    """Copy a file of this machine to a URL. On an object store it appears when all of it is there.

    Raises:
        RunError: it cannot be written.
    """
    with _reaching(url, to_write=True) as fs:
        where = fs._strip_protocol(url)
        fs.makedirs(fs._parent(where), exist_ok=True)
        fs.put_file(str(path), where)


def mark_done(folder: str) -> None:
    """Write the empty file that says that a folder is complete."""
    with tempfile.TemporaryDirectory() as here:
        (Path(here) / DONE).touch()
        send(Path(here) / DONE, f"{folder.rstrip('/')}/{DONE}")


def remove(urls: Iterable[str]) -> None:
    """Delete files at URLs, those that are there and can be reached."""
    for url in urls:
        with contextlib.suppress(UserError), _reaching(url) as fs:
            fs.rm_file(fs._strip_protocol(url))


@contextlib.contextmanager
def opened(url: str) -> Iterator[BinaryIO]:
    """The bytes at a URL."""
    with _reaching(url) as fs, fs.open(url, "rb") as stream:
        yield stream


class _TemporaryFolder:
    """A folder that goes with the last reference to it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="forecast-attn-"))
        self._end = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _copy(url: str, path: Path) -> None:
    with opened(url) as stream, path.open("wb") as file:
        shutil.copyfileobj(stream, file, CHUNK)


@contextlib.contextmanager
def _reaching(url: str, *, to_write: bool = False) -> Iterator[Any]:
    """The file system of a URL; its errors, also those of its own classes, become errors with a hint.

    Raises:
        ConfigError: a package is missing.
        DataError: there is no such file, or it cannot be read.
        RunError: it cannot be written.
    """
    name = without_secrets(url)
    try:
        import fsspec.core

        yield fsspec.core.url_to_fs(url)[0]
    except UserError:
        raise
    except ImportError as error:
        hint = 'pip install "forecast-attn[remote]"' if error.name == "fsspec" else PACKAGES
        raise ConfigError(f"'{name}' needs a package that is not installed: {_first_line(error)}", hint) from None
    except Exception as error:  # stores have errors of their own, which are not OSError
        if to_write:
            raise RunError(f"cannot write '{name}': {_first_line(error)}", CHECK) from None
        if isinstance(error, FileNotFoundError):
            raise DataError(f"there is no file '{name}'", CHECK) from None
        raise DataError(f"cannot read '{name}': {_first_line(error)}", CHECK) from None


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__
