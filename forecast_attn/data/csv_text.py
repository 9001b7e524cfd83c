"""A frame as the text of a CSV that every reader splits in the same way."""

from __future__ import annotations

from typing import Any

import pandas as pd


def csv_text(frame: pd.DataFrame, **options: Any) -> str:
    """Return the text of a CSV without an index.

    A carriage return ends a row for most readers, but pandas puts quotes around a cell for the marks of the line end
    only. A table whose cells hold one therefore has rows that end in both marks.

    Args:
        frame: the table.
        options: as for `DataFrame.to_csv`.
    """
    ends = "\r\n" if _holds_carriage_returns(frame) else "\n"
    return str(frame.to_csv(index=False, lineterminator=ends, **options))


def _holds_carriage_returns(frame: pd.DataFrame) -> bool:
    """Return True where a name of a column or a cell of text holds a carriage return."""
    if any("\r" in str(name) for name in frame.columns):
        return True
    texts = (pd.unique(column) for _, column in frame.items() if column.dtype.kind not in "biufcmM")
    return any("\r" in text for cells in texts for text in cells if isinstance(text, str))
