"""Rows put on a coarser time step: `--resample 15min --aggregate mean` makes a series of events and irregular rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import Cells
from forecast_attn.data.findings import Finding, Repair, Report, ended
from forecast_attn.data.frequency import (
    MONTH_UNITS,
    MONTHS,
    UNITS,
    WEEKDAYS,
    Frequency,
    Stamps,
    kind_of,
    parse_frequency,
    split_alias,
    weekday,
)
from forecast_attn.data.partial_steps import without_partial_steps
from forecast_attn.data.roles import Roles
from forecast_attn.data.zones import Zone

_MONTH = "datetime64[M]"


def resampled(
    cells: Cells, roles: Roles, config: DataConfig, report: Report, repairs: list[Repair]
) -> tuple[Cells, Any]:
    """One row for every step of a series in which there is one.

    Args:
        cells: sorted by series and time.
        roles: what the columns mean.
        config: with the step, an alias, or a whole number for whole-number axes. A step has the stamp that its alias
            gives it: the first instant of fixed units, the anchor of weeks and months. The target's known values are
            aggregated as it says; covariates have their mean, or their last value.
        report: called when the step does not fit the axis.
        repairs: gets what was done, per series.

    Returns:
        The cells, and the last step that is over, where a later one was left out; None where none was.

    Raises:
        ConfigError: there is no such step.
        DataError: the axis holds numbers and the step is a time, or the other way round.
    """
    step, aggregate = str(config.resample), config.aggregate
    frequency = parse_frequency(step)
    if frequency.is_integer != (cells.stamps.dtype.kind != "M"):
        message = f"--resample {step} does not fit a time column of {kind_of(cells.stamps)}"
        hint = "--resample D for dates, --resample 7 for numbers"
        raise ended(report, Finding("FA203", "error", message, hint, options=("resample",)))
    stamps, end = floored(cells.stamps, frequency, cells.zone), None
    if aggregate == "sum" and config.partial_steps == "drop":
        cells, end = without_partial_steps(cells, stamps, frequency, roles.target, report)
        stamps = floored(cells.stamps, frequency, cells.zone)
    first = np.append(True, (cells.series[1:] != cells.series[:-1]) | (stamps[1:] != stamps[:-1]))
    starts = np.flatnonzero(first)
    result = replace(cells, stamps=stamps).take(starts)
    how = {name: "mean" if aggregate == "sum" and name != roles.target else aggregate for name in cells.columns}
    columns = {name: of_groups(values, starts, how[name]) for name, values in cells.columns.items()}
    codes = {name: codes_of_groups(values, starts) for name, values in cells.category_codes.items()}
    repairs += _merge_repairs(cells, result, step, aggregate)
    return replace(result, columns=columns, category_codes=codes), end


def is_zero_without_rows(config: DataConfig) -> bool:
    """Return whether a step without rows is known to be zero, as that of events that are counted."""
    return config.resample is not None and config.aggregate == "sum" and config.missing == "zero"


def floored(stamps: Stamps, frequency: Frequency, zone: Zone) -> Stamps:
    """The stamp of the step in which each one lies (num_rows,); hours and shorter steps are those of the zone."""
    number, unit, anchor = split_alias(frequency.alias)
    if not unit:
        return np.asarray(stamps // number * number)
    if unit in MONTH_UNITS:
        return _floored_to_months(stamps, number * MONTH_UNITS[unit], unit, anchor)
    if unit == "B":
        days = np.busday_offset(stamps.astype("datetime64[D]"), 0, roll="backward")
        return np.asarray(days.astype("datetime64[ns]"))
    if unit == "W":
        day = stamps.astype("datetime64[D]")
        behind = (weekday(day) - WEEKDAYS.index(anchor)) % 7
        return np.asarray((day - behind).astype("datetime64[ns]"))
    length = number * UNITS[unit]
    ahead = zone.ahead_of_steps(length) if length <= UNITS["h"] else 0
    elapsed = stamps.astype("datetime64[ns]").astype(np.int64) + ahead
    return np.asarray((elapsed // length * length - ahead).astype("datetime64[ns]"))


def _floored_to_months(stamps: Stamps, months: int, unit: str, anchor: str) -> Stamps:
    """First or last (business) day of the month, quarter or year that holds each stamp."""
    month = stamps.astype(_MONTH).astype(np.int64)
    at_end = unit.endswith("E")
    anchored = MONTHS.index(anchor) if anchor else 0  # the last month of a step at the end, the first one at the start
    named = (month + (anchored - month) % months if at_end else month - (month - anchored) % months).astype(_MONTH)
    if unit.startswith("B"):
        edge = (named + at_end).astype("datetime64[D]")
        return np.asarray(np.busday_offset(edge, -1 if at_end else 0, roll="forward").astype("datetime64[ns]"))
    days = (named + 1).astype("datetime64[D]") - 1 if at_end else named.astype("datetime64[D]")
    return np.asarray(days.astype("datetime64[ns]"))


def of_groups(values: NDArray[np.float64], starts: NDArray[np.int64], how: str) -> NDArray[np.float64]:
    """Mean, sum or last of the known values of each group; NaN where there is none."""
    known = ~np.isnan(values)
    counts = np.add.reduceat(known.astype(np.int64), starts)
    if how == "last":
        rows = np.maximum.reduceat(np.where(known, np.arange(len(values)), -1), starts)
        return np.where(counts > 0, values[rows], np.nan)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts)
    totals = sums if how == "sum" else sums / np.maximum(counts, 1)
    return np.asarray(np.where(counts > 0, totals, np.nan), np.float64)


def codes_of_groups(codes: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.int32]:
    """Last known code of each group; -1 where there is none."""
    rows = np.maximum.reduceat(np.where(codes >= 0, np.arange(len(codes)), -1), starts)
    return np.where(rows >= 0, codes[rows], np.int32(-1)).astype(np.int32)


def _merge_repairs(cells: Cells, result: Cells, step: str, aggregate: str) -> list[Repair]:
    if np.array_equal(cells.stamps, result.stamps):  # the table has that step already
        return []
    counts: Any = np.bincount(cells.series, minlength=len(cells.item_ids))
    return [
        Repair(f"resample {step}: {aggregate} of rows", name, count=int(counts[index]), first=result.text(int(start)))
        for index, (name, start) in enumerate(zip(cells.item_ids, result.starts[:-1], strict=True))
    ]
