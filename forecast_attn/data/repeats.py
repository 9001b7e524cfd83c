"""Rows with the series and the time stamp of another, and rows that are absent: one row for every step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.cells import Cells
from forecast_attn.data.frequency import Frequency, step_name
from forecast_attn.data.problems import Finding, Repair, Report, counted, place, report_each
from forecast_attn.data.roles import Roles

MOST_ADDED = 20
"""Rows that may be added per row of the table. More is a mistyped year, not a gap."""


def without_repeats(
    cells: Cells, roles: Roles, report: Report, duplicates: str = "error", repairs: list[Repair] | None = None
) -> Cells:
    """One row for every (series, stamp).

    Args:
        cells: sorted; rows of one series and stamp in the order of the file.
        roles: what the columns mean.
        report: called with every row too many, under "error".
        duplicates: error and first keep the first row, last the last; mean averages numbers, without empty ones, and
            keeps the first category that is not empty.
        repairs: gets what was done, per series.
    """
    follows = np.append(False, (cells.series[1:] == cells.series[:-1]) & (cells.stamps[1:] == cells.stamps[:-1]))
    if not follows.any():
        return cells
    if duplicates == "error":
        places = np.flatnonzero(follows)
        report_each(report, places[np.argsort(cells.rows[places])], lambda at: _repeat(cells, roles, at))
    elif repairs is not None:
        repairs += repairs_by_series(cells, follows, f"duplicates: {duplicates}")
    if duplicates == "mean":
        return _averaged(cells, follows, repairs)
    return cells.take(np.append(~follows[1:], True) if duplicates == "last" else ~follows)


def repairs_by_series(cells: Cells, changed: NDArray[np.bool_], kind: str, column: str | None = None) -> list[Repair]:
    """One repair for every series with changed rows (num_rows,)."""
    places = np.flatnonzero(changed)
    series, first, counts = np.unique(cells.series[places], return_index=True, return_counts=True)
    return [
        Repair(kind, cells.item_ids[index], column, int(count), cells.text(int(places[at])))
        for index, at, count in zip(series, first, counts, strict=True)
    ]


def _averaged(cells: Cells, follows: NDArray[np.bool_], repairs: list[Repair] | None) -> Cells:
    """The first row of every group, with the mean of each number and the first category."""
    kept = np.flatnonzero(~follows)
    lengths = np.diff(np.append(kept, len(follows)))
    repeated = lengths > 1
    members = np.flatnonzero(follows | np.append(follows[1:], False))
    starts = np.cumsum(lengths[repeated]) - lengths[repeated]
    averaged = cells.take(kept)
    for name, values in cells.columns.items():
        averaged.columns[name][repeated] = _means(values[members], starts)
    for name, codes in cells.categories.items():
        averaged.categories[name][repeated], differ = _first_categories(codes[members], starts)
        if repairs is not None:
            changed = np.zeros(len(kept), np.bool_)
            changed[np.flatnonzero(repeated)[differ]] = True
            repairs += repairs_by_series(averaged, changed, "duplicates: first of different categories", name)
    return averaged


def _means(values: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean of each group without its empty cells, bit-equal to them where they agree; NaN where all are empty."""
    known = ~np.isnan(values)
    counts = np.add.reduceat(known.astype(np.int64), starts)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts)
    low, high = np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)
    means = sums / np.maximum(counts, 1)
    return np.asarray(np.where((low == high) | (counts == 0), low, means), np.float64)


def _first_categories(
    codes: NDArray[np.int32], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The first category of each group that is not empty, and whether the group has others."""
    places = np.where(codes >= 0, np.arange(len(codes)), len(codes))
    first = np.append(codes, np.int32(-1))[np.minimum.reduceat(places, starts)]
    lowest = np.minimum.reduceat(np.where(codes >= 0, codes, np.iinfo(np.int32).max), starts)
    return first, np.maximum.reduceat(codes, starts) > lowest


def _repeat(cells: Cells, roles: Roles, at: int) -> Finding:
    first, row = int(cells.rows[at - 1]), int(cells.rows[at])
    name, stamp = cells.item_ids[cells.series[at]], cells.text(at)
    policies = "--duplicates mean, first or last"
    if roles.item_id is not None:
        message = f"series '{name}' has {stamp} twice, at {place(first)} and {place(row)}"
        hint = f"{_clock_hint(cells, at)}keep one of the rows, or {policies}"
        return Finding("FA202", "error", message, hint, item_id=name, column=roles.time, row=row)
    message = (
        f"column '{roles.time}' has {stamp} twice, at {place(first)} and {place(row)}, and no column tells series apart"
    )
    hint = f"{_clock_hint(cells, at)}{_hint_without_id(roles, policies)}"
    return Finding("FA202", "error", message, hint, item_id=name, column=roles.time, row=row)


def _clock_hint(cells: Cells, at: int) -> str:
    if not cells.may_be_clock_change(at):
        return ""
    return "if the clock was put back there, --tz Europe/Berlin, say, tells the two apart; else "


def _hint_without_id(roles: Roles, policies: str) -> str:
    texts = sorted(column for column, reason in roles.ignored.items() if reason == "text")
    if "time" in (text.lower() for text in texts):
        return "write date and time of day into one column"
    if texts:
        return f"--id '{texts[0]}' if that column tells series apart, or {policies}"
    return f"keep one of the rows, name series by --id, or {policies}"


# --------------------------------------------------------------------------- absent rows


def fill_gaps(
    cells: Cells, frequency: Frequency, report: Report, missing: str = "error", repairs: list[Repair] | None = None
) -> Cells:
    """Rows without any value at the stamps that a series leaves out between its first and its last; none under "error".

    Args:
        cells: on their axis, without repeats.
        frequency: of the axis.
        report: called when the gaps are too long to be ones.
        missing: error, or what is done about missing values afterwards.
        repairs: gets what was added, per series.
    """
    if missing == "error":
        return cells
    steps = frequency.steps_between(cells.stamps[:-1], cells.stamps[1:])
    is_gap = (cells.series[1:] == cells.series[:-1]) & (steps == np.round(steps)) & (steps > 1)
    absent = np.where(is_gap, steps - 1, 0).astype(np.int64)
    if not absent.any():
        return cells
    if absent.sum() > MOST_ADDED * len(cells.rows):
        at = int(np.argmax(absent)) + 1
        report(_too_long(cells, frequency, int(absent[at - 1]), at))
        return cells
    before = np.repeat(np.arange(len(absent)), absent)
    number = np.arange(len(before)) - np.repeat(np.cumsum(absent) - absent, absent) + 1
    longer = _with_rows_after(cells, before, frequency.shift(cells.stamps[before], number))
    if repairs is not None:
        repairs += repairs_by_series(longer, longer.rows == 0, "gap: rows added")
    return longer


def _with_rows_after(cells: Cells, before: NDArray[np.int64], stamps: NDArray[Any]) -> Cells:
    """The cells with empty rows, each behind the row named; those behind one row in the order given."""
    order = np.argsort(np.concatenate((np.arange(len(cells.rows)), before)), kind="stable")
    longer = cells.take(np.concatenate((np.arange(len(cells.rows)), before))[order])
    added = order >= len(cells.rows)
    longer.rows[added] = 0
    longer.stamps[added] = stamps[order[added] - len(cells.rows)]
    for values in longer.columns.values():
        values[added] = np.nan
    for codes in longer.categories.values():
        codes[added] = -1
    return longer


def _too_long(cells: Cells, frequency: Frequency, absent: int, at: int) -> Finding:
    name, row = cells.item_ids[cells.series[at]], int(cells.rows[at])
    message = (
        f"series '{name}' jumps from {cells.text(at - 1)} to {cells.text(at)} at {place(row)}: with "
        f"{counted(absent, 'row')} added (step {step_name(frequency.alias)}), the gaps would outweigh the "
        f"{counted(len(cells.rows), 'row')} of the table"
    )
    return Finding("FA204", "error", message, "correct the time stamp, or --freq", item_id=name, row=row)
