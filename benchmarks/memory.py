"""Peak memory of training on a panel of 2,000 series of 1,000 steps with two covariates, and of forecasting a table.

    python benchmarks/memory.py [SERIES] [STEPS]

The bound: (memory after importing torch) + 3 x (the data as float32) + 400 MB. The panel is written as a CSV by another
process, so that only reading and training count.

Forecasting a table (`predict --data`) holds the table, and little beside it: a table of 5,000 series of 1,000 days may
take 300 MB more than one of 50.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import torch  # noqa: F401  its own memory is what the bound starts from
from bounds import at_most, exit_code


def peak_megabytes() -> float:
    """The largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


WRITER = """
import sys
import numpy as np, pandas as pd
series, steps, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
random = np.random.default_rng(0)
stamps = np.datetime64("2020-01-01") + np.arange(steps)
level = np.repeat(random.normal(100, 20, series), steps)
first, second = random.normal(size=(2, series * steps))
target = level + 5 * first + np.tile(10 * np.sin(np.arange(steps) * 2 * np.pi / 7), series)
frame = pd.DataFrame({"item_id": np.repeat([f"series {i:05}" for i in range(series)], steps),
                      "timestamp": np.tile(stamps, series), "target": target, "first": first, "second": second})
frame.to_csv(path, index=False, float_format="%.5f")
"""


PREDICT = """
import resource, sys
from pathlib import Path
from forecast_attn import Forecaster
run, table = Path(sys.argv[1]), sys.argv[2]
if not run.exists():
    shared = dict(max_epochs=1, epoch_windows=128, combination="none", final_fit="none", accelerator="cpu", seed=0)
    Forecaster(horizon=14, **shared).fit(table, out=run)
else:
    Forecaster.load(run).predict(table, cold_start=True, out=run.with_suffix(".csv"))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
MOST_MORE = 300
"""Megabytes that 100 times as many series may take."""


def report_predict() -> None:
    """Peak memory of forecasting few and many series, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        run, peaks = Path(folder) / "run", {}
        for number in (50, 5_000):
            table = Path(folder) / f"{number}.csv"
            writer = WRITER.replace(', "first": first, "second": second', "")
            subprocess.run([sys.executable, "-c", writer, str(number), "1000", str(table)], check=True)
            for _ in range(1 if run.exists() else 2):  # the first call trains
                words = [sys.executable, "-c", PREDICT, str(run), str(table)]
                done = subprocess.run(words, check=True, capture_output=True, text=True)
            peaks[number] = float(done.stdout.splitlines()[-1])
            print(f"peak of predict --data, {number:,} series {peaks[number]:7.0f} MB")
    at_most("predict --data of 5,000 series, beyond 50", peaks[5_000] - peaks[50], MOST_MORE, " MB")


def main() -> int:
    series, steps = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (2000, 1000)
    torch_megabytes = peak_megabytes()
    report_predict()  # first, for a process begins with the peak of the one that started it
    data_megabytes = series * steps * 3 * 4 / 2**20
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "panel.csv"
        subprocess.run([sys.executable, "-c", WRITER, str(series), str(steps), str(path)], check=True)
        from forecast_attn import Forecaster

        forecaster = Forecaster(future_covariates="first", seed=0, max_epochs=1)
        forecaster.fit(path)
        trained = peak_megabytes()
    bound = torch_megabytes + 3 * data_megabytes + 400
    print(f"after importing torch     {torch_megabytes:7.0f} MB")
    print(f"data as float32           {data_megabytes:7.0f} MB")
    print(f"peak of reading, training {trained:7.0f} MB")
    at_most("peak of reading and training", trained, round(bound), " MB")
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
