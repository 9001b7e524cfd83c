"""Formulas for one series at a time that need no training: Naive2, Theta, a damped trend, and an autoregression.

All first take the season out and put it back at the end (`deseasonalising`). Naive2 then repeats the last value. Theta
is the mean of the line through all values and of the exponentially smoothed values with twice their distance from it;
the dynamic one is in `dynamic_theta`. The damped trend smooths level and slope and lets the slope fade; so do those of
temporal aggregates, in `temporal_aggregation`. The autoregression is in `autoregression`.

Sources: Makridakis and Hibon 2000, "The M3-Competition" (Naive2); Assimakopoulos and Nikolopoulos 2000, "The theta
model"; Hyndman and Billah 2003, "Unmasking the Theta method"; Gardner and McKenzie 1985,
"Forecasting trends in time series" (damped trend). Parameters are the best of a grid, by squared errors one step ahead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.autoregression import autoregression
from forecast_attn.baselines.deseasonalising import classical, shrunken
from forecast_attn.baselines.dynamic_theta import dynamic_theta
from forecast_attn.baselines.naive import without_holes
from forecast_attn.baselines.temporal_aggregation import temporal_aggregation
from forecast_attn.data.gross_errors import gross_errors

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEASONS, FEWEST_ROWS = 20, 200
"""Rows of a series that are read: this many seasons, but at least this many rows. Naive2 reads all."""
LEVEL_RATES = np.linspace(0.05, 0.99, 20)
"""Rates of exponential smoothing in the grid."""
TREND_GRID = tuple(
    grid.ravel()
    for grid in np.meshgrid((0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99), (0.01, 0.1, 0.3, 0.5), (0.8, 0.9, 0.95, 0.98))
)
"""Rate of the level; rate of the slope, as a share of it; what is left of the slope after a step."""
TREND_BEGINS = 6
"""First values whose line begins the slope."""
AS_IN_THE_COMPETITIONS = ("naive2", "theta")
"""Formulas whose season is taken out as M3 and M4 did, so that they give the published errors."""
_AT_ONCE = 256


def rows_needed(season: int) -> int:
    """Return the number of rows up to a cut-off that these formulas read."""
    return max(SEASONS * season, FEWEST_ROWS)


def formula_forecasts(name: str, target: Floats, starts: Ints, cutoffs: Ints, *, season: int, horizon: int) -> Floats:
    """Forecast with one of the registry's `FORMULAS`.

    Args:
        name: of the formula.
        target: all series behind each other, NaN where not observed, (num_rows,).
        starts: first row of the series of each cut-off, (num_cutoffs,).
        cutoffs: rows of the last known values, (num_cutoffs,).
        season: steps of one season.
        horizon: steps to forecast.

    Returns:
        (num_cutoffs, horizon). Missing values and gross errors repeat the value before; NaN where nothing was observed
        up to the cut-off.
    """
    reach = len(target) if name == "naive2" else rows_needed(season)  # which costs one pass over its values
    forecasts = np.full((len(cutoffs), horizon), np.nan)
    for first in range(0, len(cutoffs), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        pieces = [
            without_holes(_usual(target[max(start, cutoff + 1 - reach) : cutoff + 1]))
            for start, cutoff in zip(starts[some], cutoffs[some], strict=True)
        ]
        seen = np.flatnonzero([len(values) > 0 for values in pieces])
        if len(seen):
            known = [pieces[at] for at in seen]
            forecasts[first + seen] = _forecast(name, known, season, horizon)
    return forecasts


def _usual(values: Floats) -> Floats:
    errors = gross_errors(values)
    return np.where(errors, np.nan, values) if errors.any() else values


def _forecast(name: str, series: list[Floats], season: int, horizon: int) -> Floats:
    season_of = classical if name in AS_IN_THE_COMPETITIONS else shrunken
    seasonals = [season_of(values, season) for values in series]
    adjusted = [seasonal.removed(values) for seasonal, values in zip(seasonals, series, strict=True)]
    plain = _FORMULAS[name](adjusted, season, horizon)
    rows = zip(seasonals, plain, series, strict=True)
    return np.stack([seasonal.restored(forecast, len(values)) for seasonal, forecast, values in rows])


# --------------------------------------------------------------------------- what is left


def _theta(series: list[Floats], horizon: int) -> Floats:
    lines = [_line(values) for values in series]
    bent = [2 * values - (a + b * np.arange(len(values))) for values, (a, b) in zip(series, lines, strict=True)]
    level = _smoothed(bent)
    steps = np.arange(horizon)
    ahead = np.stack([a + b * (len(values) + steps) for values, (a, b) in zip(series, lines, strict=True)])
    return (ahead + level[:, None]) / 2


def _line(values: Floats) -> tuple[float, float]:
    """Value at the first step and slope of the least-squares line."""
    if len(values) == 1:
        return float(values[0]), 0.0
    steps = np.arange(len(values)) - (len(values) - 1) / 2
    slope = float(steps @ values / (steps @ steps))
    return float(values.mean() - slope * (len(values) - 1) / 2), slope


def _smoothed(series: list[Floats]) -> Floats:
    """The last level of exponential smoothing from the first value on, with the best rate of each series."""
    values, lengths = _stacked(series)
    level = np.zeros((len(series), len(LEVEL_RATES)))
    squares = np.zeros_like(level)
    for step, column in enumerate(values.T):
        error = np.where((step < lengths)[:, None], column[:, None] - level, 0)
        if step:
            squares += error**2
        level += (LEVEL_RATES if step else 1.0) * error
    return np.asarray(level[np.arange(len(series)), squares.argmin(axis=1)])


def _damped_trend(series: list[Floats], horizon: int) -> Floats:
    values, lengths = _stacked(series)
    rate, share, kept = TREND_GRID
    first_slopes = [_line(each[:TREND_BEGINS])[1] for each in series]
    level = np.repeat(values[:, :1], len(rate), axis=1)
    slope = np.repeat(np.array(first_slopes)[:, None], len(rate), axis=1)
    squares = np.zeros_like(level)
    for step in range(1, values.shape[1]):
        inside = (step < lengths)[:, None]
        expected = level + kept * slope
        error = values[:, step : step + 1] - expected
        squares += np.where(inside, error**2, 0)
        level = np.where(inside, expected + rate * error, level)
        slope = np.where(inside, kept * slope + rate * share * error, slope)
    best = squares.argmin(axis=1)
    rows = np.arange(len(series))
    faded = np.cumsum(kept[best][:, None] ** np.arange(1, horizon + 1), axis=1)
    return np.asarray(level[rows, best][:, None] + slope[rows, best][:, None] * faded)


def _stacked(series: list[Floats]) -> tuple[Floats, Ints]:
    """Series of unequal lengths side by side (num_series, longest), and their lengths."""
    lengths = np.array([len(values) for values in series])
    stacked = np.zeros((len(series), lengths.max()))
    for row, values in zip(stacked, series, strict=True):
        row[: len(values)] = values
    return stacked, lengths


_FORMULAS: dict[str, Callable[[list[Floats], int, int], Floats]] = {
    "naive2": lambda series, _, horizon: np.repeat([[values[-1]] for values in series], horizon, axis=1),
    "theta": lambda series, _, horizon: _theta(series, horizon),
    "dynamic-theta": lambda series, _, horizon: dynamic_theta(*_stacked(series), horizon),
    "damped-trend": lambda series, _, horizon: _damped_trend(series, horizon),
    "autoregression": lambda series, _, horizon: autoregression(*_stacked(series), horizon),
    "temporal-aggregation": lambda series, season, horizon: temporal_aggregation(
        series, season, horizon, _damped_trend
    ),
}
"""By series without their season, the steps of a season, and the horizon."""
