"""The starting point of a forecast: the history, read as in training, and the known future."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.findings import Finding, stop_at_errors
from forecast_attn.data.future import extend, join_future
from forecast_attn.data.issued import is_issued
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.panel_building import VintageTable, build_panel
from forecast_attn.data.reading import Source, read_beside
from forecast_attn.data.roles import Roles
from forecast_attn.errors import DataError
from forecast_attn.forecasting.model import Model
from forecast_attn.forecasting.tail import read_tail
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import Table


@dataclass(frozen=True)
class History:
    """The series to forecast, and findings about them."""

    panel: Panel
    skipped: tuple[str, ...]
    """Series too short for the lookback, which get no forecast."""
    cold: tuple[str, ...] = ()
    """Series that training did not see."""


def read_history(
    model: Model,
    run: RunDir,
    frame: pd.DataFrame | None,
    source: str,
    *,
    cold_start: bool = False,
    forecasts: tuple[pd.DataFrame, str] | None = None,
) -> History:
    """Read the series to forecast as in training.

    Args:
        model: whose roles and frequency count.
        run: whose tail.parquet is read when `frame` is None.
        frame: the history.
        source: its name, for messages.
        cold_start: series that training did not see are forecast too; see `with_cold_series`.
        forecasts: a table with a column issued_at, and its name: what the history does not have comes from it.

    Raises:
        DataError: a column is missing, the table has a problem, every series is too short, or one was not in training.
        RunError: tail.parquet is damaged.
    """
    schema = model.schema
    if frame is None:
        frame, source = read_tail(run, schema), run.tail.name
    options = replace(model.config.data, freq=schema.frequency.alias, date_format=_date_format(model))
    roles = replace(schema.roles, weight=None)  # weights are for the loss
    frame, vintages = _with_forecasts(frame, roles, forecasts)
    with without_flags_of_train():
        panel = build_panel(frame, roles, options, source=source, zone=schema.zone, vintages=vintages)
    needed = 1 if schema.padded else schema.lookback
    long_enough = panel.num_known >= needed
    if not long_enough.any():
        longest = int(panel.num_known.max())
        raise DataError(
            f"'{source}' has too few rows: the lookback needs {needed}, the longest series has {longest}",
            "add older rows; forecast update --data learns from new rows alone",
            code="FA409",
        )
    skipped = tuple(name for name, is_long in zip(panel.item_ids, long_enough, strict=True) if not is_long)
    panel = select_series(panel, long_enough)
    if not cold_start:
        schema.scaler.for_series(panel.item_ids)  # names those that training did not see
    return History(panel, skipped, schema.scaler.unseen(panel.item_ids))


def table_beside(table: pd.DataFrame | Table | Source, model: Model, *, wide: bool | None = None) -> pd.DataFrame:
    """Read a table as that of the training was.

    Args:
        table: a history, new rows, or values of covariates along the horizon.
        model: with the options and roles of the training.
        wide: the table has a column per series; as in training when None.

    Raises:
        DataError: what is wrong with it.
    """
    config, roles = model.config.data, model.schema.roles
    # In this table all categories may look like numbers, and no date tell the day from the month.
    config = replace(config, categorical=roles.categorical, date_format=_date_format(model))
    with without_flags_of_train():
        wide = config.wide if wide is None else wide
        columns = (roles.time, roles.item_id or "", *roles.numeric, *roles.categorical)
        names = tuple(part for name in columns for part in name.split(","))
        return read_beside(table, config, item_id=roles.item_id, wide=wide, time=roles.time, names=names)


def _with_forecasts(
    frame: pd.DataFrame, roles: Roles, forecasts: tuple[pd.DataFrame, str] | None
) -> tuple[pd.DataFrame, VintageTable | None]:
    """The history with an empty column for each that was only forecast, and the table to fill them from."""
    if forecasts is None or not is_issued(forecasts[0]):
        return frame, None
    absent = tuple(
        name for name in roles.future_covariates if name not in frame.columns and name in forecasts[0].columns
    )
    if not absent:
        return frame, None
    return frame.assign(**dict.fromkeys(absent, np.nan)), VintageTable(*forecasts, absent)


def with_calendar_of(model: Model, panel: Panel) -> Model:
    """The model with the closed days of a later table: markets close on days that training could not know."""
    if panel.frequency.alias == model.schema.frequency.alias:
        return model
    schema = model.schema
    calendar = replace(schema.calendar, frequency=panel.frequency)
    return replace(model, schema=replace(schema, frequency=panel.frequency, calendar=calendar))


def with_cold_series(model: Model, panel: Panel) -> Model:
    """The model with scales for the panel's series that training did not see, from their own lookback."""
    scaler = model.schema.scaler.with_cold_series(panel, model.schema.lookback)
    return replace(model, schema=replace(model.schema, scaler=scaler))


def future_panel(
    model: Model, history: Panel, future: pd.DataFrame | None, source: str
) -> tuple[Panel, tuple[Finding, ...]]:
    """The history with the rows to forecast: from a table of future covariates, or from the end of the history.

    Returns:
        The panel, and what there is to say: which forecasts were used, empty cells, days the calendar does not know.

    Raises:
        DataError: a future covariate is missing; says for which steps of which series.
    """
    findings: list[Finding] = []

    def report(finding: Finding) -> None:
        stop_at_errors(finding)
        findings.append(finding)

    horizon, masked = model.schema.horizon, model.schema.masked
    options = replace(model.config.data, date_format=_date_format(model))
    if future is None:
        panel = extend(history, horizon, report, masked=masked)
    else:
        with without_flags_of_train():
            panel = join_future(history, future, horizon, source, report, masked=masked, options=options)
    return panel, (*findings, *_notes_of_calendar(model, panel))


def _date_format(model: Model) -> str | None:
    """Date format of a later table: the one of training, or the order of fields found then."""
    return model.config.data.date_format or model.schema.date_order


def _notes_of_calendar(model: Model, panel: Panel) -> tuple[Finding, ...]:
    holidays = model.schema.calendar.holidays
    if holidays is None:
        return ()
    return holidays.notes(panel.zone.local(panel.timestamps[ranges(panel.ends, panel.starts[1:] - panel.ends)]))


def select_series(panel: Panel, keep: NDArray[np.bool_]) -> Panel:
    """Some of the series, in the same order; the panel itself where that is all of them."""
    if keep.all():
        return panel
    lengths = np.diff(panel.starts)[keep]
    chosen = panel.with_rows(ranges(panel.starts[:-1][keep], lengths), lengths, panel.num_known[keep])
    names = tuple(name for name, is_kept in zip(panel.item_ids, keep, strict=True) if is_kept)
    return replace(
        chosen,
        item_ids=names,
        static_covariates=panel.static_covariates[keep],
        static_categories=panel.static_categories[keep],
        weights=panel.weights[keep],
    )


_AS_IN_TRAINING = "the table must be as in training: the same columns and the same time step"
_REPAIRED = "forecast check FILE {} --fix --out clean.csv writes a table without it"
_FILLED = _REPAIRED.format("--missing ffill (interpolate, zero)")
_INSTEAD = {
    "FA107": "add a line with the columns' names",
    "FA108": "write the table with the delimiter and the decimal mark of the training's",
    "FA110": "write the table in the encoding of the training's",
    "FA201": "write the stamps as YYYY-MM-DD HH:MM",
    "FA202": f"keep one of the rows; {_REPAIRED.format('--duplicates mean (first, last)')}",
    "FA204": f"add the missing rows; {_FILLED}",
    "FA210": "write the stamps with their offset, as 2024-03-31 03:00+02:00",
    "FA211": "write the stamps with their offset, as 2024-10-27 02:00+02:00",
    "FA301": f"fill the cell; {_FILLED}",
    "FA302": f"fill the cell; {_FILLED}",
    "FA303": "correct the cell",
}
"""Hints for problems whose options are settled by the run, by code."""


@contextlib.contextmanager
def without_flags_of_train() -> Iterator[None]:
    """Replace hints that name flags of train: a trained model's options are settled."""
    try:
        yield
    except DataError as error:
        if error.options:
            error.hint = _INSTEAD.get(error.code or "", _AS_IN_TRAINING)
        raise
