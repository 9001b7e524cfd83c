"""The columns, and columns together, that may be the time of a table, and the stamps that they make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.clock_candidates import is_day_of_clocks, is_hour, with_clocks
from forecast_attn.checking.number_times import (
    REGULAR,
    are_only_times,
    begins_again,
    counts_up,
    counts_within,
    denser_order,
    format_of_decimals,
    format_of_digits,
    goes_on_evenly,
    is_day_count,
    is_of_digits,
    is_time_or_year,
    regular_order,
    regularity,
    rises_as_time,
)
from forecast_attn.checking.series_candidates import may_have_names
from forecast_attn.checking.value_names import is_called_rank
from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import (
    LOOSE_TIME_NAMES,
    STEP_WORDS,
    TIME_NAMES,
    counts_rows,
    is_called_a_name,
    is_called_birth,
)
from forecast_attn.data.number_stamps import SERIAL_DAYS, is_plain_number
from forecast_attn.data.reading.clocks import are_parts_of_day, is_clock
from forecast_attn.data.reading.header import unnamed_column
from forecast_attn.data.reading.joined import ROW_NUMBER, parts_of, with_joined
from forecast_attn.data.reading.text_columns import holds_texts
from forecast_attn.data.reading.time_parts import are_counts, holds_years, time_parts, unit_of_column
from forecast_attn.data.timestamps import looks_like_dates, parse_timestamps
from forecast_attn.errors import ConfigError, DataError

MOST_BAD_STAMPS = 0.05
"""Share of rows without a time that are left out."""
_MOST_PARTS = 5
"""Year, month, day, hour and minute."""
_YEAR = r"(?<!\d)(?:1[6-9]|2[0-2])\d{2}(?!\d{2})"


def time_candidates(frame: pd.DataFrame, config: DataConfig) -> Iterator[str]:
    """Columns, and columns together, that may be the time; the number of the row last.

    Args:
        frame: as it stands in the file.
        config: what has another role by its options is no time.
    """
    declared = {config.target, config.item_id, config.weight, *config.ignore, *config.static_covariates}
    free = [str(name) for name in frame.columns if name not in declared]
    free = [name for name in free if not is_birthday(frame[name])]
    dates = [name for name in free if looks_like_dates(frame[name]) and not is_clock(frame[name])]
    clocks = [name for name in free if name not in dates and (is_clock(frame[name]) or is_hour(frame[name]))]
    dates += with_clocks(frame, free, dates, clocks)
    if not dates and _is_unnamed_typical_year(frame, free):
        yield ROW_NUMBER
        return
    yield from dates
    numbers = [name for name in free if name not in dates and pd.api.types.is_numeric_dtype(frame[name].dtype)]
    numbers = [name for name in numbers if name not in clocks or not is_day_of_clocks(frame[name])]
    differ = [name for name in dates if name not in frame.columns or frame[name].nunique() > 1]  # not `2018/19` alone
    yield from _times_of_numbers(frame, free, numbers, has_dates=bool(differ))
    yield from _parts_of_dates(frame, free)
    yield from _unnamed_parts(frame, free)
    are_steps = not dates and not are_only_times([frame[name] for name in numbers])
    if are_steps and not any(_is_named_time(frame[name]) and may_have_names(frame, name) for name in free):
        yield ROW_NUMBER


def stamps_of(frame: pd.DataFrame, time: str, config: DataConfig) -> NDArray[Any] | None:
    """The stamps of every row, of the few cells that are none just behind the one above; None where many are none."""
    try:
        joined = with_joined(frame, DataConfig(time=time, item_id=config.item_id), "")
        stamps, bad = parse_timestamps(joined[time], time, config.date_format)
    except ConfigError:
        return None
    except DataError as error:
        if "date_format" not in error.options:
            return None
        order = regular_order(joined[time]) or denser_order(joined[time]) or "day-first"
        return parse_timestamps(joined[time], time, order)[0]
    if bad.mean() > MOST_BAD_STAMPS:
        return None
    if not bad.any():
        return stamps
    if stamps.dtype.kind != "M":
        return np.where(bad, stamps[~bad][0], stamps)
    above = np.maximum.accumulate(np.where(bad, int(np.argmin(bad)), np.arange(len(bad))))
    return stamps[above] + np.cumsum(bad) * bad * np.timedelta64(1, "ns")


def date_format_of(frame: pd.DataFrame, time: str) -> str | None:
    """The `--date-format` of numbers, or of days of digits that are joined with a clock of numbers: 891101 and 23."""
    date, *clock = parts_of(time, frame)
    if date not in frame.columns or len(clock) > 1 or (clock and not is_plain_number(frame[clock[0]])):
        return None
    form = format_of_digits(frame[date])
    if form is None and not clock and (decimals := format_of_decimals(frame[date])) is not None:
        return decimals if parse_timestamps(frame[date], date)[1].any() else None
    if form is None or not clock or (form == SERIAL_DAYS and are_parts_of_day(frame[clock[0]])):
        return form
    return f"{form} %H:%M" if form.startswith("%") else None


def is_birthday(column: pd.Series) -> bool:
    """Return whether dates are those on which people were born, by their name: no time of what the rows hold."""
    return is_called_birth(str(column.name)) and looks_like_dates(column)


# --------------------------------------------------------------------------- numbers


def _times_of_numbers(frame: pd.DataFrame, free: list[str], numbers: list[str], *, has_dates: bool) -> Iterator[str]:
    """Numbers called a time and those that count steps; then those of days or weeks; then years and dates of digits."""
    counters = _counters(frame, free, numbers, has_dates=has_dates)
    called = [name for name in numbers if name.lower() in (*TIME_NAMES, *LOOSE_TIME_NAMES, *STEP_WORDS)]
    yield from (name for name in numbers if name in called or name in counters)
    others = [name for name in numbers if name not in called]
    yield from (name for name in others if name not in counters and is_day_count(frame[name]))
    may_be_years = [name for name in others if holds_years(frame[name])]  # `iyear`, `year of sale`, `season_start`
    years = [name for name in may_be_years if is_time_or_year(frame[name]) or begins_again(frame[name])]
    yield from (name for name in others if name in years or is_of_digits(frame[name]))


def _counters(frame: pd.DataFrame, free: list[str], numbers: list[str], *, has_dates: bool) -> list[str]:
    """Numbers that count the steps of one series, or of each; beside dates, of one alone: no lines of invoices."""
    may_count = [name for name in numbers if counts_rows(name) or not (is_called_a_name(name) or is_called_rank(name))]
    counters = [name for name in may_count if counts_up(frame[name], in_series=not has_dates)]
    if has_dates:
        return counters
    names = [frame[name] for name in free if not pd.api.types.is_float_dtype(frame[name].dtype)]
    counters += [name for name in may_count if name not in counters and counts_within(frame[name], names)]
    others = [name for name in may_count if name not in counters]
    return counters + [name for name in others if goes_on_evenly(frame[name]) or rises_as_time(frame[name])]


def _is_named_time(column: pd.Series) -> bool:
    """Return whether a column is a time by its name, and most of its cells can be one, or hold a year."""
    name = str(column.name).lower()
    if holds_texts(column) and name in (*TIME_NAMES, *LOOSE_TIME_NAMES):
        return bool(column.str.contains(_YEAR).mean() > 0.5)
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return False
    if unit_of_column(column) != "year" and name not in (*TIME_NAMES, *STEP_WORDS):
        return False
    return bool(parse_timestamps(column, str(column.name))[1].mean() < 0.5)


# --------------------------------------------------------------------------- parts of dates


def _parts_of_dates(frame: pd.DataFrame, free: list[str]) -> Iterator[str]:
    """The columns that are a date together, or the year alone where its name is not known as a time."""
    parts = time_parts(frame, free)
    if len(parts) > 1 or (parts and parts[0].lower() not in (*TIME_NAMES, *LOOSE_TIME_NAMES)):
        yield ",".join(parts)


def _unnamed_parts(frame: pd.DataFrame, free: list[str]) -> Iterator[str]:
    """The first columns of a table without names where they are year, month, day and hour, or year and day, by cells.

    As many of them as make a date that goes on by one step in every row; day and month may stand before their year.
    """
    for size in range(2, _MOST_PARTS + 1):
        parts = [unnamed_column(number) for number in range(1, size + 1)]
        if free[:size] != parts or not all(are_counts(frame[part]) for part in parts):
            return
        for order in _orders_of_parts(parts):
            stamps = stamps_of(frame, ",".join(order), DataConfig()) if holds_years(frame[order[0]]) else None
            if stamps is None or not (np.diff(stamps) > np.timedelta64(0)).all():
                continue
            if regularity(stamps) >= REGULAR:
                yield ",".join(order)
                return


def _is_unnamed_typical_year(frame: pd.DataFrame, free: list[str]) -> bool:
    """Return whether a table without names begins with year, month, day and hour, and its months are of several years.

    As those of EnergyPlus are: each month is a typical one.
    """
    parts = [unnamed_column(number) for number in range(1, 5)]
    if free[:4] != parts or not all(are_counts(frame[part]) for part in parts) or not holds_years(frame[parts[0]]):
        return False
    stamps = stamps_of(frame.assign(**{parts[0]: 2001}), ",".join(parts), DataConfig())
    goes_on = stamps is not None and bool((np.diff(stamps) > np.timedelta64(0)).all())
    return goes_on and not frame[parts[0]].is_monotonic_increasing


def _orders_of_parts(parts: list[str]) -> Iterator[list[str]]:
    """The parts of a date from the year on, where it stands first, or third behind day and month or month and day."""
    yield parts
    if len(parts) > 2:
        first, second, year, *others = parts
        yield [year, second, first, *others]
        yield [year, first, second, *others]
