"""Levels of a forecast: the quantiles behind a head's parameters, in order and in the target's units."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.scaling import Scaler

Floats = NDArray[np.float64]


def levels_of(head: str, parameters: NDArray[Any], levels: tuple[float, ...]) -> Floats:
    """The quantiles that a head's parameters stand for, on the series' scale.

    Args:
        head: point, quantile, gaussian or student-t.
        parameters: of the head, (batch, horizon, size).
        levels: ascending; of a quantile head those it was trained on.

    Returns:
        (batch, horizon, num_levels), ascending but for rounding. A point head says its point at every level: what a
        calibration by split starts from.
    """
    values = parameters.astype(np.float64)
    if head == "quantile":
        return values
    if head == "point":
        return np.repeat(values, len(levels), axis=-1)
    loc, scale, *freedom = np.moveaxis(values, -1, 0)[..., None]
    return np.asarray(loc + scale * _standard_quantiles(np.array(levels), *freedom), np.float64)


def _standard_quantiles(levels: Floats, freedom: Floats | None = None) -> Floats:
    """Of the normal distribution (num_levels,), or of Student's t (batch, horizon, num_levels)."""
    from scipy import special

    return np.asarray(special.ndtri(levels) if freedom is None else special.stdtrit(freedom, levels), np.float64)


def in_units(scaled: Floats, scaler: Scaler, series: NDArray[np.int64], *, non_negative: bool) -> Floats:
    """Levels in the target's units, in order.

    Scaling and transforms ascend, so that a quantile stays the quantile. Levels that a calibration has moved past each
    other are sorted, which brings none of them further from the truth (Chernozhukov, Fernández-Val and Galichon 2010,
    "Quantile and probability curves without crossing"); so are those that rounding has.

    Args:
        scaled: on the series' scale, (batch, horizon, num_levels).
        scaler: of the series.
        series: of each window, (batch,).
        non_negative: cut off at 0.
    """
    values = np.sort(scaler.target_in_units(scaled, series), axis=-1)
    return cut_off(values) if non_negative else values


def cut_off(values: Floats) -> Floats:
    """The values with 0 in place of what lies below it."""
    return np.maximum(values, 0.0) + 0.0  # which makes -0 a 0
