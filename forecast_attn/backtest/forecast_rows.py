"""The tidy rows of a backtest: windows and their forecasts as a table, and tables as one file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from forecast_attn.baselines.combination import COMBINATION, combined, mean_of
from forecast_attn.baselines.combination_weights import Combination, others_and_share
from forecast_attn.config.values import quantile_name
from forecast_attn.data.panel import Panel
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.runs.atomic import replacing, write_errors_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def rows_schema(panel: Panel, quantiles: tuple[float, ...]) -> pa.Schema:
    """item_id, cutoff, timestamp, step, target, prediction, a column per quantile, model."""
    time = pa.int64() if panel.frequency.is_integer else pa.timestamp("ns", tz=panel.zone.type_name)
    return pa.schema(
        [
            ("item_id", pa.string()),
            ("cutoff", time),
            ("timestamp", time),
            ("step", pa.int64()),
            ("target", pa.float64()),
            ("prediction", pa.float64()),
            *((quantile_name(quantile), pa.float64()) for quantile in quantiles),
            ("model", pa.string()),
        ]
    )


def actual_values(panel: Panel) -> Floats:
    """The target as it was observed (num_rows,): NaN where it is missing, and where a policy filled it."""
    filled = panel.filled.rows.get(panel.roles.target)
    if filled is None:
        return panel.target
    target = panel.target.copy()
    target[filled] = np.nan
    return target


def rows_table(
    panel: Panel, actual: Floats, model: str, windows: Ints, prediction: Floats, quantiles: dict[float, Floats | None]
) -> pa.Table:
    """The rows of some windows, one per step.

    Args:
        panel: the series.
        actual: see `actual_values`.
        model: who made the forecasts.
        windows: rows of the last known values (num_windows,).
        prediction: (num_windows, horizon).
        quantiles: of each quantile its forecasts (num_windows, horizon); None for a model without.
    """
    count, horizon = prediction.shape
    steps = np.arange(1, horizon + 1)
    rows = windows[:, None] + steps
    names = pa.array(panel.item_ids, pa.string())
    series = np.repeat(panel.series_of(windows), horizon)
    schema = rows_schema(panel, tuple(quantiles))
    columns: list[Any] = [
        pa.DictionaryArray.from_arrays(pa.array(series), names).cast(pa.string()),
        _stamps(np.repeat(panel.timestamps[windows], horizon), schema.field("cutoff").type),
        _stamps(panel.timestamps[rows].ravel(), schema.field("cutoff").type),
        np.tile(steps, count),
        _or_null(actual[rows]),
        _or_null(prediction),
        *(pa.nulls(prediction.size, pa.float64()) if each is None else _or_null(each) for each in quantiles.values()),
        pa.DictionaryArray.from_arrays(pa.array(np.zeros(prediction.size, np.int32)), [model]).cast(pa.string()),
    ]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=schema)


def combined_rows(
    rows: pa.Table, others: dict[str, pa.Table], combination: Combination, *, non_negative: bool
) -> pa.Table:
    """The rows of the network's forecasts together with those of baselines, with its quantiles; see `combined`.

    Args:
        rows: rows of the network.
        others: the same rows of each baseline; its quantiles are null where it forecasts points alone.
        combination: of the network and of each of them; empty where the network has one half, and they have the other.
        non_negative: cut them off at 0.
    """
    kept = [name for name in rows.column_names if name not in ("item_id", "cutoff", "timestamp", "step", "target")]
    values = {name: rows[name].to_numpy() for name in kept if name != "model"}
    forecasts = {name: table["prediction"].to_numpy() for name, table in others.items()}
    point = values.pop("prediction")
    share: Floats | float = 0.5
    distances: dict[str, Floats] = {}
    if combination.weights:
        names = rows["item_id"].combine_chunks().dictionary_encode()
        item_ids, series = names.dictionary.to_pylist(), names.indices.to_numpy()
        other, share = others_and_share(forecasts, combination, point.shape, item_ids=item_ids, series=series)
    else:
        other = mean_of(list(forecasts.values()))
        for name in values:
            distances[name] = mean_of([each[name].to_numpy() - forecasts[which] for which, each in others.items()])
    prediction, quantiles = combined(point, values, other, distances=distances, share=share, non_negative=non_negative)
    columns = {**quantiles, "prediction": prediction}
    for name, column in columns.items():
        rows = rows.set_column(rows.column_names.index(name), rows.schema.field(name), _or_null(column))
    name = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows.num_rows, np.int32)), [COMBINATION]).cast(pa.string())
    return rows.set_column(rows.column_names.index("model"), rows.schema.field("model"), name)


def _stamps(stamps: NDArray[Any], kind: pa.DataType) -> pa.Array:
    return pa.array(stamps.astype(np.int64), pa.int64()).cast(kind)


def _or_null(values: Floats) -> pa.Array:
    """NaN as null: a value that is not there."""
    return pa.array(values.ravel(), from_pandas=True)


REPEATED = ["item_id", "cutoff", "timestamp", "step", "model"]
"""Columns whose values are worth a dictionary; forecasts hardly repeat."""


def write_parquet(path: Path, tables: Iterable[pa.Table], schema: pa.Schema) -> None:
    """Write tables as row groups of a file that appears whole or not at all.

    Raises:
        RunError: it cannot be written.
    """
    with replacing(path) as stream, write_errors_of(path):
        _write(stream, tables, schema)


def parquet_in_memory(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.Buffer:
    """The bytes that `write_parquet` writes."""
    stream = pa.BufferOutputStream()
    _write(stream, tables, schema)
    return stream.getvalue()


def _write(stream: Any, tables: Iterable[pa.Table], schema: pa.Schema) -> None:
    writer = pq.ParquetWriter(stream, schema, compression="zstd", use_dictionary=REPEATED)
    try:
        for table in tables:
            writer.write_table(table, row_group_size=max(table.num_rows, 1))
    finally:
        writer.close()


def write_part(path: Path, rows: pa.Table) -> None:
    """Write rows that are soon read again as they are in memory; the file appears whole or not at all.

    Raises:
        RunError: it cannot be written.
    """
    with replacing(path) as stream, write_errors_of(path), pa.ipc.new_file(stream, rows.schema) as writer:
        writer.write_table(rows)


def rows_of_part(path: Path) -> pa.Table:
    """The rows of a file of `write_part`."""
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


def row_groups(path: Path) -> Iterator[pa.Table]:
    """The row groups of a file, one at a time."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group)


ROWS_AT_ONCE = 1 << 18
"""Rows of all models that are scored together."""


class RowsFile:
    """The rows of a backtest as they were written: of one model after the other, each in the same row groups."""

    def __init__(self, source: Path | pa.Buffer, models: tuple[str, ...]) -> None:
        """Open.

        Args:
            source: a Parquet file, or its bytes.
            models: in the order of the file.
        """
        self.models, self._source = models, source
        self._state = self._stat()

    def parts(self) -> Iterator[pd.DataFrame]:
        """The same rows of every model, one model after the other; a part of all windows at a time."""
        size = max(ROWS_AT_ONCE // len(self.models), 1)
        with contextlib.ExitStack() as stack:
            # Read ahead, a file would be in memory as a whole.
            files = [stack.enter_context(pq.ParquetFile(self._opened(), pre_buffer=False)) for _ in self.models]
            groups = files[0].num_row_groups // len(files)
            batches = [
                file.iter_batches(size, row_groups=range(at * groups, (at + 1) * groups), use_threads=False)
                for at, file in enumerate(files)
            ]
            for part in zip(*batches, strict=True):
                yield pa.Table.from_batches(part).to_pandas()

    def frame(self) -> pd.DataFrame:
        """All rows.

        Raises:
            RunError: the file was deleted, or is another one now.
        """
        if self._state is None or self._stat() != self._state:
            raise RunError(f"'{self._source}' is not the file that the backtest wrote", "repeat the backtest")
        frame: pd.DataFrame = pq.read_table(self._opened()).to_pandas()
        return frame

    def _opened(self) -> Path | pa.BufferReader:
        return self._source if isinstance(self._source, Path) else pa.BufferReader(self._source)

    def _stat(self) -> tuple[int, ...] | None:
        if not isinstance(self._source, Path):
            return ()
        try:
            status = self._source.stat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns


def check_out(path: Path) -> None:
    """Refuse what is neither Parquet nor CSV by its name.

    Raises:
        ConfigError: naming both.
    """
    if path.suffix.lower() not in (".parquet", ".csv"):
        raise ConfigError(
            f"--out '{path}' is neither .parquet nor .csv", f"--out {path.parent / (path.stem or 'rows')}.parquet"
        )
