"""Paths drawn from an autoregressive forecast, a batch at a time, to a Parquet file."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.data.zones import in_zone
from forecast_attn.errors import ConfigError
from forecast_attn.forecasting.model import Model
from forecast_attn.runs.atomic import write_errors_of

if TYPE_CHECKING:
    from forecast_attn.data.windows import WindowArrays
    from forecast_attn.nn.network import ForecastNetwork

PATHS_AT_ONCE = 256
"""Paths drawn together; memory and the random numbers of a path do not depend on how many there are."""


@dataclass(frozen=True)
class SampleChoice:
    """Number of paths per window, the seed to draw them with, and the file to write."""

    paths: int
    seed: int
    path: Path

    @classmethod
    def of(cls, model: Model, paths: int | None, seed: int | None, path: Path | str | None) -> SampleChoice | None:
        """Parse the options of `predict`; None for no paths.

        Raises:
            ConfigError: the model has no paths to draw, or seed and file have nothing to act on.
        """
        if paths is None:
            if seed is not None or path is not None:
                raise ConfigError("--seed and --samples-out are for drawn paths", "add --samples 100")
            return None
        assert path is not None
        choice = cls(paths, secrets.randbelow(2**31) if seed is None else seed, Path(path))
        choice.check(model)
        return choice

    def check(self, model: Model) -> None:
        """Refuse a model that has no paths to draw.

        Raises:
            ConfigError: with the options that allow paths.
        """
        options = model.config.model
        if options.decoding != "autoregressive":
            raise ConfigError(
                "--samples needs steps that follow each other; those of --decoding direct are independent",
                "forecast train DATA --decoding autoregressive --quantiles 0.1,0.5,0.9, and the run's other options",
            )
        if options.head == "point":
            raise ConfigError(
                "--samples needs a forecast with a distribution; this run's is a point",
                "forecast train DATA --decoding autoregressive --quantiles 0.1,0.5,0.9, and the run's other options",
            )
        if options.head == "quantile" and not min(options.quantiles) < 0.5 < max(options.quantiles):
            raise ConfigError("--samples needs quantiles on both sides of 0.5", "train with --quantiles 0.1,0.5,0.9")


def drawn_paths(
    model: Model,
    panel: Panel,
    arrays: WindowArrays,
    cutoffs: NDArray[np.int64],
    choice: SampleChoice,
    moves: dict[int, NDArray[np.float64]],
) -> Iterator[tuple[NDArray[np.int64], int, NDArray[np.float64]]]:
    """Draw paths of every window, step by step: each value drawn feeds the next step.

    Args:
        model: autoregressive, with a distribution. The members of an ensemble draw in turn: path k is of member k
            modulo their number.
        panel: the series, of which the model's scaler knows all.
        arrays: the panel's windows, on the device to compute on.
        cutoffs: rows of the last known values, (num_windows,).
        choice: how many paths, and the seed. A window's paths depend on the seed and on its place among the windows,
            not on how many paths are drawn, but for rounding.
        moves: by the row of a cut-off, how far baselines move the network's forecast (horizon,); its paths go with it.

    Yields:
        The cut-off row of a window repeated for each path, the number of the first path (from 0), and the paths in
        original units (num_paths, horizon).
    """
    model = model.of_series(panel.item_ids).to(arrays.target.device)
    for index, cutoff in enumerate(cutoffs):
        generator = np.random.default_rng([choice.seed, index])
        for first in range(0, choice.paths, PATHS_AT_ONCE):
            num_paths = min(PATHS_AT_ONCE, choice.paths - first)
            rows = np.full(num_paths, cutoff)
            uniform = generator.random((num_paths, model.schema.horizon, 2)).astype(np.float32)
            drawn = np.empty((num_paths, model.schema.horizon), np.float32)
            turn = np.arange(first, first + num_paths) % len(model.networks)
            for member, network in enumerate(model.networks):
                of_member = turn == member
                drawn[of_member] = _draw(network, arrays, rows[of_member], uniform[of_member])
            series = panel.series_of(rows)
            yield rows, first, _moved(model.in_units(drawn, series), moves.get(int(cutoff)), model)


def _moved(paths: NDArray[np.float64], move: NDArray[np.float64] | None, model: Model) -> NDArray[np.float64]:
    if move is None:
        return paths
    return np.maximum(paths + move, 0) if model.config.data.non_negative else paths + move


def _draw(
    network: ForecastNetwork, arrays: WindowArrays, rows: NDArray[np.int64], uniform: NDArray[np.float32]
) -> NDArray[np.float32]:
    """A path for each row (num_paths, horizon), on the series' scale, of numbers (num_paths, horizon, 2)."""
    import torch

    from forecast_attn.forecasting.inference import inference

    if not len(rows):
        return np.empty(uniform.shape[:2], np.float32)
    device = arrays.target.device
    with inference():
        window, draws = arrays.gather(torch.from_numpy(rows).to(device)), torch.from_numpy(uniform).to(device)
        drawn: NDArray[np.float32] = network(window, need_weights=False, uniform=draws).prediction.cpu().numpy()
    return drawn


def write_samples(
    stream: BinaryIO,
    model: Model,
    panel: Panel,
    arrays: WindowArrays,
    cutoffs: NDArray[np.int64],
    choice: SampleChoice,
    moves: dict[int, NDArray[np.float64]],
) -> None:
    """Draw paths into a Parquet file: item_id, cutoff, sample (from 0), timestamp, step, value; the seed beside them.

    Raises:
        RunError: the disk is full.
    """
    writer: Any = None
    try:
        for rows, first, values in drawn_paths(model, panel, arrays, cutoffs, choice, moves):
            table = pa.Table.from_pandas(_sample_rows(panel, rows, first, values), preserve_index=False)
            table = table.replace_schema_metadata({b"seed": str(choice.seed).encode()})
            with write_errors_of(choice.path):
                writer = writer or pq.ParquetWriter(stream, table.schema, compression="zstd")
                writer.write_table(table)
    finally:
        if writer is not None:
            with write_errors_of(choice.path):
                writer.close()


def _sample_rows(panel: Panel, rows: NDArray[np.int64], first: int, values: NDArray[np.float64]) -> pd.DataFrame:
    num_paths, horizon = values.shape
    steps = np.arange(1, horizon + 1)
    series = int(panel.series_of(rows[0]))
    frame = pd.DataFrame(
        {
            "item_id": np.repeat(np.array([panel.item_ids[series]], dtype=object), values.size),
            "cutoff": np.repeat(panel.timestamps[rows], horizon),
            "sample": np.repeat(np.arange(first, first + num_paths), horizon),
            "timestamp": panel.timestamps[rows[:, None] + steps].ravel(),
            "step": np.tile(steps, num_paths),
            "value": values.ravel(),
        }
    )
    return in_zone(frame, panel.zone)
