"""What the baseline `regression` sees of a window: whole seasons of one series, and what is known ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.evaluation.window_features import BaselineSetup

if TYPE_CHECKING:
    from forecast_attn.data.vintages import Vintages

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TARGET_SEASONS = (1, 2, 3, 7)
"""How many seasons back the target is read; those that reach past the lookback are left out."""
COVARIATE_SEASONS = (1, 7)
"""The same of covariates that are known ahead."""
SHORTEST_BLOCK = 7
"""Steps that stand for a season where there is none; more where the horizon is longer."""
PENALTY = 3.0
"""On the squared weights, where inputs have a variance of about 1 and errors are summed over windows."""
CALENDAR_PENALTY = 0.1 * PENALTY
BEND = 1.5
"""Robust standard deviations from the median at which the transformed target is arcsinh(1)."""
_NORMAL_MAD, _NORMAL_MEAN = 1.4826, 1.2533
"""Standard deviation of a normal distribution over its median and its mean absolute deviation."""
_LARGEST = 20.0
"""Of the transformed target, whose hyperbolic sine is 2e8 robust standard deviations."""


class ArcsinhScale:
    """The target as arcsinh((y - median) / (1.5 s)), s = 1.4826 times the median absolute deviation.

    Prices and sales have spikes that a squared error would chase; the arcsinh is linear near the median and
    logarithmic far from it, on both sides of 0. Where more than half of the values are equal, s is 1.2533 times the
    mean absolute deviation, and 1 where all are. That one and a half deviations are 1, and not one as in the source,
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
        """From the target's units."""
        return np.arcsinh((values - self.median) / self.spread)

    def invert(self, values: Floats) -> Floats:
        """To the target's units."""
        return np.sinh(np.clip(values, -_LARGEST, _LARGEST)) * self.spread + self.median


class RegressionInputs:
    """The windows of one series, on the scale of some of its rows.

    Attributes:
        reach: rows up to the cut-off that a window reads.
        penalties: on the squared weight of each input, 0 for the constant, which is the first (num_inputs,).
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
        self._first, self._stop = int(panel.starts[series]), int(panel.starts[series + 1])
        own = slice(self._first, self._stop)
        self._setup, self._vintages = setup, vintages
        self.scale = ArcsinhScale(panel.target[own][fitted])
        self._target = panel.target[own]
        self._scaled = self.scale.apply(self._target)
        self._future, self._loc, self._spread = _standardised(panel.future_covariates[own], fitted)
        self._past = _standardised(panel.past_covariates[own], fitted)[0]
        roles, levels = panel.roles, panel.levels
        self._future = np.hstack(
            [self._future, *_one_hot(panel.future_categories[own], roles.future_categories, levels)]
        )
        self._past = np.hstack([self._past, *_one_hot(panel.past_categories[own], roles.past_categories, levels)])
        self._known = [roles.known_steps.get(name, setup.horizon) for name in roles.future_covariates]
        for name in roles.future_categories:
            self._known += [roles.known_steps.get(name, setup.horizon)] * len(levels[name])
        self._calendar = _calendar(panel, own, setup)
        self._lags, later = _block_lags(setup, TARGET_SEASONS), _block_lags(setup, COVARIATE_SEASONS)
        self._future_lags, self._past_lags = later, _block_lags(setup, (1,))
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
        rows = cutoffs - self._first
        ahead = [
            self._ahead(place, cutoffs, min(known, self._setup.horizon)) for place, known in enumerate(self._known)
        ]
        back = [
            _flat(self._future[rows[:, None] - self._future_lags]),
            _flat(self._past[rows[:, None] - self._past_lags]),
        ]
        constant = np.ones((len(rows), 1))
        return np.concatenate(
            [constant, self._scaled[rows[:, None] - self._lags], *ahead, *back, self._calendar[rows + 1]], 1
        )

    def wanted(self, cutoffs: Ints) -> Floats:
        """The transformed target of the horizon (num_cutoffs, horizon), NaN where it was not observed."""
        return np.asarray(self._scaled[(cutoffs - self._first)[:, None] + np.arange(1, self._setup.horizon + 1)])

    def known_range(self, cutoffs: Ints) -> tuple[Floats, Floats]:
        """The smallest and the largest value up to each cut-off (num_cutoffs,)."""
        rows, last = cutoffs - self._first, int(cutoffs.max()) - self._first + 1
        lowest, highest = (each.accumulate(self._target[:last]) for each in (np.fmin, np.fmax))
        return lowest[rows], highest[rows]

    def _ahead(self, place: int, cutoffs: Ints, steps: int) -> Floats:
        """A covariate of the next steps, as far as it was known at the cut-offs (num_cutoffs, steps)."""
        rows = cutoffs[:, None] + np.arange(1, steps + 1)
        if self._vintages is None or place not in self._vintages.columns:
            return np.asarray(self._future[rows - self._first, place])
        import torch

        issued = self._vintages.values(torch.from_numpy(rows), torch.from_numpy(cutoffs)).numpy()
        values = issued[..., self._vintages.columns.index(place)].astype(np.float64)
        return np.asarray((values - self._loc[place]) / self._spread[place])

    def _penalties(self) -> Floats:
        width = len(self._lags) + sum(min(known, self._setup.horizon) for known in self._known)
        width += len(self._future_lags) * self._future.shape[1] + len(self._past_lags) * self._past.shape[1]
        calendar = np.full(self._calendar.shape[1], CALENDAR_PENALTY)
        return np.concatenate([[0.0], np.full(width, PENALTY), calendar])


def _block_lags(setup: BaselineSetup, seasons: tuple[int, ...]) -> Ints:
    """Rows before the cut-off (0 for itself) of these whole seasons back, as many as fit the lookback."""
    block = setup.season if setup.season > 1 else max(setup.horizon, SHORTEST_BLOCK)
    block = min(block, setup.lookback)
    fitting = [each for each in (seasons if setup.season > 1 else (1,)) if each * block <= setup.lookback]
    return np.concatenate([np.arange((each - 1) * block, each * block) for each in fitting])


def _standardised(values: Floats, fitted: slice) -> tuple[Floats, Floats, Floats]:
    """Columns of mean 0 and variance 1 in the fitted rows, their means and their standard deviations."""
    some = values[fitted]
    observed = ~np.isnan(some)
    number = np.maximum(observed.sum(axis=0), 1)
    loc = np.where(observed, some, 0).sum(axis=0) / number
    spread = np.sqrt(np.where(observed, (some - loc) ** 2, 0).sum(axis=0) / number)
    spread = np.where(spread > 0, spread, 1.0)
    return (values - loc) / spread, loc, spread


def _one_hot(codes: NDArray[np.int32], names: tuple[str, ...], levels: dict[str, tuple[str, ...]]) -> list[Floats]:
    """For each categorical column one of numbers per level (num_rows, num_levels); all 0 where it is missing."""
    return [
        (codes[:, place, None] == np.arange(len(levels[name]))).astype(np.float64) for place, name in enumerate(names)
    ]


def _calendar(panel: Panel, own: slice, setup: BaselineSetup) -> Floats:
    """Of each row of a series what the calendar says (num_rows, num_features).

    Steps within the day: the day of the week, one column each, and holidays. Longer ones: the features of the run.
    """
    local = panel.zone.local(panel.timestamps[own])
    calendar = setup.calendar
    if not calendar.frequency.is_within_day:
        return calendar.features(local).astype(np.float64)
    weekday = (local.astype("datetime64[D]").astype(np.int64) + 3) % 7  # 1970 began on a Thursday
    days: Floats = np.asarray(weekday[:, None] == np.arange(7), np.float64)
    if calendar.holidays is None:
        return days
    return np.concatenate([days, calendar.holidays.counts(local, calendar.frequency).astype(np.float64)], axis=1)


def _flat(values: Floats) -> Floats:
    """(num_cutoffs, num_lags, num_columns) as (num_cutoffs, num_lags * num_columns)."""
    return values.reshape(len(values), -1)
