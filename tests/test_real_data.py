"""The real electricity and transformer tables, unedited: train two epochs, predict with known futures, inspect."""

import json
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.slow

TABLES = {
    "NP": ("Grid load forecast", "Wind power forecast"),
    "PJM": ("System load forecast", "Zonal COMED load foecast"),
    "FR": ("Generation forecast", "System load forecast"),
    "ETTh1": (),
}
"""Table -> the columns that are known for the coming day."""

LIGHT = (
    *("--target", "OT", "--max-epochs", "2", "--epoch-windows", "256", "--validation-windows", "64"),
    *("--hidden-size", "16", "--seed", "1", "--accelerator", "cpu", "--quiet"),
)


@pytest.mark.parametrize("name", TABLES)
def test_train_predict_inspect(forecast, real_data, here, name):
    path = real_data / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no {name}.csv in {real_data}")
    future = TABLES[name]
    flags = [flag for column in future for flag in ("--future", column)]
    trained = forecast("train", path, *LIGHT, *flags, "--out", "run", "--json")
    assert trained.code == 0, trained.err
    assert json.loads(trained.out)["validation"]["windows"] == 64
    schema = json.loads(Path("run/schema.json").read_text())
    assert (schema["lookback"], schema["horizon"], schema["frequency"]["alias"]) == (168, 24, "h")
    assert schema["roles"]["future_covariates"] == sorted(future)

    with_future = ["--future", day_ahead(pd.read_csv(path, skipinitialspace=True), future)] if future else []
    predicted = forecast("predict", "run", *with_future, "--quiet")
    assert predicted.code == 0, predicted.err
    predictions = pd.read_csv("run/predictions.csv", parse_dates=["cutoff", "timestamp"])
    assert list(predictions["step"]) == list(range(1, 25))
    assert (predictions["timestamp"] - predictions["cutoff"] == pd.to_timedelta(predictions["step"], unit="h")).all()
    assert predictions["prediction"].notna().all()

    inspected = forecast("inspect", "run", "--json")
    assert inspected.code == 0
    json.loads(inspected.out)
    assert forecast("inspect", "run").code == 0


def day_ahead(table: pd.DataFrame, columns: tuple[str, ...]) -> str:
    """A file of the day after the table, in its own way of writing dates, with the last day's values."""
    day = table[-24:]
    stamps = pd.to_datetime(day["date"]) + pd.Timedelta(days=1)
    day.assign(date=stamps.dt.strftime("%Y/%m/%d %H:%M"))[["date", *columns]].to_csv("future.csv", index=False)
    return "future.csv"


@pytest.mark.parametrize("name", TABLES)
def test_check(forecast, real_data, here, name):
    outcome = forecast("check", real_data / f"{name}.csv", "--target", "OT", "--json")
    assert outcome.code == 0, outcome.out
    assert json.loads(outcome.out)["frequency"]["alias"] == "h"
