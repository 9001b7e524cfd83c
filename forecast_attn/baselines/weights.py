"""Weights of a network and some baselines in one forecast, chosen on validation windows.

Weights that are estimated freely hardly ever beat equal ones (Clemen 1989, "Combining forecasts: a review and annotated
bibliography"), so there are few to choose from: quarters that sum to 1. The network stands alone unless others bring
more than chance would.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.values import NETWORK

Floats = NDArray[np.float64]

PARTS = 4
"""Weights are multiples of one over this."""
LEAST_GAIN = 0.005
"""Share of the network's error that a combination must save."""
MOST_UNKNOWN = 0.2
"""Share of windows without a forecast above which a baseline is no candidate."""


def scaled_error(actual: Floats, forecast: Floats, scale: Floats) -> float:
    """Mean absolute error in units of each window's scale.

    Args:
        actual: NaN where not observed, (num_windows, horizon).
        forecast: the same shape.
        scale: of each window, (num_windows,); windows without one (NaN) are left out, unless none has one.
    """
    usable = scale > 0
    weight = np.where(usable, 1 / np.where(usable, scale, 1), 0.0) if usable.any() else np.ones(len(scale))
    observed = ~np.isnan(actual)
    error = np.where(observed, np.abs(forecast - actual), 0) * weight[:, None]
    return float(error.sum() / max((observed & (weight > 0)[:, None]).sum(), 1))


def choose_weights(forecasts: dict[str, Floats], actual: Floats, scale: Floats) -> dict[str, float]:
    """The weights with the smallest `scaled_error`, those that are not 0.

    Args:
        forecasts: of the network, which is always known, and of each baseline, NaN where it has none,
            (num_windows, horizon).
        actual: what came, (num_windows, horizon).
        scale: of each window, (num_windows,).
    """
    network = forecasts[NETWORK]
    known = {name: ~np.isnan(values) for name, values in forecasts.items()}
    names = [NETWORK, *(name for name in forecasts if name != NETWORK and (~known[name]).mean() <= MOST_UNKNOWN)]
    stacked = np.stack([np.where(known[name], forecasts[name], network) for name in names])
    best, smallest = (PARTS, *(0 for _ in names[1:])), scaled_error(actual, network, scale)
    smallest *= 1 - LEAST_GAIN
    for parts in _partitions(PARTS, len(names)):
        error = scaled_error(actual, np.tensordot(np.array(parts) / PARTS, stacked, axes=1), scale)
        if error < smallest:
            best, smallest = parts, error
    return {name: part / PARTS for name, part in zip(names, best, strict=True) if part}


def _partitions(total: int, number: int) -> Iterator[tuple[int, ...]]:
    """Every way to write `total` as a sum of so many whole numbers from 0 on, in order."""
    for bars in itertools.combinations(range(total + number - 1), number - 1):
        edges = (-1, *bars, total + number - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(edges))


def weighted_mean(forecasts: dict[str, Floats], weights: dict[str, float]) -> Floats:
    """The weighted mean of those forecasts that are known, by step; NaN where none is.

    Args:
        forecasts: of every name with a weight, all of one shape.
        weights: above 0.
    """
    stacked = np.stack([forecasts[name] for name in weights])
    known = ~np.isnan(stacked)
    parts = np.array(list(weights.values()))
    total = np.tensordot(parts, np.where(known, stacked, 0), axes=1)
    weight = np.tensordot(parts, known.astype(np.float64), axes=1)
    return np.asarray(np.divide(total, weight, out=np.full(weight.shape, np.nan), where=weight > 0))


def others_and_share(
    forecasts: dict[str, Floats], weights: dict[str, float], shape: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """The weighted mean of the baselines' forecasts, and their weight beside the network's, by step.

    Where a baseline has no forecast, the others and the network share its weight.

    Args:
        forecasts: of each baseline with a weight, NaN where it has none.
        weights: of the network, where it has one, and of each of them.
        shape: of the forecasts.
    """
    known = np.zeros(shape)
    for name, each in forecasts.items():
        known += weights[name] * ~np.isnan(each)
    total = known + weights.get(NETWORK, 0.0)
    share = np.divide(known, total, out=np.zeros(shape), where=total > 0)
    if not forecasts:
        return np.full(shape, np.nan), share
    return weighted_mean(forecasts, {name: weights[name] for name in forecasts}), share
