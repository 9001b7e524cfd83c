"""Sources of a picture: the forecasts, and the values of their series."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from forecast_attn.config.requests import PlotRequest
from forecast_attn.data.reading import table_name
from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.plotting.forecasts import Forecasts, read_forecasts
from forecast_attn.plotting.reliability import Reliability, reliability
from forecast_attn.plotting.scene import ForecastScene, build_scene
from forecast_attn.plotting.series_values import SeriesValues, first_that_reaches
from forecast_attn.plotting.step_errors import StepErrors, step_errors
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import table_of_training

if TYPE_CHECKING:
    from forecast_attn.plotting.by_value import ByValue
    from forecast_attn.plotting.forecast_attribution import Attribution


FREE_FORECASTS = 1 << 20
"""Rows of a backtest's Parquet file beyond which each needs a byte: it has an error of its own."""


class PlotSource(NamedTuple):
    """A table of forecasts, a run, or a table in the folder of its run."""

    table: pd.DataFrame | Path | None
    run: RunDir | None
    data: pd.DataFrame | Path | None = None
    """A table of the series; found through the run when None."""
    future: pd.DataFrame | Path | None = None
    """Values of covariates beyond it."""


def find_source(
    given: Path | None, data: pd.DataFrame | Path | None = None, future: pd.DataFrame | Path | None = None
) -> PlotSource:
    """Resolve what the user named: a run, the newest one when None, or a table; with further tables.

    Raises:
        RunError: no such run, or an unfinished one.
    """
    if given is None or given.is_dir():
        return PlotSource(None, RunDir.open_finished(given), data, future)
    run = RunDir(given.parent)
    belongs = run.config.is_file() and run.is_finished and given.exists()
    if not given.exists() and not given.suffix:
        return PlotSource(None, RunDir.open_finished(given), data, future)  # raises with the runs there are
    return PlotSource(given, run if belongs else None, data, future)


# --------------------------------------------------------------------------- one forecast and its series


class ChosenForecasts(NamedTuple):
    """Forecasts to draw, and what was read on the way."""

    forecasts: Forecasts
    table: Forecasts
    """All that stand in their table: the targets of its other cut-offs are the history of this one."""
    series: SeriesValues | None = None
    notes: tuple[str, ...] = ()


def forecast_scene(source: PlotSource, request: PlotRequest, *, with_hints: bool = True) -> ForecastScene:
    """The forecasts of one cut-off of each series, beside their history and the actual values.

    Args:
        source: where the forecasts are.
        request: which of them to draw.
        with_hints: note the options of `plot` that draw other series and models.

    Raises:
        ConfigError, DataError, RunError: nothing matches the choice, or a file cannot be read.
    """
    if source.run is None and source.data is not None:
        raise ConfigError(
            "--data needs a run whose columns and time step the table shares", "name the run instead of the table"
        )
    chosen = _find(source, request)
    models = chosen.forecasts.models
    forecasts = chosen.forecasts.of_models(request.model or models[:1])
    if request.cutoff is None:
        forecasts = forecasts.newest()
    series = chosen.series
    if series is None:
        series = first_that_reaches(_candidates(source, chosen.table), forecasts, request.history)
    scene = build_scene(forecasts, series, history=request.history)
    scene.notes.extend(chosen.notes)
    if with_hints and len(scene.views) < scene.num_items:
        shown = f"{len(scene.views)} of {scene.num_items:,} series are drawn"
        scene.notes.append(f"{shown}; choose others with --item NAME")
    if with_hints and not request.model and len(models) > 1:
        scene.notes.append(f"drawn: {models[0]}; choose with --model NAME among {', '.join(models)}")
    return scene


def _find(source: PlotSource, request: PlotRequest) -> ChosenForecasts:
    """The forecasts at the chosen cut-off: those written, or made again by the network."""
    tables: list[pd.DataFrame | Path] = [source.table] if source.table is not None else _tables_of(source.run)
    read = [_read(path, source.run).of_items(request.item) for path in tables]
    if read and request.cutoff is None:
        return ChosenForecasts(read[0], read[0])
    for forecasts in read:
        at_cutoff = forecasts.at_cutoff(str(request.cutoff))
        if len(at_cutoff.frame):
            return ChosenForecasts(at_cutoff, forecasts)
    if source.run is not None and source.table is None:
        return _made_again(source, source.run, request)
    raise DataError(f"{read[0].name} has no forecast of the cut-off {request.cutoff}", read[0].cutoff_hint())


def _tables_of(run: RunDir | None) -> list[pd.DataFrame | Path]:
    return [path for path in (run.predictions, run.backtest) if path.is_file()] if run is not None else []


def _read(path: pd.DataFrame | Path, run: RunDir | None) -> Forecasts:
    if run is None:
        return read_forecasts(path)
    from forecast_attn.forecasting.model import read_schema

    schema = read_schema(run)
    if isinstance(path, Path) and path == run.backtest:
        _check_rows(path)
    return read_forecasts(path, zone=schema.zone, target=schema.roles.target)


def _check_rows(path: Path) -> None:
    """Refuse a run's backtest with more rows than its bytes can hold: reading the copies of one row takes minutes.

    Raises:
        RunError: it is one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows, size = pq.read_metadata(path).num_rows, path.stat().st_size
    except (OSError, pa.ArrowException):
        return  # reading it says what is wrong
    if rows > FREE_FORECASTS + size:
        message = f"'{path}' is damaged: {rows:,} forecasts do not fit into {size:,} bytes"
        raise RunError(message, "forecast backtest writes it again")


def _made_again(source: PlotSource, run: RunDir, request: PlotRequest) -> ChosenForecasts:
    from forecast_attn.plotting.past import newest_validation, read_past

    if request.cutoff is None:
        past, rows = newest_validation(run, source.data, request.item)
        note = "no forecast yet: the last validation window is drawn; to forecast, run forecast predict"
    else:
        past = read_past(run, source.data)
        rows = past.rows_at(request.cutoff, request.item)
        past = past.newest(rows)
        seen = "the cut-off lies in the training rows: the network was trained on the values after it"
        note = seen if past.is_in_training(rows) else ""
    forecasts = past.forecasts(rows)
    alone = _network_alone(run)
    notes = tuple(each for each in (note, alone) if each)
    return ChosenForecasts(forecasts, forecasts, SeriesValues.of_panel(past.panel), notes)


def _network_alone(run: RunDir) -> str:
    """Say that forecasts made again are the network's, where `predict` combines it with baselines; else nothing."""
    from forecast_attn.forecasting.predict import kept_weights

    combines = kept_weights(RunDir(run.home))
    return "the forecasts drawn are the network's own; `predict` combines baselines with it" if combines else ""


# --------------------------------------------------------------------------- the series


def _candidates(source: PlotSource, forecasts: Forecasts) -> Iterator[SeriesValues]:
    """The tables that may hold the series, the cheapest first."""
    if source.run is not None and source.data is not None:
        yield _values_in(source.run, source.data)
        return
    if forecasts.frame["target"].notna().any() or source.run is None:
        yield SeriesValues.of_forecasts(forecasts)
    if source.run is None:
        return
    yield _values_in(source.run, None)
    if (path := table_of_training(source.run)) is not None:
        yield _values_in(source.run, path)


def _values_in(run: RunDir, table: pd.DataFrame | Path | None) -> SeriesValues:
    """The series of a table, or of the end of the table of training that the run keeps."""
    from forecast_attn.forecasting.history import read_history, table_beside
    from forecast_attn.forecasting.inference import load_model

    model = load_model(run)
    frame = None if table is None else table_beside(table, model)
    panel = read_history(model, run, frame, table_name(table), cold_start=True).panel
    return SeriesValues.of_panel(panel)


# --------------------------------------------------------------------------- many forecasts


def scored_forecasts(source: PlotSource, request: PlotRequest) -> Forecasts:
    """Forecasts of many cut-offs with the actual values: a backtest, or the validation windows of a run.

    Raises:
        ConfigError, DataError, RunError: nothing matches the choice, or a file cannot be read.
    """
    forecasts = _scored(source, request).of_items(request.item).of_models(request.model)
    _check_scored(forecasts)
    return forecasts


def _check_scored(forecasts: Forecasts) -> None:
    if not (forecasts.frame["target"].notna() & forecasts.frame["prediction"].notna()).any():
        raise DataError(
            f"{forecasts.name} has no actual values: no row has a target and a prediction",
            "forecast the past with: forecast backtest RUN",
        )


def _scored(source: PlotSource, request: PlotRequest) -> Forecasts:
    if source.table is not None:
        if source.data is not None:
            raise ConfigError("--data goes with a run; a table of forecasts holds its own targets", "leave it out")
        return _read(source.table, source.run)
    run = source.run
    if run is None:
        raise RunError("there is nothing to draw", "name a run or a table of forecasts")
    if not _is_validation(source):
        return _read(run.backtest, run)
    from forecast_attn.plotting.past import validation_forecasts

    return validation_forecasts(run, source.data)


def step_errors_of(source: PlotSource, request: PlotRequest) -> StepErrors:
    """The error by step of a backtest or of validation windows; raises as `scored_forecasts`.

    Unless models were named, those far worse than the best are in a note only: the others would be one line.
    """
    errors = step_errors(scored_forecasts(source, request))
    if not request.model:
        errors = errors.without_far()
    if _is_validation(source):
        errors.notes.append(VALIDATION)
    return errors


def reliability_of(source: PlotSource, request: PlotRequest) -> Reliability:
    """The calibration of the quantiles of a backtest or of validation windows; raises as `scored_forecasts`.

    Raises:
        DataError: no model has quantiles.
    """
    forecasts, notes = scored_forecasts(source, request), []
    if source.run is not None and _is_validation(source):
        notes = [CALIBRATED_ON_THEM if source.run.calibration.is_file() else VALIDATION]
    return reliability(forecasts, notes)


def attribution_at(source: PlotSource, request: PlotRequest) -> Attribution:
    """The attribution of one forecast to its inputs; raises as `attribution_of`."""
    from forecast_attn.plotting.forecast_attribution import attribution_of

    run = None if source.table is not None else source.run
    return attribution_of(
        run, items=request.item, cutoff=request.cutoff, step=request.step, data=source.data, future=source.future
    )


def by_value_of(source: PlotSource, request: PlotRequest) -> ByValue:
    """Mean forecast and actual value by the values of columns; raises as `scored_forecasts`.

    Raises:
        ConfigError: a table without a run, or several models.
    """
    import torch

    from forecast_attn.audit.subject import Subject
    from forecast_attn.data.split import spread_evenly
    from forecast_attn.devices import cpu_threads
    from forecast_attn.plotting.by_value import by_value, with_dependence
    from forecast_attn.plotting.past import forecasts_of_validation, prepared_past

    run = source.run
    if run is None:
        raise ConfigError(
            "--kind by-value needs a run, whose table has the columns", "name the run instead of the table"
        )
    if len(request.model) > 1:
        raise ConfigError("--kind by-value shows one model", f"--model {request.model[0]}")
    past, preparation = prepared_past(run, source.data)
    if _is_validation(source):
        forecasts, notes = forecasts_of_validation(past, preparation), [VALIDATION]
        if not request.model and (alone := _network_alone(run)):
            notes.append(alone)
    else:
        forecasts, notes = _read(run.backtest if source.table is None else source.table, run), []
    chosen, first = forecasts.of_items(request.item), tuple(forecasts.models[:1])
    chosen = chosen.of_models(request.model or first)
    _check_scored(chosen)
    horizon = past.model.schema.horizon
    shown = by_value(chosen, past.panel, request.column, horizon=horizon, name=past.name, notes=notes)
    if past.model.is_ensemble or request.model not in ((), first):
        return shown
    cutoffs = spread_evenly(preparation.validation_cutoffs, DEPENDENCE_WINDOWS)
    with cpu_threads(past.model.config.training.threads):
        subject = Subject.of(past.model, preparation, cutoffs, torch.device("cpu"))
        return with_dependence(shown, subject)


DEPENDENCE_WINDOWS = 128
"""Validation windows, spread evenly, whose forecasts with other values are averaged."""


VALIDATION = "these are the validation windows, used to select the model; for unseen windows, backtest the run"
CALIBRATED_ON_THEM = VALIDATION.replace("select the model", "calibrate the quantiles")


def _is_validation(source: PlotSource) -> bool:
    return (
        source.table is None
        and source.run is not None
        and (not source.run.backtest.is_file() or source.data is not None)
    )
