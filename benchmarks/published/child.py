"""One training, or one stretch of forecasts, in a process of its own: `python -m published.child TASK.json`.

Its peak memory is then that of the one training. It uses `Forecaster` and nothing below it.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors import safe_open

from forecast_attn import Forecaster
from published.fev import QUANTILES, day_scores
from published.protocols import TARGET, TIME, read_table


def run_task(path: Path) -> None:
    """Do what a task file says, and write what there is to say to the file it names, whole or not at all."""
    task = json.loads(path.read_text(encoding="utf-8"))
    result = train(task) if task["kind"] == "train" else score(task)
    part = Path(task["out"] + ".partial")
    part.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    part.replace(task["out"])


def train(task: dict[str, Any]) -> dict[str, Any]:
    """Train on the first rows of a table; the others are cut off before anything looks at them."""
    table = read_table(Path(task["table"])).iloc[: task["known"]]
    clock, cpu = time.perf_counter(), time.process_time()
    forecaster = Forecaster(**task["options"]).fit(table, out=Path(task["run"]))
    seconds, cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu
    if forecaster.metrics["ended"] == "interrupted":
        raise KeyboardInterrupt
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds, 1),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "parameters": sum(number_of_parameters(path) for path in sorted(Path(task["run"]).rglob("model.safetensors"))),
        "rows": len(table),
        "last_row": str(table[TIME].iloc[-1]),
        "epochs": len(forecaster.history),
        "metrics": forecaster.metrics,
    }


def number_of_parameters(path: Path) -> int:
    """Numbers in a file of weights."""
    with safe_open(path, framework="numpy") as weights:
        return sum(int(np.prod(weights.get_slice(name).get_shape())) for name in weights.keys())  # noqa: SIM118


def score(task: dict[str, Any]) -> dict[str, Any]:
    """Forecast a stage with a run, and score all of its windows."""
    table = read_table(Path(task["table"])).iloc[: task["end"]]
    clock, cpu = time.perf_counter(), time.process_time()
    result = Forecaster.load(task["run"]).backtest(
        table,
        start=str(table[TIME].iloc[task["start"]]),
        stride=task["stride"],
        baselines=["seasonal-naive"],
        metrics=["mae"],
        name="ours",
        out=Path(task["forecasts"]),
        accelerator="cpu",
        **task["backtest"],
    )
    seconds, cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu
    scale = 1.0 if task["in_money"] else float(table[TARGET].iloc[: task["training_rows"]].std(ddof=0))
    if result.left_out:
        raise RuntimeError(f"windows were left out, which no protocol allows: {result.left_out}")
    scored = result.frame[result.frame["timestamp"] >= table[TIME].iloc[task["first"]]]
    scores = {
        name: errors(rows, scale, task["windows"], task["horizon"]) | quantile_errors(rows, table[TARGET].to_numpy())
        for name, rows in scored.groupby("model", observed=True)
    }
    scores.setdefault(task["model"], scores["ours"])  # validation may have given the network all weight
    return {
        **scores[task["model"]],
        "models": scores,
        "scale": scale,
        "windows": task["windows"],
        "first_row": str(table[TIME].iloc[task["first"]]),
        "last_row": str(table[TIME].iloc[-1]),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds, 1),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def forecast_of(options: dict[str, Any]) -> str:
    """The model of a backtest whose forecasts are ours, by the options of training and backtest."""
    of_run = options.get("combination", "auto")
    return "ours" if options.get("combine_with", of_run) == "none" else "combination"


def errors(rows: pd.DataFrame, scale: float, windows: int, horizon: int) -> dict[str, float]:
    """MSE and MAE over all windows and steps, on the scale of the protocol.

    Raises:
        RuntimeError: there are not as many values as the protocol has.
    """
    error = (rows["prediction"].to_numpy(np.float64) - rows["target"].to_numpy(np.float64)) / scale
    if len(error) != windows * horizon or not np.isfinite(error).all():
        raise RuntimeError(f"{windows} windows of {horizon} steps were expected, got {np.isfinite(error).sum()} values")
    return {"mse": float(np.mean(error**2)), "mae": float(np.mean(np.abs(error)))}


def quantile_errors(rows: pd.DataFrame, target: np.ndarray) -> dict[str, float]:
    """Means over the days of what `day_scores` gives; nothing for forecasts without the nine quantiles."""
    if not set(QUANTILES) <= set(rows.columns) or rows[list(QUANTILES)].isna().any(axis=None):
        return {}
    return {name: float(values.mean()) for name, values in day_scores(rows, target).items()}


if __name__ == "__main__":
    run_task(Path(sys.argv[1]))
