"""Files of many series forecast by one process and by a Ray of two workers: seconds, their ratio, and equal bytes.

    python benchmarks/ray_prediction.py [--series 5000]

The table is that of docs/scaling.md: 200 days, 14 steps ahead, three quantiles, a network and the formulas beside it,
eight files. Needs the extra `ray`, and two idle cores: on a busy machine the ratio says nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn import Forecaster
from forecast_attn.cluster import NO_WARNING
from forecast_attn.telemetry import switch_off_reports

FILES = 8
DAYS = 200
BOUND = 1.5


def write_table(folder: Path, series: int) -> None:
    """Daily series with a weekly season, in files."""
    rng, steps = np.random.default_rng(0), np.arange(DAYS)
    days = pd.date_range("2024-01-01", periods=DAYS, freq="D")
    for file, numbers in enumerate(np.array_split(np.arange(series), FILES)):
        parts = [
            pd.DataFrame(
                {
                    "item_id": f"s{number:06}",
                    "timestamp": days,
                    "sold": (20 + number % 9 + 5 * np.sin(2 * np.pi * steps / 7) + rng.normal(size=DAYS)).round(2),
                }
            )
            for number in numbers
        ]
        pd.concat(parts, ignore_index=True).to_parquet(folder / f"{file}.parquet", index=False)


def seconds_of(run: Path, table: Path, out: Path, engine: str) -> float:
    """Time of forecasting all files."""
    begin = time.perf_counter()
    Forecaster.load(run).predict_parts(table, out=out, engine=engine, cold_start=True, accelerator="cpu")
    return time.perf_counter() - begin


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def measure(folder: Path, series: int) -> dict[str, Any]:
    """All the numbers; two workers do the work twice, because they import everything at the first time."""
    switch_off_reports("ray")
    os.environ.setdefault(*NO_WARNING)
    import ray

    table, run = folder / "table", folder / "run"
    table.mkdir()
    write_table(table, series)
    options: dict[str, Any] = {"horizon": 14, "quantiles": [0.1, 0.5, 0.9], "max_epochs": 1, "final_fit": "none"}
    Forecaster(**options, seed=1, accelerator="cpu").fit(table / "0.parquet", out=run)
    alone = seconds_of(run, table, folder / "local", "local")
    begin = time.perf_counter()
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    starting = time.perf_counter() - begin
    together = [seconds_of(run, table, folder / f"ray-{number}", "ray") for number in range(2)]
    ray.shutdown()
    return {
        "series": series,
        "seconds of one process": round(alone, 1),
        "seconds to start Ray": round(starting, 1),
        "seconds of two workers that import first": round(together[0], 1),
        "seconds of two workers": round(together[1], 1),
        "ratio": round(alone / together[1], 2),
        "same bytes": all(contents(folder / f"ray-{number}") == contents(folder / "local") for number in range(2)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=5_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(Path(folder), arguments.series)
    print(json.dumps(measured, indent=1))
    return 0 if measured["same bytes"] and measured["ratio"] >= BOUND else 1


if __name__ == "__main__":
    raise SystemExit(main())
