"""Columns of made-up numbers and dates, the same ones in any order of tests: `conftest` begins anew before each."""

import numpy as np
import pandas as pd

RNG = np.random.default_rng(0)
_INITIAL_STATE = RNG.bit_generator.state


def begin_anew() -> None:
    """Make the next numbers the first ones."""
    RNG.bit_generator.state = _INITIAL_STATE


def noise(rows: int) -> np.ndarray:
    return RNG.normal(10, 1, rows).round(3)


def days(rows: int) -> pd.Index:
    return pd.date_range("2021-01-01", periods=rows).strftime("%Y-%m-%d")


def months(rows: int) -> pd.Index:
    return pd.date_range("2000-01-01", periods=rows, freq="MS").strftime("%Y-%m-%d")
