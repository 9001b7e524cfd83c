"""Drift, and a share of the last change: an ARIMA(1, 1, 0) with drift, or the drift alone, an ARIMA(0, 1, 0).

    y(t) - y(t-1) = c + φ (y(t-1) - y(t-2))

c and φ are those of least squares; whether φ is worth its parameter is decided by AICc, on the same changes. Where
exponential smoothing repeats a level or lets a slope fade, this one knows series that go on, and swing back (φ < 0).

Sources: Box and Jenkins 1970, "Time series analysis"; Hurvich and Tsai 1989, "Regression and time series model
selection in small samples" (AICc).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_PAIRS = 5
"""Changes with one before them from which a share is fitted; of fewer, AICc is not defined for it."""
LEAST_VARIANCE = 1e-12
"""Smallest variance of errors and changes, as a share of the square of the largest change; below, it counts as 0."""


def autoregression(values: Floats, lengths: Ints, horizon: int) -> Floats:
    """Forecast each series with its drift, and the share of its last change where it is worth it.

    Args:
        values: series from their first value on, behind which each is filled up, (num_series, longest).
        lengths: of each series, at least 1, (num_series,).
        horizon: steps to forecast. No change ahead is larger than the largest one of the series.

    Returns:
        (num_series, horizon)
    """
    series = np.arange(len(values))
    changes = np.where(np.arange(1, values.shape[1]) < lengths[:, None], np.diff(values, axis=1), 0)
    size = np.abs(changes).max(axis=1, initial=0)
    changes /= np.where(size > 0, size, 1)[:, None]
    drift, share = _fitted(changes, lengths - 1)
    forecasts = np.empty((len(values), horizon))
    last, change = values[series, lengths - 1], np.zeros(len(values))
    grown = lengths > 1
    change[grown] = changes[series[grown], lengths[grown] - 2]
    for step in range(horizon):
        change = np.clip(drift + share * change, -1, 1)
        last = last + change * size
        forecasts[:, step] = last
    return forecasts


def _fitted(changes: Floats, number: Ints) -> tuple[Floats, Floats]:
    """Drift and share of each series.

    Args:
        changes: at most 1 in size, 0 behind the last one, (num_series, longest).
        number: changes of each series, (num_series,).
    """
    if not changes.shape[1]:
        return np.zeros(len(changes)), np.zeros(len(changes))
    pairs = np.maximum(number - 1, 0)
    shared = pairs >= FEWEST_PAIRS
    rows = np.where(shared, pairs, number)
    inside = np.arange(changes.shape[1] - 1) < pairs[:, None]
    before, after = np.where(inside, changes[:, :-1], 0), np.where(inside, changes[:, 1:], 0)
    total = np.where(shared, _sum(after), _sum(changes))
    mean, mean_before = total / np.maximum(rows, 1), _sum(before) / np.maximum(pairs, 1)
    centred = np.where(inside, before - mean_before[:, None], 0)
    rest = np.where(inside, after - mean[:, None], 0)
    spread, squares = _sum(centred**2), _sum(rest**2)
    varies = shared & (spread > LEAST_VARIANCE * rows)
    share = np.divide(_sum(centred * rest), spread, out=np.zeros(len(changes)), where=varies)
    errors = _sum(np.where(inside, rest - share[:, None] * centred, 0) ** 2)
    share = np.where(varies & (_aicc(errors, rows, 3) < _aicc(squares, rows, 2)), share, 0)
    return mean - share * mean_before, share


def _sum(values: Floats) -> Floats:
    """Sum each series from its first value on: `sum` pairs values by the length of the longest series, and rounds a
    short one otherwise beside others than alone.
    """
    return np.asarray(values.cumsum(axis=1)[:, -1]) if values.shape[1] else np.zeros(len(values))


def _aicc(squares: Floats, rows: Ints, parameters: int) -> Floats:
    """Akaike's criterion with its correction for few rows."""
    variance = np.maximum(squares / np.maximum(rows, 1), LEAST_VARIANCE)
    return np.asarray(rows * np.log(variance) + 2 * parameters * rows / np.maximum(rows - parameters - 1, 1))
