"""Point forecast errors, in the target's own units unless the name says otherwise."""

import math

import numpy as np
from numpy.typing import NDArray


def point_metrics(
    actual: NDArray[np.float64], prediction: NDArray[np.float64], naive_error: NDArray[np.float64]
) -> dict[str, float | None]:
    """MAE, RMSE and MASE over windows.

    Args:
        actual: NaN where not observed, which leaves the step out, (num_windows, horizon).
        prediction: (num_windows, horizon).
        naive_error: in-sample seasonal-naive error of each window's series, (num_windows,); NaN or 0 leaves a window
            out of MASE, because a series that never changes has no scale.

    Returns:
        `mae`, `rmse` and `mase`; `mase` is None where no window has a scale, all are where nothing was observed.
    """
    observed = ~np.isnan(actual)
    number = observed.sum(axis=1)
    error = np.where(observed, np.abs(prediction - actual), 0.0)
    if not number.any():
        return {"mae": None, "rmse": None, "mase": None}
    has_scale = (number > 0) & (naive_error > 0)
    scaled = error.sum(axis=1)[has_scale] / number[has_scale] / naive_error[has_scale]
    return {
        "mae": float(error.sum() / number.sum()),
        "rmse": math.sqrt(float(np.square(error).sum() / number.sum())),
        "mase": float(scaled.mean()) if len(scaled) else None,
    }


def skill_per_cent(error: float, baseline_error: float) -> float | None:
    """How much smaller an error is than a baseline's, in per cent; None where the baseline is perfect, or nearly so."""
    skill = 100 * (1 - error / baseline_error) if baseline_error > 0 else math.inf
    return skill if math.isfinite(skill) else None
