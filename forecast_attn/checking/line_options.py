"""Options for the lines around the rows of a text, the likeliest first: of what its first and last lines show."""

from __future__ import annotations

from typing import Any

import pandas as pd

from forecast_attn.checking.line_evidence import (
    find_blanks,
    find_footer,
    find_header_rows,
    find_preamble,
    find_rules,
    find_titles_of_one_column,
    find_wide_titles,
    line_of_names,
)
from forecast_attn.data.reading.dialect import BLANKS, SAMPLE, Sample, find_delimiter
from forecast_attn.data.reading.encoding import encoding_of_start
from forecast_attn.data.reading.extra_lines import ExtraLines, naming_line, without_extra_lines
from forecast_attn.data.reading.source import Source
from forecast_attn.errors import DataError


def extra_line_options(text: Source, options: dict[str, Any], problem: object) -> tuple[dict[str, Any], ...]:
    """Options for a text with lines that are not rows, without a header, or with a header that names a column twice.

    Args:
        text: a file, or a sheet as text.
        options: that its sheet takes already.
        problem: the frame or the error that it is read as.
    """
    start, end = ends_of(text)
    above = options.get("skip_rows", 0)  # titles of a sheet
    ways = _ways_around("".join(start.splitlines(keepends=True)[above:]), end, problem)
    return tuple({**way, "skip_rows": above + way["skip_rows"]} if "skip_rows" in way else way for way in ways)


def _ways_around(start: str, end: str, problem: object) -> tuple[dict[str, Any], ...]:
    """The options for the first and the last lines of a text, below the titles of a sheet."""
    rules = find_rules(start)
    plain = _without_comments(start, rules["comment"], "\n") if rules else start
    above = find_preamble(plain) | rules
    blanks = find_blanks(plain)
    blanks |= rules if blanks else {}
    tried = (*_with_footer(blanks, end), *_with_footer(above, end), find_titles_of_one_column(start))
    likely = [each for each in tried if each]
    ways = [{**each, **named} for each in likely or [{}] if (named := _header_rows(start, each))]
    if isinstance(problem, pd.DataFrame) and problem.shape[1] > 1:  # what can be read may have titles, or longer names
        titles = find_wide_titles(start)
        as_wide = [{}, *(each for each in likely if set(each) == {"comment"})]  # titles have as many fields as rows
        named_ways = [{**each, **named} for each in as_wide if (named := _header_rows(start, each))]
        return (titles,) if titles else tuple(way for way in (*as_wide, *named_ways) if way)
    if isinstance(problem, DataError) and problem.code == "FA107" and problem.column is not None:
        return ()  # tables side by side
    return (*ways, *likely, {"header": False})


def _with_footer(above: dict[str, Any], end: str) -> tuple[dict[str, Any], ...]:
    """The options with the number of lines below the rows, where there are any, then without."""
    rows = _without_comments(end, above.get("comment"))  # as they are counted
    below = find_footer(_split_at_blanks(rows) if above.get("delimiter") == BLANKS else rows)
    return ({**above, "skip_footer": below}, above) if below else (above,)


def _without_comments(text: str, mark: str | None, instead: str = "") -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line if mark is None or not line.lstrip().startswith(mark) else instead for line in lines)


def _split_at_blanks(text: str) -> str:
    return "\n".join("\t".join(line.split()) for line in text.splitlines())


def _header_rows(start: str, options: dict[str, Any]) -> dict[str, Any]:
    """The option for names in several lines, where they are."""
    if options.get("header") is False:
        return {}
    lines = ExtraLines(options.get("skip_rows", 0), options.get("comment"))
    text = b"".join(without_extra_lines([start.encode()], lines)).decode()
    if options.get("delimiter") == BLANKS:
        text = _split_at_blanks(text)
    try:
        records = Sample(text, complete=True).records(find_delimiter(Sample(text, complete=True), ""))
    except DataError:
        return {}
    count = find_header_rows(records) if len(records) > 2 else 1
    at = line_of_names(records[:count], records[count:]) if count > 1 else 0
    if at is None:
        return {"header_rows": count}
    return {"skip_rows": _line_of(text, at) + lines.skip_rows} if at else {}


def _line_of(text: str, record: int) -> int:
    """The line of a record, both from 0, where blank lines may stand between records of one line each."""
    return [index for index, line in enumerate(text.split("\n")) if line.strip()][record]


def ends_of(source: Source) -> tuple[str, str]:
    """The first and the last text of a file, a letter for each byte of UTF-8, none of which ends a line."""
    start, end = (part.decode("latin-1").replace("\x85", "\x84") for part in ends_in_utf8(source))
    return start, end


def ends_in_utf8(source: Source) -> tuple[bytes, bytes]:
    """The first and the last bytes of a file, as UTF-8."""
    start, end, encoding = b"", b"", ""
    for chunk in source.chunks(SAMPLE):
        start, encoding = start or chunk, encoding or _encoding(chunk)
        end = (end + chunk)[-SAMPLE // 16 :]
    if encoding != "utf-8":
        start, end = (part.decode(encoding, "ignore").encode() for part in (start, end))
    return start[len(naming_line(start)[0]) :], end


def _encoding(start: bytes) -> str:
    """The encoding by the first bytes; UTF-8, in which ASCII is as in most others, where they do not tell it."""
    try:
        return encoding_of_start(start, "")
    except DataError:
        return "utf-8"
