"""A command that trains on a table, and a sentence on what it forecasts."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from forecast_attn.checking.error_options import ZONES_BY_CLOCK
from forecast_attn.checking.examination import Examination
from forecast_attn.config.options import DataConfig, find_option
from forecast_attn.config.values import flag_name
from forecast_attn.data.findings import counted, quoted
from forecast_attn.data.frequency import step_name
from forecast_attn.data.reading.joined import ROW_COUNT, ROW_NUMBER
from forecast_attn.data.reading.positions import LAYOUT_ROWS, WIDE_ROWS

MOST_HIDDEN = 0.5
"""Share of steps without a value that `--missing mask` may hide without a word."""


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
    words = ["forecast", "train", table]
    for name, value in {**given, **options}.items():
        if name in options and name in given and value == getattr(DataConfig, name, None):
            continue  # withdrawn
        flag = "out" if name == "out" else flag_name(find_option(name)[1])
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)]
    return shlex.join(words)


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
    withdrawn = [name for name, value in options.items() if value == getattr(DataConfig, name)]
    taken, options = options, {name: value for name, value in options.items() if name not in withdrawn}
    roles, schema = panel.roles, preparation.schema
    wide = examination.frame is not None and examination.frame.index.name == WIDE_ROWS
    step = "1 row" if schema.frequency.is_integer else step_name(schema.frequency.alias).partition(" (")[0]
    trained = panel.num_series - len(preparation.split.skipped)
    names = panel.item_ids
    has_other_layout = examination.frame is not None and examination.frame.index.name == LAYOUT_ROWS
    if has_other_layout:
        what = f"the rows as {trained:,} series" if roles.item_id is not None else "the cells as one series"
    elif wide:
        shown = quoted(list(names[:3])) + (", …" if len(names) > 3 else "")
        what = f"{counted(trained, 'column')} as one series each ({shown})"
    else:
        target = "the number of rows" if roles.target == ROW_COUNT else f"'{roles.target}'"
        what = target if roles.item_id is None else f"{target} of {trained:,} series told apart by '{roles.item_id}'"
    merged = " of" if roles.target == ROW_COUNT else f", {options.get('aggregate', 'mean')} of"
    each = f"step of {options.get('resample')}" if schema.frequency.is_integer else step
    each = f"'{roles.time}'" if options.get("resample") == "1" else each
    resampled = f"{merged} each {each}" if "resample" in options else ""
    ahead = f"{schema.horizon} steps of {step} ahead" if schema.horizon > 1 else f"1 step of {step} ahead"
    if roles.time == ROW_NUMBER:
        ahead += ", if the rows are in the order of time"
    observed = np.count_nonzero(~np.isnan(panel.target)) / panel.num_known.sum()
    if observed < 1 - MOST_HIDDEN:
        ahead += f", where only {observed:.0%} of the steps have a value"
    if "tz" in options and ZONES_BY_CLOCK[options["tz"]]:
        ahead += f", if {options['tz']} is the zone, not that of {ZONES_BY_CLOCK[options['tz']]}"
    if "decimal" in options:
        ahead += f", with '{options['decimal']}' before decimals"
    if "undated_rows" in options:
        ahead += ", without the rows that have no time" + (" or no series" if roles.item_id is not None else "")
    if "na" in options:
        ahead += f", with {quoted(list(options['na']))} as no value"
    if withdrawn:
        ahead += f", without {' and '.join(f'--{flag_name(find_option(name)[1])}' for name in withdrawn)}"
    return Proposal(
        taken,
        f"{what}{resampled}, {ahead}",
        target=roles.target,
        time=roles.time,
        item_id=roles.item_id,
        num_series=trained,
        horizon=schema.horizon,
        step=schema.frequency.alias,
    )
