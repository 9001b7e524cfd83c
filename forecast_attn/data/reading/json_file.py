"""Reads JSON and JSON Lines as the CSV that the table in them would be saved as, each number as it is written there.

The table may be a list of records, a list of rows, columns by their names, or what pandas writes (split, table, index,
columns); below other keys, too. A document with several tables is read like a workbook: one of them, by its name.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from forecast_attn.data.findings import quoted
from forecast_attn.data.reading.encoding import as_utf8, find_encoding
from forecast_attn.data.reading.header import numbered_names
from forecast_attn.data.reading.positions import STEP
from forecast_attn.data.reading.source import TEXT_KINDS, Source
from forecast_attn.errors import DataError, did_you_mean

_START = re.compile(r"\ufeff?\s*(\[\s*([\[{\"\d-]|null|true|false|NaN)|\{\s*\")")
_SAMPLE = 1 << 16
DEEPEST = 5
"""Keys and lists around a table."""
MOST_TABLES = 50
FEWEST_STEPS = 5
"""Fewest values that count as a series rather than as properties of a record."""
SERIES = "item_id"
"""Column of the key of each of several equal tables."""
_NAMES = ("columns", "names", "header", "headers", "fields")
_ROWS = ("data", "rows", "values")
_LABEL = re.compile(r"\d{4}-\d\d?(-\d\d?)?([T ].*)?|\d+|\d\d?/\d\d?/\d{2,4}")
"""Names of rows rather than of columns: dates and numbers."""
_HINT = 'expected records, [{"date": "2024-01-01", "y": 1.5}, …], or columns, {"date": […], "y": […]}'
_WITHIN = "\0"
"""Between the names of a record and of a cell in it; names have dots of their own."""
Row = dict[str, str]


def is_json(source: Source) -> bool:
    """Return whether a text is JSON or JSON Lines, by how it begins."""
    if source.kind not in TEXT_KINDS:
        return False
    start = next(source.chunks(_SAMPLE), b"")
    try:
        encoding = find_encoding(start, source.label)
    except DataError:  # a text whose encoding only an option can name
        return False
    return _START.match(start.decode(encoding, "ignore")) is not None


def json_as_text(source: Source, name: str | None) -> Source:
    """The rows of a table as UTF-8 text with commas.

    Args:
        source: a JSON file.
        name: of the table in it; the only one when None.

    Raises:
        DataError: it is no JSON, holds no table, or several of which none was named.
    """
    tables = _tables_of(source)
    if name is not None and name not in tables:
        hint = did_you_mean(name, list(filter(None, tables))) or "leave --sheet out: it is one table without a name"
        raise DataError(f"{source.label} has no table '{name}'", hint, code="FA108", options=("sheet",))
    if name is None and len(tables) > 1:
        hint = " or ".join(f"--sheet '{each}'" for each in list(tables)[:3])
        message = f"{source.label} has {len(tables)} tables: {quoted(list(tables))}"
        raise DataError(message, hint, code="FA108", options=("sheet",))
    rows = tables[next(iter(tables)) if name is None else name]
    names = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
    stored = source.size
    source.check_unpacked(len(rows) * len(names), stored)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")  # so that a cell that holds either mark is quoted
    if not all(map(_is_position, names)):  # else the first row holds the names, or none does
        writer.writerow(names)
    for row in rows:
        writer.writerow([row.get(each, "") for each in names])
        source.check_unpacked(text.tell(), stored)  # what stands beside a list is repeated in all of its rows
    try:
        return Source(source.label, None, text.getvalue().encode())
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])[1:-1]
        message = f"{source.label} is damaged JSON: it holds half a character, {half}"
        raise DataError(message, "write it again") from None


def json_tables(source: Source) -> list[str]:
    """Names of the tables, the one of most rows first."""
    tables = _tables_of(source)
    return sorted(tables, key=lambda name: -len(tables[name]))


# --------------------------------------------------------------------------- text


def _tables_of(source: Source) -> dict[str, list[Row]]:
    """The tables of a document by their names; that of most rows only, where the others are single records.

    Raises:
        DataError: it is no JSON, or holds no table.
    """
    try:
        every = {".".join(keys): rows for keys, rows in _tables(_document(source), ())}
    except RecursionError:
        raise DataError(f"{source.label} is JSON that is nested too deeply for a table", _HINT) from None
    tables = {name: rows for name, rows in every.items() if len(rows) > 1} or every
    if not 0 < len(tables) <= MOST_TABLES:  # outlines of countries are lists of pairs, too
        raise DataError(f"{source.label} is JSON without a table", _HINT)
    return tables


def _document(source: Source) -> Any:
    """The value in a text, or the list of those in its lines; numbers stay texts."""
    encoding = find_encoding(next(source.chunks(_SAMPLE), b""), source.label)
    text = b"".join(as_utf8(source.chunks(), encoding, source.label, assumed=False)).decode().removeprefix("\ufeff")
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_float=_Number, parse_int=_Number, parse_constant=_Number
    )
    values, index = [], 0
    try:
        while (index := _after_blanks(text, index)) < len(text):
            value, index = decoder.raw_decode(text, index)
            values.append(value)
    except json.JSONDecodeError as error:
        message = f"{source.label} is damaged JSON: line {error.lineno}, character {error.colno}: {error.msg}"
        raise DataError(message, "copy or download it again") from None
    except _RepeatedKeyError as error:
        raise DataError(f"{source.label}: a record has '{error}' twice", "rename one of them", code="FA107") from None
    return values[0] if len(values) == 1 else values


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


class _RepeatedKeyError(ValueError):
    """A record names a value twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise _RepeatedKeyError(name)
    return values


_BLANKS = re.compile(r"\s*")


def _after_blanks(text: str, index: int) -> int:
    match = _BLANKS.match(text, index)
    return index if match is None else match.end()


# --------------------------------------------------------------------------- tables


def _tables(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[Row]]]:
    """The tables in a value, each by the keys that lead to it."""
    rows = _table(value, is_whole=not keys)
    if rows:
        yield keys, rows
        return
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if len(keys) > DEEPEST:
        return
    tables = [table for key, child in children for table in _tables(child, (*keys, str(key)))]
    header = {tuple(rows[0]) for _, rows in tables}
    if isinstance(value, dict) and len(tables) == len(value) > 1 and len(header) == 1:
        yield keys, [{SERIES: below[-1], **row} for below, rows in tables for row in rows]
        return
    yield from tables


def _table(value: Any, *, is_whole: bool) -> list[Row] | None:
    """The rows of a value that is a table; None for others.

    Args:
        value: of a document.
        is_whole: whether it is all of the document: a list of numbers is a series then, and a property elsewhere.
    """
    if isinstance(value, list) and value:
        if all(isinstance(each, dict) for each in value):
            return None if _describe_a_table(value) else _rows_of_records(value)
        if _are_lists_of_equal_records(value):
            return _rows_of_records(list(itertools.chain.from_iterable(value)))
        if all(isinstance(each, list) and each and _are_scalars(each) for each in value):
            return [_numbered(each) for each in value]
        return [{"value": _cell(each)} for each in value] if is_whole and _are_scalars(value) else None
    return _table_of_object(value) if isinstance(value, dict) else None


def _describe_a_table(records: list[dict[str, Any]]) -> bool:
    """Return whether unlike records say what some of them hold, a longer list of records: phpMyAdmin's exports."""
    num_records = len(records)
    if num_records > MOST_TABLES or len({frozenset(each) for each in records}) < num_records:
        return False
    lists = [[cell for cell in each.values() if isinstance(cell, list) and len(cell) > num_records] for each in records]
    return any(_are_rows(cell) for cells in lists for cell in cells) and not all(lists)


def _are_lists_of_equal_records(value: list[Any]) -> bool:
    """Return whether a list holds lists of records of the same names, of one sensor each: Home Assistant's history."""
    are_records = all(isinstance(each, list) and each and all(isinstance(row, dict) for row in each) for each in value)
    return are_records and len({tuple(each[0]) for each in value}) == 1


def _table_of_object(value: dict[str, Any]) -> list[Row] | None:
    """The rows of split and table form, of columns, of records or columns by their names, of a cube, or of a series."""
    cube = _table_of_cube(value)
    if cube is not None:
        return cube
    names = next((value[key] for key in _NAMES if isinstance(value.get(key), list)), None)
    cells = next((value[key] for key in _ROWS if isinstance(value.get(key), list)), None)
    if isinstance(value.get("schema"), dict) and cells:
        return _table(cells, is_whole=False)
    if names and cells and all(isinstance(row, list) and len(row) == len(names) for row in cells):
        header = numbered_names([_cell(name.get("name", "") if isinstance(name, dict) else name) for name in names])
        index = value.get("index")
        labels = index if isinstance(index, list) and len(index) == len(cells) else range(len(cells))
        return _labelled(map(str, labels), [dict(zip(header, map(_cell, row), strict=True)) for row in cells])
    columns = {name: cells for name, cells in value.items() if isinstance(cells, list) and cells}
    if len(columns) > 1 and all(map(_are_scalars, columns.values())) and len(set(map(len, columns.values()))) == 1:
        return [dict(zip(columns, map(_cell, row), strict=True)) for row in zip(*columns.values(), strict=True)]
    records = list(value.values())
    named = {name: {} if each in ([], None) else each for name, each in value.items()}  # PHP writes [] for no record
    are_records = all(isinstance(each, dict) and _are_scalars(each.values()) for each in named.values())
    are_rows = all(named.values()) or (all(map(_LABEL.fullmatch, named)) and any(named.values()))
    if len(records) > 1 and are_records and are_rows:
        return _table_of_records(named)
    is_series = len(value) >= FEWEST_STEPS and all(map(_LABEL.fullmatch, value)) and _are_scalars(records)
    return [{"": name, "value": _cell(cell)} for name, cell in value.items()] if is_series else None


def _table_of_cube(value: dict[str, Any]) -> list[Row] | None:
    """A row for each cell that a JSON-stat dataset lists, by the codes of its dimensions."""
    dimension, cells = value.get("dimension"), value.get("value")
    if not isinstance(dimension, dict) or not isinstance(cells, list | dict):
        return None
    names: Any = value.get("id") or dimension.get("id")
    try:
        codes = [_codes_of(dimension[name]["category"]) for name in names]
        known = list(cells.items() if isinstance(cells, dict) else enumerate(cells))
        at = np.unravel_index([int(number) for number, _ in known], tuple(map(len, codes)))
    except (TypeError, KeyError, AttributeError, ValueError):
        return None
    rows = zip(known, np.stack(at, axis=1).tolist(), strict=True)
    return [
        {**{name: code[index] for name, code, index in zip(names, codes, row, strict=True)}, "value": _cell(cell)}
        for (_, cell), row in rows
    ]


def _codes_of(category: dict[str, Any]) -> list[str]:
    """The codes of a dimension, in their order."""
    index: Any = category.get("index", category.get("label"))
    is_placed = isinstance(index, dict) and "index" in category
    return sorted(index, key=lambda code: int(index[code])) if is_placed else list(index)


def _table_of_records(value: dict[str, dict[str, Any]]) -> list[Row] | None:
    """Records by the names of their rows, or columns whose cells have them; None where the records share no names."""
    first, *others = filter(None, value.values())
    if not any(first.keys() & each.keys() for each in others):
        return None
    inner = list(dict.fromkeys(itertools.chain.from_iterable(value.values())))
    are_rows, are_columns = all(map(_LABEL.fullmatch, value)), all(map(_LABEL.fullmatch, inner))
    if are_columns and not are_rows:
        rows = [{name: _cell(cells[label]) for name, cells in value.items() if label in cells} for label in inner]
        return _labelled(inner, rows)
    return _labelled(value, [{name: _cell(cell) for name, cell in each.items()} for each in value.values()])


def _labelled(labels: Any, rows: list[Row]) -> list[Row]:
    """The rows with their names in a column without a name, unless these are their numbers."""
    labels = list(labels)
    if labels == [str(index) for index in range(len(rows))]:
        return rows
    return [{"": label, **row} for label, row in zip(labels, rows, strict=True)]


def _rows_of_records(records: list[dict[str, Any]]) -> list[Row]:
    """A row per record; where each holds a list of rows or lists of values, a row for each of them."""
    flat = list(map(_with_lists_above, records))
    lists = [name for name, value in flat[0].items() if isinstance(value, list)]
    lists = [name for name in lists if all(isinstance(each.get(name), list) for each in flat)]
    values = [name for name in lists if _are_values([each[name] for each in flat])]
    beside = [name for name in lists if values and all(_are_scalars(each[name]) for each in flat)]
    values = [name for name in beside if all(len(each[name]) == len(each[values[0]]) for each in flat)]
    rows = [name for name in lists if all(_are_rows(each[name]) for each in flat) and any(each[name] for each in flat)]
    if values:
        inner = [
            [
                dict(zip(values, map(_cell, row), strict=True))
                for row in zip(*(each[name] for name in values), strict=True)
            ]
            for each in flat
        ]
        if not any(_tell_time(each[name]) for each in flat for name in values):
            inner = [[{STEP: str(index), **row} for index, row in enumerate(each, 1)] for each in inner]
    elif len(rows) == 1:
        inner = [_named_rows(each, rows[0]) or _table(each[rows[0]], is_whole=False) or [] for each in flat]
    else:
        return _with_short_names([dict(_cells(record)) for record in records])
    outer = [{name: _cell(cell) for name, cell in each.items() if not isinstance(cell, list)} for each in flat]
    return _with_short_names([{**row, **part} for row, parts in zip(outer, inner, strict=True) for part in parts])


def _named_rows(record: dict[str, Any], rows: str) -> list[Row] | None:
    """The rows in a record whose columns are named in a list beside them; None where none are."""
    above = rows.rpartition(_WITHIN)[0]
    beside = (record.get(f"{above}{_WITHIN}{key}" if above else key) for key in _NAMES)
    names = next((each for each in beside if isinstance(each, list)), None)
    return None if names is None else _table_of_object({"columns": names, "data": record[rows]})


def _with_lists_above(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The cells and lists of a record, those of a record within it, or in a list of one record, by all their names."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        within = value[0] if isinstance(value, list) and len(value) == 1 else value
        below = _with_lists_above(within, f"{prefix}{name}{_WITHIN}") if isinstance(within, dict) else None
        flat |= {f"{prefix}{name}": value} if below is None else below
    return flat


def _tell_time(values: list[Any]) -> bool:
    """Return whether a list holds dates, or whole numbers each above the one before it, as seconds are."""
    if all(isinstance(each, str) and _LABEL.fullmatch(each) and not each.isdecimal() for each in values):
        return True
    numbers = [int(each) if isinstance(each, str) and each.isdecimal() else None for each in values]
    pairs = itertools.pairwise(numbers)
    return all(above is not None and below is not None and above < below for above, below in pairs)


def _are_values(lists: list[list[Any]]) -> bool:
    """Return whether lists are series, of which some may be short, and no properties such as pairs or tags."""
    cells = itertools.chain.from_iterable(lists)
    return max(map(len, lists)) >= FEWEST_STEPS and all(each is None or isinstance(each, _Number) for each in cells)


def _are_rows(value: list[Any]) -> bool:
    return all(isinstance(each, dict) for each in value) or all(isinstance(each, list) and each for each in value)


def _cells(record: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The cells of a record, those of a record within it by the names of both."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _cells(value, f"{prefix}{name}{_WITHIN}")
        else:
            yield f"{prefix}{name}", _cell(value)


def _with_short_names(rows: list[Row]) -> list[Row]:
    """The rows with names of records only where others have such cells: `time`, but `actual.high`, `normal.high`."""
    names = dict.fromkeys(itertools.chain.from_iterable(rows))
    if not any(_WITHIN in name for name in names):
        return rows
    last = [name.rpartition(_WITHIN)[2] for name in names]
    times = Counter(last)
    short = {
        name: end if times[end] == 1 else name.replace(_WITHIN, ".") for name, end in zip(names, last, strict=True)
    }
    return [{short[name]: cell for name, cell in row.items()} for row in rows]


def _cell(value: Any) -> str:
    """A cell as a CSV has it; a list as it is written."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value)


def _numbered(row: list[Any]) -> Row:
    return {str(index): _cell(value) for index, value in enumerate(row)}


def _is_position(name: str) -> bool:
    return name.isascii() and name.isdigit()


def _are_scalars(values: Any) -> bool:
    return not any(isinstance(value, dict | list) for value in values)
