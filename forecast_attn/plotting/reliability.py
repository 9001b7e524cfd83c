"""Calibration of quantiles: the share of values below each quantile, beside the quantile.

A quantile l is calibrated when a share l of the values lies at or below it. Of n independent values the share that a
calibrated quantile gets is binomial (n, l) / n; the band holds 95 % of it (Bröcker and Smith 2007, "Increasing the
reliability of reliability diagrams", for probabilities of events). Values of one forecast depend on each other, so that
a curve may leave the band more often than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.errors import DataError
from forecast_attn.plotting.forecasts import Forecasts

Floats = NDArray[np.float64]

BAND = 0.95
"""Share of binomial draws that the band holds."""


@dataclass(frozen=True, eq=False)
class ModelReliability:
    """Calibration of one model's quantiles.

    Attributes:
        quantiles: nominal, ascending (quantiles,).
        observed: share of values at or below each quantile (quantiles,).
        counts: values behind each share (quantiles,).
        low, high: what the share of a calibrated quantile lies between (quantiles,).
    """

    name: str
    quantiles: Floats
    observed: Floats
    counts: NDArray[np.int64]
    low: Floats
    high: Floats

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Mask of the shares outside the band (quantiles,)."""
        return (self.observed < self.low) | (self.observed > self.high)


@dataclass(frozen=True, eq=False)
class Reliability:
    """Calibration of every model that has quantiles, in the order of their table."""

    models: tuple[ModelReliability, ...]
    target: str
    notes: list[str]

    @property
    def fewest(self) -> int:
        """Values behind the least known share."""
        return int(min(model.counts.min() for model in self.models))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: every number that is drawn."""
        return {
            "kind": "calibration",
            "target": self.target,
            "band": BAND,
            "notes": self.notes,
            "models": [
                {
                    "model": model.name,
                    "quantile": model.quantiles.tolist(),
                    "observed": model.observed.tolist(),
                    "n": model.counts.tolist(),
                    "low": model.low.tolist(),
                    "high": model.high.tolist(),
                }
                for model in self.models
            ],
        }


def reliability(forecasts: Forecasts, notes: list[str] | None = None) -> Reliability:
    """Count how often the value lies at or below each quantile.

    Args:
        forecasts: with targets.
        notes: on the forecasts.

    Raises:
        DataError: no model has quantiles.
    """
    if not forecasts.quantiles:
        raise DataError(
            f"{forecasts.name} has no quantiles to show the calibration of",
            "train with quantiles: forecast train DATA --quantiles 0.1,0.5,0.9",
        )
    calibrations = (_of_model(forecasts, name) for name in forecasts.models)
    models = tuple(model for model in calibrations if model is not None)
    if not models:
        raise DataError(f"{forecasts.name} has no value that can be compared with a quantile", "forecast backtest RUN")
    return Reliability(models, forecasts.target or "target", notes or [])


def _of_model(forecasts: Forecasts, name: str) -> ModelReliability | None:
    """Calibration of one model; None for a model without quantiles."""
    frame = forecasts.frame[forecasts.frame["model"] == name]
    target = frame["target"].to_numpy(np.float64)
    quantiles, shares, counts = [], [], []
    for column, quantile in forecasts.quantiles.items():
        line = frame[column].to_numpy(np.float64)
        known = ~np.isnan(line) & ~np.isnan(target)
        if known.any():
            quantiles.append(quantile)
            shares.append(float((target[known] <= line[known]).mean()))
            counts.append(int(known.sum()))
    if not quantiles:
        return None
    low, high = band(np.array(quantiles), np.array(counts))
    return ModelReliability(name, np.array(quantiles), np.array(shares), np.array(counts, np.int64), low, high)


def band(quantiles: Floats, counts: NDArray[Any]) -> tuple[Floats, Floats]:
    """Bounds of the share of `counts` independent values below calibrated quantiles, with probability `BAND`."""
    from scipy.stats import binom

    low, high = (binom.ppf(tail, counts, quantiles) / counts for tail in ((1 - BAND) / 2, (1 + BAND) / 2))
    return np.asarray(low), np.asarray(high)
