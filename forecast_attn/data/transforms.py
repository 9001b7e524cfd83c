"""Transforms that reduce the skew of the target before it is scaled: arcsinh and log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SMALLEST_SCALE = float(np.finfo(np.float32).tiny)
"""Smallest scale: division by a smaller number is infinite in float32."""
LARGEST_SCALE = 1e31
"""No location and no scale is as large: tables hold no number of 1e30 or more."""
LARGEST_EXPONENT = 160.0
"""Largest exponent of a forecast that is transformed back: it and its square stay finite, even at the largest scale."""


@dataclass(frozen=True, eq=False)
class Transform:
    """A transform of the target, applied before scaling.

    `arcsinh`: arcsinh((x - median) / (1.4826 · MAD)), median and median absolute deviation of the training rows of each
    series. It is free of the target's unit, takes any sign, and is linear near the median and logarithmic far from it.
    Source: Uniejewski, Weron and Ziel 2018, "Variance stabilizing transformations for electricity spot price
    forecasting". `log`: log(1 + x), for targets that are never negative. `none`: x.

    A quantile of the transformed target, transformed back, is that quantile of the target: the median stays unbiased.
    The mean does not, and is not corrected: by Jensen's inequality it is too small under log.
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
        bounded = np.clip(values, -LARGEST_EXPONENT, LARGEST_EXPONENT)
        if self.kind == "arcsinh":
            return self.unit.of(series).with_axes(values.ndim).undo(np.sinh(bounded))
        return np.expm1(np.maximum(bounded, 0.0))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able, bit for bit."""
        return {"kind": self.kind, **self.unit.to_dict()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Transform:
        """Read what `to_dict` gave."""
        return cls(content["kind"], Affine.from_dict({name: content[name] for name in Affine._fields}))


# --------------------------------------------------------------------------- affine
# A location and a scale per series: scaled = (value - loc) / scale.


class Affine(NamedTuple):
    """scaled = (value - loc) / scale. The target's arrays are (num_series,), covariates' (num_series, num_columns)."""

    loc: Floats
    scale: Floats

    def of(self, series: NDArray[np.int64] | list[int] | slice) -> Affine:
        """The chosen series, in the given order."""
        return Affine(self.loc[series], self.scale[series])

    def apply(self, values: Floats) -> Floats:
        """Scale values (num_rows, …), each of which has its own location and scale here."""
        scaled: Floats = (values - self.loc) / self.scale
        return scaled

    def undo(self, scaled: NDArray[Any]) -> Floats:
        """Invert `apply`, in float64."""
        return np.add(scaled.astype(np.float64) * self.scale, self.loc)

    def with_axes(self, num_axes: int) -> Affine:
        """Append axes of length one, to broadcast against arrays with that many more axes."""
        return Affine(*(values.reshape(-1, *(1,) * (num_axes - 1)) for values in self))

    def joined(self, others: Affine) -> Affine:
        """These series and then those."""
        return Affine(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))

    def filled(self, others: Affine | None = None) -> Affine:
        """Replace NaN (no value) by the average of the other series; by 0 and 1 where no series has one.

        Args:
            others: the series whose average counts; these ones when None.
        """
        sources = zip(self, self if others is None else others, (0.0, 1.0), strict=True)
        return Affine(*(_filled(values, source, otherwise) for values, source, otherwise in sources))

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse what no table gives.

        Raises:
            ValueError: another shape, numbers that are not finite, or scales that are not positive.
        """
        for values in self:
            if values.shape != shape:
                raise ValueError(f"scales of shape {values.shape}, not {shape}")
        can_be = (np.abs(self.loc) < LARGEST_SCALE) & (self.scale >= SMALLEST_SCALE) & (self.scale < LARGEST_SCALE)
        if not can_be.all():
            raise ValueError(f"a scale below {SMALLEST_SCALE:.2g} or above {LARGEST_SCALE:g}, or a location beyond")

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able list per column. Floats survive bit for bit: Python writes the shortest text that reads
        back.
        """
        return {name: values.T.tolist() for name, values in self._asdict().items()}

    @classmethod
    def from_dict(cls, content: dict[str, Any], num_series: int | None = None) -> Affine:
        """Read what `to_dict` gave.

        Args:
            content: of arrays (num_series, num_columns), or (num_series,) when `num_series` is None.
            num_series: needed for the shape where there are no columns.

        Raises:
            TypeError, ValueError: it is something else.
        """
        arrays = {name: np.array(values, np.float64) for name, values in content.items()}
        if num_series is not None:
            arrays = {name: values.reshape(len(values), num_series).T.copy() for name, values in arrays.items()}
        return cls(**arrays)


def identity(*shape: int) -> Affine:
    """Location 0 and scale 1 in that shape."""
    return Affine(np.zeros(shape), np.ones(shape))


def _filled(values: Floats, others: Floats, otherwise: float) -> Floats:
    missing = np.isnan(values)
    if not missing.any():
        return values
    seen = ~np.isnan(others)
    kept = seen.reshape(len(others), -1).any(axis=1)
    total = np.where(seen, others, 0.0)[kept].sum(axis=0)
    number = seen.sum(axis=0)
    return np.where(missing, np.where(number > 0, total / np.maximum(number, 1), otherwise), values)
