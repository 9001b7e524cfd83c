"""The table of a run and the rows that continue it: read, compared, joined."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from forecast_attn.backtest.backtest_table import actuals_of, stamps_of_rows
from forecast_attn.data.frequency import Stamps
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
    unseen: tuple[str, ...]
    """Series that training did not see, whose rows are left out."""


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
    new, unseen = _read_new_rows(model, data)
    before = _read_before(model, run, history, new, data)
    may_have_gaps = model.config.data.missing != "error"
    _check_continues(before, new, may_have_gaps=may_have_gaps, is_resampled=model.config.data.resample is not None)
    is_new = new.are_after(before.panel) if before.rows is None else new.are_behind(before.rows)
    old, rows = new.frame[~is_new] if before.rows is None else before.rows.frame, new.frame[is_new]
    with without_flags_of_train():
        panel = actuals_of(model, _joined(old, rows), new.name, weighted=True)
    stamps = _stamps_after(panel, before.panel)
    if not len(stamps):
        end = before.panel.zone.stamp_text(before.panel.timestamps[before.panel.ends - 1].max())
        raise DataError(
            f"'{new.name}' has no row after the end of the run's table, which is {end}",
            "give the rows after that, alone or below those before them",
        )
    return ExtendedTable(
        panel,
        None if before.rows is None else rows if before.added is None else _joined(before.added, rows),
        before.base,
        rows=len(stamps),
        repeated=int((~is_new).sum()),
        first=stamps.min(),
        last=stamps.max(),
        unseen=unseen,
    )


# --------------------------------------------------------------------------- rows


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a table, and the panel that they make."""

    frame: pd.DataFrame
    """As read, but for stamps that can be joined with those of another table."""
    panel: Panel
    """It may have steps that the frame leaves out, and one for several rows of it where they are resampled."""
    name: str
    series: Ints
    """Series of each row of the frame (num_rows,)."""
    stamps: Stamps
    """Of each row of the frame (num_rows,)."""
    steps: Stamps
    """Stamp of the step in which each row of the frame is (num_rows,)."""

    def until_last_target(self) -> _Rows:
        """Leave out the rows after each series' last target, whose covariates the new rows have."""
        is_known = self.steps <= self.panel.timestamps[self.panel.ends - 1][self.series]
        # Those of a step that was left out, because it was not over, go on in the new rows.
        return self._where(is_known | self.frame[self.panel.roles.target].notna().to_numpy())

    def of_series(self, names: frozenset[str]) -> _Rows:
        """Leave out the rows of other series; the panel keeps them."""
        is_named = np.array([name in names for name in self.panel.item_ids])
        return self if is_named.all() else self._where(is_named[self.series])

    def are_after(self, old: Panel) -> Bools:
        """Tell which rows are in a step after the end of their series in another table (num_rows,)."""
        return _are_later(
            self.panel.item_ids, self.series, self.steps, _by_series(old.item_ids, old.timestamps[old.ends - 1])
        )

    def are_behind(self, old: _Rows) -> Bools:
        """Tell which rows are after the last row of their series in another table, if in the same step (num_rows,)."""
        last = pd.Series(old.stamps).groupby(old.series).max()
        ends = {old.panel.item_ids[series]: stamp for series, stamp in zip(last.index, last.to_numpy(), strict=True)}
        return _are_later(self.panel.item_ids, self.series, self.stamps, ends)

    def begin_before(self, old: Panel) -> bool:
        """Tell whether the table has every series of another one, from its first row or earlier."""
        starts = _by_series(self.panel.item_ids, self.panel.timestamps[self.panel.starts[:-1]])
        firsts = zip(old.item_ids, old.timestamps[old.starts[:-1]], strict=True)
        return all(name in starts and bool(starts[name] <= first) for name, first in firsts)

    def _where(self, chosen: Bools) -> _Rows:
        series, stamps, steps = self.series[chosen], self.stamps[chosen], self.steps[chosen]
        return replace(self, frame=self.frame[chosen], series=series, stamps=stamps, steps=steps)


def _are_later(item_ids: tuple[str, ...], series: Ints, stamps: Stamps, ends: dict[str, Any]) -> Bools:
    """Tell which stamps are after the end of their series, where it has one."""
    has_end = np.array([name in ends for name in item_ids])
    last = np.array([ends.get(name, stamps[0]) for name in item_ids], stamps.dtype)
    later: Bools = ~has_end[series] | (stamps > last[series])
    return later


def _stamps_after(panel: Panel, old: Panel) -> Stamps:
    """Return the stamps of a panel's rows with a target after the end of their series in another one."""
    known = np.concatenate([np.arange(*each) for each in zip(panel.starts[:-1], panel.ends, strict=True)])
    stamps: Stamps = panel.timestamps[known]
    ends = _by_series(old.item_ids, old.timestamps[old.ends - 1])
    after: Stamps = stamps[_are_later(panel.item_ids, panel.series_of(known), stamps, ends)]
    return after


def _by_series(item_ids: tuple[str, ...], stamps: Stamps) -> dict[str, Any]:
    return dict(zip(item_ids, stamps, strict=True))


def _rows_of(model: Model, frame: pd.DataFrame, name: str) -> _Rows:
    """Make a panel of a table, and put the stamps of its rows on the panel's axis."""
    panel = actuals_of(model, frame, name, weighted=True)
    series, stamps, steps = stamps_of_rows(frame, panel, model.config.data)
    is_kept = series >= 0  # a series may have no value of the target
    frame, series, stamps, steps = frame[is_kept], series[is_kept], stamps[is_kept], steps[is_kept]
    # The rows of some layouts are numbered as in the file.
    frame = frame.assign(**{panel.roles.time: time_column(panel, stamps).array})
    return _Rows(frame, panel, name, series, stamps, steps)


def _read_new_rows(model: Model, data: pd.DataFrame | Table) -> tuple[_Rows, tuple[str, ...]]:
    """The rows of series that training saw, and the names of the others."""
    frame, name = table_beside(data, model), name_of(data)
    hint = "give the rows after the end of the run's table"
    if frame.empty:
        raise DataError(f"'{name}' has no rows", hint)
    config = model.config
    if config.data.aggregate == "sum":  # the run's table may have the other part of the first step
        config = replace(config, data=replace(config.data, partial_steps="keep"))
    with without_flags_of_train():
        rows = _rows_of(replace(model, config=config), frame, name)
    scaler = model.schema.scaler
    unseen = scaler.unseen(rows.panel.item_ids)
    if len(unseen) == rows.panel.num_series:
        try:
            scaler.for_series(unseen)  # names them
        except DataError as error:
            raise error.reworded(hint="train again to learn from other series: forecast train DATA") from None
    if not rows.panel.num_known.any():
        raise DataError(f"'{name}' has no row with a target", hint)
    return rows.of_series(frozenset(rows.panel.item_ids).difference(unseen)), unseen


def _joined(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Both tables, one after the other, with the columns of the first."""
    return pd.concat([old, new.reindex(columns=old.columns)], ignore_index=True)


# --------------------------------------------------------------------------- the run's table


@dataclass(frozen=True, eq=False)
class _Before:
    """The table of a run."""

    panel: Panel
    """Made of it, or only of its end."""
    rows: _Rows | None
    """None where the table with the new rows has them."""
    base: dict[str, Any]
    """The file it began with, and its digest."""
    added: pd.DataFrame | None = None
    """The rows that earlier updates added to that."""


def _read_before(
    model: Model, run: RunDir, history: pd.DataFrame | Table | None, new: _Rows, data: pd.DataFrame | Table
) -> _Before:
    """Read the table that a run records, or was given, unless the one with the new rows has all of it."""
    try:
        frame, base, added = _table_of(model, run, history)
    except (RunError, DataError):
        end = actuals_of(model, read_tail(run, model.schema), run.tail.name, weighted=False)
        if history is not None or not new.begin_before(end):
            raise
        return _Before(end, None, _recorded(data))
    rows = _rows_of(model, frame, name_of(history) if history is not None else str(base["file"]))
    if history is None and new.begin_before(rows.panel):
        return _Before(rows.panel, None, _recorded(data))
    return _Before(rows.panel, rows.until_last_target(), base, added)


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
    return _joined(_rows_of(model, frame, name_of(base["file"])).until_last_target().frame, added), base, added


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


# --------------------------------------------------------------------------- comparing


def _check_continues(before: _Before, new: _Rows, *, may_have_gaps: bool, is_resampled: bool) -> None:
    """Refuse rows that contradict the run's table, and new ones that are not those right after its end.

    Args:
        before: the run's table.
        new: the rows, with those of the run's table or without them.
        may_have_gaps: some rows may be absent in between, as they may be within a table of this run.
        is_resampled: there may be more rows now in the last step of the run's table.

    Raises:
        DataError: names the series and the stamp.
    """
    old, index_of = before.panel, {name: index for index, name in enumerate(before.panel.item_ids)}
    overlapping = set() if before.rows is None else set(new.series[~new.are_behind(before.rows)].tolist())
    for series, name in enumerate(new.panel.item_ids):
        was = index_of.get(name)
        if was is None or not new.panel.num_known[series]:
            continue
        known = old.timestamps[old.starts[was] : old.ends[was]]
        stamps = new.panel.timestamps[new.panel.starts[series] : new.panel.ends[series]]
        goes_on = is_resampled and series not in overlapping
        repeated = stamps[stamps < known[-1]] if goes_on else stamps[stamps <= known[-1]]
        if before.rows is None:
            repeated = repeated[repeated >= known[0]]  # the table may begin earlier, or its end alone is known
        _check_repeated(before, new, (was, series), repeated)
        first, expected = stamps[stamps > known[-1]][:1], old.frequency.shift(known[-1:], 1)
        if not may_have_gaps and (first != expected).any():
            text = old.zone.stamp_text
            raise DataError(
                f"'{new.name}' begins at {text(first[0])}{_of(new.panel, series)}, but the row after the run's table "
                f"is {text(expected[0])} (time step {old.frequency.alias})",
                f"give every row from {text(expected[0])} on",
            )


def _check_repeated(before: _Before, new: _Rows, series: tuple[int, int], stamps: Stamps) -> None:
    """Refuse a row of the run's table that is another one now.

    Args:
        before: the run's table.
        new: a table with some of its rows.
        series: its index in the one, and in the other.
        stamps: of those rows, ascending.
    """
    if not len(stamps):
        return
    old, (was, now) = before.panel, series
    text, whose = old.zone.stamp_text, _of(new.panel, now)
    known = slice(old.starts[was], old.ends[was])
    rows = slice(new.panel.starts[now], new.panel.ends[now])
    at, there = np.searchsorted(old.timestamps[known], stamps), np.searchsorted(new.panel.timestamps[rows], stamps)
    absent = stamps[old.timestamps[known][at] != stamps]
    if len(absent):
        begin, end = (text(old.timestamps[known][index]) for index in (0, -1))
        raise DataError(
            f"'{new.name}' has a row at {text(absent[0])}{whose}, which the run's table does not have; that begins at "
            f"{begin} and ends at {end}",
            "give the rows after that, or the whole table",
        )
    older, newer = old.target[known][at], new.panel.target[rows][there]
    stays = (older == newer) | (np.isnan(older) & np.isnan(newer))
    if before.rows is None:  # the rows of the new table count: a value that was missing has come since
        stays |= np.isnan(older)
    for index in np.flatnonzero(~stays)[:1]:
        values = ("missing" if np.isnan(each[index]) else f"{each[index]:g}" for each in (newer, older))
        raise DataError(
            f"'{new.name}' contradicts the run's table: at {text(stamps[index])}{whose} '{old.roles.target}' is "
            f"{', and was '.join(values)}",
            "give the rows after the end of the run's table alone; where older ones have changed, train again",
        )


def _of(panel: Panel, series: int) -> str:
    return "" if panel.num_series == 1 else f" of series '{panel.item_ids[series]}'"
