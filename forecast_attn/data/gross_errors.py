"""Gross errors: a few targets so far from all others of their series that they would make up its scale alone.

No scale holds both: that of a series is the scale of its other values, and windows with a gross error are left out of
training and validation. Nothing is replaced: forecasts read what the table holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.data.scale_fitting import NORMAL_IQR, Rows, moments
from forecast_attn.data.segments import blocks, extremes, sums

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

FAR = 1_000
"""Robust deviations from the median. The highest price of the French market in six years is 107 of them away."""
APART = 10
"""A gross error is this many times as far from the median as any other value: growth and heavy tails have no such
gap."""
FEWEST, MOST = 30, 3
"""Values of a series below which none is usual; and gross errors it may have: more of them are part of it."""
_SHARE = 0.8
"""Of the variance, that a few gross errors make up at least."""


def gross_errors(values: Floats) -> Mask:
    """Mark the gross errors among the values of a series (num_rows,); NaN is no value."""
    known = values[~np.isnan(values)]
    none = np.zeros(len(values), np.bool_)
    if len(known) < FEWEST or not _few_are_all(len(known), known.mean(), known.var(), known.min(), known.max()):
        return none
    low, middle, high = np.quantile(known, (0.25, 0.5, 0.75))
    farthest = np.sort(np.abs(known - middle))[-MOST - 1 :]
    far = farthest[1:] > np.maximum(APART * farthest[:-1], FAR * (high - low) / NORMAL_IQR)
    # A demand that is mostly zero has no spread to measure by.
    return np.abs(values - middle) >= farthest[1 + far.argmax()] if far.any() and low < high else none


def _few_are_all(number: Any, mean: Any, variance: Any, low: Any, high: Any) -> Any:
    """Tell from moments and extremes of some values whether a few may make up their variance, without sorting them."""
    farthest = np.fmax(high - mean, mean - low)
    return (number >= FEWEST) & (MOST * farthest * farthest >= _SHARE * number * variance)


def gross_error_rows(rows: Rows) -> Ints:
    """Indices of the gross errors among the first rows of each series, ascending; `rows` have one column."""
    indices = [np.zeros(0, np.int64)]
    for series in blocks(rows.firsts):
        part = rows.block(series)
        for first, count in zip(*(each[_suspects(part)] for each in (part.firsts, part.counts)), strict=True):
            errors = np.flatnonzero(gross_errors(part.values[first : first + count, 0]))
            indices.append(rows.firsts[series.start] + first + errors)
    return np.concatenate(indices)


def _suspects(rows: Rows) -> Mask:
    mean, deviation, low, high = moments(rows)
    number = sums(~np.isnan(rows.values), rows.firsts, rows.counts)
    return np.asarray(_few_are_all(number, mean, deviation * deviation, low, high)[:, 0])


def without_gross_errors(rows: Rows, counts: Ints | None = None) -> Rows:
    """Put NaN in place of gross errors.

    Args:
        rows: of one column.
        counts: ascending numbers of first rows, where a value may be judged by the first of these that holds it alone,
            as a training window may know no later row; all rows judge it when None.

    Returns:
        The same rows where there are none.
    """
    indices = gross_error_rows(rows) if counts is None else _errors_so_far(rows, counts)
    if not len(indices):
        return rows
    values = rows.values.copy()
    values[indices] = np.nan
    return rows._replace(values=values)


def _errors_so_far(rows: Rows, counts: Ints) -> Ints:
    """Indices of the values that are gross errors among the rows up to the first of these counts that holds them."""
    counts = counts[counts >= FEWEST]
    if not len(counts):
        return np.zeros(0, np.int64)
    firsts, values = rows.firsts, rows.values.copy()
    stops = firsts + np.minimum(counts[0], rows.counts)
    errors_by_count = [gross_error_rows(rows._replace(counts=stops - firsts))]
    values[errors_by_count[0]] = np.nan
    low, high = extremes(values, firsts, stops - firsts)
    for count in counts[1:]:
        befores, stops = stops, firsts + np.minimum(count, rows.counts)
        for series in np.flatnonzero(_outside(low, high, *extremes(values, befores, stops - befores))):
            first, before, stop = firsts[series], befores[series], stops[series]
            errors = before + np.flatnonzero(gross_errors(values[first:stop, 0])[before - first :])
            values[errors] = np.nan
            errors_by_count.append(errors)
        lowest, highest = extremes(values, befores, stops - befores)
        low, high = np.fmin(low, lowest), np.fmax(high, highest)
    return np.concatenate(errors_by_count)


def _outside(low: Floats, high: Floats, lowest: Floats, highest: Floats) -> Mask:
    """Mask of the series with later values as far outside the range so far as only gross errors are (num_series, 1)."""
    margin = (APART / 2 - 1) * (high - low)
    return np.asarray((high > low) & ((lowest < low - margin) | (highest > high + margin)))[:, 0]


def windows_without_gross_errors(
    panel: Panel, cutoffs: NDArray[Any], rows: Ints, lookback: int, horizon: int
) -> NDArray[Any]:
    """The cut-offs whose windows have no gross error; all of them where each has one.

    Args:
        panel: the table.
        cutoffs: rows, ascending.
        rows: how many of each series' first rows gross errors are searched in (num_series,).
        lookback: past steps of a window.
        horizon: future steps of a window.
    """
    errors = gross_error_rows(Rows(panel.target[:, None], panel.starts[:-1], rows))
    if not len(errors):
        return cutoffs

    def has_none(some: NDArray[Any]) -> Mask:
        first = np.maximum(some - lookback + 1, panel.starts[panel.series_of(some)])
        return np.asarray(np.searchsorted(errors, first) == np.searchsorted(errors, some + horizon, side="right"))

    kept = panel.storage.chosen(cutoffs, has_none)
    return kept if len(kept) else cutoffs
