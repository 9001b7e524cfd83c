"""What the calendar says about a time stamp: known for any time, so it can never leak."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.frequency import Frequency
from forecast_attn.data.timestamps import Stamps

_DAY = 86_400
_YEAR = 365.2425


def calendar_names(frequency: Frequency) -> tuple[str, ...]:
    """Names of the features that vary from step to step at this frequency; none for integer axes."""
    names = [f"{wave}_{cycle}" for cycle in _cycles(frequency) for wave in ("sin", "cos")]
    return (*names, "weekend") if _sees_weekends(frequency) else tuple(names)


def calendar_features(timestamps: Stamps, frequency: Frequency) -> NDArray[np.float32]:
    """Sine and cosine of each cycle, and a weekend flag (num_rows, num_features), values in [-1, 1]."""
    features = np.empty((len(timestamps), len(calendar_names(frequency))), np.float32)
    for position, cycle in enumerate(_cycles(frequency)):
        angle = 2 * np.pi * _PHASES[cycle](timestamps)
        features[:, 2 * position] = np.sin(angle)
        features[:, 2 * position + 1] = np.cos(angle)
    if _sees_weekends(frequency):
        features[:, -1] = _day_of_week(timestamps) >= 5
    return features


def _cycles(frequency: Frequency) -> tuple[str, ...]:
    unit = frequency.alias.partition("-")[0].lstrip("0123456789")
    if unit in ("MS", "ME", "QS", "QE"):
        return ("month_of_year",)
    return {
        "s": ("minute", "hour", "day", "week", "year"),
        "min": ("hour", "day", "week", "year"),
        "h": ("day", "week", "year"),
        "D": ("week", "year"),
        "B": ("week", "year"),
        "W": ("year",),
    }.get(unit, ())


def _sees_weekends(frequency: Frequency) -> bool:
    return frequency.alias.lstrip("0123456789") in ("s", "min", "h", "D")


def _seconds(timestamps: Stamps) -> NDArray[np.int64]:
    return timestamps.astype("datetime64[s]").astype(np.int64)


def _day_of_week(timestamps: Stamps) -> NDArray[np.int64]:
    return (timestamps.astype("datetime64[D]").astype(np.int64) + 3) % 7


def _month_of_year(timestamps: Stamps) -> NDArray[np.float64]:
    return (timestamps.astype("datetime64[M]").astype(np.int64) % 12) / 12


def _day_of_year(timestamps: Stamps) -> NDArray[np.float64]:
    days = timestamps.astype("datetime64[D]")
    return np.asarray((days - days.astype("datetime64[Y]")).astype(np.int64) / _YEAR, np.float64)


_PHASES = {
    "minute": lambda stamps: (_seconds(stamps) % 60) / 60,
    "hour": lambda stamps: (_seconds(stamps) % 3600) / 3600,
    "day": lambda stamps: (_seconds(stamps) % _DAY) / _DAY,
    "week": lambda stamps: _day_of_week(stamps) / 7,
    "month_of_year": _month_of_year,
    "year": _day_of_year,
}
