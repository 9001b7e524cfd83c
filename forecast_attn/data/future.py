"""Adds the rows to be forecast to a panel: from a file of future covariates, or from the calendar alone.

Rows are joined on (item_id, timestamp), never on position.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.cells import categories_as_text, ids_as_text, parse_numbers
from forecast_attn.data.future_problems import (
    all_issued_later,
    bad_time,
    missing_future,
    other_kind_of_time,
    twice,
    which_issues,
)
from forecast_attn.data.issued import is_issued
from forecast_attn.data.issued_reading import parse_issued
from forecast_attn.data.localise import axis_stamps
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.problems import Repair, Report, naming, stop_at_errors
from forecast_attn.data.reading import require_column
from forecast_attn.data.roles import Roles
from forecast_attn.data.timestamps import Stamps

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FutureRows:
    """What is known of the steps after each series' last known target."""

    stamps: Stamps
    """(num_series, horizon)"""
    present: NDArray[np.bool_]
    """Whether some table has the cell, empty or not (num_series, horizon, num_future + num_future_categories)."""
    covariates: NDArray[np.float64]
    """(num_series, horizon, num_future), NaN where not known."""
    categories: NDArray[np.int32]
    """(num_series, horizon, num_future_categories), -1 where not known."""
    levels: dict[str, tuple[str, ...]]
    """The panel's, with the categories that only these rows have."""


def extend(panel: Panel, horizon: int, *, masked: bool = False) -> Panel:
    """The panel with exactly `horizon` future rows per series, taken from its own trailing rows where there are any.

    Args:
        panel: the history.
        horizon: steps to forecast.
        masked: empty cells are missing values; without it they are errors.

    Raises:
        DataError: it has future covariates, and not all of them are known for the horizon.
    """
    rows = own_future(panel, horizon)
    missing_future(panel, rows.stamps, missing_cells(panel.roles, rows, masked), None)
    return _with_future(panel, rows)


def join_future(
    panel: Panel,
    future_frame: pd.DataFrame,
    horizon: int,
    source: str,
    report: Report = stop_at_errors,
    *,
    masked: bool = False,
    date_format: str | None = None,
) -> Panel:
    """The panel with exactly `horizon` future rows per series, with future covariates from another table.

    Rows at other times or of other series, and a target column, are left out of account. Where both know a value, the
    table's counts. Of a table with a column issued_at counts the newest forecast that was issued by the last known
    target of the series; a note says which one that was.

    Args:
        panel: the history.
        future_frame: columns of time stamps, future covariates and, for several series, the identifier.
        horizon: steps to forecast.
        source: the table's name, for messages.
        report: called with what is worth knowing about the table.
        masked: empty cells are missing values; without it they are errors.
        date_format: how the table's stamps are written; found when None.

    Raises:
        DataError: a column, a row or a value is missing, or every forecast was issued too late.
    """
    own = own_future(panel, horizon)
    add = _issued if is_issued(future_frame) else _given
    rows, span = add(panel, own, future_frame, source, report, date_format)
    missing_future(panel, rows.stamps, missing_cells(panel.roles, rows, masked), source, span)
    return _with_future(panel, rows)


def future_stamps(panel: Panel, horizon: int) -> Stamps:
    """The steps after each series' last known target (num_series, horizon)."""
    last = panel.timestamps[panel.ends - 1]
    return np.stack([panel.frequency.shift(last, step) for step in range(1, horizon + 1)], axis=1)


def own_future(panel: Panel, horizon: int) -> FutureRows:
    """What the panel's own trailing rows know."""
    wanted = panel.ends[:, None] + np.arange(horizon)
    inside = wanted < panel.starts[1:, None]
    rows = np.where(inside, wanted, 0)
    return FutureRows(
        stamps=future_stamps(panel, horizon),
        present=np.repeat(inside[..., None], len(_future(panel.roles)), axis=2),
        covariates=np.where(inside[..., None], panel.future_covariates[rows], np.nan),
        categories=np.where(inside[..., None], panel.future_categories[rows], np.int32(-1)),
        levels=panel.levels,
    )


def missing_cells(roles: Roles, rows: FutureRows, masked: bool) -> NDArray[np.bool_]:
    """Cells that a forecast needs and nobody knows (num_series, horizon, num_future + num_future_categories).

    A covariate known for k steps is needed for those. With `masked` an empty cell is no missing one, an absent row is.
    """
    empty = np.concatenate([np.isnan(rows.covariates), rows.categories < 0], axis=2)
    return (empty & ~rows.present if masked else empty) & needed_cells(roles, rows.stamps.shape[1])


def needed_cells(roles: Roles, horizon: int) -> NDArray[np.bool_]:
    """Whether a forecast needs a step of a future covariate (horizon, num_future + num_future_categories)."""
    known = np.array([roles.known_steps.get(name, horizon) for name in _future(roles)], np.int64)
    return np.arange(horizon)[:, None] < known


def _future(roles: Roles) -> tuple[str, ...]:
    return (*roles.future_covariates, *roles.future_categories)


# --------------------------------------------------------------------------- another table


def _given(
    panel: Panel, own: FutureRows, frame: pd.DataFrame, source: str, report: Report, date_format: str | None
) -> tuple[FutureRows, Stamps]:
    """What is known together with a table of future covariates, and the table's stamps."""
    names = (panel.roles.time, *_future(panel.roles), *_identifier(panel))
    for name in names:
        require_column(frame, name, source)
    found, series = _rows_of(panel, frame, source, report, date_format)
    places = _places_in(panel, found, series, own.stamps, source)
    covariates, categories, levels = own.covariates.copy(), own.categories.copy(), dict(own.levels)
    for position, name in enumerate(panel.roles.future_covariates):
        with naming(source):
            given = np.append(parse_numbers(frame[name], report), np.nan)[places]
        covariates[..., position] = np.where(np.isnan(given), covariates[..., position], given)
    for position, name in enumerate(panel.roles.future_categories):
        codes, texts = categories_as_text(frame[name])
        lookup, levels[name] = _merged(levels[name], texts)
        given_codes = np.append(codes, -1)[places]
        merged = np.append(pd.Index(levels[name]).get_indexer(pd.Index(texts, dtype=object)), -1)[given_codes]
        categories[..., position] = np.where(given_codes < 0, lookup[categories[..., position]], merged)
    found = found[: frame.index.nunique()]  # rows that all series share stand there once per series
    return FutureRows(own.stamps, own.present | (places >= 0)[..., None], covariates, categories, levels), found


def _issued(
    panel: Panel, own: FutureRows, frame: pd.DataFrame, source: str, report: Report, date_format: str | None
) -> tuple[FutureRows, Stamps]:
    """What is known together with a table of forecasts and the times they were issued at, and the table's stamps."""
    issued = parse_issued(frame, panel.roles, panel.item_ids, source, report, zone=panel.zone, date_format=date_format)
    cutoffs = panel.timestamps[panel.ends - 1]
    series = np.arange(panel.num_series)[:, None]
    found = issued.newest(series, own.stamps, cutoffs[:, None])
    all_issued_later(panel, issued, found, cutoffs)
    positions = [panel.roles.future_covariates.index(name) for name in issued.columns]
    covariates = own.covariates.copy()
    covariates[..., positions] = np.where(
        (found >= 0)[..., None], np.append(issued.values, issued.values[:1], axis=0)[found], covariates[..., positions]
    )
    which_issues(issued, found, report)
    present = own.present.copy()
    present[..., positions] |= (found >= 0)[..., None]
    return replace(own, present=present, covariates=covariates), issued.stamps


def _identifier(panel: Panel) -> tuple[str, ...]:
    return (panel.roles.item_id,) if panel.roles.item_id is not None and panel.num_series > 1 else ()


def _merged(levels: tuple[str, ...], texts: tuple[str, ...]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """New code of every old one (the last is -1, for unknown), and all categories sorted as text."""
    merged = tuple(sorted({*levels, *texts}))
    codes = pd.Index(merged, dtype=object).get_indexer(pd.Index(levels, dtype=object))
    return np.append(codes, -1).astype(np.int32), merged


def _rows_of(
    panel: Panel, frame: pd.DataFrame, source: str, report: Report, date_format: str | None
) -> tuple[Stamps, Ints]:
    """Stamp and series of every row of the table (num_rows,)."""
    series, time = _series_in(panel, frame), panel.roles.time
    with naming(source):
        stamps, bad = axis_stamps(
            frame[time], panel.zone, report, series=series, item_ids=panel.item_ids, date_format=date_format
        )
    for at in np.flatnonzero(bad)[:1]:
        raise bad_time(frame, time, int(at), source)
    if stamps.dtype.kind != panel.timestamps.dtype.kind:
        raise other_kind_of_time(time, stamps, panel.timestamps, source)
    return stamps, series


def _places_in(panel: Panel, found: Stamps, series: Ints, stamps: Stamps, source: str) -> Ints:
    """Position in the table of each (series, step) wanted (num_series, horizon), -1 where it has none."""
    times = np.unique(stamps)
    at_time = np.minimum(np.searchsorted(times, found), len(times) - 1)
    rows = np.flatnonzero((series >= 0) & (times[at_time] == found))
    keys = series[rows] * len(times) + at_time[rows]
    order = np.argsort(keys, kind="stable")
    rows, keys = rows[order], keys[order]
    asked = np.arange(panel.num_series)[:, None] * len(times) + np.searchsorted(times, stamps)
    repeated = np.flatnonzero((keys[1:] == keys[:-1]) & np.isin(keys[1:], asked)) + 1
    if len(repeated):
        at = int(rows[repeated].min())
        raise twice(panel.item_ids[series[at]], panel.zone.stamp_text(found[at]), at, source)
    places = np.searchsorted(keys, asked)
    is_there = np.append(keys, -1)[places] == asked
    return np.where(is_there, np.append(rows, -1)[places], -1)


def _series_in(panel: Panel, frame: pd.DataFrame) -> Ints:
    """Index into the panel's series of every row of the table, -1 for series it does not have."""
    if panel.roles.item_id is None or panel.roles.item_id not in frame.columns:
        return np.zeros(len(frame), np.int64)
    found, item_ids = ids_as_text(frame[panel.roles.item_id])
    position = pd.Index(panel.item_ids, dtype=object).get_indexer(pd.Index(item_ids, dtype=object))
    return np.append(position, -1)[found]


# --------------------------------------------------------------------------- into the panel


def _with_future(panel: Panel, rows: FutureRows) -> Panel:
    """Known rows of every series, each followed by its future rows."""
    horizon = rows.stamps.shape[1]
    lengths = panel.known + horizon
    # Future rows first point at the last known row, whose content is then replaced.
    source = np.minimum(ranges(panel.starts[:-1], lengths), np.repeat(panel.ends - 1, lengths))
    longer = panel.with_rows(source, lengths, panel.known)
    future = ranges(longer.ends, np.full(panel.num_series, horizon))
    longer.timestamps[future], longer.target[future] = rows.stamps.ravel(), np.nan
    longer.past_covariates[future], longer.past_categories[future] = np.nan, -1
    longer.future_covariates[future] = rows.covariates.reshape(len(future), -1)
    categories = [
        _merged(panel.levels[name], rows.levels[name])[0][longer.future_categories[:, position]]
        for position, name in enumerate(panel.roles.future_categories)
    ]
    if categories:
        longer.future_categories[:] = np.stack(categories, axis=1)
    longer.future_categories[future] = rows.categories.reshape(len(future), -1)
    return replace(longer, levels=rows.levels, repairs=(*panel.repairs, *_masked(panel, rows)))


def _masked(panel: Panel, rows: FutureRows) -> list[Repair]:
    """What is hidden of the steps to forecast: cells that are needed and empty, by series and column."""
    names, empty = _future(panel.roles), missing_cells(panel.roles, rows, masked=False)
    counts = empty.sum(axis=1)
    return [
        Repair(
            "future: masked" if names[at] in panel.roles.future_covariates else "future: unknown category",
            panel.item_ids[series],
            names[at],
            int(counts[series, at]),
            panel.zone.stamp_text(rows.stamps[series, int(np.argmax(empty[series, :, at]))]),
        )
        for series, at in np.argwhere(counts)
    ]
