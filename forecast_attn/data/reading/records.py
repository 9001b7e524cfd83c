"""Splits the text of a CSV into blocks of whole, unambiguous records.

Plain text, which nearly every file is, passes unchanged. Where readers would disagree about quotes, line ends or
numbers, Python's csv module reads the rest record by record and rewrites it.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from forecast_attn.data.findings import counted
from forecast_attn.data.reading.cell_numbers import are_parts_of_a_number
from forecast_attn.data.reading.dialect import is_blank
from forecast_attn.errors import DataError

PLAIN_DELIMITERS = ",;\t|"
RECORDS_AT_ONCE = 20_000
_HEXADECIMAL = re.compile(rb"(?<![0-9A-Za-z])0[xX]")
"""Cells that Arrow reads as hexadecimal numbers; the tail number N10XJ is not one."""
_LIKE_HEADER = "expected text in UTF-8 with one header line and equal fields per row"


@dataclass(frozen=True)
class Block:
    """Whole records without a header."""

    data: bytes
    delimiter: str
    plain: bool
    """True for text as it is in the file; False for rewritten records, all with the right number of fields."""
    blank_above_header: bool = False
    """True where a blank line stands above the header; known of plain text only."""


@dataclass(frozen=True)
class Layout:
    """The layout that every record must follow."""

    label: str
    delimiter: str
    width: int
    lines_above: int | None = 1
    """Lines of the file above the first row, where that is known."""
    comment: str | None = None
    """The mark of comments with which the header begins."""
    ends_early: bool = False
    """True where rows may have no fields for the empty cells at their end."""


def split_blocks(
    chunks: Iterable[bytes], layout: Layout, so_far: Callable[[], tuple[int, int | None]]
) -> Iterator[Block]:
    """Cut UTF-8 text into blocks of whole records; the header is left out.

    Args:
        chunks: the text.
        layout: what every record keeps to.
        so_far: of the blocks given out before, the number of rows, and the lines above the first one where that is
            known and each row is one line.

    Raises:
        DataError: a record with too many or too few fields, or a quote that is never closed.
    """
    pieces = _whole_lines(iter(chunks))
    has_header = blank_above_header = False
    for piece in pieces:
        if not is_plain(piece, layout):
            num_rows, lines_above = so_far()
            here = replace(layout, lines_above=None if blank_above_header else lines_above)
            # The header counts as row 0.
            records = read_records(itertools.chain([piece], pieces), here, num_rows + has_header)
            yield from rewrite(itertools.islice(records, 0 if has_header else 1, None))
            return
        rows: bytes | None = piece
        if not has_header:
            rows = _without_header(piece)
            blank_above_header = blank_above_header or piece[:1] in (b"\n", b"\r")
            has_header = rows is not None
        if rows:
            yield Block(rows, layout.delimiter, plain=True, blank_above_header=blank_above_header)


def is_plain(text: bytes, layout: Layout) -> bool:
    """Return whether every CSV reader splits this text in the same way."""
    if layout.delimiter not in PLAIN_DELIMITERS or layout.width < 2:
        return False
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return False
    if any(mark[1:] in text and mark in text for mark in (b"0x", b"0X")) and _HEXADECIMAL.search(text):
        return False
    return b'"' not in text or _quotes_are_simple(text, layout.delimiter)


def read_records(chunks: Iterable[bytes], layout: Layout, first_row: int) -> Iterator[list[str]]:
    """The records of UTF-8 text, their cells stripped, each as wide as the header; blank lines are left out.

    Args:
        chunks: the text.
        layout: delimiter and width.
        first_row: number of the first record, for messages; 0 for the header. Each row before it is one line.

    Raises:
        DataError: with the row that has another width or a quote that is never closed.
    """
    lines = io.TextIOWrapper(io.BufferedReader(_Chunks(chunks)), encoding="utf-8", newline="")
    closed = _without_blanks_behind_quotes(_with_doubled_quotes(lines, layout.delimiter), layout.delimiter)
    reader = csv.reader(closed, delimiter=layout.delimiter, skipinitialspace=True, strict=True)
    row = first_row
    while True:
        line = None if layout.lines_above is None else layout.lines_above + first_row + reader.line_num
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise _bad_quotes(layout, row, line, str(error)) from None
        if cells is None:
            return
        if is_blank(cells):
            continue
        if row and layout.ends_early:
            cells += [""] * (layout.width - len(cells))
        if row and len(cells) != layout.width:  # the names have been taken from the header
            raise _other_width(layout, row, line, cells)
        row += 1
        yield [_guarded(cell.strip()) for cell in cells]


def _with_doubled_quotes(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """The lines with `""` for the `\\"` that R, Spark and MySQL write within fields; `"C:\\logs\\"` is a path."""
    escaped = re.compile(rf'\\"(?![{re.escape(delimiter)}\r\n]|$)')
    return (escaped.sub('""', line) if "\\" in line else line for line in lines)


def _without_blanks_behind_quotes(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """The lines without blanks between the quote that closes a field and the end of that field."""
    ends = tuple(f"{delimiter}\r\n")
    is_open = False
    for line in lines:
        parts = line.split('"')
        for index in range(1 if is_open else 2, len(parts), 2):  # those behind a closing quote
            behind = parts[index].lstrip(" ")
            if behind.startswith(ends) or (not behind and index == len(parts) - 1):
                parts[index] = behind
        is_open ^= len(parts) % 2 == 0
        yield '"'.join(parts)


def rewrite(records: Iterator[list[str]]) -> Iterator[Block]:
    """Rewrite records as blocks of unambiguous CSV."""
    for first in records:
        text = io.StringIO(newline="")
        # With both marks a cell that holds either of them is quoted.
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(first)
        writer.writerows(itertools.islice(records, RECORDS_AT_ONCE - 1))
        yield Block(text.getvalue().encode(), ",", plain=False)


def _guarded(cell: str) -> str:
    """The cell, with a leading blank where Arrow would read a hexadecimal number: 0x10 is not 16."""
    return "\u2003" + cell if cell[:3].lstrip("+-")[:2] in ("0x", "0X") else cell


class _Chunks(io.RawIOBase):
    """Pieces of bytes as a stream."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not len(self._left):
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._left = memoryview(chunk)
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def _whole_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same text cut behind line feeds; what has none stays together."""
    rest = b""
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join((rest, memoryview(chunk)[:end])) if rest else chunk[:end]
            rest = chunk[end:]
        else:
            rest += chunk
    if rest:
        yield rest


def _without_header(text: bytes) -> bytes | None:
    """Text after the first line that is not blank; None when all lines are blank."""
    start = len(text) - len(text.lstrip(b" \r\n"))
    if start == len(text):
        return None
    end = text.find(b"\n", start)
    return text[end + 1 :] if end >= 0 else b""


def _quotes_are_simple(text: bytes, delimiter: str) -> bool:
    """Return whether all quotes enclose whole fields within one line."""
    letters = np.frombuffer(b"\n" + text + b"\n", np.uint8)
    quotes = np.flatnonzero(letters == ord('"'))
    if len(quotes) % 2:
        return False
    # Every second quote opens a field, if each has a partner: then a mark or a line end must stand outside of both.
    opening, closing = quotes[0::2], quotes[1::2]
    edges = np.frombuffer(b'\n"' + delimiter.encode(), np.uint8)
    if not np.isin(letters[opening - 1], edges).all() or not np.isin(letters[closing + 1], [*edges, ord("\r")]).all():
        return False
    ends = np.flatnonzero(letters == ord("\n"))  # as many of them before both quotes of a field: it has none
    return bool((np.searchsorted(ends, opening) == np.searchsorted(ends, closing)).all())


def _row_and_line(row: int, line: int | None) -> str:
    """Position of a record, in words; its line is the first one of several."""
    if not row:
        return "its header"
    return f"row {row}" if line is None else f"row {row} (line {line})"


def _other_width(layout: Layout, row: int, line: int | None, cells: list[str]) -> DataError:
    where = _row_and_line(row, line)
    message = f"{layout.label} is not a CSV: {where} has {counted(len(cells), 'field')}, the header {layout.width}"
    hint: str = _LIKE_HEADER
    options: tuple[str, ...] = ()
    if layout.comment is not None:
        hint, options = f"--comment '{layout.comment}' if the lines that begin with it are comments", ("comment",)
    elif layout.delimiter == "," and len(cells) > layout.width and are_parts_of_a_number(*cells[-2:]):
        hint = "put quotes around numbers with decimal commas, or semicolons between the fields"
    return DataError(message, hint, code="FA106", row=row or None, options=options)


def _bad_quotes(layout: Layout, row: int, line: int | None, reason: str) -> DataError:
    problem = "a quote is never closed" if "expected after" not in reason else "text follows a closing quote"
    where = _row_and_line(row, line)
    hint = 'put quotes around whole fields, and write a quote within one as ""'
    return DataError(f"{layout.label} is not a CSV: {problem} in {where}", hint, code="FA106", row=row or None)
