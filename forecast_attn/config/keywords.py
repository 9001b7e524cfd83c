"""The keywords of functions that take options, for type checkers and editors.

Written by `make docs` from `config.options` and `config.requests`; a test fails when it is out of date.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict


class ComputingKeywords(TypedDict, total=False):
    """The device of a command."""

    accelerator: str
    """Device to compute on (auto, cpu, gpu, cuda, mps). Default: 'auto'."""


class SharingKeywords(TypedDict, total=False):
    """The processes among which a command shares out its work."""

    jobs: int
    """Processes to run at the same time. Default: 1."""
    engine: str
    """Work in processes of this machine, or on a Ray cluster (extra ray) (local, ray). Default: 'local'."""


class AttentionFileKeywords(TypedDict, total=False):
    """The file of attention weights that a command writes."""

    attention_out: Path | str | None
    """Parquet file of the weights."""
    attention_windows: str | int
    """Number of windows whose weights are written, spread evenly, or all. Default: 'all'."""
    attention_dtype: str
    """Type of the written weights (float32, float16). Default: 'float32'."""
    attention_top: int | None
    """Write only the K largest weights of each row, with their lags."""


class ReadingKeywords(TypedDict, total=False):
    """Reading of a table."""

    target: str | int | None
    """Column to forecast, or row-count for the number of rows per step (default: the one named target, y, value, …)."""
    time: str | int | None
    """Column of time stamps, or several, such as year,month or date,time; row-number counts the rows (default: found
    by name or content)."""
    item_id: str | int | None
    """Column that identifies the series, or several, such as state,region (default: found by its name)."""
    ignore: str | Sequence[str]
    """Columns to leave out."""
    freq: str | int | None
    """Time step such as h, D, MS, 15min (default: inferred)."""
    date_format: str | int | None
    """Format of the time stamps: '%d.%m.%Y %H:%M', day-first, month-first; s, ms, us or ns for numbers since 1970,
    excel for a spreadsheet's day numbers, 0.25 for decimals by steps of 0.25 (default: detected)."""
    tz: str | int | None
    """Time zone of local time stamps, such as Europe/Berlin; results are shown in it."""
    delimiter: str | int | None
    """Field separator of a CSV (default: detected)."""
    decimal: str | int | None
    """Decimal mark of a CSV, a point or a comma (default: detected)."""
    encoding: str | int | None
    """Encoding of a CSV, such as cp1250 or gb18030 (default: detected)."""
    skip_rows: int
    """Lines of a CSV above its header, such as a title. Default: 0."""
    comment: str | int | None
    """Prefix of comment lines in a CSV, such as '#'."""
    skip_footer: int
    """Lines of a CSV below its rows, such as totals and sources. Default: 0."""
    header: bool
    """The first line of a CSV names its columns; without names they are column_1, column_2, …. Default: True."""
    header_rows: int
    """Header lines of a CSV, such as 2 for names and units. Default: 1."""
    na: str | Sequence[str]
    """Texts that mean a missing value, in addition to NA, NaN, null and the like: -,?,-999."""
    sheet: str | int | None
    """Name of the sheet in a spreadsheet, or of the table in a JSON file (default: the only one with rows)."""
    wide: bool
    """The table has one column per series instead of one row per series and step. Default: False."""
    layout: str
    """Form of the table: one row per series and step (long), one row per series (rows), or one row per year with a
    column per month or quarter, or per day with a column per hour (calendar), or the first one with dates or names
    in the first row of each block only, as of merged cells (merged) (long, rows, calendar, merged). Default: 'long'."""
    duplicates: str
    """Treatment of repeated rows of one series and time stamp (error, mean, first, last). Default: 'error'."""
    undated_rows: str
    """Treatment of rows without a time stamp, such as sums, units and names that stand once more (error, drop).
    Default: 'error'."""
    resample: str | int | None
    """Merge events, irregular rows or finer steps into one row per step, such as 15min, D, MS."""
    aggregate: str
    """How --resample combines the target's rows (mean, sum, last). Default: 'mean'."""
    partial_steps: str
    """Treatment of a first or last step of sums whose rows begin late or end early, as of a day that is not over
    (drop, keep). Default: 'drop'."""


class SharedKeywords(ReadingKeywords, total=False):
    """Options of every training, of one network or of many."""

    past_covariates: str | Sequence[str]
    """Columns known up to the cut-off (default: all undeclared numeric columns)."""
    future_covariates: str | Sequence[str]
    """Columns known through the horizon, such as prices; NAME:24 for one known only 24 steps ahead."""
    static_covariates: str | Sequence[str]
    """Columns constant per series."""
    horizon: int | None
    """Steps to forecast (default: hourly 24, daily 7, monthly 12, …; fewer for short series or few future rows)."""
    lookback: int | None
    """Past steps the model sees (default: hourly 168, daily 28, monthly 36, …; fewer for short series)."""
    season: str | int | None
    """Steps after which the series repeats, or hour, day, week, month, quarter or year; with several, the first is
    the season, and the lookback covers all (default: by the time step)."""
    missing: str
    """Treatment of empty cells and absent rows; mask hides them from attention and loss; auto masks a few and
    refuses many (auto, error, mask, ffill, interpolate, zero). Default: 'auto'."""
    categorical: str | Sequence[str]
    """Numeric covariates to treat as categories; declared text columns always are categories."""
    weight: str | int | None
    """Column with the weight of each series in the loss, constant per series."""
    calendar: str | int
    """Calendar features: auto (by frequency), none, or a list of names. Default: 'auto'."""
    holidays: str | Sequence[str]
    """Countries whose public holidays become a feature, such as DE,FR."""
    holiday_dates: str | int | None
    """CSV of additional dates to treat as holidays."""
    scaling: str
    """Scaling of each series, fitted on its training rows; covariates leaves the target as it is (standard, robust,
    mean-abs, covariates, none). Default: 'standard'."""
    transform: str
    """Transform of the target before scaling, for skewed values (none, arcsinh, log). Default: 'none'."""
    non_negative: bool
    """Clip forecasts and their quantiles at 0, for a target that is never negative. Default: False."""
    short_series: str
    """Treatment of series too short for a training window; auto pads those of a panel (auto, skip, pad, error).
    Default: 'auto'."""
    validation: float
    """End of the table kept for validation: a fraction below 1, or a number of steps. Default: 0.2."""
    attention_order: str | None
    """Attend before the decoder's cell (bahdanau) or after it (luong) (bahdanau, luong)."""
    attention_size: int | None
    """Width of additive and projected scores (default: 128)."""
    heads: int
    """Heads of multi-head attention. Default: 4."""
    normaliser: str
    """Function that turns scores into weights (softmax, sparsemax, entmax15). Default: 'softmax'."""
    attention_window: str
    """Past steps that a forecast step may attend to: all (global), those around a predicted position (local-p), or
    those around a whole number of seasons before it (local-m) (global, local-p, local-m). Default: 'global'."""
    window_radius: int
    """Half width D of a local attention window. Default: 10."""
    input_feeding: bool
    """Feed the attentional state into the next decoder step (luong order). Default: False."""
    cell: str
    """Recurrent cell of encoder and decoder (gru, lstm). Default: 'gru'."""
    hidden_size: int | None
    """Size of the encoder's state, per direction (default: 64; 32 for panels read step by step)."""
    decoder_size: int | None
    """Size of the decoder's state (default: the encoder's output size)."""
    num_layers: int
    """Recurrent layers of the encoder and of the decoder. Default: 1."""
    bidirectional: bool | None
    """Read the lookback in both directions (default: only with patches)."""
    patch_length: int | None
    """Time steps that the network reads as one (a patch); must divide the lookback (default: a quarter of a season
    of hourly and finer series, such as 6 hours; else 1)."""
    projection_size: int | None
    """Width of a learned projection of a step's inputs, before the cells; 0 for none (default: 128 with patches,
    else 0)."""
    lags: str | int | Sequence[int | str] | None
    """Steps back whose values each forecast step reads directly, bypassing the attention, such as 24,168 (default:
    none)."""
    temporal_decoder_size: int | None
    """Width of a perceptron per time step that adds to the decoder's forecast; 0 for none (default: 64 with patches,
    else 0)."""
    linear_path: bool
    """Add a linear map of the whole window and the known future inputs to the forecast. Default: False."""
    skip: bool
    """Add a linear map of each lookback step's inputs to its encoder output. Default: True."""
    dropout: float
    """Dropout between layers and before the head. Default: 0.1."""
    decoding: str
    """Direct: all steps at once; autoregressive: each step reads the previous output (direct, autoregressive).
    Default: 'direct'."""
    window_normalisation: str
    """Normalisation of each window: by its whole lookback (standard), its last season (last-season), its mean size
    (mean), or none (none, standard, last-season, mean). Default: 'last-season'."""
    quantiles: str | float | Sequence[float | str]
    """Quantiles to forecast, such as 0.1,0.9: a column each, trained on the pinball loss; 0.5, the point forecast,
    is always among them."""
    distribution: str
    """Distribution to fit by maximum likelihood; forecasts its --quantiles, else 0.1,0.5,0.9 (none, gaussian,
    student-t, negative-binomial, tweedie). Default: 'none'."""
    calibration: str
    """Conformal calibration of quantiles on validation windows: split (around the point forecast), cqr, adaptive
    (starts as cqr and follows later errors), or none (none, split, cqr, adaptive). Default: 'none'."""
    preset: str
    """A set of options; options you give override it: fast (six epochs of a smaller network: a third of the time on
    long tables, too few for short ones); default (one network); accurate (four networks with averaged weights, four
    to five times the time of one); `help` lists them (fast, default, accurate). Default: 'default'."""
    loss: str
    """Loss on the scaled target; quantiles and distributions have their own (mae, mse, huber). Default: 'mae'."""
    batch_size: int | None
    """Windows per training step (default: 16 to 128, depending on the number of windows)."""
    learning_rate: float | None
    """Peak learning rate of AdamW (default: 0.001 with patches, else 0.008)."""
    weight_decay: float | None
    """Decoupled weight decay of AdamW (default: 0.01 with patches, else 0.0001)."""
    schedule: str
    """Course of the learning rate over --max-epochs (constant, one-cycle, cosine). Default: 'one-cycle'."""
    warmup: float | None
    """Share of the steps during which the learning rate rises (default: 0.3 for one-cycle, 0.05 for cosine)."""
    weight_averaging: str
    """Weights to validate and keep: the last ones (none), or their exponential moving average (ema) (none, ema).
    Default: 'none'."""
    averaging_decay: float
    """Highest decay of the average per step; lower in the first steps. Default: 0.999."""
    gradient_clip: float
    """Largest norm of the gradient; 0 disables clipping. Default: 1.0."""
    max_epochs: int | None
    """Largest number of epochs (default: enough for about 2,000 training steps, 1,200 with patches)."""
    max_time: str | int | None
    """Time limit, such as 90s, 10m, 1h30m; the schedule is fitted to it."""
    patience: int | None
    """Epochs without a better validation loss before training stops (default: a quarter of --max-epochs)."""
    epoch_windows: int
    """Largest number of training windows per epoch; 0 for all. Default: 12800."""
    validation_windows: int
    """Largest number of validation windows scored per epoch; 0 for all. Default: 1024."""
    teacher_forcing: str | int
    """Teacher forcing ratio, from first to last epoch. Default: '1.0..0'."""
    teacher_forcing_decay: str
    """Decay of the teacher forcing ratio (linear, exponential, inverse-sigmoid). Default: 'linear'."""
    ensemble: int
    """Number of networks to train with different seeds and to combine. Default: 1."""
    final_fit: str
    """Train again on all rows, for as many epochs as validation found best: auto (only panels of 20 or more series
    without patches), always, or none (auto, always, none). Default: 'auto'."""
    combination: str
    """Forecast a weighted mean of the network and baselines, with weights that validation chooses (auto), or the
    network alone (none) (auto, none). Default: 'auto'."""
    combine: str
    """Combination of an ensemble's forecasts, quantile by quantile (mean, median). Default: 'mean'."""
    accelerator: str
    """Device to train on (auto, cpu, gpu, cuda, mps). Default: 'auto'."""
    devices: int
    """Number of devices to train on, on each machine. Default: 1."""
    num_nodes: int
    """Number of machines; torchrun or srun starts their processes. Default: 1."""
    strategy: str
    """How several devices train together: with whole copies of the network (ddp; auto), or a part each (fsdp) (auto,
    ddp, fsdp). Default: 'auto'."""
    threads: int
    """CPU threads; more than one helps only large networks on an idle machine. Default: 1."""
    precision: str
    """Numeric precision of training: 32, or mixed bf16 or 16 (32, bf16, 16). Default: '32'."""
    attention_windows: str | int
    """Number of validation windows whose attention is written, spread evenly, or all. Default: '128'."""
    attention_dtype: str
    """Type of the attention weights in the file (float32, float16). Default: 'float32'."""
    attention_top: int | None
    """Write only the K largest weights of each row, with their lags."""


class TrainKeywords(SharedKeywords, total=False):
    """Options of `forecast train`."""

    vintages: str | int | None
    """Table of past forecasts of covariates, with a column issued_at; each cut-off sees only those issued by then."""
    attention: str
    """Attention mechanism; `help` lists them (none, bahdanau, bahdanau-normed, luong-dot, luong-general,
    luong-concat, luong-location, luong-scaled, scaled-dot, multi-head, keras-additive, keras-dot). Default:
    'luong-general'."""
    seed: int | None
    """Random seed (default: drawn and recorded)."""


class CompareKeywords(SharedKeywords, SharingKeywords, total=False):
    """Options of `compare` but its mechanisms and folder."""

    seeds: int
    """Trainings of each mechanism. Default: 3."""
    seed: int
    """Seed of the first training of each; the others follow. Default: 0."""


class TuneKeywords(SharedKeywords, SharingKeywords, total=False):
    """Options of `tune`."""

    trials: int
    """Total number of trials, including those of earlier calls and other processes. Default: 50."""
    space: Path | str | None
    """TOML file of options to search and their values (default: by the table)."""
    metric: str
    """Error to minimise (mae, rmse, mase, pinball). Default: 'mae'."""
    backtest: int | None
    """Score by a backtest of the last K cut-offs, instead of on the validation windows."""
    pruner: str
    """Rule that stops trials with a bad validation loss early (median, none). Default: 'median'."""
    storage: str | int | None
    """Database of the study: an SQLite file or a URL (default: runs/<table>.study.db)."""
    study: str | int
    """Name of the study in its database. Default: 'forecast-attn'."""
    seed: int
    """Seed of the search and of every training. Default: 0."""
    winner: bool
    """Train a run with the best options at the end. Default: True."""
    out: Path | str | None
    """Run directory of the winner (default: runs/<time>-<attention>)."""
    png: Path | str | None
    """Picture of the importance of each option (extra plot)."""
    attention: str
    """Attention mechanism; `help` lists them (none, bahdanau, bahdanau-normed, luong-dot, luong-general,
    luong-concat, luong-location, luong-scaled, scaled-dot, multi-head, keras-additive, keras-dot). Default:
    'luong-general'."""


class PredictKeywords(AttentionFileKeywords, ComputingKeywords, total=False):
    """Options of `forecast predict`."""

    out: Path | str | None
    """CSV of the forecasts; - for stdout."""
    attention_members: bool
    """Write the weights of each ensemble member to its own file too. Default: False."""
    cold_start: bool
    """Forecast series never seen in training, scaled by their own lookback. Default: False."""
    non_negative: bool | None
    """Clip forecasts and quantiles at 0 (default: as in training)."""
    samples: int | None
    """Draw N paths of every series (autoregressive, with quantiles)."""
    seed: int | None
    """Seed of the paths (default: drawn and shown)."""
    samples_out: Path | str | None
    """Parquet file of the paths."""
    combine_with: str | Sequence[str] | None
    """Average with these baselines (regression,quantile-regression), fitted to the history; none: the network alone
    (default: as validation chose in training)."""
    engine: str
    """Compute in this process, or on a Ray cluster (extra ray) (local, ray). Default: 'local'."""
    runtime: str
    """Compute with torch, or with the file of forecast export RUN, which starts sooner (torch, onnx). Default:
    'torch'."""


class BacktestKeywords(AttentionFileKeywords, SharingKeywords, ComputingKeywords, total=False):
    """Options of `forecast backtest`."""

    cutoffs: int | None
    """The last N cut-offs whose horizon lies within the data."""
    start: str | int | None
    """First time stamp to forecast (default: the end of training)."""
    end: str | int | None
    """Last time stamp at which a forecast may start; a date covers its whole day."""
    stride: str | int | None
    """Distance between cut-offs: steps (24), exact time (24h), or days on the wall clock (7D) (default: the
    horizon)."""
    refit: str | int
    """Continue training every K cut-offs, on the rows up to then. Default: 'never'."""
    refit_epochs: int | None
    """Epochs of each refit (default: 2)."""
    refit_learning_rate: float | None
    """Peak learning rate of each refit (default: a fifth of the run's)."""
    refit_window: str | int | None
    """Refit on the newest steps only: 1344, or 8W (default: on all rows)."""
    refit_validation: int | None
    """Steps before a refit's cut-off that are held out to choose its best epoch; 0 for none (default: 7 horizons)."""
    refit_from: str | None
    """Weights that a refit starts from: those of the refit before (last, the default), or of the run (run) (last,
    run)."""
    refit_half_life: str | int | None
    """Age at which a refit draws windows half as often as the newest: 1344, or 8W (default: all equally often)."""
    refit_keep: str | None
    """Weights to continue with: those of the refit (new, the default), or the better ones on --refit-validation
    (best) (best, new)."""
    refit_final_fit: bool
    """End each refit with a training that includes the rows of --refit-validation. Default: False."""
    baselines: str | Sequence[str] | None
    """Models to compare with, or none (default: naive,seasonal-naive,mean,median,drift,linear); also regression,
    median-regression, quantile-regression, kernel-regression, boosted-trees, auto-ets, auto-arima."""
    combine_with: str | Sequence[str] | None
    """Also score the mean of the model's forecast and these baselines' (regression,quantile-regression), as
    combination; none: the network alone (default: as validation chose in training)."""
    chronos_model: Path | str | None
    """Also compare with a Chronos model, whose weights are in this folder (extra chronos)."""
    metrics: str | Sequence[str] | None
    """Metrics, such as mae,rmse (default: all)."""
    by: str | Sequence[str]
    """Score by step, item_id, hour, weekday or cutoff too."""
    out: Path | str | None
    """Parquet or CSV of the forecasts; the scores are written beside it as JSON."""
    out_run: Path | str | None
    """Run directory of the training, where a table is backtested."""
    name: str | int | None
    """Name of the model in the file (default: the run's)."""
    non_negative: bool | None
    """Clip forecasts and quantiles at 0 (default: as in training)."""


class ScoreKeywords(ComputingKeywords, total=False):
    """Options of `forecast score`."""

    rate: float
    """Share of normal rows that may be flagged. Default: 0.01."""
    step: int
    """Compare each row with the forecast made this many steps before it. Default: 1."""
    side: str
    """Flag rows above the interval, below it, or both (both, above, below). Default: 'both'."""
    start: str | int | None
    """First time stamp to score (default: the one after the reference)."""
    reference: Path | str | None
    """Table of rows known to be normal (default: the rows that validated the run)."""
    out: Path | str | None
    """CSV or Parquet file of the scores."""


class ReconcileKeywords(ComputingKeywords, total=False):
    """Options of `forecast reconcile`."""

    method: str
    """Reconciliation method (bottom-up, top-down, ols, wls-struct, wls-var, mint). Default: 'mint'."""
    reference: Path | str | None
    """Table of past rows to estimate the errors for wls-var and mint from (default: the run's own)."""
    out: Path | str | None
    """CSV of the reconciled forecasts."""


class UpdateKeywords(ComputingKeywords, total=False):
    """Options of `forecast update`."""

    out: Path | str | None
    """Run directory to write (default: runs/<time>-<attention>)."""
    epochs: int | None
    """Epochs of training (default: 2)."""
    learning_rate: float | None
    """Peak learning rate (default: a fifth of the run's)."""
    window: str | int | None
    """Train on the newest steps only: 1344, or 8W (default: on all rows)."""
    half_life: str | int | None
    """Age at which windows are drawn half as often as the newest: 1344, or 8W; none: all equally often (default: 8
    lookbacks, if no --window is given)."""
    validation: int | None
    """Newest steps, held out to choose between old and new weights; 0 for none (default: 7 horizons)."""
    keep: str
    """Weights to keep: the better ones on --validation, or always the new ones (best, new). Default: 'best'."""
    final_fit: bool
    """At the end, train the new weights on all rows, including those of --validation. Default: True."""


class AuditKeywords(ComputingKeywords, total=False):
    """Options of `forecast audit`."""

    windows: int
    """Largest number of validation windows to audit, spread evenly. Default: 128."""
    seeds: Path | str | Sequence[Path | str]
    """Another training on the same table to compare with; repeatable."""
    covariates: bool
    """Measure the importance of each column too (permutation importance). Default: False."""
    draws: int | None
    """Number of random orders of the weights (default: 100 for up to 128 windows, fewer for more)."""
    repeats: int
    """Number of permutations of each column. Default: 10."""
    seed: int
    """Seed of all random draws. Default: 0."""
    out: Path | str | None
    """JSON document to write."""


class InspectKeywords(TypedDict, total=False):
    """Options of `forecast inspect`."""

    item: str | int | None
    """Only this series."""
    cutoff: str | int | None
    """Only this cut-off."""
    step: int | None
    """Only this step ahead."""
    head: int | None
    """Only this head, counted from 0."""
    top: int
    """Lags to list per step. Default: 5."""
    by: str | int | None
    """Compare groups: item, head, or hour or weekday of the cut-off."""
    compare: Path | str | None
    """Compare with this run or file."""
    validation: bool
    """Inspect the run's validation windows instead of its forecast. Default: False."""
    export: Path | str | None
    """Write the weights as .csv (long) or .npz."""
    png: Path | str | None
    """Write a picture of the weights below their series."""
    svg: Path | str | None
    """The same picture, scalable."""
    html: Path | str | None
    """Write an interactive page for any browser."""
    html_windows: int | None
    """Number of windows on the page (default: as many as fit 1.2 MB)."""


class PlotKeywords(TypedDict, total=False):
    """Options of `forecast plot` but its kind."""

    item: str | Sequence[str]
    """Only this series; repeatable."""
    cutoff: str | int | None
    """Forecast of this cut-off (default: the last of each series)."""
    model: str | Sequence[str]
    """Only this model of a backtest; repeatable."""
    history: int | None
    """Steps before the cut-off (default: four horizons, at least 24)."""
    step: int | None
    """Step ahead whose attribution is drawn (default: the mean of all)."""
    column: str | Sequence[str]
    """Column of --kind by-value; repeatable (default: all)."""
    png: Path | str | None
    """Write the picture."""
    svg: Path | str | None
    """The same picture, scalable."""
    animate: Path | str | None
    """Animate the validation windows of a series and where each looked, as .gif or .png."""


class ReportKeywords(TypedDict, total=False):
    """Options of `forecast report`."""

    html: Path | str | None
    """Page to write (default: report.html in the run, unless --pdf is given)."""
    pdf: Path | str | None
    """The same page as a PDF, printed by an installed Chromium or Chrome."""


class ExportKeywords(TypedDict, total=False):
    """Options of `forecast export` but its file."""

    network_alone: bool
    """Leave out the baselines that validation combined the network with. Default: False."""


class ServingKeywords(TypedDict, total=False):
    """Options of `create_app`."""

    token_file: Path | str | None
    """File with the token that requests must carry (default: the variable FORECAST_ATTN_TOKEN)."""
    max_bytes: int
    """Largest body of a request in bytes. Default: 16777216."""
    max_waiting: int
    """Largest number of requests at a time; further ones get status 503. Default: 64."""
    timeout: float
    """Seconds that a request may take. Default: 30.0."""
    reload: float
    """Seconds between checks for newer runs; 0 never checks. Default: 5.0."""


class ServeKeywords(ServingKeywords, total=False):
    """Options of `serve`."""

    host: str | int
    """Address to listen on; 0.0.0.0 for all networks. Default: '127.0.0.1'."""
    port: int
    """Port to listen on; 0 takes a free one. Default: 8000."""


class UiKeywords(TypedDict, total=False):
    """Options of `ui`."""

    port: int
    """Port on this machine; 0 takes a free one. Default: 8765."""


class EvaluateKeywords(ReadingKeywords, total=False):
    """Options of `forecast evaluate`."""

    model_columns: str | Sequence[str]
    """Columns that are forecasts (default: detected)."""
    metrics: str | Sequence[str] | None
    """Metrics, such as mae,rmse (default: all)."""
    by: str | Sequence[str]
    """Overall, step, item_id, hour, weekday, cutoff, or several. Default: ('overall',)."""
    season: int | None
    """Steps of a season (default: by frequency)."""
    block: int | None
    """Steps per forecast in a table without cut-offs."""
    reference: str | int | None
    """Model to compare with (default: seasonal-naive)."""
    norm: int
    """Norm of a cut-off's errors in the tests: 1 or 2. Default: 1."""
    out: Path | str | None
    """Scores to write: .csv, or .json with the tests."""
