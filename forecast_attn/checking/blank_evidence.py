"""Texts whose fields stand between blanks, as tables of numbers in columns do: the options that read them."""

from __future__ import annotations

import itertools
from typing import Any

from forecast_attn.checking.line_evidence import MOST_TITLES, TextLine, commonest, first_lines, split_lines
from forecast_attn.data.reading.cell_kinds import MOSTLY, is_number_or_date
from forecast_attn.data.reading.dialect import BLANKS
from forecast_attn.data.reading.extra_lines import COMMENT_MARKS, DELIMITERS, fields_between_blanks


def find_blanks(text: str) -> dict[str, Any]:
    """The options of a text whose fields stand between blanks; {} for others.

    Args:
        text: the first lines of a file.
    """
    lines = first_lines(text)
    mark = next((mark for mark in COMMENT_MARKS if any(line.is_comment(mark) for line in lines)), None)
    rows = [line for line in lines if not line.is_comment(mark)]
    cells = [fields_between_blanks(line.text) for line in rows]
    start = _first_row(cells)
    if start is None:
        return {}
    commented = {} if mark is None else _names_in_comments(lines, rows[start], mark)
    if commented:
        return {"delimiter": BLANKS} | {name: value for name, value in commented.items() if value}
    first, header_rows = _header_above(cells, start)
    if any(_splits_as_well(rows, first, delimiter, is_header=header_rows > 0) for delimiter in DELIMITERS):
        return {}
    options: dict[str, Any] = {"delimiter": BLANKS}
    if header_rows != 1:
        options |= {"header_rows": header_rows} if header_rows else {"header": False}
    if header_rows and mark is None:
        mark = _mark_below_header(cells[first:])
    options |= {} if mark is None else {"comment": mark}
    return options | ({"skip_rows": rows[first].number} if first else {})


def _first_row(cells: list[list[str]]) -> int | None:
    """The first line with a number after which most lines have as many fields, the commonest number of them."""
    widths = [len(each) for each in cells]
    common = commonest(widths)
    for index, width in enumerate(widths[: MOST_TITLES + 1]):
        is_row = width == common > 1 and any(map(is_number_or_date, cells[index]))
        is_row = is_row and not _numbers_columns(*cells[index : index + 2])
        if is_row and widths[index:].count(common) >= MOSTLY * len(widths[index:]):
            return index
    return None


def _numbers_columns(names: list[str], row: list[str] | None = None) -> bool:
    """Return whether a line names the first columns and numbers the others, above a row of numbers: `YEAR DOY 1 2`."""
    words = list(itertools.takewhile(lambda name: not is_number_or_date(name), names))
    numbers = [str(number) for number in range(1, len(names) - len(words) + 1)]
    return row is not None and len(words) > 0 and names[len(words) :] == numbers and is_number_or_date(row[0])


def _header_above(cells: list[list[str]], start: int) -> tuple[int, int]:
    """The first line of the header above a row, or that row; and the lines of the header, two where the last has units.

    A line of another width may stand between them, such as a rule.
    """
    width = len(cells[start])
    if start > 0 and _are_names_of_r(*cells[start - 1 :]):
        return start - 1, 1
    at = next((index for index in (start - 1, start - 2) if index >= 0 and len(cells[index]) == width), None)
    if at is None:
        return start, 0
    return (start - 2, 2) if start > 1 and _are_names_above_units(*cells[start - 2 : start + 1]) else (at, 1)


def _are_names_of_r(names: list[str], *rows: list[str]) -> bool:
    """Return whether a line has a name for all fields of the rows but the first, their number, as R writes it."""
    numbers = [row[0].strip('"') for row in rows]
    return len(names) + 1 == len(rows[0]) and numbers == list(map(str, range(1, len(rows) + 1)))


def _are_names_above_units(names: list[str], units: list[str], row: list[str]) -> bool:
    """Return whether two lines are as wide as the row below, and those of the first all different, as `%` are not."""
    return len(names) == len(units) == len(row) and len(set(units)) < len(set(names)) == len(names)


def _splits_as_well(rows: list[TextLine], first: int, delimiter: str, *, is_header: bool) -> bool:
    """Return whether a delimiter splits most lines alike from the names or the first row on, and the names, too."""
    widths = list(map(len, split_lines((line.text for line in rows[first:]), delimiter)))
    width = commonest(widths)
    are_alike = width > 1 and widths.count(width) >= MOSTLY * len(widths)
    return are_alike and (widths[0] > 1 or not is_header)


def _mark_below_header(cells: list[list[str]]) -> str | None:
    """The beginning of a rule or a line of units below a header, where no other line begins so."""
    header, below, *rows = cells
    is_row = len(below) == len(header) or any(map(is_number_or_date, below))
    return None if is_row or any(row[0].startswith(below[0]) for row in [header, *rows]) else below[0]


def _names_in_comments(lines: list[TextLine], first_row: TextLine, mark: str) -> dict[str, Any]:
    """The options that read names, and leave out units below them, in the last comments above rows between blanks.

    They have as many fields as the rows; the mark may stand alone before the names.
    """
    at, width = lines.index(first_row), len(first_row.text.split())
    above, last = ([] if index < 0 else lines[index].text.split() for index in (at - 2, at - 1))
    if not last or not last[0].startswith(mark) or any(line.is_comment(mark) for line in lines[at:]):
        return {}
    if len(above) == len(last) == width and above[0].startswith(mark) and not above[0].startswith(last[0]):
        return {"comment": last[0], "skip_rows": lines[at - 2].number}  # of units
    return {"skip_rows": lines[at - 1].number} if len(last) == width + (last[0] == mark) else {}
