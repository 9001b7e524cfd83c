"""The header of a CSV: whether its first line is one, and the names that it gives to the columns."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import NamedTuple

import pandas as pd

from forecast_attn.data.column_names import may_number_rows, unit_of
from forecast_attn.data.findings import quoted
from forecast_attn.data.reading.cell_kinds import (
    DATE,
    NUMBER,
    WORD,
    is_number_or_date,
    is_year,
    kind_of_cell,
    kind_of_column,
)
from forecast_attn.data.reading.cell_numbers import MISSING_WORDS, bare_number, shows_number, without_footnote
from forecast_attn.data.reading.extra_lines import COMMENT_MARKS, DELIMITERS
from forecast_attn.data.timestamps import looks_like_dates
from forecast_attn.errors import DataError

Record = list[str]
"""The cells of a line."""
LONGEST = 100
"""Characters of a line that a message shows."""
MOST_BELOW = 100
"""Rows that a first line is compared with."""
MOST_CELLS = 500
"""Cells of a line that are compared."""
FEWEST_DECIMALS = 10
"""Decimal numbers below a whole one that show that it is a name."""
FEWEST_COUNTED = 4
"""Columns that are called 0, 1, 2, …"""


def column_names(records: list[Record], delimiter: str, label: str) -> list[str]:
    """The stripped names of the header, checked; repeated ones are numbered from the second on, as pandas does.

    Args:
        records: the header and the first rows.
        delimiter: at which they were split.
        label: the table's name, for messages.

    Raises:
        DataError: no header, another delimiter in it, or one name above two columns of different dates.
    """
    given = [name.strip() for name in records[0]]
    unnamed = [f"Unnamed: {position}" for position in range(len(given))]
    names = [name or (new if new not in given else f"{new}.1") for name, new in zip(given, unnamed, strict=True)]
    _check_is_split(names, delimiter, label)
    if is_a_row(given, records[1:]):
        raise _no_header(records, delimiter, label)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if any(_are_other_dates(name, names, records[1:]) for name in repeated):  # two tables side by side
        check_names(names, label)
    return numbered_names(names)


def unnamed_column(number: int) -> str:
    """Name of a column of a table without a header, the first of them number 1."""
    return f"column_{number}"


def numbered_names(names: list[str]) -> list[str]:
    """The names, each of its own: `y`, `y.1`, `y.2` where a name stands several times."""
    numbered: dict[str, None] = {}
    taken = {*names}
    for name in names:
        numbers = (f"{name}.{number}" for number in itertools.count(1))
        unique = next(new for new in numbers if new not in taken) if name in numbered else name
        taken.add(unique)
        numbered[unique] = None
    return list(numbered)


def check_names(names: list[str], label: str) -> None:
    """Refuse names that stand twice.

    Raises:
        DataError: with those names.
    """
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"{label} has more than one column called {quoted(repeated)}",
            "give every column its own name",
            code="FA107",
            column=repeated[0],
        )


def _check_is_split(names: list[str], delimiter: str, label: str) -> None:
    unused = next((mark for mark in DELIMITERS if len(names) == 1 and mark != delimiter and mark in names[0]), None)
    if unused is not None:
        split = f"{label} split at {DELIMITERS.get(delimiter, repr(delimiter))} has one column"
        raise DataError(
            f"{split}; its header holds {DELIMITERS[unused]}: {names[0]!r}",
            f"--delimiter {DELIMITERS[unused]}",
            code="FA108",
            options=("delimiter",),
        )


def _no_header(records: list[Record], delimiter: str, label: str) -> DataError:
    line = delimiter.join(records[0])
    message = f"{label} has no header: its first line is {line if len(line) <= LONGEST else f'{line[:LONGEST]}…'!r}"
    hint = "--no-header, or add a line with the columns' names"
    if len(records) == 1 and len(records[0]) > 1:
        hint = "write each value in a line of its own; --no-header --layout rows reads a line that is not too long"
    return DataError(message, hint, code="FA107", options=("header",))


def _are_other_dates(name: str, names: list[str], rows: list[Record]) -> bool:
    """Return whether a name stands above several columns of dates that differ."""
    full = [row for row in rows if len(row) == len(names)]
    columns = [pd.Series([row[at] for row in full], dtype="str") for at, each in enumerate(names) if each == name]
    return all(map(looks_like_dates, columns)) and any(not column.equals(columns[0]) for column in columns)


# --------------------------------------------------------------------------- a first line: header or row


class _Cell(NamedTuple):
    """A cell of a first line, which is of the same kind as those below it."""

    text: str
    kind: str
    below: list[str]
    """The cells below it that are not missing."""


def is_a_row(first: Record, below: list[Record]) -> bool:
    """Return whether a first line is a row and no header.

    Each cell of a row is of the kind of those below it, and some are dates or numbers. Numbers may be names, too:
    alone, those of a header go on by one; beside words, they rise, and no word stands below again.

    Args:
        first: the stripped cells of the line.
        below: the lines below it.
    """
    cells = _cells_like_those_below(first, below[:MOST_BELOW])
    kinds = {cell.kind for cell in cells}
    if DATE in kinds:
        return True
    numbers = [bare_number(cell.text) for cell in cells if cell.kind == NUMBER and not _is_name_above(cell)]
    if not numbers:
        return False
    values = list(map(_value_of, numbers))
    steps = {after - before for before, after in itertools.pairwise(values)}
    if WORD in kinds:
        return any(step <= 0 for step in steps) or any(cell.kind == WORD and cell.text in cell.below for cell in cells)
    return len(numbers) < FEWEST_COUNTED or steps != {1}


def _value_of(number: str) -> float:
    """The value of digits with marks between them, the last of which stands before decimals: `1,234.5`, `1.234,5`."""
    thousands, mark, rest = number.replace(",", ".").rpartition(".")
    return float(thousands.replace(".", "") + mark + rest)


def _cells_like_those_below(first: Record, below: list[Record]) -> list[_Cell]:
    """The cells of a first line that are not missing; none where one of them is a name, and the line a header."""
    cells: list[_Cell] = []
    if not re.search(r"\d", "".join(first)):  # as of nearly every header
        return cells
    for at, text in enumerate(first[:MOST_CELLS]):
        column = [record[at].strip() for record in below if at < len(record)]
        known = [cell for cell in column if cell not in MISSING_WORDS]
        if not text and below and len(known) == len(below):
            return []  # above the numbers of the rows
        if text in MISSING_WORDS:
            continue
        kind = kind_of_cell(text, known)
        if known and kind_of_column(known) != kind:
            return []
        if known or not below or kind == NUMBER:  # a word or date above nothing is one of a title
            cells.append(_Cell(text, kind, known))
    return cells


def _is_name_above(number: _Cell) -> bool:
    """Return whether a number is a year above other numbers, or a whole one above decimals."""
    if is_year(number.text):
        return 2 * sum(map(is_year, number.below)) < len(number.below)
    are_decimals = len(number.below) >= FEWEST_DECIMALS and not any(map(str.isdecimal, number.below))
    return number.text.isdecimal() and are_decimals


# --------------------------------------------------------------------------- a header beside its rows


def joined_names(lines: list[Record]) -> Record:
    """One name per column out of a header of several lines: `load` and `MW` are `load MW`.

    Empty cells of lines but the last repeat the cell before them, as those of merged cells of a sheet do.
    """
    if len(lines) == 1:
        return lines[0]
    names: list[list[str]] = [[] for _ in range(max(map(len, lines)))]
    for line, cells in enumerate(lines):
        before = ""
        for index, cell in enumerate(cells):
            before = cell.strip() or (before if line < len(lines) - 1 else "")
            names[index].append(before)
    return [" ".join(part for part in parts if part) for parts in names]


def header_as_wide_as_rows(header: Record, rows: list[Record]) -> Record:
    """The header with a name for each field of the rows, where it has one too many or too few for a known reason."""
    width, widths = len(header), {len(row) for row in rows}
    if widths == {width - 1}:
        if width > 2 and not header[-1].strip():  # a delimiter behind the last name
            return header[:-1]
        if header[0] in COMMENT_MARKS:  # before the names, as numpy writes them
            return header[1:]
    if widths == {width + 1}:
        if not any(row[-1].strip() for row in rows):  # a delimiter behind the last cell
            return [*header, ""]
        if not may_number_rows(header[0]) and unit_of(header[0]) is None and _are_numbered(rows):
            return ["", *header]  # above the numbers of the rows, as R writes them
    if widths == {width, width + 1} and all(ends_in_a_remark(row) for row in rows if len(row) > width):
        return [*header, ""]
    return header


def _are_numbered(rows: list[Record]) -> bool:
    """Return whether the first cells of rows count up by one: from 140 on, where those are a part of a table."""
    numbers = [row[0].strip() for row in rows]
    start = int(numbers[0]) if numbers[0].isdecimal() else 1
    return len(rows) > 1 and numbers == [str(number) for number in range(start, start + len(rows))]


def ends_in_a_remark(record: Record) -> bool:
    """Return whether words stand behind the last number of a row, such as `Provisional`."""
    number, remark = (cell.strip() for cell in record[-2:])
    return (
        shows_number(without_footnote(number))
        and not is_number_or_date(remark)
        and re.search("[A-Za-z]", remark) is not None
    )
