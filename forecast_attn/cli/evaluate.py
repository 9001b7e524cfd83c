"""`forecast evaluate`: how good any table of forecasts was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import ConfigFile, Json, Quiet, command_options, given_options, with_options
from forecast_attn.config.options import DataConfig
from forecast_attn.config.requests import READING, EvaluateRequest

if TYPE_CHECKING:
    from forecast_attn.evaluation.evaluate import Evaluation


@with_options(EvaluateRequest, DataConfig, only=READING)
def evaluate(
    forecasts: Annotated[
        list[str],
        typer.Argument(
            metavar="FORECASTS...",
            help="Tables of forecasts: from forecast-attn, or with a time column and one column per model.",
        ),
    ],
    actuals: Annotated[str, typer.Option("--actuals", metavar="FILE", help="Table with the actual values.")],
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    from forecast_attn.evaluation import evaluate as scorer

    given = {name: options.pop(name) for name in EvaluateRequest.names() if name in options}
    reading = {name: value for name, value in given_options(config, options).items() if name in READING}
    request = EvaluateRequest.from_options(command_options("evaluate", config, given, trains=bool(reading)))
    tables = [_table(name) for name in forecasts]
    evaluation = scorer.evaluate(tables, _table(actuals), **request.to_options(), **reading)
    if json:
        printing.write_json(evaluation.to_dict())
    else:
        _show(evaluation, quiet)


def _table(name: str) -> str | Path:
    return name if name == "-" else Path(name)


def _show(evaluation: Evaluation, quiet: bool) -> None:
    """Scores and tests on stdout, what there is to know about them on stderr."""
    from forecast_attn.cli.evaluation_display import left_out_lines, score_tables, tests_table
    from forecast_attn.cli.tables import make_console

    console, notes = make_console(), make_console(stderr=True, quiet=quiet)
    for note in (*evaluation.notes, *left_out_lines(evaluation.scores)):
        notes.say(f"note: {note}")
    for index, table in enumerate(score_tables(evaluation.scores)):
        if index:
            console.print()
        console.print(table)
    if len(evaluation.tests):
        console.print()
        console.print(tests_table(evaluation.tests))
    if evaluation.reference is not None:
        about = f", {evaluation.season} steps back" if evaluation.reference == "seasonal-naive" else ""
        console.say(f"\nskill: against {evaluation.reference}{about}")
