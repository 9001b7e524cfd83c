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


def without_partial_steps(
    cells: Cells, steps: Stamps, frequency: Frequency, target: str, report: Report
) -> tuple[Cells, Any]:
    """Leave out the target's rows of a last or first step that the others show to be a part of one.

    Args:
        cells: sorted by series and time, on their axis.
        steps: of each row, its stamp (num_rows,).
        frequency: of the steps.
        target: its column.
        report: called with what is left out.

    Returns:
        The cells, and the last step that is over, where a later one was left out; None where none was.
    """
    known = ~np.isnan(cells.columns[target])
    order = np.argsort(cells.stamps[known], kind="stable")
    stamps, of_rows = cells.stamps[known][order], steps[known][order]
    starts = np.flatnonzero(np.append(True, of_rows[1:] != of_rows[:-1]))
    if len(starts) < FEWEST_STEPS:
        return cells, None
    counts = np.diff(np.append(starts, len(stamps)))
    ends, distinct = starts + counts - 1, of_rows[starts]
    begin, end = _edges(distinct, frequency)
    before = (stamps - np.repeat(begin, counts)).astype(np.int64)
    behind = (np.repeat(end, counts) - stamps).astype(np.int64)
    leaves_out, last = np.zeros(len(cells.rows), np.bool_), None
    for at, distances, row, word in ((-1, behind, ends[-1], "last"), (0, before, starts[0], "first")):
        parts = np.split(distances, starts[1:])
        if all(_is_part(parts[at], [parts[index] for index in others]) for others in _others(distinct, at, frequency)):
            leaves_out |= known & (steps == distinct[at])
            report(_left_out(cells, word, distinct[at], stamps[row]))
            last = frequency.shift(distinct[-1:], -1)[0] if word == "last" else last
    return without_rowless_series(cells.take(~leaves_out)) if leaves_out.any() else cells, last


def _edges(steps: Stamps, frequency: Frequency) -> tuple[Stamps, Stamps]:
    """The begin and end of each step, but for what is the same of all; steps of months may be called by their end."""
    _, unit, _ = split_alias(frequency.alias)
    if unit in MONTH_UNITS and unit.endswith("E"):
        return frequency.shift(steps, -1), steps
    return steps, frequency.shift(steps, 1)


def _others(steps: Stamps, at: int, frequency: Frequency) -> list[NDArray[np.int64]]:
    """The steps to compare the first or last one with: all, and those of its weekday or hour, if they are enough."""
    others = np.flatnonzero(steps != steps[at])
    between = np.abs(frequency.steps_between(np.full(len(others), steps[at]), steps[others]))
    alike = others[between % frequency.season == 0]
    return [others, alike] if len(alike) >= FEWEST_STEPS else [others]


def _is_part(distances: NDArray[np.int64], of_others: list[NDArray[np.int64]]) -> bool:
    """Return whether a step has no rows up to an edge where nearly all others have some.

    Args:
        distances: of its rows from that edge.
        of_others: those of the rows of each other step.
    """
    nearest, usual = distances.min(), float(np.median([len(each) for each in of_others]))
    if usual <= 1:  # one row of a month is the whole of it, however long the month is
        return False
    is_rare = np.mean([each.min() >= nearest for each in of_others]) < RARE
    return bool(is_rare and usual * np.mean(np.concatenate(of_others) < nearest) >= FEWEST_ABSENT)


def _left_out(cells: Cells, word: str, step: Any, row: Any) -> Finding:
    text = cells.zone.stamp_text
    verb = {"last": "end", "first": "begin"}[word]
    message = (
        f"the {word} step, {text(step)}, is left out: its rows {verb} at {text(row)}, "
        f"{'earlier' if word == 'last' else 'later'} than those of nearly all steps, so their sum is that of a part"
    )
    return Finding("FA218", "note", message, "--partial-steps keep takes it as it is", options=("partial_steps",))
