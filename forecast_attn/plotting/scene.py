"""The content of a picture of forecasts: per series the history, the forecasts of each model, and the actual values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.values import quantile_name
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.zones import Zone
from forecast_attn.evaluation.quantile_scores import Interval, intervals
from forecast_attn.plotting.forecasts import Forecasts
from forecast_attn.plotting.series_values import SeriesValues, history_length

Floats = NDArray[np.float64]

MOST_VIEWS = 12
"""Series that one picture shows."""


@dataclass(frozen=True, eq=False)
class ModelForecast:
    """One model's forecast of the steps ahead, NaN where it has none.

    Attributes:
        prediction: (steps,)
        quantiles: quantile -> (steps,), of quantiles the model has.
    """

    name: str
    prediction: Floats
    quantiles: dict[float, Floats]

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """Symmetric pairs of quantiles, the widest first."""
        return intervals(self.quantiles)

    @property
    def lone_quantiles(self) -> list[float]:
        """Quantiles that belong to no interval, but for a median that is the forecast itself."""
        paired = {quantile for pair in self.intervals for quantile in (pair.lower, pair.upper)}
        return [quantile for quantile in self.quantiles if quantile not in paired and not self._is_point(quantile)]

    def _is_point(self, quantile: float) -> bool:
        return quantile == 0.5 and np.allclose(self.quantiles[quantile], self.prediction, rtol=1e-6, equal_nan=True)


@dataclass(frozen=True, eq=False)
class ForecastView:
    """A series around a cut-off, in the target's units.

    Attributes:
        item_id: the series.
        cutoff: last known time of the forecast, as the axis has it.
        history_stamps: (history,) ascending, one step apart; the last is the cut-off, if its value is known.
        history: (history,), NaN where not observed.
        stamps: (steps,) of the forecast.
        actual: (steps,), NaN where not known.
        models: the one in front first.
    """

    item_id: str
    cutoff: Any
    history_stamps: Stamps
    history: Floats
    stamps: Stamps
    actual: Floats
    models: tuple[ModelForecast, ...]

    def joined(self, line: Floats) -> tuple[Stamps, Floats]:
        """A line of the steps ahead that starts from the last value of the history, where that is the cut-off's."""
        if not len(self.history) or self.history_stamps[-1] != self.cutoff or np.isnan(self.history[-1]):
            return self.stamps, line
        return np.concatenate([self.history_stamps[-1:], self.stamps]), np.concatenate([self.history[-1:], line])


@dataclass(frozen=True, eq=False)
class ForecastScene:
    """Views of several series.

    Attributes:
        views: at most `MOST_VIEWS`, in the order of the table.
        zone: how stamps are shown.
        target: what the values are.
        num_items: series there were to choose from.
        notes: in words, what is not drawn and why.
    """

    views: tuple[ForecastView, ...]
    zone: Zone
    target: str
    num_items: int
    notes: list[str] = field(default_factory=list)

    @property
    def common_cutoff(self) -> str | None:
        """The cut-off of all views in words; None where they have several."""
        cutoffs = {self.zone.stamp_text(view.cutoff) for view in self.views}
        return cutoffs.pop() if len(cutoffs) == 1 else None

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: every number that is drawn, null where there is none."""
        return {
            "kind": "forecast",
            "target": self.target,
            "zone": self.zone.describe(),
            "series": self.num_items,
            "notes": self.notes,
            "views": [self._view_to_dict(view) for view in self.views],
        }

    def _view_to_dict(self, view: ForecastView) -> dict[str, Any]:
        return {
            "item_id": view.item_id,
            "cutoff": self.zone.stamp_text(view.cutoff),
            "history": {"timestamp": self.zone.text(view.history_stamps).tolist(), "target": numbers(view.history)},
            "timestamp": self.zone.text(view.stamps).tolist(),
            "actual": numbers(view.actual),
            "models": [
                {
                    "model": model.name,
                    "prediction": numbers(model.prediction),
                    "quantiles": {quantile_name(quantile): numbers(line) for quantile, line in model.quantiles.items()},
                }
                for model in view.models
            ],
        }


def numbers(values: Floats) -> list[float | None]:
    """Values for JSON: None where not finite."""
    return [value if np.isfinite(value) else None for value in values.tolist()]


def build_scene(forecasts: Forecasts, series: SeriesValues, *, history: int | None) -> ForecastScene:
    """The views of forecasts, each series at one cut-off.

    Args:
        forecasts: one cut-off per series.
        series: the values of the series.
        history: steps to draw before the cut-off; see `history_length`.
    """
    chosen = forecasts.item_ids[:MOST_VIEWS]
    views = tuple(_view(forecasts.where(forecasts.frame["item_id"] == name), series, history) for name in chosen)
    notes = list(series.notes)
    if history != 0 and not any(len(view.history) for view in views):
        notes.append("no value up to the cut-off is known: pass the run's table with --data FILE")
    return ForecastScene(views, forecasts.zone, forecasts.target or "target", len(forecasts.item_ids), notes)


def _view(forecasts: Forecasts, series: SeriesValues, history: int | None) -> ForecastView:
    frame = forecasts.frame
    item_id, cutoff = frame["item_id"].iloc[0], frame["cutoff"].to_numpy()[0]
    ahead = frame.drop_duplicates("step").sort_values("step")
    steps, stamps = ahead["step"].to_numpy(), ahead["timestamp"].to_numpy()
    targets = frame.groupby("step")["target"].first().reindex(steps).to_numpy(np.float64)
    known = series.at(item_id, stamps)
    past_stamps, past = series.before(item_id, cutoff, history_length(history, int(steps[-1])))
    models = tuple(_model(forecasts, name, steps) for name in forecasts.models)
    actual = np.where(np.isnan(targets), known, targets)
    return ForecastView(item_id, cutoff, past_stamps, past, stamps, actual, models)


def _model(forecasts: Forecasts, name: str, steps: NDArray[np.int64]) -> ModelForecast:
    rows = forecasts.frame[forecasts.frame["model"] == name].set_index("step").reindex(steps)
    quantiles = {quantile: rows[column].to_numpy(np.float64) for column, quantile in forecasts.quantiles.items()}
    known = {quantile: line for quantile, line in quantiles.items() if not np.isnan(line).all()}
    return ModelForecast(name, rows["prediction"].to_numpy(np.float64), known)
