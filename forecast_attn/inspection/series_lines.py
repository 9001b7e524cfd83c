"""The series that a picture draws above the weights: lookback, forecast and actual values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionDump, DumpChoice

if TYPE_CHECKING:
    from pathlib import Path

    from forecast_attn.inspection.window_values import WindowValues
    from forecast_attn.runs.run_dir import RunDir

Values = NDArray[np.float64]

MOST_WINDOWS = 256
"""Windows whose series are averaged for the picture of a mean."""


@dataclass(frozen=True)
class SeriesLines:
    """Lines of one window, or means over several; NaN where not known.

    Attributes:
        past: (lookback,) oldest time step first.
        forecast: (target_steps,) the time steps that the dump's steps stand for.
        actual: (target_steps,)
        label: what the values are, for the axis.
        spread: (2, lookback) what the middle half of several windows lies between; None for one window.
        forecast_name: what the forecast is called, as `WindowValues` does.
    """

    past: Values
    forecast: Values
    actual: Values
    label: str
    spread: Values | None = None
    forecast_name: str = "forecast"


def lines_of_run(run: RunDir, dump: AttentionDump, table: Path | None = None) -> SeriesLines | None:
    """The lines of a run's attention file, or of a part of it, from at most `MOST_WINDOWS` of its windows.

    Args:
        run: whose file it is.
        dump: the windows that are drawn.
        table: holds their series; found through the run when None.

    Raises:
        DataError: `table` cannot be read, or has not the columns of training.
        RunError: the run is damaged.
    """
    from forecast_attn.forecasting.model import read_schema
    from forecast_attn.inspection.window_values import values_of_windows

    chosen = DumpChoice(windows=MOST_WINDOWS).of_cutoffs(np.arange(dump.num_windows))
    values = values_of_windows(run, dump.take(chosen), table)
    return series_lines(values, num_items=len(dump.item_ids), target=read_schema(run).roles.target)


def series_lines(values: WindowValues, *, num_items: int, target: str) -> SeriesLines | None:
    """The lines of one window, or the means of several; None where no window's series is known.

    Windows of several series are each scaled by their lookback's mean and standard deviation first: a mean of units
    that have nothing to do with each other would say nothing.

    Args:
        values: of the windows.
        num_items: how many series they belong to.
        target: the name of what is forecast.
    """
    known = ~np.isnan(values.past).all(axis=1)
    if not known.any():
        return None
    past, forecast, actual = (part[known] for part in (values.past, values.forecast, values.actual))
    if len(past) == 1:
        return SeriesLines(past[0], forecast[0], actual[0], target, forecast_name=values.forecast_name)
    label = f"{target}, mean"
    if num_items > 1:
        past, forecast, actual = _scaled(past, forecast, actual)
        label = f"{target}, scaled"
    spread = np.nanquantile(np.where(np.isnan(past).all(axis=0), 0, past), (0.25, 0.75), axis=0)
    return SeriesLines(_mean(past), _mean(forecast), _mean(actual), label, spread, values.forecast_name)


def _scaled(past: Values, *others: Values) -> tuple[Values, ...]:
    """Standardise each window by the mean and standard deviation of its lookback."""
    level = np.nanmean(past, axis=1, keepdims=True)
    scale = np.nanstd(past, axis=1, keepdims=True)
    return tuple((part - level) / np.where(scale > 0, scale, 1) for part in (past, *others))


def _mean(rows: Values) -> Values:
    """(length,) means of what is known; NaN where nothing is."""
    counts = (~np.isnan(rows)).sum(axis=0)
    return np.where(counts > 0, np.nansum(rows, axis=0) / np.maximum(counts, 1), np.nan)
