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
from scipy import linalg

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
    all_windows = _Lookbacks.of(past)
    for step, of_step in enumerate(penalties, start=1):
        targets = features.targets(cutoffs, last, step)
        observed = ~np.isnan(targets)
        lookbacks = all_windows if observed.all() else all_windows.only(observed)
        yield lookbacks.ridge(features.known(cutoffs[observed], step), targets[observed], of_step)


class _Inputs(NamedTuple):
    """Inputs in which every column has the mean 0."""

    values: Floats
    """(num_windows, num_columns)."""
    means: Floats
    scale: Floats
    """1 / standard deviation of each column; 0 where it never changes, as the last value minus itself."""

    @classmethod
    def standardised(cls, inputs: Floats) -> _Inputs:
        means, spread = inputs.mean(axis=0), inputs.std(axis=0)
        scale = np.divide(1, spread, out=np.zeros(len(spread)), where=spread > 1e-8)
        return cls((inputs - means) * scale, means, scale)


class _Lookbacks:
    """The lookbacks of training windows: the same for every step of the horizon, and nearly all of the work."""

    def __init__(self, inputs: _Inputs, products: Floats) -> None:
        self._inputs, self._products = inputs, products
        self._factors: dict[float, tuple[Floats, bool]] = {}

    @classmethod
    def of(cls, past: Floats) -> _Lookbacks:
        """Standardise the lookbacks (num_windows, lookback)."""
        inputs = _Inputs.standardised(past)
        return cls(inputs, inputs.values.T @ inputs.values)

    def only(self, observed: NDArray[np.bool_]) -> _Lookbacks:
        """Leave out the windows that are not observed (num_windows,), of which there are few."""
        values, means, scale = self._inputs
        others, values = values[~observed], values[observed]
        shift = values.sum(axis=0) / max(len(values), 1)
        means = means + np.divide(shift, scale, out=np.zeros(len(scale)), where=scale > 0)
        products = self._products - others.T @ others - len(values) * np.outer(shift, shift)
        return _Lookbacks(_Inputs(values - shift, means, scale), products)

    def ridge(self, known: Floats, targets: Floats, penalties: tuple[float, ...]) -> list[_Layer]:
        """Fit a ridge regression per penalty, with an offset that is not penalised.

        The normal equations are solved by blocks: what the lookbacks explain of the known inputs and of the targets
        comes first, by factors that all steps share; what is left of both gives the few weights of the known inputs.

        Args:
            known: (num_windows, num_known).
            targets: (num_windows,), each observed.
            penalties: as shares of the inputs' variance.
        """
        number = len(targets)
        if not number:
            return [_Layer(np.zeros(len(self._products) + known.shape[1]), 0.0) for _ in penalties]
        past, also = self._inputs, _Inputs.standardised(known)
        both = np.concatenate([also.values, (targets - targets.mean())[:, None]], axis=1)
        with_past, with_known = past.values.T @ both / number, also.values.T @ both / number
        means, scale = np.concatenate([past.means, also.means]), np.concatenate([past.scale, also.scale])
        layers = []
        for penalty in penalties:
            explained = linalg.cho_solve(self._factor(penalty, number), with_past)
            rest = with_known - with_past[:, :-1].T @ explained
            of_known = np.linalg.solve(rest[:, :-1] + penalty * np.eye(len(rest)), rest[:, -1])
            of_past = explained[:, -1] - explained[:, :-1] @ of_known
            weights = scale * np.concatenate([of_past, of_known])
            layers.append(_Layer(weights, float(targets.mean() - means @ weights)))
        return layers

    def _factor(self, penalty: float, number: int) -> tuple[Floats, bool]:
        if penalty not in self._factors:
            covariance = self._products / number
            self._factors[penalty] = linalg.cho_factor(covariance + penalty * np.eye(len(covariance)))
        return self._factors[penalty]


def _predict(features: WindowFeatures, layers: list[_Layer], cutoffs: Ints) -> Floats:
    """Scaled forecasts (num_cutoffs, horizon)."""
    past, last = features.past(cutoffs)
    width = past.shape[1]
    steps = [
        past @ layer.weights[:width] + features.known(cutoffs, step) @ layer.weights[width:] + layer.offset
        for step, layer in enumerate(layers, start=1)
    ]
    return np.stack(steps, axis=1) + last[:, None]
