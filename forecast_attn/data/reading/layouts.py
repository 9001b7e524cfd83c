"""Makes tables long whose rows each hold several steps: one series per row, or one year per row.

`--layout rows`: the names of the columns are dates, years or numbers of steps (the layout of the M4 and M5 competitions
and of the World Bank). `--layout calendar`: a column per month or quarter beside the year, per day beside the week, per
hour beside the day, or per year beside the months.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import unit_of
from forecast_attn.data.findings import Finding, Report, require_column, row_and_line
from forecast_attn.data.reading.grids import find_grid, periods_across
from forecast_attn.data.reading.joined import ROW_NUMBER
from forecast_attn.data.reading.merged import filled_down
from forecast_attn.data.reading.positions import (
    LAYOUT_ROWS,
    LONG_ID,
    LONG_TARGET,
    LONG_TIME,
    file_positions,
    without_values,
)
from forecast_attn.data.reading.time_parts import are_dates_of_years, holds_years
from forecast_attn.data.timestamps import looks_like_dates, parse_timestamps
from forecast_attn.data.written_dates import month_number
from forecast_attn.errors import ConfigError, DataError

FEWEST_STEPS = 3
"""Columns that are steps, in a table of one series per row."""
MANY_STEPS = 8
"""Fewest numbered columns that are rather steps than variables."""
MOST_NAMES = 4
"""Columns that together name a row."""
MOST_TEXTS = 8

_STEM = re.compile(r"(\D*?)[ ._-]?(\d{1,6})")
_DATED = re.compile(
    r"\d{4}([-./]\d{1,2}){0,2}|\d{4}[- ]?[QqMm]\d{1,2}|(\d{1,2}[-./]){1,2}\d{4}|\d{1,2}[-./]\d{1,2}[-./]\d{2}"
)
_OF_YEARS = re.compile(r"(.*?[^\d]+?)[ ._-]?((?:1[6-9]|2[0-2])\d{2})")
"""Names of one value in several years: `gdp1990`, `gdp2000`."""
_WITH_WORDS = re.compile(
    r"([^\W\d_]{3,9}\.?|[QqTt][1-4]|[Ww]\d\d?)[ /_'-]*\d{2,4}|\d{4}[ /_-]*([^\W\d_]{3,9}|[Ww]\d\d?)"
)
"""Names that may be months, quarters or weeks: `Jan-24`, `Q1 2024`, `2024 W05`."""
_FORMS = (_DATED, _WITH_WORDS)


@dataclass(frozen=True)
class StepColumns:
    """Columns whose names are steps, in the order of time."""

    names: tuple[str, ...]
    stamps: NDArray[Any]
    """Dates, or numbers from 1 (num_columns,)."""
    are_dates: bool


def check_layout(config: DataConfig) -> None:
    """Refuse options that contradict --layout.

    Raises:
        ConfigError: with the option.
    """
    if config.layout in ("long", "merged"):
        return
    given = {"wide": config.wide, "target": config.target is not None}
    given["time"] = config.time is not None and config.layout == "rows"
    for flag, is_given in given.items():
        if is_given:
            message = f"--layout {config.layout} and --{flag} contradict each other"
            raise ConfigError(message, f"leave --{flag} out: the columns that are steps are found by their names")


def arranged(frame: pd.DataFrame, config: DataConfig, source: str, report: Report) -> pd.DataFrame:
    """One row per series and step of a table with another layout; a long one comes back as it is.

    Args:
        frame: as it stands in the file.
        config: the layout, and the columns that identify series, are static, or are left out.
        source: the file's name, for messages.
        report: called with the columns that are left out.

    Raises:
        DataError: the table has not that layout.
    """
    if config.layout in ("long", "merged"):
        return frame if config.layout == "long" else filled_down(frame)[0]
    for name in (*config.static_covariates, *config.categorical, *config.ignore):
        require_column(frame, name, source)
    return (
        _rows_made_long(frame, config, source, report)
        if config.layout == "rows"
        else _calendar_made_long(frame, config, source, report)
    )


def is_arranged(frame: pd.DataFrame) -> bool:
    """Return whether a table has the columns of one that `arranged` made long."""
    return LONG_TARGET in frame.columns and find_steps(frame) is None and periods_across(frame) is None


def names_of_grid(frame: pd.DataFrame) -> str | None:
    """The columns that tell series apart which each have one row a day or year; "" for one series.

    None where there is no such grid, or where months are switches beside the rows.
    """
    try:
        grid = find_grid(frame)
    except DataError:  # days that may be months: a grid all the same
        return ""
    if grid is None or len(np.unique(grid.stamps)) == len(grid.stamps):
        return None if grid is None else ""
    if len(np.unique(grid.values[~np.isnan(grid.values)])) <= 2:
        return None
    others = [name for name in map(str, frame.columns) if name not in (*grid.labels, *grid.names)]
    repeated = frame[[name for name in others if frame[name].nunique() < len(frame)]]
    return names_of_rows(pd.concat([frame[list(grid.labels)], repeated], axis="columns"), (), grid.labels)


def names_of_rows(frame: pd.DataFrame, values: tuple[str, ...], labels: tuple[str, ...] = ()) -> str | None:
    """The fewest columns of text that together with labels differ in every row; of whole numbers beside labels, too.

    Args:
        frame: as it stands in the file.
        values: columns that hold values.
        labels: columns of the time of a row, of which there are some where the series have several rows.
    """
    beside = [name for name in map(str, frame.columns) if name not in (*values, *labels)]
    kinds = (pd.CategoricalDtype, *((np.dtypes.Int64DType,) if labels else ()))
    texts = [name for name in beside if isinstance(frame[name].dtype, kinds)]
    for size in range(1, MOST_NAMES + 1):
        for names in itertools.combinations(texts[:MOST_TEXTS], size):
            is_named = not frame[list(names)].isna().all(axis=1).any()
            if is_named and not frame.duplicated(subset=[*labels, *names]).any():
                return ",".join(names)
    return None


def likely_layout(frame: pd.DataFrame) -> str | None:
    """The layout other than long and merged that a table has by its columns' names; None for long and wide ones."""
    if names_of_grid(frame) is not None:
        return "calendar"
    steps = find_steps(frame)
    if steps is None:
        return None
    names = set(steps.names)
    others = [name for name in frame.columns if name not in names]
    dates = [name for name in others if _is_dates(frame[name])]
    if _are_months(steps.names):  # with a year, too, they are a calendar; beside numbers alone, switches
        return None if dates or all(pd.api.types.is_numeric_dtype(frame[name].dtype) for name in others) else "rows"
    if unit_of_steps(steps) is not None and len(steps.names) >= MANY_STEPS:  # wk1, wk2, … beside what names a row
        is_time = any(frame[name].is_unique and len(frame) > 1 for name in dates)
        return None if is_time or not _are_named(frame, [name for name in others if name not in dates]) else "rows"
    has_more_steps_than_rows = steps.are_dates and len(steps.names) > len(frame)  # a date beside them is a property
    if not has_more_steps_than_rows and dates:
        return None
    if steps.are_dates:
        return "rows"
    words = [name for name in others if not pd.api.types.is_numeric_dtype(frame[name].dtype)]
    texts = [name for name in words if frame[name].is_unique and not are_dates_of_years(frame[name])]
    are_too_few_rows = not others and len(frame) < MANY_STEPS <= len(steps.names)  # to be steps
    return "rows" if (len(steps.names) >= MANY_STEPS and texts) or are_too_few_rows else None


def _are_named(frame: pd.DataFrame, names: list[str]) -> bool:
    """Return whether columns of text tell the rows apart."""
    texts = [name for name in names if not pd.api.types.is_numeric_dtype(frame[name].dtype)]
    return bool(texts) and not frame.duplicated(subset=texts).any()


def unit_of_steps(steps: StepColumns) -> str | None:
    """The unit of time that is counted in the names of steps: wk1, wk2, …; None for others."""
    match = None if steps.are_dates else _STEM.fullmatch(steps.names[0].strip())
    return None if match is None else "week" if match[1].lower() == "w" else unit_of(match[1])


# --------------------------------------------------------------------------- one series per row


def find_steps(frame: pd.DataFrame) -> StepColumns | None:
    """The columns of numbers whose names are dates, or go on by one; None where there are too few.

    Of years beside their quarters or months, the finer ones, which are more.
    """
    types = zip(frame.columns, frame.dtypes, strict=True)
    numbers = [str(name) for name, dtype in types if dtype.kind in "iuf" or _is_number_or_empty(frame[name])]
    forms = ({name: text for name in numbers if form.fullmatch(text := _plain_date(name))} for form in _FORMS)
    dated = [steps for texts in forms if (steps := _dated(texts)) is not None]
    if dated:
        return max(dated, key=lambda steps: len(steps.names))
    return _of_years(numbers) or _months_of_one_year(numbers) or _numbered(numbers)


def _of_years(names: list[str]) -> StepColumns | None:
    """The columns that have one name before a year; None where there are several such names, or none."""
    matches = {name: match for name in names if (match := _OF_YEARS.fullmatch(name.strip()))}
    if len({match[1] for match in matches.values()}) != 1:
        return None
    return _dated({name: match[2] for name, match in matches.items()})


def _dated(texts: dict[str, str]) -> StepColumns | None:
    """The columns in the order of their dates; None where there are too few, or one is no date, or two are one.

    Args:
        texts: name -> date.
    """
    if len(texts) < FEWEST_STEPS:
        return None
    with contextlib.suppress(DataError):
        if parse_timestamps(pd.Series(list(texts.values())[:FEWEST_STEPS], dtype="str"))[1].any():
            return None  # as of column_1, column_2, … in a table of thousands
    try:
        stamps, bad = parse_timestamps(pd.Series(list(texts.values()), dtype="str"))
    except DataError:
        return None
    if bad.any() or stamps.dtype.kind != "M" or len(np.unique(stamps)) < len(stamps):
        return None
    order = np.argsort(stamps, kind="stable")
    names = list(texts)
    return StepColumns(tuple(names[index] for index in order), stamps[order], True)


def _plain_date(name: str) -> str:
    """A name without what R and the World Bank add, and without the word year: `X2015.07.01`, `1960 [YR1960]`."""
    return re.sub(r"\s*\[YR\d{4}\]$", "", re.sub(r"(?i)^(X|(year|yr|fy)[ _.-]?)(?=\d{4})", "", name.strip())).strip()


def _months_of_one_year(names: list[str]) -> StepColumns | None:
    """The columns that are called by the words of all twelve months, of a table that does not say of which year."""
    months = {_month_of_word(name): name for name in names}
    ordered = tuple(months[month] for month in range(1, 13) if month in months)
    return StepColumns(ordered, np.arange(1, 13), False) if _are_months(ordered) else None


def _are_months(names: tuple[str, ...]) -> bool:
    return [_month_of_word(name) for name in names] == list(range(1, 13))


def _month_of_word(name: str) -> int | None:
    return None if re.search(r"\d", name) else month_number(name.strip().lower().rstrip("."))


def _numbered(names: list[str]) -> StepColumns | None:
    """The largest group of columns that have one name before a number, and numbers one apart."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        match = _STEM.fullmatch(name.strip())
        if match:
            groups.setdefault(match[1], []).append((int(match[2]), name))
    largest = max(groups.values(), key=len, default=[])
    numbers = sorted(largest)
    if len(numbers) < FEWEST_STEPS or numbers[-1][0] - numbers[0][0] != len(numbers) - 1:
        return None
    return StepColumns(tuple(name for _, name in numbers), np.arange(1, len(numbers) + 1), False)


def _rows_made_long(frame: pd.DataFrame, config: DataConfig, source: str, report: Report) -> pd.DataFrame:
    steps = find_steps(frame.drop(columns=[name for name in _declared(config) if name in frame.columns]))
    if steps is None:
        message = f"'{source}' has no columns whose names are dates or numbers of steps, as --layout rows needs"
        raise DataError(message, "name them 2024-01, 2024-02, …, or 1, 2, 3, …", code="FA102", options=("layout",))
    _refuse_text(frame, steps.names, source)
    others = [str(name) for name in frame.columns if name not in steps.names]
    name, keys = _identifier(frame, others, config, source, report)
    values = frame[list(steps.names)].to_numpy(np.float64, na_value=np.nan)
    known = ~np.isnan(values)
    has_any = known.any(axis=1)
    first, last = np.argmax(known, axis=1), known.shape[1] - 1 - np.argmax(known[:, ::-1], axis=1)
    lengths = np.where(has_any, last - first + 1, 0)
    rows = np.repeat(np.arange(len(frame)), lengths)
    # Places in the long table, less the place at which its series begins there: the step of each cell in its row.
    step = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + first[rows]
    columns = {name: keys.take(rows), LONG_TIME: steps.stamps[step], LONG_TARGET: values[rows, step]}
    return _long(frame, rows, columns, config)


def _identifier(
    frame: pd.DataFrame, others: list[str], config: DataConfig, source: str, report: Report
) -> tuple[str, Any]:
    """The name that the identifier has in the long table, and the series of each row."""
    free = [name for name in others if name not in _declared(config)]
    if config.item_id is not None and config.item_id in frame.columns:
        keys, used = frame[config.item_id], [config.item_id]
    elif config.item_id == ROW_NUMBER:
        keys, used = pd.Series(np.arange(1, len(frame) + 1)), []
    else:
        unique = [name for name in free if frame[name].is_unique and not frame[name].isna().any()]
        named = [name for name in unique if not pd.api.types.is_numeric_dtype(frame[name].dtype)] or unique
        if not named and len(frame) > 1:
            several = f", --id {','.join(free[:2])} names them by several columns" if len(free) > 1 else ""
            hint = f"--id {ROW_NUMBER} numbers the rows{several}"
            message = f"'{source}' has no column that differs in every row, to name the series of --layout rows"
            raise DataError(message, hint, code="FA102", options=("item_id",))
        used = named[:1]
        keys = frame[used[0]] if used else pd.Series(np.zeros(len(frame), np.int64)).astype(str)
    for other in free:
        if other not in used:
            hint = f"--static '{other}' if it tells the series apart"
            report(Finding("FA104", "note", f"column '{other}' is left out: not a step", hint, column=other))
    _refuse_repeats(keys, source)
    codes, names = pd.factorize(keys.astype("string").str.strip())
    return config.item_id or LONG_ID, pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype="str"))


def _refuse_repeats(keys: pd.Series, source: str) -> None:
    repeated = np.flatnonzero(keys.duplicated().to_numpy())
    if len(repeated):
        row, name = int(repeated[0]) + 1, str(keys.name)
        message = (
            f"'{source}': column '{name}' has '{keys.iloc[row - 1]}' twice, the second time at {row_and_line(row)}"
        )
        hint = f"--id {name},OTHER joins columns that tell the rows apart; --id {ROW_NUMBER} numbers the rows"
        raise DataError(message, hint, code="FA202", row=row, column=name, options=("item_id",))


# --------------------------------------------------------------------------- one year per row


def _calendar_made_long(frame: pd.DataFrame, config: DataConfig, source: str, report: Report) -> pd.DataFrame:
    if config.time is not None:
        require_column(frame, config.time, source, "time")
    grid = find_grid(frame, config.date_format, config.time)
    if grid is None:
        message = (
            f"'{source}' has no column of years with one column for each month or quarter, as --layout calendar needs"
        )
        hint = "name them year, Jan, Feb, …; year, Q1, …, Q4; week, Mon, …, Sun; or date, 0, 1, …, 23"
        raise DataError(message, hint, code="FA102", options=("layout",))
    _refuse_text(frame, grid.names, source)
    columns: dict[str, Any] = {}
    if config.item_id is not None:
        require_column(frame, config.item_id, source, "id")
        columns[config.item_id] = frame[config.item_id].array.take(grid.rows)
    columns |= {config.time or LONG_TIME: grid.stamps, LONG_TARGET: grid.values}
    used = {*grid.labels, config.time, config.item_id, *grid.names, *_declared(config)}
    for name in map(str, frame.columns):
        if name not in used:
            report(Finding("FA104", "note", f"column '{name}' is left out: no {grid.step}", column=name))
    long = _long(frame, grid.rows, columns, config)
    return long[_is_inside(long, config.item_id)]


def _is_inside(long: pd.DataFrame, item_id: str | None) -> NDArray[np.bool_]:
    """Rows that are neither before the first value of their series nor after its last one (num_rows,)."""
    keys = np.zeros(len(long), np.int64) if item_id is None else pd.factorize(long[item_id])[0]
    order = np.lexsort((long.iloc[:, 0 if item_id is None else 1].to_numpy(), keys))
    inside = np.zeros(len(long), np.bool_)
    known = long[LONG_TARGET].notna().to_numpy()[order]
    starts = np.flatnonzero(np.append(True, np.diff(keys[order]) != 0))
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        filled = np.flatnonzero(known[start:end])
        if len(filled):
            inside[order[start + filled[0] : start + filled[-1] + 1]] = True
    return inside


# --------------------------------------------------------------------------- both


def _declared(config: DataConfig) -> tuple[str, ...]:
    names = (*config.static_covariates, *config.categorical, *config.ignore, config.weight, config.item_id)
    return tuple(name for name in names if name is not None)


def _long(frame: pd.DataFrame, rows: NDArray[np.int64], columns: dict[str, Any], config: DataConfig) -> pd.DataFrame:
    """The long table, with the declared columns repeated."""
    shared = [*config.static_covariates, *config.categorical, *([] if config.weight is None else [config.weight])]
    columns |= {name: frame[name].array.take(rows) for name in dict.fromkeys(shared)}
    columns |= {name: without_values(len(rows)) for name in config.ignore if name not in columns}
    return pd.DataFrame(columns, index=pd.Index(file_positions(frame).rows()[rows], name=LAYOUT_ROWS), copy=False)


def _refuse_text(frame: pd.DataFrame, names: tuple[str, ...], source: str) -> None:
    """Refuse cells of text among the values.

    Raises:
        DataError: names the first one.
    """
    for name in names:
        if pd.api.types.is_numeric_dtype(frame[name].dtype):
            continue
        texts = frame[name].astype("string")
        bad = np.flatnonzero((pd.to_numeric(texts, errors="coerce").isna() & texts.notna()).to_numpy())
        for index in map(int, bad[:1]):
            value, row = str(texts.iloc[index]), index + 1
            message = f"'{source}': column '{name}' has '{value}' at {row_and_line(row)}; expected a number"
            raise DataError(message, "correct the cell, or empty it", code="FA103", row=row, column=name, value=value)


def _is_number_or_empty(column: pd.Series) -> bool:
    from forecast_attn.data.roles import is_numeric  # which imports this package

    if isinstance(column.dtype, pd.CategoricalDtype):
        has_digits = any(re.search(r"\d", str(cell)) for cell in column.dtype.categories)
        return bool((column.array.codes < 0).all()) or (has_digits and is_numeric(column))
    return bool(column.isna().all()) or (is_numeric(column) and not pd.api.types.is_bool_dtype(column.dtype))


def _is_dates(column: pd.Series) -> bool:
    return looks_like_dates(column) or (unit_of(str(column.name)) == "year" and holds_years(column))
