"""Calendar features of a time stamp: known for any time, so they can never leak.

Every function takes local wall-clock stamps, so that an hour of the day is an hour of the user's day.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.config.values import CALENDAR_FEATURES, parse_calendar
from forecast_attn.data.findings import naming
from forecast_attn.data.frequency import MONTH_UNITS, UNITS, Frequency, Stamps, split_alias, weekday
from forecast_attn.data.holidays import Holidays, read_dates
from forecast_attn.data.reading import read_table
from forecast_attn.errors import ConfigError, DataError

_DAY = 86_400
_YEAR = 365.2425


@dataclass(frozen=True)
class Calendar:
    """The calendar features of a run, chosen once: by the step of its time axis, or by the user."""

    features_chosen: tuple[str, ...]
    """Cycles, each of them a sine and a cosine, and the flag `weekend`."""
    frequency: Frequency
    holidays: Holidays | None = None

    @classmethod
    def build(cls, choice: str, frequency: Frequency, holidays: Holidays | None = None) -> Self:
        """Choose the features.

        Args:
            choice: `auto` (by the frequency), `none`, or names of `CALENDAR_FEATURES` with commas.
            frequency: the step of the time axis.
            holidays: public holidays and the user's own days; None for none.

        Raises:
            ConfigError: an unknown name, or one that says nothing at this frequency.
        """
        if holidays is not None and frequency.is_integer:
            raise ConfigError("--holidays needs a time axis of dates; this one has whole numbers", "leave it out")
        names = parse_calendar(choice)
        if names == ("auto",):
            return cls(_auto(frequency), frequency, holidays)
        names = tuple(name for name in names if name != "none")
        _refuse_constant_features(names, frequency)
        return cls(names, frequency, holidays)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of `features`."""
        names = [
            name
            for chosen in self.features_chosen
            for name in ((chosen,) if chosen == "weekend" else (f"sin_{chosen}", f"cos_{chosen}"))
        ]
        return (*names, *(self.holidays.names if self.holidays is not None else ()))

    def features(self, local_stamps: Stamps) -> NDArray[np.float32]:
        """The features (num_stamps, num_names): sines and cosines in [-1, 1], flags 0 or 1, counts of holidays.

        Args:
            local_stamps: datetime64[ns] in local wall-clock time, or int64 for an axis of whole numbers.

        Raises:
            ConfigError: the package of public holidays is not installed.
        """
        features = np.empty((len(local_stamps), len(self.names)), np.float32)
        column = 0
        for name in self.features_chosen:
            if name == "weekend":
                features[:, column] = weekday(local_stamps) >= 5
                column += 1
                continue
            angle = 2 * np.pi * _PHASES[name](local_stamps)
            features[:, column], features[:, column + 1] = np.sin(angle), np.cos(angle)
            column += 2
        if self.holidays is not None:
            features[:, column:] = self.holidays.counts(local_stamps, self.frequency)
        return features

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able form; the frequency is stored elsewhere, with the schema."""
        holidays = None if self.holidays is None else self.holidays.to_dict()
        return {"features": list(self.features_chosen), "holidays": holidays}

    @classmethod
    def from_dict(cls, content: dict[str, Any], frequency: Frequency) -> Self:
        """Read what `to_dict` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        names = tuple(content["features"])
        unknown = [name for name in names if name != "weekend" and name not in _PHASES]
        if unknown:
            raise ValueError(f"no calendar features: {unknown}")
        holidays = None if content["holidays"] is None else Holidays.from_dict(content["holidays"])
        return cls(names, frequency, holidays)


def calendar_of(config: DataConfig, frequency: Frequency) -> Calendar:
    """Build the calendar that the options ask for; reads the user's file of dates.

    Raises:
        ConfigError: an unknown feature or country, or the package of public holidays is not installed.
        DataError: the file of dates cannot be read.
    """
    dates: tuple[str, ...] = ()
    if config.holiday_dates is not None:
        source = Path(config.holiday_dates).name
        with naming(source):
            try:
                dates = read_dates(read_table(config.holiday_dates, DataConfig()), source)
            except DataError as error:
                if not error.options:  # which are those of the other table
                    raise
                raise error.reworded(hint="a line with the word date, and below it days as YYYY-MM-DD") from None
    return Calendar.build(config.calendar, frequency, Holidays.build(config.holidays, dates))


def varying_features(frequency: Frequency) -> tuple[str, ...]:
    """The names of `CALENDAR_FEATURES` that differ from one step to another at this frequency."""
    return tuple(name for name in CALENDAR_FEATURES if _varies(name, frequency))


def _auto(frequency: Frequency) -> tuple[str, ...]:
    _, unit = _number_and_unit(frequency)
    if unit in ("MS", "ME", "BMS", "BME", "QS", "QE"):
        return ("month_of_year",)
    return {
        "s": ("minute", "hour", "day", "week", "year", "weekend"),
        "min": ("hour", "day", "week", "year", "weekend"),
        "h": ("day", "week", "year", "weekend"),
        "D": ("week", "year", "weekend"),
        "B": ("week", "year"),
        "W": ("year",),
    }.get(unit, ())


def _refuse_constant_features(names: tuple[str, ...], frequency: Frequency) -> None:
    varying = varying_features(frequency)
    for name in names:
        if name not in varying:
            others = f"features that vary: {', '.join(varying)}" if varying else "--calendar none"
            raise ConfigError(f"--calendar {name} does not vary at the step {frequency.alias}", others)


def _varies(name: str, frequency: Frequency) -> bool:
    """Return whether a feature differs from one step to the next. Steps of months have no weeks or days."""
    number, unit = _number_and_unit(frequency)
    if unit in MONTH_UNITS:
        return name in ("month_of_year", "quarter") and number * MONTH_UNITS[unit] % 12 != 0
    if unit == "B":
        return name not in ("second_of_minute", "minute_of_hour", "hour_of_day", "weekend")
    if not unit:
        return False
    cycle = {"second_of_minute": "min", "minute_of_hour": "h", "hour_of_day": "D", "day_of_week": "W", "weekend": "W"}
    return name not in cycle or number * UNITS[unit] % UNITS[cycle[name]] != 0


def _number_and_unit(frequency: Frequency) -> tuple[int, str]:
    """Split an alias: `15` and `min` of 15min; an integer axis has no unit."""
    number, unit, _ = split_alias(frequency.alias)
    return number, unit


def _seconds(stamps: Stamps) -> NDArray[np.int64]:
    return stamps.astype("datetime64[s]").astype(np.int64)


def _days(stamps: Stamps) -> NDArray[np.int64]:
    return stamps.astype("datetime64[D]").astype(np.int64)


def _month_of_year(stamps: Stamps) -> NDArray[np.float64]:
    return (stamps.astype("datetime64[M]").astype(np.int64) % 12) / 12


def _quarter(stamps: Stamps) -> NDArray[np.float64]:
    return (stamps.astype("datetime64[M]").astype(np.int64) % 12 // 3) / 4


def _day_of_year(stamps: Stamps) -> NDArray[np.float64]:
    days = stamps.astype("datetime64[D]")
    return np.asarray((days - days.astype("datetime64[Y]")).astype(np.int64) / _YEAR, np.float64)


def _day_of_month(stamps: Stamps) -> NDArray[np.float64]:
    """Position in the month: 0 on the first, nearly 1 on the last, however long the month."""
    months = stamps.astype("datetime64[M]")
    first, next_first = _days(months), _days(months + 1)
    return np.asarray((_days(stamps) - first) / (next_first - first), np.float64)


def _week_of_year(stamps: Stamps) -> NDArray[np.float64]:
    """ISO 8601 week: it belongs to the year of its Thursday."""
    thursday = (_days(stamps) - weekday(stamps) + 3).astype("datetime64[D]")
    return np.asarray((thursday - thursday.astype("datetime64[Y]")).astype(np.int64) // 7 * 7 / _YEAR, np.float64)


def _time_of(period: int) -> Callable[[Stamps], NDArray[np.float64]]:
    """Return the function that gives the share of a period (in seconds) that has passed."""
    return lambda stamps: (_seconds(stamps) % period) / period


def _week(stamps: Stamps) -> NDArray[np.float64]:
    return weekday(stamps) / 7


_PHASES: dict[str, Callable[[Stamps], NDArray[np.float64]]] = {
    # What `auto` chooses from; its names are those of the first runs.
    "minute": _time_of(60),
    "hour": _time_of(3600),
    "day": _time_of(_DAY),
    "week": _week,
    "year": _day_of_year,
    # What a list chooses from.
    "second_of_minute": _time_of(60),
    "minute_of_hour": _time_of(3600),
    "hour_of_day": _time_of(_DAY),
    "day_of_week": _week,
    "day_of_month": _day_of_month,
    "day_of_year": _day_of_year,
    "week_of_year": _week_of_year,
    "month_of_year": _month_of_year,
    "quarter": _quarter,
}
