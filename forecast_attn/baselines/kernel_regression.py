"""The baseline `kernel-regression`: ridge regression with a linear and a Gaussian kernel, and quantiles of its errors.

It has the windows, the target and the inputs of `quantile-regression`, and bends where that one is straight: a price
rises faster the less wind there is. The mean of a Gaussian process with these kernels is the forecast. Around it stand
the quantiles of its newest leave-one-out errors, which cost no further estimation.

Sources: Rasmussen and Williams 2006, "Gaussian processes for machine learning", equations 2.25 (the mean) and 5.12 (the
error of a window by an estimation without it); Saunders, Gammerman and Vovk 1998, "Ridge regression learning algorithm
in dual variables"; Vovk, Gammerman and Shafer 2005, "Algorithmic learning in a random world", for quantiles of errors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.quantile_regression import estimated_anew
from forecast_attn.baselines.window_features import BaselineSetup
from forecast_attn.data.panel import Panel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NAME = "kernel-regression"
MOST_WINDOWS = 2_200
"""Windows of a phase, six years of days; more are thinned out evenly. Time grows with their cube."""
NOISE = 0.3
"""Variance of the noise: the penalty, beside kernels of which the Gaussian one is 1 at distance 0."""
CONSTANT = 10.0
"""Variance of the level, which so is hardly penalised."""
NEWEST_ERRORS = 365
"""Windows whose errors set the quantiles."""


def kernel_regression_forecasts(
    panel: Panel, cutoffs: Ints, setup: BaselineSetup, quantiles: tuple[float, ...]
) -> Floats:
    """Forecast quantiles with kernels, estimated anew as time passes; see `estimated_anew`."""

    def fitted(inputs: Floats, targets: Floats, penalties: Floats) -> Callable[[Floats], Floats]:
        return kernel_quantiles(inputs, targets, quantiles)

    return estimated_anew(NAME, fitted, panel, cutoffs, setup, quantiles, most=MOST_WINDOWS)


def kernel_quantiles(inputs: Floats, targets: Floats, quantiles: tuple[float, ...]) -> Callable[[Floats], Floats]:
    """Estimate a kernel ridge regression, and the quantiles of its errors.

    With inputs of mean 0 and variance 1, of which d vary, the kernel of two windows x, z is
    `CONSTANT` + x·z / d + exp(-|x - z|² / (2 d)).

    Args:
        inputs: (num_windows, num_inputs), none missing.
        targets: (num_windows, num_targets), none missing; the last window is the newest.
        quantiles: (num_quantiles,).

    Returns:
        From other inputs (num_others, num_inputs) to (num_others, num_targets * num_quantiles), the quantiles of one
        target side by side.
    """
    from scipy.linalg import lapack

    mean, spread = inputs.mean(axis=0), inputs.std(axis=0)
    varies = spread > 1e-8
    weight = np.divide(1, spread * np.sqrt(varies.sum()), out=np.zeros_like(spread), where=varies)
    learnt = (inputs - mean) * weight
    kernel = _kernel(learnt, learnt)
    kernel[np.diag_indices_from(kernel)] += NOISE
    factor, _ = lapack.dpotrf(kernel, lower=1, overwrite_a=1)
    dual, _ = lapack.dpotrs(factor, targets, lower=1)
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    errors = (dual / np.diag(inverse)[:, None])[-NEWEST_ERRORS:]
    distances = np.quantile(errors, quantiles, axis=0).T.ravel()

    def forecast(others: Floats) -> Floats:
        means = _kernel((others - mean) * weight, learnt) @ dual
        return np.asarray(np.repeat(means, len(quantiles), axis=1) + distances)

    return forecast


def _kernel(left: Floats, right: Floats) -> Floats:
    """Kernel of every pair of windows (num_left, num_right); inputs are divided by the root of their number."""
    products = left @ right.T
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * products
    return np.asarray(CONSTANT + products + np.exp(-np.maximum(squares, 0) / 2))
