"""Streams windows into an attention file that appears whole or not at all.

A row group always holds whole windows, so that any window can be read without the others.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from forecast_attn.attention_file.attention_schema import AttentionMetadata, attention_schema
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.runs.atomic import check_name, replacing, write_errors_of

ROW_GROUP_BYTES = 8 * 2**20
"""Weights of a row group, as float32 and all of them, in whatever form they are stored: large enough to compress and
scan well, small enough that a reader may hold a few row groups."""


class WindowCoordinates(NamedTuple):
    """Series and times of windows, one of each for every window."""

    item_ids: Sequence[str]
    cutoffs: NDArray[Any]
    timestamps: NDArray[Any]
    lookback_starts: NDArray[Any]


class AttentionWriter:
    """Writes windows as they come, in constant memory; the file appears, whole, when the block ends well.

    Use as a context manager. An exception inside the block leaves neither the file nor a part of it, and an older
    file of the same name as it was.

    Raises:
        RunError: the folder is missing, may not be written to, or is full.
    """

    def __init__(self, path: Path | str, metadata: AttentionMetadata) -> None:
        self.path, self.metadata = Path(path), metadata
        self._stack = contextlib.ExitStack()
        self._pending: list[Any] = []
        self._pending_bytes = 0
        self._parquet: Any = None

    def __enter__(self) -> Self:
        check_name(self.path)
        self._stream = self._stack.enter_context(replacing(self.path))
        self._stack.push(self._finish)
        return self

    def __exit__(self, *error: Any) -> bool | None:
        return self._stack.__exit__(*error)

    def write(
        self,
        *,
        item_ids: Sequence[str],
        cutoffs: NDArray[Any],
        timestamps: NDArray[Any],
        lookback_starts: NDArray[Any],
        weights: NDArray[np.float32],
        observed: NDArray[np.bool_] | None = None,
    ) -> None:
        """Add a batch of windows.

        Args:
            item_ids: series of each window, (batch,).
            cutoffs: last known time of each window, (batch,), time stamps or whole numbers.
            timestamps: the target times of the decoder's steps, of a patch the first, (batch, num_steps).
            lookback_starts: time of the oldest time step, (batch,).
            weights: (batch, heads, num_steps, num_keys), oldest key first.
            observed: (batch, num_keys) False where a key has no time step that is known; for files of masked windows,
                and only these.

        Raises:
            ValueError: the arrays' sizes do not fit each other or the metadata.
            RunError: the disk is full.
        """
        coordinates = WindowCoordinates(item_ids, cutoffs, timestamps, lookback_starts)
        table = _windows_table(self.metadata, coordinates, weights, observed)
        if not table.num_rows:
            return
        self._pending.append(table)
        self._pending_bytes += 4 * table.num_rows * self.metadata.num_keys
        if self._pending_bytes >= ROW_GROUP_BYTES:
            self._flush(table.schema)

    def _flush(self, schema: Any) -> None:
        """Write what is pending as one row group, which thereby holds whole windows."""
        with write_errors_of(self.path):
            if self._parquet is None:
                self._parquet = open_parquet(self._stream, schema)
            if self._pending:
                table = pa.concat_tables(self._pending)
                self._parquet.write_table(table, row_group_size=table.num_rows)
        self._pending.clear()
        self._pending_bytes = 0

    def _finish(self, kind: type[BaseException] | None, *_: object) -> None:
        """Complete the Parquet file, or give it up when the block failed."""
        try:
            if kind is None:
                self._flush(self._pending[0].schema if self._pending else attention_schema(self.metadata))
                with write_errors_of(self.path):
                    self._parquet.close()
        finally:
            self._release()

    def _release(self) -> None:
        """Drop a Parquet writer that failed: its finaliser would otherwise try again, on a closed stream."""
        if self._parquet is not None and self._parquet.is_open:
            with contextlib.suppress(OSError):
                self._parquet.close()
            self._parquet.is_open = False


def _expect_shape(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if np.shape(array) != shape:
        raise ValueError(f"{name} must have shape {shape}; got {np.shape(array)}")


def open_parquet(stream: Any, schema: Any) -> Any:
    """A writer of the files' encoding: weights hardly repeat, so that a dictionary of them would make them larger."""
    return pq.ParquetWriter(
        stream, schema, compression="zstd", use_dictionary=["item_id"], write_statistics=["item_id", "cutoff"]
    )


def _windows_table(
    metadata: AttentionMetadata,
    coordinates: WindowCoordinates,
    weights: NDArray[np.float32],
    observed: NDArray[np.bool_] | None,
) -> Any:
    """The rows of some windows, one per (window, head, step); see `AttentionWriter.write`."""
    batch, heads, steps = len(coordinates.item_ids), metadata.heads, metadata.num_steps
    _expect_shape("weights", weights, (batch, heads, steps, metadata.num_keys))
    _expect_shape("cutoffs", coordinates.cutoffs, (batch,))
    _expect_shape("lookback_starts", coordinates.lookback_starts, (batch,))
    _expect_shape("timestamps", coordinates.timestamps, (batch, steps))
    integer_time = np.issubdtype(np.asarray(coordinates.cutoffs).dtype, np.integer)
    schema = attention_schema(metadata, integer_time=integer_time)
    columns = [
        *coordinate_columns(metadata, coordinates),
        *weight_columns(metadata, weights.reshape(batch * heads * steps, metadata.num_keys)),
        *_missing_columns(metadata, weights, observed),
    ]
    return pa.table(
        [pa.array(column, type=kind) for column, kind in zip(columns, schema.types, strict=True)], schema=schema
    )


def coordinate_columns(metadata: AttentionMetadata, coordinates: WindowCoordinates) -> list[Any]:
    """The first columns: which series, cut-off, step or steps, head and times each row is about."""
    item_ids, cutoffs, timestamps, lookback_starts = coordinates
    batch, heads, steps = len(item_ids), metadata.heads, metadata.num_steps
    per_window = heads * steps
    first_steps = np.arange(1, metadata.horizon + 1, metadata.patch_length, dtype=np.int32)
    last_steps = np.minimum(first_steps + metadata.patch_length - 1, metadata.horizon, dtype=np.int32)
    return [
        pa.array([str(item_id) for item_id in item_ids], pa.string()).take(np.repeat(np.arange(batch), per_window)),
        np.repeat(_plain_time(cutoffs), per_window),
        np.tile(first_steps, batch * heads),
        np.tile(np.repeat(np.arange(heads, dtype=np.int32), steps), batch),
        np.repeat(_plain_time(timestamps)[:, None], heads, axis=1).reshape(-1),
        np.repeat(_plain_time(lookback_starts), per_window),
        *([np.tile(last_steps, batch * heads)] if metadata.patch_length > 1 else []),
    ]


def windows_per_group(metadata: AttentionMetadata) -> int:
    """Number of windows in a row group, up to the size of a batch."""
    return -(-ROW_GROUP_BYTES // (4 * metadata.heads * metadata.num_steps * metadata.num_keys))


def weight_columns(metadata: AttentionMetadata, rows: NDArray[np.floating[Any]]) -> list[Any]:
    """The last columns of a file, from rows (rows, num_keys): all weights, or lags, weights and what remains."""
    if metadata.top is None:
        return [_lists(np.array(rows, dtype=metadata.dtype, order="C"))]  # a copy: callers reuse their buffers
    lags, weights, remaining = largest_weights(rows, metadata.top)
    return [_lists(lags), _lists(weights.astype(metadata.dtype)), remaining]


def _missing_columns(
    metadata: AttentionMetadata, weights: NDArray[np.floating[Any]], observed: NDArray[np.bool_] | None
) -> list[Any]:
    """Number of known keys in each row, and the weight on the others."""
    if metadata.masked != (observed is not None):
        raise ValueError("files of masked windows, and only these, need to know which steps are observed")
    if observed is None:
        return []
    _expect_shape("observed", observed, (len(weights), metadata.num_keys))
    # Not by multiplying with a mask: whatever lies there, NaN included, must show.
    missing = np.where(observed[:, None, None], 0, weights).sum(axis=-1, dtype=np.float64)
    counts = np.broadcast_to(observed.sum(axis=1)[:, None, None], missing.shape)
    return [counts.astype(np.int32).reshape(-1), missing.astype(np.float32).reshape(-1)]


def _lists(rows: NDArray[Any]) -> Any:
    """(rows, length) as lists of fixed length."""
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(rows).reshape(-1)), rows.shape[1])


def _plain_time(times: NDArray[Any]) -> NDArray[Any]:
    """Time stamps in nanoseconds, or whole numbers as int64.

    Raises:
        DataError: a time stamp that nanoseconds in 64 bits cannot express.
    """
    times = np.asarray(times)
    if np.issubdtype(times.dtype, np.integer):
        return times.astype(np.int64)
    nanoseconds = times.astype("datetime64[ns]")
    if not (nanoseconds.astype(times.dtype) == times).all():
        raise DataError("time stamps must lie between the years 1678 and 2261 to be written with nanoseconds")
    return nanoseconds


# --------------------------------------------------------------------------- largest
# The sparse form of weights: the largest of each row with their lags, and the sum of the others.


Weights = NDArray[np.floating[Any]]


class LargestWeights(NamedTuple):
    """The kept weights of each row, largest first."""

    lags: NDArray[np.int32]
    """(..., top)"""
    weights: NDArray[np.float32]
    """(..., top)"""
    remaining: NDArray[np.float32]
    """(...) the sum of the weights that were left out."""


def largest_weights(weights: Weights, top: int) -> LargestWeights:
    """Keep the `top` largest weights of rows (..., num_keys), oldest position first."""
    lookback = weights.shape[-1]
    indices = np.argpartition(weights, lookback - top, axis=-1)[..., lookback - top :]
    kept = np.take_along_axis(weights, indices, axis=-1)
    # Of equal weights the more recent first, so that the same weights always give the same rows.
    order = np.lexsort((-indices, -kept), axis=-1)
    indices, kept = np.take_along_axis(indices, order, axis=-1), np.take_along_axis(kept, order, axis=-1)
    remaining = weights.sum(axis=-1, dtype=np.float64) - kept.sum(axis=-1, dtype=np.float64)
    if top == lookback:
        remaining = np.zeros_like(remaining)
    return LargestWeights(
        (lookback - 1 - indices).astype(np.int32), kept.astype(np.float32), np.maximum(remaining, 0).astype(np.float32)
    )


def spread_out(lags: NDArray[np.integer[Any]], weights: Weights, lookback: int) -> NDArray[np.float32]:
    """(..., lookback) the kept weights at their positions, oldest first, and zeros between them."""
    dense = np.zeros((*weights.shape[:-1], lookback), np.float32)
    np.put_along_axis(dense, lookback - 1 - lags.astype(np.int64), weights, axis=-1)
    return dense


def check_top(top: int | None, lookback: int, patch_length: int = 1) -> None:
    """Refuse to keep more weights than there are.

    Raises:
        ConfigError: `--attention-top` is larger than the lookback.
    """
    num_keys = lookback // patch_length
    if top is not None and top > num_keys:
        keys = f"the {num_keys} {'' if patch_length == 1 else 'patches '}of the lookback"
        raise ConfigError(
            f"--attention-top {top} keeps more weights than {keys}",
            "leave it out to keep them all",
        )
