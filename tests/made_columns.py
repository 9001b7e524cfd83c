"""Columns of made-up numbers and dates, the same ones in any order of tests: `conftest` begins anew before each."""

from collections.abc import Callable

import numpy as np
import pandas as pd

RNG = np.random.default_rng(0)
_INITIAL_STATE = RNG.bit_generator.state

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def begin_anew() -> None:
    """Make the next numbers the first ones."""
    RNG.bit_generator.state = _INITIAL_STATE


def noise(rows: int) -> np.ndarray:
    return RNG.normal(10, 1, rows).round(3)


def values(rows: int, rng: np.random.Generator = RNG) -> np.ndarray:
    """Numbers that go up for a week and fall back, with a little noise."""
    return (10 + np.arange(rows) % 7 + rng.normal(scale=0.1, size=rows)).round(3)


def hourly_wave(rows: int, level: float = 50.0) -> np.ndarray:
    """A wave of 24 steps with a little noise, the same one at each call."""
    noise = np.random.default_rng(0).normal(scale=0.1, size=rows)
    return (level + 5 * np.sin(2 * np.pi * np.arange(rows) / 24) + noise).round(3)


def days(rows: int) -> pd.Index:
    return pd.date_range("2021-01-01", periods=rows).strftime("%Y-%m-%d")


def date_column(rows: int, first: str = "2024-01-01") -> pd.Series:
    """Days as a column of a frame, which has an index of its own."""
    return pd.Series(pd.date_range(first, periods=rows, freq="D").strftime("%Y-%m-%d"))


def months(rows: int) -> pd.Index:
    return pd.date_range("2000-01-01", periods=rows, freq="MS").strftime("%Y-%m-%d")


def uneven_days(rows: int, apart: int) -> list[str]:
    """Dates that are as uneven as those of events, in order."""
    lags = RNG.exponential(apart, rows).astype(int).cumsum()
    return [str(day) for day in np.datetime64("2001-01-01") + lags]


def comma(number: float, digits: int = 1) -> str:
    """The number with a comma before its decimals."""
    return f"{number:.{digits}f}".replace(".", ",")


SIXTY_DAYS = pd.date_range("2021-01-01", periods=60)
SIXTY_VALUES = [1500 + 10 * (at % 7) + at / 4 for at in range(60)]
EIGHT_DAYS_OF_HOURS = pd.date_range("2021-01-01", periods=24 * 8, freq="h")


def csv_rows(line: Callable[[pd.Timestamp, float], str], stamps: pd.DatetimeIndex = SIXTY_DAYS) -> str:
    """A line for each stamp and its value, as `line` writes them."""
    repeated = (SIXTY_VALUES * (len(stamps) // 60 + 1))[: len(stamps)]
    return "".join(line(stamp, value) + "\n" for stamp, value in zip(stamps, repeated, strict=True))


NUMBERS = [f"{value:.4f}" for value in np.sin(np.arange(240))]
ROWS = "\n".join(
    f"{day},{value}" for day, value in zip(date_column(90), values(90, np.random.default_rng(0)), strict=True)
)
"""Ninety lines of a day and a value."""
