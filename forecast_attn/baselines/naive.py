"""Forecasts that need no training, to be shown beside every result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.row_storage import row_blocks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
RECENT = 1_000
"""Steps that `recent_mean` and `recent_median` look back at most: enough for a constant, at a bounded cost."""
CUTOFFS_AT_ONCE = 1_000


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


def naive(target: Floats, starts: Ints, cutoffs: Ints, *, horizon: int) -> Floats:
    """Repeat the last observed value (num_cutoffs, horizon); arguments as for `seasonal_naive`."""
    return np.repeat(_value_at(target, starts, _last_observed(target, cutoffs))[:, None], horizon, axis=1)


def drift(target: Floats, starts: Ints, cutoffs: Ints, *, horizon: int) -> Floats:
    """Continue the line from the first observed value of the series to the last one (num_cutoffs, horizon).

    Arguments as for `seasonal_naive`; a series with one observed value repeats it.

    Source: Hyndman and Athanasopoulos, "Forecasting: principles and practice", section 5.2.
    """
    first, last = _first_observed(target, starts), _last_observed(target, cutoffs)
    last_value = _value_at(target, starts, last)
    rise = np.where(last > first, last_value - _value_at(target, starts, first), 0.0)
    slope = rise / np.maximum(last - first, 1)
    return np.asarray(last_value[:, None] + slope[:, None] * np.arange(1, horizon + 1))


def recent_mean(target: Floats, starts: Ints, cutoffs: Ints, *, horizon: int) -> Floats:
    """Repeat the mean of the last `RECENT` steps of the series (num_cutoffs, horizon); see `seasonal_naive`."""
    return _repeated(_mean_of_rows, target, starts, cutoffs, horizon)


def recent_median(target: Floats, starts: Ints, cutoffs: Ints, *, horizon: int) -> Floats:
    """Repeat their median, which no constant beats in MAE on noise (num_cutoffs, horizon); see `recent_mean`."""
    return _repeated(_median_of_rows, target, starts, cutoffs, horizon)


def _repeated(
    statistic: Callable[[Floats], Floats], target: Floats, starts: Ints, cutoffs: Ints, horizon: int
) -> Floats:
    """A statistic of the last steps before each cut-off; few cut-offs at a time, so that their windows stay small."""
    length = int(min(RECENT, (cutoffs - starts + 1).max(initial=1)))
    forecast = np.empty(len(cutoffs))
    for first in range(0, len(cutoffs), CUTOFFS_AT_ONCE):
        part = slice(first, first + CUTOFFS_AT_ONCE)
        rows = cutoffs[part, None] - np.arange(length)
        forecast[part] = statistic(_value_at(target, starts[part, None], rows))
    return np.repeat(forecast[:, None], horizon, axis=1)


def _mean_of_rows(values: Floats) -> Floats:
    """(num_rows,) of what was observed; NaN where nothing was."""
    observed = ~np.isnan(values)
    total, count = np.where(observed, values, 0.0).sum(axis=1), observed.sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _median_of_rows(values: Floats) -> Floats:
    """(num_rows,) of what was observed; NaN where nothing was."""
    count = values.shape[1] - np.isnan(values).sum(axis=1)
    if (count == values.shape[1]).all():
        return np.asarray(np.median(values, axis=1), np.float64)
    ascending, each = np.sort(values, axis=1), np.arange(len(values))  # NaN comes last
    lower, upper = (ascending[each, np.maximum(at, 0)] for at in ((count - 1) // 2, count // 2))
    return np.where(count > 0, (lower + upper) / 2, np.nan)


def _last_observed(target: Floats, cutoffs: Ints) -> Ints:
    """Row of the last value of any series up to each cut-off, -1 without one (num_cutoffs,)."""
    if not np.isnan(target[cutoffs]).any():
        return cutoffs
    last, before = np.empty_like(cutoffs), -1
    for rows in row_blocks(len(target)):
        observed = np.where(np.isnan(target[rows]), -1, np.arange(rows.start, rows.stop))
        latest = np.maximum.accumulate(np.maximum(observed, before))
        here = (cutoffs >= rows.start) & (cutoffs < rows.stop)
        last[here], before = latest[cutoffs[here] - rows.start], latest[-1]
    return last


def without_holes(values: Floats) -> Floats:
    """Return a series from its first observed value on, missing values filled forward (at most num_rows,).

    Args:
        values: NaN where not observed, (num_rows,).
    """
    latest = np.maximum.accumulate(np.where(np.isnan(values), -1, np.arange(len(values))))
    return values[latest[latest >= 0]]


def _first_observed(target: Floats, starts: Ints) -> Ints:
    """Row of the first value from each start on, the number of rows where there is none (num_cutoffs,)."""
    if not np.isnan(target[starts]).any():
        return starts
    end = len(target) - 1  # the first from the left is the last of the reversed rows
    return end - _last_observed(target[::-1], end - starts)


def _value_at(target: Floats, starts: Ints, rows: Ints) -> Floats:
    """The values at these rows; NaN where a row lies before its series, or behind all of them."""
    inside = (rows >= starts) & (rows < len(target))
    return np.where(inside, target[np.where(inside, rows, 0)], np.nan)


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
        forecast[which, step] = _value_at(target, starts[which], _last_observed(target, cutoffs[which]))
