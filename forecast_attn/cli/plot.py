"""`forecast plot`: forecasts as pictures, in the terminal or as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forecast_attn.cli.options import Json

if TYPE_CHECKING:
    from forecast_attn.plotting.sources import PlotChoice, PlotSource

KINDS = ("forecast", "error-by-step", "calibration")


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
    """Draw forecasts with their intervals, the error by step, or the calibration of the levels."""
    pictures = {"png": png, "svg": svg}
    _check_options(kind, cutoff=cutoff, history=history)
    _check_pictures(pictures, {"the table of forecasts": source, "--data": data})
    from forecast_attn.plotting.sources import PlotChoice, find_source

    choice = PlotChoice(item or [], model or [], cutoff, history, data)
    shown, figure, render = _parts(kind, find_source(source), choice)
    written = [path for path in pictures.values() if path is not None]
    if written:
        from forecast_attn.plotting.pictures import save_figure

        drawn = figure(shown)
        for path in written:
            save_figure(drawn, path)
    if json:
        _write_json(shown.to_dict())
        return
    if not written:
        from forecast_attn.cli.tables import make_console

        render(shown, make_console())
    else:
        _say(shown.notes, written)


def _say(notes: list[str], written: list[Path]) -> None:
    """Where the pictures are, and what they do not show."""
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    for path in written:
        typer.echo(f"picture: {path}")


def _parts(kind: str, source: PlotSource, choice: PlotChoice) -> tuple[Any, Any, Any]:
    """What is drawn, how it becomes a figure, and how it is printed."""
    from forecast_attn.plotting import curve_pictures, forecast_picture, terminal
    from forecast_attn.plotting.sources import forecast_scene, levels_of, step_errors_of

    if kind == "forecast":
        return forecast_scene(source, choice), forecast_picture.draw_forecast, terminal.render_forecast
    if kind == "calibration":
        return levels_of(source, choice), curve_pictures.draw_reliability, terminal.render_reliability
    return step_errors_of(source, choice), curve_pictures.draw_errors, terminal.render_errors


def _check_options(kind: str, *, cutoff: str | None, history: int | None) -> None:
    """Refuse, before any work, what does not go together."""
    from forecast_attn.errors import ConfigError, did_you_mean

    if kind not in KINDS:
        raise ConfigError(f"--kind {kind}: there is no such picture", did_you_mean(kind, KINDS))
    for flag, value in (("--cutoff", cutoff), ("--history", history)):
        if kind != "forecast" and value is not None:
            raise ConfigError(f"{flag} is about --kind forecast; {kind} takes all cut-offs", f"leave {flag} out")


def _check_pictures(pictures: dict[str, Path | None], read: dict[str, Path | None]) -> None:
    """Refuse a file of another kind, and one that is read."""
    from os.path import realpath

    from forecast_attn.errors import ConfigError

    for name, path in pictures.items():
        if path is None:
            continue
        if path.suffix.lower() != f".{name}":
            raise ConfigError(f"--{name} writes a .{name}; got '{path.name}'", f"--{name} {path.stem}.{name}")
        for what, other in read.items():
            if other is not None and realpath(other) == realpath(path):
                raise ConfigError(f"--{name} would write over {what}, '{path}'", "name another file")


def _write_json(document: dict[str, Any]) -> None:
    import sys
    from json import dumps

    sys.stdout.write(dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
