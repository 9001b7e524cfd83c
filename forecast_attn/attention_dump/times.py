"""Times of the attention file: time stamps or whole numbers, back from a cut-off, from text and to text."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.errors import ConfigError


def stamps_until(cutoff: Any, length: int, frequency: str) -> NDArray[Any]:
    """(length,) the last times up to and with the cut-off, one step of the frequency apart."""
    if isinstance(cutoff, np.integer):
        return np.arange(cutoff - (length - 1), cutoff + 1)
    return pd.date_range(end=pd.Timestamp(cutoff), periods=length, freq=frequency).to_numpy("datetime64[ns]")


def parse_time(value: Any, time_type: np.dtype[Any]) -> Any:
    """A time as the file's axis has it, from text, a number or a time stamp.

    Raises:
        ConfigError: the value is no such time.
    """
    try:
        return np.int64(value) if time_type.kind == "i" else np.datetime64(pd.Timestamp(value), "ns")
    except (TypeError, ValueError):
        kind = (
            "a whole number, as the file's times are"
            if time_type.kind == "i"
            else "a time stamp such as 2026-01-05 14:00"
        )
        raise ConfigError(f"the cut-off must be {kind}; got '{value}'") from None


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
