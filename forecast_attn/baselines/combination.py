"""Combines the network's forecast with those of baselines, in shares of their weights (one half each by default).

Sources: Bates and Granger 1969, "The combination of forecasts". Estimated weights rarely beat equal ones, which cost
nothing: Clemen 1989, "Combining forecasts: a review and annotated bibliography".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

COMBINATION = "combination"
"""The model's name in tables."""


def mean_of(forecasts: Sequence[Floats]) -> Floats:
    """Mean of forecasts of the same shape, ignoring NaN; NaN where all are."""
    stacked = np.stack(forecasts)
    known = ~np.isnan(stacked)
    number = known.sum(axis=0)
    total = np.where(known, stacked, 0).sum(axis=0)
    return np.asarray(np.divide(total, number, out=np.full(number.shape, np.nan), where=number > 0))


def combined(
    prediction: Floats,
    quantiles: dict[str, Floats],
    other: Floats,
    *,
    distances: dict[str, Floats] | None = None,
    share: Floats | float = 0.5,
    non_negative: bool = False,
) -> tuple[Floats, dict[str, Floats]]:
    """Weighted mean of two point forecasts, and the quantiles around it.

    The quantiles of the network move by as much as its point. Where baselines have quantiles too, the distances of each
    from the point are averaged with the same weight: of one such baseline, that is the mean of both forecasts, quantile
    by quantile.

    Args:
        prediction: of the network, of any shape.
        quantiles: of the network, of the same shape.
        other: of the baselines (`mean_of`), of the same shape; where it is NaN the network's forecast stands alone.
        distances: of the baselines' quantiles from their points (`mean_of`), by the names of `quantiles`; NaN where no
            baseline has any.
        share: the weight of `other`, broadcastable to it.
        non_negative: cut the results off at 0.
    """
    mean = np.where(np.isnan(other), prediction, (1 - share) * prediction + share * other)
    moved = {name: values + (mean - prediction) for name, values in quantiles.items()}
    for name, values in (distances or {}).items():
        distance = quantiles[name] - prediction
        moved[name] = np.where(np.isnan(values), moved[name], mean + (1 - share) * distance + share * values)
    if non_negative:
        mean, moved = np.maximum(mean, 0), {name: np.maximum(values, 0) for name, values in moved.items()}
    return mean, moved
