"""Reasons why a column of numbers is hardly the target: it places its row, or is an axis, codes or a switch."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.alike_columns import MANY
from forecast_attn.checking.amounts import are_marks
from forecast_attn.checking.number_times import FEWEST_ROWS, MOSTLY_REGULAR, begins_again, is_of_the_calendar
from forecast_attn.checking.role_candidates import MOSTLY_STEPS, RoleCandidate
from forecast_attn.checking.value_names import (
    ends_in_amount,
    is_called_count,
    is_called_direction,
    is_called_money,
    is_called_pollutant,
    is_called_property,
)
from forecast_attn.data.column_names import (
    ID_NAMES,
    PERIOD_NAMES,
    TIME_NAMES,
    counts_rows,
    is_called_a_name,
    is_called_id,
    is_called_since,
    is_called_time,
    is_called_year,
    is_named_date,
    is_part_of_birth,
    words_of,
)
from forecast_attn.data.number_stamps import decimal_step
from forecast_attn.data.reading.clocks import is_clock_of_digits
from forecast_attn.data.reading.time_parts import are_whole, holds_years

EVEN = 0.05
"""Share by which the steps of an axis, such as seconds or speeds, may differ from their median, or go back."""
_MOST_DEGREES = 366
"""Largest number of an angle, or of a day of a year."""
_FEWEST_DIRECTIONS = 18
"""Of the 36 tens of degrees of a circle, those that the wind of some months comes from."""
_FEWEST_BEHIND = 0.15
"""Smallest share of directions in either half of the circle."""
_JULIAN_DAYS = 2_400_000, 2_500_000
"""Days from 1858 to 2132."""
_MOST_WEEKS = 53
_FEWEST_DIGITS, _DIGITS_OF_PHONES = 5, 9
"""Digits of numbers of orders, accounts and devices; of so many, in any order, those of telephones and articles."""
_AS_OFTEN = 0.8
"""Smallest over largest number of rows of codes that each stand in about as many."""


_AS_A_CLOCK = 1 - 1e-5
"""Correlation with the time from which on numbers are the time."""


class Doubt(StrEnum):
    """A reason why a column is hardly the target."""

    NAME = "names of something, or a clock"
    CONSTANT = "a switch, codes or one value for all series"
    AXIS = "an axis, a place or a property"


def places_its_row(column: pd.Series, values: pd.Series, series: NDArray[np.int64]) -> bool:
    """Return whether a column says when or of what its row is: a unit of time, an identifier, a counter."""
    name = str(column.name)
    is_called_so = name.lower() in (*ID_NAMES, *TIME_NAMES) or is_called_id(name) or is_named_date(name)
    is_called_so = is_called_so or (name.lower() in PERIOD_NAMES and bool((values.diff() > 0).mean() >= MOSTLY_REGULAR))
    is_called_so = is_called_so or is_part_of_birth(name) or (is_called_year(name) and holds_years(column.dropna()))
    if is_called_so or is_of_the_calendar(column) or begins_again(column):
        return True
    if series.any() and _counts_rows_of_all(values):
        return True
    order = np.argsort(series, kind="stable")
    return _counts_or_cycles(values.iloc[order], series[order]) or _counts_groups(values.iloc[order], series[order])


def doubt_about(values: pd.Series, series: NDArray[np.int64], candidate: RoleCandidate) -> Doubt | None:
    """The reason why a column is hardly the target, by its cells; None for one that may well be."""
    name = str(values.name)
    if is_called_since(name) or (is_called_a_name(name) and not is_called_pollutant(name) and are_whole(values)):
        return Doubt.NAME
    if candidate.event_stamps is not None and _are_numbers_of_documents(values, candidate.event_order):
        return Doubt.NAME
    are_pieces = candidate.event_stamps is not None and is_called_count(name)  # mostly one of them is sold
    if (
        (_stands_still(values, series) and not (are_pieces and values.nunique() > 2))
        or _are_codes(values)
        or (are_marks(values.dropna().to_numpy()) and not is_called_money(name))
        or (series.any() and _follows_time(values, candidate))
    ):
        return Doubt.CONSTANT
    order = np.argsort(series, kind="stable")
    of_series, in_order = series[order], values.iloc[order]
    if (is_called_time(name) and _hardly_goes_back(in_order, of_series)) or _counts_days(values, series, candidate):
        return Doubt.NAME
    if _goes_with_the_clock(values, candidate):
        return Doubt.NAME
    rises = _goes_one_way(in_order, of_series, evenly=False)
    if rises and (_goes_one_way(in_order, of_series, evenly=True) or _counts_years(values)):
        return Doubt.NAME
    are_degrees = bool(values.dropna().between(-360, 360).all())
    is_direction = _are_directions(values) or (is_called_direction(name) and are_degrees)
    is_axis = is_called_property(name) or is_direction or _is_clock_number(values) or _are_julian_days(values)
    # An axis may be uneven where no column is the time, or none of dates: ages of samples of a core, and their depth.
    may_be_axis = counts_rows(candidate.time) or decimal_step(candidate.date_format) is not None
    return Doubt.AXIS if is_axis or (may_be_axis and rises) else None


def _stands_still(values: pd.Series, series: NDArray[np.int64]) -> bool:
    """Return whether a column is a switch, or mostly has the value of the row before: a size, a property.

    Before it in the table, or in its series.
    """
    numbers = values.dropna().to_numpy()
    if len(numbers) < 2 or (np.isin(numbers, (0, 1)).mean() > 0.8 and numbers.min() == 0 and numbers.max() == 1):
        return True
    is_mostly_zero = np.mean(numbers == 0) > 0.5  # as intermittent demand is
    in_series = values.iloc[np.argsort(series, kind="stable")].dropna().to_numpy() if series.any() else numbers
    stays = max(np.mean(np.diff(each) == 0) for each in (numbers, in_series)) > 0.5
    return len(np.unique(numbers)) == 2 or bool(stays and not is_mostly_zero)


def _are_codes(values: pd.Series) -> bool:
    """Return whether a column is mostly zero, and its few whole numbers stand for events: each as often as the others.

    Of amounts, as of intermittent demand, small ones are more frequent.
    """
    counts = values[values != 0].value_counts()
    is_of_few = 2 < len(counts) <= MANY**2 and (values == 0).mean() > 0.5 and are_whole(values)
    return bool(is_of_few and counts.min() >= FEWEST_ROWS and counts.min() >= _AS_OFTEN * counts.max())


def _are_numbers_of_documents(values: pd.Series, order: NDArray[np.int64]) -> bool:
    """Return whether whole numbers of as many digits each number orders in their order of time, or come again: devices.

    Args:
        values: a column of events.
        order: of its rows in time (num_rows,).
    """
    numbers, name = values.iloc[order].dropna().to_numpy(), str(values.name)
    if is_called_money(name) or ends_in_amount(name) or is_called_count(name):
        return False
    if len(numbers) < FEWEST_ROWS or not are_whole(values) or numbers.min() < 10 ** (_FEWEST_DIGITS - 1):
        return False
    num_digits = len(str(int(numbers.min())))
    if num_digits != len(str(int(numbers.max()))):
        return False
    distinct = len(np.unique(numbers))
    rise = distinct > MOSTLY_STEPS * len(numbers) and np.mean(np.diff(numbers) > 0) >= 1 - EVEN
    return bool(rise or distinct < len(numbers) / 2 or num_digits >= _DIGITS_OF_PHONES)


def _follows_time(values: pd.Series, candidate: RoleCandidate) -> bool:
    """Return whether all series have the same small whole numbers at a time: years since an event, weeks of a plan."""
    steps = pd.factorize(candidate.stamps)[0]
    is_small = are_whole(values) and not counts_many(values)
    return is_small and len(np.unique(steps)) < len(steps) and not values.groupby(steps).nunique().gt(1).any()


def counts_many(values: pd.Series) -> bool:
    """Return whether whole numbers count something of which there are many: deaths, and no degrees of the wind."""
    return bool(values.min() >= 0 and values.max() > _MOST_DEGREES and are_whole(values))


def _is_clock_number(values: pd.Series) -> bool:
    """Return whether a column called time holds times of day as numbers: 1545 for a quarter to four."""
    is_called = "time" in words_of(str(values.name))
    return is_called and are_whole(values) and is_clock_of_digits(values.dropna().astype(np.int64))


def _are_directions(values: pd.Series) -> bool:
    """Return whether a column holds tens of degrees of a circle, as those of the wind, and hardly another code."""
    tens = values.dropna().to_numpy() / 10
    on_circle = tens[(tens == np.round(tens)) & (tens >= 0) & (tens <= 36)]
    around = np.unique(on_circle)
    are_around = len(around) >= _FEWEST_DIRECTIONS and around[-1] >= 35 and len(on_circle) >= MOSTLY_STEPS * len(tens)
    return bool(are_around and _FEWEST_BEHIND <= np.mean(on_circle > 18) <= 1 - _FEWEST_BEHIND)  # and no watt-hours


def _are_julian_days(values: pd.Series) -> bool:
    """Return whether numbers are days since 4713 BC with a time of day, as of astronomers, or called an epoch."""
    is_epoch = words_of(str(values.name)) == ["epoch"]
    return is_epoch or (bool(values.dropna().between(*_JULIAN_DAYS).all()) and not are_whole(values))


def _goes_one_way(values: pd.Series, series: NDArray[np.int64], *, evenly: bool) -> bool:
    """Return whether numbers rise, or fall, with nearly every row of a series, and hardly go back, as no measurement.

    Args:
        values: a column.
        series: number of each row's series (num_rows,).
        evenly: by about the same in nearly every row, as those of a clock.
    """
    steps = np.diff(values.to_numpy())[series[1:] == series[:-1]]
    steps = steps if steps.sum() > 0 else -steps
    least = (1 - EVEN) * np.abs(steps).sum()
    if len(steps) < FEWEST_ROWS or not (np.mean(steps > 0) >= 1 - EVEN and steps.sum() >= least):
        return False
    usual = np.median(steps)
    return not evenly or bool(np.mean(np.abs(steps - usual) <= EVEN * abs(usual)) >= MOSTLY_STEPS)


def _hardly_goes_back(values: pd.Series, series: NDArray[np.int64]) -> bool:
    """Return whether numbers go on or stay from row to row of a series: milliseconds after which something was seen."""
    steps = np.diff(values.to_numpy())[series[1:] == series[:-1]]
    return len(steps) >= FEWEST_ROWS and bool(np.mean(steps >= 0) >= 1 - EVEN)


def _counts_days(values: pd.Series, series: NDArray[np.int64], candidate: RoleCandidate) -> bool:
    """Return whether whole numbers mostly go up by the days from row to row of a series: those since a cow calved."""
    if candidate.stamps.dtype.kind != "M" or not are_whole(values):
        return False
    order = np.lexsort((candidate.stamps, series))
    days = np.diff(candidate.stamps[order]) / np.timedelta64(1, "D")
    inside = (np.diff(series[order]) == 0) & (days > 1)  # what goes up by one a day is a counter
    steps = np.diff(values.to_numpy()[order])[inside]
    return len(steps) >= FEWEST_ROWS and bool(np.mean(steps == days[inside]) > 0.5)


def _goes_with_the_clock(values: pd.Series, candidate: RoleCandidate) -> bool:
    """Return whether numbers are times themselves, of whatever unit and start: days of a spreadsheet beside dates."""
    known = values.notna().to_numpy()
    numbers, stamps = values.to_numpy()[known], candidate.stamps[known].astype(np.float64)
    numbers = numbers / np.abs(numbers).max(initial=1)  # whose squares may be infinite
    if candidate.stamps.dtype.kind != "M" or len(numbers) < FEWEST_ROWS or not (numbers.std() and stamps.std()):
        return False
    return bool(np.corrcoef(numbers, stamps)[0, 1] > _AS_A_CLOCK)


def _counts_years(values: pd.Series) -> bool:
    """Return whether numbers that rise are years and their parts, as 1964.1 to 1964.4, or 202301 to 202353."""
    numbers = values.dropna().to_numpy()
    are_weeks = are_whole(values) and (numbers % 100).min() >= 1 and (numbers % 100).max() <= _MOST_WEEKS
    years = np.unique(np.floor(numbers / 100 if are_weeks else numbers))
    return holds_years(pd.Series(years)) and bool((np.diff(years) == 1).all())


def _counts_groups(values: pd.Series, series: NDArray[np.int64]) -> bool:
    """Return whether whole numbers begin at one in each series, and stay or go up by one: episodes of seasons."""
    numbers, inside = values.to_numpy(), series[1:] == series[:-1]
    if not series.any() or np.isnan(numbers).any() or not (numbers[np.append(True, ~inside)] == 1).all():
        return False
    steps = np.diff(numbers)[inside]
    return bool(np.isin(steps, (0, 1)).all() and (numbers[np.append(~inside, True)] > 2).mean() > 0.5)


def _counts_rows_of_all(values: pd.Series) -> bool:
    """Return whether whole numbers rise from row to row of the table, be they of one series or not: `Sno`."""
    numbers = values.to_numpy()
    return len(numbers) >= FEWEST_ROWS and are_whole(values) and bool((np.diff(numbers) > 0).all())


def _counts_or_cycles(values: pd.Series, series: NDArray[np.int64]) -> bool:
    """Return whether whole numbers mostly go up by one in each row of a series, as 1 to 7, or 1 to 31 do."""
    known = values.notna().to_numpy()
    numbers, series = values.to_numpy()[known], series[known]
    inside = series[1:] == series[:-1]
    if len(numbers) < 3 or not inside.any() or not are_whole(values):
        return False
    steps = np.diff(numbers)[inside]
    are_years = holds_years(values) and steps.min() >= 0 and steps.max() == 1
    return bool(are_years or np.mean(steps == 1) > 0.6)
