"""Calendar features of stamps as tensor arithmetic, for a graph that has no calendar to ask.

The second implementation of `data.calendar_features`: whole seconds of the local clock in, the same cycles out. Dates
follow Hinnant 2013, "chrono-compatible low-level date algorithms" (days_from_civil, civil_from_days).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

SECONDS_OF_DAY = 86_400
DAYS_OF_YEAR = 365.2425
_ERA = 146_097
"""Days of 400 years, after which the calendar repeats."""
_BEFORE_1970 = 719_468
"""Days from 0000-03-01, where the first era begins, to 1970-01-01."""


class Date(NamedTuple):
    """Year, month (1 to 12) and day of the month (from 1)."""

    year: Tensor
    month: Tensor
    day: Tensor


def clock_features(
    seconds: Int[Tensor, "batch length"], features: tuple[str, ...]
) -> Float[Tensor, "batch length num_features"]:
    """Sines and cosines of the cycles and the flag `weekend`, as `Calendar.features` has them, in float32.

    Args:
        seconds: of the local wall clock since 1970-01-01 00:00.
        features: chosen names, of `Calendar.features_chosen`.
    """
    columns = []
    for name in features:
        if name == "weekend":
            columns.append((weekday(day_of(seconds)) >= 5).float())
            continue
        angle = 2 * torch.pi * PHASES[name](seconds)
        columns += [angle.sin().float(), angle.cos().float()]
    return torch.stack(columns, dim=-1)


def day_of(seconds: Tensor) -> Tensor:
    """Days since 1970-01-01."""
    return _floor(seconds, SECONDS_OF_DAY)


def weekday(days: Tensor) -> Tensor:
    """0 on Mondays."""
    return (days + 3) - 7 * _floor(days + 3, 7)  # 1970-01-01 was a Thursday


def date_of(days: Tensor) -> Date:
    """The date of a number of days since 1970-01-01, from the year 0 on."""
    shifted = days + _BEFORE_1970
    era = _floor(shifted, _ERA)
    day = shifted - era * _ERA
    # Within 400 years: the days without leap days, which come every 4 years, but not every 100, divided by 365.
    year = _floor(day - _floor(day, 1460) + _floor(day, 36_524) - _floor(day, 146_096), 365)
    day_of_year = day - (365 * year + _floor(year, 4) - _floor(year, 100))
    month = _floor(5 * day_of_year + 2, 153)  # 0 is March
    day_of_month = day_of_year - _floor(153 * month + 2, 5) + 1
    after_new_year = (month >= 10).long()
    return Date(year + era * 400 + after_new_year, month + 3 - 12 * after_new_year, day_of_month)


def first_of_month(year: Tensor, month: Tensor) -> Tensor:
    """Days from 1970-01-01 to the first of a month, counted from 1; month 13 is January of the year after."""
    year, month = year + _floor(month - 1, 12), month - 12 * _floor(month - 1, 12)
    # Years that begin in March end with the leap day, and their months have lengths that one formula gives.
    year, month = year - (month <= 2).long(), month + 9 - 12 * _floor(month + 9, 12)
    era = _floor(year, 400)
    year_of_era = year - era * 400
    day_of_era = 365 * year_of_era + _floor(year_of_era, 4) - _floor(year_of_era, 100) + _floor(153 * month + 2, 5)
    return era * _ERA + day_of_era - _BEFORE_1970


def _floor(values: Tensor, divisor: int) -> Tensor:
    return torch.div(values, divisor, rounding_mode="floor")


def _time_of(period: int) -> Callable[[Tensor], Tensor]:
    """Share of a period of seconds that has passed."""
    return lambda seconds: (seconds - period * _floor(seconds, period)).double() / period


def _weekday_share(seconds: Tensor) -> Tensor:
    return weekday(day_of(seconds)).double() / 7


def _day_of_year(seconds: Tensor) -> Tensor:
    return _days_into_year(day_of(seconds)).double() / DAYS_OF_YEAR


def _days_into_year(days: Tensor) -> Tensor:
    year = date_of(days).year
    return days - first_of_month(year, torch.ones_like(year))


def _month_of_year(seconds: Tensor) -> Tensor:
    return (date_of(day_of(seconds)).month - 1).double() / 12


def _quarter(seconds: Tensor) -> Tensor:
    return _floor(date_of(day_of(seconds)).month - 1, 3).double() / 4


def _day_of_month(seconds: Tensor) -> Tensor:
    days = day_of(seconds)
    date = date_of(days)
    first, next_first = (first_of_month(date.year, date.month + later) for later in (0, 1))
    return (days - first).double() / (next_first - first).double()


def _week_of_year(seconds: Tensor) -> Tensor:
    """ISO 8601 week: it belongs to the year of its Thursday."""
    days = day_of(seconds)
    return (7 * _floor(_days_into_year(days - weekday(days) + 3), 7)).double() / DAYS_OF_YEAR


PHASES: dict[str, Callable[[Tensor], Tensor]] = {
    "minute": _time_of(60),
    "hour": _time_of(3600),
    "day": _time_of(SECONDS_OF_DAY),
    "week": _weekday_share,
    "year": _day_of_year,
    "second_of_minute": _time_of(60),
    "minute_of_hour": _time_of(3600),
    "hour_of_day": _time_of(SECONDS_OF_DAY),
    "day_of_week": _weekday_share,
    "day_of_month": _day_of_month,
    "day_of_year": _day_of_year,
    "week_of_year": _week_of_year,
    "month_of_year": _month_of_year,
    "quarter": _quarter,
}
"""Share of each cycle that has passed, in float64."""
