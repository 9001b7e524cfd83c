"""Cuts windows out of a panel: indices into one contiguous float32 array, never a table of windows."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int64
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.data.calendar import calendar_features, calendar_names
from forecast_attn.data.panel import Panel
from forecast_attn.data.scaling import Affine, Scaler

ROWS_AT_ONCE = 1 << 16
"""Rows scaled together: what is in between stays small beside the table."""


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
        target, inputs = _scaled_rows(panel, scaler, calendar)
        static = (panel.static_covariates - scaler.static.loc) / scaler.static.scale
        return cls(
            lookback=lookback,
            horizon=horizon,
            num_past=panel.past_covariates.shape[1],
            target=torch.from_numpy(target),
            inputs=torch.from_numpy(inputs),
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


def _scaled_rows(panel: Panel, scaler: Scaler, calendar: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The target (num_rows,), and past covariates, future covariates and calendar (num_rows, num_past_inputs)."""
    num_calendar = len(calendar_names(panel.frequency)) if calendar == "auto" else 0
    num_past, num_future = panel.past_covariates.shape[1], panel.future_covariates.shape[1]
    target = np.empty(panel.num_rows, np.float32)
    inputs = np.empty((panel.num_rows, num_past + num_future + num_calendar), np.float32)
    past, future, rest = np.split(inputs, (num_past, num_past + num_future), axis=1)
    for first in range(0, panel.num_rows, ROWS_AT_ONCE):
        rows = slice(first, min(first + ROWS_AT_ONCE, panel.num_rows))
        series = np.searchsorted(panel.starts, np.arange(rows.start, rows.stop), side="right") - 1
        target[rows] = _scaled(panel.target[rows], scaler.target.of(series))
        past[rows] = _scaled(panel.past_covariates[rows], scaler.past.of(series))
        future[rows] = _scaled(panel.future_covariates[rows], scaler.future.of(series))
        if num_calendar:
            rest[rows] = calendar_features(panel.timestamps[rows], panel.frequency)
    return target, inputs


def _scaled(values: NDArray[np.float64], fit: Affine) -> NDArray[np.float64]:
    return (values - fit.loc) / fit.scale
