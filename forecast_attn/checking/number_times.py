"""Times written as numbers: dates of digits, years that begin again, and counters with the season they imply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.cells import epoch_unit
from forecast_attn.data.column_names import (
    CALENDAR_NAMES,
    COUNTERS,
    STEP_WORDS,
    TIME_NAMES,
    counts_rows,
    is_called_a_name,
    is_called_date,
    is_called_time,
    is_called_year,
    unit_of,
    unit_of_last_word,
)
from forecast_attn.data.frequency import distinct_values, guess_alias, parse_frequency
from forecast_attn.data.number_stamps import (
    EPOCH_UNITS,
    FINEST_STEP,
    MOST_OFF,
    SERIAL_DAYS,
    are_serial_days,
    is_plain_number,
)
from forecast_attn.data.reading.header import unnamed_column
from forecast_attn.data.reading.text_columns import holds_texts
from forecast_attn.data.reading.time_parts import FEWEST_STARTS, are_counts, are_whole, holds_years, unit_of_column
from forecast_attn.data.roles import is_numeric
from forecast_attn.data.timestamps import parse_timestamps

FEWEST_ROWS = 5
"""Rows of a table that is one series."""
FEWEST_COUNTED = 3
"""Rows of a series, on average, in which a column that counts them goes up."""
_ORDERS = ("day-first", "month-first", "year-first")
"""Orders of dates of three numbers, as `--date-format` takes them."""
_MUCH_LONGER = 10
"""Ratio of the months to the days that the same dates span."""
_MOST_BAD_IN_ORDER = 0.01
"""Share of cells that are no dates in an order that may be meant."""
REGULAR = 0.6
"""Smallest share of steps of one length at which an axis is regular, but for its gaps."""
MOSTLY_REGULAR, _REGULAR_OF_DATES = 0.9, 0.5
"""Smallest share of such steps of numbers that only then are dates: 240131; of one called date, on work days."""
_MOST_STAYING, _OFTEN_STAYING = 0.02, 0.1
"""Share of rows at which a time that begins again does not go up: of one row, or of several rows at a time."""
_FEWEST_NUMBERED = 4
"""Series, at least, at which a time begins again where they have numbers for names."""
_MOST_SUBJECTS = 0.2
"""Share of rows at which a time begins again, where subjects have a few rows each."""
_MOSTLY_RISING, _FEWEST_SUBJECTS = 0.6, 8
"""Share of rows at which the number of a visit goes up, and how often it begins again, at least."""
SEASONS_OF_UNITS = {"hour": 24, "day": 7, "week": 52, "month": 12, "quarter": 4}
_MOST_OF_A_SEASON = 0.5
"""Share of its season that one step may take."""
_DAY = 86_400
_MANY_DATES = 20
_FEWEST_DRIFTING = 20
_DRIFT = 0.1
"""Share of its step by which the clock of a sensor may be off."""
_NEARLY = 0.02
"""Share by which the median of such steps may miss a part of the day."""
_CYCLES = (4, 366)
"""Fewest and most rows after which a column of names or numbers begins again that tells the season."""
_MOST_LETTERS = 3
"""Longest name that may be short for a unit of time, or for anything else."""
_MOST_OF_UNITS = {"quarter": 4, "month": 12, "hour": 24, "day": 366, "week": 53, "minute": 59}
_DAYS_OF_YEAR = (364, 366)
"""Numbers of the last day of a year, counted from 0 or 1."""
_CYCLING_PARTS = (re.compile(r"^\d+[:-](0*[1-9]\d*)$"), re.compile(r"^.*\d[ T]+(\d{1,2}:\d{2})(?::\d{2})?$"))
"""What a day of a week, and a date without a year, counts behind its mark: the hour."""
_NEARLY_EQUAL = 0.01
"""Share by which steps that are written with few digits may differ."""
_LARGEST_DECIMAL = 1e9
_MOST_DECIMALS = 6
_MOST_DIGITS = 10
_NEARLY_ON = 5e-4
"""Share of a step by which numbers miss one that is written with enough digits."""
_DIGITS = {"%Y%m": 6, "%y%m%d": 6, "%G%V": 6, "%Y0%m": 7, "%Y%j": 7, "%d%m%Y": 8, "%m%d%Y": 8}
"""`--date-format` of whole numbers -> most of their digits; the likelier ones first."""


def regularity(stamps: NDArray[Any]) -> float:
    """Share of neighbouring stamps, sorted and distinct, that are one step apart."""
    stamps = stamps[~np.isnat(stamps)] if stamps.dtype.kind == "M" else stamps
    alias = guess_alias(stamps)
    if alias is None:
        return 0.0
    return float(np.mean(parse_frequency(alias).steps_between(stamps[:-1], stamps[1:]) == 1))


def are_sorted(stamps: NDArray[Any]) -> bool:
    """Return whether stamps never go back, or never go on."""
    steps = np.diff(stamps).astype(np.int64)
    return bool((steps >= 0).all() or (steps <= 0).all())


def regular_order(column: pd.Series) -> str | None:
    """The order of day, month and year in which most steps are regular, or else most rows in order; None for a tie.

    An order in which many cells are no dates is none.
    """
    read = {order: parse_timestamps(column, str(column.name), order) for order in _ORDERS}
    usable = {order: stamps[~bad] for order, (stamps, bad) in read.items() if bad.mean() <= _MOST_BAD_IN_ORDER}
    scores = {
        order: (regularity(distinct_values(stamps)), float(np.mean(np.diff(stamps) >= np.timedelta64(0))))
        for order, stamps in usable.items()
        if len(stamps) > 1
    }
    best = max(scores, key=lambda order: scores[order], default=None)
    return None if best is None or scores[best][0] < REGULAR or [*scores.values()].count(scores[best]) > 1 else best


def denser_order(column: pd.Series) -> str | None:
    """The order of day and month in which rows are of a few days in a row, and in the other one of as many months.

    Or month first, beside the halves of a day, as in America. None where neither says anything.
    """
    read = {order: parse_timestamps(column, str(column.name), order) for order in ("day-first", "month-first")}
    spans = {order: np.ptp(stamps) for order, (stamps, bad) in read.items() if len(stamps) and not bad.any()}
    if len(spans) < 2:
        return None
    shorter = min(spans, key=lambda order: spans[order])
    longer = max(spans.values())
    if spans[shorter] * _MUCH_LONGER <= longer and longer > np.timedelta64(0):  # and not of one day alone
        return shorter
    return "month-first" if column.astype("string").str.contains(r"\d ?[AaPp][Mm]$").all() else None


def is_of_digits(column: pd.Series) -> bool:
    """Return whether numbers are dates: 20240131, 202401, 2024.083, or seconds or days one step apart.

    Where many numbers of 8 to 14 digits, or of seconds that are no identifiers, all are dates in an order, whether they
    are regular does not matter.
    """
    if not is_plain_number(column):
        return False
    stamps, bad = parse_timestamps(column, str(column.name))
    are_long = stamps.dtype.kind == "M" and are_whole(column)
    if stamps.dtype.kind != "M":
        date_format = format_of_digits(column)
        if date_format is None:
            return False
        stamps, bad = parse_timestamps(column, str(column.name), date_format)
        are_long = date_format in EPOCH_UNITS and not is_called_a_name(str(column.name))
    if bad.any():
        return False
    steps = np.diff(stamps).astype(np.int64)
    is_called = str(column.name).lower() in (*TIME_NAMES, "ts")
    go_on = are_long and (is_called or max(np.mean(steps >= 0), np.mean(steps <= 0)) >= MOSTLY_REGULAR)
    stamps = distinct_values(stamps)
    are_many = go_on and len(stamps) >= _MANY_DATES
    return bool(are_many or regularity(stamps) >= REGULAR or drifting_step(stamps) is not None)


def drifting_step(stamps: NDArray[np.datetime64]) -> str | None:
    """The step within a day that most stamps follow but for a few seconds, as sensors do, be there gaps or not."""
    steps = np.diff(stamps).astype(np.int64) / 10**9
    usual = float(np.median(steps)) if len(steps) >= _FEWEST_DRIFTING else 0.0
    if not 1 <= usual < _DAY or np.mean(np.abs(steps - usual) <= _DRIFT * usual) < REGULAR:
        return None
    seconds = min((each for each in range(1, _DAY) if _DAY % each == 0), key=lambda each: abs(each - usual))
    even = np.datetime64("1970-01-01", "ns") + np.arange(len(stamps)) * np.timedelta64(seconds, "s")
    return guess_alias(even) if abs(seconds - usual) <= _NEARLY * usual else None


def format_of_digits(column: pd.Series) -> str | None:
    """The `--date-format` of numbers that are dates, though not as 20240131; None for others, and for too few.

    Days of a spreadsheet, times since 1970 in any order, months such as 202401, or whatever makes all of them regular.
    """
    if not is_plain_number(column):
        return None
    if are_serial_days(column):
        return SERIAL_DAYS
    numbers = distinct_values(column.to_numpy(np.float64, na_value=np.nan))
    if len(numbers) < FEWEST_ROWS or not np.isfinite(numbers).all() or numbers[0] < 0:
        return None
    if parse_timestamps(column, str(column.name))[0].dtype.kind == "M":  # as they stand
        return None
    is_called = str(column.name).lower() in TIME_NAMES
    unit = epoch_unit(numbers[len(numbers) // 2 :] if is_called else numbers)  # the first may be from before 2001
    if unit is not None or not are_whole(column):
        return unit
    digits = len(str(int(numbers[-1])))
    forms = (form for form, most in _DIGITS.items() if digits in (most, most - 1))
    least = _REGULAR_OF_DATES if is_called_date(str(column.name)) else MOSTLY_REGULAR
    return next((form for form in forms if _are_regular(numbers, form, least)), None)


def format_of_decimals(column: pd.Series) -> str | None:
    """The `--date-format` of decimal numbers: the step that they are apart, or that of their last digits.

    None for whole numbers.
    """
    if not pd.api.types.is_float_dtype(column.dtype) or are_whole(column) or column.isna().any():
        return None
    numbers = distinct_values(column.to_numpy(np.float64))
    if len(numbers) < FEWEST_COUNTED or not np.isfinite(numbers).all() or np.abs(numbers).max() >= _LARGEST_DECIMAL:
        return None
    usual = float(np.ptp(numbers)) / max(round(np.ptp(numbers) / float(np.median(np.diff(numbers)))), 1)
    most = min(MOST_OFF, max(2 * _off(numbers, usual), _NEARLY_ON))  # else later numbers would miss the step by more
    steps = (f"{usual:.{digits}g}" for digits in range(1, _MOST_DIGITS + 1))
    step = next((step for step in steps if _off(numbers, float(step)) < most), None)
    if step is not None:
        return step
    for decimals in range(1, _MOST_DECIMALS + 1):
        whole = np.round(numbers * 10**decimals)
        if np.abs(numbers * 10**decimals - whole).max() < _NEARLY:
            return f"{int(np.gcd.reduce(whole.astype(np.int64))) / 10**decimals:.{decimals}f}"
    return f"{FINEST_STEP}"


def _off(numbers: NDArray[np.float64], step: float) -> float:
    """Largest share of a step by which a number misses it."""
    return float(np.abs(numbers / step - np.round(numbers / step)).max())


def _are_regular(numbers: NDArray[np.float64], form: str, least: float) -> bool:
    """Return whether whole numbers are dates of a form, and at least so many of them one step apart."""
    for some in (numbers[:FEWEST_ROWS], numbers):  # a few tell in most columns that they are no dates
        stamps, bad = parse_timestamps(pd.Series(some.astype(np.int64)), "", form)
        if bad.any():
            return False
    if form in ("%Y%m", "%Y0%m"):  # the latter as SAP writes periods: 2024001
        return bool((numbers % 100).max() == 12)
    return regularity(np.sort(stamps)) >= least


# --------------------------------------------------------------------------- counters


def is_of_the_calendar(column: pd.Series) -> bool:
    """Return whether a column says when its row is, by its name; where that is short, `MO`, by its cells too."""
    plain = str(column.name).lower()
    is_text = holds_texts(column)
    if plain == "tag" and is_text and column.cat.categories.astype(str).str.contains(r"[A-Za-z]\d").any():
        return False  # of an instrument, and no German day
    unit = (unit_of(plain) if len(plain) > _MOST_LETTERS else None) or unit_of_column(column)
    if unit in _MOST_OF_UNITS and len(plain) <= _MOST_LETTERS and is_numeric(column):  # `hr` may be a heart rate
        unit = unit if pd.to_numeric(column, errors="coerce").max() <= _MOST_OF_UNITS[unit] else None
    is_part = re.match(r"(minute|hour|day|week|month)s?[ _.]?of[ _.]?(the |y|m|w|p)", plain) is not None
    is_counter = plain in COUNTERS and _may_number_rows(column)
    return unit is not None or is_part or plain in CALENDAR_NAMES or is_counter


def _may_number_rows(column: pd.Series) -> bool:
    """Return whether a column called a counter may be one; whole numbers called `n` may be how many there were."""
    if str(column.name).lower() == "n" and pd.api.types.is_integer_dtype(column.dtype) and len(column) > 1:
        return bool(np.isin(np.diff(column), (0, 1)).mean() > MOSTLY_REGULAR)
    return not pd.api.types.is_float_dtype(column.dtype) or are_whole(column)


def counts_up(column: pd.Series, *, in_series: bool = False) -> bool:
    """Return whether a column is whole numbers, one more in each row.

    Args:
        column: of a table.
        in_series: True if each series may be counted anew, in rows that stand one below the other: 0, 1, 2, 0, 1, 2.
    """
    if not pd.api.types.is_numeric_dtype(column.dtype) or column.isna().any():
        return False
    numbers = column.to_numpy(np.float64)
    if not np.isfinite(numbers).all():
        return False
    starts = np.flatnonzero(np.diff(numbers, prepend=np.nan) != 1)
    is_long = len(numbers) >= FEWEST_COUNTED * max(len(starts), 1)
    return is_long and (len(starts) == 1 or in_series) and bool((numbers[starts] == numbers[0]).all())


def goes_on_evenly(column: pd.Series) -> bool:
    """Return whether decimal numbers go up in each row, by steps of one length but for their last digits."""
    if not pd.api.types.is_float_dtype(column.dtype) or are_whole(column) or len(column) < FEWEST_ROWS:
        return False
    steps = np.diff(column.to_numpy(np.float64))
    return bool(steps.min() > 0 and np.ptp(steps) <= _NEARLY_EQUAL * steps.mean())


def rises_as_time(column: pd.Series) -> bool:
    """Return whether numbers called a time go up in each row; those of a file without names mostly by equal steps."""
    if len(column) < FEWEST_ROWS or not column.is_unique or not column.is_monotonic_increasing:
        return False
    if column.name != unnamed_column(1):
        return is_called_time(str(column.name))
    return are_counts(column) and regularity(column.to_numpy(np.int64)) >= MOSTLY_REGULAR


def are_days_within(days: pd.Series, years: pd.Series) -> bool:
    """Return whether numbers up to 365 go back with each year and nowhere else, as its days do, even from -65 on.

    Years may be the first, the second, … one; and rows of several series may stand together for each day.
    """
    if not pd.api.types.is_integer_dtype(days.dtype) or not _DAYS_OF_YEAR[0] <= days.max() <= _DAYS_OF_YEAR[1]:
        return False
    is_back, is_other = np.diff(days.to_numpy(np.int64)) < 0, np.diff(years.to_numpy()) != 0
    return bool(is_other.any() and (is_back == is_other).all())


def is_day_count(column: pd.Series) -> bool:
    """Return whether whole numbers in order, some of them several times, are days or weeks by their name: `pan_day`."""
    if not pd.api.types.is_integer_dtype(column.dtype) or column.is_unique or not column.is_monotonic_increasing:
        return False
    return unit_of_last_word(str(column.name)) in ("day", "week")


def are_only_times(columns: list[pd.Series]) -> bool:
    """Return whether all numbers of a table are called dates or times and never go back: when something happened."""
    called = all(str(column.name).lower() in TIME_NAMES for column in columns)
    return bool(columns) and called and all(column.is_monotonic_increasing for column in columns)


def counts_within(column: pd.Series, names: list[pd.Series]) -> bool:
    """Return whether whole numbers go back only where the next name begins, and else up: cycles of machines.

    By one, mostly, or by any step where they are called a time; beside names that are numbers, by any one step, and
    back with each of them: minutes 26, 31, 36 of a patient.

    Args:
        column: of a table whose series stand one below the other.
        names: columns of text or of whole numbers.
    """
    is_time = is_called_time(str(column.name))
    if len(column) < FEWEST_ROWS or not (pd.api.types.is_integer_dtype(column.dtype) or is_time):
        return False
    steps = np.diff(column.to_numpy(np.float64))
    back = np.flatnonzero(steps <= 0)
    usual = np.median(steps)
    if not len(back) or not (is_time or (usual > 0 and np.mean(steps == usual) >= MOSTLY_REGULAR)):
        return False
    for name in names:
        is_text = holds_texts(name)
        if is_text and not is_time and usual != 1:
            continue
        codes = pd.factorize(name)[0]
        changes = np.flatnonzero(np.diff(codes))
        if not np.isin(back, changes).all() or len(changes) + 1 != len(np.unique(codes)):
            continue
        if is_time or is_text or _FEWEST_NUMBERED <= len(back) == len(changes):
            return True
    return False


def is_time_or_year(column: pd.Series) -> bool:
    """Return whether a column is called a time, or holds years and is called so or has the names of rows."""
    name = str(column.name)
    is_year = holds_years(column) and (is_called_year(name) or counts_rows(name))
    return is_year or name.lower() in STEP_WORDS or is_called_time(name)


def begins_again(column: pd.Series) -> bool:
    """Return whether years, or numbers called a time, go up and begin again several times, as in the rows of a panel.

    Whole numbers that may be years are some where they are called so, or mostly go on by one: `season_start`.
    """
    are_years, is_called = holds_years(column), str(column.name).lower() in TIME_NAMES and is_numeric(column)
    if not are_years and not is_called:
        return False
    steps = np.diff(pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan))
    is_year = are_years and (is_called_year(str(column.name)) or bool(np.mean(steps == 1) >= REGULAR))
    if not is_year and not is_called:
        return False
    goes_on = is_year or np.mean(steps >= 0) >= REGULAR  # and is no time that something took
    return bool(goes_on and np.sum(steps < 0) >= FEWEST_STARTS)


def counts_in_subjects(column: pd.Series) -> bool:
    """Return whether numbers mostly go up by one step, and begin again several times, at no season: visits of patients.

    Their steps may be uneven where they always begin again at one number.

    A season begins again at the same number, after the same number of rows; a calendar may skip some days.
    """
    is_calendar = is_of_the_calendar(column) and not counts_rows(str(column.name))
    is_complete = pd.api.types.is_numeric_dtype(column.dtype) and not column.isna().any()
    if is_calendar or not is_complete or len(column) < FEWEST_ROWS:
        return False
    numbers = column.to_numpy(np.float64)
    if not np.isfinite(numbers).all():
        return False
    steps = np.diff(numbers)
    rising = steps[steps > 0]
    if len(rising) < _MOSTLY_RISING * len(steps) or np.sum(steps < 0) < _FEWEST_SUBJECTS:
        return False
    is_even = np.mean(np.isclose(rising, np.median(rising))) >= MOSTLY_REGULAR
    starts = np.flatnonzero(np.append(True, steps < 0))
    begins_alike = len(np.unique(numbers[starts])) == 1
    is_season = begins_alike and len(np.unique(np.diff(starts))) == 1
    never_stays = np.count_nonzero(steps == 0) <= _MOST_STAYING * len(steps)
    return bool((is_even or (begins_alike and never_stays)) and not is_season)


def repeats_in_subjects(column: pd.Series) -> bool:
    """Return whether numbers stay or go up, and begin again several times: days of several tests of each patient."""
    is_complete = pd.api.types.is_numeric_dtype(column.dtype) and not column.isna().any()
    if is_of_the_calendar(column) or not is_complete or column.nunique() == 2:
        return False
    steps = np.diff(column.to_numpy(np.float64))
    falls, stays = np.count_nonzero(steps < 0), np.count_nonzero(steps == 0)
    return bool(_FEWEST_SUBJECTS <= falls <= _MOST_SUBJECTS * len(steps) and stays >= _OFTEN_STAYING * len(steps))


def parts_of_years(column: pd.Series) -> int | None:
    """The weeks or months of a year, of numbers whose last two digits count them from 1; None for others and dates."""
    if not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any() or is_of_digits(column):
        return None
    years, parts = np.divmod(np.unique(column.to_numpy(np.int64)), 100)
    last = np.flatnonzero(np.diff(years))
    if len(last) < 2:
        return None
    usual = int(np.median(parts[last]))
    begins_anew = (parts[last + 1] == 1) & (np.diff(years)[last] == 1) & (parts[last] <= usual + 1)
    goes_on = np.delete(np.diff(parts), last) == 1
    is_calendar = usual in (SEASONS_OF_UNITS["week"], SEASONS_OF_UNITS["month"])
    return usual if is_calendar and begins_anew.all() and goes_on.all() else None


def season_of_unit(column: pd.Series, steps: int) -> int | None:
    """The season of a column that counts weeks, months or days, if it goes on for two of them."""
    season = SEASONS_OF_UNITS.get(unit_of_column(column) or "")
    return season if season is not None and steps >= 2 * season else None


def season_of_fractions(frame: pd.DataFrame) -> int | None:
    """The season that a column of times counts in fractions, each row as much later than the one before.

    R writes a series of weeks as 1991.019, 1991.038, … and one of days as 1.143, 1.286, …: what has passed of a year or
    a week. Such cells are no dates, for 52 weeks are no year; but they tell the season.
    """
    for column in (frame[name] for name in frame.columns if str(name).lower() in TIME_NAMES):
        if goes_on_evenly(column) and column.iloc[0] >= 1:  # from zero on, seconds of a recording
            step = float(np.diff(column.to_numpy(np.float64)).mean())
            season = round(1 / step)
            if step < _MOST_OF_A_SEASON and len(column) >= 2 * season:
                return season
    return None


def season_of_cycle(frame: pd.DataFrame) -> int | None:
    """The rows after which a column begins again, of several the most: names of months or weekdays, days of years.

    Of a column of text also what `1:01` to `31:24` count behind their mark, from 1, the clock of `01/31 24:00`, or the
    words of `Winter 1990`.
    """
    seasons = [season for name in frame.columns for column in _cycles(frame[name]) if (season := _cycle_of(column))]
    return max(seasons, default=None)


def _cycles(column: pd.Series) -> Iterator[pd.Series]:
    yield column
    if holds_texts(column) and re.search(r"\d", first := str(column.iloc[0])):
        text, part = column.astype("string"), next((form for form in _CYCLING_PARTS if form.match(first)), None)
        yield text.str.replace(r"\d+", "", regex=True) if part is None else text.str.extract(part, expand=False)


def _cycle_of(column: pd.Series) -> int | None:
    season = len(pd.unique(column.iloc[: _CYCLES[1] * 2]))
    if not _CYCLES[0] <= season <= min(_CYCLES[1], len(column) // 2):
        return None
    codes = pd.factorize(column)[0]
    is_cycle = (codes[:season] == range(season)).all()
    return season if is_cycle and np.mean(codes[season:] == codes[:-season]) >= MOSTLY_REGULAR else None
