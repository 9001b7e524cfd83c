"""SIGTERM, as schedulers and `docker stop` send it, outside a training: a sentence, how to go on, nothing half-written.

Within a training and around it: tests/test_resume.py.
"""

import signal
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from forecast_attn.cli.signals import IMPORTING, ending_at_sigterm
from forecast_attn.errors import TerminatedError

from .forks import Conditions, Ended, Strike, run_forked

pytestmark = pytest.mark.slow

TRAINING = ("--lookback", 14, "--horizon", 3, "--hidden-size", 4, "--max-epochs", 1, "--accelerator", "cpu")
SAME = "what is finished is kept; go on with the same command"
WRITING = ("os", "fsync", 1, "before")
FORECASTING = ("forecast_attn.backtest.finished_parts:Parts", "forecasts", 2, "before")


@pytest.fixture
def told_to_end() -> Callable[..., str]:
    """`told_to_end((owner, function, call, when), words)`: the words after `error:` of a command told to end there."""

    def run(moment: tuple[str, str, int, str], *words: object, kind: str = "SIGTERM") -> str:
        done: Ended = run_forked(words, Conditions(Strike(*moment, kind)))
        assert done.returncode == 1, done.stderr
        return done.stderr.rpartition("error: ")[2]

    return run


@pytest.mark.parametrize(
    ("kind", "words"),
    [("SIGTERM", ("predict",)), ("SIGHUP", ("inspect", "--html", "page.html")), ("SIGTERM", ("audit", "--windows", 8))],
)
def test_what_a_command_was_writing_vanishes(told_to_end, forecast, run_copy, files_in, kind, words):
    assert forecast("predict", run_copy).code == 0
    before = files_in()
    assert told_to_end(WRITING, words[0], run_copy, *words[1:], kind=kind) == "terminated (SIGTERM)\n"
    assert files_in() == before


def test_a_closed_terminal_ends_a_training_that_goes_on(told_to_end, forecast, finished_run, here):
    moment = ("forecast_attn.training.callbacks:Recorder", "_write_weights", 1, "after")
    ended = told_to_end(moment, "train", finished_run.parent / "data.csv", *TRAINING, "--out", "run", kind="SIGHUP")
    assert ended == "training was terminated (SIGTERM)\nhint: continue with: forecast train --resume run\n"
    assert forecast("train", "--resume", "run").code == 0


def test_nohup_is_heeded():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with ending_at_sigterm():
        signal.raise_signal(signal.SIGHUP)
    assert signal.signal(signal.SIGHUP, before) is signal.SIG_IGN


def test_a_backtest_goes_on(told_to_end, forecast, run_copy):
    words = ("backtest", run_copy, "--cutoffs", 4, "--stride", 1)
    assert forecast(*words, "--out", "whole.parquet").code == 0
    ended = told_to_end(FORECASTING, *words, "--out", "cut.parquet")
    assert ended == f"terminated (SIGTERM)\nhint: {SAME}\n"
    assert not Path("cut.parquet").exists()
    assert forecast(*words, "--out", "cut.parquet").code == 0
    whole, cut = (pd.read_parquet(name) for name in ("whole.parquet", "cut.parquet"))
    pd.testing.assert_frame_equal(cut, whole, check_exact=True)


def test_an_update_writes_nothing(told_to_end, run_copy, finished_run, files_in):
    rows = pd.read_csv(finished_run.parent / "data.csv")
    later = rows.assign(date=(pd.to_datetime(rows["date"]) + pd.Timedelta(days=len(rows))).dt.strftime("%Y-%m-%d"))
    later.head(40).to_csv("new.csv", index=False)
    before = files_in()
    moment = ("forecast_attn.updating.update:_UpdatedRun", "write", 1, "after")
    ended = told_to_end(moment, "update", run_copy, "--data", "new.csv", "--out", "child")
    assert ended == "terminated (SIGTERM)\nhint: nothing is written; give the command again\n"
    assert files_in() == before


def test_a_comparison_goes_on(told_to_end, forecast, finished_run, here):
    moment = ("forecast_attn.comparison.compare", "train_prepared", 2, "before")
    words = ("--attention", "none,luong-dot", *TRAINING, "--combination", "none", "--out", "both")
    ended = told_to_end(moment, "compare", finished_run.parent / "data.csv", *words)
    assert ended == "terminated (SIGTERM)\nhint: continue with: forecast compare --resume both\n"
    again = forecast("compare", "--resume", "both")
    assert (again.code, again.err.count("trained before")) == (0, 1)


def test_it_is_not_lost_in_a_callback_of_an_import():
    """As of the lock of a module: Python prints an exception there, and goes on."""

    class Lock:
        """Anything that a weak reference may refer to."""

    code = compile("def callback(reference):\n    signal.raise_signal(signal.SIGTERM)", IMPORTING, "exec")
    names: dict[str, Any] = {"signal": signal}
    exec(code, names)
    with pytest.raises(TerminatedError), ending_at_sigterm():
        lock = Lock()
        reference = weakref.ref(lock, names["callback"])
        del lock
        assert reference() is None
        time.sleep(10)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_search_goes_on(told_to_end, forecast, finished_run, here, when):
    pytest.importorskip("optuna", reason="the extra tune is not installed")
    Path("space.toml").write_text("learning_rate = [0.01, 0.02]")
    words = ("tune", finished_run.parent / "data.csv", "--space", "space.toml", "--trials", 2, "--no-winner",
             "--seed", 3, *TRAINING)  # fmt: skip
    moment = ("forecast_attn.tuning.objective:Objective", "score", 2, when)
    assert told_to_end(moment, *words) == f"terminated (SIGTERM)\nhint: {SAME}\n"
    assert forecast(*words, "--json").code == 0
