"""Transforms that make a skewed target even, taken before it is scaled: arcsinh and log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.affine import Affine, identity

Floats = NDArray[np.float64]

LARGEST = 600.0
"""exp(600) is a number, exp(710) is not: what a network could say at its worst stays finite."""


@dataclass(frozen=True, eq=False)
class Transform:
    """What is taken of the target before scaling.

    `arcsinh`: arcsinh((x - median) / (1.4826 · MAD)), median and median absolute deviation of the training rows of each
    series. It is free of the target's unit, takes any sign, and is linear near the median and logarithmic far from it.
    Source: Uniejewski, Weron and Ziel 2018, "Variance stabilizing transformations for electricity spot price
    forecasting". `log`: log(1 + x), for targets that are never negative. `none`: x.

    Coming back, a quantile of the transformed target is the quantile of the target, so the median stays unbiased. The
    mean does not: it is not corrected (by Jensen's inequality it would come out too small under log).
    """

    kind: str
    unit: Affine
    """Median and 1.4826 · MAD of each series, (num_series,); 0 and 1 but for arcsinh."""

    @classmethod
    def none(cls, num_series: int) -> Transform:
        """Leaves the target as it is."""
        return cls("none", identity(num_series))

    def of(self, series: NDArray[np.int64] | list[int] | slice) -> Transform:
        """The chosen series, in the given order."""
        return Transform(self.kind, self.unit.of(series))

    def joined(self, others: Transform) -> Transform:
        """These series and then those."""
        return Transform(self.kind, self.unit.joined(others.unit))

    def forward(self, values: Floats, series: NDArray[np.int64]) -> Floats:
        """Targets (num_rows,) of the series with these indices (num_rows,), transformed. NaN stays NaN.

        Raises:
            ValueError: a negative value under log; `forbid_negative` of the panel says which.
        """
        if self.kind == "none":
            return values
        if self.kind == "arcsinh":
            return np.arcsinh(self.unit.of(series).apply(values))
        if (values < 0).any():
            raise ValueError("a negative target has no logarithm; see forbid_negative")
        return np.log1p(values)

    def inverse(self, values: Floats, series: NDArray[np.int64]) -> Floats:
        """Transformed targets (batch, …) of the series (batch,), as they were. Under log never negative."""
        if self.kind == "none":
            return values
        bounded = np.clip(values, -LARGEST, LARGEST)
        if self.kind == "arcsinh":
            return self.unit.of(series).with_axes(values.ndim).undo(np.sinh(bounded))
        return np.expm1(np.maximum(bounded, 0.0))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able, bit for bit."""
        return {"kind": self.kind, **self.unit.to_dict()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Transform:
        """What `to_dict` gave."""
        return cls(content["kind"], Affine.from_dict({name: content[name] for name in Affine._fields}))
