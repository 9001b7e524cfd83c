"""Fills merged cells, as `--layout merged` says: a date or name stands in the first of the rows that it belongs to."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pandas as pd

from forecast_attn.data.findings import row_and_line
from forecast_attn.data.reading.outlines import FEWEST_ROWS, without_headings
from forecast_attn.data.reading.time_parts import are_counts, holds_years
from forecast_attn.errors import DataError

FEWEST_MERGED = 1 / 3
"""Share of a column that is empty where its cells were merged."""


def filled_down(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The frame with the cell above in each empty one of the columns from the left on that are names or dates; these.

    The first column without empty cells ends them, and so does one of other numbers than years: these are values.
    Of outlines the rows of headings are left out; see `without_headings`.
    """
    outline = without_headings(frame)
    if outline is not None:
        return outline, (str(frame.columns[0]),)
    filled: dict[str, pd.Series] = {}
    for name in frame.columns:
        column = frame[name]
        is_of_sums = len(filled) > 0 and column.isna().mean() < FEWEST_MERGED  # which have no month
        if not column.hasnans or pd.isna(column.iloc[0]) or not _is_key(column, pd.DataFrame(filled)) or is_of_sums:
            break
        column = column.ffill()
        filled[name] = column.astype(np.int64) if holds_years(column) else column
    return frame.assign(**filled), tuple(filled)


def refuse_unmerged(frame: pd.DataFrame, source: str) -> NoReturn:
    """Refuse --layout merged for a table in which nothing was filled.

    Raises:
        DataError: names the first column.
    """
    name, first = str(frame.columns[0]), frame.iloc[:, 0]
    problem = "holds numbers that are no years" if not _is_key(first, pd.DataFrame()) else "has no empty cell"
    problem = f"is empty at {row_and_line(1)}, below no date or name" if first.iloc[:1].isna().any() else problem
    message = f"'{source}' has no merged cells, as --layout merged needs: its first column '{name}' {problem}"
    raise DataError(message, "leave --layout out", code="FA102", column=name, options=("layout",))


def has_merged_cells(frame: pd.DataFrame) -> bool:
    """Return whether the first columns name each date, year or series once, above empty cells, beside filled ones; or
    beside an empty one where they name a sum. Or whether a table is an outline.
    """
    if without_headings(frame) is not None:
        return True
    merged: list[str] = []
    for name in frame.columns[:-1]:
        if not _is_merged(frame[name], frame[merged].ffill()):
            break
        merged.append(name)
    if not merged or not frame.shape[1] > 2 or len(frame) < FEWEST_ROWS:
        return False
    blocks = frame[merged].ffill()[frame[merged[-1]].notna()]
    is_below = frame[merged].isna().all(axis=1)
    beside = frame.iloc[:, len(merged)]
    return len(blocks) > 1 and not blocks.duplicated().any() and bool(beside[is_below].notna().all())


def _is_merged(column: pd.Series, above: pd.DataFrame) -> bool:
    return _is_key(column, above) and bool(column.notna().iloc[0]) and column.isna().mean() >= FEWEST_MERGED


def _is_key(column: pd.Series, above: pd.DataFrame) -> bool:
    """Return whether cells are names, dates, years or codes: whole numbers, each above the empty cells of its rows.

    Args:
        column: with empty cells.
        above: the columns before it, filled, of which the numbers have each one once: hours of a day.
    """
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return True
    known = column.dropna()
    if holds_years(known) or column.isna().mean() < FEWEST_MERGED or not are_counts(known):
        return holds_years(known)
    name = str(column.name)
    return not above.assign(**{name: column}).dropna(subset=[name]).duplicated().any()
