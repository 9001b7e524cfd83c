"""The dialect of a CSV: delimiter, header, decimal mark and encoding, inferred from its first rows.

`Plan` collects them for the reader. Contradicting evidence is an error, never a guess.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pandas as pd

from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import ID_NAMES, may_number_rows
from forecast_attn.data.findings import quoted
from forecast_attn.data.reading.cell_numbers import (
    MISSING_WORDS,
    bare_number,
    checked_decimal,
    find_decimal,
    is_number,
    shows_number,
)
from forecast_attn.data.reading.encoding import (
    WESTERN,
    NotUtf8Error,
    as_utf8,
    check_is_western,
    checked_encoding,
    find_encoding,
)
from forecast_attn.data.reading.extra_lines import (
    COMMENT_MARKS,
    DATA_CELL,
    DELIMITERS,
    MOST_RECORDS,
    YEAR,
    ExtraLines,
    naming_line,
    without_extra_lines,
)
from forecast_attn.data.reading.source import Source
from forecast_attn.data.timestamps import looks_like_dates
from forecast_attn.errors import ConfigError, DataError

BLANKS = "blanks"
"""`--delimiter` of fields with any number of blanks between them."""
SAMPLE = 1 << 20
"""Bytes from which delimiter, header and decimal mark are detected."""
MOST_COLUMNS = 1_000_000
LONGEST = 100
"""Characters of a line that a message shows."""
MANY_SHORT = 0.05
"""Smallest share of rows that end before their header does, where that is how the file is written and no mistake."""
Record = list[str]


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


def column_names(records: list[Record], delimiter: str, label: str) -> list[str]:
    """The stripped names of the header, checked; repeated ones are numbered from the second on, as pandas does.

    Raises:
        DataError: nothing below it, no header at all, another delimiter in it, or a name above columns of other dates.
    """
    given = [name.strip() for name in records[0]]
    unnamed = [f"Unnamed: {position}" for position in range(len(given))]
    names = [name or (new if new not in given else f"{new}.1") for name, new in zip(given, unnamed, strict=True)]
    _check_is_split(names, delimiter, label)
    if _is_a_row(given, records[1:]):
        line = delimiter.join(records[0])
        message = f"{label} has no header: its first line is {line if len(line) <= LONGEST else f'{line[:LONGEST]}…'!r}"
        hint = "--no-header, or add a line with the columns' names"
        if len(records) == 1 and len(names) > 1:
            hint = "write each value in a line of its own; --no-header --layout rows reads a line that is not too long"
        raise DataError(message, hint, code="FA107")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if any(_are_other_dates(name, names, records[1:]) for name in repeated):  # two tables side by side
        check_names(names, label)
    return numbered_names(names)


def numbered_names(names: list[str]) -> list[str]:
    """The names, each of its own: `y`, `y.1`, `y.2` where a name stands several times."""
    numbered: list[str] = []
    for at, name in enumerate(names):
        others = {*numbered, *names} if name in names[:at] else set()
        numbers = (f"{name}.{number}" for number in itertools.count(1))
        numbered.append(next(new for new in numbers if new not in others) if others else name)
    return numbered


def _are_other_dates(name: str, names: list[str], rows: list[Record]) -> bool:
    """Return whether a name stands above several columns of dates that differ."""
    full = [row for row in rows if len(row) == len(names)]
    columns = [pd.Series([row[at] for row in full], dtype="str") for at, each in enumerate(names) if each == name]
    return all(map(looks_like_dates, columns)) and any(not column.equals(columns[0]) for column in columns)


MOST_BELOW = 100
"""Rows below a first line that show of which kinds its cells would be."""
MOST_CELLS = 500
"""Cells of a first line that tell what it is."""
MOSTLY = 0.9
"""Share of numbers in a column of numbers."""
FEWEST_DECIMALS = 10
"""Decimal numbers below a whole one that show that it is a name."""
FEWEST_COUNTED = 4
"""Columns that are called 0, 1, 2, … or 1, 2, 3, …"""
_NUMBER, _DATE, _WORD = "number", "date", "word"
_TIME_OF_DAY = re.compile(r"\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[AP]M)?", re.IGNORECASE)


def _is_a_row(first: Record, below: list[Record]) -> bool:
    """Return whether a first line is a row: all cells are of the kinds of those below them, some of them dates or
    numbers; numbers beside words show it where they do not rise, or where a word stands below, too.

    A number is a name where it is a year above other numbers, a whole one above decimals, or counts the columns.
    """
    kinds: set[str] = set()
    numbers = []
    for at, cell in enumerate(first[:MOST_CELLS] if re.search(r"\d", "".join(first)) else ()):
        column = [record[at].strip() for record in below[:MOST_BELOW] if at < len(record)]
        known = [each for each in column if each not in MISSING_WORDS]
        if not cell and below and len(known) == len(below[:MOST_BELOW]):
            return False  # a nameless index
        if cell in MISSING_WORDS or not re.search(r"\w", cell):
            continue
        kind, of_column = _kind(cell, known), _kind_of_column(known) if known else None
        if of_column not in (None, kind):
            return False
        if kind == _NUMBER and not _is_name_above(cell, known):
            numbers.append(cell)
        if not known and below:
            continue  # of a title
        kinds |= {kind} | ({"repeated"} if kind == _WORD and cell in known else set())
    if _DATE in kinds or not numbers:
        return _DATE in kinds
    values = [float(bare_number(number).replace(",", ".", 1).replace(",", "")) for number in numbers]
    steps = {b - a for a, b in itertools.pairwise(values)}
    if _WORD not in kinds:
        return not (len(numbers) == len(first) >= FEWEST_COUNTED and values[0] in (0, 1) and steps == {1})
    return "repeated" in kinds or any(step <= 0 for step in steps)


def _kind(cell: str, below: list[str]) -> str:
    """The kind of a cell: that of those below it where they are written alike."""
    if shows_number(cell):
        return _NUMBER
    if 2 * sum(_shape(each) == _shape(cell) for each in below) > len(below):
        return _kind_of_column(below)
    return _kind_of_column([cell])


def _kind_of_column(cells: list[str]) -> str:
    if sum(map(shows_number, cells)) >= MOSTLY * len(cells):
        return _NUMBER
    are_dates = _TIME_OF_DAY.fullmatch(cells[0]) or looks_like_dates(pd.Series(cells, dtype=object))
    return _DATE if are_dates else _WORD


def _is_name_above(number: str, below: list[str]) -> bool:
    """Return whether a number is a year above other numbers, or a whole one above decimals."""
    if YEAR.fullmatch(number) and 2 * sum(YEAR.fullmatch(cell) is not None for cell in below) < len(below):
        return True
    return number.isdecimal() and len(below) >= FEWEST_DECIMALS and not any(map(str.isdecimal, below))


def _shape(cell: str) -> str:
    """A cell with one sign for each number and each word."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", cell.strip()))


def unnamed_column(number: int) -> str:
    """Name of a column of a table without a header, the first of them number 1."""
    return f"column_{number}"


def joined_names(lines: list[Record]) -> Record:
    """One name per column out of a header of several lines: `load` and `MW` are `load MW`.

    Empty cells of lines but the last repeat the cell before them, as those of merged cells of a sheet do.
    """
    if len(lines) == 1:
        return lines[0]
    names: list[list[str]] = [[] for _ in range(max(map(len, lines)))]
    for line, cells in enumerate(lines):
        before = ""
        for index, cell in enumerate(cells):
            before = cell.strip() or (before if line < len(lines) - 1 else "")
            names[index].append(before)
    return [" ".join(part for part in parts if part) for parts in names]


def _as_wide_as_rows(records: list[Record]) -> Record:
    """The header without a last empty name that no row has a field for, or with one for a field that all rows have.

    That is a last empty field, or the number of the row, which R writes without a name; or words behind the last number
    of some rows, such as `Provisional`.
    """
    header, widths = records[0], {len(record) for record in records[1:]}
    if len(header) > 2 and not header[-1].strip() and widths == {len(header) - 1}:
        return header[:-1]
    if header[0] in COMMENT_MARKS and widths == {len(header) - 1}:  # as numpy writes names
        return header[1:]
    if widths == {len(header) + 1} and not any(record[-1].strip() for record in records[1:]):
        return [*header, ""]
    longer = [record for record in records[1:] if len(record) > len(header)]
    if widths == {len(header), len(header) + 1} and all(_ends_in_a_remark(record) for record in longer):
        return [*header, ""]
    if widths == {len(header) + 1} and not may_number_rows(header[0]) and len(records) > 2:
        numbers = [str(number) for number in range(1, len(records))]
        return ["", *header] if [record[0].strip() for record in records[1:]] == numbers else header
    return header


def _ends_in_a_remark(record: Record) -> bool:
    """Return whether words stand behind the last number of a row: no part of a number, and of no name with a comma."""
    number, remark = (cell.strip() for cell in record[-2:])
    return (
        is_number(bare_number(number)) and not DATA_CELL.fullmatch(remark) and re.search("[A-Za-z]", remark) is not None
    )


def _most_blanks(lines: list[Record]) -> int:
    """The number of blanks at which lines are split: -1 for all of them; up to a remark of words behind some rows."""
    width = next((len(line) for line in lines if line), 0)
    longer = [[*line[:width], " ".join(line[width:])] for line in lines if len(line) > width > 0]
    return width if longer and all(map(_ends_in_a_remark, longer)) else -1


def check_names(names: list[str], label: str) -> None:
    """Refuse names that stand twice.

    Raises:
        DataError: with those names.
    """
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"{label} has more than one column called {quoted(repeated)}",
            "give every column its own name",
            code="FA107",
            column=repeated[0],
        )


def _check_is_split(names: list[str], delimiter: str, label: str) -> None:
    unused = next((mark for mark in DELIMITERS if len(names) == 1 and mark != delimiter and mark in names[0]), None)
    if unused is not None:
        split = f"{label} split at {DELIMITERS.get(delimiter, repr(delimiter))} has one column"
        raise DataError(
            f"{split}; its header holds {DELIMITERS[unused]}: {names[0]!r}",
            f"--delimiter {DELIMITERS[unused]}",
            code="FA108",
            options=("delimiter",),
        )


# --------------------------------------------------------------------------- plan
# How to read a CSV, decided from its first bytes and the user's options.


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


def first_plan(source: Source, config: DataConfig) -> Plan:
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
        delimiter = "\t"
        most_blanks = _most_blanks([line.split() for line in sample.text.splitlines()])
        lines = (line.strip().split(None, most_blanks) for line in sample.text.splitlines())
        sample = replace(sample, text="\n".join(map("\t".join, lines)))
    delimiter = delimiter or sample.delimiter or find_delimiter(sample, source.label)
    records = sample.records(delimiter)
    if not records:
        problem, hint = "a quote is never closed", 'put quotes around whole fields, and write a quote within one as ""'
        if '"' not in sample.text:
            problem, hint = "a field is longer than 131,072 characters", "expected lines of fields, such as date,target"
        raise DataError(f"{source.label} is not a CSV: {problem} in its first rows", hint, code="FA106")
    if len(records[0]) > MOST_COLUMNS:
        message = f"{source.label} is not a CSV: its first line has more than {MOST_COLUMNS:,} fields"
        raise DataError(message, "write each row of the table in a line of its own", code="FA106")
    if config.header:
        records = [joined_names(records[: config.header_rows]), *records[config.header_rows :]]
        records[0] = _as_wide_as_rows(records)
        names = column_names(records, delimiter, source.label)
    else:
        width = len(_as_wide_as_rows([records[0], *records]))
        names = [unnamed_column(index) for index in range(1, width + 1)]
        records = [names, *records]
    renamed = [name for name, given in zip(names, records[0], strict=True) if given.strip() not in ("", name)]
    has_own_header = config.header and config.header_rows == 1
    identifiers = () if config.item_id is None else (config.item_id, *map(str.strip, config.item_id.split(",")))
    declared = (*identifiers, *config.categorical)
    texts = frozenset(name for name in names if name in declared or name.lower() in ID_NAMES)
    of_series = frozenset(name for name in texts if name in identifiers or name not in config.categorical)
    seen = decimal or find_decimal(_cells(records, names, texts, config.na), source.label)
    return Plan(
        encoding=encoding,
        encoding_is_assumed=given is None,
        delimiter=delimiter,
        names=tuple(names),
        decimal=seen or ".",
        decimal_is_given=decimal is not None,
        decimal_is_known=seen is not None,
        texts=texts,
        identifiers=of_series,
        extra_lines=ExtraLines(
            config.skip_rows,
            config.comment,
            config.skip_footer,
            delimiter,
            () if has_own_header else tuple(names),
            config.header_rows if config.header and not has_own_header else 0,
            most_blanks,
        ),
        na=config.na,
        lines_above=above if config.comment is None else None,
        renamed=tuple(renamed),
        ends_early=_end_early(records) and (most_blanks in (None, len(names) - 1) or not names[-1]),
    )


def _end_early(records: list[Record]) -> bool:
    """Return whether rows end at their last value: many are shorter than the header, none longer, and no last cell of
    any is empty, as each would be that holds a delimiter for it.
    """
    width, rows = len(records[0]), records[1:]
    short = sum(len(row) < width for row in rows)
    are_many = MANY_SHORT * len(rows) <= short < len(rows) and short > 1
    return are_many and all(1 < len(row) <= width and bool(row[-1].strip()) for row in rows)


def _sample(source: Source, given: str | None, config: DataConfig) -> tuple[str, Sample]:
    """The encoding, as far as the first bytes tell, and the start of the text."""
    start = next(source.chunks(SAMPLE), b"")
    encoding = given or find_encoding(start, source.label)
    complete = len(start) < SAMPLE
    try:
        text = b"".join(_prefix_as_utf8(start, encoding, source.label, given is None, complete))
    except NotUtf8Error:
        encoding = western_encoding(source)
        text = b"".join(_prefix_as_utf8(start, encoding, source.label, True, complete))
    _, delimiter = naming_line(text)
    footer = config.skip_footer if complete else 0
    body = b"".join(without_extra_lines([text], ExtraLines(config.skip_rows, config.comment, footer)))
    if _MARKUP.match(body):
        message = f"{source.label} is not a CSV: it holds HTML or XML"
        raise DataError(message, "open it in a spreadsheet, and save it as CSV or .xlsx", code="FA106")
    if body.startswith(b"version https://git-lfs"):
        raise DataError(
            f"{source.label} is a pointer of Git LFS, which names the file", "git lfs pull fetches it", code="FA106"
        )
    if not body.strip():
        raise DataError(f"{source.label} is empty", "expected a header line with column names, then rows")
    return encoding, Sample(body.decode("utf-8"), complete, delimiter)


_MARKUP = re.compile(rb"\s*<(!doctype|!--|\?xml|html|head|body|table|div|style|meta)\b", re.IGNORECASE)


def lines_above_header(source: Source, config: DataConfig, name: str) -> int:
    """Lines above the first one with a column's name; as many as --skip-rows says where no line has it.

    Args:
        source: a table that accompanies another, and may have other titles.
        config: options of the other table.
        name: of its time; `year,month` where several columns are joined.
    """
    given = None if config.encoding is None else checked_encoding(config.encoding)
    _, sample = _sample(source, given, replace(config, skip_rows=0, comment=None))
    for index, line in enumerate(sample.text.split("\n")[:MOST_RECORDS]):
        fields = {field.strip(' \r"') for field in re.split(r"[,;\t|]", line)}
        if {name} <= fields or set(name.split(",")) <= fields:
            return index
    return config.skip_rows


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


def _cells(
    records: list[list[str]], names: list[str], texts: frozenset[str], na: tuple[str, ...]
) -> dict[str, list[str]]:
    """The cells that may be numbers and are not missing, by column."""
    columns = {
        name: [record[index].strip() for record in records[1:] if index < len(record)]
        for index, name in enumerate(names)
        if name not in texts
    }
    words = {*MISSING_WORDS, *na}
    return {name: [bare_number(cell) for cell in cells if cell not in words] for name, cells in columns.items()}
