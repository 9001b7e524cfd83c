"""Cuts windows out of a panel: indices into one contiguous float32 array, never a table of windows."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int64
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.data.calendar import calendar_features, calendar_names
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.problems import counted
from forecast_attn.data.scaling import Scaler
from forecast_attn.data.split import Split
from forecast_attn.errors import DataError


class Window(NamedTuple):
    """A batch of windows, scaled."""

    past_target: Float[Tensor, "batch lookback"]
    past_covariates: Float[Tensor, "batch lookback num_past_inputs"]
    """Past covariates, future covariates and calendar along the lookback."""
    future_covariates: Float[Tensor, "batch horizon num_future_inputs"]
    """Future covariates and calendar along the horizon."""
    static_covariates: Float[Tensor, "batch num_static"]
    future_target: Float[Tensor, "batch horizon"]
    """NaN where not known."""


@dataclass(frozen=True, eq=False)
class WindowArrays:
    """The scaled rows of a panel on one device. A window is the number of its last known row, the cut-off."""

    lookback: int
    horizon: int
    num_past: int
    target: Float[Tensor, "num_rows"]
    inputs: Float[Tensor, "num_rows num_past_inputs"]
    """Past covariates, then future covariates, then calendar."""
    static_covariates: Float[Tensor, "num_series num_static"]
    starts: Int64[Tensor, "num_series"]
    past_steps: Int64[Tensor, "lookback"]
    future_steps: Int64[Tensor, "horizon"]

    @classmethod
    def build(cls, panel: Panel, scaler: Scaler, calendar: str, lookback: int, horizon: int) -> "WindowArrays":
        """Scale a panel into float32 arrays.

        Args:
            panel: the validated table.
            scaler: fitted on its training rows, with the panel's series in the panel's order.
            calendar: "auto" or "none".
            lookback: past steps of a window.
            horizon: future steps of a window.
        """
        if scaler.item_ids != panel.item_ids:
            raise ValueError("the scaler belongs to other series; use scaler.for_series(panel.item_ids)")
        static = (panel.static_covariates - scaler.static.loc) / scaler.static.scale
        return cls(
            lookback=lookback,
            horizon=horizon,
            num_past=panel.past_covariates.shape[1],
            target=torch.from_numpy(_scaled(panel.target, *scaler.target, np.diff(panel.starts))),
            inputs=torch.from_numpy(_inputs(panel, scaler, calendar)),
            static_covariates=torch.from_numpy(static.astype(np.float32)),
            starts=torch.from_numpy(panel.starts[:-1].copy()),
            past_steps=torch.arange(1 - lookback, 1),
            future_steps=torch.arange(1, horizon + 1),
        )

    @property
    def num_past_inputs(self) -> int:
        return self.inputs.shape[1]

    @property
    def num_future_inputs(self) -> int:
        return self.inputs.shape[1] - self.num_past

    @property
    def num_static(self) -> int:
        return self.static_covariates.shape[1]

    def to(self, device: torch.device | str) -> "WindowArrays":
        """The same arrays on another device."""
        moved: dict[str, Any] = {k: v.to(device) for k, v in vars(self).items() if isinstance(v, Tensor)}
        return replace(self, **moved)

    def series_of(self, index: Int64[Tensor, "batch"]) -> Int64[Tensor, "batch"]:
        """Which series each cut-off row belongs to."""
        return torch.searchsorted(self.starts, index, right=True) - 1

    def gather(self, index: Int64[Tensor, "batch"]) -> Window:
        """The windows whose last known rows are `index`. Their lookback and horizon must lie in one series."""
        past = index[:, None] + self.past_steps
        future = index[:, None] + self.future_steps
        return Window(
            past_target=self.target[past],
            past_covariates=self.inputs[past],
            future_covariates=self.inputs[:, self.num_past :][future],
            static_covariates=self.static_covariates[self.series_of(index)],
            future_target=self.target[future],
        )


def training_cutoffs(panel: Panel, split: Split, lookback: int, horizon: int) -> NDArray[np.int64]:
    """Every cut-off row whose whole horizon lies in training (num_windows,)."""
    first = panel.starts[:-1] + lookback - 1
    return ranges(first, panel.starts[:-1] + split.training_rows(panel) - horizon - first)


def validation_cutoffs(panel: Panel, split: Split, lookback: int, horizon: int) -> NDArray[np.int64]:
    """Every cut-off from the boundary on whose horizon is known (num_windows,); lookbacks may reach into training."""
    rows = split.training_rows(panel)
    first = panel.starts[:-1] + np.maximum(rows, lookback) - 1
    # A series without training rows has no scale of its own to be judged in.
    return ranges(first, np.where(rows > 0, panel.ends - horizon - first, 0))


def forecast_cutoffs(panel: Panel, lookback: int, horizon: int) -> NDArray[np.int64]:
    """The last known row of every series (num_series,). The panel must have `horizon` future rows (see `extend`).

    Raises:
        DataError: a series has fewer rows than the lookback.
    """
    if (panel.starts[1:] - panel.ends < horizon).any():
        raise ValueError("the panel has too few future rows; extend it by the horizon first")
    for index in np.flatnonzero(panel.known < lookback)[:1]:
        raise DataError(
            f"series '{panel.item_ids[index]}' has {counted(int(panel.known[index]), 'row')} with a target; "
            f"the lookback needs {lookback}",
            "add older rows of this series, or leave it out",
        )
    return panel.ends - 1


def _scaled(
    values: NDArray[np.float64], loc: NDArray[np.float64], scale: NDArray[np.float64], lengths: NDArray[np.int64]
) -> NDArray[np.float32]:
    """One column (num_rows,), by its series' loc and scale (num_series,)."""
    return ((values - np.repeat(loc, lengths)) / np.repeat(scale, lengths)).astype(np.float32)


def _inputs(panel: Panel, scaler: Scaler, calendar: str) -> NDArray[np.float32]:
    """Past covariates, future covariates and calendar (num_rows, num_past_inputs)."""
    groups = [(panel.past_covariates, scaler.past), (panel.future_covariates, scaler.future)]
    columns = [
        (values[:, at], fit.loc[:, at], fit.scale[:, at]) for values, fit in groups for at in range(values.shape[1])
    ]
    num_calendar = len(calendar_names(panel.frequency)) if calendar == "auto" else 0
    inputs = np.empty((panel.num_rows, len(columns) + num_calendar), np.float32)
    for position, (values, loc, scale) in enumerate(columns):
        inputs[:, position] = _scaled(values, loc, scale, np.diff(panel.starts))
    if num_calendar:
        inputs[:, len(columns) :] = calendar_features(panel.timestamps, panel.frequency)
    return inputs
