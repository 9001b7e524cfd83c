"""`forecast predict`: a finished run in, forecasts and attention out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import ConfigFile, Json, Quiet, RunArgument, command_request, with_options
from forecast_attn.config.requests import PredictCommandRequest, PredictRequest
from forecast_attn.errors import INCOMPLETE

if TYPE_CHECKING:
    from forecast_attn.cli.tables import PipedConsole
    from forecast_attn.forecasting.forecast_result import ForecastResult
    from forecast_attn.forecasting.partitioned import PartForecast
    from forecast_attn.runs.run_dir import RunDir

PREVIEW_ROWS = 5
MOST_CATEGORIES = 10


@with_options(PredictCommandRequest)
def predict(
    run: RunArgument = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="HISTORY", help="Table to forecast from (default: the end of the training data)."
        ),
    ] = None,
    future: Annotated[
        Path | None, typer.Option("--future", metavar="FUTURE", help="Table of the future values of covariates.")
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    from forecast_attn.cli.tables import make_console

    request = command_request(PredictCommandRequest, config, options)
    if request.partitioned:
        _predict_parts(run, data, future, request, json=json, quiet=quiet)
        return
    _check_files(request, data, future, json=json)
    if request.runtime == "onnx":
        from forecast_attn.forecaster import Forecaster  # which leaves torch out
    else:
        from forecast_attn.cli.library import Forecaster
    from forecast_attn.runs.run_dir import RunDir

    notes = make_console(stderr=True, quiet=quiet)
    forecaster = Forecaster.load(run)
    directory = RunDir(forecaster.run_path)
    to_stdout, out = str(request.out) == "-", request.out
    attention_out, samples_out = request.attention_out, request.samples_out
    if not any((out, attention_out, samples_out)):
        csv_path: Path | None = directory.predictions
        attention_out = directory.attention
        samples_out = None if request.samples is None else directory.samples
    else:
        csv_path = None if to_stdout else out
    written = {"out": csv_path, "attention_out": attention_out, "samples_out": samples_out}
    with _naming_commands(forecaster.run_path, data, future):
        result = forecaster.predict(
            data,
            future=future,
            on_dump=None if quiet else lambda size, path: notes.say(f"attention: {size}"),
            **{**_options_of(request), **written},
        )
    _say_what_was_done(notes, result, is_new_table=data is not None)
    if data is not None:
        _say_what_training_saw(notes, result, directory)
    attention_path = None if result.attention is None or attention_out is None else str(attention_out)
    if result.attention is None:
        notes.print("note: --attention none has no weights to write")
    metrics = forecaster.metrics
    notes.say(_how_good(metrics))
    if to_stdout:
        from forecast_attn.forecasting.prediction_table import predictions_csv

        printing.write_table(predictions_csv(result.predictions))
    else:
        table_path = None if csv_path is None else str(csv_path)
        if json:
            printing.write_json(_document(result, str(directory.path), table_path, attention_path, metrics))
        else:
            _show(result, table_path, attention_path)
    if result.skipped:
        raise SystemExit(INCOMPLETE)


@contextmanager
def _naming_commands(run: Path, data: Path | None, future: Path | None) -> Iterator[None]:
    """Add the command to type next to an error of a table: for its future rows, to list its faults, or once more."""
    from forecast_attn.errors import DataError, shell_command

    try:
        yield
    except DataError as error:
        tables = [
            *(() if data is None else ("--data", data)),
            *(() if future is None else ("--future", future)),
        ]
        is_unfilled = error.code == "FA513" and future is None
        if is_unfilled:
            words = ["future-template", run, *tables, "--out", "future.csv"]
            after = "writes the file to fill in and to name with --future"
        else:
            words, after = ["predict", run, *tables], "when you have corrected that"
        error.commands = (f"{shell_command(*words)}  # {after}",)
        raise


def _options_of(request: PredictCommandRequest) -> dict[str, Any]:
    """The options that `Forecaster.predict` and `predict_parts` take."""
    return {name: value for name, value in request.to_options().items() if name in PredictRequest.names()}


def _predict_parts(
    run: Path | None, data: Path | None, future: Path | None, request: PredictCommandRequest, *, json: bool, quiet: bool
) -> None:
    """Forecast file by file, and report each."""
    from forecast_attn.cli.library import Forecaster
    from forecast_attn.cli.tables import make_console
    from forecast_attn.data.findings import counted, quoted
    from forecast_attn.errors import ConfigError

    if data is None:
        raise ConfigError("--partitioned is for a table in several Parquet files", "--data FOLDER")
    notes = make_console(stderr=True, quiet=quiet)
    forecaster = Forecaster.load(run)

    def say(part: PartForecast) -> None:
        notes.say(f"{part.name}: {part.series:,} series, {part.rows:,} rows")
        if part.skipped:
            few = quoted(part.skipped)
            notes.tell("warning", f"{part.name}: shorter than the lookback, without a forecast: {few}")
        for finding in part.findings:
            notes.tell(finding.severity, f"{part.name}: {finding.message}")

    result = forecaster.predict_parts(data, future=future, on_part=say, **_options_of(request))
    weights = None if result.attention_out is None else str(result.attention_out)
    if json:
        printing.write_json(
            {
                "run": str(forecaster.run_path),
                "predictions": str(result.out),
                "attention": weights,
                "parts": len(result.parts),
                "series": result.series,
                "rows": result.rows,
                "skipped": list(result.skipped),
            }
        )
    else:
        printing.say(f"{result.rows:,} rows, {result.series:,} series, {counted(len(result.parts), 'file')}")
        printing.say(f"predictions: {result.out}")
        if weights is not None:
            printing.say(f"attention: {weights}")
    if result.skipped:
        raise SystemExit(INCOMPLETE)


def _check_files(request: PredictCommandRequest, data: Path | None, future: Path | None, *, json: bool) -> None:
    """Refuse files that get in each other's way, and options of a file that the named ones leave out."""
    from forecast_attn.errors import ConfigError

    out, attention_out, samples_out = request.out, request.attention_out, request.samples_out
    if str(out) == "-" and json:
        raise ConfigError("--out - and --json both want stdout", "choose one of them")
    if str(data) == str(future) == "-":
        raise ConfigError("--data and --future cannot both come from stdin", "--future FILE")
    if out is None and attention_out is None and samples_out is None:
        return
    of_weights = {
        "--attention-windows": request.attention_windows != "all",
        "--attention-dtype": request.attention_dtype != "float32",
        "--attention-top": request.attention_top is not None,
        "--attention-members": request.attention_members,
    }
    for option, is_given in of_weights.items():
        if is_given and attention_out is None:
            raise ConfigError(f"{option} is about weights, which are not written", "add --attention-out FILE")
    if request.samples is not None and samples_out is None:
        raise ConfigError("--samples draws paths, which are not written", "add --samples-out FILE")


def _say_what_training_saw(notes: PipedConsole, result: ForecastResult, run: RunDir) -> None:
    """Print that training saw what is forecast, where a history ends before the last row that it was trained on."""
    from forecast_attn.forecasting.model import trained_until

    cutoffs, until = result.predictions["cutoff"], trained_until(run)
    if until is None or cutoffs.empty:
        return
    newest = cutoffs.max()
    last = type(newest)(until)
    if newest < last:
        notes.print(f"note: the history ends at {newest}, training at {last}: it saw the rows that are forecast here")


def _say_what_was_done(notes: PipedConsole, result: ForecastResult, *, is_new_table: bool) -> None:
    """Print the series without a forecast, paths, repairs of a table that training did not print, and series and
    categories new to the run.
    """
    from forecast_attn.cli.findings_display import repair_table
    from forecast_attn.data.findings import counted, quoted

    if result.skipped:
        few = quoted(result.skipped)
        notes.tell(
            "warning",
            f"{len(result.skipped):,} series shorter than the lookback have no forecast (exit code "
            f"{INCOMPLETE}): {few}; with --short-series auto or pad training forecasts them too",
        )
    if result.samples_path is not None:
        notes.print(f"paths: drawn with --seed {result.samples_seed}, before any calibration: {result.samples_path}")
    short = [name for name in result.not_learned if name not in result.cold]
    if short:
        notes.tell(
            "warning",
            f"{len(short):,} series that training left out as too short are forecast by a network that never "
            f"saw them, column 'learned' says no: {quoted(short)}",
        )
    if result.cold:
        few = quoted(result.cold)
        notes.print(f"note: {len(result.cold):,} series not seen in training, scaled by their own lookback: {few}")
    if result.repairs and is_new_table:
        notes.print(repair_table(result.repairs))
    for finding in result.findings:
        notes.tell(finding.severity, finding.message)
    for unknown in result.unknown_categories[:MOST_CATEGORIES]:
        times = counted(unknown.count, "time")
        message = f"column '{unknown.column}' has a category that training did not see, {times}"
        notes.tell("warning", f"{message}: '{unknown.category}'; {unknown.hint}")
    if len(result.unknown_categories) > MOST_CATEGORIES:
        notes.tell("warning", f"{len(result.unknown_categories) - MOST_CATEGORIES} more unknown categories")
    if result.combined_with:
        _say_combination(notes, result)


def _say_combination(notes: PipedConsole, result: ForecastResult) -> None:
    """Print the composition of the forecasts, and the series with the network's alone."""
    from forecast_attn.baselines.combination_weights import Combination
    from forecast_attn.cli.training_display import weights_text
    from forecast_attn.data.findings import quoted

    if result.weights:
        by_series = Combination(result.weights, result.weights_by_series).by_series_text()
        parts = f"forecasts are {weights_text(result.weights)}", by_series, "attention and MAE are the network's"
        notes.say("; ".join(part for part in parts if part))
        return
    baselines = " and ".join(f"'{name}'" for name in result.combined_with)
    mean, have = ("the mean of ", "have") if len(result.combined_with) > 1 else ("", "has")
    forecasts = f"forecasts are the mean of the network's and of {mean}{baselines}"
    notes.say(f"{forecasts}; weights and MAE are the network's")
    if result.alone:
        few = quoted(result.alone)
        message = f"of {len(result.alone):,} series {baselines} {have} no forecast, the network's is used alone"
        notes.tell("warning", f"{message}: {few}; give more rows with --data")


def _skills(metrics: dict[str, Any]) -> dict[str, float | None]:
    """The network's skill on its validation windows, against each baseline."""
    from forecast_attn.evaluation.metrics import skill_per_cent
    from forecast_attn.inspection.interpretation import baseline_scores

    mae = metrics["validation"]["mae"]
    return {name: skill_per_cent(mae, scores["mae"]) for name, scores in baseline_scores(metrics).items()}


def _how_good(metrics: dict[str, Any]) -> str:
    """Summary of the network's errors on the validation windows, beside the best baseline."""
    skills = {name: skill for name, skill in _skills(metrics).items() if skill is not None}
    best = min(skills, key=skills.__getitem__, default=None)
    against = f"; skill against {best}, the best baseline, {skills[best]:+.1f} %" if best is not None else ""
    return f"on the validation windows its MAE was {metrics['validation']['mae']:.5g}{against}"


def _document(
    result: ForecastResult, run: str, csv_path: str | None, attention_path: str | None, metrics: dict[str, Any]
) -> dict[str, Any]:
    """Return the document of --json; what a run has not is left out."""
    document: dict[str, Any] = {"run": run, "predictions": csv_path, "attention": attention_path}
    if result.member_attention:
        document["attention_members"] = [str(dump.path) for dump in result.member_attention]
    if result.samples_path is not None:
        document |= {"samples": str(result.samples_path), "seed": result.samples_seed}
    if result.combined_with:
        combination = {"combined_with": list(result.combined_with), "weights": result.weights}
        if result.weights_by_series:
            combination["weights_by_series"] = result.weights_by_series
        document |= {**combination, "alone": list(result.alone)}
    return document | {
        "series": result.predictions["item_id"].nunique(),
        "rows": len(result.predictions),
        "skipped": list(result.skipped),
        "cold": list(result.cold),
        "not_learned": list(result.not_learned),
        "validation": {"mae": metrics["validation"]["mae"], "skill_per_cent": _skills(metrics)},
    }


def _show(result: ForecastResult, csv_path: str | None, attention_path: str | None) -> None:
    from forecast_attn.forecasting.prediction_table import predictions_csv

    predictions = result.predictions
    _preview(predictions_csv(predictions.head(PREVIEW_ROWS)))
    if len(predictions) > PREVIEW_ROWS:
        printing.say(f"… {len(predictions):,} rows, {predictions['item_id'].nunique():,} series")
    written = [("predictions", csv_path), ("attention", attention_path)]
    written += [("attention of a member", str(dump.path)) for dump in result.member_attention]
    for name, path in (*written, ("samples", result.samples_path)):
        if path is not None:
            printing.say(f"{name}: {path}")


def _preview(csv: str) -> None:
    """Print the first forecasts; on a terminal that would break a row within a number, as a table with fewer digits."""
    rows_fit = max(map(len, csv.splitlines())) <= printing.line_length()
    if rows_fit or not sys.stdout.isatty():
        printing.say(csv.rstrip("\n"))
        return
    from csv import reader

    from forecast_attn.cli.tables import make_console, plain_table

    header, *rows = ([row[0], *row[2:]] for row in reader(csv.splitlines()))  # without the cut-off, for room
    table = plain_table(*header, left=("item_id", "timestamp"))
    for item_id, timestamp, step, *values in rows:
        table.add_row(item_id, timestamp, step, *(f"{float(value):.6g}" for value in values))
    make_console().print(table)
