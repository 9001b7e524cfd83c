"""Numbers that describe attention weights: plain functions on arrays whose last axis is the lookback, oldest first.

Position p of a row of length n has lag n - 1 - p, so the last position is lag 0, the cut-off. Rows whose sum is not 1
(a local window) are scaled to 1 where a distribution is meant: entropy, effective steps, centroid, divergence.
Sources: entropy, Shannon 1948; coverage, Tu et al. 2016 and See et al. 2017; the rest is arithmetic.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.floating[Any]]
Floats = NDArray[np.floating[Any]]

UNIFORM_DIVERGENCE = 1e-3  # nats: below, a row is called uniform
ONE_HOT_WEIGHT = 0.99  # above, a row is called one-hot
STATIC_DISTANCE = 1e-3  # total variation: below, two rows are called the same
ROW_SUM_ERROR = 1e-5  # float32 rounding of some thousand weights stays well below


def lags_of(length: int) -> NDArray[np.int64]:
    """The lag of each position: length - 1, …, 1, 0."""
    return np.arange(length)[::-1]


def row_sums(weights: Weights) -> Floats:
    """(...) what each row adds up to, added in float64."""
    return np.asarray(weights.sum(axis=-1, dtype=np.float64))


def entropy(weights: Weights) -> Floats:
    """(...) -Σ p ln p in nats, 0 for one-hot and ln(key_len) for uniform rows; NaN for a row of zeros.

    With p = w / s it is ln s - (Σ w ln w) / s, which needs no scaled copy of the weights.
    """
    sums = row_sums(weights)
    inner = (weights * np.log(np.maximum(weights, np.finfo(weights.dtype).tiny))).sum(axis=-1, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.maximum(np.log(sums) - inner / sums, 0.0))


def normalised_entropy(weights: Weights) -> Floats:
    """(...) entropy as a share of the uniform row's; 0 where there is a single position."""
    return np.asarray(entropy(weights) / max(np.log(weights.shape[-1]), np.finfo(float).tiny))


def effective_steps(weights: Weights) -> Floats:
    """(...) exp(entropy): over how many equally weighted positions the row would be as spread out as it is."""
    return np.exp(entropy(weights))


def kl_to_uniform(weights: Weights) -> Floats:
    """(...) KL(row ‖ uniform) = ln(key_len) - entropy, in nats."""
    return np.asarray(np.log(weights.shape[-1]) - entropy(weights))


def max_weight(weights: Weights) -> Floats:
    """(...) the largest weight of each row."""
    return np.asarray(weights.max(axis=-1))


def argmax_lag(weights: Weights) -> NDArray[np.int64]:
    """(...) the lag with the largest weight; of equal ones the most recent."""
    return np.asarray(weights[..., ::-1].argmax(axis=-1))


def centroid_lag(weights: Weights) -> Floats:
    """(...) the weighted mean of the lags: how far back the row looks on average; NaN for a row of zeros."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (weights @ lags_of(weights.shape[-1]).astype(weights.dtype)) / row_sums(weights)


def seasonal_positions(season: int, length: int, *, step: int = 0, tolerance: int = 1) -> NDArray[np.bool_]:
    """(length,) which positions lie whole seasons (± tolerance) back, counted from the cut-off or from a step ahead.

    Args:
        season: time steps in a season; below 2 there are no seasonal positions.
        length: of the lookback.
        step: 0 counts from the cut-off (lags m, 2m, …); s counts from the target s steps ahead (lags m - s, 2m - s, …).
        tolerance: how many steps beside a whole season still count.
    """
    distance = lags_of(length) + step
    if season < 2:
        return np.zeros(length, bool)
    beside = np.minimum(distance % season, -distance % season)
    return (beside <= tolerance) & (distance >= season - tolerance)


def seasonal_mass(weights: Weights, season: int, *, step: int = 0, tolerance: int = 1) -> Floats:
    """(...) the weight on the positions of `seasonal_positions`."""
    chosen = seasonal_positions(season, weights.shape[-1], step=step, tolerance=tolerance)
    return weights @ chosen.astype(weights.dtype)


def profile(weights: Weights) -> Floats:
    """(key_len,) mean weight of each position over all other axes."""
    return np.asarray(weights.mean(axis=tuple(range(weights.ndim - 1)), dtype=np.float64))


def top_lags(weights: Weights, count: int) -> NDArray[np.int64]:
    """(..., count) the lags with the largest weights, largest first; of equal ones the more recent first."""
    return np.argsort(-weights[..., ::-1], axis=-1, kind="stable")[..., :count]


def coverage(weights: Weights) -> Floats:
    """(..., key_len) how much attention each position gets from all steps together; the steps are axis -2."""
    return np.asarray(weights.sum(axis=-2, dtype=np.float64))


def total_variation(weights: Weights, others: Weights) -> Floats:
    """(...) half the sum of absolute differences: 0 for equal rows, 1 for rows with nothing in common."""
    return np.asarray(np.abs(weights - others).sum(axis=-1, dtype=np.float64) / 2)


# --------------------------------------------------------------------------- flags


def is_uniform(weights: Weights) -> NDArray[np.bool_]:
    """(...) whether a row says nothing: KL to uniform below 1e-3. A single position is never called uniform."""
    return np.asarray((kl_to_uniform(weights) < UNIFORM_DIVERGENCE) & (weights.shape[-1] > 1))


def is_one_hot(weights: Weights) -> NDArray[np.bool_]:
    """(...) whether a row of more than one position puts over 99 % of its weight on one of them."""
    return np.asarray((max_weight(weights) > ONE_HOT_WEIGHT * row_sums(weights)) & (weights.shape[-1] > 1))


def is_static(weights: Weights, axis: int) -> bool:
    """Whether the rows are the same all along an axis (windows, or steps) that has more than one entry."""
    first = np.take(weights, [0], axis=axis)
    return weights.shape[axis] > 1 and bool((total_variation(weights, first) < STATIC_DISTANCE).all())


def has_wrong_sum(weights: Weights, *, may_be_less: bool = False) -> NDArray[np.bool_]:
    """(...) whether a row does not add up to 1 (to more than 1, where less is allowed), or is not finite."""
    excess = row_sums(weights) - 1
    right = (excess <= ROW_SUM_ERROR) & (may_be_less | (excess >= -ROW_SUM_ERROR))
    return np.asarray(~right | (weights.min(axis=-1) < 0))


def attends_to_padding(weights: Weights, valid: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(...) whether any weight at all falls on positions that are not valid; `valid` broadcasts over the rows."""
    return np.asarray((np.where(valid, 0, weights) != 0).any(axis=-1))
