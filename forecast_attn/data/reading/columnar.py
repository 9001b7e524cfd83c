"""Reads Parquet and Arrow files, and frames of other libraries through Arrow's interchange."""

from __future__ import annotations

import io
import re
import struct
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import names_series
from forecast_attn.data.findings import option_for
from forecast_attn.data.reading.csv_file import frame_of_columns
from forecast_attn.data.reading.header import check_names
from forecast_attn.data.reading.parts import as_damage, check_rows, read_parquet, read_parts
from forecast_attn.data.reading.positions import STEP
from forecast_attn.data.reading.source import Progress, Source
from forecast_attn.errors import ConfigError, DataError

START_OF_FILE = 8
"""Bytes of the mark that an Arrow file begins with."""
TEXT_OPTIONS = ("delimiter", "decimal", "encoding", "skip_rows", "comment", "skip_footer", "header", "header_rows")
"""Options that say how text is written."""
OF_FILES = (*TEXT_OPTIONS, "sheet")
"""Options that mean nothing for a DataFrame."""
TIME = "timestamp"
"""Name of time stamps that have none."""


def read_columnar(source: Source, config: DataConfig, progress: Progress | None) -> pd.DataFrame:
    """Read a Parquet file, or an Arrow one (Feather, IPC).

    Raises:
        ConfigError: an option for text files is given.
        DataError: the file is damaged, or a column holds neither numbers nor text nor time stamps.
    """
    refuse_text_options(config, f"{source.label} is a {source.kind.capitalize()} file")
    # Without a name for the Arrow table, which would keep its memory while columns are copied out of it.
    frame = frame_of_arrow(_read_file(source), config, source.label)
    if progress is not None:
        progress(source.size, source.size)
    return frame


def _read_file(source: Source) -> pa.Table:
    if source.parts:
        return read_parts(source.parts)
    if source.kind == "parquet":
        return read_parquet(
            io.BytesIO(source.content) if source.content is not None else str(source.path), source.label
        )
    with as_damage(source.label, source.kind):
        table = _read_arrow(source)
        table.validate(full=True)  # Arrow trusts the offsets in a file; a damaged one would crash the process
    return table


def refuse_text_options(config: DataConfig, what: str, options: tuple[str, ...] = TEXT_OPTIONS) -> None:
    """Raise ConfigError when an option for text files is given for a table that is not text."""
    for name in options:
        if getattr(config, name) != getattr(DataConfig, name):
            raise ConfigError(
                f"{what}, which has no --{name.replace('_', '-')}", f"leave --{name.replace('_', '-')} out"
            )


def frame_of_arrow(table: pa.Table, config: DataConfig, label: str) -> pd.DataFrame:
    """An Arrow table as a frame.

    Raises:
        DataError: no rows, repeated names, or a column of a type that cannot be used.
    """
    table = _with_rows_of_lists(_with_index(table))
    names = [name.strip() for name in table.column_names]
    check_names(names, label)
    if not table.num_rows:
        raise DataError(f"{label} has no rows", "add rows of data")
    left = table.columns[::-1]
    del table  # the memory of each column is free before the next one is copied
    return frame_of_columns({name: _column(left.pop(), name, config, label) for name in names})


def _with_index(table: pa.Table) -> pa.Table:
    """The table without an index that has no name in pandas, but for one of time stamps where no other column has any.

    pandas writes it as a column behind the others.
    """
    levels = [name for name in table.column_names if re.fullmatch(r"__index_level_\d+__", name)]
    times = [field.name for field in table.schema if pa.types.is_timestamp(field.type) or pa.types.is_date(field.type)]
    if len(levels) == 1 and levels == times and TIME not in table.column_names:
        return table.rename_columns({levels[0]: TIME})
    return table.drop_columns(levels)


def _with_rows_of_lists(table: pa.Table) -> pa.Table:
    """A row for each value of a table with a series in each row, whose values and stamps stand in lists.

    Where no list holds stamps, the position in it becomes the column `step`. Lists of other lengths stay, and so do
    those beside which nothing names a series, or a number says what a row measured.
    """
    lists = {field.name for field in table.schema if pa.types.is_list(field.type) or pa.types.is_large_list(field.type)}
    lengths = [pc.fill_null(pc.list_value_length(table[name]), 0) for name in lists]
    have_stamps = any(pa.types.is_temporal(table.schema.field(name).type.value_type) for name in lists)
    beside = [field.type for field in table.schema if field.name not in lists]
    are_series = have_stamps or (bool(beside) and not any(map(pa.types.is_floating, beside)))
    if not lists or not are_series or any(not each.equals(lengths[0]) for each in lengths):
        return table
    rows = np.repeat(np.arange(table.num_rows), lengths[0].to_numpy())
    cells = zip(table.column_names, table.columns, strict=True)
    columns = {name: pc.list_flatten(column) if name in lists else column.take(rows) for name, column in cells}
    if not have_stamps and STEP not in columns:
        columns[STEP] = pa.array(np.arange(len(rows)) - np.searchsorted(rows, rows) + 1)
    return pa.table(columns)


def _column(values: pa.ChunkedArray, name: str, config: DataConfig, label: str) -> Column:
    if name in config.ignore:
        values = pa.chunked_array([pa.nulls(len(values))])
    try:
        return to_column(values, is_id=names_series(name, config.item_id))
    except DataError as error:
        raise unusable_column(label, name, error.message) from None
    except (pa.ArrowException, ValueError) as error:
        raise DataError(f"{label}: column '{name}' cannot be read: {error}", code="FA102", column=name) from None


def unusable_column(label: str, name: str, problem: str) -> DataError:
    """The error of a column that holds neither numbers nor text nor time stamps."""
    hint = f"leave the column out with {option_for('ignore', name)}"
    return DataError(f"{label}: column '{name}' {problem}", hint, code="FA102", column=name, options=("ignore",))


def _read_arrow(source: Source) -> pa.Table:
    """The rows of an Arrow stream or file, which is a stream between two marks.

    Not by pyarrow.feather, which would read the first version of the format too, and dies of damaged files of it. Nor
    by the index of a file, which may point at other bytes than those that were counted.

    Raises:
        DataError: it says that far more is in its bytes than a table would have there.
    """
    start = START_OF_FILE if source.kind == "feather" else 0
    with pa.memory_map(str(source.path)) if source.content is None else pa.BufferReader(source.content) as stream:
        if start:
            pa.ipc.open_file(stream)  # it has an end
        stream.seek(start)
        _check_sizes(stream, source)
        stream.seek(start)
        return pa.ipc.open_stream(stream).read_all()


def _check_sizes(stream: Any, source: Source) -> None:
    """Refuse rows and compressed buffers that take far more memory than the file, before room is made for them."""
    rows, unpacked, columns = 0, 0, 0
    for message in pa.ipc.MessageReader.open_stream(stream):
        if message.type == "schema":
            columns = len(pa.ipc.read_schema(message))
        else:
            more, size = _sizes(message)
            rows, unpacked = rows + more, unpacked + size
    check_rows(rows, columns, source.size, source.label)
    source.check_unpacked(unpacked, source.size)


def _sizes(message: Any) -> tuple[int, int]:
    """Rows of a batch and the bytes of its buffers once they are decompressed, as its message says: a flatbuffer."""
    content = memoryview(message.metadata)  # pyarrow gives no access to the fields of a message

    def number(layout: str, at: int) -> int:
        value: int = struct.unpack_from(layout, content, at)[0]
        return value

    def field_of(table: int, index: int) -> int:
        """Offset of a field of a table; 0 where it has none."""
        fields = table - number("<i", table)
        size = number("<H", fields)
        offset = number("<H", fields + 4 + 2 * index) if 4 + 2 * index < size else 0
        return offset and table + offset

    def follow(at: int) -> int:
        return at + number("<I", at)

    batch = follow(field_of(follow(0), 2))
    if message.type == "dictionary":
        batch = follow(field_of(batch, 1))
    rows = number("<q", at) if (at := field_of(batch, 0)) else 0
    is_compressed = field_of(batch, 3) > 0
    unpacked = 0
    buffers = follow(field_of(batch, 2))
    for entry in range(buffers + 4, buffers + 4 + 16 * number("<I", buffers), 16):
        offset, size = struct.unpack_from("<qq", content, entry)
        # Before compressed bytes stands how many they become; minus one where they were left as they are.
        declared = struct.unpack_from("<q", message.body, offset)[0] if is_compressed and size > 0 else 0
        unpacked += max(size, declared, 0)
    return rows, unpacked


COLUMNAR = ("parquet", "feather", "arrow stream")
"""Kinds of files that are not text."""


# --------------------------------------------------------------------------- columns


_OFFSET = re.compile(r"(?:Z|UTC|GMT)?(?:([+-])(\d\d?)(?::?(\d\d))?)?", re.IGNORECASE | re.ASCII)
"""Zones that are an offset; Python knows `+02:00` alone."""
Column = Any
"""NumPy numbers or datetimes, a pandas Categorical of text, or another pandas array."""


def to_column(values: pa.ChunkedArray, *, is_id: bool = False) -> Column:
    """Numbers as int64 (when whole and without holes), float64 or bool, text as a Categorical, time stamps as they are.

    Args:
        values: the column.
        is_id: whether they are names, of which no digit may be lost.

    Raises:
        DataError: bytes, lists or records, which are neither numbers nor text.
    """
    kind = values.type
    if pa.types.is_null(kind):
        return np.full(len(values), np.nan)
    if pa.types.is_dictionary(kind):
        return (
            text_column(values) if _is_text(kind.value_type) else to_column(values.cast(kind.value_type), is_id=is_id)
        )
    if is_id and _would_lose_digits(values):
        values = values.cast(pa.string())
        kind = values.type
    if _is_text(kind):
        return text_column(values.cast(pa.large_string()).dictionary_encode())
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return _whole_numbers(values)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _in_one(values.chunks, np.float64)
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
    """The values of all chunks, NaN for null; one chunk at a time, for all of another type would be a copy of them."""
    values: NDArray[Any] = np.empty(sum(map(len, chunks)), dtype)
    start, kind = 0, pa.from_numpy_dtype(dtype)
    for chunk in chunks:
        values[start : start + len(chunk)] = chunk.cast(kind, safe=False).to_numpy(zero_copy_only=False)
        start += len(chunk)
    return values


def _would_lose_digits(values: pa.ChunkedArray) -> bool:
    """Return whether whole numbers would become float64, which holds 53 bits."""
    kind = values.type
    if pa.types.is_decimal(kind):
        return bool(kind.scale == 0)
    return bool(pa.types.is_integer(kind) and (values.null_count or pa.types.is_uint64(kind)))


def _whole_numbers(values: pa.ChunkedArray) -> NDArray[Any]:
    if values.null_count:
        return _in_one(values.chunks, np.float64)
    if pa.types.is_boolean(values.type):
        return np.asarray(values.to_numpy(), np.bool_)
    if pa.types.is_uint64(values.type) and len(values) and pc.max(values).as_py() > np.iinfo(np.int64).max:
        return np.asarray(values.to_numpy(), np.float64)
    return _in_one(values.chunks, np.int64)


def _times(values: pa.ChunkedArray) -> Column:
    """Time stamps and dates as datetimes; times of day as text; durations as they are."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("s") if pa.types.is_date32(values.type) else pa.timestamp("ms"))
    if pa.types.is_time(values.type):
        return text_column(values.cast(pa.string()).dictionary_encode())
    return _in_known_zone(values).to_pandas().array


def _in_known_zone(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Time stamps whose zone pandas knows: `Z`, `GMT+02:00` and `+0200` are offsets in other words.

    Raises:
        DataError: the zone is none.
    """
    zone: Any = getattr(values.type, "tz", None)
    try:
        values[:0].to_pandas()
    except pa.ArrowInvalid:
        offset = _OFFSET.fullmatch(zone)
        if offset is None:
            raise DataError(f"has the zone '{zone}', which is not known") from None
        known = f"{offset[1]}{int(offset[2]):02d}:{offset[3] or '00'}" if offset[1] else "UTC"
        return values.cast(pa.timestamp(values.type.unit, known))
    return values


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
