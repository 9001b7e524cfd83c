"""Reads .arff files, the text format of Weka and OpenML, as the table that they hold.

Lines of attributes (`@attribute date numeric`) name the columns of the rows below `@data`; `%` begins a comment, `?` is
no value, and single quotes stand around names and cells with blanks or commas.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

import pandas as pd

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import LINES_ABOVE, Report
from forecast_attn.data.reading.columnar import refuse_text_options
from forecast_attn.data.reading.csv_file import read_delimited
from forecast_attn.data.reading.source import Progress, Source
from forecast_attn.errors import DataError

_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"[^"]*"|\S+)\s+\S""", re.IGNORECASE)
_START = 1 << 20
"""Bytes that hold the lines above the rows."""


def is_arff(source: Source) -> bool:
    """Return whether a text has a relation, attributes and nothing else above its rows, as files of Monash have."""
    start = next(source.chunks(_START), b"").decode("utf-8", "replace").removeprefix("\ufeff").lower()
    head = [line.split(maxsplit=1)[0] for line in start.splitlines() if line.strip() and line.lstrip()[0] != "%"]
    if head[:1] != ["@relation"] or "@data" not in head:
        return False
    return set(head[1 : head.index("@data")]) == {"@attribute"}


def read_arff(source: Source, config: DataConfig, progress: Progress | None, report: Report) -> pd.DataFrame:
    """The rows below `@data`, with columns of the types that their cells have.

    Raises:
        ConfigError: an option for text files is given.
        DataError: a row has other fields than attributes, or is a sparse one.
    """
    refuse_text_options(config, f"{source.label} is an .arff file")
    table = Source(source.label, None, _as_csv(source).encode())
    frame = read_delimited(table, config, progress, report)
    frame.attrs[LINES_ABOVE] = None
    return frame


def _as_csv(source: Source) -> str:
    lines = enumerate(_lines(source), 1)
    names: list[str] = []
    for _, line in lines:
        if line.lower().startswith("@data"):
            break
        attribute = _ATTRIBUTE.match(line)
        names += [attribute[1].strip("'\"").replace("\\'", "'")] if attribute else []
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(names)
    for number, line in lines:
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            raise DataError(
                f"{source.label}: line {number} is a sparse row", "save the table as CSV, with all its cells"
            )
        cells = next(csv.reader([line], quotechar="'", skipinitialspace=True, escapechar="\\"))
        if len(cells) != len(names):
            message = f"{source.label}: line {number} has {len(cells)} fields; @attribute lists {len(names)}"
            raise DataError(message, "correct the line, or the attributes")
        writer.writerow(["" if cell.strip() == "?" else cell.strip() for cell in cells])
    return target.getvalue()


def _lines(source: Source) -> Iterator[str]:
    text = b"".join(source.chunks()).decode("utf-8", "replace").removeprefix("\ufeff")
    return (line.strip() for line in text.splitlines())
