"""Columns that follow from another one, row by row: its past, its change, its logarithm."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_MOST_COMPARED, _FEWEST_COMPARED, _ROWS_COMPARED = 60, 10, 500
"""Columns that are compared with each other, and the rows of them."""
_NEARLY, _MOSTLY = 1e-3, 0.95
"""Share of their size by which two columns may differ, and of the rows in which they hardly do."""


def computed_columns(columns: Mapping[str, pd.Series]) -> set[str]:
    """The columns that hold what another one held in the row before, how it changed since, or its logarithm.

    Args:
        columns: of one table, by name; none of many are compared.
    """
    if len(columns) > _MOST_COMPARED:
        return set()
    cells = {name: column.to_numpy()[:_ROWS_COMPARED] for name, column in columns.items()}
    pairs = itertools.permutations(cells, 2)
    return {name for name, other in pairs if _is_computed_from(cells[name], cells[other])}


def _is_computed_from(numbers: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Return whether a column is the past, the change or the logarithm of another one, in nearly all rows that tell."""
    with np.errstate(divide="ignore", invalid="ignore"):
        candidates = (others[:-1], np.diff(others), np.log(others[1:]))
    return any(_are_nearly_equal(numbers[1:], each) for each in candidates)


def _are_nearly_equal(numbers: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    known = np.isfinite(numbers) & np.isfinite(others)
    if known.sum() < _FEWEST_COMPARED or len(np.unique(numbers[known])) < known.sum() / 2:
        return False
    near = np.abs(numbers[known] - others[known]) <= _NEARLY * np.abs(numbers[known]).mean()
    return bool(near.mean() >= _MOSTLY)
