"""Every metric as a ratio of two sums over rows, so that one pass groups them all.

A metric gives each row a numerator and a denominator; a group's score is sum(numerator) / sum(denominator), or the root
of it. A row whose numerator is NaN is left out of that metric, and counted.

Sources: Hyndman and Koehler 2006, "Another look at measures of forecast accuracy" (MASE, RMSSE, rMAE; why not MAPE);
Gneiting and Raftery 2007 (pinball, CRPS, interval score); Salinas et al. 2020 (weighted quantile loss).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.errors import ConfigError, did_you_mean
from forecast_attn.evaluation.quantile_scores import Floats, covered, intervals, pinball, winkler

SAMPLE_CRPS = "sample_crps"
"""Column of a tidy table with the score of each row's own samples, NaN where it has none."""


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows that have a target and a forecast, as arrays (num_rows,)."""

    target: Floats
    prediction: Floats
    quantiles: dict[float, Floats]
    """Quantile -> its forecasts, NaN where the model has none."""
    mae_scale: Floats | None = None
    """In-sample seasonal-naive MAE of the row's series; NaN where the series has none."""
    rmse_scale: Floats | None = None
    baseline_error: Floats | None = None
    """Absolute error of the baseline at the same series, cut-off and stamp; NaN where it has no forecast."""
    sample_crps: Floats | None = None
    """The score of the row's samples; NaN where it has none."""

    @property
    def error(self) -> Floats:
        return self.prediction - self.target


class Ratio(NamedTuple):
    """One column of the result."""

    column: str
    numerator: Floats
    denominator: Floats | float = 1.0
    root: bool = False


Measure = Callable[[ScoredRows], Iterable[Ratio]]


def _mase(rows: ScoredRows) -> Iterator[Ratio]:
    assert rows.mae_scale is not None
    yield Ratio("mase", _divided(np.abs(rows.error), rows.mae_scale))


def _rmsse(rows: ScoredRows) -> Iterator[Ratio]:
    assert rows.rmse_scale is not None
    yield Ratio("rmsse", np.square(_divided(rows.error, rows.rmse_scale)), root=True)


def _rmae(rows: ScoredRows) -> Iterator[Ratio]:
    assert rows.baseline_error is not None
    error = np.where(np.isnan(rows.baseline_error), np.nan, np.abs(rows.error))
    yield Ratio("rmae", error, rows.baseline_error)


def _pinball(rows: ScoredRows) -> Iterator[Ratio]:
    for quantile, forecast in rows.quantiles.items():
        yield Ratio(f"pinball@{quantile:g}", pinball(rows.target, forecast, quantile))


def _crps(rows: ScoredRows) -> Iterator[Ratio]:
    from_quantiles = 2 * _mean_pinball(rows)
    exact = rows.sample_crps
    yield Ratio("crps", from_quantiles if exact is None else np.where(np.isnan(exact), from_quantiles, exact))


def _coverage(rows: ScoredRows) -> Iterator[Ratio]:
    for pair in intervals(rows.quantiles):
        inside = covered(rows.target, rows.quantiles[pair.lower], rows.quantiles[pair.upper])
        yield Ratio(f"coverage@{pair.nominal:g}", inside)


def _width(rows: ScoredRows) -> Iterator[Ratio]:
    for pair in intervals(rows.quantiles):
        yield Ratio(f"width@{pair.nominal:g}", rows.quantiles[pair.upper] - rows.quantiles[pair.lower])


def _winkler(rows: ScoredRows) -> Iterator[Ratio]:
    for pair in intervals(rows.quantiles):
        lower, upper = rows.quantiles[pair.lower], rows.quantiles[pair.upper]
        yield Ratio(f"winkler@{pair.nominal:g}", winkler(rows.target, lower, upper, pair.nominal))


def _mean_pinball(rows: ScoredRows) -> Floats:
    losses = [pinball(rows.target, forecast, quantile) for quantile, forecast in rows.quantiles.items()]
    return np.asarray(np.mean(losses, axis=0))


def _divided(values: Floats, by: Floats) -> Floats:
    """Divide; NaN, which leaves the row out, where the denominator is 0 or missing."""
    quotients: Floats = np.divide(values, by, out=np.full(len(values), np.nan), where=by > 0)
    return quotients


_MEASURES: dict[str, Measure] = {
    "mae": lambda rows: [Ratio("mae", np.abs(rows.error))],
    "rmse": lambda rows: [Ratio("rmse", np.square(rows.error), root=True)],
    "bias": lambda rows: [Ratio("bias", rows.error)],
    "mape": lambda rows: [Ratio("mape", _divided(np.abs(rows.error), np.abs(rows.target)))],
    "smape": lambda rows: [
        Ratio("smape", _divided(2 * np.abs(rows.error), np.abs(rows.target) + np.abs(rows.prediction)))
    ],
    "wape": lambda rows: [Ratio("wape", np.abs(rows.error), np.abs(rows.target))],
    "mase": _mase,
    "rmsse": _rmsse,
    "rmae": _rmae,
    "pinball": _pinball,
    "wql": lambda rows: [Ratio("wql", 2 * _mean_pinball(rows), np.abs(rows.target))],
    "crps": _crps,
    "coverage": _coverage,
    "width": _width,
    "winkler": _winkler,
}
METRICS = tuple(_MEASURES)
LEAVES_OUT = ("mape", "smape", "mase", "rmsse", "rmae")
"""Metrics that do not exist at every row; how many they leave out stands beside them."""
_OF_SCALES = ("mase", "rmsse")
_OF_QUANTILES = ("pinball", "wql", "crps")
_OF_INTERVALS = ("coverage", "width", "winkler")


def check_metrics(names: tuple[str, ...] | list[str]) -> None:
    """Refuse unknown metrics.

    Raises:
        ConfigError: with the nearest name.
    """
    for name in names:
        if name not in METRICS:
            raise ConfigError(f"there is no metric '{name}'", did_you_mean(name, METRICS))


def ratios(rows: ScoredRows, names: tuple[str, ...] | None) -> Iterator[Ratio]:
    """The named metrics, or all that these rows allow; each is computed when it is asked for.

    Raises:
        ConfigError: there is no such metric, or these rows do not allow it.
    """
    if names is None:
        names = tuple(name for name in METRICS if _lacking(name, rows) is None)
    check_metrics(names)
    for name in names:
        lacking = _lacking(name, rows)
        if lacking is not None:
            raise ConfigError(f"the metric '{name}' needs {lacking[0]}", lacking[1])
    return (ratio for name in names for ratio in _MEASURES[name](rows))


def _lacking(name: str, rows: ScoredRows) -> tuple[str, str] | None:
    """Return the missing input of a metric and the hint for it; None when these rows have all it needs."""
    if name in _OF_SCALES and rows.mae_scale is None:
        return "the scale of each series", "give the season of the actuals"
    if name == "rmae" and rows.baseline_error is None:
        return "a model to compare with", "name the reference model"
    if name in _OF_QUANTILES and not rows.quantiles:
        return "columns of quantiles, such as 0.1 and 0.9", "forecast with --quantiles 0.1,0.5,0.9"
    if name in _OF_INTERVALS and not intervals(rows.quantiles):
        return "a symmetric pair of quantiles, such as 0.1 and 0.9", "forecast with --quantiles 0.1,0.5,0.9"
    return None


# --------------------------------------------------------------------------- metrics
# Point forecast errors, in the target's own units unless the name says otherwise.


def point_metrics(
    actual: NDArray[np.float64], prediction: NDArray[np.float64], naive_error: NDArray[np.float64]
) -> dict[str, float | None]:
    """MAE, RMSE and MASE over windows.

    Args:
        actual: NaN where not observed, which leaves the step out, (num_windows, horizon).
        prediction: (num_windows, horizon).
        naive_error: in-sample seasonal-naive error of each window's series, (num_windows,); NaN or 0 leaves a window
            out of MASE, because a series that never changes has no scale.

    Returns:
        `mae`, `rmse` and `mase`, each the mean over observed steps, as in `forecast backtest`; None where there is no
        step to score.
    """
    observed = ~np.isnan(actual)
    scales = np.broadcast_to(np.asarray(naive_error, np.float64)[:, None], actual.shape)
    rows = ScoredRows(actual[observed], prediction[observed], {}, mae_scale=scales[observed])
    return {ratio.column: _score(ratio) for ratio in ratios(rows, ("mae", "rmse", "mase"))}


def _score(ratio: Ratio) -> float | None:
    """Return the score of all rows as one group; None where every row is left out."""
    counted = ratio.numerator[~np.isnan(ratio.numerator)]
    if not len(counted):
        return None
    mean = float(counted.sum() / len(counted))
    return math.sqrt(mean) if ratio.root else mean


def skill_per_cent(error: float, baseline_error: float) -> float | None:
    """Reduction of an error against a baseline's, in per cent; None where the baseline is perfect, or nearly so."""
    skill = 100 * (1 - error / baseline_error) if baseline_error > 0 else math.inf
    return skill if math.isfinite(skill) else None
