"""How hard each series was in the past: the scales of MASE and RMSSE."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.evaluation.baselines import seasonal_naive_error, seasonal_naive_square


def insample_scales(panel: Panel, stops: NDArray[np.int64], season: int) -> pd.DataFrame:
    """Errors of one-season-back forecasts within each series' first rows.

    Args:
        panel: the actuals.
        stops: row after the last row to look at, of each series, (num_series,): nothing after it counts.
        season: steps of one season.

    Returns:
        By item_id: `mae`, the mean absolute error, and `rmse`, the root of the mean square; NaN for a series that
        never changes.

    Source: Hyndman and Koehler 2006; the squares as in the M5 competition (Makridakis et al. 2022).
    """
    starts = panel.starts[:-1]
    return pd.DataFrame(
        {
            "mae": seasonal_naive_error(panel.target, starts, stops, season=season),
            "rmse": np.sqrt(seasonal_naive_square(panel.target, starts, stops, season=season)),
        },
        index=pd.Index(panel.item_ids, name="item_id"),
    )
