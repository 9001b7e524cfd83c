"""Reads .arff files, the text format of Weka and OpenML, as the table that they hold.

Lines of attributes (`@attribute date numeric`) name the columns of the rows below `@data`; `%` begins a comment, `?` is
no value, and quotes of either kind stand around names and cells with blanks or commas.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Iterator

import pandas as pd

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import LINES_ABOVE, Report
from forecast_attn.data.reading.columnar import refuse_text_options
from forecast_attn.data.reading.csv_file import read_delimited
from forecast_attn.data.reading.source import Progress, Source
from forecast_attn.errors import DataError

_START = 1 << 20
"""Bytes that hold the lines above the rows."""
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"[^"]*"|\S+)\s+\S""", re.IGNORECASE | re.ASCII)
_CELL = re.compile(r"""[ \t]*(?:'((?:\\.|''|[^'\\])*)'|"((?:\\.|""|[^"\\])*)")[ \t]*,|((?:\\.|[^,])*),""", re.ASCII)
"""A cell between single quotes, double ones or none, and the comma behind it."""
_BYTES = "latin-1"
"""Each byte is a letter, so that the text keeps its encoding, which is found as that of any other."""
_BLANKS = " \t\r"
"""In such text, other blanks are parts of letters."""


def is_arff(source: Source) -> bool:
    """Return whether a text has a relation, attributes and nothing else above its rows, as files of Monash have."""
    lines = (line for line in _lines(next(source.chunks(_START), b"")) if line and not line.startswith("%"))
    words = (re.split("[ \t]", line.lower(), maxsplit=1)[0] for line in lines)
    if next(words, "") != "@relation":  # of nearly every text: a quick answer
        return False
    head = list(itertools.takewhile(lambda word: word != "@data", words))
    return set(head) == {"@attribute"}


def read_arff(source: Source, config: DataConfig, progress: Progress | None, report: Report) -> pd.DataFrame:
    """The rows below `@data`, with columns of the types that their cells have.

    Raises:
        ConfigError: an option for text files is given.
        DataError: a row has other fields than attributes, or is a sparse one.
    """
    refuse_text_options(config, f"{source.label} is an .arff file")
    table = Source(source.label, None, _as_csv(source).encode(_BYTES))
    frame = read_delimited(table, config, progress, report)
    frame.attrs[LINES_ABOVE] = None
    return frame


def _as_csv(source: Source) -> str:
    lines = enumerate(_lines(b"".join(source.chunks())), 1)
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
        cells = _cells(line)
        if len(cells) != len(names):
            message = f"{source.label}: line {number} has {len(cells)} fields; @attribute lists {len(names)}"
            raise DataError(message, "correct the line, or the attributes")
        cells = [cell.strip(_BLANKS) for cell in cells]
        writer.writerow(["" if cell == "?" else cell for cell in cells])
    return target.getvalue()


def _cells(line: str) -> list[str]:
    """The cells of a row, without quotes, and without backslashes before what stands for itself."""
    if not {"'", '"', "\\"} & set(line):
        return line.split(",")
    groups = (cell.groups("") for cell in _CELL.finditer(f"{line},"))
    texts = (single.replace("''", "'") or double.replace('""', '"') or plain for single, double, plain in groups)
    return [re.sub(r"\\(.)", r"\1", text) for text in texts]


def _lines(content: bytes) -> Iterator[str]:
    text = content.removeprefix(codecs.BOM_UTF8).decode(_BYTES)
    return (line[0].strip(_BLANKS + "\n") for line in re.finditer("[^\n]*\n?", text) if line[0])
