"""Times of the attention file: time stamps or whole numbers, back from a cut-off, from text and to text."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.frequency import parse_frequency
from forecast_attn.errors import ConfigError


def stamps_until(cutoffs: NDArray[Any], length: int, frequency: str) -> NDArray[Any]:
    """(len(cutoffs), length) the last times up to and with each cut-off, one step of the frequency apart.

    Raises:
        ConfigError: there is no such frequency.
    """
    step = parse_frequency(frequency)
    # Shifting all cut-offs by one lag at a time keeps calendar frequencies, which go through pandas, fast.
    return np.stack([step.shift(cutoffs, -lag) for lag in range(length - 1, -1, -1)], axis=1)


def parse_time(value: Any, time_type: np.dtype[Any]) -> Any:
    """A time as the file's axis has it, from text, a number or a time stamp.

    Raises:
        ConfigError: the value is no such time.
    """
    try:
        return np.int64(value) if time_type.kind == "i" else _in_utc(pd.Timestamp(value)).to_datetime64()
    except (TypeError, ValueError):
        kind = (
            "a whole number, as the file's times are"
            if time_type.kind == "i"
            else "a time stamp such as 2026-01-05 14:00"
        )
        raise ConfigError(f"the cut-off must be {kind}; got '{value}'") from None


def _in_utc(stamp: pd.Timestamp) -> pd.Timestamp:
    """Without its zone, as the file's times are."""
    return stamp if stamp.tzinfo is None else stamp.tz_convert("UTC").tz_localize(None)


def time_text(time: Any) -> str:
    """A time as people write it: `2026-01-05 14:00`, without what is zero."""
    if isinstance(time, np.integer):
        return str(time)
    stamp = pd.Timestamp(time)
    if stamp == stamp.normalize():
        return stamp.strftime("%Y-%m-%d")
    return (
        stamp.strftime("%Y-%m-%d %H:%M") if not (stamp.second or stamp.microsecond or stamp.nanosecond) else str(stamp)
    )
