"""`forecast plot`: forecasts as pictures, in the terminal or as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import Json
from forecast_attn.plotting.picture import KINDS, check_choice_of, check_targets, picture_of


def plot(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN|FILE]",
            help="Run directory, backtest.parquet or predictions.csv; the newest finished run when absent.",
        ),
    ] = None,
    kind: Annotated[str, typer.Option("--kind", metavar="NAME", help=f"What to draw ({', '.join(KINDS)}).")] = KINDS[0],
    item: Annotated[
        list[str] | None, typer.Option("--item", metavar="NAME", help="Only this series; repeatable.")
    ] = None,
    cutoff: Annotated[
        str | None,
        typer.Option("--cutoff", metavar="TIME", help="Forecast of this cut-off; the last of each series when absent."),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="NAME", help="Only this model of a backtest; repeatable.")
    ] = None,
    history: Annotated[
        int | None,
        typer.Option(
            "--history", metavar="N", min=0, help="Steps before the cut-off; four horizons, at least 24, when absent."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Table of the series; found through the run when absent."),
    ] = None,
    png: Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Write the picture.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="The same picture, scalable.")] = None,
    json: Json = False,
) -> None:
    """Draw forecasts with their intervals, the error by step, or the calibration of the quantiles."""
    pictures = {"png": png, "svg": svg}
    check_choice_of(kind, cutoff=cutoff, history=history)
    check_targets(pictures, {"the table of forecasts": source, "--data": data})
    from forecast_attn.plotting.sources import PlotChoice, find_source

    picture = picture_of(kind, find_source(source), PlotChoice(item or [], model or [], cutoff, history, data))
    written = [path for path in pictures.values() if path is not None]
    if written:
        picture.save(*written)
    if json:
        _write_json(picture.to_dict())
        return
    if not written:
        from forecast_attn.cli.tables import make_console

        picture.print(make_console())
    else:
        _say(picture.notes, written)


def _say(notes: list[str], written: list[Path]) -> None:
    """Print the paths of the pictures, and notes on what they leave out."""
    for note in notes:
        printing.say(f"note: {note}", err=True)
    for path in written:
        printing.say(f"picture: {path}")


def _write_json(document: dict[str, Any]) -> None:

    printing.write_json(document)
