"""Baselines of the extra `baselines`: boosted trees of scikit-learn, AutoETS, AutoTheta and AutoARIMA of statsforecast.

Sources: Ke et al. 2017, "LightGBM", whose histogram trees scikit-learn's are; Hyndman and Khandakar 2008, "Automatic
time series forecasting: the forecast package for R".
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.naive import without_holes
from forecast_attn.baselines.window_features import BaselineSetup, WindowFeatures
from forecast_attn.data.panel import Panel
from forecast_attn.errors import ConfigError, DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_EXAMPLES = 100_000
"""Windows times steps that the trees learn from."""
NUM_TREES = 200
_LATEST = 48
"""Values right before the cut-off that the trees see; farther back they see one per season."""
_SEASONS = 10
"""Seasons before a cut-off that a statistical model is fitted to; at least two lookbacks."""


def boosted_tree_forecasts(panel: Panel, cutoffs: Ints, setup: BaselineSetup) -> Floats:
    """Forecast with gradient-boosted trees, one model for all series and steps (num_cutoffs, horizon).

    They see the last values, the same phase in earlier seasons, the step's covariates and calendar, and the step.

    Raises:
        ConfigError: scikit-learn is not installed.
        DataError: there is no training window.
    """
    ensemble = package_of("boosted-trees")
    features = WindowFeatures(panel, setup)
    learnt = features.training_cutoffs(max(MOST_EXAMPLES // setup.horizon, 1))
    if not len(learnt):
        raise DataError("there is no window to learn from", "leave the baseline 'boosted-trees' out, or begin later")
    steps = range(1, setup.horizon + 1)
    past, last = features.past(learnt)
    inputs = np.concatenate([_tree_inputs(features, past, learnt, step, setup) for step in steps])
    targets = np.concatenate([features.targets(learnt, last, step) for step in steps])
    observed = ~np.isnan(targets)
    trees = ensemble.HistGradientBoostingRegressor(
        loss="absolute_error", max_iter=NUM_TREES, early_stopping=False, random_state=0
    ).fit(inputs[observed], targets[observed])
    past, last = features.past(cutoffs)
    forecasts = [trees.predict(_tree_inputs(features, past, cutoffs, step, setup)) for step in steps]
    return features.in_units(np.stack(forecasts, axis=1) + last[:, None], cutoffs)


def _tree_inputs(features: WindowFeatures, past: Floats, cutoffs: Ints, step: int, setup: BaselineSetup) -> Floats:
    """(num_cutoffs, num_inputs)"""
    width, season = past.shape[1], setup.season
    newest = width - 1 + step - season * -(-step // season)
    phases = past[:, newest - season * np.arange(width // season)]  # none where a season is longer than the lookback
    number = np.full((len(past), 1), float(step))
    return np.concatenate([past[:, -_LATEST:], phases, features.known(cutoffs, step), number], axis=1)


def statistical_forecasts(name: str, panel: Panel, cutoffs: Ints, setup: BaselineSetup) -> Floats:
    """Forecast with AutoETS, AutoTheta or AutoARIMA, fitted to the target before every cut-off (num_cutoffs, horizon).

    They see the last ten seasons, or two lookbacks if these are longer, and no covariates. Where a value is missing the
    one before it stands. NaN where a series has no value yet.

    Raises:
        ConfigError: statsforecast is not installed.
    """
    models = package_of(name)
    length = max(_SEASONS * setup.season, 2 * setup.lookback)
    series = panel.series_of(cutoffs)
    forecasts = np.full((len(cutoffs), setup.horizon), np.nan)
    for index, (cutoff, start) in enumerate(zip(cutoffs, panel.starts[series], strict=True)):
        values = without_holes(panel.target[max(start, cutoff + 1 - length) : cutoff + 1])
        if len(values):
            forecasts[index] = _one_forecast(models, name, values, setup)
    return forecasts


def _one_forecast(models: Any, name: str, values: Floats, setup: BaselineSetup) -> Floats:
    season = setup.season if len(values) >= 2 * setup.season else 1
    if np.ptp(values) == 0:  # neither is defined on a constant
        return np.full(setup.horizon, values[-1])
    model = {"auto-ets": "AutoETS", "auto-theta": "AutoTheta", "auto-arima": "AutoARIMA"}[name]
    return np.asarray(getattr(models, model)(season_length=season).forecast(y=values, h=setup.horizon)["mean"])


_PACKAGES = {
    "boosted-trees": ("sklearn.ensemble", "scikit-learn"),
    "auto-ets": ("statsforecast.models", "statsforecast"),
    "auto-theta": ("statsforecast.models", "statsforecast"),
    "auto-arima": ("statsforecast.models", "statsforecast"),
}


def package_of(name: str) -> Any:
    """Import the module of a baseline.

    Raises:
        ConfigError: its package is absent; with the command that installs it.
    """
    module, package = _PACKAGES[name]
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ConfigError(
            f"the baseline '{name}' needs {package}, which is not installed", 'pip install "forecast-attn[baselines]"'
        ) from None
