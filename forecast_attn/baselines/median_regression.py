"""The baseline `median-regression`: one linear map per phase of the season, estimated once, least absolute deviations.

`regression` minimises squared errors and is estimated again at every cut-off; this one minimises absolute errors and is
estimated once, like a network, on the windows up to the boundary. Its target is normalised window by window, as a
network's is, so that an unseen level is no extrapolation.

Sources: Koenker and Bassett 1978, "Regression quantiles"; see `least_deviations` for how it is solved, and `regression`
for the inputs. Normalisation: Kim et al. 2022, "Reversible instance normalization for accurate time-series forecasting
against distribution shift".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.regression_inputs import (
    COVARIATE_SEASONS,
    FEWEST_LEARNED,
    SHORTEST_BLOCK,
    TARGET_SEASONS,
    SeriesRows,
    alike,
    block_lags,
    block_steps,
    check_size,
    flat,
    phases,
    vintages_of,
    windows_of_phase,
)
from forecast_attn.baselines.window_features import BaselineSetup
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Fit = Callable[[Floats, Floats, Floats], Callable[[Floats], Floats]]
"""Takes inputs (num_windows, num_inputs), targets (num_windows, num_steps) and penalties (num_inputs,) of one season.

Returns a function of other inputs: forecasts (num_others, num_steps * num_quantiles), those of one step side by side.
"""
MOST_WINDOWS_OF_PHASE = 10_000
"""Largest number of windows of a phase; more are thinned out evenly."""


def median_regression_forecasts(panel: Panel, cutoffs: Ints, setup: BaselineSetup) -> Floats:
    """Forecast with a regression of each series and phase, estimated on its windows up to the boundary.

    A horizon longer than a season is forecast season by season, each by a regression of its own: its inputs are those
    of the past and what is known of this season alone.

    Args:
        panel: with the rows of each horizon.
        cutoffs: rows of the last known values, (num_cutoffs,).
        setup: sizes, calendar, and the boundary up to which is learnt.

    Returns:
        (num_cutoffs, horizon), in the target's units. Only rows up to the boundary, those of the lookback, and known
        covariates of the horizon matter; and the range of the series up to the cut-off, to which forecasts are cut. NaN
        where an input is missing, or fewer than `FEWEST_LEARNED` windows without a missing value are known.

    Raises:
        DataError: that is so of all cut-offs; or the windows have too many inputs.
    """

    def fit(inputs: Floats, targets: Floats, penalties: Floats) -> Callable[[Floats], Floats]:
        weights = least_deviations(inputs, targets, penalties)
        return lambda others: others @ weights

    learnt = setup.split.training_rows(panel)[panel.series_of(cutoffs)]
    forecasts = forecasts_by_phase(
        "median-regression", fit, panel, cutoffs, setup, learnt, most=MOST_WINDOWS_OF_PHASE, fewest=FEWEST_LEARNED
    )[..., 0]
    if len(forecasts) and np.isnan(forecasts).all():
        before = panel.zone.stamp_text(setup.boundary)
        raise DataError(
            f"the baseline 'median-regression' has fewer than {FEWEST_LEARNED} windows without a missing value up to "
            f"{before} to learn from",
            "leave it out, begin later, or fill missing values with --missing",
        )
    return forecasts


# --------------------------------------------------------------------------- by series and phase
# A regression of each series and phase of the season, for every block of the horizon.


def forecasts_by_phase(
    name: str,
    fit: Fit,
    panel: Panel,
    cutoffs: Ints,
    setup: BaselineSetup,
    learnt: Ints,
    *,
    num_quantiles: int = 1,
    most: int,
    fewest: int,
) -> Floats:
    """Forecast each cut-off with a regression on the windows of its series and phase.

    Args:
        name: of the baseline.
        fit: estimates one.
        panel: with the rows of each horizon.
        cutoffs: rows of the last known values, (num_cutoffs,).
        setup: sizes and calendar.
        learnt: first rows of the series that may be learnt from at each cut-off, (num_cutoffs,).
        num_quantiles: numbers that `fit` forecasts for a step.
        most: windows of a phase; more are thinned out evenly.
        fewest: windows to learn from; with fewer there is no forecast.

    Returns:
        (num_cutoffs, horizon, num_quantiles), ascending, in the target's units; NaN where there is no forecast.

    Raises:
        DataError: the windows have too many inputs.
    """
    forecasts = np.full((len(cutoffs), setup.horizon, num_quantiles), np.nan)
    series, vintages = panel.series_of(cutoffs), vintages_of(panel)
    known = cutoffs - panel.starts[series] + 1
    blocks, of_blocks = None, None
    for group in alike(series, learnt, phases(panel, cutoffs, setup)):
        number, stop = int(series[group[0]]), int(learnt[group[0]])
        if not stop:
            continue
        if (number, stop) != of_blocks:
            of_blocks = (number, stop)
            blocks = Blocks(SeriesRows(panel, number, slice(0, stop), setup, vintages), setup)
            check_size(name, max(len(blocks.penalties(block)) for block in range(blocks.number)))
        assert blocks is not None
        usable, first = group[known[group] >= blocks.reach], blocks.rows.first
        last = first + stop - setup.horizon
        windows = windows_of_phase(panel, int(cutoffs[group[0]]), first + blocks.reach - 1, last, setup)
        if len(windows) > most:
            windows = windows[np.linspace(0, len(windows) - 1, most).astype(np.int64)]
        if len(usable) and len(windows) >= fewest:
            forecasts[usable] = _of_phase(fit, blocks, windows, cutoffs[usable], num_quantiles, fewest)
    return forecasts


def _of_phase(fit: Fit, blocks: Blocks, windows: Ints, cutoffs: Ints, num_quantiles: int, fewest: int) -> Floats:
    """Fit on these windows, and forecast at those cut-offs (num_cutoffs, horizon, num_quantiles)."""
    past, present = MedianInputs(blocks, windows), MedianInputs(blocks, cutoffs)
    parts = []
    for block in range(blocks.number):
        seen, targets = past.of(block), past.targets(block)
        shape = (len(cutoffs), targets.shape[1], num_quantiles)
        whole = ~(np.isnan(seen).any(axis=1) | np.isnan(targets).any(axis=1))
        if whole.sum() < fewest:
            parts.append(np.full(shape, np.nan))
            continue
        forecast = fit(seen[whole], targets[whole], blocks.penalties(block))
        # Maps of neighbouring quantiles cross where they are hardly apart: sorting never moves one from the truth.
        forecasts = np.sort(forecast(present.of(block)).reshape(shape), axis=-1)
        parts.append(np.stack([present.in_units(each) for each in np.moveaxis(forecasts, -1, 0)], axis=-1))
    lowest, highest = blocks.rows.bounds(cutoffs)
    return np.asarray(np.clip(np.concatenate(parts, axis=1), lowest[:, None, None], highest[:, None, None]))


# --------------------------------------------------------------------------- median inputs
# Inputs of the baseline `median-regression`: seasons of the past, and one season ahead at a time.


PENALTY = 10.0
"""Penalty on the squared weights; inputs have a variance of about 1 and errors are summed over windows."""
CALENDAR_PENALTY = 0.1 * PENALTY
LEAST_SPREAD = 0.05
"""Added to the standard deviation of a window, on the scale of the transformed target."""


class Blocks:
    """A horizon split into stretches of one season, each with a regression of its own.

    Attributes:
        rows: of the series.
        setup: sizes.
        number: of blocks.
        reach: rows up to the cut-off that a window needs.
        target_lags: rows before the cut-off at which the target is read.
        covariate_lags: the same of covariates.
        season: how many of the last values set the level of a window.
    """

    def __init__(self, rows: SeriesRows, setup: BaselineSetup) -> None:
        """Cut the horizon of this setup."""
        self.rows, self.setup = rows, setup
        self.target_lags, self.covariate_lags = block_lags(setup, TARGET_SEASONS), block_lags(setup, COVARIATE_SEASONS)
        self.reach, self.season = int(self.target_lags.max()) + 1, block_steps(setup)
        self._length = setup.season if setup.season > 1 else SHORTEST_BLOCK
        self.number = -(-setup.horizon // self._length)

    def steps(self, block: int, known: int | None = None) -> Ints:
        """The steps of a block, counted from the cut-off (num_steps,), up to the last that is known."""
        last = self.setup.horizon if known is None else known
        return np.arange(block * self._length + 1, min((block + 1) * self._length, last) + 1)

    def penalties(self, block: int) -> Floats:
        """Penalties on the squared weight of each input, 0 for the constant, which is the first (num_inputs,)."""
        rows = self.rows
        ahead = sum(
            (1 + (column < rows.numbers)) * len(self.steps(block, known)) for column, known in enumerate(rows.known)
        )
        columns = rows.future.shape[1] + rows.past.shape[1]
        width = len(self.target_lags) + ahead + len(self.covariate_lags) * columns + 2
        calendar = np.full(rows.calendar.shape[1] + rows.year.shape[1], CALENDAR_PENALTY)
        return np.concatenate([[0.0], np.full(width, PENALTY), calendar])


class MedianInputs:
    """The windows of some cut-offs: their target minus the mean of its last season, over its spread in the lookback."""

    def __init__(self, blocks: Blocks, cutoffs: Ints) -> None:
        """Read the past, which all blocks share.

        Args:
            blocks: of the horizon.
            cutoffs: rows of the panel, with `blocks.reach` rows of the series up to each (num_cutoffs,).
        """
        self._blocks, self._cutoffs = blocks, cutoffs
        rows, rows_of_cutoffs = blocks.rows, (cutoffs - blocks.rows.first)[:, None]
        self._level = rows.scaled[rows_of_cutoffs - np.arange(blocks.season)].mean(axis=1, keepdims=True)
        self._spread = _spread(rows.scaled, rows_of_cutoffs, blocks.setup.lookback) + LEAST_SPREAD
        self._past = np.concatenate(
            [
                np.ones(rows_of_cutoffs.shape),
                self._normalised(rows.scaled[rows_of_cutoffs - blocks.target_lags]),
                flat(rows.future[rows_of_cutoffs - blocks.covariate_lags]),
                flat(rows.past[rows_of_cutoffs - blocks.covariate_lags]),
                self._level,
                np.log(self._spread),
            ],
            axis=1,
        )

    def of(self, block: int) -> Floats:
        """The inputs (num_cutoffs, num_inputs), NaN where a value is missing."""
        blocks, rows, parts = self._blocks, self._blocks.rows, [self._past]
        for column, known in enumerate(rows.known):
            values = rows.ahead(column, self._cutoffs, blocks.steps(block, known))
            parts += [values, values**2 / 2] if column < rows.numbers else [values]
        first = self._cutoffs - rows.first + blocks.steps(block)[0]
        return np.concatenate([*parts, rows.calendar[first], rows.year[first]], axis=1)

    def targets(self, block: int) -> Floats:
        """Normalised target of the block's steps (num_cutoffs, num_steps), NaN where it was not observed."""
        rows_of_cutoffs = (self._cutoffs - self._blocks.rows.first)[:, None]
        return self._normalised(self._blocks.rows.scaled[rows_of_cutoffs + self._blocks.steps(block)])

    def in_units(self, values: Floats) -> Floats:
        """Normalised targets (num_cutoffs, num_steps) in the target's units."""
        return self._blocks.rows.scale.invert(values * self._spread + self._level)

    def _normalised(self, values: Floats) -> Floats:
        return np.asarray((values - self._level) / self._spread)


def _spread(values: Floats, rows: Ints, lookback: int) -> Floats:
    """Standard deviation of the observed values in each lookback, which may begin before the series."""
    back = rows - np.arange(lookback)
    window = np.where(back >= 0, values[np.maximum(back, 0)], np.nan)
    observed = ~np.isnan(window)
    number = np.maximum(observed.sum(axis=1, keepdims=True), 1)
    mean = np.where(observed, window, 0).sum(axis=1, keepdims=True) / number
    return np.asarray(np.sqrt(np.where(observed, (window - mean) ** 2, 0).sum(axis=1, keepdims=True) / number))


# --------------------------------------------------------------------------- least deviations
# Linear least absolute deviations with a ridge penalty, for many targets at once.


Solve = Callable[[Floats], Floats]

REWEIGHTINGS = 3
SMALLEST = 0.1
"""Errors below count as squares do: their weight is no larger than that of this one."""
_TOLERANCE = 1e-7
"""Relative residual at which a weighted system counts as solved."""
_MOST_STEPS = 200


def least_deviations(inputs: Floats, targets: Floats, penalties: Floats, reweightings: int = REWEIGHTINGS) -> Floats:
    """Weights of a linear map with nearly least absolute errors.

    It starts with ridge regression and repeats it with errors e weighted by 1 / max(|e|, `SMALLEST`); the weights of
    each target are divided by their mean, so that the penalty keeps its share.

    Args:
        inputs: (num_windows, num_inputs), none missing.
        targets: (num_windows, num_targets), none missing.
        penalties: on the squared weight of each input, at least 0 (num_inputs,).
        reweightings: how often the weights follow the errors.

    Returns:
        (num_inputs, num_targets).

    Raises:
        numpy.linalg.LinAlgError: inputs without penalty determine each other.
    """
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(inputs.T @ inputs + np.diag(penalties))
    solution: Floats = cho_solve(factor, inputs.T @ targets)
    # The factor of the unweighted matrix preconditions every weighted one: factoring one per target would cost more.
    for _ in range(reweightings):
        # A square weighted by 1 / |e| is |e|.
        weights = 1 / np.maximum(np.abs(targets - inputs @ solution), SMALLEST)
        weights /= weights.mean(axis=0)
        solution = weighted_ridge(inputs, targets, weights, penalties, solution, lambda rest: cho_solve(factor, rest))
    return solution


def weighted_ridge(
    inputs: Floats,
    targets: Floats,
    weights: Floats,
    penalties: Floats,
    start: Floats,
    solve_near: Solve,
    tolerance: float = _TOLERANCE,
) -> Floats:
    """Solve (X'VX + P) W = X'VY, with its own V for each target, by preconditioned conjugate gradients.

    Args:
        inputs: X (num_windows, num_inputs).
        targets: Y (num_windows, num_targets).
        weights: V (num_windows, num_targets).
        penalties: the diagonal of P (num_inputs,).
        start: of W (num_inputs, num_targets).
        solve_near: solves with a matrix near X'VX + P.
        tolerance: relative residual at which a system counts as solved.
    """

    def apply(solution: Floats) -> Floats:
        return np.asarray(inputs.T @ (weights * (inputs @ solution)) + penalties[:, None] * solution)

    solution, moments = start.copy(), inputs.T @ (weights * targets)
    rest = moments - apply(solution)
    direction = near = solve_near(rest)
    product = (rest * near).sum(axis=0)
    small = tolerance * np.linalg.norm(moments, axis=0)
    for _ in range(_MOST_STEPS):
        if (np.linalg.norm(rest, axis=0) <= small).all():
            break
        applied = apply(direction)
        length = _ratio(product, (direction * applied).sum(axis=0))
        solution += length * direction
        rest -= length * applied
        near = solve_near(rest)
        before, product = product, (rest * near).sum(axis=0)
        direction = near + _ratio(product, before) * direction
    return solution


def _ratio(above: Floats, below: Floats) -> Floats:
    """Divide; 0 where the target is solved to the last bit."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
