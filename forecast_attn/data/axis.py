"""The time axis of a table: one step for all series, no repeats, no gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.cells import Cells
from forecast_attn.data.frequency import Frequency, guess_alias, parse_frequency, step_name
from forecast_attn.data.problems import Finding, Report, counted, ended, place, report_each, stamp_text
from forecast_attn.data.roles import Roles

# Steps that dates of every month's, quarter's or year's same day, other than its first or last, look like.
_MONTHS_IN_DAYS = ("28D", "29D", "30D", "31D", "90D", "91D", "92D", "365D")


def without_repeats(cells: Cells, roles: Roles, report: Report) -> Cells:
    """The cells with the first row of every (series, stamp); reports the others."""
    repeats = np.flatnonzero((cells.series[1:] == cells.series[:-1]) & (cells.stamps[1:] == cells.stamps[:-1])) + 1
    if not len(repeats):
        return cells
    in_file_order = repeats[np.argsort(cells.rows[repeats])]
    report_each(report, in_file_order, lambda at: _repeat(cells, roles, at))
    return cells.take(np.delete(np.arange(len(cells.rows)), repeats))


def find_frequency(cells: Cells, freq: str | None, report: Report) -> Frequency:
    """The step of the longest series, or the given one; reports series and rows that do not keep to it.

    Raises:
        ConfigError: there is no frequency `freq`.
        DataError: the step cannot be told.
    """
    alias = parse_frequency(freq).alias if freq is not None else _infer_alias(cells, report)
    frequency = parse_frequency(alias)
    if frequency.is_integer != (cells.stamps.dtype.kind != "M"):
        kind = "whole numbers" if frequency.is_integer is False else "dates"
        raise ended(
            report,
            Finding("FA203", "error", f"--freq {alias} does not fit a time column of {kind}", "leave --freq out"),
        )
    inside = cells.series[1:] == cells.series[:-1]
    steps = np.where(inside, frequency.steps_between(cells.stamps[:-1], cells.stamps[1:]), 1.0)
    if freq is None:
        _report_other_frequencies(cells, alias, inside & (steps == 1), inside, report)
    odd = (steps != np.round(steps)) | (steps <= 0)
    report_each(report, np.flatnonzero(odd) + 1, lambda at: _irregular(cells, frequency, at))
    report_each(
        report, np.flatnonzero(~odd & (steps > 1)) + 1, lambda at: _gap(cells, frequency, int(steps[at - 1]) - 1, at)
    )
    regular = int(np.sum(inside & (steps == 1)))
    evidence = (
        f"{regular:,} of {counted(int(inside.sum()), 'step')} {'is' if regular == 1 else 'are'} {step_name(alias)}"
    )
    return parse_frequency(alias, evidence if freq is None else f"given; {evidence}")


def _infer_alias(cells: Cells, report: Report) -> str:
    starts = cells.starts
    longest = int(np.argmax(np.diff(starts)))
    stamps = cells.stamps[starts[longest] : starts[longest + 1]]
    alias = guess_alias(stamps)
    if alias is not None:
        return alias
    name = cells.item_ids[longest]
    hint = "--freq h, D, W-SUN, MS, … says the step"
    if len(stamps) < 3:
        message = f"series '{name}' has {counted(len(stamps), 'row')}; expected at least 3 to infer the time step"
        raise ended(report, Finding("FA206", "error", message, hint, item_id=name))
    lengths = np.diff(stamps)
    expected = _most_common(lengths)
    at = int(starts[longest]) + int(np.argmax(lengths != expected)) + 1
    message = (
        f"series '{name}' has no regular time step: it jumps from {stamp_text(cells.stamps[at - 1])} to "
        f"{stamp_text(cells.stamps[at])} at {place(int(cells.rows[at]))}; most common step: {_length(expected)}"
    )
    raise ended(report, Finding("FA203", "error", message, hint, item_id=name, row=int(cells.rows[at])))


def _length(step: Any) -> str:
    return str(pd.Timedelta(step)).removesuffix(" 00:00:00") if isinstance(step, np.timedelta64) else str(step)


def _most_common(lengths: NDArray[Any]) -> Any:
    found, counts = np.unique(lengths, return_counts=True)
    return found[np.argmax(counts)]


def _report_other_frequencies(
    cells: Cells, alias: str, regular: NDArray[np.bool_], inside: NDArray[np.bool_], report: Report
) -> None:
    """Report series most of whose steps are not the common one, if another step explains them."""
    num_series = len(cells.item_ids)
    pairs = np.bincount(cells.series[1:][inside], minlength=num_series)
    kept = np.bincount(cells.series[1:][regular], minlength=num_series)
    starts = cells.starts
    common = cells.item_ids[int(np.argmax(np.diff(starts)))]
    for index in np.flatnonzero(pairs > 2 * kept):
        other = guess_alias(cells.stamps[starts[index] : starts[index + 1]])
        if other is not None and other != alias:
            name = cells.item_ids[index]
            message = f"series '{name}' steps by {step_name(other)}, series '{common}' by {step_name(alias)}"
            raise ended(
                report, Finding("FA205", "error", message, "put series of one frequency into one file", item_id=name)
            )


def _repeat(cells: Cells, roles: Roles, at: int) -> Finding:
    first, row = int(cells.rows[at - 1]), int(cells.rows[at])
    name, stamp = cells.item_ids[cells.series[at]], stamp_text(cells.stamps[at])
    if roles.item_id is not None:
        message = f"series '{name}' has {stamp} twice, at {place(first)} and {place(row)}"
        return Finding("FA202", "error", message, "keep one of the rows", item_id=name, column=roles.time, row=row)
    texts = sorted(column for column, reason in roles.ignored.items() if reason == "text")
    hint = (
        f"--id '{texts[0]}' if that column tells series apart"
        if texts
        else "keep one of the rows, or name series by --id"
    )
    if "time" in (text.lower() for text in texts):
        hint = "write date and time of day into one column"
    message = (
        f"column '{roles.time}' has {stamp} twice, at {place(first)} and {place(row)}, and no column tells series apart"
    )
    return Finding("FA202", "error", message, hint, item_id=name, column=roles.time, row=row)


def _irregular(cells: Cells, frequency: Frequency, at: int) -> Finding:
    name, row = cells.item_ids[cells.series[at]], int(cells.rows[at])
    before = cells.stamps[at - 1]
    hint = "--freq says another step; or correct the time stamp"
    if frequency.alias in _MONTHS_IN_DAYS:
        hint = "write months, quarters and years as their first day (YYYY-MM-01)"
    message = (
        f"series '{name}' jumps from {stamp_text(before)} to {stamp_text(cells.stamps[at])} at {place(row)}; expected "
        f"{stamp_text(frequency.stamps_after(before, 1)[0])} (step {step_name(frequency.alias)})"
    )
    return Finding("FA203", "error", message, hint, item_id=name, row=row)


def _gap(cells: Cells, frequency: Frequency, missing: int, at: int) -> Finding:
    name, row = cells.item_ids[cells.series[at]], int(cells.rows[at])
    message = (
        f"series '{name}' has a gap of {counted(missing, 'row')}: after {stamp_text(cells.stamps[at - 1])} comes "
        f"{stamp_text(cells.stamps[at])} at {place(row)} (step {step_name(frequency.alias)})"
    )
    hint = "add the missing rows, with a value in every column"
    if frequency.alias == "B":
        hint += "; or number the days in a column of their own (--time) if holidays have none"
    return Finding("FA204", "error", message, hint, item_id=name, row=row)
