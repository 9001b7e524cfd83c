"""Tables of forecasts as other libraries lay them out: Nixtla's, polars, darts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forecast_attn.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

NIXTLA = {"item_id": "unique_id", "timestamp": "ds"}
"""Names of our columns in a table of Nixtla."""


def as_nixtla(predictions: pd.DataFrame, quantiles: tuple[str, ...], model: str) -> pd.DataFrame:
    """A table of forecasts with Nixtla's columns: unique_id, ds, cutoff, the model's, and those of its intervals.

    Args:
        predictions: as `Forecaster.predict` gives them.
        quantiles: names of its columns that are quantiles.
        model: name of the model, which is that of its column.

    Returns:
        Quantiles that lie evenly around 0.5 as `model-lo-80` and `model-hi-80`; 0.5 as `model-median`; others, which
        are no end of an interval, as `model-q-0.3`.
    """
    names = {**NIXTLA, "prediction": model}
    names |= {quantile: f"{model}-{_end_of_interval(quantile, quantiles)}" for quantile in quantiles}
    columns = ["item_id", "timestamp", "cutoff", "prediction", *quantiles]
    return predictions[columns].rename(columns=names)


def _end_of_interval(quantile: str, quantiles: tuple[str, ...]) -> str:
    value = float(quantile)
    if value == 0.5:
        return "median"
    has_other_end = any(abs(float(other) - (1 - value)) < 1e-9 for other in quantiles)
    if not has_other_end:
        return f"q-{quantile}"
    return f"{'lo' if value < 0.5 else 'hi'}-{round(100 * abs(1 - 2 * value), 6):g}"


def as_darts(predictions: pd.DataFrame, columns: list[str], freq: str | None) -> dict[str, Any]:
    """A TimeSeries of darts for every series, with these columns as its components.

    Raises:
        ConfigError: darts is not installed.
    """
    try:
        from darts import TimeSeries
    except ImportError:
        raise ConfigError("a TimeSeries needs the package 'darts'", "pip install darts") from None
    series = {}
    for name, rows in predictions.groupby("item_id", sort=False):
        series[str(name)] = TimeSeries.from_dataframe(rows, time_col="timestamp", value_cols=columns, freq=freq)
    return series
