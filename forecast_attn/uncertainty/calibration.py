"""Conformal calibration: levels moved so that, on the validation windows, as many values lie below as they say.

For every step and level, the offset is an order statistic of how far the true values lay above the base: the point
forecast under `split`, the level itself under `cqr`. With n values it is the one of rank ceil((n + 1) l) for levels of
0.5 and above, floor((n + 1) l) below: of exchangeable values, a new one lies at most there with probability l or more,
and at least there with 1 - l or more.

Sources: Lei, G'Sell, Rinaldo, Tibshirani and Wasserman 2018, "Distribution-free predictive inference for regression"
(split); Romano, Patterson and Candès 2019, "Conformalized quantile regression" (cqr, with an offset for each side).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.errors import DataError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """What is added to the base of every step and level, on the scale of the series."""

    kind: str
    """split or cqr."""
    levels: tuple[float, ...]
    offsets: Floats
    """(horizon, num_levels)"""
    values: NDArray[np.int64]
    """True values behind the offsets of each step, (horizon,)."""

    def apply(self, base: Floats) -> Floats:
        """The base (batch, horizon, num_levels), calibrated; its levels may cross."""
        return np.asarray(base + self.offsets, np.float64)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able, bit for bit."""
        offsets, values = self.offsets.tolist(), self.values.tolist()
        return {"kind": self.kind, "levels": list(self.levels), "offsets": offsets, "values": values}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """What `to_dict` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        levels = tuple(float(level) for level in content["levels"])
        offsets, values = np.array(content["offsets"], np.float64), np.array(content["values"], np.int64)
        if offsets.shape != (len(values), len(levels)) or not np.isfinite(offsets).all():
            raise ValueError("offsets that cannot be")
        return cls(content["kind"], levels, offsets, values)


def fit_calibration(kind: str, levels: tuple[float, ...], actual: Floats, base: Floats) -> Calibration:
    """The offsets that windows say.

    Args:
        kind: split or cqr, which is recorded.
        levels: ascending, (num_levels,).
        actual: true values on the series' scale, NaN where not observed, (num_windows, horizon).
        base: what is calibrated, (num_windows, horizon, num_levels).

    Raises:
        DataError: too few values for a level; `check_enough_values` says so before training.
    """
    counts = (~np.isnan(actual)).sum(axis=0)
    check_enough_values(levels, counts)
    above = np.sort(actual[..., None] - base, axis=0)  # NaN come last
    offsets = np.empty((len(counts), len(levels)))
    for step, count in enumerate(counts):
        for index, level in enumerate(levels):
            offsets[step, index] = above[conformal_rank(level, int(count)) - 1, step, index]
    return Calibration(kind, levels, offsets, counts)


def conformal_rank(level: float, count: int) -> int:
    """Which of so many ascending values is the level's, counted from 1; outside 1 … count where there are too few."""
    exact = Fraction(repr(level)) * (count + 1)  # 0.7 · 10 is 7, as nobody writes 0.69999999999999996
    return -(-exact.numerator // exact.denominator) if level >= 0.5 else exact.numerator // exact.denominator


def values_needed(levels: tuple[float, ...]) -> int:
    """The fewest values that every one of the levels can be taken from."""
    shares = [Fraction(repr(level)) for level in levels]
    # ceil((n + 1) l) <= n, so n >= l / (1 - l); and floor((n + 1) l) >= 1, so n >= 1 / l - 1.
    bounds = [share / (1 - share) if share >= Fraction(1, 2) else 1 / share - 1 for share in shares]
    return max(-(-bound.numerator // bound.denominator) for bound in bounds)


def check_enough_values(levels: tuple[float, ...], counts: NDArray[np.int64]) -> None:
    """Refuse to calibrate levels that lie further out than the windows reach.

    Args:
        levels: (num_levels,).
        counts: known true values of each step over the validation windows, (horizon,).

    Raises:
        DataError: with how many there are and how many it takes.
    """
    needed, step = values_needed(levels), int(counts.argmin())
    if counts[step] >= needed:
        return
    shown = ", ".join(f"{level:g}" for level in levels)
    raise DataError(
        f"calibrating the levels {shown} takes {needed} validation windows; step {step + 1} has {counts[step]}",
        "a larger --validation or --validation-windows, levels nearer to 0.5, or no --calibration",
    )
