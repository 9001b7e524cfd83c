"""Writes the attention file of a model's forecasts: choice of windows, form, size, rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import (
    AttentionMetadata,
    AttentionWriter,
    DumpChoice,
    DumpSize,
    WindowCoordinates,
    estimate_size,
)
from forecast_attn.attention_file.size import WINDOWS_TO_ESTIMATE_SIZE
from forecast_attn.attention_file.writer import check_top, windows_per_group
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.config.values import NETWORK
from forecast_attn.data.panel import Panel
from forecast_attn.forecasting.identifiability import RANK_WINDOWS, value_rank
from forecast_attn.forecasting.model import Model, WindowForecasts, attention_metadata

if TYPE_CHECKING:
    from forecast_attn.data.windows import WindowArrays

DumpListener = Callable[[DumpSize, Path], None]
"""Called with the size and the path of a file before it is written."""
Forecast = Callable[[NDArray[np.int64]], Iterator[WindowForecasts]]
"""Forecasts some of the windows, by the rows of their cut-offs."""


class NetworkShare(NamedTuple):
    """The weight of the network in the forecasts that an attention file belongs to."""

    network_share: float | None
    """None where it is not known, or differs from window to window."""
    network_shares: dict[str, float] = {}  # noqa: RUF012 - never changed
    """Weight by series, for those in which it differs."""

    @classmethod
    def of(cls, combination: Combination) -> Self:
        """The weight of the network in a combination; 1 where there is none."""
        if not combination.weights:
            return cls(1.0)
        by_series = {name: weights.get(NETWORK, 0.0) for name, weights in combination.by_series.items()}
        return cls(combination.weights.get(NETWORK, 0.0), by_series)


@dataclass(frozen=True)
class AttentionDumpPlan:
    """The weights of some windows on their way to a file."""

    model: Model
    panel: Panel
    forecast: Forecast
    metadata: AttentionMetadata
    cutoffs: NDArray[np.int64]
    """Rows of the windows that are written, (num_windows,)."""

    @classmethod
    def plan(
        cls,
        model: Model,
        panel: Panel,
        arrays: WindowArrays,
        cutoffs: NDArray[np.int64],
        choice: DumpChoice,
        share: NetworkShare | None = None,
    ) -> AttentionDumpPlan:
        """Choose the windows that networks forecast.

        Args:
            model: with attention.
            panel: with the rows of the windows' horizons.
            arrays: the panel's windows, on the device to compute on.
            cutoffs: rows to choose from, (num_cutoffs,).
            choice: what to write of them.
            share: how much of the forecasts is the network's; all of it when None.

        Raises:
            ConfigError: more weights of a row are to be kept than there are.
        """
        from forecast_attn.forecasting.inference import forecast_windows

        def forecast(rows: NDArray[np.int64]) -> Iterator[WindowForecasts]:
            return forecast_windows(model.uncalibrated, panel, rows, arrays)

        few = DumpChoice(windows=RANK_WINDOWS).of_cutoffs(choice.of_cutoffs(cutoffs))
        # Weights averaged over an ensemble weigh no values of their own.
        model.to(arrays.target.device)
        rank = None if model.is_ensemble or not len(few) else int(value_rank(model, arrays, few).max())
        return cls.with_rank(model, panel, cutoffs, choice, forecast, rank, share)

    @classmethod
    def with_rank(
        cls,
        model: Model,
        panel: Panel,
        cutoffs: NDArray[np.int64],
        choice: DumpChoice,
        forecast: Forecast,
        rank: int | None,
        share: NetworkShare | None = None,
    ) -> AttentionDumpPlan:
        """Choose the windows, where the rank of the values is known.

        Args, if not those of `plan`:
            forecast: forecasts a few of the windows, to estimate the file's size.
            rank: of the values that the weights weigh.
        """
        check_top(choice.top, model.schema.lookback, model.patch_length)
        metadata = dataclasses.replace(
            attention_metadata(model),
            dtype=choice.dtype,
            top=choice.top,
            value_rank=rank,
            masked=model.schema.layout.may_have_holes,
            **(share or NetworkShare(1.0))._asdict(),
        )
        return cls(model, panel, forecast, metadata, choice.of_cutoffs(cutoffs))

    @cached_property
    def size(self) -> DumpSize:
        """The file's size, estimated by forecasting a few of its windows, which takes time."""
        tried = DumpChoice(windows=WINDOWS_TO_ESTIMATE_SIZE).of_cutoffs(self.cutoffs)
        weights = [batch.weights for batch in self.forecast(tried) if batch.weights is not None]
        if not weights:
            return DumpSize(0, self.metadata, 0)
        first = self.cutoffs[: windows_per_group(self.metadata)]
        series = self.panel.series_of(first)
        coordinates = _coordinates(self.panel, self.model, first, series)
        return estimate_size(self.metadata, len(self.cutoffs), coordinates, np.concatenate(weights))

    def open(self, path: Path) -> AttentionWriter:
        """The file; a context manager."""
        return AttentionWriter(path, self.metadata)

    def write(self, writer: AttentionWriter, forecasts: WindowForecasts) -> None:
        """Add those of a batch that were chosen."""
        # Both ascend; np.isin would sort all cut-offs again for every batch.
        after, before = (np.searchsorted(self.cutoffs, forecasts.cutoffs, side=side) for side in ("right", "left"))
        chosen = after > before
        kept = forecasts
        if not chosen.all():
            kept = WindowForecasts._make(None if values is None else values[chosen] for values in forecasts)
        writer.write(**attention_windows(self.panel, self.model, kept), observed=self._observed(kept.cutoffs))

    def _observed(self, rows: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """(windows, num_keys) which keys the attention saw; None where none can be missing."""
        if not self.metadata.masked:
            return None
        past = rows[:, None] + np.arange(1 - self.model.schema.lookback, 1)
        first = self.panel.starts[self.panel.series_of(rows)][:, None]
        observed = (past >= first) & ~np.isnan(self.panel.target[np.maximum(past, first)])
        # A patch is a key where at least one of its steps was observed.
        keys: NDArray[np.bool_] = observed.reshape(len(rows), self.model.num_keys, -1).any(axis=-1)
        return keys


def attention_windows(panel: Panel, model: Model, forecasts: WindowForecasts) -> dict[str, Any]:
    """The arguments of `AttentionWriter.write` for a batch; the panel must hold the rows of their horizon."""
    coordinates = _coordinates(panel, model, forecasts.cutoffs, forecasts.series)
    return {**coordinates._asdict(), "weights": forecasts.weights}


def _coordinates(panel: Panel, model: Model, rows: NDArray[np.int64], series: NDArray[np.int64]) -> WindowCoordinates:
    """Series and times of the windows whose last known rows these are."""
    cutoffs, steps = panel.timestamps[rows], np.arange(1, model.schema.horizon + 1, model.patch_length)
    return WindowCoordinates(
        item_ids=[panel.item_ids[index] for index in series],
        cutoffs=cutoffs,
        timestamps=panel.timestamps[rows[:, None] + steps],
        # Counted back, not looked up: a short series is padded before its first row.
        lookback_starts=model.schema.frequency.shift(cutoffs, 1 - model.schema.lookback),
    )
