"""Options with which a table can be read at all, by evidence: its sheet, the lines around its rows, its layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.examination import Examination
from forecast_attn.checking.line_evidence import (
    MOST_FOOTERS,
    find_blanks,
    find_footer,
    find_header_rows,
    find_preamble,
    find_rules,
    find_tables,
    find_titles,
    find_titles_of_one_column,
    find_wide_titles,
    line_of_names,
)
from forecast_attn.checking.number_times import SEASONS_OF_UNITS, is_of_digits
from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.reading import read_table
from forecast_attn.data.reading.cell_numbers import bare_number, parse_texts
from forecast_attn.data.reading.dialect import BLANKS, SAMPLE, Sample, find_delimiter
from forecast_attn.data.reading.encoding import find_encoding
from forecast_attn.data.reading.extra_lines import ExtraLines, naming_line, without_extra_lines
from forecast_attn.data.reading.joined import ROW_NUMBER, are_whole, holds_years, with_joined
from forecast_attn.data.reading.layouts import (
    arranged,
    find_steps,
    has_merged_cells,
    likely_layout,
    names_of_grid,
    names_of_rows,
    unit_of_steps,
)
from forecast_attn.data.reading.sheets import holds_sheets, sheet_as_text, sheet_names
from forecast_attn.data.reading.source import TEXT_KINDS, Source
from forecast_attn.data.reading.undated import dated_cells, dated_rows, first_dates, without_undated
from forecast_attn.data.roles import MOST_UNDECLARED, empty_columns, time_parts
from forecast_attn.data.timestamps import looks_like_dates
from forecast_attn.errors import ConfigError, DataError

Table = Source | pd.DataFrame
MOST_SHEETS = 6
MOST_UNDATED = 0.4
"""Share of rows without a time stamp, such as the mean of four quarters below each year."""
_DELIMITERS = ("tab", "semicolon", "pipe", "comma")
"""Where several split a text alike: the ones that stand within names and cells come last."""
_NO_TABLE = ("FA106", "FA107", "FA108")
"""Codes of texts that another option may read."""


@dataclass(frozen=True)
class TableReading:
    """A table as it was read, and the options that it took."""

    options: dict[str, Any]
    """By field name, in addition to the given ones."""
    frame: pd.DataFrame
    """Long or wide; a table of another layout was made long."""
    is_another_table: bool = False
    """True for a sheet of a workbook that has others."""
    is_too_wide: bool = False
    """True where so many columns have values that none gets a role by itself: looking for one would take minutes."""


def possible_readings(table: Table, config: DataConfig, examination: Examination) -> Iterator[TableReading]:
    """The ways to read a table, the likeliest first.

    Args:
        table: a file or a DataFrame.
        config: the options that were given, which every reading keeps.
        examination: of the table with these options.
    """
    sheets = _sheets(table, config)
    several = [{"sheet": sheet, **_titles_of_sheet(table, replace(config, sheet=sheet))} for sheet in sheets]
    parts = _tables_below_each_other(table, config)
    for options in several or parts:
        for reading in _readings_without_layout(table, config, options, None, is_part=bool(parts)):
            yield from _with_layout(replace(reading, is_another_table=True), config)
    if not (several or parts):
        titles = _titles_of_sheet(table, config)
        frame = None if config.wide or config.layout != "long" or titles else examination.frame
        for reading in _readings_without_layout(table, config, titles, frame):
            yield from _with_layout(reading, config)


def without_empty_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without columns of no value, which have no role, where there are thousands of columns."""
    empty = empty_columns(frame) if frame.shape[1] > MOST_UNDECLARED else ()
    return frame.drop(columns=list(empty)) if empty else frame


def _sheets(table: Table, config: DataConfig) -> list[str]:
    """The tables of a file that has several and of which none was named."""
    if isinstance(table, pd.DataFrame) or config.sheet is not None:
        return []
    try:
        if holds_sheets(table):
            sheet_as_text(table, None)
    except DataError as error:
        return sheet_names(table)[:MOST_SHEETS] if error.options == ("sheet",) else []
    return []


def _tables_below_each_other(table: Table, config: DataConfig) -> list[dict[str, Any]]:
    """The options of each of several tables in a text, which is not long."""
    is_given = config.skip_rows or config.skip_footer or not config.header or config.comment is not None
    text = None if is_given else _text_of(table, None)
    if text is None or text is not table:
        return []
    try:
        start, end = _ends(text)
    except DataError:  # of a file that is cut short
        return []
    return find_tables(start)[:MOST_SHEETS] if start.endswith(end) else []


def _text_of(table: Table, sheet: str | None) -> Source | None:
    """The text that a table stands in, or that its sheet would be saved as; None where there is none."""
    if isinstance(table, pd.DataFrame):
        return None
    try:
        text = sheet_as_text(table, sheet) if holds_sheets(table) else table
        return text if text.kind in TEXT_KINDS else None
    except DataError:
        return None


def _titles_of_sheet(table: Table, config: DataConfig) -> dict[str, Any]:
    """The option that leaves out what stands above the header of a sheet, whose rows are all equally wide."""
    text = _text_of(table, config.sheet)
    if text is None or text is table or config.skip_rows or not config.header:
        return {}
    titles = find_titles(Sample(_ends(text)[0], complete=True).records(","))
    return {"skip_rows": titles} if titles else {}


def _readings_without_layout(
    table: Table, config: DataConfig, options: dict[str, Any], frame: pd.DataFrame | None, *, is_part: bool = False
) -> Iterator[TableReading]:
    """The table by the first options of reading that do it; `frame` where it was read already.

    With `is_part`, the options say already which lines of the text it is.

    Two readings where a mark may be one of decimals or of thousands.
    """
    read, options = (frame, options) if frame is not None else _read_split(table, config, options)
    if isinstance(read, DataError) and read.code not in _NO_TABLE:
        return
    is_dates = isinstance(read, pd.DataFrame) and read.shape[1] == 1 and looks_like_dates(read.iloc[:, 0])
    for around in () if is_dates or is_part else _extra_line_options(table, options, read):
        again, split = _read_split(table, config, {**options, **around})
        is_around = "skip_rows" in around or "skip_footer" in around
        is_within = _has_two_marks(read) and _has_two_marks(again) and is_around
        if _is_better(again, read) or is_within:
            read, options = again, split
            break
    if _has_two_marks(read):
        yield from _with_decimals(table, config, options)
    elif isinstance(read, pd.DataFrame):
        filled = without_empty_columns(read)
        if filled.shape[1] > MOST_UNDECLARED:
            yield TableReading(options, filled, is_too_wide=True)
        elif filled.shape[1]:
            yield _finished(table, config, options, filled)


def _read_split(
    table: Table, config: DataConfig, options: dict[str, Any]
) -> tuple[pd.DataFrame | DataError | None, dict[str, Any]]:
    """The table, by the likeliest delimiter where several split it alike; and the options that it took."""
    read = _read(table, config, options)
    if isinstance(read, DataError) and read.options == ("delimiter",):
        for delimiter in _DELIMITERS:
            again = _read(table, config, {**options, "delimiter": delimiter})
            is_whole = isinstance(again, pd.DataFrame) and again.shape[1] == 1
            if _is_better(again, read) and not is_whole:
                return again, {**options, "delimiter": delimiter}
    return read, options


def _is_better(read: pd.DataFrame | DataError | None, before: pd.DataFrame | DataError | None) -> bool:
    """Return whether other options read several columns, or one of numbers; or all of it but for its decimal marks."""
    if isinstance(read, DataError):
        is_no_table = isinstance(before, DataError) and before.code in _NO_TABLE and "decimal" not in before.options
        return is_no_table and "decimal" in read.options
    if read is None or not isinstance(before, pd.DataFrame):
        return read is not None
    was_text, is_text = (not pd.api.types.is_numeric_dtype(each.dtypes.iloc[0]) for each in (before, read))
    return read.shape[1] > 1 or (was_text and not is_text)


def _has_two_marks(read: pd.DataFrame | DataError | None) -> bool:
    """Return whether all that stops a table is a mark that may be one of decimals or of thousands."""
    return isinstance(read, DataError) and "decimal" in read.options


def _with_decimals(table: Table, config: DataConfig, options: dict[str, Any]) -> Iterator[TableReading]:
    """The table with each decimal mark, without one that makes fewer columns numbers.

    The comma comes first unless it separates the fields, for a file with decimal points needs no other delimiter; or
    unless numbers have a currency whose cents stand behind a point.
    """
    readings = []
    for mark in (".", ",") if _has_decimal_points(table, config, options) else (",", "."):
        read = _read(table, config, {**options, "decimal": mark})
        if isinstance(read, pd.DataFrame):
            readings.append(_finished(table, config, {**options, "decimal": mark}, read))
    sizes = [sum(map(pd.api.types.is_numeric_dtype, reading.frame.dtypes)) for reading in readings]
    best = [reading for reading, size in zip(readings, sizes, strict=True) if size == max(sizes)]
    yield from (replace(reading, is_another_table=len(best) > 1) for reading in best)


def _has_decimal_points(table: Table, config: DataConfig, options: dict[str, Any]) -> bool:
    """Return whether commas separate the fields of a table, or numbers are dollars; True where none can be detected."""
    around = replace(config, **options)
    text = _text_of(table, around.sheet)
    start = "" if text is None else _ends(text)[0]
    if re.search(r"[$£¥₹]\s?-?\d", start):
        return True
    if text is None or text is not table or around.delimiter is not None:
        return around.delimiter in (None, ",", "comma")
    lines = ExtraLines(around.skip_rows, around.comment)
    rows = b"".join(without_extra_lines([start.encode()], lines)).decode()
    try:
        return find_delimiter(Sample(rows, complete=True), "") == ","
    except DataError:
        return True


def _finished(table: Table, config: DataConfig, options: dict[str, Any], frame: pd.DataFrame) -> TableReading:
    """The table without sums above or below its rows, and without marks of missing values in columns of numbers.

    Of rows of years, then quarters, then months, the finest ones.
    """
    block = {} if isinstance(table, pd.DataFrame) else _rows_of_one_step(frame, config, options)
    kept = {name: value for name, value in options.items() if name != "header_rows" or "header" not in block} | block
    read = _read(table, config, kept) if block else None
    if isinstance(read, pd.DataFrame):
        options, frame = kept, read
    is_text = not isinstance(table, pd.DataFrame)
    below = _rows_of_words_at_end(frame) if is_text and not config.skip_footer else 0
    undated = None if below else undated_rows(frame)
    time: str | None = None
    if undated is not None and config.undated_rows == DataConfig.undated_rows:
        name, is_undated = undated
        below = int(np.argmin(is_undated[::-1])) if is_text and not config.skip_footer else 0
        time = name if below < is_undated.sum() and config.time in (None, name) else None
    if below and time is None:
        more = {"skip_footer": below + options.get("skip_footer", 0)}
        read = _read(table, config, {**options, **more})
        if isinstance(read, pd.DataFrame):
            options, frame = {**options, **more}, read
    dated = _without_undated(frame, config, time)
    marks = () if config.na else marks_of_missing(dated)
    read = _read(table, config, {**options, "na": marks}) if marks else None
    if isinstance(read, pd.DataFrame):
        options, dated = {**options, "na": marks}, _without_undated(read, config, time)
    if time is not None:
        is_found = config.time is not None or time == first_dates(frame) == first_dates(dated)
        options = {**options, "undated_rows": "drop"} | ({} if is_found else {"time": time})
    return TableReading(options, dated)


def _without_undated(frame: pd.DataFrame, config: DataConfig, time: str | None) -> pd.DataFrame:
    """The frame without the rows that are no time stamp in a column; as it is where there is no such column."""
    if time is None:
        return frame
    try:
        return without_undated(frame, replace(config, time=time, undated_rows="drop"), "", _ignore)
    except DataError:  # of the mark of decimals
        return frame


_STEP_FORMS = (r"\d{4}", r"\d{4}[ -]?Q[1-4]", r"\d{4}[ -]?([A-Za-z]{3}|M?(0[1-9]|1[0-2]))")
"""Years, quarters, months as statistical offices write them in one column."""


def _rows_of_one_step(frame: pd.DataFrame, config: DataConfig, options: dict[str, Any]) -> dict[str, Any]:
    """The options that keep the finest of the blocks of years, quarters and months that stand below each other."""
    first = frame.iloc[:, 0]
    if not isinstance(first.dtype, pd.CategoricalDtype) or first.isna().any():
        return {}
    cells = first.cat.categories.astype(str)
    forms = np.full(len(cells), -1)
    for at, form in enumerate(_STEP_FORMS):
        forms[cells.str.fullmatch(form)] = at
    of_rows = forms[first.cat.codes]
    starts = np.flatnonzero(np.diff(of_rows, prepend=-2))
    if of_rows.min() < 0 or len(starts) < 2 or len(starts) != len(np.unique(of_rows)):
        return {}
    finest = int(np.argmax(of_rows[starts]))
    ends = np.append(starts[1:], len(frame))
    names = options.get("header_rows", config.header_rows) if options.get("header", config.header) else 0
    above, below = int(starts[finest]), len(frame) - int(ends[finest])
    kept = {"skip_footer": below + options.get("skip_footer", 0)} if below else {}
    return kept | ({"skip_rows": options.get("skip_rows", 0) + names + above, "header": False} if above else {})


def _read(table: Table, config: DataConfig, options: dict[str, Any]) -> pd.DataFrame | DataError | None:
    """The table as it stands in the file; the error that stops it; None where options are given otherwise or unfit."""
    if any(getattr(config, name) != getattr(DataConfig, name) for name in options):
        return None
    try:
        config = replace(config, wide=False, layout="long", **options)
        return read_table(table, config, report=_ignore)
    except DataError as error:
        return error
    except ConfigError:  # one of these options is for other kinds of files
        return None


def _ignore(finding: Finding) -> None:
    """Drop a finding, which the examination has reported already."""


def _with_layout(reading: TableReading, config: DataConfig) -> Iterator[TableReading]:
    """The table made long where the names of its columns are steps, then as it stands."""
    layout = config.layout if config.layout != "long" else None
    if layout is None and not config.wide and has_merged_cells(reading.frame):
        layout = "merged"
    elif layout is None and not config.wide and config.time is None and config.target is None:
        layout = likely_layout(reading.frame)
    if layout is not None:
        read = _arranged(reading, config, layout)
        if read is not None:
            yield read
            reading = replace(reading, is_another_table=False)  # as it stands only where nothing else trains
        steps = find_steps(reading.frame) if layout == "rows" and config.layout == "long" else None
        if steps is not None and (read is None or steps.are_dates):  # dates as columns are no variables
            return
    if config.layout == "long":
        yield reading


def _arranged(reading: TableReading, config: DataConfig, layout: str) -> TableReading | None:
    """The table made long, by the columns that tell its rows apart where it takes several; None where none do."""
    given: dict[str, Any] = {} if config.layout == layout else {"layout": layout}
    for item_id in (None,) if config.item_id is not None else _identifiers(reading.frame, layout):
        options = given if item_id is None else {**given, "item_id": item_id}
        full = replace(config, layout=layout, item_id=item_id or config.item_id)
        try:
            frame = arranged(with_joined(reading.frame, full, ""), full, "", _ignore)
        except DataError:
            continue
        season = _season_of_steps(reading.frame) if layout == "rows" and config.season is None else {}
        options = {**reading.options, **options, **season}
        undated = undated_rows(frame) if layout == "merged" and "undated_rows" not in options else None
        if undated is not None:  # sums below the cells that were merged
            options |= {"undated_rows": "drop", "time": undated[0]}
            frame = _without_undated(frame, config, undated[0])
        return TableReading(options, frame, reading.is_another_table)
    return None


def _identifiers(frame: pd.DataFrame, layout: str) -> tuple[str | None, ...]:
    """Columns that may tell the series of such a layout apart, joined; None for one series."""
    if layout == "calendar":
        names = names_of_grid(frame)
        return () if names is None else (names or None,)
    steps = find_steps(frame)
    return (None, names_of_rows(frame, () if steps is None else steps.names), ROW_NUMBER)


def _season_of_steps(frame: pd.DataFrame) -> dict[str, Any]:
    """The option for the season of columns called d_1, d_2, … or wk1, wk2, …, where there are two of them."""
    steps = find_steps(frame)
    season = None if steps is None else SEASONS_OF_UNITS.get(unit_of_steps(steps) or "")
    return {} if steps is None or season is None or len(steps.names) < 2 * season else {"season": str(season)}


# --------------------------------------------------------------------------- around the rows


def _extra_line_options(table: Table, options: dict[str, Any], problem: object) -> tuple[dict[str, Any], ...]:
    """Options for a text with lines that are not rows, without a header, or with a header that names a column twice."""
    text = _text_of(table, options.get("sheet"))
    if text is None:
        return ()
    start, end = _ends(text)
    above = options.get("skip_rows", 0)  # titles of a sheet
    ways = _ways_around("".join(start.splitlines(keepends=True)[above:]), end, problem)
    return tuple({**way, "skip_rows": above + way["skip_rows"]} if "skip_rows" in way else way for way in ways)


def _ways_around(start: str, end: str, problem: object) -> tuple[dict[str, Any], ...]:
    """The options for the first and the last lines of a text, below the titles of a sheet."""
    rules = find_rules(start)
    plain = _without_comments(start, rules["comment"], "\n") if rules else start
    above = find_preamble(plain) | rules
    blanks = find_blanks(plain)
    blanks |= rules if blanks else {}
    tried = (*_with_footer(blanks, end), *_with_footer(above, end), find_titles_of_one_column(start))
    likely = [each for each in tried if each]
    if not likely and isinstance(problem, pd.DataFrame):
        likely = [{}]
    ways = [{**each, **named} for each in likely or [{}] if (named := _header_rows(start, each))]
    if isinstance(problem, pd.DataFrame) and problem.shape[1] > 1:  # what can be read may have titles, or longer names
        titles = find_wide_titles(start)
        as_wide = [each for each in likely if set(each) <= {"comment"}]  # what is above the rows has as many fields
        named_ways = [{**each, **named} for each in as_wide if (named := _header_rows(start, each))]
        return (titles,) if titles else tuple(way for way in (*as_wide, *named_ways) if way)
    if isinstance(problem, DataError) and problem.code == "FA107" and problem.column is not None:
        # Rows of the one are at other dates than those of the other.
        if _has_tables_side_by_side(start, problem.column):
            return ()
        return (*ways, *likely, {"header": False} if _is_number(problem.column) else {"skip_rows": 1, "header": False})
    nameless = [{**each, "skip_rows": each["skip_rows"] + 1, "header": False} for each in likely if "skip_rows" in each]
    return (*ways, *likely, {"header": False}, *nameless)  # the last ones where the header names a column twice


def _has_tables_side_by_side(start: str, name: str) -> bool:
    """Return whether a name stands above two columns of different dates."""
    sample = Sample(start, complete=True)
    try:
        header, *rows = sample.records(find_delimiter(sample, ""))
    except DataError:
        return False
    indices = [index for index, cell in enumerate(header) if cell.strip() == name]
    columns = [pd.Series([row[index] for row in rows if len(row) == len(header)], dtype="str") for index in indices]
    return all(map(looks_like_dates, columns)) and any(not column.equals(columns[0]) for column in columns)


def _with_footer(above: dict[str, Any], end: str) -> tuple[dict[str, Any], ...]:
    """The options with the number of lines below the rows, where there are any, then without."""
    rows = _without_comments(end, above.get("comment"))  # as they are counted
    below = find_footer(_split_at_blanks(rows) if above.get("delimiter") == BLANKS else rows)
    return ({**above, "skip_footer": below}, above) if below else (above,)


def _without_comments(text: str, mark: str | None, instead: str = "") -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line if mark is None or not line.lstrip().startswith(mark) else instead for line in lines)


def _split_at_blanks(text: str) -> str:
    return "\n".join("\t".join(line.split()) for line in text.splitlines())


def _header_rows(start: str, options: dict[str, Any]) -> dict[str, Any]:
    """The option for names in several lines, where they are."""
    if options.get("header") is False:
        return {}
    lines = ExtraLines(options.get("skip_rows", 0), options.get("comment"))
    text = b"".join(without_extra_lines([start.encode()], lines)).decode()
    if options.get("delimiter") == BLANKS:
        text = _split_at_blanks(text)
    try:
        records = Sample(text, complete=True).records(find_delimiter(Sample(text, complete=True), ""))
    except DataError:
        return {}
    count = find_header_rows(records, _is_number) if len(records) > 2 else 1
    at = line_of_names(records[:count], records[count:]) if count > 1 else 0
    if at is None:
        return {"header_rows": count}
    return {"skip_rows": _line_of(text, at) + lines.skip_rows} if at else {}


def _line_of(text: str, record: int) -> int:
    """The line of a record, both from 0, where blank lines may stand between records of one line each."""
    return [index for index, line in enumerate(text.split("\n")) if line.strip()][record]


def _is_number(cell: str) -> bool:
    if not re.search(r"\d|inf", cell, re.IGNORECASE):
        return False
    numbers = (parse_texts([bare_number(cell.strip())], mark, grouped=True) for mark in ".,")
    return any(not np.isnan(number[0]) for number in numbers)


def _ends(source: Source) -> tuple[str, str]:
    """The first and the last text of a file."""
    start, end, encoding = b"", b"", ""
    for chunk in source.chunks(SAMPLE):
        start, encoding = start or chunk, encoding or _encoding(chunk)
        end = (end + chunk)[-SAMPLE // 16 :]
    if encoding != "utf-8":
        start, end = (part.decode(encoding, "ignore").encode() for part in (start, end))
    return start[len(naming_line(start)[0]) :].decode("latin-1"), end.decode("latin-1")


def _encoding(start: bytes) -> str:
    """The encoding by the first bytes, UTF-8 for each in which ASCII is one byte."""
    try:
        return find_encoding(start, "")
    except DataError:
        return "utf-8"


def columns_with_leading_zeros(table: Table, config: DataConfig, frame: pd.DataFrame) -> frozenset[str]:
    """Columns of whole numbers that the first rows write in as many digits each, `012`: names of something.

    Args:
        table: a file or a DataFrame, whose numbers have no digits.
        config: the options that read the table.
        frame: the table as they read it.
    """
    names = [str(name) for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name].dtype)]
    text = _text_of(table, config.sheet)
    if text is None or not names:
        return frozenset()
    rows = _ends(text)[0].encode("latin-1")
    start = Source(text.label, None, rows[: rows.rfind(b"\n") + 1] or rows)
    as_text = replace(config, wide=False, layout="long", sheet=None, categorical=tuple(names), skip_footer=0)
    try:
        read = read_table(start, as_text, report=_ignore)
    except DataError:
        return frozenset()
    return frozenset(name for name in names if name in read and _has_leading_zeros(read[name]))


def _has_leading_zeros(column: pd.Series) -> bool:
    cells = [str(cell) for cell in column.dropna().unique()]
    is_padded = any(cell.startswith("0") and len(cell) > 1 for cell in cells)
    return is_padded and all(map(str.isdigit, cells)) and len(set(map(len, cells))) == 1


def _rows_of_words_at_end(frame: pd.DataFrame) -> int:
    """Rows at the end of a table of names that hold text in their first cell alone, such as sources; 0 for none."""
    first = frame.iloc[:, 0]
    filled = np.flatnonzero(frame.iloc[:, 1:].notna().any(axis=1))
    alone = len(frame) - 1 - int(filled[-1]) if len(filled) else 0
    are_names = isinstance(first.dtype, pd.CategoricalDtype) and not looks_like_dates(first)
    return alone if are_names and 0 < alone <= MOST_FOOTERS and first.iloc[-alone:].notna().any() else 0


def undated_rows(frame: pd.DataFrame) -> tuple[str, NDArray[np.bool_]] | None:
    """A column of dates, or the first one of numbers, and the few rows without one: sums, units, headers once more.

    They stand above or below all others, or have one and the same word. None where another column has a date in every
    row: what has not been shipped is no sum.
    """
    columns = {str(name): frame[name] for name in frame.columns}
    of_time = {name: dated_cells(column) for name, column in columns.items() if looks_like_dates(column)}
    if any(dated is not None and dated.all() for dated in of_time.values()):
        return None
    first_name = str(frame.columns[0])
    for name, dated in ({first_name: dated_cells(frame[first_name])} | of_time).items():
        column = frame[name]
        if dated is None or dated.all() or dated.sum() < FEWEST_NUMBERS:
            continue
        first, last = np.flatnonzero(dated)[[0, -1]]
        between = column[first:last][~dated[first:last]]
        is_time = looks_like_dates(column) or _are_years_or_dates(column[dated])
        if not is_time and (first or len(between) or pd.api.types.is_numeric_dtype(column.dtype)):
            continue  # any numbers have a word below them
        below = len(dated) - 1 - int(last)
        are_few = first <= MOST_FOOTERS and (below <= MOST_FOOTERS or frame.iloc[-below:].isna().all(axis=None))
        words = {next(iter(str(cell).split()), "") for cell in between.unique()}
        are_named = len(words) == 1 and between.notna().all() and re.fullmatch(r"[^\W\d_]{3,}:?", min(words))
        if are_few and (are_named or between.empty or _hold_what_no_other_does(frame, name, ~dated)):
            return name, ~dated
    return _undated_together(frame)


def _hold_what_no_other_does(frame: pd.DataFrame, time: str, bad: NDArray[np.bool_]) -> bool:
    """Return whether some column has one text in all of a few rows and others elsewhere: `Total`, `M13`, `2015 Total`.

    Numbers in these texts may differ.
    """
    columns = (frame[name] for name in frame.columns if name != time and 0 < bad.mean() < MOST_UNDATED)
    texts = [column for column in columns if isinstance(column.dtype, pd.CategoricalDtype)]
    alike = [text.astype("string").str.replace(r"\d+", "0", regex=True) for text in texts if not text[bad].hasnans]
    return any(
        text[bad].nunique() == 1 and not text[~bad].isin(text[bad]).any()
        for text in (*(text for text in texts if not text[bad].hasnans), *alike)
    )


def _are_years_or_dates(column: pd.Series) -> bool:
    """Return whether whole numbers are years, or dates written in digits."""
    numbers = pd.Series(pd.to_numeric(column.astype("str"), errors="coerce"))
    return are_whole(numbers) and (holds_years(numbers) or is_of_digits(numbers.fillna(0).astype(np.int64)))


def _undated_together(frame: pd.DataFrame) -> tuple[str, NDArray[np.bool_]] | None:
    """The parts of dates in several columns, and the rows of a thirteenth month: what they hold, no other row holds."""
    parts = time_parts(frame, list(map(str, frame.columns)))
    if len(parts) < 2:
        return None
    try:
        dated = dated_rows(frame, tuple(parts))
    except DataError:
        return None
    are_named = any(_hold_what_no_other_does(frame[[part]], "", ~dated) for part in parts)
    return (",".join(parts), ~dated) if are_named else None


# --------------------------------------------------------------------------- cells that are none


MOST_MARKS = 3
"""Different texts for no value in a column."""
FEWEST_NUMBERS = 10


def marks_of_missing(frame: pd.DataFrame) -> tuple[str, ...]:
    """Texts, and numbers far from all others, that stand for no value in columns of numbers."""
    marks: list[str] = []
    unsure: list[str] = []
    of_few: list[str] = []
    of_one: list[str] = []
    for name in map(str, frame.columns):
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            texts, count = _texts_among_numbers(column)
            marks += texts if count >= FEWEST_NUMBERS else []
            of_few += texts if 1 < count < FEWEST_NUMBERS else []
            of_one += texts if count == 1 else []
        elif pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
            marks += _far_extremes(column, _NINES)
            unsure += [*_far_extremes(column, _HUNDREDS), *_far_extremes(column, _NINES, fewest=1)]
    marks += [mark for mark in unsure if unsure.count(mark) > 1]  # -200, or a 99 alone, may be measured in one column
    marks += [mark for mark in of_few if of_few.count(mark) > 1]  # of a few rows with many columns
    marks += [mark for mark in of_one if of_one.count(mark) >= FEWEST_NUMBERS]  # codes below the one series
    return tuple(dict.fromkeys(marks))


def _texts_among_numbers(column: pd.Series) -> tuple[list[str], int]:
    """The few texts without a digit, or with a doubt or a limit as `?0.2`, `<1`, among numbers; how many these are."""
    counts = column.value_counts()
    counts = counts[counts > 0]
    texts = [str(text) for text in counts.index]
    is_number = np.array([_is_number(text) for text in texts[:MOST_LOOKED_AT]], np.bool_)
    others = [text for text, number in zip(texts, is_number, strict=False) if not number]
    enough = counts.to_numpy()[: len(is_number)][is_number].sum() >= counts.sum() / 2
    are_words = not any(re.match(r"[^#?<>]*[\d,]", text) for text in others)
    few = 0 < len(others) <= MOST_MARKS and are_words
    return others if few and enough else [], int(is_number.sum())


MOST_LOOKED_AT = 10_000
_NINES = re.compile(r"-?9{2,}(\.9+)?|-?9{2,}\.0+")
_HUNDREDS = re.compile(r"-[1-9]00")
_LEAST_ALONE = 100


def _far_extremes(column: pd.Series, form: re.Pattern[str], fewest: int = 2) -> list[str]:
    """-999, say, where all other numbers are farther from it than from each other; a smaller number `fewest` times."""
    values = column.to_numpy(np.float64, na_value=np.nan)
    values = values[~np.isnan(values)]
    if not len(values):
        return []
    for extreme in (values.min(), values.max()):
        others = values[values != extreme]
        if not form.fullmatch(f"{extreme:.10g}") or len(others) < max(FEWEST_NUMBERS, len(values) / 2):
            continue
        if abs(extreme) < _LEAST_ALONE and len(values) - len(others) < fewest:
            continue
        if np.abs(others - extreme).min() > max(np.ptp(others), 1.0):
            return [f"{extreme:.10g}"]
    return []
