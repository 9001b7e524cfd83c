"""The keywords of functions that take options, for type checkers and editors.

Written by `make docs` from `config.options` and `config.requests`; a test fails when it is out of date.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict


class TrainKeywords(TypedDict, total=False):
    """Options of `forecast train`."""

    target: str | int | None
    time: str | int | None
    item_id: str | int | None
    past_covariates: str | Sequence[str]
    future_covariates: str | Sequence[str]
    static_covariates: str | Sequence[str]
    ignore: str | Sequence[str]
    horizon: int | None
    lookback: int | None
    freq: str | int | None
    season: str | int | None
    date_format: str | int | None
    tz: str | int | None
    delimiter: str | int | None
    decimal: str | int | None
    encoding: str | int | None
    skip_rows: int
    comment: str | int | None
    skip_footer: int
    header: bool
    header_rows: int
    na: str | Sequence[str]
    sheet: str | int | None
    wide: bool
    layout: str
    duplicates: str
    resample: str | int | None
    aggregate: str
    missing: str
    categorical: str | Sequence[str]
    weight: str | int | None
    calendar: str | int
    holidays: str | Sequence[str]
    holiday_dates: str | int | None
    vintages: str | int | None
    scaling: str
    transform: str
    non_negative: bool
    short_series: str
    validation: float
    attention: str
    attention_order: str | None
    attention_size: int | None
    heads: int
    normaliser: str
    attention_window: str
    window_radius: int
    input_feeding: bool
    cell: str
    hidden_size: int | None
    decoder_size: int | None
    num_layers: int
    bidirectional: bool | None
    patch_length: int | None
    projection_size: int | None
    lags: str | int | Sequence[int | str] | None
    temporal_decoder_size: int | None
    linear_path: bool
    skip: bool
    dropout: float
    decoding: str
    window_normalisation: str
    quantiles: str | float | Sequence[float | str]
    distribution: str
    calibration: str
    preset: str
    loss: str
    batch_size: int | None
    learning_rate: float | None
    weight_decay: float | None
    schedule: str
    warmup: float | None
    weight_averaging: str
    averaging_decay: float
    gradient_clip: float
    max_epochs: int | None
    max_time: str | int | None
    patience: int | None
    epoch_windows: int
    validation_windows: int
    teacher_forcing: str | int
    teacher_forcing_decay: str
    seed: int | None
    ensemble: int
    final_fit: str
    combination: str
    combine: str
    accelerator: str
    devices: int
    num_nodes: int
    strategy: str
    threads: int
    precision: str
    attention_windows: str | int
    attention_dtype: str
    attention_top: int | None


class CompareKeywords(TypedDict, total=False):
    """Options of `compare` but its mechanisms and folder."""

    seeds: int
    seed: int
    jobs: int
    engine: str
    target: str | int | None
    time: str | int | None
    item_id: str | int | None
    past_covariates: str | Sequence[str]
    future_covariates: str | Sequence[str]
    static_covariates: str | Sequence[str]
    ignore: str | Sequence[str]
    horizon: int | None
    lookback: int | None
    freq: str | int | None
    season: str | int | None
    date_format: str | int | None
    tz: str | int | None
    delimiter: str | int | None
    decimal: str | int | None
    encoding: str | int | None
    skip_rows: int
    comment: str | int | None
    skip_footer: int
    header: bool
    header_rows: int
    na: str | Sequence[str]
    sheet: str | int | None
    wide: bool
    layout: str
    duplicates: str
    resample: str | int | None
    aggregate: str
    missing: str
    categorical: str | Sequence[str]
    weight: str | int | None
    calendar: str | int
    holidays: str | Sequence[str]
    holiday_dates: str | int | None
    scaling: str
    transform: str
    non_negative: bool
    short_series: str
    validation: float
    attention_order: str | None
    attention_size: int | None
    heads: int
    normaliser: str
    attention_window: str
    window_radius: int
    input_feeding: bool
    cell: str
    hidden_size: int | None
    decoder_size: int | None
    num_layers: int
    bidirectional: bool | None
    patch_length: int | None
    projection_size: int | None
    lags: str | int | Sequence[int | str] | None
    temporal_decoder_size: int | None
    linear_path: bool
    skip: bool
    dropout: float
    decoding: str
    window_normalisation: str
    quantiles: str | float | Sequence[float | str]
    distribution: str
    calibration: str
    preset: str
    loss: str
    batch_size: int | None
    learning_rate: float | None
    weight_decay: float | None
    schedule: str
    warmup: float | None
    weight_averaging: str
    averaging_decay: float
    gradient_clip: float
    max_epochs: int | None
    max_time: str | int | None
    patience: int | None
    epoch_windows: int
    validation_windows: int
    teacher_forcing: str | int
    teacher_forcing_decay: str
    ensemble: int
    final_fit: str
    combination: str
    combine: str
    accelerator: str
    devices: int
    num_nodes: int
    strategy: str
    threads: int
    precision: str
    attention_windows: str | int
    attention_dtype: str
    attention_top: int | None


class TuneKeywords(TypedDict, total=False):
    """Options of `tune`."""

    trials: int
    max_time: str | int | None
    space: Path | str | None
    metric: str
    backtest: int | None
    pruner: str
    storage: str | int | None
    study: str | int
    seed: int
    winner: bool
    out: Path | str | None
    png: Path | str | None
    jobs: int
    engine: str
    target: str | int | None
    time: str | int | None
    item_id: str | int | None
    past_covariates: str | Sequence[str]
    future_covariates: str | Sequence[str]
    static_covariates: str | Sequence[str]
    ignore: str | Sequence[str]
    horizon: int | None
    lookback: int | None
    freq: str | int | None
    season: str | int | None
    date_format: str | int | None
    tz: str | int | None
    delimiter: str | int | None
    decimal: str | int | None
    encoding: str | int | None
    skip_rows: int
    comment: str | int | None
    skip_footer: int
    header: bool
    header_rows: int
    na: str | Sequence[str]
    sheet: str | int | None
    wide: bool
    layout: str
    duplicates: str
    resample: str | int | None
    aggregate: str
    missing: str
    categorical: str | Sequence[str]
    weight: str | int | None
    calendar: str | int
    holidays: str | Sequence[str]
    holiday_dates: str | int | None
    scaling: str
    transform: str
    non_negative: bool
    short_series: str
    validation: float
    attention: str
    attention_order: str | None
    attention_size: int | None
    heads: int
    normaliser: str
    attention_window: str
    window_radius: int
    input_feeding: bool
    cell: str
    hidden_size: int | None
    decoder_size: int | None
    num_layers: int
    bidirectional: bool | None
    patch_length: int | None
    projection_size: int | None
    lags: str | int | Sequence[int | str] | None
    temporal_decoder_size: int | None
    linear_path: bool
    skip: bool
    dropout: float
    decoding: str
    window_normalisation: str
    quantiles: str | float | Sequence[float | str]
    distribution: str
    calibration: str
    preset: str
    loss: str
    batch_size: int | None
    learning_rate: float | None
    weight_decay: float | None
    schedule: str
    warmup: float | None
    weight_averaging: str
    averaging_decay: float
    gradient_clip: float
    max_epochs: int | None
    patience: int | None
    epoch_windows: int
    validation_windows: int
    teacher_forcing: str | int
    teacher_forcing_decay: str
    ensemble: int
    final_fit: str
    combination: str
    combine: str
    accelerator: str
    devices: int
    num_nodes: int
    strategy: str
    threads: int
    precision: str
    attention_windows: str | int
    attention_dtype: str
    attention_top: int | None


class PredictKeywords(TypedDict, total=False):
    """Options of `forecast predict`."""

    out: Path | str | None
    attention_members: bool
    cold_start: bool
    non_negative: bool | None
    samples: int | None
    seed: int | None
    samples_out: Path | str | None
    combine_with: str | Sequence[str] | None
    engine: str
    accelerator: str
    attention_out: Path | str | None
    attention_windows: str | int
    attention_dtype: str
    attention_top: int | None


class BacktestKeywords(TypedDict, total=False):
    """Options of `forecast backtest`."""

    cutoffs: int | None
    start: str | int | None
    end: str | int | None
    stride: str | int | None
    refit: str | int
    refit_epochs: int | None
    refit_learning_rate: float | None
    refit_window: str | int | None
    refit_validation: int | None
    refit_from: str | int | None
    refit_half_life: str | int | None
    refit_keep: str | int | None
    refit_final_fit: bool
    baselines: str | Sequence[str] | None
    combine_with: str | Sequence[str] | None
    metrics: str | Sequence[str] | None
    by: str | Sequence[str]
    out: Path | str | None
    out_run: Path | str | None
    name: str | int | None
    non_negative: bool | None
    accelerator: str
    jobs: int
    engine: str
    attention_out: Path | str | None
    attention_windows: str | int
    attention_dtype: str
    attention_top: int | None


class ScoreKeywords(TypedDict, total=False):
    """Options of `forecast score`."""

    rate: float
    step: int
    side: str
    start: str | int | None
    reference: Path | str | None
    out: Path | str | None
    accelerator: str


class ReconcileKeywords(TypedDict, total=False):
    """Options of `forecast reconcile`."""

    method: str
    reference: Path | str | None
    out: Path | str | None
    accelerator: str


class UpdateKeywords(TypedDict, total=False):
    """Options of `forecast update`."""

    out: Path | str | None
    epochs: int | None
    learning_rate: float | None
    window: str | int | None
    half_life: str | int | None
    validation: int | None
    keep: str
    final_fit: bool
    accelerator: str


class AuditKeywords(TypedDict, total=False):
    """Options of `forecast audit`."""

    windows: int
    seeds: Path | str | Sequence[Path | str]
    covariates: bool
    draws: int | None
    repeats: int
    seed: int
    out: Path | str | None
    accelerator: str


class InspectKeywords(TypedDict, total=False):
    """Options of `forecast inspect`."""

    item: str | int | None
    cutoff: str | int | None
    step: int | None
    head: int | None
    top: int
    by: str | int | None
    compare: Path | str | None
    validation: bool
    export: Path | str | None
    png: Path | str | None
    svg: Path | str | None
    html: Path | str | None
    html_windows: int | None


class PlotKeywords(TypedDict, total=False):
    """Options of `forecast plot` but its kind."""

    item: str | Sequence[str]
    cutoff: str | int | None
    model: str | Sequence[str]
    history: int | None
    step: int | None
    column: str | Sequence[str]
    png: Path | str | None
    svg: Path | str | None
    animate: Path | str | None


class ReportKeywords(TypedDict, total=False):
    """Options of `forecast report`."""

    html: Path | str | None
    pdf: Path | str | None


class ExportKeywords(TypedDict, total=False):
    """Options of `forecast export` but its file."""

    network_alone: bool


class ServingKeywords(TypedDict, total=False):
    """Options of `create_app`."""

    token_file: Path | str | None
    max_bytes: int
    max_waiting: int
    timeout: float
    reload: float


class ServeKeywords(TypedDict, total=False):
    """Options of `serve`."""

    host: str | int
    port: int
    token_file: Path | str | None
    max_bytes: int
    max_waiting: int
    timeout: float
    reload: float


class UiKeywords(TypedDict, total=False):
    """Options of `ui`."""

    port: int


class EvaluateKeywords(TypedDict, total=False):
    """Options of `forecast evaluate`."""

    model_columns: str | Sequence[str]
    metrics: str | Sequence[str] | None
    by: str | Sequence[str]
    season: int | None
    block: int | None
    reference: str | int | None
    norm: int
    out: Path | str | None
    target: str | int | None
    time: str | int | None
    item_id: str | int | None
    freq: str | int | None
    date_format: str | int | None
    tz: str | int | None
    delimiter: str | int | None
    decimal: str | int | None
    encoding: str | int | None
    skip_rows: int
    comment: str | int | None
    skip_footer: int
    header: bool
    header_rows: int
    na: str | Sequence[str]
    sheet: str | int | None
    wide: bool
    layout: str
