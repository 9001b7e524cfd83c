"""Pinball loss and coverage of quantiles against a loop."""

import math

import numpy as np

from forecast_attn.forecasting.quantiles import score_quantiles

QUANTILES = (0.05, 0.5, 0.95)


def test_against_a_loop() -> None:
    rng = np.random.default_rng(0)
    actual, quantiles = rng.normal(size=(40, 3)), np.sort(rng.normal(size=(40, 3, 3)), axis=-1)
    actual[rng.random(actual.shape) < 0.3] = np.nan
    losses: list[list[float]] = [[], [], []]
    inside, width = [], []
    for w in range(40):
        for h in range(3):
            y, (low, _, high) = actual[w, h], quantiles[w, h]
            if math.isnan(y):
                continue
            for index, quantile in enumerate(QUANTILES):
                error = y - quantiles[w, h, index]
                losses[index].append(quantile * error if error > 0 else (quantile - 1) * error)
            inside.append(low <= y <= high)
            width.append(high - low)
    scores = score_quantiles(QUANTILES, actual, quantiles)
    np.testing.assert_allclose(list(scores["pinball"].values()), np.mean(losses, axis=1))
    assert list(scores["pinball"]) == ["0.05", "0.5", "0.95"]
    interval = scores["interval"]
    assert (interval["lower"], interval["upper"], interval["nominal"]) == (0.05, 0.95, 0.9)
    np.testing.assert_allclose([interval["coverage"], interval["width"]], [np.mean(inside), np.mean(width)])


def test_a_single_quantile_has_no_interval_and_nothing_observed_no_score() -> None:
    assert score_quantiles((0.5,), np.zeros((2, 1)), np.zeros((2, 1, 1)))["interval"] is None
    assert score_quantiles((0.5,), np.full((2, 1), np.nan), np.zeros((2, 1, 1))) == {"pinball": None, "interval": None}
