"""Locations and scales of many series at once, from the given rows only. NaN is no value.

| method | location | scale | where that scale is zero |
|---|---|---|---|
| standard | mean | standard deviation | 1 |
| robust | median | IQR / 1.349, which is a normal distribution's deviation | the standard deviation, else 1 |
| mean-abs | 0 | mean of the absolute values | 1 |
| covariates | those of standard; 0 for the target | those of standard; 1 for the target | 1 |
| none | 0 | 1 | |

A constant series becomes zeros: its value is the location (under mean-abs it is the scale instead). A scale counts as
zero when it is below what float64 resolves at the size of the values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.segments import blocks, extremes, quantile, sort_each, sums
from forecast_attn.data.transforms import SMALLEST_SCALE, Affine, Transform, identity

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NORMAL_IQR = 1.3489795003921634
"""Interquartile range of the normal distribution, in standard deviations."""
NORMAL_MAD = 0.6744897501960817
"""Median absolute deviation of the normal distribution, in standard deviations."""
RESOLUTION = 1e-12
"""A scale below this share of the largest value is rounding, not variation."""


class Rows(NamedTuple):
    """Values (num_rows, num_columns) whose rows firsts[i] : firsts[i] + counts[i] belong to series i."""

    values: Floats
    firsts: Ints
    counts: Ints

    def spread(self, per_series: NDArray[Any]) -> NDArray[Any]:
        """Repeat per-series values (num_series, …) for each series' rows, up to the next series (num_rows, …)."""
        return np.repeat(per_series, np.diff(np.append(self.firsts, len(self.values))), axis=0)

    def block(self, series: slice) -> Rows:
        """Some neighbouring series, with the rows they span."""
        firsts, counts = self.firsts[series], self.counts[series]
        return Rows(self.values[firsts[0] : firsts[-1] + counts[-1]], firsts - firsts[0], counts)


def fit_affine(rows: Rows, method: str, transform: Transform | None = None) -> Affine:
    """Location and scale of every series and column (num_series, num_columns).

    Args:
        rows: which values count.
        method: standard, robust, mean-abs, covariates (which is standard here, where nothing is the target) or none.
        transform: taken of the values before they are measured.

    Returns:
        NaN where a series has no value; see `Affine.filled`.
    """
    result = Affine(*np.full((2, len(rows.firsts), rows.values.shape[1]), np.nan))
    if method == "none":
        return identity(*result.loc.shape)
    for series in blocks(rows.firsts):
        part = rows.block(series)
        if transform is not None:
            indices = part.spread(np.arange(series.start, series.stop))
            part = part._replace(values=transform.forward(part.values[:, 0], indices)[:, None])
        result.loc[series], result.scale[series] = _FITS[method](part)
    return result


def fit_transform(rows: Rows, kind: str) -> Transform:
    """The transform of a target (num_rows, 1), with the units that arcsinh needs: NaN where a series has no value."""
    if kind != "arcsinh":
        return Transform(kind, identity(len(rows.firsts)))
    unit = Affine(*np.full((2, len(rows.firsts)), np.nan))
    for series in blocks(rows.firsts):
        loc, scale = _median_and_mad(rows.block(series))
        unit.loc[series], unit.scale[series] = loc[:, 0], scale[:, 0]
    return Transform(kind, unit)


def _standard(rows: Rows) -> Affine:
    mean, deviation, lowest, highest = moments(rows)
    # The mean of equal numbers may differ from them in the last bit, and then so does their deviation from zero.
    flat = lowest == highest
    return Affine(np.where(flat, lowest, mean), _or_one(np.where(flat, 0.0, deviation), lowest, highest))


def _robust(rows: Rows) -> Affine:
    median, upper, lower = _quantiles(rows, 0.5, 0.75, 0.25)
    _, deviation, lowest, highest = moments(rows)
    spread = (upper - lower) / NORMAL_IQR
    # Half of the values may be equal while the others vary: the deviation then takes the place of the IQR.
    spread = np.where(_is_zero(spread, lowest, highest), np.where(lowest == highest, 0.0, deviation), spread)
    return Affine(median, _or_one(spread, lowest, highest))


def _mean_abs(rows: Rows) -> Affine:
    observed, number = _observed(rows)
    size = _divided(sums(np.where(observed, np.abs(rows.values), 0.0), rows.firsts, rows.counts), number)
    return Affine(np.where(number > 0, 0.0, np.nan), _or_one(size, size, size))


_FITS = {"standard": _standard, "covariates": _standard, "robust": _robust, "mean-abs": _mean_abs}


def _median_and_mad(rows: Rows) -> Affine:
    """Median and 1.4826 · MAD; the standard deviation where more than half of the values are equal, else 1."""
    (median,) = _quantiles(rows, 0.5)
    (spread,) = _quantiles(rows._replace(values=np.abs(rows.values - rows.spread(median))), 0.5)
    _, deviation, lowest, highest = moments(rows)
    spread = np.where(
        _is_zero(spread, lowest, highest), np.where(lowest == highest, 0.0, deviation), spread / NORMAL_MAD
    )
    return Affine(median, _or_one(spread, lowest, highest))


def moments(rows: Rows) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean, standard deviation, lowest and highest value of every series and column."""
    observed, number = _observed(rows)
    values, firsts, counts = rows
    mean = _divided(sums(np.where(observed, values, 0.0), firsts, counts), number)
    # Two passes: the mean of the squares less the square of the mean would cancel for a small spread far from zero.
    squares = np.where(observed, values - rows.spread(mean), 0.0)
    squares *= squares
    deviation = np.sqrt(_divided(sums(squares, firsts, counts), number))
    return mean, deviation, *extremes(values, firsts, counts)


def _quantiles(rows: Rows, *shares: float) -> list[Floats]:
    ascending = sort_each(*rows)
    _, number = _observed(rows)
    return [quantile(ascending, rows.firsts, number, share) for share in shares]


def _observed(rows: Rows) -> tuple[NDArray[np.bool_], Ints]:
    """Mask of the values that exist (num_rows, num_columns), and their number per series and column."""
    observed = ~np.isnan(rows.values)
    if observed.all():
        return observed, np.broadcast_to(rows.counts[:, None], (len(rows.counts), rows.values.shape[1]))
    return observed, sums(observed, rows.firsts, rows.counts).astype(np.int64)


def _divided(total: Floats, number: Ints) -> Floats:
    """Divide; NaN where the number is zero."""
    result: Floats = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    return result


def _is_zero(scale: Floats, lowest: Floats, highest: Floats) -> NDArray[np.bool_]:
    return np.asarray(scale <= np.maximum(RESOLUTION * np.fmax(np.abs(lowest), np.abs(highest)), SMALLEST_SCALE))


def _or_one(scale: Floats, lowest: Floats, highest: Floats) -> Floats:
    return np.where(_is_zero(scale, lowest, highest), 1.0, scale)
