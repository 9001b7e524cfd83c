"""A linear network on the same windows, in closed form: the baseline that attention must beat.

Source: Zeng, Chen, Zhang and Xu 2023, "Are transformers effective for time series forecasting?" (AAAI). Theirs, NLinear
and DLinear, are one linear layer from the lookback to the horizon, trained by gradient descent on the target alone.
Ours subtracts the last value as NLinear does, and differs in three ways: it is ridge regression, so that it has no
learning rate, seed or stopping; each step also sees its calendar and known covariates, and those one season before it,
as the network does; all series share its weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.window_features import BaselineSetup, WindowFeatures
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_WINDOWS = 10_000
"""Training windows; more are thinned out evenly."""
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Candidate penalties, as shares of the mean variance of the inputs."""
_HELD_OUT = 0.15
"""The last share of the training windows, on which the penalty is chosen."""
_FORECASTS_AT_ONCE = 4_096


class _Layer(NamedTuple):
    """prediction = inputs @ weights + offset."""

    weights: Floats
    offset: float


def fitted_linear(panel: Panel, setup: BaselineSetup) -> Callable[[Ints], Floats]:
    """Fit a ridge regression per step.

    Args:
        panel: with the rows of each horizon.
        setup: sizes, calendar, and the boundary up to which is learnt.

    Returns:
        From rows of the last known values (num_cutoffs,) to forecasts (num_cutoffs, horizon), in the target's units.
        Only rows up to the boundary, those of the lookback, and known covariates of the horizon matter.

    Raises:
        DataError: there is no training window.
    """
    features = WindowFeatures(panel, setup)
    learnt = features.training_cutoffs(MOST_WINDOWS)
    if not len(learnt):
        before = panel.zone.stamp_text(setup.boundary)
        raise DataError(
            f"there is no window of lookback {setup.lookback} + horizon {setup.horizon} up to {before} to learn from",
            "leave the baseline 'linear' out, or begin later",
        )
    penalties = [(penalty,) for penalty in _chosen_penalties(features, learnt, setup)]
    layers = [fit for (fit,) in _fit(features, learnt, penalties)]

    def forecast(cutoffs: Ints) -> Floats:
        parts = [
            features.in_units(_predict(features, layers, some), some)
            for some in np.split(cutoffs, range(_FORECASTS_AT_ONCE, len(cutoffs), _FORECASTS_AT_ONCE))
        ]
        return np.concatenate(parts)

    return forecast


def _chosen_penalties(features: WindowFeatures, learnt: Ints, setup: BaselineSetup) -> list[float]:
    """Choose each step's penalty by the mean absolute error on the last training windows."""
    held_out = max(1, round(_HELD_OUT * len(learnt)))
    earlier, late = learnt[:-held_out], learnt[-held_out:]
    if len(earlier) < 2:
        return [PENALTIES[-1]] * setup.horizon
    past, last = features.past(late)
    chosen = []
    for step, fits in enumerate(_fit(features, earlier, [PENALTIES] * setup.horizon), start=1):
        inputs = np.concatenate([past, features.known(late, step)], axis=1)
        misses = np.stack([inputs @ layer.weights + layer.offset for layer in fits]) - features.targets(
            late, last, step
        )
        observed = ~np.isnan(misses[0])
        chosen.append(PENALTIES[int(np.argmin(np.abs(misses[:, observed]).sum(axis=1)))])
    return chosen


def _fit(features: WindowFeatures, cutoffs: Ints, penalties: Sequence[tuple[float, ...]]) -> Iterator[list[_Layer]]:
    """Fit a layer per penalty for each step, whose penalties are given from the first step on."""
    past, last = features.past(cutoffs)
    products = past.T @ past  # the same for every step, and nearly all of the work
    for step, of_step in enumerate(penalties, start=1):
        targets = features.targets(cutoffs, last, step)
        observed = ~np.isnan(targets)
        known = features.known(cutoffs, step)
        if observed.all():
            yield _ridge(past, known, targets, products, of_step)
        else:
            some = past[observed]
            yield _ridge(some, known[observed], targets[observed], some.T @ some, of_step)


def _ridge(
    past: Floats, known: Floats, targets: Floats, products: Floats, penalties: tuple[float, ...]
) -> list[_Layer]:
    """Ridge regression with an offset that is not penalised, on inputs scaled to variance 1.

    Args:
        past: (num_windows, lookback).
        known: (num_windows, num_known).
        targets: (num_windows,).
        products: past.T @ past.
        penalties: as shares of the inputs' variance.
    """
    number, size = max(len(targets), 1), past.shape[1] + known.shape[1]
    if not len(targets):
        return [_Layer(np.zeros(size), 0.0) for _ in penalties]
    means = np.concatenate([past.mean(axis=0), known.mean(axis=0)])
    gram = np.empty((size, size))
    width = past.shape[1]
    gram[:width, :width], gram[width:, width:] = products, known.T @ known
    gram[:width, width:] = past.T @ known
    gram[width:, :width] = gram[:width, width:].T
    covariance = gram / number - np.outer(means, means)
    spread = np.sqrt(np.maximum(np.diag(covariance), 0))
    # What never changes says nothing, and the last value minus itself is 0.
    inverse = np.divide(1, spread, out=np.zeros(size), where=spread > 1e-8)
    scaled = covariance * np.outer(inverse, inverse)
    moments = np.concatenate([past.T @ targets, known.T @ targets]) / number - means * targets.mean()
    layers = []
    for penalty in penalties:
        weights = inverse * np.linalg.solve(scaled + penalty * np.eye(size), inverse * moments)
        layers.append(_Layer(weights, float(targets.mean() - means @ weights)))
    return layers


def _predict(features: WindowFeatures, layers: list[_Layer], cutoffs: Ints) -> Floats:
    """Scaled forecasts (num_cutoffs, horizon)."""
    past, last = features.past(cutoffs)
    width = past.shape[1]
    steps = [
        past @ layer.weights[:width] + features.known(cutoffs, step) @ layer.weights[width:] + layer.offset
        for step, layer in enumerate(layers, start=1)
    ]
    return np.stack(steps, axis=1) + last[:, None]
