"""`forecast backtest`: the forecasts of a run from past cut-offs, beside the actual values and the baselines."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.completion import finished_runs
from forecast_attn.cli.flags import ConfigFile, Json, Quiet, command_options, given_options, with_options
from forecast_attn.cli.signals import with_resume_hint
from forecast_attn.config.options import RunConfig
from forecast_attn.config.requests import TRAINING, BacktestRequest
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.urls import url_of

if TYPE_CHECKING:
    from forecast_attn.cli.library import Forecaster

SHARED = ("accelerator", "non_negative")
"""Options of the training and of the backtest alike."""
OF_RUN = (*SHARED, "vintages")
"""Options of training that a finished run takes too."""


@with_options(BacktestRequest, *TRAINING)
def backtest(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN|DATA]",
            help="A finished run (default: the newest), or a table; a run is trained on its rows before --start.",
            show_default=False,
            autocompletion=finished_runs,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Table to forecast (default: the one the run was trained on)."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the cut-offs and stop.")] = False,
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    is_table = source is not None and _is_table(source)
    training, of_backtest = _sorted(config, options, is_table=is_table)
    _check_use(source, data, training, is_table=is_table)
    request = BacktestRequest.from_options(of_backtest)
    how_to_resume = "what is finished is kept; go on with the same command"
    if not is_table:
        from forecast_attn.cli.library import Forecaster

        forecaster, vintages = Forecaster.load(source), training.get("vintages")
    else:
        from forecast_attn.runs.run_dir import RunDir, check_is_free, fresh_path

        run_config = RunConfig.from_options(training)
        out_run = request.out_run or fresh_path(run_config.model.attention)
        if not RunDir(out_run).config.is_file():  # a run that was begun may go on
            check_is_free(out_run)
        if request.out_run is None:
            how_to_resume += f" and --out-run {out_run}"
        from forecast_attn.cli.library import Forecaster

        # A table's forecasts are cut off at 0 where the training's are.
        request = dataclasses.replace(request, out_run=out_run, non_negative=None)
        forecaster, data, vintages = Forecaster(**run_config.to_options()), source, None
    _run(forecaster, data, request, vintages, how_to_resume, dry_run=dry_run, json=json, quiet=quiet)


def _sorted(config: Path | None, options: dict[str, Any], *, is_table: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the training and those of the backtest, of file and command line."""
    names = BacktestRequest.names()
    given = {name: value for name, value in options.items() if name in names}
    of_file = given_options(config, {})
    if not is_table:  # the run is trained, perhaps with this very file
        of_file = {name: value for name, value in of_file.items() if name in OF_RUN}
    of_backtest = command_options("backtest", config, given, trains=is_table or bool(of_file))
    training = {name: value for name, value in options.items() if name not in names or name in SHARED}
    training = {**of_file, **training}
    shared = {name: training[name] for name in SHARED if name in training}
    if (out_run := training.pop("out", None)) is not None:  # in a file for `forecast train`, the run directory
        shared["out_run"] = out_run
    return training, {**shared, **of_backtest}


def _run(
    forecaster: Forecaster,
    data: Path | None,
    request: BacktestRequest,
    vintages: Any,
    how_to_resume: str,
    *,
    dry_run: bool,
    json: bool,
    quiet: bool,
) -> None:
    """Show the cut-offs, or forecast from them."""
    from forecast_attn.cli.backtest_display import BacktestDisplay, print_folds, show_result
    from forecast_attn.cli.tables import make_console
    from forecast_attn.cli.training_display import TrainingDisplay
    from forecast_attn.runs.run_dir import RunDir

    run = RunDir(forecaster.run_path if request.out_run is None else request.out_run)
    options: Any = {**request.to_options(), "out": request.out or run.backtest}
    with (
        with_resume_hint(lambda: how_to_resume if run.config.is_file() else None),
        TrainingDisplay(quiet=quiet) as training,
        BacktestDisplay(quiet=quiet, training=training) as display,
    ):
        if not dry_run:
            result = forecaster.backtest(data, vintages=vintages, listener=display, training=training, **options)
        else:
            plan = forecaster.plan_backtest(data, vintages=vintages, training=training, **options)
            training.close()
            if json:
                printing.write_json(plan.document)
            else:
                print_folds(make_console(), plan.folds, plan.zone)
            return
    if not json:
        show_result(result, all_metrics=request.metrics is not None, quiet=quiet)
        return
    from json import loads

    printing.write_json(loads(result.path.with_suffix(".json").read_text(encoding="utf-8")))


def _is_table(source: Path) -> bool:
    """True for a file, and for a folder of Parquet files that is no run."""
    from forecast_attn.data.reading import parts_of
    from forecast_attn.runs.run_dir import RunDir

    return not source.is_dir() or (not RunDir(source).config.exists() and bool(parts_of(source)))


def _check_use(source: Path | None, data: Path | None, training: dict[str, Any], *, is_table: bool) -> None:
    """Refuse options of the command's other use."""
    from forecast_attn.data.reading import parts_of

    if is_table:
        assert source is not None
        if not source.exists() and str(source) != "-" and url_of(source) is None and not parts_of(source):
            raise RunError(f"there is no run or table '{source}'", "forecast backtest RUN, or forecast backtest DATA")
        if data is not None:
            raise ConfigError(
                f"'{source}' is a table already, and --data names another one",
                "forecast backtest RUN --data FILE, or the table alone",
            )
        return
    for name in training:
        if name not in OF_RUN:
            raise ConfigError(
                f"--{name.replace('_', '-')} is for training, and a run is trained already",
                "leave it out, or give the table instead of the run",
            )
