"""Conformal calibration: offsets under which the right share of validation values lies below each quantile."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.transforms import LARGEST_SCALE
from forecast_attn.errors import DataError
from forecast_attn.forecasting.adaptive_calibration import Tracking

Floats = NDArray[np.float64]

ADAPTIVE = "adaptive"
"""The calibration whose offsets begin as those of `cqr` and follow the errors since: see `adaptive_calibration`."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Offsets added to the base of every step and quantile, on the scale of the series."""

    kind: str
    """split, cqr or adaptive."""
    quantiles: tuple[float, ...]
    offsets: Floats
    """(horizon, num_quantiles)"""
    values: NDArray[np.int64]
    """True values behind the offsets of each step, (horizon,)."""
    tracking: Tracking | None = None
    """State from which offsets follow later errors; None where they stay fixed."""

    def apply(self, base: Floats, offsets: Floats | None = None) -> Floats:
        """The base (batch, horizon, num_quantiles), calibrated; its quantiles may cross.

        Args:
            base: what is calibrated.
            offsets: of each window, where they followed earlier errors, (batch, horizon, num_quantiles).
        """
        return np.asarray(base + (self.offsets if offsets is None else offsets), np.float64)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able, bit for bit."""
        offsets, values = self.offsets.tolist(), self.values.tolist()
        content = {"kind": self.kind, "levels": list(self.quantiles), "offsets": offsets, "values": values}
        if self.tracking is not None:
            content |= {"unit": self.tracking.unit.tolist(), "after": self.tracking.after}
        return content

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Read what `to_dict` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        quantiles = tuple(float(quantile) for quantile in content["levels"])
        offsets, values = np.array(content["offsets"], np.float64), np.array(content["values"], np.int64)
        if offsets.shape != (len(values), len(quantiles)) or not (np.abs(offsets) < LARGEST_SCALE).all():
            raise ValueError("offsets that cannot be")
        tracking = None
        if content["kind"] == ADAPTIVE:
            tracking = Tracking(np.array(content["unit"], np.float64), int(content["after"]))
            can_be = (tracking.unit >= 0) & (tracking.unit < LARGEST_SCALE)
            if tracking.unit.shape != values.shape or not can_be.all():
                raise ValueError("units that cannot be")
        return cls(content["kind"], quantiles, offsets, values, tracking)


def fit_calibration(kind: str, quantiles: tuple[float, ...], actual: Floats, base: Floats) -> Calibration:
    """Fit the offsets on windows.

    Args:
        kind: split or cqr, which is recorded.
        quantiles: ascending, (num_quantiles,).
        actual: true values on the series' scale, NaN where not observed, (num_windows, horizon).
        base: what is calibrated, (num_windows, horizon, num_quantiles).

    Raises:
        DataError: too few values for a quantile; `check_enough_values` says so before training.
    """
    counts = (~np.isnan(actual)).sum(axis=0)
    check_enough_values(quantiles, counts)
    # An offset is the value at a rank among the distances of the actual values above the base.
    above = np.sort(actual[..., None] - base, axis=0)  # NaN come last
    offsets = np.empty((len(counts), len(quantiles)))
    for step, count in enumerate(counts):
        for index, quantile in enumerate(quantiles):
            offsets[step, index] = above[conformal_rank(quantile, int(count)) - 1, step, index]
    return Calibration(kind, quantiles, offsets, counts)


def conformal_rank(quantile: float, count: int) -> int:
    """Rank of the quantile among `count` ascending values, from 1; outside 1 … count where there are too few."""
    exact = Fraction(repr(quantile)) * (count + 1)  # 0.7 · 10 is 7, as nobody writes 0.69999999999999996
    # Rounded away from the median, so that an interval holds at least its share of new values.
    return -(-exact.numerator // exact.denominator) if quantile >= 0.5 else exact.numerator // exact.denominator


def values_needed(quantiles: tuple[float, ...]) -> int:
    """The fewest values that every one of the quantiles can be taken from."""
    shares = [Fraction(repr(quantile)) for quantile in quantiles]
    # ceil((n + 1) l) <= n, so n >= l / (1 - l); and floor((n + 1) l) >= 1, so n >= 1 / l - 1.
    bounds = [share / (1 - share) if share >= Fraction(1, 2) else 1 / share - 1 for share in shares]
    return max(-(-bound.numerator // bound.denominator) for bound in bounds)


def check_enough_values(quantiles: tuple[float, ...], counts: NDArray[np.int64]) -> None:
    """Refuse to calibrate quantiles that lie further out than the windows reach.

    Args:
        quantiles: (num_quantiles,).
        counts: known true values of each step over the validation windows, (horizon,).

    Raises:
        DataError: with how many there are and how many it takes.
    """
    needed, step = values_needed(quantiles), int(counts.argmin())
    if counts[step] >= needed:
        return
    shown = ", ".join(f"{quantile:g}" for quantile in quantiles)
    raise DataError(
        f"calibrating the quantiles {shown} takes {needed} validation windows; step {step + 1} has {counts[step]}",
        "a larger --validation or --validation-windows, quantiles nearer to 0.5, or no --calibration",
    )
