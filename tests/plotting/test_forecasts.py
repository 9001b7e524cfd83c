"""Reading tables of forecasts: what counts as one, and what is said about one that is none."""

import numpy as np
import pandas as pd
import pytest

from forecast_attn.data.zones import Zone
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.plotting.forecasts import read_forecasts

BERLIN = Zone("Europe/Berlin", "utc")


@pytest.mark.parametrize("name", ["table.parquet", "table.csv"])
@pytest.mark.parametrize("tz", [None, "Europe/Berlin"])
def test_a_table_is_read_as_it_was_written(make_backtest, make_file, name, tz):
    table = make_backtest(items=("a", "b"), tz=tz)
    read = read_forecasts(make_file(table, name), zone=BERLIN if tz else None)
    for column in ("item_id", "step", "model"):
        assert read.frame[column].tolist() == table[column].tolist()
    for column in ("target", "prediction", "0.05", "0.5"):
        np.testing.assert_allclose(read.frame[column], table[column], rtol=1e-15)
    for column in ("cutoff", "timestamp"):
        expected = table[column] if tz is None else table[column].dt.tz_convert("UTC").dt.tz_localize(None)
        assert (read.frame[column].to_numpy() == expected.to_numpy()).all()
    assert read.zone == (BERLIN if tz else Zone())
    assert read.quantiles == {"0.05": 0.05, "0.25": 0.25, "0.5": 0.5, "0.75": 0.75, "0.95": 0.95}
    assert read.models == ["net", "naive"]
    assert read.item_ids == ["a", "b"]


def test_a_parquet_file_says_its_zone_and_a_csv_its_one_offset(make_backtest, make_file):
    assert read_forecasts(make_file(make_backtest(tz="Europe/Berlin"))).zone == BERLIN
    winter = make_backtest(cutoffs=("2024-01-03 23:00",), tz="Europe/Berlin")
    assert read_forecasts(make_file(winter, "winter.csv")).zone == Zone("+01:00", "utc")
    both = make_backtest(tz="Europe/Berlin")
    assert read_forecasts(make_file(both, "both.csv")).zone == Zone("UTC", "utc")


def test_whole_numbers_may_be_the_time(make_backtest, make_file):
    table = make_backtest(horizon=3)
    table["cutoff"], table["timestamp"] = 10, 10 + table["step"]
    table = table.drop_duplicates(["model", "step"])
    read = read_forecasts(make_file(table, "steps.csv"))
    assert read.frame["timestamp"].tolist() == [11, 12, 13, 11, 12, 13]
    assert len(read.at_cutoff("10").frame) == 6
    with pytest.raises(ConfigError, match="whole number"):
        read.at_cutoff("2024-01-01")


def test_identifiers_are_spelled_as_in_the_table_of_the_training(make_backtest):
    assert read_forecasts(make_backtest(items=(1.0, 2.0))).item_ids == ["1", "2"]


def test_a_table_without_a_model_has_one(make_backtest, make_file):
    table = make_backtest(models=("net",)).drop(columns=["model", "target"])
    read = read_forecasts(make_file(table, "predictions.csv"))
    assert read.models == ["forecast"]
    assert read.frame["target"].isna().all()


def test_parts_are_chosen(make_backtest, make_file):
    read = read_forecasts(make_file(make_backtest(items=("a", "b"), tz="Europe/Berlin")))
    assert read.of_items(["b"]).item_ids == ["b"]
    assert read.of_items([]).item_ids == ["a", "b"]
    assert read.of_models(["naive"]).models == ["naive"]
    newest = read.newest().frame["cutoff"].unique()
    assert pd.DatetimeIndex(newest) == pd.DatetimeIndex(["2024-03-30 22:00"])
    assert len(read.at_cutoff("2024-03-29 23:00").frame) == 2 * 2 * 24
    assert not len(read.at_cutoff("2024-03-29 22:00").frame)
    assert "3, from 2024-03-28 23:00+01:00 to 2024-03-30 23:00+01:00" in read.cutoff_hint()
    with pytest.raises(DataError, match="no forecast of series 'c'"):
        read.of_items(["c"])
    with pytest.raises(DataError, match="no model 'nave'") as caught:
        read.of_models(["nave"])
    assert caught.value.hint == "did you mean 'naive'?"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns="cutoff"), "not a table of forecasts: it has no column 'cutoff'"),
        (lambda table: table.drop(columns=["step", "prediction"]), "'step', 'prediction'"),
        (
            lambda table: table.assign(prediction=["x", *table["prediction"].astype(str)[1:]]),
            "row 1: expected a number",
        ),
        (
            lambda table: table.assign(timestamp=["never", *table["timestamp"].astype(str)[1:]]),
            "row 1: expected a time",
        ),
        (lambda table: table.assign(step=0), "column 'step', row 1: expected a whole number from 1, got '0'"),
        (lambda table: table.assign(step=1.5), "expected a whole number from 1"),
        (lambda table: table.assign(step=np.inf), "expected a whole number from 1, got 'inf'"),
        (lambda table: table.assign(item_id=None), "column 'item_id', row 1: expected a name, got an empty cell"),
        (
            lambda table: table.assign(model=table["model"].where(table.index > 0)),
            "column 'model', row 1: expected a name, got an empty cell",
        ),
        (lambda table: pd.concat([table, table.head(1)]), "step 1 of series 'city' comes twice for one cut-off"),
        (lambda table: table.head(0), "no rows"),
    ],
    ids=[
        "cutoff",
        "two-columns",
        "prediction",
        "timestamp",
        "step-zero",
        "step-half",
        "step-infinite",
        "item",
        "model",
        "repeat",
        "empty",
    ],
)
def test_what_is_wrong_is_said(make_backtest, make_file, change, message):
    path = make_file(change(make_backtest()), "table.csv")
    with pytest.raises(DataError) as caught:
        read_forecasts(path)
    assert message in caught.value.message
    assert caught.value.hint
