"""One value far beyond all others is named, in training and in a history; high prices of real markets are not."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.baselines.registry import FORMULAS
from forecast_attn.baselines.theta import formula_forecasts
from forecast_attn.data import segments
from forecast_attn.data.gross_errors import gross_errors
from forecast_attn.data.scale_fitting import Rows
from forecast_attn.data.settled_scales import growing_counts, growing_means

pytestmark = pytest.mark.slow


def with_outlier(table: pd.DataFrame, value: float, row: int | slice = 40) -> pd.DataFrame:
    table = table.copy()
    table.loc[row, "target"] = value
    return table


@pytest.mark.parametrize("value", [1e15, -1e15, 1e6])
def test_an_outlier_of_the_training_rows_is_named(forecast, write, make_table, small, value):
    path = write(with_outlier(make_table(), value))
    assert "FA309" in forecast("check", path).out
    outcome = forecast("train", path, *small, "--out", "run", "--quiet")
    assert outcome.code == 0
    assert outcome.err.startswith(f"warning: series 'target' has {value:.4g} at 2024-02-10, ")
    assert outcome.err.count("\n") == 1  # quiet are progress, tables and notes


def train_windows(forecast, write, small, table: pd.DataFrame) -> list[int]:
    """Numbers of windows that are trained on, and of earlier ones without a unit."""
    messages = " ".join(forecast("train", write(table), *small, "--out", str(len(list(Path().iterdir())))).err.split())
    counts = (re.search(rf"([\d,]+) {what}", messages) for what in ("training windows", "earlier windows"))
    return [int(match[1]) if match else 0 for match in counts]


def test_windows_before_many_outliers_are_counted(forecast, write, make_table, small):
    """Beside them nothing has moved before: they have no unit to learn in."""
    clean, none = train_windows(forecast, write, small, make_table())
    odd, earlier = train_windows(forecast, write, small, with_outlier(make_table(), 1e15, row=slice(40, 43)))
    assert none == 0
    assert earlier > 0
    assert odd + earlier == clean


def test_windows_with_an_outlier_are_left_out_of_training(forecast, write, make_table, small):
    clean, _ = train_windows(forecast, write, small, make_table())
    table = with_outlier(make_table(), 1e15)
    lookback, horizon = (int(small[small.index(flag) + 1]) for flag in ("--lookback", "--horizon"))
    assert train_windows(forecast, write, small, table) == [clean - lookback - horizon, 0]


@pytest.mark.parametrize("value", [1e6, -1e9, 1e15])
@pytest.mark.parametrize("row", [0, 40, 70])
def test_an_outlier_before_the_lookback_changes_forecasts_little(forecast, write, make_table, small, value, row):
    """Of its series, and of the others."""
    series = [make_table().assign(item_id=name) for name in "ab"]
    forecasts = {}
    for name, first in {"clean": series[0], "odd": with_outlier(series[0], value, row)}.items():
        path = write(pd.concat([first, series[1]]), f"{name}.csv")
        assert forecast("train", path, *small, "--out", name).code == 0
        forecasts[name] = forecast("predict", name, "--out", f"{name}-f.csv", "--quiet")
        assert (forecasts[name].code, forecasts[name].err) == (0, "")
    clean, odd = (pd.read_csv(f"{name}-f.csv")["prediction"] for name in ("clean", "odd"))
    assert np.abs(odd - clean).max() < series[1]["target"].std()
    scores = (json.loads(Path(name, "metrics.json").read_text())["seasonal_naive"]["mase"] for name in forecasts)
    assert next(scores) == pytest.approx(next(scores), rel=0.2)


@pytest.mark.parametrize("options", [(), ("--scaling", "robust", "--transform", "arcsinh")])
def test_an_outlier_of_the_lookback_is_named_until_the_cell_is_empty(forecast, write, make_table, small, options):
    """Nothing is repaired, so every forecast says so; the hint is a way out."""
    path = write(with_outlier(make_table(), 1e15, row=len(make_table()) - 2))
    assert forecast("train", path, *small, *options, "--out", "run").code == 0
    outcome = forecast("predict", "run", "--out", "f.csv", "--quiet")
    assert "whose lookback holds it may be anything" in outcome.err
    assert "empty it and train with --missing mask" in outcome.err
    empty = write(with_outlier(make_table(), float("nan"), row=len(make_table()) - 2), "empty.csv")
    assert forecast("train", empty, *small, *options, "--missing", "mask", "--out", "masked").code == 0
    outcome = forecast("predict", "masked", "--out", "f.csv", "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    assert pd.read_csv("f.csv")["prediction"].abs().max() < 2 * make_table()["target"].abs().max()


def test_the_formulas_read_past_an_outlier():
    rows = np.sin(np.arange(200.0)) + 10
    odd = with_outlier(pd.DataFrame({"target": rows}), 1e12, row=100)["target"].to_numpy()
    starts, cutoffs = np.array([0]), np.array([199])
    for name in FORMULAS:
        made = formula_forecasts(name, odd, starts, cutoffs, season=1, horizon=3)
        assert np.abs(made - rows[-1]).max() < 3, name


def test_growth_and_heavy_tails_hold_no_gross_errors():
    rng = np.random.default_rng(0)
    for values in (
        np.exp(np.arange(400) / 10),  # which grows by a tenth at every step
        rng.pareto(0.7, size=3_000),
        np.where(np.arange(400) < 300, rng.normal(size=400) / 1e6, 1.0),
        np.zeros(100),
        np.append(np.arange(20.0), 1e15),  # too few to be usual
    ):
        assert not gross_errors(values).any()
    values = np.append(rng.normal(size=100), [1e15, -1e6, np.nan])
    assert np.flatnonzero(gross_errors(values)).tolist() == [100, 101]


def test_a_scale_so_far_knows_no_later_value():
    """Scales of the first rows are those of a table without the others, with gross errors too."""
    rng = np.random.default_rng(0)
    values = rng.normal(10, 1, (300, 1))
    values[[5, 60, 200]] = 1e9
    counts = growing_counts(300)
    whole = growing_means(Rows(values, np.array([0]), np.array([300])), counts)
    for at, count in enumerate(np.minimum(counts, 300)):
        part = growing_means(Rows(values[:count], np.array([0]), np.array([count])), counts[: at + 1])
        np.testing.assert_allclose([each[0, at] for each in whole], [each[0, at] for each in part], rtol=1e-9)
    assert whole[0][0, -1] == pytest.approx(10, rel=0.02)


def test_several_outliers_are_found_too(forecast, write, make_table):
    table = with_outlier(with_outlier(make_table(), 1e15), 1e15, row=60)
    assert "FA309" in forecast("check", write(table)).out


@pytest.mark.parametrize("rows", [1, 300, 10_000])
def test_series_are_searched_a_few_at_a_time(forecast, write, make_table, monkeypatch, rows):
    monkeypatch.setattr(segments, "ROWS_AT_ONCE", rows)
    names = ["a", "b", "c", "d", "e"]
    tables = [with_outlier(make_table(), 1e9, row=40) if name in "bde" else make_table() for name in names]
    whole = pd.concat([table.assign(item_id=name) for name, table in zip(names, tables, strict=True)])
    findings = json.loads(forecast("check", write(whole), "--json").out)["findings"]
    assert [each["item_id"] for each in findings if each["code"] == "FA309"] == ["b", "d", "e"]


def test_an_outlier_behind_the_training_rows_is_named(forecast, write, make_table):
    assert "FA309" in forecast("check", write(with_outlier(make_table(), 1e15, row=110))).out


def test_sales_that_begin_after_zeros_are_no_outliers(forecast, write, make_table):
    table = make_table()
    table["target"] = np.where(table.index < 105, 0.0, 5000 + table.index)
    assert "FA309" not in forecast("check", write(table)).out


def test_an_outlier_of_a_history_is_named(forecast, finished_run, write, make_table):
    path = write(with_outlier(make_table(), 1e15, row=118), "history.csv")
    outcome = forecast("predict", finished_run, "--data", path, "--out", "f.csv", "--quiet")
    assert outcome.err.startswith("warning: series 'target' has 1e+15 at 2024-04-28, ")
    scored = forecast("backtest", finished_run, "--data", path, "--cutoffs", "2", "--out", "b.csv", "--quiet")
    assert scored.err == outcome.err
    assert "FA309" in Path("b.json").read_text()
    assert "warning" not in forecast("predict", finished_run, "--out", "f.csv").err


@pytest.fixture(scope="module")
def priced(make_table) -> pd.DataFrame:
    rng, table = np.random.default_rng(1), make_table()
    return table.assign(price=10 + rng.normal(size=len(table)), visits=rng.normal(size=len(table)), rain=0.0)


OF_COVARIATES = ("--past", "visits,rain", "--future", "price")


@pytest.mark.parametrize(("column", "row"), [("price", 40), ("visits", 40), ("price", 110)])
def test_an_outlier_of_a_covariate_is_named(forecast, write, priced, column, row):
    """Among the training rows, and behind them; what rarely happens is none."""
    priced = priced.copy()
    priced.loc[[30, 100], "rain"] = 5.0
    assert "FA309" not in forecast("check", write(priced, "clean.csv"), *OF_COVARIATES).out
    priced.loc[row, column] = 1e15
    findings = json.loads(forecast("check", write(priced), *OF_COVARIATES, "--json").out)["findings"]
    named = [finding for finding in findings if finding["code"] == "FA309"]
    assert [finding["column"] for finding in named] == [column]
    assert f"--ignore '{column}'" in named[0]["fix"]


def test_an_outlier_of_a_covariate_that_a_forecast_reads_is_named(forecast, write, priced, small):
    history, future = priced[:-3], priced[["date", "price"]][-3:]
    assert forecast("train", write(history), *OF_COVARIATES, *small, "--out", "run").code == 0
    write(future, "future.csv")
    plain = forecast("predict", "run", "--future", "future.csv", "--out", "f.csv", "--quiet")
    assert (plain.code, plain.err) == (0, "")
    write(future.assign(price=[10, 1e9, 10]), "future.csv")
    ahead = forecast("predict", "run", "--future", "future.csv", "--out", "f.csv", "--quiet")
    assert ahead.err.startswith("warning: column 'price' of series 'target' has 1e+09 at 2024-04-28, ")
    write(history.assign(visits=history["visits"].where(history.index < 110, 1e9)), "history.csv")
    write(future, "future.csv")
    words = ("--data", "history.csv", "--future", "future.csv", "--out", "f.csv", "--quiet")
    assert "column 'visits' of series 'target' has 1e+09 at 2024-04-20, " in forecast("predict", "run", *words).err


def test_rare_demand_has_no_outlier(forecast, write, make_table):
    """Of zeros there is no spread; a promotion is no mistake."""
    table = make_table()
    table["target"] = 0.0
    table.loc[::30, "target"] = 500
    assert "FA309" not in forecast("check", write(table)).out


def test_heavy_tails_have_no_outlier(forecast, write, make_table):
    table = make_table(rows=4000)
    table["target"] = np.random.default_rng(0).standard_t(2, size=4000)
    assert "FA309" not in forecast("check", write(table)).out


@pytest.mark.parametrize("name", ["NP.csv", "FR.csv", "PJM.csv"])
def test_prices_of_real_markets_are_no_outliers(forecast, real_data, name, here):
    """The highest price of the French market is 107 robust deviations from the median."""
    outcome = forecast("check", real_data / name, "--target", "OT", "--json")
    codes = [finding["code"] for finding in json.loads(outcome.out)["findings"]]
    assert "FA309" not in codes
    assert not Path("runs").exists()


def test_a_series_that_training_saw_once_has_no_outlier(forecast, write):
    """One value says nothing of how far the values lie apart."""
    firms = [
        pd.DataFrame({"id": f"firm {n}", "year": [1987, 1988, 1989], "sales": [2e6, 2.8e6, 3.4e6]}) for n in range(40)
    ]
    table = pd.concat(firms).reset_index(drop=True)
    table.loc[(table["id"] == "firm 0") & (table["year"] == 1987), "sales"] = None
    sizes = ("--horizon", "1", "--lookback", "1", "--hidden-size", "4", "--max-epochs", "1", "--missing", "mask")
    assert forecast("train", write(table), *sizes, "--out", "run", "--quiet").code == 0
    outcome = forecast("predict", "run", "--out", "f.csv")
    assert outcome.code == 0
    assert "as far off" not in outcome.err
