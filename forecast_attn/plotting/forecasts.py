"""Tables of forecasts, as `forecast predict` and `forecast backtest` write them, with stamps of one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.attention_file.times import parse_time
from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import ids_as_text
from forecast_attn.data.findings import counted, quoted
from forecast_attn.data.number_stamps import ParsedStamps
from forecast_attn.data.reading import read_beside
from forecast_attn.data.timestamps import offset_name, read_stamps
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError, did_you_mean
from forecast_attn.evaluation.quantile_scores import quantile_columns

REQUIRED = ("item_id", "cutoff", "timestamp", "step", "prediction")
WRITTEN_BY = "a table of `forecast predict` or `forecast backtest`: item_id, cutoff, timestamp, step, prediction, …"
ONLY_MODEL = "forecast"
"""Name of the model in a table without a column `model`."""


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Forecasts of one or several models.

    Attributes:
        frame: item_id and model (text), cutoff and timestamp (of the axis: UTC where `zone` says so), step, prediction,
            target (NaN where not known), and a float column per quantile, NaN where a model has none.
        zone: how the stamps are shown.
        name: where they come from, for messages.
        target: the target's name, where it is known.
    """

    frame: pd.DataFrame
    zone: Zone
    name: str
    target: str | None = None

    @property
    def quantiles(self) -> dict[str, float]:
        """Column -> quantile, ascending; those of which any value is known."""
        columns = quantile_columns(self.frame.columns)
        return {name: quantile for name, quantile in columns.items() if self.frame[name].notna().any()}

    @property
    def models(self) -> list[str]:
        return list(pd.unique(self.frame["model"]))

    @property
    def item_ids(self) -> list[str]:
        return list(pd.unique(self.frame["item_id"]))

    def where(self, keep: Any) -> Self:
        return replace(self, frame=self.frame[keep].reset_index(drop=True))

    def of_items(self, names: Sequence[str]) -> Self:
        """The named series; all when there are no names.

        Raises:
            DataError: a series has no forecast here.
        """
        check_known(names, self.item_ids, "forecast of series", self.name)
        return self.where(self.frame["item_id"].isin(names)) if names else self

    def of_models(self, names: Sequence[str]) -> Self:
        """The named models; all when there are no names.

        Raises:
            DataError: a model has no forecast here.
        """
        check_known(names, self.models, "model", self.name)
        return self.where(self.frame["model"].isin(names)) if names else self

    def at_cutoff(self, text: str) -> Self:
        """The forecasts of one cut-off, none if there is none; `text` as the user writes a time.

        Raises:
            ConfigError: it is not a time, or an ambiguous one.
        """
        stamps = self.frame["cutoff"].to_numpy()
        return self.where(stamps == parse_time(text, stamps.dtype, self.zone))

    def newest(self) -> Self:
        """The last cut-off of every series."""
        return self.where(self.frame["cutoff"] == self.frame.groupby("item_id")["cutoff"].transform("max"))

    def cutoff_hint(self) -> str:
        """Hint that lists the cut-offs."""
        known = np.unique(self.frame["cutoff"].to_numpy())
        first, last = self.zone.stamp_text(known[0]), self.zone.stamp_text(known[-1])
        return f"--cutoff '{last}'" if len(known) == 1 else f"there are {len(known):,}, from {first} to {last}"


def check_known(names: Sequence[str], known: Sequence[str], what: str, source: str) -> None:
    """Raise DataError at the first name that is none of the known ones, which are `what` of the `source`."""
    for name in names:
        if name not in known:
            raise DataError(f"{source} has no {what} '{name}'", did_you_mean(name, tuple(known[:20])))


def label_of(table: pd.DataFrame | Path) -> str:
    """Name of a table in messages and titles."""
    return f"'{table}'" if isinstance(table, Path) else "the DataFrame"


def read_forecasts(source: pd.DataFrame | Path, *, zone: Zone | None = None, target: str | None = None) -> Forecasts:
    """Read a table of forecasts, CSV or Parquet.

    Args:
        source: the table, or its file.
        zone: of the run that it belongs to; found in the stamps when None.
        target: the target's name.

    Raises:
        DataError: the file cannot be read, lacks a column, or has a cell or a row that cannot be.
    """
    table = read_beside(source, DataConfig(), item_id="item_id")
    label = label_of(source)
    missing = [name for name in REQUIRED if name not in table.columns]
    if missing:
        raise DataError(f"{label} is not a table of forecasts: it has no column {quoted(missing)}", WRITTEN_BY)
    if not len(table):
        raise DataError(f"{label} has no rows", "forecast first: forecast predict")
    stamps = {name: _parsed(table, name, label) for name in ("cutoff", "timestamp")}
    columns = {
        "item_id": _names(table, "item_id", label),
        **{name: parsed.stamps for name, parsed in stamps.items()},
        "step": _whole_numbers(table, "step", label),
        "target": _numbers(table, "target", label) if "target" in table.columns else np.full(len(table), np.nan),
        "prediction": _numbers(table, "prediction", label),
        "model": _names(table, "model", label) if "model" in table.columns else ONLY_MODEL,
        **{name: _numbers(table, name, label) for name in quantile_columns(table.columns)},
    }
    frame = pd.DataFrame(columns)
    _refuse_repeats(frame, label)
    return Forecasts(frame, _zone_of(stamps["timestamp"], zone), label, target)


# --------------------------------------------------------------------------- cells


def _parsed(table: pd.DataFrame, name: str, label: str) -> ParsedStamps:
    parsed = read_stamps(table[name], name)
    if parsed.bad.any():
        raise _bad_cell(table, name, parsed.bad, label, "a time")
    return parsed


def _numbers(table: pd.DataFrame, name: str, label: str) -> NDArray[np.float64]:
    column = table[name]
    values = pd.to_numeric(column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column, "coerce")
    bad = values.isna() & column.notna()
    if bad.any():
        raise _bad_cell(table, name, bad.to_numpy(), label, "a number")
    return np.asarray(values, np.float64)


def _names(table: pd.DataFrame, name: str, label: str) -> NDArray[np.object_]:
    codes, names = ids_as_text(table[name])
    if (codes < 0).any():
        raise _bad_cell(table, name, codes < 0, label, "a name")
    return np.array(names, object)[codes]


def _whole_numbers(table: pd.DataFrame, name: str, label: str) -> NDArray[np.int64]:
    values = _numbers(table, name, label)
    bad = ~((values >= 1) & (values < 2**53) & (values == np.round(values)))
    if bad.any():
        raise _bad_cell(table, name, bad, label, "a whole number from 1")
    return values.astype(np.int64)


def _bad_cell(table: pd.DataFrame, name: str, bad: NDArray[np.bool_], label: str, what: str) -> DataError:
    index = int(np.flatnonzero(bad)[0])
    cell, others = table[name].iloc[index], int(bad.sum()) - 1
    more = f", and {counted(others, 'other cell')}" if others else ""
    given = "an empty cell" if pd.isna(cell) else f"'{cell}'"
    message = f"{label}, column '{name}', row {index + 1}: expected {what}, got {given}{more}"
    return DataError(message, WRITTEN_BY, row=index + 1, column=name)


def _refuse_repeats(frame: pd.DataFrame, label: str) -> None:
    repeated = frame.duplicated(["model", "item_id", "cutoff", "step"])
    if repeated.any():
        index = int(np.flatnonzero(repeated)[0])
        row = frame.iloc[index]
        message = (
            f"{label}, row {index + 1}: step {row['step']} of series '{row['item_id']}' comes twice for one cut-off"
        )
        raise DataError(message, "add a column 'model' with the name of each model", row=index + 1)


def _zone_of(parsed: ParsedStamps, known: Zone | None) -> Zone:
    """The run's zone where the stamps are instants as its are; else the zone or the one offset that they carry."""
    is_instant = parsed.zone is not None or parsed.offsets is not None
    if known is not None and is_instant == (known.type_name is not None):
        return known
    if parsed.zone is not None:
        return Zone(parsed.zone, "utc")
    if parsed.offsets is None:
        return Zone()
    offsets = np.unique(parsed.offsets)
    return Zone(offset_name(int(offsets[0])) if len(offsets) == 1 else "UTC", "utc")
