"""`forecast plot`: forecasts as pictures, in the terminal or as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.completion import finished_runs
from forecast_attn.cli.flags import ConfigFile, Json, command_request, with_options
from forecast_attn.config.requests import PlotRequest


@with_options(PlotRequest)
def plot(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN|FILE]",
            help="Run directory, backtest.parquet or predictions.csv (default: the newest finished run).",
            autocompletion=finished_runs,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Table of the series (default: found through the run)."),
    ] = None,
    future: Annotated[
        Path | None,
        typer.Option(
            "--future", metavar="FUTURE", help="Table of the future values of covariates, for --kind attribution."
        ),
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    **options: Any,
) -> None:
    request = command_request(PlotRequest, config, options)
    from forecast_attn.errors import ConfigError
    from forecast_attn.plotting.picture import draw_picture
    from forecast_attn.plotting.sources import find_source

    if str(data) == str(future) == "-":
        raise ConfigError("--data and --future cannot both come from stdin", "--future FILE")
    picture = draw_picture(find_source(source, data, future), request)
    written = [path for path in (request.png, request.svg, request.animate) if path is not None]
    if json:
        printing.write_json(picture.to_dict())
        return
    if not written:
        from forecast_attn.cli.tables import make_console

        picture.print(make_console())
    else:
        for note in picture.notes:
            printing.say(f"note: {note}", err=True)
        for path in written:
            printing.say(f"picture: {path}")
