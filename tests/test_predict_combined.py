"""`forecast predict --combine-with`: the mean of the network's forecast and a baseline's, as a backtest has it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from forecast_attn import Forecaster
from forecast_attn.cli import app
from forecast_attn.errors import ConfigError, DataError

pytestmark = pytest.mark.slow

QUANTILES = ["0.1", "0.9"]
ROWS = 6 * 40


def table(rows: int = ROWS, name: str = "a", seed: int = 0) -> pd.DataFrame:
    """Every four hours, with a covariate; the last six rows are to be forecast."""
    rng, steps = np.random.default_rng(seed), np.arange(ROWS)
    wind = rng.normal(size=ROWS)
    target = 20 + 3 * np.sin(2 * np.pi * steps / 6) + 2 * wind + rng.normal(size=ROWS) / 4
    stamps = pd.date_range("2024-01-01", periods=ROWS, freq="4h")
    frame = pd.DataFrame({"item_id": name, "date": stamps, "target": target, "wind": wind})
    frame.loc[ROWS - 6 :, "target"] = np.nan
    return frame.tail(rows).reset_index(drop=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("combined") / "run"
    options = {"max_epochs": 1, "epoch_windows": 32, "hidden_size": 4, "batch_size": 16, "quantiles": "0.1,0.5,0.9"}
    options["combination"] = "none"
    both = pd.concat([table(), table(name="b", seed=1)])
    Forecaster(lookback=18, horizon=6, seed=1, accelerator="cpu", **options).fit(both, out=folder)
    return folder


def test_it_is_the_mean_that_a_backtest_has(run: Path) -> None:
    forecaster, history = Forecaster.load(run), pd.concat([table(), table(name="b", seed=1)])
    combined = forecaster.predict(history, combine_with="regression")
    assert (combined.combined_with, combined.alone) == (("regression",), ())
    observed = history.assign(target=history["target"].fillna(history["wind"]))  # whatever came
    result = forecaster.backtest(observed, cutoffs=1, baselines=[], combine_with="regression")
    expected = result.frame[result.frame["model"] == "combination"]
    for name in ("prediction", *QUANTILES):
        np.testing.assert_allclose(combined.predictions[name], expected[name], rtol=1e-9)
    plain = forecaster.predict(history)
    assert plain.combined_with == ()
    assert (plain.predictions["prediction"] != combined.predictions["prediction"]).all()
    widths, moved = (each.predictions["0.9"] - each.predictions["prediction"] for each in (plain, combined))
    np.testing.assert_allclose(moved, widths, atol=1e-9)
    assert plain.attention is not None
    assert combined.attention is not None
    pd.testing.assert_frame_equal(combined.attention.to_frame(), plain.attention.to_frame())


@pytest.mark.parametrize(
    "names", ["quantile-regression", "quantile-regression,regression", "kernel-regression,quantile-regression"]
)
def test_quantiles_are_averaged_one_by_one_where_a_baseline_has_some(run: Path, names: str) -> None:
    """With the weights of the points; a baseline of points alone leaves the distances to those that have quantiles."""
    forecaster, history = Forecaster.load(run), pd.concat([table(), table(name="b", seed=1)])
    observed = history.assign(target=history["target"].fillna(history["wind"]))
    frame = forecaster.backtest(observed, cutoffs=1, baselines=[], combine_with=names, name="ours").frame
    with_quantiles = [name for name in names.split(",") if name != "regression"]
    models = ("ours", "combination", *with_quantiles)
    widths, both, *others = (frame[frame["model"] == model].reset_index(drop=True) for model in models)
    for name in QUANTILES:
        network, mean, *apart = [each[name] - each["prediction"] for each in (widths, both, *others)]
        np.testing.assert_allclose(mean, (network + sum(apart) / len(apart)) / 2, atol=1e-12)
    for other in others:
        assert (other["0.1"] < other["0.9"]).all()
    predictions = forecaster.predict(history, combine_with=names).predictions
    for name in ("prediction", *QUANTILES):
        np.testing.assert_allclose(predictions[name], both[name], rtol=1e-9)


def test_several_baselines_are_one_half(run: Path) -> None:
    forecaster, history = Forecaster.load(run), pd.concat([table(), table(name="b", seed=1)])
    names = ("regression", "median-regression")
    plain, *each = (forecaster.predict(history, combine_with=name).predictions["prediction"] for name in (None, *names))
    result = forecaster.predict(history, combine_with="regression,median-regression")
    np.testing.assert_allclose(result.predictions["prediction"], sum(each) / 2, rtol=1e-9)
    assert result.combined_with == names
    assert (each[0] != each[1]).all()
    assert (plain != each[1]).all()


def test_too_little_history_is_said_with_what_to_do(run: Path) -> None:
    forecaster = Forecaster.load(run)
    known = table()[["item_id", "date", "wind"]].tail(6)
    with pytest.raises(DataError, match=r"fewer than 4 windows .*; the history has 18 rows") as caught:
        forecaster.predict(table(24), combine_with="regression")
    assert "--data HISTORY" in caught.value.hint
    with pytest.raises(DataError, match="fewer than 4 windows"):
        forecaster.predict(future=pd.concat([known, known.assign(item_id="b")]), combine_with="regression")
    both = pd.concat([table(), table(24, name="b")])
    result = forecaster.predict(both, combine_with="regression")
    assert result.alone == ("b",)
    alone = result.predictions["item_id"] == "b"
    expected = forecaster.predict(both).predictions
    pd.testing.assert_frame_equal(result.predictions[alone], expected[alone])


def test_the_command_says_what_the_forecasts_are(run: Path, tmp_path: Path) -> None:
    pd.concat([table(), table(24, name="b")]).to_csv(tmp_path / "history.csv", index=False)
    words = ["predict", str(run), "--data", str(tmp_path / "history.csv"), "--out", str(tmp_path / "predictions.csv")]
    words += ["--attention-out", str(tmp_path / "attention.parquet"), "--combine-with", "regression", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert (document["combined_with"], document["alone"]) == (["regression"], ["b"])
    assert "mean of the network's and of 'regression'" in done.stderr
    assert "of 1 series 'regression' has no forecast, the network's is used alone: 'b'" in done.stderr


def test_what_is_refused(run: Path) -> None:
    with pytest.raises(ConfigError, match="there is no baseline 'regresion'"):
        Forecaster.load(run).predict(table(), combine_with="regresion")


def test_paths_move_with_the_forecast(tmp_path: Path) -> None:
    options = {"max_epochs": 1, "epoch_windows": 32, "hidden_size": 4, "batch_size": 16, "combination": "none"}
    options |= {"decoding": "autoregressive", "distribution": "gaussian", "lookback": 18, "horizon": 6, "seed": 1}
    forecaster = Forecaster(**options, accelerator="cpu").fit(table(), out=tmp_path / "run")
    plain, moved = (
        forecaster.predict(table(), combine_with=names, samples=5, seed=2) for names in (None, "seasonal-naive")
    )
    assert plain.samples is not None
    assert moved.samples is not None
    move = (moved.predictions["prediction"] - plain.predictions["prediction"]).to_numpy()
    assert (np.abs(move) > 0.01).any()
    values, others = (each.samples["value"].to_numpy().reshape(5, 6) for each in (moved, plain))
    np.testing.assert_allclose(values - others, np.tile(move, (5, 1)), atol=1e-9)
