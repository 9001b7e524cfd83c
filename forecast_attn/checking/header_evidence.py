"""Names of columns in several lines: how many lines, and whether one of them is enough."""

from __future__ import annotations

import re

import pandas as pd

from forecast_attn.checking.line_evidence import MOST_HEADER_ROWS
from forecast_attn.data.column_names import LOOSE_TIME_NAMES, TIME_NAMES
from forecast_attn.data.reading.cell_kinds import are_numbers
from forecast_attn.data.reading.cell_numbers import shows_number
from forecast_attn.data.reading.header import MOST_CELLS
from forecast_attn.data.timestamps import looks_like_dates

_IS_NAME = re.compile(r"[^\W\d][\w .-]*")
FEWEST_BELOW = 5
"""Rows that must show that the lines above them are names."""
FEWEST_CELLS = 40
"""Cells below several lines that show that they are names, where the first one alone has one name for two columns."""


def find_header_rows(records: list[list[str]]) -> int:
    """Number of lines that name the columns: 2 where units stand below the names.

    Lines below the first one are no rows if no cell of them is a number in a column of numbers.

    Args:
        records: the first lines, as many cells each.
    """
    width = len(records[0])
    rows = [record[:MOST_CELLS] for record in records if len(record) == width]
    has_groups = len(set(rows[0])) < len(rows[0])
    counts = range(2, MOST_HEADER_ROWS + 1)
    of_levels = next((count for count in counts if count > 2 and _names_the_index(rows[:count])), None)
    if of_levels is not None and len(rows) >= of_levels + FEWEST_BELOW:
        return of_levels
    for count in counts:
        is_blank = len(rows) >= count and not any(cell.strip() for cell in rows[count - 1])
        if is_blank and has_groups:  # more names may stand below it
            continue
        if width > 1 and len(rows) >= count and rows[0][0].strip() and not any(rows[count - 1][1:]):
            return 1  # a title above some rows
        below = [row for row in rows[count:] if width < 3 or any(row[1:])]  # and no notes
        are_few = len(below) < (1 if has_groups and len(below) * width >= FEWEST_CELLS else FEWEST_BELOW)
        if are_few or is_blank or _may_be_a_row(rows[count - 1], below):  # as in nearly every table: a quick answer
            return 1
        columns = ([row[index] for row in below] for index in range(len(below[0])))
        if any(shows_number(cells[0]) and are_numbers(cells) for cells in columns):
            return count
    return 1


def _names_the_index(lines: list[list[str]]) -> bool:
    """Return whether the last line holds the name of the first column alone, as pandas writes it below several levels.

    Such as `Day,,,` below `,Wind,Wind,Wind` and `Hour,0,1,2`.
    """
    first = [line[0].strip() for line in lines]
    are_names = first[-1] != "" and all(map(_IS_NAME.fullmatch, filter(None, first)))
    return are_names and not any(lines[-1][1:]) and all(any(line[1:]) for line in lines[:-1])


def _may_be_a_row(record: list[str], rows: list[list[str]]) -> bool:
    """Return whether a line has a number in a column of numbers."""
    columns = ([row[index] for row in rows] for index, cell in enumerate(record) if shows_number(cell))
    return any(map(are_numbers, columns))


def line_of_names(names: list[list[str]], rows: list[list[str]]) -> int | None:
    """The one of several lines above the rows that names all columns by itself, dates among them; None for none.

    The lines below it have no date, as those of units. It is the one that calls the dates so, or else the first.

    Args:
        names: the lines.
        rows: those below them.
    """
    width = len(names[0])
    full = [row for row in rows if len(row) == width]
    columns = (pd.Series([row[at] for row in full], dtype="str") for at in range(min(width, MOST_CELLS)))
    dates = next((at for at, column in enumerate(columns) if looks_like_dates(column)), None)
    whole = [at for at, line in enumerate(names) if len({name.strip() for name in line} - {""}) == width]
    if dates is None or not whole:
        return None
    times = (*TIME_NAMES, *LOOSE_TIME_NAMES)
    called = next((at for at, line in enumerate(names) if line[dates].strip().lower() in times), None)
    likeliest = whole[0] if called is None else called
    return likeliest if likeliest in whole else None
