"""A few absent rows and empty cells of a long table: what `--missing auto` does about them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.axis import uneven_steps
from forecast_attn.data.cells import Cells
from forecast_attn.data.findings import Finding, Report, counted
from forecast_attn.data.frequency import Frequency
from forecast_attn.data.roles import Roles

MOST = 0.05
"""Share of a table's steps that may be absent or have an empty cell; the holidays of an exchange are four per cent."""
FEWEST_ROWS = 50
"""Fewest rows of which a share says anything."""
LONGEST = 0.1
"""Share of its series that one gap may be."""


def policy_for_few(cells: Cells, roles: Roles, frequency: Frequency, report: Report) -> str:
    """`mask` where few steps of a table are missing, with a note; `error` where none is, or many are.

    Args:
        cells: on their axis, without repeats.
        roles: what the columns mean.
        frequency: of the axis.
        report: called with what is hidden.
    """
    uneven, empty = uneven_steps(cells, frequency), _rows_with_empty_cells(cells, roles)
    gaps, absent = uneven.at[uneven.gaps], uneven.steps[uneven.gaps].astype(np.int64) - 1
    if not len(gaps) and not empty.any():  # a whole table need not be searched for its future rows
        return "error"
    known = cells.up_to_last_known(roles.target)
    empty &= known
    missing, steps = int(absent.sum()) + int(empty.sum()), len(cells.rows) + int(absent.sum())
    if not missing or len(cells.rows) < FEWEST_ROWS or missing > MOST * steps or _future_is_open(cells, roles, known):
        return "error"
    lengths = np.diff(cells.starts)[cells.series[gaps]]
    if (absent > np.maximum(LONGEST * lengths, 1)).any() or _are_changes_of_the_clock(cells, frequency, gaps):
        return "error"
    parts = [counted(int(absent.sum()), "absent row")] if len(gaps) else []
    parts += [f"{counted(int(empty.sum()), 'row')} with empty cells"] if empty.any() else []
    message = f"{' and '.join(parts)} of {steps:,} steps: hidden from attention and loss"
    hint = "--missing ffill, interpolate or zero fills them, --missing error refuses them"
    report(Finding("FA214", "note", message, hint, options=("missing",)))
    return "mask"


def _are_changes_of_the_clock(cells: Cells, frequency: Frequency, gaps: NDArray[np.int64]) -> bool:
    """Return whether all gaps are hours that a clock skipped, which a zone explains and nothing need hide."""
    is_skipped = (cells.zone_of_clock_change(int(at)) is not None for at in gaps)
    return frequency.is_within_day and len(gaps) > 0 and all(is_skipped)


def _rows_with_empty_cells(cells: Cells, roles: Roles) -> NDArray[np.bool_]:
    """Rows that lack a value, future rows too (num_rows,)."""
    empty = np.isnan(cells.columns[roles.target])
    for name in (*roles.past_covariates, *roles.future_covariates):
        empty |= np.isnan(cells.columns[name])
    for name in (*roles.past_categories, *roles.future_categories):
        empty |= cells.category_codes[name] < 0
    return empty


def _future_is_open(cells: Cells, roles: Roles, known: NDArray[np.bool_]) -> bool:
    """Return whether a future row lacks a future covariate, which nothing may hide."""
    empty = [np.isnan(cells.columns[name]) for name in roles.future_covariates]
    empty += [cells.category_codes[name] < 0 for name in roles.future_categories]
    return any(bool((column & ~known).any()) for column in empty)
