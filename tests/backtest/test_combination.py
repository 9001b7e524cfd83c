"""The mean of the model's forecast and a baseline's: its rows, its scores, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from forecast_attn import Forecaster
from forecast_attn.backtest.backtest_result import BacktestResult
from forecast_attn.baselines.combination import combined, mean_of
from forecast_attn.cli import app
from forecast_attn.errors import ConfigError

pytestmark = pytest.mark.slow

QUANTILES = ["0.1", "0.5", "0.9"]
KEYS = ["item_id", "cutoff", "timestamp", "step", "target"]


@pytest.fixture(scope="module")
def result(shop_run: Path, tmp_path_factory: pytest.TempPathFactory) -> BacktestResult:
    out = tmp_path_factory.mktemp("combined") / "bt.parquet"
    return Forecaster.load(shop_run).backtest(baselines=["seasonal-naive"], combine_with="drift", out=out)


def rows_of(result: BacktestResult, model: str) -> pd.DataFrame:
    return result.frame[result.frame["model"] == model].reset_index(drop=True)


def test_it_is_the_mean_and_quantiles_move_as_much(result: BacktestResult) -> None:
    assert list(result.frame["model"].unique()) == ["run", "combination", "seasonal-naive", "drift"]
    network, other, both = (rows_of(result, model) for model in ("run", "drift", "combination"))
    pd.testing.assert_frame_equal(both[KEYS], network[KEYS])
    np.testing.assert_array_equal(both["prediction"], (network["prediction"] + other["prediction"]) / 2)
    for quantile in QUANTILES:
        moved = both[quantile] - both["prediction"]
        np.testing.assert_allclose(moved, network[quantile] - network["prediction"], atol=1e-12)


def test_without_it_every_other_row_is_the_same(shop_run: Path, result: BacktestResult) -> None:
    plain = Forecaster.load(shop_run).backtest(baselines=["seasonal-naive", "drift"])
    others = result.frame[result.frame["model"] != "combination"].reset_index(drop=True)
    pd.testing.assert_frame_equal(others, plain.frame)
    assert list(plain.scores.skills.columns) == ["baseline", "skill_per_cent"]


def test_it_is_scored_as_a_model(result: BacktestResult) -> None:
    both = rows_of(result, "combination")
    scores = result.metrics.set_index("model")
    assert scores.loc["combination", "mae"] == pytest.approx((both["prediction"] - both["target"]).abs().mean())
    assert np.isfinite(scores.loc["combination", "crps"])
    skills = result.scores.skills.set_index(["model", "baseline"])["skill_per_cent"]
    assert set(skills.index) == {
        *(("run", other) for other in ("seasonal-naive", "drift")),
        *(("combination", other) for other in ("run", "seasonal-naive", "drift")),
    }
    for (model, other), skill in skills.items():
        assert skill == pytest.approx(100 * (1 - scores.loc[model, "mae"] / scores.loc[other, "mae"]))
        tests = result.scores.tests.query("model_a == @model and model_b == @other and step.isna()")
        assert set(tests["test"]) == {"DM", "GW"}
    document = json.loads(result.path.with_suffix(".json").read_text())
    assert (document["combine_with"], document["baselines"]) == (["drift"], ["seasonal-naive", "drift"])


def test_the_command_shows_every_pair(shop_run: Path, tmp_path: Path) -> None:
    words = ["backtest", str(shop_run), "--combine-with", "regression", "--baselines", "none", "--metrics", "mae"]
    done = CliRunner().invoke(app, [*words, "--start", "2024-04-01", "--out", str(tmp_path / "bt.csv")])
    assert done.exit_code == 0, done.output
    pairs = [line.split()[:2] for line in done.stdout.splitlines()]
    assert all(pair in pairs for pair in (["run", "regression"], ["combination", "run"], ["combination", "regression"]))
    frame = pd.read_csv(tmp_path / "bt.csv")
    values = frame.pivot_table(index=["item_id", "cutoff", "step"], columns="model", values="prediction", dropna=False)
    alone = values["regression"].isna()
    expected = values["run"].where(alone, (values["run"] + values["regression"]) / 2)
    np.testing.assert_allclose(values["combination"], expected, rtol=1e-9)
    assert (~alone).any()


@pytest.mark.parametrize("names", ["drift, naive", ("naive", "drift")])
def test_of_several_baselines_their_mean_is_one_half(
    shop_run: Path, tmp_path: Path, names: str | tuple[str, ...]
) -> None:
    out = tmp_path / "bt.parquet"
    result = Forecaster.load(shop_run).backtest(baselines=["drift"], combine_with=names, out=out)
    assert set(result.frame["model"].unique()) == {"run", "combination", "drift", "naive"}
    network, drift, naive, both = (rows_of(result, model) for model in ("run", "drift", "naive", "combination"))
    mean = network["prediction"] / 2 + (drift["prediction"] + naive["prediction"]) / 4
    np.testing.assert_allclose(both["prediction"], mean, rtol=1e-12)
    np.testing.assert_allclose(both["0.9"] - both["prediction"], network["0.9"] - network["prediction"], atol=1e-12)
    document = json.loads(result.path.with_suffix(".json").read_text())
    assert sorted(document["combine_with"]) == ["drift", "naive"]


def test_what_is_refused(shop_run: Path) -> None:
    forecaster = Forecaster.load(shop_run)
    with pytest.raises(ConfigError, match="there is no baseline 'regresion'") as caught:
        forecaster.backtest(combine_with="regresion")
    assert "regression" in caught.value.hint
    with pytest.raises(ConfigError, match="cannot be called 'combination', as the combination is"):
        forecaster.backtest(combine_with="naive", name="combination")
    with pytest.raises(ConfigError, match="has 'naive' twice"):
        forecaster.backtest(combine_with="naive,drift,naive")
    for nothing in ("", "naive,"):
        with pytest.raises(ConfigError, match="--combine-with needs names of baselines"):
            forecaster.backtest(combine_with=nothing)


values = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3).map(np.array)


@given(prediction=values, other=values, low=values, hole=st.integers(0, 2))
def test_where_the_baseline_has_none_the_forecast_stands_alone(
    prediction: np.ndarray, other: np.ndarray, low: np.ndarray, hole: int
) -> None:
    other = other.copy()
    other[hole] = np.nan
    mean, quantiles = combined(prediction, {"0.1": low}, other)
    assert (mean[hole], quantiles["0.1"][hole]) == (prediction[hole], low[hole])
    assert ((mean >= np.fmin(prediction, other) - 1e-9) & (mean <= np.fmax(prediction, other) + 1e-9)).all()
    mean, quantiles = combined(prediction, {"0.1": low}, other, non_negative=True)
    assert (mean >= 0).all()
    assert (quantiles["0.1"] >= 0).all()


@given(prediction=values, other=values, low=values, apart=values, hole=st.integers(0, 2), share=st.floats(0, 1))
def test_quantiles_of_both_are_averaged_as_their_points_are(
    prediction: np.ndarray, other: np.ndarray, low: np.ndarray, apart: np.ndarray, hole: int, share: float
) -> None:
    known = apart.copy()
    known[hole] = np.nan
    quantiles = combined(prediction, {"0.1": low}, other, distances={"0.1": known}, share=share)[1]["0.1"]
    expected = (1 - share) * low + share * (other + apart)
    expected[hole] = low[hole] + share * (other - prediction)[hole]  # no quantile of the baseline: moved
    np.testing.assert_allclose(quantiles, expected, rtol=1e-9, atol=1e-6)


@given(first=values, second=values, holes=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=3, max_size=3))
def test_a_mean_is_of_those_that_have_a_forecast(
    first: np.ndarray, second: np.ndarray, holes: list[tuple[bool, bool]]
) -> None:
    both = np.where(np.array(holes).T, np.nan, np.stack([first, second]))
    expected = [np.mean(known) if len(known := column[~np.isnan(column)]) else np.nan for column in both.T]
    np.testing.assert_allclose(mean_of(list(both)), expected, rtol=1e-12)
    np.testing.assert_array_equal(mean_of([both[0]]), both[0])
