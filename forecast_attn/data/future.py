"""Adds the rows to be forecast to a panel: from a file of future covariates, or from the calendar alone.

Rows are joined on (item_id, timestamp), never on position.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.cells import ids_as_text, parse_numbers
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.problems import counted, naming, place, quoted, stamp_text, stop_at_errors
from forecast_attn.data.reading import require_column
from forecast_attn.data.timestamps import Stamps, parse_timestamps
from forecast_attn.errors import DataError

Floats = NDArray[np.float64]


def extend(panel: Panel, horizon: int) -> Panel:
    """The panel with exactly `horizon` future rows per series, taken from its own trailing rows where there are any.

    Raises:
        DataError: it has future covariates, and not all of them are known for the horizon.
    """
    stamps = _future_stamps(panel, horizon)
    return _with_future(panel, stamps, _checked(panel, stamps, _own_future(panel, horizon), None))


def join_future(panel: Panel, future_frame: pd.DataFrame, horizon: int, source: str) -> Panel:
    """The panel with exactly `horizon` future rows per series, with future covariates from another table.

    Rows at other times or of other series, and a target column, are left out of account. Where both know a value, the
    table's counts.

    Args:
        panel: the history.
        future_frame: columns of time stamps, future covariates and, for several series, the identifier.
        horizon: steps to forecast.
        source: the table's name, for messages.

    Raises:
        DataError: a column, a row or a value is missing.
    """
    names = [panel.roles.time, *panel.roles.future_covariates]
    names += [panel.roles.item_id] if panel.roles.item_id is not None and panel.num_series > 1 else []
    for name in names:
        require_column(future_frame, name, source)
    stamps = _future_stamps(panel, horizon)
    values = _own_future(panel, horizon)
    rows = _rows_in(panel, future_frame, stamps, source)
    for position, name in enumerate(panel.roles.future_covariates):
        with naming(source):
            given = np.append(parse_numbers(future_frame[name], stop_at_errors), np.nan)[rows]
        values[..., position] = np.where(np.isnan(given), values[..., position], given)
    return _with_future(panel, stamps, _checked(panel, stamps, values, source, _extent(panel, future_frame)))


def _extent(panel: Panel, frame: pd.DataFrame) -> str:
    """How many rows the table has, from when to when."""
    found, _ = parse_timestamps(frame[panel.roles.time], panel.roles.time)
    return f"; it has {counted(len(found), 'row')}, from {stamp_text(found.min())} to {stamp_text(found.max())}"


def _future_stamps(panel: Panel, horizon: int) -> Stamps:
    """The stamps after each series' last known one (num_series, horizon)."""
    last = panel.timestamps[panel.ends - 1]
    return np.stack([panel.frequency.shift(last, step) for step in range(1, horizon + 1)], axis=1)


def _own_future(panel: Panel, horizon: int) -> Floats:
    """Future covariates in the panel's own trailing rows (num_series, horizon, num_future), NaN where it has none."""
    values = np.full((panel.num_series, horizon, panel.future_covariates.shape[1]), np.nan)
    for index, (first, stop) in enumerate(zip(panel.ends, panel.starts[1:], strict=True)):
        found = panel.future_covariates[first : min(stop, first + horizon)]
        values[index, : len(found)] = found
    return values


def _rows_in(panel: Panel, frame: pd.DataFrame, stamps: Stamps, source: str) -> NDArray[np.int64]:
    """Position in the table of each (series, step) wanted (num_series, horizon), -1 where it has none."""
    found, bad = parse_timestamps(frame[panel.roles.time], panel.roles.time)
    for at in np.flatnonzero(bad)[:1]:
        value = frame[panel.roles.time].iloc[at]
        raise DataError(
            f"'{source}': column '{panel.roles.time}' is '{value}' at {place(int(at) + 1)}; expected a time stamp"
        )
    if found.dtype.kind != stamps.dtype.kind:
        kinds = {"M": "dates", "i": "whole numbers"}
        raise DataError(
            f"'{source}' has {kinds[found.dtype.kind]} in '{panel.roles.time}', the history {kinds[stamps.dtype.kind]}"
        )
    series = _series_in(panel, frame)
    wanted = np.isin(found, stamps) & (series >= 0) & (series < panel.num_series)
    rows = np.flatnonzero(wanted)
    index = pd.MultiIndex.from_arrays([series[rows], found[rows]])
    repeated = np.flatnonzero(index.duplicated())
    if len(repeated):
        at = int(rows[repeated[0]])
        name = panel.item_ids[series[at]]
        raise DataError(
            f"'{source}' has {stamp_text(found[at])} of series '{name}' twice, the second at {place(at + 1)}",
            "keep one of the rows",
        )
    horizon = stamps.shape[1]
    lookup = pd.MultiIndex.from_arrays([np.repeat(np.arange(panel.num_series), horizon), stamps.ravel()])
    return np.append(rows, -1)[index.get_indexer(lookup)].reshape(stamps.shape)


def _series_in(panel: Panel, frame: pd.DataFrame) -> NDArray[np.int64]:
    """Index into the panel's series of every row of the table, -1 for series it does not have."""
    if panel.roles.item_id is None or panel.roles.item_id not in frame.columns:
        return np.zeros(len(frame), np.int64)
    found, item_ids = ids_as_text(frame[panel.roles.item_id])
    position = {item_id: index for index, item_id in enumerate(panel.item_ids)}
    return np.array([position.get(item_id, -1) for item_id in item_ids] + [-1], np.int64)[found]


def _checked(panel: Panel, stamps: Stamps, values: Floats, source: str | None, extent: str = "") -> Floats:
    """The values, when none is missing."""
    missing = np.isnan(values)
    for index, column in np.argwhere(missing.any(axis=1))[:1]:
        steps = np.flatnonzero(missing[index, :, column])
        horizon, name = values.shape[1], panel.roles.future_covariates[column]
        first, last = stamp_text(stamps[index, steps[0]]), stamp_text(stamps[index, steps[-1]])
        where = "the data" if source is None else f"'{source}'"
        message = (
            f"{where} has no '{name}' for {len(steps)} of the {horizon} steps to forecast of series "
            f"'{panel.item_ids[index]}', from {first} to {last}{extent}"
        )
        span = f"{stamp_text(stamps[index, 0])} … {stamp_text(stamps[index, -1])}"
        raise DataError(message, f"--future FILE with columns {quoted(panel.roles.future_covariates)} for {span}")
    return values


def _with_future(panel: Panel, stamps: Stamps, values: Floats) -> Panel:
    """Known rows of every series, each followed by its future rows (num_series, horizon, num_future)."""
    horizon = stamps.shape[1]
    lengths = panel.known + horizon
    # Future rows first point at the last known row, whose content is then replaced.
    rows = np.minimum(ranges(panel.starts[:-1], lengths), np.repeat(panel.ends - 1, lengths))
    longer = panel.with_rows(rows, lengths, panel.known)
    future = ranges(longer.ends, np.full(panel.num_series, horizon))
    timestamps, target = longer.timestamps, longer.target
    past, ahead = longer.past_covariates, longer.future_covariates
    timestamps[future], target[future], past[future] = stamps.ravel(), np.nan, np.nan
    ahead[future] = values.reshape(len(future), -1)
    return replace(longer, timestamps=timestamps, target=target, past_covariates=past, future_covariates=ahead)
