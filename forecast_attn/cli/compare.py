"""`forecast compare`: several attention mechanisms trained alike, and a leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.completion import resumable_comparisons
from forecast_attn.cli.flags import (
    ConfigFile,
    Json,
    Quiet,
    TableArgument,
    refuse_with_resume,
    search_options,
    with_options,
)
from forecast_attn.cli.signals import with_resume_hint
from forecast_attn.config.requests import TRAINING, CompareRequest, Sharing
from forecast_attn.errors import ConfigError, shell_command


@with_options(CompareRequest, *TRAINING)
def compare(
    data: TableArgument = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="DIR",
            help="Continue an interrupted comparison; takes no other option but --jobs and --engine.",
            autocompletion=resumable_comparisons,
        ),
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    if resume is not None:
        refuse_with_resume({"config": config, **options}, "a comparison", Sharing.names())
        options = CompareRequest.checked(options)
    else:
        options = _checked(data, config, options)

    from forecast_attn.cli.comparison_display import ComparisonDisplay, show_comparison

    display = ComparisonDisplay(quiet=quiet)
    display.say("loading" if resume is None else f"resuming {resume}")
    from forecast_attn.comparison.compare import compare as compare_mechanisms
    from forecast_attn.comparison.compare import resume_comparison

    folder = options["out"] if resume is None else resume
    with with_resume_hint(lambda: _resume_command(folder)), display:
        if resume is not None:
            comparison = resume_comparison(resume, data, listener=display, **options)
        else:
            assert data is not None
            comparison = compare_mechanisms(data, listener=display, **options)
    if json:
        printing.write_json({"comparison": str(folder), **comparison.to_dict()})
    else:
        show_comparison(comparison, folder)


def _checked(data: Path | None, config: Path | None, options: dict[str, Any]) -> dict[str, Any]:
    """The options of file and command line; a wrong one is reported before anything heavy is loaded."""
    from forecast_attn.comparison.comparison_plan import ComparisonPlan
    from forecast_attn.runs.run_dir import fresh_path

    if data is None:
        raise ConfigError("there is no table to train on", "forecast compare data.csv --attention none,luong-general")
    request, shared = search_options(CompareRequest, config, options)
    ComparisonPlan.of(request, **shared)
    return {**shared, **request.to_options(), "out": request.out or fresh_path("comparison")}


def _resume_command(folder: Path) -> str | None:
    from forecast_attn.comparison.comparison_plan import ComparisonDir

    again = shell_command("compare", "--resume", folder)
    return f"continue with: {again}" if ComparisonDir(folder).plan.is_file() else None
