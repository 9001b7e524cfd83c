"""Levels of a forecast: the quantiles behind a head's parameters, in order and in the target's units."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.values import level_name
from forecast_attn.data.scaling import Scaler
from forecast_attn.errors import DataError

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


# --------------------------------------------------------------------------- calibration
# Conformal calibration: levels moved so that, on the validation windows, as many values lie below as they say.


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


# --------------------------------------------------------------------------- scores
# How good levels were on the validation windows: pinball loss and coverage, for metrics.json.


def level_scores(levels: tuple[float, ...], actual: Floats, forecast: Floats) -> dict[str, Any]:
    """Pinball loss of every level, and how often the widest pair held the true value.

    Args:
        levels: ascending, (num_levels,).
        actual: NaN where not observed, (num_windows, horizon).
        forecast: the levels in the target's units, (num_windows, horizon, num_levels).

    Returns:
        `pinball`: level -> mean loss, in the target's units. `interval`: lower and upper level, the share of values
        that should lie between them (nominal) and did (coverage), and the mean width; None for a single level. All
        are None where nothing was observed.
    """
    observed = ~np.isnan(actual)
    if not observed.any():
        return {"pinball": None, "interval": None}
    values, quantiles = actual[observed][:, None], forecast[observed]
    error = values - quantiles
    shares = np.array(levels)
    pinball = np.maximum(shares * error, (shares - 1) * error).mean(axis=0)
    return {
        "pinball": {level_name(level): float(loss) for level, loss in zip(levels, pinball, strict=True)},
        "interval": _interval(levels, values[:, 0], quantiles) if len(levels) > 1 else None,
    }


def _interval(levels: tuple[float, ...], values: Floats, quantiles: Floats) -> dict[str, float]:
    lower, upper = quantiles[:, 0], quantiles[:, -1]
    return {
        "lower": levels[0],
        "upper": levels[-1],
        "nominal": round(levels[-1] - levels[0], 12),
        "coverage": float(((values >= lower) & (values <= upper)).mean()),
        "width": float((upper - lower).mean()),
    }
