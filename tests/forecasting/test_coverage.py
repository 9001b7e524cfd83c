"""Of 2,000 windows with known noise, 80 in a hundred values lie between the quantiles 0.1 and 0.9, by every method."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from forecast_attn import Forecaster
from forecast_attn.forecasting.calibration import fit_calibration
from forecast_attn.forecasting.history import read_history
from forecast_attn.forecasting.inference import forecast_windows, load_model
from forecast_attn.forecasting.model import Model
from forecast_attn.runs.run_dir import RunDir

pytestmark = pytest.mark.slow

LOOKBACK, HORIZON, WINDOWS = 14, 2, 2_000
TRUE_WIDTH = 2 * 1.2815515655446004
"""Of the normal distribution's middle 80 %, with a deviation of 1."""

Trained = tuple[Model, np.ndarray, Callable[[Model], np.ndarray]]


def weekly_table(rows: int, seed: int) -> pd.DataFrame:
    """A week that repeats, and noise of deviation 1: nobody can know more of a value than that."""
    rng, steps = np.random.default_rng(seed), np.arange(rows)
    values = 10 + 3 * np.sin(2 * np.pi * steps / 7) + rng.normal(size=rows)
    return pd.DataFrame({"date": pd.date_range("2000-01-01", periods=rows, freq="D"), "y": values})


def train(**options: Any) -> Trained:
    forecaster = Forecaster(
        lookback=LOOKBACK,
        horizon=HORIZON,
        hidden_size=8,
        seed=3,
        accelerator="cpu",
        validation=0.4,
        validation_windows=0,
        max_epochs=10,
        batch_size=64,
        dropout=0.0,
        **options,
    ).fit(weekly_table(3_000, seed=0))
    run = RunDir(forecaster.run_path)
    model = load_model(run)
    panel = read_history(model, run, weekly_table(WINDOWS + LOOKBACK + HORIZON - 1, seed=1), "new").panel
    cutoffs = np.arange(LOOKBACK - 1, LOOKBACK - 1 + WINDOWS)

    def quantiles(model: Model) -> np.ndarray:
        return np.concatenate([b.quantiles for b in forecast_windows(model, panel, cutoffs)])

    return model, panel.target[cutoffs[:, None] + np.arange(1, HORIZON + 1)], quantiles


@pytest.fixture(scope="module")
def quantiles() -> Trained:
    return train(quantiles=[0.1, 0.5, 0.9], calibration="cqr")


def assert_covers(actual: np.ndarray, quantiles: np.ndarray) -> None:
    assert len(actual) == len(quantiles) == WINDOWS
    lower, upper = quantiles[..., 0], quantiles[..., -1]
    assert abs(((actual >= lower) & (actual <= upper)).mean() - 0.8) <= 0.03
    for tail in (actual < lower, actual > upper):
        assert abs(tail.mean() - 0.1) <= 0.03
    assert (upper - lower).mean() < 1.15 * TRUE_WIDTH


def test_of_the_quantile_head(quantiles: Trained) -> None:
    model, actual, quantiles = quantiles
    assert_covers(actual, quantiles(replace(model, calibration=None)))


def test_of_conformalised_quantiles(quantiles: Trained) -> None:
    model, actual, quantiles = quantiles
    assert model.calibration is not None
    assert_covers(actual, quantiles(model))


def test_calibration_corrects_quantiles_that_are_wrong(quantiles: Trained) -> None:
    """Quantiles half as far apart as they should be hold far too few values, until they are calibrated."""
    model, actual, quantiles = quantiles
    assert model.calibration is not None
    head = model.network.decoder.head
    plain = head.parameters_of

    def too_narrow(outputs: torch.Tensor) -> torch.Tensor:
        parameters = plain(outputs)
        return parameters + 0.5 * (parameters[..., 1:2] - parameters)

    head.parameters_of = too_narrow
    try:
        narrow = quantiles(replace(model, calibration=None))
        assert ((actual >= narrow[..., 0]) & (actual <= narrow[..., -1])).mean() < 0.6
        half = WINDOWS // 2
        scaled = (actual - model.schema.scaler.target.loc) / model.schema.scaler.target.scale
        base = (narrow - model.schema.scaler.target.loc) / model.schema.scaler.target.scale
        calibration = fit_calibration("cqr", model.quantiles, scaled[:half], base[:half])
        again = quantiles(replace(model, calibration=calibration))[half:]
        inside = (actual[half:] >= again[..., 0]) & (actual[half:] <= again[..., -1])
        assert abs(inside.mean() - 0.8) <= 0.04
    finally:
        del head.parameters_of


def test_of_the_gaussian_head() -> None:
    model, actual, quantiles = train(distribution="gaussian")
    assert model.quantiles == (0.1, 0.5, 0.9)
    assert_covers(actual, quantiles(model))


def test_of_split_conformal_intervals_about_a_point() -> None:
    model, actual, quantiles = train(quantiles=[0.1, 0.9], calibration="split")
    assert model.network.decoder.head.kind == "point"
    assert_covers(actual, quantiles(model))
