"""Opens an attention file and checks that it is one."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from forecast_attn.attention_dump.dump import AttentionDump
from forecast_attn.attention_dump.schema import METADATA_KEY, AttentionMetadata, attention_schema, read_errors_of
from forecast_attn.errors import RunError


def read_attention(path: Path | str) -> AttentionDump:
    """Open an attention file: everything but the weights, which are read when asked for.

    Raises:
        RunError: no such file, not Parquet, cut short, not an attention file, or of a newer format.
    """
    path = Path(path)
    with read_errors_of(path):
        parquet = pq.ParquetFile(path)
        metadata = _read_metadata(path, parquet.schema_arrow)
        groups = [_read_windows(path, parquet, group, metadata) for group in range(parquet.num_row_groups)]
    time = np.dtype("int64" if pa.types.is_integer(parquet.schema_arrow.field("cutoff").type) else "datetime64[ns]")
    nothing: tuple[Any, ...] = (
        [],
        np.empty(0, time),
        np.empty(0, time),
        np.empty((0, metadata.num_steps), time),
        np.empty((0, 2), np.int64),
    )
    ids, *columns = zip(nothing, *groups, strict=True)
    cutoffs, starts, timestamps, places = (np.concatenate(parts) for parts in columns)
    return AttentionDump(
        metadata=metadata,
        window_item_ids=tuple(chain.from_iterable(ids)),
        window_cutoffs=cutoffs,
        lookback_starts=starts,
        timestamps=timestamps,
        steps=np.arange(1, metadata.num_steps + 1, dtype=np.int32),
        heads=np.arange(metadata.heads, dtype=np.int32),
        path=path,
        _parquet=parquet,
        _places=places,
    )


def _read_metadata(path: Path, schema: Any) -> AttentionMetadata:
    text = (schema.metadata or {}).get(METADATA_KEY)
    if text is None:
        raise RunError(
            f"'{path}' is a Parquet file, but none of attention weights", "`forecast predict` writes attention.parquet"
        )
    try:
        metadata = AttentionMetadata.from_json(text)
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"'{path}' cannot be read as an attention file: {error}", "update forecast-attn?") from None
    expected = attention_schema(metadata)
    if schema.names != expected.names or schema.field("weights").type.list_size != metadata.stored_length:
        raise RunError(f"'{path}' has other columns than an attention file")
    return metadata


def _read_windows(path: Path, parquet: Any, group: int, sizes: AttentionMetadata) -> tuple[Any, ...]:
    """Series, cut-off, lookback start, target times and place of each window in a row group."""
    columns = ["item_id", "cutoff", "step", "head", "timestamp", "lookback_start"]
    table = parquet.read_row_group(group, columns=columns)
    steps, per_window = sizes.num_steps, sizes.heads * sizes.num_steps
    windows, rest = divmod(table.num_rows, per_window)
    step, head = (
        table.column(name).to_numpy().reshape(-1, per_window) if not rest else np.empty(0) for name in ("step", "head")
    )
    order = np.arange(per_window)
    if rest or (step != order % steps * sizes.patch_length + 1).any() or (head != order // steps).any():
        raise RunError(
            f"the rows of '{path}' were rearranged after it was written", "use the file as `forecast predict` wrote it"
        )
    first = table.take(np.arange(windows) * per_window)
    timestamps = table.column("timestamp").to_numpy().reshape(windows, per_window)[:, :steps]
    places = np.stack([np.full(windows, group), np.arange(windows)], axis=1)
    return (
        first.column("item_id").to_pylist(),
        first.column("cutoff").to_numpy(),
        first.column("lookback_start").to_numpy(),
        timestamps,
        places,
    )
