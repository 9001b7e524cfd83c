"""Scores of fev-bench (Shchur et al. 2025, repository autogluon/fev) and its published rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

QUANTILES = tuple(f"0.{tenth}" for tenth in range(1, 10))
"""Names of their columns."""
SEASON = 24

Pair = tuple[float, float]

PUBLISHED: dict[str, dict[str, Pair]] = {
    "NP": {
        "TiRex-2": (0.612, 0.796),
        "TabPFN-TS-3": (0.633, 0.783),
        "PatchTST (AutoGluon)": (0.635, 0.806),
        "Chronos-2": (0.658, 0.850),
        "TabPFN-TS": (0.678, 0.883),
        "TFT (AutoGluon)": (0.690, 0.859),
        "DeepAR (AutoGluon)": (0.817, 0.995),
        "TimesFM-2.5": (1.171, 1.440),
        "Toto-2.0": (1.154, 1.417),
        "seasonal-naive": (1.530, 1.761),
    },
    "PJM": {
        "TiRex-2": (0.375, 0.470),
        "TabPFN-TS-3": (0.382, 0.472),
        "PatchTST (AutoGluon)": (0.369, 0.465),
        "Chronos-2": (0.382, 0.472),
        "TabPFN-TS": (0.436, 0.544),
        "TFT (AutoGluon)": (0.346, 0.428),
        "DeepAR (AutoGluon)": (0.357, 0.453),
        "TimesFM-2.5": (0.426, 0.531),
        "Toto-2.0": (0.418, 0.526),
        "seasonal-naive": (0.515, 0.581),
    },
    "FR": {
        "TiRex-2": (0.348, 0.434),
        "TabPFN-TS-3": (0.374, 0.474),
        "PatchTST (AutoGluon)": (0.338, 0.421),
        "Chronos-2": (0.362, 0.450),
        "TabPFN-TS": (0.330, 0.422),
        "TFT (AutoGluon)": (0.397, 0.493),
        "DeepAR (AutoGluon)": (0.405, 0.515),
        "TimesFM-2.5": (0.409, 0.491),
        "Toto-2.0": (0.437, 0.550),
        "seasonal-naive": (1.246, 0.850),
    },
}
"""Market -> model -> (SQL, MASE), as of August 2026."""
GOALS: dict[str, Pair] = {"NP": (0.60, 0.775), "PJM": (0.310, 0.380), "FR": (0.320, 0.410)}
"""Goals we set ourselves before the test days were scored."""


def day_scores(rows: pd.DataFrame, target: np.ndarray) -> dict[str, np.ndarray]:
    """Score the forecasts of each day.

    Args:
        rows: of one model: cutoff, step, target and the nine quantiles; the last day ends with the table.
        target: of the whole table, up to the end of the last day.

    Returns:
        Of each day, in order: `sql`, twice the mean pinball loss over hours and quantiles, and `mase`, the mean
        absolute error of the median, both in units of the mean |y(t) - y(t - 24)| of all rows before the day;
        `coverage` and `width` of the interval from 0.1 to 0.9, width in the target's units.
    """
    rows = rows.sort_values(["cutoff", "step"])
    horizon = int(rows["step"].max())
    actual = rows["target"].to_numpy(np.float64).reshape(-1, horizon)
    quantiles = rows[list(QUANTILES)].to_numpy(np.float64).reshape(-1, horizon, len(QUANTILES))
    firsts = len(target) - horizon * np.arange(len(actual), 0, -1)
    if not np.array_equal(target[firsts[:, None] + np.arange(horizon)], actual):
        raise RuntimeError("the forecasts are not those of the last days of the table")
    differences = np.abs(target[SEASON:] - target[:-SEASON])
    scales = np.array([differences[: first - SEASON].mean() for first in firsts])
    error, shares = actual[..., None] - quantiles, np.array([float(name) for name in QUANTILES])
    pinball = np.maximum(shares * error, (shares - 1) * error)
    lower, median, upper = quantiles[..., 0], quantiles[..., len(QUANTILES) // 2], quantiles[..., -1]
    return {
        "sql": 2 * pinball.mean(axis=(1, 2)) / scales,
        "mase": np.abs(actual - median).mean(axis=1) / scales,
        "coverage": ((actual >= lower) & (actual <= upper)).mean(axis=1),
        "width": (upper - lower).mean(axis=1),
    }
