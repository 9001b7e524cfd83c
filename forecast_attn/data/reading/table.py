"""Any table a user has -> a frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from forecast_attn.config import DataConfig
from forecast_attn.data.problems import Report, stop_at_errors
from forecast_attn.data.reading.columnar import read_columnar
from forecast_attn.data.reading.delimited import read_delimited
from forecast_attn.data.reading.frames import read_frame
from forecast_attn.data.reading.source import Progress, Source


def read_table(
    table: Any, config: DataConfig, *, progress: Progress | None = None, report: Report = stop_at_errors
) -> pd.DataFrame:
    """Read a table.

    Args:
        table: a path (CSV, gzip, zstd, Parquet, Feather; told apart by content), "-" for standard input, a pandas
            DataFrame, or one of a library that speaks Arrow's C stream, such as polars.
        config: how the file is written, where that is said, and which columns are identifiers.
        progress: called with the bytes read so far and the bytes there are.
        report: called with what is worth knowing about the file.

    Returns:
        The rows in the table's order, as columns of int64, float64, bool, datetimes or text. Text out of a file is
        categorical: each distinct cell once.

    Raises:
        ConfigError: an option that is impossible or does not fit the table.
        DataError: the table cannot be read; with the row, where one is to blame.
    """
    if not isinstance(table, str | Path):
        return read_frame(table, config)
    source = Source.of(table)
    if source.kind in ("parquet", "feather", "arrow stream"):
        return read_columnar(source, config, progress)
    return read_delimited(source, config, progress, report)
