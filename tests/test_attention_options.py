"""What of the attention `forecast predict` and `forecast train` write, and what they say before they do."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from forecast_attn import Forecaster
from forecast_attn.attention_file import read_attention
from forecast_attn.attention_file.attention_schema import METADATA_KEY
from forecast_attn.forecasting.identifiability import attention_values, is_identifiable, value_rank

pytestmark = pytest.mark.slow

SIZES = {
    "horizon": 3,
    "lookback": 14,
    "hidden_size": 4,
    "max_epochs": 1,
    "combination": "none",
    "epoch_windows": 32,
    "seed": 1,
}


def several_series(count=9, length=60):
    random, stamps = np.random.default_rng(0), pd.date_range("2026-01-01", periods=length, freq="D")
    waves = [10 * number + np.sin(np.arange(length) * 2 * np.pi / 7) for number in range(count)]
    return pd.concat(
        pd.DataFrame({"timestamp": stamps, "item_id": f"store {number}", "y": wave + 0.1 * random.normal(size=length)})
        for number, wave in enumerate(waves)
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run over nine series, with eleven validation windows written in half precision."""
    path = tmp_path_factory.mktemp("several") / "run"
    options = {"attention_windows": "11", "attention_dtype": "float16"}
    Forecaster(**SIZES, **options, attention="multi-head", heads=2, accelerator="cpu").fit(several_series(), out=path)
    return path


def test_training_writes_what_was_asked_for(run):
    dump = read_attention(run / "validation_attention.parquet")
    assert (dump.num_windows, dump.metadata.dtype) == (11, "float16")


@pytest.fixture
def predicted(forecast, run, tmp_path):
    """`predicted("--attention-windows", 3, …)` -> the outcome, predictions and the attention file."""

    def predict(*words):
        out, attention = tmp_path / "out.csv", tmp_path / "attention.parquet"
        outcome = forecast("predict", run, "--out", out, "--attention-out", attention, *words)
        assert outcome.code == 0, outcome.err
        return outcome, out.read_text(), read_attention(attention)

    return predict


def test_windows_are_picked_evenly_and_the_forecast_stays_what_it_was(predicted):
    _, all_predictions, whole = predicted()
    _, predictions, part = predicted("--attention-windows", "3")
    assert predictions == all_predictions
    assert list(part.window_item_ids) == ["store 0", "store 4", "store 8"]
    assert np.array_equal(part.weights, whole.weights[[0, 4, 8]])


def test_the_largest_weights_in_half_precision(predicted):
    _, _, whole = predicted()
    _, _, small = predicted("--attention-top", "4", "--attention-dtype", "float16")
    assert (small.metadata.top, small.metadata.dtype) == (4, "float16")
    assert ((small.weights > 0).sum(axis=-1) == 4).all()
    assert small.weights.max(-1) == pytest.approx(whole.weights.max(-1), rel=1e-3)


@pytest.mark.parametrize("words", [(), ("--attention-windows", "5"), ("--attention-top", "3")])
def test_the_size_is_told_before_and_is_about_right(predicted, words):
    outcome, _, dump = predicted(*words)
    match = re.search(
        r"^attention: (\d+) windows × 2 heads × 3 steps × .*: about ([\d.,]+) (KiB|bytes)", outcome.err, re.M
    )
    kibibytes = float(match[2].replace(",", "")) * (1024 if match[3] == "KiB" else 1)
    assert int(match[1]) == dump.num_windows
    assert kibibytes == pytest.approx(dump.path.stat().st_size, rel=0.15)


def test_quiet_says_nothing(predicted):
    assert predicted("--quiet")[0].err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--attention-top", "15"), "--attention-top 15 keeps more weights than the 14 of the lookback"),
        (("--attention-top", "0"), "--attention-top must be at least 1"),
        (("--attention-windows", "none"), "--attention-windows must be a number of windows, or all; got 'none'"),
        (("--attention-dtype", "double"), "--attention-dtype has no value 'double'"),
    ],
)
def test_what_cannot_be_written_is_refused(forecast, run, tmp_path, words, message):
    named = ("--out", tmp_path / "out.csv", "--attention-out", tmp_path / "weights.parquet")
    outcome = forecast("predict", run, *named, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(message)
    assert not list(tmp_path.iterdir())


def test_training_refuses_more_weights_than_the_lookback_before_it_begins(tmp_path, forecast):
    several_series(1).to_csv(tmp_path / "data.csv", index=False)
    words = ("--lookback", "14", "--horizon", "3", "--attention-top", "15", "--out", tmp_path / "run")
    outcome = forecast("train", tmp_path / "data.csv", *words)
    assert outcome.code == 2
    assert "--attention-top 15" in outcome.error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "option", [("--attention-top", "3"), ("--attention-windows", "9"), ("--attention-dtype", "float16")]
)
def test_a_model_without_attention_has_nothing_to_choose(tmp_path, forecast, option):
    several_series(1).to_csv(tmp_path / "data.csv", index=False)
    outcome = forecast("train", tmp_path / "data.csv", "--attention", "none", *option, "--out", tmp_path / "run")
    assert (outcome.code, outcome.error) == (2, f"{option[0]} needs an attention mechanism")


def test_what_is_missing_gets_no_weight(tmp_path):
    """Trained and forecast with holes: the file says which steps are missing, and nothing lies on them."""
    frame = several_series(2)
    holes = frame.index.isin([49, 52, 53, 58]) & (frame["item_id"] == "store 1")
    frame.loc[holes, "y"] = np.nan
    forecaster = Forecaster(**SIZES, missing="mask", accelerator="cpu").fit(frame)
    dump = forecaster.predict(attention_out=tmp_path / "attention.parquet").attention
    assert dump.metadata.masked
    assert dump.observed_steps[:, 0, 0].tolist() == [14, 10]
    stamps = pd.DatetimeIndex(dump.lookback_timestamps(1))
    missing = np.isin(stamps, frame["timestamp"][holes].to_numpy())
    assert missing.sum() == 4
    assert not dump.weights[1][..., missing].any()
    assert dump.weights[1][..., ~missing].all()
    assert not dump.missing_weight.any()


# --------------------------------------------------------------------------- the rank of what is weighed


@pytest.fixture(scope="module")
def loaded(run):
    from forecast_attn.forecasting.inference import load_model
    from forecast_attn.runs.run_dir import RunDir
    from forecast_attn.runs.training_table import read_panel

    model = load_model(RunDir(run))
    panel, _ = read_panel(several_series(), model.config)
    return model, model.schema.windows_of(panel)


def test_the_rank_is_that_of_numpy(loaded):
    model, arrays = loaded
    cutoffs = np.array([20, 30, 100])
    ranks = value_rank(model, arrays, cutoffs)
    values = attention_values(model, arrays, cutoffs).numpy()
    assert values.shape == (3, 2, 14, 64)
    assert np.array_equal(ranks, np.linalg.matrix_rank(values))
    assert ranks.tolist() == [[4, 4]] * 3  # both heads project the same four hidden units


def test_values_are_what_the_weights_weigh(loaded):
    """Weights @ values, heads joined and projected, is the context vector that the attention hands on."""
    import torch

    model, arrays = loaded
    recorded = []
    attention = model.network.decoder.attention
    listening = attention.score.output_projection.register_forward_hook(lambda _, given, __: recorded.append(given[0]))
    values = attention_values(model, arrays, np.array([20, 30]))
    with torch.inference_mode():
        weights = model.network(arrays.gather(torch.tensor([20, 30]))).weights
    listening.remove()
    contexts = (weights @ values).transpose(1, 2).flatten(2)
    assert torch.allclose(contexts, recorded[-1], atol=1e-6)


def test_the_rank_stands_in_the_file_and_is_said(predicted, forecast):
    _, _, dump = predicted()
    assert dump.metadata.value_rank == 4
    assert not is_identifiable(14, 4)
    text = forecast("inspect", dump.path).out
    assert "not identifiable: the 14 lags weigh states of rank 4" in " ".join(text.split())


def without_rank(path):
    """The file as an older version wrote it."""
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[METADATA_KEY])
    del about["value_rank"]
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(about)}), path)


def test_the_rank_of_an_older_file_is_computed_from_its_run(run, forecast, tmp_path, without_manifest):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    without_manifest(copy)
    without_rank(copy / "validation_attention.parquet")
    header = json.loads(forecast("inspect", copy, "--validation", "--json").out)["header"]
    assert (header["value_rank"], header["identifiable"]) == (4, False)
    header = json.loads(forecast("inspect", copy / "validation_attention.parquet", "--json").out)["header"]
    assert (header["value_rank"], header["identifiable"]) == (None, None)
    text = forecast("inspect", copy / "validation_attention.parquet").out
    assert "unknown, this file does not say the rank" in " ".join(text.split())


@pytest.mark.parametrize(("lookback", "rank"), [(4, 3), (5, 3), (9, 3)])
def test_beyond_the_rank_other_weights_give_the_same_context_vector(lookback, rank):
    """The null space of [V, 1], by numpy: not empty exactly where weights are called not identifiable."""
    values = np.random.default_rng(0).normal(size=(lookback, rank))
    both = np.concatenate([values, np.ones((lookback, 1))], axis=1)
    others = lookback - np.linalg.matrix_rank(both)
    assert is_identifiable(lookback, rank) == (others == 0)


def test_attention_values_leave_no_trace(loaded):
    model, arrays = loaded
    before = dict(vars(model.network.decoder.attention))
    value_rank(model, arrays, np.array([20]))
    assert dict(vars(model.network.decoder.attention)) == before


def test_a_path_is_named_by_nobody_but_the_user(run):
    assert not [path for path in Path(run).iterdir() if path.name.endswith(".partial")]
