"""Likely time, series and target of a table, by the evidence of its cells, the likeliest first."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import epoch_unit
from forecast_attn.data.frequency import distinct_values, guess_alias, parse_frequency
from forecast_attn.data.reading.dialect import unnamed_column
from forecast_attn.data.reading.joined import (
    BLOCK_NUMBER,
    FIRST_YEAR,
    LAST_YEAR,
    ROW_NUMBER,
    are_whole,
    holds_years,
    is_clock_of_digits,
    parts_of,
    periods_of_day,
    unit_of,
    unit_of_column,
    with_joined,
)
from forecast_attn.data.roles import (
    FORECAST_WORDS,
    ID_NAMES,
    LOOSE_TIME_NAMES,
    MOST_UNDECLARED,
    ROW_NAMES,
    TARGET_NAMES,
    TIME_NAMES,
    is_numeric,
    resolve_roles,
    time_parts,
)
from forecast_attn.data.timestamps import SERIAL_DAYS, are_serial_days, looks_like_dates, parse_timestamps
from forecast_attn.errors import ConfigError, DataError

FEWEST_PER_SERIES = 3
"""Rows that half of the series must have for their identifier to be one."""
MOST_ID_COLUMNS = 8
MOST_BAD_STAMPS = 0.02
FEWEST_TOGETHER = 0.3
"""Share of series that have a row at a stamp, on average."""
MOST_REPEATED = 0.03
"""Share of rows with the stamp of an earlier one that are mistakes of a table, and no further series."""
FEWEST_STARTS = 3
"""Times that the years of a panel begin again, or that the months of a typical year go back to an earlier one."""
REGULAR = 0.6
"""Smallest share of steps of one length at which an axis is regular, but for its gaps."""
MOSTLY_REGULAR = 0.9
"""Smallest share of such steps of numbers that only then are dates: 240131."""
FEWEST_ROWS = 5
"""Rows of a table that is one series."""
MOST_OF_A_SEASON = 0.5
"""Share of its season that one step may take."""
MOSTLY_STEPS = 0.99
"""Smallest share of steps of one length at which rows are steps, whatever their dates say."""
NEARLY_EQUAL = 0.01
"""Share by which steps that are written with few digits may differ."""

_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp]\.?[Mm]\.?)?|\d{1,2}\.\d{2}\.\d{2}")
SEASONS_OF_UNITS = {"hour": 24, "day": 7, "week": 52, "month": 12, "quarter": 4}
_STEPS = ("t", "step")
"""Names of whole numbers that count the steps of a series."""
_YEAR = r"(?<!\d)(?:1[6-9]|2[0-2])\d{2}(?!\d{2})"
_ENDS = {"end", "ending", "stop", "until", "to", "bis", "fin", "einde"}
"""In the name of the time at which an interval ends; where the table has its start as well, that names it."""
_COUNTERS = ("no", "no.", "nr", "obs", "rownames", "row", "n", "num", "number", "record", "instant", "idx", "index")
_CALENDAR = (
    *("weekday", "dayofweek", "day_of_week", "dow", "wday", "weekofyear", "week_of_year", "dayofyear", "doy", "yday"),
    *("season", "holiday", "isholiday", "is_holiday", "workingday", "weekend", "time_idx"),
)
_LIKELY_TARGETS = (
    *(*TARGET_NAMES, "values", "count", "cnt", "total", "close", "adj close", "adj_close", "price", "load"),
    *("consumption", "sales", "volume_sold", "passengers", "traffic_volume", "level", "glucose"),
)
_NAMING_WORDS = (
    *("id", "no", "nr", "num", "number", "code", "zip", "zipcode", "postcode", "plz", "phone", "telephone", "fax"),
    *("fips", "iban", "isbn", "ean", "upc", "sku", "account", "flight", "bikeid", "userid", "customer", "invoice"),
)
"""Last word of a column of whole numbers that are names: `InvoiceNo`, `Postal Code`."""
_SUBJECT_PROPERTIES = ("lat", "latitude", "lon", "lng", "long", "longitude", "age")
"""Names of properties of the place or person that a row is about, rarely a target."""
_CLOCKS = ("timer", "elapsed", "seconds", "secs", "sec", "millis", "ms")
"""Names of columns that count the time that has passed."""
EVEN = 0.05
"""Share by which the steps of an axis, such as seconds or speeds, may differ from their median."""
_TAKEN_NAMES = (*TIME_NAMES, *LOOSE_TIME_NAMES, *ID_NAMES, *_COUNTERS)
_SCALE_APART = 20.0
"""Largest over smallest median of columns that are alike."""
_DIGITS = {"%Y%m": 6, "%y%m%d": 6, "%G%V": 6, "%Y%j": 7, "%d%m%Y": 8, "%m%d%Y": 8}
"""`--date-format` of whole numbers -> most of their digits; the likelier ones first."""
_LIKELY_PAST, _LIKELY_FUTURE = np.datetime64("1800-01-01"), np.datetime64("2101-01-01")
DATES = 0
"""Rank of dates that are unique and regular."""
_NEITHER = 10
"""Rank of whole numbers that repeat or are irregular."""
_OTHER_STEP = 2
"""Rank of dates that are unique and irregular."""
_EVENTS = 4
"""Rank of dates that stand more than once in a series."""
_OF_DATES = (DATES, _OTHER_STEP, _EVENTS)
MOST_LETTERS = 2
"""Longest name that may be short for a unit of time, or for anything else."""
SAME_START = 5
"""Letters with which the names of a column and its table begin alike."""
MANY = 6
"""Fewest columns of one kind that are rather series than covariates."""


@dataclass(frozen=True)
class RoleCandidate:
    """A way to read the time and the series of a table."""

    time: str
    """As `--time` takes it."""
    item_id: str | None
    """As `--id` takes it."""
    rank: tuple[Any, ...]
    """Smaller is likelier."""
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
        if config.item_id is None and self.item_id is None and self.automatic[1] is not None:
            options["ignore"] = (*config.ignore, self.automatic[1])
        if self.ignore:
            options["ignore"] = (*options.get("ignore", config.ignore), *self.ignore)
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


@dataclass(frozen=True)
class Targets:
    """Columns that may be the target, the likeliest first."""

    names: tuple[str, ...]
    are_alike: bool
    """True where they look like series of one kind rather than a target and its covariates."""
    are_unlikely: bool = False
    """True where all look like properties, names or coordinates; of events, the number of rows is then forecast."""


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
    candidates = [candidate for name in names for candidate in _candidates_with(frame, name, config)]
    candidates = sorted(candidates, key=lambda candidate: candidate.rank)
    numbered = list(_numbered_rows(frame, config)) if config.time is None and ROW_NUMBER in names else []
    if numbered:
        return numbered
    if ROW_NUMBER not in names and any(candidate.time == ROW_NUMBER for candidate in candidates):
        return candidates  # of months of many years: no panel
    times = map(str, frame.columns) if config.time is None else ()
    is_panel = any(_repeats_years(frame[name]) or _starts_again(frame, name, config) for name in times)
    is_panel = is_panel or any(map(_is_a_time_of_many_rows, candidates))
    if is_panel or any(candidate.rank[0] in _OF_DATES for candidate in candidates):  # rows are no steps
        return [each for each in candidates if each.rank[0] in _OF_DATES or not _counts_rows(each.time)]
    return candidates


def _is_called_year(name: str) -> bool:
    return unit_of(name) == "year" or "year" in name.lower()


def _counts_rows(time: str) -> bool:
    """Return whether a time is the number of the row, counted here or in the file."""
    return time == ROW_NUMBER or time.lower() in _COUNTERS or time.lower().startswith("unnamed: ")


def _repeats_years(column: pd.Series) -> bool:
    """Return whether a column called year begins again and again, as in the rows of a panel."""
    if not _is_called_year(str(column.name)) or not holds_years(column):
        return False
    return int(np.sum(np.diff(column.to_numpy(np.float64)) < 0)) >= FEWEST_STARTS


def _starts_again(frame: pd.DataFrame, name: str, config: DataConfig) -> bool:
    """Return whether numbers called time go up in each block of rows of one name, and begin again in the next one."""
    if name.lower() not in TIME_NAMES or not is_numeric(frame[name]) or frame[name].isna().any():
        return False
    times = frame[name].to_numpy(np.float64)
    codes = (pd.factorize(frame[column])[0] for column in _id_columns(frame, name, config))
    return any(keys.max(initial=0) + 1 >= FEWEST_STARTS and _are_sorted_apart(keys, times) for keys in codes)


def _is_a_time_of_many_rows(candidate: RoleCandidate) -> bool:
    """Return whether a candidate has a time, and several rows at some of it that may be rows of different series."""
    named = unit_of(candidate.time) == "year" or candidate.time.lower() in TIME_NAMES
    return candidate.item_id is not None or candidate.rank[0] == _EVENTS or (candidate.rank[0] == _NEITHER and named)


def target_candidates(frame: pd.DataFrame, candidate: RoleCandidate, config: DataConfig, name: str) -> Targets:
    """Columns of numbers that are neither time, identifier, calendar nor counter, unless there are no others.

    Args:
        frame: as it stands in the file.
        candidate: time and series.
        config: what is given is kept.
        name: of the table, which may name its target.
    """
    taken: set[str | None] = {*candidate.columns, *config.ignore, *config.past_covariates, *config.future_covariates}
    taken |= {*config.static_covariates, *config.categorical, config.weight, ROW_NUMBER}
    numbers = [str(name) for name in frame.columns if name not in taken and is_numeric(frame[name])]
    numbers = [name for name in numbers if frame[name].nunique() > 1 and not name.lower().startswith("unnamed: ")]
    numbers = [name for name in numbers if name.lower() not in ROW_NAMES]
    series = _series_numbers(frame, candidate.item_id)
    numbers = (_changing(frame, numbers, series) if series.any() else []) or numbers
    values = {name: pd.to_numeric(frame[name].astype("string"), errors="coerce") for name in numbers}
    likely = [name for name in numbers if not _is_of_the_calendar(frame[name])]
    likely = [name for name in likely if name.lower() not in ID_NAMES and not _is_called_id(name)]
    likely = [name for name in likely if name.lower() not in TIME_NAMES and not _is_uneven_time(values[name])]
    likely = [name for name in likely if not _counts_or_cycles(values[name], series)] or numbers
    order = {name: at for at, name in enumerate(_LIKELY_TARGETS)}
    still = {name for name in likely if _stands_still(values[name])}
    axes = {name for name in likely if name.lower() in _SUBJECT_PROPERTIES or _is_clock_number(values[name])}
    axes |= {name for name in likely if _climbs_evenly(values[name], series)}
    if candidate.time == ROW_NUMBER:  # the axis may be uneven: ages of samples of a core
        axes |= {name for name in likely if _goes_one_way(values[name], series)}
    wordy = {each for each in likely if {"target", "total"} & _words(each)}
    titled = {each for each in likely if _names_the_table(each, name)}
    is_of_events = candidate.rank[0] == _EVENTS  # whose table may be called as what is counted: `flight` is its number
    titled = (
        set() if is_of_events or len(titled) > len(likely) / 2 else titled
    )  # a name that all share singles out none
    chosen = {each for each in likely if "target" in _words(each)}
    nominal = {each for each in likely if _is_called_a_name(each) and are_whole(values[each])}

    def rank(column: str) -> tuple[Any, ...]:
        return (
            column in nominal,
            column in still,
            column in axes,
            column not in chosen,
            order.get(_plain(column), len(order)),
            column not in titled,
            bool(FORECAST_WORDS & _words(column)),
            column not in wordy,
        )

    ranked = sorted(likely, key=rank)
    named = [each for each in likely if _plain(each) in order or each in titled]
    are_alike = not named and len(likely) >= MANY and _have_one_scale([values[n] for n in likely])
    are_alike = are_alike or (len(likely) > 2 and _are_numbered_alike(likely))
    return Targets(tuple(ranked), are_alike, are_unlikely=set(likely) <= nominal | still | axes)


def changes_within_series(frame: pd.DataFrame, name: str, item_id: str | None) -> bool:
    """Return whether a column has two values within some series; what has one in each is a property of the series."""
    return item_id is None or bool(_changing(frame, [name], _series_numbers(frame, item_id)))


def event_stamps(frame: pd.DataFrame, candidate: RoleCandidate, config: DataConfig) -> NDArray[Any] | None:
    """The dates of a table whose rows are events, sorted; None where they are rather the rows of steps."""
    if candidate.rank[0] not in (_OTHER_STEP, _EVENTS):
        return None
    stamps = _stamps(frame, candidate.time, replace(config, date_format=candidate.date_format or config.date_format))
    return None if stamps is None or stamps.dtype.kind != "M" else np.sort(stamps)


def _plain(name: str) -> str:
    """A name in lower case without marks of footnotes: `Close*`."""
    return name.lower().strip("* ")


def _words(name: str) -> set[str]:
    return set(re.findall("[a-z]+", name.lower()))


def _series_numbers(frame: pd.DataFrame, item_id: str | None) -> NDArray[np.int64]:
    """The number of each row's series, 0 where there is one series."""
    columns = [] if item_id is None else [key for key in item_id.split(",") if key in frame.columns]
    if not columns:
        return np.zeros(len(frame), np.int64)
    return np.asarray(frame.groupby(columns, observed=True, sort=False, dropna=False).ngroup(), np.int64)


def _changing(frame: pd.DataFrame, names: list[str], series: NDArray[np.int64]) -> list[str]:
    """Columns with two values within some series: what has one in each is a property of the series."""

    def changes(name: str) -> bool:
        codes = pd.factorize(frame[name])[0]
        known = codes >= 0
        of_series = np.zeros(series.max(initial=0) + 1, codes.dtype)
        of_series[series[known]] = codes[known]
        return bool((codes[known] != of_series[series[known]]).any())

    return [name for name in names if changes(name)]


# --------------------------------------------------------------------------- time


def _time_candidates(frame: pd.DataFrame, config: DataConfig) -> Iterator[str]:
    """Columns, and columns together, that may be the time; the number of the row last."""
    declared = {config.target, config.item_id, config.weight, *config.ignore, *config.static_covariates}
    free = [str(name) for name in frame.columns if name not in declared]
    dates = [name for name in free if looks_like_dates(frame[name]) and not _is_clock(frame[name])]
    clocks = [name for name in free if name not in dates and (_is_clock(frame[name]) or _is_hour(frame[name]))]
    days = [name for name in free if clocks and name not in (*dates, *clocks) and _is_of_digits(frame[name])]
    dates += [f"{date},{clock}" for date in (*dates, *days) for clock in clocks]
    yield from dates
    named = (*TIME_NAMES, *LOOSE_TIME_NAMES)
    numbers = [name for name in free if name not in dates and pd.api.types.is_numeric_dtype(frame[name].dtype)]
    counters = [name for name in numbers if _counts(frame[name]) and not _is_called_id(name)]
    yield from (name for name in numbers if name.lower() in (*named, *_STEPS) or name in counters)
    others = [name for name in numbers if name.lower() not in (*named, *_STEPS)]
    years = [name for name in others if _is_called_year(name) and holds_years(frame[name])]  # `iyear`, `year of sale`
    yield from (name for name in others if name in years or _is_of_digits(frame[name]))
    parts = time_parts(frame, free)
    if len(parts) == 1 and parts[0].lower() not in named:
        yield parts[0]
    if len(parts) > 1:
        yield ",".join(parts)
    if not dates and not any(_is_named_time(frame[name]) for name in free):
        yield ROW_NUMBER


def _is_put_together(stamps: NDArray[Any]) -> bool:
    """Return whether rows are steps of one length but for jumps, some of them back: a typical year, of many months."""
    if len(stamps) < FEWEST_ROWS or stamps.dtype.kind != "M":
        return False
    steps = np.diff(stamps).astype(np.int64)
    usual = np.median(steps)
    return bool(usual > 0 and np.sum(steps < 0) >= FEWEST_STARTS and np.mean(steps == usual) >= MOSTLY_STEPS)


def _is_of_digits(column: pd.Series) -> bool:
    """Return whether numbers are dates: 20240131, 202401, 2024.083, or seconds or days one step apart."""
    if are_serial_days(column):
        return True
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return False
    stamps, bad = parse_timestamps(column, str(column.name))
    if stamps.dtype.kind == "M":
        return not bad.any() and _regularity(distinct_values(stamps)) >= REGULAR
    date_format = _format_of_digits(column)
    if date_format is None:
        return False
    return _regularity(distinct_values(parse_timestamps(column, str(column.name), date_format)[0])) >= REGULAR


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


def _is_clock(column: pd.Series) -> bool:
    """Return whether cells are times of day without a date."""
    if pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind in "mM":
        return False
    cells = column.iloc[:1000].dropna().astype(str).str.strip().head(20)
    return len(cells) > 0 and all(_CLOCK.fullmatch(cell) for cell in cells)


def _is_hour(column: pd.Series) -> bool:
    """Return whether a column counts the hours or other periods of a day, or is called time and a clock of digits."""
    if periods_of_day(column) is not None:
        return True
    if column.name is not None and _words(str(column.name)) == {"time"} and is_clock_of_digits(column):
        return True
    if unit_of_column(column) != "hour" or not pd.api.types.is_integer_dtype(column.dtype):
        return False
    return bool(column.min() >= 0 and column.max() <= 24 and column.nunique() >= 12)


def _counts(column: pd.Series) -> bool:
    """Return whether a column is whole numbers, one more in each row."""
    if not pd.api.types.is_numeric_dtype(column.dtype) or column.isna().any():
        return False
    values = column.to_numpy(np.float64)
    return len(values) > 2 and bool((np.diff(values) == 1).all())


def _candidates_with(frame: pd.DataFrame, time: str, config: DataConfig) -> Iterator[RoleCandidate]:
    """The candidates of one time column: with the fewest identifiers that make its stamps unique."""
    date_format = _format_of_digits(frame[time]) if config.date_format is None and time in frame.columns else None
    stamps = _stamps(frame, time, replace(config, date_format=date_format or config.date_format))
    if stamps is None or (time in frame.columns and _parts_of_years(frame[time]) is not None):
        return
    if config.time is None and _is_put_together(stamps):
        yield from _candidates_with(frame, ROW_NUMBER, config)
    name = config.item_id
    if name is None:
        name, keys = _series_of(frame, time, stamps, config)
    else:
        joined = with_joined(frame, replace(config, time=time), "")
        if name not in joined:  # a misspelt name: the error message suggests the right one
            return
        keys = pd.factorize(joined[name])[0]
    is_unique = not pd.DataFrame({"key": keys, "stamp": stamps}).duplicated().any()
    longest = stamps[keys == np.bincount(keys[keys >= 0]).argmax()]
    if len(longest) < (FEWEST_ROWS if name is None else FEWEST_PER_SERIES):
        return
    steps = distinct_values(longest)
    regular = _regularity(steps)
    is_end = bool(_ENDS & _words(time))
    rank = (_kind(time, stamps, is_unique, regular), -len(steps), unit_of(time) != "year", is_end, time)
    season = _season_of_fractions(frame) if _counts_rows(time) and name is None else None
    if season is None and date_format is None and stamps.dtype.kind == "i" and regular >= REGULAR:
        season = _season_of_unit(frame[time], len(steps)) if time in frame.columns else None
    yield RoleCandidate(time, name, rank, date_format, _automatic(frame, config), season)


def _numbered_rows(frame: pd.DataFrame, config: DataConfig) -> Iterator[RoleCandidate]:
    """Rows numbered within each series, where a column counts weeks or months of years in a calendar of its own.

    11152 is the last week of a year of M5 and 11201 the first of the next: as whole numbers, 48 steps would be missing.
    """
    for name in map(str, frame.columns):
        parts = _parts_of_years(frame[name])
        if parts is None:
            continue
        steps = np.unique(frame[name].to_numpy(np.int64), return_inverse=True)[1]
        item_id, keys = config.item_id, _series_numbers(frame, config.item_id)
        if item_id is None:
            item_id, keys = _series_of(frame, name, steps, config)
        order = np.argsort(keys, kind="stable")
        inside = np.diff(keys[order]) == 0
        if inside.any() and np.mean(np.diff(steps[order])[inside] == 1) >= MOSTLY_STEPS:
            season = parts if steps.max() + 1 >= 2 * parts else None
            yield RoleCandidate(
                ROW_NUMBER, item_id, (_NEITHER,), automatic=_automatic(frame, config), season=season, ignore=(name,)
            )


def _parts_of_years(column: pd.Series) -> int | None:
    """The weeks or months of a year, of numbers whose last two digits count them from 1; None for others and dates."""
    if not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any() or _is_of_digits(column):
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


def _season_of_unit(column: pd.Series, steps: int) -> int | None:
    """The season of a column that counts weeks, months or days, if it goes on for two of them."""
    season = SEASONS_OF_UNITS.get(unit_of_column(column) or "")
    return season if season is not None and steps >= 2 * season else None


def _season_of_fractions(frame: pd.DataFrame) -> int | None:
    """The season that a column of times counts in fractions, each row as much later than the one before.

    R writes a series of weeks as 1991.019, 1991.038, … and one of days as 1.143, 1.286, …: what has passed of a year or
    a week. Such cells are no dates, for 52 weeks are no year; but they tell the season.
    """
    for name in frame.columns:
        if str(name).lower() not in TIME_NAMES or not pd.api.types.is_float_dtype(frame[name].dtype):
            continue
        steps = np.diff(frame[name].to_numpy(np.float64))
        if len(steps) < FEWEST_ROWS or not (steps.min() > 0 and steps.max() < MOST_OF_A_SEASON):
            continue
        season = round(1 / float(steps.mean()))
        if np.ptp(steps) <= NEARLY_EQUAL * steps.mean() and len(frame) >= 2 * season:
            return season
    return None


def _kind(time: str, stamps: NDArray[Any], is_unique: bool, regular: float) -> int:
    """Dates that are unique and regular, steps that are; then dates that another step makes a series of; then rows."""
    if time == ROW_NUMBER:
        return 9
    is_date = stamps.dtype.kind == "M"
    if is_unique and regular >= REGULAR:
        return (
            DATES if is_date else 1 if time.lower() not in _COUNTERS and not time.lower().startswith("unnamed") else 3
        )
    if is_date:
        return _OTHER_STEP if is_unique else _EVENTS
    return _NEITHER


def _stamps(frame: pd.DataFrame, time: str, config: DataConfig) -> NDArray[Any] | None:
    """The stamps of every row; None where many cells are none, or nothing varies."""
    try:
        joined = with_joined(frame, DataConfig(time=time, item_id=config.item_id), "")
        stamps, bad = parse_timestamps(joined[time], time, config.date_format)
    except ConfigError:
        return None
    except DataError as error:
        return _either_way(joined[time], time) if "date_format" in error.options else None
    if bad.mean() > MOST_BAD_STAMPS:
        return None
    return np.where(bad, stamps[~bad][0], stamps) if bad.any() else stamps


def _format_of_digits(column: pd.Series) -> str | None:
    """The `--date-format` of numbers that are dates, though not as 20240131; None for others, and for too few.

    Days of a spreadsheet, times since 1970 in any order, months such as 202401, or whatever makes all of them regular.
    """
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return None
    if are_serial_days(column):
        return SERIAL_DAYS
    numbers = distinct_values(column.to_numpy(np.float64, na_value=np.nan))
    if len(numbers) < FEWEST_ROWS or not np.isfinite(numbers).all() or numbers[0] < 0:
        return None
    unit = epoch_unit(numbers)
    if unit is not None or not are_whole(column):
        return unit
    digits = len(str(int(numbers[-1])))
    forms = [form for form, most in _DIGITS.items() if digits in (most, most - 1) and _are_regular(numbers, form)]
    return forms[0] if forms else None


def _are_regular(numbers: NDArray[np.float64], form: str) -> bool:
    """Return whether whole numbers are likely dates of a form, and mostly one step apart."""
    column = pd.Series(numbers.astype(np.int64))
    if parse_timestamps(column)[0].dtype.kind == "M":  # as they stand
        return False
    stamps, bad = parse_timestamps(column, "", form)
    is_likely = not bad.any() and stamps.min() >= _LIKELY_PAST and stamps.max() < _LIKELY_FUTURE
    if form == "%Y%m":
        return bool(is_likely and (numbers % 100).max() == 12)
    return is_likely and _regularity(np.sort(stamps)) >= MOSTLY_REGULAR


def regular_order(column: pd.Series) -> str | None:
    """The order of day and month in which more steps are regular; None where both are alike, or neither is regular."""
    orders = ("day-first", "month-first")
    shares = [_regularity(distinct_values(parse_timestamps(column, str(column.name), order)[0])) for order in orders]
    if max(shares) < REGULAR or shares[0] == shares[1]:
        return None
    return orders[int(np.argmax(shares))]


def _either_way(column: pd.Series, time: str) -> NDArray[Any]:
    """Stamps of dates that may be day first or month first: the ones that are regular, else day first."""
    return parse_timestamps(column, time, regular_order(column) or "day-first")[0]


def _regularity(stamps: NDArray[Any]) -> float:
    """Share of neighbouring stamps that are one step apart."""
    stamps = stamps[~np.isnat(stamps)] if stamps.dtype.kind == "M" else stamps
    alias = guess_alias(stamps)
    if alias is None:
        return 0.0
    return float(np.mean(parse_frequency(alias).steps_between(stamps[:-1], stamps[1:]) == 1))


# --------------------------------------------------------------------------- series


def _series_of(
    frame: pd.DataFrame, time: str, stamps: NDArray[Any], config: DataConfig
) -> tuple[str | None, NDArray[np.int64]]:
    """The columns that tell series apart, none where stamps are unique or no columns do; and the series of each row."""
    none = np.zeros(len(frame), np.int64)
    automatic = _automatic(frame, replace(config, time=time))[1]
    if automatic is not None:
        keys = pd.factorize(frame[automatic])[0]
        is_one_series = (
            time != ROW_NUMBER
            and not _repeated(none, stamps)
            and _regularity(distinct_values(stamps)) >= MOSTLY_REGULAR
        )
        if not _repeated(keys, stamps) and not (is_one_series and _are_mixed(keys)):
            return automatic, keys
    if time == ROW_NUMBER:
        return None, none
    columns = _id_columns(frame, time, config)
    codes = {name: pd.factorize(frame[name])[0] for name in columns}
    if _repeated(none, stamps) <= MOST_REPEATED:  # a few repeats are mistakes, unless rows stand series after series
        name = next((name for name in columns if _are_sorted_apart(codes[name], stamps)), None)
        return name, none if name is None else codes[name]
    numeric = {name for name in columns if is_numeric(frame[name])}
    by_share = (_keys_of(codes, numeric, stamps, most) for most in (0.0, MOST_REPEATED))
    pair = next((pair for pair in by_share if pair is not None), None)
    if pair is None and (stamps.dtype.kind == "M" or (_is_called_year(time) and holds_years(frame[time]))):
        blocks = _equal_blocks(stamps)
        is_copied = frame.duplicated().mean() > MOST_REPEATED
        pair = None if blocks is None or is_copied else (BLOCK_NUMBER, blocks)
    return (None, none) if pair is None else pair


def _equal_blocks(stamps: NDArray[Any]) -> NDArray[np.int64] | None:
    """The block of each row where a table is blocks of the same stamps, one below the other; None where it is not.

    Blocks of other stamps are no evidence: where one series ends before the next one begins, two would be one.
    """
    later = stamps[1:] > stamps[:-1]
    length = len(stamps) if later.all() else int(np.argmin(later)) + 1
    if length < FEWEST_ROWS or length == len(stamps) or len(stamps) % length:
        return None
    blocks = stamps.reshape(-1, length)
    if not (blocks == blocks[0]).all():
        return None
    return np.repeat(np.arange(len(blocks)), length)


def _keys_of(
    codes: dict[str, NDArray[np.int64]], numeric: set[str], stamps: NDArray[Any], most: float
) -> tuple[str, NDArray[np.int64]] | None:
    """The fewest columns that leave at most this share of stamps repeated within a series, and the series.

    Of several, those of text, of fewest series, whose numbers are called names (`zipcode`), and that stand first.
    """
    steps, distinct = pd.factorize(stamps)
    for size in sorted({size for size in (1, 2, 3, len(codes)) if 0 < size <= len(codes)}):
        candidates: list[tuple[Any, ...]] = []
        for names in itertools.combinations(codes, size):
            keys = _joined_codes([codes[name] for name in names])
            rows = np.bincount(keys)
            if len(keys) < FEWEST_TOGETHER * len(rows) * len(distinct):
                continue  # each stamp has one of the keys, mostly: a property that changes, as the weather does
            if np.median(rows) >= FEWEST_PER_SERIES and _repeated(keys, steps) <= most:
                numbers = numeric.intersection(names)
                unnamed = sum(not _is_called_a_name(name) for name in numbers)
                candidates.append((len(numbers), len(rows), unnamed, len(candidates), names, keys))
        if candidates:
            *_, names, keys = min(candidates, key=lambda item: item[:4])
            return ",".join(names), keys
    return None


def _joined_codes(columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The number of each row's combination of codes, in the order of the rows."""
    joined = columns[0]
    for column in columns[1:]:
        joined = pd.factorize(joined * (column.max(initial=0) + 1) + column)[0]
    return joined


def _are_sorted_apart(keys: NDArray[np.int64], stamps: NDArray[Any]) -> bool:
    """Return whether each key stands in one block of rows that are in the order of time, and all together are not."""
    inside = keys[1:] == keys[:-1]
    is_later = stamps[1:] >= stamps[:-1]
    blocks = int(np.sum(~inside)) + 1
    return bool(is_later[inside].all() and not is_later.all() and blocks == len(np.unique(keys)))


def _are_mixed(keys: NDArray[np.int64]) -> bool:
    """Return whether some key stands in several blocks of rows."""
    return int(np.sum(keys[1:] != keys[:-1])) + 1 > len(np.unique(keys))


def _repeated(keys: NDArray[np.int64], stamps: NDArray[Any]) -> float:
    """Share of rows whose stamp an earlier row of their series has."""
    steps = pd.factorize(stamps)[0]
    return 1 - len(pd.unique(keys * (steps.max(initial=0) + 1) + steps)) / len(keys)


def _automatic(frame: pd.DataFrame, config: DataConfig) -> tuple[str | None, str | None]:
    """The time and the identifier that training finds by itself; None where it finds none."""
    numbers = [str(name) for name in frame.columns if is_numeric(frame[name])]
    target = config.target or next((name for name in numbers if name.lower() not in _TAKEN_NAMES), None)
    try:
        given = replace(config, target=target, wide=False)
        roles = resolve_roles(with_joined(frame, given, ""), given, "")
    except (DataError, ConfigError):
        return None, None
    return roles.time, roles.item_id


def _id_columns(frame: pd.DataFrame, time: str, config: DataConfig) -> list[str]:
    """Columns of names or of few whole numbers, however they are written, that repeat."""
    taken = {time, *time.split(","), config.target, config.weight, *config.ignore}
    columns = []
    for name in map(str, frame.columns):
        column = frame[name]
        is_calendar = (_is_of_the_calendar(column) and name.lower() not in _COUNTERS) or _is_clock(column)
        is_calendar = is_calendar or periods_of_day(column) is not None
        is_measured = pd.api.types.is_float_dtype(column.dtype) and not are_whole(column)
        if name in taken or is_calendar or is_measured:
            continue
        distinct = column.nunique()
        if 1 < distinct <= len(frame) / FEWEST_PER_SERIES and not column.isna().any() and not looks_like_dates(column):
            columns.append((is_numeric(column), name))
    return [name for _, name in sorted(columns, key=lambda item: item[0])][:MOST_ID_COLUMNS]


# --------------------------------------------------------------------------- targets


def _are_numbered_alike(names: list[str]) -> bool:
    """Return whether all columns have one name with a number or a letter behind it: store_1, store_2, …"""
    stems = {re.sub(r"[ _.-]?(\d+|[A-Za-z])$", "", name) for name in names}
    return len(stems) == 1 and len(next(iter(stems))) >= 3


def _stands_still(values: pd.Series) -> bool:
    """Return whether a column is a switch, or mostly has the value of the row before: a size, a property."""
    numbers = values.dropna().to_numpy(np.float64)
    if len(numbers) < 2 or (np.isin(numbers, (0, 1)).mean() > 0.8 and numbers.min() == 0 and numbers.max() == 1):
        return True
    is_mostly_zero = np.mean(numbers == 0) > 0.5  # as intermittent demand is
    return len(np.unique(numbers)) == 2 or bool(np.mean(np.diff(numbers) == 0) > 0.5 and not is_mostly_zero)


def _is_clock_number(values: pd.Series) -> bool:
    """Return whether a column called time holds times of day as numbers: 1545 for a quarter to four."""
    numbers = values.dropna().to_numpy(np.float64)
    is_called = "time" in _words(str(values.name).replace("_", " "))
    in_a_day = len(numbers) > 0 and numbers.min() >= 0 and numbers.max() <= 2400
    return bool(is_called and in_a_day and numbers.max() > 60 and (numbers % 100 < 60).all() and are_whole(values))


def _climbs_evenly(values: pd.Series, series: NDArray[np.int64]) -> bool:
    """Return whether numbers go on by about the same in every row of a series, as a clock does and no measurement."""
    inside = series[1:] == series[:-1]
    steps = np.diff(values.to_numpy(np.float64, na_value=np.nan))[inside]
    if len(steps) < FEWEST_ROWS or np.isnan(steps).any() or steps.min() <= 0 <= steps.max():
        return False
    usual = float(np.median(steps))
    return bool(np.mean(np.abs(steps - usual) <= EVEN * abs(usual)) >= MOSTLY_STEPS)


def _goes_one_way(values: pd.Series, series: NDArray[np.int64]) -> bool:
    """Return whether numbers rise, or fall, with every row of a series."""
    steps = np.diff(values.to_numpy(np.float64, na_value=np.nan))[series[1:] == series[:-1]]
    return len(steps) >= FEWEST_ROWS and bool((steps > 0).all() or (steps < 0).all())


def _counts_or_cycles(values: pd.Series, series: NDArray[np.int64]) -> bool:
    """Return whether whole numbers go up by one in nearly every row of a series, or start again: 1 to 7, or 1 to 31."""
    order = np.argsort(series, kind="stable")
    numbers, series = values.to_numpy(np.float64, na_value=np.nan)[order], series[order]
    inside = series[1:] == series[:-1]
    if len(numbers) < 3 or not inside.any() or np.isnan(numbers).any() or not are_whole(values):
        return False
    steps = np.diff(numbers)[inside]
    is_next = (steps == 1) | (numbers[1:][inside] == numbers.min())
    are_years = numbers.min() >= FIRST_YEAR and numbers.max() <= LAST_YEAR and steps.min() >= 0 and steps.max() == 1
    return bool(are_years or (steps == 1).all() or (is_next.mean() > 0.9 and np.mean(steps == 1) > 0.6))


def _is_uneven_time(values: pd.Series) -> bool:
    """Return whether a column called time, such as `Time (ka)`, goes up with every row, by steps of any length.

    So does the first column of a table without names that holds fractions: the days of an observation.
    """
    words = re.findall("[a-z]+", str(values.name).lower())
    may_be = bool(words) and (
        words[0] in (*TIME_NAMES, *_CLOCKS) or (values.name == unnamed_column(1) and not are_whole(values))
    )
    return may_be and bool((np.diff(values.to_numpy(np.float64)) > 0).all())


def _is_called_id(name: str) -> bool:
    """Return whether a column is an identifier of something by its name: `customer_id`, `storeId`."""
    return re.search(r"[_ .-](id|ID|Id)$|[a-z]I[dD]$", name) is not None


def _is_called_a_name(name: str) -> bool:
    """Return whether numbers are names of something by the name of their column: `flight`, `InvoiceNo`, `Zip`."""
    words = re.findall("[A-Z]?[a-z]+|[A-Z]+", name)
    return bool(words) and words[-1].lower() in _NAMING_WORDS


def _names_the_table(column: str, table: str) -> bool:
    """Return whether a column's name is in the table's, or they begin alike: `approve` of approval.csv."""
    name, words = column.lower(), table.lower()
    if len(name) < 4:
        return False
    starts = {word[:SAME_START] for word in re.findall("[a-z]+", words) if len(word) >= SAME_START}
    return name in words or name[:SAME_START] in starts


def _is_of_the_calendar(column: pd.Series) -> bool:
    """Return whether a column says when its row is, by its name; where that is short, `MO`, by its cells too."""
    plain = str(column.name).lower()
    unit = unit_of(plain) if len(plain) > MOST_LETTERS else unit_of_column(column)
    of_the_calendar = unit is not None or plain in _CALENDAR or plain in _COUNTERS
    return of_the_calendar or bool(re.match(r"(minute|hour|day|week|month)s? of (the )?", plain))


def _have_one_scale(columns: list[pd.Series]) -> bool:
    """Return whether columns are of one kind by their size."""
    sizes = (np.abs(column.to_numpy(np.float64, na_value=np.nan)) for column in columns)
    medians = np.array([float(np.nanmedian(size)) for size in sizes])
    return bool((medians > 0).all() and medians.max() <= _SCALE_APART * medians.min())
