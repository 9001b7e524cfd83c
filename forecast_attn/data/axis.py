"""The step of a table's time axis: one for all series, inferred with evidence or given, and kept to by every row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.cells import Cells
from forecast_attn.data.closures import calendar_by_evidence, with_closures_of
from forecast_attn.data.findings import Finding, Report, counted, ended, report_each, row_and_line
from forecast_attn.data.frequency import (
    Frequency,
    guess_alias,
    kind_of,
    most_common,
    parse_frequency,
    step_name,
    with_sizes_of_years,
)

# Steps that dates of every month's, quarter's or year's same day, other than its first or last, look like.
_MONTHS_IN_DAYS = ("28D", "29D", "30D", "31D", "90D", "91D", "92D", "365D")


@dataclass(frozen=True)
class SeriesStep:
    """The evidence that one series gives for its time step."""

    item_id: str
    step: str | None
    """Alias of the step; None where too few rows, or no majority of them, show one."""
    regular: int
    """Steps of just this length, of all."""
    steps: int


@dataclass(frozen=True)
class UnevenSteps:
    """The rows that are not one step after the row of their series before them."""

    at: NDArray[np.int64]
    """The rows (num_uneven,)."""
    steps: NDArray[np.float64]
    """Steps from the row before (num_uneven,); not whole off the grid."""
    num_steps: int
    """Rows that have one of their own series before them, even ones too."""

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """Mask of the steps that leave rows out (num_uneven,)."""
        return np.asarray((self.steps == np.round(self.steps)) & (self.steps > 1), np.bool_)


_ROWS_AT_A_TIME = 1_000_000
"""Steps of more rows would take as much memory as the table."""


def uneven_steps(cells: Cells, frequency: Frequency) -> UnevenSteps:
    """Compare every row with the one before it."""
    index, steps, number = [np.empty(0, np.int64)], [np.empty(0)], 0
    for first in range(0, len(cells.rows) - 1, _ROWS_AT_A_TIME):
        earlier = slice(first, min(first + _ROWS_AT_A_TIME, len(cells.rows) - 1))
        later = slice(earlier.start + 1, earlier.stop + 1)
        inside = cells.series[later] == cells.series[earlier]
        block = frequency.steps_between(cells.stamps[earlier], cells.stamps[later])
        uneven = np.flatnonzero(inside & (block != 1))
        index.append(uneven + later.start)
        steps.append(block[uneven])
        number += int(inside.sum())
    return UnevenSteps(np.concatenate(index), np.concatenate(steps), number)


def find_frequency(cells: Cells, freq: str | None, report: Report, missing: str = "auto") -> Frequency:
    """Return the step of the longest series, or the given one; report series and rows that do not keep to it.

    Absent rows are no reason to report; `report_gaps` does.

    Args:
        cells: on their axis, without repeats.
        freq: the step; inferred when None.
        report: called with every problem.
        missing: value of `--missing`; unless it is auto, closed days are those that come every year.

    Raises:
        ConfigError: there is no frequency `freq`.
        DataError: the step cannot be inferred.
    """
    alias = _of_given(cells, freq) if freq is not None else _infer_alias(cells, report)
    frequency = parse_frequency(alias)
    if freq is None and not frequency.is_integer and (uneven_steps(cells, frequency).steps > 1).any():
        frequency = _with_calendar(cells, frequency, report, must_recur=missing != "auto")
        alias = frequency.alias
    if frequency.is_integer != (cells.stamps.dtype.kind != "M"):
        message = f"--freq {alias} does not fit a time column of {kind_of(cells.stamps)}"
        raise ended(report, Finding("FA203", "error", message, "leave --freq out", options=("freq",)))
    uneven = uneven_steps(cells, frequency)
    if freq is None and len(uneven.at):
        _report_other_frequencies(cells, frequency, report)
    odd = (uneven.steps != np.round(uneven.steps)) | (uneven.steps <= 0)
    report_each(report, uneven.at[odd], lambda index: _irregular(cells, frequency, index))
    evidence = _evidence(uneven.num_steps - len(uneven.at), uneven.num_steps, alias)
    frequency = parse_frequency(alias, evidence if freq is None else f"given; {evidence}")
    return with_sizes_of_years(frequency, cells.stamps)


def _evidence(regular: int, steps: int, alias: str) -> str:
    return f"{regular:,} of {counted(steps, 'step')} {'is' if regular == 1 else 'are'} {step_name(alias)}"


def joined_evidence(frequencies: Sequence[Frequency]) -> Frequency:
    """The equal frequencies of the files of a table, with the evidence of all of them."""
    first = frequencies[0]
    numbers = [re.findall(r"[\d,]+(?= of | step)", each.evidence)[:2] for each in frequencies]
    regular, steps = (sum(int(number.replace(",", "")) for number in column) for column in zip(*numbers, strict=True))
    given = "given; " if first.evidence.startswith("given; ") else ""
    return replace(first, evidence=given + _evidence(regular, steps, first.alias))


def _of_given(cells: Cells, freq: str) -> str:
    """The alias of a given step; one with a calendar of its own also knows the closed days of this table."""
    frequency = parse_frequency(freq)
    return frequency.alias if frequency.sessions is None else with_closures_of(frequency, cells.stamps).alias


def _with_calendar(cells: Cells, frequency: Frequency, report: Report, *, must_recur: bool) -> Frequency:
    """The frequency with the calendar of its own that the rows show, which is reported; as it is where they do not."""
    alias = calendar_by_evidence(cells.stamps, frequency.alias, must_recur=must_recur)
    if alias is None:
        return frequency
    with_calendar = parse_frequency(alias)
    sessions = with_calendar.sessions
    assert sessions is not None
    later = int((sessions.closed > cells.stamps.max()).sum())
    expected = f", {later} of them expected after the last row as every year" if later else ""
    message = f"the rows have closed hours or days: {step_name(alias)}{expected}; these are not gaps"
    hint = f"--freq {frequency.alias} calls every absent step a gap"
    report(Finding("FA215", "note", message, hint, options=("freq",)))
    return with_calendar


def report_gaps(cells: Cells, frequency: Frequency, report: Report) -> None:
    """Report the absent rows of each series, which `cleaning.fill_gaps` adds."""
    uneven = uneven_steps(cells, frequency)
    missing = dict(zip(uneven.at[uneven.gaps].tolist(), uneven.steps[uneven.gaps].astype(int) - 1, strict=True))
    report_each(report, uneven.at[uneven.gaps], lambda index: _gap(cells, frequency, int(missing[index]), index))


def series_steps(cells: Cells, frequency: Frequency) -> tuple[SeriesStep, ...]:
    """Evidence of every series: the table's step where half of its steps or more keep to it, else its own."""
    uneven = uneven_steps(cells, frequency)
    pairs = np.diff(cells.starts) - 1
    regular = pairs - np.bincount(cells.series[uneven.at], minlength=len(cells.item_ids))
    return tuple(
        SeriesStep(name, frequency.alias, int(regular[index]), int(pairs[index]))
        if 0 < pairs[index] <= 2 * regular[index]
        else _own_step(cells, index)
        for index, name in enumerate(cells.item_ids)
    )


def _own_step(cells: Cells, index: int) -> SeriesStep:
    stamps = cells.stamps[cells.starts[index] : cells.starts[index + 1]]
    alias = guess_alias(stamps)
    regular = 0
    if alias is not None:
        regular = int((parse_frequency(alias).steps_between(stamps[:-1], stamps[1:]) == 1).sum())
    return SeriesStep(cells.item_ids[index], alias, regular, len(stamps) - 1)


def _infer_alias(cells: Cells, report: Report) -> str:
    starts = cells.starts
    longest = int(np.argmax(np.diff(starts)))
    stamps = cells.stamps[starts[longest] : starts[longest + 1]]
    alias = guess_alias(stamps)
    if alias is not None:
        return alias
    name = cells.item_ids[longest]
    hint = "--freq h, D, W-SUN, MS, … says the step, --resample puts the rows on one, --time row-number counts them"
    if len(stamps) < 3:
        message = f"series '{name}' has {counted(len(stamps), 'row')}; expected at least 3 to infer the time step"
        hint = "add rows: training takes a series of 3 at least, and learns a season from two of them"
        raise ended(report, Finding("FA206", "error", message, hint, item_id=name, options=("freq",)))
    lengths = np.diff(stamps)
    expected = most_common(lengths)
    index = int(starts[longest]) + int(np.argmax(lengths != expected)) + 1
    message = (
        f"series '{name}' has no regular time step: it jumps from {cells.text(index - 1)} to "
        f"{cells.text(index)} at {row_and_line(int(cells.rows[index]))}; most common step: {_length(expected)}"
    )
    row = int(cells.rows[index])
    options = ("freq", "resample", "time")
    raise ended(report, Finding("FA203", "error", message, hint, item_id=name, row=row, options=options))


def _length(step: Any) -> str:
    return str(pd.Timedelta(step)).removesuffix(" 00:00:00") if isinstance(step, np.timedelta64) else str(step)


def _report_other_frequencies(cells: Cells, frequency: Frequency, report: Report) -> None:
    """Report the first series most of whose steps are not the common one, if another step explains them."""
    starts = cells.starts
    common = cells.item_ids[int(np.argmax(np.diff(starts)))]
    for evidence in series_steps(cells, frequency):
        if evidence.step not in (None, frequency.alias, frequency.base):
            message = (
                f"series '{evidence.item_id}' steps by {step_name(evidence.step)}, "
                f"series '{common}' by {step_name(frequency.alias)}"
            )
            hint = "put series of one frequency into one file"
            raise ended(report, Finding("FA205", "error", message, hint, item_id=evidence.item_id))


def _irregular(cells: Cells, frequency: Frequency, index: int) -> Finding:
    name, row = cells.item_ids[cells.series[index]], int(cells.rows[index])
    before = cells.stamps[index - 1]
    options: tuple[str, ...] = ("freq",)
    hint = "--freq says another step; or correct the time stamp"
    if frequency.alias in _MONTHS_IN_DAYS:
        hint, options = "write months, quarters and years as their first day (YYYY-MM-01)", ()
    elif _is_step_of_wall_clock(cells, frequency, index):
        hint, options = "the stamps step on the wall clock and not in time: leave --tz out", ("tz",)
    expected = cells.zone.stamp_text(frequency.stamps_after(before, 1)[0])
    text, step = cells.text(index), step_name(frequency.alias)
    message = (
        f"series '{name}' jumps from {cells.text(index - 1)} to {text} at {row_and_line(row)}; "
        f"expected {expected} (step {step})"
    )
    if expected == text:  # one step after a row that is between two steps itself
        message = f"series '{name}' has {text} at {row_and_line(row)}, which is between two steps of {step}"
    return Finding("FA203", "error", message, hint, item_id=name, row=row, value=text, options=options)


def _is_step_of_wall_clock(cells: Cells, frequency: Frequency, index: int) -> bool:
    """Return whether a row is one step after the row before it on the zone's clock, though not in UTC."""
    if cells.zone.type_name is None:
        return False
    wall = cells.zone.local(cells.stamps[index - 1 : index + 1])
    return bool(frequency.steps_between(wall[:1], wall[1:])[0] == 1)


def _gap(cells: Cells, frequency: Frequency, missing: int, index: int) -> Finding:
    name, row = cells.item_ids[cells.series[index]], int(cells.rows[index])
    message = (
        f"series '{name}' has a gap of {counted(missing, 'row')}: after {cells.text(index - 1)} comes "
        f"{cells.text(index)} at {row_and_line(row)} (step {step_name(frequency.alias)})"
    )
    hint = "add the missing rows, with a value in every column, or --missing mask hides them from attention and loss"
    options: tuple[str, ...] = ("missing",)
    zone = cells.zone_of_clock_change(index) if frequency.is_within_day else None
    if zone is not None:
        options = ("tz", "missing")
        hint = f"if the clock was put forward there, a zone such as --tz {zone} knows it; else {hint}"
    if frequency.base == "B":
        hint += "; or number the days in a column of their own (--time) if holidays have none"
    return Finding("FA204", "error", message, hint, item_id=name, row=row, value=cells.text(index), options=options)
