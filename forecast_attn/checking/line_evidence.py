"""Lines of a text that are not rows: titles, comments and rules above them, notes below them.

The first and the last lines tell them. Most functions return the options that leave such lines out, {} where there are
none. Each option is tried before it is proposed, so that evidence may be wrong; reading itself guesses nothing.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from forecast_attn.data.reading.cell_kinds import MOSTLY, is_number_or_date, is_value, is_year, shape
from forecast_attn.data.reading.cell_numbers import MISSING_WORDS, are_parts_of_a_number, shows_number
from forecast_attn.data.reading.extra_lines import COMMENT_MARKS, DELIMITERS, MOST_RECORDS

MOST_TITLES = 200
"""Lines that may stand above a header."""
MOST_FOOTERS = 60
"""Lines that may stand below the rows."""
MOST_PROPERTIES = 10
"""Lines between the names and the rows that tell of each column: its unit, its source, when it was updated."""
MOST_HEADER_ROWS = 4
"""Lines that may name the columns."""
_FEWEST_AMONG_NOTES = 0.25
"""Share of the lines that are rows where many notes stand above and below them."""


class TextLine(NamedTuple):
    """A line of a text that is not blank."""

    number: int
    """From 0."""
    text: str

    def is_comment(self, mark: str | None) -> bool:
        """Return whether the line begins with a mark of comments."""
        return mark is not None and self.text.lstrip().startswith(mark)


def first_lines(text: str) -> list[TextLine]:
    """The first lines of a text that are not blank."""
    return [TextLine(number, line) for number, line in enumerate(text.splitlines()[:MOST_RECORDS]) if line.strip()]


def likeliest_delimiter(lines: Iterable[str]) -> str:
    """The delimiter that stands most often in lines, outside quotes."""
    text = re.sub(r'"[^"\n]*"', "", "\n".join(lines))
    return max(DELIMITERS, key=text.count)


def split_lines(lines: Iterable[str], delimiter: str) -> list[list[str]]:
    """The stripped cells of each line, with delimiters in quotes; a quote that is not closed counts as a letter."""
    return [[cell.strip() for cell in _split(line, delimiter)] for line in lines]


def _split(line: str, delimiter: str) -> list[str]:
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [""])
    except csv.Error:
        return line.split(delimiter)


def commonest(counts: Iterable[int]) -> int:
    """The commonest of some counts; 0 where there are none."""
    return next((count for count, _ in Counter(counts).most_common(1)), 0)


def _usual_width(rows: list[list[str]]) -> int:
    """The number of cells in most rows; notes of one cell may be more than these."""
    width, count = next(iter(Counter(len(row) for row in rows if len(row) > 1).most_common(1)), (1, 0))
    return width if count >= _FEWEST_AMONG_NOTES * len(rows) else commonest(map(len, rows))


# --------------------------------------------------------------------------- comments


def find_preamble(text: str) -> dict[str, Any]:
    """The options that leave out what stands above a header: comments, or titles.

    Args:
        text: the first lines of a file.
    """
    lines = first_lines(text)
    mark = _mark_of_comments(lines)
    if mark is not None:
        return _without_comments(lines, mark)
    rows = _cells(lines)
    wide, narrow = _wide_titles(lines, rows), _narrow_titles(lines, rows)
    if "header" in wide and narrow and "header" not in narrow:
        numbers = [line.number for line in lines]
        below_names = rows[numbers.index(narrow["skip_rows"]) + 1 : numbers.index(wide["skip_rows"]) + 1]
        return narrow if _begin_as_the_last(below_names) else wide
    return wide or narrow


def _begin_as_the_last(rows: list[list[str]]) -> bool:
    """Return whether lines below names, the last one a full row, begin as rows do, but for the last lines of names."""
    others = [row for row in rows if shape(row[0]) != shape(rows[-1][0])]
    return bool(rows) and len(others) < MOST_HEADER_ROWS


def _mark_of_comments(lines: list[TextLine]) -> str | None:
    """The mark of comment lines above the header or between the rows: they have other fields than most lines."""
    for mark in COMMENT_MARKS:
        marked = [line.text for line in lines if line.is_comment(mark)]
        rows = [line.text for line in lines if not line.is_comment(mark)]
        if not marked or not rows:
            continue
        delimiter = likeliest_delimiter(rows)
        width = commonest(line.count(delimiter) for line in rows)
        differ = width == 0 or any(line.count(delimiter) != width for line in marked)
        are_several = all(line.is_comment(mark) for line in lines[:2])  # as types and groups of columns
        if (differ or are_several) and rows[0].count(delimiter) == width:  # what is left begins with the header
            return mark
    return None


def _without_comments(lines: list[TextLine], mark: str) -> dict[str, Any]:
    """The options that leave out comments, but for names in the last one above the rows that is more than a mark."""
    above = count = next(index for index, line in enumerate(lines) if not line.is_comment(mark))
    while count > 1 and lines[count - 1].text.strip() == mark:
        count -= 1
    rows = [line.text for line in lines if not line.is_comment(mark)]
    delimiter = likeliest_delimiter(rows)
    first = rows[0].split(delimiter)
    names = split_lines([lines[count - 1].text], delimiter)[0] if count > 1 else []
    width = commonest(map(len, split_lines(rows, delimiter)))
    if len(names) == len(first) == width > 1 and any(map(is_value, first)) and not any(map(is_value, names)):
        names_and_marks = {"header_rows": 1 + above - count} if count < above else {}
        return {"skip_rows": lines[count - 1].number, **names_and_marks}
    return {"comment": mark} | ({"header": False} if all(map(is_value, first)) else {})


def find_rules(text: str) -> dict[str, Any]:
    """The option that leaves out lines such as `|----|` or `---- ---`, which are drawn around a table."""
    lines = text.splitlines()[:MOST_RECORDS]
    rules = {line.strip() for line in lines if re.fullmatch(r"\s*[|+][-=+|:\s]{3,}|([-=]{2,}[+\s]*)+", line)}
    mark = min(rules, default="")[:2]
    others = (line for line in lines if line.strip() not in rules)
    return {"comment": mark} if mark and not any(line.lstrip().startswith(mark) for line in others) else {}


# --------------------------------------------------------------------------- titles


def _narrow_titles(lines: list[TextLine], rows: list[list[str]]) -> dict[str, Any]:
    """The options that leave out lines with fewer cells than most.

    Args:
        lines: the first lines.
        rows: their cells.
    """
    width = _usual_width(rows)
    first = next((index for index, row in enumerate(rows) if len(row) == width > 1), 0)
    if first and _differ_by_a_last_delimiter(rows[first - 1], rows[first]):
        first -= 1
    while width > 2 and not any(rows[first][1:]) and first + 1 < len(rows):  # a title as wide as the rows
        first += 1
    if not 0 < first <= MOST_TITLES or _splits_decimals(rows[first - 1 :]):
        return {}
    below = [*(rows[first + 1] if first + 1 < len(rows) else []), *[""] * width]
    if not any(is_value(name) and name != cell for name, cell in zip(rows[first], below, strict=False)):
        return {"skip_rows": lines[first].number}
    are_rows = any(shape(line.text) == shape(lines[first].text) for line in lines[first + 1 : first + 2])
    return {"skip_rows": lines[first].number, "header": False} if are_rows else {}


def _differ_by_a_last_delimiter(names: list[str], row: list[str]) -> bool:
    """Return whether a delimiter stands behind the last name, or behind the last cell of the rows, and not both."""
    if len(names) == len(row) + 1:
        return not names[-1]
    return 1 < len(names) == len(row) - 1 and not row[-1]


def _splits_decimals(rows: list[list[str]]) -> bool:
    """Return whether rows have a cell more than the names above them, by a decimal comma: `"2024-01-31",25,3525`."""
    names, *below = rows
    return all(len(row) == len(names) + 1 and are_parts_of_a_number(*row[-2:]) for row in below)


def find_wide_titles(text: str) -> dict[str, Any]:
    """The option that leaves out titles with as many fields as the rows, as a spreadsheet writes them.

    Args:
        text: the first lines of a file.
    """
    lines = first_lines(text)
    return _wide_titles(lines, _cells(lines))


def _cells(lines: list[TextLine]) -> list[list[str]]:
    texts = [line.text for line in lines]
    return split_lines(texts, likeliest_delimiter(texts))


def _wide_titles(lines: list[TextLine], rows: list[list[str]]) -> dict[str, Any]:
    """The options that leave out lines above the first row of values, down to the names where it has some.

    Lines above the names are titles where there are too many of them for names, where one has a number, which names in
    several lines have not, or where all cells but their first ones are empty. Numbers above rows without names belong
    to rows with holes, unless they are as few as those of a title.
    """
    width = _usual_width(rows)
    columns = _columns_of_values(rows, width)
    first = _first_row(rows, width, columns) if width > 1 else 0
    if not 1 < first <= MOST_TITLES or len(rows[first - 1]) != width:
        return {}
    *titles, names = rows[:first]
    begin_alone = not any(cell for title in titles for cell in title[1:])
    are_titles = len(titles) >= MOST_HEADER_ROWS or any(map(is_value, titles[-1])) or begin_alone
    if are_titles and all(_named(names, rows[first:])[1:]) and not any(map(is_value, names)):
        are_units = len({*names}) < len({*titles[-1]}) == width and not any(map(is_value, titles[-1]))
        return {"skip_rows": lines[first - 1 - are_units].number}
    above = (at for at, row in enumerate(rows[:first]) if len({*row} - {""}) == width and not any(map(is_value, row)))
    full = next(above, None)
    if full is not None and first - full <= MOST_PROPERTIES:
        return {"skip_rows": lines[full].number} if full else {}
    beginnings = [0] if 0 in columns else columns  # rows begin alike
    with_numbers = sum(any(is_value(row[at]) for at in beginnings) for row in titles if len(row) == width)
    have_no_names = len(titles) > MOST_HEADER_ROWS and 2 * with_numbers < len(titles)
    return {"skip_rows": lines[first].number, "header": False} if have_no_names else {}


def _named(names: list[str], rows: list[list[str]]) -> list[str]:
    """The names up to the last column that has any cell: of several tables, each is as wide as the widest."""
    width = max((at + 1 for row in rows for at, cell in enumerate(row) if cell), default=0)
    return names[:width]


def _columns_of_values(rows: list[list[str]], width: int) -> list[int]:
    """The columns in which nearly all cells of the lower rows are numbers or dates."""
    below = [row for row in rows[len(rows) // 2 :] if len(row) == width]
    return [at for at in range(width) if sum(is_value(row[at]) for row in below) >= MOSTLY * len(below)]


def _first_row(rows: list[list[str]], width: int, columns: list[int]) -> int:
    """The first line with values in all columns of values, or one above it that lacks some; 0 where there is none."""
    first = next((index for index, row in enumerate(rows) if len(row) == width and _has_values(row, columns)), 0)
    while first > 1 and _is_row_with_holes(rows[first - 1], width):
        first -= 1
    if not first:
        return 0
    # Titles may have numbers in all columns, too, above the last line of names; names may stand once more.
    below = range(first, len(rows) // 2)
    words = (index + 1 for index in below if _are_words(rows[index], columns) and rows[index] not in rows[:first])
    return max(words, default=first)


def _has_values(row: list[str], columns: list[int]) -> bool:
    """Return whether all cells of these columns are numbers or dates, not all of them years."""
    cells = [row[at] for at in columns]
    return all(map(is_number_or_date, cells)) and any(map(is_value, cells))


def _are_words(row: list[str], columns: list[int]) -> bool:
    """Return whether the cells of these columns are words that differ, as names do."""
    words = {row[at] for at in columns if at < len(row)}
    are_names = all(re.search("[A-Za-z]", word) for word in words)
    return len(words) == len(columns) and are_names and words.isdisjoint(MISSING_WORDS)


def _is_row_with_holes(row: list[str], width: int) -> bool:
    """Return whether a line begins as a row, and has empty cells and numbers alone, or one mark of missing values."""
    known = [cell for cell in row if cell not in MISSING_WORDS]
    are_known = len(known) > 1 and all(map(is_number_or_date, known))
    are_marked = is_value(row[0]) and len(set(row[1:])) == 1 and bool(row[-1])
    return len(row) == width and bool(row[0]) and ((are_known and len(known) < width) or are_marked)


def find_unnamed_rows(text: str) -> dict[str, Any]:
    """The options that leave out all above rows without names, down to a title: tables of a station's properties, too.

    Args:
        text: the first lines of a file.
    """
    lines = first_lines(text)
    begins = [(len(row), shape(row[0])) for row in _cells(lines)]
    usual = Counter(begins[len(begins) // 2 :]).most_common(1)
    first = next((at for at in range(len(begins), 0, -1) if begins[at - 1] != usual[0][0]), 0)
    is_run = first and begins[first - 1][0] == 1 < usual[0][0][0] and first <= MOST_TITLES and len(begins) >= 2 * first
    return {"skip_rows": lines[first].number, "header": False} if is_run else {}


def find_titles_of_one_column(text: str) -> dict[str, Any]:
    """The options that leave out what stands above a column of numbers without delimiters, up to its name, if any.

    Args:
        text: the first lines of a file.
    """
    lines = first_lines(text)
    words = [line for line in lines if not is_number_or_date(line.text)]
    if len(words) < 2 or words[-1].number > MOST_TITLES:
        return {}
    rows = [line for line in lines if line.number > words[-1].number]
    is_name = not re.search(r"\s", words[-1].text.strip())
    if len(rows) <= len(words) or (is_name and len(words) <= MOST_HEADER_ROWS):
        return {}
    return {"skip_rows": words[-1].number} if is_name else {"skip_rows": rows[0].number, "header": False}


def find_titles(rows: list[list[str]]) -> int:
    """Rows above the header of a sheet, which have fewer cells than all others; 0 for none.

    Args:
        rows: the first rows, each as wide as the sheet.
    """
    rows = rows[:MOST_RECORDS]
    widths = [sum(bool(cell.strip()) for cell in row) for row in rows]
    if not widths:
        return 0
    common = commonest(widths)
    first = next((index for index, width in enumerate(widths) if width >= common > 1), 0)
    gaps = [above for above, width in enumerate(widths[:-1], 1) if not width and _are_titles(rows[: above - 1])]
    for above in (*reversed(gaps), first):
        names, widest = [cell for cell in rows[above] if cell.strip()], max(widths[:above], default=common)
        are_names = not any(is_number_or_date(name) and not (names.index(name) and is_year(name)) for name in names)
        is_header = len(set(names)) == len(names) and are_names
        if (above == first and widest <= 1) or (is_header and widest < len(names)):
            return above if above <= MOST_TITLES else 0
    # Above names in several lines, of which the upper ones name groups of columns, titles stand alone, or above a gap.
    alone = next((index for index, width in enumerate(widths) if width > 1), 0)
    above = max((gap for gap in gaps if gap <= first), default=alone)
    return above if above < first <= above + MOST_HEADER_ROWS else 0


def _are_titles(rows: list[list[str]]) -> bool:
    """Return whether lines above a gap are no table of their own: hardly any has a number or a date."""
    return sum(any(map(is_value, row)) for row in rows) <= MOST_HEADER_ROWS


# --------------------------------------------------------------------------- notes


def find_footer(text: str) -> int:
    """Number of lines at the end of a text that have other numbers of fields than the lines before them, or only words.

    Rows with a remark behind their last value are none of them.

    Args:
        text: the last lines of a file.
    """
    lines = [line for line in text.splitlines() if line.strip()][-MOST_RECORDS:]
    rows = split_lines(lines, likeliest_delimiter(lines))
    width = _usual_width(rows)
    are_rows = (len(row) == width and any(map(_shows_value, row)) for row in reversed(rows))
    num_below = next((index for index, is_row in enumerate(are_rows) if is_row), 0)
    if width < 2 or not 0 < num_below <= MOST_FOOTERS:
        return 0
    beginnings = {shape(row[0]) for row in rows[:-num_below]}
    have_remarks = all(len(row) == width + 1 and shape(row[0]) in beginnings for row in rows[-num_below:])
    return 0 if have_remarks else num_below


def _shows_value(cell: str) -> bool:
    return is_number_or_date(cell) or shows_number(cell)
