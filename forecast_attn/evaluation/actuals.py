"""The actual values: a panel of the target alone, and the position of forecasts' stamps in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.config.requests import READING
from forecast_attn.data.cells import ids_as_text
from forecast_attn.data.findings import naming, quoted, stop_at_errors
from forecast_attn.data.frequency import Stamps, kind_of
from forecast_attn.data.localise import axis_stamps
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.reading import file_positions, read_table, table_name
from forecast_attn.data.reading.joined import ROW_COUNT
from forecast_attn.data.resampling import is_zero_without_rows
from forecast_attn.data.roles import COVARIATE_FIELDS, resolve_roles
from forecast_attn.errors import DataError, nearest
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.urls import url_of

Ints = NDArray[np.int64]


def read_actuals(table: Any, config: DataConfig) -> Panel:
    """Read the target of a table; gaps and empty cells are missing values, unless rows are counted.

    Raises:
        ConfigError, DataError: as in training.
    """
    counts = is_zero_without_rows(config) or (config.target == ROW_COUNT and config.aggregate == "sum")
    config = replace(config, missing="zero" if counts else "mask")
    frame, source = read_table(table, config), table_name(table)
    roles = resolve_roles(frame, config, source)
    nothing: dict[str, Any] = dict.fromkeys(COVARIATE_FIELDS, ())
    roles = replace(roles, **nothing, known_steps={}, weight=None)
    return build_panel(frame, roles, config, source=source)


def reading_of_run(tables: list[Any]) -> tuple[dict[str, Any], list[str]]:
    """Options to read the actuals as the run does in whose directory the forecasts lie, and a note that names it.

    Args:
        tables: of forecasts: paths, or data.

    Raises:
        RunError: its files are damaged.
    """
    paths = [Path(table) for table in tables if isinstance(table, str | Path) and url_of(table) is None]
    runs = [RunDir(path.parent) for path in paths if RunDir(path.parent).schema.is_file()]
    if not runs:
        return {}, []
    run = runs[0]
    recorded, roles = run.read_json(run.config)["options"]["data"], run.read_json(run.schema)["roles"]
    options = {name: recorded[name] for name in READING if recorded.get(name) not in (None, [], ())}
    if not {"wide", "layout"} & options.keys():
        columns = {name: roles[name] for name in ("target", "time", "item_id") if roles[name] is not None}
        options = {**columns, **options}
    if is_zero_without_rows(DataConfig(**{name: recorded[name] for name in ("resample", "aggregate", "missing")})):
        options = {**options, "missing": "zero"}
    return options, [f"the actuals are read as the table of '{run.path}' was"]


def series_of(frame: pd.DataFrame, column: str | None, panel: Panel, source: str) -> Ints:
    """Index of each row's series in the actuals (num_rows,).

    Raises:
        DataError: a series that the actuals do not have, or none is named and they have several.
    """
    if column is None:
        if panel.num_series > 1:
            raise DataError(
                f"'{source}' has no identifier column, and the actuals have {panel.num_series:,} series",
                "add a column item_id to the forecasts",
            )
        return np.zeros(len(frame), np.int64)
    codes, item_ids = ids_as_text(frame[column])
    if (codes < 0).any():
        row = file_positions(frame).row(int(np.flatnonzero(codes < 0)[0]))
        raise DataError(f"column '{column}' of '{source}' is empty in row {row}", "fill in the series", row=row)
    indices = {name: index for index, name in enumerate(panel.item_ids)}
    unknown = [name for name in item_ids if name not in indices]
    if unknown and panel.num_series == 1 and len(item_ids) == 1:
        return np.zeros(len(frame), np.int64)  # one series on either side: they mean the same
    if unknown:
        near = nearest(unknown[0], list(panel.item_ids))
        known = f"did you mean '{near}'?" if near else f"they have {quoted(panel.item_ids)}"
        raise DataError(f"the actuals have no series '{unknown[0]}', which '{source}' forecasts", known)
    return np.array([indices[name] for name in item_ids], np.int64)[codes]


def stamps_of(frame: pd.DataFrame, column: str, series: Ints, panel: Panel, source: str) -> Stamps:
    """A column of stamps on the axis of the actuals (num_rows,).

    Raises:
        DataError: a cell is no time stamp, or the axis is of another kind.
    """

    def parsed(date_format: str | None) -> tuple[Stamps, NDArray[np.bool_]]:
        return axis_stamps(
            frame[column],
            panel.zone,
            stop_at_errors,
            series=series,
            item_ids=panel.item_ids,
            date_format=date_format,
        )

    with naming(source):
        try:
            stamps, bad = parsed(None)
        except DataError:
            if panel.date_order is None:
                raise
            stamps, bad = parsed(panel.date_order)  # 3/4/2024 means what it means in the actuals
        for index in np.flatnonzero(bad)[:1]:
            row = file_positions(frame).row(int(index))
            raise DataError(
                f"column '{column}' has no time stamp in row {row}: '{frame[column].iloc[index]}'",
                "correct the cell, or remove the row",
                row=row,
                column=column,
            )
        if stamps.dtype.kind != panel.timestamps.dtype.kind:
            raise DataError(
                f"column '{column}' holds {kind_of(stamps)}, the actuals {kind_of(panel.timestamps)}",
                "use the same time axis in both tables",
            )
    return stamps


def rows_at(panel: Panel, series: Ints, stamps: Stamps) -> Ints:
    """The row of each stamp (num_rows,); -1 where the actuals have none."""
    known = pd.DataFrame({"series": panel.series_of_rows, "stamp": panel.timestamps, "row": np.arange(panel.num_rows)})
    keys = pd.DataFrame({"series": series, "stamp": stamps})
    return keys.merge(known, how="left", on=["series", "stamp"])["row"].fillna(-1).to_numpy(np.int64)
