"""Point forecast errors, in the target's own units unless the name says otherwise."""

import math

import numpy as np
from numpy.typing import NDArray


def point_metrics(
    actual: NDArray[np.float64], prediction: NDArray[np.float64], naive_error: NDArray[np.float64]
) -> dict[str, float | None]:
    """MAE, RMSE and MASE over windows.

    Args:
        actual: (num_windows, horizon).
        prediction: (num_windows, horizon).
        naive_error: in-sample seasonal-naive error of each window's series, (num_windows,); NaN leaves a window
            out of MASE, because a series that never changes has no scale.

    Returns:
        `mae`, `rmse` and `mase`; `mase` is None where no window has a scale.
    """
    error = np.abs(prediction - actual)
    scaled = error.mean(axis=1) / naive_error
    scaled = scaled[np.isfinite(scaled)]
    return {
        "mae": float(error.mean()),
        "rmse": math.sqrt(float(np.square(error).mean())),
        "mase": float(scaled.mean()) if len(scaled) else None,
    }


def skill_per_cent(error: float, baseline_error: float) -> float | None:
    """How much smaller an error is than a baseline's, in per cent; None where the baseline is perfect."""
    return 100 * (1 - error / baseline_error) if baseline_error > 0 else None
