"""A table of future covariates as they were forecast: which value was issued when, for which time.

What was issued later never counts: at a cut-off the newest forecast whose issued_at is not after it is the value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import Cells, ids_as_text, parse_numbers
from forecast_attn.data.column_names import ID_NAMES, LOOSE_TIME_NAMES, STEP_NAMES, TIME_NAMES
from forecast_attn.data.findings import (
    Finding,
    Report,
    Severity,
    counted,
    naming,
    option_for,
    quoted,
    report_each,
    require_column,
    row_and_line,
    with_line_numbers,
)
from forecast_attn.data.frequency import Stamps, kind_of, parse_frequency
from forecast_attn.data.localise import axis_stamps
from forecast_attn.data.resampling import floored, of_groups
from forecast_attn.data.roles import Roles, is_numeric
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError, nearest

ISSUED_AT = "issued_at"

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IssuedForecasts:
    """Forecasts of future covariates, sorted by (series, stamp, issued_at)."""

    source: str
    """Name of the table, for messages."""
    columns: tuple[str, ...]
    item_ids: tuple[str, ...]
    series: Ints
    """Index into `item_ids` (num_forecasts,)."""
    stamps: Stamps
    """The time a forecast is for (num_forecasts,)."""
    issued_at: Stamps
    """The time it was made (num_forecasts,)."""
    values: NDArray[np.float64]
    """(num_forecasts, num_columns), finite."""
    zone: Zone
    """Zone that both times are shown in."""

    def of_series(self, item_ids: tuple[str, ...]) -> IssuedForecasts:
        """Select the forecasts of these series, and reindex them in this order."""
        position = pd.Index(item_ids, dtype=object).get_indexer(pd.Index(self.item_ids, dtype=object))
        series = position[self.series]
        return in_order(replace(self, item_ids=item_ids, series=series).take(np.flatnonzero(series >= 0)))

    def take(self, which: Ints) -> IssuedForecasts:
        """The chosen forecasts, in the given order."""
        return replace(
            self,
            series=self.series[which],
            stamps=self.stamps[which],
            issued_at=self.issued_at[which],
            values=self.values[which],
        )

    def newest(self, series: Ints, stamps: Stamps, cutoffs: Stamps) -> Ints:
        """Index of the newest forecast issued at or before each cut-off (any shape), -1 where there is none.

        Args:
            series: indices into `item_ids`.
            stamps: the times to know something about.
            cutoffs: what is issued after these does not count.
        """
        times, issues = np.unique(self.stamps), np.unique(self.issued_at)
        if not len(times):
            return np.full(np.shape(stamps), -1)
        place_of_time = np.minimum(np.searchsorted(times, stamps), len(times) - 1)
        positions = (series * len(times) + place_of_time) * (len(issues) + 1)
        steps = self.series * len(times) + np.searchsorted(times, self.stamps)
        keys = steps * (len(issues) + 1) + np.searchsorted(issues, self.issued_at) + 1
        newest = np.searchsorted(keys, positions + np.searchsorted(issues, cutoffs, side="right"), side="right") - 1
        # Nothing of this series and time stands at or before the cut-off when a smaller key was found.
        is_there = (newest >= 0) & (keys[newest] >= positions) & (times[place_of_time] == stamps)
        return np.where(is_there, newest, -1)

    def newest_values(self, series: Ints, stamps: Stamps, cutoffs: Stamps) -> NDArray[np.float64]:
        """Values of the forecasts that `newest` returns (…, num_columns), NaN where there is none."""
        nothing = np.full((1, len(self.columns)), np.nan)
        return np.concatenate([self.values, nothing])[self.newest(series, stamps, cutoffs)]


def in_order(table: IssuedForecasts) -> IssuedForecasts:
    """Sorted by (series, stamp, issued_at)."""
    return table.take(np.lexsort((table.issued_at, table.stamps, table.series)))


def on_steps(table: IssuedForecasts, step: str, aggregate: str) -> IssuedForecasts:
    """One forecast of each issue for every step in which it has some: their mean, or the last one.

    Args:
        table: the forecasts.
        step: of the data, as `--resample` takes it.
        aggregate: as `--aggregate` takes it; sums are of targets alone.
    """
    if not len(table.series):
        return table
    table = in_order(replace(table, stamps=floored(table.stamps, parse_frequency(step), table.zone)))
    keys = (table.series, table.stamps, table.issued_at)
    starts = np.flatnonzero(np.append(True, np.any([key[1:] != key[:-1] for key in keys], axis=0)))
    how = "last" if aggregate == "last" else "mean"
    values = np.stack([of_groups(column, starts, how) for column in table.values.T], axis=1)
    return replace(table.take(starts), values=values)


def is_issued(frame: pd.DataFrame) -> bool:
    """Return whether a table has the column issued_at."""
    return ISSUED_AT in frame.columns


def declare_issued(
    frame: pd.DataFrame, issued: pd.DataFrame, config: DataConfig
) -> tuple[pd.DataFrame, DataConfig, tuple[str, ...]]:
    """Declare the columns of a table of forecasts as future covariates of the data.

    Returns:
        The data with an empty column for each covariate that it lacks, the options with all of them declared, and the
        names of those columns, for `fill_absent`.

    Raises:
        DataError: a column is neither declared nor in the data: a misspelt name must not become a covariate.
    """
    names = _numeric_columns(issued, config)
    declared = {name.rpartition(":")[0] or name for name in config.future_covariates} | {*config.future_covariates}
    for name in names:
        if name not in frame.columns and name not in declared:
            raise _unknown_column(name, frame, config)
    further = tuple(name for name in names if name not in declared)
    absent = tuple(name for name in names if name not in frame.columns)
    config = replace(config, future_covariates=(*config.future_covariates, *further))
    return frame.assign(**dict.fromkeys(absent, np.nan)), config, absent


def _numeric_columns(frame: pd.DataFrame, config: DataConfig) -> tuple[str, ...]:
    """The numeric columns of a table of forecasts that are neither time, series nor target."""
    not_covariates = {config.time, config.item_id, config.target, ISSUED_AT, *config.ignore}
    known = {*TIME_NAMES, *LOOSE_TIME_NAMES, *STEP_NAMES, *ID_NAMES}
    free = [str(name) for name in frame.columns if name not in not_covariates and str(name).lower() not in known]
    return tuple(sorted(name for name in free if is_numeric(frame[name])))


def fill_absent(
    cells: Cells,
    issued: IssuedForecasts,
    names: tuple[str, ...],
    roles: Roles,
    report: Report,
    severity: Severity = "error",
) -> Cells:
    """Fill columns that only the table of forecasts has: each row gets the newest forecast issued by then.

    Rows without a forecast in time stay empty and are reported: a later forecast would be a leak. Rows after the last
    known target get the forecasts that were known at that target.

    Args:
        cells: the data, in which these columns are empty.
        issued: forecasts of its series.
        names: columns to fill.
        roles: of the data's columns.
        report: called for rows that stay empty.
        severity: of those; no error where values may be missing.
    """
    known = ~np.isnan(cells.columns[roles.target])
    forecasts = issued.of_series(cells.item_ids)
    values = forecasts.newest_values(cells.series.astype(np.int64), cells.stamps, _known_by(cells, known))
    filled = {name: values[:, issued.columns.index(name)] for name in names}
    for name, column in filled.items():
        empty = np.flatnonzero(np.isnan(column) & known)
        report_each(report, empty, lambda index, name=name: _not_forecast(cells, name, severity, index))  # type: ignore[misc]
    return replace(cells, columns=cells.columns | filled)


def _known_by(cells: Cells, known: NDArray[np.bool_]) -> Stamps:
    """Return each row's stamp, or the last stamp of its series with a target if that is earlier (num_rows,)."""
    limit = cells.stamps[np.maximum(cells.last_where(known), cells.starts[:-1])]
    return np.minimum(cells.stamps, limit[cells.series])


# --------------------------------------------------------------------------- findings


def _unknown_column(name: str, frame: pd.DataFrame, config: DataConfig) -> DataError:
    near = nearest(name, [*config.future_covariates, *(str(column) for column in frame.columns)])
    declared = option_for("future", name)
    hint = f"pass {declared} if only forecasts of it are known; else remove it from the table of forecasts"
    return DataError(
        f"the table of forecasts (--vintages) has a column '{name}', which the data does not have",
        f"did you mean '{near}'? or {hint}" if near else hint,
        code="FA501",
        column=name,
    )


def _not_forecast(cells: Cells, column: str, severity: Severity, index: int) -> Finding:
    name, stamp = cells.item_ids[cells.series[index]], cells.text(index)
    message = f"no forecast of '{column}' for {stamp} of series '{name}' was issued at or before that time"
    hint = f"add older forecasts, or a column '{column}' with the actual values; or pass --missing mask"
    row = int(cells.rows[index])
    return Finding("FA506", severity, message, hint, item_id=name, column=column, row=row, options=("missing",))


# --------------------------------------------------------------------------- issued reading
# Reads a table of future covariates as they were forecast.


ReadStamps = Callable[..., tuple[Stamps, NDArray[np.bool_]]]
"""`axis_stamps` of an axis: a column, `series` and `item_ids` to stamps and which cells are none."""


@with_line_numbers
def parse_issued(
    frame: pd.DataFrame,
    roles: Roles,
    item_ids: tuple[str, ...],
    source: str,
    report: Report,
    *,
    zone: Zone,
    date_format: str | None = None,
    shared: bool = False,
) -> IssuedForecasts:
    """Read a table of forecasts.

    Args:
        frame: columns of time stamps, issued_at, future covariates and, for several series, the identifier.
        roles: names of the columns; future covariates that the table lacks are not forecast.
        item_ids: the series of the data; forecasts of others are left out, and reported.
        source: the table's name, for messages.
        report: called with every problem.
        zone: of the data's axis.
        date_format: how the stamps are written; found when None.
        shared: without an identifier the forecasts are those of every series, as in a wide table.

    Raises:
        DataError: a column is missing, or of another kind than the data's.
    """

    def report_here(finding: Finding) -> None:
        report(replace(finding, file=finding.file or source))

    with naming(source):
        shared = shared and roles.item_id not in frame.columns
        columns = _columns(frame, roles, len(item_ids) > 1 and not shared, source)
        series = series_in(frame, roles, item_ids)
        read = functools.partial(axis_stamps, zone=zone, report=report_here, date_format=date_format)
        stamps, issued_at, no_time = _both_times(frame, roles.time, series, item_ids, read, report_here)
        _refuse_other_kind(stamps, issued_at, roles.time, source)
        values = np.stack([parse_numbers(frame[name], report_here) for name in columns], axis=1)
        for index, name in enumerate(columns):
            empty = np.flatnonzero(np.isnan(values[:, index]))
            report_each(report_here, empty, lambda row, name=name: _empty(name, row))  # type: ignore[misc]
        _report_unknown(frame, roles, series, source, report_here)
        table = IssuedForecasts(source, columns, item_ids, series, stamps, issued_at, values, zone)
        rows = np.flatnonzero(~no_time & ~np.isnan(values).any(axis=1) & (series >= 0))
        table = _without_repeats(in_order(table.take(rows)), report_here)
        return _of_every_series(table) if shared else table


# --------------------------------------------------------------------------- parsing


def _columns(frame: pd.DataFrame, roles: Roles, several: bool, source: str) -> tuple[str, ...]:
    """The future covariates that are forecast."""
    identifier = [roles.item_id] if roles.item_id is not None and several else []
    for name in (roles.time, ISSUED_AT, *identifier):
        require_column(frame, name, source, code="FA501")
    categories = [name for name in roles.future_categories if name in frame.columns]
    if categories:
        raise DataError(
            f"'{source}' forecasts the categorical column '{categories[0]}'; expected numbers",
            f"remove '{categories[0]}' from it, or declare it as a number",
            code="FA501",
            column=categories[0],
            file=source,
        )
    columns = tuple(name for name in roles.future_covariates if name in frame.columns)
    if not columns:
        raise DataError(
            f"'{source}' has none of the future covariates {quoted(roles.future_covariates)}; its columns are "
            f"{quoted([str(name) for name in frame.columns])}",
            "name them with --future NAME",
            code="FA501",
            file=source,
        )
    return columns


def _both_times(
    frame: pd.DataFrame, time: str, series: Ints, item_ids: tuple[str, ...], read: ReadStamps, report: Report
) -> tuple[Stamps, Stamps, NDArray[np.bool_]]:
    """Return the target and issue times of each forecast, and a mask where either is no time (num_rows,).

    Of an hour that comes twice as the clock is put back the order of rows tells which is which: one issue's forecasts
    of a series run through time. Its issued_at stands in many rows and is looked at once.
    """
    issues, texts = pd.factorize(frame[ISSUED_AT])
    again = pd.Series(issues).duplicated().to_numpy()
    at_first, no_issue = read(frame[ISSUED_AT], series=np.where(again, -1, 0), item_ids=item_ids)
    issued_at = at_first[np.flatnonzero(~again)][pd.factorize(issues)[0]]
    runs, run = np.unique(series * (len(texts) + 1) + issues + 1, return_inverse=True)
    names = tuple(item_ids[which] for which in runs // (len(texts) + 1))
    stamps, no_time = read(frame[time], series=np.where(series < 0, -1, run), item_ids=names)
    for column, bad in ((ISSUED_AT, no_issue), (time, no_time)):
        report_each(report, np.flatnonzero(bad), lambda index, column=column: _bad_time(frame, column, index))  # type: ignore[misc]
    return stamps, issued_at, no_issue | no_time | _is_nat(stamps) | _is_nat(issued_at)


def _is_nat(stamps: Stamps) -> NDArray[np.bool_]:
    return np.isnat(stamps) if stamps.dtype.kind == "M" else np.zeros(len(stamps), np.bool_)


def _refuse_other_kind(stamps: Stamps, issued_at: Stamps, time: str, source: str) -> None:
    if stamps.dtype.kind != issued_at.dtype.kind:
        raise DataError(
            f"'{source}' has {kind_of(issued_at)} in '{ISSUED_AT}' and {kind_of(stamps)} in '{time}'",
            "write both as dates, or both as steps",
            code="FA502",
            column=ISSUED_AT,
            file=source,
        )


def series_in(frame: pd.DataFrame, roles: Roles, item_ids: tuple[str, ...]) -> Ints:
    """Index into the data's series of every row of another table (num_rows,), -1 for others."""
    if roles.item_id is None or roles.item_id not in frame.columns:
        return np.zeros(len(frame), np.int64)
    indices, names = ids_as_text(frame[roles.item_id])
    position = pd.Index(item_ids, dtype=object).get_indexer(pd.Index(names, dtype=object))
    return np.append(position, -1)[indices]


def _of_every_series(table: IssuedForecasts) -> IssuedForecasts:
    """The forecasts of one series, once for each."""
    length, num_series = len(table.series), len(table.item_ids)
    repeated = table.take(np.tile(np.arange(length), num_series))
    return replace(repeated, series=np.repeat(np.arange(num_series), length))


def _without_repeats(table: IssuedForecasts, report: Report) -> IssuedForecasts:
    """Reports forecasts of the same series and time, issued at the same time."""
    same = (np.diff(table.series) == 0) & (table.stamps[1:] == table.stamps[:-1])
    repeats = np.flatnonzero(same & (table.issued_at[1:] == table.issued_at[:-1])) + 1
    report_each(report, repeats, lambda index: _repeat(table, index))
    return table.take(np.delete(np.arange(len(table.series)), repeats)) if len(repeats) else table


# --------------------------------------------------------------------------- findings


def _bad_time(frame: pd.DataFrame, column: str, index: int) -> Finding:
    value = frame[column].iloc[index]
    problem = "is empty" if pd.isna(value) else f"is {str(value)!r}, which is not a time stamp"
    message = f"column '{column}' {problem} at {row_and_line(index + 1)}"
    hint, text = "write dates as YYYY-MM-DD HH:MM", None if pd.isna(value) else str(value)
    return Finding("FA502", "error", message, hint, column=column, row=index + 1, value=text)


def _empty(column: str, index: int) -> Finding:
    message = (
        f"column '{column}' has no value at {row_and_line(index + 1)}; every row of a table of forecasts is complete"
    )
    return Finding("FA503", "error", message, "fill the cell, or remove the row", column=column, row=index + 1)


def _repeat(table: IssuedForecasts, index: int) -> Finding:
    name, stamp = table.item_ids[table.series[index]], table.zone.stamp_text(table.stamps[index])
    message = f"series '{name}' has two forecasts of {stamp} issued at {table.zone.stamp_text(table.issued_at[index])}"
    return Finding("FA504", "error", message, "keep one of the rows", item_id=name)


def _report_unknown(frame: pd.DataFrame, roles: Roles, series: Ints, source: str, report: Report) -> None:
    unknown = np.flatnonzero(series < 0)
    if not len(unknown):
        return
    value = frame[roles.item_id].iloc[unknown[0]]
    first = "an empty identifier" if pd.isna(value) else f"'{value}'"
    message = (
        f"'{source}' has {counted(len(unknown), 'row')} of series that the data does not have, the first of {first} "
        f"at {row_and_line(int(unknown[0]) + 1)}"
    )
    report(Finding("FA505", "warning", message, "they are left out", column=roles.item_id, row=int(unknown[0]) + 1))
