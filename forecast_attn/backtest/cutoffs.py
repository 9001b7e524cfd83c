"""The cut-offs to forecast from: `--cutoffs`, `--start`, `--end`, `--stride`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.values import MOST_DIGITS
from forecast_attn.data.findings import Finding, counted
from forecast_attn.data.frequency import DAY, UNITS, Frequency, Stamps, parse_frequency, step_name
from forecast_attn.data.localise import axis_stamps
from forecast_attn.data.panel import Panel
from forecast_attn.data.timestamps import read_stamps
from forecast_attn.data.zones import Zone
from forecast_attn.errors import ConfigError, DataError


@dataclass(frozen=True)
class Schedule:
    """The requested cut-offs; `stride` is the horizon when None, and `start` the end of training."""

    cutoffs: int | None = None
    """The last cut-offs whose horizon is in the data, this many."""
    start: str | None = None
    """First stamp that is forecast."""
    end: str | None = None
    """The last stamp a forecast may begin with; a date without a clock is the whole day."""
    stride: str | int | None = None

    def __post_init__(self) -> None:
        if self.cutoffs is not None and (self.start is not None or self.end is not None):
            raise ConfigError(
                "--cutoffs counts back from the end of the data; --start and --end name dates instead",
                "--cutoffs 100 --stride 1D, or --start 2024-01-01 --stride 1D",
            )
        if self.cutoffs is not None and self.cutoffs < 1:
            raise ConfigError(f"--cutoffs must be at least 1; got {self.cutoffs}", "such as --cutoffs 100")
        if self.stride is not None:
            Stride.parse(self.stride)

    def cutoff_stamps(self, panel: Panel, horizon: int, trained_until: Any = None) -> Stamps:
        """The stamps to forecast from, ascending (num_cutoffs,).

        Args:
            panel: the series.
            horizon: steps of a forecast.
            trained_until: where forecasts begin when neither `cutoffs` nor `start` is given: behind this stamp.

        Raises:
            ConfigError: an invalid date, or a stride that does not fit the axis.
            DataError: the data has fewer such cut-offs than asked for, or none.
        """
        axis = axis_of(panel)
        stride = Stride(steps=horizon) if self.stride is None else Stride.parse(self.stride)
        stride.check(axis.frequency)
        last = axis.frequency.shift(axis.stamps[-1:], 1 - horizon)[0]
        if self.cutoffs is not None:
            # Several strides may have one cut-off, as a Saturday, a Sunday and a Monday have Friday.
            most = max(stride.most_between(axis.stamps[0], last, axis), 0)
            firsts = stride.from_stamp(last, np.arange(-most, 1), axis)
        else:
            firsts = self._from_start(panel, axis, stride, last, trained_until)
        # A cut-off is the last row before the first stamp that is forecast, which itself need be no row: a Saturday.
        before = np.searchsorted(axis.stamps, firsts) - 1
        columns = np.unique(before[before >= 0])
        if self.cutoffs is not None and len(columns) < self.cutoffs:
            raise _too_few(panel, len(columns), self.cutoffs)
        return axis.stamps[columns if self.cutoffs is None else columns[-self.cutoffs :]]

    def _from_start(self, panel: Panel, axis: Axis, stride: Stride, last: Any, trained_until: Any) -> Stamps:
        if self.start is not None:
            start = _stamp_of("--start", self.start, panel)
        elif trained_until is not None:
            start = axis.frequency.shift(np.array([trained_until]), 1)[0]
        else:
            raise ConfigError("there is no cut-off to begin with", "--start DATE, or --cutoffs N for the last ones")
        end = last if self.end is None else _end_of(self.end, panel)
        if start > last:
            raise _nothing_after(panel, start, last)
        if start > end:
            first = panel.zone.stamp_text(start)
            raise ConfigError(f"--end {self.end} is before the first forecast, {first}", "a later --end")
        return _until(stride, start, min(end, last), axis)


def axis_of(panel: Panel) -> Axis:
    """Return the axis of all stamps known in any series."""
    known = [panel.timestamps[start:end] for start, end in zip(panel.starts[:-1], panel.ends, strict=True)]
    stamps = known[0] if len(known) == 1 else np.unique(np.concatenate(known))
    return Axis(stamps, panel.frequency, panel.zone)


def parse_stamp(text: str, panel: Panel) -> np.datetime64 | np.int64:
    """A stamp as the user writes it, on the axis of the panel.

    Raises:
        DataError: it is no time stamp, or an ambiguous one; or it has an offset where the axis has no zone.
    """
    if panel.frequency.is_integer:
        if not re.fullmatch(r"[+-]?\d{1,18}", text.strip()):
            raise DataError("the time axis counts steps", "the number of a step")
        return np.int64(text)
    column, zone = pd.Series([text], name="time"), panel.zone
    written = read_stamps(column, "time", panel.date_order)
    if written.bad[0] or written.stamps.dtype.kind != "M":
        raise DataError("it is not a date", "such as 2024-01-31, or '2024-01-31 06:00'")
    if written.offsets is not None and zone.name is None:
        raise DataError("it has an offset, and the stamps of the data have none", "leave the offset out")
    if written.offsets is None and zone.is_fixed:
        # Of a table such a stamp would be a mistake; a user means the clock that results are shown on.
        on_clock: np.datetime64 = Axis(written.stamps, panel.frequency, zone).of_wall(written.stamps)[0]
        return on_clock

    def refuse(finding: Finding) -> None:
        """Raise the finding without its row and column: the stamp is not from a table."""
        reasons = {
            "FA210": f"{finding.value} does not exist in {zone.name}: the clock was put forward over it",
            "FA211": f"{finding.value} comes twice in {zone.name}, before and after the clock is put back",
        }
        raise DataError(reasons.get(finding.code, finding.message), finding.hint, code=finding.code)

    on_axis, _ = axis_stamps(
        column, zone, refuse, series=np.zeros(1, np.int64), item_ids=("",), date_format=panel.date_order
    )
    stamp: np.datetime64 = on_axis[0]
    return stamp


def _stamp_of(flag: str, text: str, panel: Panel) -> Any:
    try:
        return parse_stamp(text, panel)
    except DataError as error:
        raise ConfigError(f"{flag} '{text}': {error.message}", error.hint, code=error.code, value=text) from None


def _end_of(text: str, panel: Panel) -> Any:
    """The stamp, or the last moment of a day that is written without a clock."""
    stamp = _stamp_of("--end", text, panel)
    if panel.frequency.is_integer or re.search(r"[T:]\d", text):
        return stamp
    axis = Axis(np.array([stamp]), panel.frequency, panel.zone)
    wall = panel.zone.local(axis.stamps)
    if (wall != wall.astype("datetime64[D]")).any():
        return stamp
    return Stride(days=1).from_stamp(stamp, np.array([1]), axis)[0] - np.timedelta64(1, "ns")


def _until(stride: Stride, start: Any, end: Any, axis: Axis) -> Stamps:
    """start, start + stride, … up to and with `end`."""
    stamps = stride.from_stamp(start, np.arange(stride.most_between(start, end, axis) + 1), axis)
    inside: Stamps = stamps[stamps <= end]
    return inside


def _too_few(panel: Panel, available: int, requested: int) -> DataError:
    return DataError(
        f"the data has {counted(available, 'cut-off')} of that stride; --cutoffs asks for {requested:,}",
        f"--cutoffs {available}, or a smaller --stride" if available else "a smaller --horizon, or more data",
    )


def _nothing_after(panel: Panel, start: Any, last: Any) -> DataError:
    return DataError(
        f"no forecast begins at or after {panel.zone.stamp_text(start)} and has its whole horizon in the data: "
        f"the last one begins at {panel.zone.stamp_text(last)}",
        "an earlier --start, or --data FILE with newer rows",
    )


NOT_BEGUN, ENDED = -1, -2
"""Instead of a row: the series has none at the stamp, but later ones, or only earlier ones."""


def rows_at(panel: Panel, cutoffs: Stamps) -> NDArray[np.int64]:
    """The known row of every series at each stamp, or `NOT_BEGUN`, or `ENDED` (num_cutoffs, num_series)."""
    rows = np.full((len(cutoffs), panel.num_series), NOT_BEGUN, np.int64)
    for index, (start, end) in enumerate(zip(panel.starts[:-1], panel.ends, strict=True)):
        stamps = panel.timestamps[start:end]
        positions = np.searchsorted(stamps, cutoffs)
        rows[positions == len(stamps), index] = ENDED
        there = np.flatnonzero(positions < len(stamps))
        there = there[stamps[positions[there]] == cutoffs[there]]
        rows[there, index] = start + positions[there]
    return rows


# --------------------------------------------------------------------------- stride
# Distances between cut-offs: steps of the axis, exact hours, or days on the wall clock.


EXAMPLES = "a number of steps such as 24, or a time such as 24h, 7D, 2W or 1MS"
_DAYS = {"D": 1, "W": 7}
_MONTHS = {"M": 1, "Q": 3, "Y": 12}
_MOST_YEARS = 200
"""Longest time, so that dates a stride away still fit into 64 bits."""
_LONGEST_MONTH = 31 * DAY
_LENGTHS = {name: length for name, length in UNITS.items() if length < DAY} | {"H": UNITS["h"]}


@dataclass(frozen=True)
class Stride:
    """Exactly one of the four is not 0."""

    steps: int = 0
    """Number of steps of the axis."""
    nanoseconds: int = 0
    """Exact time: 24 hours are 24 hours, though a clock is changed."""
    days: int = 0
    """Days on the wall clock: midnight stays midnight when clocks change."""
    months: int = 0
    """Months on the wall clock; from the 31st, the last day of shorter months."""

    @classmethod
    def parse(cls, text: str | int, flag: str = "--stride") -> Stride:
        """The stride that an option names.

        Raises:
            ConfigError: it is not a stride.
        """
        text = str(text).strip()
        match = re.fullmatch(rf"(\d{{,{MOST_DIGITS}}})\s*([A-Za-z]*)", text)
        number, unit = (int(match[1] or 1), match[2]) if match else (0, "")
        if match is None or number == 0 or not (match[1] or unit):
            raise ConfigError(f"{flag} must be a whole number of steps or a time, above 0; got '{text:.40}'", EXAMPLES)
        stride = cls._of_unit(number, unit)
        if stride is None:
            hint = "min for minutes, MS for months" if unit == "m" else EXAMPLES
            raise ConfigError(f"{flag} has no unit '{unit}'", hint)
        if stride.nanoseconds + stride.days * DAY + stride.months * _LONGEST_MONTH > _MOST_YEARS * 12 * _LONGEST_MONTH:
            raise ConfigError(f"{flag} must be at most {_MOST_YEARS} years; got '{text}'", EXAMPLES)
        return stride

    @classmethod
    def _of_unit(cls, number: int, unit: str) -> Stride | None:
        """The stride of a number of steps, or of a unit; None where there is no such unit."""
        if not unit:
            return cls(steps=number)
        if unit in _LENGTHS:
            return cls(nanoseconds=number * _LENGTHS[unit])
        if unit.upper() in _DAYS:
            return cls(days=number * _DAYS[unit.upper()])
        name = re.sub("[SE]$", "", unit)
        return cls(months=number * _MONTHS[name]) if name in _MONTHS else None

    def check(self, frequency: Frequency, flag: str = "--stride") -> None:
        """Refuse a stride that would leave the grid of the time axis.

        Raises:
            ConfigError: naming the step.
        """
        if frequency.is_integer and not self.steps:
            raise ConfigError(f"{flag} is a time, and the time axis counts steps", "a number of steps, such as 24")
        if self.nanoseconds and frequency.is_within_day:
            start = np.array([0], "datetime64[ns]")
            step = int(parse_frequency(frequency.base).shift(start, 1)[0].astype(np.int64))
            if self.nanoseconds % step:
                raise ConfigError(f"{flag} is not a multiple of a step, {step_name(frequency.alias)}", EXAMPLES)

    def from_stamp(self, start: np.datetime64 | np.int64, times: NDArray[np.int64], on: Axis) -> Stamps:
        """The stamps this many strides after `start`, or before it (num_times,)."""
        stamps = np.full(len(times), start)
        if self.steps:
            return on.frequency.shift(stamps, times * self.steps)
        if self.nanoseconds:
            return np.asarray(stamps + (times * self.nanoseconds).astype("timedelta64[ns]"))
        wall = on.zone.local(stamps[:1])
        if self.days:
            return on.of_wall(wall + (times * self.days).astype("timedelta64[D]"))
        day = pd.Timestamp(wall[0])
        moved = [day + pd.DateOffset(months=int(count) * self.months) for count in times]
        return on.of_wall(np.array(moved, "datetime64[ns]"))

    def most_between(self, start: Any, end: Any, on: Axis) -> int:
        """Return how many strides lead from one stamp to a later one, or not beyond it; at most one more."""
        if self.steps:
            steps = on.frequency.steps_between(np.array([start]), np.array([end]))[0]
            return int(np.ceil(steps)) // self.steps
        if self.nanoseconds:
            return int((end - start) // np.timedelta64(self.nanoseconds, "ns"))
        unit = "M" if self.months else "D"
        first, last = on.zone.local(np.array([start, end])).astype(f"datetime64[{unit}]").astype(np.int64)
        return int(last - first) // (self.months or self.days)


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
