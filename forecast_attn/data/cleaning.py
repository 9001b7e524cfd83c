"""Repeated rows, absent rows and empty cells: one row for every series and step, filled as --missing says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.axis import uneven_steps
from forecast_attn.data.cells import Cells
from forecast_attn.data.findings import Finding, Repair, Report, counted, option_for, report_each, row_and_line
from forecast_attn.data.frequency import Frequency, Stamps, step_name
from forecast_attn.data.panel import Filled
from forecast_attn.data.roles import Roles

if TYPE_CHECKING:
    from forecast_attn.data.panel import Panel


MOST_ADDED = 20
"""Rows that may be added per row of the table. More is a mistyped year, not a gap."""


def without_repeats(
    cells: Cells, roles: Roles, report: Report, duplicates: str, repairs: list[Repair] | None = None
) -> Cells:
    """Keep one row for every (series, stamp).

    Args:
        cells: sorted; rows of one series and stamp in the order of the file.
        roles: what the columns mean.
        report: called with every row too many, under "error".
        duplicates: error and first keep the first row, last the last; mean averages numbers, without empty ones, and
            keeps the first category that is not empty.
        repairs: gets what was done, per series.
    """
    repeats = cells.repeats
    if not repeats.any():
        return cells
    if duplicates == "error":
        rows = np.flatnonzero(repeats)
        report_each(report, rows[np.argsort(cells.rows[rows])], lambda index: _repeat(cells, roles, index))
    elif repairs is not None:
        repairs += repairs_by_series(cells, repeats, f"duplicates: {duplicates}")
    if duplicates == "mean":
        return _averaged(cells, repeats, repairs)
    return cells.take(rows_that_stay(cells, duplicates))


def rows_that_stay(cells: Cells, duplicates: str) -> NDArray[np.bool_]:
    """True at one row of every series and stamp: the last one under --duplicates last, else the first (num_rows,)."""
    repeats = cells.repeats
    return np.append(~repeats[1:], True) if duplicates == "last" else ~repeats


def repairs_by_series(cells: Cells, changed: NDArray[np.bool_], kind: str, column: str | None = None) -> list[Repair]:
    """One repair for every series with changed rows (num_rows,)."""
    rows = np.flatnonzero(changed)
    series, first, counts = np.unique(cells.series[rows], return_index=True, return_counts=True)
    return [
        Repair(kind, cells.item_ids[index], column, int(count), cells.text(int(rows[at])))
        for index, at, count in zip(series, first, counts, strict=True)
    ]


def _averaged(cells: Cells, repeats: NDArray[np.bool_], repairs: list[Repair] | None) -> Cells:
    """The first row of every group, with the mean of each number and the first category."""
    kept = np.flatnonzero(~repeats)
    lengths = np.diff(np.append(kept, len(repeats)))
    repeated = lengths > 1
    members = np.flatnonzero(repeats | np.append(repeats[1:], False))
    starts = np.cumsum(lengths[repeated]) - lengths[repeated]
    averaged = cells.take(kept)
    for name, values in cells.columns.items():
        averaged.columns[name][repeated] = _means(values[members], starts)
    for name, codes in cells.category_codes.items():
        averaged.category_codes[name][repeated], differ = first_categories(codes[members], starts)
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


def first_categories(
    codes: NDArray[np.int32], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The first category of each group that is not empty, and whether the group has others."""
    rows = np.where(codes >= 0, np.arange(len(codes)), len(codes))
    first = np.append(codes, np.int32(-1))[np.minimum.reduceat(rows, starts)]
    lowest = np.minimum.reduceat(np.where(codes >= 0, codes, np.iinfo(np.int32).max), starts)
    return first, np.maximum.reduceat(codes, starts) > lowest


def _repeat(cells: Cells, roles: Roles, index: int) -> Finding:
    first, row = int(cells.rows[index - 1]), int(cells.rows[index])
    name, stamp = cells.item_ids[cells.series[index]], cells.text(index)
    policies = "--duplicates first or last" if _are_many(cells) else "--duplicates mean, first or last"
    twice = f"has {stamp} twice, at {row_and_line(first)} and {row_and_line(row)}"
    options: tuple[str, ...]
    if roles.item_id is not None:
        message, hint = f"series '{name}' {twice}", f"keep one of the rows, or pass {policies}"
        options = ("duplicates",)
    elif (cells.stamps == cells.stamps[0]).all():
        message = f"column '{roles.time}' is {stamp} in all {len(cells.rows):,} rows: no row follows another in time"
        hint = "--time NAME if another column is the time, or --time row-number if the rows are in the order of time"
        options = ("time",)
    else:
        message = f"column '{roles.time}' {twice}, and no column identifies the series"
        hint, options = _hint_without_id(cells, roles, policies), ("duplicates", "item_id")
    hint, column = f"{_clock_hint(cells, index)}{hint}", roles.time
    return Finding("FA202", "error", message, hint, item_id=name, column=column, row=row, value=stamp, options=options)


def _clock_hint(cells: Cells, index: int) -> str:
    zone = cells.zone_of_clock_change(index)
    if zone is None:
        return ""
    return f"if the clock was put back there, a zone such as --tz {zone} tells the two apart; else "


def _hint_without_id(cells: Cells, roles: Roles, policies: str) -> str:
    texts = sorted(column for column, reason in roles.ignored.items() if reason == "text")
    clock = next((text for text in texts if text.lower() == "time"), None)
    if clock is not None:
        return f"--time '{roles.time},{clock}' joins date and time of day"
    blocks = f"--time '{roles.time}' --id block-number if series stand one below the other, "
    has_time = len(np.unique(cells.rows)) == len(cells.rows)  # else a row of the file holds several steps, by --layout
    named = f"name the column of the series with --id, {blocks if has_time and _are_many(cells) else ''}"
    return f"{named}keep one of the rows, or pass {policies}"


MANY = 0.03
"""Largest share of repeated rows whose mean is advised; of more it is another series."""


def _are_many(cells: Cells) -> bool:
    return len(cells.rows) >= FEWEST_TO_JUDGE and bool(cells.repeats.sum() > MANY * len(cells.rows))


FEWEST_TO_JUDGE = 50
"""Fewest rows of which a share says anything."""


def without_empty_series(cells: Cells, roles: Roles, missing: str, repairs: list[Repair]) -> Cells:
    """Leave out the series without any known target, unless none has one or missing values are errors."""
    known = np.zeros(len(cells.item_ids), np.bool_)
    known[cells.series[~np.isnan(cells.columns[roles.target])]] = True
    if missing in ("auto", "error") or known.all() or not known.any():
        return cells
    repairs += repairs_by_series(cells, ~known[cells.series], "series without a value: left out", roles.target)
    kept = cells.take(known[cells.series])
    series = (np.cumsum(known) - 1).astype(np.int32)[kept.series]
    names = tuple(name for name, is_known in zip(cells.item_ids, known, strict=True) if is_known)
    return replace(kept, series=series, item_ids=names)


# --------------------------------------------------------------------------- absent rows


def fill_gaps(
    cells: Cells, frequency: Frequency, report: Report, missing: str, repairs: list[Repair] | None = None
) -> Cells:
    """Add empty rows at the stamps a series leaves out between its first and last; add none under "error".

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
        index = int(np.argmax(absent)) + 1
        report(_too_long(cells, frequency, int(absent[index - 1]), index))
        return cells
    before = np.repeat(np.arange(len(absent)), absent)
    steps_on = np.arange(len(before)) - np.repeat(np.cumsum(absent) - absent, absent) + 1  # 1, 2, … within each gap
    longer = _with_rows_after(cells, before, frequency.shift(cells.stamps[before], steps_on))
    if repairs is not None:
        repairs += repairs_by_series(longer, longer.rows == 0, "gap: rows added")
    return longer


def up_to_last_step(cells: Cells, frequency: Frequency, target: str, end: Any) -> Cells:
    """Add a zero at the table's last step to series that end before it: where no row is counted, there was nothing.

    None is added where the table would become as long as gaps may not make it.

    Args:
        cells: a row for each step.
        frequency: of the steps.
        target: its column.
        end: the last step; that of the rows when None.
    """
    known = ~np.isnan(cells.columns[target])
    if not known.any():
        return cells
    end, last = cells.stamps[known].max() if end is None else end, cells.starts[1:] - 1
    early = last[(cells.last_where(known) >= 0) & (cells.stamps[last] < end)]
    ends = np.full(len(early), end)
    if not len(early) or frequency.steps_between(cells.stamps[early], ends).sum() > MOST_ADDED * len(cells.rows):
        return cells
    longer = _with_rows_after(cells, early, ends)
    longer.columns[target][longer.rows == 0] = 0.0
    return longer


def _with_rows_after(cells: Cells, before: NDArray[np.int64], stamps: NDArray[Any]) -> Cells:
    """Insert empty rows, each behind the row named; several behind one row keep the order given."""
    # A stable sort keeps each row ahead of the new ones that follow it, which are copies until they are emptied.
    order = np.argsort(np.concatenate((np.arange(len(cells.rows)), before)), kind="stable")
    longer = cells.take(np.concatenate((np.arange(len(cells.rows)), before))[order])
    added = order >= len(cells.rows)
    longer.rows[added] = 0
    longer.stamps[added] = stamps[order[added] - len(cells.rows)]
    for values in longer.columns.values():
        values[added] = np.nan
    for codes in longer.category_codes.values():
        codes[added] = -1
    return longer


def _too_long(cells: Cells, frequency: Frequency, absent: int, index: int) -> Finding:
    name, row = cells.item_ids[cells.series[index]], int(cells.rows[index])
    message = (
        f"series '{name}' jumps from {cells.text(index - 1)} to {cells.text(index)} at {row_and_line(row)}: with "
        f"{counted(absent, 'row')} added (step {step_name(frequency.alias)}), the gaps would outweigh the "
        f"{counted(len(cells.rows), 'row')} of the table"
    )
    hint, options = "correct the time stamp, or --freq", ("freq",)
    return Finding("FA204", "error", message, hint, item_id=name, row=row, value=cells.text(index), options=options)


# --------------------------------------------------------------------------- --missing auto
# A few absent rows and empty cells of a long table.


MOST_MISSING = 0.05
"""Share of a table's steps that may be absent or have an empty cell; the holidays of an exchange are four per cent."""
LONGEST_GAP = 0.1
"""Share of its series that one gap may be."""


def policy_for_few(cells: Cells, roles: Roles, frequency: Frequency, report: Report) -> str:
    """`mask` where few steps of a table are missing, with a note; `error` where none is, or many are.

    Args:
        cells: on their axis, without repeats.
        roles: what the columns mean.
        frequency: of the axis.
        report: called with what is hidden.
    """
    uneven = uneven_steps(cells, frequency)
    empty = np.any([cells.is_empty(name) for name in (roles.target, *roles.varying)], axis=0)
    gaps, absent = uneven.at[uneven.gaps], uneven.steps[uneven.gaps].astype(np.int64) - 1
    if not len(gaps) and not empty.any():  # a whole table need not be searched for its future rows
        return "error"
    known = cells.up_to_last_known(roles.target)
    empty &= known
    missing, steps = int(absent.sum()) + int(empty.sum()), len(cells.rows) + int(absent.sum())
    if (
        not missing
        or len(cells.rows) < FEWEST_TO_JUDGE
        or missing > MOST_MISSING * steps
        or _future_is_open(cells, roles, known)
    ):
        return "error"
    lengths = np.diff(cells.starts)[cells.series[gaps]]
    if (absent > np.maximum(LONGEST_GAP * lengths, 1)).any() or _are_changes_of_the_clock(cells, frequency, gaps):
        return "error"
    parts = [counted(int(absent.sum()), "absent row")] if len(gaps) else []
    parts += [f"{counted(int(empty.sum()), 'row')} with empty cells"] if empty.any() else []
    message = f"{' and '.join(parts)} of {steps:,} steps: hidden from attention and loss"
    hint = "--missing ffill, interpolate or zero fills them, --missing error refuses them"
    report(Finding("FA214", "note", message, hint, options=("missing",)))
    return "mask"


def _are_changes_of_the_clock(cells: Cells, frequency: Frequency, gaps: NDArray[np.int64]) -> bool:
    """Return whether all gaps are hours that a clock skipped, which a zone explains and nothing need hide."""
    is_skipped = (cells.zone_of_clock_change(int(index)) is not None for index in gaps)
    return frequency.is_within_day and len(gaps) > 0 and all(is_skipped)


def _future_is_open(cells: Cells, roles: Roles, known: NDArray[np.bool_]) -> bool:
    """Return whether a future row lacks a future covariate, which nothing may hide."""
    return any(bool((cells.is_empty(name) & ~known).any()) for name in roles.future)


# --------------------------------------------------------------------------- missing
# Missing values of known rows, by series: `--missing`.


Mask = NDArray[np.bool_]


def fill_missing(cells: Cells, roles: Roles, missing: str, repairs: list[Repair] | None = None) -> tuple[Cells, Filled]:
    """Fill the holes of target and covariates in known rows: those up to each series' last known target.

    No value is carried from one series to another, or beyond the last known target. Cells a policy cannot fill stay
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
    known = cells.up_to_last_known(roles.target)
    filled = Filled(missing)
    columns, codes = dict(cells.columns), dict(cells.category_codes)
    for name in (roles.target, *roles.past_covariates, *roles.future_covariates):
        empty = known & np.isnan(cells.columns[name])
        columns[name] = _filled_numbers(cells, cells.columns[name], empty, known, missing)
        repairs += _repairs_of_column(cells, name, empty & ~np.isnan(columns[name]), empty, missing, filled)
    for name in (*roles.past_categories, *roles.future_categories):
        empty = known & (cells.category_codes[name] < 0)
        if missing in ("ffill", "interpolate"):
            codes[name] = _carried(cells, cells.category_codes[name], empty)
            repairs += repairs_by_series(cells, empty & (codes[name] >= 0), "missing: ffill", name)
        else:
            repairs += repairs_by_series(cells, empty, "missing: unknown category", name)
    return replace(cells, columns=columns, category_codes=codes), filled


def without_later_values(panel: Panel, boundary: Any) -> Panel:
    """Replace, in training rows, interpolation across the boundary by the value before the hole.

    Args:
        panel: as built.
        boundary: last training time, as in `Split`, or that of each series (num_series,).
    """
    if panel.filled.policy != "interpolate":
        return panel
    copied, ends = panel.storage.copied, np.broadcast_to(np.asarray(boundary), panel.num_series)
    target, past, ahead = copied(panel.target), copied(panel.past_covariates), copied(panel.future_covariates)
    columns = {
        panel.roles.target: target,
        **{name: past[:, index] for index, name in enumerate(panel.roles.past_covariates)},
        **{name: ahead[:, index] for index, name in enumerate(panel.roles.future_covariates)},
    }
    for name, rows in panel.filled.rows.items():
        _carry_over(columns[name], rows, panel.timestamps, ends[panel.series_of(rows)])
    return replace(panel, target=target, past_covariates=past, future_covariates=ahead)


def sees_later_values(panel: Panel, cutoffs: NDArray[np.integer[Any]]) -> Mask:
    """Mask of the cut-offs that would see interpolated values from later rows (num_cutoffs,)."""
    sees = np.zeros(len(cutoffs), np.bool_)
    if panel.filled.policy == "interpolate":
        for rows in panel.filled.rows.values():
            sees |= is_in(cutoffs, rows)
    return sees


def is_in(values: NDArray[np.integer[Any]], ascending: NDArray[np.integer[Any]]) -> Mask:
    """Mask of the values that are among others, which ascend; without sorting as many again (num_values,)."""
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    index = np.searchsorted(ascending, values)
    return np.asarray(ascending[np.minimum(index, len(ascending) - 1)] == values)


def hint_for(missing: str, column: str, *, needed: bool) -> tuple[str, tuple[str, ...]]:
    """Return the hint for a cell that is still empty under the policy.

    Args:
        missing: the policy.
        column: of the cell.
        needed: whether it is the target, which cannot be left out.
    """
    leave_out = "" if needed else f", or leave the column out with {option_for('ignore', column)}"
    means = {
        "ffill": "there is no value before it to repeat: fill the cell, or --missing mask or zero",
        "interpolate": "there is no value on both sides of it: fill the cell, or --missing mask, ffill or zero",
    }
    hint = f"{means.get(missing, 'fill the cell, or --missing mask hides it from attention and loss')}{leave_out}"
    return hint, ("missing",) if needed else ("missing", "ignore")


def _repairs_of_column(
    cells: Cells, column: str, changed: Mask, empty: Mask, policy: str, filled: Filled
) -> list[Repair]:
    """Repairs of one column: cells that were filled, or hidden under "mask"."""
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
    last = np.maximum.accumulate(np.where(empty, -1, rows))
    return np.where(last >= np.repeat(starts[:-1], np.diff(starts)), last, -1)


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


def _carry_over(values: NDArray[np.float64], rows: NDArray[np.int64], stamps: Stamps, ends: Stamps) -> None:
    """Replace, in place, what holes across the boundary of each row's series hold up to it, by the value before."""
    run = np.cumsum(np.diff(rows, prepend=-2) != 1) - 1
    begins = np.flatnonzero(np.diff(run, prepend=-1))
    firsts, lasts = rows[begins], rows[np.flatnonzero(np.diff(run, append=run[-1] + 1))]
    crosses = (stamps[firsts] <= ends[begins]) & (stamps[lasts + 1] > ends[begins])
    replaced = crosses[run] & (stamps[rows] <= ends)
    values[rows[replaced]] = values[firsts[run[replaced]] - 1]
