"""The distribution's errors against integrals and slow code."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from forecast_attn.errors import DataError
from forecast_attn.evaluation.evaluate import evaluate
from forecast_attn.evaluation.quantile_scores import intervals, pinball, quantile_columns, sample_crps, winkler
from forecast_attn.evaluation.scoring import score


def gaussian_crps(target: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The closed form of a normal distribution (Gneiting and Raftery 2007, equation 21), checked below."""
    z = (target - mean) / scale
    return scale * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))


def test_quantiles_are_columns_called_by_a_number_between_0_and_1() -> None:
    names = ["0.9", "0.05", "1", "0", "-0.1", "nan", "target", "1e-2", 0.5]
    assert quantile_columns(names) == {"1e-2": 0.01, "0.05": 0.05, "0.9": 0.9}


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


def test_samples_that_are_all_the_same_have_the_absolute_error() -> None:
    got = sample_crps(np.array([3.0, 1.0]), np.ones((2, 5)))
    np.testing.assert_allclose(got, [2.0, 0.0], atol=1e-15)


def paths(number: int = 4_000) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draws of a normal distribution for three days after twenty known ones, and the actual values."""
    rng = np.random.default_rng(3)
    days = pd.date_range("2024-01-01", periods=24, freq="D")
    actuals = pd.DataFrame({"date": days, "sales": rng.normal(10, 2, 24).round(3)})
    steps = np.arange(1, 4).repeat(number)
    drawn = {"sample": np.tile(np.arange(number), 3), "value": rng.normal(10 + steps, 2.0)}
    table = pd.DataFrame({"cutoff": days[20], "timestamp": days[20] + pd.to_timedelta(steps, "D"), "step": steps})
    return table.assign(**drawn).sample(frac=1, random_state=0), actuals


def test_paths_are_scored_by_their_crps_and_their_median(tmp_path: Path) -> None:
    table, actuals = paths()
    file = tmp_path / "samples.parquet"
    table.to_parquet(file, index=False)
    result = evaluate(file, actuals, by="step")
    scores = result.scores[result.scores["model"] == "samples"].set_index("step")
    actual = actuals["sales"].to_numpy()[21:]
    closed = gaussian_crps(actual, 10.0 + np.arange(1, 4), np.full(3, 2.0))
    np.testing.assert_allclose(scores["crps"], closed, rtol=0.03, atol=0.01)
    for step, rows in table.groupby("step"):
        drawn = rows["value"].to_numpy()
        assert scores.loc[step, "crps"] == pytest.approx(sample_crps(actual[[step - 1]], drawn[None])[0])
        assert scores.loc[step, "mae"] == pytest.approx(abs(np.median(drawn) - actual[step - 1]))
        assert scores.loc[step, "width@0.8"] == pytest.approx(np.subtract(*np.quantile(drawn, [0.9, 0.1])))
    assert any("median of 4,000 paths" in note for note in result.notes)
    with pytest.raises(DataError, match="samples of some stamps"):
        evaluate(table.iloc[1:], actuals)


def test_crps_of_many_quantiles_approaches_the_closed_form() -> None:
    rng, quantiles = np.random.default_rng(0), (np.arange(500) + 0.5) / 500
    target = rng.normal(2, 3, 400)
    columns = {f"{quantile:g}": np.full(400, stats.norm.ppf(quantile, 2, 3)) for quantile in quantiles}
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
    for quantile in (0.1, 0.5, 0.8):
        losses = [pinball(values, np.full(len(values), each), quantile).mean() for each in candidates]
        assert np.linspace(0.01, 0.99, 99)[np.argmin(losses)] == pytest.approx(quantile)


def test_the_winkler_score_is_two_pinball_losses() -> None:
    rng = np.random.default_rng(3)
    target, lower = rng.normal(size=50), rng.normal(size=50) - 1
    upper = lower + rng.random(50)
    both = pinball(target, lower, 0.1) + pinball(target, upper, 0.9)
    np.testing.assert_allclose(winkler(target, lower, upper, 0.8), both * 2 / 0.2, rtol=1e-12)
