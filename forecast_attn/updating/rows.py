"""The table of a run and the rows that continue it: read, compared, joined."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from forecast_attn.backtest.backtest_table import actuals_of
from forecast_attn.data.findings import counted, stop_at_errors
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.localise import axis_stamps
from forecast_attn.data.panel import Panel, time_column
from forecast_attn.data.reading import digest_of
from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.forecasting.history import table_beside, without_flags_of_train
from forecast_attn.forecasting.model import Model
from forecast_attn.runs.run_dir import DAMAGED_HINT, RunDir
from forecast_attn.runs.training_table import Table, check_recorded_files, name_of

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ExtendedTable:
    """The table of a run with new rows behind it."""

    panel: Panel
    added: pd.DataFrame
    """All rows behind the table of the first training, those of earlier updates too."""
    base: dict[str, Any]
    """File and digest of that table."""
    rows: int
    """New rows with a target."""
    first: Any
    """First new stamp with a target."""
    last: Any
    """Last one."""


def read_extended(
    model: Model, run: RunDir, data: pd.DataFrame | Table, history: pd.DataFrame | Table | None
) -> ExtendedTable:
    """Read the table of a run and the rows that continue it.

    Args:
        model: of the run.
        run: finished.
        data: the new rows, and no others.
        history: the table up to there; when None the file that the run records, with the rows of earlier updates.

    Raises:
        ConfigError: the run has a table of forecasts.
        RunError: the run has no file of its table, or that is another one now.
        DataError: what is wrong with the new rows: one overlaps or contradicts the table, some are missing in between,
            a column is missing, the time step is another one, or there are none.
    """
    if run.read_json(run.config)["data"].get("vintages_sha256") is not None or model.config.data.vintages is not None:
        raise ConfigError("a run with --vintages cannot be updated", "train again: forecast train DATA --vintages FILE")
    old_frame, base, old_added = _table_of(model, run, history)
    new_frame = table_beside(data, model)
    name = name_of(data)
    if new_frame.empty:
        raise DataError(f"'{name}' has no rows", "give the rows after the end of the run's table")
    old = actuals_of(model, old_frame, name_of(history) if history is not None else str(base["file"]), weighted=True)
    with without_flags_of_train():
        new = actuals_of(model, new_frame, name, weighted=True)
    model.schema.scaler.for_series(new.item_ids)  # names those that training did not see
    _check_continues(old, new, name, _stamps_of(new_frame, new), may_have_gaps=model.config.data.missing != "error")
    old_rows, new_rows = _with_stamps(old_frame, old, known_only=True), _with_stamps(new_frame, new)
    with without_flags_of_train():
        panel = actuals_of(model, _joined(old_rows, new_rows), name, weighted=True)
    has_target = np.concatenate([new.timestamps[a:b] for a, b in zip(new.starts[:-1], new.ends, strict=True)])
    added = new_rows if old_added is None else _joined(_with_stamps(old_added, old, known_only=True), new_rows)
    return ExtendedTable(panel, added, base, len(has_target), has_target.min(), has_target.max())


# --------------------------------------------------------------------------- reading


def _table_of(
    model: Model, run: RunDir, history: pd.DataFrame | Table | None
) -> tuple[pd.DataFrame, dict[str, Any], pd.DataFrame | None]:
    """The table of a run, the file it began with, and the rows that earlier updates added to that."""
    base = base_of(run)
    if history is not None:
        about: dict[str, Any] = {"file": name_of(history), "sha256": None}
        if isinstance(history, str | Path) and str(history) != "-":
            about = {"file": str(history), "sha256": digest_of(history)}
        return table_beside(history, model), about, None
    if base["sha256"] is None:
        raise RunError(
            f"'{run.path}' was not trained on a file, so its table is not known", "name the table with --history FILE"
        )
    added = _added(run)
    try:
        check_recorded_files(str(run.path), base, model.config, data=None, vintages=None)
        frame = table_beside(base["file"], model)
    except (RunError, DataError) as error:
        raise error.reworded(hint="name the run's table with --history FILE") from None
    if added is None:
        return frame, base, None
    panel = actuals_of(model, frame, name_of(base["file"]), weighted=True)
    return _joined(_with_stamps(frame, panel, known_only=True), added), base, added


def _added(run: RunDir) -> pd.DataFrame | None:
    """The rows of earlier updates; None where there was none.

    Raises:
        RunError: they are damaged.
    """
    if not run.added.is_file():
        return None
    try:
        frame: pd.DataFrame = pq.ParquetFile(run.unaltered(run.added)).read().to_pandas()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise RunError(f"cannot read '{run.added}': {str(error).splitlines()[0]}", DAMAGED_HINT) from None
    return frame


def base_of(run: RunDir) -> dict[str, Any]:
    """File and digest of the table that a run, or the run it was updated from, was trained on."""
    update = run.read_json(run.metrics).get("update")
    return dict(update["table"] if update is not None else run.read_json(run.config)["data"])


def _with_stamps(frame: pd.DataFrame, panel: Panel, *, known_only: bool = False) -> pd.DataFrame:
    """A table with its stamps as the panel has them, so that tables written in several ways can be joined.

    Args:
        frame: as read.
        panel: made of it.
        known_only: leave out the rows after each series' last target, whose covariates the new rows have.
    """
    series, stamps = _stamps_of(frame, panel)
    rows = frame.assign(**{panel.roles.time: time_column(panel, stamps)})
    if not known_only:
        return rows
    last = panel.timestamps[panel.ends - 1]
    return rows[stamps <= last[series]]


def _stamps_of(frame: pd.DataFrame, panel: Panel) -> tuple[Ints, Stamps]:
    """Series and stamp of each row of the table that a panel was made of (num_rows,)."""
    roles = panel.roles
    series = np.zeros(len(frame), np.int64)
    if roles.item_id is not None:
        index_of = {name: index for index, name in enumerate(panel.item_ids)}
        series = np.array([index_of[str(name)] for name in frame[roles.item_id]], np.int64)
    stamps, _ = axis_stamps(
        frame[roles.time],
        panel.zone,
        stop_at_errors,
        series=series,
        item_ids=panel.item_ids,
        date_format=panel.date_order,
    )
    return series, stamps


def _joined(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Both tables, one after the other, with the columns of the first."""
    return pd.concat([old, new.reindex(columns=old.columns)], ignore_index=True)


# --------------------------------------------------------------------------- comparing


def _check_continues(old: Panel, new: Panel, name: str, in_file: tuple[Ints, Stamps], *, may_have_gaps: bool) -> None:
    """Refuse rows that are not those right after the end of each series.

    Args:
        old: the run's table.
        new: the rows.
        name: of their table, for messages.
        in_file: series and stamp of each row of that table, where `new` may have rows more.
        may_have_gaps: some rows may be absent in between, as they may be within a table of this run.

    Raises:
        DataError: names the series and the stamp.
    """
    index_of = {item_id: index for index, item_id in enumerate(old.item_ids)}
    if not new.num_known.any():
        raise DataError(f"'{name}' has no row with a target", "give the rows after the end of the run's table")
    for index, item_id in enumerate(new.item_ids):
        if item_id not in index_of or not new.num_known[index]:
            continue
        was, rows = index_of[item_id], slice(int(new.starts[index]), int(new.ends[index]))
        end = old.timestamps[old.ends[was] - 1]
        behind = new.timestamps[rows] > end
        if not behind.all():
            number = int(((in_file[0] == index) & (in_file[1] <= end)).sum())
            _refuse_overlap(old, new, was, np.arange(rows.start, rows.stop)[~behind], name, number)
        if may_have_gaps:
            continue  # the joined table is read as a whole, and refuses stamps off its steps
        expected = old.frequency.shift(np.array([end]), 1)[0]
        if new.timestamps[rows.start] != expected:
            text = old.zone.stamp_text
            raise DataError(
                f"'{name}' begins at {text(new.timestamps[rows.start])}{_of(old, item_id)}, but the row after the "
                f"run's table is {text(expected)} (time step {old.frequency.alias})",
                f"give every row from {text(expected)} on",
            )


def _refuse_overlap(old: Panel, new: Panel, series: int, rows: Ints, name: str, number: int) -> None:
    text, whose = old.zone.stamp_text, _of(old, old.item_ids[series])
    end = text(old.timestamps[old.ends[series] - 1])
    stamps = old.timestamps[old.starts[series] : old.ends[series]]
    for row in rows:
        index = int(np.searchsorted(stamps, new.timestamps[row]))
        stamp = text(new.timestamps[row])
        if stamps[min(index, len(stamps) - 1)] != new.timestamps[row]:
            raise DataError(
                f"'{name}' has a row at {stamp}{whose}, which the run's table does not have; that ends at {end}",
                "give the rows after that; where older ones have changed, train again",
            )
        was, now = old.target[old.starts[series] + index], new.target[row]
        if not np.array_equal(was, now, equal_nan=True):
            raise DataError(
                f"'{name}' contradicts the run's table: at {stamp}{whose} '{old.roles.target}' is {now:g}, and was "
                f"{was:g}",
                "give the rows after the end of the run's table; where older ones have changed, train again",
            )
    raise DataError(
        f"{counted(number, 'row')} of '{name}'{whose} {'is' if number == 1 else 'are'} in the run's table "
        f"already, which ends at {end}",
        "give the rows after that, and no others; forecast predict --data takes the whole table",
    )


def _of(panel: Panel, item_id: str) -> str:
    return "" if panel.num_series == 1 else f" of series '{item_id}'"
