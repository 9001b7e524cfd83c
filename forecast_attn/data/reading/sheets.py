"""The tables in files that may hold several, each as the CSV that it would be saved as: workbooks and JSON."""

from __future__ import annotations

from forecast_attn.data.reading.json_file import is_json, json_as_text, json_tables
from forecast_attn.data.reading.source import SPREADSHEET, Source
from forecast_attn.data.reading.spreadsheet import sheets_with_rows, workbook_sheet_as_text


def holds_sheets(source: Source) -> bool:
    """Return whether `--sheet` names a table of this file."""
    return source.kind == SPREADSHEET or is_json(source)


def sheet_as_text(source: Source, sheet: str | None) -> Source:
    """The rows of a table as UTF-8 text with commas, read once however often it is asked for.

    Args:
        source: a workbook or JSON.
        sheet: the table's name; the only one when None.

    Raises:
        DataError: the file is damaged, or the table is not there or cannot be chosen.
    """
    if sheet not in source.sheets:
        read = workbook_sheet_as_text if source.kind == SPREADSHEET else json_as_text
        source.sheets[sheet] = read(source, sheet)
    return source.sheets[sheet]


def sheet_names(source: Source) -> list[str]:
    """Names of the tables with rows, the largest first."""
    return sheets_with_rows(source) if source.kind == SPREADSHEET else json_tables(source)
