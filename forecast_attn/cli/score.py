"""`forecast score`: the rows of a table that lie outside the interval forecast for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.completion import finished_runs
from forecast_attn.cli.flags import ConfigFile, Json, Quiet, command_request, with_options
from forecast_attn.config.requests import ScoreRequest
from forecast_attn.config.values import percent
from forecast_attn.errors import ConfigError, shell_command

if TYPE_CHECKING:
    from forecast_attn.backtest.anomalies import AnomalyScores

SHOWN = 10
"""Flagged rows that are printed."""


@with_options(ScoreRequest)
def score(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Finished run.", autocompletion=finished_runs)],
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA", help="Table of the rows to score, with a lookback before them.", show_default=False
        ),
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    if data is None:
        rows = "the rows after the run's table and a lookback before them"
        raise ConfigError("there is no table to score", f"{shell_command('score', run, 'new.csv')}, with {rows}")
    request = command_request(ScoreRequest, config, options)
    from forecast_attn.cli.library import Forecaster
    from forecast_attn.runs.run_dir import RunDir

    forecaster = Forecaster.load(run)
    out = request.out or RunDir(forecaster.run_path).anomalies
    scores = forecaster.anomalies(data, **{**request.to_options(), "out": out})
    if json:
        printing.write_json({"run": str(forecaster.run_path), "file": str(out), **scores.to_dict()})
    else:
        _show(scores, out, quiet=quiet)


def _show(scores: AnomalyScores, out: Path, *, quiet: bool) -> None:
    from forecast_attn.cli.tables import make_console
    from forecast_attn.data.findings import counted

    console, notes, summary = make_console(), make_console(stderr=True, quiet=quiet), scores.summary
    for note in _notes(summary):
        notes.tell("note", note)
    if summary["inside_training"]:
        notes.tell("warning", "the run was trained on some of these rows, which it fits better than new ones")
    reference = summary["reference"]
    share = flagged_share(summary["flagged"], summary["rows"])
    console.say(
        f"{counted(summary['rows'], 'row')} from {summary['from']}: {summary['flagged']:,} flagged ({share}; "
        f"of normal rows {100 * summary['rate']:g} % or fewer)\n"
        f"reference: {counted(reference['rows'], 'row')}, {reference['from']} to {reference['until']}"
    )
    if summary["flagged"]:
        console.print(_table(scores))
    console.say(f"scores: {out}")


def flagged_share(flagged: int, rows: int) -> str:
    """`1.2 %`; from a tenth on in whole per cent."""
    share = flagged / rows if rows else 0.0
    return percent(share, 1 if 0 < share < 0.1 else 0)


def _notes(summary: dict[str, Any]) -> list[str]:
    """Remarks about rows and series that have no score."""
    from forecast_attn.data.findings import counted

    notes = []
    if summary["not_scored"]:
        reason = summary["unknown_future"] or "no whole lookback, or filled by interpolation"
        notes.append(f"{counted(summary['not_scored'], 'row')} without a score: {reason}")
    if summary["unseen_series"]:
        notes.append(f"training did not see {', '.join(map(repr, summary['unseen_series']))}: not scored")
    return notes


def _table(scores: AnomalyScores) -> Any:
    """The flagged rows that lie furthest outside."""
    from forecast_attn.cli.tables import plain_table
    from forecast_attn.forecasting.prediction_table import with_written_times

    names, numeric = ("item_id", "timestamp"), ("target", "lower", "upper", "score", "p_value")
    table = plain_table(*names, *numeric, left=names)
    for row in with_written_times(scores.flagged.head(SHOWN)).to_dict("records"):
        numbers = (f"{row[name]:.4g}" for name in numeric)
        table.add_row(str(row["item_id"]), str(row["timestamp"]), *numbers)
    return table
