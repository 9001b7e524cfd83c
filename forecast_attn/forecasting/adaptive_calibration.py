"""Conformal offsets that follow a run's own errors, from one cut-off to the next: quantile tracking.

Where a true value lies above its quantile τ, the offset of that step and quantile rises by a share τ of a unit, else
it falls by 1 - τ of it: it stays where it is if a share τ of the values lies at or below. Over a long time the shares
come out right whatever the data do (Gibbs and Candès 2021, "Adaptive conformal inference under distribution shift";
Angelopoulos, Candès and Tibshirani 2023, "Conformal PID control for time series prediction", their quantile tracking).

A forecast follows those that the same network would have made 1, 2, … horizons earlier. Their true values are known at
its cut-off, so its offsets depend on nothing later, and `predict` finds them as a backtest does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Tracking(NamedTuple):
    """The size of errors to begin with, and since when they are followed."""

    unit: Floats
    """Absolute error at each step, on the scale of the series, (horizon,)."""
    after: int
    """The last stamp that the network knows from training: only later errors are followed."""

    @classmethod
    def of(cls, quantiles: tuple[float, ...], actual: Floats, base: Floats, after: int) -> Tracking:
        """Take the unit from the errors on validation windows.

        Args:
            quantiles: (num_quantiles,).
            actual: NaN where not observed, (num_windows, horizon).
            base: quantiles before calibration, (num_windows, horizon, num_quantiles).
            after: see above.
        """
        return cls(np.nanmean(np.abs(actual - base[..., _central(quantiles)]), axis=0), after)


def _central(quantiles: tuple[float, ...]) -> int:
    """Place of the quantile nearest the median."""
    return int(np.abs(np.array(quantiles) - 0.5).argmin())


RATE = 0.1
"""Step size of an offset, in units of the absolute error of its step. Chosen on validation days."""
MEMORY = 0.1
"""Weight of the newest forecast in that error, which follows too: where a series grows wilder, offsets move faster."""
MOST_EARLIER = 127
"""Earlier forecasts that one follows: with it they are one batch of the network."""
MOST_ROWS = 50_000
"""Rows that they may reach back, which are kept in the run."""


def num_earlier(horizon: int) -> int:
    """Return how many earlier forecasts one follows at most."""
    return min(MOST_EARLIER, MOST_ROWS // horizon)


def rows_followed(lookback: int, horizon: int) -> int:
    """Return the number of last rows of a series that its next forecast and all that it follows read."""
    return lookback + num_earlier(horizon) * horizon


def earlier_cutoffs(panel: Panel, cutoffs: Rows, lookback: int, horizon: int, after: int) -> Rows:
    """Find the cut-offs that lie 1, 2, … horizons before others.

    Args:
        panel: the series.
        cutoffs: rows of the last known values, (num_windows,).
        lookback: steps that a window needs before its horizon.
        horizon: steps of a forecast, and from one cut-off to the one before.
        after: the last stamp that the network knows from training, as a number: no horizon may begin before.

    Returns:
        Their rows (num_windows, num_earlier), the oldest first; -1 where there is none.
    """
    series = panel.series_of(cutoffs)
    stamps = panel.timestamps.astype(np.int64)
    firsts = np.zeros(panel.num_series, np.int64)
    for index in np.unique(series):
        start, stop = panel.starts[index], panel.starts[index + 1]
        firsts[index] = max(start + lookback - 1, start + np.searchsorted(stamps[start:stop], after))
    rows = cutoffs[:, None] - horizon * np.arange(num_earlier(horizon), 0, -1)
    return np.where(rows >= firsts[series][:, None], rows, -1)


class PastForecasts(NamedTuple):
    """Forecasts of earlier cut-offs, and the actual values, on the scale of the series."""

    rows: Rows
    """Cut-offs, ascending (num_forecasts,)."""
    actual: Floats
    """NaN where not observed, (num_forecasts, horizon)."""
    base: Floats
    """Quantiles before calibration, (num_forecasts, horizon, num_quantiles)."""


class Followed(NamedTuple):
    """Offsets, and the unit that they move by, at some cut-offs."""

    offsets: Floats
    """(num_windows, horizon, num_quantiles)"""
    unit: Floats
    """(num_windows, horizon)"""


def follow(
    offsets: Floats, tracking: Tracking, quantiles: tuple[float, ...], earlier: Rows, past: PastForecasts
) -> Followed:
    """Let offsets, and the unit that they move by, follow the errors of earlier forecasts.

    Args:
        offsets: to begin with, (horizon, num_quantiles).
        tracking: the unit to begin with.
        quantiles: (num_quantiles,).
        earlier: see `earlier_cutoffs`.
        past: the forecasts of all of them.

    Returns:
        Both at each cut-off.
    """
    shares, central = np.array(quantiles), _central(quantiles)
    followed = Followed(
        np.repeat(offsets[None], len(earlier), axis=0), np.repeat(tracking.unit[None], len(earlier), axis=0)
    )
    for rows in earlier.T:
        there = np.flatnonzero(rows >= 0)
        if not len(there):
            continue
        positions = np.searchsorted(past.rows, rows[there])
        actual, base, offset, unit = (
            past.actual[positions],
            past.base[positions],
            followed.offsets[there],
            followed.unit[there],
        )
        # A step without an actual value teaches nothing: its offset and its unit stay as they are.
        unknown = np.isnan(actual)
        error = np.where(unknown, unit, np.abs(actual - base[..., central]))
        step = np.where(unknown, 0.0, RATE * unit)[..., None]
        # By τ of a unit upwards where the value lies above its quantile, else by 1 - τ downwards.
        followed.offsets[there] = offset + step * (shares - (actual[..., None] <= base + offset))
        followed.unit[there] = unit + MEMORY * (error - unit)
    return followed
