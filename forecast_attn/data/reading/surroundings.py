"""Lines of a text that are no rows: titles and comments above a header, sums and sources below the rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

DELIMITERS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
"""The ones that are looked for, and how they are typed behind --delimiter."""
MOST_RECORDS = 1000
COMMENT_MARKS = ("#", "%", "//")
MOST_TITLES = 30
"""Lines that may stand above a header."""
MOST_FOOTERS = 15
"""Lines that may stand below the rows."""
MOSTLY = 0.9
"""Share of lines with as many fields as the header, from which on what stands above is a title."""
DATA_CELL = re.compile(r"[+-]?\d+([.,]\d+)?|\d{4}-\d\d-\d\d.*|\d{1,2}[./]\d{1,2}[./]\d{4}.*")
_NAMING_LINE = re.compile(rb'"?sep=([^\r\n])"?(?:\r\n|\r|\n|$)', re.IGNORECASE)


@dataclass(frozen=True)
class Surroundings:
    """Lines above and below the rows of a text."""

    skip_rows: int = 0
    comment: str | None = None
    skip_footer: int = 0
    delimiter: str = ","
    names: tuple[str, ...] = ()
    """The header of a text that has none; empty where it has one."""


def naming_line(text: bytes) -> tuple[bytes, str | None]:
    """The first line and its delimiter when it names one, as Excel's `sep=;` does; else nothing and None."""
    match = _NAMING_LINE.match(text)
    return (match[0], match[1].decode("latin-1")) if match else (b"", None)


def without_surroundings(chunks: Iterable[bytes], lines: Surroundings) -> Iterator[bytes]:
    """UTF-8 text from its header to its last row, without comments; with a header where it has none.

    Args:
        chunks: the text.
        lines: what stands around the rows. The text passes as it is where that is nothing.
    """
    if lines.names:
        yield (",".join(lines.names) + "\n").replace(",", lines.delimiter).encode()
    text = _without_naming_line(chunks)
    if lines.skip_rows or lines.comment is not None:
        text = _without_top_and_comments(text, lines.skip_rows, lines.comment)
    yield from _without_end(text, lines.skip_footer) if lines.skip_footer else text


def _without_naming_line(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for at, chunk in enumerate(chunks):
        yield chunk if at else chunk[len(naming_line(chunk)[0]) :]


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


def _without_end(chunks: Iterable[bytes], count: int) -> Iterator[bytes]:
    """Leave out the last lines that are not blank, and what follows them."""
    held = b""
    for chunk in chunks:
        held += chunk
        at = _start_of_last_lines(held, count + 1)  # the last one may go on in the next chunk
        if at:
            yield held[:at]
            held = held[at:]
    yield held[: _start_of_last_lines(held, count)]


def _start_of_last_lines(text: bytes, count: int) -> int:
    """Offset at which the last so many lines that are not blank begin; 0 where there are fewer."""
    end = len(text)
    while count and end:
        start = text.rfind(b"\n", 0, end - 1) + 1
        count -= bool(text[start:end].strip())
        end = start
    return end


# --------------------------------------------------------------------------- evidence


def find_preamble(text: str) -> dict[str, Any]:
    """The options that leave out what stands above a header: comments, or lines with fewer fields than all others.

    Args:
        text: the first lines of a file.
    """
    lines = [line for line in text.splitlines()[:MOST_RECORDS] if line.strip()]
    mark = _mark_of_comments(lines)
    if mark is not None and lines[0].lstrip().startswith(mark):
        return {"comment": mark}
    for delimiter in DELIMITERS:
        widths = [line.count(delimiter) for line in lines]
        common, count = Counter(widths).most_common(1)[0] if widths else (0, 0)
        first = widths.index(common) if common else 0
        names = lines[first].split(delimiter) if common else []
        are_names = not any(DATA_CELL.fullmatch(name.strip().strip('"')) for name in names)
        if common and are_names and count >= MOSTLY * (len(widths) - first) and 0 < first <= MOST_TITLES:
            at = text.splitlines().index(lines[first])
            return {"skip_rows": at}
    return {} if mark is None else {"comment": mark}


def _mark_of_comments(lines: list[str]) -> str | None:
    """The mark of lines, above the header or between the rows, that are no rows: they have other fields than most."""
    for mark in COMMENT_MARKS:
        marked = [line for line in lines if line.lstrip().startswith(mark)]
        rows = [line for line in lines if not line.lstrip().startswith(mark)]
        delimiter = max(DELIMITERS, key=lambda each: sum(line.count(each) for line in rows))
        if not marked or not rows:
            continue
        width = Counter(line.count(delimiter) for line in rows).most_common(1)[0][0]
        differ = width == 0 or any(line.count(delimiter) != width for line in marked)
        if differ and (width == 0 or rows[0].count(delimiter) == width):  # what is left begins with the header
            return mark
    return None


def find_titles(rows: list[list[str]]) -> int:
    """Rows above the header of a sheet, which have fewer cells than all others; 0 for none.

    Args:
        rows: the first rows, each as wide as the sheet.
    """
    widths = [sum(bool(cell.strip()) for cell in row) for row in rows[:MOST_RECORDS]]
    common = Counter(widths).most_common(1)[0][0] if widths else 0
    first = widths.index(common) if common > 1 else 0
    names = [cell for cell in rows[first] if cell.strip()] if first else []
    is_header = bool(names) and not any(DATA_CELL.fullmatch(name.strip()) for name in names)
    return first if is_header and first <= MOST_TITLES and max(widths[:first]) < common else 0


def find_footer(text: str) -> int:
    """Number of lines at the end of a text that have fewer fields than all lines before them.

    Args:
        text: the last lines of a file.
    """
    lines = [line for line in text.splitlines() if line.strip() and line[0] not in "#%"][-MOST_RECORDS:]
    for delimiter in DELIMITERS:
        widths = [line.count(delimiter) for line in lines]
        common, _ = Counter(widths).most_common(1)[0] if widths else (0, 0)
        below = next((at for at, width in enumerate(reversed(widths)) if width == common), 0)
        rows = widths[: len(widths) - below]
        if common and 0 < below <= MOST_FOOTERS and rows.count(common) >= MOSTLY * len(rows):
            return below
    return 0
