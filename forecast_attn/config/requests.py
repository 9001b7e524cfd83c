"""Options of each command: one dataclass per command, whose fields are flags, TOML keys, keywords and help.

Options of training stand in `options`. This module imports the standard library only.
"""

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import SECTIONS, option
from forecast_attn.config.values import (
    ACCELERATORS,
    MOST_SEEDS,
    WEIGHT_TYPES,
    by_field_name,
    checked_value,
    flag_name,
    parse_attention_windows,
    parse_combination,
    parse_duration,
)
from forecast_attn.errors import ConfigError, did_you_mean

CHECK_FORMATS = ("table", "json", "github")
READING = (
    *("target", "time", "item_id", "ignore", "freq", "tz", "date_format", "wide", "layout"),
    *("delimiter", "decimal", "encoding", "skip_rows", "comment", "skip_footer", "header", "header_rows"),
    *("na", "sheet", "undated_rows", "duplicates", "resample", "aggregate", "partial_steps"),
)
"""Options of training with which `forecast evaluate` reads the actuals."""
LOGGERS = ("csv", "tensorboard", "mlflow", "wandb")
"""Loggers of a training."""
SEARCH_METRICS = ("mae", "rmse", "mase", "pinball")
"""Errors that a search may minimise."""
KEEPS = ("best", "new")
REFIT_ORIGINS = ("last", "run")
"""Weights to keep after an update, the default first."""
RECONCILIATIONS = ("bottom-up", "top-down", "ols", "wls-struct", "wls-var", "mint")
"""Ways to make forecasts add up."""
SIDES = ("both", "above", "below")
"""Sides of an interval on which a row can be an anomaly."""
ENGINES = ("local", "ray")
RUNTIMES = ("torch", "onnx")
"""Where forecasts are computed."""
PICTURES = ("forecast", "error-by-step", "calibration", "attribution", "by-value")
"""Kinds of pictures of `forecast plot`."""

TRAINING = tuple(SECTIONS.values())
"""Classes of the options of training."""
Function = TypeVar("Function", bound=Callable[..., Any])


def _names_with_commas(given: Any) -> tuple[str, ...]:
    """Names of series, models or columns, which may hold commas: one, or a list of them."""
    names = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(given)
    return names


@dataclass(frozen=True, kw_only=True)
class Request:
    """Options of one command."""

    command: ClassVar[str]
    """Name of the command."""

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> Self:
        """Build from flat names.

        Raises:
            ConfigError: an unknown name, or a value outside its type, choices or range.
        """
        return cls(**cls.checked(options))

    @classmethod
    def names(cls) -> frozenset[str]:
        """Names of the fields."""
        return frozenset(field.name for field in dataclasses.fields(cls))

    @classmethod
    def checked(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Return the values of flat names, each in its field's type, by the names of the fields.

        Raises:
            ConfigError: an unknown name, or a value outside its type, choices or range.
        """
        known = {field.name: field for field in fields_of(cls)}
        by_flag = {flag_name(field).replace("-", "_"): name for name, field in known.items()}

        def name_of(given: str) -> str:
            key = given.replace("-", "_")
            name = key if key in known else by_flag.get(key)
            if name is None:
                raise ConfigError(f"there is no option '{given}'", did_you_mean(key, list(known)))
            return name

        hint = f"forecast {cls.command} --help"
        return {
            name: checked_value(known[name], value, hint) for name, value in by_field_name(options, name_of).items()
        }

    def to_options(self) -> dict[str, Any]:
        """Return the value of every field, by its name."""
        return {field.name: getattr(self, field.name) for field in fields_of(type(self))}


@dataclass(frozen=True, kw_only=True)
class Computing(Request):
    """The device of a command."""

    accelerator: str = option("auto", "device to compute on", choices=ACCELERATORS)


@dataclass(frozen=True, kw_only=True)
class Sharing(Request):
    """The processes among which a command shares out its work."""

    jobs: int = option(1, "processes to run at the same time", low=1, high=1_024)
    engine: str = option("local", "work in processes of this machine, or on a Ray cluster (extra ray)", choices=ENGINES)


@dataclass(frozen=True, kw_only=True)
class AttentionFile(Request):
    """The file of attention weights that a command writes."""

    attention_out: Path | None = option(None, "Parquet file of the weights")
    attention_windows: str = option(
        "all",
        "number of windows whose weights are written, spread evenly, or all",
        metavar="N|all",
        check=parse_attention_windows,
    )
    attention_dtype: str = option("float32", "type of the written weights", choices=WEIGHT_TYPES)
    attention_top: int | None = option(
        None, "write only the K largest weights of each row, with their lags", low=1, metavar="K"
    )


@dataclass(frozen=True, kw_only=True)
class PredictRequest(AttentionFile, Computing):
    """`Forecaster.predict`, `Forecaster.predict_parts`."""

    command = "predict"

    out: Path | None = option(None, "CSV of the forecasts; - for stdout")
    attention_members: bool = option(False, "write the weights of each ensemble member to its own file too")
    cold_start: bool = option(False, "forecast series never seen in training, scaled by their own lookback")
    non_negative: bool | None = option(None, "clip forecasts and quantiles at 0 (default: as in training)")
    samples: int | None = option(None, "draw N paths of every series (autoregressive, with quantiles)", low=1)
    seed: int | None = option(None, "seed of the paths (default: drawn and shown)", low=0)
    samples_out: Path | None = option(None, "Parquet file of the paths")
    combine_with: tuple[str, ...] | None = option(
        None,
        "average with these baselines (regression,quantile-regression), fitted to the history; none: the network alone "
        "(default: as validation chose in training)",
        read=parse_combination,
    )
    engine: str = option("local", "compute in this process, or on a Ray cluster (extra ray)", choices=ENGINES)
    runtime: str = option(
        "torch", "compute with torch, or with the file of forecast export RUN, which starts sooner", choices=RUNTIMES
    )


@dataclass(frozen=True, kw_only=True)
class PredictCommandRequest(PredictRequest):
    """`forecast predict`, of one table or file by file."""

    partitioned: bool = option(
        False, "forecast each Parquet file of a table by itself; --out and --attention-out are new folders"
    )


@dataclass(frozen=True, kw_only=True)
class BacktestRequest(AttentionFile, Sharing, Computing):
    """`forecast backtest`, `Forecaster.backtest`."""

    command = "backtest"

    cutoffs: int | None = option(None, "the last N cut-offs whose horizon lies within the data", low=1)
    start: str | None = option(None, "first time stamp to forecast (default: the end of training)", metavar="DATE")
    end: str | None = option(
        None, "last time stamp at which a forecast may start; a date covers its whole day", metavar="DATE"
    )
    stride: str | None = option(
        None,
        "distance between cut-offs: steps (24), exact time (24h), or days on the wall clock (7D) "
        "(default: the horizon)",
        metavar="STEP",
    )
    refit: str = option("never", "continue training every K cut-offs, on the rows up to then", metavar="never|every|K")
    refit_epochs: int | None = option(None, "epochs of each refit (default: 2)", low=1)
    refit_learning_rate: float | None = option(
        None, "peak learning rate of each refit (default: a fifth of the run's)", low=1e-36, high=1e36
    )
    refit_window: str | None = option(
        None, "refit on the newest steps only: 1344, or 8W (default: on all rows)", metavar="STEPS|TIME"
    )
    refit_validation: int | None = option(
        None,
        "steps before a refit's cut-off that are held out to choose its best epoch; 0 for none (default: 7 horizons)",
        low=0,
    )
    refit_from: str | None = option(
        None,
        "weights that a refit starts from: those of the refit before (last, the default), or of the run (run)",
        choices=REFIT_ORIGINS,
    )
    refit_half_life: str | None = option(
        None,
        "age at which a refit draws windows half as often as the newest: 1344, or 8W (default: all equally often)",
        metavar="STEPS|TIME",
    )
    refit_keep: str | None = option(
        None,
        "weights to continue with: those of the refit (new, the default), or the better ones on "
        "--refit-validation (best)",
        choices=KEEPS,
    )
    refit_final_fit: bool = option(False, "end each refit with a training that includes the rows of --refit-validation")
    baselines: tuple[str, ...] | None = option(
        None,
        "models to compare with, or none (default: naive,seasonal-naive,mean,median,drift,linear); also "
        "regression, median-regression, quantile-regression, kernel-regression, boosted-trees, auto-ets, auto-arima",
    )
    combine_with: tuple[str, ...] | None = option(
        None,
        "also score the mean of the model's forecast and these baselines' (regression,quantile-regression), as "
        "combination; none: the network alone (default: as validation chose in training)",
        read=parse_combination,
    )
    chronos_model: Path | None = option(
        None, "also compare with a Chronos model, whose weights are in this folder (extra chronos)", metavar="DIR"
    )
    metrics: tuple[str, ...] | None = option(None, "metrics, such as mae,rmse (default: all)")
    by: tuple[str, ...] = option((), "score by step, item_id, hour, weekday or cutoff too", metavar="GROUPS")
    out: Path | None = option(None, "Parquet or CSV of the forecasts; the scores are written beside it as JSON")
    out_run: Path | None = option(None, "run directory of the training, where a table is backtested", metavar="DIR")
    name: str | None = option(None, "name of the model in the file (default: the run's)", metavar="NAME")
    non_negative: bool | None = option(None, "clip forecasts and quantiles at 0 (default: as in training)")


@dataclass(frozen=True, kw_only=True)
class ScoreRequest(Computing):
    """`forecast score`, `Forecaster.anomalies`."""

    command = "score"

    rate: float = option(0.01, "share of normal rows that may be flagged", low=1e-9, high=0.5)
    step: int = option(1, "compare each row with the forecast made this many steps before it", low=1)
    side: str = option("both", "flag rows above the interval, below it, or both", choices=SIDES)
    start: str | None = option(None, "first time stamp to score (default: the one after the reference)", metavar="DATE")
    reference: Path | None = option(
        None, "table of rows known to be normal (default: the rows that validated the run)", metavar="FILE"
    )
    out: Path | None = option(None, "CSV or Parquet file of the scores")


@dataclass(frozen=True, kw_only=True)
class ReconcileRequest(Computing):
    """`forecast reconcile`, `Forecaster.reconcile`."""

    command = "reconcile"

    method: str = option("mint", "reconciliation method", choices=RECONCILIATIONS)
    reference: Path | None = option(
        None,
        "table of past rows to estimate the errors for wls-var and mint from (default: the run's own)",
        metavar="FILE",
    )
    out: Path | None = option(None, "CSV of the reconciled forecasts")


@dataclass(frozen=True, kw_only=True)
class UpdateRequest(Computing):
    """`forecast update`, `Forecaster.update`."""

    command = "update"

    out: Path | None = option(None, "run directory to write (default: runs/<time>-<attention>)", metavar="DIR")
    epochs: int | None = option(None, "epochs of training (default: 2)", low=1)
    learning_rate: float | None = option(
        None, "peak learning rate (default: a fifth of the run's)", low=1e-36, high=1e36
    )
    window: str | None = option(
        None, "train on the newest steps only: 1344, or 8W (default: on all rows)", metavar="STEPS|TIME"
    )
    half_life: str | None = option(
        None,
        "age at which windows are drawn half as often as the newest: 1344, or 8W; none: all equally often (default: "
        "8 lookbacks, if no --window is given)",
        metavar="STEPS|TIME|none",
    )
    validation: int | None = option(
        None,
        "newest steps, held out to choose between old and new weights; 0 for none (default: 7 horizons)",
        low=0,
    )
    keep: str = option(
        "best", "weights to keep: the better ones on --validation, or always the new ones", choices=KEEPS
    )
    final_fit: bool = option(True, "at the end, train the new weights on all rows, including those of --validation")


@dataclass(frozen=True, kw_only=True)
class AuditRequest(Computing):
    """`forecast audit`, `Forecaster.audit`."""

    command = "audit"

    windows: int = option(128, "largest number of validation windows to audit, spread evenly", low=2)
    seeds: tuple[Path, ...] = option(
        (), "another training on the same table to compare with; repeatable", metavar="RUN"
    )
    covariates: bool = option(False, "measure the importance of each column too (permutation importance)")
    draws: int | None = option(
        None, "number of random orders of the weights (default: 100 for up to 128 windows, fewer for more)", low=10
    )
    repeats: int = option(10, "number of permutations of each column", low=2)
    seed: int = option(0, "seed of all random draws", low=0)
    out: Path | None = option(None, "JSON document to write")


@dataclass(frozen=True, kw_only=True)
class InspectRequest(Request):
    """`forecast inspect`."""

    command = "inspect"

    item: str | None = option(None, "only this series", metavar="NAME")
    cutoff: str | None = option(None, "only this cut-off", metavar="TIME")
    step: int | None = option(None, "only this step ahead")
    head: int | None = option(None, "only this head, counted from 0")
    top: int = option(5, "lags to list per step", low=1)
    by: str | None = option(None, "compare groups: item, head, or hour or weekday of the cut-off", metavar="NAME")
    compare: Path | None = option(None, "compare with this run or file", metavar="RUN|FILE")
    validation: bool = option(False, "inspect the run's validation windows instead of its forecast")
    export: Path | None = option(None, "write the weights as .csv (long) or .npz")
    png: Path | None = option(None, "write a picture of the weights below their series")
    svg: Path | None = option(None, "the same picture, scalable")
    html: Path | None = option(None, "write an interactive page for any browser")
    html_windows: int | None = option(None, "number of windows on the page (default: as many as fit 1.2 MB)", low=1)


@dataclass(frozen=True, kw_only=True)
class PlotRequest(Request):
    """`forecast plot`, `Forecaster.plot`."""

    command = "plot"

    kind: str = option("forecast", "kind of picture", choices=PICTURES)
    item: tuple[str, ...] = option((), "only this series; repeatable", metavar="NAME", read=_names_with_commas)
    cutoff: str | None = option(None, "forecast of this cut-off (default: the last of each series)", metavar="TIME")
    model: tuple[str, ...] = option(
        (), "only this model of a backtest; repeatable", metavar="NAME", read=_names_with_commas
    )
    history: int | None = option(None, "steps before the cut-off (default: four horizons, at least 24)", low=0)
    step: int | None = option(None, "step ahead whose attribution is drawn (default: the mean of all)")
    column: tuple[str, ...] = option(
        (), "column of --kind by-value; repeatable (default: all)", metavar="NAME", read=_names_with_commas
    )
    png: Path | None = option(None, "write the picture")
    svg: Path | None = option(None, "the same picture, scalable")
    animate: Path | None = option(
        None, "animate the validation windows of a series and where each looked, as .gif or .png"
    )


@dataclass(frozen=True, kw_only=True)
class ReportRequest(Request):
    """`forecast report`, `Forecaster.report`."""

    command = "report"

    html: Path | None = option(None, "page to write (default: report.html in the run, unless --pdf is given)")
    pdf: Path | None = option(None, "the same page as a PDF, printed by an installed Chromium or Chrome")


@dataclass(frozen=True, kw_only=True)
class ExportRequest(Request):
    """`forecast export`, `Forecaster.export`."""

    command = "export"

    onnx: Path | None = option(
        None, "ONNX file to write (extra onnx; default: model.onnx in the run, for predict --runtime onnx)"
    )
    network_alone: bool = option(False, "leave out the baselines that validation combined the network with")


@dataclass(frozen=True, kw_only=True)
class TrackingRequest(Request):
    """Options of `forecast train` and `Forecaster.fit` that change no run: where its training is logged."""

    command = "train"

    logger: str | None = option(None, "tracker that also receives options, losses and scores", choices=LOGGERS)
    log_to: str | None = option(
        None, "folder or address of the tracker (default: tracking/ in the run)", metavar="FOLDER|URL"
    )


@dataclass(frozen=True, kw_only=True)
class ServingRequest(Request):
    """Options of a forecasting server, wherever it listens."""

    command = "serve"

    token_file: Path | None = option(
        None, "file with the token that requests must carry (default: the variable FORECAST_ATTN_TOKEN)", metavar="FILE"
    )
    max_bytes: int = option(16_777_216, "largest body of a request in bytes", low=1_024)
    max_waiting: int = option(64, "largest number of requests at a time; further ones get status 503", low=1)
    timeout: float = option(30.0, "seconds that a request may take", low=0.001, high=86_400)
    reload: float = option(5.0, "seconds between checks for newer runs; 0 never checks", low=0, high=86_400)


@dataclass(frozen=True, kw_only=True)
class ServeRequest(ServingRequest):
    """`forecast serve`, `serve`."""

    host: str = option("127.0.0.1", "address to listen on; 0.0.0.0 for all networks", metavar="ADDRESS")
    port: int = option(8000, "port to listen on; 0 takes a free one", low=0, high=65_535)


@dataclass(frozen=True, kw_only=True)
class UiRequest(Request):
    """`forecast ui`, `ui`."""

    command = "ui"

    port: int = option(8765, "port on this machine; 0 takes a free one", low=0, high=65_535)


@dataclass(frozen=True, kw_only=True)
class CompareRequest(Sharing):
    """`forecast compare`, `compare`; all other options of training are shared by the runs."""

    command = "compare"

    attention: tuple[str, ...] = option(
        (),
        "mechanisms to compare, with commas; `forecast train --attention help` lists them",
        metavar="NAMES",
        choices=tuple(ATTENTIONS),
    )
    seeds: int = option(3, "trainings of each mechanism", low=1, high=MOST_SEEDS)
    seed: int = option(0, "seed of the first training of each; the others follow", low=0, high=2**31 - 1)
    out: Path | None = option(None, "folder of all runs (default: in runs/)", metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class TuneRequest(Sharing):
    """`forecast tune`, `tune`; all other options of training are shared by the trials."""

    command = "tune"

    trials: int = option(
        50, "total number of trials, including those of earlier calls and other processes", low=1, high=1_000_000
    )
    max_time: str | None = option(
        None, "time limit of the search, such as 30m, 8h; repeat the command to continue", check=parse_duration
    )
    space: Path | None = option(None, "TOML file of options to search and their values (default: by the table)")
    metric: str = option("mae", "error to minimise", choices=SEARCH_METRICS)
    backtest: int | None = option(
        None, "score by a backtest of the last K cut-offs, instead of on the validation windows", low=1, metavar="K"
    )
    pruner: str = option(
        "median", "rule that stops trials with a bad validation loss early", choices=("median", "none")
    )
    storage: str | None = option(
        None, "database of the study: an SQLite file or a URL (default: runs/<table>.study.db)", metavar="FILE|URL"
    )
    study: str = option("forecast-attn", "name of the study in its database", metavar="NAME")
    seed: int = option(0, "seed of the search and of every training", low=0, high=2**31 - 1)
    winner: bool = option(True, "train a run with the best options at the end")
    out: Path | None = option(None, "run directory of the winner (default: runs/<time>-<attention>)", metavar="DIR")
    png: Path | None = option(None, "picture of the importance of each option (extra plot)")


@dataclass(frozen=True, kw_only=True)
class CheckRequest(Request):
    """`forecast check`; options of training say how the table is read."""

    command = "check"

    format: str | None = option(
        None, "output format; github writes annotations for GitHub Actions", choices=CHECK_FORMATS
    )
    fix: bool = option(False, "write the repaired table; needs --out")
    out: Path | None = option(None, "CSV that --fix writes; - for stdout")


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest(Request):
    """`forecast evaluate`, `evaluate`; options of training say how the actuals are read."""

    command = "evaluate"

    model_columns: tuple[str, ...] = option((), "columns that are forecasts (default: detected)", metavar="A,B")
    metrics: tuple[str, ...] | None = option(None, "metrics, such as mae,rmse (default: all)")
    by: tuple[str, ...] = option(
        ("overall",), "overall, step, item_id, hour, weekday, cutoff, or several", metavar="GROUPS"
    )
    season: int | None = option(None, "steps of a season (default: by frequency)", low=1)
    block: int | None = option(None, "steps per forecast in a table without cut-offs", low=1)
    reference: str | None = option(None, "model to compare with (default: seasonal-naive)", metavar="MODEL")
    norm: int = option(1, "norm of a cut-off's errors in the tests: 1 or 2", low=1, high=2)
    out: Path | None = option(None, "scores to write: .csv, or .json with the tests")


REQUESTS: dict[str, type[Request]] = {
    request.command: request
    for request in (
        CheckRequest,
        CompareRequest,
        TuneRequest,
        PredictCommandRequest,
        BacktestRequest,
        ScoreRequest,
        ReconcileRequest,
        UpdateRequest,
        EvaluateRequest,
        PlotRequest,
        InspectRequest,
        AuditRequest,
        ReportRequest,
        ExportRequest,
        ServeRequest,
        UiRequest,
    )
}
"""By command: also the tables of a TOML file that belong to one command."""


def fields_of(part: Any) -> tuple[dataclasses.Field[Any], ...]:
    """Return the fields of a class of options: those it defines, then those it inherits."""
    defined = vars(part).get("__annotations__", {})
    return tuple(sorted(dataclasses.fields(part), key=lambda field: field.name not in defined))


def takes(parts: Iterable[Any], *, only: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Show the fields of these classes in the signature and the docstring of a function that takes `**options`.

    Args:
        parts: classes of options; a name that stands in several of them is as the first one has it.
        only: the options of training that it takes; all when empty.

    Type checkers read its annotation `Unpack[…]` (`config.keywords`); this is for `help()`, notebooks and whatever
    else looks at the function itself.
    """

    def decorate(function: Function) -> Function:
        known: dict[str, dataclasses.Field[Any]] = {}
        for part in parts:
            for field in fields_of(part):
                if part not in TRAINING or not only or field.name in only:
                    known.setdefault(field.name, field)
        signature = inspect.signature(function)
        inputs = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        named = {parameter.name for parameter in inputs}
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
            for name, field in known.items()
            if name not in named
        ]
        function.__signature__ = signature.replace(parameters=[*inputs, *options])  # type: ignore[attr-defined]
        lines = [f"    {option.name}: {known[option.name].metadata['help']}." for option in options]
        function.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nOptions:\n" + "\n".join(lines) + "\n"
        return function

    return decorate
