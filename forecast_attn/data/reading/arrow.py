"""Arrow columns -> the columns of a frame, in the few types that the rest of the package knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from forecast_attn.errors import DataError

Column = Any
"""NumPy numbers or datetimes, a pandas Categorical of text, or another pandas array."""


def to_column(values: pa.ChunkedArray) -> Column:
    """Numbers as int64 (when whole and without holes), float64 or bool, text as a Categorical, time stamps as they are.

    Raises:
        DataError: bytes, lists or records, which are neither numbers nor text.
    """
    kind = values.type
    if pa.types.is_null(kind):
        return np.full(len(values), np.nan)
    if pa.types.is_dictionary(kind):
        return text_column(values) if _is_text(kind.value_type) else to_column(values.cast(kind.value_type))
    if _is_text(kind):
        return text_column(values.cast(pa.large_string()).dictionary_encode())
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return _whole_numbers(values)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _in_one(list(values.cast(pa.float64()).chunks), np.float64)
    if pa.types.is_temporal(kind):
        return _times(values)
    raise DataError(f"holds {kind}, which is neither numbers, text nor time stamps")


def text_column(values: pa.ChunkedArray) -> pd.Categorical:
    """Dictionary-encoded text as a Categorical."""
    chunks = values.unify_dictionaries().chunks
    if not chunks:
        return pd.Categorical.from_codes(np.empty(0, np.int32), categories=pd.Index([], dtype="str"))
    texts = chunks[0].dictionary
    codes = _in_one([chunk.indices.cast(pa.int32()).fill_null(-1) for chunk in chunks], np.int32)
    return pd.Categorical.from_codes(codes, categories=pd.Index(texts.to_pandas(), dtype="str"), validate=False)


def _in_one(chunks: list[pa.Array], dtype: type) -> NDArray[Any]:
    """The values of all chunks, NaN for null; each chunk is dropped once copied."""
    found: NDArray[Any] = np.empty(sum(map(len, chunks)), dtype)
    start = 0
    chunks.reverse()
    while chunks:
        chunk = chunks.pop()
        found[start : start + len(chunk)] = chunk.to_numpy(zero_copy_only=False)
        start += len(chunk)
    return found


def _whole_numbers(values: pa.ChunkedArray) -> NDArray[Any]:
    if values.null_count:
        return _in_one(list(values.cast(pa.float64(), safe=False).chunks), np.float64)
    if pa.types.is_boolean(values.type):
        return np.asarray(values.to_numpy(), np.bool_)
    if pa.types.is_uint64(values.type) and len(values) and pc.max(values).as_py() > np.iinfo(np.int64).max:
        return np.asarray(values.to_numpy(), np.float64)
    return _in_one(list(values.cast(pa.int64()).chunks), np.int64)


def _times(values: pa.ChunkedArray) -> Column:
    """Time stamps and dates as datetimes; times of day as text; durations as they are."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("s") if pa.types.is_date32(values.type) else pa.timestamp("ms"))
    if pa.types.is_time(values.type):
        return text_column(values.cast(pa.string()).dictionary_encode())
    return values.to_pandas().array


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
