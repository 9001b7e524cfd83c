"""The audited model and its windows: forecasts of the network as it is, and under an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.audit.interventions import VisibleKeys, feeding
from forecast_attn.data.scaling import Scaler
from forecast_attn.data.windows import Window, WindowArrays
from forecast_attn.forecasting.inference import BATCH_SIZE, inference
from forecast_attn.forecasting.model import Model
from forecast_attn.forecasting.weight_need import reweighing
from forecast_attn.nn.attention import Attention, Reweigh
from forecast_attn.nn.inputs import Patches
from forecast_attn.training.preparation import Preparation

Floats = NDArray[np.float64]
Change = Callable[[slice, Tensor], Tensor]
"""Function of the windows' slice and the encoder's inputs that returns the inputs to read instead."""


class Reference(NamedTuple):
    """Forecasts and weights of the network without intervention."""

    prediction: Floats
    """(num_windows, horizon), in original units."""
    weights: NDArray[np.float32]
    """(num_windows, heads, num_steps, num_keys): of patches of time steps, which mostly are single ones."""
    visible: NDArray[np.bool_]
    """(num_windows, num_steps, num_keys): which keys may be attended to."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A model and the windows it is audited on.

    Attributes:
        cutoffs: rows of the last known values (num_windows,).
        series: index of each window's series (num_windows,).
        steps_from_first: time of each cut-off, in steps from the first one of all (num_windows,).
        actual: actual values, in original units (num_windows, horizon); NaN where it was not observed.
        scale: deviation of each window's series in its training rows, in original units (num_windows,).
        on_forecast: called with the number of passes of the network over all windows so far.
    """

    model: Model
    scaler: Scaler
    arrays: WindowArrays
    cutoffs: NDArray[np.int64]
    series: NDArray[np.int64]
    steps_from_first: Floats
    actual: Floats
    scale: Floats
    on_forecast: Callable[[int], None]

    @classmethod
    def of(
        cls,
        model: Model,
        preparation: Preparation,
        cutoffs: NDArray[np.int64],
        device: torch.device,
        on_forecast: Callable[[int], None] = lambda passes: None,
    ) -> Subject:
        """Gather what the audit needs; the network is moved to `device`.

        Raises:
            DataError: a series was not in training.
        """
        panel = preparation.panel
        model.network.to(device).eval()
        arrays = model.schema.windows_of(panel).to(device)
        series = panel.series_of(cutoffs)
        stamps = panel.timestamps[cutoffs]
        return cls(
            model=model,
            scaler=model.schema.scaler.for_series(panel.item_ids),
            arrays=arrays,
            cutoffs=cutoffs,
            series=series,
            steps_from_first=panel.frequency.steps_between(np.full_like(stamps, stamps.min()), stamps),
            actual=panel.target[cutoffs[:, None] + np.arange(1, model.schema.horizon + 1)],
            scale=_deviations(preparation)[series],
            on_forecast=on_forecast,
        )

    @property
    def attention(self) -> Attention:
        attention = self.model.network.decoder.attention
        assert attention is not None
        return attention

    @property
    def patches(self) -> Patches:
        """Patches of the network: units of its keys and of the decoder's steps."""
        return self.model.network.patches

    @property
    def key(self) -> str:
        """Word for a key: a step, or a patch of several."""
        return "step" if self.patches.length == 1 else "patch"

    @property
    def device(self) -> torch.device:
        return self.arrays.target.device

    @property
    def num_windows(self) -> int:
        return len(self.cutoffs)

    def batches(self) -> Iterator[tuple[slice, Window]]:
        """Iterate over batches: the slice of windows, and their tensors."""
        for first in range(0, self.num_windows, BATCH_SIZE):
            rows = slice(first, min(first + BATCH_SIZE, self.num_windows))
            yield rows, self.arrays.gather(torch.from_numpy(self.cutoffs[rows]).to(self.device))

    def reference_forecasts(self) -> Reference:
        """Forecast the windows, with the weights."""
        parts, visible = [], []
        with inference():
            for rows, window in self.batches():
                observed = VisibleKeys(self.attention.score.heads)
                with reweighing(self.attention, observed):
                    output = self.model.network(window)
                parts.append((self._in_units(output.prediction, rows), output.weights.float().cpu().numpy()))
                visible.append(observed.visible().cpu().numpy())
        self.on_forecast(1)
        prediction, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Reference(prediction, weights, np.concatenate(visible))

    def forecast(
        self,
        *,
        reweigh: Callable[[slice], Reweigh] | None = None,
        change: Change | None = None,
        rewindow: Callable[[slice, Window], Window] = lambda rows, window: window,
    ) -> Floats:
        """Forecast all windows under an experiment (num_windows, horizon), in original units.

        Args:
            reweigh: makes the weights of a batch of windows.
            change: makes what the encoder reads.
            rewindow: makes the windows themselves.
        """
        parts = []
        with inference():
            for rows, window in self.batches():
                with self._weighing(reweigh, rows), self._feeding(change, rows):
                    output = self.model.network(rewindow(rows, window), need_weights=False)
                parts.append(self._in_units(output.prediction, rows))
        self.on_forecast(1)
        return np.concatenate(parts)

    def mae(self, prediction: Floats) -> float:
        """Mean absolute error over windows and steps whose value was observed, in original units."""
        observed = ~np.isnan(self.actual)
        return float(np.abs(prediction - self.actual)[observed].mean())

    def window_errors(self, prediction: Floats) -> Floats:
        """Mean absolute error of each window (num_windows,); 0 where nothing of its horizon was observed."""
        observed = ~np.isnan(self.actual)
        errors = np.where(observed, np.abs(prediction - self.actual), 0).sum(axis=1)
        return np.asarray(errors / np.maximum(observed.sum(axis=1), 1), np.float64)

    def _in_units(self, prediction: Tensor, rows: slice) -> Floats:
        return self.scaler.target_in_units(prediction.cpu().numpy(), self.series[rows])

    def _weighing(self, reweigh: Callable[[slice], Reweigh] | None, rows: slice) -> AbstractContextManager[None]:
        return nullcontext() if reweigh is None else reweighing(self.attention, reweigh(rows))

    def _feeding(self, change: Change | None, rows: slice) -> AbstractContextManager[None]:
        if change is None:
            return nullcontext()
        return feeding(self.model.network, lambda inputs: change(rows, inputs))


def _deviations(preparation: Preparation) -> Floats:
    """Deviation of each series' target in its training rows, original units (num_series,); 1 where constant."""
    panel, rows = preparation.panel, preparation.split.training_rows(preparation.panel)
    parts = [panel.target[start : start + max(count, 1)] for start, count in zip(panel.starts, rows, strict=False)]
    deviations = np.array([np.std(part[~np.isnan(part)]) if (~np.isnan(part)).any() else 0.0 for part in parts])
    return np.where(deviations > 0, deviations, 1.0)
