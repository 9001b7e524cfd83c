"""The baseline `regression`: one ridge regression for the whole horizon, estimated anew at every cut-off.

It uses the parts of LEAR, a model of day-ahead prices, that work for other series too: whole seasons as inputs,
re-estimation at every cut-off, an average over several calibration windows, and a target with damped spikes. LEAR has a
lasso per hour and calibration windows of 8 weeks to 4 years; this has a ridge penalty, all hours at once, and weights
that decay with age: a closed form whose sums are updated from cut-off to cut-off.

Sources: Lago, Marcjasz, De Schutter and Weron 2021, "Forecasting day-ahead electricity prices: a review of
state-of-the-art algorithms, best practices and an open-access benchmark", section 4.2 (LEAR); Uniejewski and Weron
2018 for the arcsinh (see `ArcsinhScale`); Hoerl and Kennard 1970, "Ridge regression".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.regression_inputs import (
    FEWEST_LEARNED,
    RegressionInputs,
    SeriesRows,
    alike,
    check_size,
    period,
    phases,
    vintages_of,
    windows_of_phase,
)
from forecast_attn.baselines.window_features import BaselineSetup
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HALF_LIVES = (np.inf, 365.0, 90.0)
"""Seasons after which a window counts half, the longest first; the mean of the three forecasts is the forecast."""
SCALE_EVERY, SCALE_OVER = 28, 365
"""Seasons after which the scales are renewed, counted from the first row, and seasons that they are measured on."""
_WINDOWS_AT_ONCE = 4_096


def regression_forecasts(panel: Panel, cutoffs: Ints, setup: BaselineSetup) -> Floats:
    """Forecast with a regression of each series, estimated at each cut-off on what was known then.

    The regression of a cut-off learns from every window of its series whose horizon has been observed by then and whose
    own cut-off has the same phase of the season (see `phases`), weighted by 0.5^(age / half-life). Its forecast does
    not depend on which other cut-offs are asked for, but for rounding, nor on the boundary.

    Args:
        panel: with the rows of each horizon.
        cutoffs: rows of the last known values, (num_cutoffs,).
        setup: sizes and calendar.

    Returns:
        (num_cutoffs, horizon), in the target's units. NaN where an input is missing, or fewer than `FEWEST_LEARNED`
        windows without a missing value are known.

    Raises:
        DataError: that is so of all cut-offs; or the windows have too many inputs.
    """
    forecasts = np.full((len(cutoffs), setup.horizon), np.nan)
    series = panel.series_of(cutoffs)
    known = cutoffs - panel.starts[series] + 1
    scale_period = SCALE_EVERY * period(setup)
    fitted = np.minimum(np.maximum(known // scale_period * scale_period, setup.lookback), known)
    vintages, inputs, of_inputs = vintages_of(panel), None, None
    for group in alike(series, fitted, phases(panel, cutoffs, setup)):
        if (series[group[0]], fitted[group[0]]) != of_inputs:
            of_inputs = (series[group[0]], fitted[group[0]])
            stop = int(fitted[group[0]])
            rows = slice(max(stop - SCALE_OVER * period(setup), 0), stop)
            inputs = RegressionInputs(SeriesRows(panel, int(series[group[0]]), rows, setup, vintages), setup)
            check_size("regression", inputs.num_inputs)
        assert inputs is not None
        usable = group[known[group] >= inputs.reach]
        if len(usable):
            usable = usable[np.argsort(cutoffs[usable], kind="stable")]
            first, last = inputs.rows.first + inputs.reach - 1, int(cutoffs[usable[-1]])
            windows = windows_of_phase(panel, last, first, last - setup.horizon + 1, setup)
            forecasts[usable] = _roll(inputs, cutoffs[usable], windows, setup)
    if len(forecasts) and np.isnan(forecasts).any(axis=1).all():
        raise DataError(
            f"the baseline 'regression' has fewer than {FEWEST_LEARNED} windows without a missing value to learn from",
            "leave it out, begin later, or fill missing values with --missing",
        )
    return forecasts


def _roll(inputs: RegressionInputs, cutoffs: Ints, windows: Ints, setup: BaselineSetup) -> Floats:
    """Forecast at ascending cut-offs of one series and phase (num_cutoffs, horizon).

    Args:
        inputs: of the series.
        cutoffs: rows, (num_cutoffs,).
        windows: rows of the cut-offs to learn from, ascending; each only once its horizon has been observed.
        setup: sizes.
    """
    all_sums = [_DecayedSums(inputs, half_life, setup) for half_life in HALF_LIVES]
    lowest, highest = inputs.rows.bounds(cutoffs)
    forecasts = np.full((len(cutoffs), setup.horizon), np.nan)
    learnt, before = 0, cutoffs[0]
    for index, cutoff in enumerate(cutoffs):
        stop = int(np.searchsorted(windows, cutoff - setup.horizon, side="right"))
        for sums in all_sums:
            sums.fade(cutoff - before)
        for first in range(learnt, stop, _WINDOWS_AT_ONCE):
            some = windows[first : min(first + _WINDOWS_AT_ONCE, stop)]
            seen, targets = inputs.of(some), inputs.targets(some)
            whole = ~(np.isnan(seen).any(axis=1) | np.isnan(targets).any(axis=1))
            for sums in all_sums:
                sums.learn(seen[whole], targets[whole], cutoff - setup.horizon - some[whole])
        learnt, before = stop, cutoff
        if all_sums[0].weight >= FEWEST_LEARNED:  # these forget nothing, so their weight is the number of windows
            of_each = [sums.forecast(inputs.of(cutoffs[index : index + 1])[0]) for sums in all_sums]
            mean = np.mean([inputs.rows.scale.invert(each) for each in of_each if each is not None], axis=0)
            forecasts[index] = np.clip(mean, lowest[index], highest[index])
    return forecasts


class _DecayedSums:
    """Decayed sums X'WX and X'WY of the windows learnt so far, W their weights at the present cut-off."""

    def __init__(self, inputs: RegressionInputs, half_life: float, setup: BaselineSetup) -> None:
        self._inputs = inputs
        self._steps = half_life * period(setup)
        self._moments = np.zeros((inputs.num_inputs, inputs.num_inputs))
        self._products = np.zeros((inputs.num_inputs, setup.horizon))
        self.weight = 0.0

    def fade(self, steps: int) -> None:
        """Decay the sums by a number of steps."""
        left = 0.5 ** (steps / self._steps)
        self._moments *= left
        self._products *= left
        self.weight *= left

    def learn(self, seen: Floats, targets: Floats, ages: Ints) -> None:
        """Add windows whose horizons ended `ages` steps ago (num_windows,)."""
        weights = 0.5 ** (ages / self._steps)
        weighted = seen * weights[:, None]
        self._moments += weighted.T @ seen
        self._products += weighted.T @ targets
        self.weight += float(weights.sum())

    def forecast(self, seen: Floats) -> Floats | None:
        """The transformed target (horizon,); None where no window has enough weight left."""
        if self.weight < 1:
            return None
        coefficients = np.linalg.solve(self._moments + np.diag(self._inputs.penalties), self._products)
        return np.asarray(seen @ coefficients)
