"""How long `forecast --help` takes beside a bare Typer program with the same number of commands, in one run.

    python benchmarks/startup.py [REPEATS]

Also prints what a prediction in a fresh process costs beside importing torch and pandas alone.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARE = """
import typer
app = typer.Typer()
@app.command()
def check(data: str): "One."
@app.command()
def train(data: str, horizon: int = 24, lookback: int = 168): "Two."
@app.command()
def predict(run: str): "Three."
@app.command()
def inspect(run: str): "Four."
@app.command()
def info(run: str): "Five."
app()
"""


def seconds(words: list[str]) -> float:
    """Wall time of a command that must succeed."""
    started = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        ours = [sys.executable, "-m", "forecast_attn"]
        commands = {
            "bare --help": [sys.executable, str(bare), "--help"],
            "forecast --help": [*ours, "--help"],
            "bare train --help": [sys.executable, str(bare), "train", "--help"],
            "forecast train --help": [*ours, "train", "--help"],
            "import torch, pandas": [sys.executable, "-c", "import torch, pandas"],
            "forecast info": [*ours, "info"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(repeats):  # interleaved, so that a busy moment hits all of them
            for name, words in commands.items():
                times[name].append(seconds(words))
    median = {name: statistics.median(values) for name, values in times.items()}
    for name, value in median.items():
        print(f"{name:<24} {value * 1000:7.0f} ms")
    for page in ("--help", "train --help"):
        ratio = median[f"forecast {page}"] / median[f"bare {page}"]
        print(f"forecast {page}: {ratio:.2f} times the bare program (must stay below 2)")


if __name__ == "__main__":
    main()
