"""Each series of a table in figures: its span, its holes, its range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.cells import Cells
from forecast_attn.data.panel import Panel
from forecast_attn.data.scaling import constant_series


@dataclass(frozen=True)
class SeriesSummary:
    """One series in figures. Before a frequency is found, gaps and what follows are not known."""

    item_id: str
    first: str
    last: str
    """First and last time stamp; the last may be a future row's."""
    rows: int
    duplicates: int
    """Rows whose time stamp an earlier row has."""
    gaps: int | None = None
    """Rows missing between the first and the last."""
    future_rows: int | None = None
    """Rows after the last known target."""
    missing: int | None = None
    """Empty cells where a value is needed."""
    lowest: float | None = None
    highest: float | None = None
    """Range of the target."""
    constant: bool | None = None


def summarise(cells: Cells, panel: Panel | None) -> tuple[SeriesSummary, ...]:
    """Figures of every series, as far as the table could be read."""
    starts = cells.starts
    first, last = cells.stamps[starts[:-1]], cells.stamps[starts[1:] - 1]
    repeats = np.append(False, (cells.series[1:] == cells.series[:-1]) & (cells.stamps[1:] == cells.stamps[:-1]))
    columns: list[list[Any]] = [
        [cells.zone.stamp_text(stamp) for stamp in first],
        [cells.zone.stamp_text(stamp) for stamp in last],
        np.diff(starts).tolist(),
        _per_series(repeats, starts).tolist(),
        *([] if panel is None else _panel_columns(panel)),
    ]
    return tuple(SeriesSummary(*values) for values in zip(cells.item_ids, *columns, strict=True))


def _panel_columns(panel: Panel) -> list[list[Any]]:
    """Gaps, future rows, missing cells, lowest, highest and whether constant, each (num_series,)."""
    inside = panel.series_of_rows[1:] == panel.series_of_rows[:-1]
    steps = np.append(
        0, np.where(inside, panel.frequency.steps_between(panel.timestamps[:-1], panel.timestamps[1:]), 1)
    )
    known = np.arange(panel.num_rows) < np.repeat(panel.ends, np.diff(panel.starts))
    missing = known & np.isnan(panel.target)
    empty = (np.isnan(panel.past_covariates) & known[:, None]).sum(axis=1) + np.isnan(panel.future_covariates).sum(
        axis=1
    )
    constant = set(constant_series(panel, panel.known))
    return [
        _per_series(np.maximum(np.floor(steps) - 1, 0), panel.starts).astype(int).tolist(),
        (panel.starts[1:] - panel.ends).tolist(),
        _per_series(missing + empty, panel.starts).tolist(),
        [_or_none(value) for value in np.fmin.reduceat(panel.target, panel.starts[:-1])],
        [_or_none(value) for value in np.fmax.reduceat(panel.target, panel.starts[:-1])],
        [item_id in constant for item_id in panel.item_ids],
    ]


def _per_series(values: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Sum of each series' rows (num_series,)."""
    return np.asarray(np.add.reduceat(values.astype(np.int64), starts[:-1]))


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
