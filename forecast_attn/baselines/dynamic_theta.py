"""Dynamic optimised Theta: exponential smoothing plus a share of a trend that is learned anew at every step.

With Y the values so far, Ȳ their mean, and A + B t their least-squares line, all of the first t values:

    μ(t+1) = ℓ(t) + (1 - 1/θ) · [(1 - α)ᵗ A(t) + (1 - (1 - α)ᵗ⁺¹) / α · B(t)]
    ℓ(t+1) = α Y(t+1) + (1 - α) ℓ(t)

A forecast further ahead puts the one before it in the place of the value. θ = 1 is exponential smoothing alone; a
larger one takes more of the trend, and 2 is about the Theta method.

Source: Fiorucci, Pellegrini, Louzada, Petropoulos and Koehler 2016, "Models for optimising the theta method and their
relationship to state space models". α, θ and ℓ(0) are the best of a grid, by squared errors one step ahead from the
third value on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RATES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
"""α of the grid."""
THETAS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 8.0, 15.0, 30.0)
FIRST_LEVELS = (0.5, 0.75, 1.0)
"""ℓ(0), as shares of the first value."""
_RATE, _THETA, _FIRST = (grid.ravel() for grid in np.meshgrid(RATES, THETAS, FIRST_LEVELS, indexing="ij"))


def dynamic_theta(values: Floats, lengths: Ints, horizon: int) -> Floats:
    """Forecast with the best parameters of each series.

    Args:
        values: series from their first value on, behind which each is filled up, (num_series, longest).
        lengths: of each series, at least 1, (num_series,).
        horizon: steps to forecast.

    Returns:
        (num_series, horizon)
    """
    line = _LineSoFar(values[:, 0])
    level = _RATE * values[:, :1] + (1 - _RATE) * _FIRST * values[:, :1]
    squares = np.zeros_like(level)
    for count in range(1, values.shape[1]):
        inside, value = count < lengths, values[:, count]
        error = value[:, None] - _next(level, line, count, _RATE, _THETA)
        if count >= 2:
            squares += np.where(inside[:, None], error**2, 0)
        level = np.where(inside[:, None], _RATE * value[:, None] + (1 - _RATE) * level, level)
        line.add(value, count, inside)
    best = squares.argmin(axis=1)
    return _ahead(level[np.arange(len(best)), best][:, None], line, lengths, best, horizon)


def _ahead(level: Floats, line: _LineSoFar, lengths: Ints, best: Ints, horizon: int) -> Floats:
    """Forecast step by step, each step as if it had come; the level has one column."""
    rate, theta = _RATE[best][:, None], _THETA[best][:, None]
    everywhere, forecasts = np.ones(len(best), np.bool_), np.empty((len(best), horizon))
    for step in range(horizon):
        count = lengths + step
        expected = _next(level, line, count[:, None], rate, theta)
        forecasts[:, step] = expected[:, 0]
        level = rate * expected + (1 - rate) * level
        line.add(expected[:, 0], count, everywhere)
    return forecasts


def _next(level: Floats, line: _LineSoFar, count: Ints | int, rate: Floats, theta: Floats) -> Floats:
    """The forecast of the value after the first `count` ones."""
    kept = (1 - rate) ** count
    trend = kept * line.intercept[:, None] + (1 - (1 - rate) * kept) / rate * line.slope[:, None]
    return np.asarray(level + (1 - 1 / theta) * trend)


class _LineSoFar:
    """Intercept and slope of the least-squares line through the first values of each series, value by value."""

    def __init__(self, first: Floats) -> None:
        self.mean, self.intercept, self.slope = first.copy(), first.copy(), np.zeros(len(first))

    def add(self, value: Floats, count: Ints | int, inside: NDArray[np.bool_]) -> None:
        """Take in the value after the first `count` ones, of the series that are `inside`."""
        number = count + 1
        mean = self.mean + (value - self.mean) / number
        slope = ((number - 2) * self.slope + 6 / number * (value - self.mean)) / (number + 1)
        self.mean, self.slope = np.where(inside, mean, self.mean), np.where(inside, slope, self.slope)
        self.intercept = np.where(inside, mean - (number + 1) / 2 * slope, self.intercept)
