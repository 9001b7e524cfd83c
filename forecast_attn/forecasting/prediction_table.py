"""The table of forecasts: its columns from windows, its times as people write them, its text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from forecast_attn.config.values import quantile_name
from forecast_attn.data.csv_text import csv_text
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.panel import Panel
from forecast_attn.data.zones import in_zone, zone_of
from forecast_attn.forecasting.model import Model, WindowForecasts


def prediction_columns(panel: Panel, model: Model, forecasts: WindowForecasts) -> dict[str, Any]:
    """The columns of predictions.csv for a batch: one row per window and step, the quantiles by their names."""
    horizon, batch = model.schema.horizon, len(forecasts.cutoffs)
    quantiles = np.empty((batch, horizon, 0)) if forecasts.quantiles is None else forecasts.quantiles
    steps = np.arange(1, horizon + 1)
    return {
        "item_id": np.repeat(np.array(panel.item_ids, dtype=object)[forecasts.series], horizon),
        "cutoff": np.repeat(panel.timestamps[forecasts.cutoffs], horizon),
        "timestamp": panel.timestamps[forecasts.cutoffs[:, None] + steps].ravel(),
        "step": np.tile(steps, batch),
        "prediction": forecasts.prediction.ravel(),
        **{quantile_name(quantile): quantiles[..., index].ravel() for index, quantile in enumerate(model.quantiles)},
    }


def predictions_table(parts: list[dict[str, Any]], panel: Panel, not_learned: tuple[str, ...]) -> pd.DataFrame:
    """The table of forecasts, in the panel's time zone, from the columns of its batches."""
    predictions = pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    predictions = in_zone(predictions, panel.zone)
    if not not_learned:
        return predictions
    learned = np.where(predictions["item_id"].isin(not_learned), "no", "yes")
    return predictions.assign(learned=learned)


def predictions_csv(predictions: pd.DataFrame) -> str:
    """The text of predictions.csv. Ten digits are more than float32 weights can mean, and survive a round trip."""
    return csv_text(with_written_times(predictions), float_format="%.10g")


def with_written_times(predictions: pd.DataFrame) -> pd.DataFrame:
    """The table with its times as text, as `written_times` gives them."""
    return predictions.assign(**written_times(predictions))


def written_times(predictions: pd.DataFrame) -> dict[str, list[str]]:
    """The columns of times as text.

    Times of a zone carry their offset, as `2024-03-31 03:00:00+02:00`; without any clock, dates are only dates. Seconds
    have a fraction where some need one.
    """
    names = [name for name in ("cutoff", "timestamp") if predictions[name].dtype.kind == "M"]
    if not names:
        return {}
    zone = zone_of(predictions[names[0]])
    stamps = np.stack([_without_zone(predictions[name]) for name in names])
    return dict(zip(names, zone.text(stamps).tolist(), strict=True))


def _without_zone(column: pd.Series) -> Stamps:
    """The stamps of a column; those of a zone in UTC."""
    zoned = isinstance(column.dtype, pd.DatetimeTZDtype)
    return (column.dt.tz_convert("UTC").dt.tz_localize(None) if zoned else column).to_numpy()
