"""The columns that tell the series of a table apart, given its time."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.number_times import (
    FEWEST_ROWS,
    MOSTLY_REGULAR,
    are_days_within,
    is_of_the_calendar,
)
from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import (
    COUNTERS,
    ID_NAMES,
    LOOSE_TIME_NAMES,
    TIME_NAMES,
    counts_rows,
    is_called_a_name,
    is_called_source,
    is_called_year,
)
from forecast_attn.data.number_stamps import is_plain_number
from forecast_attn.data.reading.clocks import is_clock, periods_of_day
from forecast_attn.data.reading.joined import BLOCK_NUMBER, ROW_COUNT, ROW_NUMBER, parts_of, with_joined
from forecast_attn.data.reading.time_parts import FEWEST_STARTS, are_whole, holds_years, time_parts
from forecast_attn.data.roles import is_numeric, resolve_roles
from forecast_attn.data.timestamps import looks_like_dates
from forecast_attn.errors import ConfigError, DataError

FEWEST_PER_SERIES = 3
"""Rows that half of the series must have for their identifier to be one; of one column, that half of the rows have."""
MOST_ID_COLUMNS = 8
FEWEST_TOGETHER = 0.3
"""Share of series that have a row at a stamp, on average."""
MOST_REPEATED = 0.03
"""Share of rows with the stamp of an earlier one that are mistakes of a table, and no further series."""
_FIRST = 4
"""Part of the rows that are looked at first: those that repeat there are too many in most combinations of columns."""
FEWEST_IN_TURN = 10
"""Steps of each of several series that are told apart by their own times."""
FAR = 10
"""Time between runs, as a multiple of what a run takes; the days of an exchange are nearer to each other."""
MOST_OF_THE_TIME = 0.5
"""Share of the time that a table spans from the first to the last row of each of them."""
UNEVEN = 0.75
"""Share of nearly equal steps below which all rows together are uneven; of business days, 0.8 are a day apart."""
EVEN_STEPS = 0.2
"""Share of its usual step by which one of such a series may miss it."""
SOON = 0.1
"""Share of the time that a table spans within which what follows an event has mostly come."""
Keys = NDArray[np.int64]


def series_of(frame: pd.DataFrame, time: str, stamps: NDArray[Any], config: DataConfig) -> tuple[str | None, Keys]:
    """The columns that tell series apart, none where stamps are unique or no columns do; and the series of each row."""
    none = np.zeros(len(frame), np.int64)
    automatic = automatic_roles(frame, replace(config, time=time))[1]
    if automatic is not None and frame[automatic].isna().mean() <= MOST_REPEATED:
        keys = pd.factorize(frame[automatic])[0]
        is_one_series = time != ROW_NUMBER and not _repeated(none, stamps) and _are_mixed(keys)
        if not _repeated(keys, stamps) and not is_one_series:
            return automatic, keys
    if time == ROW_NUMBER:
        name = next((name for name in _id_columns(frame, time, config) if any(go_up_within(frame, name))), None)
        return name, series_numbers(frame, name)
    codes = {name: pd.factorize(frame[name], use_na_sentinel=False)[0] for name in _id_columns(frame, time, config)}
    incomplete = {name for name in codes if frame[name].isna().any()}
    if _repeated(none, stamps) <= MOST_REPEATED:  # a few repeats are mistakes, unless rows stand series after series
        complete = {name: codes[name] for name in codes if name not in incomplete}
        apart = next((name for name, keys in complete.items() if _stand_apart(keys, stamps)), None)
        apart = apart or next((name for name, keys in complete.items() if _are_runs(keys, stamps)), None)
        apart = apart or next((name for name, keys in complete.items() if _take_turns(name, keys, stamps)), None)
        return apart, none if apart is None else codes[apart]
    numeric = {name for name in codes if is_numeric(frame[name])}
    pair = _keys_of(codes, numeric, incomplete, stamps)
    if pair is not None:
        return pair
    may_be_blocks = stamps.dtype.kind == "M" or (is_called_year(time) and holds_years(frame[time]))
    blocks = _equal_blocks(stamps) if may_be_blocks else None
    is_copied = blocks is not None and frame.duplicated().mean() > MOST_REPEATED
    return (None, none) if blocks is None or is_copied else (BLOCK_NUMBER, blocks)


def series_numbers(frame: pd.DataFrame, item_id: str | None) -> Keys:
    """The number of each row's series, 0 where there is one series."""
    columns = [] if item_id is None else [key for key in item_id.split(",") if key in frame.columns]
    if not columns:
        return np.zeros(len(frame), np.int64)
    return np.asarray(frame.groupby(columns, observed=True, sort=False, dropna=False).ngroup(), np.int64)


def may_have_names(frame: pd.DataFrame, time: str) -> bool:
    """Return whether columns of text and whole numbers have enough values to tell the rows of one time apart.

    The days of an exchange with nothing but their year have no such columns.
    """
    names = [name for name in map(str, frame.columns) if name != time and not counts_rows(name)]
    others = [frame[name] for name in names if not pd.api.types.is_float_dtype(frame[name].dtype)]
    most = int(frame[time].value_counts().max()) if time in frame.columns else 1
    return math.prod(column.nunique() for column in others) >= most / 2


def automatic_roles(frame: pd.DataFrame, config: DataConfig) -> tuple[str | None, str | None]:
    """The time and the identifier that training finds by itself; None where it finds none."""
    others = (*TIME_NAMES, *LOOSE_TIME_NAMES, *ID_NAMES, *COUNTERS)
    names = [name for name in map(str, frame.columns) if name.lower() not in others and name != config.item_id]
    number = next((name for name in names if is_numeric(frame[name])), None)
    if number is None and config.target is None:  # rows of nothing but a time and an identifier are counted
        frame, number = frame.assign(**{ROW_COUNT: 1}), ROW_COUNT
    try:
        given = replace(config, target=config.target or number, wide=False)
        roles = resolve_roles(with_joined(frame, given, ""), given, "")
    except (DataError, ConfigError):
        return None, None
    return roles.time, roles.item_id


def _id_columns(frame: pd.DataFrame, time: str, config: DataConfig) -> list[str]:
    """Columns of names or of few whole numbers, however they are written, that repeat; those of numbers last."""
    taken = {time, *time.split(","), config.target, config.weight, *config.ignore}
    columns = [name for name in map(str, frame.columns) if name not in taken and _may_name_series(frame[name])]
    columns = [*_years_that_name(frame, time), *columns]
    if time in frame.columns and is_plain_number(frame[time]):
        columns = [name for name in columns if not are_days_within(frame[name], frame[time])]
    numeric = {name for name in columns if is_numeric(frame[name])}
    return sorted(columns, key=numeric.__contains__)[:MOST_ID_COLUMNS]


def _years_that_name(frame: pd.DataFrame, time: str) -> list[str]:
    """The year of a joined time, as names of storms come again, or one that makes no date with the time: its period."""
    if time not in frame.columns:
        return [part for part in parts_of(time, frame)[:-1] if is_called_year(part)]
    years = [str(name) for name in frame.columns if is_called_year(str(name)) and holds_years(frame[name])]
    names = [name for name in years if frame[name].is_monotonic_increasing]  # and not mixed, as those of persons
    is_period = bool(names) and is_plain_number(frame[time]) and not holds_years(frame[time])
    return names if is_period and len(time_parts(frame, [*names, time])) < 2 else []


def _may_name_series(column: pd.Series) -> bool:
    is_calendar = is_of_the_calendar(column) and str(column.name).lower() not in COUNTERS
    may_be_empty = isinstance(column.dtype, pd.CategoricalDtype)
    if (
        is_calendar
        or is_clock(column)
        or periods_of_day(column) is not None
        or (column.isna().any() and not may_be_empty)
    ):
        return False
    if pd.api.types.is_float_dtype(column.dtype) and not are_whole(column):
        return False
    return 1 < column.nunique(dropna=False) <= len(column) / FEWEST_PER_SERIES and not looks_like_dates(column)


# --------------------------------------------------------------------------- keys


def _keys_of(
    codes: dict[str, Keys], numeric: set[str], incomplete: set[str], stamps: NDArray[Any]
) -> tuple[str, Keys] | None:
    """The fewest columns that leave no stamp repeated within a series, or else a few of them, and the series.

    Of several, those of text, of fewest series, whose numbers are called names (`zipcode`), and that stand first. One
    with empty cells, as of provinces where a country has none, is no name but `NA`.
    """
    steps, distinct = pd.factorize(stamps, sort=True)
    are_many = len(stamps) >= FEWEST_PER_SERIES * len(distinct)
    texts = len(codes) - len(numeric)
    first, most_repeated = len(steps) // _FIRST, MOST_REPEATED * len(steps)

    @functools.cache
    def judged(names: tuple[str, ...]) -> tuple[float, tuple[int, int, int]]:
        """Share of repeated stamps, and rank; all are repeated for columns that cannot be names."""
        if _num_repeated(_joined_codes([codes[name][:first] for name in names]), steps[:first]) > most_repeated:
            return 1.0, (0, 0, 0)
        keys = _joined_codes([codes[name] for name in names])
        rows = np.bincount(keys)
        is_sparse = len(keys) < FEWEST_TOGETHER * (_spans(keys, steps).sum() if are_many else len(rows) * len(distinct))
        if is_sparse and not _are_tracks(keys, stamps) and (len(names) > 1 or not _stand_apart(keys, stamps)):
            # Each stamp has one of the keys, mostly: a property that changes, as the weather does.
            return 1.0, (0, 0, 0)
        numbers = numeric.intersection(names)
        unnamed = sum(not is_called_a_name(name) for name in numbers)
        of_rows = rows[keys] if len(names) == 1 else rows  # clubs that played once are no reason for pairs of columns
        are_names = np.median(of_rows) >= FEWEST_PER_SERIES
        share = _num_repeated(keys, steps) / len(keys) if are_names else 1.0
        return share, (len(numbers), len(rows), unnamed)

    for most in (0.0, MOST_REPEATED):
        for size in sorted({size for size in (1, 2, 3, texts, len(codes)) if 0 < size <= len(codes)}):
            together = itertools.combinations(codes, size)
            complete = [names for names in together if size == 1 or not incomplete.issuperset(names)]
            usable = [(judged(names)[1], at, names) for at, names in enumerate(complete) if judged(names)[0] <= most]
            if usable:
                names = min(usable)[-1]
                return ",".join(names), _joined_codes([codes[name] for name in names])
    return None


def _spans(keys: Keys, steps: Keys) -> Keys:
    """The number of stamps from the first to the last row of each key: of players, those of their careers."""
    last = np.zeros(keys.max(initial=0) + 1, np.int64)
    first = np.full(len(last), steps.max(initial=0))
    np.maximum.at(last, keys, steps)
    np.minimum.at(first, keys, steps)
    return np.asarray(last - first + 1, np.int64)


def _joined_codes(columns: list[Keys]) -> Keys:
    """The number of each row's combination of codes, in the order of the rows."""
    joined = columns[0]
    for column in columns[1:]:
        joined = pd.factorize(joined * (column.max(initial=0) + 1) + column)[0]
    return joined


def _repeated(keys: Keys, stamps: NDArray[Any]) -> float:
    """Share of rows whose stamp an earlier row of their series has."""
    return _num_repeated(keys, pd.factorize(stamps)[0]) / len(keys)


def _num_repeated(keys: Keys, steps: Keys) -> int:
    """The number of rows whose step an earlier row of their series has."""
    return len(keys) - len(pd.unique(keys * (steps.max(initial=0) + 1) + steps))


# --------------------------------------------------------------------------- blocks


def _are_mixed(keys: Keys) -> bool:
    """Return whether some key stands in several blocks of rows."""
    return len(_starts(keys)) > len(np.unique(keys))


def _starts(keys: Keys) -> Keys:
    """The first row of each block of one key."""
    return np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))


def _stand_apart(keys: Keys, stamps: NDArray[Any]) -> bool:
    """Return whether rows stand series after series: each in one block, in the order of time, at the time of others.

    The blocks of sessions or invoices last for a small part of the time that the table spans.
    """
    starts, times = _starts(keys), stamps.astype(np.int64)
    goes_back = np.flatnonzero(np.diff(times) < 0) + 1
    if not len(goes_back) or not np.isin(goes_back, starts).all() or _are_mixed(keys):
        return False
    lengths = times[np.append(starts[1:], len(times)) - 1] - times[starts]
    return bool(np.median(lengths) >= SOON * np.ptp(times))


def _take_turns(name: str, keys: Keys, stamps: NDArray[Any]) -> bool:
    """Return whether each key has rows all the time, at times of its own: devices that report every ten minutes.

    By their steps, which are even within a key and uneven from row to row; or by the name: samples of two stations.
    """
    times, starts, lengths = _in_blocks(keys, stamps)
    if stamps.dtype.kind != "M" or not _are_mixed(keys) or lengths.min() < MOST_OF_THE_TIME * np.ptp(times):
        return False
    of_all = np.diff(np.sort(times))
    is_even = _are_even(times, starts) and np.mean(_is_near(of_all, np.median(of_all))) < UNEVEN
    return is_called_source(name) or is_even


def _are_runs(keys: Keys, stamps: NDArray[Any]) -> bool:
    """Return whether each key is one block of even steps, far from the block before: flights, runs of a machine."""
    times, starts, lengths = _in_blocks(keys, stamps)
    if stamps.dtype.kind != "M" or _are_mixed(keys) or len(starts) < FEWEST_STARTS:
        return False
    between = np.abs(times[starts[1:]] - times[starts[1:] - 1])
    return bool(np.median(between) >= FAR * np.median(lengths)) and _are_even(times, starts)


def _in_blocks(keys: Keys, stamps: NDArray[Any]) -> tuple[Keys, Keys, Keys]:
    """The times of each key one behind the other, the first row of each key among them, and the time each takes."""
    order = np.lexsort((stamps, keys))
    times, starts = stamps[order].astype(np.int64), _starts(keys[order])
    return times, starts, times[np.append(starts[1:], len(times)) - 1] - times[starts]


def _are_even(times: Keys, starts: Keys) -> bool:
    """Return whether the steps of each block of times are nearly equal, and there are some."""
    blocks = [np.diff(block) for block in np.split(times, starts[1:])]
    if min(map(len, blocks)) < FEWEST_IN_TURN:
        return False
    return bool(np.mean(np.concatenate([_is_near(steps, np.median(steps)) for steps in blocks])) >= MOSTLY_REGULAR)


def _is_near(steps: Keys, usual: np.floating[Any]) -> NDArray[np.bool_]:
    return np.asarray(np.abs(steps - usual) <= EVEN_STEPS * usual)


def _are_tracks(keys: Keys, stamps: NDArray[Any]) -> bool:
    """Return whether the rows of each series stand together, mostly one step apart, and at the time of others: storms.

    Presidents, of whom one follows the other, are a property of their years.
    """
    steps, is_inside = np.diff(stamps).astype(np.int64), np.diff(keys) == 0
    inside, between = steps[is_inside], steps[~is_inside]
    if not len(inside) or inside.min() < 0 or np.mean(inside == np.median(inside)) < MOSTLY_REGULAR:
        return False
    return len(between) > 0 and bool(np.mean(between < 0) >= FEWEST_TOGETHER) and not _are_mixed(keys)


def go_up_within(frame: pd.DataFrame, name: str) -> list[bool]:
    """Return for each column that goes up in each series and back where the next begins whether its steps are equal.

    As the years of pupils do, from -2.5 on, and the hours after a dose. There is none where series are mixed.
    """
    starts = _starts(pd.factorize(frame[name])[0])
    if len(frame) < FEWEST_PER_SERIES * len(starts) or len(starts) != frame[name].nunique():
        return []
    are_even = []
    for other in map(str, frame.columns.drop(name)):
        is_number = pd.api.types.is_numeric_dtype(frame[other].dtype) and not frame[other].isna().any()
        if not is_number or is_called_a_name(other):
            continue
        steps = np.diff(frame[other].to_numpy(np.float64))
        inside, between = np.delete(steps, starts[1:] - 1), steps[starts[1:] - 1]
        if len(between) and inside.min() > 0 and np.mean(between < 0) >= MOSTLY_REGULAR:
            are_even.append(bool(np.mean(inside == np.median(inside)) >= MOSTLY_REGULAR))
    return are_even


def _equal_blocks(stamps: NDArray[Any]) -> Keys | None:
    """The block of each row where a table is blocks of the same stamps, one below the other; None where it is not.

    Blocks of other stamps are no evidence: where one series ends before the next one begins, two would be one.
    """
    later = stamps[1:] > stamps[:-1]
    length = int(np.argmin(later)) + 1
    if length < FEWEST_ROWS or len(stamps) % length:
        return None
    blocks = stamps.reshape(-1, length)
    return np.repeat(np.arange(len(blocks)), length) if (blocks == blocks[0]).all() else None
