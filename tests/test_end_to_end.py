"""From a CSV to a forecast and its attention, through the command line and from Python."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .conftest import SMALL_OPTIONS

pytestmark = pytest.mark.slow

TRAINED = {
    *(
        "config.json",
        "schema.json",
        "model.safetensors",
        "history.csv",
        "metrics.json",
        "manifest.json",
        "tail.parquet",
    ),
    "validation_attention.parquet",
}
PREDICTED = TRAINED | {"predictions.csv", "attention.parquet"}


@pytest.fixture
def train(forecast, write, small) -> Callable[..., Path]:
    """`train(table, *flags, out="run")`: a finished run in the working directory."""

    def run(table: pd.DataFrame, *flags: object, out: str = "run") -> Path:
        outcome = forecast("train", write(table), *small, *flags, "--out", out, "--quiet")
        assert outcome.code == 0, outcome.err
        return Path(out)

    return run


@pytest.fixture
def predict(forecast) -> Callable[..., pd.DataFrame]:
    """`predict(run, *flags)`: the forecasts as a table."""

    def run(path: Path, *flags: object) -> pd.DataFrame:
        outcome = forecast("predict", path, *flags)
        assert outcome.code == 0, outcome.err
        return pd.read_csv(path / "predictions.csv", dtype={"item_id": str})

    return run


def weights_and_scaler(run: Path) -> tuple[bytes, object]:
    return (run / "model.safetensors").read_bytes(), json.loads((run / "schema.json").read_text())["scaler"]


# --------------------------------------------------------------------------- the way through


def test_bare_commands(forecast, write, make_table, small, here):
    """The forms of the first page: nothing is written outside runs/, and every file has its name."""
    write(make_table())
    assert forecast("check", "data.csv").code == 0
    assert forecast("train", "data.csv", *small).code == 0
    assert {path.name for path in here.iterdir()} == {"data.csv", "runs"}
    (run,) = Path("runs").iterdir()
    assert {path.name for path in run.iterdir()} == TRAINED
    assert forecast("inspect").code == 0
    assert forecast("predict").code == 0
    assert forecast("inspect").code == 0
    assert forecast("info", run).code == 0
    assert {path.name for path in run.iterdir()} == PREDICTED
    assert {path.name for path in here.iterdir()} == {"data.csv", "runs"}


def test_predictions_stand_after_the_cut_off(train, predict, make_table):
    predictions = predict(train(make_table()))
    assert list(predictions.columns) == ["item_id", "cutoff", "timestamp", "step", "prediction"]
    assert set(predictions["item_id"]) == {"target"}
    assert set(predictions["cutoff"]) == {"2024-04-29"}
    assert list(predictions["timestamp"]) == ["2024-04-30", "2024-05-01", "2024-05-02"]
    assert list(predictions["step"]) == [1, 2, 3]
    assert predictions["prediction"].between(5, 15).all()


def test_attention_of_a_forecast(train, predict, make_table):
    from forecast_attn import read_attention

    run = train(make_table())
    predict(run)
    dump = read_attention(run / "attention.parquet")
    assert dump.weights.shape == (1, 1, 3, 14)
    np.testing.assert_allclose(dump.weights.sum(-1), 1, atol=1e-6)
    assert str(dump.window_cutoffs[0])[:10] == "2024-04-29"
    assert str(dump.lookback_starts[0])[:10] == "2024-04-16"


def test_outputs_where_they_were_asked_for(forecast, run_copy, files_in):
    before = files_in("run")
    outcome = forecast("predict", run_copy, "--out", "forecast.csv", "--attention-out", "weights.parquet", "--json")
    assert outcome.code == 0
    document = json.loads(outcome.out)
    assert (document["predictions"], document["attention"]) == ("forecast.csv", "weights.parquet")
    assert files_in("run") == before
    assert forecast("inspect", "weights.parquet").code == 0
    to_stdout = forecast("predict", run_copy, "--out", "-")
    assert to_stdout.out == Path("forecast.csv").read_text()


def test_without_attention(train, forecast, make_table):
    run = train(make_table(), "--attention", "none")
    outcome = forecast("predict", run)
    assert outcome.code == 0
    assert "no weights" in outcome.err
    assert {path.name for path in run.iterdir()} == (TRAINED - {"validation_attention.parquet"}) | {"predictions.csv"}
    refused = forecast("inspect", run)
    assert refused.code == 1
    assert "--attention none" in refused.error


@pytest.mark.parametrize("mechanism", ["bahdanau", "luong-dot", "luong-concat"])
@pytest.mark.parametrize("decoding", ["direct", "autoregressive"])
def test_mechanisms_and_decodings(train, predict, make_table, mechanism, decoding):
    run = train(
        make_table(),
        "--attention",
        mechanism,
        "--decoding",
        decoding,
        "--input-feeding" if mechanism[0] == "l" else "--skip",
    )
    assert len(predict(run)) == 3


# --------------------------------------------------------------------------- kinds of tables


def several_series(make_table) -> pd.DataFrame:
    """Three series with a size each, and one too short to learn from."""
    lengths = {"a": 120, "b": 110, "007": 120, "short": 9}
    parts = [
        make_table(rows, seed).assign(item_id=name, area=float(seed))
        for seed, (name, rows) in enumerate(lengths.items())
    ]
    return pd.concat(parts, ignore_index=True)


def test_several_series_with_static_covariates(train, forecast, make_table):
    run = train(several_series(make_table), "--static", "area")
    outcome = forecast("predict", run)
    assert outcome.code == 0
    predictions = pd.read_csv(run / "predictions.csv", dtype={"item_id": str})
    assert list(predictions["item_id"].unique()) == ["007", "a", "b", "short"]
    ends = predictions.groupby("item_id")["cutoff"].first()
    assert ends.drop("short").to_dict() == {"007": "2024-04-29", "a": "2024-04-29", "b": "2024-04-19"}


def test_a_short_series_is_named_in_training(forecast, write, make_table, small):
    outcome = forecast("train", write(several_series(make_table)), *small, "--static", "area", "--short-series", "skip")
    assert outcome.code == 0
    assert "warning: 1 series too short to learn from" in outcome.err
    assert "'short': 9 training rows, 17 needed" in outcome.err


def test_a_constant_series_is_accepted_and_told(forecast, write, make_table, small):
    outcome = forecast("train", write(make_table().assign(target=5.0)), *small, "--out", "run")
    assert outcome.code == 0
    assert "warning: constant in the training rows: 'target'" in outcome.err
    assert "nothing to gain" in outcome.out
    assert forecast("predict", "run").code == 0
    predicted = pd.read_csv("run/predictions.csv")["prediction"]
    np.testing.assert_allclose(predicted, 5, atol=0.5)


@pytest.mark.parametrize(
    ("stamps", "flags", "cutoff", "first"),
    [
        (np.arange(120), (), "119", "120"),
        (pd.date_range("2010-01", periods=120, freq="MS").strftime("%Y-%m"), (), "2019-12-01", "2020-01-01"),
        (pd.date_range("2010-01-31", periods=120, freq="ME").strftime("%Y-%m-%d"), (), "2019-12-31", "2020-01-31"),
        (
            pd.date_range("2024-01-01", periods=120, freq="15min").astype(str),
            (),
            "2024-01-02 05:45:00",
            "2024-01-02 06:00:00",
        ),
        (pd.bdate_range("2024-01-01", periods=120).strftime("%d.%m.%Y"), ("--freq", "B"), "2024-06-14", "2024-06-17"),
    ],
    ids=["whole numbers", "months", "month ends", "quarters of an hour", "business days"],
)
def test_time_axes(train, predict, make_table, stamps, flags, cutoff, first):
    run = train(make_table().assign(date=stamps), "--time", "date", *flags)
    predictions = predict(run)
    assert (str(predictions["cutoff"][0]), str(predictions["timestamp"][0])) == (cutoff, first)


def test_the_future_from_trailing_rows_or_from_a_file_is_the_same(train, predict, write, make_table):
    table = make_table(125)
    table.loc[120:, "target"] = np.nan
    trailing = predict(train(table, out="trailing"))
    known = train(table[:120], "--future", "temperature", out="known")
    path = write(table[118:].sample(frac=1, random_state=0)[["temperature", "date"]], "future.csv")
    pd.testing.assert_frame_equal(trailing, predict(known, "--future", path))
    changed = predict(known, "--future", write(table.assign(temperature=3.0)[["date", "temperature"]], "future.csv"))
    assert not np.array_equal(changed["prediction"], trailing["prediction"])


def test_a_history_of_ones_own(train, predict, write, make_table):
    table = make_table(140)
    run = train(table[:120])
    bare = predict(run)
    same = predict(run, "--data", write(table[:120], "same.csv"))
    pd.testing.assert_frame_equal(bare, same)
    later = predict(run, "--data", write(table[100:], "later.csv"))
    assert set(later["cutoff"]) == {"2024-05-19"}


# --------------------------------------------------------------------------- what must not matter


def test_the_same_seed_gives_the_same_bytes(train, predict, forecast, make_table):
    runs = [train(make_table(), out=name) for name in ("first", "second", "third")]
    for run in runs:
        predict(run)
    for name in ("model.safetensors", "predictions.csv", "schema.json", "tail.parquet"):
        assert len({(run / name).read_bytes() for run in runs}) == 1, name
    other = train(make_table(), "--seed", "8", out="other")
    assert weights_and_scaler(other)[0] != weights_and_scaler(runs[0])[0]


def test_a_drawn_seed_is_recorded_and_repeats_the_run(forecast, write, make_table, small):
    path = write(make_table())
    flags = [flag for flag in small if flag not in ("--seed", "7")]
    assert forecast("train", path, *flags, "--out", "drawn", "--quiet").code == 0
    seed = json.loads(Path("drawn/config.json").read_text())["options"]["training"]["seed"]
    assert forecast("train", path, *flags, "--seed", seed, "--out", "again", "--quiet").code == 0
    assert weights_and_scaler(Path("drawn")) == weights_and_scaler(Path("again"))


def test_the_order_of_rows_and_columns_changes_no_byte(train, predict, make_table):
    table = several_series(make_table).assign(wind=np.arange(359) % 11)
    runs = [
        train(table, "--static", "area", out="plain"),
        train(table.sample(frac=1, random_state=1), "--static", "area", out="rows"),
        train(table[table.columns[::-1]], "--static", "area", out="columns"),
    ]
    for run in runs:
        predict(run)
    for name in ("predictions.csv", "model.safetensors", "attention.parquet"):
        assert len({(run / name).read_bytes() for run in runs}) == 1, name


def test_values_after_the_training_boundary_reach_neither_scaler_nor_weights(train, make_table):
    """One epoch, so that the best epoch cannot be another one: validation chooses the epoch, and nothing else."""
    table = make_table()
    changed = table.copy()
    changed.loc[96:, ["target", "temperature"]] *= -3
    runs = [train(each, "--max-epochs", "1", out=name) for each, name in ((table, "plain"), (changed, "changed"))]
    assert weights_and_scaler(runs[0]) == weights_and_scaler(runs[1])


def test_values_after_the_cut_off_do_not_reach_the_forecast(train, predict, write, make_table):
    """A past covariate and even a target that is known later: the forecast stands at the end of what it is given."""
    table = make_table(125)
    run = train(table[:120])
    before = predict(run, "--data", write(table[:120], "history.csv"))
    later = table.copy()
    later.loc[120:, "target"] = np.nan
    later.loc[120:, "temperature"] = 99.0
    pd.testing.assert_frame_equal(before, predict(run, "--data", write(later, "history.csv")))


def test_a_series_alone_is_forecast_as_among_others(train, predict, write, make_table):
    table = several_series(make_table)
    run = train(table, "--static", "area")
    together = predict(run)
    alone = predict(run, "--data", write(table[table["item_id"] == "b"], "b.csv"))
    expected = together[together["item_id"] == "b"].reset_index(drop=True)
    np.testing.assert_allclose(alone["prediction"], expected["prediction"], rtol=1e-6)


def test_a_finished_run_may_be_moved_and_its_table_deleted(train, predict, make_table, tmp_path):
    run = train(make_table())
    before = predict(run)
    Path("data.csv").unlink()
    shutil.move(run, tmp_path / "elsewhere")
    pd.testing.assert_frame_equal(before, predict(tmp_path / "elsewhere"))


# --------------------------------------------------------------------------- from Python


def test_python_and_command_line_agree(train, predict, make_table):
    from forecast_attn import Forecaster

    table = make_table()
    run = train(table)
    from_command_line = predict(run)
    forecaster = Forecaster(**SMALL_OPTIONS).fit(table)
    result = forecaster.predict()
    assert (forecaster.run_path / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()
    np.testing.assert_allclose(result.predictions["prediction"], from_command_line["prediction"], rtol=1e-9)
    assert result.attention is not None
    np.testing.assert_allclose(result.attention.weights.sum(-1), 1, atol=1e-6)

    forecaster.save("saved")
    loaded = Forecaster.load("saved")
    pd.testing.assert_frame_equal(result.predictions, loaded.predict().predictions, check_exact=True)
    assert loaded.config == forecaster.config
    assert loaded.metrics == forecaster.metrics


def test_training_leaves_the_callers_random_state_alone(make_table):
    import torch

    from forecast_attn import Forecaster

    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    np.random.seed(3)
    state = np.random.get_state()[1].copy()
    Forecaster(lookback=14, horizon=3, hidden_size=4, max_epochs=1, epoch_windows=8).fit(make_table())
    assert torch.equal(torch.rand(2), expected)
    assert np.array_equal(np.random.get_state()[1], state)


def test_fitting_writes_nothing_into_the_working_directory(here, make_table, monkeypatch):
    from forecast_attn import Forecaster

    here.chmod(0o500)
    try:
        forecaster = Forecaster(lookback=14, horizon=3, hidden_size=4, max_epochs=1, epoch_windows=8).fit(make_table())
        forecaster.predict()
    finally:
        here.chmod(0o700)
    assert not list(here.iterdir())
