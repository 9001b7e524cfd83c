"""Peak memory of training on a folder of Parquet files of a hundred million rows, and its growth with the files.

    python benchmarks/large.py [SERIES] [STEPS]

Read at once, 20,000 series of 5,000 hours in 20 files may take 8 GB: 500 MB and 75 bytes a row. A row is a name, a time
stamp and a value; the files take 0.3 GB of disk. Read by parts, as a table is that would take more than three quarters
of the machine's memory, they may take 1 GB, and twice 10 files 100 MB more (300, read at once). That is memory of the
process alone: pages of its files are not counted, for the system takes them back. One epoch of 6,400 windows: what
grows with the table is reading, scales, windows and baselines, not the steps of an optimiser.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bounds import at_most, exit_code

FILES = 20
MEGABYTES = 500
BYTES_A_ROW = 75
BY_PARTS, MORE = 1_000, 100
"""Megabytes by parts: of all files, and of ten files more."""
SERIES_OF_A_FILE = 100
"""Where growth is measured, with ten thousand steps each."""

TRAINING = """
import json, resource, sys, threading, time
from forecast_attn import Forecaster
from forecast_attn.data import panel_parts

def private():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024 / 1e6

def watch():
    while True:
        seen[0] = max(seen[0], private())
        time.sleep(0.01)

seen = [0.0]
threading.Thread(target=watch, daemon=True).start()
if sys.argv[2] == "by parts":
    panel_parts.SHARE = 0
start = time.process_time()
forecaster = Forecaster(seed=0, max_epochs=1, batch_size=64, epoch_windows=6400, validation_windows=1024)
forecaster.fit(sys.argv[1])
assert len(forecaster.history) == 1
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
print(json.dumps({"seconds": time.process_time() - start, "peak": peak, "private": seen[0]}))
"""


def write_parts(folder: Path, series: int, steps: int, files: int = FILES) -> None:
    """Series of a daily season and noise, the same number in each file."""
    random = np.random.default_rng(0)
    hours = np.datetime64("2020-01-01T00", "us") + np.arange(steps) * np.timedelta64(1, "h")
    season = 10 * np.sin(np.arange(steps) * 2 * np.pi / 24)
    for part, names in enumerate(np.array_split(np.arange(series), files)):
        levels, noise = random.normal(100, 20, (len(names), 1)), random.normal(0, 3, (len(names), steps))
        codes = np.repeat(np.arange(len(names), dtype=np.int32), steps)
        columns = {
            "item_id": pa.DictionaryArray.from_arrays(codes, [f"series-{name:06}" for name in names]),
            "timestamp": pa.array(np.tile(hours, len(names))),
            "target": (levels + season + noise).astype(np.float32).ravel(),
        }
        pq.write_table(pa.table(columns), folder / f"part-{part:03}.parquet")


def measured(folder: str, way: str) -> dict[str, Any]:
    """CPU seconds and megabytes of a training, in a process of its own."""
    command = [sys.executable, "-c", TRAINING, folder, way]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"{way}: {figures['seconds']:.0f} CPU s, {figures['private']:,.0f} MB of its own")
    return figures


def report_growth() -> None:
    """Memory by parts of ten files, and of twenty."""
    peaks = []
    for files in (10, 20):
        with tempfile.TemporaryDirectory() as folder:
            write_parts(Path(folder), files * SERIES_OF_A_FILE, 10_000, files)
            peaks.append(measured(folder, "by parts")["private"])
    at_most("training by parts, twenty files beyond ten", peaks[1] - peaks[0], MORE, " MB")


def main() -> int:
    """Write, train, and compare."""
    series, steps = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (20_000, 5_000)
    rows = series * steps
    report_growth()
    with tempfile.TemporaryDirectory() as folder:
        write_parts(Path(folder), series, steps)
        print(f"{rows:,} rows in {FILES} files")
        at_most(
            "training by parts on a folder of Parquet files", measured(folder, "by parts")["private"], BY_PARTS, " MB"
        )
        limit = MEGABYTES + rows * BYTES_A_ROW / 1e6
        at_most("peak of training on a folder of Parquet files", measured(folder, "at once")["peak"], limit, " MB")
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
