"""Runs with a distribution of counts: what they write, what goes together with them, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.errors import ConfigError, DataError

COUNTS = ("negative-binomial", "tweedie")
SERIES, ROWS = 4, 120
OPTIONS = {
    "lookback": 14,
    "horizon": 4,
    "validation": 30,
    "hidden_size": 8,
    "max_epochs": 3,
    "combination": "none",
    "epoch_windows": 128,
    "seed": 1,
    "accelerator": "cpu",
}


def demand(seed: int = 1) -> pd.DataFrame:
    """Days of demand that are mostly 0, more on two days of the week, of series with different levels."""
    rng, parts = np.random.default_rng(seed), []
    days = pd.date_range("2024-01-01", periods=ROWS, freq="D")
    for number in range(SERIES):
        mean = 0.3 * 3**number * np.where(days.day_of_week >= 5, 3.0, 0.5)
        parts.append(pd.DataFrame({"shop": f"s{number}", "day": days, "sold": rng.poisson(rng.gamma(1, mean))}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return demand()


@pytest.fixture(scope="module", params=COUNTS)
def run(request: pytest.FixtureRequest, table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Forecaster:
    folder = tmp_path_factory.mktemp(request.param)
    table.to_csv(folder / "table.csv", index=False)
    options = {**OPTIONS, "target": "sold", "item_id": "shop", "distribution": request.param}
    return Forecaster(**options).fit(folder / "table.csv", out=folder / "run")


pytestmark = pytest.mark.slow


def test_forecasts_are_counts(run: Forecaster) -> None:
    forecast = run.predict().predictions
    assert (forecast["prediction"] > 0).all()
    columns = forecast[["0.1", "0.5", "0.9"]].to_numpy()
    assert (columns >= 0).all()
    assert (np.diff(columns, axis=1) >= 0).all()
    assert (columns[:, 2] > 0).all()
    if run.config.model.distribution == "negative-binomial":
        assert (columns == np.round(columns)).all()
    assert run.config.data.scaling == "covariates"
    assert run.config.model.window_normalisation == "mean"
    assert run.config.data.non_negative


def test_the_mean_is_about_right(run: Forecaster, table: pd.DataFrame) -> None:
    """Larger series have larger means: the target is learned in its own unit, and windows bring the level."""
    forecast = run.predict().predictions.groupby("item_id")["prediction"].mean()
    actual = table.groupby("shop")["sold"].mean()
    assert forecast.is_monotonic_increasing
    assert (forecast / actual).between(0.3, 3).all()


def test_backtests_score_and_refit(run: Forecaster) -> None:
    result = run.backtest(metrics=["mae", "crps"], cutoffs=3, refit=2, refit_epochs=1, baselines=["naive"])
    rows = result.frame[result.frame["model"] == "run"]
    assert (rows["0.1"] >= 0).all()
    assert np.isfinite(result.metrics.set_index("model").loc["run", "crps"])


def test_calibrated_quantiles_stay_above_0(table: pd.DataFrame, tmp_path: Path) -> None:
    options = {**OPTIONS, "target": "sold", "item_id": "shop", "distribution": "tweedie", "calibration": "cqr"}
    run = Forecaster(**options, quantiles="0.1,0.5,0.9").fit(table, out=tmp_path / "run")
    forecast = run.predict().predictions
    assert (forecast[["0.1", "0.5", "0.9"]] >= 0).all().all()


def test_ensembles_gaps_and_combinations(table: pd.DataFrame, tmp_path: Path) -> None:
    holes = table.assign(sold=table["sold"].where(table.index % 17 != 3))
    options = {**OPTIONS, "target": "sold", "item_id": "shop", "distribution": "negative-binomial", "missing": "mask"}
    run = Forecaster(**options | {"ensemble": 2, "combination": "auto"}).fit(holes, out=tmp_path / "run")
    forecast = run.predict().predictions
    assert (forecast[["prediction", "0.1", "0.9"]] >= 0).all().all()
    mean = run.predict(combine_with="seasonal-naive").predictions
    assert (mean[["prediction", "0.1", "0.9"]] >= 0).all().all()


@pytest.mark.parametrize("distribution", COUNTS)
def test_what_cannot_be_a_count_is_refused(table: pd.DataFrame, distribution: str, tmp_path: Path) -> None:
    negative = table.assign(sold=table["sold"].where(table.index != 40, -1))
    options = {**OPTIONS, "target": "sold", "item_id": "shop", "distribution": distribution}
    with pytest.raises(DataError, match="has the target -1 at 2024-02-10") as caught:
        Forecaster(**options).fit(negative, out=tmp_path / "run")
    assert "student-t" in caught.value.hint
    assert not (tmp_path / "run").exists()
    parts = table.assign(sold=table["sold"] / 2)
    if distribution == "negative-binomial":
        with pytest.raises(DataError, match="needs whole numbers of 0 or more") as caught:
            Forecaster(**options).fit(parts, out=tmp_path / "run")
        assert "tweedie" in caught.value.hint


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("scaling", "standard"),
        ("window_normalisation", "last-season"),
        ("transform", "log"),
        ("decoding", "autoregressive"),
    ],
)
def test_what_does_not_go_together_is_refused(option: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"--distribution tweedie needs --{option.replace('_', '-')}"):
        Forecaster(distribution="tweedie", **{option: value})


def test_other_refusals_stay() -> None:
    with pytest.raises(ConfigError, match="--loss mse is for a point forecast"):
        Forecaster(distribution="tweedie", loss="mse")
    with pytest.raises(ConfigError, match="--calibration split"):
        Forecaster(distribution="negative-binomial", calibration="split")
