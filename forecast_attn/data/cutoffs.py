"""Which rows a panel may be cut at: for training, for validation and for the forecast.

A cut-off is the last known row of a window. Its lookback and its horizon must each hold a value of the target: a window
without one has nothing to learn from, or nothing to be judged by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.problems import counted
from forecast_attn.errors import DataError

if TYPE_CHECKING:
    from forecast_attn.data.split import Split

Ints = NDArray[np.int64]


def training_cutoffs(panel: Panel, split: Split, lookback: int, horizon: int, *, pad: bool = False) -> Ints:
    """Every cut-off row whose whole horizon lies in training, ascending (num_windows,).

    Args:
        panel: the validated table.
        split: where training ends.
        lookback: past steps of a window.
        horizon: future steps of a window.
        pad: series with fewer training rows than a window have windows too, which begin before them.
    """
    rows = split.training_rows(panel)
    first = panel.starts[:-1] + _least_past(rows, lookback, horizon, pad) - 1
    found = ranges(first, panel.starts[:-1] + rows - horizon - first)
    return with_values(panel, found, lookback, horizon)


def validation_cutoffs(panel: Panel, split: Split, lookback: int, horizon: int, *, pad: bool = False) -> Ints:
    """Every cut-off from the boundary on whose horizon is known, ascending (num_windows,); lookbacks may reach into
    training. Arguments as for `training_cutoffs`."""
    rows = split.training_rows(panel)
    first = panel.starts[:-1] + np.maximum(rows, _least_past(rows, lookback, horizon, pad)) - 1
    # A series without training rows has no scale of its own to be judged in.
    found = ranges(first, np.where(rows > 0, panel.ends - horizon - first, 0))
    return with_values(panel, found, lookback, horizon)


def forecast_cutoffs(panel: Panel, lookback: int, horizon: int, *, pad: bool = False) -> Ints:
    """The last known row of every series (num_series,). The panel must have `horizon` future rows (see `extend`).

    Args:
        panel: the history and the rows to forecast.
        lookback: past steps of a window.
        horizon: steps to forecast.
        pad: a single known row is enough.

    Raises:
        DataError: a series has fewer rows than the lookback, or none.
    """
    if (panel.starts[1:] - panel.ends < horizon).any():
        raise ValueError("the panel has too few future rows; extend it by the horizon first")
    needed = 1 if pad else lookback
    for index in np.flatnonzero(panel.known < needed)[:1]:
        raise DataError(
            f"series '{panel.item_ids[index]}' has {counted(int(panel.known[index]), 'row')} with a target; "
            f"the lookback needs {needed}",
            "add older rows of this series, or leave it out",
        )
    return panel.ends - 1


def windows_per_series(panel: Panel, cutoffs: Ints | NDArray[np.int32]) -> Ints:
    """How many of these ascending cut-offs each series has (num_series,)."""
    return np.diff(np.searchsorted(cutoffs, panel.starts.astype(cutoffs.dtype)))  # another type would be copied


def _least_past(rows: Ints, lookback: int, horizon: int, pad: bool) -> Ints | int:
    """How many rows up to the cut-off a window of each series needs."""
    return np.where(rows < lookback + horizon, 1, lookback) if pad else lookback


def with_values(panel: Panel, cutoffs: Ints, lookback: int, horizon: int) -> Ints:
    """Those of the ascending cut-offs with a value of the target in the lookback and one in the horizon."""
    observed = ~np.isnan(panel.target)
    if np.count_nonzero(observed) == panel.known.sum():
        return cutoffs
    before = np.concatenate(([0], np.cumsum(observed, dtype=np.int32)))
    starts = np.repeat(panel.starts[:-1], windows_per_series(panel, cutoffs))
    past = before[cutoffs + 1] > before[np.maximum(cutoffs + 1 - lookback, starts)]
    future = before[cutoffs + 1 + horizon] > before[cutoffs + 1]
    return cutoffs[past & future]
