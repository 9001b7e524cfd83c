"""Locates a finding in the text of its file: line and character."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TextIO

from forecast_attn.checking.fix import TextForm, text_form
from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.reading.dialect import is_blank
from forecast_attn.errors import UserError

Location = tuple[int, int]
"""Line and character, both from 1."""


def locations_of(path: str, config: DataConfig, findings: Sequence[Finding]) -> list[Location | None]:
    """The position of each finding in a CSV; None for a finding without a row, and for files that are not text.

    Args:
        path: the table that was checked.
        config: how it was read.
        findings: in that table or in a file that an option names. Their rows count data rows from 1, as the
            reader does; a row may be several lines.
    """
    locations: dict[int, Location | None] = {}
    for file in {finding.file for finding in findings if finding.row is not None and finding.file is not None}:
        of_file = [(at, finding) for at, finding in enumerate(findings) if finding.file == file]
        locations |= _rows_in_table(file, config if file == path else DataConfig(), of_file)
    return [locations.get(at) for at in range(len(findings))]


def _rows_in_table(file: str, config: DataConfig, findings: list[tuple[int, Finding]]) -> dict[int, Location | None]:
    """Position of a finding -> its place in this file."""
    try:
        form = text_form(file, config)
    except UserError:  # it could not be read, which is what the findings say
        return {}
    if form is None:
        return {}
    numbers = {finding.row for _, finding in findings if finding.row is not None}
    records = dict(_records(form, config, numbers))
    names = [name.strip() for name in form.header]
    return {at: _location(finding, records, names, form.delimiter) for at, finding in findings}


def _records(form: TextForm, config: DataConfig, numbers: set[int]) -> Iterator[tuple[int, tuple[int, str]]]:
    """Data row -> its first line, and its text, for the wanted rows."""
    lines = _BufferedLines(io.StringIO(form.text, newline=""), config.skip_rows, config.comment)
    row = -form.names_delimiter - (0 if config.header is False else config.header_rows)
    for record in csv.reader(lines, delimiter=form.delimiter, skipinitialspace=True):
        row += not is_blank(record)
        if row in numbers and row > 0:
            yield row, (lines.first, lines.taken())
        lines.forget()
        if row >= max(numbers):
            return


class _BufferedLines:
    """Lines of a text below the skipped ones, without comments, of which those since the last record are kept."""

    def __init__(self, text: TextIO, skip_rows: int, comment: str | None) -> None:
        self._text, self._skip_rows, self._comment = text, skip_rows, comment
        self._lines: list[str] = []
        self.first = 0
        """The line with which the record begins, from 1."""

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(self._text, 1):
            is_comment = self._comment is not None and line.lstrip().startswith(self._comment)
            if number <= self._skip_rows or is_comment:
                continue
            self.first = self.first if self._lines else number
            self._lines.append(line)
            yield line

    def taken(self) -> str:
        return "".join(self._lines)

    def forget(self) -> None:
        self._lines.clear()


def _location(
    finding: Finding, records: dict[int, tuple[int, str]], names: list[str], delimiter: str
) -> Location | None:
    if finding.row is None or finding.row not in records:
        return None
    line, text = records[finding.row]
    # The values of a wide table stand in the columns that name the series.
    column = next((name for name in (finding.column, finding.item_id) if name in names), None)
    if column is None:
        return line, 1
    before = text[: field_start(text, names.index(column), delimiter)]
    return line + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1


def field_start(record: str, field: int, delimiter: str) -> int:
    """Offset in a record's text at which the field with that index begins; its end if there are fewer."""
    quoted, num_before = False, 0
    for at, character in enumerate(record):
        if num_before == field:
            return at
        if character == '"':
            quoted = not quoted
        elif character == delimiter and not quoted:
            num_before += 1
    return len(record.rstrip("\r\n"))
