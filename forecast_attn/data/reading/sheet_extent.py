"""Extent of the filled cells of a workbook's sheets, found before a reader makes room for all between them.

Readers hold a sheet as a rectangle: one forgotten cell at XFD1048576 asks for 17 thousand million cells, and ends the
process where there is no memory for them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

MOST_CELLS = 2**26
"""Cells of the rectangle around the filled ones; a full sheet of Excel has a million rows, which is 64 columns."""
CHUNK = 1 << 20
_COLUMNS = re.compile(rb"""\sr=["']([A-Za-z]+)\d""")
_ROWS = re.compile(rb"""\sr=["'][A-Za-z]*(\d+)["']""")
_TAGS = re.compile(rb"<(?:\w+:)?(table-row|(?:covered-)?table-cell|table|sheetData|row|c)((?:\s[^>]*)?)>")
_OPENINGS = (b"<c ", b"<c>", b"<c/", b":c ", b":c>", b":c/", b"<row", b":row")
_REFERENCE = re.compile(rb"""\sr=["']([A-Za-z]*)(\d+)["']""")
_REPEATED = re.compile(rb"""number-(?:rows|columns)-repeated=["'](\d+)["']""")


@dataclass
class _Extent:
    """First and last row and column that are filled, from 1; and where the walk through the sheet is."""

    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    row: int = 0
    column: int = 0

    @property
    def cells(self) -> int:
        return (self.rows[1] - self.rows[0] + 1) * (self.columns[1] - self.columns[0] + 1) if self.rows else 0

    def fill(self, rows: int, columns: int) -> None:
        """Count the cells of this many rows and columns that end where the walk is."""
        for known, last, many in ((self.rows, self.row, rows), (self.columns, self.column, columns)):
            first = max(last - many + 1, 1)
            known[:] = [min([first, *known]), max([last, *known])]


def far_cell(content: BinaryIO) -> str | None:
    """Row and column of the last filled cell, as words, where some sheet is too large to be read; None where none is.

    Args:
        content: an .xlsx or .ods file; any error of zipfile and zlib says that it is damaged.
    """
    with zipfile.ZipFile(content) as archive:
        for member in archive.infolist():
            with archive.open(member) as stream:
                if not _may_reach_far(stream):
                    continue
            with archive.open(member) as stream:
                extent = next((one for one in _extents(stream) if one.cells > MOST_CELLS), None)
            if extent is not None:
                return f"row {extent.rows[1]:,}, column {extent.columns[1]:,}"
    return None


def _pieces(stream: Any) -> Iterator[bytes]:
    """The text in pieces that end between tags."""
    rest = b""
    while data := stream.read(CHUNK):
        text, mark, tail = (rest + data).rpartition(b"<")
        yield text
        rest = mark + tail
    yield rest


def _may_reach_far(stream: Any) -> bool:
    """A quick bound, over all cells that are named."""
    rows, columns, unnamed = {b"1"}, {b"A"}, 0
    for text in _pieces(stream):
        if b"-repeated=" in text:
            return True
        named = _ROWS.findall(text)
        rows.update(named)
        columns.update(_COLUMNS.findall(text))
        unnamed += max(sum(map(text.count, _OPENINGS)) - len(named), 0)
    return (max(map(_number, rows)) + unnamed) * (max(map(_column, columns)) + unnamed) > MOST_CELLS


def _extents(stream: Any) -> Iterator[_Extent]:
    """The extent of each sheet in the text, told again with every row."""
    extent, repeated_rows = _Extent(), 1
    for text in _pieces(stream):
        for tag, attributes in _TAGS.findall(text):
            if tag in (b"table", b"sheetData"):
                extent = _Extent()
            elif tag in (b"row", b"table-row"):
                yield extent
                repeated_rows = _attribute(_REPEATED, attributes, 1)
                extent.row = _attribute(_REFERENCE, attributes, extent.row + repeated_rows)
                extent.column = 0
            else:
                columns = _attribute(_REPEATED, attributes, 1)
                extent.column += columns
                if (reference := _REFERENCE.search(attributes)) is not None:
                    extent.row, extent.column = _number(reference[2]), _column(reference[1]) or extent.column
                if not attributes.endswith(b"/") or b"value=" in attributes:
                    extent.fill(repeated_rows, columns)
    yield extent


def _attribute(pattern: re.Pattern[bytes], attributes: bytes, otherwise: int) -> int:
    match = pattern.search(attributes)
    return otherwise if match is None else _number(match[match.re.groups])


def _number(digits: bytes) -> int:
    return int(digits) if len(digits) < 12 else 10**12


def _column(letters: bytes) -> int:
    """Number of a column by its letters, from 1."""
    number = 0
    for letter in letters[:12].upper():
        number = number * 26 + letter - 64
    return number
