"""Several tables below each other in one text: where each of them stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from forecast_attn.checking.header_evidence import FEWEST_BELOW
from forecast_attn.checking.line_evidence import likeliest_delimiter, split_lines
from forecast_attn.data.reading.cell_kinds import DATE, is_number_or_date, is_value, kind_of_column
from forecast_attn.data.reading.cell_numbers import MISSING_WORDS, is_number
from forecast_attn.data.reading.dialect import BLANKS
from forecast_attn.data.reading.extra_lines import fields_between_blanks


class TableLines(NamedTuple):
    """Place of one of several tables."""

    first: int
    """Its header, from 0."""
    end: int
    """The line below its last row."""
    num_below: int
    """Lines below it that are not blank."""
    delimiter: str | None
    """`blanks` where they separate its fields."""


def find_tables(text: str) -> list[TableLines]:
    """Several tables below each other, in their order; none for a single table.

    Each is a header above rows, below a blank line or the rows of another one, and titles may stand above it. Their
    headers differ, or the digits of their times do (years below months), or they begin at the same time: others are
    pages of one table.

    Args:
        text: a whole file.
    """
    lines = text.splitlines()
    edges = [(index, index + 1) for index, line in enumerate(lines) if not line.strip(' \t,;|"')]
    edges += [(index, index) for index in _headers_between_rows(lines)]
    tables: dict[tuple[str, int], list[tuple[str, TableLines]]] = {}
    for (_, above), (below, _) in itertools.pairwise([(0, 0), *sorted(edges), (len(lines), 0)]):
        block = lines[above:below]
        rows, delimiter = _fields_of(block)
        width = len(rows[-1]) if rows else 0
        first = next((index for index, row in enumerate(rows) if len(row) == width and any(row[1:])), 0)
        if width < 2 or len(rows) - first <= FEWEST_BELOW or any(len(row) != width for row in rows[first:]):
            continue
        if any(map(is_value, rows[first])) or not any(map(is_value, rows[first + 1])):
            return []  # lines that go on after a blank one
        num_below = sum(bool(line.strip()) for line in lines[below:])
        start = _start_of(rows[first + 1])
        header = block[first], len(start) if start.isdecimal() else 0
        alike = tables.setdefault(header, [])
        if any(other != start for other, _ in alike):  # pages of one table
            alike.clear()
        alike.append((start, TableLines(above + first, below, num_below, delimiter)))
    several = [table for alike in tables.values() for _, table in alike]
    return several if len(several) > 1 else []


def _start_of(row: list[str]) -> str:
    """The first cell of a row that is a date, else the first one: of a host's pages, all begin with its name."""
    return next((cell for cell in row if kind_of_column([cell]) == DATE), row[0]).strip()


def _fields_of(lines: list[str]) -> tuple[list[list[str]], str | None]:
    """The cells of each line, and `blanks` if they separate them."""
    delimiter = likeliest_delimiter(lines)
    if any(delimiter in line for line in lines):
        return split_lines(lines, delimiter), None
    return [fields_between_blanks(line) for line in lines], BLANKS


def _headers_between_rows(lines: list[str]) -> Iterator[int]:
    """Lines of different words below a row, and above another one as wide as they, that do not begin as a row does."""
    rows = split_lines(lines, likeliest_delimiter(lines))
    have_values = [any(is_number_or_date(cell) or is_number(cell) for cell in row) for row in rows]  # and no `1 AUD`
    beginnings = {row[0] for row, has_values in zip(rows, have_values, strict=True) if has_values}
    for index in range(1, len(lines) - 1):
        names = rows[index]
        is_full = len(rows[index + 1]) == len(names) == len({*names} - {*MISSING_WORDS}) > 1
        if is_full and not have_values[index] and names[0] not in beginnings:
            yield index
