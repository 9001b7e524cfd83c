"""How large an attention file will be, told before it is written: from a trial with a few of its windows."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from forecast_attn.attention_dump.schema import AttentionMetadata
from forecast_attn.attention_dump.writer import ROW_GROUP_BYTES, open_parquet, windows_table

TRIAL_WINDOWS = 32
"""Enough of them to know how well the weights compress."""
GROUP_ENTRY_BYTES = 900
"""What the end of the file says of each row group."""


@dataclass(frozen=True)
class DumpSize:
    """What is about to be written."""

    windows: int
    metadata: AttentionMetadata
    estimated_bytes: int

    def __str__(self) -> str:
        about = self.metadata
        heads = f" × {about.heads} heads" if about.heads > 1 else ""
        lags = f"{about.lookback} lags" if about.top is None else f"the {about.top} largest of {about.lookback} lags"
        windows = f"{self.windows:,} window{'' if self.windows == 1 else 's'}"
        return (
            f"{windows}{heads} × {about.horizon} steps × {lags}, {about.dtype}: about {size_text(self.estimated_bytes)}"
        )


def size_text(count: float) -> str:
    """Bytes as people read them: `15.2 MiB`."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} bytes" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} TiB"


def estimate_size(metadata: AttentionMetadata, windows: int, trial: dict[str, Any]) -> DumpSize:
    """The size of a file of so many windows.

    Args:
        metadata: of the file.
        windows: how many it will hold.
        trial: the arguments of `AttentionWriter.write` for some of them, evenly spread; few will do.
    """
    count = len(trial["item_ids"])
    if not count:
        return DumpSize(0, metadata, 0)
    stream = io.BytesIO()
    table = windows_table(metadata, **trial)
    with open_parquet(stream, table.schema) as parquet:
        parquet.write_table(table)
    stored, whole = _stored_bytes(pq.ParquetFile(stream).metadata), stream.getbuffer().nbytes
    dense = 4 * metadata.heads * metadata.horizon * metadata.lookback * windows
    more_groups = math.ceil(dense / ROW_GROUP_BYTES) - 1
    return DumpSize(
        windows, metadata, round(stored * windows / count) + whole - stored + more_groups * GROUP_ENTRY_BYTES
    )


def _stored_bytes(groups: Any) -> int:
    """The compressed size of all columns of all row groups."""
    return sum(
        groups.row_group(group).column(column).total_compressed_size
        for group in range(groups.num_row_groups)
        for column in range(groups.num_columns)
    )
