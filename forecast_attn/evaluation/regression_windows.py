"""Windows of the same phase of the season, which the baselines `regression` and `median-regression` learn from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError
from forecast_attn.evaluation.window_features import BaselineSetup

if TYPE_CHECKING:
    from forecast_attn.data.vintages import Vintages

Ints = NDArray[np.int64]

FEWEST_WINDOWS = 4
"""Below which there is no forecast."""
MOST_INPUTS = 3_000
"""Memory grows with the square of the inputs, and the time of an estimation with their cube."""


def period(setup: BaselineSetup) -> int:
    """Steps from one window to the next: a season, of which half-lives and scales are so many.

    Weeks, months and longer steps have a window at each: one a year would be too few to learn from.
    """
    frequency = setup.calendar.frequency
    return setup.season if frequency.is_within_day or frequency.alias in ("D", "B") else 1


def phases(panel: Panel, rows: Ints, setup: BaselineSetup) -> Ints:
    """The place of rows in their season (num_rows,).

    Of steps within a day on the clock of the data, so that midnight stays midnight when clocks are changed.
    """
    frequency = setup.calendar.frequency
    series = np.searchsorted(panel.starts, rows, side="right") - 1
    places = rows - panel.starts[series]
    if panel.zone.type_name is not None:
        stamps = np.concatenate([panel.timestamps[rows], panel.timestamps[panel.starts[series]]])
        apart = panel.zone.local(stamps) - stamps
        step = frequency.shift(panel.timestamps[:1], 1)[0] - panel.timestamps[0]
        places = places + (apart[: len(rows)] - apart[len(rows) :]) // step
    return np.asarray(places % period(setup), np.int64)


def windows_of_phase(panel: Panel, cutoff: int, first: int, stop: int, setup: BaselineSetup) -> Ints:
    """Rows of the cut-offs from `first` up to and without `stop` that have the phase of this one, ascending."""
    rows = np.arange(first, stop)
    return np.asarray(rows[phases(panel, rows, setup) == phases(panel, np.array([cutoff]), setup)])


def alike(*keys: Ints) -> Iterator[Ints]:
    """Places of the cut-offs that share all keys, one group after the other, in the order of the keys.

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
    """What had been forecast of the covariates, where the panel says."""
    if panel.issued is None:
        return None
    from forecast_attn.data.vintages import Vintages  # with torch

    return Vintages.build(panel, panel.issued)
