"""A table's calendar by evidence: the hours of the week that have rows, and the days on which a market was closed."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.frequency import UNITS, Frequency, Stamps, split_alias
from forecast_attn.data.sessions import (
    DAY,
    MONDAY,
    SECOND,
    WEEK,
    WORKING_DAYS,
    Days,
    Ints,
    Sessions,
    sessions_text,
)

FEWEST_WEEKS = 4
FEWEST_ROWS = 50
FEWEST_FILLED = 0.7
"""Share of weeks in which each step of a week has a row, for its other hours to be closed ones."""
MOST_CLOSED = 0.08
"""Share of days on which an exchange may be closed; China's is the one with the most holidays, of 7 %."""
MOST_CLOSED_OF_FEW = 0.06
"""The same of a table that is too short to show holidays that come again."""
LONGEST_CLOSURE = 6
"""Most days in succession that may be closed; more without any row are a gap. China's Golden Week has five or six."""
FEWEST_RECURRING = 0.5
"""Smallest share of a calendar's closed days that come again every year for all of them to be closed days."""
FEWEST_RECURRING_OF_ALL_DAYS = 0.8
"""The same where every day of the week has rows."""
LARGEST_GRID = 20_000_000
"""Steps between the first and the last row."""
YEARS_AHEAD = 3
"""Years after the last row for which recurring holidays are expected."""
INSTANCES = 5
"""Most recent years that say whether a holiday recurs."""
KEPT = 0.8
"""Share of them in which it was closed."""


@dataclass(frozen=True)
class _Grid:
    """The steps of whole weeks, and which of them have a row in any series."""

    present: NDArray[np.bool_]
    """(num_weeks, steps_per_week)."""
    inside: NDArray[np.bool_]
    """Steps from the first to the last row."""
    first_day: np.datetime64
    offset: int
    """Nanoseconds by which steps begin after whole ones from midnight."""
    step: int

    @classmethod
    def of(cls, stamps: Stamps, step: int) -> _Grid | None:
        """Put the stamps of all series on a grid of weekly steps; None where they do not fit or are too far apart."""
        since = stamps.astype("datetime64[ns]").astype(np.int64) - MONDAY
        offset = int(since[0] % step)
        index = (since - offset) // step
        per_week = WEEK // step
        first, last = int(index.min()), int(index.max())
        week = first // per_week
        size = (last // per_week - week + 1) * per_week
        if size > LARGEST_GRID or (index * step + offset != since).any():
            return None
        present = np.zeros(size, np.bool_)
        present[index - week * per_week] = True
        inside = np.zeros(size, np.bool_)
        inside[first - week * per_week : last - week * per_week + 1] = True
        monday = np.datetime64("1970-01-05") + week * 7
        return cls(present.reshape(-1, per_week), inside.reshape(-1, per_week), monday, offset, step)

    def closed_days(self, is_open: NDArray[np.bool_]) -> tuple[Days, int]:
        """Days without a row that the week has steps on, and how many days with steps there are."""
        per_day = DAY // self.step
        has_steps = np.tile(is_open.reshape(7, per_day).any(axis=1), len(self.present))
        has_steps &= self.inside.reshape(-1, per_day).any(axis=1)
        days = np.flatnonzero(has_steps)
        is_closed = np.asarray(~self.present.reshape(-1, per_day).any(axis=1), np.bool_)[days]
        short = np.flatnonzero(is_closed & (_run_lengths(is_closed) <= LONGEST_CLOSURE))
        return self.first_day + days[short], len(days)


def _run_lengths(mask: NDArray[np.bool_]) -> Ints:
    """Length of the run of equal values that each one stands in."""
    edges = np.flatnonzero(np.append(True, mask[1:] != mask[:-1]))
    lengths = np.diff(np.append(edges, len(mask)))
    return np.repeat(lengths, lengths)


def calendar_by_evidence(stamps: Stamps, alias: str, *, must_recur: bool = False) -> str | None:
    """The alias with the calendar that the rows show; None where they show none, or a week without breaks.

    Args:
        stamps: of all rows of all series, at least one; in any order.
        alias: of the step.
        must_recur: closed days are only taken as such where they come again every year, which takes two years.
    """
    step = _step_of(alias)
    grid = None if step is None or len(stamps) < FEWEST_ROWS else _Grid.of(stamps, step)
    if grid is None or len(grid.present) < FEWEST_WEEKS:
        return None
    is_business = split_alias(alias)[1] == "B"
    is_open = np.asarray(grid.present.any(axis=0), np.bool_)
    slots = np.flatnonzero(is_open) * grid.step + grid.offset
    if grid.step == DAY and grid.offset:
        return None
    closed, days = grid.closed_days(is_open)
    if is_business and not np.array_equal(slots, WORKING_DAYS):
        return None
    if not _are_holidays(grid, closed, days, is_open, must_recur):
        closed = closed[:0]
    if not _is_filled(grid, closed, is_open) or (not len(closed) and (is_open.all() or is_business)):
        return None
    expected = expected_closures(closed, slots, _dates(grid))
    return f"{alias}{sessions_text(slots, np.concatenate((closed, expected)), grid.step)}"


def with_closures_of(frequency: Frequency, stamps: Stamps) -> Frequency:
    """The frequency of a model for later rows: days with a row are open, a few without any are closed.

    Args:
        frequency: with a calendar of its own, or without, which stays as it is.
        stamps: of all rows of all series.
    """
    sessions, step = frequency.sessions, _step_of(frequency.base)
    grid = None if sessions is None or step is None or not len(stamps) else _Grid.of(stamps, step)
    if sessions is None or grid is None or not len(sessions.closed):
        return frequency
    closed = np.setdiff1d(sessions.closed, stamps.astype("datetime64[D]"))
    is_open = np.zeros(grid.present.shape[1], np.bool_)
    is_open[sessions.slots // grid.step] = True
    further, days = grid.closed_days(is_open)
    if len(further) <= MOST_CLOSED * days or len(further) == 1:
        closed = np.union1d(closed, further)
    return _with_closed(frequency, sessions, closed, grid.step)


def opened_by(frequency: Frequency, stamps: Stamps) -> Frequency:
    """The frequency whose closed days are open where a table, such as a future file, has rows for them."""
    sessions, step = frequency.sessions, _step_of(frequency.base)
    if sessions is None or step is None:
        return frequency
    return _with_closed(frequency, sessions, np.setdiff1d(sessions.closed, stamps.astype("datetime64[D]")), step)


def _with_closed(frequency: Frequency, sessions: Sessions, closed: Days, step: int) -> Frequency:
    """The same steps of the week with other closed days."""
    if np.array_equal(closed, sessions.closed):
        return frequency
    return replace(frequency, alias=f"{frequency.base}{sessions_text(sessions.slots, closed, step)}")


def _step_of(alias: str) -> int | None:
    """Length in nanoseconds of steps of which a day has a whole number."""
    number, unit, _ = split_alias(alias)
    step = number * UNITS.get(unit, DAY if unit == "B" else 0)
    return step if SECOND <= step <= DAY and DAY % step == 0 else None


def _is_filled(grid: _Grid, closed: Days, is_open: NDArray[np.bool_]) -> bool:
    """Return whether each step of the week has a row in most weeks, but for closed days."""
    per_day = DAY // grid.step
    counts = grid.inside.copy().reshape(-1, per_day)
    counts[(closed - grid.first_day).astype(np.int64)] = False
    weeks = counts.reshape(grid.inside.shape)
    filled, number = grid.present.sum(axis=0)[is_open], np.maximum(weeks.sum(axis=0)[is_open], 1)
    return bool((filled >= FEWEST_FILLED * number).all())


def _are_holidays(grid: _Grid, closed: Days, days: int, is_open: NDArray[np.bool_], must_recur: bool) -> bool:
    """Return whether the days without rows are those on which a market is closed, and no holes of a table."""
    if not len(closed):
        return False
    first, last = _dates(grid)
    weekdays = frozenset(np.flatnonzero(is_open.reshape(7, -1).any(axis=1)).tolist())
    every_day = len(weekdays) == 7
    if (last - first).days < 2 * 365:
        return not (every_day or must_recur) and len(closed) <= MOST_CLOSED_OF_FEW * days
    share = float(np.isin(closed, _recurring(closed, weekdays, (first, last), 2, last.year)).mean())
    fewest = FEWEST_RECURRING_OF_ALL_DAYS if every_day else FEWEST_RECURRING
    return share >= fewest and len(closed) <= MOST_CLOSED * days


def _dates(grid: _Grid) -> tuple[datetime.date, datetime.date]:
    """Days of the first and the last row."""
    days = np.flatnonzero(grid.inside.reshape(-1, DAY // grid.step).any(axis=1))
    first, last = (grid.first_day + days[[0, -1]]).astype(object)
    return first, last


# --------------------------------------------------------------------------- holidays that come again


def expected_closures(closed: Days, slots: Ints, span: tuple[datetime.date, datetime.date]) -> Days:
    """The holidays of the years after a table that came again in the years of the table.

    Args:
        closed: days without rows.
        slots: steps of a week.
        span: days of the first and the last row.
    """
    weekdays = frozenset((np.unique(slots // DAY)).tolist())
    days = _recurring(closed, weekdays, span, 3, span[1].year + YEARS_AHEAD)
    return days[days > np.datetime64(span[1])]


def _recurring(
    closed: Days, weekdays: frozenset[int], span: tuple[datetime.date, datetime.date], fewest: int, until: int
) -> Days:
    """The days of every holiday that was closed in most of its recent years, up to and with a year.

    Args:
        closed: days without rows.
        weekdays: on which there are rows, 0 for Monday.
        span: days of the first and the last row.
        fewest: years in which a holiday was inside the span.
        until: last year.
    """
    closed_days = set(closed.astype(object))
    dates: set[datetime.date] = set()
    first, last = span
    for instances in _holidays(range(first.year, until + 2)):  # New Year's Day may be observed on the day before
        days = [day for day in instances if day.weekday() in weekdays and day.year <= until]
        known = [day in closed_days for day in days if first <= day <= last][-INSTANCES:]
        if len(known) >= fewest and sum(known) >= KEPT * len(known):
            dates.update(days)
    return np.array(sorted(dates), "datetime64[D]")


def _holidays(years: range) -> Iterator[list[datetime.date]]:
    """The days of each holiday there could be: dates, weekdays of a month, and days around Easter."""
    for month in range(1, 13):
        for day in range(1, 32):
            dates = [datetime.date(year, month, day) for year in years if _exists(year, month, day)]
            yield dates
            yield [_moved(date, from_saturday=0) for date in dates]
            yield [_moved(date, from_saturday=-1) for date in dates]
        for weekday in range(7):
            for number in (1, 2, 3, 4, -1):
                yield [_weekday_of(year, month, weekday, number) for year in years]
    easter = [_easter(year) for year in years]
    for offset in range(-49, 61):
        yield [day + datetime.timedelta(offset) for day in easter]


def _exists(year: int, month: int, day: int) -> bool:
    try:
        datetime.date(year, month, day)
    except ValueError:
        return False
    return True


def _moved(date: datetime.date, from_saturday: int) -> datetime.date:
    """A holiday on a Sunday is observed on Monday; one on a Saturday on Friday, or not at all."""
    days = {6: 1, 5: from_saturday}.get(date.weekday(), 0)
    return date + datetime.timedelta(days)


def _weekday_of(year: int, month: int, weekday: int, number: int) -> datetime.date:
    """The first, second, … weekday of a month; -1 for the last."""
    if number > 0:
        begin = datetime.date(year, month, 1)
        return begin + datetime.timedelta((weekday - begin.weekday()) % 7 + 7 * (number - 1))
    end = datetime.date(year + month // 12, month % 12 + 1, 1) - datetime.timedelta(1)
    return end - datetime.timedelta((end.weekday() - weekday) % 7)


def _easter(year: int) -> datetime.date:
    """Easter Sunday of the Gregorian calendar, by the anonymous algorithm (Meeus, Astronomical Algorithms, 1991)."""
    golden, century, rest = year % 19, year // 100, year % 100
    leap, moon = century // 4, (century + 8) // 25
    epact = (19 * golden + century - leap - (century - moon + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return datetime.date(year, month, day + 1)
