"""Rows to be forecast, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.frequency import Stamps
from forecast_attn.data.panel import Panel
from forecast_attn.data.roles import Roles

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FutureRows:
    """Values known for the steps after each series' last known target."""

    stamps: Stamps
    """(num_series, horizon)"""
    present: NDArray[np.bool_]
    """True where a table has the cell, empty or not (num_series, horizon, num_future + num_future_categories)."""
    covariates: NDArray[np.float64]
    """(num_series, horizon, num_future), NaN where not known."""
    category_codes: NDArray[np.int32]
    """(num_series, horizon, num_future_categories), -1 where not known."""
    categories: dict[str, tuple[str, ...]]
    """The panel's, with the categories that only these rows have."""


def future_stamps(panel: Panel, horizon: int) -> Stamps:
    """The steps after each series' last known target (num_series, horizon)."""
    last, steps = np.repeat(panel.timestamps[panel.ends - 1], horizon), np.arange(1, horizon + 1)
    return panel.frequency.shift(last, np.tile(steps, panel.num_series)).reshape(-1, horizon)


def future_in_panel(panel: Panel, horizon: int) -> FutureRows:
    """Future values in the panel's own trailing rows."""
    future_rows = panel.ends[:, None] + np.arange(horizon)
    inside = future_rows < panel.starts[1:, None]
    rows = np.where(inside, future_rows, 0)
    return FutureRows(
        stamps=future_stamps(panel, horizon),
        present=np.repeat(inside[..., None], len(panel.roles.future), axis=2),
        covariates=np.where(inside[..., None], panel.future_covariates[rows], np.nan),
        category_codes=np.where(inside[..., None], panel.future_categories[rows], np.int32(-1)),
        categories=panel.categories,
    )


def missing_cells(roles: Roles, rows: FutureRows, masked: bool) -> NDArray[np.bool_]:
    """Mask of the cells that a forecast needs and no table has (num_series, horizon, num_future +
    num_future_categories).

    A covariate known for k steps is needed for those only. With `masked`, an empty cell counts as known unless its
    series has no value at any of several steps: that column was not filled in. An absent row never counts as known.
    """
    needed = _needed_cells(roles, rows.stamps.shape[1])
    empty = np.concatenate([np.isnan(rows.covariates), rows.category_codes < 0], axis=2) & needed
    if not masked:
        return empty
    not_filled = (empty | ~needed).all(axis=1, keepdims=True) & (needed.sum(axis=0) > 1)
    return np.asarray(empty & (~rows.present | not_filled), np.bool_)


def _needed_cells(roles: Roles, horizon: int) -> NDArray[np.bool_]:
    """Mask of the future cells that a forecast needs (horizon, num_future + num_future_categories)."""
    known = np.array([roles.known_steps.get(name, horizon) for name in roles.future], np.int64)
    return np.arange(horizon)[:, None] < known


def merged_categories(categories: tuple[str, ...], texts: tuple[str, ...]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """New code of every old one (the last is -1, for unknown), and all categories sorted as text."""
    merged = tuple(sorted({*categories, *texts}))
    codes = pd.Index(merged, dtype=object).get_indexer(pd.Index(categories, dtype=object))
    return np.append(codes, -1).astype(np.int32), merged
