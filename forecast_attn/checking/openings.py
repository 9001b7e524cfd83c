"""Options with which a table can be read at all, by evidence: its sheet, the lines around its rows, its layout."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn.checking.examination import Examination
from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.reading import read_table
from forecast_attn.data.reading.dialect import SAMPLE
from forecast_attn.data.reading.layouts import arranged, likely_layout
from forecast_attn.data.reading.source import SPREADSHEET, Source
from forecast_attn.data.reading.spreadsheet import sheet_as_text, sheets_with_rows
from forecast_attn.data.reading.surroundings import MOST_FOOTERS, find_footer, find_preamble, find_titles
from forecast_attn.data.timestamps import looks_like_dates, parse_timestamps
from forecast_attn.errors import DataError

Table = Path | str | pd.DataFrame
MOST_SHEETS = 6
_NO_TABLE = ("FA106", "FA107", "FA108")
"""Codes of texts that another option may read."""


@dataclass(frozen=True)
class Opening:
    """A table as it was read, and the options that it took."""

    options: dict[str, Any]
    """By field name: those that come to the given ones."""
    frame: pd.DataFrame
    """Long or wide; a table of another layout was made long."""
    is_another_table: bool = False
    """True for a sheet of a workbook that has others."""


def openings(table: Table, config: DataConfig, examination: Examination) -> Iterator[Opening]:
    """The ways to read a table, the likeliest first.

    Args:
        table: a file, `-` for standard input, or a DataFrame.
        config: the options that were given, which every opening keeps.
        examination: of the table with these options.
    """
    for sheet in _sheets(table, config):
        options = {"sheet": sheet, **_titles_of_sheet(table, replace(config, sheet=sheet))}
        opening = _first_opening(table, config, options, None)
        if opening is not None:
            yield from _with_layout(replace(opening, is_another_table=True), config)
        continue
    if not _sheets(table, config):
        titles = _titles_of_sheet(table, config)
        frame = None if config.wide or config.layout != "long" or titles else examination.frame
        opening = _first_opening(table, config, titles, frame)
        if opening is not None:
            yield from _with_layout(opening, config)


def _sheets(table: Table, config: DataConfig) -> list[str]:
    """The sheets of a workbook that has several and of which none was named."""
    if isinstance(table, pd.DataFrame) or config.sheet is not None:
        return []
    try:
        source = Source.of(table)
        names = sheets_with_rows(source) if source.kind == SPREADSHEET else []
    except DataError:
        return []
    return names[:MOST_SHEETS] if len(names) > 1 else []


def _titles_of_sheet(table: Table, config: DataConfig) -> dict[str, Any]:
    """The option that leaves out what stands above the header of a sheet, whose rows are all equally wide."""
    if isinstance(table, pd.DataFrame) or config.skip_rows or not config.header:
        return {}
    try:
        source = Source.of(table)
        if source.kind != SPREADSHEET:
            return {}
        text = next(sheet_as_text(source, config.sheet).chunks(SAMPLE), b"").decode()
    except DataError:
        return {}
    titles = find_titles(list(csv.reader(io.StringIO(text))))
    return {"skip_rows": titles} if titles else {}


def _first_opening(
    table: Table, config: DataConfig, options: dict[str, Any], frame: pd.DataFrame | None
) -> Opening | None:
    """The table by the first options of reading that do it; `frame` where it was read already."""
    if frame is None:
        read = _read(table, config, options)
        for around in ({}, *_surroundings(table, options, read)):
            read = _read(table, config, {**options, **around})
            if isinstance(read, pd.DataFrame) and (read.shape[1] > 1 or not around):
                frame, options = read, {**options, **around}
                break
            if isinstance(read, DataError) and read.code not in _NO_TABLE:
                return None
    if frame is None:
        return None
    below = 0 if config.skip_footer else rows_without_stamps_at_end(frame)
    if below and not isinstance(table, pd.DataFrame):
        shorter = {**options, "skip_footer": below + options.get("skip_footer", 0)}
        read = _read(table, config, shorter)
        if isinstance(read, pd.DataFrame):
            return Opening(shorter, read)
    return Opening(options, frame)


def _read(table: Table, config: DataConfig, options: dict[str, Any]) -> pd.DataFrame | DataError | None:
    """The table as it stands in the file; the error that stops it; None where the options are given otherwise."""
    if any(getattr(config, name) != getattr(DataConfig, name) for name in options):
        return None
    try:
        config = replace(config, wide=False, layout="long", **options)
        return read_table(table, config, report=_ignore)
    except DataError as error:
        return error


def _ignore(finding: Finding) -> None:
    """Leave a finding unsaid: the examination has said it."""


def _with_layout(opening: Opening, config: DataConfig) -> Iterator[Opening]:
    """The table made long where the names of its columns are steps, then as it stands."""
    layout = config.layout if config.layout != "long" else None
    if layout is None and not config.wide and config.time is None and config.target is None:
        layout = likely_layout(opening.frame)
    if layout is not None:
        try:
            options = {} if config.layout == layout else {"layout": layout}
            frame = arranged(opening.frame, replace(config, layout=layout), "", _ignore)
            yield replace(opening, options={**opening.options, **options}, frame=frame)
        except DataError:
            pass
    if config.layout == "long":
        yield opening


# --------------------------------------------------------------------------- around the rows


def _surroundings(table: Table, options: dict[str, Any], problem: object) -> tuple[dict[str, Any], ...]:
    """Options for a text with lines that are no rows, without a header, or with a header that names a column twice."""
    if isinstance(table, pd.DataFrame):
        return ()
    try:
        source = Source.of(table)
        if source.kind == SPREADSHEET:
            source = sheet_as_text(source, options.get("sheet"))
        start, end = _ends(source)
    except DataError:
        return ()
    above, below = find_preamble(start), find_footer(end)
    around = {**above, **({"skip_footer": below} if below else {})}
    likely = (*((around,) if around else ()), *((above,) if above and below else ()))
    if isinstance(problem, DataError) and problem.code == "FA107" and problem.column is not None:
        return (*likely, {"skip_rows": 1, "header": False})
    return (*likely, {"header": False})


def _ends(source: Source) -> tuple[str, str]:
    """The first and the last text of a file."""
    start, end = b"", b""
    for chunk in source.chunks(SAMPLE):
        start = start or chunk
        end = (end + chunk)[-SAMPLE // 16 :]
    return start.decode("latin-1"), end.decode("latin-1")


def rows_without_stamps_at_end(frame: pd.DataFrame) -> int:
    """Rows at the end of a table, such as sums, whose cell is the only bad one of a column of dates; 0 for none."""
    for name in frame.columns:
        column = frame[name]
        is_text = not pd.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind != "M"
        if not is_text or not looks_like_dates(column):
            continue
        try:
            bad = parse_timestamps(column, str(name), "day-first" if _reads_either_way(column) else None)[1]
        except DataError:
            continue
        rows = len(bad) - int(np.flatnonzero(~bad)[-1]) - 1 if not bad.all() else 0
        if 0 < rows <= MOST_FOOTERS and not bad[:-rows].any():
            return rows
    return 0


def _reads_either_way(column: pd.Series) -> bool:
    """Return whether dates of three numbers may be day first or month first."""
    try:
        parse_timestamps(column, str(column.name))
    except DataError as error:
        return "date_format" in error.options
    return False
