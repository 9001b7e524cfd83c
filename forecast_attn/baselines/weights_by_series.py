"""Weights of a combination by series, as far as their validation windows show that series differ.

How much smaller the error of a forecast is than that of the others differs from series to series, and from window to
window of one series. Only the first of these lasts. A one-way analysis of variance of the logarithms of the errors
tells both apart, where series have two windows or more without a common actual value: each series' mean is drawn
towards that of the table by the share of its variance that is noise (empirical Bayes), and weights fall with the square
of the errors that are left: of forecasts whose errors are independent, that is the mean with the smallest variance.
Where chance alone could make such differences, the table's weights stay.

Sources: Bates and Granger 1969, "The combination of forecasts"; Efron and Morris 1975, "Data analysis
using Stein's estimator and its generalizations"; Searle, Casella and McCulloch 1992, "Variance components" (unequal
numbers of windows).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.combination_weights import DIGITS
from forecast_attn.config.values import NETWORK

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

POWER = 2
"""Power of a series' relative error by which its weights fall."""
SIGNIFICANCE = 0.05
"""Probability of differences between series as large as these by chance, above which no series has weights."""
LEAST_ERROR = 0.01
"""Smallest error in a window, as a share of the mean of all forecasts there: a perfect one has no logarithm."""


def weights_by_series(
    weights: dict[str, float],
    forecasts: dict[str, Floats],
    actual: Floats,
    cutoffs: Ints,
    series: Ints,
) -> dict[int, dict[str, float]]:
    """Return the weights, by name, of the series whose windows justify others than the table's.

    Args:
        weights: of the table.
        forecasts: of the network and of each baseline, NaN where it has none, (num_windows, horizon).
        actual: NaN where not observed, (num_windows, horizon).
        cutoffs: rows of the last known values, (num_windows,).
        series: of each window, (num_windows,).
    """
    if len(weights) < 2:
        return {}
    network = forecasts[NETWORK]
    errors = [np.abs(np.where(np.isnan(forecasts[name]), network, forecasts[name]) - actual) for name in weights]
    blocks = _independent_errors(np.stack(errors, axis=-1), cutoffs, series)
    parts = np.array(list(weights.values()))
    relative = np.log(np.maximum(blocks.errors, LEAST_ERROR * blocks.errors.mean(axis=1, keepdims=True)))
    relative -= (relative @ parts / parts.sum())[:, None]
    lasting = _lasting_differences(relative, blocks.series, parts / parts.sum())
    return {each: _weights_of(weights, difference) for each, difference in lasting.items()}


class _Blocks(NamedTuple):
    """Windows of one series whose actual values overlap, taken together."""

    series: Ints
    """(num_blocks,)"""
    errors: Floats
    """Mean absolute errors, (num_blocks, num_forecasts)."""


def _independent_errors(errors: Floats, cutoffs: Ints, series: Ints) -> _Blocks:
    """Average errors (num_windows, horizon, num_forecasts) over blocks of a horizon, counted from the last window."""
    last = np.zeros(series.max(initial=0) + 1, np.int64)
    np.maximum.at(last, series, cutoffs)
    keys = np.stack([series, (last[series] - cutoffs) // errors.shape[1]])
    blocks, block = np.unique(keys, axis=1, return_inverse=True)
    block = block.ravel()
    observed = ~np.isnan(errors)
    total, count = np.zeros((blocks.shape[1], errors.shape[2])), np.zeros((blocks.shape[1], errors.shape[2]))
    np.add.at(total, block, np.where(observed, errors, 0).sum(axis=1))
    np.add.at(count, block, observed.sum(axis=1))
    usable = (count > 0).all(axis=1) & (total > 0).any(axis=1)
    return _Blocks(blocks[0, usable], total[usable] / count[usable])


def _lasting_differences(relative: Floats, series: Ints, parts: Floats) -> dict[int, Floats]:
    """Return what lasts of the difference of each series from the mean of all, for those of two blocks or more.

    Args:
        relative: logarithms of errors, (num_blocks, num_forecasts).
        series: of each block, (num_blocks,).
        parts: weights of the forecasts, which count by them, (num_forecasts,).
    """
    from scipy.special import fdtrc

    names, index, count = np.unique(series, return_inverse=True, return_counts=True)
    repeated = count >= 2
    kept = repeated[index]
    names, count, relative = names[repeated], count[repeated], relative[kept]
    index = (np.cumsum(repeated) - 1)[index[kept]]
    groups, total = len(names), int(count.sum())
    if groups < 2:
        return {}
    means = np.zeros((groups, relative.shape[1]))
    np.add.at(means, index, relative)
    means /= count[:, None]
    differences = means - relative.mean(axis=0)
    within = float((((relative - means[index]) ** 2) @ parts).sum()) / (total - groups)
    between = float(count @ (differences**2 @ parts)) / (groups - 1)
    if not between > within or fdtrc(groups - 1, total - groups, between / max(within, 1e-300)) > SIGNIFICANCE:
        return {}
    usual_count = (total - (count**2).sum() / total) / (groups - 1)
    lasting = (between - within) / usual_count  # the variance between series
    share = lasting / (lasting + within / count)
    return {int(name): part * each for name, part, each in zip(names, share, differences, strict=True)}


def _weights_of(weights: dict[str, float], difference: Floats) -> dict[str, float]:
    """The table's weights times the relative errors of a series to the power of -`POWER`; those that are not 0."""
    parts = np.array(list(weights.values())) * np.exp(-POWER * (difference - difference.min()))
    parts = np.round(parts / parts.sum(), DIGITS)
    parts[parts.argmax()] += 1 - parts.sum()
    return {name: round(float(part), DIGITS) for name, part in zip(weights, parts, strict=True) if part > 0}
