"""`forecast plot --kind attribution` and `--kind by-value`: what a user sees, and the numbers behind it."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from forecast_attn import Forecaster
from forecast_attn.config.options import RunConfig
from forecast_attn.data.panel import Panel
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError
from forecast_attn.plotting.by_value import ByValue, by_value, mean_interval
from forecast_attn.plotting.forecasts import Forecasts
from forecast_attn.plotting.input_pictures import draw_by_value
from forecast_attn.plotting.input_terminal import render_by_value
from forecast_attn.runs.training_table import read_panel

HORIZON = 3


def test_intervals_are_those_of_clusters() -> None:
    """statsmodels' regression on a constant, with standard errors of clusters."""
    random = np.random.default_rng(0)
    stretches = np.repeat(np.arange(12), 9)[:-5]
    values = random.normal(size=len(stretches)) + random.normal(size=12)[stretches]
    fit = sm.OLS(values, np.ones_like(values)).fit(cov_type="cluster", cov_kwds={"groups": stretches}, use_t=True)
    np.testing.assert_allclose(mean_interval(values, stretches), [fit.params[0], *fit.conf_int()[0]], rtol=1e-10)
    assert np.isnan(mean_interval(values, np.zeros(len(values), int)).margin)


@pytest.fixture(scope="module")
def panel() -> Panel:
    """Two series of 40 days; every column tells its series and its row."""
    parts = []
    for series in (0, 1):
        days = np.arange(40)
        part = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=40), "id": f"s{series}", "y": 1.0 * days})
        part["heat"], part["flag"] = 100.0 * series + days, days % 2
        part["seen"] = 1_000.0 * series + days
        part["plan"] = np.where(days % 3, "yes", "no")
        parts.append(part)
    options = {
        "target": "y", "lookback": 7, "horizon": HORIZON, "past_covariates": ["seen"],
        "future_covariates": ["heat", "flag", "plan"],
    }  # fmt: skip
    return read_panel(pd.concat(parts, ignore_index=True), RunConfig.from_options(options))[0]


def forecasts_of(panel: Panel) -> Forecasts:
    """Every cut-off of both series: the target of row r is r, the forecast 2 more where the flag is set."""
    rows = [
        (panel.item_ids[series], start + at, start + at + step, step)
        for series, start in enumerate(panel.starts[:-1])
        for at in range(10, 36)
        for step in range(1, HORIZON + 1)
    ]
    names, cutoffs, targets, steps = (np.array(each) for each in zip(*rows, strict=True))
    frame = pd.DataFrame({"item_id": names, "cutoff": panel.timestamps[cutoffs], "step": steps, "model": "net"})
    frame["timestamp"], frame["target"] = panel.timestamps[targets], panel.target[targets]
    frame["prediction"] = (
        frame["target"] + 2.0 * panel.future_covariates[targets, panel.roles.future_covariates.index("flag")]
    )
    return Forecasts(frame, Zone(), "'run'", "y")


def shown(panel: Panel, forecasts: Forecasts, *columns: str) -> ByValue:
    return by_value(forecasts, panel, columns, horizon=HORIZON, name="'table'", notes=[])


def test_means_are_those_of_the_column_at_the_time_forecast_or_at_the_cutoff(panel: Panel) -> None:
    forecasts = forecasts_of(panel)
    columns = {column.name: column for column in shown(panel, forecasts).columns}
    assert list(columns) == ["flag", "heat", "plan", "seen", "weekday"]
    frame = forecasts.frame
    day = (frame["timestamp"] - pd.Timestamp("2024-01-01")).dt.days
    off, on = columns["flag"].bins
    assert (off.label, on.label, off.error.mean, on.error.mean) == ("0", "1", 0, 2)
    assert on.error.low == on.error.high == 2
    for value, each in enumerate(columns["flag"].bins):
        chosen = frame[day % 2 == value]
        assert each.count == len(chosen)
        np.testing.assert_allclose([each.forecast.mean, each.actual.mean], chosen[["prediction", "target"]].mean())
    assert [each.label for each in columns["plan"].bins] == ["no", "yes"]
    assert [each.count for each in columns["plan"].bins] == [(day % 3 == 0).sum(), (day % 3 > 0).sum()]
    heat = columns["heat"]
    assert heat.is_number and len(heat.bins) == 10
    assert heat.bins[0].position == pytest.approx(
        (day[(frame["item_id"] == "s0")]).sort_values()[: heat.bins[0].count].mean()
    )
    assert sum(each.count for each in heat.bins) == len(frame)
    # What is not known ahead counts with its value at the cut-off.
    seen = columns["seen"]
    assert seen.known == "at the cut-off"
    cutoff_days = (frame["cutoff"] - pd.Timestamp("2024-01-01")).dt.days
    first = (frame["item_id"] == "s0") & (cutoff_days <= float(seen.bins[0].label.split(" to ")[1]))
    assert abs(int(first.sum()) - seen.bins[0].count) <= 2 * HORIZON
    assert sum(each.count for each in columns["weekday"].bins) == len(frame)
    monday = columns["weekday"].bins[0]
    assert monday.actual.mean == frame["target"][frame["timestamp"].dt.day_of_week == 0].mean()


def test_columns_are_named_and_what_is_not_there_is_said(panel: Panel) -> None:
    forecasts = forecasts_of(panel)
    assert [column.name for column in shown(panel, forecasts, "plan", "heat").columns] == ["plan", "heat"]
    with pytest.raises(DataError, match="no column 'heet'"):
        shown(panel, forecasts, "heet")
    late = dataclasses.replace(forecasts, frame=forecasts.frame.assign(timestamp=pd.Timestamp("2030-01-01")))
    with pytest.raises(DataError, match="'table' does not have the time 2030-01-01 of series 's0'"):
        shown(panel, late)


def test_a_table_of_a_target_alone_has_nothing_to_show_forecasts_by(panel: Panel) -> None:
    months = np.arange("1950-01", "1953-01", dtype="datetime64[M]").astype("datetime64[D]").astype(str)
    frame = pd.DataFrame({"date": months, "y": 1.0 * np.arange(36)})
    alone = read_panel(frame, RunConfig.from_options({"target": "y", "lookback": 6, "horizon": 2}))[0]
    at = alone.timestamps
    rows = {"item_id": alone.item_ids[0], "cutoff": at[9], "timestamp": at[10:12], "step": [1, 2], "model": "net"}
    forecasts = Forecasts(pd.DataFrame({**rows, "target": 1.0, "prediction": 2.0}), Zone(), "'run'", "y")
    with pytest.raises(DataError, match="no columns beside the target in 'table'"):
        shown(alone, forecasts)


def test_a_column_known_for_some_steps_counts_for_those(panel: Panel) -> None:
    roles = dataclasses.replace(panel.roles, known_steps={"flag": 1})
    (flag,) = shown(dataclasses.replace(panel, roles=roles), forecasts_of(panel), "flag").columns
    assert sum(each.count for each in flag.bins) == len(forecasts_of(panel).frame) / HORIZON


@pytest.mark.parametrize(("frequency", "season"), [("B", 5), ("MS", 12)])
def test_stretches_are_counted_in_steps(frequency: str, season: int) -> None:
    """Weekends and long months make none shorter."""
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=90, freq=frequency), "flag": 1.0})
    options = {"target": "y", "lookback": 14, "horizon": 1, "future_covariates": ["flag"]}
    panel = read_panel(frame.assign(y=np.arange(90.0)), RunConfig.from_options(options))[0]
    errors, stamps = np.random.default_rng(0).normal(size=70), panel.timestamps
    rows = {"item_id": panel.item_ids[0], "cutoff": stamps[19:89], "timestamp": stamps[20:], "step": 1, "model": "net"}
    table = pd.DataFrame({**rows, "target": panel.target[20:], "prediction": panel.target[20:] + errors})
    means = by_value(Forecasts(table, Zone(), "'run'", "y"), panel, ("flag",), horizon=1, name="'table'", notes=[])
    assert means.stretch == season
    expected = mean_interval(errors, np.arange(70) // season)
    np.testing.assert_allclose(means.columns[0].bins[0].error, expected, rtol=1e-6)


def test_picture_and_terminal_show_the_same_means(panel: Panel, make_console) -> None:
    means = shown(panel, forecasts_of(panel))
    figure = draw_by_value(means)
    labels = [axes.get_label() for axes in figure.axes]
    assert [label for label in labels if label in {column.name for column in means.columns}] == [
        column.name for column in means.columns
    ]
    heat = figure.axes[labels.index("heat")]
    drawn = {line.get_label(): line.get_ydata() for line in heat.lines}
    (column,) = (column for column in means.columns if column.name == "heat")
    forecast = [each.forecast.mean for each in column.bins]
    assert any(np.allclose(values, forecast) for values in drawn.values() if len(values) == len(forecast))
    console = make_console(80)
    render_by_value(means, console)
    console.file.seek(0)
    lines = console.file.read().splitlines()
    assert max(map(len, lines)) <= 80
    assert any("+2 ± 0" in line for line in lines)


# --------------------------------------------------------------------------- the command


@pytest.mark.slow
def test_the_command_explains_the_forecast_that_predict_made(forecast, run_copy, write, make_table) -> None:
    write(make_table())
    outcome = forecast("plot", "run", "--kind", "attribution", "--png", "a.png", "--svg", "a.svg", "--json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    total = sum(each["attribution"] for each in document["inputs"])
    assert document["baseline_forecast"] + total + document["residual"] == pytest.approx(document["forecast"])
    assert Path("a.png").stat().st_size > 10_000
    assert Path("a.svg").read_text(encoding="utf-8").startswith("<?xml")
    printed = forecast("plot", "run", "--kind", "attribution").out
    assert "the attributions add up to" in printed
    for each in document["inputs"]:
        assert each["input"] in printed
        parts = sum(each["past"]) + sum(each["future"]) + each["static"]
        assert each["attribution"] == pytest.approx(parts)


@pytest.mark.slow
def test_the_future_is_read_as_predict_reads_it(forecast, small, write, make_table, refused) -> None:
    """Values to come in a table of their own are those at the end of the table."""
    table = make_table().assign(plan=np.sin(np.arange(120)).round(3)).drop(columns="temperature")
    table.loc[table.index[-3:], "target"] = np.nan
    write(table, "whole.csv")
    path, future = write(table[:-3]), write(table[["date", "plan"]][-3:], "future.csv")
    assert forecast("train", path, *small, "--future", "plan", "--out", "run", "--quiet").code == 0
    plot = ("plot", "run", "--kind", "attribution")
    known, whole, without = (
        json.loads(forecast(*plot, *words, "--json").out)
        for words in (("--future", future), ("--data", "whole.csv"), ())
    )
    assert known["cutoff"] == table["date"].iloc[-4]
    assert {**known, "notes": []} == {**whole, "notes": []}
    assert without["cutoff"] < known["cutoff"]
    assert "`forecast plot --kind attribution --future FILE` explains the forecast itself" in without["notes"][0]
    beyond = ("--future", future, "--cutoff", known["cutoff"])
    refused(*plot, *beyond, message="--future is for the forecast beyond the end", hint="leave one", code=2)
    refused(
        "plot", "run", "--future", future, message="--future does not go with --kind forecast", hint="leave", code=2
    )


@pytest.mark.slow
def test_a_validation_window_and_means_by_value_of_a_run(forecast, run_copy, write, make_table, refused) -> None:
    path = write(make_table())
    window = json.loads(forecast("plot", "run", "--kind", "attribution", "--data", path, "--step", "1", "--json").out)
    assert window["step"] == 1
    means = json.loads(forecast("plot", "run", "--kind", "by-value", "--data", path, "--json").out)
    assert means["kind"] == "by-value"
    assert any("validation" in note for note in means["notes"])
    for column in means["columns"]:
        known = [each["dependence"] is not None for each in column["bins"]]
        is_ahead = column["known"] == "at the time forecast" and column["name"] != "weekday"
        assert all(known) if is_ahead else not any(known)
        for each in column["bins"]:
            assert each["error"]["mean"] == pytest.approx(each["forecast"]["mean"] - each["actual"]["mean"])
    kind = ("plot", "run", "--kind")
    refused(*kind, "attribution", "--step", "999", message="--step 999 is not among", hint="--step 1 to", code=2)
    refused(*kind, "attribution", "--model", "naive", message="--model does not go with", hint="leave", code=2)
    refused(*kind, "by-value", "--step", "1", message="--step does not go with", hint="leave", code=2)
    refused("plot", "run", "--column", "x", message="--column does not go with --kind forecast", hint="leave", code=2)
    refused(*kind, "by-value", "--data", path, "--column", "no", message="no column 'no'", hint="known")


@pytest.fixture(scope="module")
def odd_run(forecast, small, make_table, tmp_path_factory) -> Path:
    """A run with a column that is called as its kind, and one of codes that differ in the last digit, with a unit."""
    folder = tmp_path_factory.mktemp("odd")
    table = make_table().rename(columns={"temperature": "future"})
    table.assign(**{"code [/kg]": 1_000_001 + np.arange(len(table)) // 3 % 2}).to_csv(folder / "data.csv", index=False)
    words = ("--future", "future,code [/kg]", "--out", folder / "run", "--quiet")
    done = forecast("train", folder / "data.csv", *small, *words)
    assert done.code == 0, done.err
    return folder / "run"


@pytest.mark.slow
def test_a_column_called_as_its_kind_is_no_group(forecast, odd_run: Path) -> None:
    means = json.loads(forecast("plot", odd_run, "--kind", "by-value", "--json").out)
    assert "future" in [column["name"] for column in means["columns"]]


@pytest.mark.slow
def test_codes_keep_the_digits_in_which_they_differ(forecast, odd_run: Path, here: Path) -> None:
    words = ("plot", odd_run, "--kind", "by-value", "--column", "code [/kg]", "--json")
    (code,) = json.loads(forecast(*words).out)["columns"]
    assert [each["label"] for each in code["bins"]] == ["1000001", "1000002"]
    assert forecast("inspect", odd_run, "--validation", "--html", "page.html").code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    tiles = re.search(r'/kg\] at the cut-off","names":\["1000001","1000002"\].*?"windows":\[(\d+),(\d+)\]', page)
    assert tiles is not None and tiles[1] != tiles[2]


@pytest.mark.slow
def test_brackets_in_names_are_no_markup(odd_run: Path, make_console) -> None:
    console = make_console()
    Forecaster.load(odd_run).plot("by-value").print(console)
    console.file.seek(0)
    assert "code [/kg], " in console.file.read()
