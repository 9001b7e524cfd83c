"""The tool as a user runs it, tables made in code, and one small finished run that many tests only look at."""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jaxtyping
import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

from .chromium import BROWSERS, Browser, installed_browser
from .forks import TERMINAL, Conditions, run_forked
from .made_columns import begin_anew

# A slow machine is no counterexample. CI looks at the same examples every time; people's machines find new ones.
settings.register_profile("project", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("project")

# A shell starts what runs in the background with Ctrl-C ignored, and so the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def the_same_columns_in_any_order_of_tests() -> None:
    begin_anew()


ROOT = Path(__file__).resolve().parents[1]

SMALL_OPTIONS: dict[str, Any] = {
    "lookback": 14,
    "horizon": 3,
    "hidden_size": 4,
    "max_epochs": 2,
    "epoch_windows": 32,
    "validation_windows": 16,
    "seed": 7,
    "accelerator": "cpu",
    "combination": "none",
}
SMALL = tuple(word for name, value in SMALL_OPTIONS.items() for word in (f"--{name.replace('_', '-')}", str(value)))
"""A training that takes a tenth of a second, of the network alone."""


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The sentence after `error: `."""
        return next((line[7:] for line in self.err.splitlines() if line.startswith("error: ")), "")

    @property
    def hint(self) -> str:
        return next((line[6:] for line in self.err.splitlines() if line.startswith("hint: ")), "")


def run_in_process(*words: object) -> Outcome:
    """`forecast …` in this process."""
    from forecast_attn.cli import main

    out, err = io.StringIO(), io.StringIO()
    code: object = "no exit"
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(word) for word in words])
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int), f"main ended with {code!r}"
    return Outcome(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session", autouse=True)
def nothing_waits_for_the_disk() -> Iterator[None]:
    """No power is cut here, and a small training waits a tenth of its time for the disk."""
    patch = pytest.MonkeyPatch()
    patch.setattr(os, "fsync", lambda descriptor: None)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def forecast() -> Callable[..., Outcome]:
    """`forecast("train", path, …)` in this process; a traceback fails the test."""
    return run_in_process


@pytest.fixture(scope="session")
def small() -> tuple[str, ...]:
    """Flags of a training that takes a tenth of a second."""
    return SMALL


@pytest.fixture(scope="session")
def process_environment() -> dict[str, str]:
    """Of a forecast process: one thread, no terminal settings of whoever runs the tests."""
    environment = {name: value for name, value in os.environ.items() if name not in TERMINAL}
    return {**environment, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def forecast_process(process_environment: dict[str, str]) -> Callable[..., Outcome]:
    """`forecast …` in a process from nothing; keywords as for subprocess.run."""

    def run(*words: object, **options: object) -> Outcome:
        command = [sys.executable, "-m", "forecast_attn", *map(str, words)]
        environment = {**process_environment, **options.pop("env", {})}  # type: ignore[dict-item]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, **options)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def forecast_fork() -> Callable[..., Outcome]:
    """`forecast …` in a process that begins with its imports done; keywords as of `Conditions`."""
    return lambda *words, **conditions: Outcome(*run_forked(words, Conditions(**conditions)))


def daily_table(rows: int = 120, seed: int = 0) -> pd.DataFrame:
    """Days with a weekly target and a covariate, rounded as people round."""
    rng, steps = np.random.default_rng(seed), np.arange(rows)
    return pd.DataFrame(
        {
            "date": pd.date_range("2024-01-01", periods=rows, freq="D").strftime("%Y-%m-%d"),
            "target": (10 + 3 * np.sin(2 * np.pi * steps / 7) + rng.normal(scale=0.2, size=rows)).round(3),
            "temperature": rng.normal(size=rows).round(2),
        }
    )


@pytest.fixture(scope="session")
def make_table() -> Callable[..., pd.DataFrame]:
    """`make_table(rows, seed)`: days with a weekly target and a covariate."""
    return daily_table


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and no terminal width of whoever runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def write(here: Path) -> Callable[..., str]:
    """`write(frame_or_text, name)`: a file in the working directory; returns its name."""

    def to_file(content: pd.DataFrame | str | bytes, name: str = "data.csv") -> str:
        if isinstance(content, pd.DataFrame):
            content = content.to_csv(index=False)
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return to_file


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run without a forecast, next to the table it was trained on. Look at it, do not change it."""
    folder = tmp_path_factory.mktemp("finished")
    daily_table().to_csv(folder / "data.csv", index=False)
    outcome = run_in_process("train", folder / "data.csv", *SMALL, "--out", folder / "run", "--quiet")
    assert outcome.code == 0, outcome.err
    return folder / "run"


@pytest.fixture
def run_copy(finished_run: Path, here: Path) -> Path:
    """A copy of the finished run, to be changed: `run` in the working directory."""
    shutil.copytree(finished_run, here / "run")
    return Path("run")


@pytest.fixture(scope="session")
def without_manifest() -> Callable[[Path], None]:
    """`without_manifest(run)`: make a run one of an earlier version, which has a digest of its weights alone."""

    def change(run: Path) -> None:
        (run / "manifest.json").unlink()
        metrics = json.loads((run / "metrics.json").read_text())
        del metrics["manifest"]
        (run / "metrics.json").write_text(json.dumps(metrics, indent=1))

    return change


@pytest.fixture
def files_in() -> Callable[..., dict[str, bytes]]:
    """`files_in(folder)`: relative path -> bytes of every file below it."""

    def read(folder: Path | str = ".") -> dict[str, bytes]:
        paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}

    return read


@pytest.fixture
def refused(forecast, files_in) -> Callable[..., None]:
    """`refused(words, message=…, hint=…, code=1)`: one sentence, one hint, and every file as it was before."""

    def check(*words: object, message: str, hint: str | None, code: int = 1) -> None:
        before = files_in()
        outcome = forecast(*words)
        assert outcome.code == code, outcome.err
        if "--json" in words:
            assert json.loads(outcome.out)["error"]["message"] == outcome.error
        else:
            assert outcome.out == ""
        assert re.search(message, outcome.error), outcome.error
        assert "Traceback" not in outcome.err
        assert len([line for line in outcome.err.splitlines() if line.startswith(("error:", "hint:"))]) <= 2
        messages = [line for line in outcome.err.splitlines() if not line.startswith("try: ")]
        assert messages[-1].startswith("hint: " if hint else "error: ")
        if hint:
            assert re.search(hint, outcome.hint), outcome.hint
        assert outcome.error[0] == outcome.error[0].lower()
        assert not outcome.error.endswith(".")
        assert files_in() == before
        assert not Path("runs").exists()

    return check


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of the real tables, which are not part of this repository."""
    folder = Path(os.environ.get("FORECAST_ATTN_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "NP.csv").exists():
        pytest.skip(f"no real data in {folder}; FORECAST_ATTN_DATA names another folder")
    return folder


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Check shapes in the tests of the network and of whole runs; everywhere, that is a third of the suite's time."""
    checked = item.path.parent.name == "nn" or item.path.name == "test_end_to_end.py"
    jaxtyping.config.update("jaxtyping_disable", not checked)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for a browser; the longest tests come first, so that two processes end together."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.integration)
    items.sort(key=lambda item: (item.path.name != "test_planted_lag.py", "slow" not in item.keywords))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium with one tab, for the pages that this project writes."""
    binary = installed_browser()
    if binary is None:
        pytest.skip(f"no Chromium on this machine: none of {', '.join(BROWSERS)} (apt-get install chromium)")
    opened = Browser(binary, tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()
