"""Quantiles and paths as a user meets them: options, files, columns, what is refused, what is resumed."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.config.options import ModelConfig, RunConfig
from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.forecasting.forecast_result import ForecastResult
from forecast_attn.forecasting.samples import PATHS_AT_ONCE
from forecast_attn.training.progress import EpochRecord, TrainingListener

from ..conftest import SMALL_OPTIONS

EVERY_KIND: dict[str, dict[str, Any]] = {
    "quantiles": {"quantiles": [0.1, 0.5, 0.9]},
    "cqr": {"quantiles": [0.2, 0.8], "calibration": "cqr"},
    "split": {"quantiles": [0.2, 0.8], "calibration": "split", "loss": "huber"},
    "gaussian": {"distribution": "gaussian", "quantiles": [0.25], "calibration": "cqr"},
    "student-t": {"distribution": "student-t"},
}


# --------------------------------------------------------------------------- options


def test_the_point_forecast_is_the_median_also_where_it_is_not_named(
    forecast: Callable, write: Callable, make_table: Callable, small: tuple[str, ...]
) -> None:
    assert forecast("train", write(make_table()), *small, "--quantiles", "0.9,0.1", "--out", "run").code == 0
    assert forecast("predict", "run").code == 0
    written = pd.read_csv("run/predictions.csv")
    assert list(written)[-4:] == ["prediction", "0.1", "0.5", "0.9"]
    pd.testing.assert_series_equal(written["prediction"], written["0.5"], check_names=False)


def test_no_baseline_joins_a_run_whose_point_forecast_is_no_median(
    forecast: Callable,
    write: Callable,
    make_table: Callable,
    small: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As older versions trained it: a mean of the quantile 0.1 and of middle values is neither."""
    monkeypatch.setattr(ModelConfig, "with_median", lambda model: model)
    flags = (*small, "--combination", "auto", "--quantiles", "0.1,0.9", "--out", "run")
    assert forecast("train", write(make_table()), *flags).code == 0
    assert "combination" not in json.loads(Path("run/metrics.json").read_text())
    for command in (["predict", "run"], ["backtest", "run", "--cutoffs", "1"]):
        answer = forecast(*command, "--combine-with", "naive")
        assert (answer.code, "this run has no quantile 0.5" in answer.err) == (2, True)


@pytest.mark.parametrize("given", ["0.9,0.1,0.5", [0.5, 0.9, 0.1], ["0.1,0.5", 0.9], ("0.1", ".5", "0.90")])
def test_quantiles_are_named_in_any_order(given: Any) -> None:
    config = RunConfig.from_options({"quantiles": given})
    assert config.model.forecast_quantiles == config.model.quantiles == (0.1, 0.5, 0.9)
    assert RunConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantiles": "0.1,1"}, r"between 0 and 1, ends excluded; got 1"),
        ({"quantiles": [0.0]}, r"ends excluded; got 0"),
        ({"quantiles": "0.1,0.10"}, r"names 0\.1 more than once"),
        ({"quantiles": "0.1,0.1000000001"}, r"names 0\.1 more than once"),
        ({"quantiles": "0.1,low"}, r"must be quantiles between 0 and 1"),
        ({"quantiles": True}, r"must be quantiles between 0 and 1"),
        ({"quantiles": "0.1,0.9", "loss": "mse"}, r"--loss mse is for a point forecast; --quantiles are"),
        ({"distribution": "gaussian", "loss": "huber"}, r"--distribution gaussian is trained on the likelihood"),
        ({"calibration": "split"}, r"--calibration split needs quantiles"),
        ({"calibration": "cqr"}, r"--calibration cqr needs quantiles"),
        ({"calibration": "split", "distribution": "gaussian"}, r"--calibration split is for a point forecast"),
        ({"distribution": "normal"}, r"--distribution has no value 'normal'"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RunConfig.from_options(options)


@pytest.mark.parametrize(
    ("options", "head", "quantiles"),
    [
        ({}, "point", ()),
        ({"quantiles": "0.2"}, "quantile", (0.2, 0.5)),
        ({"quantiles": "0.2,0.5000001"}, "quantile", (0.2, 0.5000001)),
        ({"quantiles": "0.2", "calibration": "cqr"}, "quantile", (0.2, 0.5)),
        ({"quantiles": "0.2", "calibration": "split"}, "point", (0.2,)),
        ({"distribution": "gaussian"}, "gaussian", (0.1, 0.5, 0.9)),
        ({"distribution": "student-t", "quantiles": "0.2"}, "student-t", (0.2,)),
    ],
)
def test_options_name_the_head_and_its_quantiles(
    options: dict[str, Any], head: str, quantiles: tuple[float, ...]
) -> None:
    model = RunConfig.from_options(options).model
    assert (model.head, model.forecast_quantiles) == (head, quantiles)


# --------------------------------------------------------------------------- runs


@pytest.mark.slow
def test_quantiles_are_columns_of_the_forecast(
    forecast: Callable[..., Any], write: Any, make_table: Any, small: Any
) -> None:
    write(make_table())
    trained = forecast("train", "data.csv", *small, "--quantiles", "0.5,0.025,0.975", "--out", "run")
    assert trained.code == 0, trained.err
    sentence = r"the network's quantiles 0\.025 to 0\.975 cover ([\d.]+) % of the values, 95 % expected(.*)\n"
    covered = re.search(sentence, trained.out)
    assert covered is not None
    is_off = abs(float(covered[1]) - 95) > 3
    assert covered[2] == ("; --calibration adaptive corrects them" if is_off else "")
    assert forecast("predict", "run").code == 0
    lines = Path("run/predictions.csv").read_text().splitlines()
    assert lines[0] == "item_id,cutoff,timestamp,step,prediction,0.025,0.5,0.975"
    written = pd.read_csv("run/predictions.csv")
    assert (np.diff(written[["0.025", "0.5", "0.975"]]) >= 0).all()
    pd.testing.assert_series_equal(written["prediction"], written["0.5"], check_names=False)
    validation = json.loads(Path("run/metrics.json").read_text())["validation"]
    assert list(validation["pinball"]) == ["0.025", "0.5", "0.975"]
    np.testing.assert_allclose(2 * validation["pinball"]["0.5"], validation["mae"])
    assert validation["interval"].keys() == {"lower", "upper", "nominal", "coverage", "width"}
    assert not validation["calibrated_on_these_windows"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_run_that_was_cut_short_resumes_to_the_same_bytes(
    kind: str, make_table: Any, here: Path, files_in: Callable[..., dict[str, bytes]]
) -> None:
    class StoppedError(Exception):
        pass

    class Stopping(TrainingListener):
        def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
            if record.epoch == 2:
                raise StoppedError

    options, table = SMALL_OPTIONS | EVERY_KIND[kind], make_table()
    whole = Forecaster(**options).fit(table, out="whole")
    with pytest.raises(StoppedError):
        Forecaster(**options).fit(table, out="cut", listener=Stopping())
    again = Forecaster.resume("cut", table)
    pd.testing.assert_frame_equal(again.predict().predictions, whole.predict().predictions)
    names = ["model.safetensors", *(["calibration.json"] if "calibration" in options else [])]
    first, second = files_in("whole"), files_in("cut")
    assert [first[name] == second[name] for name in names] == [True] * len(names)
    assert ("calibration.json" in first) is ("calibration" in options)
    losses = whole.history["validation_loss"]
    assert whole.metrics["best_epoch"] == losses.idxmin() + 1


@pytest.mark.slow
def test_split_quantiles_surround_the_very_forecast_that_would_be_made_without_them(
    make_table: Any, here: Path
) -> None:
    table = make_table()
    plain = Forecaster(**SMALL_OPTIONS).fit(table, out="plain")
    split = Forecaster(**SMALL_OPTIONS, quantiles=[0.2, 0.8], calibration="split").fit(table, out="split")
    assert Path("plain/model.safetensors").read_bytes() == Path("split/model.safetensors").read_bytes()
    before, after = plain.predict(), split.predict()
    assert list(after.predictions) == [*before.predictions, "0.2", "0.8"]
    pd.testing.assert_frame_equal(after.predictions[list(before.predictions)], before.predictions)
    np.testing.assert_array_equal(after.attention.weights, before.attention.weights)
    validation = split.metrics["validation"]
    assert validation["calibrated_on_these_windows"]
    assert validation["interval"]["coverage"] >= 0.6


@pytest.mark.slow
def test_a_calibration_that_was_touched_is_refused(make_table: Any, here: Path) -> None:
    Forecaster(**SMALL_OPTIONS, quantiles=[0.2, 0.8], calibration="cqr").fit(make_table(), out="run")
    shutil.copytree("run", "touched")
    path = Path("touched/calibration.json")
    path.write_text(path.read_text().replace('"cqr"', '"split"'))
    with pytest.raises(RunError, match=r"calibration\.json' was altered"):
        Forecaster.load("touched").predict()
    path.unlink()
    with pytest.raises(RunError, match=r"missing calibration\.json"):
        Forecaster.load("touched").predict()
    assert len(Forecaster.load("run").predict().predictions) == 3


@pytest.mark.slow
def test_too_few_windows_are_refused_before_anything_is_written(make_table: Any, here: Path) -> None:
    with pytest.raises(DataError, match=r"takes 99 validation windows; step 1 has 16"):
        Forecaster(**SMALL_OPTIONS, quantiles=[0.01], calibration="cqr").fit(make_table(), out="run")
    assert not Path("run").exists()


@pytest.mark.slow
def test_nothing_below_zero_when_so_told(make_table: Any, here: Path) -> None:
    table = make_table().assign(target=lambda frame: (frame["target"] - 10).clip(lower=0))
    forecaster = Forecaster(**SMALL_OPTIONS, distribution="gaussian", decoding="autoregressive").fit(table)
    plain = forecaster.predict(samples=50, seed=1)
    assert (plain.predictions["0.1"] < 0).any()
    assert (plain.samples["value"] < 0).any()
    cut = forecaster.predict(samples=50, seed=1, non_negative=True)
    for name in ("prediction", "0.1", "0.5", "0.9"):
        pd.testing.assert_series_equal(cut.predictions[name], plain.predictions[name].clip(lower=0))
    pd.testing.assert_series_equal(cut.samples["value"], plain.samples["value"].clip(lower=0))
    bounded = Forecaster(**SMALL_OPTIONS, distribution="gaussian", decoding="autoregressive", non_negative=True).fit(
        table
    )
    pd.testing.assert_frame_equal(bounded.predict().predictions, cut.predictions)
    pd.testing.assert_frame_equal(bounded.predict(non_negative=False).predictions, plain.predictions)


# --------------------------------------------------------------------------- paths


@pytest.fixture(scope="module")
def autoregressive(make_table: Any) -> Forecaster:
    tables = [make_table(seed=seed).assign(item_id=name) for seed, name in enumerate(("a", "b"))]
    options = SMALL_OPTIONS | {
        "quantiles": [0.1, 0.25, 0.5, 0.75, 0.9],
        "decoding": "autoregressive",
        "tz": "Europe/Berlin",
    }
    return Forecaster(**options).fit(pd.concat(tables))


@pytest.fixture(scope="module")
def drawn(autoregressive: Forecaster) -> ForecastResult:
    return autoregressive.predict(samples=3_000, seed=12)


@pytest.mark.slow
def test_the_quantiles_of_the_first_step_s_paths_are_the_head_s(drawn: ForecastResult) -> None:
    paths, names = drawn.samples, ["0.1", "0.25", "0.5", "0.75", "0.9"]
    assert paths is not None
    assert list(paths) == ["item_id", "cutoff", "sample", "timestamp", "step", "value"]
    first = paths[paths["step"] == 1]
    for (item_id, values), (_, row) in zip(
        first.groupby("item_id")["value"], drawn.predictions.query("step == 1").iterrows(), strict=True
    ):
        assert item_id == row["item_id"]
        shares = [(values <= row[name]).mean() for name in names]
        np.testing.assert_allclose(shares, [float(name) for name in names], atol=0.02)


@pytest.mark.slow
def test_paths_are_rows_of_the_forecast_s_steps(drawn: ForecastResult) -> None:
    paths, steps = drawn.samples, drawn.predictions[["item_id", "cutoff", "timestamp", "step"]]
    assert paths is not None
    assert len(paths) == 3_000 * len(steps)
    assert (paths.groupby(["item_id", "step"])["sample"].nunique() == 3_000).all()
    one = paths[paths["sample"] == 2_999].drop(columns=["sample", "value"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(one, steps, check_dtype=False)
    later = paths.pivot(index=["item_id", "sample"], columns="step", values="value")
    assert later.notna().all(axis=None)


@pytest.mark.slow
def test_a_seed_gives_the_same_paths_however_many_are_drawn(
    autoregressive: Forecaster, drawn: ForecastResult, here: Path
) -> None:
    few = autoregressive.predict(samples=PATHS_AT_ONCE + 4, seed=12, samples_out="few.parquet")
    autoregressive.predict(samples=PATHS_AT_ONCE + 4, seed=12, samples_out="again.parquet")
    assert Path("few.parquet").read_bytes() == Path("again.parquet").read_bytes()
    same = drawn.samples[drawn.samples["sample"] < PATHS_AT_ONCE + 4].reset_index(drop=True)
    pd.testing.assert_frame_equal(few.samples, same, rtol=1e-5)
    other = autoregressive.predict(samples=4)
    assert other.samples_seed is not None
    assert not np.allclose(other.samples["value"], same.query("sample < 4")["value"])
    pd.testing.assert_frame_equal(other.predictions, drawn.predictions)


@pytest.mark.slow
def test_the_command_writes_paths_into_the_run(
    forecast: Callable[..., Any], autoregressive: Forecaster, here: Path
) -> None:
    autoregressive.save("run")
    outcome = forecast("predict", "run", "--samples", 3, "--seed", 5, "--json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert (document["samples"], document["seed"]) == ("run/samples.parquet", 5)
    assert len(pd.read_parquet("run/samples.parquet")) == 3 * 2 * 3
    assert "drawn with --seed 5" in outcome.err
    for words, message in {
        ("--seed", 3): "--seed and --samples-out are for drawn paths",
        ("--samples-out", "x.parquet"): "--seed and --samples-out are for drawn paths",
        ("--samples", 0): "--samples must be at least 1; got 0",
        ("--samples", 2, "--seed", -1): "--seed must be at least 0; got -1",
        ("--samples", 2, "--samples-out", "-"): "'-' is stdout, and this is a file",
        ("--samples", 2, "--samples-out", "x", "--out", "x"): "both write",
    }.items():
        outcome = forecast("predict", "run", *words)
        assert outcome.code == 2
        assert message in outcome.error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distribution": "gaussian"}, "--decoding direct are independent"),
        ({"decoding": "autoregressive"}, "this run's is a point"),
        ({"decoding": "autoregressive", "quantiles": [0.5, 0.9]}, "quantiles on both sides of 0.5"),
    ],
)
def test_runs_without_paths_say_what_it_takes(options: dict[str, Any], message: str, make_table: Any) -> None:
    forecaster = Forecaster(**SMALL_OPTIONS | {"max_epochs": 1}, **options).fit(make_table())
    with pytest.raises(ConfigError, match=message):
        forecaster.predict(samples=5)
