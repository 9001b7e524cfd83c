"""`forecast ui`: a folder of runs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import ConfigFile, command_request, with_options
from forecast_attn.config.requests import UiRequest


@with_options(UiRequest)
def ui(
    runs: Annotated[
        Path | None,
        typer.Argument(metavar="[RUNS]", help="Folder of runs (default: runs/)."),
    ] = None,
    config: ConfigFile = None,
    **options: Any,
) -> None:
    request = command_request(UiRequest, config, options)
    from forecast_attn.live.runs_server import ui as show_runs
    from forecast_attn.runs.run_dir import RUNS

    show_runs(runs or RUNS, on_listening=_print_address, **request.to_options())
    printing.say("stopped", err=True)


def _print_address(url: str) -> None:
    printing.say(url)
    printing.say("Ctrl-C ends it", err=True)
    import sys

    sys.stdout.flush()  # a pipe's reader waits for the address
