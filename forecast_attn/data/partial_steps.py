"""The first and last step of sums, of which a table may hold only a part: it was written at noon, or in mid-month."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.cells import Cells, without_rowless_series
from forecast_attn.data.findings import Finding, Report
from forecast_attn.data.frequency import MONTH_UNITS, Frequency, Stamps, split_alias

FEWEST_STEPS = 8
"""Steps from which on the others show when the rows of one begin and end."""
RARE = 0.05
"""Share of the other steps whose rows may end as early, or begin as late, as those of a part of one."""
FEWEST_ABSENT = 1.0
"""Rows that the other steps have on average in the absent part, which may else be empty by chance."""


def without_partial_steps(cells: Cells, steps: Stamps, frequency: Frequency, target: str, report: Report) -> Cells:
    """Leave out the target's rows of a last or first step that the others show to be a part of one.

    Args:
        cells: sorted by series and time, on their axis.
        steps: of each row, its stamp (num_rows,).
        frequency: of the steps.
        target: its column.
        report: called with what is left out.
    """
    known = ~np.isnan(cells.columns[target])
    order = np.argsort(cells.stamps[known], kind="stable")
    stamps, of_rows = cells.stamps[known][order], steps[known][order]
    starts = np.flatnonzero(np.append(True, of_rows[1:] != of_rows[:-1]))
    if len(starts) < FEWEST_STEPS:
        return cells
    ends, counts = np.append(starts[1:], len(stamps)) - 1, np.diff(np.append(starts, len(stamps)))
    begin, end = _edges(of_rows[starts], frequency)
    before = (stamps - np.repeat(begin, counts)).astype(np.int64)
    behind = (np.repeat(end, counts) - stamps).astype(np.int64)
    leaves_out = np.zeros(len(cells.rows), np.bool_)
    for row, is_part, word in (
        (ends[-1], _is_part(behind[::-1], counts[::-1]), "last"),
        (starts[0], _is_part(before, counts), "first"),
    ):
        if is_part:
            leaves_out |= known & (steps == of_rows[row])
            report(_left_out(cells, word, of_rows[row], stamps[row]))
    return without_rowless_series(cells.take(~leaves_out)) if leaves_out.any() else cells


def _edges(steps: Stamps, frequency: Frequency) -> tuple[Stamps, Stamps]:
    """The begin and end of each step, but for what is the same of all; steps of months may be called by their end."""
    _, unit, _ = split_alias(frequency.alias)
    if unit in MONTH_UNITS and unit.endswith("E"):
        return frequency.shift(steps, -1), steps
    return steps, frequency.shift(steps, 1)


def _is_part(distances: NDArray[np.int64], counts: NDArray[np.int64]) -> bool:
    """Return whether the first of several steps has no rows where nearly all others have some.

    Args:
        distances: of each row from that edge of its step, step by step, the nearest row of the first step first
            (num_rows,).
        counts: rows of each step (num_steps,).
    """
    nearest = np.minimum.reduceat(distances, np.cumsum(counts) - counts)
    others, usual = distances[counts[0] :], float(np.median(counts[1:]))
    is_rare = np.mean(nearest[1:] >= nearest[0]) < RARE
    return bool(is_rare and usual * np.mean(others < nearest[0]) >= FEWEST_ABSENT)


def _left_out(cells: Cells, word: str, step: Any, row: Any) -> Finding:
    text = cells.zone.stamp_text
    verb = {"last": "end", "first": "begin"}[word]
    message = (
        f"the {word} step, {text(step)}, is left out: its rows {verb} at {text(row)}, "
        f"{'earlier' if word == 'last' else 'later'} than those of nearly all steps, so their sum is that of a part"
    )
    return Finding("FA218", "note", message, "--partial-steps keep takes it as it is", options=("partial_steps",))
