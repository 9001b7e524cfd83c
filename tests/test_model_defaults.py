"""What is filled in where the user leaves the network's shape open."""

import json

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.config.defaults import Shape, shape_of
from forecast_attn.config.options import ModelConfig

HOURLY = {"lookback": 168, "horizon": 24, "season": 24}
BY_STEPS = Shape(1, 64, bidirectional=False, projection_size=0, temporal_decoder_size=0, lags=())
BY_PATCHES = Shape(6, 64, bidirectional=True, projection_size=128, temporal_decoder_size=64, lags=())


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (HOURLY, BY_PATCHES),
        ({"lookback": 672, "horizon": 96, "season": 96}, BY_PATCHES._replace(patch_length=24)),
        ({"lookback": 72, "horizon": 24, "season": 24}, BY_PATCHES),
        ({"lookback": 28, "horizon": 7, "season": 7}, BY_STEPS),  # daily
        ({"lookback": 36, "horizon": 12, "season": 12}, BY_STEPS),  # monthly
        ({"lookback": 24, "horizon": 24, "season": 24}, BY_STEPS),  # one season is little to choose from
        ({"lookback": 168, "horizon": 6, "season": 24}, BY_STEPS),  # shorter than a season
        ({"lookback": 170, "horizon": 24, "season": 24}, BY_PATCHES._replace(patch_length=5)),  # no multiple of 6
        ({"lookback": 160, "horizon": 24, "season": 24}, BY_PATCHES._replace(patch_length=8)),  # 5 divides no season
        ({"lookback": 169, "horizon": 24, "season": 24}, BY_STEPS),  # nothing near 6 divides it
        ({"lookback": 673, "horizon": 96, "season": 96}, BY_STEPS),
        ({"lookback": 680, "horizon": 96, "season": 96}, BY_PATCHES._replace(patch_length=20)),
        ({"lookback": 168, "horizon": 24, "season": 1}, BY_STEPS),
        ({"lookback": 208, "horizon": 52, "season": 52, "within_day": False}, BY_STEPS),  # weekly
    ],
)
def test_hourly_and_finer_series_are_cut_into_patches(sizes, expected):
    assert shape_of(ModelConfig(), **sizes) == expected


@pytest.mark.parametrize("options", [{"decoding": "autoregressive"}, {"attention_window": "local-p"}])
def test_what_counts_single_steps_gets_single_steps(options):
    assert shape_of(ModelConfig(**options), **HOURLY) == BY_STEPS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lookback", "message"),
    [
        (48, None),
        (50, "--lookback 50 is cut into patches of 5 steps, because it is not a multiple of 6, the usual ones; "
             "--lookback 48 or 54 gives those"),
        (53, "no number of steps near 6 divides --lookback 53, so it is not cut into patches: it is read step by step"),
    ],
)  # fmt: skip
def test_a_lookback_that_changes_the_defaults_is_told(forecast, write, lookback, message):
    rows = pd.date_range("2024-01-01", periods=400, freq="h")
    write(pd.DataFrame({"ds": rows, "y": np.sin(np.arange(400) * 2 * np.pi / 24).round(4)}))
    words = ("--lookback", lookback, "--horizon", 24, "--max-epochs", 1, "--epoch-windows", 16, "--seed", 1)
    errors = forecast("train", "data.csv", *words, "--accelerator", "cpu", "--out", "run").err
    notes = [line for line in errors.splitlines() if line.startswith("note: ")]
    assert [message in note for note in notes] == [True] * (message is not None)
    assert ("in patches of" in errors) == (lookback != 53)
    given = forecast("train", "data.csv", *words, "--patch-length", 1, "--accelerator", "cpu", "--out", "other").err
    assert "note: " not in given


def test_what_is_given_wins():
    given = {
        "patch_length": 24,
        "hidden_size": 8,
        "bidirectional": False,
        "projection_size": 0,
        "temporal_decoder_size": 0,
        "lags": (24, 168),
    }
    assert shape_of(ModelConfig(**given), **HOURLY) == Shape(**given)
    assert shape_of(ModelConfig(patch_length=1), **HOURLY) == BY_STEPS
    assert shape_of(ModelConfig(patch_length=7), lookback=28, horizon=7, season=7) == BY_PATCHES._replace(
        patch_length=7
    )


@pytest.mark.slow
def test_a_run_records_what_was_filled_in(tmp_path):
    rows = pd.date_range("2024-01-01", periods=300, freq="h")
    table = pd.DataFrame({"ds": rows, "y": np.sin(np.arange(300) * 2 * np.pi / 24)})
    sizes = {"lookback": 48, "horizon": 24, "validation": 48}
    Forecaster(**sizes, max_epochs=1, seed=1, accelerator="cpu").fit(table, out=tmp_path / "run")
    options = json.loads((tmp_path / "run" / "config.json").read_text())["options"]
    assert options["model"]["patch_length"] == 6
    assert options["model"]["lags"] == []
    assert options["training"]["learning_rate"] == 0.001
    result = Forecaster.load(tmp_path / "run").predict()
    assert result.attention.metadata.patch_length == 6
