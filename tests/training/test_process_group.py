"""Processes that torchrun or SLURM started train one run together, and the first one alone writes and speaks."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.options import RunConfig
from forecast_attn.errors import INTERRUPTED, ConfigError, RunError
from forecast_attn.training.process_group import is_follower, joined, launch_of

FORECAST = (sys.executable, "-m", "forecast_attn")
TRAINING = (
    *("--lookback", "14", "--horizon", "3", "--hidden-size", "4", "--max-epochs", "2", "--validation", "30"),
    *("--dropout", "0", "--patience", "9", "--accelerator", "cpu", "--epoch-windows", "49"),
)


def torchrun(*, node: int, nodes: int, per_node: int, port: int) -> list[str]:
    words = [sys.executable, "-m", "torch.distributed.run", "--nnodes", nodes, "--nproc-per-node", per_node]
    words += ["--node-rank", node, "--master-addr", "127.0.0.1", "--master-port", port]
    words += ["--log-dir", f"logs-{node}", "--redirects", 3, "-m", "forecast_attn"]
    return [str(word) for word in words]


def said_on(node: int) -> tuple[str, str]:
    """What our process printed on one machine: torchrun itself complains on stderr when another machine ends first."""
    (out,), (err,) = (list(Path(f"logs-{node}").rglob(name)) for name in ("stdout.log", "stderr.log"))
    return out.read_text(), err.read_text()


def of_slurm(rank: int, size: int, port: int) -> dict[str, str]:
    """The environment of a task of `srun --nodes SIZE --ntasks-per-node 1`."""
    numbers = {"JOB_ID": 4711, "STEP_ID": 0, "NTASKS": size, "NTASKS_PER_NODE": 1, "NNODES": size}
    numbers |= {"PROCID": rank, "NODEID": rank, "LOCALID": 0}
    names = {f"SLURM_{name}": str(number) for name, number in numbers.items()}
    return {**names, "SLURM_NODELIST": "127.0.0.1", "MASTER_PORT": str(port)}


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def started(words: list[str], **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        words,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def endings(*processes: subprocess.Popen[str]) -> list[tuple[int, str, str]]:
    """Exit code, stdout and stderr of each."""
    texts = [process.communicate(timeout=300) for process in processes]
    return [(process.returncode, *each) for process, each in zip(processes, texts, strict=True)]


def training_of_two_tables(*tables: str) -> str:
    """Train on one table in each of two tasks, both of which must fail; return what the first one says on stderr."""
    port = free_port()
    words = [[*FORECAST, "train", name, *TRAINING, "--num-nodes", "2", "--out", "run"] for name in tables]
    with started(words[0], **of_slurm(0, 2, port)) as first, started(words[1], **of_slurm(1, 2, port)) as second:
        (code, _, err), (other_code, other_out, other_err) = endings(first, second)
    assert (code, other_code, other_out, other_err) == (1, 1, "", "")
    assert not Path("run").exists()
    return err


@pytest.mark.slow
@pytest.mark.integration
def test_two_machines_of_torchrun_train_the_run_of_one_process(
    here: Path, forecast: Callable[..., Any], write: Callable[..., str], make_table: Callable[..., pd.DataFrame]
) -> None:
    """An ensemble, each member trained again on all rows: five things for the processes to agree about."""
    table = write(make_table(120))
    shared = ("train", table, *TRAINING, "--ensemble", "2", "--final-fit", "always")
    one = forecast(*shared, "--seed", "7", "--batch-size", "16", "--out", "one")
    assert one.code == 0, one.err
    port = free_port()
    words = [*shared, "--seed", "7", "--batch-size", "8", "--num-nodes", "2", "--strategy", "ddp", "--out", "two"]
    with (
        started([*torchrun(node=0, nodes=2, per_node=1, port=port), *words]) as first,
        started([*torchrun(node=1, nodes=2, per_node=1, port=port), *words]) as second,
    ):
        (code, _, agent), (other_code, _, other_agent) = endings(first, second)
    assert (code, other_code) == (0, 0), agent + other_agent
    (out, err), (other_out, other_err) = said_on(0), said_on(1)
    assert "2 processes train together, 1 on each of 2 machine(s)" in err
    assert "run: two" in out
    assert (other_out, other_err) == ("", "")
    for member in ("members/0", "members/1"):
        histories = [pd.read_csv(Path(run) / member / "history.csv") for run in ("one", "two")]
        for column in ("epoch", "train_loss", "validation_loss", "learning_rate"):
            np.testing.assert_allclose(*(history[column] for history in histories), rtol=1e-5)
    for run in ("one", "two"):
        assert forecast("predict", run, "--out", f"{run}.csv").code == 0
    forecasts = [pd.read_csv(f"{run}.csv")["prediction"] for run in ("one", "two")]
    np.testing.assert_allclose(*forecasts, rtol=1e-3)
    assert sorted(path.relative_to("one") for path in Path("one").rglob("*")) == sorted(
        path.relative_to("two") for path in Path("two").rglob("*")
    )


@pytest.mark.slow
@pytest.mark.integration
def test_tasks_of_slurm_share_a_seed_that_nobody_gave_and_resume_together(
    here: Path, write: Callable[..., str], make_table: Callable[..., pd.DataFrame]
) -> None:
    """Ctrl-C reaches one of them only, in the first training and in the one that goes on."""
    train = [*FORECAST, "train", write(make_table(120)), *TRAINING, "--num-nodes", "2", "--out", "run"]
    train[train.index("--max-epochs") + 1] = "100000"
    done = 0
    for words in (train, [*FORECAST, "train", "--resume", "run"]):
        port = free_port()
        with started(words, **of_slurm(0, 2, port)) as first, started(words, **of_slurm(1, 2, port)) as second:
            wait_for_epochs(done + 1, first)
            first.send_signal(signal.SIGINT)
            (code, _, err), (_, other_out, other_err) = endings(first, second)
        assert code == INTERRUPTED, err
        assert (other_out, other_err) == ("", "")
        metrics = json.loads(Path("run/metrics.json").read_text())
        assert metrics["ended"] == "interrupted"
        assert metrics["epochs"] > done
        done = metrics["epochs"]


THREADS_AT_THE_END = """
import atexit, glob, os, pathlib
def write():
    names = [pathlib.Path(task).read_text().strip() for task in glob.glob("/proc/self/task/*/comm")]
    pathlib.Path("threads-" + os.environ["SLURM_PROCID"]).write_text("\\n".join(names))
atexit.register(write)
from forecast_attn.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="reads the threads of a process from /proc")
@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_no_thread_of_the_group_is_left_when_a_process_ends(
    strategy: str, here: Path, write: Callable[..., str], make_table: Callable[..., pd.DataFrame]
) -> None:
    """One that is left may ask for an interpreter that is gone, and abort its process (SIGABRT)."""
    port = free_port()
    words = [sys.executable, "-c", THREADS_AT_THE_END, "train", write(make_table(120)), *TRAINING, "--num-nodes", "2"]
    words += ["--seed", "1", "--strategy", strategy, "--out", "run"]
    with started(words, **of_slurm(0, 2, port)) as first, started(words, **of_slurm(1, 2, port)) as second:
        codes = [code for code, _, _ in endings(first, second)]
    assert codes == [0, 0]
    for rank in range(2):
        threads = Path(f"threads-{rank}").read_text().splitlines()
        assert threads
        assert not [name for name in threads if "gloo" in name or "tcpstore" in name]


def wait_for_epochs(number: int, process: subprocess.Popen[str]) -> None:
    """Wait until the run has so many epochs and a checkpoint, or the process has ended."""
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        epochs = len(Path("run/history.csv").read_text().splitlines()) - 1 if Path("run/last.ckpt").is_file() else 0
        if epochs >= number:
            return
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.integration
def test_the_first_process_tells_what_another_one_lacks(
    here: Path, write: Callable[..., str], make_table: Callable[..., pd.DataFrame]
) -> None:
    err = training_of_two_tables(write(make_table(120), "mine.csv"), "missing.csv")
    assert "error: process 2 of 2, on " in err
    assert "missing.csv" in err


@pytest.mark.slow
@pytest.mark.integration
def test_two_tables_are_told_apart(
    here: Path, write: Callable[..., str], make_table: Callable[..., pd.DataFrame]
) -> None:
    err = training_of_two_tables(write(make_table(120, 0), "mine.csv"), write(make_table(120, 1), "yours.csv"))
    assert "has read another table than the first one" in err
    assert "hint: the same file" in err


# ---------------------------------------------------------------------- what options and launchers say of each other


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`launcher(TORCHELASTIC_RUN_ID=…)`: the environment of a process that one started."""
    for name in list(os.environ):
        if name.startswith(("SLURM_", "TORCHELASTIC_")):
            monkeypatch.delenv(name)

    def set_all(**names: object) -> None:
        for name, value in names.items():
            monkeypatch.setenv(name, str(value))

    return set_all


def training(**options: object) -> Any:
    return RunConfig.from_options(options).training


ELASTIC = {"TORCHELASTIC_RUN_ID": "none", "RANK": 3, "WORLD_SIZE": 4, "LOCAL_WORLD_SIZE": 2}
SLURM = {"SLURM_STEP_ID": 0, "SLURM_NTASKS": 4, "SLURM_NNODES": 2, "SLURM_PROCID": 3, "SLURM_NTASKS_PER_NODE": 2}


@pytest.mark.parametrize("environment", [ELASTIC, SLURM])
def test_the_options_are_those_of_the_launcher(launcher: Callable[..., None], environment: dict[str, object]) -> None:
    launcher(**environment)
    group = launch_of(training(devices=2, num_nodes=2))
    assert group is not None
    assert (group.rank, group.size, group.nodes) == (3, 4, 2)
    assert is_follower(training(devices=2, num_nodes=2))
    with pytest.raises(ConfigError, match=r"started 4 processes on 2 machine\(s\); --devices 4 --num-nodes 1") as error:
        launch_of(training(devices=4))
    assert error.value.hint == "add --devices 2 --num-nodes 2"


def test_one_device_under_torchrun_is_refused_and_under_srun_a_run_of_its_own(launcher: Callable[..., None]) -> None:
    launcher(**SLURM)
    assert launch_of(training()) is None
    assert not is_follower(training())
    launcher(**ELASTIC)
    with pytest.raises(ConfigError, match="torchrun started 4 processes"):
        launch_of(training())


def test_the_script_of_a_job_is_no_task_of_it(launcher: Callable[..., None]) -> None:
    launcher(**{name: value for name, value in SLURM.items() if name != "SLURM_STEP_ID"})
    assert launch_of(training(devices=2)) is None


def test_srun_must_say_how_many_tasks_a_machine_has(launcher: Callable[..., None]) -> None:
    launcher(**{name: value for name, value in SLURM.items() if name != "SLURM_NTASKS_PER_NODE"})
    with pytest.raises(ConfigError, match="srun did not say") as error:
        launch_of(training(devices=2, num_nodes=2))
    assert error.value.hint == "srun --nodes 2 --ntasks-per-node 2 forecast train …"


@pytest.mark.parametrize(
    ("host", "reason"),
    [("no-such-machine.invalid", "[Nn]ame"), ("127.0.0.1", "timed? ?out")],
    ids=["unknown", "silent"],
)
def test_tasks_that_do_not_meet_say_so_instead_of_waiting_for_a_day(
    host: str, reason: str, launcher: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forecast_attn.training.process_group.CONNECTING", timedelta(seconds=0.3))
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    launcher(**of_slurm(1, 2, free_port()), MASTER_ADDR=host)
    refused = pytest.raises(RunError, match=f"process 2 of 2 has not met the others at '{host}', port .*{reason}")
    with refused, joined(training(num_nodes=2)):
        pass


@pytest.mark.parametrize(
    ("flags", "message", "hint"),
    [
        (("--num-nodes", "2"), "--num-nodes 2: nothing has started this training on other machines", "torchrun"),
        (("--strategy", "deepspeed"), "--strategy has no value 'deepspeed'", "fsdp"),
        (("--strategy", "fsdp"), "--strategy fsdp needs several devices", "add --devices 2"),
        (("--strategy", "ddp"), "--strategy ddp needs several devices", "add --devices 2"),
    ],
)
def test_what_cannot_be_had_is_refused(
    flags: tuple[str, ...],
    message: str,
    hint: str,
    launcher: Callable[..., None],
    here: Path,
    forecast: Callable[..., Any],
    write: Callable[..., str],
    make_table: Callable[..., Any],
) -> None:
    outcome = forecast("train", write(make_table(60)), *flags, "--out", "run")
    assert outcome.code == 2
    assert outcome.error.startswith(message)
    assert hint in outcome.hint
    assert not (here / "run").exists()


def test_several_machines_are_for_one_training(
    launcher: Callable[..., None],
    here: Path,
    forecast: Callable[..., Any],
    write: Callable[..., str],
    make_table: Callable[..., Any],
) -> None:
    words = ("compare", write(make_table(60)), "--attention", "none,bahdanau", "--num-nodes", "2", "--out", "all")
    outcome = forecast(*words)
    assert outcome.code == 2
    assert outcome.error == "--num-nodes 2: several machines train one run with `forecast train` alone"
