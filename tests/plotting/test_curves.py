"""The numbers of the curves, against loops and scipy by another way."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scipy.stats import binom

from forecast_attn.config.requests import PlotRequest
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError
from forecast_attn.plotting.forecast_terminal import render_errors
from forecast_attn.plotting.forecasts import Forecasts, read_forecasts
from forecast_attn.plotting.reliability import band, reliability
from forecast_attn.plotting.sources import find_source, reliability_of, scored_forecasts, step_errors_of
from forecast_attn.plotting.step_errors import step_errors

ALL = PlotRequest()


def test_errors_by_step_are_means_of_absolute_errors(make_backtest, make_file):
    table = make_backtest(items=("a", "b"), horizon=5)
    table.loc[(table["step"] == 3) & (table["item_id"] == "a"), "target"] = np.nan
    errors = step_errors(read_forecasts(make_file(table)))
    assert errors.steps.tolist() == [1, 2, 3, 4, 5]
    for model in errors.models:
        expected = {step: [] for step in range(1, 6)}
        for row in table[table["model"] == model.name].itertuples():
            if row.target == row.target:
                expected[row.step].append(abs(row.prediction - row.target))
        np.testing.assert_allclose(model.mae, [np.mean(expected[step]) for step in range(1, 6)], rtol=1e-12)
        assert model.rows.tolist() == [6, 6, 3, 6, 6]
        assert model.overall == pytest.approx(np.mean(np.concatenate(list(expected.values()))))
    assert (errors.num_items, errors.num_cutoffs) == (2, 3)
    document = json.loads(json.dumps(errors.to_dict(), allow_nan=False))
    assert [model["mae"] for model in document["models"]] == [model.mae.tolist() for model in errors.models]


def test_a_step_that_a_model_lacks_is_a_gap(make_backtest, make_file):
    table = make_backtest(horizon=3)
    errors = step_errors(read_forecasts(make_file(table[(table["model"] == "net") | (table["step"] != 2)])))
    assert np.isnan(errors.models[1].mae).tolist() == [False, True, False]
    assert errors.to_dict()["models"][1]["mae"][1] is None


def test_a_model_far_off_is_told_unless_it_is_named(make_backtest, make_file):
    table = make_backtest(models=("net", "naive", "wild"), horizon=3)
    table.loc[table["model"] == "wild", "prediction"] += 1000
    source = find_source(make_file(table))
    errors = step_errors_of(source, ALL)
    assert [model.name for model in errors.models] == ["net", "naive"]
    assert any("wild" in note and "--model" in note for note in errors.notes)
    named = step_errors_of(source, PlotRequest(model=("net", "wild")))
    assert [model.name for model in named.models] == ["net", "wild"]
    assert not named.notes


def test_a_table_of_some_of_the_steps_says_of_how_many(make_backtest, make_file):
    errors = step_errors_of(find_source(make_file(make_backtest())), ALL)
    console = Console(width=100, record=True, file=io.StringIO())
    render_errors(errors, console)
    heading = re.search(r"MAE by step \((\d+) of 24\)((?: +\d+)+) +all", console.export_text())
    assert heading is not None
    assert len(heading[2].split()) == int(heading[1]) < 24


def test_the_share_below_a_quantile_is_counted(make_backtest, make_file):
    table = make_backtest(items=("a", "b"))
    table.loc[table.index[:7], "target"] = np.nan
    counted = reliability(read_forecasts(make_file(table)))
    (model,) = counted.models  # the other has no quantiles
    net = table[table["model"] == "net"]
    known = [row for row in net.itertuples(index=False) if row.target == row.target]
    for at, quantile in enumerate(model.quantiles):
        column = net.columns.get_loc(f"{quantile:g}")
        assert model.observed[at] == sum(row.target <= row[column] for row in known) / len(known)
        assert model.counts[at] == len(known) == 2 * 3 * 24 - 7
    document = json.loads(json.dumps(counted.to_dict(), allow_nan=False))
    assert document["models"][0]["observed"] == model.observed.tolist()


@pytest.mark.slow
@given(st.floats(0.001, 0.999), st.integers(1, 2000))
def test_the_band_holds_what_chance_gives_and_no_more(quantile, count):
    (low,), (high,) = band(np.array([quantile]), np.array([count]))
    below, above = binom(count, quantile).cdf(round(low * count) - 1), binom(count, quantile).sf(round(high * count))
    assert below <= 0.025 + 1e-9
    assert above <= 0.025 + 1e-9
    # One value fewer at either end would be too few.
    assert binom(count, quantile).cdf(round(low * count)) >= 0.025 - 1e-9
    assert binom(count, quantile).sf(round(high * count) - 1) >= 0.025 - 1e-9


def test_calibrated_quantiles_lie_in_the_band_and_others_are_named():
    values = (np.arange(4000) + 0.5) / 4000
    rows = pd.DataFrame({"item_id": "a", "cutoff": 0, "timestamp": range(1, 4001), "step": range(1, 4001)})
    rows = rows.assign(target=values, prediction=0.5, **{"0.1": 0.1, "0.5": 0.5, "0.9": 0.95})
    (model,) = reliability(Forecasts(rows.assign(model="net"), Zone(), "table")).models
    assert model.outside.tolist() == [False, False, True]
    assert model.observed[2] > model.high[2]


def test_without_quantiles_the_way_to_quantiles_is_said(make_backtest, make_file):
    with pytest.raises(DataError, match="has no quantiles") as caught:
        reliability_of(find_source(make_file(make_backtest(quantiles=()))), ALL)
    assert "--quantiles 0.1,0.5,0.9" in caught.value.hint


def test_without_targets_there_is_nothing_to_score(make_backtest, make_file):
    path = make_file(make_backtest(models=("net",)).drop(columns="target"), "predictions.csv")
    with pytest.raises(DataError, match="has no actual values") as caught:
        scored_forecasts(find_source(path), ALL)
    assert "forecast backtest" in caught.value.hint
