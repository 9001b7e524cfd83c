"""`forecast evaluate`: how good any table of forecasts was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import Json, Quiet, with_options

if TYPE_CHECKING:
    from forecast_attn.evaluation.evaluate import Evaluation

READING = ("target", "time", "item_id", "freq", "tz", "date_format", "delimiter", "decimal", "encoding", "wide")


@with_options("data", only=READING)
def evaluate(
    forecasts: Annotated[
        list[str],
        typer.Argument(
            metavar="FORECASTS...", help="Tables of forecasts: ours, or a time column and one column per model."
        ),
    ],
    actuals: Annotated[str, typer.Option("--actuals", metavar="FILE", help="Table with the actual values.")],
    model_columns: Annotated[
        str | None, typer.Option("--model-columns", metavar="A,B", help="Columns that are forecasts; found if absent.")
    ] = None,
    metrics: Annotated[
        str | None, typer.Option("--metrics", metavar="NAMES", help="Metrics, such as mae,rmse; all if absent.")
    ] = None,
    by: Annotated[
        str, typer.Option("--by", metavar="GROUPS", help="overall, step, item_id, hour, weekday, cutoff, or several.")
    ] = "overall",
    season: Annotated[
        int | None, typer.Option("--season", metavar="N", min=1, help="Steps of a season; by frequency if absent.")
    ] = None,
    block: Annotated[
        int | None,
        typer.Option("--block", metavar="N", min=1, help="Steps per forecast in a table without cut-offs."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option("--reference", metavar="MODEL", help="Model to compare with; seasonal-naive if absent."),
    ] = None,
    norm: Annotated[
        int, typer.Option("--norm", metavar="N", min=1, max=2, help="Norm of a cut-off's errors in the tests: 1 or 2.")
    ] = 1,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Scores to write: .csv, or .json with the tests.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Score tables of forecasts, whoever made them: errors, skill, and whether differences are significant."""
    from forecast_attn.evaluation import evaluate as scorer

    _refuse_target(out, forecasts, actuals)
    evaluation = scorer.evaluate(
        [_table(name) for name in forecasts],
        _table(actuals),
        model_columns=_names(model_columns),
        metrics=_names(metrics) or None,
        by=_names(by),
        season=season,
        block=block,
        reference=reference,
        norm=norm,
        **options,
    )
    if out is not None:
        from forecast_attn.runs.atomic import write_atomically

        write_atomically(out, _document(evaluation) if out.suffix == ".json" else evaluation.scores.to_csv(index=False))
    if json:
        printing.write_json(evaluation.to_dict())
    else:
        _show(evaluation, quiet)


def _table(name: str) -> str | Path:
    return name if name == "-" else Path(name)


def _names(text: str | None) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()


def _refuse_target(out: Path | None, forecasts: list[str], actuals: str) -> None:
    from forecast_attn.errors import ConfigError

    if [*forecasts, actuals].count("-") > 1:
        raise ConfigError("forecasts and actuals cannot both come from stdin", "--actuals FILE")
    if out is None:
        return
    if out.suffix not in (".csv", ".json"):
        raise ConfigError(f"--out '{out}' is neither .csv nor .json", "--out scores.csv")
    if out.exists() and any(Path(name).exists() and out.samefile(name) for name in (*forecasts, actuals)):
        raise ConfigError(f"--out '{out}' is a table that is read", "--out scores.csv")


def _document(evaluation: Evaluation) -> str:
    from json import dumps

    return dumps(evaluation.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _show(evaluation: Evaluation, quiet: bool) -> None:
    """Scores and tests on stdout, what there is to know about them on stderr."""
    from forecast_attn.cli.evaluation_display import left_out_lines, score_tables, tests_table
    from forecast_attn.cli.tables import make_console

    console, notes = make_console(), make_console(stderr=True, quiet=quiet)
    for note in (*evaluation.notes, *left_out_lines(evaluation.scores)):
        notes.print(f"note: {note}", soft_wrap=True)
    for index, table in enumerate(score_tables(evaluation.scores)):
        if index:
            console.print()
        console.print(table)
    if len(evaluation.tests):
        console.print()
        console.print(tests_table(evaluation.tests))
    if evaluation.reference is not None:
        about = f", {evaluation.season} steps back" if evaluation.reference == "seasonal-naive" else ""
        console.print(f"\nskill: against {evaluation.reference}{about}", soft_wrap=True)
