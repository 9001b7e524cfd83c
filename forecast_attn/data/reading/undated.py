"""Rows that hold no time stamp, which `--undated-rows drop` leaves out: sums, units, names that stand once more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding, Report, counted, quoted, row_and_line, with_line_numbers
from forecast_attn.data.reading.cell_numbers import bare_number, find_decimal, parse_texts
from forecast_attn.data.reading.joined import parts_of
from forecast_attn.data.reading.positions import KEPT_ROWS, file_positions
from forecast_attn.data.reading.text_columns import Texts, finish_text
from forecast_attn.data.reading.time_parts import holds_years, joined_time
from forecast_attn.data.timestamps import looks_like_dates, parse_timestamps
from forecast_attn.errors import ConfigError, DataError

MOST_DECISIVE = 1000
"""Distinct cells of a column among which a decimal comma is looked for."""


@with_line_numbers
def without_undated(frame: pd.DataFrame, config: DataConfig, source: str, report: Report) -> pd.DataFrame:
    """The frame without the rows that have no time stamp, in the first column of dates where no option names another;
    or that have no series, in the columns of --id.

    Columns whose other cells are all numbers become numbers.

    The index, called KEPT_ROWS, then holds the row of the file. A frame without the columns of --time stays as it is.

    Raises:
        ConfigError: no option names the time, and no column has dates.
        DataError: a decimal mark is not certain.
    """
    if config.undated_rows != "drop":
        return frame
    time = config.time or first_dates(frame)
    series = [part for part in parts_of(config.item_id, frame) if part in frame.columns]
    if time is None and not series:
        raise ConfigError("--undated-rows drop needs the column of time stamps", "--time NAME")
    parts = parts_of(time, frame)
    if any(part not in frame.columns for part in parts):
        return frame
    kept = dated_rows(frame, parts, config.date_format) if parts else np.ones(len(frame), np.bool_)
    kept &= frame[series].notna().all(axis=1).to_numpy()
    if kept.all() or not kept.any():
        return frame
    bad = int(np.argmin(kept))
    first = file_positions(frame).row(bad)
    cell = " ".join(frame[list(parts)].iloc[bad].dropna().astype(str))
    lacking = [*([f"a time stamp in '{time}'"] if parts else []), *([quoted(series)] if series else [])]
    message = (
        f"{counted(int((~kept).sum()), 'row')} without {' or '.join(lacking)} left out, the first at "
        f"{row_and_line(first)}{f', {cell!r}' if cell else ''}"
    )
    report(Finding("FA217", "note", message, column=time, row=first, options=("undated_rows",)))
    return taken(frame, kept, config, source)


def first_dates(frame: pd.DataFrame) -> str | None:
    """The first column that looks like dates."""
    return next((str(name) for name in frame.columns if looks_like_dates(frame[name])), None)


def taken(frame: pd.DataFrame, kept: NDArray[np.bool_], config: DataConfig, source: str) -> pd.DataFrame:
    """The rows of a mask (num_rows,), with columns as numbers where those rows hold nothing else."""
    rows = file_positions(frame).rows()[kept]
    named = (config.item_id, *config.categorical)
    columns = {
        str(name): Texts(*_used(frame[name][kept].astype("category")))
        for name in frame.columns
        if _is_text(frame[name]) and name not in named
    }
    distinct = {name: texts.distinct[:MOST_DECISIVE].to_pylist() for name, texts in columns.items()}
    cells = {name: list(map(bare_number, texts)) for name, texts in distinct.items()}
    decimal = config.decimal or find_decimal(cells, source) or "."
    changed: dict[str, Any] = {}
    for name, texts in columns.items():
        finished, _ = finish_text(texts, decimal, grouped=config.decimal is not None)
        changed[name] = finished.to_categorical() if isinstance(finished, Texts) else _whole(finished)
    for name in frame.columns:  # whole numbers beside empty cells of rows that were left out
        if frame[name].dtype.kind == "f" and frame[name][~kept].isna().any():
            changed[str(name)] = _whole(frame[name].to_numpy()[kept])
    result = frame[kept].assign(**changed)
    result.index = pd.Index(rows, name=KEPT_ROWS)
    result.attrs |= frame.attrs
    return result


def _retyped(column: pd.Series) -> pd.Series:
    """A column as numbers where its cells hold nothing else."""
    if not _is_text(column):
        return column
    finished, _ = finish_text(Texts(*_used(column.astype("category"))), ".", grouped=False)
    return column if isinstance(finished, Texts) else pd.Series(_whole(finished), column.index, name=column.name)


def _is_text(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype | pd.StringDtype) or column.dtype.kind in "OU"


def _used(column: pd.Series) -> tuple[NDArray[np.int32], pa.Array]:
    """The codes of cells (num_rows,), -1 where empty, and the texts that some cell has."""
    column = column.cat.remove_unused_categories()
    return column.cat.codes.to_numpy().astype(np.int32), pa.array(column.cat.categories.astype(str), pa.string())


def _whole(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers without a fraction as whole ones, as they would be without the rows that were left out."""
    is_whole = values.dtype.kind == "f" and not np.isnan(values).any() and (values == np.round(values)).all()
    return values.astype(np.int64) if is_whole else values


def dated_rows(frame: pd.DataFrame, parts: tuple[str, ...], date_format: str | None = None) -> NDArray[np.bool_]:
    """Rows with a time stamp in a column, or in several together (num_rows,).

    Raises:
        DataError: the columns are neither units of time nor a date and a clock.
    """
    dated = [dated_cells(frame[part], date_format if len(parts) == 1 else None) for part in parts]
    kept = np.logical_and.reduce(
        [frame[part].notna() if each is None else each for part, each in zip(parts, dated, strict=True)]
    )
    if len(parts) > 1 and kept.any():
        joined = joined_time([_retyped(frame[part][kept]) for part in parts], "")
        together = dated_cells(joined, date_format)
        kept[kept] = joined.notna() if together is None else together
    return np.asarray(kept)


def dated_cells(column: pd.Series, date_format: str | None = None) -> NDArray[np.bool_] | None:
    """Cells that are as most others of a column: numbers, or time stamps (num_rows,); None for a column of words."""
    if not _is_text(column):
        return np.asarray(column.notna()) & ~thirteenth_months(column)
    column = column.astype("category")
    codes, texts = column.cat.codes.to_numpy(), column.cat.categories.astype(str)
    numbers = ~np.isnan(parse_texts(map(str.strip, texts), ".", grouped=False))
    is_number = np.append(numbers, False)[codes]
    if is_number.sum() > (codes >= 0).sum() / 2:
        return np.asarray(is_number)
    if not looks_like_dates(column):
        return None
    try:
        bad = parse_timestamps(column, str(column.name), date_format)[1]
    except DataError:  # a day that may be the month: either reads the same cells
        bad = parse_timestamps(column, str(column.name), "day-first")[1]
    return ~bad


def thirteenth_months(column: pd.Series) -> NDArray[np.bool_]:
    """Cells such as 202413, with which the EIA writes the total of a year below its months (num_rows,).

    None of them where some number of a column is neither a month nor such a total.
    """
    ends = pd.Series([column.min(), column.max()]) // 100 if column.dtype.kind in "if" else pd.Series()
    if not holds_years(ends):  # as of nearly every column: a quick answer
        return np.zeros(len(column), np.bool_)
    months = column.to_numpy(np.float64) % 100
    are_months = np.array_equal(np.unique(months[~np.isnan(months)]), np.arange(1, 14))
    return np.asarray((months == 13) & are_months)
