"""Adaptive calibration: offsets against a plain loop, what they promise, what they know, whose forecasts have them."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from forecast_attn import Forecaster
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.forecasting.adaptive_calibration import (
    MEMORY,
    MOST_EARLIER,
    MOST_ROWS,
    RATE,
    PastForecasts,
    Tracking,
    earlier_cutoffs,
    follow,
    num_earlier,
)
from forecast_attn.forecasting.calibration import Calibration
from forecast_attn.forecasting.inference import followed_errors, load_model
from forecast_attn.forecasting.model import Model
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import read_panel

QUANTILES = (0.1, 0.5, 0.9)
NAMES = ["0.1", "0.5", "0.9"]
LOOKBACK, HORIZON, DAYS = 14, 3, 150
OPTIONS: dict[str, Any] = {
    "lookback": LOOKBACK,
    "horizon": HORIZON,
    "hidden_size": 4,
    "quantiles": "0.1,0.5,0.9",
    "max_epochs": 1,
    "combination": "none",
    "epoch_windows": 32,
    "validation": 60,
    "target": "y",
    "item_id": "shop",
    "seed": 3,
    "accelerator": "cpu",
}


def shop(name: str, days: int, seed: int) -> pd.DataFrame:
    noise = np.random.default_rng(seed).normal(size=days) * np.where(np.arange(days) < 100, 1, 3)
    dates = pd.date_range("2024-01-01", periods=days)
    return pd.DataFrame({"date": dates, "shop": name, "y": (10 + np.sin(np.arange(days)) + noise).round(3)})


TABLE = pd.concat([shop("north", DAYS, 1), shop("south", DAYS - 10, 2)], ignore_index=True)
"""The noise grows after the training rows, which end on day 90."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run with adaptive offsets; look at it, do not change it."""
    folder = tmp_path_factory.mktemp("adaptive") / "run"
    Forecaster(**OPTIONS, calibration="adaptive").fit(TABLE, out=folder)
    return folder


@pytest.fixture(scope="module")
def model(run: Path) -> Model:
    return load_model(RunDir(run))


# --------------------------------------------------------------------------- offsets


def test_offsets_follow_errors_as_a_plain_loop_does() -> None:
    rng = np.random.default_rng(0)
    rows = np.arange(40, 70, HORIZON)
    past = PastForecasts(rows, rng.normal(size=(10, HORIZON)), rng.normal(size=(10, HORIZON, 3)))
    past.actual[4, 1] = np.nan
    start, tracking = rng.normal(size=(HORIZON, 3)), Tracking(np.array([0.1, 0.2, 0.3]), 0)
    earlier = np.array([[-1, 40, 43, 52], [-1, -1, -1, -1], [43, 46, 49, 55]])
    offsets = follow(start, tracking, QUANTILES, earlier, past)
    for window, chain in enumerate(earlier):
        for step in range(HORIZON):
            for index, quantile in enumerate(QUANTILES):
                offset, unit = start[step, index], tracking.unit[step]
                for row in chain[chain >= 0]:
                    actual = past.actual[(row - 40) // 3, step]
                    if math.isnan(actual):
                        continue
                    is_below = actual <= past.base[(row - 40) // 3, step, index] + offset
                    offset += RATE * unit * (quantile - 1 if is_below else quantile)
                    unit = (1 - MEMORY) * unit + MEMORY * abs(actual - past.base[(row - 40) // 3, step, 1])
                assert offsets.offsets[window, step, index] == pytest.approx(offset, abs=1e-12)
                assert offsets.unit[window, step] == pytest.approx(unit, abs=1e-12)


def test_the_unit_begins_as_the_mean_absolute_error_of_the_central_quantile() -> None:
    actual = np.array([[1.0, 5.0], [4.0, np.nan]])
    base = np.array([[[0.0, 2.0, 9.0], [0.0, 3.0, 9.0]], [[0.0, 2.0, 9.0], [0.0, 3.0, 9.0]]])
    tracking = Tracking.of(QUANTILES, actual, base, after=7)
    np.testing.assert_allclose(tracking.unit, [1.5, 2.0])
    assert tracking.after == 7


def test_shares_come_right_where_the_noise_changes_and_offsets_that_stay_do_not() -> None:
    rng, count = np.random.default_rng(4), 3_000
    actual = rng.normal(size=(count, 1)) * np.where(np.arange(count) < count / 2, 1, 3)[:, None]
    past = PastForecasts(np.arange(count), actual, np.zeros((count, 1, 3)))
    start = np.array([[-1.2816, 0.0, 1.2816]])
    chain = np.arange(count)[:, None] - np.arange(MOST_EARLIER, 0, -1)
    offsets = follow(start, Tracking(np.array([0.8]), 0), QUANTILES, np.maximum(chain, -1), past)
    late = slice(count // 2 + 200, None)
    assert (actual[late] <= start[0]).mean(axis=0)[2] < 0.7
    np.testing.assert_allclose((actual[late] <= offsets.offsets[late, 0]).mean(axis=0), QUANTILES, atol=0.03)


def test_earlier_cutoffs_lie_whole_horizons_before_in_the_same_series_and_after_training(model: Model) -> None:
    panel = read_panel(TABLE, model.config)[0]
    stamps = panel.timestamps.astype(np.int64)
    after = int(stamps[100])
    cutoffs = np.array([149, 130, 104, DAYS + 20, DAYS + 139])
    earlier = earlier_cutoffs(panel, cutoffs, LOOKBACK, HORIZON, after)
    assert earlier.shape == (5, num_earlier(HORIZON))
    for cutoff, actual in zip(cutoffs, earlier, strict=True):
        first = DAYS if cutoff >= DAYS else 0
        candidates = np.arange(first, cutoff)
        expected = candidates[
            ((cutoff - candidates) % HORIZON == 0)
            & (stamps[candidates] >= after)
            & (candidates - first >= LOOKBACK - 1)
        ]
        assert actual[actual >= 0].tolist() == expected[-num_earlier(HORIZON) :].tolist()
    assert num_earlier(1_000) * 1_000 == MOST_ROWS


@pytest.mark.parametrize(
    "changed", [{"unit": [0.1]}, {"unit": [0.1, -1.0]}, {"unit": [0.1, math.nan]}, {"after": None}]
)
def test_a_document_that_says_nothing_sensible_is_refused(changed: dict[str, Any]) -> None:
    tracking = Tracking(np.array([0.1, 0.2]), 5)
    calibration = Calibration("adaptive", (0.1, 0.9), np.zeros((2, 2)), np.array([30, 30]), tracking)
    document = json.loads(json.dumps(calibration.to_dict()))
    again = Calibration.from_dict(document).tracking
    assert again is not None
    assert (again.unit.tolist(), again.after) == ([0.1, 0.2], 5)
    with pytest.raises((ValueError, TypeError)):
        Calibration.from_dict(document | changed)


# --------------------------------------------------------------------------- forecasts


def history(days: int, name: str = "north") -> pd.DataFrame:
    return TABLE[TABLE["shop"] == name].iloc[:days]


@pytest.mark.slow
def test_a_backtest_forecasts_as_predict_does_bit_for_bit(run: Path) -> None:
    forecaster = Forecaster.load(run)
    frame = forecaster.backtest(TABLE, start="2024-04-20", stride=4, baselines="none").frame
    compared = 0
    for (cutoff, name), rows in frame.groupby(["cutoff", "item_id"]):
        days = (pd.Timestamp(cutoff) - TABLE["date"].min()).days + 1
        predictions = forecaster.predict(history(days, name)).predictions
        for column in ("prediction", *NAMES):
            assert predictions[column].to_numpy().tobytes() == rows[column].to_numpy().tobytes(), (cutoff, name, column)
        assert (np.diff(predictions[NAMES]) >= 0).all()
        compared += 1
    assert compared > 15


@pytest.mark.slow
def test_the_run_alone_forecasts_as_with_the_whole_table(run: Path) -> None:
    forecaster = Forecaster.load(run)
    pd.testing.assert_frame_equal(forecaster.predict().predictions, forecaster.predict(TABLE).predictions)


@pytest.mark.slow
def test_nothing_after_a_cutoff_is_known_and_errors_before_it_are_followed(run: Path) -> None:
    forecaster = Forecaster.load(run)

    def quantiles(table: pd.DataFrame) -> Any:
        frame = forecaster.backtest(table, start="2024-05-02", end="2024-05-02", baselines="none").frame
        return frame.loc[frame["item_id"] == "north", NAMES].to_numpy()

    day = TABLE["date"]
    later = TABLE.assign(y=TABLE["y"].where(day < "2024-05-02", TABLE["y"] + 50))
    assert quantiles(later).tobytes() == quantiles(TABLE).tobytes()
    # Before the lookback of the forecast, but after training: the network reads nothing of it.
    errors = day.between("2024-04-02", "2024-04-10")
    assert (quantiles(TABLE.assign(y=TABLE["y"].mask(errors, TABLE["y"] + 5)))[:, 2] > quantiles(TABLE)[:, 2]).all()
    trained = day < "2024-03-15"
    assert quantiles(TABLE.assign(y=TABLE["y"].mask(trained, 0.5))).tobytes() == quantiles(TABLE).tobytes()


@pytest.mark.slow
def test_points_are_those_without_calibration_and_offsets_those_of_cqr_where_nothing_came_since(
    run: Path, tmp_path: Path
) -> None:
    plain = Forecaster(**OPTIONS, calibration="cqr").fit(TABLE, out=tmp_path / "run")
    adaptive = Forecaster.load(run)
    assert plain.predict().predictions["prediction"].equals(adaptive.predict().predictions["prediction"])
    assert not plain.predict().predictions[NAMES].equals(adaptive.predict().predictions[NAMES])
    pd.testing.assert_frame_equal(  # on day 91 no forecast has come true that the network was not trained on
        plain.predict(history(91)).predictions, adaptive.predict(history(91)).predictions
    )


@pytest.mark.slow
def test_an_update_goes_on_from_the_offsets_of_the_forecasts_before_it(run: Path, model: Model, tmp_path: Path) -> None:
    old = Forecaster.load(run)
    rows = shop("north", DAYS + 9, 1).iloc[DAYS:]
    new = old.update(rows, history=TABLE, out=tmp_path / "new", epochs=1, keep="new", final_fit=False, validation=6)
    moved = load_model(RunDir(tmp_path / "new")).calibration
    panel = read_panel(pd.concat([TABLE, rows]), model.config)[0]
    offsets, last = model.of_series(panel.item_ids), panel.ends[:1] - 1
    expected = followed_errors(offsets, panel, last, model.schema.windows_of(panel).to(torch.device("cpu")))
    assert moved is not None
    assert expected is not None
    assert moved.offsets.tobytes() == expected.offsets[0].tobytes()
    assert moved.tracking is not None
    assert moved.tracking.after == int(panel.timestamps[last[0] - 6].astype(np.int64))
    frame = pd.concat([TABLE, rows, shop("north", DAYS + 12, 1).iloc[DAYS + 9 :]])
    refit = {"refit": "every", "refit_epochs": 1, "refit_validation": 6, "refit_half_life": 8 * LOOKBACK}
    tested = old.backtest(frame, cutoffs=1, baselines="none", **refit).frame
    assert (
        tested[NAMES].to_numpy().tobytes()
        == new.predict(history_of(frame, rows)).predictions[NAMES].to_numpy().tobytes()
    )


def history_of(frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    return frame[(frame["shop"] == "north") & (frame["date"] <= rows["date"].max())]


@pytest.mark.slow
def test_a_server_answers_as_predict_does(run: Path) -> None:
    from forecast_attn.forecasting.predict import ForecastRequest, LoadedRun, PreparedForecast
    from forecast_attn.forecasting.small_batches import stable_sizes
    from forecast_attn.serving.batching import Batcher, Job

    loaded = LoadedRun(RunDir(run), load_model(RunDir(run)))
    prepared = PreparedForecast.of(loaded, ForecastRequest(data=TABLE))
    batcher = Batcher()
    try:
        parts = batcher.submit(Job.of("run", prepared, stable_sizes(loaded.model, prepared.panel))).result(timeout=60)
    finally:
        batcher.close()
    expected = Forecaster.load(run).predict(TABLE).predictions[NAMES].to_numpy()
    quantiles = [part.quantiles for part in parts if part.quantiles is not None]
    assert np.concatenate(quantiles).reshape(-1, 3).tobytes() == expected.tobytes()


@pytest.mark.slow
def test_one_window_in_onnx_cannot_follow_anything(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    with pytest.raises(ConfigError, match="--calibration adaptive follows the errors"):
        Forecaster.load(run).export(onnx=tmp_path / "model.onnx")


@pytest.mark.slow
def test_offsets_of_another_kind_are_a_damaged_run(run: Path, tmp_path: Path) -> None:
    document = json.loads((run / "calibration.json").read_text())
    assert document["kind"] == "adaptive"
    assert document["after"] == pd.Timestamp("2024-03-30").value
    altered = tmp_path / "run"
    altered.mkdir()
    for path in run.iterdir():
        (altered / path.name).write_bytes(path.read_bytes())
    (altered / "calibration.json").write_text(json.dumps(document | {"after": 0}))
    with pytest.raises(RunError, match="altered"):
        load_model(RunDir(altered))
