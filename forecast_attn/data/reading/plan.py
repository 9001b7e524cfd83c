"""How a CSV is going to be read, told from its first bytes and from what the user said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forecast_attn.config import DataConfig
from forecast_attn.data.reading.dialect import (
    SAMPLE,
    Sample,
    checked_delimiter,
    column_names,
    find_delimiter,
    naming_line,
)
from forecast_attn.data.reading.encoding import (
    WESTERN,
    NotUtf8Error,
    as_utf8,
    check_is_western,
    checked_encoding,
    find_encoding,
)
from forecast_attn.data.reading.numbers import MISSING_WORDS, checked_decimal, find_decimal
from forecast_attn.data.reading.source import Source
from forecast_attn.errors import DataError

# Identifiers, and categories by option, keep their leading zeros: "007" is not 7.
TEXT_COLUMNS = ("item_id", "unique_id", "series_id", "id", "series")


@dataclass(frozen=True)
class Plan:
    """How a file is going to be read. Later rows may prove it wrong; then it is read again with a wider one."""

    encoding: str
    encoding_is_assumed: bool
    delimiter: str
    names: tuple[str, ...]
    decimal: str
    decimal_is_given: bool
    decimal_is_known: bool
    """Given, or seen in a cell."""
    texts: frozenset[str]
    """Columns that are text whatever they look like: identifiers and categories."""
    texts_by_content: frozenset[str] = field(default_factory=frozenset)
    """Columns that looked like numbers in the first rows only."""


def first_plan(source: Source, config: DataConfig) -> Plan:
    """The plan by the first rows.

    Raises:
        ConfigError: an impossible delimiter, decimal mark or encoding.
        DataError: no text, no table, or evidence for two delimiters or two decimal marks.
    """
    delimiter = None if config.delimiter is None else checked_delimiter(config.delimiter)
    decimal = None if config.decimal is None else checked_decimal(config.decimal)
    given = None if config.encoding is None else checked_encoding(config.encoding)
    encoding, sample = _sample(source, given)
    delimiter = delimiter or sample.delimiter or find_delimiter(sample, source.label)
    records = sample.records(delimiter)
    if not records:
        said = f"{source.label} is not a CSV: a quote is never closed in its first rows"
        raise DataError(said, 'put quotes around whole fields, and write a quote within one as ""', code="FA106")
    names = column_names(records, delimiter, source.label)
    declared = (config.item_id, *config.categorical)
    texts = frozenset(name for name in names if name in declared or name.lower() in TEXT_COLUMNS)
    seen = decimal or find_decimal(_cells(records, names, texts), source.label)
    return Plan(
        encoding=encoding,
        encoding_is_assumed=given is None,
        delimiter=delimiter,
        names=tuple(names),
        decimal=seen or ".",
        decimal_is_given=decimal is not None,
        decimal_is_known=seen is not None,
        texts=texts,
    )


def _sample(source: Source, given: str | None) -> tuple[str, Sample]:
    """The encoding, as far as the first bytes tell, and the start of the text."""
    start = next(source.chunks(SAMPLE), b"")
    encoding = given or find_encoding(start, source.label)
    complete = len(start) < SAMPLE
    try:
        text = b"".join(_prefix_as_utf8(start, encoding, source.label, given is None, complete))
    except NotUtf8Error:
        encoding = western_encoding(source)
        text = b"".join(_prefix_as_utf8(start, encoding, source.label, True, complete))
    if not text.strip():
        raise DataError(f"{source.label} is empty", "expected a header line with column names, then rows")
    line, delimiter = naming_line(text)
    return encoding, Sample(text[len(line) :].decode("utf-8"), complete, delimiter)


def _prefix_as_utf8(start: bytes, encoding: str, label: str, assumed: bool, complete: bool) -> Iterator[bytes]:
    converted = as_utf8([start], encoding, label, assumed=assumed)
    yield next(converted)
    if complete:  # a longer file goes on in the middle of a letter
        yield from converted


def western_encoding(source: Source) -> str:
    """The encoding of text that is not UTF-8.

    Raises:
        DataError: it is no text at all.
    """
    check_is_western(next(source.chunks(SAMPLE)), source.label)
    return WESTERN


def _cells(records: list[list[str]], names: list[str], texts: frozenset[str]) -> dict[str, list[str]]:
    """The cells that may be numbers and are not missing, by column."""
    columns = {
        name: [record[at].strip() for record in records[1:] if at < len(record)]
        for at, name in enumerate(names)
        if name not in texts
    }
    return {name: [cell for cell in cells if cell not in MISSING_WORDS] for name, cells in columns.items()}
