"""`forecast check`: what is in a table, what is wrong with it, and how to fix it; `--fix` writes a repaired table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import ConfigFile, Json, Quiet, command_options, given_options, with_options
from forecast_attn.cli.next_commands import naming_commands
from forecast_attn.config.options import DataConfig, RunConfig
from forecast_attn.config.requests import CheckRequest
from forecast_attn.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forecast_attn.checking import CheckReport
    from forecast_attn.data.findings import Finding, Repair


@with_options(CheckRequest, DataConfig)
def check(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="Table: CSV, Parquet, Feather, JSON, Stata or spreadsheet, also at a URL; - for stdin.",
            show_default=False,
        ),
    ],
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    request_options = {name: options.pop(name) for name in CheckRequest.names() if name in options}
    request = CheckRequest.from_options(command_options("check", config, request_options, trains=True))
    form, out = _form(request.format, json), request.out
    _refuse_half_a_fix(data, request.fix, out, form)
    options = given_options(config, options)
    options.pop("out", None)  # of a configuration file, where it is the run directory
    commands: list[dict[str, Any]] = []
    obstacle: dict[str, Any] | None = None
    with naming_commands(data, options):
        data_config = RunConfig.from_options(options).data
        if out is not None:
            report = _fix(data, data_config, out, quiet)
        else:
            report, commands, obstacle = _check(data, data_config, options, quiet)
    if report.errors or not _is_stdout(out):
        has_next = not report.errors or bool(commands) or obstacle is not None
        again = None if has_next else _again(data, report.errors[0], options)
        _show(report, form, data_config, commands, obstacle, again)
    if report.errors:
        raise typer.Exit(1)


def _again(data: str, error: Finding, given: dict[str, Any]) -> str:
    """The command to type when a table that no command trains on has been corrected, or the file of nearly its name."""
    from forecast_attn.checking.proposal import check_command_text

    near = error.value if error.code == "FA101" else None
    return check_command_text(near or data, given)


def _form(form: str | None, json: bool) -> str:
    chosen = form or ("json" if json else "table")
    if json and chosen != "json":
        raise ConfigError(f"--json and --format {chosen} contradict each other", "leave one of them out")
    return chosen


def _refuse_half_a_fix(data: str, fix: bool, out: Path | None, form: str) -> None:
    if fix and out is None:
        raise ConfigError("--fix needs a file to write to", f"--fix --out clean.csv; '{data}' itself is never changed")
    if out is None:
        return
    if not fix:
        raise ConfigError("--out is where --fix writes to", "add --fix, or leave --out out")
    if _is_stdout(out) and form != "table":
        raise ConfigError(f"--out - and --format {form} both write to stdout", "--out FILE")
    if not _is_stdout(out):
        from forecast_attn.runs.output_paths import refuse_outputs

        refuse_outputs({"--out": out}, read=[data], forms={"--out": ".csv"})


def _is_stdout(out: Path | None) -> bool:
    return str(out) == "-"


def _check(
    data: str, config: DataConfig, given: dict[str, Any], quiet: bool
) -> tuple[CheckReport, list[dict[str, Any]], dict[str, Any] | None]:
    """Examine the table, and find the commands that train on it, or what stops its likeliest reading."""
    from forecast_attn.checking import examine
    from forecast_attn.checking.commands import find_commands
    from forecast_attn.checking.proposal import command_text
    from forecast_attn.cli.tables import make_console, reading_progress
    from forecast_attn.data.reading import fetched

    table = fetched(data)
    with reading_progress(make_console(stderr=True, quiet=quiet)) as progress:
        examination = examine(table, config, progress)
    proposals, obstacle = find_commands(table, config, examination)
    commands = [proposal.to_dict(command_text(data, given, proposal.options)) for proposal in proposals]
    shown = None if obstacle is None else {"command": obstacle.command(data, given), **obstacle.finding.to_dict()}
    return examination.to_report(), commands, shown


def _fix(data: str, config: DataConfig, out: Path, quiet: bool) -> CheckReport:
    """Write the repaired table if it can be repaired, and report what is left or what prevents it."""
    from forecast_attn.checking.fix import fix_table
    from forecast_attn.data.reading import fetched

    report, fixed = fix_table(fetched(data), config)
    if fixed is None:
        return report
    if _is_stdout(out):
        printing.write_table(fixed.csv)
    else:
        from forecast_attn.runs.atomic import write_atomically

        write_atomically(out, fixed.csv)
    _show_repairs(fixed.repairs, out, quiet)
    return fixed.report.of(str(out))


def _show_repairs(repairs: Sequence[Repair], out: Path, quiet: bool) -> None:
    from forecast_attn.cli.findings_display import repair_table
    from forecast_attn.cli.tables import make_console
    from forecast_attn.data.findings import counted

    console = make_console(stderr=True, quiet=quiet)
    if repairs:
        console.print(repair_table(repairs))
    done = counted(len(repairs), "repair") if repairs else "nothing to repair"
    if any(repair.kind == "missing: interpolate" for repair in repairs):
        console.say("interpolated values look like measured ones there; to score forecasts, train on the original")
    console.say(f"{'stdout' if _is_stdout(out) else out}: {done}")


def _show(
    report: CheckReport,
    form: str,
    config: DataConfig,
    commands: list[dict[str, Any]],
    obstacle: dict[str, Any] | None,
    again: str | None,
) -> None:
    if form == "json":
        printing.write_json({**report.to_dict(), "commands": commands, "obstacle": obstacle, "again": again})
    elif form == "github":
        from forecast_attn.checking.locations import locations_of
        from forecast_attn.cli.findings_display import annotation

        locations = locations_of(report.path, config, report.findings)
        for finding, location in zip(report.findings, locations, strict=True):
            printing.say(annotation(finding, location))
    else:
        from forecast_attn.cli.findings_display import show_report
        from forecast_attn.cli.tables import make_console

        show_report(report, make_console(), commands, obstacle, again)
