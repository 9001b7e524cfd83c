"""Load test of `forecast serve`: times of requests beside the bare model, a thousand at once, memory.

    python benchmarks/serve.py [--requests 10000] [--run RUN]

A run on 200 series of 400 hours is trained first, unless one is named. Times are only worth reading on an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from forecast_attn import Forecaster
from forecast_attn.forecasting.history import read_history
from forecast_attn.forecasting.inference import load_model
from forecast_attn.runs.run_dir import RunDir

SERIES = 200


def table(series: int = SERIES, hours: int = 400) -> pd.DataFrame:
    """Hourly series with a day's season."""
    rng, steps = np.random.default_rng(0), np.arange(hours)
    times = pd.date_range("2024-01-01", periods=hours, freq="h").strftime("%Y-%m-%d %H:%M")
    parts = []
    for number in range(series):
        values = 10 + number % 7 + 3 * np.sin(2 * np.pi * steps / 24) + rng.normal(scale=0.3, size=hours)
        parts.append(pd.DataFrame({"item_id": f"s{number}", "timestamp": times, "target": values.round(3)}))
    return pd.concat(parts, ignore_index=True)


@contextmanager
def server(run: Path) -> Iterator[tuple[int, int]]:
    """A server in a process of its own: its port and its process."""
    words = [sys.executable, "-m", "forecast_attn", "serve", str(run), "--port", "0", "--max-waiting", "2000"]
    log = run.parent / "server.log"  # a pipe that nobody reads would fill up, and the server wait
    with log.open("w") as stream:
        process = subprocess.Popen([*words, "--timeout", "600"], stderr=stream)
    while "\n" not in (output := log.read_text()):
        time.sleep(0.1)
    port = int(output.splitlines()[0].rpartition(":")[2])
    try:
        asyncio.run(_until_ready(port))
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


async def _until_ready(port: int) -> None:
    while True:
        try:
            if (await ask(port, "GET", "/ready", b""))[0] == 200:
                return
        except OSError:
            await asyncio.sleep(0.05)


async def ask(port: int, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    """Send one request over a new connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/csv\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[2]


async def times_of(port: int, body: bytes, number: int) -> list[float]:
    """Milliseconds of requests, one after the other."""
    taken = []
    for _ in range(number):
        begin = time.perf_counter()
        status, _ = await ask(port, "POST", "/forecast", body)
        taken.append(1000 * (time.perf_counter() - begin))
        assert status == 200
    return taken


async def at_once(port: int, bodies: list[bytes]) -> list[tuple[int, bytes]]:
    """Send all bodies at the same time."""
    return await asyncio.gather(*(ask(port, "POST", "/forecast", body) for body in bodies))


def bare_milliseconds(run: Path) -> float:
    """Median time of the network alone for one window."""
    directory = RunDir(run)
    model = load_model(directory)
    panel = read_history(model, directory, None, "tail").panel
    arrays = model.schema.windows_of(panel)
    row, taken = torch.tensor([int(panel.ends[0]) - model.schema.horizon - 1]), []
    with torch.inference_mode():
        for _ in range(50):
            begin = time.perf_counter()
            model.networks[0](arrays.gather(row), need_weights=True)
            taken.append(1000 * (time.perf_counter() - begin))
    return float(np.median(taken))


def resident_megabytes(process: int) -> float:
    """Memory of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_seconds(process: int) -> float:
    """Time that a process has computed."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(run: Path, data: pd.DataFrame, requests: int) -> dict[str, Any]:
    """All the numbers."""
    one = data[data["item_id"] == "s0"].tail(336).to_csv(index=False).encode()
    every = data.to_csv(index=False).encode()
    with server(run) as (port, process):
        asyncio.run(times_of(port, one, 20))
        begin, computed = time.perf_counter(), processor_seconds(process)
        times = asyncio.run(times_of(port, one, 300))
        seconds, computed = time.perf_counter() - begin, processor_seconds(process) - computed
        begin = time.perf_counter()
        asyncio.run(times_of(port, every, 5))
        in_batches = 5 * data["item_id"].nunique() / (time.perf_counter() - begin)
        single = [data[data["item_id"] == f"s{number}"].tail(200).to_csv(index=False).encode() for number in range(9)]
        bodies = [*single, b"no,table\n1,2\n"] * 100
        answers = asyncio.run(at_once(port, bodies))
        right = [_is_right(number, *answer) for number, answer in enumerate(answers)]
        before = resident_megabytes(process)
        for _ in range(max(1, requests // 1000)):
            asyncio.run(times_of(port, one, min(requests, 1000)))
        after = resident_megabytes(process)
    return {
        "one series, milliseconds": {name: round(float(np.percentile(times, q)), 1) for name, q in PERCENTILES},
        "processor milliseconds of a request": round(1000 * computed / 300, 1),
        "requests per second, one after the other": round(300 / seconds, 1),
        "bare model, milliseconds": round(bare_milliseconds(run), 1),
        "series per second, 200 in a request": round(in_batches),
        "of 1,000 at once right": sum(right),
        "megabytes before and after the requests": [round(before), round(after)],
    }


PERCENTILES = (("p50", 50), ("p99", 99))


def _is_right(number: int, status: int, body: bytes) -> bool:
    if number % 10 == 9:
        return status == 422
    return status == 200 and {row["item_id"] for row in json.loads(body)["predictions"]} == {f"s{number % 10}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000, help="requests over which memory is watched")
    parser.add_argument("--run", type=Path, help="a run on the table that this file makes")
    arguments = parser.parse_args()
    data = table()
    with tempfile.TemporaryDirectory() as folder:
        run = arguments.run or Path(folder) / "run"
        if arguments.run is None:
            options: dict[str, Any] = {"max_epochs": 1, "horizon": 24, "combination": "none", "final_fit": "none"}
            Forecaster(**options, accelerator="cpu", seed=1).fit(data, out=run)
        print(json.dumps(measure(run, data, arguments.requests), indent=1))


if __name__ == "__main__":
    main()
