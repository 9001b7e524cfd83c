"""The baselines `quantile-regression` and `kernel-regression`: against linear programming, against one estimation for
each window that is left out, and that they see nothing late."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from forecast_attn.baselines import quantile_regression
from forecast_attn.baselines.kernel_regression import kernel_quantiles
from forecast_attn.baselines.quantile_regression import estimated_anew, regression_quantiles
from forecast_attn.baselines.registry import BaselineSetup, baseline_forecasts, quantile_forecasts
from forecast_attn.config.options import RunConfig
from forecast_attn.data.calendar_features import Calendar
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError
from forecast_attn.runs.training_table import read_panel

NAME, KERNEL, QUANTILES = "quantile-regression", "kernel-regression", (0.1, 0.5, 0.9)
SEASON, ROWS = 4, 4 * 460
EPOCH = SEASON * quantile_regression.ESTIMATE_EVERY
"""Rows from one estimation to the next."""
of_both = pytest.mark.parametrize("name", [NAME, KERNEL])


@pytest.fixture(scope="module")
def panel() -> Panel:
    """Quarters of days with a course that a covariate known ahead moves, and errors that grow with another one."""
    rng, steps = np.random.default_rng(0), np.arange(ROWS)
    wind, calm = rng.normal(size=ROWS), rng.random(ROWS) < 0.5
    error = np.where(calm, 0.5, 4.0) * rng.normal(size=ROWS)
    target = 50 + 5 * np.sin(2 * np.pi * steps / SEASON) + 4 * wind + error
    stamps = pd.date_range("2024-01-01", periods=ROWS, freq="6h")
    table = pd.DataFrame({"date": stamps, "target": target, "wind": wind, "calm": calm.astype(float)})
    return read_panel(table, RunConfig.from_options({"future": ["wind", "calm"], "freq": "6h"}))[0]


def setup_of(panel: Panel) -> BaselineSetup:
    calendar = Calendar.build("auto", panel.frequency)
    return BaselineSetup(7 * SEASON, SEASON, SEASON, calendar, panel.timestamps[ROWS // 2])


def test_the_pinball_loss_is_as_small_as_linear_programming_makes_it() -> None:
    rng = np.random.default_rng(1)
    x = np.hstack([np.ones((150, 1)), rng.normal(size=(150, 5))])
    y = x @ rng.normal(size=(6, 2)) + rng.standard_t(3, size=(150, 2)) * np.exp(x[:, 1:2] / 2)
    actual = regression_quantiles(x, y, QUANTILES, np.full(6, 1e-6)).reshape(6, 2, 3)
    for target in range(2):
        for index, share in enumerate(QUANTILES):
            error = y[:, target] - x @ actual[:, target, index]
            loss = np.maximum(share * error, (share - 1) * error).sum()
            size = np.eye(len(x))  # y = x w + above - below
            least = linprog(
                np.concatenate([np.zeros(6), np.full(len(x), share), np.full(len(x), 1 - share)]),
                A_eq=np.hstack([x, size, -size]),
                b_eq=y[:, target],
                bounds=[(None, None)] * 6 + [(0, None)] * (2 * len(x)),
            ).fun
            assert least <= loss < 1.01 * least
            assert abs((error < 0).mean() - share) < 0.03


def test_a_heavy_penalty_leaves_the_quantiles_of_the_target() -> None:
    rng = np.random.default_rng(2)
    x, y = np.hstack([np.ones((400, 1)), rng.normal(size=(400, 3))]), rng.gamma(2.0, size=(400, 1))
    actual = regression_quantiles(x, y, QUANTILES, np.array([0, 1e9, 1e9, 1e9]), rounds=60)
    np.testing.assert_allclose(actual[0], np.quantile(y, QUANTILES), atol=0.05)
    np.testing.assert_allclose(actual[1:], 0, atol=1e-4)


def test_its_spread_follows_a_covariate_and_its_intervals_hold(panel: Panel) -> None:
    cutoffs = np.arange(15 * EPOCH - 1, ROWS - SEASON, SEASON)
    point, quantiles = quantile_forecasts(NAME, panel, cutoffs, setup_of(panel), QUANTILES)
    assert quantiles is not None
    assert (np.diff(quantiles, axis=-1) >= 0).all()
    np.testing.assert_array_equal(point, quantiles[..., 1])
    alone = baseline_forecasts(NAME, panel, cutoffs, setup_of(panel))
    assert np.median(np.abs(point - alone)) < 0.01  # the rest is where maps of neighbouring quantiles cross
    rows = cutoffs[:, None] + np.arange(1, SEASON + 1)
    calm = panel.future_covariates[rows, panel.roles.future_covariates.index("calm")] > 0
    width = quantiles[..., 2] - quantiles[..., 0]
    assert width[~calm].mean() > 1.5 * width[calm].mean()
    inside = (quantiles[..., 0] <= panel.target[rows]) & (panel.target[rows] <= quantiles[..., 2])
    assert 0.6 < inside.mean() < 0.95


def test_the_kernel_regression_is_that_of_the_formula_estimated_without_each_window() -> None:
    rng = np.random.default_rng(4)
    x, others = rng.normal(3, 2, size=(24, 5)), rng.normal(3, 2, size=(3, 5))
    x[:, 4] = others[:, 4] = 7.0  # says nothing
    y = np.stack([np.sin(x[:, 0]) + x[:, 1], x[:, 2] ** 2], axis=1)
    z, z_others = ((each[:, :4] - x[:, :4].mean(axis=0)) / x[:, :4].std(axis=0) for each in (x, others))

    def estimated(windows: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        def kernel(a: np.ndarray, b: np.ndarray) -> float:
            return 10 + a @ b / 4 + np.exp(-((a - b) ** 2).sum() / 8)

        pairs = np.array([[kernel(a, b) for b in windows] for a in windows])
        return np.array([[kernel(at, b) for b in windows]]) @ np.linalg.inv(pairs + 0.3 * np.eye(len(windows))) @ values

    left_out = [y[row] - estimated(np.delete(z, row, 0), np.delete(y, row, 0), z[row])[0] for row in range(24)]
    around = np.quantile(left_out, QUANTILES, axis=0).T
    expected = np.array([estimated(z, y, at)[0][:, None] + around for at in z_others])
    np.testing.assert_allclose(kernel_quantiles(x, y, QUANTILES)(others).reshape(3, 2, 3), expected, rtol=1e-7)


def test_the_kernel_regression_bends_where_the_linear_one_does_not_and_its_intervals_hold(panel: Panel) -> None:
    bent = np.where(panel.future_covariates[:, :1] > 0, 12 * panel.future_covariates[:, 0:1], 0)[:, 0]
    panel = replace(panel, target=panel.target + bent)
    cutoffs = np.arange(400 * SEASON - 1, ROWS - SEASON, SEASON)
    rows = cutoffs[:, None] + np.arange(1, SEASON + 1)
    actual = {name: quantile_forecasts(name, panel, cutoffs, setup_of(panel), QUANTILES) for name in (NAME, KERNEL)}
    quantiles = actual[KERNEL][1]
    assert quantiles is not None
    errors = {name: np.abs(point - panel.target[rows]).mean() for name, (point, _) in actual.items()}
    assert errors[KERNEL] < 0.95 * errors[NAME]
    inside = (quantiles[..., 0] <= panel.target[rows]) & (panel.target[rows] <= quantiles[..., 2])
    assert 0.7 < inside.mean() < 0.9


@of_both
def test_a_forecast_knows_nothing_after_its_cutoff_and_of_no_other_cutoff(panel: Panel, name: str) -> None:
    setup, cutoff, rng = setup_of(panel), 2 * EPOCH + 30, np.random.default_rng(3)
    target, known = panel.target.copy(), panel.future_covariates.copy()
    target[cutoff + 1 :] += rng.normal(0, 100, ROWS - cutoff - 1)
    known[cutoff + SEASON + 1 :] += 50
    changed = replace(panel, target=target, future_covariates=known)
    alone = quantile_forecasts(name, panel, np.array([cutoff]), setup, QUANTILES)[1]
    blind = quantile_forecasts(name, changed, np.array([cutoff]), setup, QUANTILES)[1]
    among = quantile_forecasts(
        name, panel, np.array([cutoff - 2, cutoff, cutoff + 9, cutoff + EPOCH]), setup, QUANTILES
    )[1]
    assert alone is not None
    assert blind is not None
    assert among is not None
    np.testing.assert_array_equal(blind, alone)
    np.testing.assert_allclose(among[1], alone[0], rtol=1e-8)


def test_it_is_estimated_anew_at_every_epoch_and_learns_nothing_between(panel: Panel) -> None:
    setup, target = setup_of(panel), panel.target.copy()
    changed = slice(2 * EPOCH, 2 * EPOCH + 4 * SEASON)
    target[changed] = target[changed][::-1]  # and no new extreme
    moved = replace(panel, target=target)
    cutoffs = np.array([2 * EPOCH - 1, 3 * EPOCH - 2, 3 * EPOCH - 1 + SEASON])
    before, after = (baseline_forecasts(NAME, each, cutoffs, setup) for each in (panel, moved))
    np.testing.assert_array_equal(after[:2], before[:2])
    assert (after[2] != before[2]).all()


def test_one_estimation_serves_an_epoch_and_learns_from_no_more_windows_than_it_may(panel: Panel) -> None:
    learnt = []

    def fit(inputs: np.ndarray, targets: np.ndarray, penalties: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        learnt.append(len(inputs))
        return lambda others: np.zeros((len(others), SEASON))

    cutoffs = np.arange(28 * SEASON, 112 * SEASON, SEASON) - 1  # three epochs of 28 seasons
    arguments = ("a baseline", fit, panel, cutoffs, setup_of(panel), (0.5,))
    estimated_anew(*arguments, most=60)
    seasons_before_the_first = 7
    assert learnt == [min(each - seasons_before_the_first, 60) for each in (28, 56, 84)]


def test_with_too_few_windows_it_says_so(panel: Panel) -> None:
    with pytest.raises(DataError, match="fewer than 20 windows"):
        baseline_forecasts(NAME, panel, np.array([EPOCH - 2]), setup_of(panel))
