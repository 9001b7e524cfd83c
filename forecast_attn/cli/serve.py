"""`forecast serve`: runs behind HTTP."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any

import typer

from forecast_attn.cli.completion import finished_runs
from forecast_attn.cli.flags import ConfigFile, Quiet, command_request, with_options
from forecast_attn.config.requests import ServeRequest


@with_options(ServeRequest)
def serve(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[[NAME=]RUN]...",
            help="Run directory, or a folder of runs, whose newest is served (default: runs/).",
            autocompletion=finished_runs,
        ),
    ] = None,
    config: ConfigFile = None,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    request = command_request(ServeRequest, config, options)
    from forecast_attn.cli.tables import make_console
    from forecast_attn.runs.run_dir import RUNS
    from forecast_attn.serving.logs import log_to_stderr
    from forecast_attn.serving.server import serve as serve_runs

    notes = make_console(stderr=True, quiet=quiet)
    log_to_stderr(quiet=quiet)
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C and SIGTERM are how a server ends
        serve_runs(
            runs or [RUNS],
            on_listening=lambda address: notes.say(f"serving at {address}"),
            **request.to_options(),
        )
