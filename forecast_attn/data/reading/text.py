"""Reads a CSV into a frame, or says why it is none."""

from __future__ import annotations

import codecs
import csv
import warnings
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

from forecast_attn.data.problems import quoted
from forecast_attn.errors import ConfigError, DataError

OTHER_DELIMITERS = {";": "';'", "\t": "'\\t'", "|": "'|'", ",": "','"}
MISSING_WORDS = ["", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "#N/A"]
# Identifiers keep their leading zeros: "007" is not 7.
TEXT_COLUMNS = ("item_id", "unique_id", "series_id", "id", "series")


def read_csv(path: Path | str, delimiter: str | None = None, text_columns: Collection[str] = ()) -> pd.DataFrame:
    """Read a CSV with one header line; column names are stripped of blanks.

    Args:
        path: the file, UTF-8 with or without a byte order mark.
        delimiter: the character between fields, or the word tab.
        text_columns: columns to read as text although they look like numbers (the series' identifiers).

    Raises:
        ConfigError: the delimiter is no single character.
        DataError: no such file, a directory, empty, only a header, not a CSV, repeated names, the wrong delimiter.
    """
    path, delimiter = Path(path), _one_character(delimiter or ",")
    names = _header(path, delimiter)
    text = {*TEXT_COLUMNS, *text_columns}
    try:
        frame = _read(
            path,
            sep=delimiter,
            names=names,
            header=0,
            index_col=False,
            dtype={name: str for name in names if name in text or name.lower() in text},
            keep_default_na=False,
            na_values=MISSING_WORDS,
            skipinitialspace=True,
            encoding="utf-8-sig",
        )
    except pd.errors.ParserWarning:
        raise _not_a_csv(path, "rows have more fields than the header") from None
    except UnicodeDecodeError as error:
        raise _not_a_csv(path, f"byte 0x{error.object[error.start]:02x} is not UTF-8 text") from None
    except (pd.errors.ParserError, ValueError) as error:
        raise _not_a_csv(path, str(error)) from None
    if frame.empty:
        raise DataError(f"'{path}' has a header and no rows", "add rows of data below the header")
    return frame


def _read(path: Path, **options: Any) -> pd.DataFrame:
    """pandas.read_csv, refusing fields beyond the header, which it would drop with a warning.

    It reads in chunks, for the memory's sake. A column with text in one chunk and numbers in another is a mistake to be
    reported with its row later; columns of identifiers, which may be mixed, are read as text throughout.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        warnings.simplefilter("error", pd.errors.ParserWarning)
        frame: pd.DataFrame = pd.read_csv(path, **options)
        return frame


def _one_character(delimiter: str) -> str:
    character = {"\\t": "\t", "tab": "\t"}.get(delimiter.lower(), delimiter)
    if len(character) != 1 or character in '"\r\n':
        raise ConfigError(f"--delimiter must be one character; got {delimiter!r}", "for example --delimiter ';' or tab")
    return character


def _header(path: Path, delimiter: str) -> list[str]:
    """The stripped column names of the first line, checked."""
    line = _first_line(path)
    fields = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    names = [name.strip() or f"Unnamed: {position}" for position, name in enumerate(fields)]
    other = next((mark for mark in OTHER_DELIMITERS if len(names) == 1 and mark != delimiter and mark in line), None)
    if other is not None:
        split = f"'{path}' split at {OTHER_DELIMITERS.get(delimiter, repr(delimiter))} has one column"
        raise DataError(
            f"{split}; its header holds {OTHER_DELIMITERS[other]}: {line!r}", f"--delimiter {OTHER_DELIMITERS[other]}"
        )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"'{path}' has more than one column called {quoted(repeated)}", "give every column its own name"
        )
    return names


def _first_line(path: Path) -> str:
    """The first line that is not blank, decoded."""
    if path.is_dir():
        raise DataError(f"'{path}' is a directory, not a CSV file", _csv_files_in(path))
    try:
        with path.open("rb") as file:
            start = file.read(65_536)
    except FileNotFoundError:
        raise DataError(f"there is no file '{path}'", _csv_files_in(path.parent)) from None
    except OSError as error:
        raise DataError(f"cannot read '{path}': {error.strerror}") from None
    start = start.removeprefix(codecs.BOM_UTF8)
    if not start.strip():
        raise DataError(f"'{path}' is empty", "expected a header line with column names, then rows")
    if b"\0" in start:
        raise _not_a_csv(path, "it holds binary data")
    line = start.lstrip().splitlines()[0]
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise _not_a_csv(path, "its header is not UTF-8 text") from None


def _csv_files_in(folder: Path) -> str | None:
    files = sorted(str(file) for file in folder.glob("*.csv")) if folder.is_dir() else []
    return f"CSV files there: {quoted(files)}" if files else None


def _not_a_csv(path: Path, reason: str) -> DataError:
    reason = reason.strip().removeprefix("Error tokenizing data. C error: ")
    return DataError(
        f"'{path}' is not a CSV: {reason}", "expected text in UTF-8 with one header line and equal fields per row"
    )
