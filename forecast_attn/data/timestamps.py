"""Turns a column into time stamps, without ever guessing which field is the day.

Time stamps are datetime64[ns] in UTC (or as written, when without a zone), or int64 for integer axes.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.date_forms import ORDERS, in_range, matches, parse_form, parse_forms, replaced
from forecast_attn.errors import ConfigError, DataError

Stamps = NDArray[Any]  # datetime64[ns] or int64
Mask = NDArray[np.bool_]

EPOCHS = {"s": 10**9, "ms": 10**6}
"""`--date-format` of numbers that count since 1970 in UTC -> nanoseconds of one."""

_OFFSET = r"(?:Z|[+-]\d{2}(?::?\d{2})?)$"
_LONGEST_OFFSET = 6
_CLOCK = r"[T ]\d{1,2}(?::?\d{2}){0,2}(?:\.\d+)?(?: ?[AaPp]\.?[Mm]\.?)?\s*"
_END_OF_DAY = r"[T ]24:00"
_MIDNIGHT = r"[T ]0?0:00"
_WIDTHS = {"%Y": 4, "%y": 2, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2}
_DIGITS = {10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


@dataclass(frozen=True)
class ParsedStamps:
    """A column of time stamps. Where `bad`, stamp and offset mean nothing."""

    stamps: Stamps
    """UTC where the cells say their zone, else as written (num_rows,)."""
    bad: Mask
    """Cells that are no time stamp (num_rows,)."""
    offsets: NDArray[np.int32] | None = None
    """Seconds east of UTC as each cell says it (num_rows,); None where the cells carry no offsets."""
    zone: str | None = None
    """The zone of a column of datetimes that carries one."""
    order: str | None = None
    """Of dates of three numbers: day-first, month-first or year-first."""


def parse_timestamps(column: pd.Series, name: str = "time", date_format: str | None = None) -> tuple[Stamps, Mask]:
    """Parse a column of time stamps; `read_stamps` tells their offsets too.

    Args:
        column: dates as text, datetimes, or whole numbers (steps, or dates written as 20240131).
        name: the column's name, for messages.
        date_format: how they are written: a strptime format; s or ms since 1970; day-first, month-first or year-first
            for dates of three numbers; found when None.

    Returns:
        The stamps (num_rows,) and a mask (num_rows,) of the cells that are none; what stands at those is no time.

    Raises:
        ConfigError: `date_format` is none.
        DataError: every date reads both as day/month and as month/day.
    """
    parsed = read_stamps(column, name, date_format)
    return parsed.stamps, parsed.bad


def read_stamps(column: pd.Series, name: str = "time", date_format: str | None = None) -> ParsedStamps:
    """As `parse_timestamps`, with the offsets or the zone that the cells name."""
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.start_time
    zone = zone_name(column)
    if zone is not None or column.dtype.kind == "M":
        return _from_datetimes(column, zone)
    if pd.api.types.is_bool_dtype(column.dtype):
        return ParsedStamps(np.zeros(len(column), np.int64), np.ones(len(column), np.bool_))
    if pd.api.types.is_numeric_dtype(column.dtype):
        is_found = date_format is None or date_format in ORDERS
        return _from_numbers(column) if is_found else _numbers_in_format(column, str(date_format))
    if date_format in EPOCHS:
        return _since_1970(pd.to_numeric(column, errors="coerce"), date_format)
    return _from_text(column, name, date_format)


def looks_like_dates(column: pd.Series) -> bool:
    """Whether most of the first hundred cells of a text or datetime column are dates."""
    if column.dtype.kind == "M" or isinstance(column.dtype, pd.DatetimeTZDtype | pd.PeriodDtype):
        return True
    if pd.api.types.is_numeric_dtype(column.dtype):
        return False
    sample = column.dropna().head(100)
    try:
        return len(sample) > 0 and bool(parse_timestamps(sample)[1].mean() < 0.5)
    except DataError:
        return True  # ambiguous dates are dates


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
    """Steps, or dates of 8, 10, 12 or 14 digits if every cell is one."""
    whole, bad = _whole(column)
    if not bad.any() and len(whole):
        for digits, form in _DIGITS.items():
            if whole.min() >= 1900 * 10 ** (digits - 4) and whole.max() < 2100 * 10 ** (digits - 4):
                return _dates_or_steps(whole, form)
        if whole.min() >= 16780101 and whole.max() <= 22611231:
            return _dates_or_steps(whole, "%Y%m%d")
    return ParsedStamps(whole, bad)


def _whole(column: pd.Series) -> tuple[NDArray[np.int64], Mask]:
    """The numbers (num_rows,), and which cells hold none or a fraction."""
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isfinite(numbers) | (numbers != np.round(numbers)) | (np.abs(numbers) >= 2**62)
    if column.dtype.kind in "iu":
        return column.to_numpy(dtype=np.int64), np.zeros(len(column), np.bool_)
    return np.where(bad, 0, numbers).astype(np.int64), bad


def _dates_or_steps(whole: NDArray[np.int64], form: str) -> ParsedStamps:
    found, which = np.unique(whole, return_inverse=True)
    stamps = parse_form(pd.Series(found.astype(str)), form)
    bad = np.zeros(len(whole), np.bool_)
    return ParsedStamps(whole if np.isnat(stamps).any() else stamps[which], bad)


def _numbers_in_format(column: pd.Series, date_format: str) -> ParsedStamps:
    if date_format in EPOCHS:
        return _since_1970(column, date_format)
    whole, bad = _whole(column)
    # A CSV's 01022024 arrives as 1022024: the format says how many digits there were.
    width = sum(_WIDTHS.get(directive, 0) for directive in re.findall("%.", date_format))
    text = pd.Series(whole.astype(str)).str.zfill(width).where(~bad)
    return _from_text(text, str(column.name), date_format)


def _since_1970(column: pd.Series, unit: str) -> ParsedStamps:
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    length = EPOCHS[unit]
    bad = ~(np.abs(numbers) < 9.2e18 / length)
    if column.dtype.kind in "iu":
        nanoseconds = np.where(bad, 0, column.to_numpy(dtype=np.int64)) * length
    else:  # fractions of a second in floating point are good to the microsecond
        nanoseconds = np.round(np.where(bad, 0, numbers) * (length / 1000)).astype(np.int64) * 1000
    stamps = in_range(nanoseconds.astype("datetime64[ns]"))
    return ParsedStamps(stamps, bad | np.isnat(stamps), np.zeros(len(stamps), np.int32))


# --------------------------------------------------------------------------- text


def _from_text(column: pd.Series, name: str, date_format: str | None) -> ParsedStamps:
    """Series of a panel share their stamps, so each text is parsed once."""
    which, texts = pd.factorize(column)
    order = date_format if date_format in ORDERS else None
    date_format = None if order is not None else date_format
    text, offsets = _without_offsets(pd.Series(texts).astype("string").str.strip(), date_format)
    text, is_end_of_day = _without_end_of_day(text)
    if date_format is None:
        stamps, order = parse_forms(text, name, order)
    else:
        stamps = _in_format(text, date_format)
    stamps = stamps + is_end_of_day.astype("timedelta64[D]")
    if offsets is None:
        found = np.append(stamps, np.datetime64("NaT"))[which]
        return ParsedStamps(found, np.isnat(found), order=order)
    # A cell without an offset, among others that have one, says no instant.
    instants = np.where(np.isnan(offsets), np.datetime64("NaT"), stamps)
    instants = instants - np.nan_to_num(offsets).astype("timedelta64[s]")
    found = np.append(instants, np.datetime64("NaT"))[which]
    seconds = np.append(np.nan_to_num(offsets), 0).astype(np.int32)[which]
    return ParsedStamps(found, np.isnat(found), seconds, order=order)


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
    found = [re.search(_OFFSET, str(end)) for end in ends]
    seconds = np.array([np.nan if match is None else _seconds(match[0].strip()) for match in found])
    bare = text.where(~zoned, replaced(text, r"\s*" + _OFFSET, ""))
    return bare, np.where(zoned, seconds[codes], np.nan)


def _seconds(offset: str) -> int:
    """Seconds east of UTC of Z, +01, +0130 or +01:30."""
    if offset == "Z":
        return 0
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return (-1 if offset[0] == "-" else 1) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)


def _without_end_of_day(text: pd.Series) -> tuple[pd.Series, Mask]:
    """`24:00` as `00:00`, and where it stood; only in columns that call no other midnight 00:00, else it stays bad."""
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
    if "%z" in bare:
        raise ConfigError(f"--date-format '{date_format}' has %z in the middle", "the offset must stand at the end")
    try:
        datetime.datetime.strptime("", bare)
    except ValueError as error:
        if "directive" in str(error) or "stray" in str(error):
            reason = str(error).replace(f" in format '{bare}'", "")
            hint = "such as '%d.%m.%Y %H:%M'; day-first or month-first; s or ms for numbers since 1970"
            raise ConfigError(f"--date-format '{date_format}' is no format: {reason}", hint) from None
    return parse_form(text, bare)
