"""What the baseline `regression` sees of a window: whole seasons of one series, and what is known ahead."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.evaluation.regression_rows import COVARIATE_SEASONS, TARGET_SEASONS, SeriesRows, block_lags, flat
from forecast_attn.evaluation.window_features import BaselineSetup

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PENALTY = 3.0
"""On the squared weights, where inputs have a variance of about 1 and errors are summed over windows."""
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
        series, places = self.rows, cutoffs - self.rows.first
        ahead = [series.ahead(column, cutoffs, np.arange(1, known + 1)) for column, known in enumerate(series.known)]
        back = [
            flat(series.future[places[:, None] - self._future_lags]),
            flat(series.past[places[:, None] - self._past_lags]),
        ]
        constant, lagged = np.ones((len(places), 1)), series.scaled[places[:, None] - self._lags]
        return np.concatenate([constant, lagged, *ahead, *back, series.calendar[places + 1]], 1)

    def wanted(self, cutoffs: Ints) -> Floats:
        """The transformed target of the horizon (num_cutoffs, horizon), NaN where it was not observed."""
        places = (cutoffs - self.rows.first)[:, None]
        return np.asarray(self.rows.scaled[places + np.arange(1, self._setup.horizon + 1)])

    def _penalties(self) -> Floats:
        series = self.rows
        width = len(self._lags) + sum(series.known)
        width += len(self._future_lags) * series.future.shape[1] + len(self._past_lags) * series.past.shape[1]
        calendar = np.full(series.calendar.shape[1], CALENDAR_PENALTY)
        return np.concatenate([[0.0], np.full(width, PENALTY), calendar])
