"""The ways in which the rows of series stand in a table: in blocks, far apart in time, or in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.number_times import FEWEST_ROWS, MOSTLY_REGULAR
from forecast_attn.checking.value_names import are_called_of_persons
from forecast_attn.data.column_names import counts_rows, is_called_a_name, is_called_id
from forecast_attn.data.reading.text_columns import holds_texts
from forecast_attn.data.reading.time_parts import FEWEST_STARTS, are_whole

FEWEST_PER_SERIES = 3
"""Rows that half of the series must have for their identifier to be one; of one column, that half of the rows have."""
FEWEST_TOGETHER = 0.3
"""Share of series that have a row at a stamp, on average."""
SOON = 0.1
"""Share of the time that a table spans within which what follows an event has mostly come."""
_FEWEST_IN_TURN = 10
"""Steps of each of several series that are told apart by their own times."""
_MOST_OF_A_CALENDAR, _PARTS_OF_A_CALENDAR = 7, (12, 24, 28, 29, 30, 31, 48, 52, 53, 96)
"""Numbers of weekdays, months, hours, days, half hours, weeks and quarter hours."""
_IN_TURN = 0.9
"""Share of names that have come since one came before, and of the rows of which that is true."""
_MOST_PASSING = 0.03
"""Share of the rows whose keys have too few to take turns."""
_FAR = 10
"""Time between runs, as a multiple of what a run takes; the days of an exchange are nearer to each other."""
_MOST_OF_THE_TIME = 0.5
"""Share of the time that a table spans from the first to the last row of each of them."""
_UNEVEN = 0.75
"""Share of nearly equal steps below which all rows together are uneven; of business days, 0.8 are a day apart."""
_HALF_A_STEP = 0.5
"""Share of the usual step by which those of samples, which are taken on another weekday, may differ."""
_EVEN_STEPS = 0.2
"""Share of its usual step by which one of such a series may miss it."""
_MOST_COMPARED, _FEWEST_COMPARED = 100_000, 100
"""Rows that are compared with that of their number before, and the fewest that tell."""
_ALIKE = 0.1
"""Correlation of such rows from which on they are of one thing, or of things alike."""
Keys = NDArray[np.int64]


def are_mixed(keys: Keys) -> bool:
    """Return whether some key stands in several blocks of rows."""
    return len(_starts(keys)) > len(np.unique(keys))


def _starts(keys: Keys) -> Keys:
    """The first row of each block of one key."""
    return np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))


def stand_apart(keys: Keys, stamps: NDArray[Any]) -> bool:
    """Return whether rows stand series after series: each in one block, in the order of time, at the time of others.

    The blocks of sessions or invoices last for a small part of the time that the table spans.
    """
    starts, times = _starts(keys), stamps.astype(np.int64)
    goes_back = np.flatnonzero(np.diff(times) < 0) + 1
    if not len(goes_back) or not np.isin(goes_back, starts).all() or are_mixed(keys):
        return False
    lengths = times[np.append(starts[1:], len(times)) - 1] - times[starts]
    return bool(np.median(lengths) >= SOON * np.ptp(times))


def take_turns(keys: Keys, stamps: NDArray[Any], *, are_sources: bool) -> bool:
    """Return whether each key has rows all the time, at times of its own: devices that report every ten minutes.

    By their steps, which are even within a key and uneven from row to row; or because they are stations by their name.
    A few rows of keys that hardly come again, as of passing cars, say nothing.
    """
    if stamps.dtype.kind != "M" or not are_mixed(keys):
        return False
    is_usual = np.bincount(keys)[keys] > _FEWEST_IN_TURN
    if 1 - _MOST_PASSING <= is_usual.mean() < 1:
        keys, stamps = pd.factorize(keys[is_usual])[0], stamps[is_usual]
    times, starts, lengths = _in_blocks(keys, stamps)
    if lengths.min() < _MOST_OF_THE_TIME * np.ptp(times):
        return False
    of_all: Keys = np.diff(np.sort(times)).astype(np.int64)
    is_even = _are_even(times, starts) and _share_of_near(of_all, np.median(of_all)) < _UNEVEN
    return are_sources or is_even


def are_runs(keys: Keys, stamps: NDArray[Any]) -> bool:
    """Return whether each key is one block of even steps, far from the block before: flights, runs of a machine."""
    if stamps.dtype.kind != "M" or are_mixed(keys):
        return False
    times, starts, lengths = _in_blocks(keys, stamps)
    if len(starts) < FEWEST_STARTS:
        return False
    between = np.abs(times[starts[1:]] - times[starts[1:] - 1])
    return bool(np.median(between) >= _FAR * np.median(lengths)) and _are_even(times, starts)


def _in_blocks(keys: Keys, stamps: NDArray[Any]) -> tuple[Keys, Keys, Keys]:
    """The times of each key one behind the other, the first row of each key among them, and the time each takes."""
    order = np.lexsort((stamps, keys))
    times, starts = stamps[order].astype(np.int64), _starts(keys[order])
    return times, starts, times[np.append(starts[1:], len(times)) - 1] - times[starts]


def _are_even(times: Keys, starts: Keys) -> bool:
    """Return whether the steps of each block of times are nearly equal, and there are some."""
    blocks = [np.diff(block) for block in np.split(times, starts[1:])]
    if min(map(len, blocks)) < _FEWEST_IN_TURN:
        return False
    usual = np.concatenate([np.full(len(steps), np.median(steps)) for steps in blocks])
    return _share_of_near(np.concatenate(blocks), usual) >= MOSTLY_REGULAR


def come_evenly(keys: Keys, stamps: NDArray[Any]) -> bool:
    """Return whether the rows of most keys are about as far apart as usual, each at days of its own: samples of wells.

    Those of events, such as the visits of customers, hardly are.
    """
    if stamps.dtype.kind != "M":
        return False
    times, starts, _ = _in_blocks(keys, stamps)
    blocks = [np.diff(block) for block in np.split(times, starts[1:]) if len(block) > _FEWEST_IN_TURN]
    if not blocks or sum(map(len, blocks)) < MOSTLY_REGULAR * (len(keys) - len(starts)):
        return False
    near = [np.abs(steps - np.median(steps)) <= _HALF_A_STEP * np.median(steps) for steps in blocks]
    return bool(np.mean(np.concatenate(near)) >= MOSTLY_REGULAR)


def _share_of_near(steps: Keys, usual: Any) -> float:
    """Share of steps that are nearly the usual ones."""
    return float(np.mean(np.abs(steps - usual) <= _EVEN_STEPS * usual))


def are_tracks(keys: Keys, stamps: NDArray[Any]) -> bool:
    """Return whether the rows of each series stand together, mostly one step apart, and at the time of others: storms.

    Presidents, of whom one follows the other, are a property of their years.
    """
    steps, is_inside = np.diff(stamps).astype(np.int64), np.diff(keys) == 0
    inside, between = steps[is_inside], steps[~is_inside]
    if not len(inside) or inside.min() < 0 or np.mean(inside == np.median(inside)) < MOSTLY_REGULAR:
        return False
    return len(between) > 0 and bool(np.mean(between < 0) >= FEWEST_TOGETHER) and not are_mixed(keys)


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


def are_series_of_rows(column: pd.Series) -> bool:
    """Return whether a column tells series apart whose rows are their steps, without a time: in turn, or in blocks.

    Blocks are those of an identifier by its name: `batch_id`.
    """
    keys = pd.factorize(column)[0]
    rows = np.bincount(keys[keys >= 0], minlength=1)
    are_long = bool(np.median(rows) >= _FEWEST_IN_TURN)
    return (is_called_id(str(column.name)) and are_long and not are_mixed(keys)) or _come_in_turn(column)


def _come_in_turn(column: pd.Series) -> bool:
    """Return whether names come again and again in the order of the first ones: shops, below those of the week before.

    Some may be left out at times. As many as a calendar has of something, such as weekdays, are no series.
    """
    if not holds_texts(column):
        return False
    keys, names = pd.factorize(column)
    count = len(names)
    if count <= _MOST_OF_A_CALENDAR or count in _PARTS_OF_A_CALENDAR or len(keys) < _FEWEST_IN_TURN * count:
        return False
    rows = np.argsort(keys, kind="stable")
    apart = np.diff(rows)[np.diff(keys[rows]) == 0]
    return bool(np.mean((apart <= count) & (apart > _IN_TURN * count)) > _IN_TURN)


def are_numbered_anew(frame: pd.DataFrame, name: str, stamps: NDArray[Any]) -> bool:
    """Return whether numbers count the persons of each time from 1 on, and nobody is like that of his number before.

    So does a survey, which asks others each year. The shares of an exchange are no persons, though their returns are
    like no others.

    Args:
        frame: as it stands in the file.
        name: of the column of numbers.
        stamps: times of the rows (num_rows,).
    """
    if not are_called_of_persons(map(str, frame.columns)):
        return False
    numbers = _numbers_of(frame[name])
    if numbers.min() != 1 or not are_whole(numbers) or not (numbers.groupby(stamps).min() == 1).all():
        return False
    if pd.DataFrame({"number": numbers, "time": stamps}).duplicated().any():
        return False
    order = np.lexsort((stamps, numbers))[:_MOST_COMPARED]
    pairs = np.flatnonzero(np.diff(numbers.to_numpy()[order]) == 0)
    if len(pairs) < _FEWEST_COMPARED:
        return False
    others = [other for other in frame.columns if other != name and not counts_rows(str(other))]
    rows = frame[others].iloc[order].loc[:, lambda some: some.nunique() > 1]
    codes = rows.apply(lambda column: pd.Series(pd.factorize(column, sort=True)[0], column.index))
    ranks = codes.groupby(stamps[order]).rank()
    off = (ranks - ranks.groupby(stamps[order]).transform("mean")).to_numpy()
    shared = np.abs((off[pairs] * off[pairs + 1]).mean(axis=0)) / np.maximum((off**2).mean(axis=0), 1e-9)
    return bool(shared.max(initial=0) < _ALIKE + 3 / np.sqrt(len(pairs))) if len(shared) else False


def _numbers_of(column: pd.Series) -> pd.Series:
    """The numbers of a column, be they read as text, as those of identifiers are; NaN for other cells."""
    if not holds_texts(column):
        return pd.to_numeric(column, errors="coerce").astype(np.float64)
    of_categories = pd.to_numeric(pd.Series(column.cat.categories.astype(str)), errors="coerce").to_numpy(np.float64)
    return pd.Series(np.append(of_categories, np.nan)[column.cat.codes], column.index)


def equal_blocks(stamps: NDArray[Any]) -> Keys | None:
    """The block of each row where a table is blocks of the same stamps, one below the other; None where it is not.

    Blocks of other stamps are no evidence: where one series ends before the next one begins, two would be one.
    """
    later = stamps[1:] > stamps[:-1]
    length = int(np.argmin(later)) + 1
    if length < FEWEST_ROWS or len(stamps) % length:
        return None
    blocks = stamps.reshape(-1, length)
    return np.repeat(np.arange(len(blocks)), length) if (blocks == blocks[0]).all() else None
