"""Ten million rows: how fast they are read, and how much memory reading and training take.

    python benchmarks/loading.py [SERIES] [STEPS]

Two bounds. Reading, from the file to the validated panel, takes at most twice as long as
`pandas.read_csv(engine="pyarrow")` and a float32 copy of its numbers: the same file, the same threads, in turns.
Training 100 steps on that file stays within (memory after importing torch) + 3 x (the numbers as float32) + 400 MB.
Every measurement runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bounds import at_least, at_most, exit_code

THREADS = 2
"""Of Arrow's pool, which reads the file on both sides; training has one thread."""
ROUNDS = 3
NUMBERS = 3  # target, temperature, price

WRITER = """
import sys
import numpy as np, pyarrow as pa, pyarrow.csv
series, steps, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
random = np.random.default_rng(0)
hours = np.datetime64("2020-01-01T00:00:00") + np.arange(steps) * np.timedelta64(1, "h")
stamps = pa.array([str(hour).replace("T", " ") for hour in hours])
season = 10 * np.sin(np.arange(steps) * 2 * np.pi / 24)
with pa.OSFile(path, "wb") as file:
    file.write(b"item_id,timestamp,target,temperature,price\\n")
    for first in range(0, series, 500):
        count = min(500, series - first)
        item_ids = pa.array(np.repeat([f"series-{index:05}" for index in range(first, first + count)], steps))
        temperature, price = random.normal(20, 5, (2, count * steps)).round(3)
        level = np.repeat(random.normal(100, 20, count), steps)
        target = (level + np.tile(season, count) + temperature).round(3)
        columns = [item_ids, pa.concat_arrays([stamps] * count), target, temperature, price]
        table = pa.table(columns, ["a", "b", "c", "d", "e"])
        pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(include_header=False, quoting_style="none"))
"""

MEASURE = """
import json, resource, sys, time
import pyarrow as pa
pa.set_cpu_count(int(sys.argv[2]))
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""

PANDAS = (
    MEASURE
    + """
import numpy as np, pandas as pd
start = time.perf_counter()
frame = pd.read_csv(sys.argv[1], engine="pyarrow")
numbers = frame.select_dtypes("number").to_numpy(np.float32)
print(json.dumps({"seconds": time.perf_counter() - start, "peak": peak(), "rows": len(numbers)}))
"""
)

READ_SCRIPT = (
    MEASURE
    + """
from forecast_attn.config.options import DataConfig
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.reading import read_table
from forecast_attn.data.roles import resolve_roles
start = time.perf_counter()
config = DataConfig()
frame = read_table(sys.argv[1], config)
panel = build_panel(frame, resolve_roles(frame, config, "table"), config, source="table")
print(json.dumps({"seconds": time.perf_counter() - start, "peak": peak(), "rows": panel.num_rows}))
"""
)

TRAINING = (
    MEASURE
    + """
import torch
after_torch = peak()
from forecast_attn import Forecaster
start = time.perf_counter()
forecaster = Forecaster(seed=0, max_epochs=1, batch_size=64, epoch_windows=6400, validation_windows=1024)
forecaster.fit(sys.argv[1])
assert len(forecaster.history) == 1
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "peak": peak(), "after_torch": after_torch}))
"""
)


def measured(script: str, path: Path) -> dict[str, Any]:
    """Output of a script, run in a process of its own."""
    command = [sys.executable, "-c", script, str(path), str(THREADS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    series, steps = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (10_000, 1000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        subprocess.run([sys.executable, "-c", WRITER, str(series), str(steps), str(path)], check=True)
        print(f"{series * steps:,} rows, {path.stat().st_size / 1e6:,.0f} MB of CSV, {THREADS} threads of Arrow")
        rounds = [(measured(PANDAS, path), measured(READ_SCRIPT, path)) for _ in range(ROUNDS)]
        report_speed(rounds)
        report_memory(measured(TRAINING, path), series * steps * NUMBERS * 4 / 2**20)
    return exit_code()


def report_speed(rounds: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """The fastest of each side: what else the machine does only ever adds time."""
    pandas, reader = (min((pair[side] for pair in rounds), key=lambda measured: measured["seconds"]) for side in (0, 1))
    speed = pandas["seconds"] / reader["seconds"]
    print(f"pandas and a float32 copy    {pandas['seconds']:7.1f} s   peak {pandas['peak']:6.0f} MB")
    print(f"read and validated as panel  {reader['seconds']:7.1f} s   peak {reader['peak']:6.0f} MB")
    at_least("reading, of pandas' speed", speed, 0.5)


def report_memory(training: dict[str, Any], data_megabytes: float) -> None:
    bound = training["after_torch"] + 3 * data_megabytes + 400
    print(f"after importing torch        {training['after_torch']:7.0f} MB")
    print(f"numbers as float32           {data_megabytes:7.0f} MB")
    print(f"peak of training 100 steps   {training['peak']:7.0f} MB   in {training['seconds']:.0f} s")
    at_most("peak of training on ten million rows", training["peak"], round(bound), " MB")


if __name__ == "__main__":
    sys.exit(main())
