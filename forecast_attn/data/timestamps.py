"""Parses a column of time stamps, without ever guessing which field is the day.

Time stamps are datetime64[ns] in UTC (or as written, when without a zone), or int64 for integer axes.
"""

from __future__ import annotations

import functools
import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.date_forms import DATE_ORDERS, in_form, in_range, matches, parse_form, parse_forms, replaced
from forecast_attn.data.frequency import Stamps, are_regular
from forecast_attn.data.number_stamps import (
    MOSTLY_NEXT,
    Mask,
    ParsedStamps,
    counted_stamps,
    stamps_of_numbers,
    whole_numbers,
)
from forecast_attn.data.text_memo import TextMemo
from forecast_attn.data.written_dates import plain_dates
from forecast_attn.data.zone_names import hint_at_unread, unread_name, with_offset, without_unread_name
from forecast_attn.errors import ConfigError, DataError

MOST_LOOKED_AT = 10_000
"""Rows that nearly always hold a hundred cells that are not empty."""

MOST_KEPT = 100_000
"""Distinct texts of which the time stamps are kept; of more, the memory would be worth more than the time."""

_OFFSET = r"(?:Z|[+-]\d{2}(?::?\d{2})?)$"
_LONGEST_OFFSET = 6
_CLOCK = r"[T ]\d{1,2}(?::?\d{2}){0,2}(?:\.\d+)?(?: ?[AaPp]\.?[Mm]\.?)?\s*"
_END_OF_DAY = r"[T ]24:00"
_PLAIN_ISO = r"^\d{4}-\d{2}-\d{2}(?:[T ](?:[01]\d|2[0-3]):\d{2}(?::\d{2})?)?$"
_MIDNIGHT = r"[T ]0?0:00"
_WIDTHS = {"%Y": 4, "%G": 4, "%j": 3, "%V": 2, "%y": 2, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2}


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
    are_numbers = pd.api.types.is_numeric_dtype(column.dtype)
    if are_numbers and (date_format is None or date_format in DATE_ORDERS):
        return stamps_of_numbers(column)
    counted = None if date_format is None else counted_stamps(column, date_format)
    if counted is None and are_numbers:
        return _digits_in_format(column, str(date_format))
    return _from_text(column, name, date_format) if counted is None else counted


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


def has_regular_step(column: pd.Series) -> bool:
    """Return whether nearly all neighbouring stamps of a column, once sorted, are one step apart."""
    try:
        stamps, bad = parse_timestamps(column, str(column.name))
    except DataError:
        return False
    return not bad.any() and stamps.dtype.kind == "M" and are_regular(stamps)


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
    of_dateutil = re.fullmatch(r"tzfile\('(?:.*zoneinfo/)?(.+)'\)", str(dtype.tz))
    named = of_dateutil[1] if of_dateutil else getattr(dtype.tz, "key", None) or getattr(dtype.tz, "zone", None)
    offset = dtype.tz.utcoffset(None)
    if named is not None or offset is None or str(dtype.tz) == "UTC":
        return str(named or dtype.tz)
    return offset_name(round(offset.total_seconds()))


def _from_datetimes(column: pd.Series, zone: str | None) -> ParsedStamps:
    if isinstance(column.dtype, pd.ArrowDtype):
        values = column.array.__arrow_array__()  # UTC, whatever the zone
        return _from_datetimes(pd.Series(values.to_numpy()), zone)
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    stamps = in_range(column.to_numpy())
    return ParsedStamps(stamps, np.isnat(stamps), zone=zone)


# --------------------------------------------------------------------------- digits and text


def _digits_in_format(column: pd.Series, date_format: str) -> ParsedStamps:
    """Numbers as the digits of a date: a CSV's 01022024 arrives as 1022024, and the format says how many there were."""
    whole, bad = whole_numbers(column)
    width = sum(_WIDTHS.get(directive, 0) for directive in re.findall("%.", date_format))
    text = pd.Series(whole.astype(str)).str.zfill(width).where(~bad)
    return _from_text(text, str(column.name), date_format)


_STAMPS: TextMemo[ParsedStamps] = TextMemo()
"""The time stamps of the texts of a column, by its name, their format and which of the texts there are."""


def _from_text(column: pd.Series, name: str, date_format: str | None) -> ParsedStamps:
    """Series of a panel share their stamps, so each text is parsed once."""
    if date_format in (None, NUMBERED_MONTHS) and (steps := _numbered_months(column, date_format)) is not None:
        return steps
    which, texts = pd.factorize(column)
    if not isinstance(texts, pd.CategoricalIndex) or len(texts) > MOST_KEPT:
        return _from_texts(texts, name, date_format).spread(which)
    question = (name, date_format, texts.codes.tobytes())
    return _STAMPS.get(texts.dtype, question, lambda: _from_texts(texts, name, date_format)).spread(which)


def _from_texts(texts: pd.Index, name: str, date_format: str | None) -> ParsedStamps:
    """Parse distinct texts, one of each (num_texts,)."""
    order = date_format if date_format in DATE_ORDERS else None
    date_format = None if order is not None else date_format
    text = pd.Series(texts).astype("string").str.strip()
    if order == NUMBERED_QUARTERS or (date_format is None and order is None and _are_numbered_quarters(text)):
        quarters = parse_forms(text.str.replace(_NUMBERED_QUARTER, r"\1Q\2", regex=True), name, None)[0]
        return ParsedStamps(quarters, np.isnat(quarters), order=NUMBERED_QUARTERS)
    if date_format is None and matches(text, _PLAIN_ISO).all():  # the usual form leaves nothing to find out
        stamps = in_form(text, "ISO8601")
        return ParsedStamps(stamps, np.isnat(stamps))
    if date_format is None and order is None:
        _check_zone_names(text, name)
    text, date_format = _with_offsets(text, date_format)
    text, offsets = _without_offsets(text, date_format)
    text, is_end_of_day = _without_end_of_day(text)
    if date_format is None:
        stamps, order = parse_forms(text, name, order)
    else:
        stamps = _in_format(text, date_format)
    stamps = stamps + is_end_of_day.astype("timedelta64[D]")
    if offsets is None:
        return ParsedStamps(stamps, np.isnat(stamps), order=order)
    # A cell without an offset, among others that have one, says no instant.
    instants = np.where(np.isnan(offsets), np.datetime64("NaT"), stamps)
    instants = instants - np.nan_to_num(offsets).astype("timedelta64[s]")
    return ParsedStamps(instants, np.isnat(instants), np.nan_to_num(offsets).astype(np.int32), order=order)


NUMBERED_MONTHS = "year-month"
_NUMBERED_MONTH = re.compile(r"\s*(\d{1,3})-(0?[1-9]|1[0-2])\s*")
FEWEST_NUMBERED = 8


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


def _with_offsets(text: pd.Series, date_format: str | None) -> tuple[pd.Series, str | None]:
    """Cells with offsets for the names of zones, and the format that then fits."""
    if date_format is None:
        return plain_dates(text), None
    if not date_format.endswith("%Z"):
        return text, date_format
    named = text.map(with_offset, na_action="ignore").astype("string")
    return named, date_format.removesuffix("%Z") + "%z"


def _check_zone_names(text: pd.Series, name: str) -> None:
    """Refuse dates that begin with the name of a zone that is not read, such as BST.

    Raises:
        DataError: they do.
    """
    first = next((cell for cell in text.head(100) if isinstance(cell, str) and cell), "")
    zone = unread_name(first)
    if zone is None or not looks_like_dates(pd.Series([without_unread_name(first)])):
        return
    message = f"the time stamps of column '{name}' end in '{zone}', which does not mean one offset: '{first}'"
    raise DataError(message, hint_at_unread(first), code="FA201", column=name, value=first, options=("date_format",))


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
        hint = f"it must stand at the end; or the name itself: --date-format '{bare.replace('%Z', 'CET')}' --tz CET"
        raise ConfigError(f"--date-format '{date_format}' has %Z in the middle", hint)
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
