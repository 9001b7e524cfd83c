"""Cuts windows out of a panel: indices into one contiguous float32 array, never a table of windows."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Int64
from torch import Tensor

from forecast_attn.data.causal_scales import CausalScales, Units
from forecast_attn.data.scaled_rows import RowLayout, ScaledRows
from forecast_attn.data.vintages import Vintages


class Window(NamedTuple):
    """A batch of windows, scaled. What is not observed is 0 in the past, and NaN in the future target."""

    past_target: Float[Tensor, "batch lookback"]
    past_covariates: Float[Tensor, "batch lookback num_past_inputs"]
    """Past covariates, future covariates and calendar along the lookback."""
    future_covariates: Float[Tensor, "batch horizon num_future_inputs"]
    """Future covariates and calendar along the horizon."""
    static_covariates: Float[Tensor, "batch num_static"]
    future_target: Float[Tensor, "batch horizon"]
    past_observed: Bool[Tensor, "batch lookback"] | None
    """False where the target is missing, or the series has not begun; None where the table can have no such step."""
    past_categories: Int[Tensor, "batch lookback num_past_categories"]
    """Past categories, then future categories, along the lookback."""
    future_categories: Int[Tensor, "batch horizon num_future_categories"]
    static_categories: Int[Tensor, "batch num_static_categories"]
    weight: Float[Tensor, "batch"]
    """Weight of the window's series in the loss."""
    units: Units | None = None
    """Target units (batch, 1) where the window is scaled by the rows up to its cut-off; None for the scaler's."""


@dataclass(frozen=True, eq=False)
class WindowArrays:
    """The scaled rows of a panel on one device. A window is the number of its last known row, the cut-off."""

    lookback: int
    horizon: int
    layout: RowLayout
    target: Float[Tensor, "num_rows"]
    """NaN where not observed."""
    inputs: Float[Tensor, "num_rows num_inputs"]
    """Past covariates, then future covariates, each group followed by its indicators where it has them."""
    categories: Int[Tensor, "num_rows num_categories"]
    calendar: Float[Tensor, "num_calendar_rows num_calendar"]
    calendar_offsets: Int64[Tensor, "num_series"]
    """Added to a row of the series, the row of the calendar."""
    static_covariates: Float[Tensor, "num_series num_static"]
    static_categories: Int[Tensor, "num_series num_static_categories"]
    weights: Float[Tensor, "num_series"]
    """1, unless training gives others."""
    starts: Int64[Tensor, "num_series"]
    past_steps: Int64[Tensor, "lookback"]
    future_steps: Int64[Tensor, "horizon"]
    future_known: Bool[Tensor, "horizon num_future"] | None
    """False where a future covariate is not known any more; None where all are known throughout."""
    future_categories_known: Bool[Tensor, "horizon num_future_categories"] | None
    vintages: Vintages | None
    """Future covariates as they were forecast, scaled; they count along the horizon."""
    causal_scales: CausalScales | None = None
    """With them every window is scaled by the rows up to its cut-off, as training has it; else by the scaler."""

    @classmethod
    def build(cls, rows: ScaledRows, lookback: int, horizon: int, vintages: Vintages | None = None) -> "WindowArrays":
        """Wrap scaled rows into tensors, without a copy.

        Args:
            rows: of a panel, see `scale_rows`.
            lookback: past steps of a window.
            horizon: future steps of a window.
            vintages: future covariates as they were forecast, scaled.
        """
        return cls(
            lookback=lookback,
            horizon=horizon,
            layout=rows.layout,
            target=torch.from_numpy(rows.target),
            inputs=torch.from_numpy(rows.inputs),
            categories=torch.from_numpy(rows.categories),
            calendar=torch.from_numpy(rows.calendar),
            calendar_offsets=torch.from_numpy(rows.calendar_offsets),
            static_covariates=torch.from_numpy(rows.static_covariates),
            static_categories=torch.from_numpy(rows.static_categories),
            weights=torch.ones(len(rows.starts)),
            starts=torch.from_numpy(rows.starts),
            past_steps=torch.arange(1 - lookback, 1),
            future_steps=torch.arange(1, horizon + 1),
            future_known=known_ahead(rows.layout.known_steps, horizon),
            future_categories_known=known_ahead(rows.layout.known_category_steps, horizon),
            vintages=vintages,
        )

    def to(self, device: torch.device | str) -> "WindowArrays":
        """The same arrays on another device."""
        kinds = Tensor | Vintages | CausalScales
        moved: dict[str, Any] = {name: each.to(device) for name, each in vars(self).items() if isinstance(each, kinds)}
        return replace(self, **moved)

    def series_of(self, index: Int64[Tensor, "batch"]) -> Int64[Tensor, "batch"]:
        """Index of the series of each cut-off row."""
        return torch.searchsorted(self.starts, index.contiguous(), right=True) - 1

    def gather(self, index: Int64[Tensor, "batch"]) -> Window:
        """The windows whose last known rows are `index`. Their horizon must lie in one series, and their lookback too
        unless windows may be padded."""
        series = self.series_of(index)
        past, inside = self._past_rows(index, series)
        future = index[:, None] + self.future_steps
        units = (
            None if self.causal_scales is None else self.causal_scales.units(index - self.starts[series] + 1, series)
        )
        target = None if units is None else units.columns(0, 1)
        past_target, observed = self._observed(_in_units(self.target[past][..., None], target)[..., 0], inside)
        return Window(
            past_target=past_target,
            past_covariates=self._past_inputs(past, series, inside, units),
            future_covariates=self._future_inputs(future, index, series, units),
            static_covariates=self.static_covariates[series],
            future_target=_in_units(self.target[future][..., None], target)[..., 0],
            past_observed=observed,
            past_categories=zero_outside(self.categories[past], inside),
            future_categories=self._future_categories(future),
            static_categories=self.static_categories[series],
            weight=self.weights[series],
            units=target,
        )

    def _past_rows(self, index: Tensor, series: Tensor) -> tuple[Tensor, Tensor | None]:
        """Rows of the lookback, and whether they belong to the series; None where all of them must."""
        past = index[:, None] + self.past_steps
        if not self.layout.padded:
            return past, None
        starts = self.starts[series, None]
        return past.maximum(starts), past >= starts

    def _observed(self, target: Tensor, inside: Tensor | None) -> tuple[Tensor, Tensor | None]:
        if not self.layout.may_have_holes:
            return target, None
        observed = ~torch.isnan(target) if inside is None else ~torch.isnan(target) & inside
        return target.masked_fill(~observed, 0), observed

    def _past_inputs(self, rows: Tensor, series: Tensor, inside: Tensor | None, units: Units | None) -> Tensor:
        values = self._covariates(self.inputs[rows], units, 0)
        inputs = torch.cat([values, self._calendar_of(rows, series)], dim=-1)
        return zero_outside(inputs, inside)

    def _future_inputs(self, rows: Tensor, index: Tensor, series: Tensor, units: Units | None) -> Tensor:
        known = self.inputs[:, self.layout.num_past_columns :][rows]
        if self.vintages is not None:
            self._as_forecast(known, rows, index, self.vintages)
        known = self._covariates(known, units, self.layout.num_past_columns)
        if self.future_known is not None:
            known = known.masked_fill(~self.future_known, 0)
        return torch.cat([known, self._calendar_of(rows, series)], dim=-1)

    def _covariates(self, values: Tensor, units: Units | None, first: int) -> Tensor:
        """Covariates from column `first` on, in the given units; what is missing stays 0."""
        if units is None:
            return values
        column_units = units.columns(1 + first)
        is_final = ((column_units.loc == 0) & (column_units.scale == 1))[:, None]
        limit = column_units.limit[:, None, None]
        scaled = torch.where(is_final, values, column_units.scaled(values)).clamp(-limit, limit)
        return scaled if not self.layout.masked else scaled * self._indicators(values, first)

    def _indicators(self, values: Tensor, first: int) -> Tensor:
        """1 at observed covariates and at indicators, else 0; `values` are the inputs from column `first` on."""
        layout, parts = self.layout, []
        for number, start in ((layout.num_past, 0), (layout.num_future, layout.num_past_columns)):
            if start >= first:
                observed = values[..., start - first + number : start - first + 2 * number]
                parts += [observed, torch.ones_like(observed)]
        return torch.cat(parts, dim=-1)

    def _future_categories(self, rows: Tensor) -> Tensor:
        """Codes along the horizon; unknown (0) where a category is not known any more."""
        known = self.categories[rows][..., self.layout.num_past_categories :]
        return known if self.future_categories_known is None else known.masked_fill(~self.future_categories_known, 0)

    def _as_forecast(self, known: Tensor, rows: Tensor, index: Tensor, vintages: Vintages) -> None:
        """Replace actual values by the forecasts known at the cut-off."""
        values = vintages.values(rows, index)
        columns = list(vintages.columns)
        known[..., columns] = values.nan_to_num()
        if self.layout.masked:
            known[..., [self.layout.num_future + column for column in columns]] = (~values.isnan()).to(known.dtype)

    def _calendar_of(self, rows: Tensor, series: Tensor) -> Tensor:
        return self.calendar[rows + self.calendar_offsets[series, None]]


def _in_units(values: Tensor, units: Units | None) -> Tensor:
    return values if units is None else units.scaled(values)


def zero_outside(values: Tensor, inside: Tensor | None) -> Tensor:
    """The values (batch, length, size), 0 at steps outside a mask (batch, length); as they are without one."""
    return values if inside is None else values.masked_fill(~inside[..., None], 0)


def known_ahead(known_steps: tuple[int | None, ...], horizon: int) -> Tensor | None:
    """Mask of the steps at which each future column is known (horizon, num_columns); None where all are.

    Args:
        known_steps: how many steps ahead each column is known, None for all; indicators of holes are columns too.
        horizon: steps of a window.
    """
    if all(steps is None or steps >= horizon for steps in known_steps):
        return None
    limits = np.array([horizon if steps is None else steps for steps in known_steps])
    return torch.from_numpy(np.arange(1, horizon + 1)[:, None] <= limits)
