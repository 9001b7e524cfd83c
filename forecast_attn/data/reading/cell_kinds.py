"""Kinds of cells as they stand in a text: number, date or word. They tell names of columns from the rows below them."""

from __future__ import annotations

import re

import pandas as pd

from forecast_attn.data.reading.cell_numbers import shows_number
from forecast_attn.data.timestamps import looks_like_dates

NUMBER, DATE, WORD = "number", "date", "word"
MOSTLY = 0.9
"""Share of cells, or of lines, that makes them those of a table in spite of some exceptions."""
YEAR = re.compile(r"(1[5-9]|20|21)\d\d")
_NUMBER_OR_DATE = re.compile(
    r"[+-]?(\d+([.,]\d+)?|\.\d+)([eE][+-]?\d+)?"  # Stata writes .5
    r"|\d{4}-\d\d-\d\d[^_]*|\d{1,2}[./]\d{1,2}[./]\d{4}.*"
)
_TIME_OF_DAY = re.compile(r"\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[AP]M)?", re.IGNORECASE)


def is_number_or_date(cell: str) -> bool:
    """Return whether a cell is a plain number or a date in digits."""
    return _NUMBER_OR_DATE.fullmatch(cell.strip()) is not None


def is_year(cell: str) -> bool:
    """Return whether a cell may be a year, which may also be the name of a column."""
    return YEAR.fullmatch(cell.strip()) is not None


def is_value(cell: str) -> bool:
    """Return whether a cell is a number or a date, and no name of a column."""
    return is_number_or_date(cell) and not is_year(cell)


def are_numbers(cells: list[str]) -> bool:
    """Return whether nearly all cells are numbers, with units or without."""
    return sum(map(shows_number, cells)) >= MOSTLY * len(cells)


def kind_of_column(cells: list[str]) -> str:
    """The kind of the cells of a column; a single time of day, which is no date by itself, counts as one."""
    if are_numbers(cells):
        return NUMBER
    are_dates = _TIME_OF_DAY.fullmatch(cells[0]) or looks_like_dates(pd.Series(cells, dtype=object))
    return DATE if are_dates else WORD


def kind_of_cell(cell: str, others: list[str]) -> str:
    """The kind of a cell: that of the other cells of its column where most are written as it is."""
    if shows_number(cell):
        return NUMBER
    are_alike = 2 * sum(shape(other) == shape(cell) for other in others) > len(others)
    return kind_of_column(others if are_alike else [cell])


def shape(cell: str) -> str:
    """A cell with one sign for each number and each word: `Jan 2024` and `Feb 2025` are written alike."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", cell.strip()))
