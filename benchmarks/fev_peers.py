"""Other forecasters on the 364 days that fev_epf.py chooses on, scored as ours is: docs/accuracy.md.

    OMP_NUM_THREADS=1 python benchmarks/fev_peers.py DATA_DIR
    OMP_NUM_THREADS=1 python benchmarks/fev_peers.py DATA_DIR --markets NP --peers LEAR

TFT and PatchTST are those of neuralforecast, trained once before the 364 days for a given CPU time, on one thread.
LEAR is a lasso per hour, estimated anew every week (published/lear.py). Peers whose package is not installed are left
out. What is finished is not run again. The last 20 days are cut off first and never scored.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytorch_lightning as pl
from epf import markets_in
from published import protocols
from published.fev import QUANTILES, day_scores
from published.lear import forecast_days
from published.pieces import write_json
from published.protocols import DAY, FEV, TARGET, TIME, Stage, TableError, check_days, read_table

LOOKBACK = 168
PEAK_RATE = 0.001
"""Of the learning rate."""


def main() -> int:
    arguments = _parser().parse_args()
    peers = [name for name in arguments.peers if _is_installed(name)]
    failed = 0
    for path in markets_in(arguments.data, arguments.markets):
        for peer in peers:
            try:
                run_peer(path, peer, arguments)
            except TableError as error:
                _say(f"error: {error}")
                failed += 1
    for line in _lines(arguments.out):
        print(line)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA_DIR", help="folder of market files")
    parser.add_argument("--markets", nargs="+", metavar="NAME", help="files without .csv; all but ETT* when absent")
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS), metavar="NAME")
    parser.add_argument("--budget", type=int, default=180, metavar="S", help="CPU seconds of a training [default: 180]")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of a network [default: 1]")
    parser.add_argument("--out", type=Path, default=Path("runs/fev-peers"), metavar="DIR", help="folder of results")
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _is_installed(peer: str) -> bool:
    module, package = ("sklearn", "scikit-learn") if peer == "LEAR" else ("neuralforecast", "neuralforecast")
    if find_spec(module) is None:
        _say(f"{peer} is left out: {package} is not installed")
        return False
    return True


def run_peer(path: Path, peer: str, arguments: argparse.Namespace) -> None:
    """Forecast and score the 364 days, unless that is done."""
    settings = "" if peer == "LEAR" else f"-seed-{arguments.seed}-{arguments.budget}s"
    result = arguments.out / path.stem / f"{peer}{settings}.json"
    if result.exists():
        return
    _say(f"{path.stem}: {peer}")
    table = read_table(path)
    check_days(table, path.name)
    stage = FEV["FEV"].stages(len(table))[0]
    table = table.iloc[: stage.end]
    started = time.process_time()
    quantiles, details = PEERS[peer](table, stage, arguments)
    cpu_seconds = round(time.process_time() - started, 1)
    rows = forecast_rows(table, stage, quantiles)
    scores = {name: float(each.mean()) for name, each in day_scores(rows, table[TARGET].to_numpy()).items()}
    result.parent.mkdir(parents=True, exist_ok=True)
    rows.to_parquet(result.with_suffix(".parquet"))
    entry = {"market": path.stem, "peer": result.stem, **scores, "cpu_seconds": cpu_seconds, **details}
    write_json(result, entry)


def forecast_rows(table: pd.DataFrame, stage: Stage, quantiles: np.ndarray) -> pd.DataFrame:
    """Rows as `day_scores` takes them, from quantiles of shape (days, hours, quantiles)."""
    rows = np.arange(stage.first, stage.end)
    hours = (rows - stage.first) % DAY
    frame = pd.DataFrame({"cutoff": rows - hours, "step": hours + 1, "target": table[TARGET].to_numpy()[rows]})
    return frame.join(pd.DataFrame(np.sort(quantiles, axis=-1).reshape(len(rows), -1), columns=list(QUANTILES)))


# --------------------------------------------------------------------------- TFT and PatchTST


def network(
    peer: str, table: pd.DataFrame, stage: Stage, arguments: argparse.Namespace
) -> tuple[np.ndarray, dict[str, Any]]:
    """Forecasts by a network of neuralforecast that sees the rows before `stage.known`; the last 91 days of them
    choose its step."""
    import torch
    from neuralforecast import NeuralForecast, models
    from neuralforecast.losses.pytorch import MQLoss

    torch.set_num_threads(1)
    frame = with_calendar(table)
    covariates = [name for name in frame.columns if name not in ("ds", "y")]
    model = getattr(models, peer)(
        h=DAY,
        input_size=LOOKBACK,
        loss=MQLoss(quantiles=[float(name) for name in QUANTILES]),
        learning_rate=PEAK_RATE,
        max_steps=1_000_000,  # the budget ends it
        val_check_steps=50,
        windows_batch_size=128,
        inference_windows_batch_size=256,
        random_seed=arguments.seed,
        alias=peer,
        callbacks=[Budget(arguments.budget)],
        enable_model_summary=False,
        num_sanity_val_steps=0,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        # PatchTST takes no covariates; a TFT of the default width, 128, sees few windows in the time.
        **({"futr_exog_list": covariates, "hidden_size": 32} if peer == "TFT" else {}),
    )
    forecaster = NeuralForecast(models=[model], freq="h")
    forecaster.fit(frame.iloc[: stage.known].assign(unique_id=0), val_size=protocols.INNER_DAYS * DAY)
    history, future = windows(frame, stage)
    forecast = forecaster.predict(history, futr_df=future).sort_values(["unique_id", "ds"])
    quantiles = forecast.drop(columns=["unique_id", "ds"]).to_numpy(np.float64).reshape(-1, DAY, len(QUANTILES))
    (fitted,) = forecaster.models  # a copy, with a copy of the budget
    (budget,) = fitted.trainer_kwargs["callbacks"]
    parameters = sum(each.numel() for each in fitted.parameters())
    return quantiles, {"parameters": parameters, "steps": budget.steps, "best_step": budget.best_step}


class Budget(pl.Callback):
    """Training for a given CPU time: the learning rate falls to 0 by its end, and the weights with the smallest
    validation loss are kept."""

    def __init__(self, cpu_seconds: float) -> None:
        self.cpu_seconds, self.started = cpu_seconds, time.process_time()
        self.smallest, self.weights = float("inf"), dict[str, Any]()
        self.steps = self.best_step = 0

    def on_train_batch_start(self, trainer: Any, *_: Any) -> None:
        left = max(1 - (time.process_time() - self.started) / self.cpu_seconds, 0)
        for group in trainer.optimizers[0].param_groups:
            group["lr"] = PEAK_RATE * left
        trainer.should_stop = left == 0
        self.steps = trainer.global_step

    def on_validation_end(self, trainer: Any, module: Any) -> None:
        loss = float(trainer.callback_metrics["ptl/val_loss"])
        if loss < self.smallest:
            self.smallest, self.best_step = loss, trainer.global_step
            self.weights = {name: value.clone() for name, value in module.state_dict().items()}

    def on_train_end(self, _: Any, module: Any) -> None:
        module.load_state_dict(self.weights)


def with_calendar(table: pd.DataFrame) -> pd.DataFrame:
    """The table as neuralforecast takes it, with the hour and the weekday on circles."""
    frame = table.rename(columns={TIME: "ds", TARGET: "y"})
    for name, value, period in (("hour", frame["ds"].dt.hour, 24), ("weekday", frame["ds"].dt.day_of_week, 7)):
        frame[f"{name}_sine"], frame[f"{name}_cosine"] = (f(2 * np.pi * value / period) for f in (np.sin, np.cos))
    return frame


def windows(frame: pd.DataFrame, stage: Stage) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The hours before each midnight, and the covariates of the day after it; each midnight is a series of its own,
    so a forecast has nothing else to read."""
    histories, futures = [], []
    for number, cutoff in enumerate(range(stage.first, stage.end, stage.stride)):
        histories.append(frame.iloc[cutoff - LOOKBACK : cutoff].assign(unique_id=number))
        futures.append(frame.iloc[cutoff : cutoff + DAY].drop(columns="y").assign(unique_id=number))
    return pd.concat(histories, ignore_index=True), pd.concat(futures, ignore_index=True)


PEERS: dict[str, Callable[..., tuple[np.ndarray, dict[str, Any]]]] = {
    "TFT": lambda *given: network("TFT", *given),
    "PatchTST": lambda *given: network("PatchTST", *given),
    "LEAR": lambda table, stage, _: (forecast_days(table, stage), {}),
}
"""Name -> forecasts of the 364 days, (days, hours, quantiles), and what else to keep of them."""


def _lines(out: Path) -> Iterator[str]:
    """The table that is printed: everything finished in the folder."""
    yield f"{'the 364 days':<28}{'SQL':>8}{'MASE':>8}{'80 % holds':>12}{'CPU s':>8}"
    for path in sorted(out.glob("*/*.json")):
        each = json.loads(path.read_text(encoding="utf-8"))
        name = f"{each['market']}, {each['peer']}"
        coverage = f"{100 * each['coverage']:.1f}%"
        yield f"{name:<28}{each['sql']:>8.3f}{each['mase']:>8.3f}{coverage:>12}{each['cpu_seconds']:>8.0f}"


if __name__ == "__main__":
    sys.exit(main())
