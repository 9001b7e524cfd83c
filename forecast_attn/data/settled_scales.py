"""Scales settle: from early in training on each column keeps its own, unless it turns out to be far off.

What a covariate does to the target, the network learns in their units, so these should stay the same. Yet no training
window may know what comes after it, not even through a scale. So the scale of the first rows is kept. A column that
hardly moves there and then rises a thousandfold is measured anew, at the first rows that show it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.gross_errors import FEWEST as FEWEST_TO_TELL
from forecast_attn.data.gross_errors import without_gross_errors
from forecast_attn.data.panel import Panel
from forecast_attn.data.scale_fitting import Rows
from forecast_attn.data.segments import blocks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GROWTH = 1.1
"""Scales are measured anew whenever a series has a tenth more rows, which keeps the table of them short."""
SETTLED, FEWEST = 0.1, 200
"""A scale is first kept after this share of the training rows, and after this number of rows."""
FAR = 3.0
"""A scale is given up where the mean so far lies this many of its deviations away, or the deviation so far is this many
times as large."""


def growing_counts(most: int) -> Ints:
    """1, 2, … and then each a tenth more than the one before, up to `most`."""
    counts = [1]
    while counts[-1] < most:
        counts.append(max(counts[-1] + 1, int(counts[-1] * GROWTH)))
    return np.array(counts, np.int64)


def settled_rows(training_rows: Ints) -> Ints:
    """Number of each series' first rows at which its scales are first kept (num_series,)."""
    return np.asarray(np.maximum(np.ceil(SETTLED * training_rows), FEWEST), np.int64)


def held_counts(panel: Panel, training_rows: Ints) -> tuple[Ints, Ints]:
    """Find the first rows that each column's scale is of, as the series grows.

    The rows are found by the values of the table, also where the target is transformed before it is scaled.

    Args:
        panel: the table.
        training_rows: how many of each series' first rows are training (num_series,).

    Returns:
        Indices of `growing_counts`, for the target, past and future covariates: of the scale in force at each of the
        counts (num_series, num_counts, 1 + num_covariates), and of the one that is kept to the end of training and
        after it (num_series, 1 + num_covariates), -1 where none is.
    """
    counts = growing_counts(int(training_rows.max(initial=1)))
    number = 1 + panel.past_covariates.shape[1] + panel.future_covariates.shape[1]
    held = np.empty((len(training_rows), len(counts), number), np.int64)
    for series in blocks(panel.starts[:-1]):
        span = slice(panel.starts[series.start], panel.starts[series.stop])
        columns = (panel.target[:, None], panel.past_covariates, panel.future_covariates)
        values = np.concatenate([column[span] for column in columns], axis=1)
        part = Rows(values, panel.starts[series] - span.start, training_rows[series])
        # Of large numbers that hardly differ, the mean square less the squared mean would be rounding.
        part = part._replace(values=values - part.spread(np.nan_to_num(values[part.firsts])))
        held[series] = _held(part, counts)
    end = np.searchsorted(counts, training_rows, side="right") - 1
    last = held[np.arange(len(held)), np.maximum(end, 0)]
    return held, np.where(last == end[:, None], -1, last)


def held_rows(panel: Panel, training_rows: Ints) -> Ints:
    """Number of each series' first rows that each column's scale is fitted on (num_series, 1 + num_covariates).

    All training rows of a series with few of them, or of a column that is far from settled at their end.
    """
    counts = growing_counts(int(training_rows.max(initial=1)))
    _, last = held_counts(panel, training_rows)
    return np.minimum(np.where(last < 0, training_rows[:, None], counts[last]), training_rows[:, None])


def _held(rows: Rows, counts: Ints) -> Ints:
    """(num_series, num_counts, num_columns)"""
    mean, square, _ = growing_means(rows, counts)
    deviation = np.sqrt(np.maximum(square - mean * mean, 0))
    settled = settled_rows(rows.counts)
    index = np.zeros((len(rows.counts), rows.values.shape[1]), np.int64)
    held = np.empty(mean.shape, np.int64)
    for at, count in enumerate(counts):
        middle, spread = (np.take_along_axis(each, index[:, None], axis=1)[:, 0] for each in (mean, deviation))
        is_far = (np.abs(mean[:, at] - middle) > FAR * spread) | (deviation[:, at] > FAR * spread)
        index = np.where(is_far | (count <= settled)[:, None], at, index)
        held[:, at] = index
    return held


def growing_means(rows: Rows, counts: Ints) -> tuple[Floats, Floats, Floats]:
    """Mean, mean square and mean size of the first `counts` rows of each series; 0 where there is no value.

    The first column is the target: its gross errors are no values, once there are enough rows to tell them.
    """
    means = _growing_means(rows, counts)
    target = rows._replace(values=rows.values[:, :1])
    usual = without_gross_errors(target, counts)
    if usual is target:
        return means
    values = np.concatenate([usual.values, rows.values[:, 1:]], axis=1)
    can_tell = (counts >= FEWEST_TO_TELL)[:, None]
    pairs = zip(_growing_means(rows._replace(values=values), counts), means, strict=True)
    mean, square, size = (np.where(can_tell, without, whole) for without, whole in pairs)
    return mean, square, size


def _growing_means(rows: Rows, counts: Ints) -> tuple[Floats, Floats, Floats]:
    stops = rows.firsts[:, None] + np.minimum(counts, rows.counts[:, None])
    observed = ~np.isnan(rows.values)
    values = np.where(observed, rows.values, 0)
    number = np.maximum(_sums(observed.astype(np.float64), rows.firsts, stops), 1)
    mean, square, size = (
        _sums(each, rows.firsts, stops) / number for each in (values, values * values, np.abs(values))
    )
    return mean, square, size


def _sums(values: Floats, firsts: Ints, stops: Ints) -> Floats:
    """Sums of the rows from `firsts` (num_series,) to before `stops` (num_series, num_counts), which ascend.

    Each is of its own rows alone: as a difference of two longer sums it would round as the largest value in them.
    """
    begins = np.concatenate([firsts[:, None], stops[:, :-1]], axis=1)
    edges = np.stack([begins, stops], axis=-1).ravel()
    parts = np.add.reduceat(np.pad(values, ((0, 1), (0, 0))), edges)[::2].reshape(*stops.shape, -1)
    return np.asarray(np.cumsum(np.where((begins < stops)[..., None], parts, 0), axis=1))
