"""Groups of windows to compare: series, heads, hours or weekdays of the cut-off on the clock of the file's zone."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionDump
from forecast_attn.data.frequency import hour_of_day, weekday
from forecast_attn.errors import ConfigError, did_you_mean

GROUPINGS = ("item", "head", "hour", "weekday")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Grouping(NamedTuple):
    """Groups of windows, by row."""

    names: list[str]
    groups: NDArray[np.int64]
    """(num_windows, heads), places in `names`."""
    left_out: str = ""
    """In words, which hours or weekdays have no window."""


def group_windows(dump: AttentionDump, by: str) -> Grouping:
    """Group the windows of a file.

    Args:
        dump: the windows.
        by: `item`, `head`, `hour` or `weekday`; the last two are those of the cut-off.

    Raises:
        ConfigError: another grouping, or hours of times that have none.
    """
    check_grouping(by)
    if by == "head":
        every = np.broadcast_to(np.arange(len(dump.heads)), (dump.num_windows, len(dump.heads)))
        return Grouping([f"head {head}" for head in dump.heads], every.astype(np.int64))
    if by == "item":
        return _for_all_heads(dump, dump.item_ids, series_of_windows(dump))
    return _by_time(dump, by)


def series_of_windows(dump: AttentionDump) -> NDArray[np.int64]:
    """Index in `item_ids` of each window's series (num_windows,)."""
    indices = {name: index for index, name in enumerate(dump.item_ids)}
    return np.array([indices[name] for name in dump.window_item_ids], np.int64)


def indices_in(dump: AttentionDump, other: AttentionDump) -> NDArray[np.int64]:
    """Index in a file of each window of another one, by series and cut-off; -1 where there is none."""
    if dump.window_cutoffs.dtype.kind != other.window_cutoffs.dtype.kind:
        return np.full(other.num_windows, -1)
    known = {key: index for index, key in enumerate(_keys(dump))}
    return np.array([known.get(key, -1) for key in _keys(other)], np.int64)


def _keys(dump: AttentionDump) -> Iterator[tuple[str, int]]:
    return zip(dump.window_item_ids, dump.window_cutoffs.astype(np.int64).tolist(), strict=True)


def group_by_value(dump: AttentionDump, values: NDArray[Any], words: Callable[[Any], str]) -> Grouping:
    """Group the windows of a file by a value of each (num_windows,), in the order of the values.

    Args:
        dump: the windows.
        values: a value of each (num_windows,).
        words: the name of a value.
    """
    present, groups = np.unique(values, return_inverse=True)
    return _for_all_heads(dump, [words(value) for value in present.tolist()], groups)


def check_grouping(by: str) -> None:
    """Refuse an unknown grouping.

    Raises:
        ConfigError: none of `GROUPINGS`.
    """
    if by not in GROUPINGS:
        raise ConfigError(f"--by has no value '{by}'", did_you_mean(by, GROUPINGS))


def _by_time(dump: AttentionDump, by: str) -> Grouping:
    if dump.window_cutoffs.dtype.kind == "i":
        raise ConfigError(f"--by {by}: the times of '{dump.path}' are whole numbers", "--by item, or --by head")
    wall = dump.zone.local(dump.window_cutoffs)
    if by == "hour":
        values, names = hour_of_day(wall), [f"{hour:02d}:00" for hour in range(24)]
    else:
        values, names = weekday(wall), list(WEEKDAYS)
    present, groups = np.unique(values, return_inverse=True)
    grouping = _for_all_heads(dump, [names[value] for value in present], groups)
    ranges = ", ".join(_ranges(names, set(range(len(names))) - set(present.tolist())))
    if not ranges:
        return grouping
    return grouping._replace(left_out=f"no window has its cut-off {'at' if by == 'hour' else 'on'} {ranges}")


def _ranges(names: list[str], indices: set[int]) -> Iterator[str]:
    """Names of neighbouring places as `first to last`."""
    # Neighbours have the same distance from their rank, which grows by one at every hole.
    for _, run in groupby(sorted(indices), key=lambda index: index - sum(each < index for each in indices)):
        first, *others = run
        yield f"{names[first]} to {names[others[-1]]}" if others else names[first]


def _for_all_heads(dump: AttentionDump, names: list[str], groups: Any) -> Grouping:
    return Grouping(names, np.repeat(np.asarray(groups, np.int64)[:, None], len(dump.heads), axis=1))
