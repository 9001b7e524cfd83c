"""Least absolute deviations against linear programming, a general optimiser and direct solutions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from forecast_attn.baselines.median_regression import SMALLEST, least_deviations

Floats = np.ndarray


def problem(windows: int, inputs: int, targets: int, seed: int = 0, degrees: float = 2.0) -> tuple[Floats, Floats]:
    """A constant, columns of variance 1, and targets with errors of Student's t, which has far ones."""
    rng = np.random.default_rng(seed)
    x = np.hstack([np.ones((windows, 1)), rng.normal(size=(windows, inputs - 1))])
    return x, x @ rng.normal(size=(inputs, targets)) + rng.standard_t(degrees, size=(windows, targets))


def directly(x: Floats, y: Floats, penalties: Floats, reweightings: int) -> Floats:
    """Each target by itself, each system by elimination."""
    coefficients = np.empty((x.shape[1], y.shape[1]))
    for target in range(y.shape[1]):
        weights = np.ones(len(x))
        for _ in range(reweightings + 1):
            root = np.sqrt(weights)[:, None]
            stacked = np.vstack([x * root, np.diag(np.sqrt(penalties))])
            values = np.concatenate([y[:, target] * root[:, 0], np.zeros(x.shape[1])])
            coefficients[:, target] = np.linalg.lstsq(stacked, values, rcond=None)[0]
            weights = 1 / np.maximum(np.abs(y[:, target] - x @ coefficients[:, target]), SMALLEST)
            weights *= len(x) / weights.sum()
    return coefficients


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    windows=st.integers(4, 80),
    inputs=st.integers(1, 60),
    targets=st.integers(1, 4),
    seed=st.integers(0, 99),
    penalty=st.floats(0.1, 100),
    reweightings=st.integers(0, 5),
)
def test_it_solves_what_least_squares_solve(
    windows: int, inputs: int, targets: int, seed: int, penalty: float, reweightings: int
) -> None:
    """More inputs than windows too: the penalty decides between them."""
    x, y = problem(windows, inputs, targets, seed)
    penalties = np.concatenate([[0.0], np.full(inputs - 1, penalty)])
    actual = least_deviations(x, y, penalties, reweightings)
    np.testing.assert_allclose(actual, directly(x, y, penalties, reweightings), rtol=1e-4, atol=1e-4)


def test_absolute_errors_are_as_small_as_linear_programming_makes_them() -> None:
    x, y = problem(200, 12, 3)
    three, many = (least_deviations(x, y, np.full(12, 1e-6), number) for number in (3, 60))
    for target in range(3):
        size = np.eye(len(x))
        bounds = [(None, None)] * 12 + [(0, None)] * len(x)
        both = np.vstack([np.hstack([x, -size]), np.hstack([-x, -size])])  # -e <= y - x w <= e
        least = linprog(
            np.concatenate([np.zeros(12), np.ones(len(x))]),
            both,
            np.hstack([y[:, target], -y[:, target]]),
            bounds=bounds,
        ).fun
        assert least <= np.abs(y[:, target] - x @ many[:, target]).sum() < 1.002 * least
        assert np.abs(y[:, target] - x @ three[:, target]).sum() < 1.01 * least
        squares = np.abs(y[:, target] - x @ np.linalg.lstsq(x, y[:, target], rcond=None)[0]).sum()
        assert squares > 1.015 * least


@pytest.mark.parametrize("penalty", [1.0, 30.0])
def test_with_a_penalty_it_ends_at_the_optimum(penalty: float) -> None:
    """Absolute errors, squares below `SMALLEST`, half the penalty on the scale of the weights' mean."""
    x, y = problem(80, 30, 1, seed=3, degrees=3.0)
    penalties = np.concatenate([[0.0], np.full(29, penalty)])
    actual = least_deviations(x, y, penalties, 60)[:, 0]
    share = np.mean(1 / np.maximum(np.abs(y[:, 0] - x @ actual), SMALLEST))

    def loss(weights: Floats) -> tuple[float, Floats]:
        error = y[:, 0] - x @ weights
        size = np.abs(error)
        small = size < SMALLEST
        value = np.where(small, error**2 / (2 * SMALLEST), size - SMALLEST / 2).sum()
        slope = np.where(small, error / SMALLEST, np.sign(error))
        return float(value + share * (penalties * weights**2).sum() / 2), share * penalties * weights - x.T @ slope

    least = minimize(loss, np.zeros(30), jac=True, method="BFGS", options={"gtol": 1e-5}).fun
    assert loss(actual)[0] == pytest.approx(least, rel=1e-4)
    ridge, three = (loss(least_deviations(x, y, penalties, number)[:, 0])[0] for number in (0, 3))
    assert three - least < (ridge - least) / 2


def test_targets_do_not_know_each_other() -> None:
    x, y = problem(60, 20, 4)
    penalties = np.full(20, 2.0)
    together = least_deviations(x, y, penalties)
    for target in range(4):
        alone = least_deviations(x, y[:, target : target + 1], penalties)[:, 0]
        np.testing.assert_allclose(together[:, target], alone, rtol=1e-5, atol=1e-6)


def test_what_is_met_exactly_is_met_exactly() -> None:
    x = problem(40, 5, 1)[0]
    y = np.hstack([np.zeros((40, 1)), x @ np.arange(5.0)[:, None]])
    actual = least_deviations(x, y, np.zeros(5))
    np.testing.assert_allclose(actual, np.stack([np.zeros(5), np.arange(5.0)], axis=1), atol=1e-9)
