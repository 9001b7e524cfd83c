"""Peak memory of training on a folder of Parquet files of a hundred million rows.

    python benchmarks/large.py [SERIES] [STEPS]

The bound: 500 MB and 75 bytes a row, which is 8 GB for 20,000 series of 5,000 hours. A row is a name, a time stamp and
a value; 20 files take 0.3 GB of disk. One epoch of 6,400 windows: what grows with the table is reading, scales,
windows and baselines, not the steps of an optimiser.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bounds import at_most, exit_code

FILES = 20
MEGABYTES = 500
BYTES_A_ROW = 75

TRAINING = """
import json, resource, sys, time
from forecast_attn import Forecaster
start = time.process_time()
forecaster = Forecaster(seed=0, max_epochs=1, batch_size=64, epoch_windows=6400, validation_windows=1024)
forecaster.fit(sys.argv[1])
assert len(forecaster.history) == 1
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
print(json.dumps({"seconds": time.process_time() - start, "peak": peak}))
"""


def write_parts(folder: Path, series: int, steps: int) -> None:
    """Series of a daily season and noise, the same number in each file."""
    random = np.random.default_rng(0)
    hours = np.datetime64("2020-01-01T00", "us") + np.arange(steps) * np.timedelta64(1, "h")
    season = 10 * np.sin(np.arange(steps) * 2 * np.pi / 24)
    for part, names in enumerate(np.array_split(np.arange(series), FILES)):
        levels, noise = random.normal(100, 20, (len(names), 1)), random.normal(0, 3, (len(names), steps))
        codes = np.repeat(np.arange(len(names), dtype=np.int32), steps)
        columns = {
            "item_id": pa.DictionaryArray.from_arrays(codes, [f"series-{name:06}" for name in names]),
            "timestamp": pa.array(np.tile(hours, len(names))),
            "target": (levels + season + noise).astype(np.float32).ravel(),
        }
        pq.write_table(pa.table(columns), folder / f"part-{part:03}.parquet")


def main() -> int:
    """Write, train, and compare."""
    series, steps = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (20_000, 5_000)
    rows = series * steps
    with tempfile.TemporaryDirectory() as folder:
        write_parts(Path(folder), series, steps)
        command = [sys.executable, "-c", TRAINING, folder]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    measured = json.loads(done.stdout.splitlines()[-1])
    print(f"{rows:,} rows in {FILES} files: {measured['seconds']:.0f} CPU s")
    at_most(
        "peak of training on a folder of Parquet files", measured["peak"], MEGABYTES + rows * BYTES_A_ROW / 1e6, " MB"
    )
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
