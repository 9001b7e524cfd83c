"""How a CSV is written: its delimiter and its header, by the evidence of its first lines."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from forecast_attn.data.problems import quoted
from forecast_attn.errors import ConfigError, DataError

DELIMITERS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
"""The ones that are looked for, and how they are typed behind --delimiter."""
SAMPLE = 1 << 20
"""Bytes from which delimiter, header and decimal mark are told."""
MOST_RECORDS = 1000

Record = list[str]

_NAMING_LINE = re.compile(rb'"?sep=([^\r\n])"?(?:\r\n|\r|\n|$)', re.IGNORECASE)
_DATA_CELL = re.compile(r"[+-]?\d+([.,]\d+)?|\d{4}-\d\d-\d\d.*|\d{1,2}[./]\d{1,2}[./]\d{4}.*")


@dataclass(frozen=True)
class Sample:
    """The start of a text."""

    text: str
    complete: bool
    """Whether it is the whole text."""
    delimiter: str | None = None
    """The one that a line above the header names."""

    def records(self, delimiter: str) -> list[Record]:
        """The first records (at most MOST_RECORDS) that are not blank, split at a delimiter."""
        reader = csv.reader(io.StringIO(self.text, newline=""), delimiter=delimiter, skipinitialspace=True)
        try:
            found = list(itertools.islice((record for record in reader if not is_blank(record)), MOST_RECORDS + 1))
        except csv.Error:  # a quote that is never closed; said with its row when the rows are read
            return []
        # The last one may be cut.
        return found[:MOST_RECORDS] if self.complete or len(found) > MOST_RECORDS else found[:-1] or found


def is_blank(record: Record) -> bool:
    """Whether a line holds nothing but blanks."""
    return len(record) <= 1 and not any(cell.strip() for cell in record)


def naming_line(text: bytes) -> tuple[bytes, str | None]:
    """The first line and its delimiter when it names one, as Excel's `sep=;` does; else nothing and None."""
    match = _NAMING_LINE.match(text)
    return (match[0], match[1].decode("latin-1")) if match else (b"", None)


def without_naming_line(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The text from its header on."""
    for at, chunk in enumerate(chunks):
        yield chunk if at else chunk[len(naming_line(chunk)[0]) :]


def checked_delimiter(text: str) -> str:
    """The character of `--delimiter`.

    Raises:
        ConfigError: no single character, or one that cannot stand between fields.
    """
    character = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}.get(text.lower(), text)
    if len(character) != 1 or character in '"\r\n':
        raise ConfigError(f"--delimiter must be one character; got {text!r}", "for example --delimiter ';' or tab")
    return character


def find_delimiter(sample: Sample, label: str) -> str:
    """The delimiter whose records all have as many fields as the header; a comma when there is but one column.

    Raises:
        DataError: two of them do.
    """
    records = {delimiter: sample.records(delimiter) for delimiter in DELIMITERS}
    splitting = {mark: found for mark, found in records.items() if found and max(map(len, found)) > 1}
    if not splitting:
        return ","
    shares = {mark: _share_like_header(found) for mark, found in splitting.items()}
    best = max(shares.values())
    likely = [mark for mark, share in shares.items() if share == best]
    if best == 0:  # no delimiter splits the header: the one that splits the most rows shows what is wrong with it
        return max(splitting, key=lambda mark: sum(len(record) > 1 for record in splitting[mark]))
    if len(likely) > 1:
        names = [DELIMITERS[mark] for mark in likely]
        counts = " and ".join(f"{len(splitting[mark][0])} columns with {DELIMITERS[mark]}" for mark in likely)
        raise DataError(
            f"{label} reads with more than one delimiter: {counts}", f"--delimiter {' or '.join(names)}", code="FA108"
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
    """The stripped names of the header, checked.

    Raises:
        DataError: nothing below it, no header at all, repeated names, or another delimiter in it.
    """
    names = [name.strip() or f"Unnamed: {position}" for position, name in enumerate(records[0])]
    _check_is_split(names, delimiter, label)
    if all(_DATA_CELL.fullmatch(name) for name in names):
        line = delimiter.join(records[0])
        said = f"{label} has no header: its first line is {line!r}"
        raise DataError(said, "add a line with the columns' names", code="FA107")
    check_names(names, label)
    return names


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
    other = next((mark for mark in DELIMITERS if len(names) == 1 and mark != delimiter and mark in names[0]), None)
    if other is not None:
        split = f"{label} split at {DELIMITERS.get(delimiter, repr(delimiter))} has one column"
        raise DataError(
            f"{split}; its header holds {DELIMITERS[other]}: {names[0]!r}",
            f"--delimiter {DELIMITERS[other]}",
            code="FA108",
        )
