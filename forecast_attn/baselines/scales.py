"""Scales of MASE and RMSSE: the errors of one-season-back forecasts in the past of each series."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.gross_errors import without_gross_errors
from forecast_attn.data.panel import Panel
from forecast_attn.data.scale_fitting import Rows
from forecast_attn.data.segments import blocks, sums

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Magnitude = Callable[[Floats], Floats]
"""Magnitude of a change: its absolute value, or its square."""


def seasonal_naive_error(target: Floats, starts: Ints, stops: Ints, *, season: int) -> Floats:
    """Mean absolute error of one-season-back forecasts within each series: the denominator of MASE.

    Gross errors count as not observed.

    Args:
        target: all series behind each other, NaN where not observed, (num_rows,); starts ascend.
        starts: first row of each series, (num_series,).
        stops: row after the last training row of each series, (num_series,).
        season: steps of one season; series without two seasons use the step before instead.

    Returns:
        (num_series,), NaN for a series whose training rows never change, or have no two values that far apart.

    Source: Hyndman and Koehler 2006, "Another look at measures of forecast accuracy".
    """
    return _mean_change(_usual(target, starts, stops), starts, stops, season, np.abs)


def _usual(target: Floats, starts: Ints, stops: Ints) -> Floats:
    """The target, NaN where it is a gross error of its series (num_rows,)."""
    return without_gross_errors(Rows(target[:, None], starts, stops - starts)).values[:, 0]


def _mean_change(target: Floats, starts: Ints, stops: Ints, season: int, magnitude: Magnitude) -> Floats:
    """Mean magnitude of the changes over one season (num_series,), NaN where it is 0 or there are none."""
    rows = stops - starts
    back = np.where(rows > season, season, 1)
    total, number = np.zeros(len(starts)), np.zeros(len(starts))
    for series in blocks(starts):
        for lag in np.unique(back[series]):
            chosen = np.arange(series.start, series.stop)[(back == lag)[series] & (rows > lag)[series]]
            if len(chosen):
                total[chosen], number[chosen] = _changes(target, starts[chosen], stops[chosen], int(lag), magnitude)
    mean = np.divide(total, number, out=np.full(len(starts), np.nan), where=number > 0)
    return np.where(mean > 0, mean, np.nan)


def _changes(target: Floats, starts: Ints, stops: Ints, lag: int, magnitude: Magnitude) -> tuple[Floats, Floats]:
    """Sum of the magnitudes and number of the changes over `lag` steps in each series (num_series,)."""
    firsts, counts = starts - starts[0], stops - starts - lag
    values = target[starts[0] : stops[-1]]
    changes = magnitude(values[lag:] - values[:-lag])
    observed = ~np.isnan(changes)
    if observed.all():
        return sums(changes, firsts, counts), counts.astype(np.float64)
    return sums(np.where(observed, changes, 0.0), firsts, counts), sums(observed, firsts, counts)


def insample_scales(panel: Panel, stops: NDArray[np.int64], season: int) -> pd.DataFrame:
    """Errors of one-season-back forecasts within each series' first rows.

    Args:
        panel: the actuals.
        stops: row after the last row to look at, of each series, (num_series,): nothing after it counts.
        season: steps of one season.

    Returns:
        By item_id: `mae`, the mean absolute error, and `rmse`, the root of the mean square; NaN for a series that
        never changes.

    Source: Hyndman and Koehler 2006; the squares as in the M5 competition (Makridakis et al. 2022).
    """
    starts = panel.starts[:-1]
    target = _usual(panel.target, starts, stops)
    return pd.DataFrame(
        {
            "mae": _mean_change(target, starts, stops, season, np.abs),
            "rmse": np.sqrt(_mean_change(target, starts, stops, season, np.square)),
        },
        index=pd.Index(panel.item_ids, name="item_id"),
    )
