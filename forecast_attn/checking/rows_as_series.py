"""Evidence that the rows of a table are series: by how its numbers go on, or by names that each have several years."""

from __future__ import annotations

import numpy as np
import pandas as pd

from forecast_attn.checking.value_names import is_called_forecast, is_called_outcome
from forecast_attn.data.reading.step_columns import FEWEST_STEPS, find_steps, variables_by_year
from forecast_attn.data.reading.time_parts import are_whole
from forecast_attn.data.timestamps import looks_like_dates

_MOST_CHANGE = 0.2
"""Usual change from a number to the next one in its row over that in its column, of rows that are series."""
_ROUGH = 0.5
"""Roughness of the columns from which on the rows are in no order; that of noise is 1."""
_MOST_ROWS_OF_A_LABEL = 0.5
"""Distinct labels over rows: of labels, such as the classes of a task, each stands in two rows or more."""


def labels_of_rows(frame: pd.DataFrame) -> tuple[str, ...] | None:
    """The columns beside the steps of series that are the rows: a label of each, or none; None if columns are series.

    Args:
        frame: as it stands in the file. Rows are series where the numbers of a row go on and those of a column do not,
            as in the tasks of classification of the UCR archive, whose first column is the class.
    """
    if len(frame) < FEWEST_STEPS or not all(pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes):
        return None
    first = frame.iloc[:, 0]
    is_label = are_whole(first) and first.nunique() <= _MOST_ROWS_OF_A_LABEL * len(frame)
    labels = (str(first.name),) if is_label and not are_whole(frame.iloc[:, -1]) else ()
    steps = find_steps(frame.drop(columns=list(labels)))
    if steps is None or steps.are_dates or len(steps.names) + len(labels) < frame.shape[1]:
        return None
    values = pd.DataFrame(frame[list(steps.names)].to_numpy(np.float64, na_value=np.nan))
    changes, across = (values.diff(axis=axis).abs().stack().mean() for axis in (1, 0))
    return labels if changes < _MOST_CHANGE * across and _roughness(values) > _ROUGH else None


def likely_variables(frame: pd.DataFrame) -> list[str]:
    """The variables that have a column for each of some years, what others bring about first: cases, then population.

    Empty where a column has dates, of which such columns are properties.
    """
    variables = variables_by_year(frame)
    if len(variables) < 2 or any(looks_like_dates(frame[name]) for name in frame.columns):
        return []
    return sorted(variables, key=lambda name: (is_called_forecast(name), not is_called_outcome(name)))


def _roughness(values: pd.DataFrame) -> float:
    """The usual roughness of columns: the mean square of their steps over twice their variance (Von Neumann 1941)."""
    return float((values.diff().pow(2).mean() / (2 * values.var(ddof=0))).median())
