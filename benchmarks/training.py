"""Training and prediction against a hand-written torch loop of the same equations, in one run.

    python benchmarks/training.py [TURNS]

The loop has the same sizes, inputs, optimiser and clipping, precomputes its keys, and does nothing else: no Lightning,
no history, no checks. Ours is what `forecast train` does. Both are timed in turns, and the best turn of each counts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from bounds import at_most, exit_code
from torch import Tensor, nn

from forecast_attn.nn.builder import ATTENTION_SIZE

LOOKBACK, HORIZON, HIDDEN, BATCH, WINDOWS = 168, 24, 64, 128, 2_560


GOAL = 1.25
"""Most CPU seconds a window, of those of the bare loop."""


def table(rows: int = 4_000) -> pd.DataFrame:
    """Hourly series with two covariates, one of them known in the future."""
    random = np.random.default_rng(0)
    stamps = pd.date_range("2024-01-01", periods=rows, freq="h")
    known, past = random.normal(size=(2, len(stamps)))
    target = np.sin(np.arange(len(stamps)) * 2 * np.pi / 24) + known + 0.1 * past
    return pd.DataFrame({"timestamp": stamps, "target": target, "known": known, "past": past})


class BareLoop(nn.Module):
    """The network a person would write for this one task."""

    def __init__(self, past_size: int, known_size: int, order: str) -> None:
        super().__init__()
        self.order = order
        self.encoder = nn.GRU(past_size, HIDDEN, batch_first=True)
        self.skip = nn.Linear(past_size, HIDDEN, bias=False)
        self.bridge = nn.Linear(HIDDEN, HIDDEN)
        self.decoder = nn.GRU(known_size, HIDDEN, batch_first=True)
        self.cell = nn.GRUCell(known_size + HIDDEN, HIDDEN)
        width = HIDDEN if order == "luong" else ATTENTION_SIZE
        self.of_query = nn.Linear(HIDDEN, width, bias=False)
        self.of_key = nn.Linear(HIDDEN, width, bias=False)
        self.v = nn.Parameter(torch.randn(width) / 8)
        self.combine = nn.Linear(2 * HIDDEN, HIDDEN, bias=False)
        self.head = nn.Linear(HIDDEN if order == "luong" else 2 * HIDDEN + known_size, 1)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        memory, state = self.encoder(past)
        memory = memory + self.skip(past)
        state = torch.tanh(self.bridge(state))
        return self.luong(memory, state, known) if self.order == "luong" else self.bahdanau(memory, state[0], known)

    def luong(self, memory: Tensor, state: Tensor, known: Tensor) -> Tensor:
        hidden, _ = self.decoder(known, state)
        weights = (self.of_query(hidden) @ memory.transpose(1, 2)).softmax(-1)
        outputs: Tensor = self.head(torch.tanh(self.combine(torch.cat([weights @ memory, hidden], -1))))
        return outputs[..., 0]

    def bahdanau(self, memory: Tensor, state: Tensor, known: Tensor) -> Tensor:
        keys, outputs = self.of_key(memory), []
        for step in range(HORIZON):
            scores = torch.tanh(self.of_query(state)[:, None] + keys) @ self.v
            context_vector = (scores.softmax(-1)[:, None] @ memory)[:, 0]
            state = self.cell(torch.cat([known[:, step], context_vector], -1), state)
            outputs.append(self.head(torch.cat([state, context_vector, known[:, step]], -1)))
        return torch.cat(outputs, 1)


def bare_rates(order: str, frame: pd.DataFrame, sizes: tuple[int, int]) -> tuple[float, float]:
    """Windows per second of training and of scoring."""
    target = torch.tensor(frame["target"].to_numpy(np.float32))
    series = torch.randn(len(target), sizes[0])
    known = torch.randn(len(target), sizes[1])
    network = BareLoop(*sizes, order)
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3)
    cutoffs = torch.randperm(len(target) - LOOKBACK - HORIZON)[:WINDOWS] + LOOKBACK

    def gather(rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        past, ahead = rows[:, None] + torch.arange(1 - LOOKBACK, 1), rows[:, None] + torch.arange(1, HORIZON + 1)
        return series[past], known[ahead], target[ahead]

    def train() -> None:
        for rows in torch.split(cutoffs, BATCH):
            past, ahead, truth = gather(rows)
            loss = nn.functional.l1_loss(network(past, ahead), truth)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()

    def score() -> None:
        with torch.inference_mode():
            for rows in torch.split(cutoffs, BATCH):
                network(*gather(rows)[:2])

    return WINDOWS / seconds(train), WINDOWS / seconds(score)


def seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def our_rates(attention: str, frame: pd.DataFrame, folder: Path, turn: int) -> tuple[float, float, tuple[int, int]]:
    """Windows per second of training and of scoring, and the widths of the encoder's and decoder's inputs."""
    from forecast_attn import Forecaster
    from forecast_attn.forecasting.inference import forecast_windows, load_model
    from forecast_attn.runs.run_dir import RunDir
    from forecast_attn.runs.training_table import read_panel

    options: Any = {
        "attention": attention,
        "batch_size": BATCH,
        "epoch_windows": WINDOWS,
        "max_epochs": 1,
        "combination": "none",
        "seed": turn,
    }
    options["patch_length"] = 1  # the loop reads single hours
    forecaster = Forecaster(future_covariates="known", accelerator="cpu", **options)
    run = folder / f"{attention}-{turn}"
    forecaster.fit(frame, out=run)
    model = load_model(RunDir(run))
    panel, _ = read_panel(frame, forecaster.config)
    cutoffs = np.arange(LOOKBACK, LOOKBACK + WINDOWS)

    def score() -> None:
        for _ in forecast_windows(model, panel, cutoffs):
            pass

    encoder = model.network.encoder.layers.input_size
    known = model.network.decoder.layers.input_size - (HIDDEN if attention == "bahdanau" else 0)
    return float(forecaster.history["windows_per_second"].max()), WINDOWS / seconds(score), (encoder, known)


def main() -> int:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    torch.set_num_threads(1)
    frame = table()
    print("windows per second; cost = bare / ours")
    print(f"{'':<16}{'train: ours':>12}{'bare':>8}{'cost':>8}{'score: ours':>14}{'bare':>8}{'cost':>8}")
    for attention, order in (("luong-general", "luong"), ("bahdanau", "bahdanau")):
        times, bare = [], []
        with tempfile.TemporaryDirectory() as folder:
            for turn in range(turns):
                train, score, sizes = our_rates(attention, frame, Path(folder), turn)
                times.append((train, score))
                bare.append(bare_rates(order, frame, sizes))
        ours_best, bare_best = np.max(times, axis=0), np.max(bare, axis=0)
        cells = [f"{attention:<16}"]
        for our_rate, bare_rate, width in zip(ours_best, bare_best, (12, 14), strict=True):
            cells.append(f"{our_rate:>{width},.0f}{bare_rate:>8,.0f}{bare_rate / our_rate:>8.2f}")
        print("".join(cells))
        for work, our_rate, bare_rate in zip(("training", "scoring"), ours_best, bare_best, strict=True):
            at_most(f"{work} {attention}, of a bare loop", bare_rate / our_rate, GOAL)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
