"""Round places on an axis: of numbers, of whole steps, and of time on the user's clock."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.frequency import Stamps
from forecast_attn.data.zones import Zone

Floats = NDArray[np.float64]

_SECOND, _DAY = 10**9, 86_400 * 10**9
_CLOCK = [seconds * _SECOND for seconds in (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200)]
_DAYS, _MONTHS, _YEARS = (1, 2, 7, 14), (1, 2, 3, 6), (1, 2, 5, 10, 20, 50, 100)
_MONDAY = np.datetime64("1970-01-05", "D")


class Tick(NamedTuple):
    """A place on a time axis, and what stands there."""

    stamp: np.datetime64 | np.int64
    """Stamp on the axis."""
    text: str


def number_ticks(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, at most `most` of them, ascending."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    spacing = round_number((high / 2 - low / 2) / max(most, 1) * 2)  # halved: the whole distance may be no float
    if not (spacing and math.isfinite(spacing) and math.isfinite(high / spacing)):
        return [low, high]
    first, last = math.ceil(low / spacing - 1e-9), math.floor(high / spacing + 1e-9)
    return [index * spacing for index in range(first, last + 1)] if last - first < 10 * most else [low, high]


def round_number(value: float) -> float:
    """The smallest 1, 2 or 5 times a power of ten that is not below `value`; 0 where that is too small for a float."""
    if not (value > 0 and math.isfinite(value)):
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((power * factor for factor in (1, 2, 5, 10) if power * factor >= value * (1 - 1e-9)), power * 10)


def number_text(value: float, spacing: float) -> str:
    """A tick's number with the digits that tell it from its neighbours: `12,500`, `0.25`, `3e+09`."""
    largest = max(abs(value), spacing)
    if largest >= 1e7 or 0 < largest < 1e-4:
        digits = math.ceil(math.log10(largest / spacing)) + 1 if spacing > 0 and largest / spacing < 1e14 else 3
        return f"{value:.{max(digits, 3)}g}"
    digits = max(0, -math.floor(math.log10(spacing) + 1e-9)) if spacing > 0 else 2
    return f"{value:,.{min(digits, 6)}f}"


def time_ticks(stamps: Stamps, zone: Zone, most: int) -> list[Tick]:
    """Round times on the user's clock between the first and the last of these stamps, about `most` at the most.

    Args:
        stamps: of the axis, ascending; datetime64[ns] or int64.
        zone: of the user.
        most: ticks that there is room for.
    """
    if stamps.dtype.kind != "M":
        steps = number_ticks(float(stamps[0]), float(stamps[-1]), most)
        return [Tick(np.int64(step), f"{step:.0f}") for step in steps if step == round(step)]
    first, last = zone.local(stamps[[0, -1]].astype("datetime64[ns]"))
    wall, unit = _round_times(first, last, most)
    wall = wall.astype("datetime64[ns]")
    wall = wall[(wall >= first) & (wall <= last)]
    if not len(wall):
        wall, unit = np.array([first]), "s"
    instants = wall if zone.type_name is None else zone.instants(wall).first
    return [Tick(stamp, _text(time, unit)) for stamp, time in zip(instants, wall, strict=True)]


def _round_times(first: np.datetime64, last: np.datetime64, most: int) -> tuple[NDArray[np.datetime64], str]:
    """Round times that enclose a span, and the unit that tells them apart: Y, M, D, m or s, or ns."""
    span = int((last - first).astype(np.int64))
    if span < most * _SECOND:
        spacing = max(int(round_number(span / most)), 1)
        return _multiples(first, last, spacing), "ns"
    for spacing in _CLOCK:
        if span <= most * spacing:
            return _multiples(first, last, spacing), "s" if spacing < 60 * _SECOND else "m"
    for days in _DAYS:
        if span <= most * days * _DAY:
            start = first.astype("datetime64[D]")
            start -= (start - _MONDAY) % np.timedelta64(days, "D")
            return np.arange(start, last.astype("datetime64[D]") + 1, np.timedelta64(days, "D")), "D"
    for months in _MONTHS:
        if span <= most * months * 31 * _DAY:
            return _months(first, last, months), "M"
    for years in _YEARS:
        if span <= most * years * 366 * _DAY:
            return _months(first, last, 12 * years), "Y"
    return _months(first, last, 12 * int(round_number(span / most / 366 / _DAY))), "Y"


def _multiples(first: np.datetime64, last: np.datetime64, spacing: int) -> NDArray[np.datetime64]:
    """Multiples of a part of a day since midnight, which are the same since 1970."""
    start, stop = (int(stamp.astype(np.int64)) // spacing for stamp in (first, last))
    return (np.arange(start, stop + 1) * spacing).astype("datetime64[ns]")


def _months(first: np.datetime64, last: np.datetime64, spacing: int) -> NDArray[np.datetime64]:
    """Every `spacing` months, counted from the year 0."""
    months = [int(stamp.astype("datetime64[M]").astype(np.int64)) + 1970 * 12 for stamp in (first, last)]
    numbers = np.arange(months[0] // spacing, months[1] // spacing + 1) * spacing - 1970 * 12
    return numbers.astype("datetime64[M]")


def _text(time: np.datetime64, unit: str) -> str:
    """`2024` for a January among months, `Jul`, `Jul 1`, `12:00`, `12:00:30`, with the day at midnight."""
    import datetime

    seconds = int(time.astype("datetime64[s]").astype(np.int64))
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    if unit == "Y" or (unit == "M" and moment.month == 1):
        return str(moment.year)
    if unit == "M":
        return f"{moment:%b}"
    if unit == "D" or time == time.astype("datetime64[D]"):
        return f"{moment:%b} {moment.day}"
    if unit == "m":
        return f"{moment:%H:%M}"
    return f"{moment:%H:%M:%S}" if unit == "s" else str(time)[11:].rstrip("0").rstrip(".")
