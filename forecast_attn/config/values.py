"""The values an option may have: choices, types, ranges, and texts with a form of their own."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, get_args

from forecast_attn.errors import ConfigError, did_you_mean


class Preset(NamedTuple):
    """A named set of options for `--preset`."""

    options: dict[str, Any]
    """Options by field name; all others keep their own defaults."""
    cost: str
    """Cost of the preset, for the help text."""


# Measured in docs/training.md.
PRESETS: dict[str, Preset] = {
    "fast": Preset(
        {"hidden_size": 32, "max_epochs": 6},
        "six epochs of a smaller network: a third of the time on long tables, too few for short ones",
    ),
    "default": Preset({}, "one network"),
    "accurate": Preset(
        {"ensemble": 4, "weight_averaging": "ema"},
        "four networks with averaged weights, four to five times the time of one",
    ),
}


def with_preset(options: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the options that were given, with those of the preset for the ones that were not, or are None.

    Args:
        options: by field name.
        name: of `PRESETS`.
    """
    return {**options, **{key: value for key, value in PRESETS[name].options.items() if options.get(key) is None}}


def preset_help() -> str:
    """Help text of `--preset`: every preset and its cost."""
    costs = "; ".join(f"{name} ({preset.cost})" for name, preset in PRESETS.items())
    return f"a set of options; options you give override it: {costs}; `help` lists them"


NETWORK = "network"
"""Name of the network among the weights of a combination."""

ACCELERATORS = ("auto", "cpu", "gpu", "cuda", "mps")
WEIGHT_TYPES = ("float32", "float16")
"""Types of the attention weights in a file."""

LONGEST_LAG = 100_000
MOST_QUANTILES = 1_000
MOST_SEEDS = 1_000

CALENDAR_FEATURES = (
    "second_of_minute",
    "minute_of_hour",
    "hour_of_day",
    "day_of_week",
    "weekend",
    "day_of_month",
    "day_of_year",
    "week_of_year",
    "month_of_year",
    "quarter",
)
"""Names that `--calendar` may list."""


def by_field_name(options: dict[str, Any], name_of: Callable[[str], str]) -> dict[str, Any]:
    """Return the options by the names of their fields.

    Args:
        options: by any of their names.
        name_of: finds the field of a name.

    Raises:
        ConfigError: two names are of one option.
    """
    fields: dict[str, str] = {}
    for name in options:
        first = fields.setdefault(name_of(name), name)
        if first != name:
            raise ConfigError(f"'{first}' and '{name}' are one option", "give one of them")
    return {field: options[name] for field, name in fields.items()}


def flag_name(option_field: dataclasses.Field[Any]) -> str:
    """The flag without its dashes: the short name where there is one."""
    return option_field.metadata["flag"] or option_field.name.replace("_", "-")


def option_type(option_field: dataclasses.Field[Any]) -> OptionType:
    """The type of a field, as `TYPES` has it."""
    return TYPES[next(kind for kind in _alternatives(option_field) if kind is not type(None))]


def may_be_none(option_field: dataclasses.Field[Any]) -> bool:
    """Return whether None is a value of the field."""
    return type(None) in _alternatives(option_field)


def _alternatives(option_field: dataclasses.Field[Any]) -> tuple[Any, ...]:
    kind: Any = option_field.type
    return get_args(kind) if isinstance(kind, UnionType) else (kind,)


def checked_value(option_field: dataclasses.Field[Any], value: Any, hint: str | None = None) -> Any:
    """Return the value in the field's type.

    Raises:
        ConfigError: with what was expected and what was given.
    """
    if value is None and may_be_none(option_field):
        return None
    if hasattr(value, "tolist"):  # of numpy, pandas or torch: a number, a truth value, a text, or several
        value = value.tolist()
    name, kind, metadata = flag_name(option_field), option_type(option_field), option_field.metadata
    if kind.read is _to_path and metadata["metavar"] is None:
        _check_names_file(name, str(value))
    try:
        value = (metadata["read"] or kind.read)(value)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(f"--{name} must be {kind.expected}; got {value!r}", hint) from None
    if metadata["choices"]:
        if isinstance(value, tuple):
            return tuple(checked_choice(name, each, metadata["choices"]) for each in value)
        return checked_choice(name, value, metadata["choices"])
    if metadata["check"] is not None:
        metadata["check"](value)
    low, high = metadata["low"], metadata["high"]
    if isinstance(value, int | float) and not low <= value <= high:
        raise ConfigError(f"--{name} must be {_range(low, high)}; got {value}", hint)
    return value


def _check_names_file(flag: str, path: str) -> None:
    """Refuse a text that `Path` takes for the name of a file although it cannot be meant as one.

    Raises:
        ConfigError: it is empty, or ends like a folder that is not there.
    """
    if not path:
        raise ConfigError(f"--{flag} is empty", f"--{flag} FILE")
    if path.endswith(("/", os.sep)) and not Path(path).is_dir():
        raise ConfigError(f"--{flag} '{path}' is no file, and there is no such folder", f"--{flag} FILE")


def checked_choice(flag: str, value: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices of an option, however its case and dashes are written.

    Raises:
        ConfigError: none of them; with the nearest one.
    """
    plain = value.strip().lower().replace("_", "-")
    if plain not in choices:
        raise ConfigError(f"--{flag} has no value '{value}'", did_you_mean(plain, choices))
    return plain


def _range(low: float, high: float) -> str:
    low_text, high_text = (f"{each:,.0f}" if abs(each) >= 1000 and each < 1e15 else f"{each:g}" for each in (low, high))
    return f"at least {low_text}" if high == math.inf else f"between {low_text} and {high_text}"


MOST_DIGITS = 18
"""Digits of a whole number that fits into 64 bits; Python refuses to read thousands of them."""
ROUNDING = 1e-4
"""Per cent that the sum of float32 weights may be off."""


def _to_int(value: Any) -> int:
    if isinstance(value, bool) or int(value) != float(value):
        raise ValueError(value)
    return int(value)


def _to_float(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(float(value)):
        raise ValueError(value)
    return float(value)


def _to_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


def _to_str(value: Any) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise TypeError(value)
    return str(value)


_NAME_IN_LIST = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|\Z)')
_NEEDS_QUOTES = re.compile(r'\A\Z|\A["\s]|,|\s\Z')


def _to_names(value: Any) -> tuple[str, ...]:
    """Column names, or other texts: a list of them, or one string with commas, which are not all that it has.

    In double quotes one may be empty; see `names_text`.
    """
    if not isinstance(value, str):
        return tuple(dict.fromkeys(map(str, value)))
    parts = (match.groups() for match in _NAME_IN_LIST.finditer(value))
    names = [plain.strip() or None if quoted is None else quoted.replace('""', '"') for quoted, plain in parts]
    if "," in value and not any(names):
        raise ValueError(value)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def names_text(names: Iterable[str]) -> str:
    """`a,"b, c"`: names in one string, as an option takes them; in double quotes where one has a comma."""
    in_quotes = {name: '"' + name.replace('"', '""') + '"' for name in names}
    return ",".join(text if _NEEDS_QUOTES.search(name) else name for name, text in in_quotes.items())


def _to_quantiles(value: Any) -> tuple[float, ...]:
    """Quantiles, ascending: a list, one number, or one string with commas."""
    return tuple(sorted(_to_float(part) for part in _listed_numbers(value)))


def _to_steps(value: Any) -> tuple[int, ...]:
    """Numbers of steps, ascending: a list, one number, one string with commas, or `none`."""
    if value in ("none", ["none"]):
        return ()
    return tuple(sorted({_to_int(part) for part in _listed_numbers(value)}))


def _listed_numbers(value: Any) -> list[Any]:
    """The parts of a list, one number, or a string with commas, which the parts may be too."""
    if isinstance(value, bool):
        raise TypeError(value)
    given = [value] if isinstance(value, str | int | float) else value
    parts = [part for item in given for part in (item.split(",") if isinstance(item, str) else [item])]
    return [part for part in parts if str(part).strip()]


def _to_path(value: Any) -> Path:
    if not isinstance(value, str | Path):
        raise TypeError(value)
    return Path(value)


def _to_paths(value: Any) -> tuple[Path, ...]:
    """Paths: a list, or a single one."""
    return tuple(map(_to_path, [value] if isinstance(value, str | Path) else value))


class OptionType(NamedTuple):
    """A type of option, as TOML and Python, the command line, messages and editors know it."""

    read: Callable[[Any], Any]
    """Converts a given value; raises TypeError or ValueError."""
    expected: str
    """For messages: what a value must be."""
    metavar: str | None
    """The value's name in help texts."""
    flag: Any
    """Type by which the command line parses its words first."""
    accepts: str
    """Types that Python code may pass, as an annotation of `config.keywords`."""


TYPES: dict[Any, OptionType] = {
    int: OptionType(_to_int, "a whole number", "N", int, "int"),
    float: OptionType(_to_float, "a number", "X", float, "float"),
    bool: OptionType(_to_bool, "true or false", None, bool, "bool"),
    str: OptionType(_to_str, "text", "TEXT", str, "str | int"),
    Path: OptionType(_to_path, "a path", "FILE", str, "Path | str"),  # Path forgets a / at the end
    tuple[str, ...]: OptionType(_to_names, "column names", "NAMES", list[str], "str | Sequence[str]"),
    tuple[float, ...]: OptionType(
        _to_quantiles,
        "quantiles between 0 and 1, such as 0.1,0.5,0.9",
        "NAMES",
        list[str],
        "str | float | Sequence[float | str]",
    ),
    tuple[int, ...]: OptionType(
        _to_steps, "numbers of steps, such as 24,168, or none", "NAMES", list[str], "str | int | Sequence[int | str]"
    ),
    tuple[Path, ...]: OptionType(_to_paths, "paths", "FILE", list[Path], "Path | str | Sequence[Path | str]"),
}
"""The one registry of option types, by the annotation of a field."""


def parse_duration(text: str) -> float:
    """Seconds in `90s`, `10m`, `1h30m` or a bare number of seconds."""
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip().lower())
    seconds = (
        sum(float(part or 0) * unit for part, unit in zip(match.groups(), (3600, 60, 1), strict=True)) if match else 0
    )
    if seconds <= 0:
        raise ConfigError(f"--max-time must be a time such as 90s, 10m or 1h30m; got '{text}'")
    return seconds


def parse_share_range(text: str) -> tuple[float, float]:
    """First and last share in `1.0..0`, or the same one twice in `0.5`."""
    try:
        shares = [float(part) for part in text.split("..")]
    except ValueError:
        shares = []
    if len(shares) not in (1, 2) or not all(0 <= share <= 1 for share in shares):
        raise ConfigError(f"--teacher-forcing must be a share such as 0.5 or a course such as 1.0..0; got '{text}'")
    return shares[0], shares[-1]


def check_validation(value: float) -> None:
    """Refuse a number of validation steps that is not whole."""
    if value >= 1 and value != int(value):
        raise ConfigError(f"--validation must be a fraction below 1 or a whole number of steps; got {value:g}")


STRATEGIES = ("auto", "ddp", "fsdp")


def parse_calendar(text: str) -> tuple[str, ...]:
    """`auto`, `none`, or names of calendar features, each once and in the order of `CALENDAR_FEATURES`."""
    names = [name.strip().lower().replace("-", "_") for name in text.split(",") if name.strip()]
    if names in (["auto"], ["none"]):
        return tuple(names)
    for name in names:
        if name in ("auto", "none"):
            raise ConfigError(f"--calendar {name} stands alone; got '{text}'", "a list of names, or auto, or none")
        if name not in CALENDAR_FEATURES:
            raise ConfigError(f"--calendar has no feature '{name}'", did_you_mean(name, CALENDAR_FEATURES))
    if not names:
        raise ConfigError("--calendar is empty", "--calendar auto, none, or a list of names")
    return tuple(name for name in CALENDAR_FEATURES if name in names)


def parse_attention_windows(text: str | int) -> int | None:
    """The number in `--attention-windows`; None for `all`.

    Raises:
        ConfigError: neither a positive whole number nor `all`.
    """
    plain = str(text).strip().lower()
    if plain == "all":
        return None
    if not plain.isdecimal() or len(plain) > MOST_DIGITS or int(plain) < 1:
        raise ConfigError(f"--attention-windows must be a number of windows, or all; got '{plain:.40}'", "such as 100")
    return int(plain)


def percent(share: float, digits: int = 0) -> str:
    """A share of a whole, `35 %`. What is not all is never 100 %, and what is there never 0 %: `over 99 %`,
    `under 1 %`, and with a digit more `over 99.9 %`.
    """
    value, least = 100 * share, 10.0**-digits
    if 0 < value < least:
        return f"under {least:.{digits}f} %"
    if 100 - least < value < 100 - ROUNDING:
        return f"over {100 - least:.{digits}f} %"
    return f"{value:.{digits}f} %"


def quantile_name(quantile: float) -> str:
    """Name of a quantile's column: `0.1`."""
    return f"{quantile:g}"


def check_quantiles(quantiles: tuple[float, ...]) -> None:
    """Refuse numbers that are not between 0 and 1, and repeated ones.

    Raises:
        ConfigError: naming the quantile.
    """
    number = len({*quantiles, 0.5})
    if number > MOST_QUANTILES:
        raise ConfigError(f"--quantiles are {number:,} with 0.5; {MOST_QUANTILES:,} are the most")
    for quantile in quantiles:
        if not 0 < quantile < 1 or float(quantile_name(quantile)) in (0, 1):
            raise ConfigError(
                f"--quantiles lie between 0 and 1, ends excluded; got {quantile:g}", "such as 0.1,0.5,0.9"
            )
    names = [quantile_name(quantile) for quantile in quantiles]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"--quantiles names {name} more than once", "name each quantile once")


def check_lags(lags: tuple[int, ...]) -> None:
    """Refuse lags that are no past steps.

    Raises:
        ConfigError: naming the lag.
    """
    for lag in lags:
        if not 1 <= lag <= LONGEST_LAG:
            raise ConfigError(f"--lags must be between 1 and {LONGEST_LAG:,}; got {lag}", "such as 24,168")


def check_missing_texts(texts: tuple[str, ...]) -> None:
    """Refuse texts that no table in UTF-8 can hold.

    Raises:
        ConfigError: naming the text.
    """
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ConfigError(f"--na '{text}' is not UTF-8", "write it as in the table, in UTF-8") from None


def parse_combination(given: str | Sequence[str]) -> tuple[str, ...]:
    """The baselines of `--combine-with`: names, or one text of names with commas; `none` for no baseline.

    Raises:
        ConfigError: a text without a name, something that is not text, or a name that is there twice.
        TypeError: no sequence.
    """
    parts = [given] if isinstance(given, str) else list(given)
    names = tuple(name.strip() for part in parts for name in str(part).split(","))
    if not all(names) or not all(isinstance(part, str) for part in parts):
        text = ",".join(map(str, parts))
        raise ConfigError(f"--combine-with needs names of baselines; got '{text}'", "such as --combine-with regression")
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise ConfigError(f"--combine-with has '{twice[0]}' twice", "baselines have equal weights: name each once")
    return () if names == ("none",) else names
