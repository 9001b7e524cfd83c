"""Killed at any moment, a run is complete or known to be unfinished, older files are intact, and resuming continues it.

Processes kill themselves at a given call, so that the moment does not depend on how fast the machine is.
"""

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .forks import Conditions, Ended, Strike, run_forked

pytestmark = pytest.mark.slow

EPOCHS = 8
STRETCHED = (
    *("--lookback", "14", "--horizon", "3", "--hidden-size", "4", "--epoch-windows", "32", "--batch-size", "8"),
    *("--max-epochs", str(EPOCHS), "--patience", str(EPOCHS), "--seed", "7", "--accelerator", "cpu"),
    *("--decoding", "autoregressive", "--dropout", "0.3"),
)
"""Long enough to be interrupted, with all that is random: order, dropout and teacher forcing."""


@pytest.fixture(scope="module")
def table(make_table, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("resume") / "data.csv"
    make_table().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def uninterrupted(forecast, table) -> Path:
    run = table.parent / "uninterrupted"
    assert forecast("train", table, *STRETCHED, "--out", run, "--quiet").code == 0
    return run


RECORDER = "forecast_attn.training.callbacks:Recorder"
TRAIN = "forecast_attn.training.train"


@pytest.fixture
def strike(here) -> Callable[..., Ended]:
    """`strike((owner, function, call, when), words)`: run a command that is killed at that moment."""
    return lambda moment, *words, kind="SIGKILL": run_forked(words, Conditions(Strike(*moment, kind)))


def weights_of(run: Path) -> bytes:
    return (run / "model.safetensors").read_bytes()


def without_times(history: Path) -> list[str]:
    """The columns that are functions of seed and table: epoch, both losses, learning rate."""
    return [",".join(line.split(",")[:4]) for line in history.read_text().splitlines()]


MOMENTS = {
    "the directory was made": (TRAIN, "_write_start", 1, "before"),
    "the schema was written": (TRAIN, "write_tail", 1, "before"),
    "the first weights were written": (RECORDER, "_write_weights", 1, "after"),
    "the first checkpoint was written": (RECORDER, "_write_checkpoint", 1, "after"),
    "an epoch's weights were newer than its checkpoint": (RECORDER, "_write_checkpoint", 5, "before"),
    "a checkpoint was written but not yet in its place": ("pytorch_lightning:Trainer", "save_checkpoint", 5, "after"),
    "all epochs were done": (TRAIN, "finish", 1, "before"),
    "the scores were computed": ("forecast_attn.training.validation", "_write_attention", 1, "before"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_training_resumes_to_the_bytes_of_an_uninterrupted_one(
    moment, strike, forecast, table, uninterrupted, here
):
    run = here / "run"
    done = strike(MOMENTS[moment], "train", table, *STRETCHED, "--out", "run")
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (run / "metrics.json").exists()

    for command in ("predict", "inspect"):
        refused = forecast(command, "run")
        assert refused.code == 1
        if (run / "config.json").exists():
            assert refused.error.startswith("'run' is an unfinished run: missing ")
            assert refused.hint == "continue it with: forecast train --resume run"
        else:
            assert refused.error == "'run' is not a run: it has no config.json"
    if not (run / "config.json").exists():  # killed before it was a run: nothing was trained, nothing is lost
        refused = forecast("train", "--resume", "run")
        assert refused.error == "'run' was killed before its training began: there is nothing to resume"
        assert refused.hint == "begin again: forecast train DATA --out run"
        assert forecast("train", table, *STRETCHED, "--out", "run", "--quiet").code == 0
        assert weights_of(run) == weights_of(uninterrupted)
        assert {path.name for path in run.iterdir()} == {path.name for path in uninterrupted.iterdir()}
        return
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(run) == weights_of(uninterrupted)
    assert without_times(run / "history.csv") == without_times(uninterrupted / "history.csv")
    assert {path.name for path in run.iterdir()} == {path.name for path in uninterrupted.iterdir()}
    assert forecast("predict", "run").code == 0


def test_a_training_killed_twice(strike, forecast, table, uninterrupted, here):
    for call, words in ((3, ("train", table, *STRETCHED, "--out", "run")), (4, ("train", "--resume", "run"))):
        assert strike((RECORDER, "_write_checkpoint", call, "after"), *words).returncode == -signal.SIGKILL
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(here / "run") == weights_of(uninterrupted)


def test_closed_days_of_one_year_are_no_gaps_when_a_training_goes_on(strike, forecast, write, here):
    opened = pd.bdate_range("2023-01-02", periods=300).delete([30, 71, 100, 133, 180, 220, 250])
    market = write(pd.DataFrame({"date": opened, "close": 50 + np.sin(np.arange(len(opened)) / 3)}), "market.csv")
    assert forecast("train", market, *STRETCHED, "--out", "whole", "--quiet").code == 0
    assert (
        strike((RECORDER, "_write_checkpoint", 2, "after"), "train", market, *STRETCHED, "--out", "run").returncode < 0
    )
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(here / "run") == weights_of(here / "whole")
    assert (here / "run" / "schema.json").read_bytes() == (here / "whole" / "schema.json").read_bytes()


def test_a_training_that_had_lost_patience_does_not_go_on(strike, forecast, table, here):
    words = ("train", table, *STRETCHED, "--patience", "1", "--learning-rate", "0.2", "--max-epochs", "50")
    assert forecast(*words, "--out", "whole", "--quiet").code == 0
    assert json.loads(Path("whole/metrics.json").read_text())["ended"] == "patience"
    assert strike((TRAIN, "finish", 1, "before"), *words, "--out", "run").returncode == -signal.SIGKILL
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    for name in ("model.safetensors", "metrics.json"):
        assert Path("run", name).read_bytes() == Path("whole", name).read_bytes()
    assert without_times(Path("run/history.csv")) == without_times(Path("whole/history.csv"))


def test_averaged_weights_and_a_cosine_go_on_where_they_were(strike, forecast, table, here):
    words = ("train", table, *STRETCHED, "--weight-averaging", "ema", "--schedule", "cosine")
    assert forecast(*words, "--out", "whole", "--quiet").code == 0
    assert strike((RECORDER, "_write_checkpoint", 6, "before"), *words, "--out", "run").returncode == -signal.SIGKILL
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(here / "run") == weights_of(here / "whole")
    assert without_times(here / "run" / "history.csv") == without_times(here / "whole" / "history.csv")


def test_ctrl_c_keeps_the_best_weights_and_resume_continues(strike, forecast, table, uninterrupted, here):
    run = here / "run"
    step = (RECORDER, "on_train_batch_end", 14, "before")  # within the fourth epoch
    done = strike(step, "train", table, *STRETCHED, "--out", "run", kind="SIGINT")
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert "training ended: interrupted" in done.stderr
    assert "hint: continue with: forecast train --resume run" in done.stderr
    assert "seasonal-naive" in done.stdout  # the table of a finished training, for the weights there are
    assert forecast("predict", "run").code == 0
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(run) == weights_of(uninterrupted)
    assert without_times(run / "history.csv") == without_times(uninterrupted / "history.csv")
    assert forecast("train", "--resume", "run").error == "'run' is finished: there is nothing to resume"


def test_ctrl_c_in_the_first_epoch_begins_again(strike, forecast, table, uninterrupted, here):
    """There is no whole epoch to go on from: the weights so far are kept until the run is continued."""
    run = here / "run"
    step = (RECORDER, "on_train_batch_end", 2, "before")
    done = strike(step, "train", table, *STRETCHED, "--out", "run", kind="SIGINT")
    assert done.returncode == 130
    assert "hint: continue with: forecast train --resume run" in done.stderr
    assert forecast("predict", "run", "--out", "f.csv").code == 0
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(run) == weights_of(uninterrupted)
    assert without_times(run / "history.csv") == without_times(uninterrupted / "history.csv")
    assert {path.name for path in run.iterdir()} == {path.name for path in uninterrupted.iterdir()}


def test_ctrl_c_in_the_first_epoch_of_a_member(strike, forecast, table, here):
    words = ("train", table, *STRETCHED, "--ensemble", "2")
    assert forecast(*words, "--out", "whole", "--quiet").code == 0
    step = (RECORDER, "on_train_batch_end", 2, "before")
    assert strike(step, *words, "--out", "run", kind="SIGINT").returncode == 130
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    for name in ("members/0/model.safetensors", "members/1/model.safetensors", "metrics.json"):
        assert Path("run", name).read_bytes() == Path("whole", name).read_bytes()


def test_ctrl_c_while_loading(strike, table, here):
    """Before the first step there is nothing to keep: no traceback, and no run that looks finished."""
    step = ("forecast_attn.forecaster", "read_panel", 1, "before")
    done = strike(step, "train", table, *STRETCHED, "--out", "run", kind="SIGINT")
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert not (here / "run" / "metrics.json").exists()


def test_max_time_ends_with_a_finished_run(forecast, table, here):
    words = [*STRETCHED, "--max-epochs", "100000", "--patience", "100000", "--max-time", "1s", "--schedule", "constant"]
    outcome = forecast("train", table, *words, "--out", "run")
    assert outcome.code == 0
    assert "training ended: --max-time reached" in outcome.err
    assert forecast("predict", "run").code == 0


def test_the_schedule_is_fitted_into_max_time(forecast, table, here):
    """Cut off by the clock inside its warm-up, a training would end at the highest rate and with poor weights."""
    words = [*STRETCHED, "--max-epochs", "100000", "--patience", "100000", "--max-time", "3s", "--out", "run"]
    assert "training ended: --max-time reached" in forecast("train", table, *words).err
    rates = pd.read_csv("run/history.csv")["learning_rate"]
    peak = 0.008
    assert rates.max() > 0.5 * peak, "it rose"
    assert rates.iloc[-1] < 0.02 * peak, "and it came down"


# --------------------------------------------------------------------------- predict


@pytest.mark.parametrize(
    ("module", "function", "call"),
    [
        ("predict", "prediction_columns", 1),
        ("attention_output", "attention_windows", 1),
        ("predict", "predictions_csv", 1),
    ],
)
def test_a_killed_prediction_leaves_the_older_files(forecast, strike, run_copy, files_in, module, function, call):
    assert forecast("predict", "run").code == 0
    before = files_in("run")
    done = strike((f"forecast_attn.forecasting.{module}", function, call, "before"), "predict", "run")
    assert done.returncode == -signal.SIGKILL
    after = files_in("run")
    assert {name: after[name] for name in before} == before
    assert all(
        re.fullmatch(r"\.(predictions\.csv|attention\.parquet)\.\w+\.partial", n) for n in set(after) - set(before)
    )
    assert forecast("predict", "run").code == 0
    assert files_in("run")["predictions.csv"] == before["predictions.csv"]
    assert set(files_in("run")) == set(before)  # what was left half-written is gone


def test_told_to_end_it_says_so_and_resumes_to_the_same_bytes(strike, forecast, table, uninterrupted, here):
    """SIGTERM, as schedulers send it: Lightning's own answer to it exits with 0."""
    run = here / "run"
    moment = (RECORDER, "_write_checkpoint", 5, "after")
    done = strike(moment, "train", table, *STRETCHED, "--out", run, kind="SIGTERM")
    assert done.returncode == 1
    assert done.stderr.endswith(
        f"error: training was terminated (SIGTERM)\nhint: continue with: forecast train --resume {run}\n"
    )
    assert not (run / "metrics.json").exists()
    assert forecast("train", "--resume", run, "--quiet").code == 0
    assert weights_of(run) == weights_of(uninterrupted)


def test_ctrl_c_after_the_last_epoch_says_how_to_go_on(strike, forecast, table, uninterrupted, here):
    done = strike((TRAIN, "finish", 1, "before"), "train", table, *STRETCHED, "--out", "run", kind="SIGINT")
    assert done.returncode == 130
    assert done.stderr.endswith("error: interrupted\nhint: continue with: forecast train --resume run\n")
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(here / "run") == weights_of(uninterrupted)


@pytest.mark.parametrize(("function", "when"), [("_write_start", "after"), ("finish", "before")])
def test_told_to_end_before_the_first_epoch_or_after_the_last(
    strike, forecast, table, uninterrupted, here, function, when
):
    done = strike((TRAIN, function, 1, when), "train", table, *STRETCHED, "--out", "run", kind="SIGTERM")
    assert done.returncode == 1
    assert done.stderr.endswith("error: terminated (SIGTERM)\nhint: continue with: forecast train --resume run\n")
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(here / "run") == weights_of(uninterrupted)


def test_told_to_end_while_loading(strike, table, here):
    """Nothing is there to go on from."""
    step = ("forecast_attn.forecaster", "read_panel", 1, "before")
    done = strike(step, "train", table, *STRETCHED, "--out", "run", kind="SIGTERM")
    assert done.returncode == 1
    assert done.stderr.endswith("error: terminated (SIGTERM)\n")


def test_told_to_end_while_it_trains_on_all_rows(strike, forecast, table, here):
    words = ("train", table, *STRETCHED, "--max-epochs", "2", "--final-fit", "always")
    assert forecast(*words, "--out", "whole", "--quiet").code == 0
    step = (RECORDER, "on_train_batch_end", 2 * 4 + 2, "before")  # of 32 windows in batches of 8
    done = strike(step, *words, "--out", "run", kind="SIGTERM")
    assert done.stderr.endswith("hint: continue with: forecast train --resume run\n")
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(here / "run") == weights_of(here / "whole")


def test_a_folder_with_anything_else_is_not_begun_in(forecast, table, here):
    """Only what a killed training leaves is written over."""
    Path("run").mkdir()
    Path("run/schema.json").write_text('{"title": "mine"}')
    outcome = forecast("train", table, *STRETCHED, "--out", "run", "--quiet")
    assert outcome.code == 1
    assert outcome.error == "'run' exists and is not an empty folder"
    assert Path("run/schema.json").read_text() == '{"title": "mine"}'


def test_what_is_being_written_is_no_leftover(here):
    """The lock of a living writer keeps its file; a file without one, or with another name, is told apart."""
    from forecast_attn.runs.atomic import replacing

    Path(".b.csv.0123abcd.partial").write_text("half")
    Path(".notes.partial").write_text("a user's")
    with replacing(Path("a.csv")) as first:
        first.write(b"a")
        with replacing(Path("b.csv")) as second:
            second.write(b"b")
        assert not Path(".b.csv.0123abcd.partial").exists()
    assert sorted(path.name for path in Path().iterdir()) == [".notes.partial", "a.csv", "b.csv"]


def test_folders_that_killed_processes_left_are_removed(here):
    """Those of a living process stay, and one that somebody has put a file of his own into."""
    from forecast_attn.runs.atomic import appearing_folder

    for name in (".old.0123abcd.partial", ".mine.0123abcd.partial"):
        Path(name, "late").mkdir(parents=True)
        Path(name, "late", "c.parquet").write_text("half")
    Path(".mine.0123abcd.partial/notes.txt").write_text("a user's")
    with appearing_folder(Path("first")) as first:
        with appearing_folder(Path("second")):
            assert first.is_dir()
        assert not Path("first").exists()
    assert sorted(path.name for path in Path().iterdir()) == [".mine.0123abcd.partial", "first", "second"]


def test_a_killed_partitioned_forecast_leaves_nothing_that_the_next_one_does_not_remove(
    strike, forecast, table, uninterrupted, here
):
    Path("parts").mkdir()
    pd.read_csv(table).to_parquet("parts/a.parquet", index=False)
    words = ("predict", uninterrupted, "--data", "parts", "--partitioned", "--out", "f", "--attention-out", "w")
    moment = ("forecast_attn.forecasting.partitioned", "_forecast_part", 1, "after")
    assert strike(moment, *words).returncode == -signal.SIGKILL
    assert len(list(here.glob(".*.partial"))) == 2
    assert forecast(*words).code == 0
    assert sorted(path.name for path in here.iterdir()) == ["f", "parts", "w"]


def test_the_mark_of_a_folder_is_the_last_that_is_deleted(here, monkeypatch):
    """A backtest that is killed while it cleans up leaves a folder that the next one knows as its own."""
    from forecast_attn.backtest.finished_parts import Parts

    parts, deleted, unlink = Parts(Path("b.parquet"), {}), [], os.unlink
    for number in range(20):
        parts.forecasts(number).touch()
    parts.scratch(1).mkdir()

    def noted(path: object, **options: object) -> None:
        deleted.append(Path(str(path)).name)
        unlink(path, **options)

    monkeypatch.setattr("os.unlink", noted)
    parts.remove()
    assert deleted[-1] == "backtest.txt"
    assert not list(here.iterdir())
