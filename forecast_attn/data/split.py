"""Where training ends and validation begins: one time for all series, chosen before anything is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.data.problems import counted
from forecast_attn.errors import DataError


class SkippedSeries(NamedTuple):
    """A series without a single training window, and the training rows it would need."""

    item_id: str
    rows: int
    needed: int


@dataclass(frozen=True)
class Split:
    """Rows with timestamp <= boundary are training."""

    boundary: np.datetime64 | np.int64
    skipped: tuple[SkippedSeries, ...] = ()

    def training_rows(self, panel: Panel) -> NDArray[np.int64]:
        """How many of each series' first rows are training (num_series,)."""
        before = np.concatenate(([0], np.cumsum(panel.timestamps <= self.boundary)))
        inside: NDArray[np.int64] = before[panel.starts[1:]] - before[panel.starts[:-1]]
        return np.minimum(inside, panel.known)


def split_panel(panel: Panel, *, validation: float, horizon: int, lookback: int) -> Split:
    """Cut the last stretch of time off for validation.

    Args:
        panel: the validated table.
        validation: a fraction below 1 of the panel's known span, or a number of steps; at least `horizon` are cut.
        horizon: steps to forecast.
        lookback: past steps the model sees.

    Raises:
        DataError: no series has a whole training window and a whole validation horizon; the hint names sizes that fit.
    """
    span = _known_span(panel)
    steps = _validation_steps(validation, span, horizon)
    last = panel.timestamps[panel.ends - 1].max()
    split = Split(panel.frequency.shift(np.array([last]), -steps)[0])
    rows, needed = split.training_rows(panel), lookback + horizon
    validates = rows + horizon <= panel.known
    if not ((rows >= needed).any() and (validates & (rows >= lookback)).any()):
        raise _too_short(panel, validation, span, horizon, lookback)
    short = np.flatnonzero(rows < needed)
    skipped = tuple(SkippedSeries(panel.item_ids[index], int(rows[index]), needed) for index in short)
    return Split(split.boundary, skipped)


def _known_span(panel: Panel) -> int:
    """Steps from the first to the last known target of any series."""
    has_target = panel.known > 0
    first = panel.timestamps[panel.starts[:-1][has_target]].min()
    last = panel.timestamps[panel.ends[has_target] - 1].max()
    return int(np.floor(panel.frequency.steps_between(np.array([first]), np.array([last]))[0])) + 1


def _validation_steps(validation: float, span: int, horizon: int) -> int:
    return max(horizon, round(validation * span) if validation < 1 else int(validation))


def _too_short(panel: Panel, validation: float, span: int, horizon: int, lookback: int) -> DataError:
    steps = _validation_steps(validation, span, horizon)
    longest = int(panel.known.max())
    message = (
        f"the longest series has {counted(longest, 'row')}; lookback {lookback} + horizon {horizon} + {steps} for "
        f"validation need {lookback + horizon + steps}"
    )
    for shorter in range(horizon, 0, -1):
        room = longest - _validation_steps(validation, span, shorter) - shorter
        if room >= shorter:
            return DataError(message, f"--lookback {min(lookback, room)} --horizon {shorter}")
    return DataError(message, "add rows, or give validation fewer steps with --validation")
