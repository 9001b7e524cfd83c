"""What is to be drawn: the right rows, the right history, the right neighbours."""

import json

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.requests import PlotRequest
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.plotting.forecasts import read_forecasts
from forecast_attn.plotting.scene import MOST_VIEWS, build_scene
from forecast_attn.plotting.series_values import SeriesValues
from forecast_attn.plotting.sources import find_source, forecast_scene


def scene_of(path, data=None, **given):
    return forecast_scene(find_source(path, data), PlotRequest(**given))


def test_a_lone_table_gives_forecast_actual_and_history(make_backtest, make_file):
    table = make_backtest()
    scene = scene_of(make_file(table), model=("net", "naive"))
    (view,) = scene.views
    rows = table[table["cutoff"] == table["cutoff"].max()].set_index("step")
    net, naive = rows[rows["model"] == "net"], rows[rows["model"] == "naive"]
    assert (view.item_id, view.cutoff) == ("city", np.datetime64("2024-03-30T23:00"))
    assert view.stamps.tolist() == net["timestamp"].to_numpy("datetime64[ns]").tolist()
    np.testing.assert_array_equal(view.actual, net["target"])
    first, second = view.models
    np.testing.assert_array_equal(first.prediction, net["prediction"])
    np.testing.assert_array_equal(second.prediction, naive["prediction"])
    assert {quantile: line.tolist() for quantile, line in first.quantiles.items()} == {
        quantile: net[f"{quantile:g}"].tolist() for quantile in (0.05, 0.25, 0.5, 0.75, 0.95)
    }
    assert second.quantiles == {}
    assert [(pair.lower, pair.upper) for pair in first.intervals] == [(0.05, 0.95), (0.25, 0.75)]
    assert first.lone_quantiles == []  # the median is the forecast itself
    before = table[(table["model"] == "net") & (table["timestamp"] <= view.cutoff)]
    np.testing.assert_array_equal(view.history, before["target"])  # two days of other cut-offs


def test_a_cutoff_in_the_past_sees_no_later_history(make_backtest, make_file):
    scene = scene_of(make_file(make_backtest()), cutoff="2024-03-29 23:00", history=30)
    (view,) = scene.views
    assert view.history_stamps.max() == view.cutoff == np.datetime64("2024-03-29T23:00")
    assert len(view.history) == 24  # there is no more before the first cut-off
    assert np.isfinite(view.actual).all()


def test_without_a_choice_the_first_model_is_drawn_and_the_others_told(make_backtest, make_file):
    scene = scene_of(make_file(make_backtest()))
    assert [model.name for model in scene.views[0].models] == ["net"]
    assert any("--model NAME" in note and "naive" in note for note in scene.notes)


@pytest.mark.slow
def test_of_many_series_twelve_are_drawn(make_backtest, make_file):
    items = tuple(f"s{number:02}" for number in range(15))
    scene = scene_of(make_file(make_backtest(items=items, horizon=3)))
    assert [view.item_id for view in scene.views] == list(items[:MOST_VIEWS])
    assert any("12 of 15 series" in note and "--item" in note for note in scene.notes)
    assert scene.num_items == 15
    chosen = scene_of(make_file(make_backtest(items=items, horizon=3)), item=("s14", "s03"))
    assert {view.item_id for view in chosen.views} == {"s03", "s14"}


def test_series_may_end_at_different_times(make_backtest, make_file):
    early = make_backtest(items=("a",), cutoffs=("2024-01-03", "2024-01-05"), horizon=4, freq="D")
    late = make_backtest(items=("b",), cutoffs=("2024-01-08",), horizon=4, freq="D")
    scene = scene_of(make_file(pd.concat([early, late])))
    assert [str(view.cutoff)[:10] for view in scene.views] == ["2024-01-05", "2024-01-08"]
    assert scene.common_cutoff is None


def test_hours_that_no_row_has_are_a_gap(make_backtest, make_file):
    table = make_backtest()
    hole = (table["timestamp"] >= "2024-03-29 05:00") & (table["timestamp"] <= "2024-03-29 07:00")
    (view,) = scene_of(make_file(table[~hole])).views
    at = view.history_stamps.tolist().index(pd.Timestamp("2024-03-29 05:00").value)
    assert np.isnan(view.history[at])
    assert np.isnan(view.history).sum() == 1
    assert str(view.history_stamps[at + 1])[:16] == "2024-03-29T08:00"


def test_days_off_are_no_gap(make_backtest, make_file):
    table = make_backtest(cutoffs=("2024-01-01", "2024-01-08", "2024-01-15"), horizon=5, freq="B")
    (view,) = scene_of(make_file(table)).views
    assert not np.isnan(view.history).any()


def test_the_actual_line_starts_where_the_history_ends(make_backtest, make_file):
    (view,) = scene_of(make_file(make_backtest())).views
    stamps, line = view.joined(view.actual)
    assert (stamps[0], line[0]) == (view.cutoff, view.history[-1])
    (first,) = scene_of(make_file(make_backtest(cutoffs=("2024-03-28 23:00",)))).views
    assert len(first.history) == 0
    assert first.joined(first.actual)[1].tolist() == first.actual.tolist()


def test_quantiles_without_a_partner_are_lines(make_backtest, make_file):
    (view,) = scene_of(make_file(make_backtest(quantiles=(0.1, 0.5, 0.8)))).views
    assert view.models[0].intervals == ()
    assert view.models[0].lone_quantiles == [0.1, 0.8]


def test_the_document_holds_the_drawn_numbers(make_backtest, make_file):
    scene = scene_of(make_file(make_backtest(tz="Europe/Berlin")), history=2)
    document = json.loads(json.dumps(scene.to_dict(), allow_nan=False))
    (view,), (drawn,) = document["views"], scene.views
    assert document["zone"] == "Europe/Berlin"
    assert view["cutoff"] == "2024-03-30 23:00+01:00"
    assert view["timestamp"][:3] == [
        f"2024-03-31 0{hour}:00:00+0{offset}:00" for hour, offset in ((0, 1), (1, 1), (3, 2))
    ]
    assert view["history"]["target"] == drawn.history.tolist()
    assert len(view["history"]["target"]) == 2
    assert view["models"][0]["quantiles"]["0.25"] == drawn.models[0].quantiles[0.25].tolist()


def test_what_is_missing_is_null_in_the_document(make_backtest, make_file):
    table = make_backtest(cutoffs=("2024-01-01 00:00",), horizon=3)
    table.loc[table["step"] == 2, "target"] = np.nan
    document = scene_of(make_file(table)).to_dict()
    assert document["views"][0]["actual"][1] is None
    assert document["views"][0]["actual"][0] is not None


def test_a_short_horizon_has_a_day_of_history(make_backtest, make_file):
    hours = [str(hour) for hour in pd.date_range("2024-03-01", periods=60, freq="h")]
    (view,) = scene_of(make_file(make_backtest(cutoffs=hours, horizon=1))).views
    assert len(view.history) == 24


def test_a_forecast_without_any_history_says_so(make_backtest, make_file):
    path = make_file(make_backtest(cutoffs=("2024-03-28 23:00",)))
    assert any("--data FILE" in note for note in scene_of(path).notes)
    assert not any("--data FILE" in note for note in scene_of(path, history=0).notes)


def test_a_cutoff_that_is_not_there_names_those_that_are(make_backtest, make_file):
    with pytest.raises(DataError, match="no forecast of the cut-off 2020-01-01") as caught:
        scene_of(make_file(make_backtest()), cutoff="2020-01-01")
    assert "from 2024-03-28 23:00 to 2024-03-30 23:00" in caught.value.hint


def test_a_lone_table_has_no_use_for_a_table_of_series(make_backtest, make_file, tmp_path):
    with pytest.raises(ConfigError, match="--data needs a run"):
        scene_of(make_file(make_backtest()), data=tmp_path / "data.csv")


def test_values_after_the_forecast_are_taken_from_the_series(make_backtest, make_file):
    forecasts = read_forecasts(make_file(make_backtest(models=("net",)))).newest()
    forecasts = forecasts.where(forecasts.frame["step"] > 0)
    forecasts.frame["target"] = np.nan
    hours = pd.date_range("2024-03-30 20:00", periods=8, freq="h").to_numpy()
    series = SeriesValues({"city": hours}, {"city": np.arange(8.0)})
    (view,) = build_scene(forecasts, series, history=3).views
    assert view.history.tolist() == [1, 2, 3]
    assert view.actual[:4].tolist() == [4, 5, 6, 7]
    assert np.isnan(view.actual[4:]).all()
