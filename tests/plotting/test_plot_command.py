"""`forecast plot` as a user types it, on runs and on their tables."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.slow

SPAN = ("--lookback", "24", "--horizon", "6")


@pytest.fixture(scope="module")
def berlin_run(tmp_path_factory, forecast, small):
    """A run with quantiles over two series of a zone, with its table, a forecast, and the rows that came later."""
    folder = tmp_path_factory.mktemp("berlin")
    hours = pd.date_range("2024-03-20", periods=330, freq="h", tz="Europe/Berlin")
    steps, rng = np.arange(len(hours)), np.random.default_rng(0)
    parts = [
        pd.DataFrame({"time": hours.astype(str), "city": name, "load": (quantile + 9 * np.sin(steps / 4)).round(2)})
        for name, quantile in (("Ulm", 100.0), ("Bonn", 50.0))
    ]
    whole = pd.concat(parts).assign(load=lambda table: table["load"] + rng.normal(size=len(table)).round(2))
    early = whole.groupby("city").head(320)
    early.to_csv(folder / "early.csv", index=False)
    whole.to_csv(folder / "whole.csv", index=False)
    words = ("--target", "load", "--id", "city", "--tz", "Europe/Berlin", "--quantiles", "0.1,0.5,0.9", *small, *SPAN)
    for command in (
        ("train", folder / "early.csv", *words, "--out", folder / "run", "--quiet"),
        ("predict", folder / "run", "--quiet"),
    ):
        outcome = forecast(*command)
        assert outcome.code == 0, outcome.err
    return folder / "run"


@pytest.fixture
def berlin(berlin_run, here, without_manifest):
    shutil.copytree(berlin_run.parent, here, dirs_exist_ok=True)
    without_manifest(Path("run"))
    config = json.loads(Path("run/config.json").read_text())
    config["data"]["file"] = "early.csv"
    Path("run/config.json").write_text(json.dumps(config))
    return Path("run")


def document(forecast, *words):
    outcome = forecast("plot", *words, "--json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def loads(name):
    table = pd.read_csv(name)
    return {(city, time): load for time, city, load in table.itertuples(index=False)}


def test_a_run_draws_its_forecast_beside_the_end_of_its_table(berlin, forecast):
    drawn = document(forecast, berlin)
    written, known = pd.read_csv(berlin / "predictions.csv"), loads("early.csv")
    assert (drawn["target"], drawn["zone"], drawn["notes"]) == ("load", "Europe/Berlin", [])
    assert [view["item_id"] for view in drawn["views"]] == ["Bonn", "Ulm"]
    for view in drawn["views"]:
        rows = written[written["item_id"] == view["item_id"]]
        assert view["models"][0]["prediction"] == rows["prediction"].tolist()
        assert view["models"][0]["quantiles"] == {name: rows[name].tolist() for name in ("0.1", "0.5", "0.9")}
        assert view["timestamp"] == rows["timestamp"].tolist()
        assert len(view["history"]["target"]) == 24
        for time, value in zip(view["history"]["timestamp"], view["history"]["target"], strict=True):
            assert value == known[(view["item_id"], time)]
        assert view["actual"] == [None] * 6


def test_what_came_is_drawn_from_a_longer_table(berlin, forecast):
    (view,) = document(forecast, berlin, "--data", "whole.csv", "--item", "Ulm", "--history", "40")["views"]
    known = loads("whole.csv")
    assert view["actual"] == [known[("Ulm", time)] for time in view["timestamp"]]
    assert len(view["history"]["target"]) == 40


def test_more_history_than_the_run_keeps_comes_from_its_table(berlin, forecast):
    (view,) = document(forecast, berlin, "--item", "Ulm", "--history", "300")["views"]
    assert len(view["history"]["target"]) == 300
    Path("early.csv").unlink()
    (view,) = document(forecast, berlin, "--item", "Ulm", "--history", "300")["views"]
    assert len(view["history"]["target"]) == 24


def test_a_cutoff_in_the_past_is_forecast_again(berlin, forecast):
    (view,) = document(forecast, berlin, "--item", "Ulm", "--cutoff", "2024-04-01 12:00")["views"]
    known = loads("early.csv")
    assert view["cutoff"] == "2024-04-01 12:00+02:00"
    assert view["actual"] == [known[("Ulm", time)] for time in view["timestamp"]]
    # The same as a forecast of a table that ends there.
    table = pd.read_csv("early.csv")
    table[pd.to_datetime(table["time"], utc=True) <= pd.Timestamp("2024-04-01 10:00", tz="UTC")].to_csv(
        "cut.csv", index=False
    )
    assert forecast("predict", berlin, "--data", "cut.csv", "--out", "cut.out.csv").code == 0
    again = pd.read_csv("cut.out.csv").query("item_id == 'Ulm'")
    np.testing.assert_allclose(view["models"][0]["prediction"], again["prediction"], rtol=1e-7)
    np.testing.assert_allclose(view["models"][0]["quantiles"]["0.9"], again["0.9"], rtol=1e-7)


def test_a_cutoff_of_training_is_told(berlin, forecast):
    late = document(forecast, berlin, "--cutoff", "2024-04-01 12:00")["notes"]
    early = document(forecast, berlin, "--cutoff", "2024-03-24 12:00")["notes"]
    assert not late
    assert "the network was trained on the values after it" in early[0]


def test_before_any_forecast_the_last_validation_window_is_drawn(berlin, forecast):
    (berlin / "predictions.csv").unlink()
    drawn = document(forecast, berlin)
    assert "forecast predict" in drawn["notes"][0]
    for view in drawn["views"]:
        assert view["cutoff"] == "2024-04-02 02:00+02:00"
        assert None not in view["actual"]


def test_the_error_by_step_of_validation_is_that_of_training(berlin, forecast):
    drawn = document(forecast, berlin, "--kind", "error-by-step", "--model", "run", "--model", "seasonal-naive")
    metrics = json.loads((berlin / "metrics.json").read_text())
    overall = {model["model"]: model["overall"] for model in drawn["models"]}
    assert overall["run"] == pytest.approx(metrics["validation"]["mae"])
    assert overall["seasonal-naive"] == pytest.approx(metrics["seasonal_naive"]["mae"])
    assert drawn["step"] == [1, 2, 3, 4, 5, 6]
    assert any("validation windows" in note for note in drawn["notes"])


def test_the_calibration_of_validation_is_that_of_training(berlin, forecast):
    drawn = document(forecast, berlin, "--kind", "calibration")
    (model,) = drawn["models"]
    interval = json.loads((berlin / "metrics.json").read_text())["validation"]["interval"]
    assert model["quantile"] == [0.1, 0.5, 0.9]
    # No value is exactly a quantile here, so that a share between two quantiles is a difference of shares below.
    assert model["observed"][2] - model["observed"][0] == pytest.approx(interval["coverage"])


def test_a_backtest_in_the_run_is_drawn(berlin, forecast):
    assert forecast("backtest", berlin, "--cutoffs", "5", "--stride", "3", "--quiet").code == 0
    table = pd.read_parquet(berlin / "backtest.parquet")
    drawn = document(forecast, berlin, "--kind", "error-by-step", "--model", "run", "--model", "naive")
    for model in drawn["models"]:
        forecasts = table[table["model"] == model["model"]]
        expected = (forecasts["prediction"] - forecasts["target"]).abs().groupby(forecasts["step"]).mean()
        assert model["mae"] == pytest.approx(expected.tolist())
    cutoff = table["cutoff"].min()
    (view,) = document(forecast, berlin, "--cutoff", str(cutoff), "--item", "Bonn", "--model", "naive")["views"]
    forecasts = table.query("item_id == 'Bonn' and model == 'naive'")[lambda rows: rows["cutoff"] == cutoff]
    assert view["models"][0]["prediction"] == forecasts["prediction"].tolist()
    assert view["actual"] == forecasts["target"].tolist()
    assert len(view["history"]["target"]) == 24


@pytest.mark.parametrize("kind", ["forecast", "error-by-step", "calibration"])
def test_every_kind_is_printed_plainly_into_a_pipe(berlin, forecast, kind):
    outcome = forecast("plot", "run", "--kind", kind)
    assert outcome.code == 0, outcome.err
    assert outcome.out.isascii()
    assert "\x1b" not in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 120
    assert "load" in outcome.out.splitlines()[0]


def test_a_narrow_terminal_and_no_color_are_heeded(berlin, forecast, monkeypatch):
    for name, value in {"COLUMNS": "50", "FORCE_COLOR": "1", "TERM": "xterm", "COLORTERM": "truecolor"}.items():
        monkeypatch.setenv(name, value)
    coloured = forecast("plot", "run", "--item", "Ulm").out
    assert "\x1b[38;2;" in coloured
    assert "48;2;" in coloured
    shown = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert max(map(len, shown.splitlines())) <= 50
    monkeypatch.setenv("NO_COLOR", "1")
    assert "38;2" not in forecast("plot", "run", "--item", "Ulm").out


def test_pictures_are_written_and_named(berlin, forecast, files_in):
    before = files_in()
    outcome = forecast("plot", berlin, "--png", "a.png", "--svg", "a.svg")
    assert (outcome.code, outcome.out) == (0, "picture: a.png\npicture: a.svg\n")
    after = files_in()
    assert set(after) - set(before) == {"a.png", "a.svg"}
    assert {name: after[name] for name in before} == before


def test_the_newest_run_is_drawn_when_none_is_named(berlin, forecast):
    Path("runs").mkdir()
    berlin.rename("runs/one")
    assert "load: forecast of 6 steps" in forecast("plot").out


def test_a_table_in_its_run_knows_zone_and_history(berlin, forecast):
    assert document(forecast, berlin / "predictions.csv") == document(forecast, berlin)


def test_a_table_elsewhere_stands_alone(berlin, forecast):
    shutil.copy(berlin / "predictions.csv", "mine.csv")
    drawn = document(forecast, "mine.csv")
    assert drawn["views"][0]["history"]["target"] == []
    assert drawn["zone"] == "UTC+02:00"


def test_what_cannot_be_drawn_is_said(berlin, refused):
    refused("plot", "nowhere", message="there is no run 'nowhere'", hint="train")
    refused("plot", "nowhere.parquet", message="nowhere.parquet", hint="tables there")
    refused(
        "plot",
        berlin,
        "--kind",
        "calibratoin",
        message="--kind has no value 'calibratoin'",
        hint="'calibration'",
        code=2,
    )
    refused(
        "plot",
        berlin,
        "--kind",
        "calibration",
        "--cutoff",
        "2024-04-01",
        message="--cutoff does not go with --kind calibration; it is for forecast and attribution",
        hint="leave",
        code=2,
    )
    refused(
        "plot",
        berlin,
        "--kind",
        "error-by-step",
        "--history",
        "3",
        message="--history does not go with --kind error-by-step; it is for forecast",
        hint="leave",
        code=2,
    )
    refused("plot", berlin, "--png", "a.svg", message=r"writes a \.png", hint="--png a.png", code=2)
    refused("plot", berlin, "--item", "Ulmm", message="no forecast of series 'Ulmm'", hint="'Ulm'")
    refused("plot", berlin, "--model", "x", message="no model 'x'", hint="known")
    refused(
        "plot", berlin, "--cutoff", "2030-01-01", message="no window with the cut-off", hint="24 rows up to it and 6"
    )
    refused("plot", berlin, "--cutoff", "soon", message="must be a time stamp", hint=None, code=2)
    refused("plot", "early.csv", message="is not a table of forecasts", hint="forecast backtest")


def test_no_input_is_written_over(berlin, refused, here):
    shutil.copy(berlin / "predictions.csv", "mine.png")
    refused("plot", "mine.png", "--png", "mine.png", message="is a file that is read", hint="another", code=2)
    shutil.copy("whole.csv", "data.png")
    words = ("plot", berlin, "--data", "data.png", "--png", "data.png")
    refused(*words, message="is a file that is read", hint="another", code=2)


def test_a_run_without_quantiles_says_how_to_get_them(run_copy, refused, finished_run):
    config = json.loads((run_copy / "config.json").read_text())
    assert Path(config["data"]["file"]).is_file()
    refused("plot", run_copy, "--kind", "calibration", message="has no quantiles", hint="--quantiles 0.1,0.5,0.9")


def test_a_run_whose_table_is_gone_says_what_it_needs(berlin, refused):
    Path("early.csv").unlink()
    refused("plot", berlin, "--kind", "error-by-step", message="'early.csv', is not where it was", hint="--data FILE")
    refused("plot", berlin, "--cutoff", "2024-04-01 12:00", message="is not where it was", hint="--data FILE")
