"""A table of future covariates as they were forecast: which value was issued when, for which time.

What was issued later never counts: at a cut-off the newest forecast whose issued_at is not after it is the value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config import DataConfig
from forecast_attn.data.cells import Cells
from forecast_attn.data.problems import (
    Finding,
    Report,
    Severity,
    report_each,
)
from forecast_attn.data.roles import ID_NAMES, LOOSE_TIME_NAMES, STEP_NAMES, TIME_NAMES, Roles, is_numeric
from forecast_attn.data.timestamps import Stamps
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError, nearest

ISSUED_AT = "issued_at"

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IssuedForecasts:
    """Forecasts of future covariates, sorted by (series, stamp, issued_at)."""

    source: str
    """Name of the table, for messages."""
    columns: tuple[str, ...]
    item_ids: tuple[str, ...]
    series: Ints
    """Index into `item_ids` (num_forecasts,)."""
    stamps: Stamps
    """The time a forecast is for (num_forecasts,)."""
    issued_at: Stamps
    """The time it was made (num_forecasts,)."""
    values: NDArray[np.float64]
    """(num_forecasts, num_columns), finite."""
    zone: Zone
    """In which both times are shown."""

    def of_series(self, item_ids: tuple[str, ...]) -> IssuedForecasts:
        """The forecasts of these series, whose order counts from now on."""
        position = pd.Index(item_ids, dtype=object).get_indexer(pd.Index(self.item_ids, dtype=object))
        series = position[self.series]
        return in_order(replace(self, item_ids=item_ids, series=series).take(np.flatnonzero(series >= 0)))

    def take(self, which: Ints) -> IssuedForecasts:
        """The chosen forecasts, in the given order."""
        return replace(
            self,
            series=self.series[which],
            stamps=self.stamps[which],
            issued_at=self.issued_at[which],
            values=self.values[which],
        )

    def newest(self, series: Ints, stamps: Stamps, cutoffs: Stamps) -> Ints:
        """The place of the newest forecast issued at or before each cut-off (any shape), -1 where there is none.

        Args:
            series: indices into `item_ids`.
            stamps: the times to know something about.
            cutoffs: what is issued after these does not count.
        """
        times, issues = np.unique(self.stamps), np.unique(self.issued_at)
        if not len(times):
            return np.full(np.shape(stamps), -1)
        place_of_time = np.minimum(np.searchsorted(times, stamps), len(times) - 1)
        asked = (series * len(times) + place_of_time) * (len(issues) + 1)
        own = self.series * len(times) + np.searchsorted(times, self.stamps)
        keys = own * (len(issues) + 1) + np.searchsorted(issues, self.issued_at) + 1
        found = np.searchsorted(keys, asked + np.searchsorted(issues, cutoffs, side="right"), side="right") - 1
        # Nothing of this series and time stands at or before the cut-off when a smaller key was found.
        is_there = (found >= 0) & (keys[found] >= asked) & (times[place_of_time] == stamps)
        return np.where(is_there, found, -1)

    def newest_values(self, series: Ints, stamps: Stamps, cutoffs: Stamps) -> NDArray[np.float64]:
        """What `newest` finds (…, num_columns), NaN where there is nothing."""
        nothing = np.full((1, len(self.columns)), np.nan)
        return np.concatenate([self.values, nothing])[self.newest(series, stamps, cutoffs)]


def in_order(table: IssuedForecasts) -> IssuedForecasts:
    """Sorted by (series, stamp, issued_at)."""
    return table.take(np.lexsort((table.issued_at, table.stamps, table.series)))


def is_issued(frame: pd.DataFrame) -> bool:
    """Whether a table says when its values were issued."""
    return ISSUED_AT in frame.columns


def declare_issued(
    frame: pd.DataFrame, issued: pd.DataFrame, config: DataConfig
) -> tuple[pd.DataFrame, DataConfig, tuple[str, ...]]:
    """Make what a table of forecasts is about future covariates of the data.

    Returns:
        The data with an empty column for each covariate that it lacks, the options with all of them declared, and the
        names of those columns, for `fill_absent`.

    Raises:
        DataError: a column is neither declared nor in the data: a misspelt name must not become a covariate.
    """
    names = _numeric_columns(issued, config)
    declared = {name.rpartition(":")[0] or name for name in config.future_covariates} | {*config.future_covariates}
    for name in names:
        if name not in frame.columns and name not in declared:
            raise _unknown_column(name, frame, config)
    further = tuple(name for name in names if name not in declared)
    absent = tuple(name for name in names if name not in frame.columns)
    config = replace(config, future_covariates=(*config.future_covariates, *further))
    return frame.assign(**dict.fromkeys(absent, np.nan)), config, absent


def _numeric_columns(frame: pd.DataFrame, config: DataConfig) -> tuple[str, ...]:
    """The numeric columns of a table of forecasts that are neither time, series nor target."""
    others = {config.time, config.item_id, config.target, ISSUED_AT, *config.ignore}
    known = {*TIME_NAMES, *LOOSE_TIME_NAMES, *STEP_NAMES, *ID_NAMES}
    free = [str(name) for name in frame.columns if name not in others and str(name).lower() not in known]
    return tuple(sorted(name for name in free if is_numeric(frame[name])))


def fill_absent(
    cells: Cells,
    issued: IssuedForecasts,
    names: tuple[str, ...],
    roles: Roles,
    report: Report,
    severity: Severity = "error",
) -> Cells:
    """The cells of columns that only the table of forecasts has: for each row what was forecast at that time or before.

    Rows that nothing was forecast for in time stay empty and are reported: a later forecast would be a leak. What comes
    after the last known target is filled by what was known at that.

    Args:
        cells: the data, in which these columns are empty.
        issued: forecasts of its series.
        names: columns to fill.
        roles: of the data's columns.
        report: called for rows that stay empty.
        severity: of those; no error where values may be missing.
    """
    known = ~np.isnan(cells.columns[roles.target])
    own = issued.of_series(cells.item_ids)
    values = own.newest_values(cells.series.astype(np.int64), cells.stamps, _known_by(cells, known))
    filled = {name: values[:, issued.columns.index(name)] for name in names}
    for name, column in filled.items():
        empty = np.flatnonzero(np.isnan(column) & known)
        report_each(report, empty, lambda at, name=name: _not_forecast(cells, name, severity, at))  # type: ignore[misc]
    return replace(cells, columns=cells.columns | filled)


def _known_by(cells: Cells, known: NDArray[np.bool_]) -> Stamps:
    """Each row's own stamp, or the last one of its series with a target when that is earlier (num_rows,)."""
    last = np.maximum.reduceat(np.where(known, np.arange(len(known)), -1), cells.starts[:-1])
    limit = cells.stamps[np.maximum(last, cells.starts[:-1])]
    return np.minimum(cells.stamps, limit[cells.series])


# --------------------------------------------------------------------------- findings


def _unknown_column(name: str, frame: pd.DataFrame, config: DataConfig) -> DataError:
    near = nearest(name, [*config.future_covariates, *(str(column) for column in frame.columns)])
    hint = f"--future '{name}' if it is known only as it was forecast; else remove it from the table of forecasts"
    return DataError(
        f"the table of forecasts (--vintages) has a column '{name}', which the data does not have",
        f"did you mean '{near}'? or {hint}" if near else hint,
        code="FA501",
        column=name,
    )


def _not_forecast(cells: Cells, column: str, severity: Severity, at: int) -> Finding:
    name, stamp = cells.item_ids[cells.series[at]], cells.text(at)
    message = f"no forecast of '{column}' for {stamp} of series '{name}' was issued at or before that time"
    hint = f"add older forecasts, or a column '{column}' with what came true; or --missing mask"
    return Finding("FA506", severity, message, hint, item_id=name, column=column, row=int(cells.rows[at]))
