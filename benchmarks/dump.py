"""The attention file at scale: what writing and reading 10,000 windows × 24 steps × 168 lags costs, in one run.

    python benchmarks/dump.py [WINDOWS]

The bounds: memory within 200 MB of prediction without a file, at no less than half its speed; `forecast inspect` in
under three times what pyarrow takes to read the weights. Everything is done in turns, and the best of each counts.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import torch
from bounds import at_least, at_most, exit_code
from numpy.typing import NDArray

from forecast_attn import Forecaster
from forecast_attn.attention_file import DumpChoice, read_attention
from forecast_attn.attention_file.size import size_text
from forecast_attn.data.panel import Panel
from forecast_attn.data.windows import WindowArrays
from forecast_attn.forecasting.attention_output import AttentionDumpPlan
from forecast_attn.forecasting.inference import forecast_windows, load_model
from forecast_attn.forecasting.model import Model
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import read_panel

LOOKBACK, HORIZON, TURNS = 168, 24, 3
CPU = torch.device("cpu")
FORMS = {"all weights": DumpChoice(), "float16": DumpChoice(dtype="float16"), "8 largest": DumpChoice(top=8)}


class Subject:
    """A trained network, and a panel with the windows to forecast."""

    def __init__(self, folder: Path, windows: int) -> None:
        frame = table(windows + LOOKBACK + HORIZON)
        options: Any = {
            "max_epochs": 1,
            "combination": "none",
            "epoch_windows": 1_280,
            "seed": 0,
            "future_covariates": "known",
            "patch_length": 1,
        }
        forecaster = Forecaster(lookback=LOOKBACK, horizon=HORIZON, accelerator="cpu", **options)
        forecaster.fit(frame, out=folder / "run")
        self.model: Model = load_model(RunDir(folder / "run"))
        self.panel: Panel = read_panel(frame, forecaster.config)[0]
        self.arrays: WindowArrays = self.model.schema.windows_of(self.panel)
        self.cutoffs: NDArray[np.int64] = np.arange(LOOKBACK, LOOKBACK + windows)

    def predict(self, *, need_weights: bool = False) -> None:
        """Forecast every window, and keep nothing."""
        for _ in forecast_windows(self.model, self.panel, self.cutoffs, self.arrays, need_weights=need_weights):
            pass

    def write(self, path: Path, choice: DumpChoice) -> int:
        """Forecast every window and write its weights; the size that was told beforehand."""
        output = AttentionDumpPlan.plan(self.model, self.panel, self.arrays, self.cutoffs, choice)
        with output.open(path) as writer:
            for forecasts in forecast_windows(self.model, self.panel, self.cutoffs, self.arrays):
                output.write(writer, forecasts)
        return output.size.estimated_bytes


def table(length: int) -> pd.DataFrame:
    """Hourly steps of one series with a covariate that is known ahead."""
    random, stamps = np.random.default_rng(0), pd.date_range("2020-01-01", periods=length, freq="h")
    known = random.normal(size=length)
    return pd.DataFrame({"timestamp": stamps, "target": np.sin(np.arange(length) * np.pi / 12) + known, "known": known})


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and the highest resident megabytes while it ran."""
    Path("/proc/self/clear_refs").write_text("5")  # the kernel forgets the highest so far
    started = time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    status = Path("/proc/self/status").read_text()
    return seconds, int(status.split("VmHWM:")[1].split()[0]) / 1024


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def writing(subject: Subject, folder: Path) -> None:
    """Speed and memory of every form against prediction alone, in turns."""
    estimated: dict[str, int] = {}

    def write(name: str) -> None:
        estimated[name] = subject.write(folder / f"{name}.parquet", FORMS[name])

    works: dict[str, Callable[[], None]] = {
        "prediction": subject.predict,
        "with weights": lambda: subject.predict(need_weights=True),
        **{name: functools.partial(write, name) for name in FORMS},
    }
    turns: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for _ in range(TURNS):
        for name, work in works.items():
            turns[name].append(measured(work))
    best = {name: np.min(measures, axis=0) for name, measures in turns.items()}
    print(f"{'':<14}{'windows/s':>11}{'of prediction':>15}{'more memory':>13}{'size':>10}{'estimated':>10}")
    for name in works:
        share, more = best["prediction"][0] / best[name][0], best[name][1] - best["prediction"][1]
        line = f"{name:<14}{len(subject.cutoffs) / best[name][0]:>11,.0f}{share:>15.0%}{more:>10,.0f} MB"
        if name in estimated:
            size = (folder / f"{name}.parquet").stat().st_size
            line += f"{size_text(size):>10}{size_text(estimated[name]):>10}"
        print(line)
        if name in estimated:
            at_least(f"{name} written, of prediction's speed", share, 0.5)
            at_most(f"{name} written, more memory", more, 200, " MB")


def reading(path: Path) -> None:
    """`inspect` against pyarrow, as functions and as whole commands."""
    read, inspected, command, bare = [], [], [], []
    words = [sys.executable, "-m", "forecast_attn", "inspect", str(path)]
    script = f"import pyarrow.parquet as pq; pq.read_table({str(path)!r}, columns=['weights'])"
    for _ in range(TURNS):
        read.append(seconds(lambda: pq.read_table(path, columns=["weights"])))
        inspected.append(seconds(lambda: inspect_attention(read_attention(path))))
        bare.append(seconds(lambda: subprocess.run([sys.executable, "-c", script], check=True)))
        command.append(seconds(lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL)))
    for name, times, bare_times in (("inspect", inspected, read), ("the command", command, bare)):
        ratio = min(times) / min(bare_times)
        line = (
            f"{name:<14}{min(times):>8.2f} s   pyarrow reads the weights in {min(bare_times):.2f} s   ratio {ratio:.2f}"
        )
        print(line)
        at_most(f"{name}, of reading by pyarrow", ratio, 3)


def main() -> int:
    windows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subject = Subject(folder, windows)
        print(f"{windows:,} windows × {HORIZON} steps × {LOOKBACK} lags, one thread")
        writing(subject, folder)
        reading(folder / "all weights.parquet")
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
