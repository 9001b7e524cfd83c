"""Likely times and series of a table, by the evidence of its cells, the likeliest first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.number_times import (
    are_sorted,
    begins_again,
    counts_in_subjects,
    counts_up,
    repeats_in_subjects,
)
from forecast_attn.checking.role_candidates import (
    RoleCandidate,
    TimeKind,
    are_lifetimes,
    candidates_with,
    has_too_few_rows,
    numbered_rows,
    rows_of_elapsed_times,
    rows_of_far_years,
)
from forecast_attn.checking.row_order import may_be_steps
from forecast_attn.checking.series_blocks import SOON, go_up_within
from forecast_attn.checking.series_candidates import MOST_REPEATED, may_have_names, places_of_rows
from forecast_attn.checking.time_candidates import MOST_BAD_STAMPS, is_birthday, time_candidates
from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import (
    LOOSE_TIME_NAMES,
    STEP_WORDS,
    TIME_NAMES,
    counts_rows,
    is_called_a_name,
    is_called_age,
    is_called_event,
    is_called_of_record,
    is_called_time,
    is_called_year,
    unit_of,
)
from forecast_attn.data.frequency import distinct_values
from forecast_attn.data.reading.clocks import are_seconds_of_day
from forecast_attn.data.reading.joined import BLOCK_NUMBER, ROW_NUMBER, parts_of
from forecast_attn.data.reading.time_parts import holds_years
from forecast_attn.data.roles import MOST_UNDECLARED, is_numeric
from forecast_attn.data.timestamps import looks_like_dates, parse_timestamps
from forecast_attn.errors import DataError

_COARSER = 0.5
"""Share of the times of a date that are left of it in a coarser one."""


def likely_roles(frame: pd.DataFrame, config: DataConfig) -> list[RoleCandidate]:
    """The candidates under which no stamp stands twice in a series come first, then those that need another step.

    Args:
        frame: as it stands in the file.
        config: what is given is kept.
    """
    if frame.empty or frame.shape[1] > MOST_UNDECLARED or _names_no_column(frame, config):
        return []
    if config.time is not None:
        candidates = _ranked(frame, list(candidates_with(frame, config.time, config)))
        return _that_go_on(_times_or_rows(frame, candidates, has_time=False))
    times = list(time_candidates(frame, config))
    numbered = list(numbered_rows(frame, config)) if ROW_NUMBER in times else []
    if numbered:
        return numbered
    candidates = _ranked(frame, [candidate for time in times for candidate in candidates_with(frame, time, config)])
    candidates = _without_durations(candidates)
    if config.date_format is None:
        candidates += [*rows_of_far_years(frame, config), *rows_of_elapsed_times(frame, config)]
    of_typical_years = [] if ROW_NUMBER in times else [each for each in candidates if each.time == ROW_NUMBER]
    if of_typical_years:  # unless they are series one below the other
        return candidates if candidates[0].item_id is not None else of_typical_years
    has_time = any(counts_rows(each.time) for each in candidates) and _tells_time(frame)
    return _that_go_on(_times_or_rows(frame, _in_order(frame, candidates), has_time=has_time))


def _names_no_column(frame: pd.DataFrame, config: DataConfig) -> bool:
    """Return whether the given time or identifier is no column of a table."""
    made = (ROW_NUMBER, BLOCK_NUMBER)
    named = (part for name in (config.time, config.item_id) for part in parts_of(name, frame))
    return any(part not in frame.columns and part not in made for part in named)


# --------------------------------------------------------------------------- times, or rows


def _without_durations(candidates: list[RoleCandidate]) -> list[RoleCandidate]:
    """The candidates without an age, and without uneven numbers called a time, where some date or year is the time."""

    def is_of_calendar(candidate: RoleCandidate) -> bool:
        return candidate.stamps.dtype.kind == "M" or is_called_year(candidate.time)

    if not any(each.goes_on and is_of_calendar(each) for each in candidates):
        return candidates
    kept = [each for each in candidates if not is_called_age(each.time)]
    return [each for each in kept if is_of_calendar(each) or each.kind != TimeKind.UNEVEN_NUMBERS]


def _in_order(frame: pd.DataFrame, candidates: list[RoleCandidate]) -> list[RoleCandidate]:
    """The candidates without those by the order of the rows where the rows are in no order of time."""
    if not any(each.is_by_order for each in candidates) or may_be_steps(frame):
        return candidates
    return [each for each in candidates if not each.is_by_order]


def _times_or_rows(frame: pd.DataFrame, candidates: list[RoleCandidate], *, has_time: bool) -> list[RoleCandidate]:
    """The candidates without the numbers of rows where dates are the time, and else where rows are no steps.

    Args:
        frame: as it stands in the file.
        candidates: of the table.
        has_time: True if some column tells when its row was, be it a candidate or not.
    """
    if any(each.is_of_dates and each.goes_on for each in candidates):
        return [each for each in candidates if each.is_of_dates or not _numbers_rows(frame, each.time)]
    if not has_time and not any(_is_a_time_of_many_rows(frame, each) for each in candidates):
        return candidates
    return [each for each in candidates if not counts_rows(each.time) or (not has_time and _are_steps(frame, each))]


def _tells_time(frame: pd.DataFrame) -> bool:
    """Return whether some column tells when its row was, be it a candidate or not."""
    columns = [frame[name] for name in frame.columns]
    if any(begins_again(each) or counts_in_subjects(each) or is_birthday(each) for each in columns):
        return True
    called = (str(name) for name in frame.columns if is_called_time(str(name)))
    years = (frame[name] for name in frame.columns if is_called_year(str(name)))
    return (
        any(are_lifetimes(frame, name, None) or repeats_in_subjects(frame[name]) for name in called)
        or any(not year.is_unique and has_too_few_rows(frame, year) for year in years)
        or any(map(_are_dates_in_no_order, columns))
    )


def _are_dates_in_no_order(column: pd.Series) -> bool:
    """Return whether dates, though many may be unknown, go up and down from row to row."""
    if not looks_like_dates(column):
        return False
    try:
        stamps, bad = parse_timestamps(column, str(column.name))
    except DataError:
        return False
    return not are_sorted(stamps[~bad])


def _are_steps(frame: pd.DataFrame, rows: RoleCandidate) -> bool:
    """Return whether the rows of each series are steps, for no column says otherwise."""
    if rows.time != ROW_NUMBER or rows.item_id is None:
        return False
    if rows.item_id in frame.columns:
        return all(go_up_within(frame, rows.item_id))
    return rows.item_id == places_of_rows(frame)


def _that_go_on(candidates: list[RoleCandidate]) -> list[RoleCandidate]:
    """The candidates but those of one time for all rows, which say what is wrong where there is no other one."""
    are_some = any(each.goes_on and each.kind != TimeKind.OTHER_NUMBERS for each in candidates)
    return [each for each in candidates if each.goes_on or not are_some]


def _numbers_rows(frame: pd.DataFrame, time: str) -> bool:
    """Return whether a time is the number of the row, by its name or, as that of an order, by one more in each row."""
    is_named = time.lower() in (*TIME_NAMES, *LOOSE_TIME_NAMES, *STEP_WORDS)
    return counts_rows(time) or (time in frame.columns and not is_named and counts_up(frame[time]))


def _is_a_time_of_many_rows(frame: pd.DataFrame, candidate: RoleCandidate) -> bool:
    """Return whether several rows have one time, as the rows of different series do."""
    named = unit_of(candidate.time) == "year" or candidate.time.lower() in TIME_NAMES
    may_be = candidate.kind == TimeKind.OTHER_NUMBERS and named and may_have_names(frame, candidate.time)
    are_years = candidate.kind == TimeKind.REPEATED_UNITS and is_called_year(candidate.time)
    return candidate.item_id is not None or candidate.is_of_events or may_be or are_years


# --------------------------------------------------------------------------- their order


def _ranked(frame: pd.DataFrame, candidates: list[RoleCandidate]) -> list[RoleCandidate]:
    """The candidates, the likelier first.

    That is by their kind; a date that follows another one stands behind it, unless rows are in its order alone, as a
    year does behind the date that it is part of or the clock of an event in it, one in the order of the rows before
    others, dates and years before counts, and one of more times before coarser ones.
    """
    dates = [each for each in candidates if each.stamps.dtype.kind == "M"]

    def rank(candidate: RoleCandidate) -> tuple[Any, ...]:
        is_date = candidate.stamps.dtype.kind == "M"
        firsts = [each.kind for each in dates if _stands_behind(frame, candidate, each)]
        kind = max([candidate.kind, *firsts])  # an end that no two events share is no likelier than their start
        names = is_called_of_record(candidate.time), not (is_date and is_called_event(candidate.time))
        is_behind = *names, bool(firsts), not are_sorted(candidate.stamps)
        is_year = candidate.time in frame.columns and holds_years(frame[candidate.time])
        is_count = not is_year and not is_date  # as the age of somebody in that year
        num_times = len(distinct_values(candidate.stamps))
        is_joined = candidate.time not in frame.columns
        return kind, is_behind, is_count, -num_times, not is_year, is_joined, candidate.time

    return sorted(candidates, key=rank)


def _stands_behind(frame: pd.DataFrame, candidate: RoleCandidate, date: RoleCandidate) -> bool:
    """Return whether a date is rather the time of rows than a candidate, which follows it or is a part of it."""
    if candidate.stamps.dtype.kind == "M":
        alike = (candidate.kind,) if candidate.kind == TimeKind.DATES else (TimeKind.UNEVEN_DATES, TimeKind.EVENTS)
        is_first = date.kind in alike and not _are_rows_in_order_of(candidate, date)
        if is_first and _comes_after(candidate.stamps, date.stamps):
            return True
    is_part = candidate.kind == TimeKind.REPEATED_UNITS and candidate.time in parts_of(date.time, frame)
    return is_part or _is_year_of_clocks(candidate, date) or _is_split_by_counts(frame, candidate, date)


def _are_rows_in_order_of(date: RoleCandidate, other: RoleCandidate) -> bool:
    """Return whether rows are in the order of a date and not of another one, of which it is no coarser part."""
    in_order = are_sorted(date.stamps) and not are_sorted(other.stamps)
    return in_order and not is_called_of_record(date.time) and not _is_coarser(date.stamps, other.stamps)


def _comes_after(stamps: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether another date of each row is rather its time: that of what came before, or the same one but finer.

    Goods are shipped after they were ordered, and an interval ends after its start: never before, and mostly soon. The
    first day of a week and the start of a session are no other events: each is a coarser time of those within.
    """
    if _is_soon_after(stamps, other):
        return not _is_coarser(other, stamps)
    return _is_soon_after(other, stamps) and _is_coarser(stamps, other)


def _is_year_of_clocks(year: RoleCandidate, date: RoleCandidate) -> bool:
    """Return whether numbers are the years of dates with a time of day, at which something happened."""
    if year.stamps.dtype.kind != "i":
        return False
    of_date = date.stamps.astype("datetime64[Y]").astype(np.int64) + 1970
    have_clocks = np.mean(date.stamps == date.stamps.astype("datetime64[D]")) < MOST_REPEATED
    return bool(have_clocks and np.mean(of_date != year.stamps) <= MOST_BAD_STAMPS)


def _is_split_by_counts(frame: pd.DataFrame, coarse: RoleCandidate, date: RoleCandidate) -> bool:
    """Return whether series of a coarser time need a number beside those of a date: the week or game of each season."""
    of_coarse, of_date = ({*parts_of(each.item_id, frame)} for each in (coarse, date))
    counts = [name for name in of_coarse - of_date if name in frame.columns and not is_called_a_name(name)]
    are_numbers = len(counts) == len(of_coarse - of_date) and all(is_numeric(frame[name]) for name in counts)
    clocks = {*counts} & {*parts_of(date.time, frame)}  # which may also be shops, unless they are seconds
    are_numbers = are_numbers and all(are_seconds_of_day(frame[name]) for name in clocks)
    return of_date < of_coarse and are_numbers and _is_coarser(coarse.stamps, date.stamps)


def _is_soon_after(later: NDArray[Any], earlier: NDArray[Any]) -> bool:
    """Return whether one date of each row is never before the other one and mostly soon after, as no birthday."""
    lag, span = (later - earlier).astype(np.int64), int(np.ptp(earlier.astype(np.int64)))
    return bool(np.mean(lag < 0) <= MOST_BAD_STAMPS and lag.max(initial=0) > 0 and np.median(lag) <= SOON * span)


def _is_coarser(coarse: NDArray[Any], fine: NDArray[Any]) -> bool:
    """Return whether one date of a row follows from the other one, of which there are many more."""
    num_times = len(np.unique(fine))
    pairs = len(pd.DataFrame({"coarse": coarse, "fine": fine}).drop_duplicates())
    return len(np.unique(coarse)) <= _COARSER * num_times and pairs <= (1 + MOST_REPEATED) * num_times
