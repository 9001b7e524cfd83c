"""Forecasts of baselines beside those of a network, and the combination of both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.combination import combined, mean_of
from forecast_attn.baselines.combination_weights import Combination, others_and_share
from forecast_attn.baselines.registry import BaselineSetup, baseline_forecasts, quantile_forecasts
from forecast_attn.config.values import NETWORK
from forecast_attn.data.panel import Panel
from forecast_attn.data.split import forecast_cutoffs
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.forecasting.attention_output import NetworkShare
from forecast_attn.forecasting.model import Model, WindowForecasts

SHARE_DIGITS = 4


class BaselineForecasts(NamedTuple):
    """The mean of some baselines' forecasts of the same windows."""

    cutoffs: NDArray[np.int64]
    """Rows of the last known values, ascending (num_series,)."""
    prediction: NDArray[np.float64]
    """(num_series, horizon), NaN where there is none."""
    share: NDArray[np.float64] | float = 0.5
    """Their weight in the forecast; the rest is the model's (num_series, horizon)."""
    distances: NDArray[np.float64] | None = None
    """Distances of their quantiles from their points, NaN without quantiles (num_series, horizon, num_quantiles)."""

    @classmethod
    def weighted(cls, combination: Combination, model: Model, panel: Panel) -> BaselineForecasts:
        """Forecast with the baselines that validation chose, which learn from the whole history.

        Args:
            combination: of the network and the baselines; where a baseline has no forecast the others share its weight.
            model: whose windows these are.
            panel: the history, with `horizon` future rows per series.
        """
        schema = model.schema
        cutoffs = forecast_cutoffs(panel, schema.lookback, schema.horizon, pad=schema.padded)
        setup = BaselineSetup.of(schema, panel.timestamps[cutoffs].max())
        forecasts, unknown = {}, np.full((len(cutoffs), schema.horizon), np.nan)
        for name in (each for each in combination.weights if each != NETWORK):
            try:
                forecasts[name] = baseline_forecasts(name, panel, cutoffs, setup)
            except DataError:  # this history is too short to learn from
                forecasts[name] = unknown
        series = panel.series_of(cutoffs)
        mean, share = others_and_share(forecasts, combination, unknown.shape, item_ids=panel.item_ids, series=series)
        return cls(cutoffs, mean, share)

    @classmethod
    def of(cls, names: tuple[str, ...], model: Model, panel: Panel) -> BaselineForecasts:
        """Forecast with baselines that learn from the whole history.

        Args:
            names: of the baselines, at least one.
            model: whose windows these are.
            panel: the history, with `horizon` future rows per series.

        Raises:
            ConfigError: there is no such baseline, it is not installed, or the network's point is no median.
            DataError: the history is too short to learn from.
        """
        check_median(model)
        schema = model.schema
        cutoffs = forecast_cutoffs(panel, schema.lookback, schema.horizon, pad=schema.padded)
        try:
            setup = BaselineSetup.of(schema, panel.timestamps[cutoffs].max())
            each = [quantile_forecasts(name, panel, cutoffs, setup, model.quantiles) for name in names]
        except DataError as error:
            rows = f"the history has {int(panel.num_known.max()):,} rows"
            hint = "--data HISTORY with more rows: of the run alone the last lookback is known"
            raise error.reworded(f"{error.message}; {rows}", hint) from None
        apart = [quantiles - point[..., None] for point, quantiles in each if quantiles is not None]
        return cls(cutoffs, mean_of([point for point, _ in each]), distances=mean_of(apart) if apart else None)

    def network_share(self, panel: Panel) -> NetworkShare:
        """The weight of the network, on average over the steps: of most series, and of those with another one."""
        share = np.where(np.isnan(self.prediction), 0, self.share)
        shares = np.round(1 - share.mean(axis=1), SHARE_DIGITS)
        values, counts = np.unique(shares, return_counts=True)
        usual = float(values[counts.argmax()])
        series = panel.series_of(self.cutoffs)
        others = {panel.item_ids[series[row]]: float(shares[row]) for row in np.flatnonzero(shares != usual)}
        return NetworkShare(usual, others)

    def alone(self, panel: Panel) -> tuple[str, ...]:
        """Series without a forecast of any baseline, which have the model's alone."""
        missing = np.isnan(self.prediction).all(axis=1)
        return tuple(panel.item_ids[index] for index in panel.series_of(self.cutoffs[missing]))

    def combined(self, forecasts: WindowForecasts, *, non_negative: bool) -> WindowForecasts:
        """The mean of network and baselines, and the quantiles around it; see `combination.combined`."""
        rows = np.searchsorted(self.cutoffs, forecasts.cutoffs)
        prediction, moved = combined(
            forecasts.prediction,
            {} if forecasts.quantiles is None else _by_index(forecasts.quantiles),
            self.prediction[rows],
            distances=None if self.distances is None else _by_index(self.distances[rows]),
            share=self.share if isinstance(self.share, float) else self.share[rows],
            non_negative=non_negative,
        )
        quantiles = None if forecasts.quantiles is None else np.stack(list(moved.values()), axis=-1)
        return forecasts._replace(prediction=prediction, quantiles=quantiles)


def check_median(model: Model) -> None:
    """Refuse to average baselines with a network whose point forecast is a quantile other than the median.

    Raises:
        ConfigError: it is.
    """
    if not model.config.model.has_median:
        raise ConfigError(
            "--combine-with averages middle values; this run has no quantile 0.5",
            "leave --combine-with out, or train with 0.5 among --quantiles",
        )


def _by_index(quantiles: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    return {str(index): each for index, each in enumerate(np.moveaxis(quantiles, -1, 0))}
