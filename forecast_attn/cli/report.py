"""`forecast report`: a run on one page that prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import ConfigFile, RunArgument, command_request, with_options
from forecast_attn.config.requests import ReportRequest


@with_options(ReportRequest)
def report(
    run: RunArgument = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Table of the training (default: found through the run)."),
    ] = None,
    config: ConfigFile = None,
    **options: Any,
) -> None:
    request = command_request(ReportRequest, config, options)
    from forecast_attn.cli.library import Forecaster
    from forecast_attn.cli.tables import make_console
    from forecast_attn.runs.run_dir import RunDir

    forecaster = Forecaster.load(run)
    if request.html is None and request.pdf is None:
        request = replace(request, html=RunDir(forecaster.run_path).report)
    notes = make_console(stderr=True)
    for note in forecaster.report(data, **request.to_options()).missing:
        notes.say(f"not shown: {note}")
    for path in (request.html, request.pdf):
        if path is not None:
            printing.say(f"report: {path}")
