"""Builds a panel from a table: parses, sorts, puts it on one time axis, and repairs or refuses what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike, NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.axis import find_frequency, report_gaps
from forecast_attn.data.cells import Cells, parse_cells
from forecast_attn.data.cleaning import (
    fill_gaps,
    fill_missing,
    hint_for,
    policy_for_few,
    repairs_by_series,
    up_to_last_step,
    without_empty_series,
    without_repeats,
)
from forecast_attn.data.findings import (
    Finding,
    Repair,
    Report,
    Severity,
    coded,
    naming,
    option_for,
    report_each,
    row_and_line,
    stop_at_errors,
    with_line_numbers,
)
from forecast_attn.data.frequency import parse_frequency, with_season
from forecast_attn.data.issued import IssuedForecasts, fill_absent, on_steps, parse_issued
from forecast_attn.data.localise import localise
from forecast_attn.data.panel import Panel
from forecast_attn.data.resampling import is_zero_without_rows, resampled
from forecast_attn.data.roles import Roles
from forecast_attn.data.zones import Zone

Hint = tuple[str, tuple[str, ...]]
"""What to do, and the options that it names."""


class VintageTable(NamedTuple):
    """A table of future covariates as they were forecast, see `data/issued.py`."""

    frame: pd.DataFrame
    source: str
    absent: tuple[str, ...]
    """Columns of the forecasts that the data lacks."""


@with_line_numbers
def build_panel(
    frame: pd.DataFrame,
    roles: Roles,
    config: DataConfig,
    *,
    source: str,
    report: Report = stop_at_errors,
    vintages: VintageTable | None = None,
    zone: Zone | None = None,
    emptied: bool = False,
) -> Panel:
    """Validate a table.

    Args:
        frame: the table as read; rows and columns in any order.
        roles: what its columns mean.
        config: the time step, and what to do about repeats and missing values.
        source: the file's name, for messages.
        report: called with every problem. The default raises at the first error; with another one the panel that comes
            back may have holes, and is good for counting only.
        vintages: future covariates as they were forecast.
        zone: of a trained model, which then counts; found when absent.
        emptied: leave the frame without columns once it is parsed, where nobody else reads it: texts of identifiers and
            time stamps, as read, take as much memory as a column of numbers.

    Raises:
        ConfigError: there is no such frequency or zone.
        DataError: what is wrong, with file, column, row and series.
    """
    with naming(source):
        cells = parse_cells(frame, roles, report, source, config.date_format)
        if emptied:
            frame.__init__(index=frame.index)  # type: ignore[misc]  # deleting columns one by one is quadratic
        cells = localise(cells, report, tz=config.tz, freq=config.freq or config.resample, zone=zone)
        return panel_of_cells(cells, roles, config, report, vintages=vintages)


@coded("FA203")
def panel_of_cells(
    cells: Cells, roles: Roles, config: DataConfig, report: Report, *, vintages: VintageTable | None = None
) -> Panel:
    """The panel of cells on the axis of their zone; see `build_panel`."""
    repairs: list[Repair] = []
    cells, issued = _as_forecast(cells, roles, config, report, vintages)
    if config.resample is not None:
        cells = _on_steps(cells, roles, config, report, repairs)
        issued = None if issued is None else on_steps(issued, config.resample, config.aggregate)
    cells = without_repeats(cells, roles, report, config.duplicates, repairs)
    missing = config.missing
    cells = without_empty_series(cells, roles, missing, repairs)
    frequency = find_frequency(cells, config.freq or config.resample, report, missing)
    if missing == "auto":
        missing = policy_for_few(cells, roles, frequency, report)
    if missing == "error":
        report_gaps(cells, frequency, report)
    frequency = frequency if config.season is None else with_season(frequency, config.season)
    cells = fill_gaps(cells, frequency, report, missing, repairs)
    if missing != "error":
        cells = _without_empty_ends(cells, roles, repairs)
        cells = _without_rows_behind_future_gaps(cells, roles, repairs)
    cells, filled = fill_missing(cells, roles, missing, repairs)
    if is_zero_without_rows(config):  # what was counted is no guess
        filled = replace(filled, rows={name: rows for name, rows in filled.rows.items() if name != roles.target})
    starts = cells.starts
    target = cells.columns[roles.target]
    known = _known_rows(cells, target)
    _report_missing(cells, roles, known, missing, report)
    if config.transform == "log":
        report_each(report, np.flatnonzero(target < 0), lambda index: _negative(cells, roles.target, index))
    return Panel(
        roles=roles,
        frequency=frequency,
        item_ids=cells.item_ids,
        starts=starts,
        num_known=known,
        timestamps=cells.stamps,
        target=target,
        past_covariates=_matrix(cells, roles.past_covariates),
        future_covariates=_matrix(cells, roles.future_covariates),
        static_covariates=_static(cells, roles.static_covariates, report),
        past_categories=_codes(cells, roles.past_categories),
        future_categories=_codes(cells, roles.future_categories),
        static_categories=_static_codes(cells, roles.static_categories, report),
        categories=cells.categories,
        weights=_weights(cells, roles.weight, report),
        issued=issued,
        zone=cells.zone,
        date_order=cells.date_order,
        repairs=tuple(repairs),
        filled=filled,
    )


def _as_forecast(
    cells: Cells, roles: Roles, config: DataConfig, report: Report, vintages: VintageTable | None
) -> tuple[Cells, IssuedForecasts | None]:
    """The table of forecasts, and the cells with the columns that only it has."""
    if vintages is None:
        return cells, None
    issued = parse_issued(
        vintages.frame,
        roles,
        cells.item_ids,
        vintages.source,
        report,
        zone=cells.zone,
        date_format=config.date_format,
        shared=config.wide,
    )
    severity: Severity = "warning" if config.missing == "mask" else "error"
    return fill_absent(cells, issued, vintages.absent, roles, report, severity), issued


def _on_steps(cells: Cells, roles: Roles, config: DataConfig, report: Report, repairs: list[Repair]) -> Cells:
    """One row for each step of --resample, up to the table's last one where a step without rows is zero."""
    cells, end = resampled(cells, roles, config, report, repairs)
    if not is_zero_without_rows(config):
        return cells
    return up_to_last_step(cells, parse_frequency(str(config.resample)), roles.target, end)


def _without_empty_ends(cells: Cells, roles: Roles, repairs: list[Repair]) -> Cells:
    """Drop the rows at the end of a series that have neither target nor covariates."""
    known = np.any([~cells.is_empty(name) for name in (roles.target, *roles.varying)], axis=0)
    last = cells.last_where(known)
    empty = (np.arange(len(known)) > last[cells.series]) & (last >= 0)[cells.series]
    if not empty.any():
        return cells
    repairs += repairs_by_series(cells, empty, "empty rows at the end: left out")
    return cells.take(~empty)


def _without_rows_behind_future_gaps(cells: Cells, roles: Roles, repairs: list[Repair]) -> Cells:
    """Drop the future rows of a series from the first absent one on: its covariates are not known."""
    absent = (cells.rows == 0) & ~cells.up_to_last_known(roles.target)
    if not absent.any():
        return cells
    rows = np.arange(len(absent))
    first = np.minimum.reduceat(np.where(absent, rows, len(rows)), cells.starts[:-1])
    behind = rows >= first[cells.series]
    repairs += repairs_by_series(cells, behind & ~absent, "future rows behind a gap: left out")
    return cells.take(~behind)


def _known_rows(cells: Cells, target: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows up to the last known target, per series (num_series,)."""
    starts = cells.starts
    if not np.isnan(target[starts[1:] - 1]).any():  # no future rows, and nothing as large as the table to find them
        return np.diff(starts)
    last = cells.last_where(~np.isnan(target))
    return np.where(last >= 0, last - starts[:-1] + 1, 0)


def _side_by_side(columns: Sequence[NDArray[Any]], length: int, dtype: DTypeLike) -> NDArray[Any]:
    """The columns (length,), of which there may be none, as (length, num_columns)."""
    matrix = np.empty((length, len(columns)), dtype)
    for position, column in enumerate(columns):
        matrix[:, position] = column
    return matrix


def _matrix(cells: Cells, names: tuple[str, ...]) -> NDArray[np.float64]:
    """The named columns of numbers (num_rows, num_names)."""
    return _side_by_side([cells.columns[name] for name in names], len(cells.rows), np.float64)


def _codes(cells: Cells, names: tuple[str, ...]) -> NDArray[np.int32]:
    """The named categorical columns (num_rows, num_names)."""
    return _side_by_side([cells.category_codes[name] for name in names], len(cells.rows), np.int32)


# --------------------------------------------------------------------------- constant per series


def _static(cells: Cells, names: tuple[str, ...], report: Report) -> NDArray[np.float64]:
    """One value per series (num_series, num_names); reports columns that change within a series."""
    values = [_constant(cells, name, cells.columns[name], report) for name in names]
    return _side_by_side(values, len(cells.item_ids), np.float64)


def _static_codes(cells: Cells, names: tuple[str, ...], report: Report) -> NDArray[np.int32]:
    """One category per series (num_series, num_names); reports columns that change within a series."""
    codes = [_constant(cells, name, cells.category_codes[name], report) for name in names]
    return _side_by_side(codes, len(cells.item_ids), np.int32)


def _weights(cells: Cells, name: str | None, report: Report) -> NDArray[np.float64]:
    """Each series' weight in the loss (num_series,); reports what is no positive number."""
    if name is None:
        return np.ones(len(cells.item_ids))
    weights = _static(cells, (name,), report)[:, 0]
    report_each(report, np.flatnonzero(weights <= 0), lambda index: _no_weight(cells, name, weights[index], index))
    return weights


def _constant(cells: Cells, name: str, values: NDArray[Any], report: Report) -> NDArray[Any]:
    """The first value of each series that is not empty (num_series,); reports others, and empty cells of the file."""
    starts, empty = cells.starts, cells.is_empty(name)
    rows = np.arange(len(values))
    first = np.minimum.reduceat(np.where(empty, len(values), rows), starts[:-1])
    chosen = values[np.where(first < starts[1:], first, starts[:-1])]
    changed = ~empty & (values != chosen[cells.series])
    report_each(
        report, np.flatnonzero(changed), lambda index: _not_constant(cells, name, chosen[cells.series[index]], index)
    )
    absent = empty & ((cells.rows > 0) | (first >= starts[1:])[cells.series])
    report_each(report, np.flatnonzero(absent), lambda index: _missing(cells, name, index))
    return chosen


# --------------------------------------------------------------------------- missing values


def _report_missing(cells: Cells, roles: Roles, known: NDArray[np.int64], missing: str, report: Report) -> None:
    """Report holes in target and covariates; with "mask" those up to the last known target may be."""
    report_each(report, np.flatnonzero(known == 0), lambda index: _no_target(cells, roles, index))
    has_target = (known > 0)[cells.series]
    future = np.zeros(len(cells.rows), np.bool_)
    for index in np.flatnonzero((known > 0) & (known < np.diff(cells.starts))):
        future[cells.starts[index] + known[index] : cells.starts[index + 1]] = True
    empty = {name: cells.is_empty(name) for name in roles.varying}
    if missing == "mask":
        return
    nothing = future & np.all(list(empty.values()), axis=0) if empty else future
    report_each(report, np.flatnonzero(nothing), lambda at: _nothing_known(cells, roles, at))
    target = np.isnan(cells.columns[roles.target]) & ~future & has_target
    hint = hint_for(missing, roles.target, needed=True)
    report_each(report, np.flatnonzero(target), lambda at: _missing(cells, roles.target, at, "FA301", hint))
    for name, is_empty in empty.items():
        if missing == "zero" and name in roles.categorical:  # no category is an unknown one
            continue
        hint = hint_for(missing, name, needed=False)
        needed = ~nothing if name in roles.future and name not in roles.known_steps else ~future
        finding = partial(_missing, cells, name, code="FA302", advice=hint)
        report_each(report, np.flatnonzero(is_empty & needed), finding)


def _no_target(cells: Cells, roles: Roles, index: int) -> Finding:
    name = cells.item_ids[index]
    message = f"series '{name}' has no value in column '{roles.target}'"
    return Finding("FA301", "error", message, "remove its rows, or fill the target", item_id=name, column=roles.target)


def _missing(cells: Cells, column: str, index: int, code: str = "FA302", advice: Hint | None = None) -> Finding:
    row, name = int(cells.rows[index]), cells.item_ids[cells.series[index]]
    where, column = row_and_line(row) if row > 0 else "an absent row", cells.column_at(column, index)
    message = f"column '{column}' has no value at {where}, series '{name}', {cells.text(index)}"
    leave_out = f"fill the cell, or leave the column out with {option_for('ignore', column)}"
    hint, options = advice or (leave_out, ("ignore",))
    return Finding(code, "error", message, hint, item_id=name, column=column, row=row, options=options)


def _negative(cells: Cells, column: str, index: int) -> Finding:
    row, name, value = int(cells.rows[index]), cells.item_ids[cells.series[index]], cells.columns[column][index]
    where, column = row_and_line(row) if row > 0 else "an absent row", cells.column_at(column, index)
    message = f"column '{column}' is {value:g} at {where}, series '{name}'; --transform log needs values of 0 or more"
    hint = "correct the cell, or train with --transform arcsinh, which accepts negative values"
    return Finding("FA307", "error", message, hint, item_id=name, column=column, row=row, value=f"{value:g}")


def _nothing_known(cells: Cells, roles: Roles, index: int) -> Finding:
    row, name = int(cells.rows[index]), cells.item_ids[cells.series[index]]
    covariates = " and every covariate" if roles.past_covariates or roles.future_covariates else ""
    column = cells.column_at(roles.target, index)
    message = f"'{column}'{covariates} has no value at {row_and_line(row)}, series '{name}', {cells.text(index)}"
    hint = "remove the row, fill the target, or pass --missing mask"
    return Finding("FA304", "error", message, hint, item_id=name, column=column, row=row, options=("missing",))


def _not_constant(cells: Cells, column: str, first: Any, index: int) -> Finding:
    row, name = int(cells.rows[index]), cells.item_ids[cells.series[index]]
    if column in cells.categories:
        categories, code = cells.categories[column], cells.category_codes[column][index]
        change = f"'{categories[first]}', then '{categories[code]}'"
    else:
        change = f"{first:g}, then {cells.columns[column][index]:g}"
    message = f"column '{column}' (static) changes within series '{name}': {change} at {row_and_line(row)}"
    hint = f"pass {option_for('past', column)} if it changes over time"
    return Finding("FA305", "error", message, hint, item_id=name, column=column, row=row, options=("past_covariates",))


def _no_weight(cells: Cells, column: str, weight: float, index: int) -> Finding:
    name = cells.item_ids[index]
    message = f"column '{column}' (weight) is {weight:g} for series '{name}'; expected a number above 0"
    return Finding("FA306", "error", message, "correct it, or remove the series", item_id=name, column=column)
