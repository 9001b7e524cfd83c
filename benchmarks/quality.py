"""Time to quality: default settings on a market, protocol F, after at most 90 seconds of training, beside a bare GRU.

    python benchmarks/quality.py NP.csv                 what validation says
    python benchmarks/quality.py NP.csv --test          the test part, and whether its MAE is at most 0.25

The bare network is a GRU over the 168 hours and another over the 24 known ones, without attention and without
normalisation of windows, in a loop that does nothing else. It gets as many seconds as all of `fit` took, and --threads
threads; ours has the default, one. Seconds are of the clock: run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from published.child import errors
from published.protocols import EPF, TARGET, TIME, Stage, read_table
from torch import Tensor, nn

from forecast_attn import Forecaster

PROTOCOL, LOOKBACK, BATCH = EPF["F"], 168, 128
HORIZON = PROTOCOL.horizon
GOAL = 0.25
"""MAE of the standardised price on NP's test part."""


class BareGru(nn.Module):
    """The network that a person would write first."""

    def __init__(self, past_size: int, known_size: int, hidden_size: int = 64) -> None:
        super().__init__()
        self.encoder = nn.GRU(past_size, hidden_size, batch_first=True)
        self.decoder = nn.GRU(known_size, hidden_size, batch_first=True)
        self.head = nn.Linear(hidden_size, 1)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """past (batch, lookback, past_size), known (batch, horizon, known_size) -> (batch, horizon)."""
        _, state = self.encoder(past)
        states, _ = self.decoder(known, state)
        prediction: Tensor = self.head(states)[..., 0]
        return prediction


class BareWindows:
    """The table as standardised tensors, and its windows by the row of their cut-off."""

    def __init__(self, table: pd.DataFrame, train: int) -> None:
        values = table.drop(columns=TIME).to_numpy(np.float64)
        scaled = (values - values[:train].mean(0)) / values[:train].std(0)
        clock = 2 * np.pi * np.stack([table[TIME].dt.hour / 24, table[TIME].dt.day_of_week / 7], 1)
        target = list(table.columns.drop(TIME)).index(TARGET)
        known = np.concatenate([np.delete(scaled, target, 1), np.sin(clock), np.cos(clock)], 1)
        self.target = torch.tensor(scaled[:, target], dtype=torch.float32)
        self.known = torch.tensor(known, dtype=torch.float32)
        self.past = torch.cat([self.target[:, None], self.known], 1)

    def gather(self, cutoffs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Past inputs, known inputs and targets of these windows."""
        past = cutoffs[:, None] + torch.arange(1 - LOOKBACK, 1)
        ahead = cutoffs[:, None] + torch.arange(1, HORIZON + 1)
        return self.past[past], self.known[ahead], self.target[ahead]


def bare(table: pd.DataFrame, stage: Stage, train: int, seconds: float, seed: int) -> dict[str, Any]:
    """Train the bare network for so long on the training rows, and score it on the stage."""
    torch.manual_seed(seed)
    windows = BareWindows(table, train)
    network = BareGru(windows.past.shape[1], windows.known.shape[1])
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    steps, started = 0, time.perf_counter()
    while (share := (time.perf_counter() - started) / seconds) < 1:
        optimiser.param_groups[0]["lr"] = 3e-3 * (1 - share)
        past, known, target = windows.gather(torch.randint(LOOKBACK - 1, train - HORIZON, (BATCH,)))
        loss = nn.functional.l1_loss(network(past, known), target)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        steps += 1
    with torch.inference_mode():
        cutoffs = torch.arange(stage.first - 1, stage.end - HORIZON)
        batches = [windows.gather(rows) for rows in torch.split(cutoffs, 512)]
        error = torch.cat([network(past, known) - target for past, known, target in batches]).double()
    assert len(error) == stage.windows(HORIZON)
    return {
        "mse": float(error.square().mean()),
        "mae": float(error.abs().mean()),
        "seconds": round(seconds, 1),
        "steps": steps,
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
    }


def forecast_attn_scores(table: pd.DataFrame, stage: Stage, train: int, seconds: float, seed: int) -> dict[str, Any]:
    """Train with default settings for at most so long, and score on the stage."""
    options = PROTOCOL.fixed_options(list(table.columns), stage) | {"lookback": LOOKBACK, "accelerator": "cpu"}
    # The last epoch is validated after the time is up: that, too, has to fit.
    forecaster = Forecaster(**options, seed=seed, max_time=f"{0.95 * seconds:g}s")
    started = time.perf_counter()
    forecaster.fit(table.iloc[: stage.known])
    took = time.perf_counter() - started
    result = forecaster.backtest(
        table.iloc[: stage.end],
        start=str(table[TIME].iloc[stage.first]),
        stride=1,
        baselines=[],
        metrics=["mae"],
        accelerator="cpu",
    )
    scale = float(table[TARGET].iloc[:train].std(ddof=0))
    history, rows = forecaster.history, result.frame
    of_run = rows["model"] == ("combination" if "combination" in set(rows["model"]) else rows["model"].iloc[0])
    return {
        **errors(rows[of_run], scale, stage.windows(HORIZON), HORIZON),
        "seconds": round(took, 1),
        "epoch_seconds": history["seconds"].tolist(),
        "epochs": len(history),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, metavar="NP.csv")
    parser.add_argument("--seconds", type=float, default=90, help="of training [default: 90]")
    parser.add_argument("--threads", type=int, default=2, help="of the bare network [default: 2]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--test", action="store_true", help="score the test part instead of validation")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    arguments = parser.parse_args()
    table = read_table(arguments.table)
    train = PROTOCOL.split(len(table))[0]
    stage = PROTOCOL.stages(len(table))[arguments.test]
    print(f"{arguments.table.name}, protocol F, {stage.name}: {stage.windows(HORIZON):,} windows, horizon {HORIZON}")
    print(f"{'':<28}{'MSE':>8}{'MAE':>8}{'seconds':>10}", flush=True)
    scores_by_name = {
        "ours, default settings": forecast_attn_scores(table, stage, train, arguments.seconds, arguments.seed)
    }
    torch.set_num_threads(arguments.threads)
    took = scores_by_name["ours, default settings"]["seconds"]
    scores_by_name[f"bare GRU, {arguments.threads} threads"] = bare(table, stage, train, took, arguments.seed)
    for name, scores in scores_by_name.items():
        print(f"{name:<28}{scores['mse']:>8.3f}{scores['mae']:>8.3f}{scores['seconds']:>10.1f}")
    if arguments.json is not None:
        arguments.json.write_text(
            json.dumps({"stage": stage.name, **scores_by_name}, indent=1) + "\n", encoding="utf-8"
        )
    if not arguments.test:
        return 0
    with_defaults = scores_by_name["ours, default settings"]
    reached = with_defaults["mae"] <= GOAL and sum(with_defaults["epoch_seconds"]) <= arguments.seconds
    print(f"MAE at most {GOAL} after at most {arguments.seconds:g} s in epochs: {'yes' if reached else 'NO'}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
