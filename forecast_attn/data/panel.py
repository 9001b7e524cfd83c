"""The validated table: every series sorted, contiguous and without a hole, ready to be scaled and cut into windows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.axis import find_frequency, without_repeats
from forecast_attn.data.cells import Cells, parse_cells
from forecast_attn.data.frequency import Frequency
from forecast_attn.data.problems import Finding, Report, naming, place, report_each, stamp_text, stop_at_errors
from forecast_attn.data.roles import Roles
from forecast_attn.data.timestamps import Stamps


@dataclass(frozen=True, eq=False)
class Panel:
    """Series one after the other, sorted by (item_id, time).

    Series i owns the rows starts[i] : starts[i + 1]. The first known[i] of them have a target; the rest are future
    rows, in which only future covariates are known.
    """

    roles: Roles
    frequency: Frequency
    item_ids: tuple[str, ...]
    """Sorted as text; a single series without identifier is called by the target's name."""
    starts: NDArray[np.int64]
    """First row of every series, and the number of rows (num_series + 1,)."""
    known: NDArray[np.int64]
    """Rows with a target, per series (num_series,)."""
    timestamps: Stamps
    """datetime64[ns] in UTC or as written, or int64 (num_rows,)."""
    target: NDArray[np.float64]
    """(num_rows,), NaN in future rows."""
    past_covariates: NDArray[np.float64]
    """(num_rows, num_past), may be NaN in future rows."""
    future_covariates: NDArray[np.float64]
    """(num_rows, num_future)."""
    static_covariates: NDArray[np.float64]
    """(num_series, num_static)."""

    @property
    def num_series(self) -> int:
        return len(self.item_ids)

    @property
    def num_rows(self) -> int:
        return len(self.timestamps)

    @property
    def ends(self) -> NDArray[np.int64]:
        """Row after the last known target of every series (num_series,)."""
        return self.starts[:-1] + self.known

    @property
    def series_of_rows(self) -> NDArray[np.int64]:
        """Index of the series each row belongs to (num_rows,)."""
        return np.repeat(np.arange(self.num_series), np.diff(self.starts))

    def with_rows(self, rows: NDArray[np.int64], lengths: NDArray[np.int64], known: NDArray[np.int64]) -> Panel:
        """A panel of the chosen rows, of which series i has lengths[i]."""
        return replace(
            self,
            starts=np.concatenate(([0], np.cumsum(lengths))),
            known=known,
            timestamps=self.timestamps[rows],
            target=self.target[rows],
            past_covariates=self.past_covariates[rows],
            future_covariates=self.future_covariates[rows],
        )


def build_panel(
    frame: pd.DataFrame, roles: Roles, *, freq: str | None = None, source: str, report: Report = stop_at_errors
) -> Panel:
    """Validate a table.

    Args:
        frame: the table as read; rows and columns in any order.
        roles: what its columns mean.
        freq: the time step; inferred when absent.
        source: the file's name, for messages.
        report: called with every problem. The default raises at the first error; with another one the panel that comes
            back may have holes, and is good for counting only.

    Raises:
        ConfigError: there is no frequency `freq`.
        DataError: what is wrong, with file, column, row and series.
    """
    with naming(source):
        return panel_of_cells(parse_cells(frame, roles, report, source), roles, freq, report)


def panel_of_cells(cells: Cells, roles: Roles, freq: str | None, report: Report) -> Panel:
    """The panel of parsed cells; see `build_panel`."""
    cells = without_repeats(cells, roles, report)
    frequency = find_frequency(cells, freq, report)
    starts = cells.starts
    target = cells.columns[roles.target]
    rows = np.arange(len(target))
    last = np.maximum.reduceat(np.where(np.isnan(target), -1, rows), starts[:-1])
    known = np.where(last >= 0, last - starts[:-1] + 1, 0)
    _report_missing(cells, roles, rows >= (starts[:-1] + known)[cells.series], known, report)
    return Panel(
        roles=roles,
        frequency=frequency,
        item_ids=cells.item_ids,
        starts=starts,
        known=known,
        timestamps=cells.stamps,
        target=target,
        past_covariates=_matrix(cells, roles.past_covariates),
        future_covariates=_matrix(cells, roles.future_covariates),
        static_covariates=_static(cells, roles.static_covariates, report),
    )


def tail(panel: Panel, rows: int) -> pd.DataFrame:
    """The last `rows` known rows of every series and its future rows, under the table's own column names.

    `build_panel` with the same roles and frequency reads it back bit-equal.
    """
    kept = np.minimum(panel.known, rows)
    lengths = kept + np.diff(panel.starts) - panel.known
    return panel_to_frame(panel.with_rows(ranges(panel.ends - kept, lengths), lengths, kept))


def panel_to_frame(panel: Panel) -> pd.DataFrame:
    """The whole panel as a table under its own column names."""
    series = panel.series_of_rows
    columns: dict[str, object] = {panel.roles.time: panel.timestamps}
    if panel.roles.item_id is not None:
        columns[panel.roles.item_id] = np.array(panel.item_ids, dtype=object)[series]
    columns[panel.roles.target] = panel.target
    columns |= dict(zip(panel.roles.past_covariates, panel.past_covariates.T, strict=True))
    columns |= dict(zip(panel.roles.future_covariates, panel.future_covariates.T, strict=True))
    columns |= dict(zip(panel.roles.static_covariates, panel.static_covariates[series].T, strict=True))
    return pd.DataFrame(columns)


def ranges(firsts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """firsts[0], firsts[0] + 1, … (lengths[0] of them), then the same for the next (sum of lengths,)."""
    lengths = np.maximum(lengths, 0)
    before = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(firsts - before, lengths), np.int64)


def _matrix(cells: Cells, names: tuple[str, ...]) -> NDArray[np.float64]:
    """The named columns side by side (num_rows, num_names)."""
    matrix = np.empty((len(cells.rows), len(names)))
    for position, name in enumerate(names):
        matrix[:, position] = cells.columns[name]
    return matrix


def _static(cells: Cells, names: tuple[str, ...], report: Report) -> NDArray[np.float64]:
    """One value per series (num_series, num_names); reports columns that change within a series."""
    starts = cells.starts[:-1]
    matrix = _matrix(cells, names)
    for name in names:
        values = cells.columns[name]
        changed = np.flatnonzero(
            ~np.isnan(values) & (values != values[starts][cells.series]) & ~np.isnan(values[starts][cells.series])
        )
        report_each(report, changed, lambda at, name=name: _not_constant(cells, name, at))  # type: ignore[misc]
        report_each(report, np.flatnonzero(np.isnan(values)), lambda at, name=name: _missing(cells, name, at))  # type: ignore[misc]
    return matrix[starts]


def _report_missing(
    cells: Cells, roles: Roles, future: NDArray[np.bool_], known: NDArray[np.int64], report: Report
) -> None:
    """Report holes in target and covariates; `future` (num_rows,) marks the rows after the last known target."""
    report_each(report, np.flatnonzero(known == 0), lambda index: _no_target(cells, roles, index))
    future = future & (known > 0)[cells.series]
    target = np.isnan(cells.columns[roles.target]) & ~future & (known > 0)[cells.series]
    report_each(report, np.flatnonzero(target), lambda at: _missing(cells, roles.target, at, "FA301"))
    names = (*roles.past_covariates, *roles.future_covariates)
    nothing = future & np.all([np.isnan(cells.columns[name]) for name in names], axis=0) if names else future
    report_each(report, np.flatnonzero(nothing), lambda at: _nothing_known(cells, roles, at))
    for name in names:
        needed = ~future if name in roles.past_covariates else ~nothing
        holes = np.flatnonzero(np.isnan(cells.columns[name]) & needed)
        report_each(report, holes, lambda at, name=name: _missing(cells, name, at))  # type: ignore[misc]


def _no_target(cells: Cells, roles: Roles, index: int) -> Finding:
    name = cells.item_ids[index]
    message = f"series '{name}' has no value in column '{roles.target}'"
    return Finding("FA301", "error", message, "remove its rows, or fill the target", item_id=name, column=roles.target)


def _missing(cells: Cells, column: str, at: int, code: str = "FA302") -> Finding:
    row, name = int(cells.rows[at]), cells.item_ids[cells.series[at]]
    message = f"column '{column}' has no value at {place(row)}, series '{name}', {stamp_text(cells.stamps[at])}"
    hint = "fill the cell" if code == "FA301" else f"fill the cell, or leave the column out with --ignore '{column}'"
    return Finding(code, "error", message, hint, item_id=name, column=column, row=row)


def _nothing_known(cells: Cells, roles: Roles, at: int) -> Finding:
    row, name = int(cells.rows[at]), cells.item_ids[cells.series[at]]
    others = " and every covariate" if roles.past_covariates or roles.future_covariates else ""
    message = f"'{roles.target}'{others} has no value at {place(row)}, series '{name}', {stamp_text(cells.stamps[at])}"
    return Finding(
        "FA304", "error", message, "remove the row, or fill the target", item_id=name, column=roles.target, row=row
    )


def _not_constant(cells: Cells, column: str, at: int) -> Finding:
    row, name = int(cells.rows[at]), cells.item_ids[cells.series[at]]
    first = cells.columns[column][cells.starts[cells.series[at]]]
    change = f"{first:g}, then {cells.columns[column][at]:g} at {place(row)}"
    message = f"column '{column}' (static) changes within series '{name}': {change}"
    return Finding(
        "FA305", "error", message, f"--past '{column}' if it changes over time", item_id=name, column=column, row=row
    )
