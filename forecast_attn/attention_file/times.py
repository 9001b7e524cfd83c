"""Times of the attention file: time stamps or whole numbers, back from a cut-off, from text and to text."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.date_forms import LAST_YEAR
from forecast_attn.data.findings import stamp_text
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.data.zones import Zone
from forecast_attn.errors import ConfigError


def stamps_until(cutoffs: NDArray[Any], length: int, frequency: str) -> NDArray[Any]:
    """(len(cutoffs), length) the last times up to and with each cut-off, one step of the frequency apart.

    Raises:
        ConfigError: there is no such frequency.
    """
    step = parse_frequency(frequency)
    # Shifting all cut-offs by one lag at a time keeps calendar frequencies, which go through pandas, fast.
    return np.stack([step.shift(cutoffs, -lag) for lag in range(length - 1, -1, -1)], axis=1)


def stamps_after(times: NDArray[Any], steps: NDArray[np.int64], frequency: str) -> NDArray[Any]:
    """(rows, len(steps)) times (rows, len(steps)), each column its number of steps of the frequency later.

    Raises:
        ConfigError: there is no such frequency.
    """
    if not steps.any():
        return times
    step = parse_frequency(frequency)
    return np.stack([step.shift(times[:, index], int(count)) for index, count in enumerate(steps)], axis=1)


def parse_time(value: Any, time_type: np.dtype[Any], zone: Zone) -> Any:
    """A time as the file's axis has it, from text, a number or a time stamp; without an offset it is one of the zone.

    Raises:
        ConfigError: the value is no such time, or can be two.
    """
    expected = "a time stamp such as 2026-01-05 14:00"
    try:
        if time_type.kind == "i":
            expected = "a whole number, like the file's times"
            number = np.int64(value)
            if number != float(value):  # 1.7
                raise ValueError
            return number
        stamp = pd.Timestamp(value)
        if stamp.year > LAST_YEAR:  # no file has such times, and clocks change twice in each year up to there
            raise ValueError
        if stamp.tzinfo is not None:
            return stamp.tz_convert("UTC").tz_localize(None).to_datetime64()
        return _instant(np.array([stamp.to_datetime64()]), zone) if zone.type_name else stamp.to_datetime64()
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(f"the cut-off must be {expected}; got '{value}'") from None


def _instant(wall: NDArray[np.datetime64], zone: Zone) -> np.datetime64:
    """The instant of one time on the clock of the zone."""
    (first,), (second,) = zone.instants(wall)
    if first == second:
        return np.datetime64(first)
    clock = stamp_text(wall[0])
    if first > second:
        raise ConfigError(f"the cut-off {clock} does not exist in {zone.name}", "the clock was put forward past it")
    hint = f"write {zone.stamp_text(first)} or {zone.stamp_text(second)}"
    raise ConfigError(f"the cut-off {clock} comes twice in {zone.name}", hint)


def time_text(time: Any, zone: Zone) -> str:
    """A time as people write it: `2026-01-05 14:00`, without what is zero, with the offset of a zone."""
    if isinstance(time, np.integer):
        return str(time)
    if zone.type_name is not None:
        return zone.stamp_text(time)
    stamp = pd.Timestamp(time)
    if stamp == stamp.normalize():
        return stamp.strftime("%Y-%m-%d")
    return stamp.strftime("%Y-%m-%d %H:%M") if stamp == stamp.floor("min") else str(stamp)
