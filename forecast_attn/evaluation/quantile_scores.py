"""Quantile columns of a table of forecasts, and the errors of quantiles and intervals, row by row.

Sources: Koenker and Bassett 1978 (pinball loss); Gneiting and Raftery 2007, "Strictly proper scoring rules, prediction,
and estimation" (CRPS, interval score); Winkler 1972 (interval score).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SAME = 1e-9
"""Quantiles nearer than this are the same: 0.1 and 1 - 0.9 are not, to the last bit."""


class Interval(NamedTuple):
    """A symmetric pair of quantiles, and the share of values that should lie between them."""

    lower: float
    upper: float

    @property
    def nominal(self) -> float:
        return round(self.upper - self.lower, 9)


def quantile_columns(names: Iterable[object]) -> dict[str, float]:
    """The columns that hold quantiles, ascending by quantile: those whose name is a number between 0 and 1."""
    parsed = {name: _quantile(name) for name in names if isinstance(name, str)}
    quantiles = {name: quantile for name, quantile in parsed.items() if quantile is not None}
    return dict(sorted(quantiles.items(), key=lambda item: item[1]))


def _quantile(name: str) -> float | None:
    try:
        quantile = float(name)
    except ValueError:
        return None
    return quantile if 0 < quantile < 1 else None


def intervals(quantiles: Iterable[float]) -> tuple[Interval, ...]:
    """Every symmetric pair of these quantiles, the widest first."""
    ascending = sorted(quantiles)
    return tuple(
        Interval(lower, upper)
        for lower in ascending
        for upper in ascending
        if lower < upper and abs(lower + upper - 1) < _SAME
    )


def pinball(target: Floats, forecast: Floats, quantile: float | Floats) -> Floats:
    """The pinball loss of a forecast of one quantile, of any shape: smallest in the mean at that quantile.

    Args:
        target: broadcastable to `forecast`.
        forecast: (..., num_quantiles) where there are several quantiles.
        quantile: one, or (num_quantiles,).
    """
    error = target - forecast
    return np.maximum(quantile * error, (quantile - 1) * error)


def covered(target: Floats, lower: Floats, upper: Floats) -> Floats:
    """1 where the value lies in the interval, its ends included, else 0; NaN where anything is missing."""
    inside = ((target >= lower) & (target <= upper)).astype(np.float64)
    return np.where(np.isnan(target) | np.isnan(lower) | np.isnan(upper), np.nan, inside)


def winkler(target: Floats, lower: Floats, upper: Floats, nominal: float) -> Floats:
    """Interval score: the width, plus 2 / (1 - nominal) per unit that the value lies outside."""
    outside = np.maximum(lower - target, 0) + np.maximum(target - upper, 0)
    return (upper - lower) + 2 / (1 - nominal) * outside


def sample_crps(target: Floats, samples: Floats) -> Floats:
    """Continuous ranked probability score of the distribution of the samples, in the target's units.

    Args:
        target: (...,).
        samples: (..., num_samples).

    Source: Gneiting and Raftery 2007, equation 20, E|X - y| - E|X - X'| / 2; the second mean from the sorted samples.
    """
    number = samples.shape[-1]
    ascending = np.sort(samples, axis=-1)
    rank_weights = (2 * np.arange(1, number + 1) - number - 1) / number**2
    return np.asarray(np.abs(samples - target[..., None]).mean(axis=-1) - (ascending * rank_weights).sum(axis=-1))
