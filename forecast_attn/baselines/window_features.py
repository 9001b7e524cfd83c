"""The inputs of a fitted baseline: the lookback relative to its last value, and the known values of each step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.calendar_features import Calendar
from forecast_attn.data.gross_errors import windows_without_gross_errors
from forecast_attn.data.panel import Panel
from forecast_attn.data.scaled_rows import calendar_rows
from forecast_attn.data.scaling import Scaler, fit_scaler
from forecast_attn.data.schema import Schema
from forecast_attn.data.split import Split, training_cutoffs

if TYPE_CHECKING:
    from forecast_attn.data.vintages import Vintages


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


_CANDIDATES = 50
"""Oversampling factor before sorting by time; it bounds the memory that sorting takes."""


@dataclass(frozen=True)
class BaselineSetup:
    """The same windows as the network's, and how far a fitted baseline may look."""

    lookback: int
    horizon: int
    season: int
    calendar: Calendar
    boundary: np.datetime64 | np.int64
    """Axis stamp. What is fitted learns from rows up to it, and from windows whose whole horizon is."""
    padded: bool = False
    """Windows may begin before their series."""
    training_rows: NDArray[np.int64] | None = None
    """Rows of each series that may be learnt from, where every series has its own boundary (num_series,)."""
    cutoffs: NDArray[np.int32] | None = None
    """Rows of the windows to learn from, where they are known; those up to the boundary when None."""
    scaler: Scaler | None = None
    """Scaler of the rows up to the boundary, if there is one; fitted when None."""
    chronos_model: Path | None = None
    """Folder of the weights of `chronos`."""

    @property
    def split(self) -> Split:
        """Rows that may be learnt from."""
        return Split(self.boundary, rows_by_series=self.training_rows)

    @classmethod
    def of(cls, schema: Schema, boundary: np.datetime64 | np.int64) -> BaselineSetup:
        """The windows of a run.

        Args:
            schema: of the run.
            boundary: axis stamp of the last row that may be learnt from.
        """
        sizes = schema.lookback, schema.horizon, schema.frequency.season
        return cls(*sizes, schema.calendar, boundary, schema.padded)


class WindowFeatures:
    """Windows of a panel, scaled as they are gathered, so that no copy of the panel is made.

    Every series is scaled by its own rows up to the boundary; a series that begins later by the average of the others.
    """

    def __init__(self, panel: Panel, setup: BaselineSetup) -> None:
        self._panel, self._setup = panel, setup
        self._split = setup.split
        self._scaler: Scaler = setup.scaler or fit_scaler(panel, self._split, "standard")
        self._calendar, self._offsets = calendar_rows(panel, setup.calendar)
        self._vintages = _vintages(panel, self._scaler)

    def training_cutoffs(self, most: int) -> Ints:
        """Cut-off rows to learn from, in the order of time; evenly spread ones where there are more than `most`."""
        rows = self._windows_to_learn_from() if self._setup.cutoffs is None else self._setup.cutoffs
        rows = rows[:: max(len(rows) // (_CANDIDATES * most), 1)]
        # Spread over the whole of training in uneven steps, which meet every hour of the day.
        chosen = np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(np.int64))
        if self._panel.num_series > 1:  # one series is in the order of time
            chosen = np.argsort(self._panel.timestamps[rows], kind="stable")[chosen]
        return rows[chosen].astype(np.int64)

    def _windows_to_learn_from(self) -> NDArray[Any]:
        setup = self._setup
        rows: NDArray[Any] = training_cutoffs(self._panel, self._split, setup.lookback, setup.horizon, pad=setup.padded)
        if self._vintages is not None:  # windows of which the horizon had not been forecast are none of the network's
            rows = rows[self._vintages.covered(rows, self._forecast_steps(self._vintages))]
        known = self._split.training_rows(self._panel)
        return windows_without_gross_errors(self._panel, rows, known, setup.lookback, setup.horizon)

    def _forecast_steps(self, vintages: Vintages) -> int:
        """Number of steps ahead that forecasts must reach."""
        horizon, roles = self._setup.horizon, self._panel.roles
        names = [roles.future_covariates[column] for column in vintages.columns]
        return max(min(roles.known_steps.get(name, horizon), horizon) for name in names)

    def past(self, cutoffs: Ints) -> tuple[Floats, Floats]:
        """The lookback minus its last value (num_cutoffs, lookback), and that value (num_cutoffs,).

        A missing value is replaced by the one before it; where there is none, by the last value.
        """
        rows = cutoffs[:, None] + np.arange(1 - self._setup.lookback, 1)
        series = self._panel.series_of(cutoffs)[:, None]
        starts = self._panel.starts[series]
        values = np.where(rows >= starts, self._target(np.maximum(rows, starts), series), np.nan)
        observed = np.where(np.isnan(values), -1, np.arange(values.shape[1]))
        latest = np.maximum.accumulate(observed, axis=1)
        filled = np.take_along_axis(values, np.maximum(latest, 0), axis=1)
        last = np.nan_to_num(filled[:, -1])
        return np.where(latest >= 0, filled - last[:, None], 0.0), last

    def known(self, cutoffs: Ints, step: int) -> Floats:
        """Known inputs of a step (num_cutoffs, num_known).

        Its future covariates as far as they were known at the cut-offs, the same one season before, and its calendar.
        """
        rows, roles, series = cutoffs + step, self._panel.roles, self._panel.series_of(cutoffs)
        values = self._covariates(rows, series)
        if self._vintages is not None:
            forecasts = _as_forecast(self._vintages, rows, cutoffs)
            values[:, list(self._vintages.columns)] = forecasts
        for index, name in enumerate(roles.future_covariates):
            values[:, index] *= step <= roles.known_steps.get(name, step)
        first = len(roles.future_covariates)
        for name in roles.future_categories:
            width = len(self._panel.categories[name])
            values[:, first : first + width] *= step <= roles.known_steps.get(name, step)
            first += width
        before = np.maximum(cutoffs + self._season_before(step), self._panel.starts[series])
        earlier, calendar = self._covariates(before, series), self._calendar[rows + self._offsets[series]]
        return np.concatenate([values, earlier, calendar], axis=1)

    def _season_before(self, step: int) -> int:
        """The last row of the step's phase, counted from the cut-off; the cut-off where the lookback has no season."""
        season = self._setup.season if self._setup.season <= self._setup.lookback else 1
        return step - season * -(-step // season)

    def targets(self, cutoffs: Ints, last: Floats, step: int) -> Floats:
        """The target of a step minus the last value before the cut-off (num_cutoffs,), NaN where not observed."""
        return np.asarray(self._target(cutoffs + step, self._panel.series_of(cutoffs)) - last)

    def in_units(self, forecast: Floats, cutoffs: Ints) -> Floats:
        """Scaled forecasts (num_cutoffs, horizon) in the target's units."""
        return self._scaler.target_in_units(forecast, self._panel.series_of(cutoffs))

    def _target(self, rows: Ints, series: Ints) -> Floats:
        """Scaled targets of these rows, which are of these series."""
        return self._scaler.scale_target(self._panel.target[rows], series)

    def _covariates(self, rows: Ints, series: Ints) -> Floats:
        """Scaled future covariates of these rows, and their categories (len(rows), num_columns)."""
        covariates = self._scaler.future.of(series).apply(self._panel.future_covariates[rows])
        return np.concatenate([np.nan_to_num(covariates), *_one_hot(self._panel, rows)], axis=1)


def _one_hot(panel: Panel, rows: Ints) -> list[Floats]:
    """Indicators of each future category, (len(rows), num_categories) each; all 0 where it is missing."""
    groups = []
    for index, name in enumerate(panel.roles.future_categories):
        codes = panel.future_categories[rows, index]
        groups.append((codes[:, None] == np.arange(len(panel.categories[name]))).astype(np.float64))
    return groups


def _vintages(panel: Panel, scaler: Scaler) -> Vintages | None:
    if panel.issued is None:
        return None
    from forecast_attn.data.vintages import Vintages  # with torch

    return Vintages.build(panel, panel.issued).scaled(scaler.future, panel.starts[:-1])


def _as_forecast(vintages: Vintages, rows: Ints, cutoffs: Ints) -> Floats:
    import torch

    values = vintages.values(torch.from_numpy(rows[:, None]), torch.from_numpy(cutoffs))[:, 0]
    return np.nan_to_num(values.numpy().astype(np.float64))
