"""The dialect of a CSV: delimiter, decimal mark and encoding, inferred from its first rows.

`first_plan` collects them for the reader. Contradicting evidence is an error, never a guess.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import columns_of_id, names_series
from forecast_attn.data.reading.cell_numbers import MISSING_WORDS, bare_number, checked_decimal, find_decimal
from forecast_attn.data.reading.encoding import (
    NotUtf8Error,
    as_utf8,
    checked_encoding,
    encoding_of_letters,
    find_encoding,
)
from forecast_attn.data.reading.extra_lines import (
    DELIMITERS,
    MOST_RECORDS,
    ExtraLines,
    fields_between_blanks,
    naming_line,
    without_extra_lines,
)
from forecast_attn.data.reading.header import (
    Record,
    column_names,
    ends_in_a_remark,
    header_as_wide_as_rows,
    joined_names,
    unnamed_column,
)
from forecast_attn.data.reading.source import Source
from forecast_attn.errors import ConfigError, DataError

BLANKS = "blanks"
"""`--delimiter` of fields with any number of blanks between them."""
SAMPLE = 1 << 20
"""Bytes from which delimiter, header and decimal mark are detected."""
MOST_COLUMNS = 1_000_000
MANY_SHORT = 0.05
"""Smallest share of rows that end before their header does, where that is how the file is written and no mistake."""


# --------------------------------------------------------------------------- the first rows


@dataclass(frozen=True)
class TextOptions:
    """The options of a table on which the reading of its text depends; see `DataConfig`."""

    delimiter: str | None
    decimal: str | None
    encoding: str | None
    header: bool
    header_rows: int
    skip_rows: int
    skip_footer: int
    comment: str | None
    na: tuple[str, ...]
    item_id: str | None
    categorical: tuple[str, ...]

    @classmethod
    def of(cls, config: DataConfig) -> TextOptions:
        """Return those among the options of a table, of which a list is hashable as a tuple."""
        given: dict[str, Any] = {each.name: getattr(config, each.name) for each in fields(cls)}
        lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return cls(**given | lists)


@dataclass(frozen=True)
class Sample:
    """The start of a text."""

    text: str
    complete: bool
    """True when the sample is the whole text."""
    delimiter: str | None = None
    """The one that a line above the header names."""

    def records(self, delimiter: str) -> list[Record]:
        """The first records (at most MOST_RECORDS) that are not blank, split at a delimiter."""
        reader = csv.reader(io.StringIO(self.text, newline=""), delimiter=delimiter, skipinitialspace=True)
        try:
            records = list(itertools.islice((record for record in reader if not is_blank(record)), MOST_RECORDS + 1))
        except csv.Error:  # a quote that is never closed; reported with its row when the rows are read
            return []
        # The last one may be cut.
        return records[:MOST_RECORDS] if self.complete or len(records) > MOST_RECORDS else records[:-1] or records


def is_blank(record: Record) -> bool:
    """Return whether a line is blank."""
    return not record or (len(record) == 1 and not record[0].strip())


def _sample(source: Source, given: str | None, config: TextOptions) -> tuple[str, Sample]:
    """The encoding, as far as the first bytes tell, and the start of the text."""
    start = next(source.chunks(SAMPLE), b"")
    encoding = given or find_encoding(start, source.label)
    complete = len(start) < SAMPLE
    try:
        text = b"".join(_prefix_as_utf8(start, encoding, source.label, given is None, complete))
    except NotUtf8Error:
        encoding = assumed_encoding(source)
        text = b"".join(_prefix_as_utf8(start, encoding, source.label, True, complete))
    _, delimiter = naming_line(text)
    footer = config.skip_footer if complete else 0
    body = b"".join(without_extra_lines([text], ExtraLines(config.skip_rows, config.comment, footer)))
    _refuse_other_formats(body, source.label)
    return encoding, Sample(body.decode("utf-8"), complete, delimiter)


def _prefix_as_utf8(start: bytes, encoding: str, label: str, assumed: bool, complete: bool) -> Iterator[bytes]:
    converted = as_utf8([start], encoding, label, assumed=assumed)
    yield next(converted)
    if complete:  # a longer file goes on in the middle of a letter
        yield from converted


def assumed_encoding(source: Source) -> str:
    """The encoding of text that is not UTF-8, by the first lines that hold other letters than ASCII ones.

    Raises:
        DataError: it is no text at all, or may be in several encodings.
    """
    return encoding_of_letters(next(_lines_with_letters(source), b""), source.label)


def _lines_with_letters(source: Source) -> Iterator[bytes]:
    """Pieces of the text of about SAMPLE bytes, in whole lines, that hold letters beyond ASCII."""
    rest = b""
    for chunk in source.chunks(SAMPLE):
        lines, _, rest = (rest + chunk).rpartition(b"\n")
        if not lines.isascii():
            yield lines
    if not rest.isascii():
        yield rest


_MARKUP = re.compile(rb"\s*<(!doctype|!--|\?xml|html|head|body|table|div|style|meta)\b", re.IGNORECASE)


def _refuse_other_formats(body: bytes, label: str) -> None:
    if _MARKUP.match(body):
        message = f"{label} is not a CSV: it holds HTML or XML"
        raise DataError(message, "open it in a spreadsheet, and save it as CSV or .xlsx", code="FA106")
    if body.startswith(b"version https://git-lfs"):
        message = f"{label} is a pointer of Git LFS, which names the file"
        raise DataError(message, "git lfs pull fetches it", code="FA106")
    if not body.strip():
        raise DataError(f"{label} is empty", "expected a header line with column names, then rows")


def lines_above_header(source: Source, config: DataConfig, name: str, names: Collection[str] = ()) -> int | None:
    """Lines above the one with a column's name, of several that with the most names; None where no line has it.

    Args:
        source: a table that accompanies another, and may have other titles.
        config: options of the other table.
        name: of its time; `year,month` where several columns are joined.
        names: of its other columns.
    """
    given = None if config.encoding is None else checked_encoding(config.encoding)
    _, sample = _sample(source, given, replace(TextOptions.of(config), skip_rows=0, comment=None))
    lines = sample.text.split("\n")[:MOST_RECORDS]
    fields = [{field.strip(' \r"') for field in re.split(r"[,;\t|]", line)} for line in lines]
    headers = [at for at, cells in enumerate(fields) if {name} <= cells or set(name.split(",")) <= cells]
    return max(headers, key=lambda at: len(fields[at].intersection(names)), default=None)


# --------------------------------------------------------------------------- delimiter


def checked_delimiter(text: str) -> str:
    """The character of `--delimiter`.

    Raises:
        ConfigError: no single character, or one that cannot stand between fields.
    """
    if text.lower() == BLANKS:
        return BLANKS
    character = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}.get(text.lower(), text)
    if len(character) != 1 or character in '"\r\n':
        raise ConfigError(f"--delimiter must be one character; got {text!r}", "for example ';', tab or blanks")
    return character


def find_delimiter(sample: Sample, label: str) -> str:
    """Find the delimiter that splits all records into as many fields as the header; comma for a single column.

    Raises:
        DataError: two of them do.
    """
    records = {delimiter: sample.records(delimiter) for delimiter in DELIMITERS if delimiter in sample.text}
    splitting = {mark: rows for mark, rows in records.items() if rows and max(map(len, rows)) > 1}
    if not splitting:
        return ","
    shares = {mark: _share_like_header(rows) for mark, rows in splitting.items()}
    best = max(shares.values())
    likely = [mark for mark, share in shares.items() if share == best]
    if any(mark != "\t" and sample.text.count(f"{mark}\t") == sample.text.count("\t") for mark in likely):
        likely = [mark for mark in likely if mark != "\t"]  # a tab behind each delimiter is a blank
    if best == 0:  # no delimiter splits the header: the one that splits the most rows shows what is wrong with it
        return max(splitting, key=lambda mark: sum(len(record) > 1 for record in splitting[mark]))
    if len(likely) > 1:
        names = [DELIMITERS[mark] for mark in likely]
        counts = " and ".join(f"{len(splitting[mark][0])} columns with {DELIMITERS[mark]}" for mark in likely)
        raise DataError(
            f"{label} can be split by more than one delimiter: {counts}",
            f"--delimiter {' or '.join(names)}",
            code="FA108",
            options=("delimiter",),
        )
    return likely[0]


def _share_like_header(records: list[Record]) -> float:
    """Share of rows with as many fields as the header, 0 when the header is one field."""
    width = len(records[0])
    if width < 2:
        return 0.0
    rows = records[1:]
    return sum(len(record) == width for record in rows) / len(rows) if rows else 0.5


def split_at_blanks(text: str) -> tuple[str, int]:
    """Text whose fields stand between blanks, with a tab for each run of them; and the number of runs in a line.

    -1 for any number. Some rows may end in a remark of several words, which stays one field.
    """
    lines = [fields_between_blanks(line) for line in text.splitlines()]
    width = next((len(line) for line in lines if line), 0)
    longer = [[*line[:width], " ".join(line[width:])] for line in lines if len(line) > width > 0]
    most = width if longer and all(map(ends_in_a_remark, longer)) else -1
    return "\n".join("\t".join(fields_between_blanks(line, most)) for line in text.splitlines()), most


# --------------------------------------------------------------------------- plan


@dataclass(frozen=True)
class Plan:
    """The plan for reading a file. If later rows do not fit, the file is read again with a wider plan."""

    encoding: str
    encoding_is_assumed: bool
    delimiter: str
    names: tuple[str, ...]
    decimal: str
    decimal_is_given: bool
    decimal_is_known: bool
    """Given by the user, or detected in a cell."""
    texts: frozenset[str]
    """Columns that are text whatever they look like: identifiers and categories, as `007` is not 7."""
    identifiers: frozenset[str]
    """Those of them in which `NA` is a name."""
    texts_by_content: frozenset[str] = field(default_factory=frozenset)
    """Columns that looked like numbers in the first rows only."""
    extra_lines: ExtraLines = field(default_factory=ExtraLines)
    na: tuple[str, ...] = ()
    """Cells that mean no value, as the user says."""
    lines_above: int | None = 1
    """Lines of the file above its first row; None where comments may stand anywhere."""
    renamed: tuple[str, ...] = ()
    """Names of columns whose own stand in the header before."""
    ends_early: bool = False
    """True where rows end at their last value, without delimiters for the empty cells behind it."""


def first_plan(source: Source, config: TextOptions) -> Plan:
    """The plan by the first rows.

    Raises:
        ConfigError: an impossible delimiter, decimal mark or encoding.
        DataError: no text, no table, or evidence for two delimiters or two decimal marks.
    """
    delimiter = None if config.delimiter is None else checked_delimiter(config.delimiter)
    decimal = None if config.decimal is None else checked_decimal(config.decimal)
    given = None if config.encoding is None else checked_encoding(config.encoding)
    encoding, sample = _sample(source, given, config)
    above = (sample.delimiter is not None) + config.skip_rows + config.header * config.header_rows
    most_blanks = None
    if delimiter == BLANKS:
        text, most_blanks = split_at_blanks(sample.text)
        delimiter, sample = "\t", replace(sample, text=text)
    delimiter = delimiter or sample.delimiter or find_delimiter(sample, source.label)
    header, rows = _header_and_rows(_checked_records(sample, delimiter, source.label), config)
    has_later_remarks = config.header and most_blanks == len(header)
    header = [*header, ""] if has_later_remarks else header
    names = column_names([header, *rows], delimiter, source.label) if config.header else header
    texts, identifiers = _declared_texts(names, config)
    seen = decimal or find_decimal(_cells_of_numbers(rows, names, texts, config.na), source.label)
    return Plan(
        encoding=encoding,
        encoding_is_assumed=given is None,
        delimiter=delimiter,
        names=tuple(names),
        decimal=seen or ".",
        decimal_is_given=decimal is not None,
        decimal_is_known=seen is not None,
        texts=texts,
        identifiers=identifiers,
        extra_lines=_extra_lines(config, names, delimiter, most_blanks),
        na=config.na,
        lines_above=above if config.comment is None else None,
        renamed=tuple(name for name, given in zip(names, header, strict=True) if given.strip() not in ("", name)),
        ends_early=has_later_remarks
        or (_end_early(rows, len(names)) and (most_blanks in (None, len(names) - 1) or not names[-1])),
    )


def _checked_records(sample: Sample, delimiter: str, label: str) -> list[Record]:
    records = sample.records(delimiter)
    if not records:
        problem, hint = "a quote is never closed", 'put quotes around whole fields, and write a quote within one as ""'
        if '"' not in sample.text:
            problem, hint = "a field is longer than 131,072 characters", "expected lines of fields, such as date,target"
        raise DataError(f"{label} is not a CSV: {problem} in its first rows", hint, code="FA106")
    if len(records[0]) > MOST_COLUMNS:
        message = f"{label} is not a CSV: its first line has more than {MOST_COLUMNS:,} fields"
        raise DataError(message, "write each row of the table in a line of its own", code="FA106")
    return records


def _header_and_rows(records: list[Record], config: TextOptions) -> tuple[Record, list[Record]]:
    """The header in one line, as wide as the rows, and the rows; numbered names where the table has no header."""
    if config.header:
        rows = records[config.header_rows :]
        return header_as_wide_as_rows(joined_names(records[: config.header_rows]), rows), rows
    width = len(header_as_wide_as_rows(records[0], records))
    return [unnamed_column(number) for number in range(1, width + 1)], records


def _declared_texts(names: list[str], config: TextOptions) -> tuple[frozenset[str], frozenset[str]]:
    """The columns that are text, as the options or their names say; and those of them that are identifiers."""
    declared = columns_of_id(config.item_id)
    texts = {name for name in names if name in config.categorical or names_series(name, config.item_id)}
    identifiers = {name for name in texts if name in declared or name not in config.categorical}
    return frozenset(texts), frozenset(identifiers)


def _extra_lines(config: TextOptions, names: list[str], delimiter: str, most_blanks: int | None) -> ExtraLines:
    has_own_header = config.header and config.header_rows == 1
    return ExtraLines(
        config.skip_rows,
        config.comment,
        config.skip_footer,
        delimiter,
        () if has_own_header else tuple(names),
        config.header_rows if config.header and not has_own_header else 0,
        most_blanks,
    )


def _end_early(rows: list[Record], width: int) -> bool:
    """Return whether rows end at their last value: many are shorter than the header, none longer, and no last cell of
    any is empty, as each would be that holds a delimiter for it.
    """
    short = sum(len(row) < width for row in rows)
    are_many = MANY_SHORT * len(rows) <= short < len(rows) and short > 1
    return are_many and all(1 < len(row) <= width and bool(row[-1].strip()) for row in rows)


def _cells_of_numbers(
    rows: list[Record], names: list[str], texts: frozenset[str], na: tuple[str, ...]
) -> dict[str, list[str]]:
    """The cells that may be numbers and are not missing, by column."""
    columns = {
        name: [row[index].strip() for row in rows if index < len(row)]
        for index, name in enumerate(names)
        if name not in texts
    }
    words = {*MISSING_WORDS, *na}
    return {name: [bare_number(cell) for cell in cells if cell not in words] for name, cells in columns.items()}
