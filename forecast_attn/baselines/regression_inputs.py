"""The rows of one series as the baselines `regression` and `median-regression` read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.window_features import BaselineSetup
from forecast_attn.data.frequency import weekday
from forecast_attn.data.gross_errors import gross_errors
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError

if TYPE_CHECKING:
    from forecast_attn.data.vintages import Vintages


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TARGET_SEASONS = (1, 2, 3, 7)
"""Number of seasons back at which the target is read; those beyond the lookback are left out."""
COVARIATE_SEASONS = (1, 7)
"""The same of covariates that are known ahead."""
SHORTEST_BLOCK = 7
"""Steps that stand for a season where there is none; more where the horizon is longer."""
BEND = 1.5
"""Robust standard deviations from the median at which the transformed target is arcsinh(1)."""
_NORMAL_MAD, _NORMAL_MEAN = 1.4826, 1.2533
"""Standard deviation of a normal distribution over its median and its mean absolute deviation."""
_LARGEST = 20.0
"""Bound of the transformed target; its hyperbolic sine is 2e8 robust standard deviations."""
_YEAR = 365.25
_BEYOND = 0.5
"""A forecast may lie so far outside of what the series has had, as a share of its range."""


class ArcsinhScale:
    """The target as arcsinh((y - median) / (1.5 s)), s = 1.4826 times the median absolute deviation.

    Prices and sales have spikes that a squared error would chase; the arcsinh is linear near the median and
    logarithmic far from it, on both sides of 0. Where more than half of the values are equal, s is 1.2533 times the
    mean absolute deviation, and 1 where all are. A unit of one and a half deviations, instead of one as in the source,
    is better on validation (`docs/evaluation.md`).

    Source: Uniejewski and Weron 2018, "Efficient forecasting of electricity spot prices with expert and LASSO models".
    """

    def __init__(self, values: Floats) -> None:
        """Fit to these values, of which some may be NaN."""
        seen = values[~np.isnan(values)]
        self.median = float(np.median(seen)) if len(seen) else 0.0
        apart = np.abs(seen - self.median)
        spread = (_NORMAL_MAD * np.median(apart), _NORMAL_MEAN * np.mean(apart)) if len(seen) else (0.0,)
        self.spread = BEND * float(next((each for each in spread if each > 0), 1.0))

    def apply(self, values: Floats) -> Floats:
        """Transform values from the target's units."""
        return np.arcsinh((values - self.median) / self.spread)

    def invert(self, values: Floats) -> Floats:
        """Transform values back to the target's units."""
        return np.sinh(np.clip(values, -_LARGEST, _LARGEST)) * self.spread + self.median


class SeriesRows:
    """The rows of one series, on the scale of some of them.

    Attributes:
        first: its first row in the panel.
        scale: of the target.
        scaled: the transformed target (num_rows,), NaN where it was not observed or is a gross error.
        future: covariates known ahead, standardised, then a column per category (num_rows, num_future).
        numbers: how many of these columns are no categories.
        past: the same of covariates of the past (num_rows, num_past).
        known: how many steps ahead each column of `future` is known.
        calendar: what the calendar says (num_rows, num_features).
        year: sine and cosine of the day of the year (num_rows, 2); of an axis of whole numbers (num_rows, 0).
    """

    def __init__(
        self, panel: Panel, series: int, fitted: slice, setup: BaselineSetup, vintages: Vintages | None = None
    ) -> None:
        """Scale the rows of a series.

        Args:
            panel: with the rows of each horizon.
            series: its number.
            fitted: those of its rows that set the scales, counted from its first.
            setup: sizes and calendar.
            vintages: of the panel, where it has any.
        """
        self.first, stop = int(panel.starts[series]), int(panel.starts[series + 1])
        rows = slice(self.first, stop)
        self._vintages = vintages
        self._target = panel.target[rows].copy()
        self._target[fitted][gross_errors(self._target[fitted])] = np.nan
        self.scale = ArcsinhScale(self._target[fitted])
        self.scaled = self.scale.apply(self._target)
        future, self._loc, self._spread = _standardised(panel.future_covariates[rows], fitted)
        past = _standardised(panel.past_covariates[rows], fitted)[0]
        roles, categories = panel.roles, panel.categories
        self.future = np.hstack([future, *_one_hot(panel.future_categories[rows], roles.future_categories, categories)])
        self.past = np.hstack([past, *_one_hot(panel.past_categories[rows], roles.past_categories, categories)])
        self.numbers = future.shape[1]
        names = [*roles.future_covariates, *(name for name in roles.future_categories for _ in categories[name])]
        self.known = [min(roles.known_steps.get(name, setup.horizon), setup.horizon) for name in names]
        self.calendar, self.year = _calendar(panel, rows, setup), _year(panel, rows)

    def ahead(self, column: int, cutoffs: Ints, steps: Ints) -> Floats:
        """A column of `future` at these steps, as it was known at the cut-offs (num_cutoffs, num_steps).

        Args:
            column: its place.
            cutoffs: rows of the panel (num_cutoffs,).
            steps: counted from the cut-off, none beyond what is known (num_steps,).
        """
        rows = cutoffs[:, None] + steps
        if self._vintages is None or column not in self._vintages.columns:
            return np.asarray(self.future[rows - self.first, column])
        import torch

        issued = self._vintages.values(torch.from_numpy(rows), torch.from_numpy(cutoffs)).numpy()
        values = issued[..., self._vintages.columns.index(column)].astype(np.float64)
        return np.asarray((values - self._loc[column]) / self._spread[column])

    def bounds(self, cutoffs: Ints) -> tuple[Floats, Floats]:
        """Lowest and highest forecast allowed: half the range up to each cut-off beyond it (num_cutoffs,)."""
        rows, last = cutoffs - self.first, int(cutoffs.max()) - self.first + 1
        lowest, highest = (each.accumulate(self._target[:last])[rows] for each in (np.fmin, np.fmax))
        margin = _BEYOND * (highest - lowest)
        return lowest - margin, highest + margin


def block_steps(setup: BaselineSetup) -> int:
    """Steps of one block of the past: a season, or its substitute, no more than the lookback."""
    return min(setup.season if setup.season > 1 else max(setup.horizon, SHORTEST_BLOCK), setup.lookback)


def block_lags(setup: BaselineSetup, seasons: tuple[int, ...]) -> Ints:
    """Rows before the cut-off (0 for itself) of these whole seasons back, as many as fit the lookback."""
    block = block_steps(setup)
    fitting = [each for each in (seasons if setup.season > 1 else (1,)) if each * block <= setup.lookback]
    return np.concatenate([np.arange((each - 1) * block, each * block) for each in fitting])


def flat(values: Floats) -> Floats:
    """(num_cutoffs, num_lags, num_columns) as (num_cutoffs, num_lags * num_columns)."""
    return values.reshape(len(values), -1)


def _standardised(values: Floats, fitted: slice) -> tuple[Floats, Floats, Floats]:
    """Columns of mean 0 and variance 1 in the fitted rows, their means and their standard deviations."""
    some = values[fitted]
    observed = ~np.isnan(some)
    number = np.maximum(observed.sum(axis=0), 1)
    loc = np.where(observed, some, 0).sum(axis=0) / number
    spread = np.sqrt(np.where(observed, (some - loc) ** 2, 0).sum(axis=0) / number)
    spread = np.where(spread > 0, spread, 1.0)
    return (values - loc) / spread, loc, spread


def _one_hot(codes: NDArray[np.int32], names: tuple[str, ...], categories: dict[str, tuple[str, ...]]) -> list[Floats]:
    """Indicators of each column's categories, (num_rows, num_categories) each; all 0 where the cell is missing."""
    return [
        (codes[:, index, None] == np.arange(len(categories[name]))).astype(np.float64)
        for index, name in enumerate(names)
    ]


def _calendar(panel: Panel, rows: slice, setup: BaselineSetup) -> Floats:
    """Calendar features of each row of a series (num_rows, num_features).

    Steps within the day: the day of the week, one column each, and holidays. Longer ones: the features of the run.
    """
    local = panel.zone.local(panel.timestamps[rows])
    calendar = setup.calendar
    if not calendar.frequency.is_within_day:
        return calendar.features(local).astype(np.float64)
    days: Floats = np.asarray(weekday(local)[:, None] == np.arange(7), np.float64)
    if calendar.holidays is None:
        return days
    return np.concatenate([days, calendar.holidays.counts(local, calendar.frequency).astype(np.float64)], axis=1)


def _year(panel: Panel, rows: slice) -> Floats:
    """Sine and cosine of the day of the year."""
    if panel.frequency.is_integer:
        return np.empty((rows.stop - rows.start, 0))
    days = panel.zone.local(panel.timestamps[rows]).astype("datetime64[D]")
    angle = 2 * np.pi / _YEAR * ((days - days.astype("datetime64[Y]")).astype(np.int64) + 1)
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


# --------------------------------------------------------------------------- regression inputs
# Inputs of the baseline `regression`: whole seasons of one series, and covariates known ahead.


PENALTY = 3.0
"""Penalty on the squared weights; inputs have a variance of about 1 and errors are summed over windows."""
CALENDAR_PENALTY = 0.1 * PENALTY


class RegressionInputs:
    """The windows of one series.

    Attributes:
        rows: of the series.
        reach: rows up to the cut-off that a window reads.
        penalties: on the squared weight of each input, 0 for the constant, which is the first (num_inputs,).
    """

    def __init__(self, rows: SeriesRows, setup: BaselineSetup) -> None:
        """Windows of these rows, of the sizes of this setup."""
        self.rows, self._setup = rows, setup
        self._lags, self._future_lags = block_lags(setup, TARGET_SEASONS), block_lags(setup, COVARIATE_SEASONS)
        self._past_lags = block_lags(setup, (1,))
        self.reach = int(self._lags.max()) + 1
        self.penalties = self._penalties()

    @property
    def num_inputs(self) -> int:
        return len(self.penalties)

    def of(self, cutoffs: Ints) -> Floats:
        """The inputs (num_cutoffs, num_inputs), NaN where a value is missing.

        Args:
            cutoffs: rows of the panel, with `reach` rows of the series up to each.
        """
        series, rows_of_cutoffs = self.rows, cutoffs - self.rows.first
        ahead = [series.ahead(column, cutoffs, np.arange(1, known + 1)) for column, known in enumerate(series.known)]
        back = [
            flat(series.future[rows_of_cutoffs[:, None] - self._future_lags]),
            flat(series.past[rows_of_cutoffs[:, None] - self._past_lags]),
        ]
        constant, lagged = np.ones((len(rows_of_cutoffs), 1)), series.scaled[rows_of_cutoffs[:, None] - self._lags]
        return np.concatenate([constant, lagged, *ahead, *back, series.calendar[rows_of_cutoffs + 1]], 1)

    def targets(self, cutoffs: Ints) -> Floats:
        """The transformed target of the horizon (num_cutoffs, horizon), NaN where it was not observed."""
        rows_of_cutoffs = (cutoffs - self.rows.first)[:, None]
        return np.asarray(self.rows.scaled[rows_of_cutoffs + np.arange(1, self._setup.horizon + 1)])

    def _penalties(self) -> Floats:
        series = self.rows
        width = len(self._lags) + sum(series.known)
        width += len(self._future_lags) * series.future.shape[1] + len(self._past_lags) * series.past.shape[1]
        calendar = np.full(series.calendar.shape[1], CALENDAR_PENALTY)
        return np.concatenate([[0.0], np.full(width, PENALTY), calendar])


# --------------------------------------------------------------------------- regression windows
# Windows of the same phase of the season, from which the baselines `regression` and `median-regression` learn.


FEWEST_LEARNED = 4
"""Fewest windows to learn from; with fewer there is no forecast."""
MOST_INPUTS = 3_000
"""Memory grows with the square of the inputs, and the time of an estimation with their cube."""


def period(setup: BaselineSetup) -> int:
    """Steps from one window to the next: a season, the unit of half-lives and scales.

    Weeks, months and longer steps have a window at each step: one window a year would be too few to learn from.
    """
    frequency = setup.calendar.frequency
    return setup.season if frequency.is_within_day or frequency.base in ("D", "B") else 1


def phases(panel: Panel, rows: Ints, setup: BaselineSetup) -> Ints:
    """Position of rows in their season (num_rows,).

    For steps below a day it is taken on the local clock, so that midnight stays midnight when clocks change.
    """
    frequency = setup.calendar.frequency
    series = panel.series_of(rows)
    positions = rows - panel.starts[series]
    if panel.zone.type_name is not None:
        stamps = np.concatenate([panel.timestamps[rows], panel.timestamps[panel.starts[series]]])
        apart = panel.zone.local(stamps) - stamps
        step = frequency.shift(panel.timestamps[:1], 1)[0] - panel.timestamps[0]
        positions = positions + (apart[: len(rows)] - apart[len(rows) :]) // step
    return np.asarray(positions % period(setup), np.int64)


def windows_of_phase(panel: Panel, cutoff: int, first: int, stop: int, setup: BaselineSetup) -> Ints:
    """Rows of the cut-offs from `first` up to and without `stop` that have the phase of this one, ascending."""
    rows = np.arange(first, stop)
    return np.asarray(rows[phases(panel, rows, setup) == phases(panel, np.array([cutoff]), setup)])


def alike(*keys: Ints) -> Iterator[Ints]:
    """Group cut-offs that share all keys: their indices, one group after the other, in the order of the keys.

    Args:
        keys: of each cut-off (num_cutoffs,), the weightiest first.
    """
    if not len(keys[0]):
        return
    order, stacked = np.lexsort(keys[::-1]), np.stack(keys, axis=1)
    changes = np.flatnonzero((stacked[order][1:] != stacked[order][:-1]).any(axis=1)) + 1
    yield from np.split(order, changes)


def check_size(name: str, num_inputs: int) -> None:
    """Refuse a baseline with too many inputs.

    Raises:
        DataError: with what makes them fewer.
    """
    if num_inputs > MOST_INPUTS:
        raise DataError(
            f"a window of the baseline '{name}' has {num_inputs:,} inputs; {MOST_INPUTS:,} are allowed",
            "leave it out, or make the season, the horizon or the number of covariates smaller",
        )


def vintages_of(panel: Panel) -> Vintages | None:
    """Forecasts of the covariates by their issue times, where the panel has them."""
    if panel.issued is None:
        return None
    from forecast_attn.data.vintages import Vintages  # with torch

    return Vintages.build(panel, panel.issued)
