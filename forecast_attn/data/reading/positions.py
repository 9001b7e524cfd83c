"""Row and column numbers in the file, for messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

LONG_ID, LONG_TIME, LONG_TARGET = "item_id", "timestamp", "target"
"""Columns of a table made long: the series (of a wide table, the column each value stood in), the time, the value."""
STEP = "step"
"""Column of the position in a list of values that stands in a row."""
WIDE_ROWS = "row in the file"
"""Name of the index of a wide table made long: it holds the row in the file."""
LAYOUT_ROWS = "row in the file, of several steps"
"""Name of the index of a table made long whose rows each held several steps: it holds the row in the file."""
KEPT_ROWS = "row in the file, beside others that are left out"
"""Name of the index of a table without the rows that hold no time stamp: it holds the row in the file."""


def without_values(num_rows: int) -> pd.Categorical:
    """A column that has to exist and holds nothing: it takes no memory to speak of."""
    return pd.Categorical.from_codes(np.full(num_rows, -1, np.int8), categories=pd.Index([], dtype="str"))


@dataclass(frozen=True)
class FilePositions:
    """Row and column of each cell in the file."""

    num_rows: int
    file_rows: NDArray[np.int32] | None = None
    """Row in the file of each row; only for a table that had another layout there."""
    names: pd.Categorical | None = None
    """The column that each row's target stood in, of a wide table made long."""

    def rows(self) -> NDArray[np.int32]:
        """The file's row of each row (num_rows,), counted from 1."""
        return np.arange(1, self.num_rows + 1, dtype=np.int32) if self.file_rows is None else self.file_rows

    def row(self, index: int) -> int:
        """The file's row of one row."""
        return index + 1 if self.file_rows is None else int(self.file_rows[index])

    def column(self, name: str, index: int) -> str:
        """The file's column of one cell."""
        return name if self.names is None or name != LONG_TARGET else str(self.names[index])


def file_positions(frame: pd.DataFrame) -> FilePositions:
    """File positions of the rows of a frame from `read_table`."""
    if frame.index.name in (LAYOUT_ROWS, KEPT_ROWS):
        return FilePositions(len(frame), frame.index.to_numpy(np.int32))
    if frame.index.name != WIDE_ROWS:
        return FilePositions(len(frame))
    names = frame[LONG_ID].array if LONG_ID in frame else None
    return FilePositions(len(frame), frame.index.to_numpy(np.int32), names)
