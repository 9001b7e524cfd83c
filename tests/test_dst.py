"""A year of hours on the clocks of Berlin and New York: forecasts across both changes have the right stamps."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.attention_file import read_attention
from forecast_attn.errors import ConfigError, DataError

pytestmark = pytest.mark.slow

HORIZON = 24
OPTIONS = ("--future", "temperature", "--lookback", "24", "--horizon", str(HORIZON), "--hidden-size", "4")
OPTIONS += ("--max-epochs", "1", "--epoch-windows", "32", "--validation-windows", "16", "--seed", "7")


class ZonedRun(NamedTuple):
    """A year of a place: its clock, its table, and a run trained on it."""

    tz: str
    hours: pd.DatetimeIndex
    """With the zone, an hour of elapsed time apart."""
    table: pd.DataFrame
    """The same hours as people write them, without any offset."""
    run: Path


@pytest.fixture(scope="module", params=["Europe/Berlin", "America/New_York"])
def zoned_run(request: pytest.FixtureRequest, forecast: Callable, tmp_path_factory: pytest.TempPathFactory) -> ZonedRun:
    tz, folder = request.param, tmp_path_factory.mktemp("year")
    hours = pd.date_range("2024-01-01", "2024-12-31 23:00", freq="h", tz=tz)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "time": hours.strftime("%d.%m.%Y %H:%M"),
            "load": (10 + np.sin(2 * np.pi * hours.hour / 24) + rng.normal(scale=0.1, size=len(hours))).round(3),
            "temperature": rng.normal(size=len(hours)).round(2),
        }
    )
    table.to_csv(folder / "year.csv", index=False)
    outcome = forecast("train", folder / "year.csv", "--tz", tz, *OPTIONS, "--out", folder / "run", "--quiet")
    assert outcome.code == 0, outcome.err
    return ZonedRun(tz, hours, table, folder / "run")


CHANGES = {  # the last hour known, half a day before the change
    ("Europe/Berlin", "spring"): ("2024-03-30 14:00", "2024-03-31 03:00:00+02:00", "2024-03-31 01:00:00+01:00"),
    ("Europe/Berlin", "autumn"): ("2024-10-26 14:00", "2024-10-27 02:00:00+01:00", "2024-10-27 02:00:00+02:00"),
    ("America/New_York", "spring"): ("2024-03-09 14:00", "2024-03-10 03:00:00-04:00", "2024-03-10 01:00:00-05:00"),
    ("America/New_York", "autumn"): ("2024-11-02 14:00", "2024-11-03 01:00:00-05:00", "2024-11-03 01:00:00-04:00"),
}


def cut_at(zoned_run: ZonedRun, season: str) -> int:
    """The row of the last known hour."""
    return int(np.flatnonzero(zoned_run.hours == pd.Timestamp(CHANGES[zoned_run.tz, season][0], tz=zoned_run.tz))[0])


def predict(zoned_run: ZonedRun, folder: Path, season: str, stamps: pd.Series, forecast: Callable) -> pd.DataFrame:
    """Forecast from the history up to the cut-off, with the future covariates under the stamps given."""
    cut = cut_at(zoned_run, season)
    zoned_run.table.iloc[: cut + 1].to_csv(folder / "history.csv", index=False)
    ahead = zoned_run.table.iloc[cut + 1 : cut + 1 + HORIZON].drop(columns="load").assign(time=stamps)
    ahead.to_csv(folder / "ahead.csv", index=False)
    out = folder / "forecast.csv"
    words = ("--data", folder / "history.csv", "--future", folder / "ahead.csv", "--out", out)
    outcome = forecast("predict", zoned_run.run, *words, "--attention-out", folder / "attention.parquet", "--quiet")
    assert outcome.code == 0, outcome.err
    return pd.read_csv(out)


@pytest.mark.parametrize("season", ["spring", "autumn"])
def test_a_forecast_across_a_change(zoned_run: ZonedRun, season: str, here: Path, forecast: Callable) -> None:
    cut = cut_at(zoned_run, season)
    ahead = slice(cut + 1, cut + 1 + HORIZON)
    predictions = predict(zoned_run, here, season, zoned_run.table["time"].iloc[ahead], forecast)
    assert predictions["timestamp"].tolist() == [str(hour) for hour in zoned_run.hours[ahead]]
    assert predictions["cutoff"].unique().tolist() == [str(zoned_run.hours[cut])]
    _, after, before = CHANGES[zoned_run.tz, season]
    texts = predictions["timestamp"].tolist()
    assert texts.index(after) == texts.index(before) + 1

    dump = read_attention(here / "attention.parquet")
    assert dump.zone.name == zoned_run.tz
    lookback = dump.zone.text(dump.lookback_timestamps(0))
    assert lookback.tolist() == [str(hour) for hour in zoned_run.hours[cut - 23 : cut + 1]]
    assert dump.zone.text(dump.timestamps[0]).tolist() == texts


@pytest.mark.parametrize("season", ["spring", "autumn"])
def test_the_future_may_be_written_in_any_way(zoned_run: ZonedRun, season: str, here: Path, forecast: Callable) -> None:
    hours = zoned_run.hours[cut_at(zoned_run, season) + 1 :][:HORIZON]
    naive = predict(zoned_run, here, season, hours.strftime("%Y-%m-%d %H:%M"), forecast)
    zoned = predict(zoned_run, here, season, [hour.isoformat() for hour in hours], forecast)
    utc = predict(zoned_run, here, season, hours.tz_convert("UTC").strftime("%Y-%m-%dT%H:%MZ"), forecast)
    pd.testing.assert_frame_equal(naive, zoned)
    pd.testing.assert_frame_equal(naive, utc)


def test_times_of_the_run_are_the_users(zoned_run: ZonedRun, here: Path, forecast: Callable) -> None:
    metrics = json.loads((zoned_run.run / "metrics.json").read_text())
    schema = json.loads((zoned_run.run / "schema.json").read_text())
    assert schema["zone"] == {"name": zoned_run.tz, "axis": "utc"}
    after = pd.Timestamp(metrics["validation"]["after"])
    assert after.utcoffset() == pd.Timestamp(after.tz_convert(zoned_run.tz)).utcoffset()
    tail = pd.read_parquet(zoned_run.run / "tail.parquet")
    assert str(tail["time"].dt.tz) == zoned_run.tz
    assert tail["time"].iloc[-1] == zoned_run.hours[-1]


def test_the_weights_of_one_of_two_equal_hours(zoned_run: ZonedRun, here: Path, forecast: Callable) -> None:
    """Cut off in the repeated hour: the offset tells which."""
    _, after, before = CHANGES[zoned_run.tz, "autumn"]
    first = int(np.flatnonzero(zoned_run.hours == pd.Timestamp(before))[0])
    forecaster = Forecaster.load(zoned_run.run)
    history = zoned_run.table.iloc[: first + 2].assign(time=zoned_run.hours[: first + 2])
    ahead = zoned_run.table.iloc[first + 2 :][:HORIZON].assign(time=zoned_run.hours[first + 2 :][:HORIZON])
    result = forecaster.predict(history, future=ahead.drop(columns="load"), out=here / "out.csv")
    assert str(result.predictions["cutoff"].dt.tz) == zoned_run.tz
    assert (result.predictions["cutoff"] == pd.Timestamp(after)).all()
    np.testing.assert_array_equal(result.predictions["timestamp"], zoned_run.hours[first + 2 :][:HORIZON])
    attention = result.attention
    assert attention.select(cutoff=after).num_windows == 1
    with pytest.raises(DataError, match="has no cut-off"):
        attention.select(cutoff=before)
    with pytest.raises(ConfigError, match="comes twice") as error:
        attention.select(cutoff=after[:16])
    assert after[:16] in str(error.value.hint)
    with pytest.raises(ConfigError, match=r"must be a time stamp .*; got '9999-01-01'"):
        attention.select(cutoff="9999-01-01")
    attention.export_csv(here / "weights.csv")
    exported = pd.read_csv(here / "weights.csv")
    assert set(exported["cutoff"]) == {after}
    assert before in set(exported["lookback_timestamp"])
