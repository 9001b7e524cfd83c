"""Tables in several Parquet files: a folder of them, or a pattern such as 'days/*.parquet'."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import io
import itertools
import os
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet

from forecast_attn.data.findings import quoted
from forecast_attn.errors import DataError
from forecast_attn.urls import without_secrets

PARQUET = (".parquet", ".pq")
MAGIC = b"PAR1"
"""First bytes of a Parquet file, whatever its name ends in."""
_DOCUMENT = re.compile(r"(readme|licen[cs]e|notice|changelog)(\..*)?|.*\.(md|rst|html|pdf)", re.IGNORECASE)
"""Names of files that tell people of the others."""
FREE_ROWS = 1 << 24
FREE_CELLS = 1 << 28
MOST_ROWS_PER_BYTE = 50
"""Rows or cells in one byte of a Parquet or Arrow file, beyond `FREE_ROWS` and `FREE_CELLS`: 10 rows where all values
are zero and only time stamps differ."""
MOST_FILES = 100_000
"""Files below the folder of a table that nobody but a run names."""
ABSENT = "__HIVE_DEFAULT_PARTITION__"
"""Value of a folder's key that stands for none."""


@dataclass(frozen=True)
class TablePart:
    """One file of a table in several."""

    path: Path
    name: str
    """Its path below the folder of the table, with slashes."""
    keys: tuple[tuple[str, str | int | None], ...]
    """Columns that its folders hold, as in `region=north/part-0.parquet`."""
    url: str | None = None
    """Where it is, if not on this machine; `path` is then that of a copy, once there is one."""

    @property
    def shown(self) -> str:
        """Its path or URL in messages."""
        return str(self.path) if self.url is None else without_secrets(self.url)

    @property
    def cells(self) -> int:
        """Number of its cells, as the file says; 0 where it cannot be read."""
        try:
            metadata = pyarrow.parquet.read_metadata(str(self.path))
        except (pa.ArrowException, OSError, ValueError):
            return 0
        return int(metadata.num_rows * metadata.num_columns)

    def read(self) -> pa.Table:
        """The rows of the file, with a column for each key that it does not have itself.

        Raises:
            DataError: the file is damaged.
        """
        table = read_parquet(str(self.path), f"'{self.shown}'")
        for key, value in self.keys:
            if key not in table.column_names:
                kind = pa.null() if value is None else pa.int64() if isinstance(value, int) else pa.string()
                table = table.append_column(key, pa.array([value] * table.num_rows, kind))
        return table


def find_parts(table: Path | str) -> tuple[tuple[TablePart, ...], list[PurePath]]:
    """The Parquet files of a folder and its folders, or of a pattern, and the others among them; none of a single file.

    Names that begin with `.` or `_` are left out, as Spark and Hive do, and so are documents.
    """
    path, root = Path(table), folder_of(table)
    if root is None:
        return (), []
    try:
        files = list(root.rglob("*") if root == path else root.glob(str(path.relative_to(root))))
    except ValueError:  # two stars within a name
        return (), []
    names = [file.relative_to(root) for file in files if file.is_file()]
    parts, others = parts_named(names, lambda names: [_start(root / name) for name in names])
    return tuple(replace(part, path=root / part.path) for part in parts), others


def is_parquet(file: Path) -> bool:
    """Return whether a file is called as Parquet files are, or begins as they do."""
    return file.suffix in PARQUET or (file.is_file() and _start(file) == MAGIC)


def _start(file: Path) -> bytes | None:
    try:
        with file.open("rb") as stream:
            return stream.read(len(MAGIC))
    except OSError:
        return None


def folder_of(table: Path | str) -> Path | None:
    """A folder itself; of a pattern, the last folder before the first wildcard; None for a file and for nothing."""
    path = Path(table)
    if path.is_dir():
        return path
    if path.exists() or not glob.has_magic(str(table)):
        return None
    return Path(*before_wildcard(path.parts))


def is_crowded(table: Path | str) -> bool:
    """Return whether a folder, or the one that a pattern is looked for in, holds more files than a table is made of."""
    folder = folder_of(table)
    files = () if folder is None else (len(folders) + len(names) for _, folders, names in os.walk(folder))
    return any(number > MOST_FILES for number in itertools.accumulate(files))


def parts_named(
    names: Iterable[PurePath], starts: Callable[[list[PurePath]], list[bytes | None]]
) -> tuple[tuple[TablePart, ...], list[PurePath]]:
    """The parts of a table, in order, and the files beside them that are none.

    Args:
        names: paths of files below the folder of the table.
        starts: gives the first four bytes of files that are not called Parquet; an empty one is neither.
    """
    counted = sorted((name for name in names if _counts(name)), key=lambda name: name.parts)
    unnamed = [name for name in counted if name.suffix not in PARQUET]
    start_of = dict(zip(unnamed, starts(unnamed), strict=True))
    parquet = [name for name in counted if start_of.get(name, MAGIC) == MAGIC]
    others = [name for name in unnamed if start_of[name] not in (MAGIC, b"")]
    return _typed([TablePart(Path(name), name.as_posix(), _keys(name)) for name in parquet]), others


def read_parquet(content: str | io.BytesIO, label: str) -> pa.Table:
    """The rows of one file, read as it is: no guessing of partitions from its path.

    Raises:
        DataError: it is damaged, or has more rows than a table of its size would, which would end the process.
    """
    with as_damage(label, "parquet"):
        size = Path(content).stat().st_size if isinstance(content, str) else content.getbuffer().nbytes
        file = pyarrow.parquet.ParquetFile(content)
        check_rows(_num_values(file), file.metadata.num_columns, size, label)
        table = file.read()
        table.validate(full=True)  # Arrow trusts the offsets in a file; a damaged one would crash the process
    return table


def _num_values(file: pyarrow.parquet.ParquetFile) -> int:
    """The number of rows, or that of the values in a column of lists, which become rows."""
    metadata = file.metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    lists = [at for at in range(metadata.num_columns) if metadata.schema.column(at).max_repetition_level]
    values = (sum(group.column(at).num_values for group in groups) for at in lists)
    return int(max(metadata.num_rows, *values, 0))


@contextlib.contextmanager
def as_damage(label: str, kind: str) -> Iterator[None]:
    """Raise what Arrow raises for a damaged file as an error that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{label} is a damaged {kind} file: {reason}", "copy or write it again") from None


def check_rows(rows: int, columns: int, size: int, label: str) -> None:
    """Refuse a file of this many bytes that says it has more rows or cells than a table of its size would.

    Raises:
        DataError: it is one.
    """
    if rows > FREE_ROWS + MOST_ROWS_PER_BYTE * size or rows * columns > FREE_CELLS + MOST_ROWS_PER_BYTE * size:
        held = f"{rows:,} rows of {columns:,} columns"
        message = f"{label} says that its {size:,} bytes hold {held}, as a table of constants would"
        raise DataError(message, "if it is a table all the same, write it as several files into a folder")


def read_parts(parts: Sequence[TablePart]) -> pa.Table:
    """The rows of all parts, one after the other.

    Raises:
        DataError: a part is damaged, or has other columns than the first one.
    """
    tables = [part.read() for part in parts]
    for part, table in zip(parts[1:], tables[1:], strict=True):
        _check_columns(parts[0], tables[0], part, table)
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise DataError(f"the files beside '{parts[0].shown}' have columns of different types: {error}") from None


def digest_of_parts(parts: Sequence[TablePart]) -> str:
    """Hexadecimal digest of the names and contents of all parts."""
    whole = hashlib.sha256()
    for part in parts:
        with part.path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        whole.update(f"{content} {part.name}\n".encode())
    return whole.hexdigest()


def _counts(path: PurePath) -> bool:
    """False for documents, for files such as _SUCCESS and for those in folders such as _delta_log."""
    is_hidden = any(name.startswith(("_", ".")) for name in path.parts)
    return not is_hidden and _DOCUMENT.fullmatch(path.name) is None


def before_wildcard(names: Sequence[str]) -> list[str]:
    """The names of a path before the first one with a wildcard."""
    return list(itertools.takewhile(lambda name: not glob.has_magic(name), names))


def _keys(path: PurePath) -> tuple[tuple[str, str | None], ...]:
    pairs = [name.partition("=") for name in path.parts[:-1] if "=" in name]
    return tuple((unquote(key), None if value == ABSENT else unquote(value)) for key, _, value in pairs)


def _typed(parts: list[TablePart]) -> tuple[TablePart, ...]:
    """The parts, whose keys are whole numbers where they are so in all of them."""
    values: dict[str, set[str]] = {}
    for part in parts:
        for key, value in part.keys:
            values.setdefault(key, set()).update(() if value is None else (str(value),))
    whole = {key for key, texts in values.items() if texts and all(_is_whole(text) for text in texts)}

    def typed(key: str, value: Any) -> tuple[str, str | int | None]:
        return key, int(value) if key in whole and value is not None else value

    return tuple(replace(part, keys=tuple(typed(*pair) for pair in part.keys)) for part in parts)


def _is_whole(text: str) -> bool:
    """True for digits without leading zeros, which identifiers keep."""
    return text.isascii() and text.isdigit() and len(text) <= 18 and (text == "0" or text[0] != "0")


def _check_columns(first: TablePart, expected: pa.Table, part: TablePart, table: pa.Table) -> None:
    """Refuse a part with other columns: a column that a file lacks is not the same as one without values."""
    lacking = [name for name in expected.column_names if name not in table.column_names]
    further = [name for name in table.column_names if name not in expected.column_names]
    if lacking or further:
        differences = [f"lacks {quoted(lacking)}"] * bool(lacking) + [f"has {quoted(further)} too"] * bool(further)
        raise DataError(
            f"'{part.shown}' has other columns than '{first.shown}': it {' and '.join(differences)}",
            "the files of one table have the same columns",
        )
