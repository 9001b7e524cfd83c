"""Forecasts in the layouts of other libraries, and the estimator as scikit-learn takes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.forecasting.forecast_result import ForecastResult, as_nixtla


@pytest.fixture
def result() -> ForecastResult:
    """Two series, two days, three quantiles."""
    days = pd.to_datetime(["2024-01-02", "2024-01-03"] * 2)
    table = pd.DataFrame({"item_id": ["a", "a", "b", "b"], "cutoff": pd.Timestamp("2024-01-01"), "timestamp": days})
    table = table.assign(step=[1, 2, 1, 2], prediction=np.arange(4.0))
    return ForecastResult(table.assign(**{"0.1": -1.0, "0.5": 0.0, "0.9": 9.0, "0.975": 12.0}), None)


def test_nixtla_has_its_names_and_the_same_numbers(result: ForecastResult) -> None:
    frame = result.to_nixtla("GRU")
    ends = ["GRU-lo-80", "GRU-median", "GRU-hi-80", "GRU-q-0.975"]
    assert list(frame.columns) == ["unique_id", "ds", "cutoff", "GRU", *ends]
    assert (frame["GRU"] == result.predictions["prediction"]).all()
    assert (frame["GRU-hi-80"] == 9).all()


def test_utilsforecast_scores_the_table_of_nixtla(result: ForecastResult) -> None:
    from utilsforecast.losses import mae

    frame = result.to_nixtla("GRU").assign(y=lambda table: table["GRU"] + [1, 3, 0, 0])
    assert mae(frame, ["GRU"]).set_index("unique_id")["GRU"].to_dict() == {"a": 2.0, "b": 0.0}


def test_names_of_odd_quantiles() -> None:
    table = pd.DataFrame(columns=["item_id", "timestamp", "cutoff", "prediction", "0.025", "0.3", "0.975"])
    named = as_nixtla(table, ("0.025", "0.3", "0.975"), "m")
    assert list(named.columns[4:]) == ["m-lo-95", "m-q-0.3", "m-hi-95"]


def test_polars_and_back_is_the_same_table(result: ForecastResult) -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    frame = result.to_polars()
    assert frame["prediction"].to_list() == result.predictions["prediction"].tolist()
    assert frame.columns == list(result.predictions.columns)


def test_a_table_of_nixtla_and_one_of_polars_are_forecast_alike(finished_run: Path, make_table: Callable) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    table = make_table()
    forecaster = Forecaster.load(finished_run)
    expected = forecaster.predict(table).predictions
    pd.testing.assert_frame_equal(forecaster.predict(polars.from_pandas(table)).predictions, expected)


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.services
@pytest.mark.filterwarnings("ignore")
def test_series_of_darts_are_the_table_they_make(make_table: Any) -> None:
    """One, and several by name; what comes out goes in again."""
    darts = pytest.importorskip("darts", reason="darts is not installed: make test-services")
    frames = {name: make_table(60, seed).drop(columns="temperature") for seed, name in enumerate("ab")}
    frames = {name: frame.assign(date=pd.to_datetime(frame["date"])) for name, frame in frames.items()}
    series = {name: darts.TimeSeries.from_dataframe(frame, time_col="date") for name, frame in frames.items()}
    options = {"lookback": 8, "horizon": 3, "hidden_size": 4, "max_epochs": 1, "seed": 1, "accelerator": "cpu"}
    for given, table in (
        (series["a"], frames["a"]),
        (series, pd.concat(frames, names=["item_id"]).reset_index(level=0)),
    ):
        of_series, of_table = (Forecaster(**options).fit(each).predict() for each in (given, table))
        assert of_series.predictions["prediction"].tolist() == of_table.predictions["prediction"].tolist()
        assert list(of_series.to_darts("D")) == (["a", "b"] if given is series else list(of_table.to_darts("D")))
    again = Forecaster(**options).fit(series).predict(series)
    assert again.predictions["prediction"].tolist() == of_series.predictions["prediction"].tolist()


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.services
@pytest.mark.filterwarnings("ignore")
def test_darts_has_a_series_for_every_name(result: ForecastResult) -> None:
    pytest.importorskip("darts", reason="darts is not installed: make test-services")
    series = result.to_darts("D")
    assert list(series) == ["a", "b"]
    assert list(series["b"].components) == ["prediction", "0.1", "0.5", "0.9", "0.975"]
    assert series["b"].values()[:, 0].tolist() == [2.0, 3.0]


def test_scikit_learn_clones_a_forecaster(finished_run: Path) -> None:
    from sklearn.base import clone

    forecaster = Forecaster(horizon=3, attention="luong-dot", preset="fast", future_covariates=["offer"])
    copy = clone(forecaster)
    assert copy.config == forecaster.config
    assert copy.get_params() == {
        "horizon": 3, "attention": "luong-dot", "preset": "fast", "future_covariates": ["offer"],
    }  # fmt: skip
    assert copy.set_params(horizon=5).config.data.horizon == 5
    assert (copy.config.model, forecaster.config.data.horizon) == (forecaster.config.model, 3)
    with pytest.raises(ConfigError, match="there is no option 'horizons'"):
        copy.set_params(horizons=5)
    loaded = Forecaster.load(finished_run)
    assert clone(loaded).config.model == loaded.config.model
    with pytest.raises(RunError, match="not fitted"):
        loaded.set_params(horizon=5).predict()
