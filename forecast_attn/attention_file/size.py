"""Estimates the size of an attention file before it is written.

How well weights compress is tried with a few of the windows; the other columns are laid out as they will be for the
first row group, and not scaled: they repeat, and cost little per row group.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, Literal, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from forecast_attn.attention_file.attention_schema import AttentionMetadata, attention_schema
from forecast_attn.attention_file.writer import (
    WindowCoordinates,
    coordinate_columns,
    open_parquet,
    weight_columns,
    windows_per_group,
)
from forecast_attn.config.values import parse_attention_windows

WINDOWS_TO_ESTIMATE_SIZE = 32
"""Enough of them to know how well the weights compress."""
GROUP_ENTRY_BYTES = 900
"""Bytes of the footer per row group."""


@dataclass(frozen=True)
class DumpSize:
    """Size of an attention file about to be written."""

    windows: int
    metadata: AttentionMetadata
    estimated_bytes: int

    def __str__(self) -> str:
        about = self.metadata
        heads = f" × {about.heads} heads" if about.heads > 1 else ""
        lag, step = ("lags", "steps") if about.patch_length == 1 else ("patches", "patches ahead")
        lags = f"{about.num_keys} {lag}" if about.top is None else f"the {about.top} largest of {about.num_keys} {lag}"
        windows = f"{self.windows:,} window{'' if self.windows == 1 else 's'}"
        form = f"{windows}{heads} × {about.num_steps} {step} × {lags}, {about.dtype}"
        return f"{form}: about {size_text(self.estimated_bytes)}"


def size_text(count: float) -> str:
    """Bytes as people read them: `15.2 MiB`."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 999.5:  # three digits: "1.02 KiB" follows "999 bytes", never "1e+03"
            return f"{count:.0f} bytes" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} TiB"


def estimate_size(
    metadata: AttentionMetadata, windows: int, first: WindowCoordinates, trial: NDArray[np.float32]
) -> DumpSize:
    """Size that an attention file will have.

    Args:
        metadata: of the file.
        windows: how many it will hold.
        first: as many of them as fit a row group, or all if they are fewer.
        trial: weights of a few, evenly spread, (trial_windows, heads, num_steps, num_keys).
    """
    if not windows:
        return DumpSize(0, metadata, 0)
    schema = attention_schema(metadata, integer_time=np.issubdtype(first.cutoffs.dtype, np.integer))
    columns = coordinate_columns(metadata, first)
    coordinates = _stored_bytes(list(schema)[: len(columns)], columns) * windows / len(first.item_ids)
    weight_fields = [field for field in list(schema)[len(columns) :] if field.name in ("lags", "weights", "remaining")]
    half, whole = (
        _stored_bytes(weight_fields, weight_columns(metadata, part.reshape(-1, metadata.num_keys)))
        for part in (trial[: len(trial) // 2], trial)
    )
    # What the second half added is what more windows will add: a column has a beginning, which is paid for once.
    weights = whole + (windows - len(trial)) * (whole - half) / max(len(trial) - len(trial) // 2, 1)
    groups = -(-windows // windows_per_group(metadata))
    return DumpSize(windows, metadata, round(coordinates + weights) + _frame_bytes(schema) + groups * GROUP_ENTRY_BYTES)


def _stored_bytes(fields: list[Any], columns: list[Any]) -> int:
    """The compressed size of some columns."""
    arrays = [pa.array(column, type=field.type) for field, column in zip(fields, columns, strict=True)]
    stream = io.BytesIO()
    with open_parquet(stream, pa.schema(fields)) as parquet:
        parquet.write_table(pa.table(arrays, schema=pa.schema(fields)))
    group = pq.ParquetFile(stream).metadata.row_group(0)
    return sum(group.column(index).total_compressed_size for index in range(group.num_columns))


def _frame_bytes(schema: Any) -> int:
    """The size of a file without rows: its schema and metadata."""
    stream = io.BytesIO()
    open_parquet(stream, schema).close()
    return stream.getbuffer().nbytes


# --------------------------------------------------------------------------- choice
# Choice of the weights to write: which windows, in which type, how many of each row.


@dataclass(frozen=True)
class DumpChoice:
    """Selection of the weights to write.

    Attributes:
        windows: most windows, evenly spread over the cut-offs; None for all.
        dtype: of the stored weights.
        top: number of largest weights to keep of each row; None for all.
    """

    windows: int | None = None
    dtype: Literal["float32", "float16"] = "float32"
    top: int | None = None

    @classmethod
    def of(cls, windows: str | int = "all", dtype: str = "float32", top: int | None = None) -> Self:
        """Return the choice of `--attention-windows`, `--attention-dtype` and `--attention-top`.

        Raises:
            ConfigError: `windows` is neither a number nor all.
        """
        return cls(parse_attention_windows(windows), cast(Literal["float32", "float16"], dtype), top)

    def of_cutoffs(self, cutoffs: NDArray[Any]) -> NDArray[Any]:
        """The chosen ones of some cut-offs, in their order."""
        if self.windows is None or len(cutoffs) <= self.windows:
            return cutoffs
        indices: NDArray[np.int64] = np.linspace(0, len(cutoffs) - 1, self.windows).round().astype(np.int64)
        return cutoffs[indices]
