"""The baseline `median-regression`: one linear map per phase of the season, estimated once, least absolute deviations.

What `regression` is to squared errors and a daily re-estimation, this is to absolute errors and a single one: it learns
from the windows up to the boundary, as a network does, and from no others. Its target is normalised window by window,
as a network's is, so that a level that was never seen is no extrapolation.

Sources: Koenker and Bassett 1978, "Regression quantiles"; see `least_deviations` for how it is solved, and `regression`
for the inputs. Normalisation: Kim et al. 2022, "Reversible instance normalization for accurate time-series forecasting
against distribution shift".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.data.split import Split
from forecast_attn.errors import DataError
from forecast_attn.evaluation.least_deviations import least_deviations
from forecast_attn.evaluation.median_inputs import Blocks, MedianInputs
from forecast_attn.evaluation.regression_rows import SeriesRows
from forecast_attn.evaluation.regression_windows import (
    FEWEST_WINDOWS,
    alike,
    check_size,
    phases,
    vintages_of,
    windows_of_phase,
)
from forecast_attn.evaluation.window_features import BaselineSetup

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_WINDOWS = 10_000
"""Of a phase; more are thinned out evenly."""


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
        where an input is missing, or fewer than `FEWEST_WINDOWS` windows without a missing value are known.

    Raises:
        DataError: that is so of all cut-offs; or the windows have too many inputs.
    """
    forecasts = np.full((len(cutoffs), setup.horizon), np.nan)
    series = np.searchsorted(panel.starts, cutoffs, side="right") - 1
    learnt, vintages = Split(setup.boundary).training_rows(panel), vintages_of(panel)
    rows, number = None, None
    for own in alike(series, phases(panel, cutoffs, setup)):
        if series[own[0]] != number:
            number = series[own[0]]
            rows = SeriesRows(panel, int(number), slice(0, int(learnt[number])), setup, vintages)
            blocks = Blocks(rows, setup)
            check_size("median-regression", max(len(blocks.penalties(block)) for block in range(blocks.number)))
        assert rows is not None
        usable = own[cutoffs[own] - rows.first + 1 >= blocks.reach]
        last = rows.first + int(learnt[number]) - setup.horizon
        windows = windows_of_phase(panel, int(cutoffs[own[0]]), rows.first + blocks.reach - 1, last, setup)
        if len(usable) and len(windows) >= FEWEST_WINDOWS:
            forecasts[usable] = _of_phase(blocks, windows, cutoffs[usable])
    if len(forecasts) and np.isnan(forecasts).all():
        before = panel.zone.stamp_text(setup.boundary)
        raise DataError(
            f"the baseline 'median-regression' has fewer than {FEWEST_WINDOWS} windows without a missing value up to "
            f"{before} to learn from",
            "leave it out, begin later, or fill missing values with --missing",
        )
    return forecasts


def _of_phase(blocks: Blocks, windows: Ints, cutoffs: Ints) -> Floats:
    """Learn from these windows, forecast at those cut-offs (num_cutoffs, horizon)."""
    if len(windows) > MOST_WINDOWS:
        windows = windows[np.linspace(0, len(windows) - 1, MOST_WINDOWS).astype(np.int64)]
    past, present = MedianInputs(blocks, windows), MedianInputs(blocks, cutoffs)
    parts = []
    for block in range(blocks.number):
        seen, wanted = past.of(block), past.wanted(block)
        whole = ~(np.isnan(seen).any(axis=1) | np.isnan(wanted).any(axis=1))
        if whole.sum() < FEWEST_WINDOWS:
            parts.append(np.full((len(cutoffs), wanted.shape[1]), np.nan))
            continue
        weights = least_deviations(seen[whole], wanted[whole], blocks.penalties(block))
        parts.append(present.in_units(present.of(block) @ weights))
    lowest, highest = blocks.rows.bounds(cutoffs)
    return np.asarray(np.clip(np.concatenate(parts, axis=1), lowest[:, None], highest[:, None]))
