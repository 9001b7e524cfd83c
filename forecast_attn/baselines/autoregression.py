"""ARIMA(1, 1, 0) with drift, or the drift alone, an ARIMA(0, 1, 0).

    y(t) - y(t-1) = c + φ (y(t-1) - y(t-2))

c and φ are those of least squares, on the changes that have one before them; whether φ is worth its parameter is
decided by AICc. Where exponential smoothing repeats a level or lets a slope fade, this one follows series that keep
growing, and those whose changes alternate (φ < 0).

Sources: Box and Jenkins 1970, "Time series analysis"; Hurvich and Tsai 1989, "Regression and time series model
selection in small samples" (AICc).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_PAIRS = 5
"""Pairs of successive changes from which φ is fitted; of fewer, AICc is not defined for it."""
LEAST_VARIANCE = 1e-12
"""Smallest variance of errors and changes, as a share of the square of the largest change; below, it counts as 0."""


def autoregression(values: Floats, lengths: Ints, horizon: int) -> Floats:
    """Forecast each series with its drift, and with φ where AICc prefers it.

    Args:
        values: series without holes from their first value on, padded at the end, (num_series, longest).
        lengths: of each series, at least 1, (num_series,).
        horizon: steps to forecast.

    Returns:
        (num_series, horizon). No change ahead is larger than the largest one of the series.
    """
    series = np.arange(len(values))
    changes = np.where(np.arange(1, values.shape[1]) < lengths[:, None], np.diff(values, axis=1), 0)
    size = np.abs(changes).max(axis=1, initial=0)
    changes /= np.where(size > 0, size, 1)[:, None]
    drift, phi = _fitted(changes, lengths - 1)
    forecasts = np.empty((len(values), horizon))
    last, change = values[series, lengths - 1], np.zeros(len(values))
    has_changes = lengths > 1
    change[has_changes] = changes[series[has_changes], lengths[has_changes] - 2]
    for step in range(horizon):
        change = np.clip(drift + phi * change, -1, 1)
        last = last + change * size
        forecasts[:, step] = last
    return forecasts


def _fitted(changes: Floats, num_changes: Ints) -> tuple[Floats, Floats]:
    """Drift c and coefficient φ of each series (num_series,).

    Args:
        changes: at most 1 in size, 0 behind the last one, (num_series, longest).
        num_changes: of each series, (num_series,).
    """
    if not changes.shape[1]:
        return np.zeros(len(changes)), np.zeros(len(changes))
    num_pairs = np.maximum(num_changes - 1, 0)
    enough = num_pairs >= FEWEST_PAIRS
    # Both models are compared on the same changes: those that have one before them.
    num_compared = np.where(enough, num_pairs, num_changes)
    inside = np.arange(changes.shape[1] - 1) < num_pairs[:, None]
    before, after = np.where(inside, changes[:, :-1], 0), np.where(inside, changes[:, 1:], 0)
    mean = np.where(enough, _sum(after), _sum(changes)) / np.maximum(num_compared, 1)
    mean_before = _sum(before) / np.maximum(num_pairs, 1)
    centred = np.where(inside, before - mean_before[:, None], 0)
    residuals = np.where(inside, after - mean[:, None], 0)
    # Least squares of a change on the one before it.
    spread = _sum(centred**2)
    varies = enough & (spread > LEAST_VARIANCE * num_compared)
    phi = np.divide(_sum(centred * residuals), spread, out=np.zeros(len(changes)), where=varies)
    # Three parameters with φ (c, φ and the variance), two without it.
    with_phi = _aicc(_sum(np.where(inside, residuals - phi[:, None] * centred, 0) ** 2), num_compared, 3)
    phi = np.where(varies & (with_phi < _aicc(_sum(residuals**2), num_compared, 2)), phi, 0)
    return mean - phi * mean_before, phi


def _sum(values: Floats) -> Floats:
    """Sum each series from its first value on: `sum` pairs values by the length of the longest series, and would round
    a short one differently beside others than alone.
    """
    return np.asarray(values.cumsum(axis=1)[:, -1]) if values.shape[1] else np.zeros(len(values))


def _aicc(squares: Floats, num_values: Ints, num_parameters: int) -> Floats:
    """Akaike's criterion with its correction for few values."""
    variance = np.maximum(squares / np.maximum(num_values, 1), LEAST_VARIANCE)
    penalty = 2 * num_parameters * num_values / np.maximum(num_values - num_parameters - 1, 1)
    return np.asarray(num_values * np.log(variance) + penalty)
