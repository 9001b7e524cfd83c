"""Reads a sheet of a workbook (.xlsx, .xls, .ods) as the CSV that it would be saved as, with dates in ISO form."""

from __future__ import annotations

import contextlib
import csv
import datetime
import io
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from forecast_attn.data.findings import quoted
from forecast_attn.data.reading.sheet_extent import far_cell
from forecast_attn.data.reading.source import Source
from forecast_attn.errors import DataError, UserError, did_you_mean

MOST_UNPACKED = 100
"""Bytes out of one byte of a workbook, which holds no more than a tenth of that where all cells are zero."""
INSTALL = 'pip install "forecast-attn[excel]", or save the sheet as CSV'


def workbook_sheet_as_text(source: Source, sheet: str | None) -> Source:
    """The rows of a sheet as UTF-8 text with commas; empty rows and columns around them are left out.

    Args:
        source: a workbook.
        sheet: its name; the only visible one with rows when None.

    Raises:
        DataError: no reader is installed, the file is damaged, or the sheet is not there or cannot be chosen.
    """
    book = _workbook(source)
    names = [each.name for each in book.sheets_metadata]
    if sheet is not None and sheet not in names:
        hint = did_you_mean(sheet, names)
        raise DataError(f"{source.label} has no sheet '{sheet}'", hint, code="FA108", options=("sheet",))
    rows = _rows(source, book, sheet) if sheet is not None else _only_rows(source, book)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return Source(source.label, None, text.getvalue().encode())


def sheets_with_rows(source: Source) -> list[str]:
    """Names of the visible sheets that hold anything, the largest first."""
    book = _workbook(source)
    sizes = {name: sum(map(len, _rows(source, book, name))) for name in _visible(book)}
    return sorted((name for name, size in sizes.items() if size), key=lambda name: -sizes[name])


def _workbook(source: Source) -> Any:
    try:
        import python_calamine
    except ImportError:
        message = f"{source.label} is a spreadsheet, which needs a reader of its own"
        raise DataError(message, INSTALL) from None
    with source.open() as stream:
        content = io.BytesIO(stream.read())
    with _damage_of(source):
        is_zip = content.getvalue().startswith(b"PK")
        if is_zip:
            with zipfile.ZipFile(content) as archive:
                unpacked = sum(member.file_size for member in archive.infolist())
                source.check_unpacked(unpacked, source.size, MOST_UNPACKED)
        if is_zip and (cell := far_cell(content)) is not None:
            message = f"{source.label} has a sheet whose filled cells reach to {cell}, too far to be read"
            raise DataError(message, "delete what stands far from the table, or save the sheet as CSV")
        content.seek(0)
        return python_calamine.CalamineWorkbook.from_filelike(content)


@contextlib.contextmanager
def _damage_of(source: Source) -> Iterator[None]:
    """Say what readers answer to a damaged workbook: errors of many kinds, a panic of Rust among them.

    Raises:
        DataError: it is damaged, or behind a password.
    """
    import python_calamine

    try:
        yield
    except python_calamine.PasswordError:
        raise DataError(f"{source.label} is protected by a password", "save it without one") from None
    except (KeyboardInterrupt, SystemExit, MemoryError, UserError):
        raise
    except BaseException as error:
        raise DataError(f"{source.label} is a damaged spreadsheet: {error}", "copy or save it again") from None


def _visible(book: Any) -> list[str]:
    sheets = (each for each in book.sheets_metadata if str(each.typ).endswith(".WorkSheet"))
    return [each.name for each in sheets if str(each.visible).endswith(".Visible")]


def _rows(source: Source, book: Any, sheet: str) -> Sequence[Sequence[Any]]:
    with _damage_of(source):
        rows: Sequence[Sequence[Any]] = book.get_sheet_by_name(sheet).to_python(skip_empty_area=True)
    return rows


def _only_rows(source: Source, book: Any) -> Sequence[Sequence[Any]]:
    """The rows of the only sheet that has some.

    Raises:
        DataError: no sheet has, or several.
    """
    filled = {name: rows for name in _visible(book) if (rows := _rows(source, book, name))}
    if len(filled) == 1:
        return next(iter(filled.values()))
    if not filled:
        raise DataError(f"{source.label} has no rows in any visible sheet", "expected a line with names, then rows")
    message = f"{source.label} has {len(filled)} sheets with rows: {quoted(list(filled))}"
    hint = " or ".join(f"--sheet '{name}'" for name in list(filled)[:3])
    raise DataError(message, hint, code="FA108", options=("sheet",))


def _cell(value: Any) -> Any:
    """A cell as text: whole numbers without a point, dates in ISO form without an empty clock."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value
