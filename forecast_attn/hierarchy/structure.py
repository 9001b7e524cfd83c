"""Reads which series are sums of which others."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import ids_as_text
from forecast_attn.data.findings import quoted
from forecast_attn.data.reading import read_beside, table_name
from forecast_attn.errors import DataError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Series by level, and the sums that they are."""

    levels: dict[str, tuple[str, ...]]
    """Name of each level -> its series; those with the fewest series first, the bottom series last."""
    summing: Floats
    """1 where the series of a row holds the bottom series of a column (num_series, num_bottom); the last rows are the
    bottom series themselves."""

    @property
    def names(self) -> tuple[str, ...]:
        """All series in the order of the rows (num_series,)."""
        return tuple(name for names in self.levels.values() for name in names)

    @property
    def bottom(self) -> tuple[str, ...]:
        """The bottom series in the order of the columns (num_bottom,)."""
        return list(self.levels.values())[-1]

    @property
    def rows_of_levels(self) -> dict[str, NDArray[np.int64]]:
        """Rows of each level."""
        ends = np.cumsum([len(names) for names in self.levels.values()])
        return {
            level: np.arange(end - len(names), end)
            for (level, names), end in zip(self.levels.items(), ends, strict=True)
        }

    @property
    def is_tree(self) -> bool:
        """True where one series holds all others, and each series of a level lies in one of the level above."""
        levels = list(self.rows_of_levels.values())
        if len(levels[0]) != 1:
            return False
        for above, below in itertools.pairwise(levels):
            shared = self.summing[above] @ self.summing[below].T
            if (np.count_nonzero(shared, axis=0) != 1).any():
                return False
        return True

    @classmethod
    def of(cls, table: Any) -> Self:
        """Read a table with a row per bottom series: the sums that hold it, then its own name.

        Args:
            table: a path or a frame, whose columns are the levels from the top to the bottom.

        Raises:
            DataError: a cell is empty, a series stands in two levels, or a bottom series in two rows.
        """
        shape = "a column per level, from the top to the bottom, and a row per bottom series"
        try:
            frame, source = read_beside(table, DataConfig()), table_name(table)
        except DataError as error:
            more = f"; {error.hint}" if error.hint else ""
            raise error.reworded(hint=f"--hierarchy FILE: {shape}{more}") from None
        if len(frame.columns) < 2 or not len(frame):
            message = f"'{source}' is not a hierarchy: it has {len(frame.columns)} columns and {len(frame)} rows"
            raise DataError(message, shape)
        columns = {str(name): _names(frame[name], source) for name in frame.columns}
        return cls._of_columns(columns, source)

    @classmethod
    def _of_columns(cls, columns: dict[str, list[str]], source: str) -> Self:
        *above, last = columns
        bottom = tuple(columns[last])
        if len(set(bottom)) < len(bottom):
            twice = next(name for name in bottom if bottom.count(name) > 1)
            raise DataError(
                f"'{source}' names the bottom series '{twice}' twice", "one row for each series of the last column"
            )
        levels = {level: tuple(sorted(set(columns[level]))) for level in above}
        levels = dict(sorted(levels.items(), key=lambda level: len(level[1]))) | {last: bottom}
        every = [name for names in levels.values() for name in names]
        if len(set(every)) < len(every):
            both = next(name for name in every if every.count(name) > 1)
            where = quoted([level for level, names in levels.items() if both in names])
            raise DataError(
                f"'{source}' names the series '{both}' in two levels: {where}", "a name of its own for each series"
            )
        rows = [np.array(columns[level])[None] == np.array(levels[level])[:, None] for level in levels]
        return cls(levels, np.concatenate(rows).astype(np.float64))


def _names(column: pd.Series, source: str) -> list[str]:
    codes, texts = ids_as_text(column)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0)) + 1
        raise DataError(f"'{source}' has an empty cell in column '{column.name}', row {row}", "the name of the sum")
    return [texts[code] for code in codes]
