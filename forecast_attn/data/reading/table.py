"""Reads any supported table into a frame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import LINES_ABOVE, Report, coded, quoted, stop_at_errors
from forecast_attn.data.reading.arff import is_arff, read_arff
from forecast_attn.data.reading.cell_numbers import parse_texts
from forecast_attn.data.reading.columnar import COLUMNAR, TEXT_OPTIONS, read_columnar, refuse_text_options
from forecast_attn.data.reading.csv_file import read_delimited
from forecast_attn.data.reading.dialect import SAMPLE, lines_above_header
from forecast_attn.data.reading.encoding import encoding_of_names
from forecast_attn.data.reading.frames import read_frame
from forecast_attn.data.reading.joined import ROW_NUMBER, parts_of, with_joined
from forecast_attn.data.reading.json_file import is_json
from forecast_attn.data.reading.layouts import arranged, check_layout, is_arranged
from forecast_attn.data.reading.merged import filled_down, refuse_unmerged
from forecast_attn.data.reading.sheets import holds_sheets, sheet_as_text, sheet_names
from forecast_attn.data.reading.source import SPREADSHEET, STATA, TEXT_KINDS, Progress, Source, table_name
from forecast_attn.data.reading.stata import read_stata
from forecast_attn.data.reading.text_columns import holds_texts
from forecast_attn.data.reading.tsf import is_tsf, read_tsf
from forecast_attn.data.reading.undated import without_undated
from forecast_attn.data.reading.wide import check_wide, is_long, made_long
from forecast_attn.data.timestamps import parse_timestamps
from forecast_attn.errors import ConfigError, DataError

_TYPED = (*COLUMNAR, STATA)
"""Kinds of files whose columns have types, and no text around them."""
OPTIONS_OF_FILES = ("delimiter", "encoding")
"""Options that say how a file of text is written; a sheet may have titles, sums and numbers in texts, too."""


@coded("FA101")
def opened(table: Any) -> Any:
    """A file as a `Source`, which parses a workbook or JSON once however often it is read; any other table as it is.

    Raises:
        DataError: as `Source.of`.
    """
    return Source.of(table) if isinstance(table, str | Path) else table


@coded("FA101")
def read_table(
    table: Any,
    config: DataConfig,
    *,
    progress: Progress | None = None,
    report: Report = stop_at_errors,
    is_beside: bool = False,
) -> pd.DataFrame:
    """Read a table.

    Args:
        table: a path (CSV, gzip, zstd, JSON, Parquet, Feather, Stata; told apart by content), "-" for standard input,
            a pandas DataFrame, one of a library that speaks Arrow's C stream, such as polars, or a `Source` of bytes.
        config: how the file is written, where the user says so, and which columns are identifiers.
        progress: called with the bytes read so far and the bytes there are.
        report: called with what is worth knowing about the file.
        is_beside: True for a table that accompanies the one which the options were given for: `--layout merged` may
            then have nothing to fill.

    Returns:
        The rows in the table's order, as columns of int64, float64, bool, datetimes or text. Text out of a file is
        categorical: each distinct cell once. A wide table is made long; `file_positions` knows where its rows were.

    Raises:
        ConfigError: an option that is impossible or does not fit the table.
        DataError: the table cannot be read; with the row, where one is to blame.
    """
    if config.wide:
        check_wide(config)
    check_layout(config)
    try:
        frame = without_marks(_frame_of(table, config, progress, report), config)
        if config.layout == "merged":
            frame, filled = filled_down(frame)
            if not (filled or is_beside):
                refuse_unmerged(frame, table_name(table))
        parts = parts_of(config.time, frame)
        if is_beside and len(parts) > 1 and any(part not in frame.columns for part in parts):
            config = replace(config, time=None, undated_rows="error")  # its dates may stand in one column
        frame = without_undated(frame, config, table_name(table), report)
        frame = with_joined(frame, config, table_name(table))
        frame = arranged(frame, config, table_name(table), report)
    except DataError as error:
        error.file = error.file or table_name(table)
        raise
    return made_long(frame, config, table_name(table), report) if config.wide else frame


def without_marks(frame: pd.DataFrame, config: DataConfig) -> pd.DataFrame:
    """The frame with no value in cells that --na names: texts, and numbers however they are written."""
    if not config.na:
        return frame
    marks = parse_texts(config.na, ".", grouped=False)
    marks = marks[~np.isnan(marks)]
    changed: dict[str, pd.Series] = {}
    for name in frame.columns:
        column: pd.Series = frame[name]
        if holds_texts(column):
            gone = column.cat.categories.astype(str).str.strip().isin(config.na)
            if gone.any():
                changed[name] = pd.Series(column.cat.remove_categories(column.cat.categories[gone]))
        elif column.dtype.kind in "iuf" and len(marks) and (gone := np.isin(column, marks)).any():
            changed[name] = pd.Series(column.astype(np.float64).mask(gone))
        elif column.dtype.kind in "OU" or str(column.dtype) in ("str", "string"):
            changed[name] = column.mask(column.astype("string").str.strip().isin(config.na).fillna(False).astype(bool))
    return frame.assign(**changed) if changed else frame


@coded("FA101")
def read_beside(
    table: Any,
    config: DataConfig,
    *,
    item_id: str | None = None,
    wide: bool = False,
    time: str | None = None,
    names: tuple[str, ...] = (),
) -> pd.DataFrame:
    """Read a table that accompanies another: a history, future covariates, forecasts.

    Args:
        table: as for `read_table`.
        config: the options of the other table. Those that say how text is written count for text only,
            and the delimiter only where it splits the header.
        item_id: the identifier that was found in the other table.
        wide: whether this table may have one column per series; it may be long too, with item_id and target.
        time: the column of time of the other table, by which the header is found below other titles.
        names: of the columns of the other table, by which the encoding is found where a few words tell none.

    Raises:
        ConfigError, DataError: as `read_table`.
    """
    source, given = opened(table), config
    kind = source.kind if isinstance(source, Source) else None
    is_plain = isinstance(source, Source) and kind not in _TYPED and not _is_marked_up(source)
    beyond_ascii = [name for name in names if not name.isascii()]
    if is_plain and kind in TEXT_KINDS and beyond_ascii and config.encoding is None and not is_json(source):
        start = next(source.chunks(SAMPLE), b"")
        start = start[: start.rfind(b"\n") + 1] or start
        config = replace(config, encoding=encoding_of_names(start, beyond_ascii, source.label))
    if kind is None or kind in _TYPED:
        config = replace(config, **{name: getattr(DataConfig, name) for name in TEXT_OPTIONS})
    if config.sheet is not None:
        config = replace(config, sheet=_sheet_beside(source, config.sheet))
    identifier = None if wide else item_id or config.item_id
    layout = config.layout
    config = replace(config, item_id=identifier, wide=False, layout=layout if layout == "merged" else "long")
    if is_plain and time:
        config = _with_lines_around(source, config, time, names)
    try:
        frame = read_table(source, config, is_beside=True)
    except DataError as error:
        if config.delimiter is None or error.options != ("delimiter",):
            raise
        # Another program wrote it: its header is one column of the delimiter that the other table has.
        config = replace(given, delimiter=None, decimal=None)
        return read_beside(source, config, item_id=item_id, wide=wide, time=time, names=names)
    if layout not in ("long", "merged") and not is_arranged(frame, config):
        return arranged(frame, replace(config, layout=layout), table_name(table), stop_at_errors)
    return made_long(frame, config, table_name(table), stop_at_errors) if wide and not is_long(frame) else frame


def _with_lines_around(source: Source, config: DataConfig, time: str, names: tuple[str, ...]) -> DataConfig:
    """The options of another table, with the lines that this text has above and below its rows."""
    if config.header_rows > 1 and _column_of(source, config, time) is None:
        config = replace(config, header_rows=1)  # as `forecast future-template` writes them
    if config.header_rows == 1:
        text = sheet_as_text(source, config.sheet) if holds_sheets(source) else source
        above = lines_above_header(text, config, time, names)
        config = config if above is None else replace(config, skip_rows=above, header=True)
    if config.skip_footer and time != ROW_NUMBER:
        whole = replace(config, skip_footer=0)
        column = _column_of(source, whole, time)
        config = config if column is None or not _ends_in_time(column, config) else whole
    return config


def _column_of(source: Source, config: DataConfig, name: str) -> pd.Series | None:
    """A column of a table; None where it has none of that name, or cannot be read with these options."""
    try:
        return read_table(source, config, is_beside=True).get(name)
    except DataError:
        return None


def _ends_in_time(column: pd.Series, config: DataConfig) -> bool:
    """Return whether the lines that --skip-footer leaves out of another table go on with the times of this one."""
    try:
        stamps, bad = parse_timestamps(column, str(column.name), config.date_format)
    except DataError:
        return False
    steps = np.diff(stamps[-config.skip_footer - 2 :]).astype(np.int64)
    is_ordered = bool((steps >= 0).all() or (steps <= 0).all())  # not so years below their months
    return is_ordered and not bad[-config.skip_footer :].any()


def _is_marked_up(source: Source) -> bool:
    """Return whether a text has lines of attributes above its rows."""
    return is_tsf(source) or is_arff(source)


def _sheet_beside(source: Any, sheet: str) -> str | None:
    """The sheet of another table's name; the only one whatever its name is."""
    if not isinstance(source, Source) or not holds_sheets(source):
        return None
    names = sheet_names(source)
    if sheet in names or len(names) == 1:
        return sheet if sheet in names else None
    message = f"{source.label} has no sheet '{sheet}', as the training's table has; its sheets are {quoted(names)}"
    raise DataError(message, f"call the sheet to read '{sheet}', or leave the others out", code="FA108")


def _frame_of(table: Any, config: DataConfig, progress: Progress | None, report: Report) -> pd.DataFrame:
    if not isinstance(table, str | Path | Source):
        return read_frame(table, config)
    source = opened(table)
    if source.kind == SPREADSHEET:
        refuse_text_options(config, f"{source.label} is a spreadsheet", OPTIONS_OF_FILES)
        return read_delimited(sheet_as_text(source, config.sheet), config, progress, report)
    if is_json(source):
        refuse_text_options(config, f"{source.label} is JSON", OPTIONS_OF_FILES)
        text = sheet_as_text(source, config.sheet)
        frame = read_delimited(text, replace(config, delimiter=","), progress, report)
        frame.attrs[LINES_ABOVE] = None
        return frame
    if config.sheet is not None:
        raise ConfigError(f"--sheet {config.sheet}: {source.label} is no spreadsheet and no JSON", "leave --sheet out")
    if source.kind in COLUMNAR:
        return read_columnar(source, config, progress)
    if source.kind == STATA:
        return read_stata(source, config, progress)
    if is_arff(source):
        return read_arff(source, config, progress, report)
    if is_tsf(source):
        refuse_text_options(config, f"{source.label} is a .tsf file")
        return read_tsf(source, config, report)
    return read_delimited(source, config, progress, report)
