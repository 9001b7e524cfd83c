"""Tables of findings for `forecast check`, and of repairs for every command."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from forecast_attn.cli.tables import PipedConsole, plain_table, role_table
from forecast_attn.data.findings import Finding, all_codes

if TYPE_CHECKING:
    from forecast_attn.checking import CheckReport, SeriesSummary
    from forecast_attn.data.findings import Repair


MOST_SERIES = 20
MOST_REPAIRS = 20
MOST_OF_A_CODE = 20
"""Findings of one code that are listed; a table may have one for each of thousands of columns."""


def show_report(
    report: CheckReport,
    console: PipedConsole,
    commands: Sequence[Mapping[str, Any]],
    obstacle: Mapping[str, Any] | None,
    again: str | None = None,
) -> None:
    """Roles, series, repairs and findings of a table, and the commands that train on it, or what stops them all.

    Args:
        report: of the table.
        console: where it is printed.
        commands: that train on the table.
        obstacle: of its likeliest reading, where there are none.
        again: the command to type when the table has been corrected, where there is neither.
    """
    console.say(f"{report.path}: {report.rows:,} rows")
    if report.frequency is not None:
        frequency = report.frequency
        console.say(f"step {frequency.base} ({frequency.evidence}), season {frequency.season}")
    if report.roles is not None:
        console.print()
        console.print(role_table(report.roles))
    if report.series:
        _show_series(report.series, console)
    if report.repairs:
        console.print()
        console.print(repair_table(report.repairs))
    console.print()
    _show_findings(report, console)
    if commands:
        console.say("\ntrain on it with:" if len(commands) == 1 else "\ntrain on it with one of:")
    for each in commands:
        console.say(f"  {each['command']}\n      forecasts {each['forecasts']}")
    if obstacle is not None:
        console.say("\nno command trains on it yet; to see what stops its likeliest reading:")
        console.say(f"  {obstacle['command']}\n      {obstacle['code']}: {obstacle['message']}")
        console.say(f"      fix: {obstacle['fix']}")
    if again is not None:
        console.say(f"\nwhen you have corrected that:\n  {again}")


def repair_table(repairs: Sequence[Repair]) -> Table:
    """Table of repairs: kind, series and column, count, and first position."""
    names = ("repair", "series", "column")
    table = plain_table(*names, "times", "first", left=(*names, "first"))
    for repair in repairs[:MOST_REPAIRS]:
        count = None if repair.count is None else f"{repair.count:,}"
        cells = (repair.kind, repair.item_id, repair.column, count, repair.first)
        table.add_row(*("" if cell is None else cell for cell in cells))
    rest = repairs[MOST_REPAIRS:]
    if rest:
        table.add_row(f"… {len(rest):,} more", "", "", f"{sum(repair.count or 0 for repair in rest):,}", "")
    return table


SPANS, COUNTS = ("first", "last", "lowest", "highest"), ("rows", "future", "missing", "gaps", "duplicates")
"""Columns of the table of series: in two tables where one is too wide."""


def _show_series(series: Sequence[SeriesSummary], console: PipedConsole) -> None:
    whole = _series_table(series, ("first", "last", *COUNTS, "lowest", "highest"))
    fits = console.measure(whole, options=console.options.update(width=10_000)).maximum <= console.width
    for table in [whole] if fits else [_series_table(series, SPANS), _series_table(series, COUNTS)]:
        console.print()
        console.print(table)


def _series_table(series: Sequence[SeriesSummary], headings: Sequence[str]) -> Table:
    table = plain_table("series", *headings, left=("series", "first", "last"), whole=headings)
    for one in series[:MOST_SERIES]:
        numbers = {"rows": one.rows, "future": one.future_rows, "missing": one.missing, "gaps": one.gaps}
        numbers |= {"duplicates": one.duplicates}
        cells = {name: "-" if count is None else f"{count:,}" for name, count in numbers.items()}
        ends = {"lowest": one.lowest, "highest": one.highest}
        cells |= {name: "-" if value is None else f"{value:g}" for name, value in ends.items()}
        cells |= {"first": one.first, "last": one.last}
        table.add_row(one.item_id, *(cells[heading] for heading in headings))
    if len(series) > MOST_SERIES:
        table.add_row(f"… {len(series) - MOST_SERIES:,} more")
    return table


def _show_findings(report: CheckReport, console: PipedConsole) -> None:
    counts: Counter[str] = Counter()
    shown = []
    for finding in report.findings:
        counts[finding.code] += 1
        shown += [finding] if counts[finding.code] <= MOST_OF_A_CODE else []
    for fix, findings in itertools.groupby(shown, lambda finding: finding.fix):  # once below all that it mends
        for finding in findings:
            console.say(f"{finding.code} {finding.severity}: {finding.message}")
        console.say(f"      fix: {fix}")
    for code, count in counts.items():
        if count > MOST_OF_A_CODE:
            console.say(f"{code}: {count - MOST_OF_A_CODE:,} more; --json lists them all")
    verdict = "cannot be trained on as it is" if report.errors else "ready to train"
    console.say(f"{report.path}: {verdict}")
    if report.findings:
        console.say(f"forecast explain {report.findings[0].code} says more")


# --------------------------------------------------------------------------- annotations


COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def annotation(finding: Finding, location: tuple[int, int] | None) -> str:
    """Return a finding as a workflow command of GitHub, which shows it beside its line of the file.

    Args:
        finding: its file must be named as the repository does.
        location: line and character column in the file, both from 1; None for the file as a whole.
    """
    properties = {"file": finding.file or "", "title": f"{finding.code}: {all_codes()[finding.code].title}"}
    if location is not None:
        properties |= {"line": str(location[0]), "col": str(location[1])}
    message = f"{finding.message}\n{finding.fix}"
    return f"::{COMMANDS[finding.severity]} {_properties(properties)}::{_data(message)}"


def _properties(values: Mapping[str, str]) -> str:
    order = ("file", "line", "col", "title")
    return ",".join(f"{name}={_property(values[name])}" for name in order if name in values)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
