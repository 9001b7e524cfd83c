"""`forecast inspect`: what the attention weights say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.completion import finished_runs
from forecast_attn.cli.flags import ConfigFile, Json, command_request, with_options
from forecast_attn.config.requests import InspectRequest

if TYPE_CHECKING:
    from forecast_attn.inspection.differences import WeightComparison
    from forecast_attn.inspection.results import Inspection

PICTURES = ("png", "svg")


@with_options(InspectRequest)
def inspect(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN|FILE]",
            help="Run directory or attention file (default: the newest finished run).",
            autocompletion=finished_runs,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Table of the series to draw (default: found through the run)."),
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    **options: Any,
) -> None:
    request = command_request(InspectRequest, config, options)
    from forecast_attn.inspection.inspect import check_combination, check_targets, find_attention, inspect_source

    check_combination(request, has_table=data is not None)
    attention = find_attention(source, validation=request.validation)
    if attention.is_stand_in and not request.validation:
        printing.say("no forecast yet: showing the run's validation windows", err=True)
    check_targets(attention, request, data)
    result, notes = inspect_source(attention, request, data)
    for note in notes:
        printing.say(note, err=True)
    if json:
        printing.write_json(result.to_dict())
    else:
        _print(result, request)


def _print(result: Inspection | WeightComparison, request: InspectRequest) -> None:
    from forecast_attn.cli.tables import make_console
    from forecast_attn.inspection.inspect import WRITTEN
    from forecast_attn.inspection.results import Inspection
    from forecast_attn.inspection.terminal import render, render_comparison

    if not isinstance(result, Inspection):
        render_comparison(result, make_console())
    else:
        render(result, make_console())
    for name in WRITTEN:
        path = getattr(request, name)
        if path is not None:
            kind = "picture" if name in PICTURES else "page" if name == "html" else name
            printing.say(f"{kind}: {path}")
