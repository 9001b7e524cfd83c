"""Agreement of two rankings: plain functions on arrays, without scipy.

Sources: Kendall 1945 (tau-b, with ties), Spearman 1904.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Row = NDArray[np.floating[Any]]
Floats = NDArray[np.float64]


def ranks(row: Row) -> Floats:
    """(length,) ranks from 1, ties sharing their mean rank."""
    _, inverse, counts = np.unique(row, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], np.float64)


def spearman(row: Row, other: Row) -> float:
    """Correlation of the ranks; NaN where all values of a row are equal."""
    left, right = (each - each.mean() for each in (ranks(row), ranks(other)))
    norm = np.sqrt((left @ left) * (right @ right))
    return float(left @ right / norm) if norm > 0 else float("nan")


def order_signs(row: Row) -> NDArray[np.float32]:
    """(length, length) of which pair which is larger: the sign of every difference."""
    return np.sign(row[:, None] - row[None, :]).astype(np.float32)


def tau_of_signs(signs: NDArray[np.float32], others: NDArray[np.float32]) -> float:
    """Kendall's tau-b of two rows, from what `order_signs` gave; NaN where all values of a row are equal."""
    left, right = signs.ravel(), others.ravel()
    norm = np.sqrt(np.count_nonzero(left) * float(np.count_nonzero(right)))
    return float(left @ right) / norm if norm > 0 else float("nan")


def kendall(row: Row, other: Row) -> float:
    """Kendall's tau-b; NaN where all values of a row are equal."""
    return tau_of_signs(order_signs(row), order_signs(other))


def top(row: Row, count: int) -> NDArray[np.int64]:
    """(count,) places of the largest values; of equal ones the later, which is the more recent, first."""
    return len(row) - 1 - np.argsort(-row[::-1], kind="stable")[:count]


def top_overlap(row: Row, other: Row, count: int) -> float:
    """Share of the `count` largest places of one row that are among those of the other."""
    return len(np.intersect1d(top(row, count), top(other, count))) / count


def mean_of_defined(values: ArrayLike) -> Floats:
    """Mean over the first axis, leaving out what is NaN; NaN where nothing is defined."""
    given = np.asarray(values, np.float64)
    defined = ~np.isnan(given)
    total, count = np.where(defined, given, 0).sum(axis=0), defined.sum(axis=0)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan), np.float64)
