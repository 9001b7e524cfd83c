"""The baselines at the end of training, against loops over the table."""

import json
import statistics
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.baselines import naive
from forecast_attn.baselines.linear import fitted_linear
from forecast_attn.baselines.registry import BaselineSetup
from forecast_attn.cli.predict import _how_good
from forecast_attn.config.options import RunConfig
from forecast_attn.inspection.interpretation import best_of_baselines
from forecast_attn.runs.training_table import read_panel
from forecast_attn.training import validation as baselines
from forecast_attn.training.preparation import prepare

HORIZON = 3
CHEAP = ["naive", "seasonal-naive", "mean", "median", "drift"]


@pytest.fixture(scope="module")
def metrics(finished_run: Path) -> dict:
    return json.loads((finished_run / "metrics.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def windows(finished_run: Path, metrics: dict) -> tuple[pd.DataFrame, np.ndarray]:
    """The table, and the rows of the cut-offs that training scored."""
    table = pd.read_csv(finished_run.parent / "data.csv", parse_dates=["date"])
    boundary = int(np.flatnonzero(table["date"] == metrics["validation"]["after"])[0])
    every = np.arange(boundary, len(table) - HORIZON)
    assert len(every) == metrics["validation"]["windows_available"]
    chosen = every[np.linspace(0, len(every) - 1, metrics["validation"]["windows"]).round().astype(int)]
    return table, chosen


def test_naive_drift_and_seasonal_naive_are_those_of_a_loop(windows, metrics) -> None:
    table, cutoffs = windows
    target = table["target"].to_numpy()
    errors: dict[str, list[float]] = {name: [] for name in ("naive", "drift", "seasonal-naive", "mean", "median")}
    for cutoff in cutoffs:
        slope = (target[cutoff] - target[0]) / cutoff
        for step in range(1, HORIZON + 1):
            actual = target[cutoff + step]
            errors["naive"].append(abs(actual - target[cutoff]))
            errors["drift"].append(abs(actual - target[cutoff] - step * slope))
            errors["seasonal-naive"].append(abs(actual - target[cutoff + step - 7]))
            errors["mean"].append(abs(actual - statistics.fmean(target[: cutoff + 1])))
            errors["median"].append(abs(actual - statistics.median(target[: cutoff + 1])))
    for name, series_errors in errors.items():
        scored = metrics["baselines"][name]
        assert scored["mae"] == pytest.approx(np.mean(series_errors))
        assert scored["rmse"] == pytest.approx(np.sqrt(np.mean(np.square(series_errors))))
        skill = 100 * (1 - metrics["validation"]["mae"] / np.mean(series_errors))
        assert scored["skill_per_cent"] == pytest.approx(skill)
    assert metrics["seasonal_naive"]["mae"] == metrics["baselines"]["seasonal-naive"]["mae"]
    best = min(metrics["baselines"], key=lambda name: metrics["baselines"][name]["mae"])
    assert metrics["best_baseline"] == best
    assert metrics["skill_per_cent"] == metrics["baselines"][best]["skill_per_cent"]


def test_linear_learns_from_the_training_rows_alone(windows, metrics) -> None:
    table, cutoffs = windows
    config = RunConfig.from_options({"lookback": 14, "horizon": HORIZON})
    panel, _ = read_panel(table, config)
    boundary = np.datetime64(metrics["validation"]["after"])
    season, calendar = 7, prepare(panel, config.data).schema.calendar
    forecast = fitted_linear(panel, BaselineSetup(14, HORIZON, season, calendar, boundary))(cutoffs)
    actual = table["target"].to_numpy()[cutoffs[:, None] + np.arange(1, HORIZON + 1)]
    assert metrics["baselines"]["linear"]["mae"] == pytest.approx(np.abs(forecast - actual).mean())


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "value"), [("LONGEST_LINEAR", 13), ("LARGEST_LINEAR", 119)])
def test_what_is_large_leaves_linear_to_the_backtest(
    forecast, here, write, make_table, small, monkeypatch, limit, value
) -> None:
    monkeypatch.setattr(baselines, limit, value)
    trained = forecast("train", write(make_table()), *small, "--out", "run")
    assert list(json.loads(Path("run/metrics.json").read_text())["baselines"]) == CHEAP
    assert "linear" not in trained.out


def test_predict_names_the_best_of_all_baselines_that_training_scored(metrics) -> None:
    alone = {"median-regression": {"mae": metrics["validation"]["mae"] / 1000, "rmse": None, "mase": None}}
    combined = {"combination": {"weights": {}, "validation": metrics["validation"], "alone": alone}}
    assert "; skill against median-regression, the best baseline, -99900.0 %" in _how_good(metrics | combined)


@pytest.mark.slow
def test_train_predict_and_info_say_the_same_skill(forecast, here, write, make_table, small) -> None:
    trained = forecast("train", write(make_table()), *small, "--out", "run")
    scored = json.loads(Path("run/metrics.json").read_text())["baselines"]
    assert list(scored) == [*CHEAP, "linear"]
    predicted = forecast("predict", "run", "--json")
    skills = json.loads(predicted.out)["validation"]["skill_per_cent"]
    best = min(skills, key=skills.__getitem__)
    assert f"; skill against {best}, the best baseline, {skills[best]:+.1f} %\n" in predicted.err
    output = forecast("info", "run").out
    for name, errors in scored.items():
        skill = f"{errors['skill_per_cent']:+.1f} %"
        (line,) = [line for line in trained.out.splitlines() if line.startswith(name)]
        assert line.endswith(skill)
        assert skills[name] == errors["skill_per_cent"]
        assert f"metrics.baselines.{name}.skill_per_cent" in output
    better = [name for name in scored if scored[name]["skill_per_cent"] < 0]
    lines = [line for line in trained.out.splitlines() if line.startswith("better than this model")]
    assert bool(lines) == (len(better) > 1)
    assert all(name in lines[0] for name in better)


@pytest.mark.slow
@pytest.mark.parametrize("draw", ["normal", "lognormal"])
def test_pure_noise_earns_no_skill(forecast, here, write, draw) -> None:
    """A network learns the mean of noise, or with the absolute loss its median; repeating noise is no rival."""
    values = getattr(np.random.default_rng(0), draw)(size=800).round(4)
    dates = pd.date_range("2020-01-01", periods=800, freq="D").strftime("%Y-%m-%d")
    write(pd.DataFrame({"date": dates, "target": values}))
    sizes = ("--lookback", 14, "--horizon", 3, "--hidden-size", 8, "--max-epochs", 6, "--seed", 1)
    output = forecast("train", "data.csv", *sizes, "--accelerator", "cpu", "--out", "run").out
    metrics = json.loads(Path("run/metrics.json").read_text())
    assert metrics["baselines"]["seasonal-naive"]["skill_per_cent"] > 15
    assert metrics["skill_per_cent"] < 1
    (verdict,) = [line for line in output.splitlines() if line.startswith("skill ")]
    assert f"{best_of_baselines(metrics)[0]}, the best of the baselines" in verdict
    assert "WORSE" in verdict or "no better" in verdict


@pytest.mark.parametrize("name", ["mean", "median"])
def test_mean_and_median_look_at_what_was_observed_up_to_the_cutoff(name) -> None:
    random = np.random.default_rng(0)
    target = random.normal(size=3_000).round(3)
    target[random.random(size=3_000) < 0.2] = np.nan
    target[1_500:1_506] = np.nan
    starts, cutoffs = np.array([0, 0, 0, 0, 1_500, 1_500]), np.array([4, 700, 1_200, 1_499, 1_503, 2_999])
    function = {"mean": naive.recent_mean, "median": naive.recent_median}[name]
    forecasts = function(target, starts, cutoffs, horizon=2)
    loop = {"mean": statistics.fmean, "median": statistics.median}[name]
    for row, (start, cutoff) in enumerate(zip(starts, cutoffs, strict=True)):
        known = target[max(start, cutoff - naive.RECENT + 1) : cutoff + 1]
        known = known[~np.isnan(known)]
        expected = loop(known.tolist()) if len(known) else np.nan
        np.testing.assert_allclose(forecasts[row], [expected] * 2, rtol=1e-12)
    whole = np.nan_to_num(target)
    expected = loop(whole[-naive.RECENT :].tolist())
    np.testing.assert_allclose(function(whole, starts[:1], np.array([2_999]), horizon=1), [[expected]], rtol=1e-12)
