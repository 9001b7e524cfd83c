"""The table of a run and the rows that continue it: read, compared, joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from forecast_attn.backtest.backtest_table import actuals_of
from forecast_attn.data.findings import stop_at_errors
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.localise import axis_stamps
from forecast_attn.data.panel import Panel, time_column
from forecast_attn.data.reading import digest_of
from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.forecasting.history import table_beside, without_flags_of_train
from forecast_attn.forecasting.model import Model
from forecast_attn.forecasting.tail import read_tail
from forecast_attn.runs.run_dir import DAMAGED_HINT, RunDir
from forecast_attn.runs.training_table import Table, check_recorded_files, name_of

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_NAME_IT = "name the run's table with --history FILE, or give all its rows and the new ones with --data"


@dataclass(frozen=True, eq=False)
class ExtendedTable:
    """The table of a run with new rows behind it."""

    panel: Panel
    added: pd.DataFrame | None
    """All rows behind the table of the first training, those of earlier updates too; None where `base` has them."""
    base: dict[str, Any]
    """File and digest of that table."""
    rows: int
    """New rows with a target."""
    repeated: int
    """Rows given beside them that the run's table has already."""
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
        data: the new rows. Rows of the run's table may stand before them, and must be as they were.
        history: the table up to there; when None the file that the run records, with the rows of earlier updates. Where
            that is not as it was, the rows of `data` up to the end of the run's, if they are there.

    Raises:
        ConfigError: the run has a table of forecasts.
        RunError: the run has no file of its table, or that is another one now, and `data` does not hold its rows.
        DataError: what is wrong with the new rows: one contradicts the table, some are missing in between, a column is
            missing, the time step is another one, or there are none.
    """
    if run.read_json(run.config)["data"].get("vintages_sha256") is not None or model.config.data.vintages is not None:
        raise ConfigError("a run with --vintages cannot be updated", "train again: forecast train DATA --vintages FILE")
    new = _read_new_rows(model, data)
    before = _read_before(model, run, history, new, data)
    new.check_continues(before, may_have_gaps=model.config.data.missing != "error")
    is_new = new.is_after(before.panel)
    rows = new.frame[is_new]
    with without_flags_of_train():
        panel = actuals_of(model, _joined(before.frame, rows), new.name, weighted=True)
    added = rows if before.added is None else _joined(before.added, rows)
    stamps = new.stamps_with_target_after(before.panel)
    return ExtendedTable(
        panel,
        None if before.is_in_new_rows else added,
        before.base,
        rows=len(stamps),
        repeated=int((~is_new).sum()),
        first=stamps.min(),
        last=stamps.max(),
    )


# --------------------------------------------------------------------------- the run's table


@dataclass(frozen=True, eq=False)
class _Before:
    """The table of a run."""

    panel: Panel
    frame: pd.DataFrame
    """Its rows up to the last target of each series."""
    base: dict[str, Any]
    """The file it began with, and its digest."""
    added: pd.DataFrame | None = None
    """The rows that earlier updates added to that."""
    is_in_new_rows: bool = False
    """The frame was given with the new rows, and the panel is only its end, which the run keeps."""


def _read_before(
    model: Model,
    run: RunDir,
    history: pd.DataFrame | Table | None,
    new: _NewRows,
    data: pd.DataFrame | Table,
) -> _Before:
    try:
        frame, base, added = _table_of(model, run, history)
    except (RunError, DataError):
        end = actuals_of(model, read_tail(run, model.schema), run.tail.name, weighted=False)
        if history is not None or not new.begins_before(end):
            raise
        return _Before(end, new.frame[~new.is_after(end)], _recorded(data), is_in_new_rows=True)
    source = name_of(history) if history is not None else str(base["file"])
    panel = actuals_of(model, frame, source, weighted=True)
    return _Before(panel, _with_stamps(frame, panel, known_only=True), base, added)


def _recorded(table: pd.DataFrame | Table) -> dict[str, Any]:
    """Name and digest of a table, as a run records them."""
    if isinstance(table, str | Path) and str(table) != "-":
        return {"file": str(table), "sha256": digest_of(table)}
    return {"file": name_of(table), "sha256": None}


def _table_of(
    model: Model, run: RunDir, history: pd.DataFrame | Table | None
) -> tuple[pd.DataFrame, dict[str, Any], pd.DataFrame | None]:
    """The table of a run, the file it began with, and the rows that earlier updates added to that."""
    base = base_of(run)
    if history is not None:
        return table_beside(history, model), _recorded(history), None
    if base["sha256"] is None:
        raise RunError(f"'{run.path}' was not trained on a file, so its table is not known", _NAME_IT)
    added = _added(run)
    try:
        check_recorded_files(str(run.path), base, model.config, data=None, vintages=None)
        frame = table_beside(base["file"], model)
    except (RunError, DataError) as error:
        raise error.reworded(hint=_NAME_IT) from None
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


# --------------------------------------------------------------------------- the new rows


def _read_new_rows(model: Model, data: pd.DataFrame | Table) -> _NewRows:
    frame, name = table_beside(data, model), name_of(data)
    hint = "give the rows after the end of the run's table"
    if frame.empty:
        raise DataError(f"'{name}' has no rows", hint)
    with without_flags_of_train():
        panel = actuals_of(model, frame, name, weighted=True)
    model.schema.scaler.for_series(panel.item_ids)  # names those that training did not see
    if not panel.num_known.any():
        raise DataError(f"'{name}' has no row with a target", hint)
    series, stamps = _stamps_of(frame, panel)
    return _NewRows(frame.assign(**{panel.roles.time: time_column(panel, stamps).array}), panel, name, series, stamps)


@dataclass(frozen=True, eq=False)
class _NewRows:
    """A table with new rows, and perhaps rows of the run's table before them."""

    frame: pd.DataFrame
    """As read, but for stamps that join those of the run's table."""
    panel: Panel
    """Made of the frame; it may have rows more, for steps that the frame leaves out."""
    name: str
    series: Ints
    """Series of each row of the frame (num_rows,)."""
    stamps: Stamps
    """Of each row of the frame (num_rows,)."""

    def is_after(self, old: Panel) -> Bools:
        """Tell which rows of the frame are after the end of their series in the run's table (num_rows,)."""
        return self._is_after(old, self.series, self.stamps)

    def stamps_with_target_after(self, old: Panel) -> Stamps:
        """Return the stamps of the panel's rows with a target after the end of the run's table."""
        known = np.concatenate([np.arange(*each) for each in zip(self.panel.starts[:-1], self.panel.ends, strict=True)])
        stamps: Stamps = self.panel.timestamps[known]
        after: Stamps = stamps[self._is_after(old, self.panel.series_of(known), stamps)]
        return after

    def _is_after(self, old: Panel, series: Ints, stamps: Stamps) -> Bools:
        ends, has_end = np.zeros(self.panel.num_series, stamps.dtype), np.zeros(self.panel.num_series, np.bool_)
        for index, old_index in self._shared(old):
            ends[index], has_end[index] = old.timestamps[old.ends[old_index] - 1], True
        after: Bools = ~has_end[series] | (stamps > ends[series])
        return after

    def begins_before(self, end: Panel) -> bool:
        """Tell whether the table has every series of the end of a run's table, from its first row or earlier."""
        shared = list(self._shared(end))
        firsts = (
            (self.panel.timestamps[self.panel.starts[index]], end.timestamps[end.starts[old_index]])
            for index, old_index in shared
        )
        return len(shared) == end.num_series and all(bool(here <= there) for here, there in firsts)

    def check_continues(self, before: _Before, *, may_have_gaps: bool) -> None:
        """Refuse rows that contradict the run's table, and new ones that are not those right after its end.

        Args:
            before: the run's table.
            may_have_gaps: some rows may be absent in between, as they may be within a table of this run.

        Raises:
            DataError: names the series and the stamp.
        """
        old, text = before.panel, before.panel.zone.stamp_text
        for index, old_index in self._shared(old):
            known = slice(self.panel.starts[index], self.panel.ends[index])
            end = old.timestamps[old.ends[old_index] - 1]
            is_new = self.panel.timestamps[known] > end
            self._check_repeated(old, index, old_index, int((~is_new).sum()), from_start=not before.is_in_new_rows)
            if may_have_gaps or not is_new.any():
                continue  # the joined table is read as a whole, and refuses stamps off its steps
            first, expected = self.panel.timestamps[known][is_new][0], old.frequency.shift(np.array([end]), 1)[0]
            if first != expected:
                raise DataError(
                    f"'{self.name}' begins at {text(first)}{self._of(index)}, but the row after the run's table is "
                    f"{text(expected)} (time step {old.frequency.alias})",
                    f"give every row from {text(expected)} on",
                )
        if not len(self.stamps_with_target_after(old)):
            end = text(old.timestamps[old.ends - 1].max())
            raise DataError(
                f"'{self.name}' has no row after the end of the run's table, which is {end}",
                "give the rows after that, alone or below those before them",
            )

    def _check_repeated(self, old: Panel, index: int, old_index: int, number: int, *, from_start: bool) -> None:
        """Compare the first `number` rows of a series with the run's table, which may be only its end."""
        rows = np.arange(number) + self.panel.starts[index]
        there = slice(old.starts[old_index], old.ends[old_index])
        known, stamps = old.timestamps[there], self.panel.timestamps[rows]
        if not from_start:
            rows, stamps = rows[stamps >= known[0]], stamps[stamps >= known[0]]
        at = np.searchsorted(known, stamps)
        text, whose = old.zone.stamp_text, self._of(index)
        if (absent := known[at] != stamps).any():
            raise DataError(
                f"'{self.name}' has a row at {text(stamps[absent][0])}{whose}, which the run's table does not have; "
                f"that begins at {text(known[0])} and ends at {text(known[-1])}",
                "give the rows after that; where older ones have changed, train again",
            )
        was, now = old.target[there][at], self.panel.target[rows]
        changed = ~((was == now) | (np.isnan(was) & np.isnan(now)))
        if changed.any():
            raise DataError(
                f"'{self.name}' contradicts the run's table: at {text(stamps[changed][0])}{whose} "
                f"'{old.roles.target}' is {_shown(now[changed][0])}, and was {_shown(was[changed][0])}",
                "give the rows after the end of the run's table alone; where older ones have changed, train again",
            )

    def _shared(self, old: Panel) -> Iterator[tuple[int, int]]:
        """Series with a target in both tables: index here, and there."""
        index_of = {name: index for index, name in enumerate(old.item_ids)}
        for index, name in enumerate(self.panel.item_ids):
            old_index = index_of.get(name)
            if old_index is not None and self.panel.num_known[index] and old.num_known[old_index]:
                yield index, old_index

    def _of(self, series: int) -> str:
        return "" if self.panel.num_series == 1 else f" of series '{self.panel.item_ids[series]}'"


def _shown(value: float) -> str:
    return "missing" if np.isnan(value) else f"{value:g}"


# --------------------------------------------------------------------------- stamps


def _with_stamps(frame: pd.DataFrame, panel: Panel, *, known_only: bool = False) -> pd.DataFrame:
    """A table with its stamps as the panel has them, so that tables written in several ways can be joined.

    Args:
        frame: as read.
        panel: made of it.
        known_only: leave out the rows after each series' last target, whose covariates the new rows have.
    """
    series, stamps = _stamps_of(frame, panel)
    rows = frame.assign(**{panel.roles.time: time_column(panel, stamps).array})
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
