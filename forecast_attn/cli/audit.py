"""`forecast audit`: tests of whether the attention weights of a run can be believed, and which columns it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import ConfigFile, Json, Quiet, RunArgument, command_request, with_options
from forecast_attn.config.requests import AuditRequest

if TYPE_CHECKING:
    from forecast_attn.audit import AuditListener


@with_options(AuditRequest)
def audit(
    run: RunArgument = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="The table it was trained on (default: the recorded file)."),
    ] = None,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="Print every number of the experiments; audit.json always has them.")
    ] = False,
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    request = command_request(AuditRequest, config, options)
    from forecast_attn.cli.library import Forecaster
    from forecast_attn.runs.run_dir import RunDir

    forecaster = Forecaster.load(run)
    target = request.out or RunDir(forecaster.run_path).audit
    with _progress(quiet=quiet) as listener:
        result = forecaster.audit(data, listener=listener, **{**request.to_options(), "out": target})
    if json:
        printing.write_json(result.to_dict())
        return
    from forecast_attn.audit.render import render
    from forecast_attn.cli.tables import make_console

    render(result, make_console(), numbers=numbers)
    printing.say(f"\naudit: {target}")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[AuditListener]:
    """Show on stderr the amount of work and, on a terminal, the progress."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from forecast_attn.audit import AuditListener, AuditPlan
    from forecast_attn.cli.tables import make_console

    console = make_console(stderr=True, quiet=quiet)
    columns = (TextColumn("auditing"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("auditing", total=None)

        def planned(plan: AuditPlan) -> None:
            console.say(f"audit: {plan}")
            bar.update(task, total=plan.forecasts)

        yield AuditListener(planned=planned, advanced=lambda forecasts: bar.advance(task, forecasts))
