"""Engines that forecast windows: this process, or a Ray cluster, to the same bits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from forecast_attn.cluster import connected
from forecast_attn.data.panel import Filled, Panel
from forecast_attn.devices import cpu_threads
from forecast_attn.forecasting.inference import forecast_windows, windows_at_once
from forecast_attn.forecasting.model import Model, WindowForecasts

LARGEST_ANSWER = 1 << 26
"""Bytes of weights that a worker sends at once, as far as a batch is no larger."""
CHUNKS_PER_WORKER = 4
"""Pieces of work of each worker at least, so that none waits long for the last one."""
LARGEST_CHUNK = 4_096
"""Windows of a piece of work at most."""


class Engine(Protocol):
    """Forecasts the windows of a panel as `forecast_windows` does, in the same batches."""

    def __call__(
        self, model: Model, panel: Panel, cutoffs: NDArray[np.int64], *, need_weights: bool = True
    ) -> Iterator[WindowForecasts]:
        """Forecast every cut-off, a batch at a time."""


@contextlib.contextmanager
def connected_engine(accelerator: str) -> Iterator[Engine]:
    """Return the engine of a Ray cluster.

    Args:
        accelerator: as of the command.

    Raises:
        ConfigError: Ray is not installed, or the cluster has no such device.
        RunError: there is no such cluster.
    """
    with connected(accelerator) as cluster:
        yield RayEngine(cluster.in_order, cluster.num_workers, cluster.device_type)


class RayEngine(NamedTuple):
    """Windows on the workers of a cluster, neighbouring ones in each piece of work."""

    in_order: Callable[..., Iterator[Any]]
    """`Cluster.in_order`."""
    num_workers: int
    device_type: str

    def __call__(
        self, model: Model, panel: Panel, cutoffs: NDArray[np.int64], *, need_weights: bool = True
    ) -> Iterator[WindowForecasts]:
        """Forecast every cut-off on the cluster; cut-offs ascend."""
        model = model.of_series(panel.item_ids).to(torch.device("cpu"))
        size = self._chunk_size(model, len(cutoffs), need_weights)
        chunks = (cutoffs[first : first + size] for first in range(0, len(cutoffs), size))
        for batches in self.in_order(
            _forecast_chunk, _WindowsWork(model, panel, need_weights, self.device_type), chunks
        ):
            yield from batches

    def _chunk_size(self, model: Model, num_windows: int, need_weights: bool) -> int:
        """Windows of a piece of work: whole batches, so that batches are those of one process."""
        batch = windows_at_once(torch.device(self.device_type), model.num_keys)
        per_window = 4 * model.schema.horizon * model.num_keys * model.config.model.heads if need_weights else 1
        share = -(-num_windows // (CHUNKS_PER_WORKER * self.num_workers))
        return batch * max(1, min(share, LARGEST_CHUNK, LARGEST_ANSWER // per_window) // batch)


class _WindowsWork(NamedTuple):
    """Sent to every machine once."""

    model: Model
    panel: Panel
    need_weights: bool
    device_type: str


def series_between(panel: Panel, first: int, stop: int) -> Panel:
    """Neighbouring series of a panel; what was repaired in it stays with the whole."""
    series, rows = slice(first, stop), slice(int(panel.starts[first]), int(panel.starts[stop]))
    return replace(
        panel,
        item_ids=panel.item_ids[series],
        starts=panel.starts[first : stop + 1] - panel.starts[first],
        num_known=panel.num_known[series],
        timestamps=panel.timestamps[rows],
        target=panel.target[rows],
        past_covariates=panel.past_covariates[rows],
        future_covariates=panel.future_covariates[rows],
        past_categories=panel.past_categories[rows],
        future_categories=panel.future_categories[rows],
        static_covariates=panel.static_covariates[series],
        static_categories=panel.static_categories[series],
        weights=panel.weights[series],
        filled=Filled(),
        repairs=(),
    )


def _forecast_chunk(work: _WindowsWork, cutoffs: NDArray[np.int64]) -> list[WindowForecasts]:
    """Forecast neighbouring windows on a worker, from the rows of their series alone."""
    model, panel, first_row, first = work.model, work.panel, 0, 0
    if panel.issued is None:  # otherwise the forecasts that were issued count series in the whole panel
        first, last = panel.series_of(cutoffs[[0, -1]]).tolist()
        first_row = int(panel.starts[first])
        scaler = model.schema.scaler.between(first, last + 1)
        model = replace(model, schema=replace(model.schema, scaler=scaler))
        panel = series_between(panel, first, last + 1)
    with cpu_threads(model.config.training.threads):
        arrays = model.schema.windows_of(panel).to(torch.device(work.device_type))
        batches = forecast_windows(model, panel, cutoffs - first_row, arrays, need_weights=work.need_weights)
        return [batch._replace(cutoffs=batch.cutoffs + first_row, series=batch.series + first) for batch in batches]
