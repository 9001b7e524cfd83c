"""Likely times and series of a table, by the evidence of its cells, the likeliest first."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.column_names import (
    counts_rows,
    is_called_a_name,
    is_called_age,
    is_called_id,
    is_called_time,
    is_called_year,
    words_of,
)
from forecast_attn.checking.number_times import (
    FEWEST_ROWS,
    FEWEST_STARTS,
    MOSTLY_REGULAR,
    REGULAR,
    are_only_times,
    begins_again,
    counts_up,
    counts_within,
    format_of_decimals,
    format_of_digits,
    goes_on_evenly,
    is_day_count,
    is_of_digits,
    parts_of_years,
    regular_order,
    regularity,
    rises_as_time,
    season_of_cycle,
    season_of_fractions,
    season_of_unit,
)
from forecast_attn.checking.row_order import may_be_steps
from forecast_attn.checking.series_candidates import (
    FEWEST_PER_SERIES,
    MOST_REPEATED,
    SOON,
    automatic_roles,
    go_up_within,
    series_numbers,
    series_of,
)
from forecast_attn.config.options import DataConfig
from forecast_attn.data.frequency import distinct_values, guess_alias, parse_frequency
from forecast_attn.data.reading.dialect import unnamed_column
from forecast_attn.data.reading.joined import BLOCK_NUMBER, ROW_NUMBER, parts_of, with_joined
from forecast_attn.data.reading.time_parts import (
    PERIODS_OF_DAY,
    holds_years,
    is_clock,
    is_clock_of_digits,
    is_hours,
    minutes_of_hour,
    periods_of_day,
    time_parts,
    unit_of,
    unit_of_column,
)
from forecast_attn.data.roles import LOOSE_TIME_NAMES, MOST_UNDECLARED, TIME_NAMES
from forecast_attn.data.timestamps import brought_near, is_plain_number, looks_like_dates, parse_timestamps
from forecast_attn.errors import ConfigError, DataError

MOST_BAD_STAMPS = 0.02
MOSTLY_STEPS = 0.99
"""Smallest share of steps of one length at which rows are steps, whatever their dates say."""
_MOST_UNEVEN = 1.5
"""Largest ratio of the rows of two years of which each row is an equal part, as a day of an exchange."""
_MOST_PARTS = 5
"""Year, month, day, hour and minute."""
_BIRTH_WORDS = ("birth", "birthdate", "birthday", "born", "dob")
_STEPS = ("t", "step")
"""Names of whole numbers that count the steps of a series."""
_YEAR = r"(?<!\d)(?:1[6-9]|2[0-2])\d{2}(?!\d{2})"


class TimeKind(IntEnum):
    """Kinds of time, the likelier ones first."""

    DATES = 0
    """Dates that are unique and regular."""
    STEP_NUMBERS = 1
    """Whole numbers that are unique and regular."""
    UNEVEN_DATES = 2
    """Dates that are unique and irregular."""
    REPEATED_UNITS = 3
    """Years, weeks or days in order, some of which stand more than once."""
    UNEVEN_NUMBERS = 4
    """Whole numbers called a time, or years, that go on in each row of a series, by irregular steps."""
    COUNTED_ROWS = 5
    """Numbers of rows, counted in the file."""
    EVENTS = 6
    """Dates that stand more than once in a series."""
    ROW_NUMBERS = 7
    """Numbers of rows, counted here."""
    OTHER_NUMBERS = 8
    """Whole numbers that repeat or are irregular."""


_OF_DATES = (TimeKind.DATES, TimeKind.UNEVEN_DATES, TimeKind.UNEVEN_NUMBERS, TimeKind.EVENTS)


@dataclass(frozen=True)
class RoleCandidate:
    """A way to read the time and the series of a table."""

    time: str
    """As `--time` takes it."""
    item_id: str | None
    """As `--id` takes it."""
    kind: TimeKind
    stamps: NDArray[Any] = field(compare=False, repr=False)
    """The time of each row (num_rows,)."""
    num_steps: int = 0
    """Steps of the longest series."""
    date_format: str | None = None
    """As `--date-format` takes it, where the stamps need one."""
    automatic: tuple[str | None, str | None] = (None, None)
    """The time and the identifier that training finds by itself."""
    season: int | None = None
    """Rows after which a season begins again, where a column of fractions says so."""
    ignore: tuple[str, ...] = ()
    """Columns that the rows are numbered instead of."""

    def options(self, config: DataConfig) -> dict[str, Any]:
        """The options that this candidate needs beside the given ones and what the names of the columns say."""
        options: dict[str, Any] = {}
        if config.time is None and (self.time != self.automatic[0] or self.item_id == BLOCK_NUMBER):
            options["time"] = self.time
        if config.item_id is None and self.item_id is not None and self.item_id != self.automatic[1]:
            options["item_id"] = self.item_id
        no_id = self.automatic[1] if config.item_id is None and self.item_id is None else None
        ignored = (*(() if no_id is None else (no_id,)), *self.ignore)
        if ignored:
            options["ignore"] = (*config.ignore, *ignored)
        if self.date_format is not None:
            options["date_format"] = self.date_format
        if config.season is None and self.season is not None:
            options["season"] = str(self.season)
        return options

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that time and identifier are made of."""
        parts = () if self.item_id is None else self.item_id.split(",")
        return (*self.time.split(","), self.time, *parts, *self.ignore)

    def is_as_likely_as(self, other: RoleCandidate) -> bool:
        """Return whether both are regular dates of as many steps, as when goods were ordered and when they came."""
        return self.kind == other.kind == TimeKind.DATES and self.num_steps == other.num_steps

    @property
    def is_of_dates(self) -> bool:
        """True where the time is a date or an irregular number, of rows that are steps or events."""
        return self.kind in _OF_DATES

    @property
    def is_by_order(self) -> bool:
        """True for one series whose rows are in order, by their number or by an age, and have no date."""
        return self.item_id is None and (counts_rows(self.time) or is_called_age(self.time))

    @property
    def goes_on(self) -> bool:
        """True where the rows are not all of one time."""
        return bool((self.stamps != self.stamps[0]).any())

    @property
    def is_of_events(self) -> bool:
        """True where dates stand more than once in a series."""
        return self.kind == TimeKind.EVENTS

    @property
    def may_be_counted(self) -> bool:
        """True where rows are events rather than steps: at dates or in years that stand more than once, or uneven."""
        return self.kind in (TimeKind.UNEVEN_DATES, TimeKind.REPEATED_UNITS, TimeKind.EVENTS)

    @property
    def event_stamps(self) -> NDArray[Any] | None:
        """The dates of a table whose rows are events, sorted; None where they are rather the rows of steps."""
        return np.sort(self.stamps) if self.kind in (TimeKind.UNEVEN_DATES, TimeKind.EVENTS) else None


def role_candidates(frame: pd.DataFrame, config: DataConfig) -> list[RoleCandidate]:
    """The candidates under which no stamp stands twice in a series come first, then those that need another step.

    Args:
        frame: as it stands in the file.
        config: what is given is kept.
    """
    if frame.shape[1] > MOST_UNDECLARED:
        return []
    named = (config.time, config.item_id)
    made = (ROW_NUMBER, BLOCK_NUMBER)
    if any(part not in frame.columns for name in named for part in parts_of(name, frame) if part not in made):
        return []
    names = [config.time] if config.time is not None else list(_time_candidates(frame, config))
    candidates = _ranked(frame, [candidate for name in names for candidate in _candidates_with(frame, name, config)])
    candidates = _without_ages(candidates) if config.time is None else candidates
    numbered = list(_numbered_rows(frame, config)) if config.time is None and ROW_NUMBER in names else []
    if numbered:
        return numbered
    if config.time is None and config.date_format is None:
        candidates += _rows_of_far_years(frame, config)
    of_typical_years = [] if ROW_NUMBER in names else [each for each in candidates if each.time == ROW_NUMBER]
    if of_typical_years:  # unless they are series one below the other
        return candidates if candidates[0].item_id is not None else of_typical_years
    has_time = config.time is None and any(
        begins_again(frame[name]) or _is_birthday(frame[name]) for name in frame.columns
    )
    is_panel = has_time or any(_is_a_time_of_many_rows(frame, candidate) for candidate in candidates)

    def are_steps(rows: RoleCandidate) -> bool:
        """Return whether the rows of each series are steps, for no column says otherwise."""
        is_known = rows.time == ROW_NUMBER and rows.item_id in frame.columns and not has_time
        return is_known and all(go_up_within(frame, str(rows.item_id)))

    if config.time is None:
        may_count = functools.cache(lambda: may_be_steps(frame))
        candidates = [each for each in candidates if not each.is_by_order or may_count()]
    if any(each.is_of_dates and each.goes_on for each in candidates):  # rows are no steps
        candidates = [each for each in candidates if each.is_of_dates or not _numbers_rows(frame, each.time)]
    else:
        candidates = [each for each in candidates if not (is_panel and counts_rows(each.time)) or are_steps(each)]
    if any(each.goes_on and each.kind != TimeKind.OTHER_NUMBERS for each in candidates):
        return [each for each in candidates if each.goes_on]
    return candidates  # a date of all rows is no time, but says what is wrong


def _numbers_rows(frame: pd.DataFrame, time: str) -> bool:
    """Return whether a time is the number of the row, by its name or, as that of an order, by one more in each row."""
    is_named = time.lower() in (*TIME_NAMES, *LOOSE_TIME_NAMES, *_STEPS)
    return counts_rows(time) or (time in frame.columns and not is_named and counts_up(frame[time]))


def _without_ages(candidates: list[RoleCandidate]) -> list[RoleCandidate]:
    """The candidates without an age, where some date or year is the time: ages tell how old who is then."""
    of_calendar = (each for each in candidates if each.stamps.dtype.kind == "M" or is_called_year(each.time))
    if not any(each.goes_on for each in of_calendar):
        return candidates
    return [each for each in candidates if not is_called_age(each.time)]


def _ranked(frame: pd.DataFrame, candidates: list[RoleCandidate]) -> list[RoleCandidate]:
    """The candidates, the likelier first.

    That is by their kind; a date that follows another one stands behind it, one in the order of the rows before others,
    and one of more times before coarser ones.
    """
    dates = [each for each in candidates if each.stamps.dtype.kind == "M"]

    def rank(candidate: RoleCandidate) -> tuple[Any, ...]:
        alike = (candidate.kind,) if candidate.kind == TimeKind.DATES else (TimeKind.UNEVEN_DATES, TimeKind.EVENTS)
        others = [each for each in dates if each.kind in alike] if candidate in dates else []
        firsts = [each.kind for each in others if _comes_after(candidate.stamps, each.stamps)]
        num_times = len(distinct_values(candidate.stamps))
        is_year = candidate.time in frame.columns and holds_years(frame[candidate.time])
        kind = max(candidate.kind, *firsts, 0)  # an end that no two events share is no likelier than their start
        return kind, bool(firsts), not _are_sorted(candidate.stamps), -num_times, not is_year, candidate.time

    return sorted(candidates, key=rank)


def _comes_after(stamps: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether another date of each row is rather its time: that of what came before, or the same one but finer.

    Goods are shipped after they were ordered, and an interval ends after its start: never before, and mostly soon. The
    first day of a week and the start of a session are no other events: each is a coarser time of those within.
    """
    if _is_soon_after(stamps, other):
        return not _is_coarser(other, stamps)
    return _is_soon_after(other, stamps) and _is_coarser(stamps, other)


def _is_soon_after(later: NDArray[Any], earlier: NDArray[Any]) -> bool:
    """Return whether one date of each row is never before the other one and mostly soon after, as no birthday."""
    lag, span = (later - earlier).astype(np.int64), int(np.ptp(earlier.astype(np.int64)))
    return bool(np.mean(lag < 0) <= MOST_BAD_STAMPS and lag.max(initial=0) > 0 and np.median(lag) <= SOON * span)


def _is_coarser(coarse: NDArray[Any], fine: NDArray[Any]) -> bool:
    """Return whether one date of a row follows from the other one, of which there are more, not just a few."""
    num_times = len(np.unique(fine))
    pairs = len(pd.DataFrame({"coarse": coarse, "fine": fine}).drop_duplicates())
    return len(np.unique(coarse)) <= (1 - MOST_REPEATED) * num_times and pairs <= (1 + MOST_REPEATED) * num_times


def _are_sorted(stamps: NDArray[Any]) -> bool:
    """Return whether stamps never go back, or never go on."""
    steps = np.diff(stamps).astype(np.int64)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _is_a_time_of_many_rows(frame: pd.DataFrame, candidate: RoleCandidate) -> bool:
    """Return whether several rows have one time, as the rows of different series do."""
    named = unit_of(candidate.time) == "year" or candidate.time.lower() in TIME_NAMES
    may_be = candidate.kind == TimeKind.OTHER_NUMBERS and named and _may_have_names(frame, candidate.time)
    return candidate.item_id is not None or candidate.is_of_events or may_be


def _may_have_names(frame: pd.DataFrame, time: str) -> bool:
    """Return whether columns of text and whole numbers have enough values to tell the rows of one time apart.

    The days of an exchange with nothing but their year have no such columns.
    """
    names = [name for name in map(str, frame.columns) if name != time and not counts_rows(name)]
    others = [frame[name] for name in names if not pd.api.types.is_float_dtype(frame[name].dtype)]
    most = int(frame[time].value_counts().max()) if time in frame.columns else 1
    return math.prod(column.nunique() for column in others) >= most / 2


# --------------------------------------------------------------------------- time


def _time_candidates(frame: pd.DataFrame, config: DataConfig) -> Iterator[str]:
    """Columns, and columns together, that may be the time; the number of the row last."""
    declared = {config.target, config.item_id, config.weight, *config.ignore, *config.static_covariates}
    free = [str(name) for name in frame.columns if name not in declared]
    free = [name for name in free if not _is_birthday(frame[name])]
    dates = [name for name in free if looks_like_dates(frame[name]) and not is_clock(frame[name])]
    clocks = [name for name in free if name not in dates and (is_clock(frame[name]) or _is_hour(frame[name]))]
    days = [name for name in free if clocks and name not in (*dates, *clocks) and is_of_digits(frame[name])]
    dates += [f"{date},{clock}" for date in (*dates, *days) for clock in clocks]
    beside = [(date, clock) for date, clock in itertools.pairwise(free) if clock not in clocks]
    dates += [f"{date},{clock}" for date, clock in beside if _is_clock_of(frame[date], frame[clock])]
    dates += _with_parts_of_hours(frame, free, [name for name in dates if "," in name])
    yield from dates
    named = (*TIME_NAMES, *LOOSE_TIME_NAMES)
    numbers = [name for name in free if name not in dates and pd.api.types.is_numeric_dtype(frame[name].dtype)]
    numbers = [name for name in numbers if name not in clocks or not _is_day_of_clocks(frame[name])]
    may_count = [name for name in numbers if counts_rows(name) or not (is_called_id(name) or is_called_a_name(name))]
    counters = [name for name in may_count if counts_up(frame[name], in_series=not dates)]  # no lines of invoices
    names = [] if dates else [frame[name] for name in free if not pd.api.types.is_float_dtype(frame[name].dtype)]
    counters += [name for name in may_count if name not in counters and counts_within(frame[name], names)]
    undated = [] if dates else [name for name in may_count if name not in counters]
    counters += [name for name in undated if goes_on_evenly(frame[name]) or rises_as_time(frame[name])]
    yield from (name for name in numbers if name.lower() in (*named, *_STEPS) or name in counters)
    others = [name for name in numbers if name.lower() not in (*named, *_STEPS)]
    yield from (name for name in others if name not in counters and is_day_count(frame[name]))
    may_be_years = [name for name in others if holds_years(frame[name])]  # `iyear`, `year of sale`, `season_start`
    years = [name for name in may_be_years if _is_called_time(frame[name]) or begins_again(frame[name])]
    yield from (name for name in others if name in years or is_of_digits(frame[name]))
    parts = time_parts(frame, free)
    if len(parts) == 1 and parts[0].lower() not in named:
        yield parts[0]
    if len(parts) > 1:
        yield ",".join(parts)
    yield from _unnamed_parts(frame, free)
    are_steps = not dates and not are_only_times([frame[name] for name in numbers])
    if are_steps and not any(_is_named_time(frame[name]) and _may_have_names(frame, name) for name in free):
        yield ROW_NUMBER


def _with_parts_of_hours(frame: pd.DataFrame, free: list[str], pairs: list[str]) -> Iterator[str]:
    """Dates and hours with a column beside them that counts the parts of each hour: its minutes, or 1 to 12."""
    for pair in pairs:
        date, hour = parts_of(pair, frame)
        others = free[free.index(hour) + 1 :][:1]
        for other in others:
            are_parts = is_hours(frame[hour]) and minutes_of_hour(frame[other]) is not None
            if are_parts and _begins_again_with(frame[other], frame[hour], frame[date]):
                yield f"{pair},{other}"


def _unnamed_parts(frame: pd.DataFrame, free: list[str]) -> Iterator[str]:
    """The first columns of a table without names where they are year, month, day and hour, or year and day, by cells.

    As many of them as make a date that goes on by one step in every row.
    """
    for size in range(2, _MOST_PARTS + 1):
        parts = [unnamed_column(number) for number in range(1, size + 1)]
        if free[:size] != parts or not all(pd.api.types.is_integer_dtype(frame[part].dtype) for part in parts):
            return
        if not holds_years(frame[parts[0]]):
            return
        stamps = _stamps(frame, ",".join(parts), DataConfig())
        if stamps is None or not (np.diff(stamps) > np.timedelta64(0)).all():
            continue
        if regularity(stamps) >= REGULAR:
            yield ",".join(parts)
            return


def _is_typical_year(stamps: NDArray[Any]) -> bool:
    """Return whether rows are steps of one length but for jumps, some of them back: a year of months of other years."""
    if len(stamps) < FEWEST_ROWS or stamps.dtype.kind != "M":
        return False
    steps = np.diff(stamps).astype(np.int64)
    usual = np.median(steps)
    return bool(usual > 0 and np.sum(steps < 0) >= FEWEST_STARTS and np.mean(steps == usual) >= MOSTLY_STEPS)


def _is_birthday(column: pd.Series) -> bool:
    """Return whether dates are those on which people were born, by their name: no time of what the rows hold."""
    return not words_of(str(column.name)).isdisjoint(_BIRTH_WORDS) and looks_like_dates(column)


def _is_named_time(column: pd.Series) -> bool:
    """Return whether a column is a time by its name, and most of its cells can be one, or hold a year."""
    name = str(column.name).lower()
    if isinstance(column.dtype, pd.CategoricalDtype) and name in (*TIME_NAMES, *LOOSE_TIME_NAMES):
        return bool(column.str.contains(_YEAR).mean() > 0.5)
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return False
    if unit_of_column(column) != "year" and name not in (*TIME_NAMES, *_STEPS, "time_idx"):
        return False
    return bool(parse_timestamps(column, str(column.name))[1].mean() < 0.5)


def _is_hour(column: pd.Series) -> bool:
    """Return whether a column counts the hours or other periods of a day, or is called time and a clock of digits."""
    if periods_of_day(column) is not None:
        return True
    if column.name is not None and words_of(str(column.name)) == {"time"} and is_clock_of_digits(column):
        return True
    return unit_of(str(column.name)) == "hour" and is_hours(column)


def _is_day_of_clocks(column: pd.Series) -> bool:
    """Return whether numbers are clocks of digits, by the minutes that they leave out: 1545, 1550, 1600."""
    return is_clock_of_digits(column) and regularity(distinct_values(column.to_numpy())) < MOSTLY_REGULAR


def _is_clock_of(date: pd.Series, clock: pd.Series) -> bool:
    """Return whether numbers are the hours or clocks of a date, whatever their name: they go back with each day."""
    are_all_hours = is_hours(clock) and clock.nunique() in PERIODS_OF_DAY  # and no ranks from 1 to 20
    are_periods = periods_of_day(clock, is_named=True) is not None and clock.nunique() == clock.max()
    if len(clock) < FEWEST_ROWS or not (is_clock_of_digits(clock) or are_all_hours or are_periods):
        return False
    if not (looks_like_dates(date) or is_of_digits(date)):
        return False
    return _begins_again_with(clock, date)


def _begins_again_with(numbers: pd.Series, *others: pd.Series) -> bool:
    """Return whether numbers go back where another column changes, mostly, and nowhere else: hours with their day."""
    is_back = np.diff(numbers) < 0
    is_next = np.logical_or.reduce([np.diff(pd.factorize(other)[0]) != 0 for other in others])
    return bool(is_back.sum() >= FEWEST_STARTS and not is_back[~is_next].any() and is_back[is_next].mean() > REGULAR)


def _candidates_with(frame: pd.DataFrame, time: str, config: DataConfig) -> Iterator[RoleCandidate]:
    """The candidates of one time column: with the fewest identifiers that make its stamps unique."""
    date_format = _format_of_digits(frame, time) if config.date_format is None else None
    stamps = _stamps(frame, time, replace(config, date_format=date_format or config.date_format))
    if stamps is None or (time in frame.columns and parts_of_years(frame[time]) is not None):
        return
    if config.time is None and _is_typical_year(stamps):
        yield from _candidates_with(frame, ROW_NUMBER, config)
    name = config.item_id
    if name is None:
        name, keys = series_of(frame, time, stamps, config)
    else:
        joined = with_joined(frame, replace(config, time=time), "")
        if name not in joined:  # a misspelt name: the error message suggests the right one
            return
        keys = pd.factorize(joined[name])[0]
    longest = stamps[keys == np.bincount(keys[keys >= 0]).argmax()]
    if len(longest) < (FEWEST_ROWS if name is None else FEWEST_PER_SERIES):
        return
    steps = distinct_values(longest)
    is_regular = regularity(steps) >= REGULAR
    kind = _kind(frame, time, stamps, keys, is_regular=is_regular)
    is_decimal = date_format is not None and stamps.dtype.kind == "i"
    if is_decimal and kind == TimeKind.OTHER_NUMBERS:  # how long something took
        return
    if kind == TimeKind.OTHER_NUMBERS and name is None and _repeats_a_unit(frame, time, stamps):
        kind = TimeKind.REPEATED_UNITS
    season = None
    if stamps.dtype.kind == "i":
        season = _season(frame, time, date_format, None if not is_regular else len(steps), is_single=name is None)
    yield RoleCandidate(time, name, kind, stamps, len(steps), date_format, automatic_roles(frame, config), season)
    if config.item_id is None and name in frame.columns and frame[name].isna().any():  # unless those are called `NA`
        others = _candidates_with(frame.drop(columns=[name]), time, config)
        yield from (
            each for each in others if each.kind != TimeKind.REPEATED_UNITS
        )  # their sums would count totals, too


def _season(
    frame: pd.DataFrame, time: str, date_format: str | None, num_steps: int | None, *, is_single: bool
) -> int | None:
    """The season of whole numbers, of one series by other columns, or by the unit that those of regular steps count."""
    is_found = is_single and (counts_rows(time) or date_format is not None)
    season = season_of_fractions(frame) or season_of_cycle(frame) if is_found else None
    if season is not None or date_format is not None or num_steps is None or time not in frame.columns:
        return season
    return season_of_unit(frame[time], num_steps)


def _is_called_time(column: pd.Series) -> bool:
    """Return whether a column is called a time, or holds years and is called so or has the names of rows."""
    name = str(column.name)
    is_year = holds_years(column) and (is_called_year(name) or counts_rows(name))
    return is_year or name.lower() in _STEPS or is_called_time(name)


def _goes_on_within(stamps: NDArray[Any], keys: NDArray[np.int64]) -> bool:
    """Return whether each row of a series is later than the row before it, or each is earlier."""
    order = np.argsort(keys, kind="stable")
    steps = np.diff(stamps[order])[np.diff(keys[order]) == 0]
    return bool(len(steps) and ((steps > 0).all() or (steps < 0).all()))


def _repeats_a_unit(frame: pd.DataFrame, time: str, stamps: NDArray[Any]) -> bool:
    """Return whether rows are in the order of years, weeks or days, of which a few stand twice, or all several times.

    In the latter case columns may tell their rows apart, or these are no equal parts of years one after the other.
    """
    if time not in frame.columns or not _counts_a_unit(frame[time]) or not _are_sorted(stamps):
        return False
    units, counts = np.unique(stamps, return_counts=True)
    inner = counts[1:-1]
    are_uneven = len(inner) > 0 and (inner.max() > _MOST_UNEVEN * inner.min() or np.ptp(units) >= len(units))
    return bool(np.median(counts) == 1 or are_uneven or _may_have_names(frame, time))


def _counts_a_unit(column: pd.Series) -> bool:
    """Return whether whole numbers are years, or days or weeks by their name."""
    if is_called_year(str(column.name)):
        return holds_years(column)
    return pd.api.types.is_integer_dtype(column.dtype) and (unit_of_column(column) is not None or is_day_count(column))


def _format_of_digits(frame: pd.DataFrame, time: str) -> str | None:
    """The `--date-format` of numbers, or of days of digits that are joined with a clock of numbers: 891101 and 23."""
    date, *clock = parts_of(time, frame)
    if date not in frame.columns or len(clock) > 1 or (clock and not is_plain_number(frame[clock[0]])):
        return None
    form = format_of_digits(frame[date])
    if form is None and not clock and (decimals := format_of_decimals(frame[date])) is not None:
        return decimals if parse_timestamps(frame[date], date)[1].any() else None
    return form if form is None or not clock else f"{form} %H:%M" if form.startswith("%") else None


def _numbered_rows(frame: pd.DataFrame, config: DataConfig) -> Iterator[RoleCandidate]:
    """Rows numbered within each series, where a column counts weeks or months of years in a calendar of its own.

    11152 is the last week of a year of M5 and 11201 the first of the next: as whole numbers, 48 steps would be missing.
    """
    for name in map(str, frame.columns):
        parts = parts_of_years(frame[name])
        if parts is not None:
            steps = np.unique(frame[name].to_numpy(np.int64), return_inverse=True)[1]
            season = parts if steps.max() + 1 >= 2 * parts else None
            yield from _rows_instead_of(name, steps, season, frame, config)


def _rows_of_far_years(frame: pd.DataFrame, config: DataConfig) -> Iterator[RoleCandidate]:
    """Rows numbered within each series, where dates of some lie outside the years that time stamps can express.

    Brought near by whole cycles of the calendar, these dates show the step, and with it the season.
    """
    for name in map(str, frame.columns):
        near = brought_near(frame[name])
        stamps = None if near is None else _stamps(frame.assign(**{name: near}), name, config)
        alias = None if stamps is None else guess_alias(distinct_values(stamps))
        if stamps is not None and alias is not None:
            frequency = parse_frequency(alias)
            steps = frequency.steps_between(np.full_like(stamps, stamps.min()), stamps)
            season = frequency.season if frequency.season > 1 else None
            yield from _rows_instead_of(name, steps, season, frame, config)


def _rows_instead_of(
    name: str, steps: NDArray[Any], season: int | None, frame: pd.DataFrame, config: DataConfig
) -> Iterator[RoleCandidate]:
    """Rows numbered within each series instead of by a column, of which `steps` go on by one there."""
    item_id, keys = config.item_id, series_numbers(frame, config.item_id)
    if item_id is None:
        item_id, keys = series_of(frame, name, steps, config)
    order = np.argsort(keys, kind="stable")
    inside = np.diff(keys[order]) == 0
    if inside.any() and np.mean(np.diff(steps[order])[inside] == 1) >= MOSTLY_STEPS:
        automatic = automatic_roles(frame, config)
        yield RoleCandidate(
            ROW_NUMBER, item_id, TimeKind.ROW_NUMBERS, steps, automatic=automatic, season=season, ignore=(name,)
        )


def _kind(
    frame: pd.DataFrame, time: str, stamps: NDArray[Any], keys: NDArray[np.int64], *, is_regular: bool
) -> TimeKind:
    """Dates that are unique and regular, steps that are; then dates that another step makes a series of; then rows."""
    if time == ROW_NUMBER:
        return TimeKind.ROW_NUMBERS
    is_unique = not pd.DataFrame({"key": keys, "stamp": stamps}).duplicated().any()
    if stamps.dtype.kind == "M":
        return TimeKind.EVENTS if not is_unique else TimeKind.DATES if is_regular else TimeKind.UNEVEN_DATES
    is_called = time in frame.columns and _is_called_time(frame[time])
    if is_unique and is_regular:
        is_even = time in frame.columns and goes_on_evenly(frame[time]) and not is_called  # a depth, maybe
        return TimeKind.COUNTED_ROWS if is_even or _counts_no_years(frame, time) else TimeKind.STEP_NUMBERS
    return TimeKind.UNEVEN_NUMBERS if is_called and _goes_on_within(stamps, keys) else TimeKind.OTHER_NUMBERS


def _counts_no_years(frame: pd.DataFrame, time: str) -> bool:
    """Return whether a column numbers the rows by its name, and its cells are no years: `obs` may be from 1952 on."""
    return counts_rows(time) and not (time in frame.columns and holds_years(frame[time]))


def _stamps(frame: pd.DataFrame, time: str, config: DataConfig) -> NDArray[Any] | None:
    """The stamps of every row; None where many cells are none."""
    try:
        joined = with_joined(frame, DataConfig(time=time, item_id=config.item_id), "")
        stamps, bad = parse_timestamps(joined[time], time, config.date_format)
    except ConfigError:
        return None
    except DataError as error:
        if "date_format" not in error.options:
            return None
        return parse_timestamps(joined[time], time, regular_order(joined[time]) or "day-first")[0]
    if bad.mean() > MOST_BAD_STAMPS:
        return None
    return np.where(bad, stamps[~bad][0], stamps) if bad.any() else stamps
