"""`forecast reconcile`: forecasts of sums and of their parts that add up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import ConfigFile, Json, RunArgument, command_request, with_options
from forecast_attn.config.requests import ReconcileRequest

if TYPE_CHECKING:
    from forecast_attn.hierarchy.reconcile import ReconciledForecast


@with_options(ReconcileRequest)
def reconcile(
    hierarchy: Annotated[
        Path,
        typer.Option(
            "--hierarchy", metavar="FILE", help="Table of the hierarchy: a column per level, a row per bottom series."
        ),
    ],
    run: RunArgument = None,
    forecasts: Annotated[
        Path | None,
        typer.Option("--forecasts", metavar="FILE", help="Forecasts (default: those in the run).", show_default=False),
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    **options: Any,
) -> None:
    request = command_request(ReconcileRequest, config, options)
    from forecast_attn.cli.library import Forecaster
    from forecast_attn.runs.output_paths import check_folder
    from forecast_attn.runs.run_dir import RunDir

    forecaster = Forecaster.load(run)
    out = request.out or RunDir(forecaster.run_path).reconciled
    check_folder(out)
    result = forecaster.reconcile(hierarchy, forecasts, **request.to_options())
    if request.out is None:
        result.write(out)
    if json:
        printing.write_json({"run": str(forecaster.run_path), "file": str(out), **result.to_dict()})
    else:
        _show(result, out)


def _show(result: ReconciledForecast, out: Path) -> None:
    from forecast_attn.cli.tables import make_console, plain_table
    from forecast_attn.data.findings import quoted

    console, notes = make_console(), make_console(stderr=True)
    table = plain_table("level", "series", "mean forecast", "mean change", "gap before", "gap after", left=("level",))
    for row in result.levels.to_dict("records"):
        numbers = (row[name] for name in ("forecast", "change", "gap_before", "gap_after"))
        shown = ["-" if number != number else f"{number:.4g}" for number in numbers]
        table.add_row(str(row["level"]), f"{row['series']:,}", *shown)
    console.print(table)
    if result.without_quantiles:
        sums = quoted(result.without_quantiles)
        notes.print(f"note: quantiles of {sums} are empty: they had no forecast, and quantiles do not add up")
    learned = f", from {result.errors:,} past forecasts of each series" if result.errors else ""
    console.say(f"{result.method}{learned}: {out}")
