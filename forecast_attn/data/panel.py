"""The validated table: every series sorted, contiguous and without a hole, ready to be scaled and cut into windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from forecast_attn.data.findings import Repair
from forecast_attn.data.frequency import Frequency, Stamps
from forecast_attn.data.number_stamps import decimal_step
from forecast_attn.data.roles import Roles
from forecast_attn.data.row_storage import RowStorage, row_blocks
from forecast_attn.data.zones import Zone

if TYPE_CHECKING:
    from forecast_attn.data.issued import IssuedForecasts


ARRAYS = ("starts", "num_known", "timestamps", "target", "past_covariates", "future_covariates", "static_covariates")
"""Fields of a panel that hold its series, but for categories and weights."""


@dataclass(frozen=True)
class Filled:
    """The filled cells of a panel, and the policy that filled them."""

    policy: str = "error"
    rows: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    """Column of numbers -> its filled rows, ascending."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Series one after the other, sorted by (item_id, time).

    Series i owns the rows starts[i] : starts[i + 1]. The first num_known[i] of them have a target; the rest are future
    rows, in which only future covariates are known.
    """

    roles: Roles
    frequency: Frequency
    item_ids: tuple[str, ...]
    """Sorted as text; a single series without identifier is called by the target's name."""
    starts: NDArray[np.int64]
    """First row of every series, and the number of rows (num_series + 1,)."""
    num_known: NDArray[np.int64]
    """Rows with a target, per series (num_series,)."""
    timestamps: Stamps
    """datetime64[ns] in UTC or on the wall clock, as `zone` says, or int64 (num_rows,)."""
    target: NDArray[np.float64]
    """(num_rows,), NaN in future rows, and where a value is missing."""
    past_covariates: NDArray[np.float64]
    """(num_rows, num_past), may be NaN in future rows, and where a value is missing."""
    future_covariates: NDArray[np.float64]
    """(num_rows, num_future)."""
    static_covariates: NDArray[np.float64]
    """(num_series, num_static)."""
    past_categories: NDArray[np.int32]
    """Index into the column's `categories`, -1 where missing (num_rows, num_past_categories)."""
    future_categories: NDArray[np.int32]
    """(num_rows, num_future_categories)."""
    static_categories: NDArray[np.int32]
    """(num_series, num_static_categories)."""
    categories: dict[str, tuple[str, ...]]
    """Every category of a categorical column, sorted as text."""
    weights: NDArray[np.float64]
    """Each series' weight in the loss (num_series,); 1 unless a column gives it."""
    issued: IssuedForecasts | None = None
    """Future covariates as they were forecast, where a table of them was given."""
    zone: Zone = field(default_factory=Zone)
    """Zone that the time stamps are shown in."""
    date_order: str | None = None
    """Order of dates of three numbers in the table: day-first, month-first or year-first."""
    filled: Filled = field(default_factory=Filled)
    """Cells that are not from the table, in a panel as built."""
    repairs: tuple[Repair, ...] = ()
    """Changes made by options such as --missing while the table was read."""
    storage: RowStorage = field(default_factory=RowStorage)
    """Holds what is made of the rows: in memory, or on a disk."""

    @property
    def num_series(self) -> int:
        return len(self.item_ids)

    @property
    def num_rows(self) -> int:
        return len(self.timestamps)

    @property
    def ends(self) -> NDArray[np.int64]:
        """Row after the last known target of every series (num_series,)."""
        return self.starts[:-1] + self.num_known

    @property
    def series_of_rows(self) -> NDArray[np.int64]:
        """Index of the series each row belongs to (num_rows,)."""
        return np.repeat(np.arange(self.num_series), np.diff(self.starts))

    def series_of(self, rows: ArrayLike) -> NDArray[np.int64]:
        """Return the index of the series that each of these rows belongs to (len(rows),)."""
        return np.asarray(np.searchsorted(self.starts, rows, side="right") - 1, np.int64)

    def targets_where(self, condition: Callable[[NDArray[np.float64]], NDArray[np.bool_]]) -> NDArray[np.int64]:
        """Rows whose target meets a condition, ascending."""
        blocks = row_blocks(self.num_rows)
        return np.concatenate([rows.start + np.flatnonzero(condition(self.target[rows])) for rows in blocks])

    def with_rows(self, rows: NDArray[np.int64], lengths: NDArray[np.int64], known: NDArray[np.int64]) -> Panel:
        """A panel of the chosen rows, of which series i has lengths[i]."""
        return replace(
            self,
            starts=np.concatenate(([0], np.cumsum(lengths))),
            num_known=known,
            timestamps=self.timestamps[rows],
            target=self.target[rows],
            past_covariates=self.past_covariates[rows],
            future_covariates=self.future_covariates[rows],
            past_categories=self.past_categories[rows],
            future_categories=self.future_categories[rows],
            filled=Filled(),  # of the whole panel's rows, which these are not
        )


def tail(panel: Panel, rows: int, most: int) -> Iterator[pd.DataFrame]:
    """The last `rows` known rows of every series and its future rows, in tables under the original column names.

    `build_panel` with the same roles and frequency reads it back bit-equal.

    Args:
        panel: the series.
        rows: of each series.
        most: rows of a table, about: one holds whole series, and more than `most` rows where a single series has more.
    """
    kept = np.minimum(panel.num_known, rows)
    lengths = kept + np.diff(panel.starts) - panel.num_known
    part_of_series = np.cumsum(lengths) // most
    for part in np.unique(part_of_series):
        here = part_of_series == part
        known, of_part = np.where(here, kept, 0), np.where(here, lengths, 0)
        yield panel_to_frame(panel.with_rows(ranges(panel.ends - known, of_part), of_part, known))


def time_column(panel: Panel, stamps: Stamps) -> pd.Series:
    """Stamps as a column that reads back as they are: in the zone, and decimal numbers as such."""
    step = decimal_step(panel.date_order)
    return panel.zone.column(stamps) if step is None else pd.Series(stamps * step)


def panel_to_frame(panel: Panel) -> pd.DataFrame:
    """The whole panel as a table under its original column names."""
    series = panel.series_of_rows
    columns: dict[str, object] = {panel.roles.time: time_column(panel, panel.timestamps)}
    if panel.roles.item_id is not None:
        columns[panel.roles.item_id] = np.array(panel.item_ids, dtype=object)[series]
    columns[panel.roles.target] = panel.target
    columns |= dict(zip(panel.roles.past_covariates, panel.past_covariates.T, strict=True))
    columns |= dict(zip(panel.roles.future_covariates, panel.future_covariates.T, strict=True))
    columns |= dict(zip(panel.roles.static_covariates, panel.static_covariates[series].T, strict=True))
    groups = (
        (panel.roles.past_categories, panel.past_categories),
        (panel.roles.future_categories, panel.future_categories),
        (panel.roles.static_categories, panel.static_categories[series]),
    )
    for names, codes in groups:
        columns |= {name: _texts(panel.categories[name], codes[:, index]) for index, name in enumerate(names)}
    if panel.roles.weight is not None:
        columns[panel.roles.weight] = panel.weights[series]
    return pd.DataFrame(columns)


def _texts(categories: tuple[str, ...], codes: NDArray[np.int32]) -> NDArray[np.object_]:
    """The category of every row, None where missing."""
    return np.array([*categories, None], dtype=object)[codes]


def ranges(firsts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """firsts[0], firsts[0] + 1, … (lengths[0] of them), then the same for the next (sum of lengths,)."""
    lengths = np.maximum(lengths, 0)
    before = np.cumsum(lengths) - lengths
    rows = np.arange(lengths.sum(), dtype=np.int64)
    rows += np.repeat(firsts - before, lengths)  # in place: there may be ten million
    return rows
