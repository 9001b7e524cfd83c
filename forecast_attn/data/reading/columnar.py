"""Reads Parquet and Arrow files, and frames of other libraries through Arrow's interchange."""

from __future__ import annotations

import io
import re
from typing import Any

import pandas as pd
import pyarrow as pa

from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading.csv_file import Column, to_column
from forecast_attn.data.reading.dialect import check_names
from forecast_attn.data.reading.parts import read_parquet, read_parts
from forecast_attn.data.reading.source import Progress, Source
from forecast_attn.errors import ConfigError, DataError

TEXT_OPTIONS = ("delimiter", "decimal", "encoding", "skip_rows", "comment", "skip_footer", "header", "header_rows")
"""Options that say how text is written."""


def read_columnar(source: Source, config: DataConfig, progress: Progress | None) -> pd.DataFrame:
    """Read a Parquet file, or an Arrow one (Feather, IPC).

    Raises:
        ConfigError: an option for text files is given.
        DataError: the file is damaged, or a column holds neither numbers nor text nor time stamps.
    """
    refuse_text_options(config, f"{source.label} is a {source.kind.capitalize()} file")
    # Without a name for the Arrow table, which would keep its memory while columns are copied out of it.
    frame = frame_of_arrow(read_parts(source.parts) if source.parts else _read_file(source), config, source.label)
    if progress is not None:
        progress(source.size, source.size)
    return frame


def _read_file(source: Source) -> pa.Table:
    content = io.BytesIO(source.content) if source.content is not None else str(source.path)
    try:
        table = read_parquet(content, source.label) if source.kind == "parquet" else _READERS[source.kind](content)
        table.validate(full=True)  # Arrow trusts the offsets in a file; a damaged one would crash the process
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{source.label} is a damaged {source.kind} file: {reason}", "copy or write it again") from None
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
    # What pandas calls an index without a name when it writes one.
    table = table.drop_columns([name for name in table.column_names if re.fullmatch(r"__index_level_\d+__", name)])
    names = [name.strip() for name in table.column_names]
    check_names(names, label)
    if not table.num_rows:
        raise DataError(f"{label} has no rows", "add rows of data")
    columns = {}
    for name in names:
        columns[name] = _column(table.column(0), name, config, label)
        table = table.remove_column(0)  # whose memory is free before the next one is copied
    return pd.DataFrame(columns, copy=False)


def _column(values: pa.ChunkedArray, name: str, config: DataConfig, label: str) -> Column:
    if name in config.ignore:
        values = pa.chunked_array([pa.nulls(len(values))])
    try:
        return to_column(values)
    except DataError as error:
        message = f"{label}: column '{name}' {error.message}"
        hint = f"leave the column out with --ignore '{name}'"
        raise DataError(message, hint, code="FA102", column=name, options=("ignore",)) from None
    except (pa.ArrowException, ValueError) as error:
        raise DataError(f"{label}: column '{name}' cannot be read: {error}", code="FA102", column=name) from None


def _read_stream(content: Any) -> pa.Table:
    with pa.input_stream(content) as stream:
        return pa.ipc.open_stream(stream).read_all()


def _read_feather(content: Any) -> pa.Table:
    # Not by pyarrow.feather, which would read the first version of the format too, and dies of damaged files of it.
    with pa.OSFile(content) if isinstance(content, str) else pa.BufferReader(content.getbuffer()) as stream:
        return pa.ipc.open_file(stream).read_all()


_READERS = {"feather": _read_feather, "arrow stream": _read_stream}
COLUMNAR = ("parquet", *_READERS)
"""Kinds of files that are no text."""
