"""Coverage of the middle 80 % on hours that neither training nor calibration saw: docs/uncertainty.md.

    python benchmarks/uncertainty.py

The last 120 days of data/city_load.csv are kept away; every method trains on the rest with the same options, and
forecasts 24 hours from every hour of those days.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn import Forecaster
from forecast_attn.forecasting.history import read_history
from forecast_attn.forecasting.inference import forecast_windows, load_model
from forecast_attn.runs.run_dir import RunDir

TABLE = Path(__file__).resolve().parent.parent / "data" / "city_load.csv"
HELD_BACK = 120 * 24
OPTIONS: dict[str, Any] = {
    "seed": 1,
    "attention_windows": "1",
    "accelerator": "cpu",
}
METHODS: dict[str, dict[str, Any]] = {
    "quantile head": {"quantiles": (0.1, 0.5, 0.9)},
    "quantile head, cqr": {"quantiles": (0.1, 0.5, 0.9), "calibration": "cqr"},
    "point, split": {"quantiles": (0.1, 0.5, 0.9), "calibration": "split"},
    "gaussian": {"distribution": "gaussian"},
}


def known_table() -> pd.DataFrame:
    """The hours whose demand is known."""
    return pd.read_csv(TABLE).dropna(subset="demand")


def scores(run: RunDir, frame: pd.DataFrame) -> list[float]:
    """Coverage, mean width, mean pinball loss and MAE of every cut-off in the hours held back."""
    model = load_model(run)
    lookback, horizon = model.schema.lookback, model.schema.horizon
    panel = read_history(model, run, frame.iloc[-HELD_BACK - lookback :], TABLE.name).panel
    cutoffs = np.arange(lookback - 1, len(panel.target) - horizon)
    batches = list(forecast_windows(model, panel, cutoffs, need_weights=False))
    quantiles = np.concatenate([batch.quantiles for batch in batches if batch.quantiles is not None])
    actual = panel.target[cutoffs[:, None] + np.arange(1, horizon + 1)]
    error = actual[..., None] - quantiles
    shares = np.array(model.quantiles)
    inside = (actual >= quantiles[..., 0]) & (actual <= quantiles[..., -1])
    return [
        100 * inside.mean(),
        (quantiles[..., -1] - quantiles[..., 0]).mean(),
        np.maximum(shares * error, (shares - 1) * error).mean(),
        np.abs(actual - np.concatenate([batch.prediction for batch in batches])).mean(),
    ]


def main() -> int:
    frame = known_table()
    print(
        "| method | held, of 80 % | width, MW | pinball, MW | MAE, MW | seconds |\n|---|---|---|---|---|---|",
        flush=True,
    )
    for name, options in METHODS.items():
        started = time.monotonic()
        forecaster = Forecaster(**OPTIONS, **options).fit(frame.iloc[:-HELD_BACK])
        held, width, pinball, mae = scores(RunDir(forecaster.run_path), frame)
        seconds = time.monotonic() - started
        print(f"| {name} | {held:.1f} | {width:.1f} | {pinball:.2f} | {mae:.2f} | {seconds:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
