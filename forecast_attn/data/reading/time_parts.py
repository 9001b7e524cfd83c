"""Units of time that columns count, and the stamp that several of them make together: year, month, hour.

What a column counts is told by its name where that is a word for a unit, and else by its cells: years, the twelve
months of each, the hours of each day.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.column_names import PERIOD_NAMES, is_called_id, unit_of, unit_of_last_word, words_of
from forecast_attn.data.frequency import FIRST_CALENDAR_YEAR, LAST_CALENDAR_YEAR
from forecast_attn.data.number_stamps import is_plain_number
from forecast_attn.data.reading.cell_kinds import MOSTLY, shape
from forecast_attn.data.reading.clocks import (
    WEEK,
    as_digits,
    date_and_clock,
    is_clock,
    is_clock_of_digits,
    is_hours,
    minutes_of_hour,
    periods_of_day,
)
from forecast_attn.data.reading.text_columns import holds_texts
from forecast_attn.data.timestamps import parse_timestamps
from forecast_attn.data.written_dates import full_year, month_number
from forecast_attn.errors import DataError

_OF_YEARS = {"month": 12, "quarter": 4, "half": 2, "week": 52}
"""Unit -> how many of them a year has."""
_MOST_OF_A_YEAR = 0.75
_MOST_OF_UNITS = {"month": 12, "week": 53, "day": 31, "hour": 24, "minute": 59}
FEWEST_STARTS = 3
"""Times that numbers go back with what they are parts of, the years of a panel, or the months of a typical year."""
_MOSTLY_BACK = 0.6
"""Share of the days or years at whose start their parts go back, if no other row is missing."""
_DAY_OF_YEAR = r"(?i)doy|^jul$|julian|yday|jday|daynum|day.?of.?year"
"""Names of the days of a year, also of some of them: those on which samples were taken."""
_CLOCKS_OF_DIGITS = {"time", "hhmm", "hourmin", "hour_min", "hour_minute"}
"""Names of times of day such as 1330, as data loggers write them behind a year and a day."""
_DATE_OF_YEAR = re.compile(r"(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([ T]\d\d:\d\d.*)?")


# --------------------------------------------------------------------------- one column


def unit_of_column(column: pd.Series) -> str | None:
    """The unit of time that a column counts, by its name or by its cells.

    By cells: names of months, quarters or halves whatever the column is called (`MONAT01`, `Jan-Mar`, `First quarter`),
    and numbers of one called period. None where cells are no numbers of the unit that the name says: prices of the
    share `MO`, or a target `Y`.
    """
    unit, name = unit_of(str(column.name)), str(column.name).strip().lower()
    if holds_texts(column):
        if are_named_weeks(column):
            return "week"
        may_be_words = unit in (None, "half", "quarter", "month")
        return (may_be_words and _unit_of_texts(tuple(column.cat.categories.astype(str)))) or unit
    if unit is None:
        is_period = name in PERIOD_NAMES or (name.startswith("unnamed: ") and not column.is_unique)
        return _unit_of_numbers(column) if is_period and column.dtype.kind == "i" else None
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return unit
    if unit == "year":
        are_years = holds_years(column.dropna()) or (name != "y" and _are_short_years(column))
        return unit if are_years else None
    if name == "mm" and column.max() > _MOST_OF_UNITS["month"]:
        unit = "minute"
    return unit if are_whole(column) else None


def are_named_weeks(column: pd.Series) -> bool:
    """Return whether all cells are weeks by name: `Week 9`, `KW 41`; but not wells `W1` to `W9`."""
    cells = [str(cell).strip() for cell in column.cat.categories] if holds_texts(column) else []
    if not 2 < len(cells) <= _MOST_OF_UNITS["week"] or not all(map(WEEK.fullmatch, cells)):
        return False
    are_bare = all(re.fullmatch(r"[wW]\d+", cell) for cell in cells)
    return not are_bare or unit_of(str(column.name)) is not None or len(cells) >= _MOST_OF_A_YEAR * _OF_YEARS["week"]


def _unit_of_numbers(period: pd.Series) -> str | None:
    """The unit of periods that are years, or count the months or quarters of years, as accountants do."""
    if holds_years(period):
        return "year"
    return {12: "month", 4: "quarter"}.get(int(period.max())) if period.min() == 1 else None


def holds_years(column: pd.Series) -> bool:
    """Return whether all cells are whole numbers that can be years."""
    if not is_plain_number(column):
        return False
    years = column.to_numpy(np.float64, na_value=np.nan)
    are_of_calendar = (years >= FIRST_CALENDAR_YEAR) & (years <= LAST_CALENDAR_YEAR)
    return bool(len(years) and ((years == np.round(years)) & are_of_calendar).all())


def _are_short_years(column: pd.Series) -> bool:
    """Return whether whole numbers are years of two digits, 61 to 78, and not the first, second, … one of a study."""
    if not pd.api.types.is_integer_dtype(column.dtype) or len(column) == 0:
        return False
    return bool(0 <= column.min() < column.max() < 100 and column.max() > 31)


def are_whole(column: pd.Series) -> bool:
    """Return whether no number of a column has a fraction."""
    numbers = column.to_numpy(np.float64, na_value=np.nan)
    return bool(((numbers == np.round(numbers)) | np.isnan(numbers)).all())


def are_counts(column: pd.Series) -> bool:
    """Return whether all cells are whole numbers, be they written 1952.0."""
    return column.dtype.kind in "iuf" and bool(np.isfinite(column).all()) and are_whole(column)


@functools.lru_cache(maxsize=1024)
def _unit_of_texts(cells: tuple[str, ...]) -> str | None:
    """The unit of cells that are all months, quarters or halves of a year; None for others, and for groups I to IV.

    One more of another form may be the mean of the year: no part of it, and no series either.
    """
    if not 2 <= len(cells) <= 13 or all(re.fullmatch("[IV]+", cell) for cell in cells):
        return None
    parts = first_months(cells)
    months = sorted({month for month in parts.values() if month is not None})
    forms = {month is None: shape(cell) for cell, month in parts.items()}
    is_alike = re.search(r"\d", cells[-1]) is not None and forms.get(True) == forms.get(False)
    if len(months) < max(len(cells) - 1, 2) or (is_alike and len(months) < 12):  # T1 to T5, and no M01 to M13
        return None
    units = (unit for unit in ("half", "quarter", "month") if months == list(range(1, 13, 12 // _OF_YEARS[unit])))
    return next(units, None)


@functools.lru_cache(maxsize=1024)
def first_months(cells: tuple[str, ...]) -> dict[str, int | None]:
    """Cell -> the first month of the part of a year that it names: 3 for `March`, 4 for `Q2`, `II` and `Apr-Jun`."""
    months = {cell: None if cell.isdecimal() else month_number(cell) for cell in cells}
    others = sorted((cell for cell, month in months.items() if month is None), key=str.isalpha)  # `Annual` last
    stamps, bad = parse_timestamps(pd.Series([f"2001 {cell.strip()}" for cell in others], dtype=object))
    if len(others) and stamps.dtype.kind == "M":
        firsts = stamps.astype("datetime64[M]")
        months |= {cell: month.month for cell, month in zip(others, firsts.astype(object), strict=True) if month}
        months |= dict.fromkeys(np.array(others)[bad | (firsts != stamps)].tolist())
    return months


# --------------------------------------------------------------------------- parts of years


def time_parts(frame: pd.DataFrame, free: list[str]) -> list[str]:
    """The columns that count year, quarter or month, day, hour and minute, or a period of the day, from the year on.

    Be they called so or so with one and the same word beside it: `YearSold` and `MonthSold`.
    """
    parts = _parts_by_names(frame, free)
    for units in _units_beside_words(free) if len(parts) < 2 else ():
        named = _parts_by_names(frame[list(units)].rename(columns=units), list(units.values()))
        names = {unit: name for name, unit in units.items()}
        parts = [names[unit] for unit in named] if len(named) > len(parts) else parts
    return parts


def _units_beside_words(names: list[str]) -> list[dict[str, str]]:
    """Names of a unit of time and other words -> the unit, for all that have the same other words and a year."""
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        words = words_of(re.sub("(?i)day_of_month", "day", name))
        at = next((at for at in (0, -1) if len(words) > 1 and unit_of(words[at]) is not None), None)
        if at is not None and (len(words[at]) > 1 or not words[at].isascii()):
            group = groups.setdefault(" ".join(words[1:] if at == 0 else words[:-1]), {})
            group.setdefault(name, str(unit_of(words[at])))
    return [group for group in groups.values() if "year" in group.values() and len({*group.values()}) == len(group)]


def _parts_by_names(frame: pd.DataFrame, free: list[str]) -> list[str]:
    """The parts of a date, from the year on, of columns that are called so, or by their cells."""
    columns: dict[str | None, str] = {}
    for name in free:
        unit = unit_of_column(frame[name])
        if unit not in ("hour", "minute") or frame[name].isna().mean() <= 1 - MOSTLY:  # of some crimes it is unknown
            columns.setdefault(unit, name)
    finer = next((unit for unit in ("month", "quarter", "half", "week") if unit in columns), None)
    if "year" not in columns or finer is None:
        columns |= _parts_by_cells(frame, free, columns.get("year"), columns.get(finer or ""))
        finer = finer or next((unit for unit in ("month", "week") if unit in columns), None)
    order = ("year", "month", "day", "hour", "minute") if finer == "month" else ("year", finer or "month")
    parts = [columns[unit] for unit in itertools.takewhile(columns.__contains__, order)]
    others = [frame[name] for name in free if name not in parts]
    if len(parts) == 1:
        year = frame[parts[0]]
        parts += [str(each.name) for each in others if _are_its_days(year, each) or are_dates_of_years(each)][:1]
        if len(parts) == 2 and are_days_of_years(year, frame[parts[1]]):
            parts += [str(each.name) for each in others if each.name != parts[1] and _is_hour_of_day(each)][:1]
            return parts
    if len(parts) == 2 and finer == "month":
        months = [frame[name].rename(unit) for name, unit in zip(parts, ("year", "month"), strict=True)]
        parts += [str(each.name) for each in others if are_days_of_months([*months, each])][:1]
    if len(parts) == 3:
        parts += [str(each.name) for each in others if periods_of_day(each) is not None or is_clock(each)][:1]
    return parts


def _parts_by_cells(frame: pd.DataFrame, free: list[str], year: str | None, part: str | None) -> dict[str | None, str]:
    """The columns of years and of their months or weeks, of which names say one or none."""
    years = [year] if year is not None else [name for name in free if holds_years(frame[name])]
    for column, name in itertools.product(years, free if part is None else [part]):
        if name != column and are_parts_of_years(frame[column], frame[name]):
            unit = "week" if frame[name].nunique() > _OF_YEARS["month"] else "month"
            return {"year": column, unit: name} if part is None else {"year": column}
    return {}


def are_parts_of_years(year: pd.Series, part: pd.Series) -> bool:
    """Return whether a column counts the months, quarters or weeks of another one's years, whatever they are called.

    Nearly all of them are there, from the first to the last one. Where the names of both say nothing, numbers from 1 to
    12 (or 52, if one is called week) also go back with each year, and nowhere else.
    """
    if not pd.api.types.is_integer_dtype(year.dtype) or not holds_years(year) or year.nunique() < 2:
        return False
    unit = unit_of_column(part)
    counted = unit or unit_of(str(_by_position([year, part])[1].name)) or ""
    if counted not in _OF_YEARS or (unit is None and is_called_id(str(part.name))):
        return False
    of_year = _OF_YEARS[counted]
    digits = as_digits(part, 2) if counted == "week" else _months(part, counted)
    parts = pd.to_numeric(digits, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    parts = (parts - 1) * of_year // 12 + 1 if of_year < 12 else parts
    if unit is None and not (np.nanmin(parts) == 1 and of_year <= np.nanmax(parts) <= of_year + 1):
        return False
    is_known = (parts >= 1) & (parts <= of_year)
    numbers = np.unique(year.to_numpy(np.int64)[is_known] * of_year + parts[is_known])
    is_whole = len(numbers) > of_year and (_go_on_by_one(numbers) or are_named_weeks(part))  # but for holidays
    return is_whole and (unit is not None or go_back_with(pd.Series(parts), year))


def go_back_with(numbers: pd.Series, *others: pd.Series) -> bool:
    """Return whether numbers go back where another column changes, mostly, and nowhere else: hours with their day."""
    is_back = np.diff(numbers) < 0
    is_next = np.logical_or.reduce([np.diff(pd.factorize(other)[0]) != 0 for other in others])
    are_together = not is_back[~is_next].any() and is_back[is_next].mean() > _MOSTLY_BACK
    return bool(is_back.sum() >= FEWEST_STARTS and are_together)


def are_days_of_months(columns: list[pd.Series]) -> bool:
    """Return whether the last of three columns is the day of a month, whatever its name is: the dates go on by days."""
    column = columns[-1]
    if not pd.api.types.is_integer_dtype(column.dtype) or len(column) == 0 or column.min() != 1 or column.max() > 31:
        return False
    rows = ~pd.concat(columns, axis="columns").duplicated()
    units = {unit_of_column(each): each for each in columns[:-1]}
    return _go_on_by_days(_date_of_units({unit: each[rows] for unit, each in {**units, "day": column}.items()}))


def are_days_of_years(year: pd.Series, day: pd.Series) -> bool:
    """Return whether a column counts the days of each year from 1 to 366: by its name, or by one mostly."""
    if not pd.api.types.is_integer_dtype(day.dtype) or len(day) == 0 or day.min() < 1 or not 31 < day.max() <= 366:
        return False
    if unit_of_column(year) != "year" or year.isna().any():
        return False
    return re.search(_DAY_OF_YEAR, str(day.name)) is not None or _go_on_by_days(_day_of_year(year, day))


def _are_its_days(year: pd.Series, day: pd.Series) -> bool:
    """Return whether a column counts the days of several years, or of one by its name: no age, no number of the row."""
    name = str(day.name)
    is_called = unit_of_last_word(name) == "day" or re.search(_DAY_OF_YEAR, name) is not None
    return (is_called or year.nunique() > 1) and are_days_of_years(year, day)


def _is_hour_of_day(column: pd.Series) -> bool:
    """Return whether a column beside a year and a day of it is the hour, or a clock, of digits too if called so."""
    if is_clock(column) or (unit_of_column(column) == "hour" and is_hours(column)):
        return True
    return str(column.name).lower() in _CLOCKS_OF_DIGITS and is_clock_of_digits(column)


def are_dates_of_years(column: pd.Series) -> bool:
    """Return whether a column of text holds dates that lack the year, `02-29` or `01-01 00:00:00+01:00`."""
    if not holds_texts(column) or len(column.cat.categories) < 2:
        return False
    return all(_DATE_OF_YEAR.fullmatch(str(cell)) for cell in column.cat.categories)


def _go_on_by_days(text: pd.Series) -> bool:
    """Return whether nearly all days from the first to the last one are there, or all but weekends."""
    stamps, bad = parse_timestamps(text.drop_duplicates())
    if bad.any():
        return False
    days = np.sort(stamps.astype("datetime64[D]"))
    work_days = np.busday_count(days[0], days[-1]) + 1
    are_work_days = np.is_busday(days).all() and len(days) >= MOSTLY * work_days
    return bool(are_work_days) or _go_on_by_one(days.astype(np.int64))


def _go_on_by_one(numbers: NDArray[Any]) -> bool:
    """Return whether nearly all numbers from the smallest to the largest one are there."""
    return bool(len(np.unique(numbers)) >= MOSTLY * (np.ptp(numbers) + 1))


# --------------------------------------------------------------------------- together


def joined_time(columns: list[pd.Series], source: str) -> pd.Series:
    """One text per row that reads as a date.

    Raises:
        DataError: the columns are neither units of time nor a date and a clock.
    """
    units_of_names = _units_beside_words([str(column.name) for column in columns])
    if units_of_names and len(units_of_names[0]) == len(columns):
        columns = [column.rename(units_of_names[0][str(column.name)]) for column in columns]
    columns = _by_position(columns)
    units = {unit_of_column(column): column for column in columns}
    if len(columns) == 2 and are_days_of_years(*columns):
        return _day_of_year(*columns)
    if len(columns) == 3 and are_days_of_years(*columns[:2]):
        return date_and_clock(_dates(_day_of_year(*columns[:2])), columns[2])
    if len(columns) == 2 and are_dates_of_years(columns[1]):
        return _years(columns[0]) + "-" + columns[1].astype("string")
    if "year" in units and len(units) == len(columns):
        last = units.pop(None, None)
        if last is None:
            return _date_of_units(units)
        if "day" in units and (periods_of_day(last) is not None or is_clock(last)):
            return date_and_clock(_date_of_units(units), last)
    if len(columns) == 2:
        return date_and_clock(*columns)
    minutes = minutes_of_hour(columns[2]) if len(columns) == 3 else None
    if minutes is not None and is_hours(columns[1]):
        hours = columns[1] - (columns[1].min() == 1)  # counted from 1 on as its parts are
        return date_and_clock(columns[0], hours + minutes / 60)
    names = ", ".join(f"'{column.name}'" for column in columns)
    message = f"'{source}': --time joins {names}, which are neither a date and a clock nor units of time"
    raise DataError(message, "--time year,month,day,hour or --time date,time", code="FA201", options=("time",))


def _by_position(columns: list[pd.Series]) -> list[pd.Series]:
    """Columns whose names say nothing, behind one of years, called month, day, hour and minute in this order.

    One whose name has the word week is called so. The others keep their names.
    """
    units = [unit_of_column(column) for column in columns]
    if not holds_years(columns[0]) or units[0] not in (None, "year") or None not in units:
        return columns
    called = [columns[0].rename("year")]
    for column, known, unit in zip(columns[1:], units[1:], ("month", "day", "hour", "minute"), strict=False):
        unit = "week" if "week" in map(unit_of, words_of(str(column.name))) else unit
        is_counted = known is None and _may_count(column, unit, called, has_columns=units[0] == "year")
        called.append(column.rename(unit) if is_counted else column)
    return called


def _may_count(column: pd.Series, unit: str, before: list[pd.Series], *, has_columns: bool) -> bool:
    """Return whether a column of another name counts a unit of those before it: where it has a name, it goes on by one.

    Args:
        column: of any cells.
        unit: by the position of the column.
        before: the year, and the larger units.
        has_columns: True where the column of years is called so.
    """
    if not are_counts(column) or not 0 <= column.min() <= column.max() <= _MOST_OF_UNITS[unit]:
        return False
    if unit == "hour":
        return periods_of_day(column) is None  # which begins at 00:00
    if unit == "minute" or re.fullmatch(r"column_\d+", str(column.name)):
        return True
    if unit == "day":
        return are_days_of_months([*before, column])
    if unit == "month" and has_columns:  # whoever names the years names the months: these are firms
        return False
    return _go_on_by_one(before[0].to_numpy(np.int64) * _OF_YEARS[unit] + column.to_numpy(np.int64))


def _date_of_units(units: dict[str | None, pd.Series]) -> pd.Series:
    year = _years(units["year"])
    if "week" in units:
        return year + "-W" + as_digits(units["week"], 2)
    month = next((_months(units[unit], unit) for unit in ("month", "quarter", "half") if unit in units), "01")
    text = year + "-" + month + "-" + (as_digits(units["day"], 2) if "day" in units else "01")
    if "hour" not in units:
        return text
    minute = as_digits(units["minute"], 2) if "minute" in units else "00"
    return text + " " + as_digits(units["hour"], 2) + ":" + minute


def _day_of_year(year: pd.Series, day: pd.Series) -> pd.Series:
    return _years(year) + "-" + as_digits(day, 3)


def _dates(days: pd.Series) -> pd.Series:
    """Days of a year, `2024-031`, as dates."""
    codes, distinct = pd.factorize(days)
    stamps, _ = parse_timestamps(pd.Series(distinct, dtype="str"), "", "%Y-%j")
    dates = pd.Series(pd.DatetimeIndex(stamps).strftime("%Y-%m-%d"), dtype="string")
    return pd.Series(dates.array.take(codes, allow_fill=True), days.index)


# --------------------------------------------------------------------------- cells as digits


def _years(column: pd.Series) -> pd.Series:
    digits = as_digits(column, 2)
    return digits.map(full_year, na_action="ignore").astype("string") if _are_short_years(column) else digits


def _months(column: pd.Series, unit: str) -> pd.Series:
    """The first month of each part of a year, by its number or by its name; other cells stay, and are no stamps."""
    digits, months = as_digits(column, 1), 12 // _OF_YEARS[unit]
    codes, cells = pd.factorize(digits)
    called = first_months(tuple(cells))
    numbers = [(int(cell) - 1) * months + 1 if cell.isdecimal() else called[cell] for cell in cells]
    text = [cell if number is None else f"{number:02d}" for cell, number in zip(cells, numbers, strict=True)]
    return pd.Series(pd.array(text, "string").take(codes, allow_fill=True), column.index, name=column.name)
