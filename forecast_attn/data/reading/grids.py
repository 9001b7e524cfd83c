"""Tables whose columns are the steps of a row: hours of a day, days of a week or month, months of a year, years."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.column_names import unit_of
from forecast_attn.data.frequency import MONTHS
from forecast_attn.data.reading.clocks import PERIODS_OF_DAY
from forecast_attn.data.reading.header import unnamed_column
from forecast_attn.data.reading.time_parts import holds_years, joined_time
from forecast_attn.data.timestamps import looks_like_dates, parse_timestamps
from forecast_attn.data.written_dates import month_number
from forecast_attn.errors import DataError

FEWEST_YEARS = 3
MOST_LABELS = 4
"""Columns among which the months of rows are looked for."""
DAY = 24 * 60
"""Minutes."""
_HOUR = re.compile(
    r"(h|he|hr|hour|std|stunde|hora|tp|sp|hp|v|period|interval)?[ ._-]?(\d{1,3})(?:h|[시時时点點])?", re.IGNORECASE
)
_NUMBERED = re.compile(r"(\D*?)[ ._-]?(\d{1,2})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::00)?(?: ?- ?\d{1,2}:\d{2}(?::00)?)?")
_DATE = ("year", "month", "day")
_DAYS_OF_MONTH = range(1, 32)
_WEEKDAYS = [
    days.split() for days in ("mon tue wed thu fri sat sun", "mo di mi do fr sa so", "lun mar mer jeu ven sam dim")
]
_WEEKDAY_OF_1970 = 3
"""That of the first of January: Thursday."""
_YEAR = re.compile(r"X?((?:1[5-9]|20|21)\d\d)")
_QUARTER = re.compile(r"(?:q|qtr|quarter)[ ._-]?([1-4])|([1-4])[ ._-]?q(?:tr)?")


@dataclass(frozen=True)
class CellGrid:
    """The cells of such a table, in the order of time."""

    names: tuple[str, ...]
    """Columns that hold values."""
    labels: tuple[str, ...]
    """The column of days, months or years; those of the year, month and day."""
    rows: NDArray[np.int64]
    """Row of each cell (num_cells,)."""
    stamps: NDArray[np.datetime64]
    values: NDArray[Any]
    step: str = "step"
    """What each of the columns is, for messages."""


def find_grid(frame: pd.DataFrame, date_format: str | None = None, time: str | None = None) -> CellGrid | None:
    """The cells of such a table; None for others.

    Args:
        frame: as it stands in the file.
        date_format: as `--date-format` takes it.
        time: the column of years, where the user names it.
    """
    days = _hours_across(frame, date_format) or _weekdays_across(frame, date_format)
    days_of_months = _days_across(frame, date_format) or _days_down(frame, time)
    return _years_across(frame) or days or days_of_months or periods_across(frame, time)


def _hours_across(frame: pd.DataFrame, date_format: str | None) -> CellGrid | None:
    names = [str(name) for name in frame.columns]
    minutes = _minutes_of(names)
    if not minutes:
        return None
    labels = tuple([name for name in names if name not in minutes and looks_like_dates(frame[name])][:1])
    units = {unit_of(name): name for name in reversed(names) if name not in minutes}
    if not labels and units.keys() >= set(_DATE):
        labels = tuple(units[unit] for unit in _DATE)
    if not labels:
        return None
    column = frame[labels[0]] if len(labels) == 1 else joined_time([frame[name] for name in labels], "")
    days, bad = parse_timestamps(column, labels[0], date_format)
    if bad.any() or days.dtype.kind != "M":
        return None
    return _grid_of(frame, labels, days, minutes, "m")


def _grid_of(
    frame: pd.DataFrame,
    labels: tuple[str, ...],
    starts: NDArray[np.datetime64],
    offsets: dict[str, int],
    unit: str,
    step: str = "step",
) -> CellGrid:
    """The cells of a table whose columns each lie so many units of time after the start of their row."""
    order = sorted(offsets, key=lambda name: offsets[name])
    steps = np.array([offsets[name] for name in order], f"timedelta64[{unit}]")
    stamps = (starts[:, None] + steps[None, :]).astype("datetime64[ns]").ravel()
    rows = np.repeat(np.arange(len(frame)), len(order))
    return CellGrid(tuple(order), labels, rows, stamps, _values(frame, order).ravel(), step)


def _weekdays_across(frame: pd.DataFrame, date_format: str | None) -> CellGrid | None:
    """A row for each week, and a column for each of its days, in the order of time; those before the end of a week."""
    names = [str(name) for name in frame.columns]
    days = next((days for words in _WEEKDAYS if len(days := _days_of(names, words)) == len(words)), None)
    if days is None:
        return None
    labels = [name for name in names if looks_like_dates(frame[name])][:1]
    if not labels:
        return None
    dates, bad = parse_timestamps(frame[labels[0]], labels[0], date_format)
    weekdays = np.unique((dates.astype("datetime64[D]").astype(np.int64) + _WEEKDAY_OF_1970) % len(days))
    if bad.any() or dates.dtype.kind != "M" or len(weekdays) > 1:
        return None
    dated, is_end = int(weekdays[0]), "end" in labels[0].lower()
    offsets = {name: -((dated - day) % 7) if is_end else (day - dated) % 7 for day, name in days.items()}
    return _grid_of(frame, tuple(labels), dates, offsets, "D")


def _days_of(names: list[str], words: list[str]) -> dict[int, str]:
    """Weekday, from 0 for Monday -> the column that begins with its short name."""
    plain = {name: name.strip().lower()[: len(words[0])] for name in names}
    return {words.index(plain[name]): name for name in reversed(names) if plain[name] in words and len(name) < 11}


def _minutes_of(names: list[str]) -> dict[str, int]:
    """Column -> minutes after midnight, of columns that are all steps of a day; from 1 on, each ends at its number."""
    clocks = {name: match for name in names if (match := _CLOCK.fullmatch(name.strip()))}
    minutes = {name: int(match[1]) * 60 + int(match[2]) for name, match in clocks.items()}
    if not minutes:
        stems: dict[str, dict[str, int]] = {}
        for name in names:
            if match := _HOUR.fullmatch(name.strip().lower()):
                stems.setdefault(match[1] or "", {})[name] = int(match[2])
        periods = max(stems.values(), key=len, default={})  # the first of as many: `H01`, and no `V01` of its quality
        first, length = min(periods.values(), default=0), DAY // max(len(periods), 1)
        is_counted = first in (0, 1) and len(periods) in PERIODS_OF_DAY
        minutes = {name: (period - first) * length for name, period in periods.items()} if is_counted else {}
    elif min(minutes.values()) > 0 and max(minutes.values()) == DAY:  # 01:00 to 24:00
        minutes = {name: index - min(minutes.values()) for name, index in minutes.items()}
    step = DAY // len(minutes) if minutes else 0
    is_day = len(minutes) >= 24 and sorted(minutes.values()) == list(range(0, DAY, step))
    return minutes if is_day else {}


def _days_across(frame: pd.DataFrame, date_format: str | None) -> CellGrid | None:
    """A row for each month, and a column for each of 31 days, as of hydrologists: `Vazao01` to `Vazao31`."""
    names = [str(name) for name in frame.columns]
    stems: dict[str, dict[str, int]] = {}
    for name in names:
        if match := _NUMBERED.fullmatch(name.strip()):
            stems.setdefault(match[1], {})[name] = int(match[2])
    numbers = {name for name, dtype in zip(names, frame.dtypes, strict=True) if dtype.kind in "iuf"}
    of_days = (each for each in stems.values() if sorted(each.values()) == [*_DAYS_OF_MONTH])
    days = max(of_days, key=lambda each: len(numbers.intersection(each)), default={})  # and no symbols beside them
    if len(numbers.intersection(days)) <= len(days) / 2:
        return None
    labels, months = _months_of_rows(frame, [name for name in names if name not in days], date_format)
    if not labels:
        return None
    offsets = {name: day - 1 for name, day in days.items()}
    return _on_real_days(_grid_of(frame, labels, months, offsets, "D", "day"), np.repeat(months, len(days)))


def _months_of_rows(
    frame: pd.DataFrame, names: list[str], date_format: str | None
) -> tuple[tuple[str, ...], NDArray[np.datetime64]]:
    """The columns of year and month, or of the first day of each month, and that day; none for other rows."""
    units = {unit_of(name): name for name in reversed(names)}
    labels = tuple(units[unit] for unit in _DATE[:2] if unit in units)
    if len(labels) < 2:
        labels = tuple([name for name in names if looks_like_dates(frame[name])][:1])
    if not labels:
        return (), np.empty(0, "datetime64[ns]")
    column = frame[labels[0]] if len(labels) == 1 else joined_time([frame[name] for name in labels], "")
    for order in (None, "day-first", "month-first") if date_format is None else (date_format,):  # 01/02/1999
        with contextlib.suppress(DataError):
            stamps, bad = parse_timestamps(column, labels[0], order)
            if not bad.any() and stamps.dtype.kind == "M" and (stamps == stamps.astype("datetime64[M]")).all():
                return labels, stamps
    return (), np.empty(0, "datetime64[ns]")


def _days_down(frame: pd.DataFrame, time: str | None) -> CellGrid | None:
    """A row for each day of a month of each year, and a column for each month, as of the temperature of England."""
    names = [str(name) for name in frame.columns]
    may_be_days = (name for name in names if unit_of(name) == "day" or name == unnamed_column(2))
    day = next((name for name in may_be_days if frame[name].dtype.kind == "i"), None)
    if day is None or sorted(frame[day].unique()) != [*_DAYS_OF_MONTH]:
        return None
    if day == unnamed_column(2):
        columns = [unnamed_column(number) for number in range(1, len(MONTHS) + 3)]
        frame = frame.rename(columns=dict(zip(columns[2:], MONTHS, strict=True))) if names == columns else frame
    grid = periods_across(frame.drop(columns=day), time)
    if grid is None or len(grid.names) < len(MONTHS):
        return None
    given = dict(zip(map(str, frame.columns), names, strict=True))
    first = grid.stamps.astype("datetime64[M]").astype("datetime64[ns]")
    stamps = first + (frame[day].to_numpy()[grid.rows] - 1).astype("timedelta64[D]")
    columns_of_values, labels = (tuple(given[name] for name in each) for each in (grid.names, grid.labels))
    daily = CellGrid(columns_of_values, (*labels, day), grid.rows, stamps, grid.values, "month")
    return _on_real_days(daily, first)


def _on_real_days(grid: CellGrid, months: NDArray[np.datetime64]) -> CellGrid | None:
    """The cells without those of a 30 February, in which nothing stands, or one mark; None where numbers do.

    Args:
        grid: of days.
        months: the first day of the month of each cell (num_cells,).
    """
    is_real = grid.stamps.astype("datetime64[M]") == months.astype("datetime64[M]")
    marks = grid.values[~is_real]
    if len(np.unique(marks[~np.isnan(marks)])) > 1:
        return None
    order = np.flatnonzero(is_real)
    return replace(grid, rows=grid.rows[order], stamps=grid.stamps[order], values=grid.values[order])


def _years_across(frame: pd.DataFrame) -> CellGrid | None:
    """A row for each month or quarter, of one series or several, and a column for each of several years."""
    names = [str(name) for name in frame.columns]
    years = {name: int(match[1]) for name in names if (match := _YEAR.fullmatch(name.strip()))}
    labels = [name for name in names if name not in years][:MOST_LABELS] if len(years) >= FEWEST_YEARS else []
    periods = ((label, months) for label in labels if (months := _months_down(frame[label])) is not None)
    label, months = next(periods, ("", None))
    if months is None:
        return None
    order = sorted(years, key=lambda name: years[name])
    since_1970 = (((np.array([years[name] for name in order]) - 1970) * 12)[:, None] + months[None, :]).ravel()
    in_order = np.argsort(since_1970, kind="stable")
    stamps = since_1970[in_order].astype("datetime64[M]").astype("datetime64[ns]")
    rows = np.tile(np.arange(len(frame)), len(order))[in_order]
    return CellGrid(tuple(order), (label,), rows, stamps, _values(frame, order).T.ravel()[in_order])


def _months_down(column: pd.Series) -> NDArray[np.int64] | None:
    """The months since January at which the parts of a year in a column begin; None unless all of them are there."""
    codes, cells = pd.factorize(column.astype(object))
    for number_of, count in ((month_number, 12), (_quarter_named, 4)):
        if len(cells) == count and (codes >= 0).all():
            numbers = [number_of(str(cell).strip().lower()) for cell in cells]
            if sorted(number or 0 for number in numbers) == list(range(1, count + 1)):
                return (np.array(numbers, np.int64)[codes] - 1) * 12 // count
    return None


def periods_across(frame: pd.DataFrame, time: str | None = None) -> CellGrid | None:
    """A row for each year, and a column for each of its twelve months or four quarters; None where some are missing."""
    names = [str(name) for name in frame.columns]
    named = [name for name in names if name == time or (time is None and unit_of(name) == "year")]
    year = next((name for name in (*named, *names[:2]) if holds_years(frame[name])), None)
    if year is None:
        return None
    called = _months_by_position(frame, names)
    plain = {name: called.get(name, name).strip().lower().rstrip(".") for name in reversed(names) if name != year}
    for number_of, count in ((month_number, 12), (_quarter_named, 4)):
        columns = {number_of(text): name for name, text in plain.items()}
        months = {name: (number - 1) * 12 // count for number, name in columns.items() if number is not None}
        if len(months) == count:
            years = (frame[year].to_numpy(np.int64) - 1970).astype("datetime64[Y]")
            offsets = _over_new_year({name: months[name] for name in names if name in months}, year)
            return _grid_of(frame, (year,), years, offsets, "M", "month or quarter")
    return None


def _over_new_year(months: dict[str, int], year: str) -> dict[str, int]:
    """The months since January of the year of a row; of columns from July to June, later ones are in the next year."""
    numbers = np.array(list(months.values()))
    goes_back = np.flatnonzero(np.diff(numbers) < 0)
    if len(goes_back) != 1 or numbers[-1] > numbers[0]:
        return months
    later = np.arange(len(numbers)) > goes_back[0]
    return dict(zip(months, (numbers + 12 * (later - int("end" in year.lower()))).tolist(), strict=True))


def _months_by_position(frame: pd.DataFrame, names: list[str]) -> dict[str, str]:
    """Column -> month, of a table without names that has a column for each month behind that of years, one a row."""
    if names != [unnamed_column(number) for number in range(1, len(MONTHS) + 2)]:
        return {}
    follow = (np.diff(frame[names[0]].to_numpy(np.float64, na_value=np.nan)) == 1).all()
    return dict(zip(names[1:], MONTHS, strict=True)) if follow else {}


def _quarter_named(name: str) -> int | None:
    match = _QUARTER.fullmatch(name)
    return None if match is None else int(match[1] or match[2])


def _values(frame: pd.DataFrame, names: list[str]) -> NDArray[Any]:
    columns = [pd.to_numeric(frame[name].astype("object"), errors="coerce") for name in names]
    return np.stack([column.to_numpy(np.float64, na_value=np.nan) for column in columns], axis=1)
