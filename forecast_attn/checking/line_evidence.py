"""Options for the lines of a text that are not rows, from what stands in its first and last lines.

Reading leaves out what these options name, and guesses nothing.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pandas as pd

from forecast_attn.data.column_names import LOOSE_TIME_NAMES, TIME_NAMES
from forecast_attn.data.reading.cell_kinds import MOSTLY, are_numbers, is_number_or_date, is_value, is_year, shape
from forecast_attn.data.reading.cell_numbers import MISSING_WORDS, are_parts_of_a_number, shows_number
from forecast_attn.data.reading.extra_lines import COMMENT_MARKS, DELIMITERS, MOST_RECORDS
from forecast_attn.data.timestamps import looks_like_dates

MOST_TITLES = 200
"""Lines that may stand above a header."""
MOST_FOOTERS = 15
"""Lines that may stand below the rows."""
MOST_HEADER_ROWS = 4
MOST_CELLS = 500
"""Cells of a line that tell what it is."""
FEWEST_BELOW = 5
"""Rows that must show that the lines above them are names."""
FEWEST_CELLS = 40
"""Cells below them that show it too, where the first line alone has no name, or the same one, for several columns."""


def find_preamble(text: str) -> dict[str, Any]:
    """The options that leave out what stands above a header: comments, or lines with fewer fields than all others.

    Args:
        text: the first lines of a file.
    """
    lines = [line for line in text.splitlines()[:MOST_RECORDS] if line.strip()]
    mark = _mark_of_comments(lines)
    if mark is not None and lines[0].lstrip().startswith(mark):
        header = _header_among_comments(lines, mark)
        if header is not None:
            return {"skip_rows": text.splitlines().index(header)}
        return {"comment": mark} | ({"header": False} if _begins_with_a_row(lines, mark) else {})
    ways = (_above_widest(text, lines, delimiter) for delimiter in DELIMITERS)
    above = next((way for way in ways if way is not None), None)
    return above if above is not None else find_wide_titles(text) or ({} if mark is None else {"comment": mark})


def _above_widest(text: str, lines: list[str], delimiter: str) -> dict[str, Any] | None:
    """The options that leave out lines with fewer fields than most; {} where these must not be left out."""
    widths = [_fields(line, delimiter) - 1 for line in lines]
    common, count = Counter(widths).most_common(1)[0] if widths else (0, 0)
    first = widths.index(common) if common else 0
    if first and widths[first - 1] == common + 1 and lines[first - 1].rstrip().endswith(delimiter):
        first -= 1  # a delimiter behind the last name
    if first and widths[first - 1] == common - 1 > 0 and lines[first].rstrip().endswith(delimiter):
        first -= 1  # a delimiter behind the last cell of every row
    names = [name.strip().strip('"') for name in lines[first].split(delimiter)] if common else []
    while common > 1 and not any(names[1:]) and first + 1 < len(lines):  # a title as wide as the rows
        first += 1
        names = [name.strip().strip('"') for name in lines[first].split(delimiter)]
    if not 0 < first <= MOST_TITLES or _is_split(lines, first, delimiter):
        return None
    if _splits_decimals(lines[first - 1 :], delimiter):
        return {}
    index = text.splitlines().index(lines[first])
    is_mostly_so = count >= MOSTLY * (len(widths) - first)
    if is_mostly_so and not any(map(is_value, names)) and not is_year(names[0] if names else ""):
        rows = find_wide_titles(text)  # far below, where lines such as `Serial number:,1` are as wide as they
        begins = [line.split(delimiter)[0].strip('"') for line in lines[first + 1 : first + 1 + MOST_HEADER_ROWS]]
        is_far = rows.get("skip_rows", 0) > index + MOST_HEADER_ROWS and not any(map(is_value, begins))
        return rows if is_far else {"skip_rows": index}
    has_rows_below = is_mostly_so and len(widths) - first >= FEWEST_BELOW
    if has_rows_below and shape(lines[first]) == shape(lines[first + 1]):
        return {"skip_rows": index, "header": False}
    return None


def find_rules(text: str) -> dict[str, Any]:
    """The option that leaves out lines such as `|----|` or `---- ---`, which are drawn around a table."""
    lines = text.splitlines()[:MOST_RECORDS]
    rules = {line.strip() for line in lines if re.fullmatch(r"\s*[|+][-=+|:\s]{3,}|([-=]{2,}[+\s]*)+", line)}
    mark = min(rules, default="")[:2]
    others = (line for line in lines if line.strip() not in rules)
    return {"comment": mark} if mark and not any(line.lstrip().startswith(mark) for line in others) else {}


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
        delimiter = _likeliest_delimiter(block)
        widths = [_fields(line, delimiter) for line in block]
        first = widths.index(widths[-1]) if widths else 0
        are_rows = widths[first + 1 :] == [widths[-1]] * (len(widths) - first - 1) if widths else False
        if are_rows and widths[-1] > 1 and len(block) - first > FEWEST_BELOW:
            if not _is_header_of(block[first], block[first + 1], delimiter):
                return []  # lines that go on after a blank one
            num_below = sum(bool(line.strip()) for line in lines[below:])
            tables[block[first]] = TableLines(above + first, below, num_below)
    return list(tables.values()) if len(tables) > 1 else []


def _headers_between_rows(lines: list[str]) -> Iterator[int]:
    """Lines of different words below a row, and above another one as wide as they, that do not begin as a row does."""
    delimiter = _likeliest_delimiter(lines)
    cells = [[cell.strip(' "') for cell in line.split(delimiter)] for line in lines]
    are_rows = [any(map(is_number_or_date, row)) for row in cells]
    begins = {row[0] for row, is_row in zip(cells, are_rows, strict=True) if is_row}
    for index in range(1, len(lines) - 1):
        names = cells[index]
        is_between = are_rows[index - 1] and not are_rows[index] and are_rows[index + 1]
        is_full = len(cells[index + 1]) == len(names) == len({*names} - {*MISSING_WORDS}) > 1
        if is_between and is_full and names[0] not in begins:
            yield index


def _is_header_of(line: str, row: str, delimiter: str) -> bool:
    """Return whether a row has numbers or dates, and the line above it has none."""
    names, cells = ([cell.strip(' "') for cell in each.split(delimiter)] for each in (line, row))
    return not any(map(is_value, names)) and any(map(is_value, cells))


def _is_split(lines: list[str], first: int, delimiter: str) -> bool:
    """Return whether another delimiter splits a row and the line above it alike, as of cells with decimal commas."""
    counts = ((lines[first - 1].count(mark), lines[first].count(mark)) for mark in DELIMITERS if mark != delimiter)
    return first > 0 and any(above == below > 0 for above, below in counts)


def _splits_decimals(lines: list[str], delimiter: str) -> bool:
    """Return whether rows have a cell more than the names above them, by a decimal comma: `"2024-01-31",25,3525`."""
    names, *rows = ([cell.strip(' "') for cell in line.split(delimiter)] for line in lines)
    are_parts = all(len(row) == len(names) + 1 and are_parts_of_a_number(*row[-2:]) for row in rows)
    return delimiter == "," and are_parts and not any(map(is_value, names)) and all(names)


def _begins_with_a_row(lines: list[str], mark: str) -> bool:
    """Return whether the first line that is not a comment has dates and numbers alone, where names are expected."""
    rows = [line for line in lines if not line.lstrip().startswith(mark)]
    delimiter = _likeliest_delimiter(rows)
    return bool(rows) and all(is_value(cell) for cell in rows[0].split(delimiter))


def _header_among_comments(lines: list[str], mark: str) -> str | None:
    """The last comment above the rows where it has as many fields as they, none of them a number."""
    count = next((index for index, line in enumerate(lines) if not line.lstrip().startswith(mark)), 0)
    rows = lines[count:]
    delimiter = _likeliest_delimiter(rows)
    width = _commonest(_fields(line, delimiter) for line in rows)
    header = lines[count - 1]
    is_like_them = (
        width > 1
        and count > 1
        and any(map(is_value, rows[0].split(delimiter)))
        and _fields(header, delimiter) == width
        and _fields(rows[0], delimiter) == width
    )
    return header if is_like_them and not any(map(is_value, header.split(delimiter))) else None


def find_wide_titles(text: str) -> dict[str, Any]:
    """The option that leaves out titles with as many fields as the rows, as a spreadsheet writes them.

    They are titles where there are too many of them for names, where one has a number, which names in several lines
    have not, or where all cells but their first ones are empty.

    Args:
        text: the first lines of a file.
    """
    lines = [line for line in text.splitlines()[:MOST_RECORDS] if line.strip()]
    index, has_names = _below_titles(lines)
    if index is None:
        return {}
    return {"skip_rows": text.splitlines().index(lines[index])} | ({} if has_names else {"header": False})


def _below_titles(lines: list[str]) -> tuple[int | None, bool]:
    """The line above the first row of numbers, where what stands above it is no name; that row where it has none."""
    delimiter = _likeliest_delimiter(lines)
    try:
        cells = [next(csv.reader([line], delimiter=delimiter), [""]) for line in lines]
    except csv.Error:
        return None, True
    width = _commonest(map(len, cells))
    below = [row for row in cells[len(cells) // 2 :] if len(row) == width]
    numeric = [
        index for index in range(width) if below and sum(is_value(row[index]) for row in below) >= MOSTLY * len(below)
    ]
    first = next((index for index, row in enumerate(cells) if len(row) == width and _has_data(row, numeric)), 0)
    while first > 2 and _is_row_with_holes(cells[first - 1], width):
        first -= 1
    if first:  # titles may have numbers in all columns, too, above the last line of names; names may stand once more
        below_them = range(first, len(cells) // 2)
        words = (at + 1 for at in below_them if _are_words(cells[at], numeric) and cells[at] not in cells[:first])
        first = max(words, default=first)
    if width < 2 or not numeric or not 1 < first <= MOST_TITLES or len(cells[first - 1]) != width:
        return None, True
    *titles, names = cells[:first]
    begin_alone = not any(cell.strip() for title in titles for cell in title[1:])
    are_titles = len(titles) >= MOST_HEADER_ROWS or any(map(is_value, titles[-1])) or begin_alone
    if are_titles and all(name.strip() for name in names) and not any(map(is_value, names)):
        return first - 1, True
    # Numbers above belong to rows with holes, unless they are as few as those of a title.
    columns = [0] if 0 in numeric else numeric  # rows begin alike
    with_numbers = sum(any(is_value(row[index]) for index in columns) for row in titles if len(row) == width)
    return (first, False) if len(titles) > MOST_HEADER_ROWS and 2 * with_numbers < len(titles) else (None, True)


def _has_data(row: list[str], columns: list[int]) -> bool:
    """Return whether all cells of these columns are numbers or dates, not all of them years."""
    return all(map(is_number_or_date, (row[index] for index in columns))) and any(is_value(row[i]) for i in columns)


def _are_words(row: list[str], columns: list[int]) -> bool:
    """Return whether the cells of these columns are words that differ, as names do."""
    words = {row[at].strip() for at in columns if at < len(row)}
    are_names = all(re.search("[A-Za-z]", word) and not is_number_or_date(word) for word in words)
    return len(words) == len(columns) and are_names and words.isdisjoint(MISSING_WORDS)


def _is_row_with_holes(row: list[str], width: int) -> bool:
    """Return whether a line begins as a row, and has empty cells and numbers alone."""
    known = [cell.strip() for cell in row if cell.strip()]
    return len(row) == width > len(known) > 1 and bool(row[0].strip()) and all(map(is_number_or_date, known))


def find_titles_of_one_column(text: str) -> dict[str, Any]:
    """The option that leaves out what stands above a column of numbers without delimiters, up to its name.

    Args:
        text: the first lines of a file.
    """
    lines = text.splitlines()[:MOST_RECORDS]
    words = [index for index, line in enumerate(lines) if line.strip() and not is_number_or_date(line.strip())]
    last = words[-1] if words else 0
    rows = [line for line in lines[last + 1 :] if line.strip()]
    is_name = len(words) > MOST_HEADER_ROWS and last <= MOST_TITLES and len(rows) > len(words)
    return {"skip_rows": last} if is_name and not re.search(r"\s", lines[last].strip()) else {}


def _likeliest_delimiter(lines: list[str]) -> str:
    """The delimiter that stands most often in lines."""
    return max(DELIMITERS, key=lambda mark: sum(line.count(mark) for line in lines))


def _commonest(counts: Iterable[int]) -> int:
    """The commonest of some counts; 0 where there are none."""
    return next((count for count, _ in Counter(counts).most_common(1)), 0)


def _fields(line: str, delimiter: str) -> int:
    """Fields of a line, with delimiters in quotes; a quote that is not closed counts as a letter."""
    if '"' not in line:
        return line.count(delimiter) + 1
    try:
        return len(next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), []))
    except csv.Error:
        return line.count(delimiter) + 1


def find_blanks(text: str) -> dict[str, Any]:
    """The options of a text whose fields stand between blanks, as tables of numbers in columns do; {} for others.

    Args:
        text: the first lines of a file.
    """
    numbered = [(index, line) for index, line in enumerate(text.splitlines()[:MOST_RECORDS]) if line.strip()]
    mark = next((mark for mark in COMMENT_MARKS if any(line.lstrip().startswith(mark) for _, line in numbered)), None)
    rows = [(index, line) for index, line in numbered if mark is None or not line.lstrip().startswith(mark)]
    cells = [line.split() for _, line in rows]
    start = _first_row(cells)
    if start is None:
        return {}
    commented = {} if mark is None else _names_in_comments(numbered, rows[start], mark)
    if commented:
        return {"delimiter": "blanks", **commented}
    names = next(
        (index for index in (start - 1, start - 2) if index >= 0 and len(cells[index]) == len(cells[start])), None
    )
    has_header = names is not None and not any(map(is_number_or_date, cells[names]))
    has_units = has_header and start > 1 and _are_names_above_units(*cells[start - 2 : start + 1])
    first = start - 2 if has_units else names if names is not None and has_header else start
    counts = [[_fields(line, delimiter) - 1 for _, line in rows] for delimiter in DELIMITERS]
    if any(_are_split_alike(each) and (each[first] or not has_header) for each in counts):  # the names too
        return {}
    options: dict[str, Any] = {"delimiter": "blanks"} | ({} if has_header else {"header": False})
    options |= {"header_rows": 2} if has_units else {}
    mark_below = _mark_below_header([line for _, line in rows[first:]]) if has_header else None
    if mark is not None or mark_below is not None:
        options["comment"] = mark or mark_below
    is_below_comments = mark is not None and numbered[:first] != rows[:first]
    return options | ({"skip_rows": rows[first][0]} if first and not is_below_comments else {})


def _names_in_comments(lines: list[tuple[int, str]], first_row: tuple[int, str], mark: str) -> dict[str, Any]:
    """The options that read names, and leave out units below them, in the last comments above rows between blanks.

    They have as many fields as the rows, none of them a number; the mark may stand alone before the names.
    """
    at = lines.index(first_row)
    width, above = len(first_row[1].split()), [line.split() for _, line in lines[max(at - 2, 0) : at]]
    heads = [line for line in above if line[0].startswith(mark) and not any(map(is_number_or_date, line))]
    if any(line.lstrip().startswith(mark) for _, line in lines[at:]) or not heads or heads[-1] != above[-1]:
        return {}
    if len(heads) == 2 and len(heads[0]) == len(heads[1]) == width and not heads[0][0].startswith(heads[1][0]):
        skipped, comment = lines[at - 2][0], {"comment": heads[1][0]}  # of units
    elif len(heads[-1]) == width + (is_alone := heads[-1][0] == mark) and (width > 2 or not is_alone):  # no two words
        skipped, comment = lines[at - 1][0], {}
    else:
        return {}
    return comment | ({"skip_rows": skipped} if skipped else {})


def _are_names_above_units(names: list[str], units: list[str], row: list[str]) -> bool:
    """Return whether two lines as wide as the row below are words, those of the first all different, as `%` are not."""
    are_words = not any(map(is_number_or_date, [*names, *units]))
    return len(names) == len(units) == len(row) and are_words and len(set(units)) < len(set(names)) == len(names)


def _first_row(cells: list[list[str]]) -> int | None:
    """The first line with a number after which most lines have as many fields, the commonest number of them."""
    widths = [len(each) for each in cells]
    common = _commonest(widths)
    for index, width in enumerate(widths[: MOST_TITLES + 1]):
        is_row = width == common > 1 and any(map(is_number_or_date, cells[index]))
        if is_row and widths[index:].count(common) >= MOSTLY * len(widths[index:]):
            return index
    return None


def _mark_below_header(lines: list[str]) -> str | None:
    """The beginning of a rule or a line of units below a header, where no other line begins so."""
    header, below = lines[0].split(), lines[1].split()
    is_no_row = bool(below) and len(below) != len(header) and not any(map(is_number_or_date, below))
    if not is_no_row or any(line.split()[0].startswith(below[0]) for line in [lines[0], *lines[2:]]):
        return None
    return below[0]


def _are_split_alike(counts: list[int]) -> bool:
    common, count = Counter(counts).most_common(1)[0] if counts else (0, 0)
    return common > 0 and count >= MOSTLY * len(counts)


def find_header_rows(records: list[list[str]]) -> int:
    """Number of lines that name the columns: 2 where units stand below the names.

    Lines below the first one are no rows if no cell of them is a number in a column of numbers.

    Args:
        records: the first lines, as many cells each.
    """
    width = len(records[0])
    rows = [record[:MOST_CELLS] for record in records if len(record) == width]
    for count in range(2, MOST_HEADER_ROWS + 1):
        below = rows[count:]
        has_many_cells = len(set(rows[0])) < len(rows[0]) and len(below) * width >= FEWEST_CELLS
        if not below or (len(below) < FEWEST_BELOW and not has_many_cells):
            return 1
        names = rows[1:count]
        if any(_is_a_row(name, below) for name in names):  # as in nearly every table: a quick answer
            return 1
        numeric = [index for index in range(width) if are_numbers([row[index] for row in below])]
        if not numeric:
            return 1
        if any(shows_number(below[0][index]) for index in numeric):
            return count
    return 1


def line_of_names(names: list[list[str]], rows: list[list[str]]) -> int | None:
    """The one of several lines above the rows that names all columns by itself, dates among them; None for none.

    The lines below it have no date, as those of units. It is the one that calls the dates so, or else the first line,
    or the last one below titles and codes.

    Args:
        names: the lines.
        rows: those below them.
    """
    width = len(names[0])
    full = [row for row in rows if len(row) == width]
    columns = (pd.Series([row[at] for row in full], dtype="str") for at in range(min(width, MOST_CELLS)))
    dates = next((at for at, column in enumerate(columns) if looks_like_dates(column)), None)
    whole = [at for at, line in enumerate(names) if len({name.strip() for name in line} - {""}) == width]
    if dates is None or not whole:
        return None
    times = (*TIME_NAMES, *LOOSE_TIME_NAMES)
    called = next((at for at, line in enumerate(names) if line[dates].strip().lower() in times), None)
    likeliest = 0 if 0 in whole else whole[-1]
    return likeliest if called is None else called if called in whole else None


def _is_a_row(record: list[str], rows: list[list[str]]) -> bool:
    """Return whether a line is blank, or has a number in a column of numbers."""
    numbers = (index for index, cell in enumerate(record) if shows_number(cell))
    return not any(cell.strip() for cell in record) or any(
        are_numbers([row[index] for row in rows]) for index in numbers
    )


def _mark_of_comments(lines: list[str]) -> str | None:
    """The mark of comment lines above the header or between the rows: they have other fields than most lines."""
    for mark in COMMENT_MARKS:
        marked = [line for line in lines if line.lstrip().startswith(mark)]
        rows = [line for line in lines if not line.lstrip().startswith(mark)]
        delimiter = _likeliest_delimiter(rows)
        if not marked or not rows:
            continue
        width = _commonest(line.count(delimiter) for line in rows)
        differ = width == 0 or any(line.count(delimiter) != width for line in marked)
        above = lines.index(rows[0])
        is_annotated = above > 1 and not any(map(is_value, rows[0].split(delimiter)))  # types and groups of columns
        differ = differ or (is_annotated and all(line.lstrip().startswith(mark) for line in lines[:above]))
        if differ and (width == 0 or rows[0].count(delimiter) == width):  # what is left begins with the header
            return mark
    return None


def find_titles(rows: list[list[str]]) -> int:
    """Rows above the header of a sheet, which have fewer cells than all others; 0 for none.

    Args:
        rows: the first rows, each as wide as the sheet.
    """
    widths = [sum(bool(cell.strip()) for cell in row) for row in rows[:MOST_RECORDS]]
    common = _commonest(widths)
    first = widths.index(common) if common > 1 else 0
    names = [cell for cell in rows[first] if cell.strip()] if first else []
    is_header = len(set(names)) == len(names) > 0 and not any(is_number_or_date(name) for name in names)
    if is_header and first <= MOST_TITLES and max(widths[:first]) < common:
        return first
    # Above names in several lines, of which the upper ones name groups of columns, a title stands alone.
    above = next((index for index, width in enumerate(widths) if width > 1), 0)
    return above if above < first <= above + MOST_HEADER_ROWS else 0


def find_footer(text: str) -> int:
    """Number of lines at the end of a text that have other numbers of fields than the lines before them.

    Rows with a remark behind their last value are none of them.

    Args:
        text: the last lines of a file.
    """
    lines = [line for line in text.splitlines() if line.strip() and line[0] not in "#%"][-MOST_RECORDS:]
    for delimiter in DELIMITERS:
        widths = [_fields(line, delimiter) - 1 for line in lines]
        common = _commonest(widths)
        below = next((index for index, width in enumerate(reversed(widths)) if width == common), 0)
        rows = widths[: len(widths) - below]
        shapes = {shape(line.split(delimiter)[0]) for line in lines[: len(rows)]}
        longer = [line for line, width in zip(lines, widths, strict=True) if width == common + 1][-below:]
        if len(longer) == below and all(shape(line.split(delimiter)[0]) in shapes for line in longer):
            continue
        if common and 0 < below <= MOST_FOOTERS and rows.count(common) >= MOSTLY * len(rows):
            return below
    return 0
