"""The cells of one column as they are read, in one array that grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray


class Collected:
    """One column. Its array doubles when it is full; what is not written yet takes no memory from the system.

    Text is kept as codes. Blocks number their texts on their own until `finish` gives all of them one list.
    """

    def __init__(self) -> None:
        self._values: NDArray[Any] | None = None
        self._length = 0
        self._texts: list[tuple[int, pa.Array]] = []
        """First row of each block of codes, and the block's texts."""

    def append(self, chunk: pa.Array) -> None:
        """Add cells: nothing but nulls, int64, float64, or text with its dictionary."""
        if not pa.types.is_null(chunk.type):
            self._write(self._numbers(chunk))
        self._length += len(chunk)

    def finish(self) -> NDArray[Any] | pd.Categorical:
        """All cells (num_rows,): int64 when whole and none is missing, float64, or a Categorical of text."""
        if self._values is None:
            return np.full(self._length, np.nan)
        values = self._values[: self._length]
        return self._categorical(values) if self._texts else values

    def _numbers(self, chunk: pa.Array) -> NDArray[Any]:
        if pa.types.is_dictionary(chunk.type):
            self._texts.append((self._length, chunk.dictionary))
            chunk = chunk.indices.fill_null(-1)
        return np.asarray(chunk.to_numpy(zero_copy_only=False))  # float64 when whole numbers have nulls

    def _write(self, part: NDArray[Any]) -> None:
        end = self._length + len(part)
        if self._values is None:  # what came before was empty
            dtype = np.float64 if self._length and part.dtype == np.int64 else part.dtype
            self._values = np.empty(end, dtype)
            if self._length:
                self._values[: self._length] = -1 if dtype == np.int32 else np.nan
        if self._values.dtype == np.int64 and part.dtype == np.float64:
            self._values = self._values.astype(np.float64)
        if end > len(self._values):
            larger = np.empty(max(end, 2 * len(self._values)), self._values.dtype)
            larger[: self._length] = self._values[: self._length]
            self._values = larger
        self._values[self._length : end] = part

    def _categorical(self, codes: NDArray[np.int32]) -> pd.Categorical:
        texts = pa.concat_arrays([texts.cast(pa.large_string()) for _, texts in self._texts]).dictionary_encode()
        common = texts.indices.to_numpy()
        ends = [start for start, _ in self._texts[1:]] + [len(codes)]
        offset = 0
        for (start, block), end in zip(self._texts, ends, strict=True):
            lookup = np.append(common[offset : offset + len(block)], -1).astype(np.int32)
            codes[start:end] = lookup[codes[start:end]]
            offset += len(block)
        self._texts = []
        categories = pd.Index(texts.dictionary.to_pandas(), dtype="str")
        return pd.Categorical.from_codes(codes, categories=categories, validate=False)
