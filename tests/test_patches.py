"""Runs over patches as a user meets them: sizes of any kind, forecasts, files, what is refused, and a planted lag."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn import Forecaster
from forecast_attn.attention_file import read_attention
from forecast_attn.errors import ConfigError
from forecast_attn.forecasting.model import read_config
from forecast_attn.runs.run_dir import RunDir

pytestmark = pytest.mark.slow

SIZES = {"lookback": 14, "horizon": 9, "patch_length": 7}
PLAIN = {
    "bidirectional": False,
    "projection_size": 0,
    "temporal_decoder_size": 0,
    "lags": (),
    "learning_rate": 0.008,
    "weight_decay": 0.0001,
    "hidden_size": 64,
}
"""No way past the attention to a planted lag."""
QUICK = {
    "hidden_size": 4,
    "max_epochs": 1,
    "combination": "none",
    "epoch_windows": 32,
    "validation_windows": 16,
    "seed": 7,
    "accelerator": "cpu",
}


@pytest.fixture(scope="module")
def table(make_table) -> pd.DataFrame:
    """Days whose temperature is known ahead; the last nine have no target."""
    known = make_table(120)
    known.loc[111:, "target"] = np.nan
    return known


@pytest.fixture(scope="module")
def trained(table, tmp_path_factory):
    """`trained(name, **options)`: a run over weeks, trained once. Look at it, do not change it."""
    folder = tmp_path_factory.mktemp("patches")

    def train(name: str, **options: object) -> Path:
        if not (folder / name).exists():
            Forecaster(**SIZES | QUICK | options).fit(table, out=folder / name)
        return folder / name

    return train


@pytest.fixture(scope="module")
def run(trained) -> Path:
    return trained("run", missing="mask", quantiles="0.1,0.5,0.9", calibration="cqr")


def predict(run: Path, data: pd.DataFrame):
    return Forecaster.load(run).predict(data[:111], future=data[111:].drop(columns="target"))


# --------------------------------------------------------------------------- forecasts and files


def test_a_forecast_has_a_row_per_step_and_an_attention_row_per_patch(run, table):
    result = predict(run, table)
    assert result.predictions["step"].tolist() == list(range(1, 10))
    assert result.predictions["timestamp"].astype(str).tolist() == table["date"][111:].tolist()
    assert (np.diff(result.predictions[["0.1", "0.5", "0.9"]].to_numpy()) >= 0).all()
    dump = result.attention
    assert dump.metadata.patch_length == 7
    assert dump.weights.shape == (1, 1, 2, 2)
    assert dump.weights.sum(-1) == pytest.approx(1, abs=1e-6)
    first_days = [str(day)[:10] for day in (*dump.lookback_timestamps(0), *dump.timestamps[0])]
    assert first_days == table["date"][[111 - 14, 111 - 7, 111, 118]].tolist()
    assert str(dump.last_timestamps[0, 1])[:10] == table["date"].iloc[-1]
    assert (dump.observed_steps == 2).all()


def test_a_week_without_values_has_no_weight_and_one_value_makes_it_a_key(run, table):
    for known, keys in (([], 1), ([3], 2)):
        data = table.copy()
        data.loc[[97 + day for day in range(7) if day not in known], "target"] = np.nan
        dump = predict(run, data).attention
        assert (dump.observed_steps == keys).all()
        assert (dump.weights[..., 0] > 0).all() == bool(known)
        assert (dump.missing_weight == 0).all()
        assert dump.weights.sum(-1) == pytest.approx(1, abs=1e-6)


def test_a_backtest_forecasts_what_predict_does(run, table, tmp_path):
    whole = table.assign(target=table["target"].fillna(1.0))
    options = {"cutoffs": 1, "baselines": (), "out": tmp_path / "backtest.parquet"}
    result = Forecaster.load(run).backtest(whole, **options, attention_out=tmp_path / "attention.parquet")
    expected = predict(run, table)
    for column in ("prediction", "0.1", "0.5", "0.9"):
        np.testing.assert_allclose(result.frame[column], expected.predictions[column], rtol=1e-6)
    np.testing.assert_allclose(
        read_attention(tmp_path / "attention.parquet").weights, expected.attention.weights, atol=1e-6
    )


def test_an_ensemble_has_the_mean_weights_of_its_members(trained, table):
    run = trained("ensemble", ensemble=2, quantiles="0.1,0.5,0.9")
    members = [predict(run / "members" / number, table) for number in "01"]
    predictions = predict(run, table)
    expected = np.mean([member.attention.weights for member in members], axis=0)
    np.testing.assert_allclose(predictions.attention.weights, expected, atol=1e-6)
    expected = np.mean([member.predictions["0.9"] for member in members], axis=0)
    np.testing.assert_allclose(predictions.predictions["0.9"], expected, rtol=1e-6)


def test_no_attention_forecasts_over_patches_too(trained, table):
    result = predict(trained("none", attention="none"), table)
    assert result.attention is None
    assert result.predictions["prediction"].notna().all()


def test_short_series_are_padded_to_whole_patches(table):
    short = pd.concat([table[:111].assign(item_id="long"), table[101:111].assign(item_id="short")])
    forecaster = Forecaster(**SIZES | QUICK, short_series="pad", calendar="none", past_covariates=["temperature"])
    result = forecaster.fit(short).predict()
    by_series = result.attention.select(item="short")
    assert by_series.weights.shape == (1, 1, 2, 2)
    assert (by_series.observed_steps == 2).all()  # ten days: one whole week and three days of another


@settings(max_examples=12)
@given(
    keys=st.integers(1, 4),
    patch_length=st.integers(1, 5),
    horizon=st.integers(1, 11),
    attention=st.sampled_from(["luong-general", "bahdanau", "luong-location", "multi-head", "none"]),
    kind=st.sampled_from([{}, {"quantiles": "0.2,0.8"}, {"distribution": "gaussian"}]),
)
def test_every_size_can_be_trained_and_forecast(make_table, keys, patch_length, horizon, attention, kind):
    sizes = {"lookback": keys * patch_length, "horizon": horizon, "patch_length": patch_length}
    forecaster = Forecaster(
        **sizes | QUICK, **kind, attention=attention, past_covariates=["temperature"]
    ).fit(make_table(80))  # fmt: skip
    result = forecaster.predict()
    assert result.predictions["prediction"].notna().all()
    assert len(result.predictions) == horizon
    if attention != "none":
        steps = -(-horizon // patch_length)
        assert result.attention.weights.shape == (1, 4 if attention == "multi-head" else 1, steps, keys)
        assert result.attention.weights.sum(-1) == pytest.approx(1, abs=1e-5)
        assert result.attention.metadata.format_version == (1 if patch_length == 1 else 3)


# --------------------------------------------------------------------------- options


def test_sizes_that_do_not_fit_are_refused_before_training(table, tmp_path):
    with pytest.raises(ConfigError, match="it must divide it; the lookback is 14") as error:
        Forecaster(**SIZES | QUICK | {"patch_length": 5}).fit(table, out=tmp_path / "run")
    assert error.value.hint == "--lookback 10 or 15"
    assert not (tmp_path / "run").exists()


def test_no_more_weights_than_patches_are_kept(table, run, tmp_path):
    with pytest.raises(ConfigError, match="--attention-top 3 keeps more weights than the 2 patches of the lookback"):
        Forecaster(**SIZES | QUICK, attention_top=3).fit(table, out=tmp_path / "run")
    with pytest.raises(ConfigError, match="2 patches"):
        Forecaster.load(run).predict(table[:111], future=table[111:].drop(columns="target"), attention_top=3)


def test_drawn_paths_need_single_steps(run, table):
    with pytest.raises(ConfigError, match="--samples needs steps that follow each other") as error:
        Forecaster.load(run).predict(table[:111], future=table[111:].drop(columns="target"), samples=5)
    assert (error.value.hint or "").startswith("forecast train DATA --decoding autoregressive --quantiles 0.1,0.5,0.9")


def test_the_size_says_patches(forecast, run, table, here):
    table[:111].to_csv("data.csv", index=False)
    table[111:].drop(columns="target").to_csv("future.csv", index=False)
    outcome = forecast("predict", run, "--data", "data.csv", "--future", "future.csv", "--out", "out.csv",
                       "--attention-out", "attention.parquet", "--attention-top", 1)  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert "1 window × 2 patches ahead × the 1 largest of 2 patches, float32" in " ".join(outcome.err.split())
    assert read_attention("attention.parquet").metadata.top == 1


def test_a_run_that_does_not_say_has_patches_of_one_step(trained, without_manifest):
    run = RunDir(trained("run", missing="mask", quantiles="0.1,0.5,0.9", calibration="cqr"))
    assert read_config(run).model.patch_length == 7
    content = json.loads(run.config.read_text())
    del content["options"]["model"]["patch_length"]
    copy = RunDir(shutil.copytree(run.path, run.path.parent / "older"))
    without_manifest(copy.path)
    copy.config.write_text(json.dumps(content))
    assert read_config(copy).model.patch_length == 1


def test_patches_of_one_step_are_no_patches(trained, table):
    run = trained("single", patch_length=1)
    assert read_attention(run / "validation_attention.parquet").metadata.format_version == 1


# --------------------------------------------------------------------------- truth


def test_the_weight_lies_on_the_week_that_holds_the_planted_lag(tmp_path):
    """The target is its driver of fourteen days ago: the first week ahead needs the week before last, the second the
    last."""
    days = pd.date_range("2019-01-01", periods=2_000)
    random = np.random.default_rng(3)
    driver = random.normal(size=2_014)
    table = pd.DataFrame({"date": days, "target": driver[:2_000] + 0.02 * random.normal(size=2_000)})
    table["driver"] = driver[14:]
    forecaster = Forecaster(
        **(PLAIN | {"lookback": 28, "horizon": 14, "patch_length": 7, "attention": "luong-general"}),
        max_epochs=6,
        seed=1,
        accelerator="cpu",
    ).fit(table, out=tmp_path / "run")
    weights = read_attention(forecaster.run_path / "validation_attention.parquet").to_frame()
    right = weights["lag"] == np.where(weights["step"] == 1, 1, 0)
    assert set(weights["last_step"]) == {7, 14}
    assert weights["weight"][right].sum() / weights["weight"].sum() >= 0.8
