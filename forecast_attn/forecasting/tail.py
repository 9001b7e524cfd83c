"""The end of the training table, which a run keeps in tail.parquet: the history of a forecast without a table."""

from __future__ import annotations

import contextlib
import io
from typing import IO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from forecast_attn.data.findings import quoted
from forecast_attn.data.panel import Panel, tail
from forecast_attn.data.schema import Schema
from forecast_attn.errors import RunError
from forecast_attn.memory import release_memory
from forecast_attn.runs.run_dir import RunDir

MOST_FUTURE_ROWS = 100_000
"""Rows of a series after its last target that a tail may hold: a table may know its covariates for years ahead."""
ROWS_OF_A_PART = 100_000
"""Rows of a tail that are written at a time, about."""
MOST_ROWS_LEARNED = 1_000_000
"""Rows of a whole table that a tail may hold: regressions in a combination learn from it at every forecast."""


def read_tail(run: RunDir, schema: Schema) -> pd.DataFrame:
    """The end of the table of training.

    Raises:
        RunError: damaged, altered since training, or larger than the run says: a small file may hold very many rows.
    """
    hint = "pass the history with --data FILE"
    try:
        path = run.unaltered(run.tail)
    except RunError as error:
        raise RunError(error.message, hint) from None
    num_series = len(schema.scaler.item_ids)
    try:
        file = pq.ParquetFile(path)
        rows, most = file.metadata.num_rows, num_series * (schema.lookback + MOST_FUTURE_ROWS) + MOST_ROWS_LEARNED
        if rows > most:
            raise RunError(f"'{path}' has {rows:,} rows; the end of {num_series:,} series has at most {most:,}", hint)
        nested = [field.name for field in file.schema_arrow if pa.types.is_nested(field.type)]
        if nested:
            raise RunError(f"cannot read '{path}': column {quoted(nested)} holds lists", hint)
        frame: pd.DataFrame = file.read().to_pandas()
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = str(error).split(". ")[0].rpartition(": ")[2]
        raise RunError(f"cannot read '{path}': {reason}", hint) from None
    return frame


def write_tail(run: RunDir, panel: Panel, rows: int) -> None:
    """Keep the last `rows` known rows of every series, and the rows after them, in the run."""
    release_memory()
    with run.writing(run.tail) as stream:
        _write(panel, rows, stream)


def _write(panel: Panel, rows: int, stream: IO[bytes]) -> None:
    """Write part by part: as one table with names and stamps of every row it would take more memory than the panel."""
    with contextlib.ExitStack() as closing:
        writer = None
        for part in tail(panel, rows, ROWS_OF_A_PART):
            table = pa.Table.from_pandas(part, None if writer is None else writer.schema, preserve_index=False)
            if writer is None:
                writer = closing.enter_context(pq.ParquetWriter(stream, _schema(table, panel)))
            writer.write_table(table.cast(writer.schema))


def _schema(table: pa.Table, panel: Panel) -> pa.Schema:
    """The columns of all parts, of which the first one may have texts that are all missing."""
    schema = table.schema
    for index, field in enumerate(schema):
        if pa.types.is_null(field.type) and panel.num_rows > ROWS_OF_A_PART:
            schema = schema.set(index, field.with_type(pa.string()))
    return schema


def has_the_same_end(run: RunDir, schema: Schema, panel: Panel, rows: int) -> bool:
    """Return whether the rows that a run keeps of its table's end are the last `rows` of this panel, too.

    Raises:
        RunError: see `read_tail`.
    """
    kept = read_tail(run, schema)
    content = io.BytesIO()
    _write(panel, rows, content)
    here = pd.read_parquet(content)
    roles = panel.roles
    if list(kept) != list(here) or len(here.merge(kept)) != len(here):
        return False
    if roles.item_id is None:
        return bool(kept[roles.time].max() == here[roles.time].max())
    last = [table.groupby(roles.item_id)[roles.time].max() for table in (kept, here)]
    return bool(last[0].equals(last[1]))
