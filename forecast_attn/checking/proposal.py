"""A command that trains on a table, and a sentence on what it forecasts."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn.checking.error_options import MOST_HIDDEN, ZONES_BY_CLOCK
from forecast_attn.checking.examination import Examination
from forecast_attn.checking.number_times import regular_order
from forecast_attn.config.options import DataConfig, find_option
from forecast_attn.config.values import flag_name, names_text
from forecast_attn.data.column_names import (
    PERIOD_NAMES,
    STEP_NAMES,
    counts_rows,
    is_called_age,
    is_called_of_record,
    is_called_time,
    is_called_year,
    unit_of,
)
from forecast_attn.data.findings import counted, quoted
from forecast_attn.data.frequency import Frequency, step_name
from forecast_attn.data.number_stamps import decimal_step
from forecast_attn.data.panel import Panel
from forecast_attn.data.reading.joined import ROW_COUNT
from forecast_attn.data.reading.positions import LAYOUT_ROWS, LONG_TARGET, WIDE_ROWS
from forecast_attn.data.reading.time_parts import holds_years
from forecast_attn.data.roles import Roles
from forecast_attn.data.timestamps import parse_timestamps
from forecast_attn.errors import shell_command

_ORDERS_OF_DAYS = ("day-first", "month-first")
_IN_NO_ORDER = 0.25
"""Smallest share of times that go back, and of those that go on, from row to row of a list."""


@dataclass(frozen=True)
class Proposal:
    """Options with which training takes a table, and what it would forecast."""

    options: Mapping[str, Any]
    """By field name, in addition to the given ones."""
    forecasts: str
    target: str
    time: str
    item_id: str | None
    num_series: int
    horizon: int
    step: str

    def to_dict(self, command: str) -> dict[str, Any]:
        """JSON-able."""
        return {"command": command, **dataclasses.asdict(self), "options": dict(self.options)}


def command_text(table: str, given: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """`forecast train data.csv --target y`, as a shell takes it.

    Args:
        table: the file.
        given: options that the user gave, by field name.
        options: added to them.
    """
    words = ["train", table]
    for name, value in {**given, **options}.items():
        if name in options and name in given and value == getattr(DataConfig, name, None):
            continue  # withdrawn
        flag = "out" if name == "out" else flag_name(find_option(name)[1])
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", names_text(map(str, value)) if isinstance(value, list | tuple) else str(value)]
    return shell_command(*words)


def check_command_text(table: str, given: Mapping[str, Any]) -> str:
    """`forecast check data.csv --target y`: those of the given options, by field name, that `check` takes."""
    of_tables = {field.name for field in dataclasses.fields(DataConfig)}
    kept = {name: value for name, value in given.items() if name in of_tables}
    return command_text(table, kept, {}).replace("forecast train", "forecast check", 1)


def proposal_of(examination: Examination, options: Mapping[str, Any]) -> Proposal:
    """Return the proposal of a table without errors, examined with options; one that has its default is withdrawn."""
    panel, preparation = examination.panel, examination.preparation
    assert panel is not None
    assert preparation is not None
    kept = {name: value for name, value in options.items() if value != getattr(DataConfig, name)}
    withdrawn = [f"--{flag_name(find_option(name)[1])}" for name in options if name not in kept]
    roles, frequency, horizon = panel.roles, preparation.schema.frequency, preparation.schema.horizon
    trained = panel.num_series - len(preparation.split.skipped)
    step = "1 row" if frequency.is_integer else step_name(frequency.alias).partition(" (")[0]
    conditions = list(_conditions(panel, kept, examination.frame))
    conditions += [f"without {' and '.join(withdrawn)}"] if withdrawn else []
    ahead = ", ".join([f"{counted(horizon, 'step')} of {step} ahead", *conditions])
    return Proposal(
        options,
        f"{_subject(examination.frame, panel, trained)}{_aggregated(roles, frequency, step, kept)}, {ahead}",
        target=roles.target,
        time=roles.time,
        item_id=roles.item_id,
        num_series=trained,
        horizon=horizon,
        step=frequency.alias,
    )


def _subject(frame: pd.DataFrame | None, panel: Panel, num_series: int) -> str:
    """Subject of a forecast: a column, one of each series, or several columns."""
    roles = panel.roles
    if frame is not None and frame.index.name == LAYOUT_ROWS:
        variable = "" if roles.target == LONG_TARGET else f"'{roles.target}' of "
        return variable + (
            f"the rows as {num_series:,} series" if roles.item_id is not None else "the cells as one series"
        )
    if frame is not None and frame.index.name == WIDE_ROWS:
        shown = quoted(list(panel.item_ids[:3])) + (", …" if len(panel.item_ids) > 3 else "")
        return f"{counted(num_series, 'column')} as one series each ({shown})"
    target = "the number of rows" if roles.target == ROW_COUNT else f"'{roles.target}'"
    return target if roles.item_id is None else f"{target} of {num_series:,} series told apart by '{roles.item_id}'"


def _aggregated(roles: Roles, frequency: Frequency, step: str, options: Mapping[str, Any]) -> str:
    """Words for the way in which rows become one per step; none where they are not put on another step."""
    if "resample" not in options:
        return ""
    each = f"step of {options['resample']}" if frequency.is_integer else step
    each = f"'{roles.time}'" if options["resample"] == "1" else each
    return f" of each {each}" if roles.target == ROW_COUNT else f", {options.get('aggregate', 'mean')} of each {each}"


def _counts_rows(panel: Panel) -> bool:
    """Return whether the time is the number of the row, and no year or date, whatever its column is called."""
    are_numbers = counts_rows(panel.roles.time) and panel.timestamps.dtype.kind == "i"
    return are_numbers and not holds_years(pd.Series(panel.timestamps))


def _is_called_time(panel: Panel) -> bool:
    """Return whether the time is a date or a year, or is numbers whose name says so: no plot of a field."""
    name, stamps = panel.roles.time, panel.timestamps
    if stamps.dtype.kind == "M" or holds_years(pd.Series(stamps)):
        return True
    is_called = is_called_time(name) or is_called_year(name) or unit_of(name) is not None or "time" in name.lower()
    is_called = is_called and not is_called_age(name)  # several persons may have one each, at one time
    return is_called or name.lower() in (*STEP_NAMES, *PERIOD_NAMES)


def _are_records(frame: pd.DataFrame, panel: Panel, options: Mapping[str, Any]) -> bool:
    """Return whether rows are those of a register: with several dates of when they were written, or in no order."""
    if sum(is_called_of_record(str(name)) for name in frame.columns) > 1:
        return True
    time = panel.roles.time
    if "resample" not in options or time not in frame.columns:
        return False
    stamps, _ = parse_timestamps(frame[time], time, options.get("date_format") or panel.date_order)
    goes_on = float(np.mean(np.diff(stamps).astype(np.int64) >= 0))
    return _IN_NO_ORDER < goes_on < 1 - _IN_NO_ORDER


def _is_order_a_guess(frame: pd.DataFrame, time: str) -> bool:
    """Return whether no regular step tells which number of a date is the day, and no dots stand behind it."""
    column = frame.get(time)
    if column is None or not len(column) or re.match(r"\d\d?\.\d\d?\.", str(column.iloc[0])):
        return False
    return regular_order(column) is None


def _conditions(panel: Panel, options: Mapping[str, Any], frame: pd.DataFrame | None) -> Iterator[str]:
    """Words for each thing that a forecast takes for granted or leaves out."""
    yield from _conditions_on_time(panel, options, frame)
    observed = np.count_nonzero(~np.isnan(panel.target)) / panel.num_known.sum()
    if observed < 1 - MOST_HIDDEN:
        yield f"where only {observed:.0%} of the steps have a value"
    if "tz" in options and ZONES_BY_CLOCK[options["tz"]]:
        yield f"if {options['tz']} is the zone, not that of {ZONES_BY_CLOCK[options['tz']]}"
    if "decimal" in options:
        yield f"with '{options['decimal']}' before decimals"
    if "undated_rows" in options:
        yield "without the rows that have no time" + (" or no series" if panel.roles.item_id is not None else "")
    if "na" in options:
        yield f"with {quoted(list(options['na']))} as no value"


def _conditions_on_time(panel: Panel, options: Mapping[str, Any], frame: pd.DataFrame | None) -> Iterator[str]:
    if _counts_rows(panel):
        yield "if the rows are in the order of time"
    elif not _is_called_time(panel):
        yield f"if '{panel.roles.time}' counts time"
    elif is_called_of_record(panel.roles.time) and frame is not None and _are_records(frame, panel, options):
        yield f"if '{panel.roles.time}' tells when it was, rather than when its row was written"
    order = options.get("date_format")
    if order in _ORDERS_OF_DAYS and frame is not None and _is_order_a_guess(frame, panel.roles.time):
        yield f"if the dates are {order.replace('-', ' ')}"
    if decimal_step(panel.date_order) is not None:
        yield f"with '{panel.roles.time}' counted in steps of {panel.date_order}"
