"""`Forecaster.plot` against `forecast plot`, and what only Python has: DataFrames and figures."""

import json
from pathlib import Path

import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.config.requests import PICTURES
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.result_pictures import DRAWN


@pytest.fixture(scope="module")
def table(make_table) -> pd.DataFrame:
    return make_table().drop(columns="temperature")


@pytest.fixture(scope="module")
def in_memory(table) -> Forecaster:
    """Trained on a DataFrame, so that no file has its table."""
    options = {
        "lookback": 14,
        "horizon": 3,
        "hidden_size": 4,
        "max_epochs": 1,
        "combination": "none",
        "epoch_windows": 32,
        "seed": 7,
    }
    return Forecaster(**options, quantiles=[0.1, 0.5, 0.9]).fit(table)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["forecast", "error-by-step"])
def test_it_is_the_command(forecast, run_copy, write, make_table, kind) -> None:
    write(make_table())
    outcome = forecast("plot", "run", "--kind", kind, "--data", "data.csv", "--png", "theirs.png", "--json")
    assert outcome.code == 0, outcome.err
    picture = Forecaster.load("run").plot(kind, data="data.csv", png="ours.png")
    assert picture.to_dict() == json.loads(outcome.out)
    assert Path("ours.png").read_bytes() == Path("theirs.png").read_bytes()


@pytest.mark.slow
def test_the_command_prints_the_picture(forecast, run_copy, write, make_table, capsys) -> None:
    write(make_table())
    printed = forecast("plot", "run", "--data", "data.csv").out
    capsys.readouterr()
    Forecaster.load("run").plot(data="data.csv").print()
    assert capsys.readouterr().out.splitlines()[:2] == printed.splitlines()[:2]  # below them is as wide as a terminal


@pytest.mark.slow
@pytest.mark.parametrize("kind", PICTURES[:3])
def test_a_forecaster_without_a_file_draws_dataframes(in_memory, table, here, kind) -> None:
    backtest = in_memory.backtest(table, cutoffs=6, stride=1, baselines=["naive"])
    picture = in_memory.plot(kind, forecasts=backtest.frame, svg="picture.svg")
    assert Path("picture.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert picture.kind == picture.to_dict()["kind"] == kind
    picture = in_memory.plot(kind, data=table)
    assert any("validation" in note for note in picture.notes)
    assert picture.figure().axes
    picture.save("again.svg")
    words = Path("again.svg").read_text(encoding="utf-8") + json.dumps(picture.to_dict())
    assert Path(in_memory.run_path).name not in words, "nobody named that folder"
    assert "luong-general" in words


@pytest.mark.slow
@pytest.mark.parametrize("kind", PICTURES[:3])
def test_brackets_in_names_are_no_markup(in_memory, make_backtest, make_console, kind) -> None:
    console = make_console()
    in_memory.plot(kind, forecasts=make_backtest(items=("city [b]",), models=("net [/kg]",))).print(console)
    console.file.seek(0)
    assert "net [/kg]" in console.file.read()


@pytest.mark.slow
def test_inputs_of_a_run_in_memory_are_drawn_from_a_dataframe(in_memory, table, here) -> None:
    backtest = in_memory.backtest(table, cutoffs=6, stride=1, baselines=["naive"])
    means = in_memory.plot("by-value", forecasts=backtest.frame, data=table, model=["naive"])
    assert (means.shown.model, means.shown.num_cutoffs, means.notes) == ("naive", 6, [])
    explained = in_memory.plot("attribution", svg="picture.svg")
    assert explained.shown.zone.stamp_text(explained.shown.cutoff) == table["date"].iloc[-1]
    assert explained._repr_png_()[:4] == b"\x89PNG"
    with pytest.raises(ConfigError, match="asks the network of a run"):
        in_memory.plot("attribution", forecasts=backtest.frame)


@pytest.mark.slow
def test_results_draw_themselves_beside_the_history_that_was_given(in_memory, table) -> None:
    result, backtest = in_memory.predict(table.iloc[:-20]), in_memory.backtest(table, cutoffs=3, stride=1)
    (axes,) = DRAWN["ForecastResult"](result).axes
    known = next(line.get_ydata() for line in axes.lines if line.get_label() == "target")
    assert known[-3:].tolist() == table["target"].iloc[-23:-20].tolist()
    (axes,) = DRAWN["BacktestResult"](backtest).axes
    assert "step ahead" in axes.get_xlabel()
    for shown in (result, backtest, in_memory.audit(table, windows=8)):
        assert shown._repr_png_()[:4] == b"\x89PNG"


def test_a_forecaster_says_what_it_is(in_memory, here) -> None:
    about = "<Forecaster with luong-general: 1 series, lookback 14, horizon 3"
    assert repr(in_memory) == f"{about}, not saved>"
    in_memory.save("runs/mine")
    assert repr(Forecaster.load("runs/mine")) == f"{about}, run 'runs/mine'>"
    assert repr(Forecaster(horizon=3)) == "Forecaster(horizon=3)"
    Path("runs/mine/schema.json").write_text("{")
    assert repr(Forecaster.load("runs/mine")) == "<Forecaster with luong-general, run 'runs/mine'>"


def test_a_forecast_in_memory_is_drawn_after_the_end_of_its_table(in_memory, table) -> None:
    predictions = in_memory.predict().predictions
    (view,) = in_memory.plot(forecasts=predictions, history=5).to_dict()["views"]
    assert view["cutoff"] == table["date"].iloc[-1]


def test_what_cannot_be_drawn_is_said(in_memory, here) -> None:
    with pytest.raises(ConfigError, match="--kind has no value 'forcast'"):
        in_memory.plot("forcast")
    with pytest.raises(ConfigError, match="writes a"):
        in_memory.plot(png="picture.pdf")
    with pytest.raises(RunError, match="not fitted"):
        Forecaster().plot()
    with pytest.raises(RunError, match="was not trained on a file"):
        in_memory.plot("error-by-step")
