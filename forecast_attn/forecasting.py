"""A run, a history and what is known of the future -> forecasts: what `Forecaster.predict` does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from forecast_attn.attention_dump import AttentionDump, DumpChoice, read_attention
from forecast_attn.attention_output import DumpListener
from forecast_attn.combining import Other
from forecast_attn.config import DataConfig, RunConfig
from forecast_attn.data.reading import read_beside, shared_by_all
from forecast_attn.data.roles import Roles
from forecast_attn.errors import ConfigError
from forecast_attn.evaluation.baseline_forecasts import check_baselines
from forecast_attn.forecast_result import ForecastResult
from forecast_attn.history import future_panel, knowing_cold_series, read_history, without_flags_of_train
from forecast_attn.inference import Model, choose_device, load_model
from forecast_attn.panel_reading import Table, name_of
from forecast_attn.prediction import forecast_panel, member_path
from forecast_attn.run_dir import RunDir
from forecast_attn.samples_output import SampleChoice

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastRequest:
    """The arguments of `Forecaster.predict`, which says what each means."""

    data: pd.DataFrame | Table | None
    future: pd.DataFrame | Table | None
    out: Path | None = None
    attention_out: Path | None = None
    attention: DumpChoice = field(default_factory=DumpChoice)
    attention_members: bool = False
    on_dump: DumpListener | None = None
    cold_start: bool = False
    non_negative: bool | None = None
    samples: int | None = None
    seed: int | None = None
    samples_out: Path | None = None
    combine_with: tuple[str, ...] = ()
    accelerator: str = "auto"


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
    _check_combination(request)
    device = choose_device(request.accelerator)
    model = load_model(run)
    _check_members(model, request)
    if request.non_negative is not None:
        model = model.cut_off_at_zero(request.non_negative)
    samples_out = request.samples_out
    if request.samples is not None and samples_out is None:
        samples_out = scratch() / run.samples.name
    paths = SampleChoice.of(model, request.samples, request.seed, samples_out)
    roles = model.schema.roles
    frame = table_beside(request.data, config.data, roles, wide=config.data.wide)
    known = table_beside(request.future, config.data, roles)
    forecasts = None if known is None else (known, name_of(request.future))
    history = read_history(model, run, frame, name_of(request.data), cold_start=request.cold_start, forecasts=forecasts)
    model = knowing_cold_series(model, history.panel)
    if known is not None and config.data.wide:
        known = shared_by_all(known, history.panel.item_ids)
    panel, findings = future_panel(model, history.panel, known, name_of(request.future))
    other = Other.of(request.combine_with, model, panel) if request.combine_with else None
    attention_path = request.attention_out or scratch() / run.attention.name
    predictions = forecast_panel(
        model,
        panel,
        device,
        attention_path=attention_path,
        csv_path=request.out,
        choice=request.attention,
        members=request.attention_members,
        on_dump=request.on_dump,
        samples=paths,
        other=other,
    )
    return ForecastResult(
        predictions,
        read_attention(attention_path) if model.has_attention else None,
        member_attention=_member_attention(model, request, attention_path),
        skipped=history.skipped,
        cold=history.cold,
        unknown_categories=model.schema.unknown_categories(panel),
        repairs=panel.repairs,
        findings=findings,
        samples_path=None if paths is None else paths.path,
        samples_seed=None if paths is None else paths.seed,
        combined_with=request.combine_with,
        alone=() if other is None else other.alone(panel),
    )


def table_beside(
    table: pd.DataFrame | Table | None, config: DataConfig, roles: Roles, *, wide: bool = False
) -> pd.DataFrame | None:
    """A table read as that of the training was; None for none."""
    if table is None:
        return None
    config = replace(config, categorical=roles.categorical)  # in this table they may all look like numbers
    with without_flags_of_train():
        return read_beside(table, config, item_id=roles.item_id, wide=wide)


def _check_combination(request: ForecastRequest) -> None:
    """Refuse what cannot be combined with, before anything is read."""
    check_baselines(request.combine_with)
    if request.combine_with and request.samples is not None:
        raise ConfigError("--samples draws paths of the network alone, without --combine-with", "leave one of them out")


def _check_members(model: Model, request: ForecastRequest) -> None:
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
