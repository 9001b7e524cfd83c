"""Folders of results with a file for each of a table: on a disk, or at a URL."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pyarrow.parquet as pq

from forecast_attn.data.reading.remote import check_is_empty, mark_done, opened, remove, send
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.runs.atomic import appearing_folder, check_name, write_errors_of
from forecast_attn.runs.output_paths import check_folder
from forecast_attn.urls import url_of, without_secrets


@dataclass(frozen=True)
class DiskFolder:
    """A folder that all processes see."""

    path: Path

    @contextlib.contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """The path at which a file is to be written, in a folder that is there."""
        path = self.path / name
        with write_errors_of(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        yield path

    def items(self, name: str) -> list[str]:
        """The series of a written file."""
        return _items(pq.ParquetFile(str(self.path / name)))

    def check_has(self, names: Sequence[str]) -> None:
        """Refuse to go on where the machines of a cluster have written to disks of their own.

        Raises:
            RunError: files are not here.
        """
        lost = [name for name in names if not (self.path / name).is_file()]
        if lost:
            raise RunError(
                f"of {len(names):,} files {len(lost):,} are not in '{self.path.parent}', such as '{lost[0]}'",
                "--out must be on a disk that all machines of the cluster share",
            )


@dataclass(frozen=True)
class UrlFolder:
    """A folder at a URL, such as that of an object store."""

    url: str

    @contextlib.contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """A path at which a file is to be written, which is then sent off."""
        with tempfile.TemporaryDirectory(prefix="forecast-attn-") as folder:
            path = Path(folder) / PurePosixPath(name).name
            yield path
            send(path, self.url_of_file(name))

    def items(self, name: str) -> list[str]:
        """The series of a written file."""
        with opened(self.url_of_file(name)) as stream:
            return _items(pq.ParquetFile(stream))

    def check_has(self, names: Sequence[str]) -> None:
        """Nothing to check: what a worker could not send off has raised."""

    def url_of_file(self, name: str) -> str:
        """The URL of a file."""
        return f"{self.url.rstrip('/')}/{name}"


ResultFolder = DiskFolder | UrlFolder


def check_new(folder: Path) -> None:
    """Say before the work that a folder of results cannot be made.

    Raises:
        RunError: it exists already, or cannot be written.
        ConfigError: a URL of a kind that needs a package.
    """
    if (url := url_of(folder)) is not None:
        if url.startswith(("http:", "https:")):
            raise ConfigError(f"'{without_secrets(url)}': a web server takes no files", "name a folder or a bucket")
        check_is_empty(url)
        return
    check_name(folder)
    check_folder(folder)
    if folder.exists():
        raise RunError(f"'{folder}' exists already", "name a new folder, or remove it")


@contextlib.contextmanager
def appearing(folder: Path | None, names: Sequence[str]) -> Iterator[ResultFolder | None]:
    """A folder to write these files into.

    On a disk it is another one beside `folder`, whose name it takes when the block ends well; else it vanishes. At a
    URL, where nothing can be renamed, the files are written in their places, followed by an empty `_SUCCESS`; where the
    block fails they are deleted.
    """
    if folder is None:
        yield None
        return
    url = url_of(folder)
    if url is None:
        with appearing_folder(folder) as partial:
            yield DiskFolder(partial)
        return
    at_url = UrlFolder(url)
    try:
        yield at_url
        mark_done(url)
    except BaseException:
        remove(at_url.url_of_file(name) for name in names)
        raise


def _items(file: pq.ParquetFile) -> list[str]:
    items: list[str] = file.read(columns=["item_id"]).column(0).unique().to_pylist()
    return items
