"""Quantiles of a forecast: from a head's parameters, in order, in the target's units, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.values import quantile_name
from forecast_attn.data.scaling import Scaler
from forecast_attn.evaluation.quantile_scores import pinball

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

    total_count = 1 / dispersion
    return np.asarray(stats.nbinom.ppf(quantiles, total_count, total_count / (total_count + mean)), np.float64)


def tweedie_quantiles(mean: Floats, dispersion: Floats, quantiles: Floats) -> Floats:
    """Quantiles at the power 1.5: 0 up to its probability, then those of a noncentral chi-square distribution.

    A Poisson number (λ) of exponential amounts (γ) is γ / 2 times such a variable with no degrees of freedom and the
    noncentrality 2 λ (Siegel 1979, "The noncentral chi-squared distribution with zero degrees of freedom").
    """
    from scipy import special

    rate, amount = 2 * np.sqrt(mean) / dispersion, dispersion * np.sqrt(mean) / 2
    above = special.chndtrix(
        np.broadcast_to(quantiles, np.broadcast_shapes(rate.shape, quantiles.shape)), FREEDOM, 2 * rate
    )
    return np.where(quantiles <= np.exp(-rate), 0.0, amount / 2 * above)


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
    losses = pinball(values, forecasts, np.array(quantiles)).mean(axis=0)
    return {
        "pinball": {quantile_name(quantile): float(loss) for quantile, loss in zip(quantiles, losses, strict=True)},
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
