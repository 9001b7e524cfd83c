"""A panel's rows as the network reads them: scaled columns, indicators, codes, and the calendar of each step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.calendar_features import Calendar
from forecast_attn.data.categories import Vocabulary
from forecast_attn.data.panel import Panel
from forecast_attn.data.roles import Roles
from forecast_attn.data.row_storage import row_blocks
from forecast_attn.data.scaling import Scaler


@dataclass(frozen=True)
class RowLayout:
    """The columns of the inputs, and which of them may be missing."""

    num_past: int
    num_future: int
    num_past_categories: int
    masked: bool
    """Values may be missing; then every covariate has an indicator: 1 where observed, else 0."""
    padded: bool
    """Windows may begin before their series."""
    known_steps: tuple[int | None, ...]
    """Number of steps for which each future column (indicators included) is known; None for the whole horizon."""
    known_category_steps: tuple[int | None, ...]
    """The same of each future categorical column."""

    @classmethod
    def of(cls, roles: Roles, *, masked: bool, padded: bool) -> RowLayout:
        spans = tuple(roles.known_steps.get(name) for name in roles.future_covariates)
        return cls(
            num_past=len(roles.past_covariates),
            num_future=len(roles.future_covariates),
            num_past_categories=len(roles.past_categories),
            masked=masked,
            padded=padded,
            known_steps=(*spans, *spans) if masked else spans,
            known_category_steps=tuple(roles.known_steps.get(name) for name in roles.future_categories),
        )

    @property
    def may_have_holes(self) -> bool:
        return self.masked or self.padded

    @property
    def num_past_columns(self) -> int:
        return self.num_past * (1 + self.masked)

    @property
    def num_future_columns(self) -> int:
        return self.num_future * (1 + self.masked)


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """The arrays behind `WindowArrays`, which describes them."""

    layout: RowLayout
    target: NDArray[np.float32]
    inputs: NDArray[np.float32]
    categories: NDArray[np.int32]
    calendar: NDArray[np.float32]
    calendar_offsets: NDArray[np.int64]
    static_covariates: NDArray[np.float32]
    static_categories: NDArray[np.int32]
    starts: NDArray[np.int64]


def scale_rows(
    panel: Panel, scaler: Scaler, vocabulary: Vocabulary, layout: RowLayout, calendar: Calendar
) -> ScaledRows:
    """Scale a panel into float32 arrays.

    Args:
        panel: the validated table.
        scaler: fitted on its training rows, with the panel's series in the panel's order.
        vocabulary: of the categorical covariates.
        layout: what may be missing.
        calendar: the features of each step.
    """
    if scaler.item_ids != panel.item_ids:
        raise ValueError("the scaler belongs to other series; use scaler.for_series(panel.item_ids)")
    target, inputs = _scaled_columns(panel, scaler, layout)
    features, offsets = calendar_rows(panel, calendar)
    roles = panel.roles
    static = scaler.static.apply(panel.static_covariates)
    return ScaledRows(
        layout=layout,
        target=target,
        inputs=inputs,
        categories=_categories(panel, vocabulary),
        calendar=features,
        calendar_offsets=offsets,
        static_covariates=np.nan_to_num(static).astype(np.float32),
        static_categories=vocabulary.encode(panel, roles.static_categories, panel.static_categories),
        starts=panel.starts[:-1].copy(),
    )


def calendar_rows(panel: Panel, calendar: Calendar) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Features of every distinct step (num_steps, num_features), and each series' offset into them (num_series,).

    Series that share a time grid share its rows: ten thousand series of a thousand steps need a thousand rows.
    """
    begins, lengths = _places_on_grid(panel), np.diff(panel.starts)
    stamps = np.full(int((begins + lengths).max()), panel.timestamps[0])
    # Of the series that begin together the longest one has all their stamps.
    longest = np.lexsort((-lengths, begins))
    for index in longest[np.unique(begins[longest], return_index=True)[1]]:
        stamps[begins[index] : begins[index] + lengths[index]] = panel.timestamps[
            panel.starts[index] : panel.starts[index + 1]
        ]
    return calendar.features(panel.zone.local(stamps)), begins - panel.starts[:-1]


def _places_on_grid(panel: Panel) -> NDArray[np.int64]:
    """Steps from the earliest stamp to each series' first one; where series lie between steps, one after the other."""
    firsts = panel.timestamps[panel.starts[:-1]]
    steps = panel.frequency.steps_between(np.full_like(firsts, firsts.min()), firsts)
    if (steps == np.round(steps)).all():
        return steps.astype(np.int64)
    return panel.starts[:-1]


def _scaled_columns(panel: Panel, scaler: Scaler, layout: RowLayout) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The target (num_rows,), and the covariates with their indicators (num_rows, num_inputs)."""
    target = panel.storage.empty(panel.num_rows, np.float32)
    num_inputs = layout.num_past_columns + layout.num_future_columns
    inputs = panel.storage.empty((panel.num_rows, num_inputs), np.float32)
    past, future = np.split(inputs, (layout.num_past_columns,), axis=1)
    for rows in row_blocks(panel.num_rows):
        series = panel.series_of(np.arange(rows.start, rows.stop))
        target[rows] = scaler.scale_target(panel.target[rows], series)
        _fill(past[rows], scaler.past.of(series).apply(panel.past_covariates[rows]), layout.masked)
        _fill(future[rows], scaler.future.of(series).apply(panel.future_covariates[rows]), layout.masked)
    return target, inputs


def _categories(panel: Panel, vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The vocabulary's codes of the categories (num_rows, num_categories)."""
    columns = (*panel.roles.past_categories, *panel.roles.future_categories)
    encoded = panel.storage.empty((panel.num_rows, len(columns)), np.int32)
    for rows in row_blocks(panel.num_rows):
        codes = np.concatenate([panel.past_categories[rows], panel.future_categories[rows]], axis=1)
        encoded[rows] = vocabulary.encode(panel, columns, codes)
    return encoded


def _fill(columns: NDArray[np.float32], values: NDArray[np.float64], masked: bool) -> None:
    """Write scaled covariates, and beside them their indicators where values may be missing."""
    if not masked:
        columns[:] = values
        return
    observed = ~np.isnan(values)
    columns[:] = np.concatenate([np.where(observed, values, 0), observed], axis=1)
