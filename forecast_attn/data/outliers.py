"""Values so far from all others of their series that nothing else counts beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.findings import Finding
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.scale_fitting import NORMAL_IQR

if TYPE_CHECKING:
    from forecast_attn.data.scaling import Scaler

FAR = 1_000
"""Robust deviations from the median. The highest price of the French market in six years is 107 of them away."""
_SHARE = 6
"""Where the largest of n values is below sqrt(n) / 6 standard deviations, no few values make up the variance."""
MOST_NAMED = 3
UNSCALED = ("covariates", "none")
"""Scalings under which nobody has measured how far the target's values lie apart."""


def outlier_findings(panel: Panel, rows: NDArray[np.int64], scaler: Scaler) -> list[Finding]:
    """Warn about series with values far beyond the others of their training rows, among these or behind them.

    Args:
        panel: all series.
        rows: training rows of each series, its first ones, (num_series,).
        scaler: fitted on these rows; under a transform large values are tame.
    """
    if scaler.transform.kind != "none":
        return []
    found = list(_outliers(panel, rows, scaler))
    if not found and scaler.method not in UNSCALED:  # validation on such a value says nothing of the others
        behind = np.where(rows > 0, panel.known - rows, 0)
        far = _far(panel, ranges(panel.starts[:-1] + rows, behind), np.repeat(np.arange(len(rows)), behind), scaler)
        found = [one for one in far if _varies(panel, one[0], rows)]
    return [_finding(panel, *one) for one in found[:MOST_NAMED]]


def far_from_training(panel: Panel, scaler: Scaler, lookback: int) -> list[Finding]:
    """Warn about values of the lookback that lie far beyond anything that training saw.

    Args:
        panel: the history, of series that the scaler knows.
        scaler: of the run.
        lookback: steps before the cut-off that a forecast reads.
    """
    if scaler.transform.kind != "none" or scaler.method in UNSCALED:
        return []
    kept = np.minimum(panel.known, lookback)
    rows = ranges(panel.ends - kept, kept)
    series = np.repeat(np.arange(panel.num_series), kept)
    far = _far(panel, rows, series, scaler.for_series(panel.item_ids))
    return [_finding(panel, *one) for one in far[:MOST_NAMED]]


def _varies(panel: Panel, index: int, rows: NDArray[np.int64]) -> bool:
    """Check that the training rows of a series have a spread to measure by."""
    first = int(panel.starts[index])
    known = panel.target[first : first + int(rows[index])]
    known = known[~np.isnan(known)]
    return len(known) > 0 and bool(known.max() > known.min())


def _far(
    panel: Panel, rows: NDArray[np.int64], series: NDArray[np.int64], scaler: Scaler
) -> list[tuple[int, int, float]]:
    """Series, row and distance of the values that lie far beyond what the scaler was fitted on."""
    location, scale = scaler.target
    distance = np.abs(panel.target[rows] - location[series]) / scale[series]
    return [(int(series[at]), int(rows[at]), float(distance[at])) for at in np.flatnonzero(distance > FAR)]


def _outliers(panel: Panel, rows: NDArray[np.int64], scaler: Scaler) -> Iterator[tuple[int, int, float]]:
    """Series, row and distance of the farthest value of every series that has one far away."""
    location, scale = scaler.target
    for index in _suspects(panel, rows, location, scale):
        first = int(panel.starts[index])
        values = panel.target[first : first + int(rows[index])]
        known = values[~np.isnan(values)]
        low, middle, high = np.quantile(known, (0.25, 0.5, 0.75))
        spread = (high - low) / NORMAL_IQR
        distance = np.abs(values - middle)
        at = int(np.nanargmax(distance))
        # Most values are one: a demand that is mostly zero has no spread to measure by.
        if spread > 0 and distance[at] > FAR * spread:
            yield int(index), first + at, float(distance[at] / spread)


def _suspects(
    panel: Panel, rows: NDArray[np.int64], location: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Series of which a few values may make up all the variance; sorting the others would take long."""
    some = np.flatnonzero(rows > 0)
    chosen = ranges(panel.starts[:-1][some], rows[some])
    off = np.abs(panel.target[chosen] - np.repeat(location[some], rows[some])) / np.repeat(scale[some], rows[some])
    edges = np.cumsum(rows[some]) - rows[some]
    farthest = np.fmax.reduceat(off, edges) if len(some) else off
    suspects: NDArray[np.int64] = some[farthest > np.sqrt(rows[some]) / _SHARE]
    return suspects


def _finding(panel: Panel, index: int, row: int, distance: float) -> Finding:
    name = panel.item_ids[index]
    when = panel.zone.stamp_text(panel.timestamps[row])
    message = (
        f"series '{name}' has {panel.target[row]:.4g} at {when}, {distance:,.0f} times as far off as its values are "
        f"mostly: beside it they all look alike, and forecasts may be anything"
    )
    hint = "correct the cell, or train with --scaling robust --transform arcsinh"
    return Finding("FA309", "warning", message, hint, column=panel.roles.target, item_id=name)
