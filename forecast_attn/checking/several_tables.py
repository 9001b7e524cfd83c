"""Several tables below each other in one text: where each of them stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from forecast_attn.checking.header_evidence import FEWEST_BELOW
from forecast_attn.checking.line_evidence import likeliest_delimiter, split_lines
from forecast_attn.data.reading.cell_kinds import is_number_or_date, is_value
from forecast_attn.data.reading.cell_numbers import MISSING_WORDS


class TableLines(NamedTuple):
    """Place of one of several tables."""

    first: int
    """Its header, from 0."""
    end: int
    """The line below its last row."""
    num_below: int
    """Lines below it that are not blank."""


def find_tables(text: str) -> list[TableLines]:
    """Several tables below each other, in their order; none for a single table.

    Each is a header above rows, below a blank line or the rows of another one, and titles may stand above it; their
    headers differ.

    Args:
        text: a whole file.
    """
    lines = text.splitlines()
    edges = [(index, index + 1) for index, line in enumerate(lines) if not line.strip(' \t,;|"')]
    edges += [(index, index) for index in _headers_between_rows(lines)]
    tables: dict[str, TableLines] = {}
    for (_, above), (below, _) in itertools.pairwise([(0, 0), *sorted(edges), (len(lines), 0)]):
        block = lines[above:below]
        rows = split_lines(block, likeliest_delimiter(block))
        width = len(rows[-1]) if rows else 0
        first = next((index for index, row in enumerate(rows) if len(row) == width and any(row[1:])), 0)
        if width < 2 or len(rows) - first <= FEWEST_BELOW or any(len(row) != width for row in rows[first:]):
            continue
        if any(map(is_value, rows[first])) or not any(map(is_value, rows[first + 1])):
            return []  # lines that go on after a blank one
        num_below = sum(bool(line.strip()) for line in lines[below:])
        tables[block[first]] = TableLines(above + first, below, num_below)
    return list(tables.values()) if len(tables) > 1 else []


def _headers_between_rows(lines: list[str]) -> Iterator[int]:
    """Lines of different words below a row, and above another one as wide as they, that do not begin as a row does."""
    rows = split_lines(lines, likeliest_delimiter(lines))
    have_values = [any(map(is_number_or_date, row)) for row in rows]
    beginnings = {row[0] for row, has_values in zip(rows, have_values, strict=True) if has_values}
    for index in range(1, len(lines) - 1):
        names = rows[index]
        is_full = len(rows[index + 1]) == len(names) == len({*names} - {*MISSING_WORDS}) > 1
        if is_full and not have_values[index] and names[0] not in beginnings:
            yield index
