"""Missing values of known rows: what `--missing` does about them, series by series.

Interpolation reads the value behind a hole, which is later than the hole. Two things keep it honest: holes across the
training boundary are carried forward in the training rows (`without_later_values`), and no score is taken at a cut-off
inside such a hole (`sees_later_values`). A forecast's own cut-off is the last known row; behind it nothing is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.cells import Cells
from forecast_attn.data.problems import Repair
from forecast_attn.data.repeats import repairs_by_series
from forecast_attn.data.roles import Roles
from forecast_attn.data.timestamps import Stamps

if TYPE_CHECKING:
    from forecast_attn.data.panel import Panel

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Filled:
    """Which cells of a panel were filled, and how."""

    policy: str = "error"
    rows: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    """Column -> its filled rows, ascending."""


def fill_missing(
    cells: Cells, roles: Roles, missing: str = "error", repairs: list[Repair] | None = None
) -> tuple[Cells, Filled]:
    """Fill the holes of target and covariates in known rows: those up to each series' last known target.

    Nothing reaches from one series into another, or behind the last known target. What a policy cannot fill stays
    empty: for ffill what comes before a column's first value, for interpolate also what comes after its last.

    Args:
        cells: on their axis, without gaps.
        roles: what the columns mean. Static covariates and weights are not filled.
        missing: error and mask fill nothing; ffill repeats the value before; interpolate draws a line in time to the
            value after; zero writes 0. Categories repeat the one before, or stay unknown (mask, zero).
        repairs: gets what was done, per series and column.

    Returns:
        The cells, and which of them are not from the table.
    """
    repairs = [] if repairs is None else repairs
    if missing == "error":
        return cells, Filled()
    known = _known_rows(cells, roles)
    filled = Filled(missing)
    columns, categories = dict(cells.columns), dict(cells.categories)
    for name in (roles.target, *roles.past_covariates, *roles.future_covariates):
        empty = known & np.isnan(cells.columns[name])
        columns[name] = _filled_numbers(cells, cells.columns[name], empty, known, missing)
        repairs += _told(cells, name, empty & ~np.isnan(columns[name]), empty, missing, filled)
    for name in (*roles.past_categories, *roles.future_categories):
        empty = known & (cells.categories[name] < 0)
        if missing in ("ffill", "interpolate"):
            categories[name] = _carried(cells, cells.categories[name], empty)
            repairs += _told(cells, name, empty & (categories[name] >= 0), empty, "ffill", filled)
        else:
            repairs += repairs_by_series(cells, empty, "missing: unknown category", name)
    return replace(cells, columns=columns, categories=categories), filled


def without_later_values(panel: Panel, boundary: Any) -> Panel:
    """The panel with every interpolated hole that reaches over the boundary carried forward in its training rows.

    Args:
        panel: as built.
        boundary: last training time, as in `Split`.
    """
    if panel.filled.policy != "interpolate":
        return panel
    target, past, ahead = panel.target.copy(), panel.past_covariates.copy(), panel.future_covariates.copy()
    for name, rows in panel.filled.rows.items():
        column = {
            panel.roles.target: target,
            **{name: past[:, at] for at, name in enumerate(panel.roles.past_covariates)},
            **{name: ahead[:, at] for at, name in enumerate(panel.roles.future_covariates)},
        }.get(name)
        if column is not None:
            _carry_over(column, rows, panel.timestamps, boundary)
    return replace(panel, target=target, past_covariates=past, future_covariates=ahead)


def sees_later_values(panel: Panel) -> Mask:
    """Rows at which a cut-off would see what was drawn from a later value (num_rows,): inside interpolated holes."""
    sees = np.zeros(panel.num_rows, np.bool_)
    if panel.filled.policy == "interpolate":
        for rows in panel.filled.rows.values():
            sees[rows] = True
    return sees


def hint_for(missing: str, column: str, *, needed: bool) -> str:
    """What to do about a cell that is empty in spite of the policy.

    Args:
        missing: the policy.
        column: of the cell.
        needed: whether it is the target, which cannot be left out.
    """
    leave_out = "" if needed else f", or leave the column out with --ignore '{column}'"
    means = {
        "ffill": "there is no value before it to repeat: fill the cell, or --missing mask or zero",
        "interpolate": "there is no value on both sides of it: fill the cell, or --missing mask, ffill or zero",
    }
    return f"{means.get(missing, 'fill the cell, or --missing mask hides it from attention and loss')}{leave_out}"


def _known_rows(cells: Cells, roles: Roles) -> Mask:
    """Rows up to the last known target of their series (num_rows,)."""
    rows = np.arange(len(cells.rows))
    last = np.maximum.reduceat(np.where(np.isnan(cells.columns[roles.target]), -1, rows), cells.starts[:-1])
    return np.asarray(rows <= last[cells.series], np.bool_)


def _told(cells: Cells, column: str, changed: Mask, empty: Mask, policy: str, filled: Filled) -> list[Repair]:
    """Repairs of a column: what was filled, or under "mask" what is hidden."""
    if policy == "mask":
        return repairs_by_series(cells, empty, "missing: masked", column)
    if changed.any():
        filled.rows[column] = np.flatnonzero(changed)
    return repairs_by_series(cells, changed, f"missing: {policy}", column)


def _filled_numbers(
    cells: Cells, values: NDArray[np.float64], empty: Mask, known: Mask, policy: str
) -> NDArray[np.float64]:
    if policy == "mask" or not empty.any():
        return values
    if policy == "zero":
        return np.where(empty, 0.0, values)
    return _carried(cells, values, empty) if policy == "ffill" else _interpolated(cells, values, empty, known)


def _carried(cells: Cells, values: NDArray[Any], empty: Mask) -> NDArray[Any]:
    """Empty cells with the value before them in their series, where there is one."""
    before = _last_known(empty, cells.starts)
    return np.where(empty & (before >= 0), values[before], values)


def _last_known(empty: Mask, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nearest row at or before each one, of the same series, that is not empty; -1 where there is none."""
    rows = np.arange(len(empty))
    found = np.maximum.accumulate(np.where(empty, -1, rows))
    return np.where(found >= np.repeat(starts[:-1], np.diff(starts)), found, -1)


def _interpolated(cells: Cells, values: NDArray[np.float64], empty: Mask, known: Mask) -> NDArray[np.float64]:
    """Empty cells on the line between the values around them, in time; outer holes stay, before future rows too."""
    before = _last_known(empty, cells.starts)
    after = len(empty) - 1 - _last_known(empty[::-1], len(empty) - cells.starts[::-1])[::-1]
    inner = np.flatnonzero(empty & (before >= 0) & np.append(known, False)[after])
    first, last = before[inner], after[inner]
    time = cells.stamps.astype(np.int64)
    share = (time[inner] - time[first]) / (time[last] - time[first])
    filled = values.copy()
    filled[inner] = values[first] + share * (values[last] - values[first])
    return filled


def _carry_over(values: NDArray[np.float64], rows: NDArray[np.int64], stamps: Stamps, boundary: Any) -> None:
    """Replace, in place, what holes across the boundary hold up to it, by the value before the hole."""
    run = np.cumsum(np.diff(rows, prepend=-2) != 1) - 1
    firsts = rows[np.flatnonzero(np.diff(run, prepend=-1))]
    lasts = rows[np.flatnonzero(np.diff(run, append=run[-1] + 1))]
    crosses = (stamps[firsts] <= boundary) & (stamps[lasts + 1] > boundary)
    replaced = crosses[run] & (stamps[rows] <= boundary)
    values[rows[replaced]] = values[firsts[run[replaced]] - 1]
