"""Forecasts that need no training, to be shown beside every result."""

import numpy as np
from numpy.typing import NDArray


def seasonal_naive(
    target: NDArray[np.float64],
    starts: NDArray[np.int64],
    cutoffs: NDArray[np.int64],
    *,
    season: int,
    horizon: int,
) -> NDArray[np.float64]:
    """Repeat the last season before each cut-off.

    Args:
        target: all series behind each other, (num_rows,).
        starts: first row of the series of each cut-off, (num_cutoffs,).
        cutoffs: rows of the last known values, (num_cutoffs,).
        season: steps of one season.
        horizon: steps to forecast.

    Returns:
        (num_cutoffs, horizon). A series with less than one season before its cut-off repeats its last value.
    """
    steps = np.arange(1, horizon + 1)
    seasons = np.where(cutoffs - starts + 1 >= season, season, 1)[:, None]
    rows = cutoffs[:, None] + steps - seasons * np.ceil(steps / seasons).astype(np.int64)
    forecast: NDArray[np.float64] = target[rows]
    return forecast


def seasonal_naive_error(
    target: NDArray[np.float64], starts: NDArray[np.int64], stops: NDArray[np.int64], *, season: int
) -> NDArray[np.float64]:
    """Mean absolute error of one-season-back forecasts within each series: the denominator of MASE.

    Args:
        target: all series behind each other, (num_rows,).
        starts: first row of each series, (num_series,).
        stops: row after the last training row of each series, (num_series,).
        season: steps of one season; series without two seasons use the step before instead.

    Returns:
        (num_series,), NaN for a series whose training rows never change or are fewer than two.

    Source: Hyndman and Koehler 2006, "Another look at measures of forecast accuracy".
    """
    errors = np.full(len(starts), np.nan)
    for index, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        values = target[start:stop]
        back = season if len(values) > season else 1
        if len(values) > back:
            error = float(np.abs(values[back:] - values[:-back]).mean())
            errors[index] = error if error > 0 else np.nan
    return errors
