"""Looks up, on any device, the forecast of a row that was known at a cut-off.

A forecast that was issued between two rows is available from the later one on. One int64 per forecast holds both its
row and the first row it is available at, so that a batch needs a single binary search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int64
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.data.findings import Finding, Report, counted, ended
from forecast_attn.data.issued import IssuedForecasts
from forecast_attn.data.panel import Panel
from forecast_attn.data.transforms import Affine

CUTOFFS_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Vintages:
    """The forecasts of a panel's rows; those of one row in the order in which they became available."""

    columns: tuple[int, ...]
    """Places of the forecast columns among the panel's `future_covariates`."""
    num_rows: int
    keys: Int64[Tensor, num_forecasts]
    """row * (num_rows + 1) + first row at which it is available; ascending."""
    forecasts: Float[Tensor, "num_forecasts num_columns"]

    @classmethod
    def build(cls, panel: Panel, issued: IssuedForecasts) -> Vintages:
        """Assign the forecasts to rows; leave out those of times or series the panel does not have.

        Args:
            panel: the series, with future rows where forecasts of them are wanted.
            issued: forecasts, of any series.
        """
        forecasts = issued.of_series(panel.item_ids)
        rows, available = (
            _rows_at(panel, forecasts.series, forecasts.stamps, "at"),
            _rows_at(panel, forecasts.series, forecasts.issued_at, "after"),
        )
        usable = np.flatnonzero((rows >= 0) & (available >= 0))
        keys = rows[usable] * (panel.num_rows + 1) + available[usable]
        # Issues between the same two rows become available together; the last in order of issue counts.
        newest = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
        positions = tuple(panel.roles.future_covariates.index(name) for name in issued.columns)
        return cls(
            columns=positions,
            num_rows=panel.num_rows,
            keys=torch.from_numpy(keys[newest]),
            forecasts=torch.from_numpy(forecasts.values[usable[newest]]),
        )

    def scaled(self, fit: Affine, starts: NDArray[np.int64]) -> Vintages:
        """Scale to the network's units, as float32.

        Args:
            fit: of all future covariates, (num_series, num_future).
            starts: first row of every series (num_series,).
        """
        rows = (self.keys // (self.num_rows + 1)).numpy()
        series = np.searchsorted(starts, rows, side="right") - 1
        chosen = Affine(fit.loc[:, list(self.columns)], fit.scale[:, list(self.columns)]).of(series)
        return replace(self, forecasts=torch.from_numpy(chosen.apply(self.forecasts.numpy())).float())

    def to(self, device: torch.device | str) -> Vintages:
        """The same forecasts on another device."""
        return replace(self, keys=self.keys.to(device), forecasts=self.forecasts.to(device))

    def values(
        self, rows: Int64[Tensor, "batch horizon"], cutoffs: Int64[Tensor, batch]
    ) -> Float[Tensor, "batch horizon num_columns"]:
        """The newest forecast of each row that was issued at or before its cut-off; NaN where there is none."""
        newest, is_there = self._find(rows, cutoffs)
        if not len(self.forecasts):
            return self.forecasts.new_full((*rows.shape, len(self.columns)), torch.nan)
        return torch.where(is_there[..., None], self.forecasts[newest.clamp(min=0)], torch.nan)

    def covered(self, cutoffs: NDArray[Any], steps: int) -> NDArray[np.bool_]:
        """Mask of cut-offs at which each of the next `steps` rows had been forecast (num_cutoffs,)."""
        ahead = torch.arange(1, steps + 1)
        parts = [self._find(batch[:, None] + ahead, batch)[1].all(dim=1) for batch in _batches(cutoffs)]
        return torch.cat([torch.zeros(0, dtype=torch.bool), *parts]).numpy()

    def _find(self, rows: Tensor, cutoffs: Tensor) -> tuple[Tensor, Tensor]:
        """Index of each row's newest forecast (batch, horizon), and whether it has one."""
        first = rows * (self.num_rows + 1)
        newest = torch.searchsorted(self.keys, first + cutoffs[:, None], right=True) - 1
        # A smaller key belongs to an earlier row: of this one nothing had been issued.
        return newest, (newest >= 0) & (self._key_at(newest) >= first)

    def _key_at(self, index: Tensor) -> Tensor:
        return self.keys[index.clamp(min=0)] if len(self.keys) else torch.full_like(index, -1)


def covered_cutoffs(
    panel: Panel, vintages: Vintages, cutoffs: NDArray[Any], steps: int, report: Report, what: str = "training"
) -> NDArray[np.int64]:
    """Keep the cut-offs at which the next steps had been forecast; report how many are left out.

    Args:
        panel: the series.
        vintages: what was forecast.
        cutoffs: rows (num_windows,).
        steps: how far ahead the forecasts must reach.
        report: called once when a cut-off is left out.
        what: the windows' purpose, for messages.

    Raises:
        DataError: none is left.
    """
    kept = vintages.covered(cutoffs, steps)
    if kept.all():
        return cutoffs
    first = int(cutoffs[np.argmin(kept)])
    name = panel.item_ids[int(panel.series_of(first))]
    when = panel.zone.stamp_text(panel.timestamps[first])
    message = (
        f"{int((~kept).sum()):,} of {len(kept):,} {what} windows are left out: at their cut-offs not all of the next "
        f"{counted(steps, 'step')} had been forecast, first at {when} of series '{name}'"
    )
    if not kept.any():
        hint = "add older forecasts that reach far enough, or shorten --horizon; see issued_at in docs/data-format.md"
        raise ended(report, Finding("FA508", "error", message, hint, item_id=name))
    report(Finding("FA507", "warning", message, "add older forecasts that reach as far", item_id=name))
    return cutoffs[kept]


def _batches(cutoffs: NDArray[np.int64]) -> Iterator[Tensor]:
    yield from torch.split(torch.from_numpy(cutoffs), CUTOFFS_AT_ONCE) if len(cutoffs) else ()


def _rows_at(panel: Panel, series: NDArray[np.int64], stamps: NDArray[np.generic], which: str) -> NDArray[np.int64]:
    """The panel's row of each (series, stamp): the one "at" that very stamp, or the first at or "after" it; else -1."""
    times = np.unique(panel.timestamps)
    keys = panel.series_of_rows * (len(times) + 1) + np.searchsorted(times, panel.timestamps)
    time_index = np.searchsorted(times, stamps)
    rows = np.searchsorted(keys, series * (len(times) + 1) + time_index)
    rows = np.where(rows < panel.starts[series + 1], rows, -1)
    if which == "at":
        rows = np.where(panel.timestamps[rows] == stamps, rows, -1)
    return np.asarray(rows, np.int64)
