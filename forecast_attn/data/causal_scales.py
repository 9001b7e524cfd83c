"""Scales as they were at the cut-off: the inputs of a training window say nothing of what comes after it.

A series scaled by its whole training span gives later rows away: "I lie below the mean" means "I shall rise". So a
training window is scaled by the rows up to its cut-off alone. From the end of training on the scales are those of the
`Scaler`, as in a forecast: no later row changes them.

Scales settle early, see `held_rows`: were they to follow the year, 20 degrees in the first autumn and 20 degrees in the
next would be two inputs, and the network could not learn what 20 degrees do.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.data.panel import Panel
from forecast_attn.data.scale_fitting import Rows, fit_affine
from forecast_attn.data.scaled_rows import RowLayout, ScaledRows
from forecast_attn.data.scaling import Scaler
from forecast_attn.data.segments import blocks
from forecast_attn.data.settled_scales import growing_counts, growing_means, held_counts, settled_rows

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]

FLAT = 1e-9
"""Share of the variance of the whole training span below which a column has not moved yet."""
SETTLING = 8
"""Windows before scales have settled are left out where they are at most one of this many."""
LARGEST = 10.0
"""Covariates farther out are cut off: the first rows of a series may know little of a column's range."""


class Units(NamedTuple):
    """The scales at the cut-off of each window, in the units of the scaler: loc 0 and scale 1 are the scaler's own."""

    loc: Float[Tensor, "batch num_columns"]
    scale: Float[Tensor, "batch num_columns"]
    limit: Float[Tensor, "batch"]
    """Size at which covariates are cut off; infinite where their scales have settled."""

    def scaled(self, values: Float[Tensor, "batch length num_columns"]) -> Float[Tensor, "batch length num_columns"]:
        """Values of the scaler's units in these units."""
        return (values - self.loc[:, None]) / self.scale[:, None]

    def columns(self, first: int, stop: int | None = None) -> "Units":
        """The units of some columns."""
        return Units(self.loc[:, first:stop], self.scale[:, first:stop], self.limit)


class CausalScales(NamedTuple):
    """Location and scale of the first rows of each series, for growing numbers of rows, in the units of the scaler."""

    counts: Int64[Tensor, "num_counts"]
    """Numbers of rows, ascending from 1."""
    loc: Float[Tensor, "num_series num_counts num_columns"]
    """Locations of the target, then of the inputs."""
    scale: Float[Tensor, "num_series num_counts num_columns"]
    flat: Bool[Tensor, "num_series num_counts"]
    """True where the target has not moved yet."""
    training_rows: Int64[Tensor, "num_series"]
    """Rows the scaler was fitted on; from that many on its own scales count."""
    settled_rows: Int64[Tensor, "num_series"]
    """Number of rows after which scales are kept."""

    def to(self, device: torch.device | str) -> "CausalScales":
        """The same on another device."""
        return CausalScales(*(each.to(device) for each in self))

    def units(self, rows: Int64[Tensor, "batch"], series: Int64[Tensor, "batch"]) -> Units:
        """The scales of some windows.

        Args:
            rows: of the series up to each cut-off, at least 1.
            series: of each window.
        """
        entry, final = self._entry(rows), (rows >= self.training_rows[series])[:, None]
        loc, scale = self.loc[series, entry].masked_fill(final, 0), self.scale[series, entry].masked_fill(final, 1)
        limit = torch.where(rows < self.settled_rows[series], LARGEST, torch.inf).to(loc.dtype)
        return Units(loc, scale, limit)

    def has_moved(self, rows: Int64[Tensor, "batch"], series: Int64[Tensor, "batch"]) -> Bool[Tensor, "batch"]:
        """True where a window's target has changed up to the cut-off: its values have a unit."""
        return ~self.flat[series, self._entry(rows)]

    def has_settled(self, rows: Int64[Tensor, "batch"], series: Int64[Tensor, "batch"]) -> Bool[Tensor, "batch"]:
        """True where a window's scales have settled, or that takes a large part of the rows: they are those of later
        windows.
        """
        settled, total = self.settled_rows[series], self.training_rows[series]
        return (rows >= settled) | (settled * SETTLING > total)

    def _entry(self, rows: Int64[Tensor, "batch"]) -> Int64[Tensor, "batch"]:
        return torch.searchsorted(self.counts, rows, right=True) - 1


def causal_scales(panel: Panel, rows: ScaledRows, scaler: Scaler, training_rows: Ints) -> CausalScales | None:
    """Measure the first rows of every series.

    Args:
        panel: the table.
        rows: its scaled rows.
        scaler: which scaled them; the scales so far are of its method.
        training_rows: how many of each series' first rows it was fitted on (num_series,).

    Returns:
        None where nothing is scaled.
    """
    if scaler.method == "none":
        return None
    scaler, layout = scaler.for_series(panel.item_ids), rows.layout
    numbers = _number_columns(layout)
    units = np.concatenate([scaler.target.scale[:, None], scaler.past.scale, scaler.future.scale], axis=1)
    counts = growing_counts(int(training_rows.max(initial=1)))
    shape = (len(training_rows), len(counts), 1 + rows.inputs.shape[1])
    loc, scale, flat = np.zeros(shape, np.float32), np.ones(shape, np.float32), np.zeros(shape[:2], np.bool_)
    filled = np.concatenate([[0], 1 + numbers])
    for series in blocks(panel.starts[:-1]):
        first, stop = panel.starts[series.start], panel.starts[series.stop]
        values = _values(rows, slice(first, stop), numbers)
        part = Rows(values, panel.starts[series] - first, training_rows[series])
        middle, spread = _measured(part, counts, scaler.method)
        unmoved = spread <= np.sqrt(FLAT)
        # As in the scaler, a column that never moved has the scale 1 in its own unit.
        loc[series][..., filled] = middle
        scale[series][..., filled] = np.where(unmoved, 1 / units[series][:, None], spread)
        flat[series] = unmoved[..., 0]
    _hold(loc, scale, panel, training_rows, filled)
    if scaler.method == "covariates":
        loc[..., 0], scale[..., 0] = 0, 1
    settled = np.minimum(settled_rows(training_rows), training_rows)
    ends = (each.astype(np.int64) for each in (training_rows, settled))
    return CausalScales(*(torch.from_numpy(each) for each in (counts, loc, scale, flat, *ends)))


def _hold(loc: Floats32, scale: Floats32, panel: Panel, training_rows: Ints, columns: Ints) -> None:
    """Let columns have the scales they are held at; those they end with are the scaler's own.

    Args:
        loc: of every column for growing numbers of rows (num_series, num_counts, num_columns); changed in place.
        scale: the same.
        panel: the table.
        training_rows: how many of each series' first rows the scaler was fitted on (num_series,).
        columns: places of the target and the covariates among the columns, past ones first.
    """
    held, last = held_counts(panel, training_rows)
    is_last = held == last[:, None]
    loc[..., columns] = np.where(is_last, 0, np.take_along_axis(loc[..., columns], held, axis=1))
    scale[..., columns] = np.where(is_last, 1, np.take_along_axis(scale[..., columns], held, axis=1))


def _number_columns(layout: RowLayout) -> Ints:
    """Places of the covariates among the inputs; between them lie their indicators, which have no scale."""
    future = layout.num_past_columns + np.arange(layout.num_future)
    return np.concatenate([np.arange(layout.num_past), future])


def _values(rows: ScaledRows, chosen: slice, numbers: Ints) -> Floats:
    """Target and covariates of some rows (num_rows, 1 + num_numbers), NaN where missing."""
    inputs = rows.inputs[chosen].astype(np.float64)
    covariates = inputs[:, numbers]
    if rows.layout.masked:
        number = [rows.layout.num_past, rows.layout.num_future]
        width = np.repeat(number, number)
        covariates = np.where(inputs[:, numbers + width] > 0, covariates, np.nan)
    return np.concatenate([rows.target[chosen, None].astype(np.float64), covariates], axis=1)


def _measured(rows: Rows, counts: Ints, method: str) -> tuple[Floats, Floats]:
    """Location and scale of the first `counts` rows of each series (num_series, num_counts, num_columns)."""
    mean, square, size = growing_means(rows, counts)
    deviation = np.sqrt(np.maximum(square - mean * mean, 0))
    if method in ("standard", "covariates"):
        return mean, deviation
    if method == "mean-abs":
        return np.zeros_like(mean), np.where(deviation > 0, size, 0)
    fits = [fit_affine(rows._replace(counts=np.minimum(count, rows.counts)), method).filled() for count in counts]
    loc, scale = (np.stack([getattr(fit, name) for fit in fits], axis=1) for name in ("loc", "scale"))
    return loc, np.where(deviation > 0, scale, 0)
