"""What the baseline `median-regression` sees of a window: seasons of the past, and one season ahead at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.evaluation.regression_rows import (
    COVARIATE_SEASONS,
    SHORTEST_BLOCK,
    TARGET_SEASONS,
    SeriesRows,
    block_lags,
    block_steps,
    flat,
)
from forecast_attn.evaluation.window_features import BaselineSetup

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PENALTY = 10.0
"""On the squared weights, where inputs have a variance of about 1 and errors are summed over windows."""
CALENDAR_PENALTY = 0.1 * PENALTY
LEAST_SPREAD = 0.05
"""Added to the standard deviation of a window, on the scale of the transformed target."""


class Blocks:
    """A horizon as stretches of a season each, of which every one has its own regression.

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
        """On the squared weight of each input, 0 for the constant, which is the first (num_inputs,)."""
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
        rows, places = blocks.rows, (cutoffs - blocks.rows.first)[:, None]
        self._level = rows.scaled[places - np.arange(blocks.season)].mean(axis=1, keepdims=True)
        self._spread = _spread(rows.scaled, places, blocks.setup.lookback) + LEAST_SPREAD
        self._past = np.concatenate(
            [
                np.ones(places.shape),
                self._normalised(rows.scaled[places - blocks.target_lags]),
                flat(rows.future[places - blocks.covariate_lags]),
                flat(rows.past[places - blocks.covariate_lags]),
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

    def wanted(self, block: int) -> Floats:
        """The normalised target of the block's steps (num_cutoffs, num_steps), NaN where it was not observed."""
        places = (self._cutoffs - self._blocks.rows.first)[:, None]
        return self._normalised(self._blocks.rows.scaled[places + self._blocks.steps(block)])

    def in_units(self, values: Floats) -> Floats:
        """Normalised targets (num_cutoffs, num_steps) in the target's units."""
        return self._blocks.rows.scale.invert(values * self._spread + self._level)

    def _normalised(self, values: Floats) -> Floats:
        return np.asarray((values - self._level) / self._spread)


def _spread(values: Floats, places: Ints, lookback: int) -> Floats:
    """The standard deviation of what was observed in each lookback, which a series may lack in part (num_places, 1)."""
    back = places - np.arange(lookback)
    window = np.where(back >= 0, values[np.maximum(back, 0)], np.nan)
    observed = ~np.isnan(window)
    number = np.maximum(observed.sum(axis=1, keepdims=True), 1)
    mean = np.where(observed, window, 0).sum(axis=1, keepdims=True) / number
    return np.asarray(np.sqrt(np.where(observed, (window - mean) ** 2, 0).sum(axis=1, keepdims=True) / number))
