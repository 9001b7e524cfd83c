"""The distribution's errors against integrals and slow code."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from forecast_attn.evaluation.levels import (
    gaussian_crps,
    intervals,
    level_columns,
    pinball,
    sample_crps,
    winkler,
)
from forecast_attn.evaluation.scoring import score


def test_levels_are_columns_called_by_a_number_between_0_and_1() -> None:
    names = ["0.9", "0.05", "1", "0", "-0.1", "nan", "target", "1e-2", 0.5]
    assert level_columns(names) == {"1e-2": 0.01, "0.05": 0.05, "0.9": 0.9}


def test_symmetric_pairs_are_intervals() -> None:
    assert [pair.nominal for pair in intervals([0.9, 0.5, 0.1, 0.25, 0.05])] == [0.8]
    assert [pair.nominal for pair in intervals(np.arange(1, 10) / 10)] == [0.8, 0.6, 0.4, 0.2]


@pytest.mark.parametrize("target", [-3.0, 0.4, 2.0, 9.0])
@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_the_closed_form_is_the_integral(target: float, scale: float) -> None:
    below = integrate.quad(lambda at: stats.norm.cdf(at, 1, scale) ** 2, -60, target, points=[1.0], limit=200)[0]
    above = integrate.quad(lambda at: stats.norm.sf(at, 1, scale) ** 2, target, 60, points=[1.0], limit=200)[0]
    got = gaussian_crps(np.array([target]), np.array([1.0]), np.array([scale]))
    np.testing.assert_allclose(got, [below + above], rtol=1e-6)


def test_a_distribution_of_one_point_has_the_absolute_error() -> None:
    got = gaussian_crps(np.array([3.0, 1.0]), np.array([1.0, 1.0]), np.zeros(2))
    assert got.tolist() == [2.0, 0.0]


def test_crps_of_many_levels_approaches_the_closed_form() -> None:
    rng, levels = np.random.default_rng(0), (np.arange(500) + 0.5) / 500
    target = rng.normal(2, 3, 400)
    columns = {f"{level:g}": np.full(400, stats.norm.ppf(level, 2, 3)) for level in levels}
    frame = pd.DataFrame({"target": target, "prediction": 2.0, "model": "m", **columns})
    closed = gaussian_crps(target, np.full(400, 2.0), np.full(400, 3.0)).mean()
    assert score(frame, ["crps"])["crps"][0] == pytest.approx(closed, rel=2e-3)


def test_crps_of_samples_is_that_of_their_pairs_and_approaches_the_closed_form() -> None:
    rng = np.random.default_rng(1)
    target, samples = rng.normal(size=(5, 3)), rng.normal(size=(5, 3, 40))
    pairs = np.abs(samples[..., :, None] - samples[..., None, :]).mean(axis=(-1, -2))
    slow = np.abs(samples - target[..., None]).mean(axis=-1) - pairs / 2
    np.testing.assert_allclose(sample_crps(target, samples), slow, rtol=1e-12)
    many = sample_crps(np.array([0.7]), rng.normal(1, 2, (1, 200_000)))
    np.testing.assert_allclose(many, gaussian_crps(np.array([0.7]), np.array([1.0]), np.array([2.0])), rtol=1e-2)


def test_the_quantile_minimises_the_pinball_loss() -> None:
    values = np.random.default_rng(2).gamma(2, 3, 4_001)
    candidates = np.quantile(values, np.linspace(0.01, 0.99, 99))
    for level in (0.1, 0.5, 0.8):
        losses = [pinball(values, np.full(len(values), each), level).mean() for each in candidates]
        assert np.linspace(0.01, 0.99, 99)[np.argmin(losses)] == pytest.approx(level)


def test_the_winkler_score_is_two_pinball_losses() -> None:
    rng = np.random.default_rng(3)
    target, lower = rng.normal(size=50), rng.normal(size=50) - 1
    upper = lower + rng.random(50)
    both = pinball(target, lower, 0.1) + pinball(target, upper, 0.9)
    np.testing.assert_allclose(winkler(target, lower, upper, 0.8), both * 2 / 0.2, rtol=1e-12)
