"""Reads a table of values known ahead: its columns, and the row or rows of each step to forecast.

Rows are joined on (item_id, timestamp), never on position.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import categories_as_text, ids_as_text, parse_numbers
from forecast_attn.data.cleaning import first_categories
from forecast_attn.data.column_names import FORECAST_WORDS
from forecast_attn.data.findings import (
    Finding,
    Report,
    counted,
    naming,
    quoted,
    require_column,
    row_and_line,
)
from forecast_attn.data.frequency import Stamps, kind_of, parse_frequency
from forecast_attn.data.future_rows import FutureRows, merged_categories
from forecast_attn.data.issued import IssuedForecasts, is_issued, on_steps, parse_issued, series_in
from forecast_attn.data.localise import axis_stamps
from forecast_attn.data.panel import Panel
from forecast_attn.data.resampling import codes_of_groups, floored, of_groups
from forecast_attn.data.roles import Roles
from forecast_attn.data.timestamps import looks_like_dates
from forecast_attn.errors import DataError

Ints = NDArray[np.int64]


def named_as_in_history(
    panel: Panel, frame: pd.DataFrame, source: str, report: Report, *, needs_names: bool = True
) -> pd.DataFrame:
    """The table with the history's names for columns that are called otherwise, where there is no doubt.

    That is a name in another case, with other blanks, or with the word forecast in it; the only column of dates; and
    the only column of the names of the history's series. Other covariates cannot be recognised by their cells.

    Args:
        panel: the history.
        frame: the table.
        source: its name, for messages.
        report: called with the columns that are matched.
        needs_names: False where rows without the name of a series are of all of them.

    Raises:
        DataError: a column that is needed is lacking, and no other one is taken for it.
    """
    roles = panel.roles
    identifier = (roles.item_id,) if roles.item_id is not None else ()
    lacking = [name for name in (roles.time, *roles.future, *identifier) if name not in frame.columns]
    if not lacking:
        return frame
    free = [str(name) for name in frame.columns if name not in (roles.time, roles.target, *roles.future, *identifier)]
    taken = {name: near for name in lacking if (near := _like(name, free)) is not None}
    free = [name for name in free if name not in taken.values()]
    if roles.time in lacking and panel.timestamps.dtype.kind == "M":
        _take_the_only_one(taken, roles.time, [name for name in free if looks_like_dates(frame[name])])
    for name in _identifier(panel):
        if name in lacking:
            _take_the_only_one(taken, name, [each for each in free if _names_series(frame[each], panel.item_ids)])
    if not is_issued(frame):
        needed = (roles.time, *roles.future, *(_identifier(panel) if needs_names else ()))
        _require_columns(frame, needed, taken, roles, source)
    for name, column in taken.items():
        message = f"'{source}' has no column '{name}'; '{column}' is taken for it"
        report(Finding("FA511", "note", message, f"call it '{name}' if that is so", column=column))
    return frame.rename(columns={column: name for name, column in taken.items()})


def _require_columns(
    frame: pd.DataFrame, needed: tuple[str, ...], taken: dict[str, str], roles: Roles, source: str
) -> None:
    """Refuse a table without one of these columns, which no other column is taken for.

    Raises:
        DataError: names the column, and the only one that may be meant.
    """
    lacking = [name for name in needed if name not in frame.columns and name not in taken]
    others = [str(each) for each in frame.columns if each not in (*needed, roles.target, *taken.values())]
    for name in lacking[:1]:
        renamed = f"call '{others[0]}' '{name}', if that is what it holds" if len(others) == len(lacking) == 1 else ""
        hint = renamed or f"call it '{name}', as the history does"
        hint = f"{hint}; forecast future-template writes a file with these names"
        require_column(frame, name, source, hint=hint)


def _take_the_only_one(taken: dict[str, str], name: str, columns: list[str]) -> None:
    if name not in taken and len(columns) == 1:
        taken[name] = columns[0]


def _names_series(column: pd.Series, item_ids: tuple[str, ...]) -> bool:
    """Return whether a column holds names of the history's series and no others."""
    names = ids_as_text(column)[1] if column.dtype.kind not in "fM" else ()
    return len(names) > 0 and set(names) <= set(item_ids)


def _like(name: str, names: list[str]) -> str | None:
    """The only one of the names that equals another one apart from case, blanks, underscores, and forecast words."""
    for plain in (_plain, _without_forecast):
        near = [each for each in names if plain(each) == plain(name) != ""]
        if near:
            return near[0] if len(near) == 1 else None
    return None


def _plain(name: str) -> str:
    return "".join(re.split(r"[\s_-]+", name.lower()))


def _without_forecast(name: str) -> str:
    return "".join(word for word in re.split(r"[\s_-]+", name.lower()) if word not in FORECAST_WORDS)


def values_of_table(
    panel: Panel, in_panel: FutureRows, frame: pd.DataFrame, source: str, report: Report, options: DataConfig
) -> tuple[FutureRows, TableUse]:
    """The rows to be forecast, with the values that a table has of them, and which of its rows are used.

    Args:
        panel: the history.
        in_panel: what the history knows itself; where the table knows a value too, the table's counts.
        frame: columns named as in the history; with a column issued_at, forecasts and when each of them was made.
        source: the table's name, for messages.
        report: called with what is worth knowing about the table.
        options: of the history: how its stamps are written, and how rows of one step become one.

    Raises:
        DataError: a column is missing, a stamp cannot be read, two rows are of one step, or every forecast was issued
            too late.
    """
    read = _newest_issued if is_issued(frame) else _joined_by_stamp
    return read(panel, in_panel, frame, source, report, options)


def _joined_by_stamp(
    panel: Panel, in_panel: FutureRows, frame: pd.DataFrame, source: str, report: Report, options: DataConfig
) -> tuple[FutureRows, TableUse]:
    """Join a table of future covariates to what is known, and count which of its rows are used."""
    table_stamps, series = _rows_of(panel, frame, source, report, options)
    row_steps = _wanted_steps(panel, table_stamps, series, in_panel.stamps)
    groups = _groups(panel, row_steps, table_stamps, series, source, options)
    shape = in_panel.stamps.shape
    is_given = np.isin(np.arange(in_panel.stamps.size), groups.steps).reshape(shape)
    covariates, category_codes, categories = (
        in_panel.covariates.copy(),
        in_panel.category_codes.copy(),
        dict(in_panel.categories),
    )
    for position, name in enumerate(panel.roles.future_covariates):
        with naming(source):
            numbers = parse_numbers(frame[name], report)
        given = np.full(in_panel.stamps.size, np.nan)
        given[groups.steps] = groups.numbers(numbers)
        known = given.reshape(shape)
        covariates[..., position] = np.where(np.isnan(known), covariates[..., position], known)
    for position, name in enumerate(panel.roles.future_categories):
        table_codes, texts = categories_as_text(frame[name])
        lookup, categories[name] = merged_categories(categories[name], texts)
        merged = np.append(pd.Index(categories[name]).get_indexer(pd.Index(texts, dtype=object)), -1)
        codes = np.full(in_panel.stamps.size, -1)
        codes[groups.steps] = merged[groups.codes(table_codes)]
        known_codes = codes.reshape(shape)
        old_codes = lookup[category_codes[..., position]]
        category_codes[..., position] = np.where(known_codes < 0, old_codes, known_codes)
    left_out = ~frame.index.isin(frame.index[row_steps >= 0]) & ~frame.index.duplicated()
    use = TableUse(
        table_stamps,
        series,
        np.asarray(is_given.any(axis=1)),
        table_stamps[: frame.index.nunique()],
        left_out,
        () if panel.roles.item_id not in frame else ids_as_text(frame.loc[series < 0, panel.roles.item_id])[1],
        groups.note,
    )
    present = in_panel.present | is_given[..., None]
    return FutureRows(in_panel.stamps, present, covariates, category_codes, categories), use


def _newest_issued(
    panel: Panel, in_panel: FutureRows, frame: pd.DataFrame, source: str, report: Report, options: DataConfig
) -> tuple[FutureRows, TableUse]:
    """Join a table of forecasts with the times they were issued at, and count which of its rows are used."""
    format_ = options.date_format
    issued = parse_issued(frame, panel.roles, panel.item_ids, source, report, zone=panel.zone, date_format=format_)
    if options.resample is not None:
        issued = on_steps(issued, options.resample, options.aggregate)
    cutoffs = panel.timestamps[panel.ends - 1]
    series = np.arange(panel.num_series)[:, None]
    used = issued.newest(series, in_panel.stamps, cutoffs[:, None])
    _refuse_issued_later(panel, issued, used, cutoffs)
    positions = [panel.roles.future_covariates.index(name) for name in issued.columns]
    covariates = in_panel.covariates.copy()
    covariates[..., positions] = np.where(
        (used >= 0)[..., None], np.append(issued.values, issued.values[:1], axis=0)[used], covariates[..., positions]
    )
    _note_issues(issued, used, report)
    present = in_panel.present.copy()
    present[..., positions] |= (used >= 0)[..., None]
    use = TableUse(issued.stamps, issued.series, np.asarray((used >= 0).any(axis=1)), issued.stamps)
    return replace(in_panel, present=present, covariates=covariates), use


class TableUse(NamedTuple):
    """Rows of a table, and the series it is used for."""

    stamps: Stamps
    """(num_rows,)"""
    series: Ints
    """Index of each row's series in the panel, -1 for others (num_rows,)."""
    is_used: NDArray[np.bool_]
    """(num_series,)"""
    table_stamps: Stamps
    """As `stamps`, but rows that all series share are there once."""
    left_out: NDArray[np.bool_] | None = None
    """True for rows of which nothing is used (num_rows,); None where another finding says which are."""
    unknown: tuple[str, ...] = ()
    """Series that the panel does not have."""
    note: str = ""
    """How rows of one step become one."""


def refuse_other_series(panel: Panel, use: TableUse, source: str) -> None:
    """Refuse a table of no series that the history has.

    Raises:
        DataError: names those of both.
    """
    if (use.series >= 0).any():
        return
    message = f"'{source}' has no row of the series to forecast"
    if use.unknown:
        message += f": its series are {quoted(use.unknown)}, those of the history {quoted(panel.item_ids)}"
    raise DataError(message, "write their names as the history does", column=panel.roles.item_id, file=source)


def refuse_unused(panel: Panel, expected: Stamps, use: TableUse, source: str) -> None:
    """Refuse a table that the user named, and that says nothing of the steps to forecast of a series it is about.

    Raises:
        DataError: names the series, its steps and the table's.
    """
    has_rows = np.zeros(panel.num_series, np.bool_)
    has_rows[use.series[use.series >= 0]] = True
    for index in np.flatnonzero(has_rows & ~use.is_used)[:1]:
        first, last = (panel.zone.stamp_text(expected[index, at]) for at in (0, -1))
        stamps = use.stamps[use.series == index]
        lowest, highest = (panel.zone.stamp_text(stamp) for stamp in (stamps.min(), stamps.max()))
        raise DataError(
            f"'{source}' has no row for the steps to forecast of series '{panel.item_ids[index]}', {first} to {last}: "
            f"its rows go from {lowest} to {highest}",
            "--data with the history up to the first of them, or leave --future out",
            item_id=panel.item_ids[index],
        )


def count_used(panel: Panel, expected: Stamps, use: TableUse, source: str, report: Report) -> None:
    """Report how many rows of a table that the user named are used, and why the others are not."""
    if use.left_out is None:
        return
    stamps, series = use.stamps[use.left_out], use.series[use.left_out]
    known = series >= 0
    early = known & (stamps <= panel.timestamps[panel.ends - 1][series])
    late = known & (stamps > expected[series, -1])
    if not known.all():
        names, number = quoted(use.unknown) or "without a name", counted(int((~known).sum()), "row")
        message = f"'{source}' has {number} of series that the history does not have: {names}"
        report(Finding("FA505", "warning", message, "they are left out", column=panel.roles.item_id))
    between = known & ~early & ~late
    reasons = [
        (~known, "of other series"),
        (early, "up to the last known target"),
        (late, "beyond the horizon"),
        (between, "between the steps"),
    ]
    num_rows = len(use.table_stamps)
    num_used = num_rows - len(stamps)
    unused = ", ".join(f"{int(which.sum()):,} {where}" for which, where in reasons if which.any())
    message = f"'{source}': {num_used:,} of {counted(num_rows, 'row')} are used{use.note}"
    is_finer = between.sum() > num_used and panel.frequency.sessions is None
    hint = "a step has the value at its own stamp; average the file's rows first if their mean is meant"
    report(Finding("FA510", "note", message + (f"; not used: {unused}" if unused else ""), hint if is_finer else None))


def _identifier(panel: Panel) -> tuple[str, ...]:
    return (panel.roles.item_id,) if panel.roles.item_id is not None and panel.num_series > 1 else ()


def _rows_of(
    panel: Panel, frame: pd.DataFrame, source: str, report: Report, options: DataConfig
) -> tuple[Stamps, Ints]:
    """Stamp, of its step where the history was resampled, and series of every row of the table (num_rows,)."""
    series, time = series_in(frame, panel.roles, panel.item_ids), panel.roles.time
    with naming(source):
        stamps, bad = axis_stamps(
            frame[time], panel.zone, report, series=series, item_ids=panel.item_ids, date_format=options.date_format
        )
    for index in np.flatnonzero(bad)[:1]:
        raise _bad_time(frame, time, int(index), source, options.date_format)
    if stamps.dtype.kind != panel.timestamps.dtype.kind:
        raise _other_kind_of_time(time, stamps, panel.timestamps, source)
    if options.resample is not None:
        of_series = np.flatnonzero(series >= 0)  # others have no stamp
        stamps[of_series] = floored(stamps[of_series], parse_frequency(options.resample), panel.zone)
    return stamps, series


def _wanted_steps(panel: Panel, table_stamps: Stamps, series: Ints, stamps: Stamps) -> Ints:
    """Step of each row (num_rows,), an index into those wanted (num_series, horizon) counted through; -1 for none."""
    times = np.unique(stamps)
    at_time = np.minimum(np.searchsorted(times, table_stamps), len(times) - 1)
    sought = (np.arange(panel.num_series)[:, None] * len(times) + np.searchsorted(times, stamps)).ravel()
    keys = series * len(times) + at_time
    positions = np.minimum(np.searchsorted(sought, keys), len(sought) - 1)
    is_wanted = (series >= 0) & (times[at_time] == table_stamps) & (sought[positions] == keys)
    return np.where(is_wanted, positions, -1)


class _Groups(NamedTuple):
    """Rows of a table that become one row of each step, as those of the history do."""

    rows: Ints
    """Those that are used, by step."""
    starts: Ints
    """First of each group in `rows`."""
    steps: Ints
    """Step of each group, as of `_wanted_steps`."""
    how: str
    """Mean, first or last."""
    option: str = ""
    """The option that says so; empty where every group is one row."""

    @property
    def note(self) -> str:
        """Sentence for a note; empty where every group is one row."""
        is_merged = len(self.starts) < len(self.rows)
        return f", as the {self.how} of each step ({self.option})" if is_merged else ""

    def numbers(self, column: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean, first, or last known number of each group."""
        column = column[self.rows]
        return column[self.starts] if self.how == "first" else of_groups(column, self.starts, self.how)

    def codes(self, column: NDArray[np.int32]) -> NDArray[np.int32]:
        """First known code of each group, or the last one, as the history's."""
        codes = column[self.rows]
        is_last = self.how == "last" or "--resample" in self.option
        return codes_of_groups(codes, self.starts) if is_last else first_categories(codes, self.starts)[0]


def _groups(
    panel: Panel, row_steps: Ints, table_stamps: Stamps, series: Ints, source: str, options: DataConfig
) -> _Groups:
    """The rows of each step.

    Raises:
        DataError: two rows are of one step, and no option makes one of such rows.
    """
    rows = np.flatnonzero(row_steps >= 0)
    rows = rows[np.argsort(row_steps[rows], kind="stable")]
    is_first = np.append(True, row_steps[rows[1:]] != row_steps[rows[:-1]])[: len(rows)]
    starts = np.flatnonzero(is_first)
    steps = row_steps[rows[starts]]
    if options.resample is not None:
        how = "last" if options.aggregate == "last" else "mean"
        return _Groups(rows, starts, steps, how, f"--resample {options.resample}")
    if options.duplicates != "error":
        return _Groups(rows, starts, steps, options.duplicates, f"--duplicates {options.duplicates}")
    if not is_first.all():
        index = int(rows[~is_first].min())
        raise _twice(panel.item_ids[series[index]], panel.zone.stamp_text(table_stamps[index]), index, source)
    return _Groups(rows, starts, steps, "first")


def _bad_time(frame: pd.DataFrame, column: str, index: int, source: str, date_format: str | None) -> DataError:
    """Error for a cell that is not a time stamp."""
    value = frame[column].iloc[index]
    shown, like = "empty" if pd.isna(value) else f"'{value}'", "" if date_format is None else f", {date_format}"
    return DataError(
        f"'{source}': column '{column}' is {shown} at {row_and_line(index + 1)}; expected a time stamp",
        f"write it as the history does{like}",
        row=index + 1,
        column=column,
        value=None if pd.isna(value) else str(value),
        file=source,
    )


def _other_kind_of_time(column: str, stamps: Stamps, expected: Stamps, source: str) -> DataError:
    """Error for steps where the history has dates, or the other way round."""
    message = f"'{source}' has {kind_of(stamps)} in '{column}', the history {kind_of(expected)}"
    return DataError(message, column=column, file=source)


def _twice(item_id: str, stamp: str, index: int, source: str) -> DataError:
    """Error for two rows of one step."""
    return DataError(
        f"'{source}' has {stamp} of series '{item_id}' twice, the second at {row_and_line(index + 1)}",
        "keep one of the rows",
        row=index + 1,
        item_id=item_id,
        value=stamp,
        file=source,
    )


def _refuse_issued_later(
    panel: Panel, issued: IssuedForecasts, used: NDArray[np.int64], cutoffs: NDArray[np.generic]
) -> None:
    """Refuse forecasts of a series that were all made after its last known target.

    Args:
        panel: the history.
        issued: the forecasts of its series.
        used: index of the forecast used for each step (num_series, horizon), -1 for none.
        cutoffs: stamp of the last known target of each series (num_series,).

    Raises:
        DataError: names the series, its cut-off and the first issue.
    """
    earliest = _earliest(issued, panel.num_series)
    for index in np.flatnonzero((used < 0).all(axis=1) & (earliest > cutoffs))[:1]:
        message = (
            f"every forecast of series '{panel.item_ids[index]}' in '{issued.source}' was issued after its last known "
            f"target, at {panel.zone.stamp_text(cutoffs[index])}; the first at {panel.zone.stamp_text(earliest[index])}"
        )
        hint = "add the forecasts that were known then, or a history that reaches further with --data"
        raise DataError(message, hint, item_id=panel.item_ids[index])


def _earliest(issued: IssuedForecasts, num_series: int) -> Stamps:
    """Issue time of each series' first forecast (num_series,); the beginning of time where it has none."""
    bounds = np.searchsorted(issued.series, np.arange(num_series + 1))
    has_any = np.diff(bounds) > 0
    earliest = np.full(num_series, np.iinfo(np.int64).min + 1).astype(issued.issued_at.dtype)
    if has_any.any():
        earliest[has_any] = np.minimum.reduceat(issued.issued_at, bounds[:-1][has_any])
    return earliest


def _note_issues(issued: IssuedForecasts, used: NDArray[np.int64], report: Report) -> None:
    """Note which issues are used."""
    times = np.unique(issued.issued_at[used[used >= 0]])
    if not len(times):
        return
    first, last, newest = (issued.zone.stamp_text(each) for each in (times[0], times[-1], issued.issued_at.max()))
    which = first if len(times) == 1 else f"{first} to {last}"
    message = f"'{issued.source}': the forecasts of {quoted(issued.columns)} issued at {which} are used"
    unused = f"; those issued later, up to {newest}, are not" if issued.issued_at.max() > times[-1] else ""
    report(Finding("FA509", "note", message + unused))
