"""`forecast backtest DATA`: a run is trained on the rows before the first stamp that is forecast, and on no others."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.runs.run_dir import RunDir

from ..forks import Conditions, Strike, run_forked

pytestmark = pytest.mark.slow

FLAGS = ("--start", "2024-04-01", "--stride", "5D", "--baselines", "seasonal-naive,linear", "--id", "shop",
         "--future", "promotion", "--lookback", 14, "--horizon", 3, "--hidden-size", 4, "--max-epochs", 1,
         "--epoch-windows", 32, "--seed", 3, "--accelerator", "cpu", "--combination", "none")  # fmt: skip


def trained(forecast: Callable, table: pd.DataFrame, name: str) -> pd.DataFrame:
    table.to_csv("sales.csv", index=False)
    done = forecast("backtest", "sales.csv", *FLAGS, "--out-run", name, "--out", f"{name}.parquet", "--name", "ours")
    assert done.code == 0, done.err
    return pd.read_parquet(f"{name}.parquet")


def test_nothing_from_the_first_stamp_on_is_trained_on(forecast: Callable, here: Path, sales: pd.DataFrame) -> None:
    before = trained(forecast, sales, "before")
    late = sales["day"] >= "2024-04-01"
    changed = sales.assign(sales=sales["sales"].where(~late, 90.0))
    changed = pd.concat([changed, changed[late][:19].assign(shop="west")])  # a series of which training knows nothing
    after = trained(forecast, changed, "after")
    first = before["cutoff"].min()
    assert first == pd.Timestamp("2024-03-31")
    forecasts = ["item_id", "cutoff", "timestamp", "model", "prediction"]
    pd.testing.assert_frame_equal(
        after.loc[after["cutoff"] == first, forecasts].reset_index(drop=True),
        before.loc[before["cutoff"] == first, forecasts].reset_index(drop=True),
        check_exact=True,
    )
    for file in ("model.safetensors", "schema.json", "metrics.json", "tail.parquet"):
        assert Path("before", file).read_bytes() == Path("after", file).read_bytes()
    assert not np.isclose(after.loc[after["cutoff"] > first, "prediction"].max(), before["prediction"].max())
    assert json.loads(Path("after.json").read_text())["unseen_series"] == ["west"]
    assert json.loads(Path("before.json").read_text())["inside_training"] == 0


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_the_last_step_before_the_first_cutoff_has_all_its_rows(how: str, forecast: Callable, here: Path) -> None:
    """Those of a day are read up to midnight, and not only the first of them."""
    hours = pd.date_range("2024-01-01", periods=24 * 100, freq="h")
    table = pd.DataFrame({"time": hours, "y": np.random.default_rng(0).integers(1, 9, len(hours)).astype(float)})
    table.to_csv("hours.csv", index=False)
    words = ("--resample", "D", "--aggregate", how, "--start", "2024-04-01", "--baselines", "none", *FLAGS[10:])
    done = forecast("backtest", "hours.csv", *words, "--out-run", "run", "--out", "days.parquet")
    assert done.code == 0, done.err
    tail = pd.read_parquet("run/tail.parquet").set_index("time")["y"]
    expected = table[table["time"] < "2024-04-01"].resample("D", on="time")["y"].agg(how)
    assert tail.index[-1] == pd.Timestamp("2024-03-31")
    np.testing.assert_allclose(tail.to_numpy(), expected.loc[tail.index[0] :].to_numpy())


def test_the_run_is_one_of_the_rows_up_to_the_first_cutoff(forecast: Callable, here: Path, sales: pd.DataFrame) -> None:
    metrics = trained(forecast, sales, "run")
    recorded = RunDir("run").read_json(RunDir("run").config)["data"]
    assert recorded["file"] == "sales.csv up to 2024-03-31"
    assert recorded["sha256"] is None
    refused = forecast("backtest", "run")
    assert "was not trained on a file" in refused.error
    assert "--data FILE" in refused.hint
    again = forecast("backtest", "run", "--data", "sales.csv", "--start", "2024-04-01", "--stride", "5D", "--name",
                     "ours", "--baselines", "seasonal-naive,linear", "--out", "again.parquet", "--quiet")  # fmt: skip
    assert again.code == 0, again.err
    assert Path("again.parquet").read_bytes() == Path("run.parquet").read_bytes()
    assert metrics["model"].unique().tolist() == ["ours", "seasonal-naive", "linear"]


def test_a_dry_run_shows_the_same_folds_and_trains_nothing(forecast: Callable, here: Path, sales: pd.DataFrame) -> None:
    sales.to_csv("sales.csv", index=False)
    dry = forecast("backtest", "sales.csv", *FLAGS, "--dry-run", "--json", "--refit", "every")
    assert dry.code == 0, dry.err
    assert [path.name for path in here.iterdir()] == ["sales.csv"]
    folds = json.loads(dry.out)["folds"]
    assert [fold["cutoff"] for fold in folds] == ["2024-03-31", "2024-04-05", "2024-04-10", "2024-04-15"]
    assert [fold["series"] for fold in folds] == [2, 2, 2, 1]
    assert [fold["model"] for fold in folds] == [1, 2, 3, 4]


def test_too_few_rows_before_the_start_are_refused(forecast: Callable, here: Path, sales: pd.DataFrame) -> None:
    sales.to_csv("sales.csv", index=False)
    words = [word if word != "2024-04-01" else "2024-01-10" for word in FLAGS]
    refused = forecast("backtest", "sales.csv", *words)
    assert refused.code == 1
    assert "the longest series has 9 rows" in refused.error
    assert [path.name for path in here.iterdir()] == ["sales.csv"]


def test_told_to_end_in_training_and_in_a_refit_the_same_command_goes_on(
    forecast: Callable, here: Path, sales: pd.DataFrame
) -> None:
    """The run was begun with the rows before the first cut-off: no other command may train it on."""
    sales.to_csv("sales.csv", index=False)
    refits = ("--max-epochs", 3, "--refit", 2, "--refit-epochs", 1, "--name", "ours", "--quiet")
    words = ("backtest", "sales.csv", *FLAGS, *refits)
    assert forecast(*words, "--out-run", "whole").code == 0
    for epoch in (2, 3):  # of the training, whose first three epochs are followed by those of the refits
        moment = Strike("forecast_attn.training.callbacks:Recorder", "_write_weights", epoch, "after", "SIGTERM")
        done = run_forked((*words, "--out-run", "run"), Conditions(moment))
        assert done.returncode == 1
        assert done.stderr == (
            "error: training was terminated (SIGTERM)\nhint: what is finished is kept; go on with the same command\n"
        )
        resumed = forecast("train", "sales.csv", "--resume", "run")
        refusal = (
            "'run' is finished: there is nothing to resume"
            if epoch == 3
            else "'run' was begun with other rows than these"
        )
        assert resumed.error == refusal
    other = forecast(*words, "--hidden-size", 5, "--out-run", "run")
    assert other.error == "'run' holds a run of other options or rows"
    again = forecast(*words, "--out-run", "run")
    assert again.code == 0, again.err
    for name in ("backtest.parquet", "model.safetensors", "metrics.json"):
        assert Path("run", name).read_bytes() == Path("whole", name).read_bytes(), name


def test_without_a_name_the_run_is_named_after_ctrl_c(here: Path, sales: pd.DataFrame) -> None:
    sales.to_csv("sales.csv", index=False)
    moment = Strike("forecast_attn.training.callbacks:Recorder", "_write_checkpoint", 1, "before", "SIGINT")
    done = run_forked(("backtest", "sales.csv", *FLAGS, "--max-epochs", 3), Conditions(moment))
    assert done.returncode == 130
    run = next(Path("runs").iterdir())
    assert done.stderr.endswith(f"go on with the same command and --out-run {run}\n")
