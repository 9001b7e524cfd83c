"""Lines of a text that are not rows: titles and comments above a header, sums and sources below the rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

DELIMITERS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
"""Delimiters that are detected, and how they are typed after --delimiter."""
MOST_RECORDS = 1000
COMMENT_MARKS = ("#", "%", "//")
_TOUCHING = r"(\.\d+)(?=-\d+\.\d)"
"""The end of a number before a negative one, where columns of fixed width leave no blank: `-2.1-999.9`."""
_TOUCHING_BYTES = re.compile(_TOUCHING.encode())
_NAMING_LINE = re.compile(rb'"?sep=([^\r\n])"?(?:\r\n|\r|\n|$)', re.IGNORECASE)


@dataclass(frozen=True)
class ExtraLines:
    """Lines above and below the rows of a text."""

    skip_rows: int = 0
    comment: str | None = None
    skip_footer: int = 0
    delimiter: str = ","
    names: tuple[str, ...] = ()
    """The header of a text that has none, or one of several lines; empty where it has one line."""
    header_rows: int = 0
    """Lines that `names` stands for."""
    most_blanks: int | None = None
    """Runs of blanks in a line that become `delimiter`, -1 for all of them; None where blanks separate no fields."""


def naming_line(text: bytes) -> tuple[bytes, str | None]:
    """The first line and its delimiter when it names one, as Excel's `sep=;` does; else nothing and None."""
    match = _NAMING_LINE.match(text)
    return (match[0], match[1].decode("latin-1")) if match else (b"", None)


def without_extra_lines(chunks: Iterable[bytes], lines: ExtraLines) -> Iterator[bytes]:
    """UTF-8 text from its header to its last row, without comments; with a header where it has none.

    Args:
        chunks: the text.
        lines: what stands around the rows. The text passes as it is where that is nothing.
    """
    if lines.names:
        header = io.StringIO()
        csv.writer(header, delimiter=lines.delimiter, lineterminator="\n").writerow(lines.names)
        yield header.getvalue().encode()
    text = _without_naming_line(chunks)
    if lines.skip_rows or lines.comment is not None:
        text = _without_top_and_comments(text, lines.skip_rows, lines.comment)
    if lines.header_rows:
        text = _without_header_rows(text, lines.header_rows)
    if lines.most_blanks is not None:
        text = _split_at_blanks(text, lines.delimiter.encode(), lines.most_blanks)
    yield from _without_end(text, lines.skip_footer) if lines.skip_footer else text


def _without_naming_line(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for index, chunk in enumerate(chunks):
        yield chunk if index else chunk[len(naming_line(chunk)[0]) :]


def _without_top_and_comments(chunks: Iterable[bytes], skip_rows: int, comment: str | None) -> Iterator[bytes]:
    mark, left, rest = (b"" if comment is None else comment.encode()), skip_rows, b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        kept = [line for line in lines[left:] if not (mark and line.lstrip().startswith(mark))]
        left = max(left - len(lines), 0)
        if kept:
            yield b"\n".join(kept) + b"\n"
    if rest and not left and not (mark and rest.lstrip().startswith(mark)):
        yield rest


def _without_header_rows(chunks: Iterable[bytes], count: int) -> Iterator[bytes]:
    """Leave out the first lines that are not blank."""
    held = b""
    for chunk in chunks:
        if not count:
            yield chunk
            continue
        held += chunk
        while count and (end := held.find(b"\n") + 1):
            count -= bool(held[:end].strip())
            held = held[end:]
        if not count and held:
            yield held


def _split_at_blanks(chunks: Iterable[bytes], delimiter: bytes, most: int) -> Iterator[bytes]:
    """Lines without blanks around them, and with one delimiter instead of runs of blanks and tabs; -1 for every run."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield b"".join(delimiter.join(_fields(line, most)) + b"\n" for line in lines)
    if rest:
        yield delimiter.join(_fields(rest, most))


def _fields(line: bytes, most: int) -> list[bytes]:
    return _TOUCHING_BYTES.sub(rb"\1 ", line).strip().split(None, most)


def fields_between_blanks(line: str, most: int = -1) -> list[str]:
    """The fields of a line that blanks separate; as many as given, and the rest as it is."""
    return re.sub(_TOUCHING, r"\1 ", line).strip().split(None, most)


def _without_end(chunks: Iterable[bytes], count: int) -> Iterator[bytes]:
    """Leave out the last lines that are not blank, and what follows them."""
    held = b""
    for chunk in chunks:
        held += chunk
        index = _start_of_last_lines(held, count + 1)  # the last one may go on in the next chunk
        if index:
            yield held[:index]
            held = held[index:]
    yield held[: _start_of_last_lines(held, count)]


def _start_of_last_lines(text: bytes, count: int) -> int:
    """Offset at which the last `count` lines that are not blank begin; 0 where there are fewer."""
    end = len(text)
    while count and end:
        start = text.rfind(b"\n", 0, end - 1) + 1
        count -= bool(text[start:end].strip())
        end = start
    return end
