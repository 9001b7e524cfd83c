"""Training, scoring and the attention file on a GPU against a bare loop over cuDNN, in one run.

    python benchmarks/gpu.py [--turns 3] [--windows 10240] [--device cpu]

The loop is that of benchmarks/training.py with everything on the device beforehand. Each turn times both, the best turn
counts, and a ratio below its bound fails the run (exit code 1). `--device cpu` only tries the program out: it measures
no GPU and judges nothing. Without a GPU that PyTorch can use the program says so and ends with code 2.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from training import HIDDEN, HORIZON, LOOKBACK, BareLoop, table

from forecast_attn import Forecaster
from forecast_attn.attention_file import DumpChoice
from forecast_attn.data.panel import Panel
from forecast_attn.forecasting.attention_output import AttentionDumpPlan
from forecast_attn.forecasting.inference import forecast_windows, load_model, windows_at_once
from forecast_attn.forecasting.model import Model
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import read_panel

BOUNDS = {"train": 0.9, "score": 0.9, "attention file": 0.5}
"""Least share of the bare loop's speed; the file is beside its scoring."""
EPOCHS = 3
"""Of a turn; the fastest counts, since the first one loads kernels."""


class Measured(NamedTuple):
    """Windows per second, and the most memory of the device in MB while training."""

    train: float
    score: float
    memory: float


class Bare:
    """A network that a person would write for this one task, its table and its windows on a device."""

    def __init__(self, order: str, frame: pd.DataFrame, sizes: tuple[int, int], device: torch.device) -> None:
        self.target = torch.tensor(frame["target"].to_numpy(np.float32), device=device)
        self.series = torch.randn(len(frame), sizes[0], device=device)
        self.known = torch.randn(len(frame), sizes[1], device=device)
        self.network = BareLoop(*sizes, order).to(device)
        self.optimiser = torch.optim.AdamW(self.network.parameters(), lr=2e-3)
        self.past, self.ahead = (torch.arange(*span, device=device) for span in ((1 - LOOKBACK, 1), (1, HORIZON + 1)))

    def inputs(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        return self.series[rows[:, None] + self.past], self.known[rows[:, None] + self.ahead]

    def train(self, cutoffs: Tensor, batch_size: int) -> None:
        for rows in torch.split(cutoffs, batch_size):
            loss = nn.functional.l1_loss(self.network(*self.inputs(rows)), self.target[rows[:, None] + self.ahead])
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimiser.step()

    def score(self, cutoffs: Tensor, batch_size: int) -> Tensor:
        # As ours: without TensorFloat-32.
        with torch.inference_mode(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            parts = [self.network(*self.inputs(rows)) for rows in torch.split(cutoffs, batch_size)]
            return torch.cat(parts).cpu()


class ForecastAttn(NamedTuple):
    """A trained run of the same sizes."""

    model: Model
    panel: Panel
    cutoffs: NDArray[np.int64]
    device: torch.device

    @property
    def sizes(self) -> tuple[int, int]:
        """Widths of the encoder's and the decoder's inputs."""
        known = self.model.network.decoder.layers.input_size
        is_bahdanau = self.model.config.model.attention == "bahdanau"
        return self.model.network.encoder.layers.input_size, known - (HIDDEN if is_bahdanau else 0)

    def score(self, device: torch.device | None = None) -> NDArray[np.float64]:
        arrays = self.model.schema.windows_of(self.panel).to(device or self.device)
        batches = forecast_windows(self.model, self.panel, self.cutoffs, arrays, need_weights=False)
        return np.concatenate([batch.prediction for batch in batches])

    def write(self, path: Path) -> None:
        """The weights of all windows as a file."""
        arrays = self.model.schema.windows_of(self.panel).to(self.device)
        output = AttentionDumpPlan.plan(self.model, self.panel, arrays, self.cutoffs, DumpChoice())
        with output.open(path) as writer:
            for forecasts in forecast_windows(self.model, self.panel, self.cutoffs, arrays):
                output.write(writer, forecasts)


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """Seconds of the work, including what the device still had to do."""
    _wait_for(device)
    started = time.perf_counter()
    work()
    _wait_for(device)
    return time.perf_counter() - started


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def _forget_memory(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()


def _memory(device: torch.device) -> float:
    return torch.cuda.max_memory_allocated() / 2**20 if device.type == "cuda" else float("nan")


def measure_ours(
    attention: str, batch_size: int, frame: pd.DataFrame, windows: int, device: torch.device, folder: Path
) -> tuple[ForecastAttn, Measured]:
    """Train, and score what was trained."""
    options: Any = {"attention": attention, "batch_size": batch_size, "epoch_windows": windows, "max_epochs": EPOCHS}
    forecaster = Forecaster(
        lookback=LOOKBACK,
        horizon=HORIZON,
        hidden_size=HIDDEN,
        patch_length=1,
        bidirectional=False,
        dropout=0.0,
        seed=0,
        combination="none",
        future_covariates="known",
        accelerator=device.type,
        **options,
    )
    _forget_memory(device)
    forecaster.fit(frame, out=folder)
    memory = _memory(device)
    panel, _ = read_panel(frame, forecaster.config)
    subject = ForecastAttn(load_model(RunDir(folder)), panel, np.arange(LOOKBACK, LOOKBACK + windows), device)
    subject.score()  # loads kernels
    train = float(forecaster.history["windows_per_second"].max())
    return subject, Measured(train, windows / seconds(subject.score, device), memory)


def measure_bare(order: str, batch_size: int, frame: pd.DataFrame, subject: ForecastAttn) -> Measured:
    """The same of a bare loop."""
    device, windows = subject.device, len(subject.cutoffs)
    bare = Bare(order, frame, subject.sizes, device)
    cutoffs = torch.from_numpy(subject.cutoffs).to(device)
    _forget_memory(device)
    train = min(seconds(lambda: bare.train(cutoffs, batch_size), device) for _ in range(EPOCHS))
    memory, at_once = _memory(device), windows_at_once(device, LOOKBACK)
    score = min(seconds(lambda: bare.score(cutoffs, at_once), device) for _ in range(EPOCHS))
    return Measured(windows / train, windows / score, memory)


def disagreement(subject: ForecastAttn) -> float:
    """Largest difference between the device's forecasts and a CPU's, in units of their spread."""
    few = subject._replace(cutoffs=subject.cutoffs[:256])
    there, here = few.score(), few.score(torch.device("cpu"))
    return float(np.abs(there - here).max() / here.std())


def compare(
    attention: str, order: str, batch_size: int, turns: int, windows: int, device: torch.device
) -> dict[str, float]:
    """Print one line of the table; the ratios that have bounds."""
    frame, ours_turns, bare_turns, files = table(windows + LOOKBACK + HORIZON + 1_000), [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(turns):
            subject, measured = measure_ours(attention, batch_size, frame, windows, device, Path(folder) / str(turn))
            ours_turns.append(measured)
            bare_turns.append(measure_bare(order, batch_size, frame, subject))
            path = Path(folder) / f"{turn}.parquet"
            files.append(windows / seconds(lambda subject=subject, path=path: subject.write(path), device))  # type: ignore[misc]
        difference = disagreement(subject)
    best, bare_best = Measured(*np.max(ours_turns, axis=0)), Measured(*np.max(bare_turns, axis=0))
    ratios = {
        "train": best.train / bare_best.train,
        "score": best.score / bare_best.score,
        "attention file": max(files) / bare_best.score,
    }
    print(
        f"{attention:<14}{batch_size:>6}{best.train:>10,.0f}{bare_best.train:>10,.0f}{ratios['train']:>7.2f}"
        f"{best.score:>11,.0f}{bare_best.score:>10,.0f}{ratios['score']:>7.2f}{max(files):>11,.0f}"
        f"{ratios['attention file']:>7.2f}{best.memory:>9,.0f}{bare_best.memory:>7,.0f}{difference:>10.1e}",
        flush=True,
    )
    return ratios


def main() -> int:
    parser = argparse.ArgumentParser(description="Ours against a bare cuDNN loop on one GPU.")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--windows", type=int, default=10_240)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    given = parser.parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        sys.stderr.write(f"no GPU that PyTorch {torch.__version__} can use: nothing was measured\n")
        return 2
    device = torch.device(given.device)
    name = torch.cuda.get_device_name() if device.type == "cuda" else "a CPU: nothing here says anything about a GPU"
    print(f"{name}; PyTorch {torch.__version__}; {given.windows:,} windows of {LOOKBACK} steps, hidden {HIDDEN}")
    print("windows per second (ours, bare, ratio), memory while training in MB (ours, bare), and how far from a CPU's")
    print(f"{'':<14}{'batch':>6}{'train':>10}{'bare':>10}{'':>7}{'score':>11}{'bare':>10}{'':>7}{'file':>11}", end="")
    print(f"{'':>7}{'memory':>9}{'bare':>7}{'differs':>10}")
    below = []
    for attention, order in (("luong-general", "luong"), ("bahdanau", "bahdanau")):
        for batch_size in (128, 1024):
            ratios = compare(attention, order, batch_size, given.turns, given.windows, device)
            below += [
                f"{attention}, batch {batch_size}: {what} {ratio:.2f}, at least {BOUNDS[what]}"
                for what, ratio in ratios.items()
                if ratio < BOUNDS[what]
            ]
    if below and device.type == "cuda":
        print("below the bounds:", *below, sep="\n  ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
