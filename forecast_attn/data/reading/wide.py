"""Turns a wide table (one column per series) into a long one (one row per series and step).

A series may start later or end earlier than the table: its empty cells there do not become rows. After its last value,
a row stays where a future covariate is known, because that makes it a future row.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding, Report, coded, option_for, quoted, require_column
from forecast_attn.data.reading.positions import LONG_ID, LONG_TARGET, WIDE_ROWS, file_positions, without_values
from forecast_attn.data.timestamps import parse_timestamps
from forecast_attn.errors import ConfigError, DataError


def check_wide(config: DataConfig) -> None:
    """Refuse options that contradict --wide.

    Raises:
        ConfigError: --target or --id is given too.
    """
    for flag, column in (("target", config.target), ("id", config.item_id)):
        if column is not None:
            message = f"--wide and --{flag} contradict each other: every column of numbers is a series"
            raise ConfigError(message, f"leave --{flag} out, or --wide")


@coded("FA101")
def made_long(frame: pd.DataFrame, config: DataConfig, source: str, report: Report) -> pd.DataFrame:
    """Return one row per series and step, with the columns item_id and target and the shared ones.

    Its index, called WIDE_ROWS, holds the row of the file.

    Args:
        frame: the wide table.
        config: the columns that are no series: time, covariates, those to leave out.
        source: the file's name, for messages.
        report: called with the columns that are left out.

    Raises:
        DataError: no time stamps, no series, or a column that is missing or called as the new ones are.
    """
    time, shared, series = _columns(frame, config, source, report)
    rows, lengths, target = _cells_of_series(frame, series, time, config)
    kept = [name for name, length in zip(series, lengths.tolist(), strict=True) if length]
    for name in sorted(set(series) - set(kept)):
        report(Finding("FA104", "note", f"column '{name}' is left out: empty", column=name))
    if not kept:
        names = quoted([str(name) for name in frame.columns])
        raise DataError(f"'{source}' has no column of numbers to forecast; its columns are {names}")
    codes = np.repeat(np.arange(len(kept), dtype=np.int32), lengths[lengths > 0])
    columns: dict[str, Any] = {
        time: frame[time].array.take(rows),
        LONG_ID: pd.Categorical.from_codes(codes, categories=pd.Index(kept, dtype="str")),
        LONG_TARGET: target,
    }
    columns |= {name: frame[name].array.take(rows) for name in shared}
    columns |= dict.fromkeys(config.ignore, without_values(len(rows)))
    long = pd.DataFrame(columns, index=pd.Index(file_positions(frame).rows()[rows], name=WIDE_ROWS), copy=False)
    long.attrs |= frame.attrs
    return long


def is_long(frame: pd.DataFrame) -> bool:
    """Return whether a table has the columns of a wide table made long."""
    return LONG_ID in frame.columns and LONG_TARGET in frame.columns


def shared_by_all(frame: pd.DataFrame, item_ids: tuple[str, ...]) -> pd.DataFrame:
    """Repeat a table of shared values, such as the future of a wide table, once for every series.

    Args:
        frame: without a column item_id; comes back as it is with one.
        item_ids: the series.
    """
    if LONG_ID in frame.columns:
        return frame
    rows = np.tile(np.arange(len(frame), dtype=np.int32), len(item_ids))
    codes = np.repeat(np.arange(len(item_ids), dtype=np.int32), len(frame))
    columns: dict[str, Any] = {str(name): frame[name].array.take(rows) for name in frame.columns}
    columns[LONG_ID] = pd.Categorical.from_codes(codes, categories=pd.Index(item_ids, dtype="str"))
    return pd.DataFrame(columns, index=pd.Index(rows + 1, name=WIDE_ROWS), copy=False)


def _columns(frame: pd.DataFrame, config: DataConfig, source: str, report: Report) -> tuple[str, list[str], list[str]]:
    """The time column, those that all series share, and those that are series."""
    from forecast_attn.data.roles import columns_of_numbers, find_time, is_numeric, why_not_numeric

    shared = _declared(frame, config)
    for name in (*shared, *config.ignore, *([config.time] if config.time else [])):
        require_column(frame, name, source)
    free = [str(name) for name in frame.columns if name not in (*shared, *config.ignore)]
    _refuse_identifier([name for name in free if name != config.time], source)
    time = config.time or find_time(frame, free, {}, source)
    taken = [name for name in (time, *shared) if name in (LONG_ID, LONG_TARGET)]
    if taken:
        message = (
            f"'{source}': a wide table cannot have a column called '{taken[0]}', which the series' names or values get"
        )
        raise DataError(message, "give the column another name", column=taken[0], file=source)
    series, numbers = [], columns_of_numbers(frame)
    for name in free:
        if name == time:
            continue
        if (name in numbers or is_numeric(frame[name])) and name.lower() != "unnamed: 0":
            series.append(name)
        else:
            why = "index without a name" if name.lower() == "unnamed: 0" else why_not_numeric(frame[name])
            report(Finding("FA104", "note", f"column '{name}' is left out: {why}", column=name))
    return time, shared, series


def _refuse_identifier(free: list[str], source: str) -> None:
    """Refuse a table that has one row per series and step already."""
    for name in free:
        if name.lower() in ("item_id", "unique_id", "series_id"):
            message = f"'{source}' has a column '{name}': one row per series and step; --wide needs a column per series"
            hint = f"leave --wide out, or {option_for('ignore', name)}"
            raise DataError(message, hint, code="FA102", column=name, file=source, options=("wide", "ignore"))


def _declared(frame: pd.DataFrame, config: DataConfig) -> list[str]:
    """Columns with a role of their own, in the frame's order; `wind:24` is the column wind."""
    names = {
        *config.past_covariates,
        *_future_names(frame, config),
        *config.static_covariates,
        *config.categorical,
        *([config.weight] if config.weight else []),
    }
    return sorted(names - {config.time, *config.ignore})


def _future_names(frame: pd.DataFrame, config: DataConfig) -> list[str]:
    return [name if name in frame else re.sub(r":\d+$", "", name) for name in config.future_covariates]


def _cells_of_series(
    frame: pd.DataFrame, series: list[str], time: str, config: DataConfig
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[Any]]:
    """The frame's rows that each series has, series after series (num_kept,), how many (num_series,), and the values.

    These are float64, or objects where a column has text, which is reported later. All columns are looked at in one
    array: a table may have a hundred thousand.
    """
    from forecast_attn.data.roles import columns_of_numbers

    are_numbers = columns_of_numbers(frame).issuperset(series)
    values = frame[series].to_numpy(np.float64 if are_numbers else object, na_value=np.nan).T
    order, unplaced = _time_order(frame[time], config)
    filled = ~pd.isna(values)[:, order]
    future = [frame[name].notna().to_numpy()[order] for name in _future_names(frame, config)]
    known_ahead = np.logical_or.reduce(future) if future else np.zeros(len(order), np.bool_)
    has_begun = np.logical_or.accumulate(filled, axis=1)
    goes_on = np.logical_or.accumulate(filled[:, ::-1], axis=1)[:, ::-1]
    kept = np.zeros(values.shape, np.bool_)
    kept[:, order] = has_begun & (goes_on | known_ahead)
    if len(series):  # reported once, not once per series
        kept[0, unplaced] = True
    rows = np.broadcast_to(np.arange(len(frame), dtype=np.int32), kept.shape)
    return rows[kept], kept.sum(axis=1), values[kept]


def _time_order(column: pd.Series, config: DataConfig) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows by time, and those without a time stamp."""
    try:
        stamps, bad = parse_timestamps(column, str(column.name), config.date_format)
    except DataError:  # reported with its position when the cells are parsed
        return np.arange(len(column)), np.empty(0, np.int64)
    placed = np.flatnonzero(~bad)
    return placed[np.argsort(stamps[placed], kind="stable")], np.flatnonzero(bad)
