"""Adds the rows to be forecast to a panel: from a file of future covariates, or from the calendar alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.closures import opened_by
from forecast_attn.data.findings import (
    Finding,
    Report,
    counted,
    listed,
    quoted,
    stop_at_errors,
    with_line_numbers,
)
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.future_rows import FutureRows, future_in_panel, merged_categories, missing_cells
from forecast_attn.data.future_table import (
    count_used,
    named_as_in_history,
    refuse_other_series,
    refuse_unused,
    values_of_table,
)
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.reading import shared_by_all
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError

Ints = NDArray[np.int64]


def extend(panel: Panel, horizon: int, report: Report = stop_at_errors, *, masked: bool = False) -> Panel:
    """The panel with exactly `horizon` future rows per series, taken from its own trailing rows where there are any.

    Args:
        panel: the history.
        horizon: steps to forecast.
        report: called with the cells that are empty.
        masked: a series may have a few empty cells, which are missing values; without it they are errors.

    Raises:
        DataError: it has future covariates, and not all of them are known for the horizon.
    """
    rows = future_in_panel(panel, horizon)
    _refuse_missing(panel, rows, missing_cells(panel.roles, rows, masked), None)
    _warn_of_empty_cells(panel, rows, "the data", report)
    return _with_future(panel, rows)


def extend_by_guess(panel: Panel, horizon: int, *, high: bool) -> Panel:
    """The panel with exactly `horizon` future rows per series, whatever is not known of them filled in by a guess.

    A forecast is the same with a high guess and a low one where it does not depend on what is not known.

    Args:
        panel: the history.
        horizon: number of rows.
        high: numbers above all of their column, and its most frequent category; else below all, and no category.
    """
    rows = future_in_panel(panel, horizon)
    codes = panel.future_categories
    if high:
        numbers = np.fmax.reduce(panel.future_covariates, axis=0) + 1
        guessed = [int(np.bincount(column[column >= 0], minlength=1).argmax()) for column in codes.T]
    else:
        numbers = np.fmin.reduce(panel.future_covariates, axis=0) - 1
        guessed = [-1] * codes.shape[1]
    covariates = np.where(np.isnan(rows.covariates), numbers, rows.covariates)
    category_codes = np.where(rows.category_codes < 0, np.array(guessed, np.int32), rows.category_codes)
    return _with_future(panel, replace(rows, covariates=covariates, category_codes=category_codes))


@with_line_numbers
def join_future(
    panel: Panel,
    future_frame: pd.DataFrame,
    horizon: int,
    source: str,
    report: Report = stop_at_errors,
    *,
    masked: bool = False,
    options: DataConfig = DataConfig(),  # noqa: B008  # frozen
) -> Panel:
    """The panel with exactly `horizon` future rows per series, with future covariates from another table.

    A target column is left out of account, and so are rows before or after the steps to forecast and those of other
    series, which findings count. A series of which the table has rows but none of these steps is refused. Where both
    know a value, the table's counts.
    Of a table with a column issued_at counts the newest forecast that was issued by the last known target of the
    series; a note says which one that was.

    Args:
        panel: the history.
        future_frame: columns of time stamps, future covariates and, for several series, the identifier.
        horizon: steps to forecast.
        source: the table's name, for messages.
        report: called with what is worth knowing about the table.
        masked: a series may have a few empty cells, which are missing values; without it they are errors.
        options: of the history: how its stamps are written, and how rows of one step become one.

    Raises:
        DataError: a column, a row or a value is missing, no row of a series is used, every forecast was issued too
            late, or nothing is known in advance.
    """
    if not panel.roles.future and panel.frequency.sessions is None:  # the days of an exchange are read from any table
        message = f"'{source}' would not be used: the run has no covariates that are known in advance"
        raise DataError(message, "leave --future out, or train with --future COLUMNS")
    in_panel = future_in_panel(panel, horizon)
    future_frame = named_as_in_history(panel, future_frame, source, report, needs_names=not options.wide)
    if options.wide:
        future_frame = shared_by_all(future_frame, panel.item_ids)
    rows, used = values_of_table(panel, in_panel, future_frame, source, report, options)
    opened = opened_by(panel.frequency, used.table_stamps)
    if opened.alias != panel.frequency.alias:  # the table knows best on which days an exchange will be open
        panel = replace(panel, frequency=opened)
        in_panel = future_in_panel(panel, horizon)
        rows, used = values_of_table(panel, in_panel, future_frame, source, report, options)
    if panel.roles.future:
        refuse_other_series(panel, used, source)
    _refuse_missing(panel, rows, missing_cells(panel.roles, rows, masked), source, used.table_stamps)
    _warn_of_empty_cells(panel, rows, f"'{source}'", report)
    if panel.roles.future:
        refuse_unused(panel, rows.stamps, used, source)
        count_used(panel, rows.stamps, used, source, report)
    return _with_future(panel, rows)


def _with_future(panel: Panel, rows: FutureRows) -> Panel:
    """Known rows of every series, each followed by its future rows."""
    horizon = rows.stamps.shape[1]
    lengths = panel.num_known + horizon
    # Future rows first point at the last known row, whose content is then replaced.
    source = np.minimum(ranges(panel.starts[:-1], lengths), np.repeat(panel.ends - 1, lengths))
    longer = panel.with_rows(source, lengths, panel.num_known)
    future = ranges(longer.ends, np.full(panel.num_series, horizon))
    longer.timestamps[future], longer.target[future] = rows.stamps.ravel(), np.nan
    longer.past_covariates[future], longer.past_categories[future] = np.nan, -1
    longer.future_covariates[future] = rows.covariates.reshape(len(future), -1)
    codes = [
        merged_categories(panel.categories[name], rows.categories[name])[0][longer.future_categories[:, position]]
        for position, name in enumerate(panel.roles.future_categories)
    ]
    if codes:
        longer.future_categories[:] = np.stack(codes, axis=1)
    longer.future_categories[future] = rows.category_codes.reshape(len(future), -1)
    return replace(longer, categories=rows.categories)


def _warn_of_empty_cells(panel: Panel, rows: FutureRows, where: str, report: Report) -> None:
    """Report the needed cells that are empty and therefore hidden, by column."""
    empty = missing_cells(panel.roles, rows, masked=False)
    for index in np.flatnonzero(empty.any(axis=(0, 1))):
        series, step = np.argwhere(empty[..., index])[0]
        name, item_id = panel.roles.future[index], panel.item_ids[series]
        count, num_steps = int(empty[..., index].sum()), counted(empty[..., index].size, "step")
        first = panel.zone.stamp_text(rows.stamps[series, step])
        message = f"{where} has no '{name}' for {count:,} of the {num_steps} to forecast, first {first} of '{item_id}'"
        report(Finding("FA512", "warning", f"{message}: forecast without it", item_id=item_id, column=name))


_SHOWN = 5
"""Missing stamps that are named one by one."""


def _refuse_missing(
    panel: Panel, rows: FutureRows, missing: NDArray[np.bool_], source: str | None, table_stamps: Stamps | None = None
) -> None:
    """Refuse to forecast without what has to be known.

    Args:
        panel: the history.
        rows: the steps to forecast.
        missing: cells (num_series, horizon, num_columns) that are needed and not known.
        source: name of the table of future covariates; None without one.
        table_stamps: the stamps of that table (num_rows,).

    Raises:
        DataError: names the missing stamps.
    """
    lacking = np.flatnonzero(missing.any(axis=(1, 2)))
    if not len(lacking):
        return
    index, columns, stamps = int(lacking[0]), panel.roles.future, rows.stamps
    names = tuple(name for name, is_missing in zip(columns, missing[index].any(axis=0), strict=True) if is_missing)
    steps = np.flatnonzero(missing[index].any(axis=1))
    where = "the data" if source is None else f"'{source}'"
    extent = "" if table_stamps is None else _extent(table_stamps, panel.zone)
    message = (
        f"{where} has no {quoted(names)} for {len(steps)} of the {counted(stamps.shape[1], 'step')} to forecast of "
        f"series '{panel.item_ids[index]}': {_listed(stamps[index, steps], panel.zone)}"
        f"{_others(missing, lacking[1:])}{extent}"
    )
    if source is not None and not (missing & ~rows.present).any():
        hint = f"fill in the empty cells of {quoted(names)}{_examples(panel, names)}"
        raise DataError(message, hint, code="FA513", item_id=panel.item_ids[index], column=names[0], file=source)
    span = f"{panel.zone.stamp_text(stamps[index, 0])} … {panel.zone.stamp_text(stamps[index, -1])}"
    hint = f"--future FILE with columns {quoted(columns)} for {span}; forecast future-template writes it, to be filled"
    raise DataError(message, hint, code="FA513", item_id=panel.item_ids[index], column=names[0], file=source)


def _examples(panel: Panel, names: tuple[str, ...]) -> str:
    """`, with one of 'no', 'yes'` for a single categorical column."""
    categories = panel.categories.get(names[0], ()) if len(names) == 1 else ()
    return f", with one of {listed(categories)}" if categories else ""


def _listed(stamps: Stamps, zone: Zone) -> str:
    """The first few stamps, and the last one."""
    texts = [zone.stamp_text(stamp) for stamp in stamps]
    return ", ".join(texts if len(texts) <= _SHOWN + 1 else [*texts[:_SHOWN], "…", texts[-1]])


def _others(missing: NDArray[np.bool_], lacking: NDArray[np.int64]) -> str:
    """`; and for 24 to 96 steps of 12 more series`."""
    if not len(lacking):
        return ""
    counts = missing[lacking].any(axis=2).sum(axis=1)
    least, most = int(counts.min()), int(counts.max())
    steps = counted(most, "step") if least == most else f"{least} to {counted(most, 'step')}"
    return f"; and for {steps} of {len(lacking):,} more series"


def _extent(table_stamps: Stamps, zone: Zone) -> str:
    """Number of rows and time span of the table, for a message."""
    times = table_stamps if table_stamps.dtype.kind != "M" else table_stamps[~np.isnat(table_stamps)]
    span = f", from {zone.stamp_text(times.min())} to {zone.stamp_text(times.max())}" if len(times) else ""
    return f"; it has {counted(len(table_stamps), 'row')}{span}"
