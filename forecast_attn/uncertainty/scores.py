"""How good levels were on the validation windows: pinball loss and coverage, for metrics.json."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.option_values import level_name

Floats = NDArray[np.float64]


def level_scores(levels: tuple[float, ...], actual: Floats, forecast: Floats) -> dict[str, Any]:
    """Pinball loss of every level, and how often the widest pair held the true value.

    Args:
        levels: ascending, (num_levels,).
        actual: NaN where not observed, (num_windows, horizon).
        forecast: the levels in the target's units, (num_windows, horizon, num_levels).

    Returns:
        `pinball`: level -> mean loss, in the target's units. `interval`: lower and upper level, the share of values
        that should lie between them (nominal) and did (coverage), and the mean width; None for a single level. All
        are None where nothing was observed.
    """
    observed = ~np.isnan(actual)
    if not observed.any():
        return {"pinball": None, "interval": None}
    values, quantiles = actual[observed][:, None], forecast[observed]
    error = values - quantiles
    shares = np.array(levels)
    pinball = np.maximum(shares * error, (shares - 1) * error).mean(axis=0)
    return {
        "pinball": {level_name(level): float(loss) for level, loss in zip(levels, pinball, strict=True)},
        "interval": _interval(levels, values[:, 0], quantiles) if len(levels) > 1 else None,
    }


def _interval(levels: tuple[float, ...], values: Floats, quantiles: Floats) -> dict[str, float]:
    lower, upper = quantiles[:, 0], quantiles[:, -1]
    return {
        "lower": levels[0],
        "upper": levels[-1],
        "nominal": round(levels[-1] - levels[0], 12),
        "coverage": float(((values >= lower) & (values <= upper)).mean()),
        "width": float((upper - lower).mean()),
    }
