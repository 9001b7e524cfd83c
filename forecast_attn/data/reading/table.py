"""Any table a user has -> a frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from forecast_attn.config import DataConfig
from forecast_attn.data.problems import Report, stop_at_errors
from forecast_attn.data.reading.text import read_csv

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes there are."""


def read_table(
    table: Any, config: DataConfig, *, progress: Progress | None = None, report: Report = stop_at_errors
) -> pd.DataFrame:
    """Read a table.

    Args:
        table: a path, "-" for standard input, or a DataFrame.
        config: how the file is written, and the names that are no numbers.
        progress: called with the bytes read so far and the bytes there are.
        report: called with what is worth knowing about the file.

    Returns:
        The rows in the table's order. Columns of text may be categorical, which is the same text in less memory.

    Raises:
        ConfigError: an option that does not fit the table.
        DataError: the table cannot be read.
    """
    if isinstance(table, str | Path):
        return read_csv(table, config.delimiter, (config.item_id,) if config.item_id else ())
    frame: pd.DataFrame = table
    return frame
