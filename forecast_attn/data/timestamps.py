"""Parses a column of time stamps, without ever guessing which field is the day.

Time stamps are datetime64[ns] in UTC (or as written, when without a zone), or int64 for integer axes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from forecast_attn.data.column_names import is_called_date
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.written_dates import plain_dates
from forecast_attn.errors import ConfigError, DataError

Mask = NDArray[np.bool_]
MOST_LOOKED_AT = 10_000
"""Rows that nearly always hold a hundred cells that are not empty."""

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

_OFFSET = r"(?:Z|[+-]\d{2}(?::?\d{2})?)$"
_LONGEST_OFFSET = 6
_CLOCK = r"[T ]\d{1,2}(?::?\d{2}){0,2}(?:\.\d+)?(?: ?[AaPp]\.?[Mm]\.?)?\s*"
_END_OF_DAY = r"[T ]24:00"
_PLAIN_ISO = r"^\d{4}-\d{2}-\d{2}(?:[T ](?:[01]\d|2[0-3]):\d{2}(?::\d{2})?)?$"
_MIDNIGHT = r"[T ]0?0:00"
_WIDTHS = {"%Y": 4, "%G": 4, "%j": 3, "%V": 2, "%y": 2, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2}
_DIGIT_FORMS = {10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


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


def parse_timestamps(column: pd.Series, name: str = "time", date_format: str | None = None) -> tuple[Stamps, Mask]:
    """Parse a column of time stamps; `read_stamps` also returns their offsets.

    Args:
        column: dates as text, datetimes, or whole numbers (steps, or dates written as 20240131).
        name: the column's name, for messages.
        date_format: how they are written: a strptime format; s, ms, us or ns since 1970; excel for days since the end
            of 1899; day-first, month-first or year-first for dates of three numbers; the length of a step for decimal
            numbers; found when None.

    Returns:
        The stamps (num_rows,) and a mask (num_rows,) of the cells that are not time stamps, whose values mean nothing.

    Raises:
        ConfigError: `date_format` is not a format.
        DataError: every date reads both as day/month and as month/day.
    """
    parsed = read_stamps(column, name, date_format)
    return parsed.stamps, parsed.bad


def read_stamps(column: pd.Series, name: str = "time", date_format: str | None = None) -> ParsedStamps:
    """Parse as `parse_timestamps` does, and also return the offsets or the zone of the cells."""
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.start_time
    zone = zone_name(column)
    if zone is not None or column.dtype.kind == "M":
        return _from_datetimes(column, zone)
    if pd.api.types.is_bool_dtype(column.dtype):
        return ParsedStamps(np.zeros(len(column), np.int64), np.ones(len(column), np.bool_))
    if pd.api.types.is_numeric_dtype(column.dtype):
        is_found = date_format is None or date_format in DATE_ORDERS
        return _from_numbers(column) if is_found else _numbers_in_format(column, str(date_format))
    if date_format == SERIAL_DAYS or date_format in EPOCH_UNITS or decimal_step(date_format) is not None:
        return _numbers_in_format(pd.to_numeric(column, errors="coerce"), str(date_format))
    return _from_text(column, name, date_format)


def looks_like_dates(column: pd.Series) -> bool:
    """Return whether most of the first hundred cells of a text or datetime column are dates."""
    if column.dtype.kind == "M" or isinstance(column.dtype, pd.DatetimeTZDtype | pd.PeriodDtype):
        return True
    if pd.api.types.is_numeric_dtype(column.dtype):
        return False
    sample = column.iloc[:MOST_LOOKED_AT].dropna().head(100)
    sample = sample if len(sample) == 100 else column.dropna().head(100)
    return len(sample) > 0 and _are_mostly_dates(tuple(sample))


@functools.lru_cache(maxsize=4096)
def _are_mostly_dates(cells: tuple[str, ...]) -> bool:
    """Return whether most cells are dates; cached, since `check` asks about each column with every option it tries."""
    if not any(re.search(r"\d", str(cell)) for cell in cells):
        return False  # at once: in a table of thousands of columns of words, parsing each takes a minute
    try:
        return bool(parse_timestamps(pd.Series(cells, dtype=object))[1].mean() < 0.5)
    except DataError:
        return True  # ambiguous dates are dates


def is_plain_number(column: pd.Series) -> bool:
    """Return whether a column was read as numbers, not as truth values."""
    return pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)


def has_regular_step(column: pd.Series) -> bool:
    """Return whether nearly all neighbouring stamps of a column, once sorted, are one step apart."""
    try:
        stamps, bad = parse_timestamps(column, str(column.name))
    except DataError:
        return False
    return not bad.any() and stamps.dtype.kind == "M" and _has_regular_step(stamps)


def offset_name(seconds: int) -> str:
    """`+01:00`, `-03:30`, with seconds where there are some."""
    sign, (minutes, rest) = "-" if seconds < 0 else "+", divmod(abs(seconds), 60)
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}{f':{rest:02d}' if rest else ''}"


def zone_name(column: pd.Series) -> str | None:
    """The zone of a column of datetimes: an IANA name, UTC, or an offset."""
    dtype = column.dtype
    if isinstance(dtype, pd.ArrowDtype):
        return getattr(dtype.pyarrow_dtype, "tz", None)
    if not isinstance(dtype, pd.DatetimeTZDtype):
        return None
    named = getattr(dtype.tz, "key", None) or getattr(dtype.tz, "zone", None)
    offset = dtype.tz.utcoffset(None)
    if named is not None or offset is None or str(dtype.tz) == "UTC":
        return str(named or dtype.tz)
    return offset_name(round(offset.total_seconds()))


# --------------------------------------------------------------------------- datetimes and numbers


def _from_datetimes(column: pd.Series, zone: str | None) -> ParsedStamps:
    if isinstance(column.dtype, pd.ArrowDtype):
        values = column.array.__arrow_array__()  # UTC, whatever the zone
        return _from_datetimes(pd.Series(values.to_numpy()), zone)
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    stamps = in_range(column.to_numpy())
    return ParsedStamps(stamps, np.isnat(stamps), zone=zone)


def _from_numbers(column: pd.Series) -> ParsedStamps:
    """Steps, dates of 8, 10, 12 or 14 digits if every cell is one, or years with a month as their fraction."""
    whole, bad = _whole(column)
    if bad.any() and (months := _periods_of_years(column)) is not None:
        return ParsedStamps(months, np.zeros(len(column), np.bool_))
    if not bad.any() and len(whole):
        for digits, form in _DIGIT_FORMS.items():
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


def _whole(column: pd.Series) -> tuple[NDArray[np.int64], Mask]:
    """The numbers (num_rows,), and which cells hold none or a fraction."""
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


def _numbers_in_format(column: pd.Series, date_format: str) -> ParsedStamps:
    if date_format in EPOCH_UNITS:
        return _since_1970(column, date_format)
    if date_format == SERIAL_DAYS:
        return _of_serial_days(column)
    step = decimal_step(date_format)
    if step is not None:
        return _of_decimals(column, step, str(date_format))
    whole, bad = _whole(column)
    # A CSV's 01022024 arrives as 1022024: the format says how many digits there were.
    width = sum(_WIDTHS.get(directive, 0) for directive in re.findall("%.", date_format))
    text = pd.Series(whole.astype(str)).str.zfill(width).where(~bad)
    return _from_text(text, str(column.name), date_format)


def _of_decimals(column: pd.Series, step: float, date_format: str) -> ParsedStamps:
    steps = column / step
    off = (steps - steps.round()).abs()
    whole, bad = _whole(steps.round())
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
    from forecast_attn.data.frequency import MONTH_UNITS, distinct_values, guess_alias, split_alias

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
    if not _has_regular_step(stamps, _SHARE_OF_DAYS):
        return False
    unit = split_alias(str(guess_alias(stamps)))[1]
    is_dated = is_called_date(str(column.name))
    return is_dated or bool((days % 1 > 0).any()) or unit == "B" or unit in MONTH_UNITS


def in_serial_days(stamps: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """The days that a spreadsheet writes for stamps (num_stamps,)."""
    return np.asarray((stamps.astype("datetime64[s]") - _DAY_ZERO).astype(np.float64) / 86_400)


# --------------------------------------------------------------------------- text


def _from_text(column: pd.Series, name: str, date_format: str | None) -> ParsedStamps:
    """Series of a panel share their stamps, so each text is parsed once."""
    if date_format in (None, NUMBERED_MONTHS) and (steps := _numbered_months(column, date_format)) is not None:
        return steps
    which, texts = pd.factorize(column)
    order = date_format if date_format in DATE_ORDERS else None
    date_format = None if order is not None else date_format
    text = pd.Series(texts).astype("string").str.strip()
    if order == NUMBERED_QUARTERS or (date_format is None and order is None and _are_numbered_quarters(text)):
        quarters = parse_forms(text.str.replace(_NUMBERED_QUARTER, r"\1Q\2", regex=True), name, None)[0]
        cells = np.append(quarters, np.datetime64("NaT"))[which]
        return ParsedStamps(cells, np.isnat(cells), order=NUMBERED_QUARTERS)
    if date_format is None and matches(text, _PLAIN_ISO).all():  # the usual form leaves nothing to find out
        cells = np.append(_in_form(text, "ISO8601"), np.datetime64("NaT"))[which]
        return ParsedStamps(cells, np.isnat(cells))
    text, offsets = _without_offsets(plain_dates(text) if date_format is None else text, date_format)
    text, is_end_of_day = _without_end_of_day(text)
    if date_format is None:
        stamps, order = parse_forms(text, name, order)
    else:
        stamps = _in_format(text, date_format)
    stamps = stamps + is_end_of_day.astype("timedelta64[D]")
    if offsets is None:
        cells = np.append(stamps, np.datetime64("NaT"))[which]
        return ParsedStamps(cells, np.isnat(cells), order=order)
    # A cell without an offset, among others that have one, says no instant.
    instants = np.where(np.isnan(offsets), np.datetime64("NaT"), stamps)
    instants = instants - np.nan_to_num(offsets).astype("timedelta64[s]")
    cells = np.append(instants, np.datetime64("NaT"))[which]
    seconds = np.append(np.nan_to_num(offsets), 0).astype(np.int32)[which]
    return ParsedStamps(cells, np.isnat(cells), seconds, order=order)


NUMBERED_MONTHS = "year-month"
_NUMBERED_MONTH = re.compile(r"\s*(\d{1,3})-(0?[1-9]|1[0-2])\s*")
FEWEST_NUMBERED = 8
MOSTLY_NEXT = 0.9
"""Share of rows that must be the month after the row before, so that 1-01 is no first of January."""


def _numbered_months(column: pd.Series, date_format: str | None) -> ParsedStamps | None:
    """Months of numbered years, such as 1-01, 1-02, …, 3-12, as steps from 1; None where cells are something else."""
    first = next((str(cell) for cell in column.head(100) if isinstance(cell, str) and cell.strip()), "")
    if not _NUMBERED_MONTH.fullmatch(first):
        return None
    matches = [_NUMBERED_MONTH.fullmatch(cell) if isinstance(cell, str) else None for cell in column]
    bad = np.array([match is None for match in matches], np.bool_)
    steps = np.array([0 if match is None else 12 * (int(match[1]) - 1) + int(match[2]) for match in matches], np.int64)
    if date_format is None:
        known = steps[~bad]
        is_next = np.diff(known) == 1
        if bad.mean() > 0.5 or len(known) < FEWEST_NUMBERED or is_next.mean() < MOSTLY_NEXT or np.ptp(known) < 12:
            return None
    return ParsedStamps(steps, bad, order=NUMBERED_MONTHS)


NUMBERED_QUARTERS = "year-quarter"
_NUMBERED_QUARTER = re.compile(r"^(\d{4})[:_/.-]0?([1-4])$")
_FEWEST_YEARS = 3


def _are_numbered_quarters(text: pd.Series) -> bool:
    """Return whether all cells are such as `2024:01` to `2024:04`: each year has all four but the first and last one.

    They are no months from January to April, then.
    """
    if not len(text) or not _NUMBERED_QUARTER.match(str(text.iloc[0])):
        return False
    parts = text.dropna().str.extract(_NUMBERED_QUARTER)
    inner = parts.groupby(0).size().iloc[1:-1]
    return not parts.isna().any(axis=None) and len(inner) >= _FEWEST_YEARS and bool((inner == 4).all())


def _without_offsets(text: pd.Series, date_format: str | None) -> tuple[pd.Series, NDArray[np.float64] | None]:
    """Cells without their offsets, and these in seconds, NaN where a cell has none; None where no cell has one."""
    if date_format is not None and "%z" not in date_format:
        return text, None
    # The end of 2024-01-31 looks like an offset, so that a clock must come before it where the form is not known.
    pattern = _CLOCK + _OFFSET if date_format is None else _OFFSET
    zoned = matches(text, _OFFSET)
    zoned = matches(text, pattern) if zoned.any() else zoned
    if not zoned.any():
        return text, None
    codes, ends = pd.factorize(text.str[-_LONGEST_OFFSET:])  # few of many cells differ
    offsets = [re.search(_OFFSET, str(end)) for end in ends]
    seconds = np.array([np.nan if match is None else _seconds(match[0].strip()) for match in offsets], np.float64)
    seconds[np.abs(seconds) >= _DAY_SECONDS] = np.nan  # no zone is a day away: such a cell says no instant
    bare = text.where(~zoned, replaced(text, r"\s*" + _OFFSET, ""))
    return bare, np.where(zoned, seconds[codes], np.nan)


_DAY_SECONDS = 86_400


def offset_in(cell: object) -> int | None:
    """Seconds east of UTC that a cell ends with, be they more than any zone has; None without an offset."""
    clock = re.search(_CLOCK + _OFFSET, str(cell).strip())
    offset = None if clock is None else re.search(_OFFSET, clock[0])
    return None if offset is None else _seconds(offset[0])


def is_far_off(offset: int) -> bool:
    """Return True for an offset of a day or more, which no zone has."""
    return abs(offset) >= _DAY_SECONDS


def _seconds(offset: str) -> int:
    """Seconds east of UTC of Z, +01, +0130 or +01:30."""
    if offset == "Z":
        return 0
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return (-1 if offset[0] == "-" else 1) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)


def _without_end_of_day(text: pd.Series) -> tuple[pd.Series, Mask]:
    """Replace `24:00` by `00:00` and mark it; only in columns without midnights written 00:00."""
    ends = matches(text, _END_OF_DAY)
    if not ends.any() or matches(text, _MIDNIGHT).any():
        return text, np.zeros(len(text), np.bool_)
    return text.str.replace("24:00", "00:00", regex=False), ends


def _in_format(text: pd.Series, date_format: str) -> NDArray[np.datetime64]:
    """Cells in the user's format, NaT where they are not.

    Raises:
        ConfigError: it is no format, or tells the offset in the middle.
    """
    bare = date_format.removesuffix("%z").rstrip()
    if "%V" in bare and "%u" not in bare:  # a week is its Monday
        text, bare = text + " 1", f"{bare} %u"
    if "%z" in bare:
        raise ConfigError(f"--date-format '{date_format}' has %z in the middle", "the offset must stand at the end")
    if "%Z" in bare:
        hint = f"write the name itself, and give the zone: --date-format '{bare.replace('%Z', 'CET')}' --tz CET"
        raise ConfigError(f"--date-format '{date_format}' has %Z: names of zones are not read", hint)
    parts = re.findall("%[a-zA-Z]", bare)
    for part in parts:
        if parts.count(part) > 1:
            raise ConfigError(f"--date-format '{date_format}' names {part} twice", "name every part of a date once")
    try:
        return parse_form(text, bare)
    except ValueError as error:
        reason = str(error).replace(f" in format '{bare}'", "").rstrip(".")
        hint = "such as '%d.%m.%Y %H:%M'; day-first or month-first; s, ms, us or ns for numbers since 1970"
        raise ConfigError(f"--date-format '{date_format}' is not a format: {reason}", hint) from None


# --------------------------------------------------------------------------- date forms
# Forms of dates, and the evidence that tells day first from month first.


NaiveStamps = NDArray[np.datetime64]

_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
_HALF_DAYS = (" %I:%M %p", " %I:%M:%S %p", " %I %p")
_NUMERIC = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_ABOVE_12 = r"(?:1[3-9]|[2-9]\d)"
_COULD_BE_DATE = re.compile(
    r"\d{4}|\d{1,2}[/.-]\d{1,2}[/.-](?:\d{4}|\d{2})(?!\d)|(?=.*\d{4}).*[A-Za-z]{3}|[Qq][1-4]|\d{1,2}[- ][A-Za-z]{3}"
    r"|[A-Za-z]{3,9}[- ]\d{2}(?!\d)"
)
_MONTHS = (
    *(
        "%d %b %Y",
        "%d-%b-%Y",
        "%b %d, %Y",
        "%b %d %Y",
        "%b-%d-%Y",
        "%b-%d-%y",
        "%b %Y",
        "%b-%Y",
        "%Y-%b-%d",
        "%Y %b",
        "%Y-%b",
    ),
    *("%d-%b-%y", "%d %b %y", "%b-%y", "%b %y"),
)
_MONTH_NAMES = (*_MONTHS, *(form.replace("%b", "%B") for form in _MONTHS))
_WEEK = r"^(\d{4})[- ]?W(\d{2})(?:-?([1-7]))?$"
_QUARTER = r"^(?:(\d{4})[- ]?[Qq]([1-4])|[Qq]([1-4])[- /]?(\d{4}))$"
_MONTH_NUMBER = r"^\d{4}[- ]?[Mm](?:0?[1-9]|1[0-2])$"
"""`2024M01`, as statistical offices write it."""
_DIGITS = {8: "%Y%m%d", **_DIGIT_FORMS}
"""Number of digits -> what they are. Six could be a month or a day of two-digit years, so they are neither."""

FIRST_YEAR, LAST_YEAR = 1678, 2261
"""Years that 64-bit nanoseconds cover fully."""
_FIRST, _END = np.datetime64(f"{FIRST_YEAR}", "s"), np.datetime64(f"{LAST_YEAR + 1}", "s")

DATE_ORDERS = {
    "day-first": ("%d/%m/%Y", "%d/%m/%y"),
    "month-first": ("%m/%d/%Y", "%m/%d/%y"),
    "year-first": ("%Y/%m/%d", "%y/%m/%d"),
    "year-month": (),
    "year-quarter": (),
}
"""`--date-format` of dates of three numbers -> their strptime formats, with years of four digits and of two.

year-month is that of months of numbered years, `1-01` to `3-12`, which are steps and no dates; year-quarter that of
`2024:01` to `2024:04`.
"""

_NEAR_MIDDLE = 0.15
FEWEST_MIDDLES = 24
_ROUNDED = 2e-4
"""Largest error of a year in single precision."""
_NEAR = 0.06
"""Largest distance of a year's fraction from a quarter or a month, in these: 1949.08 is a month."""
_TWO_DIGIT_ORDERS = ("%d/%m/%y", "%m/%d/%y", "%y/%m/%d")
_REGULAR = 0.95
"""Share of equal steps that makes a reading of dates a time axis. Wrong ones reach 0.92: twelve days each January."""


def parse_forms(text: pd.Series, name: str, order: str | None) -> tuple[NaiveStamps, str | None]:
    """Dates without offsets, in the first form that fits, and what it leaves over in the next ones (num_cells,).

    Args:
        text: stripped cells, each once.
        name: the column's, for messages.
        order: of `DATE_ORDERS`, for dates of three numbers; found when None.

    Returns:
        The dates, and the order in which three numbers are one, where they are.

    Raises:
        DataError: every date reads in more than one way.
    """
    stamps = np.full(len(text), np.datetime64("NaT"), "datetime64[ns]")
    text = _plain_clocks(text)
    first = next((cell for cell in text.head(100) if _COULD_BE_DATE.match(cell)), "")
    if not first and len(text) <= 100:
        return stamps, None
    if re.match(_WEEK, first):
        return _weeks(text), None
    if re.match(_QUARTER, first):
        return _quarters(text), None
    if re.match(_MONTH_NUMBER, first):
        text = text.where(matches(text, _MONTH_NUMBER))  # a cell of another form is no month
        return parse_form(replaced(text, r"[- ]?[Mm]", "-"), "%Y-%m"), None
    numeric = _NUMERIC.match(first)
    date = _order(text, name, numeric[2], order, short=len(numeric[4]) == 2) if numeric else None
    left = np.arange(len(text))
    for form in _forms(first, date):
        stamps[left] = parse_form(text.iloc[left], form)
        left = left[np.isnat(stamps[left])]
        if not len(left):
            break
    return stamps, next((order for order, dates in DATE_ORDERS.items() if date in dates), None)


def matches(text: pd.Series, pattern: str) -> NDArray[np.bool_]:
    """Cells in which a pattern is found (num_cells,); by Arrow, without a Python call for each."""
    hits = pc.match_substring_regex(pa.array(text, pa.string(), from_pandas=True), pattern)
    return np.asarray(pd.Series(hits.to_pandas()).fillna(False).to_numpy(), np.bool_)


def replaced(text: pd.Series, pattern: str, by: str) -> pd.Series:
    """The cells with every match of a pattern replaced."""
    cells = pc.replace_substring_regex(pa.array(text, pa.string(), from_pandas=True), pattern, by)
    return pd.Series(cells.to_pandas(), dtype="string")


def parse_form(text: pd.Series, form: str) -> NaiveStamps:
    """Cells of one form, NaT where they are not or where nanoseconds cannot hold them (num_cells,)."""
    if form == "ISO8601":  # pandas takes +1, +010 and the Z of 1:00:0Z for offsets, which were taken off where they are
        text = text.mask(matches(text, r"[T ]\d.*[+Z-]"))
    return _in_form(text, form)


def _in_form(text: pd.Series, form: str) -> NaiveStamps:
    return in_range(pd.to_datetime(text, format=form, errors="coerce").to_numpy())


def in_range(stamps: NDArray[np.datetime64]) -> NaiveStamps:
    """Convert to datetime64[ns], NaT in years that nanoseconds do not cover fully."""
    if len(stamps) and stamps.min() >= _FIRST and stamps.max() < _END:  # never true of NaT
        return stamps.astype("datetime64[ns]", copy=False)
    years = stamps.astype("datetime64[Y]").astype(np.int64) + 1970
    bad = np.isnat(stamps) | (years < FIRST_YEAR) | (years > LAST_YEAR)
    return np.where(bad, np.datetime64("NaT"), stamps).astype("datetime64[ns]")


def brought_near(column: pd.Series) -> pd.Series | None:
    """Dates of which some lie outside the years that nanoseconds cover, with the years of those changed (num_cells,).

    They move by multiples of 400 years, after which the Gregorian calendar repeats, weekdays and all. None where no
    cell is such a date.
    """
    if not isinstance(column.dtype, pd.CategoricalDtype | pd.StringDtype):
        return None
    text = column.astype("string")
    years = pd.to_numeric(text.str.extract(r"^(\d{4})-\d", expand=False))
    is_far = ((years < FIRST_YEAR) | (years > LAST_YEAR)).fillna(False).astype(bool)
    if not is_far.any():
        return None
    near = (FIRST_YEAR + (years[is_far] - FIRST_YEAR) % 400).astype("Int64").astype("string")
    return text.mask(is_far, near + text[is_far].str.slice(4))


def _plain_clocks(text: pd.Series) -> pd.Series:
    """Normalise clock times: `1:05pm` to `1:05 PM`, and nothing between digits of a date and of its clock time."""
    if matches(text, r"([AaPp]\.? ?[Mm]\.?|\d:\d{2} ?[ap])$").any():
        text = text.str.replace(r"\s*([AaPp])(\.? ?[Mm]\.?)?$", lambda half: f" {half[1].upper()}M", regex=True)
    if text.str.contains(",", regex=False).any():
        text = replaced(text, r",\s*(\d{1,2}:)", r" \1")
    if matches(text.head(100), r"^\d{8}:\d{4}$").any():  # 20160101:0010, as the solar archive PVGIS writes it
        text = replaced(text, r"^(\d{8}):(\d{4})$", r"\1\2")
    return text


def _forms(first: str, date: str | None) -> Iterator[str]:
    """The forms worth trying, judged by the first cell that could be a date; `date` is of three numbers."""
    known = _HALF_DAYS if first.endswith(("AM", "PM")) else _CLOCKS
    clocks = tuple(sorted(known, key=lambda clock: clock.count(":") != first.count(":")))
    numeric = _NUMERIC.match(first)
    if numeric and date is not None:
        yield from (date.replace("/", numeric[2]) + clock for clock in clocks)
    elif re.match(r"\d{4}", first):
        yield from _year_first(first, clocks)
    else:
        yield from (date + clock for clock in clocks for date in _MONTH_NAMES)


def _year_first(first: str, clocks: tuple[str, ...]) -> Iterator[str]:
    if first.isdecimal() and len(first) in _DIGITS:
        yield _DIGITS[len(first)]
        return
    if re.match(r"\d{4}[ -][A-Za-z]{3}", first):
        yield from (date + clock for clock in clocks for date in _MONTH_NAMES)
    if re.fullmatch(r"\d{4}-[0-3]\d{2}", first):  # the day of the year
        yield "%Y-%j"
        return
    mark = "." if "." in first[:8] else "/" if "/" in first else "-"
    if mark == "-":
        yield "ISO8601"
    dates = (f"%Y{mark}%m{mark}%d", f"%Y{mark}%m")
    yield from (date + clock for date in dates for clock in clocks)
    if mark != "-":
        yield "ISO8601"


# --------------------------------------------------------------------------- weeks and quarters


def _weeks(text: pd.Series) -> NaiveStamps:
    """ISO weeks as their Monday, or the day named."""
    parts = text.str.extract(_WEEK)
    stamps = parse_form(parts[0] + "-W" + parts[1] + "-" + parts[2].fillna("1"), "%G-W%V-%u")
    # pandas 2 reads week 53 of a year that has 52 as the first week of the next year.
    week = pd.Series(stamps).dt.isocalendar().week.fillna(0).to_numpy(np.int64)
    stamps[parts[1].str.fullmatch("53", na=False).to_numpy(bool) & (week != 53)] = np.datetime64("NaT")
    return stamps


def _quarters(text: pd.Series) -> NaiveStamps:
    """Quarters as their first day."""
    parts = text.str.extract(_QUARTER)
    year, quarter = parts[0].fillna(parts[3]), parts[1].fillna(parts[2])
    month = quarter.map({"1": "01", "2": "04", "3": "07", "4": "10"}).astype("string")
    return parse_form(year + "-" + month, "%Y-%m")


# --------------------------------------------------------------------------- day first or month first


def _order(text: pd.Series, name: str, mark: str, given: str | None, *, short: bool) -> str:
    """The strptime format of a date of three numbers, with `/` between them, as given or by evidence.

    Raises:
        DataError: there is none.
    """
    if given is not None and DATE_ORDERS[given]:
        return DATE_ORDERS[given][short]
    orders = _possible_orders(text, mark) if short else _orders_of_long_years(text)
    if len(orders) == 1:
        return orders[0]
    first = next((cell for cell in text if _NUMERIC.match(cell)), text.iloc[0])
    names = [order for order, formats in DATE_ORDERS.items() if set(formats) & set(orders)]
    readings = " or ".join(names).replace("-", " ")
    hint = f"--date-format {' or '.join(names)} decides; or write ISO dates (YYYY-MM-DD)"
    message = f"the dates of column '{name}' are ambiguous: '{first}' may be {readings}, and no value decides"
    raise DataError(message, hint, code="FA201", column=name, value=str(first), options=("date_format",))


def _orders_of_long_years(text: pd.Series) -> tuple[str, ...]:
    """Day first or month first, by a field above 12. Evidence for both is a bad cell: the first order counts."""
    if matches(text, rf"^{_ABOVE_12}[/.-]\d").any():
        return ("%d/%m/%Y",)
    is_month_first = matches(text, rf"^\d{{1,2}}[/.-]{_ABOVE_12}[/.-]").any()
    return ("%m/%d/%Y",) if is_month_first else ("%d/%m/%Y", "%m/%d/%Y")


def _possible_orders(text: pd.Series, mark: str) -> tuple[str, ...]:
    """The orders of day, month and two-digit year in which all are dates; of those, the ones with a regular step."""
    dates = text.str.extract(rf"^(\d{{1,2}}{re.escape(mark)}\d{{1,2}}{re.escape(mark)}\d{{2}})(?!\d)")[0].dropna()
    dates = dates.drop_duplicates()
    readings = {order: parse_form(dates, order.replace("/", mark)) for order in _TWO_DIGIT_ORDERS}
    fewest = min((int(np.isnat(stamps).sum()) for stamps in readings.values()), default=0)
    possible = tuple(order for order, stamps in readings.items() if np.isnat(stamps).sum() == fewest)
    regular = tuple(order for order in possible if _has_regular_step(readings[order]))
    return regular or possible


def _has_regular_step(stamps: NaiveStamps, share: float = _REGULAR) -> bool:
    """Return whether this share of neighbouring dates, by default nearly all, are one step apart."""
    from forecast_attn.data.frequency import distinct_values, guess_alias, parse_frequency

    known = distinct_values(stamps[~np.isnat(stamps)])
    alias = guess_alias(known)
    if alias is None:
        return False
    return bool(np.mean(parse_frequency(alias).steps_between(known[:-1], known[1:]) == 1) >= share)
