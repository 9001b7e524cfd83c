"""What `predict` does to forecast together with baselines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.cutoffs import forecast_cutoffs
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError
from forecast_attn.evaluation.baseline_forecasts import BaselineSetup, baseline_forecasts
from forecast_attn.evaluation.combination import combined, mean_of
from forecast_attn.inference import Model, WindowForecasts


class Other(NamedTuple):
    """The mean of some baselines' forecasts of the same windows."""

    cutoffs: NDArray[np.int64]
    """Rows of the last known values, ascending (num_series,)."""
    prediction: NDArray[np.float64]
    """(num_series, horizon), NaN where there is none."""

    @classmethod
    def of(cls, names: tuple[str, ...], model: Model, panel: Panel) -> Other:
        """Forecast with baselines that learn from the whole history.

        Args:
            names: of the baselines, at least one.
            model: whose windows these are.
            panel: the history, with `horizon` future rows per series.

        Raises:
            ConfigError: there is no such baseline, or it is not installed.
            DataError: the history is too short to learn from.
        """
        schema = model.schema
        cutoffs = forecast_cutoffs(panel, schema.lookback, schema.horizon, pad=schema.padded)
        try:
            setup = BaselineSetup.of(schema, panel.timestamps[cutoffs].max())
            return cls(cutoffs, mean_of([baseline_forecasts(name, panel, cutoffs, setup) for name in names]))
        except DataError as error:
            rows = f"the history has {int(panel.known.max()):,} rows"
            raise DataError(
                f"{error.message}; {rows}", "--data HISTORY with more rows: of the run alone the last lookback is known"
            ) from None

    def alone(self, panel: Panel) -> tuple[str, ...]:
        """Series without a forecast of any baseline, which have the model's alone."""
        missing = np.isnan(self.prediction).all(axis=1)
        return tuple(panel.item_ids[index] for index in panel.series_of_rows[self.cutoffs[missing]])

    def combined(self, forecasts: WindowForecasts, *, non_negative: bool) -> WindowForecasts:
        """The mean of both, with the model's levels moved by as much."""
        own = self.prediction[np.searchsorted(self.cutoffs, forecasts.cutoffs)]
        levels = {} if forecasts.levels is None else {str(at): each for at, each in _each(forecasts.levels)}
        prediction, moved = combined(forecasts.prediction, levels, own, non_negative=non_negative)
        stacked = None if forecasts.levels is None else np.stack(list(moved.values()), axis=-1)
        return forecasts._replace(prediction=prediction, levels=stacked)


def _each(levels: NDArray[np.float64]) -> enumerate[NDArray[np.float64]]:
    return enumerate(np.moveaxis(levels, -1, 0))
