"""Numbers that describe attention weights: plain functions on arrays whose last axis is the lookback, oldest first.

Position p of a row of length n has lag n - 1 - p, so the last position is lag 0, the cut-off. Rows whose sum is not 1
(a local window) are scaled to 1 where a distribution is meant: entropy, effective steps, centroid, divergence.
Source: entropy, Shannon 1948; the rest is arithmetic.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.floating[Any]]
Floats = NDArray[np.floating[Any]]
Matrix = Floats

UNIFORM_DIVERGENCE = 1e-3  # nats: below, a row is called uniform
ONE_HOT_WEIGHT = 0.99  # above, a row is called one-hot
STATIC_DISTANCE = 1e-3  # total variation: below, two rows are called the same
ROW_SUM_ERROR = 1e-5  # float32 rounding of some thousand weights stays well below
HALF_ROW_SUM_ERROR = 2e-3  # of weights stored in float16


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


def top_lags(weights: Weights, count: int) -> NDArray[np.int64]:
    """(..., count) the lags with the largest weights, largest first; of equal ones the more recent first."""
    return np.argsort(-weights[..., ::-1], axis=-1, kind="stable")[..., :count]


def total_variation(weights: Weights, others: Weights) -> Floats:
    """(...) half the sum of absolute differences: 0 for equal rows, 1 for rows with nothing in common."""
    return np.asarray(np.abs(weights - others).sum(axis=-1, dtype=np.float64) / 2)


def jensen_shannon_distance(weights: Weights, others: Weights) -> Floats:
    """(...) how unlike two rows are: 0 for the same, 1 for nothing in common; NaN where a row is all zeros.

    The square root of the Jensen-Shannon divergence in bits of the rows scaled to 1, a metric (Endres and Schindelin
    2003).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = (rows / row_sums(rows)[..., None] for rows in (weights, others))
    middle = (first + second) / 2
    divergence = (_bits(middle) - (_bits(first) + _bits(second)) / 2) if first.size else np.zeros(first.shape[:-1])
    return np.sqrt(np.maximum(divergence, 0))


def _bits(rows: Floats) -> Floats:
    """(...) entropy of rows of sum 1, in bits."""
    return np.asarray(-(rows * np.log2(np.maximum(rows, np.finfo(np.float64).tiny))).sum(axis=-1))


# --------------------------------------------------------------------------- flags


def is_uniform(entropy: Floats, length: int | Floats) -> NDArray[np.bool_]:
    """(...) whether a row of this entropy says nothing: KL to uniform below 1e-3. One position is never uniform.

    Args:
        entropy: of the rows, in nats.
        length: how many positions may have weight, the same for all rows or of each.
    """
    return np.asarray((np.log(np.maximum(length, 1)) - entropy < UNIFORM_DIVERGENCE) & (np.asarray(length) > 1))
