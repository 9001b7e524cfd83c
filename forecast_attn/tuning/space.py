"""The options that a search varies, and the values of each: read from a TOML file, or chosen by the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.config.file import read_toml
from forecast_attn.config.options import by_field, find_option
from forecast_attn.config.values import checked_value, flag_name, option_type
from forecast_attn.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from optuna.trial import Trial

SEARCHABLE = (
    *("lookback", "calendar", "scaling", "transform"),
    *("attention", "attention_order", "attention_size", "heads", "normaliser", "attention_window", "window_radius"),
    *("input_feeding", "cell", "hidden_size", "decoder_size", "num_layers", "bidirectional", "patch_length"),
    *("projection_size", "lags", "temporal_decoder_size", "linear_path", "skip", "dropout", "decoding"),
    *("window_normalisation", "distribution"),
    *("loss", "batch_size", "learning_rate", "weight_decay", "schedule", "warmup", "weight_averaging"),
    *("averaging_decay", "gradient_clip", "max_epochs", "patience", "teacher_forcing", "teacher_forcing_decay"),
)
"""Options that may be searched: whatever their value is, the same steps are forecast and scored."""
CHANGE_THE_LOSS = frozenset({"scaling", "transform", "loss", "distribution"})
"""Options whose values have losses in other units, so that epochs cannot be compared between trials."""

SMALLEST_DROPOUT, LARGEST_DROPOUT = 0.0, 0.4
RATE_FACTOR = 4.0
"""Learning rates are searched from a quarter of the default to four times it."""
MECHANISMS = ("luong-general", "bahdanau", "multi-head", "none")
"""Mechanisms of the default space: one of each kind, and the control."""


@dataclass(frozen=True)
class Choice:
    """Choice among several values."""

    values: tuple[Any, ...]

    def suggest(self, trial: Trial, name: str) -> Any:
        """Draw a value for a trial."""
        return trial.suggest_categorical(name, self.values)

    def __contains__(self, value: object) -> bool:
        return value in self.values

    def to_document(self) -> Any:
        """JSON-able, as in a space file."""
        return list(self.values)


@dataclass(frozen=True)
class ValueRange:
    """A number between two others, both included."""

    low: float
    high: float
    log: bool = False
    step: float | None = None
    whole: bool = False

    def suggest(self, trial: Trial, name: str) -> Any:
        """Draw a value for a trial."""
        if self.whole:
            return trial.suggest_int(name, int(self.low), int(self.high), step=int(self.step or 1), log=self.log)
        return trial.suggest_float(name, self.low, self.high, step=self.step, log=self.log)

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int | float) or not self.low <= value <= self.high:
            return False
        return self.step is None or _is_multiple(value, self.low, self.step)

    def to_document(self) -> Any:
        """JSON-able, as in a space file."""
        document: dict[str, Any] = {"low": self.low, "high": self.high}
        return document | ({"log": True} if self.log else {}) | ({"step": self.step} if self.step else {})


Space = Mapping[str, Choice | ValueRange]


def read_space(path: Path) -> Space:
    """Read the space of a TOML file: a list of values, or a table with low, high and perhaps log or step, per option.

    Raises:
        ConfigError: no such file, no TOML, an option that cannot be searched, or a value that it cannot have.
    """
    content = read_toml(path, "space", "a TOML file of options to search, with lines such as hidden_size = [32, 64]")
    try:
        space = {}
        for name, values in by_field(content).items():
            if name not in SEARCHABLE:
                raise ConfigError(f"'{name}' cannot be searched", did_you_mean(name, SEARCHABLE))
            field = find_option(name)[1]
            space[name] = _interval(field, values) if isinstance(values, dict) else _choice(field, values)
        if not space:
            raise ConfigError("there is nothing to search", "a line such as hidden_size = [32, 64]")
    except ConfigError as error:
        raise error.reworded(f"'{path}': {error.message}") from None
    return space


def _choice(field: Any, values: Any) -> Choice:
    listed = values if isinstance(values, list) else [values]
    for value in listed:
        if not isinstance(value, bool | int | float | str):
            raise ConfigError(
                f"a value of '{field.name}' must be a number, a text, true or false; got {value!r}",
                'several in one value are a text with commas, such as "24,168"',
            )
        checked_value(field, value)
    if not listed:
        raise ConfigError(f"'{field.name}' has no values", f"such as {field.name} = [1, 2]")
    return Choice(tuple(dict.fromkeys(listed)))


def _interval(field: Any, table: dict[str, Any]) -> ValueRange:
    name, whole = field.name, option_type(field).flag is int
    unknown = [key for key in table if key not in ("low", "high", "log", "step")]
    if unknown:
        raise ConfigError(f"'{name}' has an unknown key '{unknown[0]}'", "low, high, log or step")
    if option_type(field).flag not in (int, float):
        raise ConfigError(f"'{name}' is not a number", f'a list of its values: {name} = ["…", "…"]')
    if not {"low", "high"} <= table.keys():
        raise ConfigError(f"'{name}' needs both ends", f"{name} = {{ low = 1, high = 2 }}")
    low, high = (checked_value(field, table[end]) for end in ("low", "high"))
    log, step = table.get("log", False), table.get("step")
    if not isinstance(log, bool):
        raise ConfigError(f"log of '{name}' must be true or false; got {log!r}")
    if step is not None and not _is_step(step, whole):
        raise ConfigError(f"step of '{name}' must be a {'whole ' if whole else ''}number above 0; got {step!r}")
    if log and step is not None:
        raise ConfigError(f"'{name}' has both log and step", "leave one of them out")
    if not low < high or (log and low <= 0):
        raise ConfigError(f"'{name}' goes from {low} to {high}", "low below high" + (", and above 0" if log else ""))
    if step is not None and not _is_multiple(high, low, step):
        message = f"'{name}' does not reach {high:g} from {low:g} in steps of {step:g}"
        raise ConfigError(message, "a high that is whole steps above low")
    return ValueRange(low, high, log, step, whole)


def _is_multiple(value: float, low: float, step: float) -> bool:
    """Return whether whole steps lead from `low` to a value, as decimals: 0.1 three times is 0.3."""
    exact, start, length = (Decimal(str(float(number))) for number in (value, low, step))
    return (exact - start) % length == 0


def _is_step(value: Any, whole: bool) -> bool:
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    return is_number and value > 0


def check_free(space: Space, given: Mapping[str, Any]) -> None:
    """Refuse options that have a value already.

    Args:
        space: to search.
        given: options that the user has set.

    Raises:
        ConfigError: with the option.
    """
    for name in space:
        if name in given:
            flag = flag_name(find_option(name)[1])
            raise ConfigError(f"--{flag} is set, and is in the space too", "leave it out of one of them")


@dataclass(frozen=True)
class TableShape:
    """The defaults of a table, around which a space is laid."""

    lookback: int
    patch_length: int
    hidden_size: int
    learning_rate: float
    lookbacks: tuple[int, ...]
    """Lookbacks with which the same windows are scored."""


def default_space(shape: TableShape, given: Mapping[str, Any]) -> tuple[dict[str, Choice | ValueRange], dict[str, Any]]:
    """The space of a table, and the defaults in it, which are tried first.

    Args:
        shape: the defaults.
        given: options that the user has set, which are not searched.

    Returns:
        The space by option, and the default of each.
    """
    size, rate = shape.hidden_size, shape.learning_rate
    space: dict[str, Choice | ValueRange] = {
        "attention": Choice(MECHANISMS),
        "hidden_size": Choice((size // 2, size, 2 * size)),
        "num_layers": Choice((1, 2)),
        "dropout": ValueRange(SMALLEST_DROPOUT, LARGEST_DROPOUT, step=0.1),
        "learning_rate": ValueRange(rate / RATE_FACTOR, rate * RATE_FACTOR, log=True),
    }
    first = {"attention": "luong-general", "hidden_size": size, "num_layers": 1, "dropout": 0.1, "learning_rate": rate}
    if len(shape.lookbacks) > 1:
        space["lookback"], first["lookback"] = Choice(shape.lookbacks), shape.lookback
    lookbacks = shape.lookbacks if "lookback" in space else (shape.lookback,)
    length = shape.patch_length
    near = [each for each in (length // 2, length, 2 * length) if each]
    patches = [each for each in near if not any(lookback % each for lookback in lookbacks)]
    if length > 1 and len(patches) > 1:
        space["patch_length"], first["patch_length"] = Choice(tuple(patches)), length
    kept = {name: dimension for name, dimension in space.items() if name not in given}
    return kept, {name: first[name] for name in kept}
