"""Prints an audit in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from forecast_attn.audit.audit_results import (
    Audit,
    AuditHeader,
    Check,
    CovariateImportance,
    Importance,
    Statistic,
    Verdict,
)
from forecast_attn.audit.wording import number, per_cent, signed
from forecast_attn.config.values import percent
from forecast_attn.data.sessions import base_alias

MARKS = {True: ("pass", "green"), False: ("fail", "red"), None: ("note", "yellow")}
COLOURS = {"faithful": "green", "partly faithful": "yellow", "not faithful": "red"}
LEFT_TO_JSON = ("_spearman", "max_weight_correlation", "largest_jensen_shannon")
"""Ends of the names of numbers that the document has and the table leaves out."""


def render(audit: Audit, console: Console, *, numbers: bool = False) -> None:
    """Print verdict, checks and covariates, and the numbers of the checks if wished; the document has everything."""
    console.print(_about(audit.header))
    if audit.verdict is not None:
        _render_verdict(audit.verdict, audit.header, console)
        console.print(_check_table(audit.checks))
        if numbers:
            console.print()
            console.print(_number_table(audit.checks))
    if audit.covariates is not None:
        _render_covariates(audit.covariates, console)


def _about(header: AuditHeader) -> str:
    looked = f"{header.windows:,} of {header.windows_available:,} validation windows"
    patches = f" in patches of {header.patch_length}" if header.patch_length > 1 else ""
    sizes = f"lookback {header.lookback}{patches}, horizon {header.horizon}, step {base_alias(header.frequency)}"
    errors = f"MAE {number(header.mae)} of '{header.target}', whose standard deviation is {number(header.scale)}"
    return f"{header.mechanism}, {looked} ({header.first_cutoff} to {header.last_cutoff}), {sizes}; {errors}\n"


def _render_verdict(verdict: Verdict, header: AuditHeader, console: Console) -> None:
    console.print(Text.assemble((verdict.level, f"bold {COLOURS[verdict.level]}"), f": {verdict.sentence}"))
    if header.looks and verdict.level != "not faithful" and header.network_share != 0:
        console.print(f"it looks {header.looks}", highlight=False)
    caveats = Table.grid(padding=(0, 1))
    for caveat in verdict.caveats:
        caveats.add_row("  -", caveat)
    console.print(caveats)
    console.print()


def _check_table(checks: list[Check]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("", "experiment", "what it says"):
        table.add_column(heading, overflow="fold")
    for check in checks:
        mark, colour = MARKS[check.passed]
        table.add_row(Text(mark, colour), check.title, check.verdict)
    return table


def _number_table(checks: list[Check]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("experiment")
    table.add_column("number", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("random explanations", justify="right", no_wrap=True)
    for check in checks:
        title = check.title
        for statistic in check.statistics:
            if not statistic.name.endswith(LEFT_TO_JSON):
                table.add_row(title, statistic.label, _value(statistic, statistic.value), _yardstick(statistic))
                title = ""
    return table


def _value(statistic: Statistic, value: float) -> str:
    if value != value:
        return "–"
    if statistic.unit == "share":
        return percent(value, 1) if 0.99 < value < 1 else f"{number(100 * value)} %"
    changes = statistic.name.startswith(("mae_change",))
    return signed(value) if changes else number(value)


def _yardstick(statistic: Statistic) -> str:
    """5 % to 95 % of the draws."""
    if statistic.yardstick is None:
        return ""
    low, high = (_value(statistic, value) for value in (statistic.yardstick.low, statistic.yardstick.high))
    return f"{low} … {high}"


def _render_covariates(covariates: CovariateImportance, console: Console) -> None:
    console.print(f"\ncovariates: {covariates.verdict}\n")
    table = Table(box=None, pad_edge=False)
    table.add_column("permuted", overflow="fold")
    table.add_column("kind")
    for heading in ("rise of the MAE", "in per cent", "in repeats", "a column of noise", ""):
        table.add_column(heading, justify="right")
    for group in covariates.groups:
        name = {"target": "its own past", "calendar": "calendar"}.get(group.group, f"all {group.group}")
        table.add_row(name, *_importance_cells(group))
    for column in covariates.columns:
        table.add_row(column.name, *_importance_cells(column))
    console.print(table)


def _importance_cells(importance: Importance) -> list[str]:
    noise = "–"
    if importance.noise_high == importance.noise_high:
        noise = f"{signed(importance.noise_low)} … {signed(importance.noise_high)}"
    return [
        importance.group,
        signed(importance.mae_change),
        per_cent(importance.relative),
        f"{signed(importance.low)} … {signed(importance.high)}",
        noise,
        importance.conclusion,
    ]
