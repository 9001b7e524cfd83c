"""Tables of paths, as `forecast predict --samples` writes them: many values for each series, cut-off and stamp."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.cells import parse_numbers
from forecast_attn.data.problems import naming, stop_at_errors
from forecast_attn.errors import DataError

LEVELS = (0.1, 0.5, 0.9)
"""Levels that paths are summed up in, beside their own score."""


def has_samples(frame: pd.DataFrame) -> bool:
    """Whether a table holds one drawn value per row."""
    return {"sample", "value"} <= set(map(str, frame.columns))


def summed_up(frame: pd.DataFrame, source: str) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    """One row per series, cut-off and stamp: the median as the forecast, and levels; and its values.

    Args:
        frame: of drawn values.
        source: its name, for messages.

    Returns:
        The rows, and what was drawn for each (num_rows, num_samples).

    Raises:
        DataError: a value is no number, or rows have different numbers of values.
    """
    with naming(source):
        drawn = parse_numbers(frame["value"], stop_at_errors)
    keys = [name for name in frame.columns if name not in ("sample", "value")]
    codes = frame.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    counts = np.bincount(codes)
    if (counts != counts.max(initial=0)).any():
        few, many = counts.min(), counts.max()
        raise DataError(f"'{source}' has {few} samples of some stamps and {many} of others", "as many of every stamp")
    order = np.argsort(codes, kind="stable")
    samples = drawn[order].reshape(len(counts), -1)
    rows = frame[keys].iloc[order[:: samples.shape[1]]].reset_index(drop=True)
    levels = {f"{level:g}": np.quantile(samples, level, axis=1) for level in LEVELS}
    return rows.assign(prediction=np.median(samples, axis=1), **levels), samples
