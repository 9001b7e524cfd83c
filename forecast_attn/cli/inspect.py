"""`forecast inspect`: what the attention weights say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forecast_attn.cli.options import Json


def inspect(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN|FILE]", help="Run directory or attention file; the newest finished run when absent."
        ),
    ] = None,
    item: Annotated[str | None, typer.Option("--item", metavar="NAME", help="Only this series.")] = None,
    cutoff: Annotated[str | None, typer.Option("--cutoff", metavar="TIME", help="Only this cut-off.")] = None,
    step: Annotated[int | None, typer.Option("--step", metavar="N", help="Only this step ahead.")] = None,
    head: Annotated[int | None, typer.Option("--head", metavar="N", help="Only this head, counted from 0.")] = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Lags to list per step.")] = 5,
    validation: Annotated[
        bool, typer.Option("--validation", help="The validation windows of the run, not its forecast.")
    ] = False,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write the weights as .csv (long) or .npz.")
    ] = None,
    png: Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Draw the heat map as a picture.")] = None,
    json: Json = False,
) -> None:
    """Show what a forecast looked at: heat map, top lags, entropy and warnings."""
    from forecast_attn.attention_dump import read_attention
    from forecast_attn.inspection.report import inspect_attention, render

    dump = read_attention(_attention_file(source, validation=validation))
    chosen = dump.select(item=item, cutoff=cutoff, step=step, head=head)
    inspection = inspect_attention(chosen, top=top)
    if export is not None:
        _export(chosen, export)
    if png is not None:
        from forecast_attn.inspection.plots import save_heatmap_png

        save_heatmap_png(inspection, png)
    if json:
        import sys
        from json import dumps

        sys.stdout.write(dumps(inspection.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        return
    from forecast_attn.cli.tables import make_console

    render(inspection, make_console())
    for name, path in (("export", export), ("picture", png)):
        if path is not None:
            typer.echo(f"{name}: {path}")


def _attention_file(source: Path | None, *, validation: bool) -> Path:
    """The file to read: the one named, or the run's forecast, or its validation windows before any forecast."""
    from forecast_attn.errors import ConfigError, RunError
    from forecast_attn.run_dir import RunDir

    if source is not None and not source.is_dir():
        if validation:
            raise ConfigError("--validation is about a run; the given path is a file", "name the run directory")
        return source
    run = RunDir.open_finished(source)
    if run.attention.is_file() and not validation:
        return run.attention
    if run.validation_attention.is_file():
        if not validation:
            typer.echo("no forecast yet: showing the run's validation windows", err=True)
        return run.validation_attention
    raise RunError(
        f"'{run.path}' has no attention to show: it was trained with --attention none",
        "train with an attention mechanism: forecast train data.csv --attention luong-general",
    )


def _export(dump: object, path: Path) -> None:
    from forecast_attn.attention_dump import AttentionDump
    from forecast_attn.errors import ConfigError

    assert isinstance(dump, AttentionDump)
    writers = {".csv": dump.export_csv, ".npz": dump.export_npz}
    if path.suffix not in writers:
        raise ConfigError(f"--export writes .csv or .npz; got '{path.name}'", f"--export {path.stem}.csv")
    writers[path.suffix](path)
