"""The columns that tell the series of a table apart, given its time."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Container
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.number_times import FEWEST_ROWS, are_days_within, is_of_the_calendar
from forecast_attn.checking.series_blocks import (
    FEWEST_PER_SERIES,
    FEWEST_TOGETHER,
    Keys,
    are_mixed,
    are_numbered_anew,
    are_runs,
    are_series_of_rows,
    are_tracks,
    come_evenly,
    equal_blocks,
    go_up_within,
    stand_apart,
    take_turns,
)
from forecast_attn.checking.value_names import is_called_rank
from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import (
    COUNTERS,
    ID_NAMES,
    LOOSE_TIME_NAMES,
    TIME_NAMES,
    counts_rows,
    is_called_a_name,
    is_called_coordinate,
    is_called_source,
    is_called_subject,
    is_called_term,
    is_called_year,
)
from forecast_attn.data.number_stamps import is_plain_number
from forecast_attn.data.reading.clocks import is_clock, periods_of_day
from forecast_attn.data.reading.joined import BLOCK_NUMBER, ROW_COUNT, ROW_NUMBER, parts_of, with_joined
from forecast_attn.data.reading.text_columns import holds_texts, text_columns
from forecast_attn.data.reading.time_parts import are_whole, holds_years, time_parts
from forecast_attn.data.roles import is_numeric, resolve_roles
from forecast_attn.data.timestamps import looks_like_dates
from forecast_attn.errors import ConfigError, DataError

MOST_ID_COLUMNS = 8
MOST_REPEATED = 0.03
"""Share of rows with the stamp of an earlier one that are mistakes of a table, and no further series."""
_HARDLY_REPEATED = 0.002
"""The same, of names beside which numbers leave no stamp repeated: a result that was measured once more."""
_MANY_REPEATED = 0.25
"""The same, of rows that are put together where no columns tell all apart: two boroughs of one name."""
_MOSTLY_FILLED, _FEWEST_OF_CELLS = 0.9, 20
"""Share of the stamps at which each of such names has a row, and how many there are at least."""
_FEWEST_OF_JOINED = 0.5
"""Share of the times of series that have a row, where several columns together tell them apart: no polls of a day."""
_MOST_LEVELS = 8
"""Distinct numbers with fractions of which each may name a series: the strengths of a stimulus."""
_ABOUT_AS_MANY = 1.5
"""Largest ratio of their rows."""
_FEWEST_AGAIN = 2
"""Rows of each name that comes again."""
_MOSTLY_TOLD, _PARTLY_TOLD = 0.6, 0.25
"""Share of the variance of a number beyond which its groups are other series; less where no other column has names."""
_LESS_THAN_BY_CHANCE = 0.5
"""Pairs of rows of one time and name over those expected of names that say nothing of the time, for names of series."""
_MOSTLY_ONE = 0.99
"""Share of the rows from which on a value that all these have makes its column a remark on the others."""
_FIRST = 4
"""Part of the rows that are looked at first: those that repeat there are too many in most combinations of columns."""


def series_of(frame: pd.DataFrame, time: str, stamps: NDArray[Any], config: DataConfig) -> tuple[str | None, Keys]:
    """The columns that tell series apart, none where stamps are unique or no columns do; and the series of each row."""
    automatic = automatic_roles(frame, replace(config, time=time))[1]
    if automatic is not None and _tells_series_apart(frame, automatic, time, stamps):
        return automatic, pd.factorize(frame[automatic])[0]
    columns = _id_columns(frame, time, config)
    of_calendar = (name for name in columns if counts_rows(time) and _share_a_calendar(frame, name))
    name = next(of_calendar, None)
    if name is not None or time == ROW_NUMBER:
        name = _name_of_rows(frame, columns) if name is None else name
        return name, series_numbers(frame, name)
    names = [name for name in columns if not are_numbered_anew(frame, name, stamps)]
    codes = {name: pd.factorize(frame[name], use_na_sentinel=False)[0] for name in names}
    complete = {name: codes[name] for name in codes if not frame[name].isna().any()}
    none = np.zeros(len(frame), np.int64)
    if _repeated(none, stamps) <= MOST_REPEATED:  # a few repeats are mistakes, unless rows stand series after series
        name = _name_of_unique_stamps(frame, complete, stamps)
        return name, none if name is None else codes[name]
    numeric, incomplete = {name for name in codes if is_numeric(frame[name])}, codes.keys() - complete.keys()
    pair = _keys_of(codes, numeric, incomplete, stamps) or _name_and_year(frame, time, codes, stamps)
    pair = pair or _name_of_cells(complete, stamps)
    if pair is not None:
        is_even = come_evenly(pair[1], stamps)
        return (None if is_even else _keys_of_days(pair[0], codes, numeric, incomplete, stamps)) or pair
    cells = places_of_rows(frame)  # of a grid
    if cells is not None and _repeated(series_numbers(frame, cells), stamps) <= MOST_REPEATED:
        return cells, series_numbers(frame, cells)
    may_be_blocks = stamps.dtype.kind == "M" or (is_called_year(time) and holds_years(frame[time]))
    blocks = equal_blocks(stamps) if may_be_blocks else None
    is_copied = blocks is not None and frame.duplicated().mean() > MOST_REPEATED
    return (None, none) if blocks is None or is_copied else (BLOCK_NUMBER, blocks)


def _tells_series_apart(frame: pd.DataFrame, name: str, time: str, stamps: NDArray[Any]) -> bool:
    """Return whether no stamp is repeated within the series of an identifier, and these are more than one series.

    They are one where no stamp is repeated at all and names are mixed, or where each row has a name of its own.
    """
    keys = pd.factorize(frame[name])[0]
    if frame[name].isna().mean() > MOST_REPEATED or _repeated(keys, stamps) or are_numbered_anew(frame, name, stamps):
        return False
    is_one_series = time != ROW_NUMBER and not _repeated(np.zeros_like(keys), stamps) and are_mixed(keys)
    return not is_one_series and not frame[name].dropna().is_unique  # of rows, of which some were added


def _name_of_rows(frame: pd.DataFrame, columns: list[str]) -> str | None:
    """The column that tells series apart of which the rows are steps: by a number that rises in each, or by place."""
    rising = {name: go_up_within(frame, name) for name in columns}
    likely = [name for name, are_even in rising.items() if any(are_even)]
    others = [name for name, are_even in rising.items() if not are_even and are_series_of_rows(frame[name])]
    likely += [name for name in others if not _are_named_within(frame, name)]
    return next(iter(likely), None) or places_of_rows(frame)


def _name_of_unique_stamps(frame: pd.DataFrame, codes: dict[str, Keys], stamps: NDArray[Any]) -> str | None:
    """The column whose names stand apart in time, are runs, or take turns, of rows that hardly share a stamp."""
    apart = (name for name, keys in codes.items() if stand_apart(keys, stamps))
    runs = (name for name, keys in codes.items() if are_runs(keys, stamps))
    in_turn = (name for name in codes if take_turns(codes[name], stamps, are_sources=_names_sources(frame[name])))
    return next(itertools.chain(apart, runs, in_turn), None)


def series_numbers(frame: pd.DataFrame, item_id: str | None) -> Keys:
    """The number of each row's series, 0 where there is one series."""
    columns = [key for key in parts_of(item_id, frame) if key in frame.columns]
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


def places_of_rows(frame: pd.DataFrame) -> str | None:
    """The columns of latitude and longitude, where many rows stand at each of a few places: buoys, one below the other.

    What moves, such as a ship, is hardly twice at one place.
    """
    names = [str(name) for name in frame.columns if is_called_coordinate(str(name))]
    if len(names) != 2 or frame[names].isna().any(axis=None):
        return None
    rows_of_places = frame.groupby(names, observed=True).size()
    return ",".join(names) if len(rows_of_places) > 1 and rows_of_places.median() >= FEWEST_ROWS else None


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
    columns = [*_years_that_name(frame, time), *columns, *_seasons_that_name(frame, time)]
    if time in frame.columns and is_plain_number(frame[time]):
        columns = [name for name in columns if not are_days_within(frame[name], frame[time])]
    numeric = {name for name in columns if is_numeric(frame[name])}
    if numeric.issuperset(columns):  # and no names beside how strong a stimulus was
        columns = [name for name in columns if not _has_fractions(frame[name])]
    return sorted(columns, key=lambda name: name in numeric and (1 if is_called_a_name(name) else 2))[:MOST_ID_COLUMNS]


def _years_that_name(frame: pd.DataFrame, time: str) -> list[str]:
    """The year that makes no date with the time: that of its period."""
    if time not in frame.columns:
        return []
    years = [str(name) for name in frame.columns if is_called_year(str(name)) and holds_years(frame[name])]
    names = [name for name in years if frame[name].is_monotonic_increasing]  # and not mixed, as those of persons
    is_period = bool(names) and is_plain_number(frame[time]) and not holds_years(frame[time])
    return names if is_period and len(time_parts(frame, [*names, time])) < 2 else []


def _seasons_that_name(frame: pd.DataFrame, time: str) -> list[str]:
    """The column of words called season beside a year: crops of Kharif and Rabi, or sales of spring and autumn."""
    if time not in frame.columns or not holds_years(frame[time]):
        return []
    return [name for name in text_columns(frame) if name.lower() == "season" and frame[name].nunique() > 1]


def _are_named_within(frame: pd.DataFrame, item_id: str) -> bool:
    """Return whether rows of a series have names that come again in others: goods of a market, and no steps."""
    others = (frame[name] for name in frame.columns.drop(item_id))
    texts = (column for column in others if holds_texts(column))
    again = (str(column.name) for column in texts if column.nunique() <= len(frame) / _FEWEST_AGAIN)
    return any(not frame.duplicated([item_id, name]).any() for name in again)


def _share_a_calendar(frame: pd.DataFrame, item_id: str) -> bool:
    """Return whether each series has a row for each month, or hour of a weekday, in one order: a typical year.

    The months have names or numbers, and no year.
    """
    others = frame.columns.drop(item_id)
    parts = [name for name in others if is_of_the_calendar(frame[name]) and not counts_rows(name)]
    if any(is_called_year(name) for name in parts):  # of which some may be missing
        return False
    keys = pd.factorize(frame[item_id], use_na_sentinel=False)[0]
    num_series = keys.max(initial=0) + 1
    length, rest = divmod(len(keys), num_series)
    if not parts or num_series < 2 or rest or length < FEWEST_ROWS or (np.bincount(keys) != length).any():
        return False
    steps = np.asarray(frame.groupby(parts, observed=True, sort=False, dropna=False).ngroup())
    of_series = steps[np.argsort(keys, kind="stable")].reshape(num_series, length)
    return bool((of_series == of_series[0]).all() and len(np.unique(of_series[0])) == length)


def _names_sources(column: pd.Series) -> bool:
    """Return whether a column names devices or stations; numbers are called so: `meter_id`, and no `set point`."""
    name = str(column.name)
    return is_called_source(name) and (not is_numeric(column) or is_called_a_name(name))


def _has_fractions(column: pd.Series) -> bool:
    return pd.api.types.is_float_dtype(column.dtype) and not are_whole(column)


def _are_levels(column: pd.Series) -> bool:
    """Return whether numbers are a few of which each stands in about as many rows: the strengths of a stimulus."""
    rows = column.value_counts() if column.nunique() <= _MOST_LEVELS else pd.Series([1, len(column)])
    return bool(rows.max() <= _ABOUT_AS_MANY * rows.min())


def _may_name_series(column: pd.Series) -> bool:
    is_calendar = is_of_the_calendar(column) and str(column.name).lower() not in COUNTERS
    may_be_empty = holds_texts(column)
    if (
        is_calendar
        or is_clock(column)
        or periods_of_day(column) is not None
        or (column.isna().any() and not may_be_empty)
    ):
        return False
    if _holds_geometry(column):
        return False
    if _has_fractions(column) and (is_called_coordinate(str(column.name)) or not _are_levels(column)):
        return False
    counts = column.value_counts(dropna=False, sort=False)
    is_remark = counts.max() > _MOSTLY_ONE * len(column)
    are_few = 1 < (counts > 0).sum() <= len(column) / FEWEST_PER_SERIES and not is_remark
    return are_few and (not looks_like_dates(column) or is_called_term(str(column.name)))


def _holds_geometry(column: pd.Series) -> bool:
    """Return whether cells are places on a map, `POINT (-73.9 40.7)`, which stand beside the names of them."""
    cells = column.cat.categories[:1] if holds_texts(column) else ()
    return any(re.match(r"(?i)(multi)?(point|linestring|polygon) *\(", str(cell)) for cell in cells)


def column_of_levels(frame: pd.DataFrame, target: str, taken: Container[str]) -> str | None:
    """The column of text whose names tell most of a number, as states do of polls; None where none does.

    Args:
        frame: as it stands in the file.
        target: the number.
        taken: columns that have a role.
    """
    numbers = pd.to_numeric(frame[target], errors="coerce")
    texts = text_columns(frame)
    names = [name for name in texts if name not in taken and _may_name_series(frame[name])]
    shares = {name: _share_told(numbers, frame[name]) for name in names}
    best = max(shares, key=lambda name: shares[name], default=None)
    least = _PARTLY_TOLD if len(shares) == 1 else _MOSTLY_TOLD
    return best if best is not None and shares[best] >= least else None


def _share_told(numbers: pd.Series, names: pd.Series) -> float:
    """The share of the variance of numbers that names tell, adjusted for their number (R² of one way)."""
    codes, values = names.cat.codes.to_numpy(), numbers.to_numpy(np.float64)
    known = (codes >= 0) & ~np.isnan(values)
    codes, values = codes[known], values[known]
    rows = np.bincount(codes)
    left = len(values) - np.count_nonzero(rows)
    if left <= 0 or not values.var():
        return 0.0
    means = np.bincount(codes, weights=values) / np.maximum(rows, 1)
    return float(1 - ((values - means[codes]) ** 2).sum() / left / values.var(ddof=1))


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
        fewest = FEWEST_TOGETHER if len(names) == 1 else _FEWEST_OF_JOINED
        is_sparse = len(keys) < fewest * (_spans(keys, steps).sum() if are_many else len(rows) * len(distinct))
        may_be_apart = len(names) == 1 and (stand_apart(keys, stamps) or are_runs(keys, stamps))
        may_be_apart = may_be_apart or (len(names) > 1 and come_evenly(keys, stamps))
        if is_sparse and not may_be_apart and not are_tracks(keys, stamps):
            # Each stamp has one of the keys, mostly: a property that changes, as the weather does.
            return 1.0, (0, 0, 0)
        numbers = numeric.intersection(names)
        unnamed = sum(not (is_called_a_name(name) or is_called_subject(name)) for name in numbers)
        of_names = rows if len(names) > 2 else rows[keys]  # many marks tell rows apart, not series
        are_names = np.median(of_names) >= FEWEST_PER_SERIES
        share = _share_left(keys, steps) if are_names else 1.0
        ranks = sum(map(is_called_rank, numbers))  # whoever is first is another one at the next step
        return share, (len(numbers) + ranks, len(rows), unnamed)

    are_named = [name for name in codes if name not in numeric or is_called_a_name(name)]
    several = {1, 2, 3}
    of_names = [(are_named, size) for size in sorted(several)]  # origin and destination, and not the miles between them
    of_any = [(list(codes), size) for size in sorted({*several, texts, len(codes)}) if 0 < size <= len(codes)]
    ways = [(0.0, of_names), (_HARDLY_REPEATED, of_names), (0.0, of_any), (MOST_REPEATED, of_names + of_any)]

    def likeliest(columns: list[str], size: int, most: float) -> tuple[str, ...] | None:
        together = itertools.combinations(columns, size)
        complete = [names for names in together if size == 1 or not incomplete.issuperset(names)]
        usable = [(judged(names)[1], at, names) for at, names in enumerate(complete) if judged(names)[0] <= most]
        return min(usable)[-1] if usable else None

    for most, columns_of in ways:
        for columns, size in columns_of:
            names = likeliest(columns, size, most)
            if names is None:
                continue
            others = [name for name in codes if judged((name,))[0] > most]  # none tells them apart by itself
            pair = likeliest(others, 2, most) if size == 1 and judged(names)[1][2] else None
            if pair is not None and judged(pair)[1][1] == judged(names)[1][1] and judged(pair)[1][2] < len(pair):
                names = pair  # a warehouse and an article rather than when it is ordered again
            return ",".join(names), _joined_codes([codes[name] for name in names])
    return None


def _name_and_year(
    frame: pd.DataFrame, time: str, codes: dict[str, Keys], stamps: NDArray[Any]
) -> tuple[str, Keys] | None:
    """A name and the year of a joined time that tell series apart, as of storms whose names come again."""
    years = [] if time in frame.columns else [part for part in parts_of(time, frame)[:-1] if is_called_year(part)]
    names = {name: codes[name] for name in codes if not is_numeric(frame[name])}
    for year, name in itertools.product(years, names):
        pair = {name: names[name], year: pd.factorize(frame[year])[0]}
        keys = _keys_of(pair, {year}, set(), stamps)
        if keys is not None:
            return keys
    return None


def _keys_of_days(
    name: str, codes: dict[str, Keys], numeric: set[str], incomplete: set[str], stamps: NDArray[Any]
) -> tuple[str, Keys] | None:
    """The columns that leave no day repeated and come evenly, others among them than a name that leaves no minute so.

    Wells of which one is sampled after the other, each for some substances, are told apart by their minutes only.
    """
    if stamps.dtype.kind != "M":
        return None
    days = stamps.astype("datetime64[D]").astype(stamps.dtype)
    pair = None if (days == stamps).all() else _keys_of(codes, numeric, incomplete, days)
    has_more = pair is not None and {*name.split(",")} < {*pair[0].split(",")}
    return pair if pair is not None and has_more and come_evenly(pair[1], days) else None


def _name_of_cells(codes: dict[str, Keys], stamps: NDArray[Any]) -> tuple[str, Keys] | None:
    """The column whose names each have a few rows at nearly every stamp, and the series; None for events.

    Several instruments measure at a site, or a few towns have one name. Of several, that of most series.
    """
    steps = pd.factorize(stamps)[0]
    early = steps < _FEWEST_OF_CELLS  # which rule most columns out at once
    if early.all() or stamps.dtype.kind != "M":  # and no hours of the day
        return None
    likely = [name for name, keys in codes.items() if _are_cells(keys[early], steps[early])]
    names = [name for name in likely if _are_cells(codes[name], steps)]
    name = max(names, key=lambda each: codes[each].max(initial=0), default=None)
    return None if name is None else (name, codes[name])


def _are_cells(keys: Keys, steps: Keys) -> bool:
    """Return whether nearly all keys have a row at nearly all steps, mostly one or everywhere as many."""
    num_steps = steps.max(initial=0) + 1
    fewest = _MOSTLY_FILLED * (keys.max(initial=0) + 1) * num_steps
    if len(keys) < fewest:
        return False
    counts = np.unique(keys * num_steps + steps, return_counts=True)[1]
    if len(counts) < fewest:
        return False
    are_few = 1 - len(counts) / len(keys) <= _MANY_REPEATED
    return are_few or bool(np.bincount(counts).max() >= _MOSTLY_FILLED * len(counts))


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


def _share_left(keys: Keys, steps: Keys) -> float:
    """Share of rows whose step an earlier row of their series has; all where names leave few of them by chance."""
    share = _num_repeated(keys, steps) / len(keys)
    return 1.0 if 0 < share <= MOST_REPEATED and _is_by_chance(keys, steps) else share


def _is_by_chance(keys: Keys, steps: Keys) -> bool:
    """Return whether rows of a step have one key about as often as any rows: how something was paid names no series.

    Series one below the other are no chance.
    """
    rows = np.bincount(keys)
    if np.count_nonzero(np.diff(keys)) < len(rows):
        return False
    shares = rows / len(keys)
    expected = _num_pairs(np.zeros_like(keys), steps) * float(shares @ shares)
    return _num_pairs(keys, steps) > _LESS_THAN_BY_CHANCE * expected


def _num_pairs(keys: Keys, steps: Keys) -> float:
    """The number of pairs of rows that have one step and one key."""
    counts = np.unique(keys * (steps.max(initial=0) + 1) + steps, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1) / 2).sum())


def _num_repeated(keys: Keys, steps: Keys) -> int:
    """The number of rows whose step an earlier row of their series has."""
    return len(keys) - len(pd.unique(keys * (steps.max(initial=0) + 1) + steps))
