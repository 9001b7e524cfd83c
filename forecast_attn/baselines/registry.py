"""The registry of baselines by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from forecast_attn.baselines.naive import Floats, Ints, drift, naive, recent_mean, recent_median, seasonal_naive
from forecast_attn.baselines.window_features import BaselineSetup
from forecast_attn.data.panel import Panel
from forecast_attn.errors import ConfigError, did_you_mean

__all__ = [
    "BASELINES",
    "DEFAULT_BASELINES",
    "FITTED_BASELINES",
    "BaselineSetup",
    "baseline_forecasts",
    "check_baselines",
    "fitted_baseline",
    "quantile_forecasts",
]

DEFAULT_BASELINES = ("naive", "seasonal-naive", "mean", "median", "drift", "linear")
OPTIONAL_BASELINES = ("boosted-trees", "auto-ets", "auto-theta", "auto-arima")
FORMULAS = ("naive2", "theta", "dynamic-theta", "damped-trend", "autoregression", "temporal-aggregation")
BASELINES = (
    *DEFAULT_BASELINES,
    *FORMULAS,
    "regression",
    "median-regression",
    "quantile-regression",
    "kernel-regression",
    *OPTIONAL_BASELINES,
    "chronos",
)

_SIMPLE = {"naive": naive, "mean": recent_mean, "median": recent_median, "drift": drift}
_OF_EACH_CUTOFF = (*_SIMPLE, "seasonal-naive", *OPTIONAL_BASELINES[1:])
"""Those that do not learn, and cost the same however many cut-offs are forecast at once."""
FITTED_BASELINES = ("linear", "median-regression", "boosted-trees")
"""Those that learn from the windows up to a boundary; of the others every cut-off has its own."""
WITH_QUANTILES = ("quantile-regression", "kernel-regression", "chronos")
"""Those that forecast more than a point."""


def check_baselines(names: tuple[str, ...] | list[str], chronos_model: Path | None = None) -> None:
    """Refuse baselines that are unknown or not installed, before anything is computed.

    Args:
        names: of the baselines.
        chronos_model: folder of the weights of `chronos`.

    Raises:
        ConfigError: with the nearest name, or the command that installs it.
    """
    for name in names:
        if name not in BASELINES:
            raise ConfigError(f"there is no baseline '{name}'", did_you_mean(name, BASELINES))
        if name in OPTIONAL_BASELINES:
            from forecast_attn.baselines.optional import package_of

            package_of(name)
        if name == "chronos":
            from forecast_attn.baselines.chronos import check_chronos

            check_chronos(chronos_model)


class CachedBaselines:
    """Forecasts of baselines at some cut-offs, each computed when it is first asked for."""

    def __init__(self, panel: Panel, cutoffs: Ints, setup: BaselineSetup) -> None:
        self.panel, self.cutoffs, self.setup = panel, cutoffs, setup
        self._forecasts: dict[str, Floats] = {}

    def of(self, name: str) -> Floats:
        """As `baseline_forecasts`, (num_cutoffs, horizon)."""
        if name not in self._forecasts:
            self._forecasts[name] = baseline_forecasts(name, self.panel, self.cutoffs, self.setup)
        return self._forecasts[name]


def fitted_baseline(name: str, panel: Panel, setup: BaselineSetup) -> Callable[[Ints], Floats] | None:
    """The baseline as a function of cut-offs that may be asked for in parts; None where it needs all of them at once.

    Args:
        name: one of `BASELINES`.
        panel: with the rows of each horizon.
        setup: as for `baseline_forecasts`.

    Raises:
        DataError: a fitted baseline has no training window.
    """
    if name == "linear":
        from forecast_attn.baselines.linear import fitted_linear

        return fitted_linear(panel, setup)
    if name in _OF_EACH_CUTOFF:
        return lambda cutoffs: baseline_forecasts(name, panel, cutoffs, setup)
    return None


def baseline_forecasts(name: str, panel: Panel, cutoffs: Ints, setup: BaselineSetup) -> Floats:
    """Forecast at the cut-offs with a baseline.

    Args:
        name: one of `BASELINES`.
        panel: with the rows of each horizon.
        cutoffs: rows of the last known values, (num_cutoffs,).
        setup: sizes, calendar, and the boundary up to which fitted baselines learn.

    Returns:
        (num_cutoffs, horizon), in the target's units. The target after a cut-off does not matter, but to what is
        fitted up to the boundary. NaN where a series has no value yet.

    Raises:
        ConfigError: there is no such baseline, or it is not installed.
        DataError: a fitted baseline has no training window.
    """
    check_baselines([name], setup.chronos_model)
    cutoffs = np.asarray(cutoffs, np.int64)
    starts = panel.starts[panel.series_of(cutoffs)]
    if name in _SIMPLE:
        return _SIMPLE[name](panel.target, starts, cutoffs, horizon=setup.horizon)
    if name == "seasonal-naive":
        return seasonal_naive(panel.target, starts, cutoffs, season=setup.season, horizon=setup.horizon)
    if name in FORMULAS:
        from forecast_attn.baselines.theta import formula_forecasts

        return formula_forecasts(name, panel.target, starts, cutoffs, season=setup.season, horizon=setup.horizon)
    if name == "linear":
        from forecast_attn.baselines.linear import fitted_linear

        return fitted_linear(panel, setup)(cutoffs)
    if name == "regression":
        from forecast_attn.baselines.regression import regression_forecasts

        return regression_forecasts(panel, cutoffs, setup)
    if name == "median-regression":
        from forecast_attn.baselines.median_regression import median_regression_forecasts

        return median_regression_forecasts(panel, cutoffs, setup)
    if name in WITH_QUANTILES:
        return quantile_forecasts(name, panel, cutoffs, setup, ())[0]
    from forecast_attn.baselines.optional import boosted_tree_forecasts, statistical_forecasts

    if name == "boosted-trees":
        return boosted_tree_forecasts(panel, cutoffs, setup)
    return statistical_forecasts(name, panel, cutoffs, setup)


MEDIAN = 0.5


def quantile_forecasts(
    name: str, panel: Panel, cutoffs: Ints, setup: BaselineSetup, quantiles: tuple[float, ...]
) -> tuple[Floats, Floats | None]:
    """Forecast at the cut-offs with a baseline, its quantiles too where it has any.

    Args as for `baseline_forecasts`, and `quantiles`, ascending; none where only the point matters.

    Returns:
        The point (num_cutoffs, horizon) and the quantiles (num_cutoffs, horizon, num_quantiles), which are None for a
        baseline that forecasts points alone.

    Raises:
        ConfigError, DataError: as `baseline_forecasts`.
    """
    if name not in WITH_QUANTILES:
        return baseline_forecasts(name, panel, cutoffs, setup), None
    from forecast_attn.baselines.chronos import chronos_forecasts
    from forecast_attn.baselines.kernel_regression import kernel_regression_forecasts
    from forecast_attn.baselines.quantile_regression import quantile_regression_forecasts

    functions = {
        "quantile-regression": quantile_regression_forecasts,
        "kernel-regression": kernel_regression_forecasts,
        "chronos": chronos_forecasts,
    }
    names = tuple(sorted({*quantiles, MEDIAN}))
    forecasts = functions[name](panel, np.asarray(cutoffs, np.int64), setup, names)
    return forecasts[..., names.index(MEDIAN)], forecasts[..., [names.index(each) for each in quantiles]]
