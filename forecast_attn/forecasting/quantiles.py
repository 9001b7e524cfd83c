"""Quantiles of a forecast: from a head's parameters, calibrated, in order, in the target's units, and their scores."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.values import quantile_name
from forecast_attn.data.scaling import Scaler
from forecast_attn.data.transforms import MOST
from forecast_attn.errors import DataError
from forecast_attn.forecasting.adaptive_calibration import Tracking

Floats = NDArray[np.float64]


def quantiles_of(head: str, parameters: NDArray[Any], quantiles: tuple[float, ...]) -> Floats:
    """The quantiles that a head's parameters stand for, on the series' scale.

    Args:
        head: point, quantile, gaussian, student-t, negative-binomial or tweedie.
        parameters: of the head, (batch, horizon, size).
        quantiles: ascending; of a quantile head those it was trained on.

    Returns:
        (batch, horizon, num_quantiles), ascending but for rounding. A point head gives its point for every quantile;
        a split calibration starts from that.
    """
    values = parameters.astype(np.float64)
    if head == "quantile":
        return values
    if head == "point":
        return np.repeat(values, len(quantiles), axis=-1)
    if head in COUNTS:
        mean, dispersion = np.moveaxis(values, -1, 0)[..., None]
        return COUNTS[head](mean, dispersion, np.array(quantiles))
    loc, scale, *freedom = np.moveaxis(values, -1, 0)[..., None]
    return np.asarray(loc + scale * _standard_quantiles(np.array(quantiles), *freedom), np.float64)


def negative_binomial_quantiles(mean: Floats, dispersion: Floats, quantiles: Floats) -> Floats:
    """The smallest whole numbers with at least these probabilities of lying below or at them."""
    from scipy import stats

    number = 1 / dispersion
    return np.asarray(stats.nbinom.ppf(quantiles, number, number / (number + mean)), np.float64)


def tweedie_quantiles(mean: Floats, dispersion: Floats, quantiles: Floats) -> Floats:
    """Quantiles at the power 1.5: 0 up to its probability, then those of a noncentral chi-square distribution.

    A Poisson number (λ) of exponential amounts (γ) is γ / 2 times such a variable with no degrees of freedom and the
    noncentrality 2 λ (Siegel 1979, "The noncentral chi-squared distribution with zero degrees of freedom").
    """
    from scipy import special

    number, amount = 2 * np.sqrt(mean) / dispersion, dispersion * np.sqrt(mean) / 2
    above = special.chndtrix(
        np.broadcast_to(quantiles, np.broadcast_shapes(number.shape, quantiles.shape)), FREEDOM, 2 * number
    )
    return np.where(quantiles <= np.exp(-number), 0.0, amount / 2 * above)


FREEDOM = 1e-8
"""In the place of no degrees of freedom, which scipy does not take; the error is of this order."""
COUNTS = {"negative-binomial": negative_binomial_quantiles, "tweedie": tweedie_quantiles}


def _standard_quantiles(quantiles: Floats, freedom: Floats | None = None) -> Floats:
    """Quantiles of the normal distribution (num_quantiles,), or of Student's t (batch, horizon, num_quantiles)."""
    from scipy import special

    return np.asarray(special.ndtri(quantiles) if freedom is None else special.stdtrit(freedom, quantiles), np.float64)


def in_units(scaled: Floats, scaler: Scaler, series: NDArray[np.int64], *, non_negative: bool) -> Floats:
    """Quantiles in the target's units, in order.

    Scaling and transforms are increasing, so each quantile stays that quantile. Quantiles that cross after calibration
    or rounding are sorted, which never moves one further from the truth (Chernozhukov, Fernández-Val and Galichon 2010,
    "Quantile and probability curves without crossing").

    Args:
        scaled: on the series' scale, (batch, horizon, num_quantiles).
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
# Conformal calibration: offsets under which the right share of validation values lies below each quantile.


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
    """How the offsets go on; None where they stay."""

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
        if offsets.shape != (len(values), len(quantiles)) or not (np.abs(offsets) < MOST).all():
            raise ValueError("offsets that cannot be")
        tracking = None
        if content["kind"] == ADAPTIVE:
            tracking = Tracking(np.array(content["unit"], np.float64), int(content["after"]))
            if tracking.unit.shape != values.shape or not ((tracking.unit >= 0) & (tracking.unit < MOST)).all():
                raise ValueError("units that cannot be")
        return cls(content["kind"], quantiles, offsets, values, tracking)


def fit_calibration(kind: str, quantiles: tuple[float, ...], actual: Floats, base: Floats) -> Calibration:
    """The offsets that windows say.

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


# --------------------------------------------------------------------------- scores
# Scores of quantiles on the validation windows, pinball loss and coverage, for metrics.json.


def score_quantiles(quantiles: tuple[float, ...], actual: Floats, forecast: Floats) -> dict[str, Any]:
    """Pinball loss of every quantile, and how often the widest pair held the true value.

    Args:
        quantiles: ascending, (num_quantiles,).
        actual: NaN where not observed, (num_windows, horizon).
        forecast: the quantiles in the target's units, (num_windows, horizon, num_quantiles).

    Returns:
        `pinball`: quantile -> mean loss, in the target's units. `interval`: its two quantiles, the expected share
        of values between them (nominal), the observed share (coverage) and the mean width; None for a single quantile.
        Both are None where nothing was observed.
    """
    observed = ~np.isnan(actual)
    if not observed.any():
        return {"pinball": None, "interval": None}
    values, forecasts = actual[observed][:, None], forecast[observed]
    error = values - forecasts
    shares = np.array(quantiles)
    pinball = np.maximum(shares * error, (shares - 1) * error).mean(axis=0)
    return {
        "pinball": {quantile_name(quantile): float(loss) for quantile, loss in zip(quantiles, pinball, strict=True)},
        "interval": _interval(quantiles, values[:, 0], forecasts) if len(quantiles) > 1 else None,
    }


def _interval(quantiles: tuple[float, ...], values: Floats, forecasts: Floats) -> dict[str, float]:
    lower, upper = forecasts[:, 0], forecasts[:, -1]
    return {
        "lower": quantiles[0],
        "upper": quantiles[-1],
        "nominal": round(quantiles[-1] - quantiles[0], 12),
        "coverage": float(((values >= lower) & (values <= upper)).mean()),
        "width": float((upper - lower).mean()),
    }
