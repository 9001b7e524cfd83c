"""Dates beside the clock, hour or numbered part of the day of each row, by the names and the cells of both."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.number_times import FEWEST_ROWS, MOSTLY_REGULAR, is_of_digits, regularity
from forecast_attn.data.column_names import TIME_NAMES, is_called_subject, unit_of, words_of
from forecast_attn.data.frequency import distinct_values
from forecast_attn.data.reading.clocks import (
    PERIODS_OF_DAY,
    are_parts_of_day,
    are_seconds_of_day,
    go_on_all_day,
    is_clock_of_digits,
    is_hours,
    minutes_of_hour,
    periods_of_day,
)
from forecast_attn.data.reading.time_parts import go_back_with
from forecast_attn.data.timestamps import looks_like_dates

_NOON = 1200
_DIFFER = 0.25
"""Ratio of the variance of means to that of the numbers that they are of, beyond which numbers tell of a day."""
_SMOOTH = 0.5
"""Roughness of means by the hour below which they go on through the day."""
_NEARER = 0.8
"""Ratio of a step to that of an hour."""
_MOST_MEASURED = 10
"""Columns of numbers that tell whether others are hours."""
_PART = r"period|interval|slot|part"
"""Names of parts of an hour."""
_WORDS_OF_CLOCKS = ("datum", "fecha", "data", "hora", "heure", "uhrzeit", "zeit", "ora", "tijd", "tid", "godzina")
"""Words for dates and clocks, behind which others say of what: `Fecha Egr.` and `Hora Egr.`."""
_MOST_BEYOND_A_DAY = 0.01
"""Share of periods that only a day has at which a clock is set back."""
_FIRST_CELLS = 1000
"""Cells that tell how dates are written."""


def with_clocks(frame: pd.DataFrame, free: list[str], dates: list[str], clocks: list[str]) -> list[str]:
    """Dates together with the clock of each row, `date,hour`, and then with the parts of its hours."""
    days = [name for name in free if clocks and name not in (*dates, *clocks) and is_of_digits(frame[name])]
    whole = [name for name in dates if not _have_clocks(frame[name])]
    pairs = [(date, clock) for date in (*whole, *days) for clock in _clocks_called_as(date, clocks, [*whole, *days])]
    beside = [(date, clock) for date, clock in itertools.pairwise(free) if clock not in clocks]
    beside = [(date, clock) for date, clock in beside if _is_clock_of(frame[date], frame[clock])]
    pairs += [(date, clock) for date, clock in beside if _counts_a_day(frame, date, clock)]
    return [*map(",".join, pairs), *_with_parts_of_hours(frame, free, pairs)]


def _have_clocks(dates: pd.Series) -> bool:
    """Return whether dates have times of day themselves: clocks beside them say how long something took."""
    clocks = dates.dropna().head(_FIRST_CELLS).astype(str).str.extract(r"\d[T ]+(\d?\d:\d\d.*)", expand=False)
    return bool(clocks.notna().mean() > 0.5 and clocks.nunique() > 1)  # and no midnights


def _clocks_called_as(date: str, clocks: list[str], dates: list[str]) -> list[str]:
    """The clocks of the same other words as a date, `Time GMT` of `Date GMT`; else all but those of other dates."""

    def others(name: str) -> list[str]:
        return [word for word in words_of(name) if word not in (*TIME_NAMES, *_WORDS_OF_CLOCKS)]

    of_others = [others(each) for each in dates if others(each) and others(each) != others(date)]
    called = [clock for clock in clocks if others(date) and others(clock) == others(date)]
    return called or [clock for clock in clocks if others(clock) not in of_others]


def _with_parts_of_hours(frame: pd.DataFrame, free: list[str], pairs: list[tuple[str, str]]) -> Iterator[str]:
    """Dates and hours with a column beside them that counts the parts of each hour: its minutes, or 1 to 12."""
    after = dict(itertools.pairwise(free))
    beside = [(date, hour, after[hour]) for date, hour in pairs if hour in after]
    return (",".join(names) for names in beside if _are_parts_of_hours(frame, *names))


def _are_parts_of_hours(frame: pd.DataFrame, date: str, hour: str, other: str) -> bool:
    """Return whether a column counts the parts of each hour, by its name or because its numbers are near each other."""
    are_parts = is_hours(frame[hour]) and minutes_of_hour(frame[other]) is not None
    if not are_parts or not go_back_with(frame[other], frame[hour], frame[date]):
        return False
    is_called = re.search(_PART, other, re.IGNORECASE) is not None or unit_of(other) == "minute"
    return is_called or (not is_called_subject(other) and _are_nearest_alike(frame, [date, hour, other]))


def is_hour(column: pd.Series) -> bool:
    """Return whether a column counts the hours or other periods of a day, or is called time and a clock of digits."""
    if periods_of_day(column) is not None:
        return True
    if words_of(str(column.name)) == ["time"] and is_clock_of_digits(column):
        return True
    is_called_hour = unit_of(str(column.name)) == "hour" or words_of(str(column.name))[-1:] == ["hour"]
    return is_called_hour and is_hours(column)


def is_day_of_clocks(column: pd.Series) -> bool:
    """Return whether numbers are clocks of digits, by the minutes that they leave out: 1545, 1550, 1600."""
    return is_clock_of_digits(column) and regularity(distinct_values(column.to_numpy())) < MOSTLY_REGULAR


def _is_clock_of(date: pd.Series, clock: pd.Series) -> bool:
    """Return whether numbers are the hours or clocks of a date, whatever their name: they go back with each day."""
    are_all_hours = is_hours(clock) and clock.nunique() in PERIODS_OF_DAY  # and no ranks from 1 to 20
    per_day = periods_of_day(clock, is_named=True)
    are_periods = per_day is not None and clock.nunique() == clock.max()
    are_periods = are_periods and np.mean(clock > per_day) <= _MOST_BEYOND_A_DAY  # and no hundred shops
    are_clocks = is_clock_of_digits(clock) and clock.max() >= _NOON  # and no codes from 101 on
    are_seconds = are_seconds_of_day(clock) and go_on_all_day(clock)
    are_clocks = are_clocks or are_seconds or are_parts_of_day(clock)
    may_be_clock = len(clock) >= FEWEST_ROWS and not is_called_subject(str(clock.name))
    if not may_be_clock or not (are_clocks or are_all_hours or are_periods):
        return False
    return (looks_like_dates(date) or is_of_digits(date)) and (are_seconds or go_back_with(clock, date))


def _counts_a_day(frame: pd.DataFrame, date: str, clock: str) -> bool:
    """Return whether what was measured goes on from one number to the next, as through a day, where numbers tell of it.

    Shops differ as they may. Clocks and seconds need no such evidence.
    """
    if is_clock_of_digits(frame[clock]) or frame[clock].max() > max(PERIODS_OF_DAY) or are_parts_of_day(frame[clock]):
        return True
    groups = [frame[name].groupby(frame[clock].to_numpy()) for name in _measured(frame, [date, clock])]
    means = [each.mean().to_numpy(np.float64) for each in groups if _differ(each)]
    return not means or any(_roughness(each) < _SMOOTH for each in means)


def _differ(groups: Any) -> bool:
    """Return whether the means of the groups of a column differ, beside the numbers in them."""
    return bool(groups.mean().var() > _DIFFER * groups.var().mean())


def _roughness(means: NDArray[np.float64]) -> float:
    """Ratio of the steps between neighbours, the last and the first too, to those between any two: 1 in no order."""
    means = means[~np.isnan(means)]
    apart = np.abs(means[:, None] - means[None, :]).mean() * len(means) / (len(means) - 1)
    return float(np.abs(means - np.roll(means, 1)).mean() / apart) if apart > 0 else 1.0


def _are_nearest_alike(frame: pd.DataFrame, parts: list[str]) -> bool:
    """Return whether numbers are nearer to those of the row before than to those of the hour before: parts of an hour.

    Groups are nearer to themselves an hour before.
    """
    per_hour = frame[parts[-1]].nunique()
    values = [frame[name].astype(np.float64) for name in _measured(frame, parts)]
    steps = [(each.diff().abs().median(), each.diff(per_hour).abs().median()) for each in values]
    return bool(np.mean([near <= _NEARER * far for near, far in steps]) >= 0.5) if steps else True


def _measured(frame: pd.DataFrame, taken: list[str]) -> list[str]:
    """The first columns of numbers that are no times and differ from row to row."""
    numbers = (name for name in map(str, frame.columns) if name not in taken and frame[name].dtype.kind in "if")
    return [name for name in numbers if frame[name].nunique() > len(taken)][:_MOST_MEASURED]
