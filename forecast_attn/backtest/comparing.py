"""What the baselines of a backtest forecast, and from which rows those that are fitted learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.missing import without_later_values
from forecast_attn.errors import DataError
from forecast_attn.evaluation.baseline_forecasts import FITTED_BASELINES, BaselineSetup, baseline_forecasts

if TYPE_CHECKING:
    from forecast_attn.backtest.backtest import Backtest


def compared_forecasts(name: str, backtest: Backtest) -> NDArray[np.float64]:
    """Forecast all windows of a backtest with a baseline.

    What is fitted is estimated when the network is: once, or at each refit.

    Returns:
        (num_windows, horizon), in the target's units; NaN where there is no forecast.

    Raises:
        ConfigError: the baseline is not installed.
        DataError: there is too little to fit it on, at every refit.
    """
    schema, windows, fits = backtest.model.schema, backtest.folds.windows, list(_fits(backtest))
    if name not in FITTED_BASELINES:
        return baseline_forecasts(name, backtest.panel, windows, BaselineSetup.of(schema, fits[0][1]))
    forecasts = np.full((len(windows), schema.horizon), np.nan)
    errors = []
    for own, boundary in fits:
        try:
            panel, setup = without_later_values(backtest.panel, boundary), BaselineSetup.of(schema, boundary)
            forecasts[own] = baseline_forecasts(name, panel, windows[own], setup)
        except DataError as error:  # of an early refit, which may have too little to learn from: no forecasts
            errors.append(error)
    if len(errors) == len(fits):
        raise errors[0]
    return forecasts


def _fits(backtest: Backtest) -> Iterator[tuple[slice, Any]]:
    """The windows that one estimation serves, and the stamp of the last row that it may learn from."""
    folds = backtest.folds
    if not backtest.refit.every:
        # Nothing that the first forecast did not know, and nothing that training did not see.
        yield slice(None), min(backtest.trained_until, folds.folds[0].cutoff)
        return
    for model in folds.models:
        yield folds.windows_of_model(model), next(fold.cutoff for fold in folds.folds if fold.model == model)
