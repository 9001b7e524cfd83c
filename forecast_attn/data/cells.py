"""Turns the columns of a frame into numbers and time stamps, sorted by series and time."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.date_forms import DATE_ORDERS, FIRST_YEAR, LAST_YEAR
from forecast_attn.data.findings import (
    Finding,
    Report,
    coded,
    counted,
    ended,
    option_for,
    report_each,
    require_column,
    row_and_line,
)
from forecast_attn.data.frequency import Stamps, weekday
from forecast_attn.data.number_stamps import EPOCH_UNITS, SERIAL_DAYS, ParsedStamps, are_serial_days
from forecast_attn.data.reading import LONG_TARGET, FilePositions, file_positions, parse_texts
from forecast_attn.data.reading.joined import identifier_text
from forecast_attn.data.roles import Roles
from forecast_attn.data.timestamps import is_far_off, offset_in, read_stamps
from forecast_attn.data.zone_names import hint_at_unread, unread_name
from forecast_attn.data.zones import CLOCKS, Zone, changes_at
from forecast_attn.errors import DataError

_WHOLE = re.compile(r"^([+-]?\d+)[.,]0+$")
"""A whole number with nothing behind its decimal mark."""
LARGEST = 1e30
"""Far below what float32 can hold, so that no square of a number overflows float64 and no scaled one float32."""


@dataclass(frozen=True)
class Cells:
    """The parsed table, sorted by (item_id, time)."""

    rows: NDArray[np.int32]
    """Data row in the file, counted from 1; 0 for rows that fill a gap (num_rows,)."""
    series: NDArray[np.int32]
    """Index into `item_ids` (num_rows,)."""
    item_ids: tuple[str, ...]
    stamps: Stamps
    columns: dict[str, NDArray[np.float64]]
    category_codes: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    """Index into the column's `categories`, -1 where empty."""
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Every category of a column, sorted as text."""
    offsets: NDArray[np.int32] | None = None
    """Seconds east of UTC as the file has them; `stamps` are UTC then (num_rows,)."""
    zone: Zone = field(default_factory=Zone)
    """Zone that the stamps are shown in; settled by `localise`."""
    is_wide: bool = False
    """True when the table has one column per series."""
    date_order: str | None = None
    """Order of dates of three numbers: day-first, month-first or year-first."""

    def column_at(self, column: str, index: int) -> str:
        """Column of a cell in the file; in a wide table, the column of its series."""
        return self.item_ids[self.series[index]] if self.is_wide and column == LONG_TARGET else column

    def text(self, index: int) -> str:
        """The stamp of a row, for messages."""
        return self.zone.stamp_text(self.stamps[index])

    def zone_of_clock_change(self, index: int) -> str | None:
        """A zone whose clocks are put back at a stamp that stands twice, or forward in the gap before a stamp.

        None where the stamps have a zone already, or no zone that is known for its changes on Sundays has one there.
        """
        if self.zone.name is not None or self.stamps.dtype.kind != "M":
            return None
        if weekday(self.stamps[index]) != 6:
            return None
        moment = self.between(np.array([index]))
        return next((name for name in CLOCKS if changes_at(name, moment)[0]), None)

    def between(self, index: NDArray[np.int64]) -> Stamps:
        """The middles of rows and the rows before them (num_at,)."""
        before = self.stamps[index - 1]
        return np.asarray(before + (self.stamps[index] - before) // 2)

    @property
    def repeats(self) -> NDArray[np.bool_]:
        """True at rows with the series and the stamp of the row before (num_rows,)."""
        same = (self.series[1:] == self.series[:-1]) & (self.stamps[1:] == self.stamps[:-1])
        return np.append(False, same)

    def up_to_last_known(self, column: str) -> NDArray[np.bool_]:
        """True up to the last known number of a column in each series (num_rows,)."""
        last = self.last_where(~np.isnan(self.columns[column]))
        return np.asarray(np.arange(len(self.rows)) <= last[self.series], np.bool_)

    def last_where(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The last row of each series at which a mask (num_rows,) is True, -1 where there is none (num_series,)."""
        return np.maximum.reduceat(np.where(mask, np.arange(len(mask)), -1), self.starts[:-1])

    def is_empty(self, column: str) -> NDArray[np.bool_]:
        """True at empty cells of a column of numbers or categories (num_rows,)."""
        codes = self.category_codes.get(column)
        return np.isnan(self.columns[column]) if codes is None else np.asarray(codes < 0, np.bool_)

    @functools.cached_property  # asked for once a series by some checks
    def starts(self) -> NDArray[np.int64]:
        """First row of every series, and the number of rows (num_series + 1,)."""
        indices = np.arange(len(self.item_ids) + 1, dtype=self.series.dtype)  # of another type all rows would be copied
        return np.searchsorted(self.series, indices)

    def take(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> Cells:
        """The chosen rows, in the given order."""
        return replace(
            self,
            rows=self.rows[which],
            series=self.series[which],
            stamps=self.stamps[which],
            columns={name: values[which] for name, values in self.columns.items()},
            category_codes={name: codes[which] for name, codes in self.category_codes.items()},
            offsets=None if self.offsets is None else self.offsets[which],
        )


@coded("FA201")
def parse_cells(
    frame: pd.DataFrame, roles: Roles, report: Report, source: str, date_format: str | None = None
) -> Cells:
    """Parse every cell that has a role, and report those that cannot be.

    Raises:
        DataError: a column is missing, or no row has a time stamp.
    """
    identifier = () if roles.item_id is None else (roles.item_id,)
    for name in (roles.time, *identifier, *roles.numeric, *roles.categorical):
        require_column(frame, name, source)
    time = read_stamps(frame[roles.time], roles.time, date_format)
    _report_steps_that_may_be_times(time, frame[roles.time], report)
    positions = file_positions(frame)
    nothing = _rows_of_nothing(frame, roles, time)
    if nothing.any():
        report(_left_out(np.flatnonzero(nothing), positions, roles))
    report_each(
        report,
        np.flatnonzero(time.bad & ~nothing),
        lambda index: _bad_time(frame[roles.time], index, positions.row(index), time, date_format),
    )
    series, item_ids = _parse_ids(frame, roles)
    report_each(
        report, np.flatnonzero((series < 0) & ~nothing), lambda index: _no_id(roles.item_id, positions.row(index))
    )
    columns = {
        name: parse_numbers(frame[name], report, needed=name == roles.target, rows_in_file=positions)
        for name in roles.numeric
    }
    codes, categories = parse_categories(frame, roles.categorical)
    zone = Zone() if time.zone is None else Zone(time.zone, "utc")
    cells = Cells(positions.rows(), series, item_ids, time.stamps, columns, codes, categories, time.offsets, zone)
    cells = replace(cells, date_order=time.order, is_wide=positions.names is not None)
    usable = ~time.bad & (series >= 0)
    if not usable.any():
        message = f"column '{roles.time}' has no time stamp in any row"
        raise ended(report, Finding("FA201", "error", message, "--time NAME", column=roles.time, options=("time",)))
    return sorted_cells(cells if usable.all() else without_rowless_series(cells.take(usable)))


def _rows_of_nothing(frame: pd.DataFrame, roles: Roles, time: ParsedStamps) -> NDArray[np.bool_]:
    """Rows with neither a stamp nor a target, such as the settings that devices write above what they measured."""
    nothing = time.bad.copy()
    if not nothing.any():
        return nothing
    bad = np.flatnonzero(nothing)
    nothing[bad] = frame[[roles.time, roles.target]].iloc[bad].isna().all(axis=1)
    return nothing


def _left_out(rows: NDArray[np.int64], positions: FilePositions, roles: Roles) -> Finding:
    first = positions.row(int(rows[0]))
    message = (
        f"{counted(len(rows), 'row')} with neither '{roles.time}' nor '{roles.target}' left out, the first at "
        f"{row_and_line(first)}"
    )
    return Finding("FA217", "note", message, column=roles.time, row=first)


def parse_numbers(
    column: pd.Series, report: Report, *, needed: bool = False, rows_in_file: FilePositions | None = None
) -> NDArray[np.float64]:
    """Parse a column to float64 (num_rows,), NaN where empty; report text, and numbers too large to compute with.

    The array may share the column's memory: do not write to it.

    Args:
        column: numbers, or text of numbers.
        report: called with every cell that is no number.
        needed: whether the column cannot be left out.
        rows_in_file: where the cells stand in the file; row by row when None.
    """
    rows_in_file = rows_in_file or file_positions(column.to_frame())
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values, is_text = _numbers_of_text(column)
        report_each(report, np.flatnonzero(is_text), lambda index: _text_cell(column, index, needed, rows_in_file))
    large = (values > LARGEST) | (values < -LARGEST)
    report_each(report, np.flatnonzero(large), lambda index: _too_large(column, values[index], index, rows_in_file))
    return _clean(values, large)


def _clean(values: NDArray[np.float64], large: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the values with NaN where too large, and -0.0 as 0.0, because equal numbers must be equal bytes."""
    if not large.any() and not np.signbit(values[values == 0]).any():
        return values
    return np.where(large, np.nan, values) + 0.0


def _numbers_of_text(column: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The number in each cell (num_rows,), NaN where it has none, and which cells hold something else."""
    codes, distinct = pd.factorize(column)
    texts = [value.strip() if isinstance(value, str) else None for value in distinct]
    numbers = parse_texts([*texts, None], ".", grouped=False)  # as in a CSV with decimal points; all in one call
    for which, text in enumerate(texts):
        if text is None:
            numbers[which] = _number(distinct[which])
    return numbers[codes], np.isnan(numbers)[codes] & (codes >= 0)


def _number(value: object) -> float:
    """The number that an object holds; NaN for anything else."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return np.nan


def parse_categories(
    frame: pd.DataFrame, names: tuple[str, ...]
) -> tuple[dict[str, NDArray[np.int32]], dict[str, tuple[str, ...]]]:
    """Codes (num_rows,), -1 where empty, and the categories of each column.

    1.0 and 1 are the category "1", as numbers and as text, and so is yes in every spelling; 007 is another one.
    """
    parsed = {name: categories_as_text(frame[name]) for name in names}
    codes = {name: indices for name, (indices, _) in parsed.items()}
    return codes, {name: values for name, (_, values) in parsed.items()}


def _parse_ids(frame: pd.DataFrame, roles: Roles) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Series index of every row, -1 where the identifier is empty, and the identifiers sorted as text."""
    if roles.item_id is None:
        return np.zeros(len(frame), np.int32), (roles.target,)
    return ids_as_text(frame[roles.item_id])


def categories_as_text(column: pd.Series) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Index of each cell's category (num_rows,), -1 where empty, and the sorted categories."""
    return ids_as_text(column, _as_category)


def _as_category(text: str) -> str:
    """Spell a whole number, yes and no in one way; another file may write 3.0 and TRUE."""
    yes_or_no = {"true": "1", "false": "0"}.get(text.lower())
    return yes_or_no or _WHOLE.sub(r"\1", text)


def ids_as_text(column: pd.Series, spelling: Callable[[str], str] = str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Index of each cell's identifier (num_rows,), -1 where empty, and the sorted identifiers.

    Args:
        column: numbers or text.
        spelling: of text without blanks around it.

    Raises:
        DataError: an identifier holds the character NUL, which no text file can.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        indices, values = _used_categories(column)
    else:
        codes, distinct = pd.factorize(column)
        indices, values = codes.astype(np.int32), list(distinct)
    texts = [spelling(identifier_text(value)) for value in values]
    item_ids = sorted({text for text in texts if text})
    if any("\0" in text for text in item_ids):
        raise _holds_nul(str(column.name), next(text for text in item_ids if "\0" in text))
    position = {text: index for index, text in enumerate(item_ids)}
    lookup = np.array([position.get(text, -1) for text in texts] + [-1], np.int32)
    return lookup[indices], tuple(item_ids)


def _holds_nul(column: str, text: str) -> DataError:
    message = f"column '{column}' holds the character NUL: {text!r}"
    return DataError(message, "write the name without it: no text file can hold it", code="FA101", column=column)


_CODES_AT_A_TIME = 1_000_000
"""An index of more would take as much memory as the table."""


def _used_categories(column: pd.Series) -> tuple[NDArray[Any], list[Any]]:
    """Codes (num_rows,), -1 where empty, and the categories that some cell has."""
    codes, values = column.cat.codes.to_numpy(), list(column.cat.categories)
    used = np.zeros(len(values) + 1, np.bool_)
    for first in range(0, len(codes), _CODES_AT_A_TIME):
        used[codes[first : first + _CODES_AT_A_TIME]] = True  # -1, of an empty cell, is the last one
    used = used[:-1]
    if used.all():
        return codes, values
    lookup = np.append(np.cumsum(used) - 1, -1).astype(np.int32)
    return lookup[codes], [value for value, is_used in zip(values, used, strict=True) if is_used]


def without_rowless_series(cells: Cells) -> Cells:
    """The same without series of which every row was left out."""
    used = np.flatnonzero(np.bincount(cells.series, minlength=len(cells.item_ids)))
    if len(used) == len(cells.item_ids):
        return cells
    item_ids = tuple(cells.item_ids[index] for index in used)
    return replace(cells, series=np.searchsorted(used, cells.series).astype(np.int32), item_ids=item_ids)


def sorted_cells(cells: Cells) -> Cells:
    """The rows by series and stamp; those that share both in the order of the file."""
    same = cells.series[1:] == cells.series[:-1]
    equal = (cells.stamps[1:] == cells.stamps[:-1]) & (cells.rows[1:] > cells.rows[:-1])
    later = equal | (cells.stamps[1:] > cells.stamps[:-1])
    if np.where(same, later, cells.series[1:] > cells.series[:-1]).all():
        return cells
    starts = np.flatnonzero(np.append(True, ~same))
    if later[same].all() and len(np.unique(cells.series[starts])) == len(starts):  # as of a wide table
        return cells.take(_in_order_of_series(cells.series[starts], starts, len(cells.series)))
    return cells.take(np.lexsort((cells.rows, cells.stamps, cells.series)))


def _in_order_of_series(series: NDArray[np.int32], starts: NDArray[np.int64], num_rows: int) -> NDArray[np.int64]:
    """Rows (num_rows,) in the order of their series, each of which begins at one start and stands together."""
    order = np.argsort(series)
    lengths = np.diff(starts, append=num_rows)[order]
    return np.asarray(np.arange(num_rows) + np.repeat(starts[order] - (np.cumsum(lengths) - lengths), lengths))


def _bad_time(column: pd.Series, index: int, row: int, time: ParsedStamps, date_format: str | None) -> Finding:
    value, name = column.iloc[index], str(column.name)
    offset = offset_in(value)
    problem, hint = ", which is not a time stamp", "write dates as YYYY-MM-DD or YYYY-MM-DD HH:MM"
    options: tuple[str, ...] = ()
    if (zone := unread_name(value)) is not None:
        problem, hint = f": '{zone}' does not mean one offset", hint_at_unread(str(value))
        options = ("date_format",)
    elif date_format is not None and date_format not in DATE_ORDERS:
        problem, hint = f", which is not of --date-format '{date_format}'", "correct the cell or the format"
    elif " 24:00" in str(value).replace("T", " "):
        problem, hint = "; other midnights of the column are written 00:00", "write 24:00 as 00:00 of the next day"
    elif offset is not None and is_far_off(offset):
        problem, hint = ", whose offset from UTC is a day or more", "write an offset such as +01:00, or Z"
    elif (year := re.match(r"[+-]?\d{4,}(?=-\d)", str(value))) and not FIRST_YEAR <= int(year[0]) <= LAST_YEAR:
        problem = f", outside the years {FIRST_YEAR} to {LAST_YEAR}"
        hint = "correct the cell; or --time row-number counts the rows, if they are in the order of time"
        options = ("time",)
    elif time.offsets is not None and offset is None:
        problem, hint = ", without the offset that other cells have", "write an offset such as +01:00, or Z"
    elif pd.isna(value):
        hint = "write the date of that row as YYYY-MM-DD, or remove the row"
    problem = "is empty" if pd.isna(value) else f"is {str(value)!r}{problem}"
    message, text = f"column '{name}' {problem} at {row_and_line(row)}", None if pd.isna(value) else str(value)
    return Finding("FA201", "error", message, hint, column=name, row=row, value=text, options=options)


def epoch_unit(numbers: NDArray[Any]) -> str | None:
    """The unit, of `EPOCH_UNITS`, of numbers as large as times of 2001 to 2065 since 1970; None for others."""
    if numbers.dtype.kind not in "iuf" or not len(numbers):
        return None
    first, last = float(numbers.min()), float(numbers.max())
    return next((u for u, length in EPOCH_UNITS.items() if 1e18 / length <= first and last <= 3e18 / length), None)


def _report_steps_that_may_be_times(time: ParsedStamps, column: pd.Series, report: Report) -> None:
    """Note whole numbers that may be times since 1970, or the days of a spreadsheet."""
    if time.stamps.dtype.kind == "M":
        return
    date_format: str | None = epoch_unit(time.stamps[~time.bad])
    if date_format is None and are_serial_days(column):
        date_format = SERIAL_DAYS
    if date_format is None:
        return
    prefixes = {"s": "", "ms": "milli", "us": "micro", "ns": "nano"}
    counted = {unit: f"{prefix}seconds since 1970" for unit, prefix in prefixes.items()}
    counted[SERIAL_DAYS] = "days of a spreadsheet"
    first = read_stamps(column.nsmallest(1), date_format=date_format).stamps[0]
    since = str(first.astype("datetime64[m]")).replace("T", " ").removesuffix(" 00:00")
    message = f"column '{column.name}' may hold {counted[date_format]}, from {since} on; it is read as steps"
    hint = f"--date-format {date_format} if they are"
    report(Finding("FA212", "note", message, hint, column=str(column.name), options=("date_format",)))


def _no_id(column: str | None, row: int) -> Finding:
    message = f"column '{column}' (series identifier) is empty at {row_and_line(row)}"
    hint = f"name the series in every row, or --id '{column}' --undated-rows drop leaves out what is none, as a total"
    return Finding("FA208", "error", message, hint, column=column, row=row, options=("undated_rows",))


def _text_cell(column: pd.Series, index: int, needed: bool, rows_in_file: FilePositions) -> Finding:
    value, name, row = str(column.iloc[index]), rows_in_file.column(str(column.name), index), rows_in_file.row(index)
    comma = value.replace(",", "", 1).lstrip("+-").isdecimal()
    categorical, ignore = option_for("categorical", name), option_for("ignore", name)
    names = f"{categorical} if its cells are names, or leave the column out with {ignore}"
    correct = "correct the cell" if needed else f"correct the cell, or {names}"
    if needed and isinstance(column.dtype, pd.CategoricalDtype) and len(column.cat.categories) == 2:
        zero, one = sorted(map(str, column.cat.categories))
        correct = f"write 1 for {one!r} and 0 for {zero!r}: their share is forecast"
    hint = "write decimals with a point" if comma else correct
    options = () if comma or needed else ("categorical", "ignore")
    message = f"column '{name}' must be numeric; {row_and_line(row)} is {value!r}"
    return Finding("FA103", "error", message, hint, column=name, row=row, value=value, options=options)


def _too_large(column: pd.Series, value: float, index: int, rows_in_file: FilePositions) -> Finding:
    problem = "infinite" if np.isinf(value) else f"{value:g}"
    name, row = rows_in_file.column(str(column.name), index), rows_in_file.row(index)
    message = f"column '{name}' is {problem} at {row_and_line(row)}; expected a finite number below {LARGEST:g}"
    hint = f"correct the cell, or --na {float(value)!r} reads it as no value"
    return Finding("FA303", "error", message, hint, column=name, row=row, value=f"{value:g}", options=("na",))
