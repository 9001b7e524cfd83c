"""Result of a forecast, for notebooks and for other libraries: Nixtla's, polars, darts."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from forecast_attn.attention_file import AttentionDump
from forecast_attn.data.findings import counted
from forecast_attn.errors import ConfigError
from forecast_attn.notebook import Drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from forecast_attn.data.categories import UnknownCategory
    from forecast_attn.data.findings import Finding, Repair

SHOWN = 3
"""Forecasts that a notebook draws of a result."""


@dataclass(frozen=True)
class ForecastResult(Drawn):
    """Result of `Forecaster.predict`."""

    predictions: pd.DataFrame
    """item_id, cutoff, timestamp, step (1 … horizon), prediction and a column per quantile (`0.1`), in the target's
    units."""
    attention: AttentionDump | None
    """The weights behind them, of an ensemble averaged over its members; None for the mechanism `none`."""
    member_attention: tuple[AttentionDump, ...] = ()
    """Weights of each member of an ensemble, where requested."""
    skipped: tuple[str, ...] = ()
    """Series with fewer rows than the lookback, which have no forecast."""
    not_learned: tuple[str, ...] = ()
    """Series with a forecast that training left out as too short, or did not see: the network knows nothing of them. If
    there are any, the forecasts have a column `learned` with yes and no."""
    cold: tuple[str, ...] = ()
    """Series that training did not see, scaled by their own lookback."""
    unknown_categories: tuple[UnknownCategory, ...] = ()
    """Categories of the history and the future that training did not see."""
    repairs: tuple[Repair, ...] = ()
    """Repairs of the history, and cells of the future that are empty and hidden."""
    findings: tuple[Finding, ...] = ()
    """Notes and warnings about what is known of the future."""
    samples_path: Path | None = None
    """Parquet file of the paths that were drawn; None where none were asked for. A temporary one lives as long as the
    Forecaster."""
    samples_seed: int | None = None
    """Seed of the samples."""
    combined_with: tuple[str, ...] = ()
    """The baselines that are in the forecasts."""
    weights: dict[str, float] = field(default_factory=dict)
    """Weights of `network` and each baseline, as validation chose; empty where both have one half."""
    weights_by_series: dict[str, dict[str, float]] = field(default_factory=dict)
    """Weights of the series here that have others, by their names."""
    alone: tuple[str, ...] = ()
    """The series of which none of those baselines had a forecast: the model's stands alone."""
    draw: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    """Draws `forecasts` beside their series, as `forecast plot` does."""

    def __repr__(self) -> str:
        frame = self.predictions
        series, cutoffs = frame["item_id"].nunique(), frame["cutoff"].nunique()
        after = f"after {_stamp_words(frame['cutoff'].iloc[0])}" if cutoffs == 1 else f"after {cutoffs:,} cut-offs"
        levels = f", quantiles {', '.join(self.quantiles)}" if self.quantiles else ""
        steps = int(frame["step"].max()) if len(frame) else 0
        return f"<ForecastResult: {counted(steps, 'step')} of {series:,} series {after}{levels}>"

    def _repr_html_(self) -> str:
        """The first series as lines with their widest interval, and the table, for a notebook."""
        import forecast_attn.notebook as notebook

        edges = [self.quantiles[0], self.quantiles[-1]] if len(self.quantiles) > 1 else []
        parts = []
        for (item, cutoff), rows in itertools.islice(
            self.predictions.groupby(["item_id", "cutoff"], sort=False), SHOWN
        ):
            label = f"{item}, after {_stamp_words(cutoff)}"
            drawn = notebook.line(rows["prediction"].to_numpy(), [rows[name].to_numpy() for name in edges], label)
            parts.append(notebook.caption(label) + drawn)
        return notebook.titled(repr(self)[1:-1], *parts, notebook.table(self.predictions))

    @property
    def quantiles(self) -> tuple[str, ...]:
        """Names of the columns that are quantiles, ascending."""
        known = ("item_id", "cutoff", "timestamp", "step", "prediction", "learned")
        return tuple(str(name) for name in self.predictions.columns if name not in known)

    def to_nixtla(self, model: str = "forecast_attn") -> pd.DataFrame:
        """The forecasts with Nixtla's columns: unique_id, ds, cutoff, the model's, and `model-lo-80`, `model-hi-80`.

        Args:
            model: name of the model, which is that of its column.
        """
        return as_nixtla(self.predictions, self.quantiles, model)

    def to_polars(self) -> Any:
        """The forecasts as a frame of polars.

        Raises:
            ConfigError: polars is not installed.
        """
        try:
            import polars
        except ImportError:
            raise ConfigError("a frame of polars needs the package 'polars'", "pip install polars") from None
        return polars.from_pandas(self.predictions)

    def to_darts(self, freq: str | None = None) -> dict[str, Any]:
        """The forecasts as one TimeSeries of darts per series, by name; quantiles are components.

        Args:
            freq: time step, as pandas writes it; found in three steps or more when None.

        Raises:
            ConfigError: darts is not installed.
        """
        return as_darts(self.predictions, ["prediction", *self.quantiles], freq)

    @property
    def samples(self) -> pd.DataFrame | None:
        """The paths, read from their file: item_id, cutoff, sample (from 0), timestamp, step, value; None without."""
        return None if self.samples_path is None else pd.read_parquet(self.samples_path)


def _stamp_words(stamp: Any) -> str:
    """A time as people write it: midnight is the day, and no seconds stand where there are none."""
    return re.sub(r"(?<=:\d\d):00(?!\.)", "", str(stamp)).removesuffix(" 00:00")


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
