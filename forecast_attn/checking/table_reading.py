"""Options with which a table can be read at all, by evidence: its sheet, the lines around its rows, its layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn.checking.examination import Examination
from forecast_attn.checking.line_evidence import MOST_PROPERTIES, find_titles
from forecast_attn.checking.line_options import ends_in_utf8, ends_of, extra_line_options
from forecast_attn.checking.missing_marks import marks_of_missing
from forecast_attn.checking.number_times import SEASONS_OF_UNITS
from forecast_attn.checking.rows_as_series import labels_of_rows, likely_variables
from forecast_attn.checking.several_tables import find_tables
from forecast_attn.checking.undated_evidence import rows_of_words_at_end, undated_rows
from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.reading import read_table
from forecast_attn.data.reading.cell_numbers import parse_texts
from forecast_attn.data.reading.clocks import is_clock
from forecast_attn.data.reading.dialect import Sample, find_delimiter
from forecast_attn.data.reading.extra_lines import ExtraLines, without_extra_lines
from forecast_attn.data.reading.joined import ROW_NUMBER, with_joined
from forecast_attn.data.reading.layouts import arranged, likely_layout, names_of_grid, names_of_rows
from forecast_attn.data.reading.merged import has_merged_cells
from forecast_attn.data.reading.outlines import without_headings
from forecast_attn.data.reading.sheets import holds_sheets, sheet_as_text, sheet_names
from forecast_attn.data.reading.source import TEXT_KINDS, Source
from forecast_attn.data.reading.step_columns import find_steps, unit_of_steps
from forecast_attn.data.reading.text_columns import holds_texts, text_columns
from forecast_attn.data.reading.time_parts import time_parts
from forecast_attn.data.reading.undated import first_dates, without_undated
from forecast_attn.data.roles import MOST_UNDECLARED, empty_columns
from forecast_attn.data.timestamps import looks_like_dates
from forecast_attn.errors import ConfigError, DataError

Table = Source | pd.DataFrame
MOST_SHEETS = 6
_DELIMITERS = ("tab", "semicolon", "pipe", "comma")
"""Where several split a text alike: the ones that stand within names and cells come last."""
_MOSTLY_PLAIN = 0.2
"""Share of distinct numbers without marks between thousands beside which others have them."""
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
    lines: str | None = None
    """Where it stands in the file, if other tables stand there, too."""


def possible_readings(table: Table, config: DataConfig, examination: Examination) -> Iterator[TableReading]:
    """The ways to read a table, the likeliest first.

    Args:
        table: a file or a DataFrame.
        config: the options that were given, which every reading keeps.
        examination: of the table with these options.
    """
    sheets = _sheets(table, config)
    parts: list[tuple[dict[str, Any], str | None]] = [
        ({"sheet": sheet, **_titles_of_sheet(table, replace(config, sheet=sheet))}, None) for sheet in sheets
    ]
    parts = parts or [*_tables_below_each_other(table, config)]
    for options, lines in parts:
        for reading in _readings_without_layout(table, config, options, None, is_part=not sheets):
            yield from _with_layout(replace(reading, is_another_table=True, lines=lines), config)
    if not parts:
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


def _tables_below_each_other(table: Table, config: DataConfig) -> list[tuple[dict[str, Any], str]]:
    """The options of each of several tables in a text, which is not long, and its lines; the longest one first."""
    is_given = config.skip_rows or config.skip_footer or not config.header or config.comment is not None
    text = None if is_given else _text_of(table, config.sheet)
    if text is None:
        return []
    try:
        start, end = ends_of(text)
    except DataError:  # of a file that is cut short
        return []
    tables = find_tables(start) if start.endswith(end) else []
    longest = sorted(tables, key=lambda lines: lines.first - lines.end)[:MOST_SHEETS]
    around = (
        {"skip_rows": lines.first, "skip_footer": lines.num_below, "delimiter": lines.delimiter} for lines in longest
    )
    texts = (f"lines {lines.first + 1:,} to {lines.end:,}" for lines in longest)
    return [
        ({name: value for name, value in way.items() if value}, text) for way, text in zip(around, texts, strict=True)
    ]


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
    titles = find_titles(Sample(ends_of(text)[0], complete=True).records(","))
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
    text = _text_of(table, options.get("sheet"))
    is_dates = isinstance(read, pd.DataFrame) and read.shape[1] == 1 and looks_like_dates(read.iloc[:, 0])
    for around in () if text is None or is_dates or is_part else extra_line_options(text, options, read):
        again, split = _read_split(table, config, {**options, **around})
        is_around = "skip_rows" in around or "skip_footer" in around
        is_within = _has_two_marks(read) and _has_two_marks(again) and is_around
        if _is_better(again, read) or is_within:
            read, options = again, split
            break
    if _has_two_marks(read):
        yield from _with_decimals(table, config, options)
    elif isinstance(read, pd.DataFrame):
        filled = without_empty_columns(read) if len(read) > 1 else read  # a single row is a series
        mark = None if isinstance(table, pd.DataFrame) or config.decimal else _mark_beside_thousands(filled)
        again = None if mark is None else _read(table, config, {**options, "decimal": mark})
        if isinstance(again, pd.DataFrame):
            yield _finished(table, config, {**options, "decimal": mark}, without_empty_columns(again))
        if filled.shape[1] > MOST_UNDECLARED and len(read) > 1:
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
            has_no_header = isinstance(again, DataError) and again.code == "FA107"
            if (_is_better(again, read) and not is_whole) or has_no_header:
                return again, {**options, "delimiter": delimiter}
    return read, options


def _is_better(read: pd.DataFrame | DataError | None, before: pd.DataFrame | DataError | None) -> bool:
    """Return whether other options read several columns, or one of numbers; or all of it but for its decimal marks."""
    if isinstance(read, DataError):
        return isinstance(before, DataError) and not _has_two_marks(before) and _has_two_marks(read)
    if read is None or not isinstance(before, pd.DataFrame):
        return read is not None
    return read.shape[1] > 1 or (_is_number(read.iloc[:, 0]) and not _is_number(before.iloc[:, 0]))


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column.dtype)


def options_up_to_a_row(table: Table, config: DataConfig) -> dict[str, Any]:
    """The options that would read a text but for one of its rows; {} where there are none, or it is a table."""
    text = _text_of(table, config.sheet)
    read = None if text is None else _read(table, config, {})
    is_text = isinstance(read, pd.DataFrame) and read.shape[1] == 1 and not _is_number(read.iloc[:, 0])
    is_stopped_elsewhere = isinstance(read, DataError) and read.row is None and read.code in _NO_TABLE
    if text is None or not (is_text or is_stopped_elsewhere):
        return {}
    for around in extra_line_options(text, {}, read):
        again, options = _read_split(table, config, around)
        if isinstance(again, DataError) and again.row is not None:
            return options
    return {}


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


def _mark_beside_thousands(frame: pd.DataFrame) -> str | None:
    """The decimal mark of numbers that have marks between thousands, too, from some row on; None where none have."""
    texts = (frame[name].cat.categories for name in text_columns(frame))
    for cells in filter(len, texts):
        for mark in (".", ","):
            some = parse_texts(cells[:1], mark, grouped=True)
            numbers = some if np.isnan(some).any() else parse_texts(cells, mark, grouped=True)
            are_plain = ~np.isnan(parse_texts(cells, mark, grouped=False)) if not np.isnan(numbers).any() else None
            if are_plain is not None and _MOSTLY_PLAIN < are_plain.mean() < 1:
                return mark
    return None


def _has_decimal_points(table: Table, config: DataConfig, options: dict[str, Any]) -> bool:
    """Return whether commas separate the fields of a table, or numbers have a currency; True where neither is known."""
    around = replace(config, **options)
    text = _text_of(table, around.sheet)
    start = "" if text is None else ends_of(text)[0]
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
    is_file = not isinstance(table, pd.DataFrame)
    block = _rows_of_one_step(frame, config, options) if is_file else {}
    if block:
        kept = {name: value for name, value in options.items() if name != "header_rows" or "header" not in block}
        options, frame = _read_or(table, config, kept | block, (options, frame))
    may_end_early = is_file and not config.skip_footer
    below = rows_of_words_at_end(frame) if may_end_early else 0
    undated = None if below or without_headings(frame) is not None else undated_rows(frame)
    time: str | None = None
    if undated is not None and config.undated_rows == DataConfig.undated_rows:
        name, is_undated = undated
        below = int(np.argmin(is_undated[::-1])) if may_end_early else 0
        time = name if below < is_undated.sum() and config.time in (None, name) else None
    if below and time is None:
        longer = {**options, "skip_footer": below + options.get("skip_footer", 0)}
        options, frame = _read_or(table, config, longer, (options, frame))
    dated = _without_undated(frame, config, time)
    marks = () if config.na else marks_of_missing(dated)
    if marks:
        options, marked = _read_or(table, config, {**options, "na": marks}, (options, frame))
        dated = _without_undated(marked, config, time)
    if time is not None:
        is_found = config.time is not None or time == first_dates(frame) == first_dates(dated)
        options = {**options, "undated_rows": "drop"} | ({} if is_found else {"time": _with_its_parts(dated, time)})
    return TableReading(options, dated)


def _read_or(
    table: Table, config: DataConfig, options: dict[str, Any], before: tuple[dict[str, Any], pd.DataFrame]
) -> tuple[dict[str, Any], pd.DataFrame]:
    """The options and the frame that they read; those before where these read none."""
    read = _read(table, config, options)
    return (options, read) if isinstance(read, pd.DataFrame) else before


def _with_its_parts(frame: pd.DataFrame, time: str) -> str:
    """The columns that are a date together, if this one is one of them, `Year,Month`, or beside a clock; or itself."""
    names = list(map(str, frame.columns))
    parts = time_parts(frame, names)
    is_date = time in names and looks_like_dates(frame[time])
    clocks = [name for name in names if is_date and is_clock(frame[name])]
    return ",".join(parts) if time in parts else f"{time},{clocks[0]}" if len(clocks) == 1 else time


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
    """The options that keep the finest of the blocks of years, quarters and months that stand below each other.

    Lines above them may tell of each column: its unit, its source.
    """
    first = frame.iloc[:, 0]
    if not holds_texts(first) or first.isna().any():
        return {}
    cells = first.cat.categories.astype(str)
    forms = np.full(len(cells), -1)
    for at, form in enumerate(_STEP_FORMS):
        forms[cells.str.fullmatch(form)] = at
    properties = int(np.argmax(forms[first.cat.codes] >= 0))
    of_rows = forms[first.cat.codes][properties:]
    starts = np.flatnonzero(np.diff(of_rows, prepend=-2))
    if properties > MOST_PROPERTIES or of_rows.min() < 0 or len(starts) < 2 or len(starts) != len(np.unique(of_rows)):
        return {}
    finest = int(np.argmax(of_rows[starts]))
    ends = np.append(starts[1:], len(of_rows))
    names = options.get("header_rows", config.header_rows) if options.get("header", config.header) else 0
    above, below = properties + int(starts[finest]), len(of_rows) - int(ends[finest])
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
    frame = reading.frame
    ways = _likely_layouts(frame, config) if config.layout == "long" else _of_given_layout(frame, config)
    read = [each for way in ways if (each := _arranged(reading, config, way)) is not None]
    yield from (replace(each, is_another_table=True) for each in read) if len(read) > 1 else read
    if config.layout != "long":
        return
    if ways and ways[0]["layout"] == "rows":
        steps = find_steps(frame)
        if len(read) > 1 or (steps is not None and (not read or steps.are_dates)):  # dates as columns are no variables
            return
    # As it stands only where nothing else trains.
    yield replace(reading, is_another_table=False) if read else reading


def _of_given_layout(frame: pd.DataFrame, config: DataConfig) -> list[dict[str, Any]]:
    """The options that come to a given layout: several where its rows hold several variables."""
    variables = likely_variables(frame) if config.layout == "rows" and config.target is None else []
    return [{"target": name} for name in variables] or [{}]


def _likely_layouts(frame: pd.DataFrame, config: DataConfig) -> list[dict[str, Any]]:
    """The options of the layouts other than long that a table may have: several where it holds several variables."""
    if config.wide:
        return []
    if has_merged_cells(frame):
        return [{"layout": "merged"}]
    if config.time is not None or config.target is not None:
        return []
    layout = likely_layout(frame)
    if layout is not None:
        return [{"layout": layout}]
    labels = labels_of_rows(frame) if not config.ignore else None
    if labels is not None:
        return [{"layout": "rows", **({"ignore": labels} if labels else {})}]
    return [{"layout": "rows", "target": name} for name in likely_variables(frame)]


def _arranged(reading: TableReading, config: DataConfig, way: dict[str, Any]) -> TableReading | None:
    """The table made long, by the columns that tell its rows apart where it takes several; None where none do."""
    arranging = replace(config, **way)
    for item_id in (None,) if config.item_id is not None else _identifiers(reading.frame, arranging):
        options = way if item_id is None else {**way, "item_id": item_id}
        full = replace(arranging, item_id=item_id or config.item_id)
        try:
            frame = arranged(with_joined(reading.frame, full, ""), full, "", _ignore)
        except DataError:
            continue
        is_of_rows = full.layout == "rows" and config.season is None
        season = _season_of_steps(reading.frame) if is_of_rows else {}
        options = {**reading.options, **options, **season}
        undated = undated_rows(frame) if full.layout == "merged" and "undated_rows" not in options else None
        if undated is not None:  # sums below the cells that were merged
            frame = _without_undated(frame, config, undated[0])
            options |= {"undated_rows": "drop", "time": _with_its_parts(frame, undated[0])}
        return replace(reading, options=options, frame=frame, is_too_wide=False)
    return None


def _identifiers(frame: pd.DataFrame, config: DataConfig) -> tuple[str | None, ...]:
    """Columns that may tell the series of such a layout apart, joined; None for one series."""
    if config.layout == "calendar":
        names = names_of_grid(frame)
        return () if names is None else (names or None,)
    columns = find_steps(frame, config.target)
    steps = () if columns is None else columns.names
    keys = (names_of_rows(frame, steps), _keys_before(frame, steps))
    return (None, *(key for key in keys if key is not None), ROW_NUMBER)


def _keys_before(frame: pd.DataFrame, steps: tuple[str, ...]) -> str | None:
    """The columns before those of the steps, where they are whole numbers that together differ in every row."""
    keys = frame.iloc[:, : list(frame.columns).index(steps[0])] if steps else frame.iloc[:, :0]
    are_numbers = keys.shape[1] > 1 and all(dtype.kind == "i" for dtype in keys.dtypes)
    return ",".join(map(str, keys.columns)) if are_numbers and not keys.duplicated().any() else None


def _season_of_steps(frame: pd.DataFrame) -> dict[str, Any]:
    """The option for the season of columns called d_1, d_2, … or wk1, wk2, …, where there are two of them."""
    steps = find_steps(frame)
    season = None if steps is None else SEASONS_OF_UNITS.get(unit_of_steps(steps) or "")
    return {} if steps is None or season is None or len(steps.names) < 2 * season else {"season": str(season)}


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
    rows = ends_in_utf8(text)[0]
    start = Source(text.label, None, rows[: rows.rfind(b"\n") + 1] or rows)
    as_text = replace(
        config, wide=False, layout="long", sheet=None, encoding=None, categorical=tuple(names), skip_footer=0
    )
    try:
        read = read_table(start, as_text, report=_ignore)
    except DataError:
        return frozenset()
    return frozenset(name for name in names if name in read and _has_leading_zeros(read[name]))


def _has_leading_zeros(column: pd.Series) -> bool:
    cells = [str(cell) for cell in column.dropna().unique()]
    is_padded = any(cell.startswith("0") and len(cell) > 1 for cell in cells)
    return is_padded and all(map(str.isdigit, cells)) and len(set(map(len, cells))) == 1
