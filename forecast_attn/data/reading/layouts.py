"""Makes tables long whose rows each hold several steps: one series per row, or one year per row.

`--layout rows`: the names of the columns are dates, years or numbers of steps (the layout of the M4 and M5 competitions
and of the World Bank). `--layout calendar`: a column per month or quarter beside the year, per day beside the week, per
hour beside the day, or per year beside the months.
"""

from __future__ import annotations

import itertools
import re
import shlex
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import may_number_rows, unit_of, words_of
from forecast_attn.data.findings import Finding, Report, option_for, quoted, require_column, row_and_line
from forecast_attn.data.reading.grids import find_grid, periods_across
from forecast_attn.data.reading.joined import ROW_NUMBER
from forecast_attn.data.reading.merged import filled_down
from forecast_attn.data.reading.outlines import months_below_names
from forecast_attn.data.reading.positions import (
    LAYOUT_ROWS,
    LONG_ID,
    LONG_TARGET,
    LONG_TIME,
    file_positions,
    without_values,
)
from forecast_attn.data.reading.step_columns import (
    StepColumns,
    are_all_months,
    find_steps,
    unit_of_steps,
    variables_by_year,
)
from forecast_attn.data.reading.time_parts import are_dates_of_years, holds_years
from forecast_attn.data.timestamps import looks_like_dates
from forecast_attn.errors import ConfigError, DataError

MANY_STEPS = 8
"""Fewest numbered columns that are rather steps than variables."""
MOST_NAMES = 4
"""Columns that together name a row."""
_MUCH_LESS = 0.5
"""Ratio of the steps along rows to those from row to row, below which rows are series."""
_TARGETS = ("target", "y")
"""Names of a target beside numbered columns."""
MOST_TEXTS = 8
"""Columns of text among which they are looked for."""


def check_layout(config: DataConfig) -> None:
    """Refuse options that contradict --layout.

    Raises:
        ConfigError: with the option.
    """
    if config.layout in ("long", "merged"):
        return
    given = {"wide": config.wide, "target": config.target is not None and config.layout == "calendar"}
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
    frame = months_below_names(frame) if config.layout == "calendar" else frame
    for name in (*config.static_covariates, *config.categorical, *config.ignore):
        require_column(frame, name, source)
    make_long = _rows_made_long if config.layout == "rows" else _calendar_made_long
    return make_long(frame, config, source, report)


def is_arranged(frame: pd.DataFrame, config: DataConfig) -> bool:
    """Return whether a table has the columns of one that `arranged` made long."""
    has_target = (config.target or LONG_TARGET) in frame.columns
    return has_target and find_steps(frame) is None and periods_across(frame) is None


def names_of_grid(frame: pd.DataFrame) -> str | None:
    """The columns that tell series apart which each have one row a day or year; "" for one series.

    None where there is no such grid, or where months are switches beside the rows.
    """
    frame = months_below_names(frame)
    try:
        grid = find_grid(frame)
    except DataError:  # days that may be months: a grid all the same
        return ""
    if grid is None:
        return None
    if len(np.unique(grid.stamps)) == len(grid.stamps):
        return ""
    if len(np.unique(grid.values[~np.isnan(grid.values)])) <= 2:
        return None
    return names_of_rows(frame, grid.names, grid.labels)


def names_of_rows(frame: pd.DataFrame, values: tuple[str, ...], labels: tuple[str, ...] = ()) -> str | None:
    """The fewest columns of text that together with labels differ in every row; of whole numbers beside labels, too.

    Args:
        frame: as it stands in the file.
        values: columns that hold values.
        labels: columns of the time of a row, of which there are some where the series have several rows.
    """
    beside = [name for name in map(str, frame.columns) if name not in (*values, *labels)]
    kinds = (pd.CategoricalDtype, *((np.dtypes.Int64DType,) if labels else ()))
    has_any = frame[list(values)].notna().any(axis=1) if values else slice(None)
    frame = frame.loc[has_any, [*labels, *beside]]  # without values, of which there may be many
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
    return "rows" if steps is not None and _are_series(frame, steps) else None


def _are_series(frame: pd.DataFrame, steps: StepColumns) -> bool:
    """Return whether the rows are series along the steps, rather than times of variables that have numbers."""
    names = set(steps.names)
    others = [name for name in frame.columns if name not in names]
    dates = [name for name in others if _is_dates(frame[name])]
    words = [name for name in others if name not in dates and not pd.api.types.is_numeric_dtype(frame[name].dtype)]
    if steps.are_dates:
        return not dates or len(steps.names) > len(frame)  # a date beside so many steps is a property
    if are_all_months(steps.names):  # with a year, too, they are a calendar; beside numbers alone, switches
        return bool(words) and not dates
    if len(steps.names) < MANY_STEPS or frame[list(steps.names)].isin((0, 1)).all(axis=None):  # switches
        return False
    if unit_of_steps(steps) is not None:  # wk1, wk2, … beside what names a row, be it a number
        first = frame.iloc[:, 0]
        may_number = first.name in others and not may_number_rows(str(first.name))
        is_numbered = may_number and first.is_unique and first.dtype.kind == "i" and not holds_years(first)
        are_answers = re.match(r"(?i)q\W?\d", steps.names[0].strip()) is not None  # of a survey, and no quarters
        return (is_numbered and not are_answers) or (bool(words) and not frame.duplicated(subset=words).any())
    if all(name.isdecimal() and len(name) == 4 for name in steps.names):  # years that no time stamp can express
        return not dates and names_of_rows(frame, steps.names) is not None
    if any(names == set(frame[name]) for name in words):  # a matrix: correlations of each with each
        return False
    if any(str(name).lower() in _TARGETS for name in others):  # which numbered features tell
        return False
    is_named = any(frame[name].is_unique and not are_dates_of_years(frame[name]) for name in words)
    is_named = is_named or (any(_is_identifier(frame[name]) for name in others[:1]) and _go_on_along(frame, steps))
    return not dates and (is_named or len(frame) < MANY_STEPS)  # too few rows to be steps


def _is_identifier(column: pd.Series) -> bool:
    """Return whether numbers are called an identifier and differ in each row, in no order: `IDLink`."""
    is_unique = column.dtype.kind == "i" and column.is_unique and not column.is_monotonic_increasing
    return is_unique and not {"id", "ids"}.isdisjoint(words_of(str(column.name)))


def _go_on_along(frame: pd.DataFrame, steps: StepColumns) -> bool:
    """Return whether numbers change less from column to column than from row to row."""
    values = frame[list(steps.names)].to_numpy(np.float64, na_value=np.nan)
    along, down = (pd.Series(np.abs(np.diff(values, axis=axis)).ravel()).mean() for axis in (1, 0))
    return bool(along < _MUCH_LESS * down)


# --------------------------------------------------------------------------- one series per row


def _rows_made_long(frame: pd.DataFrame, config: DataConfig, source: str, report: Report) -> pd.DataFrame:
    free = frame.drop(columns=[name for name in _declared(config) if name in frame.columns])
    variables = variables_by_year(free)
    steps = find_steps(free, config.target)
    if steps is None:
        _refuse_columns(variables, config, source)
    _refuse_text(frame, steps.names, source)
    left_out = [name for each in variables.values() for name in each.names]
    others = [str(name) for name in frame.columns if name not in {*steps.names, *left_out}]
    for variable in variables if config.target is not None else ():
        if variable != config.target:
            message = f"the columns of '{variable}' are left out: --target is '{config.target}'"
            report(Finding("FA104", "note", message, column=variables[variable].names[0]))
    values = frame[list(steps.names)].to_numpy(np.float64, na_value=np.nan)
    known = ~np.isnan(values)
    has_any = known.any(axis=1)
    name, keys = _identifier(frame, others, has_any, config, source, report)
    first, last = np.argmax(known, axis=1), known.shape[1] - 1 - np.argmax(known[:, ::-1], axis=1)
    lengths = np.where(has_any, last - first + 1, 0)
    rows = np.repeat(np.arange(len(frame)), lengths)
    # Places in the long table, less the place at which its series begins there: the step of each cell in its row.
    step = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + first[rows]
    columns = {name: keys.take(rows), LONG_TIME: steps.stamps[step], config.target or LONG_TARGET: values[rows, step]}
    return _long(frame, rows, columns, config)


def _refuse_columns(variables: dict[str, StepColumns], config: DataConfig, source: str) -> NoReturn:
    """Say that no columns are steps, or that those of several variables are.

    Raises:
        DataError: always.
    """
    if variables:
        others = f"'{source}' has columns of several variables for each year: {quoted(list(variables))}"
        message = others if config.target is None else f"{others}; expected '{config.target}' to be one of them"
        hint = f"--target {shlex.quote(next(iter(variables)))} takes one of them"
        raise DataError(message, hint, code="FA102", options=("target",))
    if config.target is not None:
        message = f"'{source}' has no columns called '{config.target}' and a year, as --layout rows with --target needs"
        hint = "leave --target out, if the names of the columns are dates or numbers"
        raise DataError(message, hint, code="FA102", options=("target",))
    message = f"'{source}' has no columns whose names are dates or numbers of steps, as --layout rows needs"
    raise DataError(message, "name them 2024-01, 2024-02, …, or 1, 2, 3, …", code="FA102", options=("layout",))


def _identifier(
    frame: pd.DataFrame,
    others: list[str],
    has_any: NDArray[np.bool_],
    config: DataConfig,
    source: str,
    report: Report,
) -> tuple[str, Any]:
    """The name that the identifier has in the long table, and the series of each row that has a value."""
    free = [name for name in others if name not in _declared(config)]
    filled = frame.loc[has_any, free]
    if config.item_id is not None and config.item_id in frame.columns:
        keys, used = frame[config.item_id], [config.item_id]
    elif config.item_id == ROW_NUMBER:
        keys, used = pd.Series(np.arange(1, len(frame) + 1)), []
    else:
        unique = [name for name in free if filled[name].is_unique and not filled[name].isna().any()]
        named = [name for name in unique if not pd.api.types.is_numeric_dtype(frame[name].dtype)] or unique
        if not named and len(filled) > 1:
            several = f", --id {','.join(free[:2])} names them by several columns" if len(free) > 1 else ""
            hint = f"--id {ROW_NUMBER} numbers the rows{several}"
            message = f"'{source}' has no column that differs in every row, to name the series of --layout rows"
            raise DataError(message, hint, code="FA102", options=("item_id",))
        used = named[:1]
        keys = frame[used[0]] if used else pd.Series(np.zeros(len(frame), np.int64)).astype(str)
    for other in free:
        if other not in used:
            hint = f"{option_for('static', other)} if it tells the series apart"
            report(Finding("FA104", "note", f"column '{other}' is left out: not a step", hint, column=other))
    _refuse_repeats(keys, has_any, source)
    codes, names = pd.factorize(keys.astype("string").str.strip())
    return config.item_id or LONG_ID, pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype="str"))


def _refuse_repeats(keys: pd.Series, has_any: NDArray[np.bool_], source: str) -> None:
    rows = np.flatnonzero(has_any)
    repeated = rows[keys.iloc[rows].duplicated().to_numpy()]
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
        hint = "name them year, Jan, …, Dec; year, Q1, …, Q4; year, month, 1, …, 31; week, Mon, …, Sun; date, 0, …, 23"
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


def _is_dates(column: pd.Series) -> bool:
    return looks_like_dates(column) or (unit_of(str(column.name)) == "year" and holds_years(column))
