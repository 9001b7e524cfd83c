"""`forecast check`: what is in a table, what is wrong with it, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forecast_attn.cli.options import ConfigFile, Json, given_options, with_options
from forecast_attn.config import RunConfig

if TYPE_CHECKING:
    from rich.console import Console

    from forecast_attn.data.findings import CheckReport

MOST_SERIES = 20


@with_options("data")
def check(
    data: Annotated[Path, typer.Argument(help="CSV file: one row per time step.", show_default=False)],
    config: ConfigFile = None,
    json: Json = False,
    **options: Any,
) -> None:
    """Say what a CSV holds and what is wrong with it. Exits with 1 when training would refuse it."""
    options = given_options(config, options)
    options.pop("out", None)
    run_config = RunConfig.from_options(options)

    from forecast_attn.data.findings import check_table

    report = check_table(data, run_config.data)
    if json:
        import sys
        from json import dumps

        sys.stdout.write(dumps(report.to_dict(), indent=1, ensure_ascii=False) + "\n")
    else:
        from forecast_attn.cli.tables import make_console

        _render(report, make_console())
    if report.errors:
        raise typer.Exit(1)


def _render(report: CheckReport, console: Console) -> None:
    console.print(f"{report.path}: {report.rows:,} rows", markup=False, soft_wrap=True)
    if report.frequency is not None:
        frequency = report.frequency
        console.print(f"step {frequency.alias} ({frequency.evidence}), season {frequency.season}", soft_wrap=True)
    if report.roles is not None:
        from forecast_attn.cli.tables import role_table

        console.print()
        console.print(role_table(report.roles))
    if report.series:
        console.print()
        console.print(_series_table(report))
    console.print()
    _render_findings(report, console)


def _series_table(report: CheckReport) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    headings = ("series", "first", "last", "rows", "future", "missing", "gaps", "duplicates", "lowest", "highest")
    for position, heading in enumerate(headings):
        table.add_column(heading, justify="left" if position < 3 else "right", overflow="fold")
    for series in report.series[:MOST_SERIES]:
        counts = (series.rows, series.future_rows, series.missing, series.gaps, series.duplicates)
        ends = (series.lowest, series.highest)
        table.add_row(
            series.item_id,
            series.first,
            series.last,
            *("-" if count is None else f"{count:,}" for count in counts),
            *("-" if value is None else f"{value:g}" for value in ends),
        )
    if len(report.series) > MOST_SERIES:
        table.add_row(f"… {len(report.series) - MOST_SERIES:,} more")
    return table


def _render_findings(report: CheckReport, console: Console) -> None:
    for finding in report.findings:
        console.print(f"{finding.code} {finding.severity}: {finding.message}", markup=False, soft_wrap=True)
        if finding.hint is not None:
            console.print(f"      hint: {finding.hint}", markup=False, soft_wrap=True)
    verdict = "cannot be trained on as it is" if report.errors else "ready to train"
    console.print(f"{report.path}: {verdict}", markup=False, soft_wrap=True)
