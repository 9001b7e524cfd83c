"""The baseline `quantile-regression`: the maps of `median-regression` for every quantile, estimated anew with time.

A linear map per phase of the season and quantile, from the same inputs and on the same scale of each window, with the
smallest pinball loss. Unlike the other baselines it has quantiles of its own: together with a network they are averaged
quantile by quantile (Vincent 1912; Lichtendahl, Grushka-Cockayne and Winkler 2013, "Is it better to average
probabilities or quantiles?").

Sources: Koenker and Bassett 1978, "Regression quantiles"; Hunter and Lange 2000, "Quantile regression via an MM
algorithm", for how it is solved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.median_regression import (
    MOST_WINDOWS_OF_PHASE,
    Fit,
    forecasts_by_phase,
    weighted_ridge,
)
from forecast_attn.baselines.regression_inputs import period
from forecast_attn.baselines.window_features import BaselineSetup
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NAME = "quantile-regression"
ESTIMATE_EVERY = 28
"""Seasons, counted from the first row of a series, from one estimation to the next."""
FEWEST_LEARNED = 20
"""Fewest windows to learn from, of which a tenth is two; with fewer there is no forecast."""
ROUNDS = 8
"""How often the quadratic bound of the pinball loss is minimised; see `regression_quantiles`."""
SMALLEST = 0.05
"""Errors below, on the scale of a window, count as squares do: their weight is no larger than that of this one."""
_TOLERANCE = 1e-4
"""Relative residual at which a round counts as solved; the next one begins there."""


def quantile_regression_forecasts(
    panel: Panel, cutoffs: Ints, setup: BaselineSetup, quantiles: tuple[float, ...]
) -> Floats:
    """Forecast quantiles with linear maps that are estimated every `ESTIMATE_EVERY` seasons; see `estimated_anew`."""

    def fitted(inputs: Floats, targets: Floats, penalties: Floats) -> Callable[[Floats], Floats]:
        maps = regression_quantiles(inputs, targets, quantiles, penalties)
        return lambda others: others @ maps

    return estimated_anew(NAME, fitted, panel, cutoffs, setup, quantiles, most=MOST_WINDOWS_OF_PHASE)


def estimated_anew(
    name: str,
    fit: Fit,
    panel: Panel,
    cutoffs: Ints,
    setup: BaselineSetup,
    quantiles: tuple[float, ...],
    *,
    most: int,
) -> Floats:
    """Forecast quantiles with a regression of each series and phase.

    The regression of a cut-off learns from every window of its series and phase whose horizon had come true at the last
    multiple of `ESTIMATE_EVERY` seasons: a forecast depends on no other cut-off, nor on the boundary.

    Args:
        name: of the baseline.
        fit: estimates it.
        panel: with the rows of each horizon.
        cutoffs: rows of the last known values, (num_cutoffs,).
        setup: sizes and calendar.
        quantiles: ascending, (num_quantiles,).
        most: windows of a phase; more are thinned out evenly.

    Returns:
        (num_cutoffs, horizon, num_quantiles), ascending, in the target's units. NaN where an input is missing, or fewer
        than `FEWEST_LEARNED` windows without a missing value are known.

    Raises:
        DataError: that is so of all cut-offs; or the windows have too many inputs.
    """
    epoch = ESTIMATE_EVERY * period(setup)
    learnt = (cutoffs - panel.starts[panel.series_of(cutoffs)] + 1) // epoch * epoch
    forecasts = forecasts_by_phase(
        name, fit, panel, cutoffs, setup, learnt, num_quantiles=len(quantiles), most=most, fewest=FEWEST_LEARNED
    )
    if len(forecasts) and np.isnan(forecasts).any(axis=(1, 2)).all():
        raise DataError(
            f"the baseline '{name}' has fewer than {FEWEST_LEARNED} windows without a missing value to learn from",
            "leave it out, begin later, or fill missing values with --missing",
        )
    return forecasts


def regression_quantiles(
    inputs: Floats, targets: Floats, quantiles: tuple[float, ...], penalties: Floats, rounds: int = ROUNDS
) -> Floats:
    """Weights of linear maps to quantiles, with nearly the least pinball loss and a ridge penalty.

    Each round minimises a square that lies above the pinball loss and touches it at the errors e of the round before:
    least squares with weights 1 / s to the target plus (2 τ - 1) s, where s is max(|e|, `SMALLEST`). The weights of
    each target are divided by their mean, so that the penalty keeps its share. The first errors are those of ridge
    regression, moved by their own quantile.

    Args:
        inputs: the first is the constant 1, (num_windows, num_inputs), none missing.
        targets: (num_windows, num_targets), none missing.
        quantiles: (num_quantiles,).
        penalties: on the squared weight of each input, at least 0 (num_inputs,).
        rounds: see above.

    Returns:
        (num_inputs, num_targets * num_quantiles), the quantiles of one target side by side.

    Raises:
        numpy.linalg.LinAlgError: inputs without penalty determine each other.
    """
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(inputs.T @ inputs + np.diag(penalties))
    ridge: Floats = cho_solve(factor, inputs.T @ targets)
    solution = np.repeat(ridge, len(quantiles), axis=1)
    solution[0] += np.quantile(targets - inputs @ ridge, quantiles, axis=0).T.ravel()
    repeated, lean = np.repeat(targets, len(quantiles), axis=1), 2 * np.tile(quantiles, targets.shape[1]) - 1
    for _ in range(rounds):
        size = np.maximum(np.abs(repeated - inputs @ solution), SMALLEST)
        weights = 1 / size
        weights /= weights.mean(axis=0)
        moved = repeated + lean * size
        solution = weighted_ridge(
            inputs, moved, weights, penalties, solution, lambda rest: cho_solve(factor, rest), _TOLERANCE
        )
    return solution
