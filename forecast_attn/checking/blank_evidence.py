"""Texts whose fields stand between blanks, as tables of numbers in columns do: the options that read them."""

from __future__ import annotations

from typing import Any

from forecast_attn.checking.line_evidence import MOST_TITLES, TextLine, commonest, first_lines, split_lines
from forecast_attn.data.reading.cell_kinds import MOSTLY, is_number_or_date
from forecast_attn.data.reading.dialect import BLANKS
from forecast_attn.data.reading.extra_lines import COMMENT_MARKS, DELIMITERS


def find_blanks(text: str) -> dict[str, Any]:
    """The options of a text whose fields stand between blanks; {} for others.

    Args:
        text: the first lines of a file.
    """
    lines = first_lines(text)
    mark = next((mark for mark in COMMENT_MARKS if any(line.is_comment(mark) for line in lines)), None)
    rows = [line for line in lines if not line.is_comment(mark)]
    cells = [line.text.split() for line in rows]
    start = _first_row(cells)
    if start is None:
        return {}
    commented = {} if mark is None else _names_in_comments(lines, rows[start], mark)
    if commented:
        return {"delimiter": BLANKS, **commented}
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
        if is_row and widths[index:].count(common) >= MOSTLY * len(widths[index:]):
            return index
    return None


def _header_above(cells: list[list[str]], start: int) -> tuple[int, int]:
    """The first line of the header above a row, or that row; and the lines of the header, two where the last has units.

    A line of another width may stand between them, such as a rule.
    """
    width = len(cells[start])
    if start > 0 and _are_names_of_r(*cells[start - 1 :]):
        return start - 1, 1
    at = next((index for index in (start - 1, start - 2) if index >= 0 and len(cells[index]) == width), None)
    if at is None or any(map(is_number_or_date, cells[at])):
        return start, 0
    return (start - 2, 2) if start > 1 and _are_names_above_units(*cells[start - 2 : start + 1]) else (at, 1)


def _are_names_of_r(names: list[str], *rows: list[str]) -> bool:
    """Return whether a line has a name for all fields of the rows but the first, their number, as R writes it."""
    numbers = [row[0].strip('"') for row in rows]
    return len(names) + 1 == len(rows[0]) and numbers == list(map(str, range(1, len(rows) + 1)))


def _are_names_above_units(names: list[str], units: list[str], row: list[str]) -> bool:
    """Return whether two lines as wide as the row below are words, those of the first all different, as `%` are not."""
    are_words = not any(map(is_number_or_date, [*names, *units]))
    return len(names) == len(units) == len(row) and are_words and len(set(units)) < len(set(names)) == len(names)


def _splits_as_well(rows: list[TextLine], first: int, delimiter: str, *, is_header: bool) -> bool:
    """Return whether a delimiter splits most lines alike, and the names, too."""
    widths = list(map(len, split_lines((line.text for line in rows), delimiter)))
    width = commonest(widths)
    are_alike = width > 1 and widths.count(width) >= MOSTLY * len(widths)
    return are_alike and (widths[first] > 1 or not is_header)


def _mark_below_header(cells: list[list[str]]) -> str | None:
    """The beginning of a rule or a line of units below a header, where no other line begins so."""
    header, below, *rows = cells
    is_no_row = len(below) != len(header) and not any(map(is_number_or_date, below))
    return None if not is_no_row or any(row[0].startswith(below[0]) for row in [header, *rows]) else below[0]


def _names_in_comments(lines: list[TextLine], first_row: TextLine, mark: str) -> dict[str, Any]:
    """The options that read names, and leave out units below them, in the last comments above rows between blanks.

    They have as many fields as the rows, none of them a number; the mark may stand alone before the names.
    """
    at = lines.index(first_row)
    width, above = len(first_row.text.split()), [line.text.split() for line in lines[max(at - 2, 0) : at]]
    heads = [cells for cells in above if cells[0].startswith(mark) and not any(map(is_number_or_date, cells))]
    if any(line.is_comment(mark) for line in lines[at:]) or not heads or heads[-1] != above[-1]:
        return {}
    if len(heads) == 2 and len(heads[0]) == len(heads[1]) == width and not heads[0][0].startswith(heads[1][0]):
        skipped, comment = lines[at - 2].number, {"comment": heads[1][0]}  # of units
    elif len(heads[-1]) == width + (is_alone := heads[-1][0] == mark) and (width > 2 or not is_alone):  # no two words
        skipped, comment = lines[at - 1].number, {}
    else:
        return {}
    return comment | ({"skip_rows": skipped} if skipped else {})
