"""Names of columns in several lines: how many lines, and whether one of them is enough."""

from __future__ import annotations

import pandas as pd

from forecast_attn.checking.line_evidence import MOST_HEADER_ROWS
from forecast_attn.data.column_names import LOOSE_TIME_NAMES, TIME_NAMES
from forecast_attn.data.reading.cell_kinds import are_numbers
from forecast_attn.data.reading.cell_numbers import shows_number
from forecast_attn.data.reading.header import MOST_CELLS
from forecast_attn.data.timestamps import looks_like_dates

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
    for count in range(2, MOST_HEADER_ROWS + 1):
        below = [row for row in rows[count:] if width < 3 or any(row[1:])]  # and no notes
        are_few = len(below) < (1 if has_groups and len(below) * width >= FEWEST_CELLS else FEWEST_BELOW)
        if are_few or _may_be_a_row(rows[count - 1], below):  # as in nearly every table: a quick answer
            return 1
        columns = ([row[index] for row in below] for index in range(len(below[0])))
        if any(shows_number(cells[0]) and are_numbers(cells) for cells in columns):
            return count
    return 1


def _may_be_a_row(record: list[str], rows: list[list[str]]) -> bool:
    """Return whether a line is blank, or has a number in a column of numbers."""
    columns = ([row[index] for row in rows] for index, cell in enumerate(record) if shows_number(cell))
    return not any(cell.strip() for cell in record) or any(map(are_numbers, columns))


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
