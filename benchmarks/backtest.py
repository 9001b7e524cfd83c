"""A backtest of 10,000 windows against a bare torch loop over the same network, in one run.

    python benchmarks/backtest.py [WINDOWS] [TURNS]

The loop gathers the same windows from the same arrays in batches of the same size, with weights as a backtest has them,
and does nothing else: no units, no levels, no rows, no file, no baselines. Ours is all of `Forecaster.backtest` but the
reading of the table and the scores. Both are timed in turns, and the best turn of each counts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from bounds import at_least, at_most, exit_code

from forecast_attn import Forecaster
from forecast_attn.backtest.backtest import write_backtest
from forecast_attn.backtest.backtest_options import BacktestOptions
from forecast_attn.backtest.backtest_plan import plan_backtest
from forecast_attn.backtest.job import Backtest, BacktestListener
from forecast_attn.forecasting.inference import BATCH_SIZE
from forecast_attn.runs.run_dir import RunDir

GOAL = 0.85
"""Of the bare loop's windows per second."""
MANY = 200_000
MOST_MORE = 100
"""Megabytes that `MANY` windows may take beyond those of 10,000."""
PEAK = """
import resource, sys
from pathlib import Path
from forecast_attn import Forecaster
from backtest import panel
run, windows = Path(sys.argv[1]), int(sys.argv[2])
if not run.exists():
    sizes = dict(lookback=24, horizon=24, hidden_size=8, validation=60, validation_windows=32)
    options = dict(max_epochs=1, epoch_windows=128, combination="none", accelerator="cpu", seed=1)
    Forecaster(**sizes, **options).fit(panel(), out=run)
out = run.with_suffix(".parquet")
Forecaster.load(run).backtest(panel(), cutoffs=windows // 100, stride=1, accelerator="cpu", out=out)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def table(windows: int) -> pd.DataFrame:
    """Hourly values with a covariate known ahead."""
    random = np.random.default_rng(0)
    stamps = pd.date_range("2015-01-01", periods=windows + 2_000, freq="h")
    known = random.normal(size=len(stamps))
    target = np.sin(np.arange(len(stamps)) * 2 * np.pi / 24) + known + 0.1 * random.normal(size=len(stamps))
    return pd.DataFrame({"timestamp": stamps, "target": target, "known": known})


def panel() -> pd.DataFrame:
    """A hundred series, with rows for `MANY` windows."""
    hours = MANY // 100 + 300
    values = np.random.default_rng(0).normal(size=100 * hours)
    stamps = np.tile(pd.date_range("2024-01-01", periods=hours, freq="h"), 100)
    return pd.DataFrame({"item_id": np.repeat(np.arange(100), hours), "timestamp": stamps, "target": values})


def report_memory() -> None:
    """Peak memory of backtests with more and more windows, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        peaks = []
        for windows in (10_000, MANY):
            words = [sys.executable, "-c", PEAK, str(Path(folder) / "run"), str(windows)]
            done = subprocess.run(words, check=True, capture_output=True, text=True, cwd=Path(__file__).parent)
            peaks.append(float(done.stdout.splitlines()[-1]))
            print(f"peak memory of {windows:,} windows: {peaks[-1]:,.0f} MB")
    at_most(f"{MANY:,} windows, beyond 10,000", peaks[1] - peaks[0], MOST_MORE, " MB")


def bare_loop(backtest: Backtest) -> None:
    """Run the network alone over all windows."""
    network = backtest.model.network.eval()
    arrays = backtest.model.schema.windows_of(backtest.panel)
    with torch.inference_mode():
        for rows in torch.split(torch.from_numpy(backtest.folds.windows), BATCH_SIZE):
            network(arrays.gather(rows), need_weights=backtest.model.has_attention)


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of the work: both sides compute on one thread, and other programs must not matter."""
    started = time.process_time()
    work()
    return time.process_time() - started


def planned(frame: pd.DataFrame, folder: Path, attention: str, windows: int, baselines: tuple[str, ...]) -> Backtest:
    """A backtest at every hour, of a run that is hardly trained: how fast it forecasts does not depend on that."""
    run = folder / attention
    if not run.exists():
        options: Any = {"attention": attention, "max_epochs": 1, "epoch_windows": 256, "validation": 500, "seed": 1}
        options["combination"] = "none"
        Forecaster(future_covariates="known", accelerator="cpu", **options).fit(frame[:2_000], out=run)
    choice = BacktestOptions(cutoffs=windows, stride="1", baselines=baselines, accelerator="cpu")
    return plan_backtest(RunDir(run), frame, choice)


def rates(attention: str, frame: pd.DataFrame, windows: int, turns: int) -> tuple[float, float, float]:
    """Windows per second: ours, the bare loop's, and ours with the four default baselines."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone = planned(frame, folder, attention, windows, ())
        among = planned(frame, folder, attention, windows, BacktestOptions().compared)
        out, quiet = folder / "bt.parquet", BacktestListener()
        turns_taken = [
            (seconds(lambda: write_backtest(alone, out, quiet)), seconds(lambda: bare_loop(alone)))
            for _ in range(turns)
        ]
        own_rate, bare = np.min(turns_taken, axis=0)
        return windows / own_rate, windows / bare, windows / seconds(lambda: write_backtest(among, out, quiet))


def main() -> int:
    windows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    torch.set_num_threads(1)
    report_memory()  # first, for a process begins with the peak of the one that started it
    frame = table(windows)
    print(f"{windows:,} windows, horizon 24, lookback 168; windows per second of CPU time")
    print(f"{'':<16}{'ours':>8}{'bare':>8}{'ratio':>8}{'with the baselines':>22}")
    for attention in ("luong-general", "bahdanau"):
        own_rate, bare, among = rates(attention, frame, windows, turns)
        print(f"{attention:<16}{own_rate:>8,.0f}{bare:>8,.0f}{own_rate / bare:>8.2f}{among:>22,.0f}")
        at_least(f"{attention}, of a bare loop's speed", own_rate / bare, GOAL)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
