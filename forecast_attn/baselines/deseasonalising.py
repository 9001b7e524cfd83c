"""Taking the season out of one series, and putting it back: factors where all values are above 0, else additive terms.

Both kinds come from the distance of the values to a centred moving average over one season, averaged by phase.

The classical one, of the M3 and M4 competitions, is taken where a test of the autocorrelation finds a season, and
weighs all seasons alike. A trend hides a season from that test, and averages of few seasons are mostly noise, which is
then put into the forecast. The shrunken one needs no test: it is drawn towards no season by what is noise in it, and
all the way where everything is; newer seasons count more, since seasons change.

Sources: Makridakis and Hibon 2000, "The M3-Competition" (the test at 90 %); Miller and Williams 2003, "Shrinkage
estimators of time series seasonal factors and their effect on forecasting accuracy".
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_SEASONS = 3
"""Seasons that a series must have for its season to be taken out."""
LIMIT = 1.645
"""Standard errors that the autocorrelation at a season must exceed."""
KEPT_A_SEASON = 0.75
"""Weight of a season in the shrunken factors, as a share of the weight of the next one."""
LEAST_FACTOR = 0.01
"""A phase of next to nothing would be divided by: such a series is taken as it is."""


Kind = Literal["multiplicative", "additive"]


class Seasonal(NamedTuple):
    """Factors or additive terms of the phases, from the first value on."""

    kind: Kind
    values: Floats

    def removed(self, values: Floats) -> Floats:
        """Return the values without the season."""
        index = np.resize(self.values, len(values))
        return values / index if self.kind == "multiplicative" else values - index

    def restored(self, forecast: Floats, length: int) -> Floats:
        """Undo `removed` for the steps after `length` values."""
        index = np.resize(np.roll(self.values, -length), len(forecast))
        return forecast * index if self.kind == "multiplicative" else forecast + index


NO_SEASON = Seasonal("additive", np.zeros(1))


def classical(values: Floats, season: int) -> Seasonal:
    """Estimate the season as the competitions did, where their test finds one."""
    if not is_seasonal(values, season):
        return NO_SEASON
    kind, detrended, phases = _detrended(values, season)
    return _centred(kind, np.bincount(phases, detrended, season) / np.bincount(phases, minlength=season))


def shrunken(values: Floats, season: int) -> Seasonal:
    """Estimate the season with newer seasons counting more, shrunk by its noise."""
    if season == 1 or len(values) < FEWEST_SEASONS * season:
        return NO_SEASON
    kind, detrended, phases = _detrended(values, season)
    weights = KEPT_A_SEASON ** (np.arange(len(detrended))[::-1] // season)
    total, squares = (np.bincount(phases, each, season) for each in (weights, weights**2))
    means = np.bincount(phases, weights * detrended, season) / total
    # Of weighted values, the degrees of freedom left by a weighted mean are Σw - Σw² / Σw, in each phase.
    variance = (weights * (detrended - means[phases]) ** 2).sum() / (total - squares / total).sum()
    noise = variance * (squares / total**2).mean()
    estimate = _centred(kind, means)
    spread = estimate.values.var() * season / (season - 1)
    kept = max(1 - noise / spread, 0) if spread > 0 else 0
    middle = estimate.values.mean()
    return Seasonal(estimate.kind, middle + kept * (estimate.values - middle))


def is_seasonal(values: Floats, season: int) -> bool:
    """Return True where the autocorrelation at a season is beyond what shorter lags explain; needs three seasons."""
    if season == 1 or len(values) < FEWEST_SEASONS * season:
        return False
    centred = values - values.mean()
    total = (centred**2).sum()
    if not total > 0:
        return False
    autocorrelations = np.array([(centred[lag:] * centred[:-lag]).sum() for lag in range(1, season + 1)]) / total
    limit = LIMIT * np.sqrt((1 + 2 * (autocorrelations[:-1] ** 2).sum()) / len(values))
    return bool(abs(autocorrelations[-1]) > limit)


def _detrended(values: Floats, season: int) -> tuple[Kind, Floats, Ints]:
    """Return the kind, ratios or distances of the values to the moving average where there is one, and their phases."""
    kind: Kind = "multiplicative" if (values > 0).all() else "additive"
    half = season // 2
    weights = np.r_[0.5, np.ones(season - 1), 0.5] / season if season % 2 == 0 else np.ones(season) / season
    trend = np.convolve(values, weights, "valid")
    middle = values[half : half + len(trend)]
    return (
        kind,
        middle / trend if kind == "multiplicative" else middle - trend,
        np.arange(half, half + len(trend)) % season,
    )


def _centred(kind: Kind, means: Floats) -> Seasonal:
    if kind == "additive":
        return Seasonal(kind, means - means.mean())
    means = means / means.mean()
    return Seasonal(kind, means) if means.min() >= LEAST_FACTOR else NO_SEASON
