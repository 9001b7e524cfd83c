"""Every mechanism, head, cell, order, window and normaliser as an ONNX file, compared with `predict`.

    python benchmarks/export.py [NAME …]

Trains a small network for each mechanism (or those named), exports it, and prints the largest difference of each
output. The last rows are panels with every kind of column, holes and a series shorter than the lookback: of one
network, and of an ensemble over patches. The first network is exported twice, to the same bytes. Fails where a network
cannot be exported.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn import Forecaster
from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.errors import UserError

SMALL: dict[str, Any] = {
    "lookback": 7,  # conversion costs time for every step of a recurrent network
    "horizon": 2,
    "hidden_size": 4,
    "max_epochs": 1,
    "epoch_windows": 32,
    "validation": 30,
    "seed": 7,
    "accelerator": "cpu",
}
HEADS: list[dict[str, Any]] = [
    {"quantiles": (0.1, 0.5, 0.9)},
    {"distribution": "gaussian", "calibration": "cqr"},
    {"distribution": "student-t", "quantiles": (0.05, 0.5, 0.9)},
    {"quantiles": (0.2, 0.8), "calibration": "split"},
    {},
]
NORMALISERS = ("softmax", "sparsemax", "entmax15")
TRANSFORMS = ("none", "arcsinh", "log")
EVERY_COLUMN: dict[str, Any] = {
    "lookback": 14,
    "past_covariates": ("price",),
    "future_covariates": ("wind:2", "weather"),
    "static_covariates": ("size", "kind"),
    "item_id": "item",
    "missing": "mask",
    "short_series": "pad",
    "calendar": "day_of_week,day_of_month,week_of_year,quarter,weekend",
    "combination": "none",
    "final_fit": "none",
}


def options_of(number: int, mechanism: str) -> dict[str, Any]:
    """Options of a mechanism, such that together they go through every head, cell, order and normaliser."""
    options = {
        "attention": mechanism,
        "cell": ("gru", "lstm")[number % 2],
        "transform": TRANSFORMS[number % 3],
        "decoding": ("direct", "autoregressive")[number // 2 % 2],
        "num_layers": 1 + number % 2,
        "bidirectional": number % 3 == 0,
        **HEADS[number % len(HEADS)],
    }
    if mechanism != "none":
        options["attention_order"] = ("bahdanau", "luong")[number // 3 % 2]
        options["normaliser"] = NORMALISERS[number % 3]
        options["attention_window"] = ("global", "local-p", "local-m")[number // 2 % 3]
    return options


def table(rows: int = 120) -> pd.DataFrame:
    """Days with every kind of column, all above 0."""
    rng, steps = np.random.default_rng(0), np.arange(rows)
    return pd.DataFrame(
        {
            "date": pd.date_range("2024-01-01", periods=rows, freq="D"),
            "target": 100 + 30 * np.sin(2 * np.pi * steps / 7) + rng.normal(size=rows),
            "wind": rng.normal(5, 2, rows),
            "price": rng.normal(50, 9, rows),
            "weather": rng.choice(["sun", "rain"], rows),
        }
    )


def panel(rows: int = 90) -> pd.DataFrame:
    """Three series of other levels, one of them shorter than a lookback, with holes and what is constant."""
    parts = []
    for number, (name, length) in enumerate({"north": rows, "south": rows, "west": 9}.items()):
        part = table(rows).iloc[rows - length :].assign(item=name, size=10.0 * number, kind="ab"[number % 2])
        part["target"] = part["target"] * (1 + 9 * number)
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    frame.loc[[3, 40, rows + 20], "target"] = np.nan
    frame.loc[[5, rows + 30], "price"] = np.nan
    return frame


def cases() -> dict[str, tuple[pd.DataFrame, dict[str, Any]]]:
    """A table and options by the name of the row."""
    alone = table(120)[["date", "target"]]
    by_name = {name: (alone, options_of(number, name)) for number, name in enumerate(ATTENTIONS)}
    by_name["panel"] = (panel(), EVERY_COLUMN)
    by_name["panel-ensemble"] = (panel(), {**EVERY_COLUMN, "ensemble": 2, "combine": "median", "patch_length": 7})
    return by_name


def main() -> int:
    names = sys.argv[1:] or list(cases())
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            frame, options = cases()[name]
            forecaster = Forecaster(**{**SMALL, **options}).fit(frame)
            path, started = Path(folder) / f"{name}.onnx", time.perf_counter()
            try:
                written = forecaster.export(path)
            except UserError as error:
                failed += 1
                print(f"{name:<18} FAILED: {error.message}", flush=True)
                continue
            seconds = time.perf_counter() - started
            differences = "  ".join(f"{output} {value:.1e}" for output, value in written.difference.items())
            print(f"{name:<18} {written.nodes:>5} nodes {seconds:6.1f} s  {differences}", flush=True)
            if name == names[0]:
                content = path.read_bytes()
                same = forecaster.export(path).path.read_bytes() == content
                failed += not same
                print(f"{name:<18} exported again: {'the same bytes' if same else 'FAILED: other bytes'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
