"""Time stamps and identifiers that stand in several columns, made into one: `--time year,month`, `--id state,region`.

Also the time axis of a table that has none: `--time row-number` counts the rows. And the target of one that has none:
`--target row-count` is 1 in each row, which `--resample D --aggregate sum` counts per day. And the series of one that
has no identifier: `--id block-number` begins another one wherever the time starts again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import require_column
from forecast_attn.data.reading.time_parts import joined_time
from forecast_attn.data.timestamps import parse_timestamps
from forecast_attn.errors import DataError

ROW_NUMBER = "row-number"
"""`--time` of a table whose rows are steps and whose columns hold no time."""
ROW_COUNT = "row-count"
"""`--target` of a table of events, of which the number per step is forecast."""
BLOCK_NUMBER = "block-number"
"""`--id` of a table whose series stand one below the other, each in the order of time, and have no names."""

SEPARATOR = "/"
"""Between the parts of a joined identifier."""


def with_joined(frame: pd.DataFrame, config: DataConfig, source: str) -> pd.DataFrame:
    """The frame with the columns that --time and --id join, and those of rows; as it is where no option asks for them.

    The parts of a time are taken out of it, and those of an identifier, unless another option names them. A year may be
    a part of both.

    Raises:
        DataError: a part is missing, or the parts of the time are no date.
    """
    if config.time == ROW_NUMBER and ROW_NUMBER not in frame.columns:
        frame = _with_column(frame, ROW_NUMBER, _row_numbers(frame, config))
    if config.target == ROW_COUNT and ROW_COUNT not in frame.columns:
        frame = _with_column(frame, ROW_COUNT, np.ones(len(frame), np.int64))
    whole = frame
    for name, join, flag in ((config.time, joined_time, "time"), (config.item_id, _joined_id, "id")):
        parts = parts_of(name, frame)
        if name is None or len(parts) < 2:
            continue
        for part in parts:
            require_column(whole, part, source, flag)
        joined = join([whole[part] for part in parts], source)
        used = {config.target, *config.static_covariates, *config.future_covariates, *config.past_covariates}
        left_out = [part for part in parts if part in frame.columns and part not in used]
        frame = _with_column(frame.drop(columns=left_out), name, joined)
    if config.item_id == BLOCK_NUMBER and BLOCK_NUMBER not in frame.columns:
        frame = _with_column(frame, BLOCK_NUMBER, _block_numbers(frame, config, source))
    return frame


def _with_column(frame: pd.DataFrame, name: str, values: Any) -> pd.DataFrame:
    """The frame with one more column; pandas warns of inserting it where there are hundreds."""
    wider = pd.concat([frame, pd.Series(values, index=frame.index, name=name)], axis="columns")
    wider.attrs = frame.attrs
    return wider


def parts_of(name: str | None, frame: pd.DataFrame) -> tuple[str, ...]:
    """The columns that an option joins; one where it names a column, or no comma is between two names."""
    if name is None or name in frame.columns or "," not in name:
        return () if name is None else (name,)
    parts = tuple(part.strip() for part in name.split(",") if part.strip())
    return parts if len(parts) > 1 else (name,)


def _row_numbers(frame: pd.DataFrame, config: DataConfig) -> Any:
    """Rows counted from 1, within each series where an identifier is named (num_rows,)."""
    parts = [part for part in parts_of(config.item_id, frame) if part in frame.columns]
    if not parts:
        return np.arange(1, len(frame) + 1)
    return frame.groupby(parts, observed=True, dropna=False).cumcount().to_numpy() + 1


def _block_numbers(frame: pd.DataFrame, config: DataConfig, source: str) -> pd.Categorical:
    """The number of the block in which each row stands, from 1; stamps that cannot be read begin none (num_rows,).

    Raises:
        DataError: no option names the time.
    """
    if config.time is None:
        message = f"'{source}': --id {BLOCK_NUMBER} needs the column of which each block begins again"
        raise DataError(message, "--time NAME", code="FA102", options=("time",))
    require_column(frame, config.time, source, "time")
    stamps, bad = parse_timestamps(frame[config.time], config.time, config.date_format)
    known = np.flatnonzero(~bad)
    begins = np.zeros(len(frame), np.int64)  # 1 where time does not go on: the next block
    begins[known[1:]] = stamps[known][1:] <= stamps[known][:-1]
    numbers = np.cumsum(begins)
    return pd.Categorical.from_codes(numbers, categories=pd.Index(np.arange(1, numbers.max(initial=0) + 2).astype(str)))


def _joined_id(columns: list[pd.Series], source: str) -> pd.Categorical:
    """The cells of each row with a separator between them; empty where all are, as in `/Thailand` one may be."""
    # A row's codes in all columns become the digits of one number, so that equal rows have equal numbers.
    codes = np.zeros(len(columns[0]), np.int64)
    missing = np.ones(len(codes), np.bool_)
    texts: list[list[str]] = []
    for column in columns:
        is_float = pd.api.types.is_float_dtype(column.dtype)
        codes_in_column, values = pd.factorize(column if is_float else column.astype("string").str.strip())
        missing &= codes_in_column < 0
        codes = codes * (len(values) + 1) + codes_in_column + 1
        texts.append(["", *map(identifier_text, values)])
    which, distinct = pd.factorize(np.where(missing, -1, codes))
    names = [_name_of(int(code), texts) if code >= 0 else None for code in distinct]
    return pd.Categorical(pd.Series(names, dtype="object").take(which).to_numpy())


def identifier_text(value: object) -> str:
    """The text of a cell of an identifier; whole numbers have no decimals, as a column with empty cells gives them."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _name_of(code: int, texts: list[list[str]]) -> str:
    parts = []
    for values in reversed(texts):
        code, digit = divmod(code, len(values))
        parts.append(values[digit])
    return SEPARATOR.join(reversed(parts))
