"""Turns the columns of a frame into numbers and time stamps, sorted by series and time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.problems import Finding, Report, ended, place, report_each
from forecast_attn.data.reading import require_column
from forecast_attn.data.roles import Roles
from forecast_attn.data.timestamps import Stamps, parse_timestamps

LARGEST = 1e30
"""Far below what float32 can hold, so that no square of a number overflows float64 and no scaled one float32."""


@dataclass(frozen=True)
class Cells:
    """The parsed table, sorted by (item_id, time)."""

    rows: NDArray[np.int64]
    """Data row in the file, counted from 1 (num_rows,)."""
    series: NDArray[np.int64]
    """Index into `item_ids` (num_rows,)."""
    item_ids: tuple[str, ...]
    stamps: Stamps
    columns: dict[str, NDArray[np.float64]]
    categories: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    """Index into the column's `levels`, -1 where empty."""
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Every category of a column, sorted as text."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """First row of every series, and the number of rows (num_series + 1,)."""
        return np.searchsorted(self.series, np.arange(len(self.item_ids) + 1))

    def take(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> Cells:
        """The chosen rows, in the given order."""
        return replace(
            self,
            rows=self.rows[which],
            series=self.series[which],
            stamps=self.stamps[which],
            columns={name: values[which] for name, values in self.columns.items()},
            categories={name: codes[which] for name, codes in self.categories.items()},
        )


def parse_cells(frame: pd.DataFrame, roles: Roles, report: Report, source: str) -> Cells:
    """Parse every cell that has a role, and report those that cannot be.

    Raises:
        DataError: a column is missing, or no row has a time stamp.
    """
    for name in (roles.time, *((roles.item_id,) if roles.item_id else ()), *roles.numeric, *roles.categorical):
        require_column(frame, name, source)
    stamps, no_time = parse_timestamps(frame[roles.time], roles.time)
    report_each(report, np.flatnonzero(no_time), lambda at: _bad_time(frame, roles.time, at))
    series, item_ids = _parse_ids(frame, roles)
    report_each(report, np.flatnonzero(series < 0), lambda at: _no_id(roles.item_id, at))
    columns = {name: parse_numbers(frame[name], report, needed=name == roles.target) for name in roles.numeric}
    categories, levels = parse_categories(frame, roles.categorical)
    cells = Cells(np.arange(1, len(frame) + 1), series, item_ids, stamps, columns, categories, levels)
    usable = ~no_time & (series >= 0)
    if not usable.any():
        raise ended(
            report,
            Finding("FA201", "error", f"'{source}' has no row with a time stamp", "--time NAME", column=roles.time),
        )
    return _in_order(cells if usable.all() else cells.take(usable), report)


def parse_numbers(column: pd.Series, report: Report, *, needed: bool = False) -> NDArray[np.float64]:
    """A column as float64 (num_rows,), NaN where empty; reports text and what is too large to compute with."""
    name = str(column.name)
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        numbers = pd.to_numeric(column, errors="coerce")
        values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
        text = column.notna().to_numpy() & np.isnan(values)
        report_each(report, np.flatnonzero(text), lambda at: _text_cell(column, at, needed))
    large = np.abs(values) > LARGEST
    report_each(report, np.flatnonzero(large), lambda at: _too_large(name, values[at], at))
    # -0.0 and 0.0 are the same number and must be the same bytes.
    return np.where(large, np.nan, values) + 0.0


def parse_categories(
    frame: pd.DataFrame, names: tuple[str, ...]
) -> tuple[dict[str, NDArray[np.int32]], dict[str, tuple[str, ...]]]:
    """Codes (num_rows,), -1 where empty, and levels of each categorical column; 1.0 and 1 are the category "1"."""
    parsed = {name: ids_as_text(frame[name]) for name in names}
    codes = {name: found.astype(np.int32) for name, (found, _) in parsed.items()}
    return codes, {name: levels for name, (_, levels) in parsed.items()}


def _parse_ids(frame: pd.DataFrame, roles: Roles) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Series index of every row, -1 where the identifier is empty, and the identifiers sorted as text."""
    if roles.item_id is None:
        return np.zeros(len(frame), np.int64), (roles.target,)
    return ids_as_text(frame[roles.item_id])


def ids_as_text(column: pd.Series) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Index of each cell's identifier (num_rows,), -1 where empty, and the sorted identifiers."""
    found, values = pd.factorize(column)
    texts = [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip() for value in values
    ]
    item_ids = sorted({text for text in texts if text})
    position = {text: index for index, text in enumerate(item_ids)}
    lookup = np.array([position.get(text, -1) for text in texts] + [-1], np.int64)
    return lookup[found], tuple(item_ids)


def _in_order(cells: Cells, report: Report) -> Cells:
    used = np.unique(cells.series)
    if len(used) < len(cells.item_ids):  # every row of a series was left out
        item_ids = tuple(cells.item_ids[index] for index in used)
        cells = replace(cells, series=np.searchsorted(used, cells.series), item_ids=item_ids)
    order = np.lexsort((cells.stamps, cells.series))
    early = np.flatnonzero(np.diff(np.argsort(order)) < 0)
    if not len(early):
        return cells
    row = int(cells.rows[early[0] + 1])
    message = f"rows are not sorted by series and time, first at {place(row)}; they are sorted here"
    report(Finding("FA207", "note", message, row=row))
    return cells.take(order)


def _bad_time(frame: pd.DataFrame, column: str, at: int) -> Finding:
    value = frame[column].iloc[at]
    said = "is empty" if pd.isna(value) else f"is {str(value)!r}, which is no time stamp"
    hint = "write dates as YYYY-MM-DD or YYYY-MM-DD HH:MM"
    return Finding("FA201", "error", f"column '{column}' {said} at {place(at + 1)}", hint, column=column, row=at + 1)


def _no_id(column: str | None, at: int) -> Finding:
    message = f"column '{column}' (series identifier) is empty at {place(at + 1)}"
    return Finding("FA208", "error", message, "name the series in every row", column=column, row=at + 1)


def _text_cell(column: pd.Series, at: int, needed: bool) -> Finding:
    value = str(column.iloc[at])
    comma = value.replace(",", "", 1).lstrip("+-").isdecimal()
    correct = (
        "correct the cell" if needed else f"correct the cell, or leave the column out with --ignore '{column.name}'"
    )
    hint = "write decimals with a point" if comma else correct
    message = f"column '{column.name}' must be numeric; {place(at + 1)} is {value!r}"
    return Finding("FA103", "error", message, hint, column=str(column.name), row=at + 1)


def _too_large(column: str, value: float, at: int) -> Finding:
    said = "infinite" if np.isinf(value) else f"{value:g}"
    message = f"column '{column}' is {said} at {place(at + 1)}; expected a finite number below {LARGEST:g}"
    return Finding("FA303", "error", message, "correct the cell or remove the row", column=column, row=at + 1)
