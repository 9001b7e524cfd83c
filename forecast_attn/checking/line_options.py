"""Options for the lines around the rows of a text, the likeliest first: of what its first and last lines show."""

from __future__ import annotations

from typing import Any

import pandas as pd

from forecast_attn.checking.blank_evidence import find_blanks
from forecast_attn.checking.header_evidence import find_header_rows, line_of_names
from forecast_attn.checking.line_evidence import (
    find_footer,
    find_preamble,
    find_rules,
    find_titles_of_one_column,
    find_unnamed_rows,
    find_wide_titles,
    first_lines,
)
from forecast_attn.data.reading.dialect import BLANKS, SAMPLE, Sample, find_delimiter, split_at_blanks
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
    if isinstance(problem, DataError) and problem.code == "FA107" and problem.column is not None:
        return ()  # tables side by side
    rules = find_rules(start)
    plain = _without_comments(start, rules["comment"], "\n") if rules else start
    above, blanks = find_preamble(plain) | rules, find_blanks(plain)
    ways = (*_with_footer(blanks | rules, end), *_with_footer(above, end)) if blanks else _with_footer(above, end)
    others = (find_titles_of_one_column(start), find_unnamed_rows(start))
    likely = [way for way in (*ways, *others) if way]
    if isinstance(problem, pd.DataFrame) and problem.shape[1] > 1:  # what can be read may have titles, or longer names
        titles = find_wide_titles(start)
        comments = [way for way in likely if set(way) == {"comment"}]
        return _with_footer(titles, end) if titles else (*comments, *_with_header_rows(start, [{}, *comments]))
    return (*_with_header_rows(start, likely or [{}]), *likely, {"header": False})


def _with_header_rows(start: str, ways: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The options below which names stand in several lines, with the option for these."""
    return [{**way, **named} for way in ways if (named := _header_rows(start, way))]


def _with_footer(above: dict[str, Any], end: str) -> tuple[dict[str, Any], ...]:
    """The options with the number of lines below the rows, where there are any, then without."""
    rows = _without_comments(end, above.get("comment"))  # as they are counted
    below = find_footer(split_at_blanks(rows)[0] if above.get("delimiter") == BLANKS else rows)
    return ({**above, "skip_footer": below}, above) if below else (above,)


def _without_comments(text: str, mark: str | None, instead: str = "") -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line if mark is None or not line.lstrip().startswith(mark) else instead for line in lines)


def _header_rows(start: str, options: dict[str, Any]) -> dict[str, Any]:
    """The option for names in several lines, where they are."""
    if options.get("header") is False:
        return {}
    lines = ExtraLines(options.get("skip_rows", 0), options.get("comment"))
    text = b"".join(without_extra_lines([start.encode()], lines)).decode()
    if options.get("delimiter") == BLANKS:
        text = split_at_blanks(text)[0]
    try:
        records = Sample(text, complete=True).records(find_delimiter(Sample(text, complete=True), ""))
    except DataError:
        return {}
    count = find_header_rows(records) if len(records) > 2 else 1
    at = line_of_names(records[:count], records[count:]) if count > 1 else 0
    if at is None:
        return {"header_rows": count}
    return {"skip_rows": first_lines(text)[at].number + lines.skip_rows} if at else {}


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
