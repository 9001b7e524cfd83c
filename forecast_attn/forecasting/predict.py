"""Forecasts with a run: reads the history, runs the model, adds baselines, and writes predictions and attention
weights.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionDump, DumpChoice, read_attention
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.baselines.registry import check_baselines
from forecast_attn.config.options import RunConfig
from forecast_attn.config.requests import PredictRequest
from forecast_attn.config.values import NETWORK
from forecast_attn.data.outliers import far_from_training
from forecast_attn.data.panel import Panel
from forecast_attn.data.reading import Source, table_name
from forecast_attn.data.split import forecast_cutoffs
from forecast_attn.errors import ConfigError, RunError, reason_of
from forecast_attn.forecasting.attention_output import AttentionDumpPlan, DumpListener
from forecast_attn.forecasting.baseline_forecasts import BaselineForecasts
from forecast_attn.forecasting.exported import ExportedRun, check_exported
from forecast_attn.forecasting.forecast_result import ForecastResult
from forecast_attn.forecasting.history import (
    History,
    future_panel,
    read_history,
    table_beside,
    with_calendar_of,
    with_cold_series,
)
from forecast_attn.forecasting.model import Model, WindowForecasts
from forecast_attn.forecasting.prediction_table import prediction_columns, predictions_csv, predictions_table
from forecast_attn.forecasting.samples import SampleChoice, write_samples
from forecast_attn.runs.atomic import replacing, write_errors_of
from forecast_attn.runs.output_paths import refuse_outputs
from forecast_attn.runs.run_dir import DAMAGED_HINT, RunDir
from forecast_attn.runs.training_table import Table

if TYPE_CHECKING:
    import torch

    from forecast_attn.data.findings import Finding
    from forecast_attn.data.windows import WindowArrays
    from forecast_attn.forecasting.engine import Engine


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastRequest(PredictRequest):
    """The options and the tables of `Forecaster.predict`."""

    data: pd.DataFrame | Table | Source | None = None
    future: pd.DataFrame | Table | Source | None = None
    on_dump: DumpListener | None = None

    @property
    def attention(self) -> DumpChoice:
        """Choice of the weights to write."""
        return DumpChoice.of(self.attention_windows, self.attention_dtype, self.attention_top)


def forecast_run(
    run: RunDir, config: RunConfig, request: ForecastRequest, scratch: Callable[[], Path]
) -> ForecastResult:
    """Forecast the steps after the last known target of every series.

    Args:
        run: finished.
        config: of the run.
        request: what to forecast, and what to write where.
        scratch: makes a folder for the files that the request does not name.

    Raises:
        ConfigError, RunError, DataError: as `Forecaster.predict`.
    """
    if config.model.attention == "none" and request.attention != DumpChoice():
        raise ConfigError("a model without attention has no weights to choose from", "leave out the --attention-…")
    check_baselines(request.combine_with or ())
    refuse_outputs(
        {"--out": request.out, "--attention-out": request.attention_out, "--samples-out": request.samples_out},
        read=[request.data, request.future],
        runs=[run],
        results=[run.predictions, run.attention, run.samples],
        forms={"--out": ".csv", "--attention-out": ".parquet", "--samples-out": ".parquet"},
    )
    runtime = _exported(run, config, request) if request.runtime == "onnx" else _in_torch(run, request)
    model, device, connecting = runtime
    loaded = LoadedRun(run, model)
    check_members(model, request)
    samples_out = request.samples_out
    if request.samples is not None and samples_out is None:
        samples_out = scratch() / run.samples.name
    paths = SampleChoice.of(loaded.model, request.samples, request.seed, samples_out)
    ready = PreparedForecast.of(loaded, request)
    attention_path = request.attention_out or scratch() / run.attention.name
    with connecting as engine:
        predictions = forecast_prepared(
            ready,
            device,
            attention_path=attention_path,
            csv_path=request.out,
            samples=paths,
            engine=engine,
        )
    result = ready.result(predictions)
    return replace(
        result,
        attention=read_attention(attention_path) if loaded.model.has_attention else None,
        member_attention=_member_attention(loaded.model, request, attention_path),
        samples_path=None if paths is None else paths.path,
        samples_seed=None if paths is None else paths.seed,
    )


_Runtime = tuple[Model, "torch.device | None", contextlib.AbstractContextManager["Engine | None"]]
"""The model, the device of its networks, and the engine that forecasts its windows; None for this process."""


def _in_torch(run: RunDir, request: ForecastRequest) -> _Runtime:
    from forecast_attn.devices import choose_device
    from forecast_attn.forecasting.inference import load_model

    if request.engine == "local":
        return load_model(run), choose_device(request.accelerator), contextlib.nullcontext()
    from forecast_attn.forecasting.engine import connected_engine

    # Beside a cluster this process only writes, and looks at a few windows.
    return load_model(run), choose_device("cpu"), connected_engine(request.accelerator)


def _exported(run: RunDir, config: RunConfig, request: ForecastRequest) -> _Runtime:
    check_exported(config, request)
    exported = ExportedRun.load(run)
    return exported.model, None, contextlib.nullcontext(exported)


@dataclass(frozen=True)
class LoadedRun:
    """A run and its model, which may serve many forecasts."""

    run: RunDir
    model: Model

    @cached_property
    def combination(self) -> Combination:
        """As validation chose it in training."""
        return kept_combination(self.run)

    def read_ahead(self) -> None:
        """Read the run's files that forecasts need and keep them: other machines may not have the run."""
        _ = self.combination, self.left_out

    @cached_property
    def left_out(self) -> frozenset[str]:
        """Series that training left out as too short; of runs of earlier versions nobody knows."""
        short = self.run.read_json(self.run.metrics).get("short_series", ())
        return frozenset(series["item_id"] for series in short if series["action"] == "skip")


@dataclass(frozen=True)
class PreparedForecast:
    """Series with all that is known of their future, and the model that is to forecast them."""

    request: ForecastRequest
    model: Model
    panel: Panel
    """With `horizon` future rows per series."""
    history: History
    findings: tuple[Finding, ...]
    combination: Combination
    combined_with: tuple[str, ...]
    other: BaselineForecasts | None
    """Forecasts to combine with."""
    not_learned: tuple[str, ...]

    @classmethod
    def of(cls, loaded: LoadedRun, request: ForecastRequest) -> Self:
        """Read the tables of a request.

        Raises:
            DataError: what is wrong with them.
            RunError: the run is damaged.
        """
        model = loaded.model
        if request.non_negative is not None:
            model = model.cut_off_at_zero(request.non_negative)
        model, history, panel, findings = read_beyond(
            model, loaded.run, request.data, request.future, cold_start=request.cold_start
        )
        findings += tuple(far_from_training(panel, model.schema.scaler, model.schema.lookback, model.schema.horizon))
        combination = loaded.combination if request.combine_with is None else Combination()
        left_out = {*history.cold, *loaded.left_out}
        return cls(
            request,
            model,
            panel,
            history,
            findings,
            combination,
            tuple(name for name in combination.weights if name != NETWORK) or request.combine_with or (),
            _other(request, combination, model, panel),
            tuple(name for name in panel.item_ids if name in left_out),
        )

    def combined(self, forecasts: WindowForecasts) -> WindowForecasts:
        """The forecasts that a user sees: those of the network, combined with the baselines that the run keeps."""
        if self.other is None:
            return forecasts
        return self.other.combined(forecasts, non_negative=self.model.config.data.non_negative)

    def result(self, predictions: pd.DataFrame) -> ForecastResult:
        """The result without files."""
        by_series = self.combination.by_series
        return ForecastResult(
            predictions,
            None,
            skipped=self.history.skipped,
            cold=self.history.cold,
            not_learned=self.not_learned,
            unknown_categories=self.model.schema.unknown_categories(self.panel),
            repairs=self.panel.repairs,
            findings=self.findings,
            combined_with=self.combined_with,
            weights=self.combination.weights,
            weights_by_series={name: self.combination.of(name) for name in self.panel.item_ids if name in by_series},
            alone=() if self.other is None else self.other.alone(self.panel),
        )


def read_beyond(
    model: Model,
    run: RunDir,
    data: pd.DataFrame | Table | Source | None,
    future: pd.DataFrame | Table | Source | None,
    *,
    cold_start: bool = False,
) -> tuple[Model, History, Panel, tuple[Finding, ...]]:
    """Read the series to forecast and what is known of their future.

    Args:
        model: of the run.
        run: whose tail.parquet is read when `data` is None.
        data: the history.
        future: values of covariates along the horizon.
        cold_start: series that training did not see are read too.

    Returns:
        The model with the calendar and the scales for these series, the history, it with `horizon` rows more per
        series, and what there is to say.

    Raises:
        DataError: what is wrong with the tables.
        RunError: tail.parquet is damaged.
    """
    known = None if future is None else table_beside(future, model, wide=False)
    source, beside = table_name(data), table_name(future)
    forecasts = None if known is None else (known, beside)
    # Without a name here, the table's memory is free once the panel is built.
    history = read_history(
        model,
        run,
        None if data is None else table_beside(data, model),
        source,
        cold_start=cold_start,
        forecasts=forecasts,
    )
    model = with_cold_series(with_calendar_of(model, history.panel), history.panel)
    panel, findings = future_panel(model, history.panel, known, beside)
    return with_calendar_of(model, panel), history, panel, findings


def kept_combination(run: RunDir) -> Combination:
    """The combination that validation chose in training; an empty one where the network forecasts alone.

    Raises:
        RunError: metrics.json is damaged.
    """
    try:
        combination = Combination.from_dict(run.read_json(run.metrics).get("combination", {}))
        check_baselines([name for name in combination.weights if name != NETWORK])
        for weights in (combination.weights, *combination.by_series.values()):
            possible = all(isinstance(part, float) and 0 < part <= 1 for part in weights.values())
            if not possible or not set(weights) <= set(combination.weights):
                raise ValueError("weights that cannot be")
        if not all(combination.by_series.values()):
            raise ValueError("a series without weights")
    except (TypeError, ValueError, AttributeError, ConfigError) as error:
        raise RunError(f"'{run.metrics}' is damaged: {reason_of(error)}", DAMAGED_HINT) from None
    return Combination() if set(combination.weights) == {NETWORK} else combination


def kept_weights(run: RunDir) -> dict[str, float]:
    """The weights of `kept_combination` that most series have.

    Raises:
        RunError: metrics.json is damaged.
    """
    return kept_combination(run).weights


def _other(request: ForecastRequest, combination: Combination, model: Model, panel: Panel) -> BaselineForecasts | None:
    if request.combine_with:
        return BaselineForecasts.of(request.combine_with, model, panel)
    return BaselineForecasts.weighted(combination, model, panel) if combination.weights else None


def check_members(model: Model, request: ForecastRequest) -> None:
    """Refuse to write the weights of members that are not there, or have none."""
    if not request.attention_members:
        return
    if not model.is_ensemble:
        raise ConfigError("--attention-members is for ensembles; this run has one network", "leave it out")
    if not model.has_attention:
        raise ConfigError("--attention-members needs an attention mechanism", "leave it out")


def _member_attention(model: Model, request: ForecastRequest, averaged: Path) -> tuple[AttentionDump, ...]:
    if not request.attention_members:
        return ()
    return tuple(read_attention(member_path(averaged, number)) for number in range(len(model.networks)))


# --------------------------------------------------------------------------- prediction
# From a history with the rows to forecast to the table of forecasts and the attention file.


def forecast_prepared(
    ready: PreparedForecast,
    device: torch.device | None,
    *,
    attention_path: Path | None = None,
    csv_path: Path | None = None,
    samples: SampleChoice | None = None,
    engine: Engine | None = None,
) -> pd.DataFrame:
    """Forecast every series from its last known row, and stream the attention to a file.

    All files take their places together at the end; a failure leaves older ones as they were.

    Args:
        ready: the series, the model, the baselines to combine it with, and the choice of weights to write.
        device: where networks compute; None for an exported one.
        attention_path: where to write the weights, which a model without attention does not have; None for nowhere.
        csv_path: where to write the table too.
        samples: paths to draw, and where they are written; none when None.
        engine: forecasts windows; this process, with torch, when None.

    Returns:
        item_id, cutoff, timestamp, step, prediction, and a column per quantile; sorted by series and step.
    """
    model, panel, schema = ready.model, ready.panel, ready.model.schema
    cutoffs = forecast_cutoffs(panel, schema.lookback, schema.horizon, pad=schema.padded)
    parts: list[dict[str, Any]] = []
    moves: dict[int, NDArray[np.float64]] = {}
    with contextlib.ExitStack() as files:
        stream = None if csv_path is None else files.enter_context(replacing(csv_path))
        arrays = None
        if device is not None:
            arrays = files.enter_context(_arrays_in_torch(model, panel, device))
        engine = engine or _this_process(arrays)
        writer, output = None, None
        if model.has_attention and attention_path is not None:
            for number, member in enumerate(model.members if ready.request.attention_members else ()):
                output = _dump_plan(ready, member, cutoffs, engine, arrays, member_path(attention_path, number))
                writer = files.enter_context(output.open(member_path(attention_path, number)))
                for forecasts in engine(member, panel, output.cutoffs):
                    output.write(writer, forecasts)
            output = _dump_plan(ready, model, cutoffs, engine, arrays, attention_path)
            writer = files.enter_context(output.open(attention_path))
        # All windows are computed the way that has weights, written or not: a forecast depends on no option.
        for forecasts in engine(model, panel, cutoffs, need_weights=model.has_attention):
            combined = ready.combined(forecasts)
            parts.append(prediction_columns(panel, model, combined))
            if combined is not forecasts:
                moved = combined.prediction - forecasts.prediction
                moves |= dict(zip(forecasts.cutoffs.tolist(), moved, strict=True))
            if output is not None and writer is not None:
                output.write(writer, forecasts)
        predictions = predictions_table(parts, panel, ready.not_learned)
        if samples is not None and arrays is not None:
            drawn = files.enter_context(replacing(samples.path))
            write_samples(drawn, model, panel, arrays, cutoffs, samples, moves)
        if csv_path is not None and stream is not None:
            # On disk before the attention is completed: a full disk must leave both older files, not one.
            with write_errors_of(csv_path):
                stream.write(predictions_csv(predictions).encode())
                stream.flush()
    return predictions


def _this_process(arrays: WindowArrays | None) -> Engine:
    from forecast_attn.forecasting.inference import forecast_windows

    return partial(forecast_windows, arrays=arrays)


@contextlib.contextmanager
def _arrays_in_torch(model: Model, panel: Panel, device: torch.device) -> Iterator[WindowArrays]:
    """The windows of a panel on a device; the block computes with the run's number of threads."""
    from forecast_attn.devices import cpu_threads

    with cpu_threads(model.config.training.threads):
        yield model.schema.windows_of(panel).to(device)


def member_path(averaged: Path, number: int) -> Path:
    """Path of a member's weights: beside the averaged ones, as `attention-member-0.parquet`."""
    return averaged.with_name(f"{averaged.stem}-member-{number}{averaged.suffix}")


def _dump_plan(
    ready: PreparedForecast,
    model: Model,
    cutoffs: NDArray[np.int64],
    engine: Engine,
    arrays: WindowArrays | None,
    path: Path,
) -> AttentionDumpPlan:
    """The weights of a model, or of a member of it, on their way to a file; its size is reported to the listener."""
    choice, panel = ready.request.attention, ready.panel
    share = None if ready.other is None else ready.other.network_share(panel)
    if isinstance(engine, ExportedRun):
        forecast = partial(engine, model, panel)
        output = AttentionDumpPlan.with_rank(model, panel, cutoffs, choice, forecast, engine.value_rank, share)
    else:
        assert arrays is not None
        output = AttentionDumpPlan.plan(model, panel, arrays, cutoffs, choice, share)
    if ready.request.on_dump is not None:
        ready.request.on_dump(output.size, path)
    return output
