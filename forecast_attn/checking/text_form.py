"""How a text file is written: encoding, delimiter, decimal mark, header."""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass
from pathlib import Path

from forecast_attn.config import DataConfig
from forecast_attn.data.reading.dialect import is_blank, naming_line
from forecast_attn.data.reading.encoding import NotUtf8Error, as_utf8
from forecast_attn.data.reading.plan import Plan, first_plan, western_encoding
from forecast_attn.data.reading.source import Source

TEXT_KINDS = ("text", "gzip", "zstd")
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


@dataclass(frozen=True)
class TextForm:
    """A CSV as it was found or said to be written."""

    text: str
    """All of it, without a byte order mark."""
    encoding: str
    has_mark: bool
    """Whether it begins with a byte order mark."""
    names_delimiter: bool
    """Whether a line above the header does so, as Excel's `sep=;`."""
    delimiter: str
    decimal: str
    header: tuple[str, ...]
    """Names of the columns, with the blanks around them."""


def text_form(table: Path | str, config: DataConfig) -> TextForm | None:
    """How the table's text is written; None for tables that are no text.

    Raises:
        ConfigError: an impossible delimiter, decimal mark or encoding.
        DataError: the file cannot be read as a table.
    """
    source = Source.of(table)
    if source.kind not in TEXT_KINDS:
        return None
    plan = first_plan(source, config)
    encoding = _encoding(source, plan)
    start = next(source.chunks(64), b"")
    text = _text(source, encoding)
    line, _ = naming_line(text.encode())
    below = io.StringIO(text[len(line.decode()) :], newline="")
    header = next(record for record in csv.reader(below, delimiter=plan.delimiter) if not is_blank(record))
    return TextForm(text, encoding, start.startswith(_MARKS), bool(line), plan.delimiter, plan.decimal, tuple(header))


def _encoding(source: Source, plan: Plan) -> str:
    """The encoding that holds for the whole file; the plan has seen its start only."""
    if not plan.encoding_is_assumed:
        return plan.encoding
    try:
        for _ in as_utf8(source.chunks(), plan.encoding, source.label, assumed=True):
            pass
    except NotUtf8Error:
        return western_encoding(source)
    return plan.encoding


def _text(source: Source, encoding: str) -> str:
    return b"".join(as_utf8(source.chunks(), encoding, source.label, assumed=False)).decode("utf-8")
