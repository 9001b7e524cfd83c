"""Tables with a row per forecast and a column per step: h0, h1, … h23, as day-ahead forecasts are often written."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.cells import parse_numbers
from forecast_attn.data.frequency import Frequency
from forecast_attn.data.problems import naming, stop_at_errors
from forecast_attn.data.timestamps import Stamps


def step_columns(names: Iterable[str]) -> tuple[str, ...]:
    """h0, h1, … as far as they go on; none where there is no h1."""
    known = set(names)
    found = tuple(itertools.takewhile(known.__contains__, (f"h{number}" for number in itertools.count())))
    return found if len(found) > 1 else ()


def first_step_alone(frame: pd.DataFrame, steps: Sequence[str]) -> pd.DataFrame:
    """The table with its first step as the forecast and without the others, to tell its columns apart."""
    return frame.drop(columns=list(steps[1:])).rename(columns={steps[0]: "prediction"})


def unfolded(frame: pd.DataFrame, steps: Sequence[str], source: str) -> pd.DataFrame:
    """One row per step instead of a column, the steps of a row one after the other; `prediction` holds the values.

    Raises:
        DataError: a cell is no number.
    """
    with naming(source):
        values = np.stack([parse_numbers(frame[name], stop_at_errors) for name in steps], axis=1)
    rows = np.repeat(np.arange(len(frame)), len(steps))
    return first_step_alone(frame, steps).iloc[rows].reset_index(drop=True).assign(prediction=values.ravel())


def stamps_of_steps(stamps: Stamps, number: int, frequency: Frequency) -> tuple[Stamps, Stamps, NDArray[np.int64]]:
    """Stamp, cut-off and step of every unfolded row, (num_rows * number,) each.

    Args:
        stamps: what the first step of each row is a forecast of, (num_rows,). It was made one step before.
        number: steps of a row.
        frequency: of the actuals.
    """
    each = np.stack([frequency.shift(stamps, step) for step in range(number)], axis=1).ravel()
    cutoffs = np.repeat(frequency.shift(stamps, -1), number)
    return each, cutoffs, np.tile(np.arange(1, number + 1), len(stamps))
