"""Forecasts that need no training, to be shown beside every result."""

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.segments import blocks, sums

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def seasonal_naive(target: Floats, starts: Ints, cutoffs: Ints, *, season: int, horizon: int) -> Floats:
    """Repeat the last season before each cut-off.

    A value that is missing there is taken from the season before, and so on: the last observed value of the same phase.
    A phase that was never observed gets the last observed value of any.

    Args:
        target: all series behind each other, NaN where not observed, (num_rows,).
        starts: first row of the series of each cut-off, (num_cutoffs,).
        cutoffs: rows of the last known values, (num_cutoffs,).
        season: steps of one season.
        horizon: steps to forecast.

    Returns:
        (num_cutoffs, horizon). A series with less than one season before its cut-off repeats its last value; NaN where
        nothing was observed up to the cut-off.
    """
    steps = np.arange(1, horizon + 1)
    seasons = np.where(cutoffs - starts + 1 >= season, season, 1)[:, None]
    rows = cutoffs[:, None] + steps - seasons * np.ceil(steps / seasons).astype(np.int64)
    forecast: Floats = target[rows]
    if np.isnan(forecast).any():
        _fill_from_earlier(forecast, rows, target, starts, cutoffs, np.broadcast_to(seasons, rows.shape))
    return forecast


def _fill_from_earlier(
    forecast: Floats, rows: Ints, target: Floats, starts: Ints, cutoffs: Ints, seasons: Ints
) -> None:
    """Fill NaN in a forecast (num_cutoffs, horizon) from one season earlier, two, … while the series lasts."""
    which, step = np.nonzero(np.isnan(forecast))
    at, back = rows[which, step], seasons[which, step]
    while len(which):
        at = at - back
        inside = at >= starts[which]
        which, step, at, back = which[inside], step[inside], at[inside], back[inside]
        forecast[which, step] = target[at]
        missing = np.isnan(target[at])
        which, step, at, back = which[missing], step[missing], at[missing], back[missing]
    which, step = np.nonzero(np.isnan(forecast))
    if len(which):
        last = np.maximum.accumulate(np.where(np.isnan(target), -1, np.arange(len(target))))[cutoffs[which]]
        forecast[which, step] = np.where(last >= starts[which], target[last], np.nan)


def seasonal_naive_error(target: Floats, starts: Ints, stops: Ints, *, season: int) -> Floats:
    """Mean absolute error of one-season-back forecasts within each series: the denominator of MASE.

    Args:
        target: all series behind each other, NaN where not observed, (num_rows,); starts ascend.
        starts: first row of each series, (num_series,).
        stops: row after the last training row of each series, (num_series,).
        season: steps of one season; series without two seasons use the step before instead.

    Returns:
        (num_series,), NaN for a series whose training rows never change, or have no two values that far apart.

    Source: Hyndman and Koehler 2006, "Another look at measures of forecast accuracy".
    """
    rows = stops - starts
    back = np.where(rows > season, season, 1)
    total, number = np.zeros(len(starts)), np.zeros(len(starts))
    for series in blocks(starts):
        for lag in np.unique(back[series]):
            chosen = np.arange(series.start, series.stop)[(back == lag)[series] & (rows > lag)[series]]
            if len(chosen):
                total[chosen], number[chosen] = _changes(target, starts[chosen], stops[chosen], int(lag))
    error = np.divide(total, number, out=np.full(len(starts), np.nan), where=number > 0)
    return np.where(error > 0, error, np.nan)


def _changes(target: Floats, starts: Ints, stops: Ints, lag: int) -> tuple[Floats, Floats]:
    """Sum and number of the absolute changes over `lag` steps in each series (num_series,)."""
    values = target[starts[0] : stops[-1]]
    changes = np.abs(values[lag:] - values[:-lag])
    firsts, counts = starts - starts[0], stops - starts - lag
    observed = ~np.isnan(changes)
    if observed.all():
        return sums(changes, firsts, counts), counts.astype(np.float64)
    return sums(np.where(observed, changes, 0.0), firsts, counts), sums(observed, firsts, counts)
