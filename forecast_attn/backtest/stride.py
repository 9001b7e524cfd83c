"""How far one cut-off is from the next: steps of the axis, exact hours, or days on the wall clock."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.frequency import DAY, UNITS, Frequency, step_name
from forecast_attn.data.timestamps import Stamps
from forecast_attn.data.zones import Zone
from forecast_attn.errors import ConfigError

EXAMPLES = "a number of steps such as 24, or a time such as 24h, 7D, 2W or 1MS"
_DAYS = {"D": 1, "W": 7}
_MONTHS = {"M": 1, "Q": 3, "Y": 12}
_LENGTHS = {name: length for name, length in UNITS.items() if length < DAY} | {"H": UNITS["h"]}


@dataclass(frozen=True)
class Stride:
    """Exactly one of the four is not 0."""

    steps: int = 0
    """Of the axis."""
    nanoseconds: int = 0
    """Exact time: 24 hours are 24 hours, though a clock is changed."""
    days: int = 0
    """On the wall clock: midnight stays midnight, though a clock is changed."""
    months: int = 0
    """On the wall clock; from the 31st, the last day of shorter months."""

    @classmethod
    def parse(cls, text: str | int, flag: str = "--stride") -> Stride:
        """The stride that an option names.

        Raises:
            ConfigError: it is none.
        """
        match = re.fullmatch(r"(\d*)\s*([A-Za-z]*)", str(text).strip())
        number, unit = (int(match[1] or 1), match[2]) if match else (0, "")
        if match is None or number == 0 or not (match[1] or unit):
            raise ConfigError(f"{flag} must be a whole number of steps or a time, above 0; got '{text}'", EXAMPLES)
        if not unit:
            return cls(steps=number)
        if unit in _LENGTHS:
            return cls(nanoseconds=number * _LENGTHS[unit])
        if unit.upper() in _DAYS:
            return cls(days=number * _DAYS[unit.upper()])
        name = re.sub("[SE]$", "", unit)
        if name in _MONTHS:
            return cls(months=number * _MONTHS[name])
        meant = "min for minutes, MS for months" if unit == "m" else EXAMPLES
        raise ConfigError(f"{flag} has no unit '{unit}'", meant)

    def check(self, frequency: Frequency, flag: str = "--stride") -> None:
        """Refuse a stride that would leave the grid of the time axis.

        Raises:
            ConfigError: naming the step.
        """
        if frequency.is_integer and not self.steps:
            raise ConfigError(f"{flag} is a time, and the time axis counts steps", "a number of steps, such as 24")
        if self.nanoseconds and frequency.is_within_day:
            start = np.array([0], "datetime64[ns]")
            step = int(frequency.shift(start, 1)[0].astype(np.int64))
            if self.nanoseconds % step:
                raise ConfigError(f"{flag} is no multiple of a step, {step_name(frequency.alias)}", EXAMPLES)

    def from_stamp(self, start: np.datetime64 | np.int64, times: NDArray[np.int64], on: Axis) -> Stamps:
        """The stamps so many strides after `start`, or before it (num_times,)."""
        stamps = np.full(len(times), start)
        if self.steps:
            return on.frequency.shift(stamps, times * self.steps)
        if self.nanoseconds:
            return np.asarray(stamps + (times * self.nanoseconds).astype("timedelta64[ns]"))
        wall = on.zone.local(stamps[:1])
        if self.days:
            return on.of_wall(wall + (times * self.days).astype("timedelta64[D]"))
        day = pd.Timestamp(wall[0])
        moved = [day + pd.DateOffset(months=int(number) * self.months) for number in times]
        return on.of_wall(np.array(moved, "datetime64[ns]"))


@dataclass(frozen=True, eq=False)
class Axis:
    """The known stamps of all series together."""

    stamps: Stamps
    """Ascending, each once."""
    frequency: Frequency
    zone: Zone

    def of_wall(self, wall: NDArray[np.datetime64]) -> Stamps:
        """Stamps on the wall clock as the axis has them; of an hour that comes twice, its first time."""
        wall = np.asarray(wall, "datetime64[ns]")
        return wall if self.zone.type_name is None else self.zone.instants(wall).first
