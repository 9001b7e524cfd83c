"""Values so far from all others of their series that they dominate its scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.findings import Finding, option_for
from forecast_attn.data.gross_errors import FAR, gross_errors
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.scale_fitting import NORMAL_IQR
from forecast_attn.data.segments import blocks, quantile, sort_each

if TYPE_CHECKING:
    from forecast_attn.data.scaling import Scaler

_SHARE = 6
"""Where the largest of n values is below sqrt(n) / 6 standard deviations, no few values make up the variance."""
MOST_NAMED = 3
UNSCALED = ("covariates", "none")
"""Scalings that do not measure how far the target's values lie apart."""


class _ScaledColumn(NamedTuple):
    """A column of numbers with the scale that training has for it."""

    name: str
    values: NDArray[np.float64]
    """Of all rows (num_rows,)."""
    location: NDArray[np.float64]
    scale: NDArray[np.float64]
    """Of each series (num_series,), as is `location`."""
    is_target: bool = False


def _columns(panel: Panel, scaler: Scaler) -> Iterator[_ScaledColumn]:
    """Target and covariates; under log large targets are tame."""
    if scaler.transform.kind != "log":
        affine = scaler.target if scaler.transform.kind == "none" else scaler.transform.unit
        yield _ScaledColumn(panel.roles.target, panel.target, *affine, is_target=True)
    for names, values, group in (
        (panel.roles.past_covariates, panel.past_covariates, scaler.past),
        (panel.roles.future_covariates, panel.future_covariates, scaler.future),
    ):
        for index, name in enumerate(names):
            yield _ScaledColumn(name, values[:, index], group.loc[:, index], group.scale[:, index])


def outlier_findings(panel: Panel, rows: NDArray[np.int64], scaler: Scaler) -> list[Finding]:
    """Warn about series with values far beyond the others of their training rows, among these or behind them.

    Args:
        panel: all series.
        rows: training rows of each series, its first ones, (num_series,).
        scaler: fitted on these rows.
    """
    findings: list[Finding] = []
    for column in _columns(panel, scaler):
        some = list(_outliers(column, panel, rows))
        if not some and _is_scaled(column, scaler):  # validation on such a value says nothing of the others
            some = [one for one in _far_behind(column, panel, rows) if _varies(column, panel, one[0], rows)]
        findings += [_finding(column, panel, *one, is_learned=True) for one in some[:MOST_NAMED]]
    return findings[:MOST_NAMED]


def _far_behind(column: _ScaledColumn, panel: Panel, rows: NDArray[np.int64]) -> Iterator[tuple[int, int, float]]:
    """Series, row and distance of the far values after the training rows."""
    behind = np.where(rows > 0, panel.num_known - rows, 0)
    for series in blocks(panel.starts[:-1]):
        numbers = np.arange(series.start, series.stop)
        chosen = ranges(panel.starts[:-1][series] + rows[series], behind[series])
        yield from _far(column, chosen, np.repeat(numbers, behind[series]))


def far_from_training(panel: Panel, scaler: Scaler, lookback: int, horizon: int) -> list[Finding]:
    """Warn about values that a forecast reads and that lie far beyond anything that training saw.

    Args:
        panel: history and future rows of series that the scaler knows.
        scaler: of the run.
        lookback: steps before the cut-off that a forecast reads.
        horizon: steps after it.
    """
    kept = np.minimum(panel.num_known, lookback)
    read = kept + np.minimum(panel.starts[1:] - panel.ends, horizon)
    rows, series = ranges(panel.ends - kept, read), np.repeat(np.arange(panel.num_series), read)
    findings = []
    for column in _columns(panel, scaler.for_series(panel.item_ids)):
        if _is_scaled(column, scaler):
            far = _far(column, rows, series)[:MOST_NAMED]
            findings += [_finding(column, panel, *one, is_learned=False) for one in far]
    return findings[:MOST_NAMED]


def _is_scaled(column: _ScaledColumn, scaler: Scaler) -> bool:
    """Return whether the scale of a column measures how far its values lie apart."""
    return scaler.method != "none" and not (column.is_target and scaler.method in UNSCALED)


def _varies(column: _ScaledColumn, panel: Panel, index: int, rows: NDArray[np.int64]) -> bool:
    """Check that the training rows of a series have a spread to measure by."""
    first = int(panel.starts[index])
    known = column.values[first : first + int(rows[index])]
    known = known[~np.isnan(known)]
    return len(known) > 0 and bool(known.max() > known.min())


def _far(column: _ScaledColumn, rows: NDArray[np.int64], series: NDArray[np.int64]) -> list[tuple[int, int, float]]:
    """Series, row and distance of the values that lie far beyond what the scaler was fitted on."""
    location, scale = column.location[series], column.scale[series]
    still = scale == 1  # of a column that never moved, which measures nothing
    distance = np.abs(column.values[rows] - location) / np.where(still, np.maximum(np.abs(location), 1), scale)
    if not column.is_target:
        distance[still] = 0
    return [(int(series[index]), int(rows[index]), float(distance[index])) for index in np.flatnonzero(distance > FAR)]


def _outliers(column: _ScaledColumn, panel: Panel, rows: NDArray[np.int64]) -> Iterator[tuple[int, int, float]]:
    """Series, row and distance of the farthest value of every series that has one far away."""
    suspects = _suspects(column, panel, rows)
    for block in blocks(panel.starts[:-1][suspects]):
        series = suspects[block]
        counts = rows[series]
        chosen, firsts = ranges(panel.starts[:-1][series], counts), np.cumsum(counts) - counts
        values = column.values[chosen][:, None]
        observed = np.add.reduceat(~np.isnan(values), firsts, dtype=np.int64)
        ascending = sort_each(values, firsts, counts)
        low, middle, high = (quantile(ascending, firsts, observed, share) for share in (0.25, 0.5, 0.75))
        spread = (high - low)[:, 0] / NORMAL_IQR
        distance = np.abs(values - np.repeat(middle, counts, axis=0))[:, 0]
        # Most values are one: a demand that is mostly zero has no spread to measure by.
        for index in np.flatnonzero((spread > 0) & (np.fmax.reduceat(distance, firsts) > FAR * spread)):
            at = firsts[index] + int(np.nanargmax(distance[firsts[index] :][: counts[index]]))
            yield int(series[index]), int(chosen[at]), float(distance[at] / spread[index])


def _suspects(column: _ScaledColumn, panel: Panel, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Series of which a few values may make up all the variance; sorting the others would take long."""
    suspects = []
    for block in blocks(panel.starts[:-1]):
        some = block.start + np.flatnonzero(rows[block] > 0)
        chosen = ranges(panel.starts[:-1][some], rows[some])
        location, scale = (np.repeat(each[some], rows[some]) for each in (column.location, column.scale))
        off = np.abs(column.values[chosen] - location) / scale
        edges = np.cumsum(rows[some]) - rows[some]
        farthest = np.fmax.reduceat(off, edges) if len(some) else off
        suspects.append(some[farthest > np.sqrt(rows[some]) / _SHARE])
    return np.concatenate(suspects)


def _finding(
    column: _ScaledColumn, panel: Panel, index: int, row: int, distance: float, *, is_learned: bool
) -> Finding:
    name = panel.item_ids[index]
    when, times = (
        panel.zone.stamp_text(panel.timestamps[row]),
        f"{distance:,.0f} times as far from the middle as its values",
    )
    if not column.is_target:
        message = f"column '{column.name}' of series '{name}' has {column.values[row]:.4g} at {when}, {times} usually"
        hint = f"correct the cell, or leave the column out with {option_for('ignore', column.name)}"
        return Finding("FA309", "warning", message, hint, column=column.name, item_id=name)
    hint = "correct the cell, or empty it and train with --missing mask"
    effect = "a forecast whose lookback holds it may be anything"
    if not is_learned:
        effect = f"{effect}; {hint}"  # predict prints no hints
    elif not gross_errors(panel.target[panel.starts[index] : panel.ends[index]]).any():
        effect = "beside it all others look alike, and forecasts may be anything"
    else:
        effect = f"training leaves it out, but {effect}"
    message = f"series '{name}' has {panel.target[row]:.4g} at {when}, {times} usually: {effect}"
    return Finding("FA309", "warning", message, hint, column=panel.roles.target, item_id=name, options=("missing",))
