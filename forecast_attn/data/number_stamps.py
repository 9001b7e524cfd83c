"""Time stamps that are numbers: steps, dates of digits, years with a fraction, and what counts from a known time on."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.column_names import is_called_date
from forecast_attn.data.date_forms import DIGIT_FORMS, FIRST_YEAR, LAST_YEAR, in_range, parse_form
from forecast_attn.data.frequency import MONTH_UNITS, Stamps, are_regular, distinct_values, guess_alias, split_alias
from forecast_attn.errors import ConfigError

Mask = NDArray[np.bool_]

EPOCH_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""`--date-format` of numbers that count since 1970 in UTC -> nanoseconds of one."""

SERIAL_DAYS = "excel"
"""`--date-format` of numbers that count days since the end of 1899, as the cells of a spreadsheet do."""
_DAY_ZERO = np.datetime64("1899-12-30", "s")

_DECIMAL_STEP = re.compile(r"\d+(?:\.\d+)?|\.\d+|\d\.?\d*e-\d+")
"""`--date-format` of decimal numbers, as of hours after a dose: the length of a step."""
MOST_OFF = 0.05
"""Share of a step by which such a number may miss it."""
FINEST_STEP = 1e-4
"""Length of a step that any decimal number may miss."""

_NEAR_MIDDLE = 0.15
FEWEST_MIDDLES = 24
_ROUNDED = 2e-4
"""Largest error of a year in single precision."""
_NEAR = 0.06
"""Largest distance of a year's fraction from a quarter or a month, in these: 1949.08 is a month."""
MOSTLY_NEXT = 0.9
"""Share of rows that must be the month after the row before, so that 1-01 is no first of January."""


@dataclass(frozen=True)
class ParsedStamps:
    """A column of time stamps. Where `bad`, stamp and offset mean nothing."""

    stamps: Stamps
    """UTC where the cells say their zone, else as written (num_rows,)."""
    bad: Mask
    """Cells that are not time stamps (num_rows,)."""
    offsets: NDArray[np.int32] | None = None
    """Seconds east of UTC as each cell says it (num_rows,); None where the cells carry no offsets."""
    zone: str | None = None
    """The zone of a column of datetimes that carries one."""
    order: str | None = None
    """Order of dates of three numbers: day-first, month-first or year-first; or the step of decimal numbers."""

    def spread(self, texts: NDArray[np.intp]) -> ParsedStamps:
        """The dates of cells (num_cells,) by the number of the text that each holds; -1 for an empty one."""
        stamps = np.append(self.stamps, np.datetime64("NaT"))[texts]
        offsets = None if self.offsets is None else np.append(self.offsets, np.int32(0))[texts]
        return replace(self, stamps=stamps, bad=np.isnat(stamps), offsets=offsets)


def is_plain_number(column: pd.Series) -> bool:
    """Return whether a column was read as numbers, not as truth values."""
    return pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)


def stamps_of_numbers(column: pd.Series) -> ParsedStamps:
    """Steps, dates of 8, 10, 12 or 14 digits if every cell is one, or years with a month as their fraction."""
    whole, bad = whole_numbers(column)
    if bad.any() and (months := _periods_of_years(column)) is not None:
        return ParsedStamps(months, np.zeros(len(column), np.bool_))
    if not bad.any() and len(whole):
        for digits, form in DIGIT_FORMS.items():
            if whole.min() >= 1900 * 10 ** (digits - 4) and whole.max() < 2100 * 10 ** (digits - 4):
                return _dates_or_steps(whole, form)
        if whole.min() >= 16780101 and whole.max() <= 22611231:
            return _dates_or_steps(whole, "%Y%m%d")
    return ParsedStamps(whole, bad)


def _periods_of_years(column: pd.Series) -> NDArray[np.datetime64] | None:
    """Months of years such as 1949.083 or 1990.25, as R writes its series, 1949.01, or 1.1949; None for other cells."""
    years = _years_first(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if len(years) < 3 or not ((years >= FIRST_YEAR) & (years <= LAST_YEAR)).all():
        return None
    numbered = _numbered_periods(years)
    if numbered is not None:
        return numbered
    quarters, months = np.round(years * 4), np.round(years * 12)
    if np.abs(years * 4 - quarters).max() < _NEAR:
        months = quarters * 3
    elif np.abs(years * 12 - months).max() >= _NEAR:
        months = np.floor(years * 12)  # the middles of months, as 1958.2027: nearly all one apart
        if len(months) < FEWEST_MIDDLES or np.mean(np.diff(np.unique(months)) == 1) < MOSTLY_NEXT:
            return None
        if np.abs(years * 12 - months - 0.5).max() > _NEAR_MIDDLE or np.ptp(months) < len(np.unique(months)) - 1:
            return None
    return (months.astype(np.int64) - 1970 * 12).astype("datetime64[M]").astype("datetime64[ns]")


def _years_first(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Months with the year behind the point, 12.1949, as 1949.12; other numbers as they are."""
    if not np.isfinite(numbers).all():
        return numbers
    months = np.floor(numbers)
    years = np.round((numbers - months) * 10_000)
    are_months = (months >= 1) & (months <= 12) & (years >= FIRST_YEAR) & (years <= LAST_YEAR)
    is_exact = np.abs((numbers - months) * 10_000 - years) < _NEAR
    return years + months / 100 if (are_months & is_exact).all() else numbers


def _numbered_periods(years: NDArray[np.float64]) -> NDArray[np.datetime64] | None:
    """Months, quarters or halves behind the point: 1949.01 to .12, .01 or .1 to .4, .1 and .2; None for others."""
    for parts, months in ((100, 1), (100, 3), (10, 3), (10, 6)):
        scaled = np.round(years * parts).astype(np.int64)
        numbers = scaled % parts
        are_all = len(np.unique(numbers)) == numbers.max() == 12 // months and numbers.min() == 1
        if not are_all or np.abs(years * parts - scaled).max() > _ROUNDED * parts:
            continue
        stamps = scaled // parts * 12 + (numbers - 1) * months
        if np.mean(np.diff(np.unique(stamps)) == months) >= MOSTLY_NEXT:
            return (stamps - 1970 * 12).astype("datetime64[M]").astype("datetime64[ns]")
    return None


def whole_numbers(column: pd.Series) -> tuple[NDArray[np.int64], Mask]:
    """The whole numbers (num_rows,), and which cells hold none or a fraction."""
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isfinite(numbers) | (numbers != np.round(numbers)) | (np.abs(numbers) >= 2**62)
    if column.dtype.kind in "iu":
        return column.to_numpy(dtype=np.int64), np.zeros(len(column), np.bool_)
    return np.where(bad, 0, numbers).astype(np.int64), bad


def _dates_or_steps(whole: NDArray[np.int64], form: str) -> ParsedStamps:
    distinct, which = np.unique(whole, return_inverse=True)
    stamps = parse_form(pd.Series(distinct.astype(str)), form)
    bad = np.zeros(len(whole), np.bool_)
    return ParsedStamps(whole if np.isnat(stamps).any() else stamps[which], bad)


def counted_stamps(column: pd.Series, date_format: str) -> ParsedStamps | None:
    """Stamps of numbers that count from a known time on, or steps of a given length; None for other date formats."""
    step = decimal_step(date_format)
    if date_format not in (*EPOCH_UNITS, SERIAL_DAYS) and step is None:
        return None
    column = pd.to_numeric(column, errors="coerce")
    if date_format == SERIAL_DAYS:
        return _of_serial_days(column)
    return _since_1970(column, date_format) if step is None else _of_decimals(column, step, date_format)


def _of_decimals(column: pd.Series, step: float, date_format: str) -> ParsedStamps:
    steps = column / step
    off = (steps - steps.round()).abs()
    whole, bad = whole_numbers(steps.round())
    return ParsedStamps(whole, bad | ((off > MOST_OFF) & (step > FINEST_STEP)).to_numpy(), order=date_format)


def decimal_step(date_format: str | None) -> float | None:
    """The length of a step of decimal numbers that `--date-format` gives; None for other formats.

    Raises:
        ConfigError: it is zero.
    """
    if date_format is None or not _DECIMAL_STEP.fullmatch(date_format):
        return None
    if not float(date_format):
        raise ConfigError(f"--date-format {date_format} is no step", "the length of a step, such as 0.25")
    return float(date_format)


def _since_1970(column: pd.Series, unit: str) -> ParsedStamps:
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    length = EPOCH_UNITS[unit]
    bad = ~(np.abs(numbers) < 9.2e18 / length)
    if column.dtype.kind in "iu":
        nanoseconds = np.where(bad, 0, column.to_numpy(dtype=np.int64)) * length
    else:  # fractions of a second in floating point are good to the microsecond
        nanoseconds = np.round(np.where(bad, 0, numbers) * (length / 1000)).astype(np.int64) * 1000
    stamps = in_range(nanoseconds.astype("datetime64[ns]"))
    return ParsedStamps(stamps, bad | np.isnat(stamps), np.zeros(len(stamps), np.int32))


def _of_serial_days(column: pd.Series) -> ParsedStamps:
    """Days and their fractions, to the second: 45231.5 is noon of 2023-11-01."""
    days = column.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~((days > FIRST_POSSIBLE_DAY) & (days < LAST_POSSIBLE_DAY))
    seconds = np.round(np.where(bad, 0, days) * 86_400).astype("timedelta64[s]")
    return ParsedStamps((_DAY_ZERO + seconds).astype("datetime64[ns]"), bad)


FIRST_POSSIBLE_DAY, LAST_POSSIBLE_DAY = -80_000, 130_000
"""Serial days of 1681 and 2255: before 1681 and after 2255 there are no stamps."""


FIRST_LIKELY_DAY, LAST_LIKELY_DAY = 20_000, 80_000
"""Serial days from 1954 to 2119."""
_OFF_A_MINUTE = 0.02
"""Minutes by which a fraction of five digits may miss a whole minute."""
_FEWEST_DAYS = 5
_SHARE_OF_DAYS = 0.6
"""Smallest share of serial days that are one step apart."""


def are_serial_days(column: pd.Series) -> bool:
    """Return whether numbers are days as a spreadsheet counts them: regular, and by their name or their pattern dates.

    Their fractions are whole minutes; whole days not called dates go from month to month or leave out weekends.
    """
    if not is_plain_number(column):
        return False
    days = column.to_numpy(np.float64, na_value=np.nan)
    if len(days) < _FEWEST_DAYS or not ((days >= FIRST_LIKELY_DAY) & (days <= LAST_LIKELY_DAY)).all():
        return False
    days = distinct_values(days)
    minutes = days * 1440
    if len(minutes) < _FEWEST_DAYS or np.abs(minutes - np.round(minutes)).max() > _OFF_A_MINUTE:
        return False
    stamps = _of_serial_days(pd.Series(days)).stamps
    if not are_regular(stamps, _SHARE_OF_DAYS):
        return False
    unit = split_alias(str(guess_alias(stamps)))[1]
    is_dated = is_called_date(str(column.name))
    return is_dated or bool((days % 1 > 0).any()) or unit == "B" or unit in MONTH_UNITS


def in_serial_days(stamps: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """The days that a spreadsheet writes for stamps (num_stamps,)."""
    return np.asarray((stamps.astype("datetime64[s]") - _DAY_ZERO).astype(np.float64) / 86_400)
