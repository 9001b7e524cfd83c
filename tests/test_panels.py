"""Panels as people have them: constant, intermittent and short series, weights, scales and transforms, end to end."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.slow

SIZES = ("--lookback", "14", "--horizon", "3", "--hidden-size", "4", "--max-epochs", "1", "--epoch-windows", "32")
SETTINGS = (*SIZES, "--validation-windows", "16", "--seed", "7", "--accelerator", "cpu")


def table(rows: int = 60) -> pd.DataFrame:
    """Series that are constant, zero, mostly zero, huge, tiny and short."""
    rng, steps = np.random.default_rng(0), np.arange(rows)
    seasonal = 10 + 3 * np.sin(2 * np.pi * steps / 7)
    targets = {
        "constant": np.full(rows, 5.0),
        "huge": seasonal * 1e9,
        "rare": np.where(rng.random(rows) < 0.1, 50.0, 0.0),
        "short": seasonal[-20:],
        "tiny": seasonal * 1e-6,
        "zero": np.zeros(rows),
    }
    parts = [
        pd.DataFrame(
            {"item_id": name, "date": pd.date_range(end="2024-03-01", periods=len(y), freq="D"), "y": y, "w": weight}
        )
        for weight, (name, y) in enumerate(targets.items(), 1)
    ]
    return pd.concat(parts)


def trained(forecast: Callable, data: str, out: str, *options: str) -> dict:
    outcome = forecast("train", data, *SETTINGS, "--out", out, "--json", *options)
    assert outcome.code == 0, outcome.err
    return {**json.loads(outcome.out), "err": outcome.err}


@pytest.mark.parametrize(
    ("scaling", "transform"),
    [("standard", "arcsinh"), ("standard", "log"), ("robust", "none"), ("mean-abs", "log"), ("none", "none")],
)
def test_every_scale_trains_and_forecasts_every_kind_of_series(
    forecast: Callable, write: Callable, scaling: str, transform: str
) -> None:
    data = write(table())
    options = ("--scaling", scaling, "--transform", transform, "--short-series", "pad", "--weight", "w")
    result = trained(forecast, data, "run", *options)
    errors = [result[name][error] for name in ("validation", "seasonal_naive") for error in ("mae", "rmse", "mase")]
    assert np.isfinite(errors).all()
    assert forecast("predict", "run").code == 0
    predictions = pd.read_csv("run/predictions.csv").pivot(index="item_id", columns="step", values="prediction")
    assert predictions.shape == (6, 3)
    assert np.isfinite(predictions.to_numpy()).all()
    if scaling != "none":
        assert predictions.loc["huge"].between(1e9, 1e11).all()
        assert predictions.loc["tiny"].between(1e-6, 1e-4).all()
    if transform == "log":
        assert (predictions.to_numpy() >= 0).all()


def test_missing_values_leave_errors_and_scales_finite(forecast: Callable, write: Callable) -> None:
    frame = table().reset_index(drop=True)
    last = frame.groupby("item_id")["y"].tail(1).index
    holes = np.random.default_rng(1).random(len(frame)) < 0.3
    unseen = (frame["item_id"] == "tiny") & (frame["date"] < "2024-02-15")
    frame.loc[(holes | unseen) & ~frame.index.isin(last), "y"] = np.nan
    options = ("--missing", "mask", "--scaling", "robust", "--transform", "arcsinh", "--weight", "w")
    result = trained(forecast, write(frame), "run", *options)
    errors = [result[name][error] for name in ("validation", "seasonal_naive") for error in ("mae", "rmse", "mase")]
    assert np.isfinite(errors).all()
    assert {short["item_id"]: short["rows"] for short in result["short_series"]}["tiny"] == 0
    assert forecast("predict", "run").code == 0
    assert np.isfinite(pd.read_csv("run/predictions.csv")["prediction"]).all()


def test_a_panel_without_any_change_has_no_mase(forecast: Callable, write: Callable) -> None:
    data = write(table().query("item_id in ('constant', 'zero')")[["item_id", "date", "y"]])
    result = trained(forecast, data, "run")
    assert result["validation"]["mase"] is None
    assert result["seasonal_naive"]["mae"] == 0
    assert result["skill_per_cent"] is None


def test_short_series_are_told_and_listed(forecast: Callable, write: Callable) -> None:
    data = write(table().drop(columns="w"))
    skipped = trained(forecast, data, "skipped", "--short-series", "skip")
    short = {"item_id": "short", "rows": 8, "needed": 17}
    assert skipped["short_series"] == [{**short, "action": "skip"}]
    assert "'short': 8 training rows, 17 needed" in skipped["err"]
    padded = trained(forecast, data, "padded", "--short-series", "pad")
    assert padded["short_series"] == [{**short, "action": "pad"}]
    assert re.search(r"short series: padded +short", padded["err"])
    checked = json.loads(forecast("check", data, *SIZES[:4], "--short-series", "pad", "--json").out)
    assert checked["short_series"] == [{**short, "action": "pad"}]


def test_a_forecast_of_a_series_that_was_not_learned_is_marked(forecast: Callable, write: Callable) -> None:
    """A series of 15 rows fills the lookback of a forecast, but not the window of a training."""
    dates = pd.date_range("2024-01-01", periods=80, freq="D").strftime("%Y-%m-%d")
    values = np.random.default_rng(0).normal(size=80).round(3)
    long = pd.DataFrame({"item_id": "long", "date": dates, "y": values})
    words = ("--quantiles", "0.1,0.5,0.9", "--short-series", "skip")
    trained(forecast, write(pd.concat([long, long.tail(26).assign(item_id="short")])), "run", *words)
    assert [short["item_id"] for short in json.loads(Path("run/metrics.json").read_text())["short_series"]] == ["short"]
    outcome = forecast("predict", "run")
    assert outcome.code == 0, outcome.err
    messages = " ".join(outcome.err.split())
    assert (
        "warning: 1 series that training left out as too short are forecast by a network that never saw them"
        in messages
    )
    assert "'short'" in messages
    written = pd.read_csv("run/predictions.csv", dtype=str)
    assert written.groupby("item_id")["learned"].unique().map(list).to_dict() == {"long": ["yes"], "short": ["no"]}
    assert json.loads(forecast("predict", "run", "--json").out)["not_learned"] == ["short"]
    assert forecast("inspect", "run").code == 0
    trained(forecast, write(long), "whole", *words)
    assert forecast("predict", "whole").code == 0
    assert "learned" not in pd.read_csv("whole/predictions.csv").columns
    assert "never saw" not in forecast("predict", "whole").err


def test_the_exit_code_says_that_a_series_has_no_forecast(forecast: Callable, write: Callable) -> None:
    """Shorter than the lookback, which `skip` does not pad; the others are forecast and written."""
    dates = pd.date_range("2024-01-01", periods=80, freq="D").strftime("%Y-%m-%d")
    values = np.random.default_rng(0).normal(size=80).round(3)
    long = pd.DataFrame({"item_id": "long", "date": dates, "y": values})
    data = write(pd.concat([long, long.tail(9).assign(item_id="tiny")]))
    trained(forecast, data, "run", "--short-series", "skip")
    outcome = forecast("predict", "run", "--json")
    assert outcome.code == 3
    assert "1 series shorter than the lookback have no forecast (exit code 3): 'tiny'" in " ".join(outcome.err.split())
    assert json.loads(outcome.out)["skipped"] == ["tiny"]
    assert set(pd.read_csv("run/predictions.csv")["item_id"]) == {"long"}
    trained(forecast, data, "padded")
    assert forecast("predict", "padded").code == 0
    assert set(pd.read_csv("padded/predictions.csv")["item_id"]) == {"long", "tiny"}


def test_short_series_may_be_an_error(refused: Callable, write: Callable) -> None:
    data = write(table().drop(columns="w"))
    refused(
        *("train", data, *SETTINGS, "--short-series", "error"),
        message=r"1 series is too short: lookback 14 \+ horizon 3 need 17 training rows; 'short' has 8$",
        hint="--short-series skip leaves them out",
    )


def test_equal_weights_change_nothing_and_others_do(forecast: Callable, write: Callable) -> None:
    frame = table()
    trained(forecast, write(frame.drop(columns="w"), "without.csv"), "without")
    trained(forecast, write(frame.assign(w=0.3), "equal.csv"), "equal", "--weight", "w")
    trained(forecast, write(frame, "other.csv"), "other", "--weight", "w")
    weights = [Path(name, "model.safetensors").read_bytes() for name in ("without", "equal", "other")]
    assert weights[0] == weights[1] != weights[2]
