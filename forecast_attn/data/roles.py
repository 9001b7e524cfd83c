"""Decides what each column means: declared by the user, found by name, or found by content.

Nothing here depends on the order of rows or columns. A column nobody declared becomes a past covariate, which can never
leak; only values that stand where the target has none make a column known in the future.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import (
    ID_NAMES,
    LOOSE_TIME_NAMES,
    ROW_NAMES,
    STEP_NAMES,
    TARGET_NAMES,
    TIME_NAMES,
    is_called_coordinate,
    is_one_of_letters,
    is_plan,
    unit_of,
)
from forecast_attn.data.findings import coded, columns_text, quoted, require_column
from forecast_attn.data.reading.positions import LONG_ID, WIDE_ROWS
from forecast_attn.data.reading.time_parts import holds_years, time_parts
from forecast_attn.data.text_memo import TextMemo
from forecast_attn.data.timestamps import has_regular_step, looks_like_dates, parse_timestamps
from forecast_attn.errors import ConfigError, DataError

_BOOLEANS = {"True": "1", "False": "0"}
FIRST_ROWS = 100
"""Rows that show that a column is not empty, as most columns are not."""
MOST_UNDECLARED = 2_000
"""Columns that get a role by themselves; a table of more is a wide one, or holds what no network learns from."""

COVARIATE_FIELDS = tuple(
    f"{kind}_{what}" for kind in ("past", "future", "static") for what in ("covariates", "categories")
)
"""Fields of `Roles` that list covariates."""


@dataclass(frozen=True)
class Roles:
    """The meaning of every column. Covariates are sorted by name, so that the order of columns never matters."""

    time: str
    target: str
    item_id: str | None
    past_covariates: tuple[str, ...]
    future_covariates: tuple[str, ...]
    static_covariates: tuple[str, ...]
    ignored: dict[str, str]
    """Column -> why it is left out."""
    reasons: dict[str, str]
    """Column -> why it got its role."""
    past_categories: tuple[str, ...] = ()
    """Categorical covariates; those above are numeric."""
    future_categories: tuple[str, ...] = ()
    static_categories: tuple[str, ...] = ()
    known_steps: dict[str, int] = field(default_factory=dict)
    """Future covariate -> how many steps beyond the cut-off it is known, where that is not the whole horizon."""
    weight: str | None = None
    """Column of each series' weight in the loss."""

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns that are read as numbers, the target first."""
        weight = () if self.weight is None else (self.weight,)
        return (self.target, *self.past_covariates, *self.future_covariates, *self.static_covariates, *weight)

    @property
    def categorical(self) -> tuple[str, ...]:
        """Columns that are read as names of categories."""
        return (*self.past_categories, *self.future_categories, *self.static_categories)

    @property
    def varying(self) -> tuple[str, ...]:
        """Covariates that change with time, numeric ones first."""
        return (*self.past_covariates, *self.future_covariates, *self.past_categories, *self.future_categories)

    @property
    def future(self) -> tuple[str, ...]:
        """Columns whose future must be known: future covariates, numeric ones first."""
        return (*self.future_covariates, *self.future_categories)


@coded("FA102")
def resolve_roles(frame: pd.DataFrame, config: DataConfig, source: str) -> Roles:
    """Give every column of a table its role.

    Each role is chosen among the columns that the roles before it have left: the time first, which needs no other; then
    the series, which may be numbers or text. Of what is left only numbers and declared categories are `usable`: the
    target is found among the numbers, and all the rest are covariates.

    Args:
        frame: the table as read.
        config: what the user declared.
        source: the file's name, for messages.

    Raises:
        ConfigError: a column is declared in two roles.
        DataError: a declared column is missing, or time or target cannot be found.
    """
    future, known_steps = _future_spans(config.future_covariates, frame)
    declared = _declared(config, future)
    for column, role in declared.items():
        require_column(frame, column, source, role)
    for column in config.categorical:
        require_column(frame, column, source, "categorical")
    free = [str(name) for name in frame.columns if name not in declared]
    reasons = {column: f"declared as {role}" for column, role in declared.items() if role != "ignore"}
    ignored = {column: "declared" for column, role in declared.items() if role == "ignore"}
    ignored |= dict.fromkeys(empty_columns(frame).intersection(free), "empty")
    free = [name for name in free if name not in ignored]
    _refuse_too_many(free, source)

    time = config.time or find_time(frame, free, reasons, source)
    candidates = [name for name in free if name != time and name not in config.categorical]
    item_id = config.item_id or _find_item_id(frame, candidates, reasons, ignored)
    free = [name for name in free if name not in (time, item_id) and name not in ignored]
    usable = [name for name in free if name in config.categorical or is_numeric(frame[name])]
    ignored |= {name: why_not_numeric(frame[name]) for name in free if name not in usable}
    ignored |= {name: "index without a name" for name in usable if name.lower() == "unnamed: 0"}
    ignored |= {name: "numbers of rows" for name in usable if name.lower() in ROW_NAMES}
    usable = [name for name in usable if name not in ignored]
    numbers = [name for name in usable if name not in config.categorical]
    if config.target is None:
        _refuse_target_as_covariate(declared, config.categorical, numbers)
    target = config.target or _find_target(numbers, reasons, ignored, source, frame)
    usable = [name for name in usable if name != target]
    ignored |= {name: "numbers of rows" for name in usable if name in numbers and _numbers_rows(frame[name])}
    usable = [name for name in usable if name not in ignored]
    ahead = _known_ahead(frame, usable, time, target, item_id)
    groups = {
        "past": (*config.past_covariates, *(name for name in usable if name not in ahead)),
        "future": (*future, *ahead),
        "static": config.static_covariates,
    }
    categories = {name for group in groups.values() for name in group if _is_categorical(frame[name], config)}
    for name in usable:
        kind = "categorical" if name in categories else "numeric"
        reasons[name] = f"{kind}; has values after the target ends" if name in ahead else f"{kind}, not declared"
    return Roles(
        time=time,
        target=target,
        item_id=item_id,
        **{f"{kind}_covariates": _sorted(set(group) - categories) for kind, group in groups.items()},
        ignored=dict(sorted(ignored.items())),
        reasons=dict(sorted(reasons.items())),
        **{f"{kind}_categories": _sorted(set(group) & categories) for kind, group in groups.items()},
        known_steps=known_steps,
        weight=config.weight,
    )


def empty_columns(frame: pd.DataFrame) -> frozenset[str]:
    """Names of the columns that have no value. Of most columns the first rows tell."""
    is_text = np.array([isinstance(dtype, pd.CategoricalDtype) for dtype in frame.dtypes], np.bool_)
    texts = [name for name in frame.columns[is_text] if _is_empty(frame[name].array)]  # to pandas, each is a table
    others = frame.loc[:, ~is_text] if is_text.any() else frame
    suspects = others.columns[np.flatnonzero(others.iloc[:FIRST_ROWS].isna().to_numpy().all(axis=0))]
    return frozenset(map(str, [*texts, *(name for name in suspects if others[name].isna().all())]))


def _is_empty(cells: Any) -> bool:
    return bool((cells.codes[:FIRST_ROWS] < 0).all() and (cells.codes < 0).all())


def columns_of_numbers(frame: pd.DataFrame) -> frozenset[str]:
    """Names of the columns whose type is one of numbers or booleans: no cell of them needs to be looked at."""
    is_number = functools.cache(pd.api.types.is_numeric_dtype)
    return frozenset(str(name) for name, dtype in zip(frame.columns, frame.dtypes, strict=True) if is_number(dtype))


class TooManyColumnsError(DataError):
    """No command answers it but those in its hint, and a search for others would read the table again."""


def _refuse_too_many(undeclared: list[str], source: str) -> None:
    """Refuse a table of so many columns that neither a search for roles nor a training would end soon.

    Raises:
        TooManyColumnsError: there are more than MOST_UNDECLARED.
    """
    if len(undeclared) > MOST_UNDECLARED:
        raise TooManyColumnsError(
            f"'{source}' has {len(undeclared):,} columns that no option names; at most {MOST_UNDECLARED:,} get a role "
            "by themselves",
            "--wide, if every column is a series; --layout rows, if every row is one; else keep fewer columns, or name "
            "them with --past",
            file=source,
            options=("wide", "layout", "past_covariates"),
        )


FEWEST_NUMBERED = 20
"""Rows whose numbers from 1 on are no coincidence."""


def _numbers_rows(column: pd.Series) -> bool:
    """Return whether a column counts the rows of the table from any number on, in any order."""
    if len(column) < FEWEST_NUMBERED or not pd.api.types.is_integer_dtype(column.dtype) or column.hasnans:
        return False
    lowest, highest = int(column.min()), int(column.max())
    return highest - lowest == len(column) - 1 and bool(column.is_unique)


def _is_categorical(column: pd.Series, config: DataConfig) -> bool:
    """Return whether a column is declared categorical, or is a declared covariate of text."""
    return column.name in config.categorical or not is_numeric(column)


def _future_spans(declared: tuple[str, ...], frame: pd.DataFrame) -> tuple[tuple[str, ...], dict[str, int]]:
    """The future covariates, and the steps for which those written as `name:24` are known."""
    spans: dict[str, int | None] = {}
    for text in declared:
        name, steps = text, None
        match = re.fullmatch(r"(.+):(\d{1,7})", text)
        if match and text not in frame.columns:
            name, steps = match[1], int(match[2])
            if steps == 0:
                raise ConfigError(f"--future {text} is not known for any step", f"--past '{name}'")
        first = spans.setdefault(name, steps)
        if first != steps:
            before = name if first is None else f"{name}:{first}"
            raise ConfigError(f"column '{name}' is declared twice: --future {before} and {text}", "name it once")
    return tuple(spans), {name: steps for name, steps in sorted(spans.items()) if steps is not None}


def is_numeric(column: pd.Series) -> bool:
    """Return whether a column holds numbers or booleans, or text that is mostly numbers (the rest are mistakes to
    report).
    """
    if column.dtype.kind in "mM":
        return False
    if pd.api.types.is_numeric_dtype(column.dtype):  # booleans are numeric to pandas
        return True
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return False
    texts = column.array if isinstance(column.dtype, pd.CategoricalDtype) else pd.Categorical(column)
    counts = np.bincount(texts.codes + 1, minlength=len(texts.categories) + 1)[1:]  # each text once; NaN do not count
    are_numbers = _ARE_NUMBERS.get(texts.dtype, None, lambda: _are_numbers(list(map(str, texts.categories))))
    return bool(counts[are_numbers].sum() > counts.sum() / 2)


_ARE_NUMBERS: TextMemo[NDArray[np.bool_]] = TextMemo()
"""Which texts of a column are numbers."""


def _are_numbers(cells: list[str]) -> NDArray[np.bool_]:
    if np.isnan(np.asarray(pd.to_numeric(cells, errors="coerce"))).any():
        cells = [_BOOLEANS.get(cell, cell).replace(",", ".", 1) for cell in cells]  # a comma is a mistake, too
    return ~np.isnan(np.asarray(pd.to_numeric(cells, errors="coerce")))


def _declared(config: DataConfig, future: tuple[str, ...]) -> dict[str, str]:
    """Column -> role, for all the user declared."""
    declared: dict[str, str] = {}
    single = {"time": config.time, "target": config.target, "id": config.item_id, "weight": config.weight}
    lists = {
        "past": config.past_covariates,
        "future": future,
        "static": config.static_covariates,
        "ignore": config.ignore,
    }
    pairs = [(role, name) for role, name in single.items() if name is not None]
    pairs += [(role, name) for role, names in lists.items() for name in names]
    for role, name in pairs:
        if declared.setdefault(name, role) != role:
            raise ConfigError(
                f"column '{name}' is declared twice: --{declared[name]} and --{role}", "give it one of the two roles"
            )
    for name in config.categorical:
        if declared.get(name) in ("time", "target", "id", "weight", "ignore"):
            raise ConfigError(f"column '{name}' is --{declared[name]}; only covariates can be --categorical")
    return declared


def _refuse_target_as_covariate(declared: dict[str, str], categorical: tuple[str, ...], others: list[str]) -> None:
    """Refuse to forecast another column instead, where the one named as a target is declared as something else.

    Raises:
        ConfigError: names the column and its role.
    """
    roles = {**dict.fromkeys(categorical, "categorical"), **declared}
    taken = [name for name, role in roles.items() if role not in ("time", "ignore")]
    for name in _named(taken, TARGET_NAMES)[:1]:
        if not _named(others, TARGET_NAMES):
            raise ConfigError(
                f"column '{name}' is declared as --{roles[name]}, and no other column is named as the target",
                "--target NAME, if another column is to be forecast",
            )


def _named(names: Iterable[str], known: tuple[str, ...]) -> list[str]:
    """Columns whose lower-case name is known, best name first."""
    return sorted((name for name in names if name.lower() in known), key=lambda name: (known.index(name.lower()), name))


def find_time(frame: pd.DataFrame, free: list[str], reasons: dict[str, str], source: str) -> str:
    """Find the column of time stamps among those without a role, and record the reason in `reasons`.

    Raises:
        DataError: none, or several.
    """
    loose = [name for name in _named(free, LOOSE_TIME_NAMES) if looks_like_dates(frame[name])]
    by_name = _named(free, TIME_NAMES) + loose
    numbers = columns_of_numbers(frame)
    others = [name for name in free if name not in numbers and name.lower() not in ID_NAMES]
    dates = [name for name in others if looks_like_dates(frame[name])]
    regular = _regular_among(frame, [*by_name[:1], *(name for name in dates if name not in by_name[:1])])
    if regular is not None:
        reasons[regular] = "the only column of dates that are unique and regular"
        return regular
    if by_name:
        reasons[by_name[0]] = "name"
        return by_name[0]
    if len(dates) > 1:
        raise DataError(
            f"'{source}' has several columns of dates: {quoted(sorted(dates))}",
            "--time NAME",
            file=source,
            options=("time",),
        )
    steps = [name for name in _named(free, STEP_NAMES) if pd.api.types.is_integer_dtype(frame[name].dtype)]
    if not dates and not steps:
        columns = columns_text([str(name) for name in frame.columns])
        named = next(iter(_named(free, LOOSE_TIME_NAMES)), None)
        first = "name it with --time NAME"
        if named is not None:
            first = f"--time '{named}' shows which of its cells are no stamps"
        hint = f"{first}; write dates as YYYY-MM-DD or YYYY-MM-DD HH:MM; --time row-number if rows are in its order"
        message = f"'{source}' has no column of time stamps; its columns are {columns}"
        raise DataError(message, hint, file=source, options=("time",))
    time = (dates or steps)[0]
    if not dates:
        _refuse_a_part_of_a_date(frame, free, time, source)
    reasons[time] = "the only column of dates" if dates else "name, whole numbers"
    return time


def _regular_among(frame: pd.DataFrame, dates: list[str]) -> str | None:
    """Return the only one of several columns of dates with unique, regular stamps; None if the first one has them."""
    if len(dates) < 2 or _is_unique(frame[dates[0]]):
        return None
    unique = [name for name in dates[1:] if _is_unique(frame[name]) and has_regular_step(frame[name])]
    return unique[0] if len(unique) == 1 else None


def _is_unique(column: pd.Series) -> bool:
    """Return whether no two rows have the same cell; of text from a file mostly by its categories alone."""
    if isinstance(column.dtype, pd.CategoricalDtype) and len(column.cat.categories) < len(column):
        return False
    return bool(column.is_unique)


def _refuse_a_part_of_a_date(frame: pd.DataFrame, free: list[str], step: str, source: str) -> None:
    """Refuse a year, say, as the time of rows whose month stands in another column.

    Raises:
        DataError: with the columns that are the time together.
    """
    parts = time_parts(frame, free)
    if step in parts and len(parts) > 1 and not _is_unique(frame[step]):
        message = f"'{source}' has its dates in several columns: {quoted(parts)}"
        hint = f"--time {','.join(parts)}"
        if frame.index.name == WIDE_ROWS and LONG_ID in parts:  # no column of the file, but the names of its columns
            message = f"'{source}' has columns for the parts of '{step}', such as its months"
            hint = "--layout calendar instead of --wide"
        raise DataError(message, hint, code="FA102", column=step, options=("time",))


def _find_item_id(frame: pd.DataFrame, free: list[str], reasons: dict[str, str], ignored: dict[str, str]) -> str | None:
    for name in _named(free, ID_NAMES):
        if name.lower() in ("id", "series") and frame[name].nunique() == len(frame) > 1:
            ignored[name] = "differs in every row"
        elif not pd.api.types.is_float_dtype(frame[name].dtype):
            reasons[name] = "name"
            return name
    return None


def _find_target(
    numeric: list[str], reasons: dict[str, str], ignored: dict[str, str], source: str, frame: pd.DataFrame
) -> str:
    called = _named(numeric, TARGET_NAMES)
    by_name = sorted(
        name
        for name in called
        if not (is_one_of_letters(name, numeric) or _is_year_or_place(name, frame) or is_plan(name, numeric))
    )
    unusable = sorted(_named([name for name, why in ignored.items() if why in ("empty", "text")], TARGET_NAMES))
    if unusable and not by_name:  # another column must not slip into its place
        holds = {"empty": "no value", "text": "text"}[ignored[unusable[0]]]
        raise DataError(
            f"'{source}': column '{unusable[0]}' is the target by its name and holds {holds}; expected numbers",
            "correct the column, or name another one with --target NAME",
            column=unusable[0],
            file=source,
            options=("target",),
        )
    candidates = by_name or sorted(numeric)
    if len(candidates) == 1:
        reasons[candidates[0]] = "name" if by_name else "the only numeric column"
        return candidates[0]
    if not candidates:
        columns = columns_text(tuple(map(str, frame.columns)))
        message = f"'{source}' has no numeric column to forecast; its columns are {columns}"
        clocks = [name for name, why in ignored.items() if why == "text" and _holds_clocks(frame[name])]
        hint = f"write the times of '{clocks[0]}' as numbers, such as seconds" if clocks else "--target NAME"
        raise DataError(message, hint, file=source, options=() if clocks else ("target",))
    raise DataError(
        f"'{source}' has {len(candidates)} columns that could be the target: {quoted(candidates)}",
        f"--target NAME, for example --target {_flag_value(candidates[-1])}",
        file=source,
        options=("target",),
    )


def _is_year_or_place(name: str, frame: pd.DataFrame) -> bool:
    """Return whether a column called as a target is the year of a date, `Y` beside `M`, or a place, beside `lat`."""
    if unit_of(name) != "year":
        return False
    names = [str(other) for other in frame.columns]
    is_place = {"x", "y"}.issubset(map(str.lower, names)) and any(map(is_called_coordinate, names))
    return is_place or (holds_years(frame[name]) and any(unit_of(other) == "month" for other in names))


def _holds_clocks(column: pd.Series) -> bool:
    """Return whether the first cells are times that something took, or of a day: 02:55:10."""
    cells = column.dropna().iloc[:FIRST_ROWS].astype(str)
    return bool(len(cells) and cells.str.fullmatch(r"\d{1,3}:\d\d(:\d\d(\.\d+)?)?").all())


def _flag_value(name: str) -> str:
    return f'"{name}"' if " " in name else name


def _known_ahead(
    frame: pd.DataFrame, columns: list[str], time: str, target: str, item_id: str | None
) -> tuple[str, ...]:
    """Columns that have a value in the future rows of at least half of the series.

    In fewer it is the target that lacks its last values, and `predict` would ask all the others for their future.
    """
    unknown = frame[target].isna().to_numpy()
    if not unknown.any() or not columns:
        return ()
    series = pd.factorize(frame[item_id])[0] if item_id is not None else np.zeros(len(frame), np.int64)
    rows = _future_rows(frame, unknown, time, series)
    fewest = max(len(np.unique(series[~unknown])) / 2, 1)
    return tuple(
        name for name in columns if len(np.unique(series[rows[frame[name].notna().to_numpy()[rows]]])) >= fewest
    )


def _future_rows(
    frame: pd.DataFrame, unknown: NDArray[np.bool_], time: str, series: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rows after the last known target of their series, unless holes as long have come more than once before.

    There the last values are missing like the others.
    """
    try:
        stamps, bad = parse_timestamps(frame[time], time)
    except DataError:  # reported again, with its position, when the panel is built
        return np.empty(0, np.int64)
    times = pd.Series(np.where(bad, np.iinfo(np.int64).min, stamps.astype(np.int64)))
    last = times.where(~unknown).groupby(series).transform("max").to_numpy()
    ending = np.unique(series[unknown & ~bad & (times.to_numpy() > last)])  # mostly none: the others are not sorted
    good = np.flatnonzero(~bad & np.isin(series, ending[ending >= 0]))
    order = good[np.lexsort((stamps[good], series[good]))]
    in_order, is_hole = series[order], unknown[order]
    starts = np.flatnonzero(np.diff(in_order, prepend=-1) | np.diff(is_hole, prepend=False))
    lengths = np.diff(starts, append=len(order))
    of, is_hole = in_order[starts], is_hole[starts]
    is_first, is_last = np.diff(of, prepend=-1) != 0, np.diff(of, append=-1) != 0
    at_end = np.zeros(series.max(initial=0) + 1, np.int64)
    at_end[of[is_last]] = lengths[is_last]
    as_long = is_hole & ~is_first & ~is_last & (lengths >= at_end[of])
    often = np.bincount(of[as_long], minlength=len(at_end)) > 1
    rows: NDArray[np.int64] = order[np.repeat(is_hole & is_last & ~is_first & ~often[of], lengths)]
    return rows


def why_not_numeric(column: pd.Series) -> str:
    """Describe the content of a column that is not numeric."""
    return "dates" if looks_like_dates(column) else "text"


def _sorted(*groups: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for group in groups for name in group}))
