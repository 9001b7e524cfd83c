"""Columns of times of day: clocks, hours, numbered parts of a day; and the stamps that they make beside a date."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.column_names import UNITS_OF_TIME
from forecast_attn.data.date_forms import matches, replaced
from forecast_attn.data.number_stamps import FIRST_LIKELY_DAY, LAST_LIKELY_DAY, is_plain_number
from forecast_attn.data.reading.text_columns import holds_texts

PERIODS_OF_DAY = (24, 48, 96, 144, 288)
"""Numbers of steps of equal length that a day is divided into."""
_TIME_OF_DAY = r"\d{1,2}:\d{2}(?: ?[AaPp][Mm])?"
_SPAN = rf"({_TIME_OF_DAY})\s?[-–]\s?{_TIME_OF_DAY}"
_UNIVERSAL = r"(\d\d):?([0-5]\d) ?(?:UTC|GMT|Z)"
_CLOCK = re.compile(
    r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp]\.?[Mm]\.?| ?[ap])?|\d{1,2}\.\d{2}\.\d{2}"
    rf"|\d\d\s?-\s?\d\d|{_SPAN}|{_UNIVERSAL}"
)
WEEK = re.compile(r"^(?:w|week|wk|kw|woche|semaine|semana|settimana|vecka|uge|uke)[ .]?(\d{1,2})$", re.IGNORECASE)
_NUMBERED_HOUR = re.compile(r"([^\W\d_]*)[ _]?0?(\d{1,2})[ABX*]?")
_MIDNIGHT = r"[T ]0?0:00(?::00(?:\.0+)?)?$"
_HOURS = re.compile(r"(\d\d)\s?-\s?(\d\d)")
"""18 - 19 is an hour of the day, and 15-19 an age."""
SECONDS_OF_DAY, _LONGEST_STEP = 86_400, 3600
_ELAPSED = r"(?:-?\d+ days?,? ?)?(?:\d{1,2}:\d\d:\d\d(?:\.\d+)?)?"
_OFF_A_MINUTE = 0.01
"""Minutes by which a part of a day may be off, being written with few digits."""
_MOST_WORDS = 12
"""Distinct cells of a column that are looked at all, rather than the first ones."""
_DOTTED_DATE = re.compile(r"(0?[1-9]|[12]\d|3[01])\.(0[1-9]|1[0-2])\.\d{2}")
"""06.01.21 is no time of day, unless others are 06.00.00 and 06.15.00."""


def is_clock(column: pd.Series) -> bool:
    """Return whether cells are times of day without a date: `13:05`, `1:05 PM`, `13.05.00`, `13 - 14`, `1300 UTC`."""
    if pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind in "mM":
        return False
    if holds_texts(column) and len(column.cat.categories) <= _MOST_WORDS:
        column = pd.Series(column.cat.categories)  # the clocks of some rows may be names beside `AVG` and `MAX`
    cells = column.iloc[:1000].dropna().astype(str).str.strip(" '").head(20)
    if len(cells) == 0 or all(_DOTTED_DATE.fullmatch(cell) for cell in cells):
        return False
    hours = [(int(match[1]), int(match[2])) for cell in cells if (match := _HOURS.fullmatch(cell))]
    return all(map(_CLOCK.fullmatch, cells)) and all(end in (start + 1, 0) for start, end in hours)


def is_clock_of_digits(column: pd.Series) -> bool:
    """Return whether whole numbers are times of day: 1545, or 154500 for a quarter to four; no hours from 0 to 24."""
    if not pd.api.types.is_integer_dtype(column.dtype) or len(column) == 0 or column.min() < 0 or column.max() < 100:
        return False
    numbers = column.to_numpy(np.int64)
    numbers = numbers if numbers.max() <= 2400 else numbers // 100 * (numbers % 100 < 60).all()
    return bool(numbers.max() <= 2400 and (numbers % 100 < 60).all() and len(np.unique(numbers)) > 1)


def is_hours(column: pd.Series) -> bool:
    """Return whether numbers may be the hours of days, at least half of them, with halves and quarters of some or not.

    0 to 24, by whole minutes.
    """
    if not is_plain_number(column) or len(column) == 0:
        return False
    if not (column.min() >= 0 and 11 <= column.max() <= 24) or column.isna().any():
        return False
    minutes = column.to_numpy(np.float64) * 60
    return bool(np.abs(minutes - np.round(minutes)).max() < 0.01 and len(np.unique(minutes)) >= 12)


def periods_of_day(column: pd.Series, *, is_named: bool = False) -> int | None:
    """Hours, half-hours or shorter steps of a day that a column called period counts from 1; None for other columns.

    Also hours written as `HE01` (hour ending). A day of a clock change has one hour more or less: 46 or 50 half-hours.

    Args:
        column: of a table.
        is_named: True if it is known to count such steps, whatever it is called.
    """
    hours = _numbered_hours(column)
    is_named = is_named or hours is not None or bool(re.search(r"period|interval", str(column.name), re.IGNORECASE))
    column = column if hours is None else hours
    if not is_named or not pd.api.types.is_integer_dtype(column.dtype) or len(column) == 0 or column.min() != 1:
        return None
    most = int(column.max())
    return next((count for count in PERIODS_OF_DAY if most in (count, count + count // 24)), None)


def _numbered_hours(column: pd.Series) -> pd.Series | None:
    """The numbers of `HE01` to `HE24`, `H1` or `Hour 1`, or of 01 to 24 and `02X` or `3B`; None for other cells.

    A letter is behind the hour that comes again when a clock is set back.
    """
    if not holds_texts(column) or not 0 < len(column.cat.categories) <= 26:
        return None
    cells = [_NUMBERED_HOUR.fullmatch(str(cell).strip()) for cell in column.cat.categories]
    called = ("he", "", *UNITS_OF_TIME["hour"])
    hours = [int(cell[2]) for cell in cells if cell is not None and cell[1].lower() in called]
    if len(hours) < len(cells) or column.isna().any() or max(hours) > 25:
        return None
    return pd.Series(np.array(hours, np.int64)[column.cat.codes], index=column.index, name=column.name)


def elapsed_seconds(column: pd.Series) -> NDArray[np.float64] | None:
    """The seconds of a column of times since a start, `1 days 02:00:00` or `1 day, 2:00:00` (num_rows,).

    None for other columns, and for clocks that go on for less than a day.
    """
    if not holds_texts(column) or column.isna().any():
        return None
    if not len(column) or re.fullmatch(_ELAPSED, str(column.iloc[0]).strip()) is None:  # as most are none
        return None
    cells = column.cat.categories.astype(str).str.strip()
    if not cells.str.fullmatch(_ELAPSED).all() or not cells.str.contains("day").any():
        return None
    seconds = pd.to_timedelta(cells.str.replace(",", "")).total_seconds().to_numpy(np.float64)
    return np.asarray(seconds[column.cat.codes])


def are_seconds_of_day(column: pd.Series) -> bool:
    """Return whether whole numbers may be seconds since midnight, of whole minutes: 0, 300, … 86100, and no clocks."""
    if not pd.api.types.is_integer_dtype(column.dtype) or len(column) == 0 or column.isna().any():
        return False
    is_within_day = bool(column.min() >= 0 and 24 < column.max() < SECONDS_OF_DAY)
    return is_within_day and not (column % 60).any() and not is_clock_of_digits(column)


def are_parts_of_day(column: pd.Series) -> bool:
    """Return whether numbers are times of day as a spreadsheet counts them, by whole minutes: 0.5 at noon.

    Those that are all quarters may be parts of the first hour.
    """
    if not pd.api.types.is_float_dtype(column.dtype) or len(column) == 0 or column.isna().any():
        return False
    minutes = column.to_numpy(np.float64) * 1440
    is_within_day = minutes.min() >= 0 and minutes.max() < 1440 and (np.round(minutes) % (1440 // 4)).any()
    return bool(is_within_day and np.abs(minutes - np.round(minutes)).max() < _OFF_A_MINUTE)


def go_on_all_day(seconds: pd.Series) -> bool:
    """Return whether seconds of a day begin at midnight, and end a step before the next one."""
    step = SECONDS_OF_DAY - int(seconds.max())
    return bool(seconds.min() == 0 and step <= _LONGEST_STEP and not (seconds % step).any())


def minutes_of_hour(column: pd.Series) -> pd.Series | None:
    """The minutes at which the parts of an hour begin, of a column that counts them from 1, or minutes from 0 to 59.

    None for other columns.
    """
    if not pd.api.types.is_integer_dtype(column.dtype) or len(column) == 0:
        return None
    first, most, number = int(column.min()), int(column.max()), column.nunique()
    if first == 0 and most < 60 and number > 1 and most == 60 - 60 // number:
        return column
    return (column - 1) * (60 // most) if first == 1 and most == number > 1 and 60 % most == 0 else None


# --------------------------------------------------------------------------- beside a date


def date_and_clock(date: pd.Series, clock: pd.Series) -> pd.Series:
    """A date and a time of day, with a blank between them.

    Times of day are `18:00`, `18.00.00`, intervals `18 - 19`, hours, seconds since midnight, or parts of a day. Those
    of days of a spreadsheet are added to them.
    """
    if pd.api.types.is_float_dtype(clock.dtype) and len(clock) and 0 <= clock.min() <= clock.max() < 1:
        if is_plain_number(date) and FIRST_LIKELY_DAY <= date.min() <= date.max() <= LAST_LIKELY_DAY:
            return date + clock  # both of a spreadsheet
        if are_parts_of_day(clock):
            return _as_day(date) + " " + _clock_of((clock * 1440).round().astype("Int64"))
    is_beyond_hours = pd.api.types.is_integer_dtype(clock.dtype) and len(clock) > 0 and clock.max() > 25
    per_day = periods_of_day(clock, is_named=is_beyond_hours)
    if per_day is not None:
        return _start_of_period(date, clock, per_day)
    if are_seconds_of_day(clock):
        return _as_day(date) + " " + _clock_of((clock // 60).astype("Int64"))
    if is_clock_of_digits(clock):
        digits = as_digits(clock, 6 if clock.max() > 2400 else 4)
        in_twos = re.compile(r"(?<=\d)(?=(?:\d\d)+$)")
        return _as_day(date) + " " + _each_once(digits, lambda text: text.str.replace(in_twos, ":", regex=True))
    if pd.api.types.is_numeric_dtype(clock.dtype):
        return _as_day(date) + " " + _clock_of((clock * 60).round().astype("Int64"))
    return _as_day(date) + " " + _each_once(clock, _with_colons)


def _with_colons(clocks: pd.Series) -> pd.Series:
    """Times of day with colons and without quotes, and of intervals their start."""
    time = replaced(replaced(clocks, r"^'(.*)'$", r"\1"), r"^(\d\d)\s?-\s?\d\d$", r"\1:00")
    time = replaced(replaced(time, f"^{_SPAN}$", r"\1"), f"^{_UNIVERSAL}$", r"\1:\2+00:00")
    return replaced(time, r"^(\d{1,2})\.(\d{2})\.(\d{2})$", r"\1:\2:\3")


def _each_once(column: pd.Series, change: Callable[[pd.Series], pd.Series]) -> pd.Series:
    """The stripped cells, changed: each distinct one once, for of millions of clocks few differ."""
    codes, cells = pd.factorize(column)
    changed = change(pd.Series(cells).astype("string").str.strip())
    return pd.Series(changed.array.take(codes, allow_fill=True), column.index)


def _start_of_period(date: pd.Series, period: pd.Series, per_day: int) -> pd.Series:
    """The clock at which each period of a day starts, on days of a clock change as it is put at the end of an hour.

    The clock of British half-hours is changed at 1:00, that of central Europe at 2:00.
    """
    hour = per_day // 24
    hours = _numbered_hours(period)
    numbers = (period if hours is None else hours).to_numpy(np.int64) - 1
    most = pd.Series(numbers).groupby(pd.factorize(date)[0]).transform("max").to_numpy() + 1
    before = hour * (1 if per_day == 48 else 2)  # periods before the hour that is skipped, or repeated
    later = np.where((most == per_day - hour) & (numbers >= before), hour, 0)
    earlier = np.where((most == per_day + hour) & (numbers >= before + hour), hour, 0)
    minutes = (numbers + later - earlier) * (1440 // per_day)
    return _as_day(date) + " " + _clock_of(pd.Series(minutes, date.index, "Int64"))


def _clock_of(minutes: pd.Series) -> pd.Series:
    """`07:30` of the minutes since midnight."""
    codes, distinct = pd.factorize(minutes)
    text = pd.array([f"{each // 60:02d}:{each % 60:02d}" for each in distinct.tolist()], "string")
    return pd.Series(text.take(codes, allow_fill=True), minutes.index)


def _as_day(date: pd.Series) -> pd.Series:
    """A date as text, without the midnight that programs write behind days: `2023-03-06T00:00:00`."""
    if date.dtype.kind == "M":
        date = date.dt.strftime("%Y-%m-%d")
    if pd.api.types.is_integer_dtype(date.dtype):
        return _each_once(date, lambda text: text.str.zfill(len("yymmdd")))
    begins_at_midnight = matches(date.head(1).astype("string").str.strip(), _MIDNIGHT).any()
    return _each_once(date, (lambda text: replaced(text, _MIDNIGHT, "")) if begins_at_midnight else lambda text: text)


def as_digits(column: pd.Series, width: int) -> pd.Series:
    """Whole numbers as digits, `W05` and `Week 5` too; other cells stay as they are, and are refused as stamps."""
    codes, distinct = pd.factorize(column)  # of hundreds of thousands of cells few differ
    text = pd.Series(distinct).astype("string").str.strip().str.replace(r"\.0*$", "", regex=True)
    text = text.str.replace(WEEK, r"\1", regex=True)
    digits = text.str.zfill(width).array.take(codes, allow_fill=True)
    return pd.Series(digits, index=column.index, name=column.name)
