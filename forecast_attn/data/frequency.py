"""The step of a time axis: inferred with evidence, counted, and continued into the future."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.tseries.frequencies import to_offset

from forecast_attn.config.defaults import (
    SIZES_OF_BUSINESS_DAYS,
    SIZES_WITHOUT_SEASON,
    DefaultSizes,
    sizes_of_months,
    sizes_of_sessions,
    sizes_of_step,
)
from forecast_attn.config.options import MOST_STEPS
from forecast_attn.data.sessions import Sessions, base_alias, calendar_words, parse_sessions, sessions_text
from forecast_attn.errors import ConfigError, DataError, did_you_mean, nearest

Stamps = NDArray[Any]  # datetime64[ns] or int64


def kind_of(stamps: Stamps) -> str:
    """`dates` or `whole numbers`, for messages."""
    return "dates" if stamps.dtype.kind == "M" else "whole numbers"


MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
DAY = 86_400 * 10**9
# Units of fixed length, in nanoseconds. pandas writes them so since 2.2.
UNITS = {"us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "D": DAY, "W": 7 * DAY}
MONTH_UNITS = {"MS": 1, "ME": 1, "BMS": 1, "BME": 1, "QS": 3, "QE": 3, "YS": 12, "YE": 12}
OLD_NAMES = {"H": "h", "T": "min", "S": "s", "L": "ms", "U": "us", "M": "ME", "BM": "BME", "Q": "QE"}
OLD_NAMES |= {"A": "YE", "Y": "YE", "AS": "YS"}
UNIT_NAMES = {
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "min": "minute",
    "h": "hour",
    "D": "day",
    "W": "week",
    "B": "business day",
    "BMS": "month",
    "BME": "month",
    "M": "month",
    "Q": "quarter",
    "Y": "year",
}


_REGULAR = 0.95
"""Share of equal steps that makes a reading of dates a time axis. Wrong ones reach 0.92: twelve days each January."""
LONGEST_NUMBER = 15
"""Digits of the number of an alias: of steps of an axis of whole numbers, which are 64 bits wide."""
LONGEST_STEP = 100
"""Years."""


@dataclass(frozen=True)
class Frequency:
    """Step of a time axis.

    `alias` is pandas' (h, D, MS, W-SUN, 15min, …), or a whole number for integer axes. Behind it stands the calendar of
    steps that are not one after the other all week; see `data/sessions.py`.
    """

    alias: str
    season: int
    default_horizon: int
    default_lookback: int
    evidence: str = "given"

    @property
    def is_integer(self) -> bool:
        return self.alias.isdecimal()

    @property
    def base(self) -> str:
        """The alias without a calendar of its own: `30min` of `30min(Mon-Fri 09:30-15:30)`."""
        return base_alias(self.alias)

    @property
    def sessions(self) -> Sessions | None:
        """The calendar of its own; None where steps follow each other all week, or as business days do."""
        number, unit, _ = split_alias(self.alias)
        return parse_sessions(self.alias, number * UNITS.get(unit, DAY), is_business=unit == "B")

    @property
    def is_within_day(self) -> bool:
        """Return whether a step is shorter than a day; stamps are then instants, not dates."""
        number, unit, _ = split_alias(self.alias)
        return unit in UNITS and number * UNITS[unit] < DAY

    def stamps_after(self, last: np.datetime64 | np.int64 | int, n: int) -> Stamps:
        """The n stamps after `last`, in order."""
        start = np.asarray([last])
        return np.concatenate([start[:0], *(self.shift(start, step) for step in range(1, n + 1))])

    def shift(self, stamps: Stamps, steps: int | NDArray[np.int64]) -> Stamps:
        """Shift stamps by a number of steps, the same for all or one for each; back if it is negative."""
        number, unit, _ = split_alias(self.alias)
        if not unit:
            return np.asarray(stamps, np.int64) + steps * number
        stamps = np.asarray(stamps, "datetime64[ns]")
        self._check_reach(stamps, steps)
        sessions = self.sessions
        if sessions is not None:
            return np.asarray(sessions.shift(stamps, steps), stamps.dtype)
        if unit in UNITS:
            return np.asarray(stamps + np.asarray(steps * (number * UNITS[unit]), "timedelta64[ns]"), stamps.dtype)
        if isinstance(steps, np.ndarray):
            moved = stamps.copy()
            for step in np.unique(steps):
                moved[steps == step] = self.shift(stamps[steps == step], int(step))
            return moved
        return (
            stamps if steps == 0 else np.asarray(pd.DatetimeIndex(stamps) + steps * to_offset(self.alias), stamps.dtype)
        )

    def _check_reach(self, stamps: Stamps, steps: int | NDArray[np.int64]) -> None:
        """Refuse steps that end beyond the years that nanoseconds in 64 bits can count, where they would wrap.

        Raises:
            DataError: names the steps and the year they end in.
        """
        nanoseconds = stamps.view(np.int64)
        earliest = nanoseconds.min(initial=0)
        if earliest == np.iinfo(np.int64).min:  # NaT
            earliest = nanoseconds[~np.isnat(stamps)].min(initial=0)
        longest = self.years * 372 * DAY  # twelve months of 31 days; in floats, which do not wrap
        first = earliest + float(np.min(steps, initial=0)) * longest
        last = nanoseconds.max(initial=0) + float(np.max(steps, initial=0)) * longest
        if min(first, -last) <= -(2.0**63):
            raise DataError(
                f"steps of {step_name(self.alias)} lead beyond the years 1678 to 2261, which time stamps can express",
                "a shorter --horizon or --lookback, or whole numbers as steps",
            )

    @property
    def years(self) -> float:
        """Length of a step of time in years; a working day counts as two days, for it may pass a weekend."""
        number, unit, _ = split_alias(self.alias)
        if unit in MONTH_UNITS:
            return number * MONTH_UNITS[unit] / 12
        if self.sessions is not None:  # of which a week has one at least
            return 7 / 365
        return number * (2.0 if unit == "B" else UNITS[unit] / DAY) / 365

    def steps_between(self, earlier: Stamps, later: Stamps) -> NDArray[np.float64]:
        """Number of steps between stamps, elementwise; not whole where a stamp is off the grid."""
        number, unit, anchor = split_alias(self.alias)
        if not unit:
            return np.asarray((later - earlier) / number, np.float64)
        sessions = self.sessions
        if sessions is not None:
            return sessions.steps_between(earlier, later)
        elapsed = (later - earlier).view(np.int64)
        if unit in UNITS:
            steps = elapsed / (number * UNITS[unit])
            if not anchor:
                return np.asarray(steps)
            off_grid = weekday(later) != WEEKDAYS.index(anchor)
        elif unit == "B":
            off_grid = (weekday(earlier) > 4) | (weekday(later) > 4) | (elapsed % DAY != 0)
            steps = np.busday_count(earlier.astype("datetime64[D]"), later.astype("datetime64[D]")) / number
        else:
            off_grid = ~(_on_anchor(earlier, unit, anchor) & _on_anchor(later, unit, anchor)) | (
                _clock(earlier) != _clock(later)
            )
            steps = (_month(later) - _month(earlier)) / (number * MONTH_UNITS[unit])
        return np.where(off_grid, np.floor(steps) + 0.5, steps)


# --------------------------------------------------------------------------- season


LONGEST_SEASON = 10**7
"""Steps; more than any season of a table that can be read."""
SEASON_NAMES = ("hour", "day", "week", "month", "quarter", "year")
_YEAR_STEPS = {"B": 260, "W": 52}
"""Whole steps of a year of units of which no whole number makes one."""
FIRST_CALENDAR_YEAR, LAST_CALENDAR_YEAR = 1500, 2200


def with_season(frequency: Frequency, season: str) -> Frequency:
    """The frequency with the season that `--season` names, and a default lookback of one season at least.

    Args:
        frequency: of the table.
        season: a number of steps, or one of `SEASON_NAMES`; or several with commas between them, of which the first
            is the season, and the lookback covers the longest.

    Raises:
        ConfigError: neither, a stretch of time that is not a whole number of steps, or one of too many.
    """
    seasons = [_steps_of_season(frequency, part.strip()) for part in season.strip(" ,").split(",")]
    lookback = max(frequency.default_lookback, min(max(seasons), MOST_STEPS))
    return replace(frequency, season=seasons[0], default_lookback=lookback)


def _steps_of_season(frequency: Frequency, season: str) -> int:
    if season.isdecimal():
        steps = int(season) if len(season) < 20 else LONGEST_SEASON + 1
    else:
        steps = season_steps(frequency.alias, season.lower())
    if steps > LONGEST_SEASON:
        message = f"--season {season:.40} is more than {LONGEST_SEASON:,} steps"
        raise ConfigError(message, "--season 1 for a series without one")
    if not steps:
        step = step_name(frequency.alias)
        message = f"--season {season} is not a whole number of steps of {step}"
        if frequency.is_integer:  # nobody says what they are
            raise ConfigError(message, "--season N, a number of steps")
        right = nearest(season, SEASON_NAMES) if season.lower() not in SEASON_NAMES else None
        did_you_mean = "" if right is None else f"did you mean '{right}'? "
        hint = f"{did_you_mean}--season N, a number of steps; or {', '.join(SEASON_NAMES)}"
        raise ConfigError(message, hint)
    return steps


def season_steps(alias: str, name: str) -> int:
    """Steps in an hour, a day, a week, a month, a quarter or a year; 0 where that is no whole number of them."""
    number, unit, _ = split_alias(alias)
    sessions = parse_sessions(alias, number * UNITS.get(unit, DAY), is_business=unit == "B")
    if sessions is not None and unit != "B":
        return {"day": sessions.most_per_day if unit != "D" else 0, "week": len(sessions.slots)}.get(name, 0)
    if unit in MONTH_UNITS:
        months = {"month": 1, "quarter": 3, "year": 12}.get(name, 0)
        return months // (number * MONTH_UNITS[unit]) if months % (number * MONTH_UNITS[unit]) == 0 else 0
    if name == "year" and number == 1 and unit in _YEAR_STEPS:
        return _YEAR_STEPS[unit]
    if unit == "B":
        return 5 if name == "week" and number == 1 else 0
    length = {"hour": UNITS["h"], "day": DAY, "week": 7 * DAY, "year": 365 * DAY}.get(name, 0)
    step = number * UNITS.get(unit, 0)
    return length // step if step and length % step == 0 else 0


def with_sizes_of_years(frequency: Frequency, stamps: Stamps) -> Frequency:
    """The sizes of yearly series for an axis of whole numbers that are years, one apart."""
    if frequency.alias != "1" or not len(stamps):
        return frequency
    if stamps.min() < FIRST_CALENDAR_YEAR or stamps.max() > LAST_CALENDAR_YEAR:
        return frequency
    season, horizon, lookback = sizes_of_months(12)
    return replace(frequency, season=season, default_horizon=horizon, default_lookback=lookback)


# --------------------------------------------------------------------------- from an alias


def parse_frequency(alias: str, evidence: str = "given") -> Frequency:
    """A frequency by its alias, in pandas' old or new spelling, or a whole number for integer axes.

    Raises:
        ConfigError: there is no such frequency.
    """
    name, mark, calendar = alias.strip().partition("(")
    match = re.fullmatch(r"(\d*)([A-Za-z]*)(?:-([A-Za-z]{3}))?", name)
    number, unit, anchor = (match[1], _new_unit(match[2]), (match[3] or "").upper()) if match else ("", "", "")
    known = unit in UNITS or unit in MONTH_UNITS or unit == "B" or (unit == "" and number != "")
    if len(number) > LONGEST_NUMBER or not known or int(number or 1) == 0 or not _anchor_fits(unit, anchor):
        near = did_you_mean(alias, [*UNITS, "B", *MONTH_UNITS, "W-SUN", "QS-JAN", "15min"])
        raise ConfigError(f"there is no frequency '{alias}'", near)
    anchor = anchor or {"W": "SUN", "QS": "JAN", "QE": "DEC", "YS": "JAN", "YE": "DEC"}.get(unit, "")
    count = int(number or 1)
    spelled = f"{count if count > 1 or not unit else ''}{unit}{f'-{anchor}' if anchor else ''}"
    frequency = Frequency(spelled, *_sizes(count, unit), evidence=evidence)
    if mark:
        return _with_calendar(frequency, calendar, evidence)
    if unit and frequency.years > LONGEST_STEP:
        raise ConfigError(f"'{alias}' is too long a step: {LONGEST_STEP} years are the longest", "such as h, D, MS")
    return frequency


def _with_calendar(frequency: Frequency, calendar: str, evidence: str) -> Frequency:
    """The frequency with the calendar behind its alias, as `sessions_text` writes it, and the sizes that fit it."""
    number, unit, _ = split_alias(frequency.alias)
    if unit not in (*UNITS, "B") or (unit == "B" and number > 1) or (number * UNITS.get(unit, DAY)) > DAY:
        raise ConfigError(
            f"steps of {step_name(frequency.alias)} have no calendar of their own", "such as B, D, h, 15min"
        )
    frequency = replace(frequency, alias=f"{frequency.alias}({calendar}", evidence=evidence)
    sessions = frequency.sessions
    assert sessions is not None
    step = number * UNITS.get(unit, DAY)
    written = sessions_text(sessions.slots, sessions.closed, step)
    sizes = SIZES_OF_BUSINESS_DAYS if unit == "B" else sizes_of_sessions(sessions.most_per_day, sessions.days)
    return Frequency(f"{frequency.base}{written}", *sizes, evidence=evidence)


def _new_unit(unit: str) -> str:
    """The unit as pandas spells it since 2.2. A lower-case m may be months or minutes, so it is neither."""
    known = (*UNITS, *MONTH_UNITS, "B")
    if unit in known or unit == "m":
        return unit
    return OLD_NAMES.get(unit.upper()) or next((name for name in known if name.lower() == unit.lower()), unit)


def _anchor_fits(unit: str, anchor: str) -> bool:
    allowed = WEEKDAYS if unit == "W" else MONTHS if unit in ("QS", "QE", "YS", "YE") else ()
    return anchor == "" or anchor in allowed


def _sizes(number: int, unit: str) -> DefaultSizes:
    if unit in MONTH_UNITS:
        return sizes_of_months(number * MONTH_UNITS[unit])
    if unit == "B" and number == 1:
        return SIZES_OF_BUSINESS_DAYS
    return sizes_of_step(number * UNITS[unit]) if unit in UNITS else SIZES_WITHOUT_SEASON


def split_alias(alias: str) -> tuple[int, str, str]:
    """Number, unit and anchor of a normalised alias; no unit for integer axes."""
    name, _, anchor = base_alias(alias).partition("-")
    unit = name.lstrip("0123456789")
    return int(name.removesuffix(unit) or 1), unit, anchor


# --------------------------------------------------------------------------- from stamps


def step_name(alias: str) -> str:
    """`1 hour`, `15 minutes`, `1 quarter (at its start, Jan)`, `1 business day (9 days closed)`: a step in words."""
    number, unit, anchor = split_alias(alias)
    sessions = parse_sessions(alias, number * UNITS.get(unit, DAY), is_business=unit == "B")
    name = UNIT_NAMES.get(unit) or UNIT_NAMES.get(unit[:1], "")
    days = {"BMS": "at its first business day", "BME": "at its last business day"}
    anchored = days.get(unit) or (
        "" if unit not in MONTH_UNITS else "at its start" if unit[-1] == "S" else "at its end"
    )
    of_calendar = "" if sessions is None else calendar_words(sessions, number * UNITS.get(unit, DAY))
    details = ", ".join(filter(None, (anchored, anchor.title(), of_calendar)))
    return f"{number} {name}{'s' if number > 1 and name else ''}{f' ({details})' if details else ''}".strip()


def distinct_values(values: NDArray[Any]) -> NDArray[Any]:
    """Sorted values, each once; NaT as often as it comes.

    By sorting: where all stamps differ, the table of hashes that `np.unique` builds takes thirty times as long.
    """
    ordered = np.sort(values)
    is_new = np.append(np.ones(min(len(ordered), 1), np.bool_), ordered[1:] != ordered[:-1])
    return np.asarray(ordered[is_new])


def guess_alias(stamps: Stamps) -> str | None:
    """Infer the alias of a series' sorted, distinct stamps; None when they are too few or irregular."""
    if len(stamps) < 3:
        return None
    for alias in _candidates(stamps):
        steps = parse_frequency(alias).steps_between(stamps[:-1], stamps[1:])
        if np.mean(steps == 1) > 0.5:
            return alias
    return None


def are_regular(stamps: NDArray[np.datetime64], share: float = _REGULAR) -> bool:
    """Return whether this share of neighbouring stamps, once sorted, by default nearly all, are one step apart."""
    known = distinct_values(stamps[~np.isnat(stamps)])
    alias = guess_alias(known)
    if alias is None:
        return False
    return bool(np.mean(parse_frequency(alias).steps_between(known[:-1], known[1:]) == 1) >= share)


def _candidates(stamps: Stamps) -> Iterator[str]:
    """Aliases to try, calendar steps first, because a month of 31 days is not a step of 31 days."""
    if stamps.dtype.kind != "M":
        alias = str(most_common(np.diff(stamps)))
        if len(alias) <= LONGEST_NUMBER:
            yield alias
        return
    months = int(most_common(np.diff(_month(stamps))))
    for mark, on_anchor in (("S", _is_month_start(stamps)), ("E", _is_month_end(stamps))):
        if months > 0 and on_anchor.all():
            yield _month_alias(months, mark, int(_month(stamps)[0] % 12))
    for unit in ("BMS", "BME"):
        if months > 0 and _is_business_month(stamps, unit).all():
            yield f"{months if months > 1 else ''}{unit}"
    step = int(most_common(np.diff(stamps).astype(np.int64)))
    weekend = np.isin(weekday(stamps), (5, 6))
    if step == DAY and not weekend.any() and (np.diff(stamps).astype(np.int64) == 3 * DAY).any():
        yield "B"
    yield _fixed_alias(step, int(weekday(stamps)[0]))


def _month_alias(months: int, mark: str, month: int) -> str:
    if months % 12 == 0:
        return f"{months // 12 if months > 12 else ''}Y{mark}-{MONTHS[month]}"
    if months == 3:
        # The anchor of a quarter is written as its first month (QS-JAN) or its last (QE-DEC), one of three equal names.
        return f"QS-{MONTHS[month % 3]}" if mark == "S" else f"QE-{MONTHS[9 + month % 3]}"
    return f"{months if months > 1 else ''}M{mark}"


def _fixed_alias(step: int, weekday: int) -> str:
    if step == UNITS["W"]:
        return f"W-{WEEKDAYS[weekday]}"
    for unit in ("D", "h", "min", "s", "ms", "us"):
        if step % UNITS[unit] == 0:
            number = step // UNITS[unit]
            return f"{number if number > 1 else ''}{unit}"
    return "us"  # finer than a microsecond: no step will fit, and the axis is called irregular


def most_common(values: NDArray[Any]) -> Any:
    """The value that is there most often; the smallest of several."""
    distinct, counts = np.unique(values, return_counts=True)
    return distinct[np.argmax(counts)]


def _month(stamps: Stamps) -> NDArray[np.int64]:
    return stamps.astype("datetime64[M]").astype(np.int64)


def weekday(stamps: Stamps) -> NDArray[np.int64]:
    """Days after Monday, of any shape."""
    return (stamps.astype("datetime64[D]").astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday


def hour_of_day(stamps: NDArray[np.datetime64]) -> NDArray[np.int64]:
    """Hour, from 0 to 23, of stamps on the wall clock (num_stamps,)."""
    return np.asarray(stamps.astype("datetime64[h]").astype(np.int64) % 24)


def _clock(stamps: Stamps) -> NDArray[np.int64]:
    return stamps.astype(np.int64) % DAY


def _is_month_start(stamps: Stamps) -> NDArray[np.bool_]:
    return np.asarray(stamps.astype("datetime64[D]") == stamps.astype("datetime64[M]"), np.bool_)


def _is_month_end(stamps: Stamps) -> NDArray[np.bool_]:
    return _is_month_start(stamps + np.timedelta64(DAY, "ns"))


def _is_business_month(stamps: Stamps, unit: str) -> NDArray[np.bool_]:
    """Mask of stamps that are the first (BMS) or last (BME) business day of their month."""
    months = stamps.astype("datetime64[M]") + (unit == "BME")
    days = np.busday_offset(months.astype("datetime64[D]"), -1 if unit == "BME" else 0, roll="forward")
    return np.asarray(stamps.astype("datetime64[D]") == days, np.bool_)


def _on_anchor(stamps: Stamps, unit: str, anchor: str) -> NDArray[np.bool_]:
    """Mask of stamps that start or end a month the unit steps on."""
    if unit.startswith("B"):
        return _is_business_month(stamps, unit)
    in_place = _is_month_start(stamps) if unit.endswith("S") else _is_month_end(stamps)
    if not anchor:
        return in_place
    return np.asarray(in_place & ((_month(stamps) - MONTHS.index(anchor)) % MONTH_UNITS[unit] == 0), np.bool_)
