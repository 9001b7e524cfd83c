"""The body of a request -> the tables to forecast from, read like the files of `forecast predict`, and its options."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import pyarrow as pa

from forecast_attn.config.requests import PredictRequest
from forecast_attn.data.reading import Source
from forecast_attn.errors import ConfigError, DataError, did_you_mean
from forecast_attn.forecasting.predict import ForecastRequest

JSON = "application/json"
CSV = "text/csv"
ARROW = "application/vnd.apache.arrow.stream"
CONTENT_TYPES = (JSON, CSV, ARROW)
TABLES = ("history", "future")
OPTIONS = ("cold_start", "non_negative", "combine_with")
"""Options of `forecast predict` that a request may have."""
SWITCHES = {"true": True, "false": False, "1": True, "0": False}
MOST_ROWS = 5_000_000
"""Most rows of a table; a column without values takes no bytes in Arrow, however long it is."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""Escape of a surrogate, which is text only beside the other half of its character."""
_RECORDS = '[{"timestamp": "2024-01-01", "target": 1.5}, …]'


@dataclass(frozen=True)
class RequestBody:
    """The tables and options of a request."""

    request: ForecastRequest
    attention: bool
    """Return the attention weights too."""


def read_body(content: bytes, content_type: str, query: Mapping[str, str]) -> RequestBody:
    """Read the tables and the options of a request.

    Args:
        content: the body.
        content_type: one of `CONTENT_TYPES`.
        query: options in the address, which count beside those of a JSON body.

    Raises:
        DataError: the body is no such table.
        ConfigError: an unknown option, or a value that it cannot have.
    """
    given: dict[str, Any] = {name: SWITCHES.get(value.lower(), value) for name, value in query.items()}
    tables: dict[str, Source] = {}
    if content_type == JSON:
        document = _document(content)
        tables = {name: _source(name, document.pop(name)) for name in TABLES if document.get(name) is not None}
        given |= {name: value for name, value in document.items() if name not in TABLES}
    else:
        tables = {"history": _table_of(content, content_type)}
    attention = given.pop("attention", False)
    if not isinstance(attention, bool):
        raise ConfigError(f"attention must be true or false; got {attention!r}", "attention=true")
    for name in given:
        if name in TABLES:
            raise ConfigError(f"'{name}' is a table, which belongs in the body", f'{{"{name}": {_RECORDS}}}')
        if name not in OPTIONS:
            raise ConfigError(f"there is no option '{name}'", did_you_mean(name, ("attention", *TABLES, *OPTIONS)))
    request = ForecastRequest(data=tables.get("history"), future=tables.get("future"), **PredictRequest.checked(given))
    return RequestBody(request, attention)


def _table_of(content: bytes, content_type: str) -> Source:
    source = Source("'history'", None, content)
    kind, expected = source.kind, {CSV: "text", ARROW: "arrow stream"}[content_type]
    if kind != expected:
        raise DataError(
            f"the body is {kind}, not {expected} as its content type says", f"one of {', '.join(CONTENT_TYPES)}"
        )
    if content_type == ARROW:
        _check_rows(content)
    return source


def _check_rows(content: bytes) -> None:
    """Refuse an Arrow stream with more rows than its bytes could hold.

    Raises:
        DataError: too many rows, or a damaged stream.
    """
    rows = 0
    try:
        for batch in pa.ipc.open_stream(content):
            rows += batch.num_rows
            if rows > MOST_ROWS:
                raise DataError(f"'history' has more than {MOST_ROWS:,} rows", "send the newest rows of each series")
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"'history' is a damaged arrow stream file: {reason}", "write it again") from None


def _document(content: bytes) -> dict[str, Any]:
    """Parse a JSON object; an empty body counts as an empty object."""
    try:
        document = json.loads(content, parse_constant=_no_number) if content.strip() else {}
        if _SURROGATE.search(content):
            json.dumps(document, ensure_ascii=False).encode()
    except RecursionError:
        raise DataError("the body is nested too deeply", f'{{"history": {_RECORDS}}}') from None
    except UnicodeEncodeError:
        raise DataError("the body has a lone surrogate", "write it as UTF-8") from None
    except ValueError as error:  # no JSON, no UTF-8, or a number of thousands of digits
        raise DataError(f"the body is not valid JSON: {str(error).partition(';')[0]}", "check it with: jq .") from None
    if not isinstance(document, dict):
        raise DataError("the body is not a JSON object", f'{{"history": {_RECORDS}}}')
    return document


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number; null is a missing value")


def _source(name: str, records: Any) -> Source:
    """Convert a table in JSON (a list of records, or an object of columns) to an Arrow stream.

    Raises:
        DataError: it is neither, or a column has values of several types.
    """
    hint = f'"{name}": {_RECORDS}'
    if isinstance(records, list) and all(isinstance(record, dict) for record in records):
        names = list(dict.fromkeys(key for record in records for key in record))
        columns = {key: [record.get(key) for record in records] for key in names}
    elif isinstance(records, dict) and all(isinstance(values, list) for values in records.values()):
        columns = records
        if len({len(values) for values in columns.values()}) > 1:
            raise DataError(f"'{name}' has columns of different lengths", hint)
    else:
        raise DataError(f"'{name}' is neither a list of records nor an object of columns", hint)
    if not columns or not next(iter(columns.values())):
        raise DataError(f"'{name}' has no rows", "add rows of data", code="FA101")
    table = pa.table({key: _column(name, key, values) for key, values in columns.items()})
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return Source(f"'{name}'", None, stream.getvalue())


def _column(table: str, name: str, values: list[Any]) -> pa.Array:
    try:
        kinds = {type(value) for value in values} - {type(None)}
        if len(kinds) > 1 and kinds <= {int, float, str}:  # text among numbers is refused, or read, as in a CSV
            kind = str if str in kinds else float
            values = [None if value is None else kind(value) for value in values]
        column = pa.array(values)
    except (pa.ArrowException, OverflowError, ValueError, UnicodeError):
        raise DataError(
            f"'{table}': column '{name}' has values of several types, or beyond 64 bits",
            "give every cell of a column one type; null is missing",
            code="FA102",
            column=name,
        ) from None
    return column
