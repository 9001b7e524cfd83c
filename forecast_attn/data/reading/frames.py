"""pandas frames of any dtype, and frames of other libraries, as the frames that the rest of the package knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_hashable

from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import ITEM_ID_NAMES, TIME_NAMES, names_series
from forecast_attn.data.findings import option_for
from forecast_attn.data.reading.columnar import (
    OF_FILES,
    TIME,
    Column,
    frame_of_arrow,
    refuse_text_options,
    to_column,
    unusable_column,
)
from forecast_attn.data.reading.header import check_names
from forecast_attn.errors import DataError

LABEL = "the DataFrame"
LEVEL_NAMES = (*TIME_NAMES, *ITEM_ID_NAMES)
"""Names by which levels of an index become columns."""
ITEM_ID, VALUE = "item_id", "value"
"""Names of levels beside those of time stamps, and of a Series, that have none."""


def read_frame(table: Any, config: DataConfig) -> pd.DataFrame:
    """Convert a DataFrame or Series of pandas, or a frame of a library with Arrow's C stream (polars, pyarrow, duckdb),
    copying little; or a TimeSeries of darts, or several by their names.

    Raises:
        ConfigError: an option for text files is given.
        DataError: no rows, repeated names, or a column that holds neither numbers nor text nor time stamps.
        TypeError: not a table at all.
    """
    refuse_text_options(config, "the table is a DataFrame", OF_FILES)
    table = _from_darts(table)
    if isinstance(table, pd.Series):
        table = table.to_frame(VALUE if table.name is None else table.name)
    if isinstance(table, pd.DataFrame):
        return frame_of_pandas(table, config, LABEL)
    if hasattr(table, "collect") and not hasattr(table, "__arrow_c_stream__"):
        table = table.collect()  # a lazy frame
    if not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(f"expected a path, '-', a DataFrame or a Series; got {type(table).__name__}")
    return frame_of_arrow(pa.table(table), config, LABEL)


def _from_darts(table: Any) -> Any:
    """A TimeSeries of darts as a frame, several as one with a column of their names; anything else as it is."""
    series = table if isinstance(table, dict) else {"": table}
    if not series or any(type(each).__module__.partition(".")[0] != "darts" for each in series.values()):
        return table
    # Its index has the name of its time dimension, which may be any.
    frames = {str(name): each.to_dataframe().rename_axis("timestamp") for name, each in series.items()}
    return pd.concat(frames, names=["item_id"]).reset_index() if table is series else frames[""].reset_index()


def frame_of_pandas(table: pd.DataFrame, config: DataConfig, label: str) -> pd.DataFrame:
    """A frame of pandas as one with columns of the few types that the package knows.

    Raises:
        DataError: no rows, repeated names, or a column that holds neither numbers nor text nor time stamps.
    """
    table = _with_index(table, config)
    names = [_joined(name) for name in table.columns]
    check_names(names, label)
    if not len(table):
        raise DataError(f"{label} has no rows", "add rows of data")
    columns = {name: _column(table.iloc[:, index], name, config) for index, name in enumerate(names)}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)), copy=False)


def _joined(name: Any) -> str:
    """The name of a column; that of several levels as `--header-rows` joins them."""
    parts = map(_text_of_name, name if isinstance(name, tuple) else (name,))
    return " ".join(part for part in parts if part)


def _text_of_name(name: Any) -> str:
    """The text of a name; that of a day without its clock, which pivot tables write."""
    is_day = isinstance(name, pd.Timestamp) and name == name.normalize()
    return str(name.date() if is_day else name).strip()


def _with_index(table: pd.DataFrame, config: DataConfig) -> pd.DataFrame:
    """The frame with those levels of its index as columns that are time stamps or identifiers.

    All named ones where one has such a name; all of them where one holds dates and no column does.
    """
    known = {*LEVEL_NAMES, config.time, config.item_id}
    index = table.index
    named = [at for at, name in enumerate(index.names) if name is not None]
    names_known = any(index.names[at] in known or str(index.names[at]).lower() in LEVEL_NAMES for at in named)
    levels = named if names_known else []
    dates = [at for at in range(index.nlevels) if _are_dates(index.get_level_values(at).dtype)]
    has_time = config.time is not None or bool(set(dates) & set(levels)) or any(map(_are_dates, table.dtypes))
    if dates and not has_time:
        levels = list(range(index.nlevels))
    names = {at: _level_name(index, at, dates) for at in levels}
    names = {at: name for at, name in names.items() if name not in table.columns}
    if not names:
        return table
    table = table.rename_axis([names.get(at, name) for at, name in enumerate(index.names)])
    return table.reset_index(level=list(names))


def _are_dates(dtype: Any) -> bool:
    return isinstance(dtype, pd.PeriodDtype) or pd.api.types.is_datetime64_any_dtype(dtype)


def _level_name(index: pd.Index, at: int, dates: list[int]) -> Any:
    if index.names[at] is not None:
        return index.names[at]
    return TIME if at in dates else ITEM_ID if index.nlevels == 2 else f"{ITEM_ID}_{at}"


def _column(values: pd.Series, name: str, config: DataConfig) -> Column:
    """The column's array in a type that the package knows."""
    dtype, is_id = values.dtype, names_series(name, config.item_id)
    if name in config.ignore:
        return np.full(len(values), np.nan)
    if dtype.kind == "c":
        raise unusable_column(LABEL, name, "holds complex numbers")
    if isinstance(dtype, pd.ArrowDtype):
        return _from_arrow(values, name, is_id=is_id)
    if isinstance(dtype, pd.PeriodDtype):
        return values.dt.to_timestamp().array
    if isinstance(dtype, pd.SparseDtype):
        return np.asarray(values)
    if isinstance(dtype, pd.CategoricalDtype):
        return _from_categories(values, is_id=is_id)
    if isinstance(dtype, np.dtype):
        return _from_objects(values, name, is_id=is_id) if dtype.kind == "O" else values.array
    if dtype.kind in "biuf":  # Int64, Float32, boolean
        missing = values.isna().any()
        if missing and is_id:
            return _from_arrow(values, name, is_id=True)
        return (
            values.to_numpy(np.float64, na_value=np.nan) if missing else values.to_numpy(values.array.dtype.numpy_dtype)
        )
    return values.array


def _from_objects(values: pd.Series, name: str, *, is_id: bool) -> Column:
    """Decimals as float64, unless they are names; other objects as they are."""
    kind = pd.api.types.infer_dtype(values, skipna=True)
    if kind.startswith("mixed") and any(isinstance(cell, tuple) or not is_hashable(cell) for cell in values):
        message = f"{LABEL}: column '{name}' holds lists or records"
        raise DataError(
            message, f"leave the column out with {option_for('ignore', name)}", column=name, options=("ignore",)
        )
    return values.astype("float64").array if kind == "decimal" and not is_id else values.array


def _from_arrow(values: pd.Series, name: str, *, is_id: bool) -> Column:
    try:
        return to_column(pa.chunked_array(values.array.__arrow_array__()), is_id=is_id)
    except DataError as error:
        raise unusable_column(LABEL, name, error.message) from None


def _from_categories(values: pd.Series, *, is_id: bool) -> Column:
    """Categories of text stay, and names; those of numbers and dates are spelled out."""
    kind = values.cat.categories.dtype
    if kind.kind == "O":
        return values.array
    if is_id and kind.kind in "iu":
        return values.cat.rename_categories(str).array
    return values.astype("float64" if kind.kind in "iub" and values.isna().any() else kind).array
