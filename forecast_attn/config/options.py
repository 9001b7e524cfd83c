"""Every option of training, with its default and its help text, once; those of other commands are in `requests`.

A field of these three dataclasses is a flag of `forecast train`, a key of `--config run.toml` and a
keyword of `Forecaster`, all with the same name (or the short `flag` where one is given). This module
imports the standard library only, so that `forecast --help` stays fast.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.values import (
    ACCELERATORS,
    PRESETS,
    STRATEGIES,
    WEIGHT_TYPES,
    by_field_name,
    check_lags,
    check_missing_texts,
    check_quantiles,
    check_validation,
    checked_choice,
    checked_value,
    flag_name,
    parse_attention_windows,
    parse_calendar,
    parse_duration,
    parse_share_range,
    preset_help,
    quantile_name,
    with_preset,
)
from forecast_attn.errors import ConfigError, did_you_mean


def option(
    default: Any,
    text: str,
    *,
    flag: str | None = None,
    low: float = -math.inf,
    high: float = math.inf,
    metavar: str | None = None,
    choices: tuple[str, ...] = (),
    read: Callable[[Any], Any] | None = None,
    check: Callable[[Any], Any] | None = None,
    essential: bool = False,
) -> Any:
    """Make a dataclass field with all that flags, TOML keys, keywords and help need.

    Args:
        default: of the option; its type is the field's annotation, of which `values.TYPES` knows the rest.
        text: help.
        flag: the short name, where the flag is not the field's name.
        low: smallest number.
        high: largest number.
        metavar: the value's name in help texts; the type's when None.
        choices: the only values.
        read: makes a value of what was given, instead of the type's own function.
        check: raises ConfigError for a value outside the option's.
        essential: the short help page shows it.
    """
    metadata: dict[str, Any] = {"help": text, "flag": flag, "low": low, "high": high, "metavar": metavar}
    metadata |= {"choices": choices, "read": read, "check": check, "essential": essential}
    return field(default=default, metadata=metadata)


MOST_STEPS = 100_000
"""Largest lookback, horizon and patch."""
MOST_HEADS = 1_024
MOST_WINDOWS = 1_000_000_000
WIDEST = 65_536
"""Most numbers in a state, a score, a projection."""


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """The meaning of the table's columns, the windows, and how the table is read and scaled."""

    target: str | None = option(
        None,
        "column to forecast, or row-count for the number of rows per step (default: the one named target, y, value, …)",
        essential=True,
    )
    time: str | None = option(
        None,
        "column of time stamps, or several, such as year,month or date,time; row-number counts the rows "
        "(default: found by name or content)",
        essential=True,
    )
    item_id: str | None = option(
        None,
        "column that identifies the series, or several, such as state,region (default: found by its name)",
        flag="id",
        essential=True,
    )
    past_covariates: tuple[str, ...] = option(
        (),
        "columns known up to the cut-off (default: all undeclared numeric columns)",
        flag="past",
        metavar="COLUMNS",
        essential=True,
    )
    future_covariates: tuple[str, ...] = option(
        (),
        "columns known through the horizon, such as prices; NAME:24 for one known only 24 steps ahead",
        flag="future",
        metavar="COLUMNS",
        essential=True,
    )
    static_covariates: tuple[str, ...] = option(
        (), "columns constant per series", flag="static", metavar="COLUMNS", essential=True
    )
    ignore: tuple[str, ...] = option((), "columns to leave out", metavar="COLUMNS")
    horizon: int | None = option(
        None,
        "steps to forecast (default: hourly 24, daily 7, monthly 12, …; fewer for short series or few future rows)",
        low=1,
        high=MOST_STEPS,
        essential=True,
    )
    lookback: int | None = option(
        None,
        "past steps the model sees (default: hourly 168, daily 28, monthly 36, …; fewer for short series)",
        low=1,
        high=MOST_STEPS,
        essential=True,
    )
    freq: str | None = option(None, "time step such as h, D, MS, 15min (default: inferred)", essential=True)
    season: str | None = option(
        None,
        "steps after which the series repeats, or hour, day, week, month, quarter or year; with several, "
        "the first is the season, and the lookback covers all (default: by the time step)",
    )
    date_format: str | None = option(
        None,
        "format of the time stamps: '%d.%m.%Y %H:%M', day-first, month-first; s, ms, us or ns for numbers since 1970, "
        "excel for a spreadsheet's day numbers, 0.25 for decimals by steps of 0.25 (default: detected)",
    )
    tz: str | None = option(
        None, "time zone of local time stamps, such as Europe/Berlin; results are shown in it", essential=True
    )
    delimiter: str | None = option(None, "field separator of a CSV (default: detected)")
    decimal: str | None = option(None, "decimal mark of a CSV, a point or a comma (default: detected)")
    encoding: str | None = option(None, "encoding of a CSV, such as cp1250 or gb18030 (default: detected)")
    skip_rows: int = option(0, "lines of a CSV above its header, such as a title", low=0)
    comment: str | None = option(None, "prefix of comment lines in a CSV, such as '#'")
    skip_footer: int = option(0, "lines of a CSV below its rows, such as totals and sources", low=0)
    header: bool = option(
        True, "the first line of a CSV names its columns; without names they are column_1, column_2, …"
    )
    header_rows: int = option(1, "header lines of a CSV, such as 2 for names and units", low=1, high=9)
    na: tuple[str, ...] = option(
        (),
        "texts that mean a missing value, in addition to NA, NaN, null and the like: -,?,-999",
        metavar="TEXTS",
        check=check_missing_texts,
    )
    sheet: str | None = option(
        None, "name of the sheet in a spreadsheet, or of the table in a JSON file (default: the only one with rows)"
    )
    wide: bool = option(False, "the table has one column per series instead of one row per series and step")
    layout: str = option(
        "long",
        "form of the table: one row per series and step (long), one row per series (rows), or one row per year with "
        "a column per month or quarter, or per day with a column per hour (calendar), or the first one with dates or "
        "names in the first row of each block only, as of merged cells (merged)",
        choices=("long", "rows", "calendar", "merged"),
    )
    duplicates: str = option(
        "error", "treatment of repeated rows of one series and time stamp", choices=("error", "mean", "first", "last")
    )
    undated_rows: str = option(
        "error",
        "treatment of rows without a time stamp, such as sums, units and names that stand once more",
        choices=("error", "drop"),
    )
    resample: str | None = option(
        None,
        "merge events, irregular rows or finer steps into one row per step, such as 15min, D, MS",
    )
    aggregate: str = option("mean", "how --resample combines the target's rows", choices=("mean", "sum", "last"))
    partial_steps: str = option(
        "drop",
        "treatment of a first or last step of sums whose rows begin late or end early, as of a day that is not over",
        choices=("drop", "keep"),
    )
    missing: str = option(
        "auto",
        "treatment of empty cells and absent rows; mask hides them from attention and loss; auto masks a few "
        "and refuses many",
        choices=("auto", "error", "mask", "ffill", "interpolate", "zero"),
        essential=True,
    )
    categorical: tuple[str, ...] = option(
        (),
        "numeric covariates to treat as categories; declared text columns always are categories",
        metavar="COLUMNS",
    )
    weight: str | None = option(None, "column with the weight of each series in the loss, constant per series")
    calendar: str = option(
        "auto", "calendar features: auto (by frequency), none, or a list of names", check=parse_calendar
    )
    holidays: tuple[str, ...] = option((), "countries whose public holidays become a feature, such as DE,FR")
    holiday_dates: str | None = option(None, "CSV of additional dates to treat as holidays", metavar="FILE")
    vintages: str | None = option(
        None,
        "table of past forecasts of covariates, with a column issued_at; each cut-off sees only those issued by then",
        metavar="FILE",
    )
    scaling: str = option(
        "standard",
        "scaling of each series, fitted on its training rows; covariates leaves the target as it is",
        choices=("standard", "robust", "mean-abs", "covariates", "none"),
    )
    transform: str = option(
        "none", "transform of the target before scaling, for skewed values", choices=("none", "arcsinh", "log")
    )
    non_negative: bool = option(False, "clip forecasts and their quantiles at 0, for a target that is never negative")
    short_series: str = option(
        "auto",
        "treatment of series too short for a training window; auto pads those of a panel",
        choices=("auto", "skip", "pad", "error"),
    )
    validation: float = option(
        0.2,
        "end of the table kept for validation: a fraction below 1, or a number of steps",
        low=0,
        high=MOST_WINDOWS,
        check=check_validation,
        essential=True,
    )


DEFAULT_QUANTILES = (0.1, 0.5, 0.9)
"""Quantiles that are written of a distribution where none are named."""

COUNT_DISTRIBUTIONS = ("negative-binomial", "tweedie")
"""Distributions on the non-negative numbers."""
IMPLIED_BY_COUNTS: dict[str, Any] = {"scaling": "covariates", "window_normalisation": "mean", "non_negative": True}
"""Defaults of other options with such a distribution: 0 stays 0, and counts keep the target's unit."""
ATTENTION_FILE_OPTIONS = ("attention_windows", "attention_dtype", "attention_top")
"""Options about the written weights, of which the mechanism `none` has none."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The network: an encoder, a decoder, and the attention between them."""

    attention: str = option(
        "luong-general",
        "attention mechanism; `help` lists them",
        metavar="NAME",
        choices=tuple(ATTENTIONS),
        essential=True,
    )
    attention_order: str | None = option(
        None, "attend before the decoder's cell (bahdanau) or after it (luong)", choices=("bahdanau", "luong")
    )
    attention_size: int | None = option(
        None, "width of additive and projected scores (default: 128)", low=1, high=WIDEST
    )
    heads: int = option(4, "heads of multi-head attention", low=1, high=MOST_HEADS, essential=True)
    normaliser: str = option(
        "softmax", "function that turns scores into weights", choices=("softmax", "sparsemax", "entmax15")
    )
    attention_window: str = option(
        "global",
        "past steps that a forecast step may attend to: all (global), those around a predicted position (local-p), or "
        "those around a whole number of seasons before it (local-m)",
        choices=("global", "local-p", "local-m"),
    )
    window_radius: int = option(10, "half width D of a local attention window", low=1, high=MOST_STEPS)
    input_feeding: bool = option(False, "feed the attentional state into the next decoder step (luong order)")
    cell: str = option("gru", "recurrent cell of encoder and decoder", choices=("gru", "lstm"))
    hidden_size: int | None = option(
        None,
        "size of the encoder's state, per direction (default: 64; 32 for panels read step by step)",
        low=1,
        high=WIDEST,
        essential=True,
    )
    decoder_size: int | None = option(
        None, "size of the decoder's state (default: the encoder's output size)", low=1, high=WIDEST
    )
    num_layers: int = option(1, "recurrent layers of the encoder and of the decoder", low=1, high=100)
    bidirectional: bool | None = option(None, "read the lookback in both directions (default: only with patches)")
    patch_length: int | None = option(
        None,
        "time steps that the network reads as one (a patch); must divide the lookback "
        "(default: a quarter of a season of hourly and finer series, such as 6 hours; else 1)",
        low=1,
        high=MOST_STEPS,
        essential=True,
    )
    projection_size: int | None = option(
        None,
        "width of a learned projection of a step's inputs, before the cells; 0 for none "
        "(default: 128 with patches, else 0)",
        low=0,
        high=WIDEST,
    )
    lags: tuple[int, ...] | None = option(
        None,
        "steps back whose values each forecast step reads directly, bypassing the attention, such as 24,168 "
        "(default: none)",
        metavar="STEPS",
        check=check_lags,
    )
    temporal_decoder_size: int | None = option(
        None,
        "width of a perceptron per time step that adds to the decoder's forecast; 0 for none "
        "(default: 64 with patches, else 0)",
        low=0,
        high=WIDEST,
    )
    linear_path: bool = option(
        False, "add a linear map of the whole window and the known future inputs to the forecast"
    )
    skip: bool = option(True, "add a linear map of each lookback step's inputs to its encoder output")
    dropout: float = option(0.1, "dropout between layers and before the head", low=0, high=0.95)
    decoding: str = option(
        "direct",
        "direct: all steps at once; autoregressive: each step reads the previous output",
        choices=("direct", "autoregressive"),
    )
    window_normalisation: str = option(
        "last-season",
        "normalisation of each window: by its whole lookback (standard), its last season (last-season), its mean size "
        "(mean), or none",
        choices=("none", "standard", "last-season", "mean"),
    )
    quantiles: tuple[float, ...] = option(
        (),
        "quantiles to forecast, such as 0.1,0.9: a column each, trained on the pinball loss; 0.5, the point forecast, "
        "is always among them",
        metavar="Q,Q,Q",
        check=check_quantiles,
        essential=True,
    )
    distribution: str = option(
        "none",
        "distribution to fit by maximum likelihood; forecasts its --quantiles, else 0.1,0.5,0.9",
        choices=("none", "gaussian", "student-t", *COUNT_DISTRIBUTIONS),
    )
    calibration: str = option(
        "none",
        "conformal calibration of quantiles on validation windows: split (around the point forecast), cqr, adaptive "
        "(starts as cqr and follows later errors), or none",
        choices=("none", "split", "cqr", "adaptive"),
        essential=True,
    )

    @property
    def head(self) -> str:
        """Kind of the network's output: point, quantile, or the name of a distribution."""
        if self.distribution != "none":
            return self.distribution
        return "quantile" if self.quantiles and self.calibration != "split" else "point"

    def with_median(self) -> Self:
        """The same with the quantile 0.5, which is the point forecast, among those of a quantile head."""
        if self.head != "quantile" or quantile_name(0.5) in map(quantile_name, self.quantiles):
            return self
        return replace(self, quantiles=tuple(sorted((*self.quantiles, 0.5))))

    @property
    def has_median(self) -> bool:
        """False where a run of an older version has another quantile as its point forecast: no baseline joins it."""
        return self.head != "quantile" or 0.5 in self.quantiles

    @property
    def order(self) -> str:
        """The time at which the decoder asks: as in the mechanism's paper, unless the user chose."""
        return self.attention_order or ATTENTIONS[self.attention].order

    @property
    def forecast_quantiles(self) -> tuple[float, ...]:
        """Quantiles that are forecast, ascending; empty for a point forecast alone."""
        return self.quantiles or (DEFAULT_QUANTILES if self.distribution != "none" else ())


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Options of training."""

    preset: str = option("default", preset_help(), choices=tuple(PRESETS), essential=True)
    loss: str = option(
        "mae", "loss on the scaled target; quantiles and distributions have their own", choices=("mae", "mse", "huber")
    )
    batch_size: int | None = option(
        None,
        "windows per training step (default: 16 to 128, depending on the number of windows)",
        low=1,
        high=1_000_000,
    )
    learning_rate: float | None = option(
        None,
        "peak learning rate of AdamW (default: 0.001 with patches, else 0.008)",
        low=1e-12,
        high=1e36,
        essential=True,
    )
    weight_decay: float | None = option(
        None, "decoupled weight decay of AdamW (default: 0.01 with patches, else 0.0001)", low=0, high=1e36
    )
    schedule: str = option(
        "one-cycle", "course of the learning rate over --max-epochs", choices=("constant", "one-cycle", "cosine")
    )
    warmup: float | None = option(
        None,
        "share of the steps during which the learning rate rises (default: 0.3 for one-cycle, 0.05 for cosine)",
        low=0,
        high=0.9,
    )
    weight_averaging: str = option(
        "none",
        "weights to validate and keep: the last ones (none), or their exponential moving average (ema)",
        choices=("none", "ema"),
    )
    averaging_decay: float = option(
        0.999,
        "highest decay of the average per step; lower in the first steps",
        low=0,
        high=0.999999,
    )
    gradient_clip: float = option(1.0, "largest norm of the gradient; 0 disables clipping", low=0, high=1e36)
    max_epochs: int | None = option(
        None,
        "largest number of epochs (default: enough for about 2,000 training steps, 1,200 with patches)",
        low=1,
        high=1_000_000,
        essential=True,
    )
    max_time: str | None = option(
        None, "time limit, such as 90s, 10m, 1h30m; the schedule is fitted to it", check=parse_duration, essential=True
    )
    patience: int | None = option(
        None,
        "epochs without a better validation loss before training stops (default: a quarter of --max-epochs)",
        low=1,
        high=1_000_000,
    )
    epoch_windows: int = option(
        12_800, "largest number of training windows per epoch; 0 for all", low=0, high=MOST_WINDOWS
    )
    validation_windows: int = option(
        1_024, "largest number of validation windows scored per epoch; 0 for all", low=0, high=MOST_WINDOWS
    )
    teacher_forcing: str = option("1.0..0", "teacher forcing ratio, from first to last epoch", check=parse_share_range)
    teacher_forcing_decay: str = option(
        "linear", "decay of the teacher forcing ratio", choices=("linear", "exponential", "inverse-sigmoid")
    )
    seed: int | None = option(None, "random seed (default: drawn and recorded)", low=0, high=2**31 - 1, essential=True)
    ensemble: int = option(
        1, "number of networks to train with different seeds and to combine", low=1, high=1_000, essential=True
    )
    final_fit: str = option(
        "auto",
        "train again on all rows, for as many epochs as validation found best: auto (only panels of 20 or more series "
        "without patches), always, or none",
        choices=("auto", "always", "none"),
    )
    combination: str = option(
        "auto",
        "forecast a weighted mean of the network and baselines, with weights that validation chooses (auto), or "
        "the network alone (none)",
        choices=("auto", "none"),
    )
    combine: str = option(
        "mean", "combination of an ensemble's forecasts, quantile by quantile", choices=("mean", "median")
    )
    accelerator: str = option("auto", "device to train on", choices=ACCELERATORS, essential=True)
    devices: int = option(1, "number of devices to train on, on each machine", low=1, high=1_024)
    num_nodes: int = option(1, "number of machines; torchrun or srun starts their processes", low=1, high=1_024)
    strategy: str = option(
        "auto",
        "how several devices train together: with whole copies of the network (ddp; auto), or a part each (fsdp)",
        choices=STRATEGIES,
    )
    threads: int = option(
        1, "CPU threads; more than one helps only large networks on an idle machine", low=1, high=1_024
    )
    precision: str = option(
        "32", "numeric precision of training: 32, or mixed bf16 or 16", choices=("32", "bf16", "16")
    )
    attention_windows: str = option(
        "128",
        "number of validation windows whose attention is written, spread evenly, or all",
        check=parse_attention_windows,
    )
    attention_dtype: str = option("float32", "type of the attention weights in the file", choices=WEIGHT_TYPES)
    attention_top: int | None = option(
        None, "write only the K largest weights of each row, with their lags", low=1, high=MOST_STEPS, metavar="K"
    )

    @property
    def num_processes(self) -> int:
        """Processes that train together, on all machines."""
        return self.devices * self.num_nodes


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """All three parts, as written to config.json."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        """Refuse options that contradict each other, or would be accepted and ignored."""
        if self.data.resample is None and self.data.aggregate != DataConfig.aggregate:
            raise ConfigError(f"--aggregate {self.data.aggregate} needs a step to put rows on", "add --resample D")
        if self.data.aggregate != "sum" and self.data.partial_steps != DataConfig.partial_steps:
            raise ConfigError("--partial-steps keep needs sums", "add --resample D --aggregate sum")
        defaults = TrainingConfig()
        for name in ("teacher_forcing", "teacher_forcing_decay"):
            if self.model.decoding == "direct" and getattr(self.training, name) != getattr(defaults, name):
                raise ConfigError(
                    f"--{name.replace('_', '-')} needs a decoder that is fed its previous value",
                    "add --decoding autoregressive",
                )
        for name in ATTENTION_FILE_OPTIONS:
            if self.model.attention == "none" and getattr(self.training, name) != getattr(defaults, name):
                raise ConfigError(
                    f"--{name.replace('_', '-')} needs an attention mechanism", "leave out --attention none"
                )
        self._check_training(defaults)
        self._check_uncertainty()

    def _check_training(self, defaults: TrainingConfig) -> None:
        training = self.training
        if training.ensemble == 1 and training.combine != defaults.combine:
            raise ConfigError("--combine needs several networks to combine", "add --ensemble 5")
        if training.schedule == "constant" and training.warmup is not None:
            raise ConfigError("--warmup: the rate of --schedule constant does not rise", "--schedule cosine")
        if training.strategy != defaults.strategy and training.num_processes == 1:
            raise ConfigError(f"--strategy {training.strategy} needs several devices", "add --devices 2")
        if training.weight_averaging == "none" and training.averaging_decay != defaults.averaging_decay:
            raise ConfigError("--averaging-decay needs an average of the weights", "add --weight-averaging ema")

    def _check_counts(self) -> None:
        """Refuse what leaves a distribution of counts without its zero, or without its values."""
        distribution = self.model.distribution
        if distribution not in COUNT_DISTRIBUTIONS:
            return
        for name, needed in (*IMPLIED_BY_COUNTS.items(), ("transform", "none"), ("decoding", "direct")):
            section = self.data if hasattr(self.data, name) else self.model
            given = getattr(section, name)
            if given != needed and name != "non_negative":
                flag = name.replace("_", "-")
                raise ConfigError(
                    f"--distribution {distribution} needs --{flag} {needed}; got {given}",
                    f"leave --{flag} out, or take --distribution student-t",
                )

    def _check_uncertainty(self) -> None:
        model, hint = self.model, "add --quantiles 0.1,0.5,0.9"
        self._check_counts()
        if model.calibration == "split" and model.distribution != "none":
            raise ConfigError(
                f"--calibration split is for a point forecast; --distribution {model.distribution} has quantiles",
                "--calibration cqr",
            )
        if model.calibration != "none" and not model.forecast_quantiles:
            raise ConfigError(f"--calibration {model.calibration} needs quantiles to calibrate", hint)
        if model.head != "point" and self.training.loss != TrainingConfig().loss:
            trained_on = "the pinball loss" if model.head == "quantile" else "the likelihood"
            because = "--quantiles are" if model.head == "quantile" else f"--distribution {model.distribution} is"
            raise ConfigError(
                f"--loss {self.training.loss} is for a point forecast; {because} trained on {trained_on}",
                "leave --loss out, or take --quantiles with --calibration split",
            )

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> Self:
        """Build from flat names (`horizon`, `attention`, …).

        Raises:
            ConfigError: an unknown name, or a value outside its type, choices or range.
        """
        checked = _checked(options)
        checked = _checked(with_preset(checked, checked.get("preset", TrainingConfig.preset)))
        if checked.get("distribution") in COUNT_DISTRIBUTIONS:
            open_ = {name: value for name, value in IMPLIED_BY_COUNTS.items() if checked.get(name) is None}
            checked = {**checked, **open_}
        config = cls._of(checked)
        return replace(config, model=config.model.with_median())

    @classmethod
    def _of(cls, options: dict[str, Any]) -> Self:
        """Build from the values of fields."""
        parts: dict[str, dict[str, Any]] = {part: {} for part in SECTIONS}
        for name, value in options.items():
            parts[find_option(name)[0]][name] = value
        return cls(**{part: SECTIONS[part](**values) for part, values in parts.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the options of each section, as config.json has them."""
        return dataclasses.asdict(self)

    def to_options(self) -> dict[str, Any]:
        """Return the value of every option by its name."""
        return {name: value for section in self.to_dict().values() for name, value in section.items()}

    @classmethod
    def from_dict(cls, sections: dict[str, dict[str, Any]]) -> Self:
        """Read what `to_dict` gave. Its preset is filled in already, and is only a name.

        Raises:
            ConfigError: as `from_options`.
            KeyError, TypeError, AttributeError: a section is missing, or is not a table of options.
        """
        return cls._of(_checked({name: value for part in SECTIONS for name, value in sections[part].items()}))


SECTIONS: dict[str, Any] = {"data": DataConfig, "model": ModelConfig, "training": TrainingConfig}


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    """The values of flat names, each in its field's type, by the names of the fields."""
    return {name: checked_value(find_option(name)[1], value) for name, value in by_field(options).items()}


def all_options() -> dict[str, tuple[str, dataclasses.Field[Any]]]:
    """Field name -> (section, field), in the order of the help page."""
    return {f.name: (section, f) for section, part in SECTIONS.items() for f in dataclasses.fields(part)}


def by_field(options: dict[str, Any]) -> dict[str, Any]:
    """Return options of training by the names of their fields.

    Raises:
        ConfigError: an unknown name, or two of one option.
    """
    return by_field_name(options, lambda name: find_option(name)[1].name)


def find_option(name: str) -> tuple[str, dataclasses.Field[Any]]:
    """Look an option up by its field name, its flag, or either with dashes."""
    key = name.replace("-", "_")
    option = _options_by_name_and_flag().get(key)
    if option is None:
        raise ConfigError(f"there is no option '{name}'", did_you_mean(key, list(all_options())))
    return option


@functools.cache
def _options_by_name_and_flag() -> dict[str, tuple[str, dataclasses.Field[Any]]]:
    known = all_options()
    by_flag = {flag_name(f).replace("-", "_"): (section, f) for section, f in known.values()}
    return {**by_flag, **known}


def check_choice(name: str, value: str) -> str:
    """Return one of the choices of the option of that name, however its case and dashes are written.

    Raises:
        ConfigError: none of them; with the nearest one.
    """
    option_field = find_option(name)[1]
    return checked_choice(flag_name(option_field), value, option_field.metadata["choices"])
