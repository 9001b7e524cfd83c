"""The bytes of a table: a file or standard input, compressed or not, readable more than once."""

from __future__ import annotations

import bz2
import contextlib
import functools
import hashlib
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

import forecast_attn.pipes as pipes
from forecast_attn.data.findings import quoted
from forecast_attn.data.reading.parts import MAGIC, TablePart, digest_of_parts, find_parts, folder_of
from forecast_attn.errors import DataError, nearest
from forecast_attn.memory import machine_memory
from forecast_attn.urls import url_of, without_secrets

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes there are, both as stored (compressed, if the file is)."""

STDIN = "-"
SPREADSHEET = "spreadsheet"
STATA = "Stata"
CHUNK = 1 << 22
"""Bytes read at once: enough for two threads to share, little beside any table that needs it."""
MOST_UNPACKED = 300
"""Bytes out of one byte of an archive, beyond the first `FREE` ones: series give 3 to 30, mostly zeros and xz 200."""
FREE = 1 << 26
URL_HINT = "check, train, predict, backtest, compare, tune, evaluate and score read URLs; copy others to this machine"
FILE_TYPES = (
    ".csv",
    ".tsv",
    ".txt",
    ".gz",
    ".zst",
    ".bz2",
    ".xz",
    ".zip",
    ".parquet",
    ".pq",
    ".feather",
    ".arrow",
    ".ipc",
    ".xlsx",
    ".xls",
    ".ods",
    ".tsf",
    ".dta",
    ".arff",
    ".jsonl",
    ".ndjson",
)

_OLD_STATA = (113, 114, 115)
"""Versions of files of Stata 8 to 12, which is their first byte; the second one tells the order of bytes."""
# First bytes -> kind. Names are not trusted: a .csv that is Parquet is read as Parquet.
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    MAGIC: "parquet",
    b"ARROW1": "feather",
    b"FEA1": "Feather 1",
    b"\xff\xff\xff\xff": "arrow stream",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x89HDF": "HDF5",
    b"\xd0\xcf\x11\xe0": "xls",
    b"SQLite format 3": "SQLite",
    b"<stata_dta>": STATA,
    **{bytes((version, order, 1)): STATA for version in _OLD_STATA for order in (1, 2)},
    b"$FL2@": "SPSS",
    b"$FL3@": "SPSS",
    bytes(12) + b"\xc2\xea\x81": "SAS",
}
_UNREADABLE = {
    "Feather 1": "a Feather file of the first version: write it again: pyarrow.feather.write_feather(table, path)",
    "HDF5": "an HDF5 file: save the table as CSV or Parquet",
    "SQLite": "a SQLite database: save the table as CSV or Parquet",
    "SPSS": "an SPSS file: save the table as CSV or Stata",
    "SAS": "a SAS file: save the table as CSV or Parquet",
}
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, pa.ArrowException)
TEXT_KINDS = ("text", "gzip", "zstd", "bzip2", "xz", "zip")
"""Kinds of content that are text, compressed or not."""


@dataclass(frozen=True)
class Source:
    """Bytes that can be read from the start as often as needed."""

    label: str
    """Name in messages: the quoted path, or 'stdin'."""
    path: Path | None
    content: bytes | None
    """Bytes of standard input or a pipe, which can be read only once."""
    parts: tuple[TablePart, ...] = ()
    """The files of a table in several, of which `path` is the first."""
    url: str | None = None
    """Where the table is, if it was copied to this machine; without secrets."""
    keep: Any = field(default=None, compare=False, repr=False)
    """Holds a temporary copy as long as the source lives."""
    sheets: dict[str | None, Source] = field(default_factory=dict, compare=False, repr=False)
    """Tables of a workbook or JSON that were read already, by name: parsing takes long, and `check` reads often."""
    frames: dict[Any, Any] | None = field(default=None, compare=False, repr=False)
    """The last frame that was read and its findings, by the options of reading; None where none is kept."""

    @classmethod
    def of(cls, table: Path | str | Source) -> Source:
        """The file of that name, the Parquet files of a folder or a pattern, or standard input.

        Raises:
            DataError: no such file, a folder with other files, a device, or one that may not be read; a URL.
        """
        if isinstance(table, Source):
            return table
        if url := url_of(table):
            raise DataError(f"'{without_secrets(url)}' is a URL, which is not read here", URL_HINT)
        if str(table) == STDIN:
            return cls("'stdin'", None, _all_of(sys.stdin))
        path = Path(table)
        parts, others = find_parts(table)
        if parts and others:
            hint = f"move it elsewhere, or name the Parquet files by a pattern: '{folder_of(table)}/**/*.parquet'"
            raise DataError(f"'{path}' has '{others[0]}' beside its Parquet files", hint)
        if parts:
            return cls(f"'{path}'", parts[0].path, None, parts)
        if path.is_dir():
            raise DataError(f"'{path}' is a directory, not a table", _tables_in(path))
        with _opening(path):
            if path.is_file():
                path.open("rb").close()
                return cls(f"'{path}'", path, None)
            if path.is_char_device() or path.is_block_device():  # /dev/zero never ends
                raise DataError(f"'{path}' is a device, not a table", _tables_in(Path()))
            return cls(f"'{path}'", None, _fitting(pipes.read(path, _most() + 1), f"'{path}'"))

    def keeping_frames(self) -> Source:
        """The same source, which keeps the frame that it was read as: whoever tries many options reads it often."""
        return replace(self, frames={})

    @property
    def size(self) -> int:
        """Bytes as stored."""
        if self.parts:
            return sum(part.path.stat().st_size for part in self.parts)
        return len(self.content) if self.content is not None else self._file.stat().st_size

    @functools.cached_property
    def kind(self) -> str:
        """Kind of the content by its first bytes: parquet, feather, arrow stream, spreadsheet, Stata, `TEXT_KINDS`.

        Raises:
            DataError: empty, or of a kind that is not read.
        """
        with self.open() as stream, _opening(self.path or Path(STDIN)):
            start = stream.read(16)
        if not start:
            raise DataError(f"{self.label} is empty", "expected a header line with column names, then rows")
        kind = kind_of(start)
        if kind == "xls" or (kind == "zip" and self._holds_sheets()):
            return SPREADSHEET
        if kind in _UNREADABLE:
            what, _, hint = _UNREADABLE[kind].partition(": ")
            raise DataError(f"{self.label} is {what}, which is not supported", hint)
        return kind

    def _holds_sheets(self) -> bool:
        """Return whether a zip archive is a workbook of Excel or of OpenDocument."""
        try:
            with self.open() as stream, zipfile.ZipFile(stream) as archive:
                return bool({"xl/workbook.xml", "xl/workbook.bin", "content.xml"} & set(archive.namelist()))
        except zipfile.BadZipFile:
            return False

    def open(self) -> BinaryIO:
        """The stored bytes from the start."""
        if self.content is not None:
            return io.BytesIO(self.content)
        with _opening(self._file):
            return self._file.open("rb")

    def chunks(self, size: int = CHUNK, progress: Progress | None = None) -> Iterator[bytes]:
        """The content, decompressed, in pieces of about `size` bytes.

        Raises:
            DataError: a damaged archive, one that unpacks to far more than a table would, or a read error.
        """
        with self.open() as raw:
            stream, unpacked = self._decompressed(raw), 0
            while data := self._read(stream, size):
                unpacked += len(data)
                if stream is not raw:
                    self.check_unpacked(unpacked, raw.tell())
                yield data
                if progress is not None:
                    progress(raw.tell(), self.size)

    def check_unpacked(self, unpacked: int, stored: int, times: int = MOST_UNPACKED) -> None:
        """Refuse an archive that unpacks to far more than a table would.

        Args:
            unpacked: bytes so far, or in all.
            stored: the bytes that they are unpacked from.
            times: most of them out of one.

        Raises:
            DataError: it is one.
        """
        if unpacked > FREE + times * stored:
            message = f"{self.label} of {self.size:,} bytes unpacks to more than {times} times as many"
            raise DataError(message, "if it is a table all the same, unpack it first, or save the sheet as CSV")

    @property
    def _file(self) -> Path:
        assert self.path is not None
        return self.path

    def _decompressed(self, raw: BinaryIO) -> Any:
        match self.kind:
            case "gzip" | "zstd" as kind:  # not by Python's gzip, which reads the name in a header byte by byte
                return pa.CompressedInputStream(raw, kind)
            case "bzip2":
                return bz2.BZ2File(raw)
            case "xz":
                return lzma.LZMAFile(raw)
            case "zip":
                return self._only_member(raw)
        return raw

    def _only_member(self, raw: BinaryIO) -> Any:
        """The text in a zip archive that holds one file.

        Raises:
            DataError: it holds no file or several, one that is not text, or one with a password.
        """
        hint = "unpack it and name the table"
        try:
            archive = zipfile.ZipFile(raw)
            names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
            if len(names) != 1:
                held = f"{len(names)} files ({quoted(names)})" if names else "no file"
                raise DataError(f"{self.label} is a zip archive of {held}; expected one", hint)
            member_info = archive.getinfo(names[0])
            self.check_unpacked(member_info.file_size, member_info.compress_size)  # before gigabytes are read
            with archive.open(names[0]) as member:
                kind = kind_of(member.read(16))
            if kind != "text":
                raise DataError(f"'{names[0]}' in {self.label} is {kind}, which is not read out of an archive", hint)
            return archive.open(names[0])
        except (RuntimeError, NotImplementedError) as error:  # a password, or a method that Python does not know
            raise DataError(f"{self.label} cannot be unpacked: {error}", hint) from None
        except _DAMAGE:
            raise self._damage() from None

    def _damage(self) -> DataError:
        return DataError(f"{self.label} is a damaged or incomplete {self.kind} archive", "copy or download it again")

    def _read(self, stream: Any, size: int) -> bytes:
        try:
            return bytes(stream.read(size))
        except _DAMAGE as error:
            if self.kind == "text":
                raise DataError(f"cannot read {self.label}: {error}") from None
            raise self._damage() from None


def parts_of(table: Path | str) -> tuple[TablePart, ...]:
    """The files of a table in several; empty for a single file, and where files of other kinds are among them."""
    parts, others = find_parts(table)
    return () if others else parts


def digest_of(table: Path | str | Source) -> str | None:
    """Hexadecimal digest of a table in a file or several; None for a pipe, which is read only once, and for none."""
    if isinstance(table, Source):
        return digest_of_parts(table.parts) if table.parts else None if table.path is None else digest_of(table.path)
    if Path(table).is_file():
        with Path(table).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    parts = parts_of(table)
    return digest_of_parts(parts) if parts else None


def kind_of(start: bytes) -> str:
    """Return the kind of content by its first bytes."""
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "text")


def table_name(table: object) -> str:
    """Name of a table in messages: the file's name, `stdin`, or `DataFrame`."""
    if isinstance(table, Source):
        if table.url is not None:
            return table.url.rstrip("/").rpartition("/")[2]
        return table.label.strip("'") if table.path is None or table.parts else table.path.name
    if not isinstance(table, str | Path):
        return "DataFrame"
    return "stdin" if str(table) == STDIN else Path(table).name


@functools.lru_cache(maxsize=1)
def _all_of(stdin: Any) -> bytes:
    """Read a stream to its end. Kept, because check and train read the same table, and a pipe is read once."""
    if stdin is None or stdin.isatty():
        raise DataError("standard input is a terminal, not a table", "cat data.csv | forecast train -")
    content = getattr(stdin, "buffer", stdin).read(_most() + 1)
    return _fitting(content if isinstance(content, bytes) else str(content).encode(), "'stdin'")


def _most() -> int:
    """The most bytes of a pipe, which is kept in memory: one may never end."""
    return machine_memory() // 8


def _fitting(content: bytes, label: str) -> bytes:
    if len(content) > _most():
        raise DataError(
            f"{label} has more than {_most():,} bytes, an eighth of this machine's memory", "write it to a file"
        )
    return content


@contextlib.contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        near = _near_table(path)
        hint = _tables_in(path.parent) if near is None else f"did you mean '{near}'?"
        raise DataError(f"there is no file '{path}'", hint, value=near) from None
    except OSError as error:
        hint = "name a file that may be read, or a pipe that is written to"
        raise DataError(f"cannot read '{path}': {error.strerror}", hint) from None


def _near_table(path: Path) -> str | None:
    """The table of nearly this name in the same folder."""
    files = _table_files(path.parent)
    near = nearest(path.stem, [file.stem for file in files])
    return next((str(file) for file in files if file.stem == near), None)


def _tables_in(folder: Path) -> str:
    """A hint at the tables of a folder."""
    files = _table_files(folder)
    if not files:
        return f"'{folder}' holds no table; write the file's folder before its name"
    return f"tables there: {quoted([str(file) for file in files])}"


def _table_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if _may_be_table(file)) if folder.is_dir() else []


def _may_be_table(file: Path) -> bool:
    """Return whether a file is called as tables are; a .txt must begin with several fields, too."""
    if file.suffix != ".txt" or not file.is_file():
        return file.suffix in FILE_TYPES
    try:
        with file.open("rb") as stream:
            first, second = stream.readline(LONGEST_LOOK), stream.readline(LONGEST_LOOK)
    except OSError:
        return False
    return any(first.count(mark) == second.count(mark) > 0 for mark in (b",", b";", b"\t", b"|"))


LONGEST_LOOK = 10_000
"""Bytes of a line that are looked at."""
