"""Linear least absolute deviations with a ridge penalty, for many targets at once.

Iteratively re-weighted least squares: a squared error divided by its own size is an absolute one. Each of the weighted
systems is solved by conjugate gradients for all targets side by side: its matrix is other for every target, but near
that of the unweighted ridge regression, whose factor is there already and serves all of them.

Sources: Schlossmacher 1973, "An iterative technique for absolute deviations curve fitting"; Hestenes and Stiefel 1952,
"Methods of conjugate gradients for solving linear systems".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Solve = Callable[[Floats], Floats]

REWEIGHTINGS = 3
SMALLEST = 0.1
"""Errors below count as squares do: their weight is no larger than that of this one."""
_TOLERANCE = 1e-7
"""Of a weighted system: the norm of what is left over that of its right-hand side."""
_MOST_STEPS = 200


def least_deviations(inputs: Floats, wanted: Floats, penalties: Floats, reweightings: int = REWEIGHTINGS) -> Floats:
    """The weights of a linear map whose absolute errors are small.

    It begins with ridge regression. Then so many times errors e are weighted by 1 / max(|e|, `SMALLEST`), the weights
    of each target divided by their mean, so that the penalty keeps its share, and ridge regression is repeated.

    Args:
        inputs: (num_windows, num_inputs), none missing.
        wanted: (num_windows, num_targets), none missing.
        penalties: on the squared weight of each input, at least 0 (num_inputs,).
        reweightings: how often the weights follow the errors.

    Returns:
        (num_inputs, num_targets).

    Raises:
        numpy.linalg.LinAlgError: inputs without penalty determine each other.
    """
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(inputs.T @ inputs + np.diag(penalties))
    found: Floats = cho_solve(factor, inputs.T @ wanted)
    for _ in range(reweightings):
        weights = 1 / np.maximum(np.abs(wanted - inputs @ found), SMALLEST)
        weights /= weights.mean(axis=0)
        found = _weighted_ridge(inputs, wanted, weights, penalties, found, lambda rest: cho_solve(factor, rest))
    return found


def _weighted_ridge(
    inputs: Floats, wanted: Floats, weights: Floats, penalties: Floats, start: Floats, solve_near: Solve
) -> Floats:
    """W of (X'VX + P) W = X'VY, where V is another of each target: preconditioned conjugate gradients.

    Args:
        inputs: X (num_windows, num_inputs).
        wanted: Y (num_windows, num_targets).
        weights: V (num_windows, num_targets).
        penalties: the diagonal of P (num_inputs,).
        start: of W (num_inputs, num_targets).
        solve_near: solves with a matrix near X'VX + P.
    """

    def apply(found: Floats) -> Floats:
        return np.asarray(inputs.T @ (weights * (inputs @ found)) + penalties[:, None] * found)

    found, moments = start.copy(), inputs.T @ (weights * wanted)
    rest = moments - apply(found)
    direction = near = solve_near(rest)
    product = (rest * near).sum(axis=0)
    small = _TOLERANCE * np.linalg.norm(moments, axis=0)
    for _ in range(_MOST_STEPS):
        if (np.linalg.norm(rest, axis=0) <= small).all():
            break
        applied = apply(direction)
        length = _ratio(product, (direction * applied).sum(axis=0))
        found += length * direction
        rest -= length * applied
        near = solve_near(rest)
        before, product = product, (rest * near).sum(axis=0)
        direction = near + _ratio(product, before) * direction
    return found


def _ratio(above: Floats, below: Floats) -> Floats:
    """0 where the target is solved to the last bit."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
