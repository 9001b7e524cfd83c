"""Killed at any moment, a run is complete or known to be unfinished, older files are intact, and resuming continues it.

Processes are killed when a file of the run appears, so that the moment does not depend on how fast the machine is.
"""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EPOCHS = 16
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


@pytest.fixture
def start(process_environment, here) -> Callable[..., subprocess.Popen[str]]:
    """`start(words)`: the command in a process of its own, as a shell starts it."""

    def begin(*words: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "forecast_attn", *map(str, words)]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=process_environment
        )

    return begin


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 100
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the moment never came"
        time.sleep(0.002)


def rows_of(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def weights_of(run: Path) -> bytes:
    return (run / "model.safetensors").read_bytes()


def without_times(history: Path) -> list[str]:
    """The columns that are functions of seed and table: epoch, both losses, learning rate."""
    return [",".join(line.split(",")[:4]) for line in history.read_text().splitlines()]


MOMENTS = {
    "the directory was made": lambda run: run.is_dir(),
    "the schema was written": lambda run: (run / "schema.json").exists(),
    "the first weights were written": lambda run: (run / "model.safetensors").exists(),
    "the first checkpoint was written": lambda run: (run / "last.ckpt").exists(),
    "some epochs were done": lambda run: rows_of(run / "history.csv") > 4,
    "a checkpoint was half written": lambda run: (
        rows_of(run / "history.csv") > 4 and any(run.glob(".last.ckpt*.partial"))
    ),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_training_resumes_to_the_bytes_of_an_uninterrupted_one(
    moment, start, forecast, table, uninterrupted, here
):
    run = here / "run"
    process = start("train", table, *STRETCHED, "--out", "run")
    wait_until(lambda: MOMENTS[moment](run), process)
    process.kill()
    process.communicate()
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
        return
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(run) == weights_of(uninterrupted)
    assert without_times(run / "history.csv") == without_times(uninterrupted / "history.csv")
    assert {path.name for path in run.iterdir()} == {path.name for path in uninterrupted.iterdir()}
    assert forecast("predict", "run").code == 0


def test_a_training_killed_twice(start, forecast, table, uninterrupted, here):
    run = here / "run"
    for epochs, words in ((2, ("train", table, *STRETCHED, "--out", "run")), (6, ("train", "--resume", "run"))):
        process = start(*words)
        wait_until(lambda epochs=epochs: rows_of(run / "history.csv") > epochs, process)
        process.kill()
        process.communicate()
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(run) == weights_of(uninterrupted)


def test_ctrl_c_keeps_the_best_weights_and_resume_continues(start, forecast, table, uninterrupted, here):
    run = here / "run"
    process = start("train", table, *STRETCHED, "--out", "run")
    wait_until(lambda: rows_of(run / "history.csv") > 3, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "training ended: interrupted" in err
    assert "hint: continue with: forecast train --resume run" in err
    assert "seasonal-naive" in out  # the table of a finished training, for the weights there are
    assert forecast("predict", "run").code == 0
    assert forecast("train", "--resume", "run", "--quiet").code == 0
    assert weights_of(run) == weights_of(uninterrupted)
    assert without_times(run / "history.csv") == without_times(uninterrupted / "history.csv")
    assert forecast("train", "--resume", "run").error == "'run' is finished: there is nothing to resume"


def test_ctrl_c_while_loading(start, table, here):
    """Before the first step there is nothing to keep: no traceback, and no run that looks finished."""
    process = start("train", table, *STRETCHED, "--out", "run")
    assert process.stderr is not None
    assert process.stderr.readline() == "loading\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert not (here / "run" / "metrics.json").exists()


def test_max_time_ends_with_a_finished_run(forecast, table, here):
    words = [*STRETCHED, "--max-epochs", "100000", "--max-time", "1s", "--schedule", "constant"]
    outcome = forecast("train", table, *words, "--out", "run")
    assert outcome.code == 0
    assert "training ended: --max-time reached" in outcome.err
    assert forecast("predict", "run").code == 0


# --------------------------------------------------------------------------- predict

KILLED = """
import os, signal, sys
from forecast_attn import prediction
from forecast_attn.cli import main

step, moment = prediction.{function}, {call}
calls = []

def then_die(*args, **options):
    calls.append(1)
    if len(calls) == moment:
        os.kill(os.getpid(), signal.SIGKILL)
    return step(*args, **options)

prediction.{function} = then_die
main(["predict", "run"])
"""


@pytest.mark.parametrize(
    ("function", "call"), [("prediction_columns", 1), ("write_attention", 1), ("predictions_csv", 1)]
)
def test_a_killed_prediction_leaves_the_older_files(forecast, process_environment, run_copy, files_in, function, call):
    assert forecast("predict", "run").code == 0
    before = files_in("run")
    script = KILLED.format(function=function, call=call)
    done = subprocess.run([sys.executable, "-c", script], env=process_environment, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    after = files_in("run")
    assert {name: after[name] for name in before} == before
    assert all(
        re.fullmatch(r"\.(predictions\.csv|attention\.parquet)\.\w+\.partial", n) for n in set(after) - set(before)
    )
    assert forecast("predict", "run").code == 0
    assert files_in("run")["predictions.csv"] == before["predictions.csv"]
    assert {path.name for path in Path("run").iterdir() if not path.name.startswith(".")} == set(before)
