"""CPU seconds of help pages beside a bare Typer program, and of a cold `predict` (with torch or the ONNX file) and a
short `train` beside torch.

python benchmarks/startup.py [REPEATS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bounds import at_most, exit_code, medians_of_cpu_seconds

from forecast_attn import Forecaster

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


FLOOR = """
import torch
torch.set_num_threads(1)
with torch.inference_mode():
    torch.nn.GRU(4, 128, batch_first=True)(torch.zeros(1, 168, 4))
"""

TRAINING_FLOOR = """
import torch
torch.set_num_threads(1)
network = torch.nn.GRU(4, 64, batch_first=True)
optimiser = torch.optim.AdamW(network.parameters())
network(torch.zeros(16, 36, 4))[0].sum().backward()
optimiser.step()
"""

TRAIN = "rm -rf short && {python} -m forecast_attn train months.csv --max-epochs 1 --out short"


def months(path: Path) -> None:
    """A table of 144 months."""
    at, random = np.arange(144), np.random.default_rng(0)
    target = 100 + at + 20 * np.sin(at * np.pi / 6) + 3 * random.normal(size=len(at))
    stamps = pd.date_range("2014-01-01", periods=len(at), freq="MS")
    pd.DataFrame({"timestamp": stamps, "target": target}).to_csv(path, index=False)


def small_run(path: Path) -> None:
    """A run of one hourly series with the default network, hardly trained."""
    stamps = pd.date_range("2024-01-01", periods=600, freq="h")
    values = np.sin(np.arange(600) * 2 * np.pi / 24) + 0.1 * np.random.default_rng(0).normal(size=600)
    options: Any = {"max_epochs": 1, "epoch_windows": 128, "combination": "none", "final_fit": "none", "seed": 1}
    Forecaster(accelerator="cpu", **options).fit(pd.DataFrame({"timestamp": stamps, "target": values}), out=path)


def main() -> int:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        bare, run = Path(folder) / "bare.py", Path(folder) / "run"
        bare.write_text(BARE)
        small_run(run)
        Forecaster.load(run).export()
        months(Path(folder) / "months.csv")
        command = [sys.executable, "-m", "forecast_attn"]
        median = medians_of_cpu_seconds(
            {
                "bare --help": [sys.executable, str(bare), "--help"],
                "forecast --help": [*command, "--help"],
                "bare train --help": [sys.executable, str(bare), "train", "--help"],
                "forecast train --help": [*command, "train", "--help"],
                "torch and a GRU": [sys.executable, "-c", FLOOR],
                "forecast predict": [*command, "predict", str(run)],
                "predict --runtime onnx": [*command, "predict", str(run), "--runtime", "onnx"],
                "torch and a step of AdamW": [sys.executable, "-c", TRAINING_FLOOR],
                # A new run each time: one that exists is refused.
                "forecast train": ["sh", "-c", f"cd {folder} && {TRAIN.format(python=sys.executable)}"],
            },
            repeats,
        )
    for name, value in median.items():
        print(f"{name:<24} {value:7.2f} CPU s")
    for page in ("--help", "train --help"):
        at_most(f"forecast {page}, of a bare program", median[f"forecast {page}"] / median[f"bare {page}"], 1.5)
    floor = median["torch and a step of AdamW"]
    at_most("train of 144 rows, one epoch, of torch and AdamW", median["forecast train"] / floor, 1.0)
    at_most("forecast predict, of torch and a GRU", median["forecast predict"] / median["torch and a GRU"], 1.3)
    at_most("predict --runtime onnx, of predict", median["predict --runtime onnx"] / median["forecast predict"], 0.6)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
