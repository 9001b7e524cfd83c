"""Which rows a panel may be cut at: for training, for validation and for the forecast."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.problems import counted
from forecast_attn.data.split import Split
from forecast_attn.errors import DataError


def training_cutoffs(panel: Panel, split: Split, lookback: int, horizon: int) -> NDArray[np.int64]:
    """Every cut-off row whose whole horizon lies in training (num_windows,)."""
    first = panel.starts[:-1] + lookback - 1
    return ranges(first, panel.starts[:-1] + split.training_rows(panel) - horizon - first)


def validation_cutoffs(panel: Panel, split: Split, lookback: int, horizon: int) -> NDArray[np.int64]:
    """Every cut-off from the boundary on whose horizon is known (num_windows,); lookbacks may reach into training."""
    rows = split.training_rows(panel)
    first = panel.starts[:-1] + np.maximum(rows, lookback) - 1
    # A series without training rows has no scale of its own to be judged in.
    return ranges(first, np.where(rows > 0, panel.ends - horizon - first, 0))


def forecast_cutoffs(panel: Panel, lookback: int, horizon: int) -> NDArray[np.int64]:
    """The last known row of every series (num_series,). The panel must have `horizon` future rows (see `extend`).

    Raises:
        DataError: a series has fewer rows than the lookback.
    """
    if (panel.starts[1:] - panel.ends < horizon).any():
        raise ValueError("the panel has too few future rows; extend it by the horizon first")
    for index in np.flatnonzero(panel.known < lookback)[:1]:
        raise DataError(
            f"series '{panel.item_ids[index]}' has {counted(int(panel.known[index]), 'row')} with a target; "
            f"the lookback needs {lookback}",
            "add older rows of this series, or leave it out",
        )
    return panel.ends - 1
