"""Turns a column into time stamps, without ever guessing which field is the day.

Time stamps are datetime64[ns] in UTC (or as written, when without a zone), or int64 for integer axes.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.errors import DataError

Stamps = NDArray[Any]  # datetime64[ns] or int64

_TIMES = ("", " %H:%M", " %H:%M:%S")
_DATE = re.compile(r"(\d{1,2})[/.-](\d{1,2})([/.-])(\d{4})")
_COULD_BE_DATE = re.compile(r"\d{4}|\d{1,2}[/.-]\d{1,2}[/.-]\d{4}|(?=.*\d{4}).*[A-Za-z]{3}")
_MONTH_NAMES = ("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%b %Y", "%b-%Y", "%d %B %Y", "%B %d, %Y", "%B %Y")
FIRST_YEAR, LAST_YEAR = 1678, 2261  # what fits into nanoseconds


def parse_timestamps(column: pd.Series, name: str = "time") -> tuple[Stamps, NDArray[np.bool_]]:
    """Parse a column of time stamps.

    Args:
        column: dates as text, datetimes, or whole numbers (steps, or days written as 20240131).
        name: the column's name, for messages.

    Returns:
        The stamps (num_rows,) and a mask (num_rows,) of the cells that are none; what stands at those is no time.

    Raises:
        DataError: every date reads both as day/month and as month/day.
    """
    if isinstance(column.dtype, pd.DatetimeTZDtype) or column.dtype.kind == "M":
        return _in_nanoseconds(pd.Series(column))
    if pd.api.types.is_bool_dtype(column.dtype):
        return np.zeros(len(column), np.int64), np.ones(len(column), np.bool_)
    if pd.api.types.is_numeric_dtype(column.dtype):
        return _from_numbers(column)
    # Series of a panel share their stamps, so each text is parsed once.
    which, texts = pd.factorize(column)
    stamps, bad = _from_text(pd.Series(texts).astype("string").str.strip(), name)
    return np.append(stamps, np.datetime64("NaT"))[which], np.append(bad, True)[which]


def looks_like_dates(column: pd.Series) -> bool:
    """Whether most of the first hundred cells of a text or datetime column are dates."""
    if column.dtype.kind == "M" or isinstance(column.dtype, pd.DatetimeTZDtype):
        return True
    if pd.api.types.is_numeric_dtype(column.dtype):
        return False
    sample = column.dropna().head(100)
    try:
        return len(sample) > 0 and bool(parse_timestamps(sample)[1].mean() < 0.5)
    except DataError:
        return True  # ambiguous dates are dates


def _in_nanoseconds(stamps: pd.Series) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    if isinstance(stamps.dtype, pd.DatetimeTZDtype):
        stamps = stamps.dt.tz_convert("UTC").dt.tz_localize(None)
    values = stamps.to_numpy()
    years = values.astype("datetime64[Y]").astype(np.int64) + 1970
    bad = np.isnat(values) | (years < FIRST_YEAR) | (years > LAST_YEAR)
    return np.where(bad, np.datetime64("NaT"), values).astype("datetime64[ns]"), bad


def _from_numbers(column: pd.Series) -> tuple[Stamps, NDArray[np.bool_]]:
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isfinite(numbers) | (numbers != np.round(numbers))
    whole = np.where(bad, 0, numbers).astype(np.int64)
    if not bad.any() and len(whole) and whole.min() >= 16780101 and whole.max() <= 22611231:
        days = pd.to_datetime(pd.Series(whole.astype(str)), format="%Y%m%d", errors="coerce")
        if not days.isna().any():
            return _in_nanoseconds(days)
    return whole, bad


def _from_text(text: pd.Series, name: str) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    """Parse with the first format that fits, and what it leaves over with the next ones."""
    stamps = np.full(len(text), np.datetime64("NaT"), "datetime64[ns]")
    left = np.arange(len(text))
    for date_format in _formats(text, name):
        parsed, bad = _parse(text.iloc[left], date_format)
        stamps[left] = parsed
        left = left[bad]
        if not len(left):
            break
    return stamps, np.isnat(stamps)


def _parse(text: pd.Series, date_format: str) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # what pandas 2 does where pandas 3 raises
            return _in_nanoseconds(pd.to_datetime(text, format=date_format, errors="coerce"))
    except (
        ValueError,
        FutureWarning,
    ):  # offsets that differ: all of them are instants, so UTC is right if every cell has one
        zoned = text.str.contains(r"(?:Z|[+-]\d\d:?\d\d)$").to_numpy(dtype=np.bool_)
        stamps, bad = _in_nanoseconds(pd.to_datetime(text, format=date_format, errors="coerce", utc=True))
        return np.where(zoned, stamps, np.datetime64("NaT")), bad | ~zoned


def _formats(text: pd.Series, name: str) -> Iterator[str]:
    """The formats worth trying, judged by the first cell that could be a date."""
    first = next((cell for cell in text.head(100) if _COULD_BE_DATE.match(cell)), "")
    match = _DATE.match(first)
    if match:
        order = _field_order(text, name)
        yield from (
            order.replace("/", match[3]) + time
            for time in sorted(_TIMES, key=lambda t: t.count(":") != first.count(":"))
        )
    elif re.match(r"\d{4}", first):
        if "/" not in first and "." not in first[:8]:
            yield "ISO8601"
        mark = "." if "." in first[:8] else "/"
        dates = (f"%Y{mark}%m{mark}%d", f"%Y{mark}%m")
        yield from (
            date + time for date in dates for time in sorted(_TIMES, key=lambda t: t.count(":") != first.count(":"))
        )
        yield "ISO8601"
    elif re.search("[A-Za-z]{3}", first):
        yield from _MONTH_NAMES


def _field_order(text: pd.Series, name: str) -> str:
    """Day first or month first, by the evidence of a field above 12."""
    fields = text.str.extract(r"^(\d{1,2})[/.-](\d{1,2})[/.-]")
    first, second = (pd.to_numeric(fields[i]).to_numpy(dtype=np.float64, na_value=0) for i in (0, 1))
    if (first > 12).any():
        return "%d/%m/%Y"
    if (second > 12).any():
        return "%m/%d/%Y"
    raise DataError(
        f"the dates of column '{name}' are ambiguous: '{text.iloc[0]}' may be day first or month first, "
        "and no value of the column decides it",
        "write ISO dates (YYYY-MM-DD) into the file",
    )
