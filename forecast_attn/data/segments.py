"""Sums, extremes and quantiles of the rows of each series, for ten thousand series in a fraction of a second.

Series i owns the rows firsts[i] : firsts[i] + counts[i] of an array (num_rows, num_columns); firsts ascend. NaN is no
value.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROWS_AT_ONCE = 1 << 18
"""Rows worked on together: what is in between stays small beside the table."""


def blocks(firsts: Ints) -> Iterator[slice]:
    """Neighbouring series that together have about ROWS_AT_ONCE rows, or one longer series."""
    edges = np.flatnonzero(np.diff(firsts // ROWS_AT_ONCE, prepend=-1, append=-1))
    for first, stop in itertools.pairwise(edges):
        yield slice(int(first), int(stop))


def sums(values: NDArray[np.float64 | np.bool_], firsts: Ints, counts: Ints) -> Floats:
    """Sum of each series' rows (num_series, num_columns), to the bit what `values[first:stop].sum(axis=0)` gives."""
    result = np.empty((len(firsts), *values.shape[1:]))
    add = np.add.reduce  # the method's own way round costs three times as much as the addition
    done = 0
    if _are_evenly_spaced(firsts, counts):  # as in a wide table: all but the last one in one call
        done, span = len(firsts) - 1, int(firsts[1] - firsts[0])
        each = values[firsts[0] : firsts[-1]].reshape(done, span, *values.shape[1:])[:, : counts[0]]
        result[:done] = add(each, axis=1)
    for index, (first, stop) in enumerate(zip(firsts[done:].tolist(), (firsts + counts)[done:].tolist(), strict=True)):
        result[done + index] = add(values[first:stop], axis=0)
    return result


def _are_evenly_spaced(firsts: Ints, counts: Ints) -> bool:
    """Return whether several series have equally many rows, at equal distances."""
    if len(firsts) < 2 or (counts != counts[0]).any():
        return False
    spans = np.diff(firsts)
    return bool((spans == spans[0]).all() and spans[0] >= max(counts[0], 1))


def extremes(values: Floats, firsts: Ints, counts: Ints) -> tuple[Floats, Floats]:
    """Lowest and highest value of each series (num_series, num_columns), NaN where it has none."""
    lowest, highest = np.full((2, len(firsts), *values.shape[1:]), np.nan)
    some = counts > 0
    if some.any():
        edges = np.stack([firsts[some], (firsts + counts)[some]], axis=1).ravel()
        edges = edges[:-1] if edges[-1] == len(values) else edges
        lowest[some] = np.fmin.reduceat(values, edges, axis=0)[::2]
        highest[some] = np.fmax.reduceat(values, edges, axis=0)[::2]
    return lowest, highest


def sort_each(values: Floats, firsts: Ints, counts: Ints) -> Floats:
    """A copy (num_rows, num_columns) with every column of every series ascending, NaN last."""
    columns = np.array(values.T, order="C")  # a column's rows side by side sort ten times faster
    for first, stop in zip(firsts.tolist(), (firsts + counts).tolist(), strict=True):
        columns[..., first:stop].sort(axis=-1)
    return columns.T


def quantile(ascending: Floats, firsts: Ints, observed: Ints, share: float) -> Floats:
    """The quantile of the first observed[i] rows of each series, with linear interpolation.

    Args:
        ascending: sorted by `sort_each`, (num_rows, num_columns).
        firsts: first row of each series, (num_series,).
        observed: values that each series' column has, (num_series, num_columns).
        share: between 0 and 1.

    Returns:
        (num_series, num_columns), NaN where a column has no value.
    """
    if not len(ascending):
        return np.full(observed.shape, np.nan)
    position = share * np.maximum(observed - 1, 0)
    lower = np.floor(position).astype(np.int64)
    upper = np.minimum(lower + 1, np.maximum(observed - 1, 0))
    columns = np.arange(ascending.shape[1])
    low, high = (
        ascending[np.minimum(firsts[:, None] + index, len(ascending) - 1), columns] for index in (lower, upper)
    )
    return np.where(observed > 0, low + (high - low) * (position - lower), np.nan)
