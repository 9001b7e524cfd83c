"""Prepares a backtest from a run, a table and the options. Every refusal happens here, before any work."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.attention_file import DumpChoice
from forecast_attn.attention_file.writer import check_top
from forecast_attn.backtest.backtest_options import BacktestOptions
from forecast_attn.backtest.backtest_scores import check_scores
from forecast_attn.backtest.backtest_table import read_actuals, trained_series, training_end
from forecast_attn.backtest.cutoffs import Schedule, axis_of
from forecast_attn.backtest.folds import Folds, make_folds
from forecast_attn.backtest.job import Backtest
from forecast_attn.baselines.combination import COMBINATION
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.baselines.registry import BASELINES, DEFAULT_BASELINES
from forecast_attn.config.values import NETWORK
from forecast_attn.data.findings import Finding
from forecast_attn.data.outliers import far_from_training
from forecast_attn.devices import choose_device
from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.forecasting.baseline_forecasts import check_median
from forecast_attn.forecasting.history import with_calendar_of
from forecast_attn.forecasting.inference import load_model
from forecast_attn.forecasting.model import Model
from forecast_attn.forecasting.predict import kept_combination
from forecast_attn.runs.atomic import check_name
from forecast_attn.runs.output_paths import refuse_outputs
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import Table
from forecast_attn.training.choose_combination import candidate_names

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.data.panel import Panel
    from forecast_attn.data.reading import Progress


def plan_backtest(
    run: RunDir,
    data: pd.DataFrame | Table | None,
    options: BacktestOptions,
    *,
    vintages: pd.DataFrame | Table | None = None,
    progress: Progress | None = None,
) -> Backtest:
    """Read the table and find the folds.

    Args:
        run: finished.
        data: what to forecast and compare with; the table of the training when None.
        options: of the backtest.
        vintages: future covariates as they were forecast; the file that the run names when None.
        progress: called with the bytes read so far and the bytes there are.

    Raises:
        ConfigError: options that contradict each other, or do not fit the run.
        RunError: the run is damaged, or its table is another one now.
        DataError: what is wrong with the table, or it has no such cut-off.
    """
    model = load_model(run)
    panel = read_actuals(model, run, data, vintages, progress, weighted=options.refits.every > 0)
    return plan_on_panel(run, with_calendar_of(model, panel), panel, options)


def plan_on_panel(
    run: RunDir, model: Model, panel: Panel, options: BacktestOptions, schedule: Schedule | None = None
) -> Backtest:
    """The backtest of a panel that was read with the model's roles; see `plan_backtest`.

    Args, if not those of `plan_backtest`:
        model: of the run.
        panel: with the actual values.
        schedule: cut-offs other than those of the options.
    """
    device = choose_device(options.accelerator)
    _check_attention(model, options)
    options.refits.check(axis_of(panel), model.schema.horizon)
    panel, unseen = trained_series(model.schema.scaler, panel)
    trained_until: Any = training_end(run, panel, validated=True)
    cutoffs = (schedule or options.schedule).cutoff_stamps(panel, model.schema.horizon, trained_until)
    newest = training_end(run, panel, validated=False)
    is_validated = bool(newest > trained_until and cutoffs[0] < newest)
    # Of the cut-offs that training on all rows has seen, the network that validation judged has seen none.
    model, trained_until = (load_model(run, validated=True), trained_until) if is_validated else (model, newest)
    if options.non_negative is not None:
        model = model.cut_off_at_zero(options.non_negative)
    start = load_model(run, validated=True) if options.refits.chooses else None
    if options.combine_with:
        check_median(model)
    combination = kept_combination(run) if options.combine_with is None else Combination()
    candidates = _candidates(model, panel, combination.weights, options)
    baselines = tuple(dict.fromkeys((*options.compared, *candidates)))
    folds = make_folds(panel, model.schema, cutoffs, trained_until=trained_until, refit_every=options.refits.every)
    backtest = Backtest(
        run=run,
        model=model,
        panel=panel,
        folds=folds,
        name=_name_of(run, options, is_combined=bool(options.combine_with or combination.weights)),
        device=device,
        trained_until=trained_until,
        start=start,
        unseen=unseen,
        findings=_far_values(model, panel, folds),
        baselines=baselines,
        dispensable=_dispensable(options, candidates),
        combine_with=candidates or options.combine_with or (),
        combination=combination,
        is_validated=is_validated,
        options=options,
    )
    check_scores(backtest)
    return backtest


def _far_values(model: Model, panel: Panel, folds: Folds) -> tuple[Finding, ...]:
    """Warnings about values from the first lookback on that lie far beyond anything that training saw."""
    back = panel.ends[panel.series_of(folds.windows)] - folds.windows
    return tuple(far_from_training(panel, model.schema.scaler, int(back.max()) + model.schema.lookback, 0))


def plan_on_validation(run: RunDir, reference: Path | None, accelerator: str) -> Backtest:
    """The backtest from every cut-off of the stretch that validated a run, by the network that was not trained on it.

    Args:
        run: finished.
        reference: another table, from the end of the run's training rows on; its own when None.
        accelerator: where to compute.

    Raises:
        RunError: the run's table is not to be had.
        DataError: what is wrong with it.
    """
    options = BacktestOptions(stride="1", baselines=(), accelerator=accelerator)
    if reference is not None:
        return plan_backtest(run, reference, options)
    try:
        return plan_backtest(run, None, options)
    except (RunError, DataError) as error:
        raise error.reworded(
            f"the rows that validated the run cannot be read: {error.message}",
            "--reference FILE with that table, or with other rows known to be normal",
        ) from None


def refuse_shared_files(run: RunDir, out: Path, attention_out: Path | None, read: Iterable[object]) -> None:
    """Refuse to write over a table, a file of the run, or two results into one.

    Args:
        run: its folder may not be there before the training; what is written there is then not looked at.
        out: Parquet or CSV file of the rows.
        attention_out: file of the weights.
        read: tables.

    Raises:
        ConfigError: naming the file.
        RunError: its path is not UTF-8, or it cannot be written.
    """
    written = {"--out": out, "the scores": out.with_suffix(".json"), "--attention-out": attention_out}
    if not run.path.exists():
        written = {option: path for option, path in written.items() if path is None or path.parent != run.path}
    for path in (out, attention_out):
        if path is not None:
            check_name(path)
    results, forms = [run.backtest, run.backtest_scores], {"--attention-out": ".parquet"}
    refuse_outputs(written, read=read, runs=[run], results=results, forms=forms)


def _candidates(model: Model, panel: Panel, weights: dict[str, float], options: BacktestOptions) -> tuple[str, ...]:
    """The baselines of the run's combination; with refits all that may be chosen at one of them."""
    names = tuple(name for name in weights if name != NETWORK)
    if not weights or not options.refits.every:
        return names
    every = candidate_names(panel, model.schema.lookback, model.schema.frequency.season)
    return tuple(dict.fromkeys((*names, *every)))


def _dispensable(options: BacktestOptions, candidates: tuple[str, ...]) -> tuple[str, ...]:
    """Baselines that were not named."""
    default = () if options.named_baselines is not None else DEFAULT_BASELINES
    named = {*(options.combine_with or ()), *(options.named_baselines or ())}
    return tuple(name for name in dict.fromkeys((*default, *candidates)) if name not in named)


def _check_attention(model: Model, options: BacktestOptions) -> None:
    if options.attention_out is None:
        if options.weights_to_write != DumpChoice():
            raise ConfigError(
                "--attention-windows, -dtype and -top are for a file of attention", "add --attention-out FILE"
            )
        return
    if not model.has_attention:
        raise ConfigError("--attention-out: a run with --attention none has no weights to write", "leave it out")
    check_top(options.attention_top, model.schema.lookback, model.patch_length)


def _name_of(run: RunDir, options: BacktestOptions, *, is_combined: bool) -> str:
    name = options.name or run.title
    if name in BASELINES or (name == COMBINATION and is_combined):
        what = "the combination" if name == COMBINATION else "a baseline"
        raise ConfigError(f"the model cannot be called '{name}', as {what} is", "another one with --name NAME")
    return name
