"""A way to read the time and the series of a table, and the kind of time that it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.number_times import (
    FEWEST_ROWS,
    REGULAR,
    are_sorted,
    counts_up,
    goes_on_evenly,
    is_day_count,
    is_time_or_year,
    parts_of_years,
    regularity,
    season_of_cycle,
    season_of_fractions,
    season_of_unit,
)
from forecast_attn.checking.series_blocks import FEWEST_PER_SERIES
from forecast_attn.checking.series_candidates import (
    automatic_roles,
    may_have_names,
    series_numbers,
    series_of,
)
from forecast_attn.checking.time_candidates import date_format_of, stamps_of
from forecast_attn.checking.value_names import is_called_end
from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import counts_rows, is_called_a_name, is_called_age, is_called_year
from forecast_attn.data.date_forms import brought_near
from forecast_attn.data.frequency import distinct_values, guess_alias, parse_frequency
from forecast_attn.data.reading.clocks import SECONDS_OF_DAY, elapsed_seconds
from forecast_attn.data.reading.joined import BLOCK_NUMBER, ROW_NUMBER, with_joined
from forecast_attn.data.reading.text_columns import text_columns
from forecast_attn.data.reading.time_parts import FEWEST_STARTS, holds_years, unit_of_column

MOSTLY_STEPS = 0.99
"""Smallest share of steps of one length at which rows are steps, whatever their dates say."""
_FEWEST_AGAIN = 2
"""Rows that half of the names of a panel have."""
_MOST_UNEVEN = 1.5
"""Largest ratio of the rows of two years of which each row is an equal part, as a day of an exchange."""
_MOST_SPREAD = 1.5
"""Largest ratio of the time from the first to the last row to that which all steps take, where rows are in disorder."""


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


_UNEVEN_KINDS = (TimeKind.REPEATED_UNITS, TimeKind.UNEVEN_NUMBERS, TimeKind.OTHER_NUMBERS)
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
    keys: NDArray[np.int64] = field(compare=False, repr=False)
    """The number of each row's series (num_rows,)."""
    num_steps: int = 0
    """Distinct stamps of the longest series."""
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
        if self._left_out:
            options["ignore"] = (*config.ignore, *self._left_out)
        if self.date_format is not None:
            options["date_format"] = self.date_format
        if config.season is None and self.season is not None:
            options["season"] = str(self.season)
        return options

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that time and identifier are made of, and those that are left out."""
        parts = () if self.item_id is None else self.item_id.split(",")
        return (*self.time.split(","), self.time, *parts, *self._left_out)

    @property
    def _left_out(self) -> tuple[str, ...]:
        """The identifier that training would find by itself where rows are one series, and other numbers of rows."""
        automatic = self.automatic[1] if self.item_id is None else None
        return self.ignore if automatic is None else (automatic, *self.ignore)

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
        return self.item_id is None and (self.counts_rows or is_called_age(self.time)) and self.stamps.dtype.kind != "M"

    @property
    def counts_rows(self) -> bool:
        """True where the time is the number of the row, be it counted here or in the file."""
        return self.kind in (TimeKind.COUNTED_ROWS, TimeKind.ROW_NUMBERS)

    @property
    def is_in_no_order(self) -> bool:
        """True for whole numbers that go up and down from row to row of a series: how long something took."""
        if self.kind != TimeKind.OTHER_NUMBERS:
            return False
        steps = _steps_within(self.stamps, self.keys)
        return bool((steps > 0).any() and (steps < 0).any())

    @property
    def goes_on(self) -> bool:
        """True where the rows are not all of one time."""
        return bool((self.stamps != self.stamps[0]).any())

    @property
    def is_of_events(self) -> bool:
        """True where dates stand more than once in a series."""
        return self.kind == TimeKind.EVENTS

    @property
    def has_events(self) -> bool:
        """True where dates, or numbered days or weeks, stand more than once in a series."""
        return self.kind in (TimeKind.REPEATED_UNITS, TimeKind.EVENTS)

    @property
    def may_be_counted(self) -> bool:
        """True where rows are events rather than steps: at dates or in years that stand more than once, or uneven."""
        return self.kind in (TimeKind.UNEVEN_DATES, TimeKind.REPEATED_UNITS, TimeKind.EVENTS)

    @property
    def event_stamps(self) -> NDArray[Any] | None:
        """The dates of a table whose rows are events, sorted; None where they are rather the rows of steps."""
        return np.sort(self.stamps) if self.kind in (TimeKind.UNEVEN_DATES, TimeKind.EVENTS) else None

    @property
    def event_order(self) -> NDArray[np.int64]:
        """The order of the rows in time (num_rows,)."""
        return np.argsort(self.stamps, kind="stable")


# --------------------------------------------------------------------------- of one time


def candidates_with(frame: pd.DataFrame, time: str, config: DataConfig) -> Iterator[RoleCandidate]:
    """The candidates of one time column: with the fewest identifiers that make its stamps unique."""
    date_format = date_format_of(frame, time) if config.date_format is None else None
    stamps = stamps_of(frame, time, replace(config, date_format=date_format or config.date_format))
    if stamps is None or (time in frame.columns and parts_of_years(frame[time]) is not None):
        return
    if config.time is None and _is_typical_year(stamps):
        yield from candidates_with(frame, ROW_NUMBER, config)
    name, keys = (
        series_of(frame, time, stamps, config) if config.item_id is None else _given_series(frame, time, config)
    )
    if keys is None or (keys < 0).all():  # no row names a series
        return
    longest = stamps[keys == np.bincount(keys[keys >= 0]).argmax()]
    if len(longest) < (FEWEST_ROWS if name is None else FEWEST_PER_SERIES):
        return
    steps = distinct_values(longest)
    is_regular = regularity(steps) >= REGULAR
    kind = _kind(frame, time, stamps, keys, is_regular=is_regular, is_single=name is None)
    if kind == TimeKind.OTHER_NUMBERS and date_format is not None:  # decimals: how long something took
        return
    if kind in _UNEVEN_KINDS and config.time is None and _says_otherwise(frame, time, name, stamps):
        return
    season = None
    if stamps.dtype.kind == "i":
        is_mixed = name is not None and counts_rows(time)
        in_order = frame.iloc[np.argsort(keys, kind="stable")] if is_mixed else frame
        num_steps = len(steps) if is_regular else None
        season = _season(in_order, time, date_format, num_steps, is_single=name is None)
        season = None if season is None or season > len(longest) else season
    automatic = automatic_roles(frame, config)
    if name is None and automatic[0] != time:  # the identifier that is found once the time is named is left out
        automatic = automatic[0], automatic_roles(frame, replace(config, time=time))[1]
    yield RoleCandidate(time, name, kind, stamps, keys, len(steps), date_format, automatic, season)
    if config.item_id is None and name in frame.columns and frame[name].isna().any():  # unless those are called `NA`
        others = candidates_with(frame.drop(columns=[name]), time, config)
        yield from (each for each in others if each.kind != TimeKind.REPEATED_UNITS)  # whose sums would hold totals


def are_lifetimes(frame: pd.DataFrame, time: str, item_id: str | None) -> bool:
    """Return whether numbers are the times that each person or part lived, beside a mark of those that still do.

    The rows of one person, told apart by an identifier, go on in time.
    """
    if time not in frame.columns or holds_years(frame[time]) or (item_id is not None and is_called_a_name(item_id)):
        return False
    marks = [str(name) for name in frame.columns if is_called_end(str(name), may_be_status=item_id is not None)]
    return any(pd.api.types.is_numeric_dtype(frame[name].dtype) and frame[name].nunique() <= 3 for name in marks)


def _says_otherwise(frame: pd.DataFrame, time: str, item_id: str | None, stamps: NDArray[Any]) -> bool:
    """Return whether other columns say that the rows of an uneven time are no steps: lives, or a panel of few rows."""
    return are_lifetimes(frame, time, item_id) or (item_id is None and has_too_few_rows(frame, stamps))


def has_too_few_rows(frame: pd.DataFrame, times: Any) -> bool:
    """Return whether names that stand once at a time come again at a few others: countries asked in two or three years.

    Args:
        frame: as it stands in the file.
        times: of its rows (num_rows,).
    """
    for name in text_columns(frame):
        of_name = frame[name].value_counts()
        rows = of_name[of_name > 0].median()
        is_panel = _FEWEST_AGAIN <= rows < FEWEST_ROWS
        if is_panel and not pd.DataFrame({"name": frame[name], "time": times}).duplicated().any():
            return True
    return False


def _given_series(frame: pd.DataFrame, time: str, config: DataConfig) -> tuple[str | None, NDArray[np.int64] | None]:
    """The given identifier and the series of each row; None where a name is misspelt, for which there is a message."""
    joined = with_joined(frame, replace(config, time=time), "")
    return config.item_id, pd.factorize(joined[config.item_id])[0] if config.item_id in joined else None


def _season(
    frame: pd.DataFrame, time: str, date_format: str | None, num_steps: int | None, *, is_single: bool
) -> int | None:
    """The season of whole numbers, by other columns, or by the unit that those of regular steps count.

    Args:
        frame: the rows of each series together.
        time: whose season it is.
        date_format: of decimals.
        num_steps: of the longest series; None where they are not regular.
        is_single: True for one series.
    """
    is_found = counts_rows(time) or (is_single and date_format is not None)
    season = season_of_fractions(frame) or season_of_cycle(frame) if is_found else None
    if season is not None or date_format is not None or num_steps is None or time not in frame.columns:
        return season
    return season_of_unit(frame[time], num_steps)


def _is_typical_year(stamps: NDArray[Any]) -> bool:
    """Return whether rows are steps of one length but for jumps, some of them back: a year of months of other years.

    Those of days that are sorted as words fill their time.
    """
    if len(stamps) < FEWEST_ROWS or stamps.dtype.kind != "M":
        return False
    steps = np.diff(stamps).astype(np.int64)
    usual = np.median(steps)
    jumps = usual > 0 and np.sum(steps < 0) >= FEWEST_STARTS and np.mean(steps == usual) >= MOSTLY_STEPS
    return bool(jumps and np.ptp(stamps).astype(np.int64) > _MOST_SPREAD * len(stamps) * usual)


# --------------------------------------------------------------------------- its kind


def _kind(
    frame: pd.DataFrame,
    time: str,
    stamps: NDArray[Any],
    keys: NDArray[np.int64],
    *,
    is_regular: bool,
    is_single: bool,
) -> TimeKind:
    """Dates that are unique and regular, steps that are; then dates that another step makes a series of; then rows."""
    if time == ROW_NUMBER:
        return TimeKind.ROW_NUMBERS
    is_unique = not pd.DataFrame({"key": keys, "stamp": stamps}).duplicated().any()
    if stamps.dtype.kind == "M":
        return TimeKind.EVENTS if not is_unique else TimeKind.DATES if is_regular else TimeKind.UNEVEN_DATES
    is_called = time in frame.columns and is_time_or_year(frame[time])
    if is_unique and is_regular:
        column = frame[time] if time in frame.columns and not is_called else None
        is_even = column is not None and (goes_on_evenly(column) or counts_up(column))  # a depth, or persons
        return TimeKind.COUNTED_ROWS if is_even or _counts_no_years(frame, time) else TimeKind.STEP_NUMBERS
    if is_called and _goes_on_within(stamps, keys):
        return TimeKind.UNEVEN_NUMBERS
    return TimeKind.REPEATED_UNITS if is_single and _repeats_a_unit(frame, time, stamps) else TimeKind.OTHER_NUMBERS


def _counts_no_years(frame: pd.DataFrame, time: str) -> bool:
    """Return whether a column numbers the rows by its name, and its cells are no years: `obs` may be from 1952 on."""
    return counts_rows(time) and not (time in frame.columns and holds_years(frame[time]))


def _goes_on_within(stamps: NDArray[Any], keys: NDArray[np.int64]) -> bool:
    """Return whether each row of a series is later than the row before it, or each is earlier."""
    steps = _steps_within(stamps, keys)
    return bool(len(steps) and ((steps > 0).all() or (steps < 0).all()))


def _steps_within(stamps: NDArray[Any], keys: NDArray[np.int64]) -> NDArray[Any]:
    """The steps from each row of a series to its next one."""
    order = np.argsort(keys, kind="stable")
    return np.asarray(np.diff(stamps[order])[np.diff(keys[order]) == 0])


def _repeats_a_unit(frame: pd.DataFrame, time: str, stamps: NDArray[Any]) -> bool:
    """Return whether rows are in the order of years, weeks or days, of which some stand several times.

    Columns may tell their rows apart, or these are no equal parts of years one after the other.
    """
    if time not in frame.columns or not _counts_a_unit(frame[time]) or not are_sorted(stamps):
        return False
    units, counts = np.unique(stamps, return_counts=True)
    inner = counts[1:-1]
    are_uneven = len(inner) > 0 and (inner.max() > _MOST_UNEVEN * inner.min() or np.ptp(units) >= len(units))
    return bool(are_uneven or may_have_names(frame, time))


def _counts_a_unit(column: pd.Series) -> bool:
    """Return whether whole numbers are years, or days or weeks by their name."""
    if is_called_year(str(column.name)):
        return holds_years(column)
    return pd.api.types.is_integer_dtype(column.dtype) and (unit_of_column(column) is not None or is_day_count(column))


# --------------------------------------------------------------------------- rows instead of a time


def numbered_rows(frame: pd.DataFrame, config: DataConfig) -> Iterator[RoleCandidate]:
    """Rows numbered within each series, where a column counts weeks or months of years in a calendar of its own.

    11152 is the last week of a year of M5 and 11201 the first of the next: as whole numbers, 48 steps would be missing.
    """
    for name in map(str, frame.columns):
        parts = parts_of_years(frame[name])
        if parts is not None:
            steps = np.unique(frame[name].to_numpy(np.int64), return_inverse=True)[1]
            season = parts if steps.max() + 1 >= 2 * parts else None
            yield from _rows_instead_of(name, steps, season, frame, config)


def rows_of_far_years(frame: pd.DataFrame, config: DataConfig) -> Iterator[RoleCandidate]:
    """Rows numbered within each series, where dates of some lie outside the years that time stamps can express.

    Brought near by whole cycles of the calendar, these dates show the step, and with it the season.
    """
    for name in map(str, frame.columns):
        near = brought_near(frame[name])
        stamps = None if near is None else stamps_of(frame.assign(**{name: near}), name, config)
        alias = None if stamps is None else guess_alias(distinct_values(stamps))
        if stamps is not None and alias is not None:
            frequency = parse_frequency(alias)
            steps = frequency.steps_between(np.full_like(stamps, stamps.min()), stamps)
            season = frequency.season if frequency.season > 1 else None
            yield from _rows_instead_of(name, steps, season, frame, config)


def rows_of_elapsed_times(frame: pd.DataFrame, config: DataConfig) -> Iterator[RoleCandidate]:
    """Rows numbered within each series, where a column holds the time since the start of each."""
    for name in map(str, frame.columns):
        seconds = elapsed_seconds(frame[name])
        step = 0 if seconds is None else np.median(np.diff(np.unique(seconds), prepend=0))
        if seconds is not None and step > 0:
            season = round(SECONDS_OF_DAY / step)
            season_or_none = season if 1 < season <= np.ptp(seconds) / step / 2 else None
            yield from _rows_instead_of(name, seconds / step, season_or_none, frame, config)


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
            ROW_NUMBER, item_id, TimeKind.ROW_NUMBERS, steps, keys, automatic=automatic, season=season, ignore=(name,)
        )
