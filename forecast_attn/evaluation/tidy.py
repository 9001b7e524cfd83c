"""Any table of forecasts as one row per model, series, cut-off and stamp, beside the actual values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import parse_numbers
from forecast_attn.data.findings import counted, naming, stop_at_errors
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.panel import Panel
from forecast_attn.data.reading import file_positions, read_beside, table_name
from forecast_attn.data.reading.joined import parts_of, with_joined
from forecast_attn.errors import DataError
from forecast_attn.evaluation.actuals import rows_at, series_of, stamps_of
from forecast_attn.evaluation.forecast_table import (
    ForecastColumns,
    first_step_alone,
    forecast_columns,
    has_samples,
    stamps_of_steps,
    step_columns,
    summed_up,
    unfolded,
)
from forecast_attn.evaluation.metrics import SAMPLE_CRPS
from forecast_attn.evaluation.quantile_scores import sample_crps

Ints = NDArray[np.int64]

_MOST_NOTES = 5
_SUFFIXES = re.compile(r"(\.(csv|tsv|txt|parquet|feather|gz|zst))+$")


@dataclass(frozen=True, eq=False)
class ForecastTable:
    """A table of forecasts as read, and the matching actuals."""

    frame: pd.DataFrame
    source: str
    columns: ForecastColumns
    panel: Panel
    series: Ints
    """Index of each row's series in the actuals (num_rows,)."""
    stamps: Stamps
    """Stamps on the axis of the actuals (num_rows,)."""
    step_windows: dict[str, Any] | None = None
    """Cut-off and step of every row, of a table that had a column per step and none of cut-offs."""
    samples: NDArray[np.float64] | None = None
    """Samples of every row of a table of paths (num_rows, num_samples)."""

    @classmethod
    def read(cls, table: Any, panel: Panel, chosen: tuple[str, ...]) -> ForecastTable:
        """Read a table of forecasts.

        Args:
            table: as for `read_table`.
            panel: the actuals.
            chosen: the columns that are forecasts; found when empty.

        Raises:
            DataError: it cannot be read, or is not of these actuals.
        """
        source, roles = table_name(table), panel.roles
        frame = _read(table, roles.item_id, source)
        samples = None
        if not chosen and has_samples(frame):
            frame, samples = summed_up(frame, source)
        steps = () if chosen else step_columns(map(str, frame.columns))
        columns = forecast_columns(
            first_step_alone(frame, steps) if steps else frame,
            source,
            chosen=chosen,
            time=roles.time,
            item_id=roles.item_id,
            target=roles.target,
        )
        series = series_of(frame, columns.item_id, panel, source)
        stamps = stamps_of(frame, columns.time, series, panel, source)
        if not steps:
            return cls(frame, source, columns, panel, series, stamps, samples=samples)
        stamps, cutoffs, numbers = stamps_of_steps(stamps, len(steps), panel.frequency)
        windows = {"cutoff": cutoffs, "step": numbers} if columns.cutoff is None else None
        frame = unfolded(frame, steps, source)
        return cls(frame, source, columns, panel, np.repeat(series, len(steps)), stamps, windows)

    @property
    def has_cutoffs(self) -> bool:
        """Return whether the table records when each forecast was made."""
        return self.columns.cutoff is not None or self.step_windows is not None

    def tidy(self, block: int | None) -> pd.DataFrame:
        """The rows of all models on the axis of the actuals, with `series` and `row` (-1: not in the actuals).

        Args:
            block: steps of each forecast of a table without cut-offs.

        Raises:
            DataError: two forecasts of the same, one that is older than its stamp, or none of the actuals' stamps.
        """
        rows = rows_at(self.panel, self.series, self.stamps)
        if not (rows >= 0).any():
            raise self._nothing_in_common()
        keys: dict[str, Any] = {
            "series": self.series,
            "item_id": np.array(self.panel.item_ids, dtype=object)[self.series],
            **self._windows(block),
            "timestamp": self.stamps,
            "row": rows,
            "target": np.where(rows >= 0, self.panel.target[np.maximum(rows, 0)], np.nan),
        }
        if self.samples is not None:
            keys[SAMPLE_CRPS] = sample_crps(keys["target"], self.samples)
        parts = [pd.DataFrame({**keys, **self._values(name)}) for name in self.columns.models]
        tidy = pd.concat(parts, ignore_index=True)
        self._refuse_repeats(tidy)
        return tidy

    def notes(self, block: int | None) -> tuple[str, ...]:
        """Remarks about the columns, for the user."""
        notes = []
        if self.samples is not None:
            number = self.samples.shape[1]
            notes.append(f"'{self.source}': the median of {number:,} paths is the forecast, their CRPS is exact")
        if self.columns.left_out:
            notes.append(f"columns that are not forecasts: {', '.join(self.columns.left_out)}")
        if self.step_windows is not None:
            notes.append(f"each row of '{self.source}' is one forecast made right before it, h0 its first step")
            return tuple(notes)
        if self.columns.cutoff is None and block is not None:
            notes.append(f"no column 'cutoff': every {block} steps count as one forecast, made right before them")
        if self.columns.cutoff is None and block is None:
            notes.append("no column 'cutoff', so no seasonal-naive and no tests; --block 24 if each had 24 steps")
        return tuple(notes)

    def _windows(self, block: int | None) -> dict[str, Any]:
        """Cut-off and step of every row; empty where neither the table nor `block` gives them."""
        if self.step_windows is not None:
            return self.step_windows
        if self.columns.cutoff is not None:
            return self._own_windows(self.columns.cutoff)
        return {} if block is None else self._blocks(block)

    def _own_windows(self, column: str) -> dict[str, Any]:
        cutoffs = stamps_of(self.frame, column, self.series, self.panel, self.source)
        steps = self.panel.frequency.steps_between(cutoffs, self.stamps)
        for row in np.flatnonzero(cutoffs >= self.stamps)[:1]:
            stamp, cutoff = (self.panel.zone.stamp_text(each[row]) for each in (self.stamps, cutoffs))
            raise DataError(
                f"'{self.source}' has a forecast of {stamp} whose cut-off, {cutoff}, is not before it",
                "the column cutoff must hold the last known time of each forecast",
            )
        return {"cutoff": cutoffs, "step": np.ceil(steps).astype(np.int64)}

    def _blocks(self, block: int) -> dict[str, Any]:
        """Windows of `block` steps, counted from the first stamp of each series."""
        frequency = self.panel.frequency
        firsts = pd.Series(self.stamps).groupby(self.series).transform("min").to_numpy()
        positions = np.rint(frequency.steps_between(firsts, self.stamps)).astype(np.int64)
        # Each block counts as forecast right before its first stamp, so its cut-off is one step earlier.
        begun = positions // block * block
        cutoffs = firsts.copy()
        for back in np.unique(begun):
            chosen = begun == back
            cutoffs[chosen] = frequency.shift(firsts[chosen], int(back) - 1)
        return {"cutoff": cutoffs, "step": positions - begun + 1}

    def _values(self, name: str) -> dict[str, Any]:
        """Forecasts, quantiles and name of one column's model, or of the models that the column `model` names."""
        model = self.columns.models[name]
        label: Any = name
        if self.columns.model is not None:
            names = self.frame[self.columns.model]
            for index in np.flatnonzero(names.isna())[:1]:
                row = file_positions(self.frame).row(int(index))
                message = f"column '{names.name}' of '{self.source}' is empty in row {row}"
                raise DataError(message, "fill in the model", row=row)
            label = names.astype(str).to_numpy(dtype=object)
        elif name == "prediction":
            label = _SUFFIXES.sub("", self.source)
        quantiles = {f"{quantile:g}": self._numbers(column) for quantile, column in model.quantiles.items()}
        return {"prediction": self._numbers(model.prediction), **quantiles, "model": label}

    def _numbers(self, column: str) -> NDArray[np.float64]:
        with naming(self.source):
            return parse_numbers(self.frame[column], stop_at_errors)

    def _refuse_repeats(self, tidy: pd.DataFrame) -> None:
        keys = [name for name in ("model", "series", "cutoff", "timestamp") if name in tidy]
        for row in np.flatnonzero(tidy.duplicated(keys))[:1]:
            texts = {name: self.panel.zone.stamp_text(tidy[name].to_numpy()[row]) for name in keys[2:]}
            made = f" made at {texts['cutoff']}" if "cutoff" in texts else ""
            raise DataError(
                f"'{self.source}' has two forecasts of {texts['timestamp']}{made}, "
                f"series '{tidy['item_id'].iloc[row]}', model '{tidy['model'].iloc[row]}'",
                "remove the repeats" if made else "add a column cutoff with the last known time of each",
            )

    def _nothing_in_common(self) -> DataError:
        of_actuals, of_table = (
            " to ".join(self.panel.zone.stamp_text(end) for end in (stamps.min(), stamps.max()))
            for stamps in (self.panel.timestamps, self.stamps)
        )
        return DataError(
            f"the actuals have none of the time stamps of '{self.source}': they cover {of_actuals}, "
            f"the table {of_table}",
            "both tables need the same step, dates and clock",
        )


def joined(tables: Sequence[ForecastTable], block: int | None) -> pd.DataFrame:
    """Join the rows of several tables; see `ForecastTable.tidy`.

    Raises:
        DataError: two tables have a model of the same name, or only some say when their forecasts were made.
    """
    parts = [table.tidy(block) for table in tables]
    source_of: dict[str, str] = {}
    for table, part in zip(tables, parts, strict=True):
        if ("cutoff" in part) != ("cutoff" in parts[0]):
            silent = next(each.source for each in tables if not each.has_cutoffs)
            raise DataError(f"'{silent}' has no column cutoff; other tables have one", "--block 24")
        for name in map(str, pd.unique(part["model"])):
            if name in source_of:
                raise DataError(
                    f"'{source_of[name]}' and '{table.source}' both have a model '{name}'",
                    "add a column 'model' to each, or rename a file",
                )
            source_of[name] = table.source
    return pd.concat(parts, ignore_index=True)


def without_copies(tidy: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Drop models that equal the actuals, which people publish beside forecasts; also return notes."""
    same = (tidy["prediction"] == tidy["target"]) | tidy["target"].isna()
    has_target = tidy["target"].notna().groupby(tidy["model"]).any()
    copies = [name for name, equal in same.groupby(tidy["model"], sort=False) if equal.all() and has_target[name]]
    if not copies or len(copies) == tidy["model"].nunique():
        return tidy, []
    notes = [
        f"'{name}' equals the actual values, to the last digit, and is left out; --model-columns selects columns"
        for name in copies
    ]
    return tidy[~tidy["model"].isin(copies)].reset_index(drop=True), notes


def absent_stamps(tidy: pd.DataFrame, panel: Panel) -> tuple[str, ...]:
    """Stamps of the forecasts that the actuals lack: a note per series, with the first."""
    absent = tidy[tidy["row"] < 0].drop_duplicates(["series", "timestamp"])
    notes = []
    for item_id, stamps in absent.groupby("item_id", sort=True)["timestamp"]:
        first = panel.zone.stamp_text(stamps.to_numpy().min())
        notes.append(
            f"the actuals of series '{item_id}' lack {counted(len(stamps), 'time stamp')} of the forecasts, "
            f"the first {first}"
        )
    more = len(notes) - _MOST_NOTES
    return (*notes[:_MOST_NOTES], *((f"and those of {more:,} more series",) if more > 0 else ()))


def _read(table: Any, item_id: str | None, source: str) -> pd.DataFrame:
    """A table of forecasts; where columns of the actuals are joined to an identifier, it may have them, or their names.

    Raises:
        DataError: it cannot be read.
    """
    if item_id is None or "," not in item_id:
        return read_beside(table, DataConfig(), item_id=item_id)
    frame = read_beside(table, DataConfig())
    has_parts = {*parts_of(item_id, frame)} <= {*map(str, frame.columns)}
    return with_joined(frame, DataConfig(item_id=item_id), source) if has_parts else frame
