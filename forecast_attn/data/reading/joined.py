"""Time stamps and identifiers that stand in several columns, made into one: `--time year,month`, `--id state,region`.

Also the time axis of a table that has none: `--time row-number` counts the rows. And the target of one that has none:
`--target row-count` is 1 in each row, which `--resample D --aggregate sum` counts per day. And the series of one that
has no identifier: `--id block-number` begins another one wherever the time starts again.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import require_column
from forecast_attn.data.written_dates import month_of_name
from forecast_attn.errors import DataError

ROW_NUMBER = "row-number"
"""`--time` of a table whose rows are steps and whose columns hold no time."""
ROW_COUNT = "row-count"
"""`--target` of a table of events, of which the number per step is forecast."""
BLOCK_NUMBER = "block-number"
"""`--id` of a table whose series stand one below the other, each in the order of time, and have no names."""

_UNITS = {
    "year": ("year", "yr", "yyyy", "y", "jahr", "année", "annee", "año", "ano", "anio", "anno"),
    "quarter": ("quarter", "qtr", "q", "quartal", "trimestre"),
    "month": ("month", "mon", "mo", "mth", "mnth", "mm", "m", "monat", "mois", "mes", "mês", "mese"),
    "week": ("week", "wk", "isoweek", "woche", "semaine", "semana", "settimana"),
    "day": ("day", "dd", "dy", "d", "mday", "dayofmonth", "day_of_month", "tag", "jour", "dia", "día", "giorno"),
    "hour": ("hour", "hr", "hh", "h", "stunde", "heure", "hora", "ora"),
    "minute": ("minute", "min", "minuto"),
}
"""Unit of time -> names of columns that count it, in lower case; English, German, French, Spanish or Italian ones."""
_DOTTED_CLOCK = r"\d{1,2}\.\d{2}\.\d{2}"
_TIME_OF_DAY = r"\d{1,2}:\d{2}"
LONG_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
MONTHS = tuple(name[:3] for name in LONG_MONTHS)
PERIODS_OF_DAY = (24, 48, 96, 144, 288)
"""Numbers of steps of equal length that a day is divided into."""
MOSTLY_DAYS = 0.9
"""Smallest share of the days from the first to the last one that rows with days of months have."""
FEWEST_YEARS = 3
"""Times that numbers go back with the years that they are parts of."""
FIRST_YEAR, LAST_YEAR = 1500, 2200
"""Whole numbers that may be years."""
SEPARATOR = "/"
"""Between the parts of a joined identifier."""


def with_joined(frame: pd.DataFrame, config: DataConfig, source: str) -> pd.DataFrame:
    """The frame with the columns that --time and --id join, and those of rows; as it is where no option asks for them.

    The parts of a time are taken out of it; those of an identifier too, unless another option names them.

    Raises:
        DataError: a part is missing, or the parts of the time are no date.
    """
    if config.time == ROW_NUMBER and ROW_NUMBER not in frame.columns:
        frame = _with_column(frame, ROW_NUMBER, _row_numbers(frame, config))
    if config.target == ROW_COUNT and ROW_COUNT not in frame.columns:
        frame = _with_column(frame, ROW_COUNT, np.ones(len(frame), np.int64))
    for name, join, flag in ((config.time, joined_time, "time"), (config.item_id, _joined_id, "id")):
        parts = parts_of(name, frame)
        if name is None or len(parts) < 2:
            continue
        for part in parts:
            require_column(frame, part, source, flag)
        joined = join([frame[part] for part in parts], source)
        used = {config.target, *config.static_covariates, *config.future_covariates, *config.past_covariates}
        frame = _with_column(frame.drop(columns=[part for part in parts if part not in used]), name, joined)
    if config.item_id == BLOCK_NUMBER and BLOCK_NUMBER not in frame.columns:
        frame = _with_column(frame, BLOCK_NUMBER, _block_numbers(frame, config, source))
    return frame


def _with_column(frame: pd.DataFrame, name: str, values: Any) -> pd.DataFrame:
    """The frame with one more column; pandas warns of inserting it where there are hundreds."""
    wider = pd.concat([frame, pd.Series(values, index=frame.index, name=name)], axis="columns")
    wider.attrs = frame.attrs
    return wider


def parts_of(name: str | None, frame: pd.DataFrame) -> tuple[str, ...]:
    """The columns that an option joins; one where it names a column, or no comma is between two names."""
    if name is None or name in frame.columns or "," not in name:
        return () if name is None else (name,)
    parts = tuple(part.strip() for part in name.split(",") if part.strip())
    return parts if len(parts) > 1 else (name,)


def month_number(text: str) -> int | None:
    """The month that a cell names: 3, 03, Mar, March, März, MONAT03; None for others."""
    word, digits = re.findall(r"^(\D*)(\d{0,2})", text.strip())[0]
    if word + digits != text.strip():
        return None
    if not digits:
        return month_of_name(word)
    return int(digits) if word.lower() in ("", *_UNITS["month"]) and 1 <= int(digits) <= 12 else None


def unit_of(name: str) -> str | None:
    """The unit of time that a column of this name counts."""
    plain = name.strip().lower().replace(" ", "_")
    return next((unit for unit, names in _UNITS.items() if plain in names), None)


def unit_of_column(column: pd.Series) -> str | None:
    """The unit of time that a column counts, by its name; of one called period, or nothing, by its cells: Q01, M12.

    One whose cells are names of months counts these, whatever it is called. None where its cells are no such numbers:
    prices of the share `MO`, or a target `Y`.
    """
    unit = unit_of(str(column.name))
    if unit is not None and pd.api.types.is_numeric_dtype(column.dtype):
        return unit if (holds_years(column.dropna()) if unit == "year" else are_whole(column)) else None
    plain = str(column.name).strip().lower()
    if unit is None and _names_months(column):
        return "month"
    is_unnamed = plain.startswith("unnamed: ") and not column.is_unique
    if unit is not None or not (plain in _PERIOD_NAMES or is_unnamed) or column.dtype.kind in "ufbM":
        return unit
    if column.dtype.kind == "i" and plain in _PERIOD_NAMES and holds_years(column):
        return "year"
    if column.dtype.kind == "i":  # as accountants count them
        return {12: "month", 4: "quarter"}.get(int(column.max()) if column.min() == 1 else 0)
    cells = column.dropna().astype(str).str.strip().unique()
    # The last one of each is the mean of the year: no month, and no series either.
    quarters, months = (_are_all(cells, pattern) for pattern in (r"[Qq]0?[1-5]", r"[Mm](0?[1-9]|1[0-3])"))
    return "quarter" if quarters else "month" if months else None


def holds_years(column: pd.Series) -> bool:
    """Return whether all cells are whole numbers that can be years."""
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return False
    years = column.to_numpy(np.float64, na_value=np.nan)
    return bool(len(years) and ((years == np.round(years)) & (years >= FIRST_YEAR) & (years <= LAST_YEAR)).all())


def are_whole(column: pd.Series) -> bool:
    """Return whether no number of a column has a fraction."""
    numbers = column.to_numpy(np.float64, na_value=np.nan)
    return bool(((numbers == np.round(numbers)) | np.isnan(numbers)).all())


_WEEK_WORDS = set(_UNITS["week"])
_PERIOD_NAMES = ("period", "per", "subperiod", "periode", "période", "periodo", "período")


def _names_months(column: pd.Series) -> bool:
    """Return whether a column of text names all months of the year: Januar, MONAT01; M13 may be the whole of it."""
    if not isinstance(column.dtype, pd.CategoricalDtype) or not 12 <= len(column.cat.categories) <= 13:
        return False
    months = [month_number(str(cell)) for cell in column.cat.categories]
    return set(months) - {None} == set(range(1, 13)) and len(months) - len(set(months)) == 0


def _are_all(cells: Any, pattern: str) -> bool:
    return len(cells) > 1 and all(re.fullmatch(pattern, cell) for cell in cells)


def _row_numbers(frame: pd.DataFrame, config: DataConfig) -> Any:
    """Rows counted from 1, within each series where an identifier is named (num_rows,)."""
    parts = [part for part in parts_of(config.item_id, frame) if part in frame.columns]
    if not parts:
        return np.arange(1, len(frame) + 1)
    return frame.groupby(parts, observed=True, dropna=False).cumcount().to_numpy() + 1


def _block_numbers(frame: pd.DataFrame, config: DataConfig, source: str) -> pd.Categorical:
    """The number of the block in which each row stands, from 1; stamps that cannot be read begin none (num_rows,).

    Raises:
        DataError: no option names the time.
    """
    from forecast_attn.data.timestamps import parse_timestamps

    if config.time is None:
        message = f"'{source}': --id {BLOCK_NUMBER} needs the column of which each block begins again"
        raise DataError(message, "--time NAME", code="FA102", options=("time",))
    require_column(frame, config.time, source, "time")
    stamps, bad = parse_timestamps(frame[config.time], config.time, config.date_format)
    known = np.flatnonzero(~bad)
    begins = np.zeros(len(frame), np.int64)  # 1 where time does not go on: the next block
    begins[known[1:]] = stamps[known][1:] <= stamps[known][:-1]
    numbers = np.cumsum(begins)
    return pd.Categorical.from_codes(numbers, categories=pd.Index(np.arange(1, numbers.max(initial=0) + 2).astype(str)))


def _joined_id(columns: list[pd.Series], source: str) -> pd.Categorical:
    """The cells of each row with a separator between them; empty where all are, as in `/Thailand` one may be."""
    # A row's codes in all columns become the digits of one number, so that equal rows have equal numbers.
    codes = np.zeros(len(columns[0]), np.int64)
    missing = np.ones(len(codes), np.bool_)
    texts: list[list[str]] = []
    for column in columns:
        codes_in_column, values = pd.factorize(column.astype("string").str.strip())
        missing &= codes_in_column < 0
        codes = codes * (len(values) + 1) + codes_in_column + 1
        texts.append(["", *map(str, values)])
    which, distinct = pd.factorize(np.where(missing, -1, codes))
    names = [_name_of(int(code), texts) if code >= 0 else None for code in distinct]
    return pd.Categorical(pd.Series(names, dtype="object").take(which).to_numpy())


def _name_of(code: int, texts: list[list[str]]) -> str:
    parts = []
    for values in reversed(texts):
        code, digit = divmod(code, len(values))
        parts.append(values[digit])
    return SEPARATOR.join(reversed(parts))


def joined_time(columns: list[pd.Series], source: str) -> pd.Series:
    """One text per row that reads as a date.

    Raises:
        DataError: the columns are neither units of time nor a date and a clock.
    """
    columns = _by_position(columns)
    units = {unit_of_column(column): column for column in columns}
    if "year" in units and len(columns) == 2 and are_days_of_years(*columns):
        return _digits(columns[0], 4) + "-" + _digits(columns[1], 3)
    if "year" in units and len(units) == len(columns):
        last = units.pop(None, None)
        if last is None or (units.keys() == {"year", "month"} and are_days_of_months([*units.values(), last])):
            return _date_of_units(units if last is None else {**units, "day": last}, source)
        if "day" in units and (periods_of_day(last) is not None or is_written_clock(last)):
            return _date_and_clock(_date_of_units(units, source), last)
    if len(columns) == 2:
        return _date_and_clock(*columns)
    names = ", ".join(f"'{column.name}'" for column in columns)
    message = f"'{source}': --time joins {names}, which are neither a date and a clock nor units of time"
    raise DataError(message, "--time year,month,day,hour or --time date,time", code="FA201", options=("time",))


_OF_YEARS = {"month": 12, "quarter": 4, "week": 52}
_MOST_OF_UNITS = {"month": 12, "week": 53, "day": 31, "hour": 24, "minute": 59}


def _by_position(columns: list[pd.Series]) -> list[pd.Series]:
    """Columns whose names say nothing, behind one of years, called month, day, hour and minute in this order.

    The second of two keeps its name where it counts the days of the year, and is the week where its name has that word.
    Where they have names, they go on by one.
    """
    units = [unit_of_column(column) for column in columns]
    if not holds_years(columns[0]) or units[0] not in (None, "year") or None not in units:
        return columns
    called = [columns[0].rename("year")]
    for column, known, unit in zip(columns[1:], units[1:], ("month", "day", "hour", "minute"), strict=False):
        unit = "week" if not _WEEK_WORDS.isdisjoint(re.findall(r"[^\W\d_]+", str(column.name).lower())) else unit
        fits = pd.api.types.is_integer_dtype(column.dtype) and 0 <= column.min() <= column.max() <= _MOST_OF_UNITS[unit]
        is_named = re.fullmatch(r"column_\d+", str(column.name)) is None
        if unit == "month" and units[0] == "year":  # whoever names the years names the months: these are firms
            fits = fits and not is_named
        if is_named and fits and unit in ("month", "week"):
            steps = np.diff(columns[0].to_numpy(np.int64) * _OF_YEARS[unit] + column.to_numpy(np.int64))
            fits = bool(np.sum(steps == 1) >= MOSTLY_DAYS * max(np.sum(steps > 0), 1))
        fits = fits and not (is_named and unit == "day" and not are_days_of_months([*called, column]))
        called.append(column.rename(unit) if known is None and fits else column)
    return called


def are_days_of_months(columns: list[pd.Series]) -> bool:
    """Return whether the last of three columns is the day of a month, whatever its name is: the dates go on by days."""
    column = columns[-1]
    if not pd.api.types.is_integer_dtype(column.dtype) or len(column) == 0 or column.min() != 1 or column.max() > 31:
        return False
    rows = ~pd.concat(columns, axis="columns").duplicated()
    units = {unit_of_column(each): each for each in columns[:-1]}
    text = _date_of_units({unit: each[rows] for unit, each in {**units, "day": column}.items()}, "")
    days = pd.to_datetime(text, format="%Y-%m-%d", errors="coerce")
    return bool(days.notna().all() and len(days) >= MOSTLY_DAYS * ((days.max() - days.min()).days + 1))


def are_parts_of_years(year: pd.Series, part: pd.Series) -> bool:
    """Return whether a column counts the months, quarters or weeks of another one's years, whatever they are called.

    Nearly all of them are there, from the first to the last one. Where the names of both say nothing, numbers from 1 to
    12 (or 52, if one is called week) also go back with each year, and nowhere else.
    """
    if not pd.api.types.is_integer_dtype(year.dtype) or not holds_years(year) or year.nunique() < 2:
        return False
    unit = unit_of_column(part)
    _, named = _by_position([year, part])
    of_year = _OF_YEARS.get(str(unit or unit_of(str(named.name))), 0)
    if not of_year or (unit is None and re.search(r"(?:^|[\W_])id$|[a-z]I[dD]$", str(part.name))):
        return False
    parts = pd.to_numeric(_digits(part, 2), errors="coerce").to_numpy(np.float64, na_value=np.nan)
    if unit is None and not (np.nanmin(parts) == 1 and of_year <= np.nanmax(parts) <= of_year + 1):
        return False
    is_known = (parts >= 1) & (parts <= of_year)
    numbers = np.unique(year.to_numpy(np.int64)[is_known] * of_year + parts[is_known])
    if len(numbers) <= of_year or len(numbers) < MOSTLY_DAYS * (np.ptp(numbers) + 1):
        return False
    is_back, is_other = np.diff(parts) < 0, np.diff(year) != 0
    return unit is not None or bool((is_back == is_other).all() and is_back.sum() >= FEWEST_YEARS)


def are_days_of_years(year: pd.Series, day: pd.Series) -> bool:
    """Return whether a column counts the days of each year, whatever its name is: from 1 to 366, by one mostly."""
    if not pd.api.types.is_integer_dtype(day.dtype) or len(day) == 0 or day.min() < 1 or not 31 < day.max() <= 366:
        return False
    if unit_of_column(year) != "year" or year.isna().any():
        return False
    days = pd.to_datetime(_digits(year, 4) + _digits(day, 3), format="%Y%j", errors="coerce").drop_duplicates()
    return bool(days.notna().all() and len(days) >= MOSTLY_DAYS * ((days.max() - days.min()).days + 1))


def _date_of_units(units: dict[str | None, pd.Series], source: str) -> pd.Series:
    year = _digits(units["year"], 4)
    if "quarter" in units:
        return year + "Q" + _digits(units["quarter"], 1).str.removeprefix("0")
    if "week" in units:
        return year + "-W" + _digits(units["week"], 2)
    month = _digits(units["month"], 2) if "month" in units else "01"
    text = year + "-" + month + "-" + (_digits(units["day"], 2) if "day" in units else "01")
    if "hour" not in units:
        return text
    return text + " " + _digits(units["hour"], 2) + ":" + (_digits(units["minute"], 2) if "minute" in units else "00")


def _date_and_clock(date: pd.Series, clock: pd.Series) -> pd.Series:
    """A date, and a time of day, `18:00`, `18.00.00`, an interval `18 - 19`, or an hour, with a blank between them."""
    time = clock.astype("string").str.strip().str.replace(re.compile(r"^(\d\d)\s?-\s?\d\d$"), r"\1:00", regex=True)
    time = time.str.replace(re.compile(rf"^({_TIME_OF_DAY})\s?-\s?{_TIME_OF_DAY}$"), r"\1", regex=True)
    dotted = time.str.fullmatch(_DOTTED_CLOCK).fillna(False)
    time = time.mask(dotted, time.str.replace(".", ":", regex=False))
    per_day = periods_of_day(clock)
    if per_day is not None:
        return _start_of_period(date, clock, per_day)
    if is_clock_of_digits(clock):
        digits = _digits(clock, 6 if clock.max() > 2400 else 4)
        time = (
            digits.str[:2] + ":" + digits.str[2:4] + digits.str[4:].str.replace(re.compile(r"^(?=\d)"), ":", regex=True)
        )
    elif pd.api.types.is_numeric_dtype(clock.dtype):
        minutes = (clock * 60).round().astype("Int64").astype("string").map(_clock_of, na_action="ignore")
        time = minutes.astype("string")
    return _as_day(date) + " " + time


def _clock_of(minutes: str) -> str:
    """`07:30` of the minutes since midnight."""
    return f"{int(minutes) // 60:02d}:{int(minutes) % 60:02d}"


def is_hours(column: pd.Series) -> bool:
    """Return whether numbers may be the hours of days, at least half of them, with halves and quarters of some or not.

    0 to 24, by whole minutes.
    """
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype) or len(column) == 0:
        return False
    if not (column.min() >= 0 and 11 <= column.max() <= 24) or column.isna().any():
        return False
    minutes = column.to_numpy(np.float64) * 60
    return bool(np.abs(minutes - np.round(minutes)).max() < 0.01 and len(np.unique(minutes)) >= 12)


def periods_of_day(column: pd.Series) -> int | None:
    """Hours, half-hours or shorter steps of a day that a column called period counts from 1; None for other columns.

    Also hours written as `HE01` (hour ending). A day of a clock change has one hour more or less: 46 or 50 half-hours.
    """
    hours = _numbered_hours(column)
    named = hours is not None or re.search(r"period|interval", str(column.name), re.IGNORECASE)
    column = column if hours is None else hours
    if not named or not pd.api.types.is_integer_dtype(column.dtype) or len(column) == 0 or column.min() != 1:
        return None
    most = int(column.max())
    return next((count for count in PERIODS_OF_DAY if most in (count, count + count // 24)), None)


def _numbered_hours(column: pd.Series) -> pd.Series | None:
    """The numbers of `HE01` to `HE24`, `H1` or `Hour 1`; None for other cells."""
    if not isinstance(column.dtype, pd.CategoricalDtype) or not 0 < len(column.cat.categories) <= 25:
        return None
    cells = [re.fullmatch(r"([^\W\d_]+)[ _]?0?(\d{1,2})", str(cell)) for cell in column.cat.categories]
    hours = [int(cell[2]) for cell in cells if cell is not None and cell[1].lower() in ("he", *_UNITS["hour"])]
    if len(hours) < len(cells) or column.isna().any():
        return None
    return pd.Series(np.array(hours, np.int64)[column.cat.codes], index=column.index, name=column.name)


def _start_of_period(date: pd.Series, period: pd.Series, per_day: int) -> pd.Series:
    """The clock at which each period of a day starts, on days of a clock change as it is put at the end of an hour.

    The clock of British half-hours is changed at 1:00, that of central Europe at 2:00.
    """
    hour = per_day // 24
    hours = _numbered_hours(period)
    numbers = (period if hours is None else hours).to_numpy(np.int64) - 1
    most = pd.Series(numbers).groupby(pd.factorize(date)[0]).transform("max").to_numpy() + 1
    before = hour * (1 if per_day == 48 else 2)  # periods before the hour that is skipped, or repeated
    later = np.where((most == per_day - hour) & (numbers >= before), hour, 0)
    earlier = np.where((most == per_day + hour) & (numbers >= before + hour), hour, 0)
    minutes = (numbers + later - earlier) * (1440 // per_day)
    clock = pd.Series(
        [f" {each // 60:02d}:{each % 60:02d}" for each in minutes.tolist()], index=date.index, dtype="string"
    )
    return _as_day(date) + clock


def is_written_clock(column: pd.Series) -> bool:
    """Return whether a column of text holds times of day, `13:05`."""
    is_text = isinstance(column.dtype, pd.CategoricalDtype)
    return is_text and _are_all(column.cat.categories[:20], rf"{_TIME_OF_DAY}(:\d{{2}})?")


def is_clock_of_digits(column: pd.Series) -> bool:
    """Return whether whole numbers are times of day: 1545, or 154500 for a quarter to four; no hours from 0 to 24."""
    if not pd.api.types.is_integer_dtype(column.dtype) or len(column) == 0 or column.min() < 0 or column.max() < 100:
        return False
    numbers = column.to_numpy(np.int64)
    numbers = numbers if numbers.max() <= 2400 else numbers // 100 * (numbers % 100 < 60).all()
    return bool(numbers.max() <= 2400 and (numbers % 100 < 60).all() and len(np.unique(numbers)) > 1)


def _as_day(date: pd.Series) -> pd.Series:
    if date.dtype.kind == "M":
        date = date.dt.strftime("%Y-%m-%d")
    text = pd.Series(date.astype("string").str.strip())
    return text.str.zfill(len("yymmdd")) if pd.api.types.is_integer_dtype(date.dtype) else text


def _number_of(cell: str) -> str:
    """`03` for a month, by its name or with one before it; other cells as they are."""
    month = None if cell.isdecimal() else month_number(cell)
    return cell if month is None else f"{month:02d}"


def _digits(column: pd.Series, width: int) -> pd.Series:
    """Whole numbers, `Q3` and names of months as digits; other cells stay as they are, and are refused as stamps."""
    codes, distinct = pd.factorize(column)  # of hundreds of thousands of cells few differ
    text = pd.Series(distinct).astype("string").str.strip().str.replace(r"\.0+$", "", regex=True)
    text = text.map(_number_of, na_action="ignore").astype("string")
    text = text.str.replace(re.compile(r"^[QqWw](?=\d)"), "", regex=True)
    digits = text.str.zfill(width).array.take(codes, allow_fill=True)
    return pd.Series(digits, index=column.index, name=column.name)
