"""The columns a table must have."""

from __future__ import annotations

import pandas as pd

from forecast_attn.data.problems import quoted
from forecast_attn.errors import DataError, nearest


def require_column(frame: pd.DataFrame, column: str, source: str, flag: str = "", *, code: str = "FA102") -> None:
    """Refuse a table that lacks a column.

    Raises:
        DataError: with the columns there are, and the nearest name.
    """
    if column not in frame.columns:
        names = [str(name) for name in frame.columns]
        asked = f" (--{flag})" if flag else ""
        message = f"'{source}' has no column '{column}'{asked}; its columns are {quoted(names)}"
        near = nearest(column, names)
        hint = f"did you mean '{near}'?" if near else "add the column, or correct its name"
        raise DataError(message, hint, code=code)
