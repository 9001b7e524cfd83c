"""Likely targets of a table whose time and series are known, by the evidence of names and cells."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.alike_columns import MANY, are_alike
from forecast_attn.checking.amounts import are_answers_of_a_year, are_scores, may_be_summed
from forecast_attn.checking.computed_columns import closing_prices, computed_columns
from forecast_attn.checking.number_times import is_of_the_calendar
from forecast_attn.checking.role_candidates import RoleCandidate
from forecast_attn.checking.row_order import jumps
from forecast_attn.checking.series_candidates import MOST_REPEATED, series_numbers
from forecast_attn.checking.target_doubts import EVEN, Doubt, counts_many, doubt_about, places_its_row
from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import (
    LIKELY_TARGETS,
    PRICE,
    ROW_NAMES,
    are_called_of_persons,
    counts_rows,
    ends_in_amount,
    is_called_base,
    is_called_close,
    is_called_coordinate,
    is_called_count,
    is_called_duration,
    is_called_exposure,
    is_called_extra,
    is_called_forecast,
    is_called_intensity,
    is_called_level,
    is_called_money,
    is_called_of_device,
    is_called_of_examined,
    is_called_opening,
    is_called_outcome,
    is_called_past,
    is_called_pay,
    is_called_pollutant,
    is_called_property,
    is_called_total,
    is_called_unit_price,
    is_called_weather,
    is_count_of_record,
    is_mean_beside_spread,
    is_named_date,
    is_one_of_letters,
    is_unnamed_counter,
    unit_of,
    words_of,
)
from forecast_attn.data.reading.header import unnamed_column
from forecast_attn.data.reading.joined import ROW_NUMBER
from forecast_attn.data.reading.time_parts import are_whole
from forecast_attn.data.roles import is_numeric
from forecast_attn.data.timestamps import looks_like_dates

SAME_START = 5
"""Letters with which the names of a column and its table begin alike."""
_MOST_OUTCOMES, _SHARE_OF_OUTCOMES = 2, 1 / 3
"""Columns called alike of which one may be the target: the close, and the adjusted one, or that of each share."""
_MOSTLY_KNOWN = 0.6
"""Share of rows in which a column has a value that is no more than a remark on some of them."""
_POINTS = {
    Doubt.NAME: -3000,
    Doubt.CONSTANT: -2000,
    Doubt.AXIS: -1000,
    "forecast, past or change of another": -100,
    "called a target": 80,
    "named as the table": 40,
    "called an amount": 30,
    "called an outcome or the last price": 25,
    "called a price": 20,
    "drives others": -20,
    "mostly empty": -75,
    "known in fewer rows than its copy": -10,
    "money of an event": 40,
    "called a unit of time": -30,
    "called a duration": -15,
    "was there before": -25,
    "called a pollutant": 10,
    "tells of a device": -40,
    "counter of an amount": -15,
    "called a total": 2,
}
"""What speaks for a column as the target, and what against it; the column of most points is the likeliest."""
_WORDS_OF_TITLES = 3
"""Words of a usual title, of which hardly two are equal."""
_MOSTLY_DISTINCT = 0.8
"""Share of the titles that differ."""
_MOSTLY_FILLED = 0.8
"""Share of the cells of a cube that hold a number."""
_MOSTLY_OWN = 0.5
"""Share of its rows that are a cell of their own."""


@dataclass(frozen=True)
class Targets:
    """Columns that may be the target, the likeliest first."""

    names: tuple[str, ...]
    likely: tuple[str, ...]
    """Those of them that are no names, switches or codes, unless all are."""
    are_alike: bool
    """True where they look like series of one kind rather than a target and its covariates."""
    are_unlikely: bool = False
    """True where all look like properties, names or coordinates, or rows are events, with places or with numbers that
    no name calls amounts; the number of events is then forecast.
    """
    is_measured: bool = False
    """True where one number with fractions is all that a row has beside its time and series: no event to count."""


def target_candidates(
    frame: pd.DataFrame, candidate: RoleCandidate, config: DataConfig, name: str, codes: frozenset[str] = frozenset()
) -> Targets:
    """Columns of numbers that are neither time, identifier, calendar nor counter, unless there are no others.

    Args:
        frame: as it stands in the file.
        candidate: time and series.
        config: what is given is kept.
        name: of the table, which may name its target.
        codes: columns of numbers that the file writes as names: `012`.
    """
    series = series_numbers(frame, candidate.item_id)
    numbers = _numbers(frame, candidate, config)
    numbers = _changing(frame, numbers, series) if series.any() else numbers
    values = {name: _as_numbers(frame[name]) for name in numbers}
    likely = [name for name in numbers if not places_its_row(frame[name], values[name], series)]
    others = [name for name in numbers if not (is_named_date(name) or is_of_the_calendar(frame[name]))]
    likely = likely or ([] if series.any() else others)
    located = coordinates(frame, candidate)
    doubts = {name: Doubt.NAME if name in codes else doubt_about(values[name], series, candidate) for name in likely}
    doubts |= {name: Doubt.AXIS for name in located.intersection(likely) if doubts[name] is None}
    are_unnamed = unnamed_column(1) in frame
    are_persons = are_called_of_persons(name for name in map(str, frame.columns) if not is_called_pay(name))
    known = {name: values[name] for name in likely}
    evidence = _Evidence(known, doubts, located, candidate, name, are_unnamed=are_unnamed, are_persons=are_persons)
    ranked = evidence.ranked() if evidence.may_be_forecast or not candidate.counts_rows else []
    happen_at_places = not evidence.is_named and any(jumps(values[name]) for name in located.intersection(numbers))
    are_answers = are_answers_of_a_year(candidate.time, frame)
    are_events = candidate.may_be_counted and not are_answers and bool(ranked)
    is_amount = bool(ranked) and evidence.is_called_amount(ranked[0])
    is_amount = is_amount and not (is_count_of_record(ranked[0]) and _have_keys(frame))
    is_measured = bool(ranked) and not is_amount and _is_alone(frame, values[ranked[0]], candidate)
    are_events = are_events and not is_measured and not is_amount
    are_subjects = are_persons and candidate.event_stamps is not None and candidate.item_id is None
    are_events = are_events and (are_subjects or _are_events(frame, values[ranked[0]], candidate, series))
    is_rare = candidate.is_of_events and bool(ranked) and not _is_mostly_known(values[ranked[0]])
    are_unlikely = all(doubts.values()) or happen_at_places or are_events or is_rare
    certain = tuple(name for name in ranked if doubts[name] in (None, Doubt.AXIS))
    return Targets(tuple(ranked), certain or tuple(ranked), evidence.are_alike(), are_unlikely, is_measured)


@dataclass(frozen=True)
class _Evidence:
    """Names and cells of the columns that may be the target, and what they say for and against each."""

    values: dict[str, pd.Series]
    doubts: dict[str, Doubt | None]
    """Why a column is hardly the target, by its cells."""
    located: frozenset[str]
    """Coordinates."""
    candidate: RoleCandidate
    table: str
    are_unnamed: bool
    """True where the file has no names of columns."""
    are_persons: bool
    """True where rows are persons who were asked."""

    @cached_property
    def by_name(self) -> dict[str, int]:
        """The place of each column among those that are targets by their name."""
        likely = list(self.values)
        return {each: len(LIKELY_TARGETS) if each in self.located else _by_name(each, likely) for each in likely}

    @cached_property
    def titled(self) -> set[str]:
        """The columns that are named as the table, unless many are; one of events may be called as they are."""
        titled = {each for each in self.values if _names_the_table(each, self.table)}
        are_many = len(titled) > min(len(self.values) / 2, MANY)
        return set() if self.candidate.is_of_events or are_many else titled

    @cached_property
    def prices(self) -> set[str]:
        """The price, if only one column is."""
        return {each for each in self.values if each.lower() == PRICE and not _is_one_of_many(PRICE, [*self.values])}

    @cached_property
    def outcomes(self) -> set[str]:
        """The columns called an outcome, the last price, the mean of a spread or a wage, unless several are."""
        called = {each for each in self.values if is_called_outcome(each) or is_called_close(each)}
        called |= closing_prices(self.values) if self.are_unnamed else set()
        called |= {each for each in self.values if is_mean_beside_spread(each, self.values)}
        called |= {each for each in self.values if self.are_persons and is_called_pay(each)}
        called -= {each for each in called if is_called_forecast(each) or is_called_past(each)}
        return called if len(called) <= max(_MOST_OUTCOMES, _SHARE_OF_OUTCOMES * len(self.values)) else set()

    @cached_property
    def totals(self) -> set[str]:
        """The columns that are called a total."""
        return {each for each in self.values if is_called_total(each)}

    @cached_property
    def drivers(self) -> set[str]:
        """The columns that drive others, if there are others: weather, shares, the number of persons, games played."""
        weather = {each for each in self.values if is_called_weather(each)}
        averaged = {each for each in self.values if is_called_intensity(each) and not is_called_level(each)}
        bases = {each for each in self.values if is_called_base(each)}
        examined = {each for each in self.values if averaged and is_called_of_examined(each)}
        averaged = (averaged - weather) | (bases if len(bases) == 1 else set())  # men, women and all are the subject
        averaged |= examined | self.unit_prices | {each for each in self.values if is_called_exposure(each)}
        others = [each for each in self.values if self.doubts[each] is None and each not in weather | averaged]
        counts = [each for each in others if ends_in_amount(each) or counts_many(self.values[each])]
        is_driven = len(others) == 1 or any(_is_mostly_known(self.values[each]) for each in counts)
        return (averaged if others else set()) | (weather if is_driven else set())

    @cached_property
    def unit_prices(self) -> set[str]:
        """The prices of one piece of what events sell, beside the number of pieces or an amount."""
        prices = {each for each in self.values if self.candidate.is_of_events and is_called_unit_price(each)}
        others = (each for each in self.values if each not in prices and self.doubts[each] is None)
        return prices if any(is_called_count(each) or ends_in_amount(each) for each in others) else set()

    @cached_property
    def pollutants(self) -> set[str]:
        """The columns that measure what is in the air, beside nothing but weather."""
        called = {each for each in self.values if is_called_pollutant(each)}
        others = (each for each in self.values if each not in called and self.doubts[each] is None)
        return called if all(map(is_called_weather, others)) else set()

    @cached_property
    def incomplete(self) -> set[str]:
        """The columns beside a copy with fewer holes."""
        beside = [pair for one, other in itertools.pairwise(self.values) for pair in ((one, other), (other, one))]
        return {other for each, other in beside if _completes(self.values[each], self.values[other])}

    @cached_property
    def older(self) -> set[str]:
        """The columns of which another one is a later issue, by the day behind their names: `GDP_20240125`."""
        issues = [match for each in self.values if (match := re.fullmatch(r"(.+)_((?:19|20)\d{6})", each))]
        newest = {
            stem: max(days) for stem, days in itertools.groupby(sorted(m.groups() for m in issues), lambda m: m[0])
        }
        return {match[0] for match in issues if match.groups() != newest[match[1]]}

    @cached_property
    def counters(self) -> set[str]:
        """The amounts that never fall, beside others that do: the readings of a meter."""
        amounts = [each for each in self.values if ends_in_amount(each)]
        rising = {each for each in amounts if self.values[each].dropna().is_monotonic_increasing}
        return rising if len(rising) < len(amounts) else set()

    @cached_property
    def computed(self) -> set[str]:
        """The columns that follow from another one, but for what was paid, which changes a balance."""
        names = set() if self.candidate.may_be_counted else computed_columns(self.values)
        return {name for name in names if not is_called_money(name)}

    @property
    def is_named(self) -> bool:
        """True where the name of some column says that it is the target."""
        named = self.prices | self.titled | self.outcomes | (self.totals if len(self.totals) == 1 else set())
        return any(self._is_called_target(each) or each in named for each in self.values)

    @property
    def may_be_forecast(self) -> bool:
        """True unless all columns are names, switches or properties of persons, and none is called a target."""
        amounts = (name for name, doubt in self.doubts.items() if doubt in (None, Doubt.AXIS))
        return self.is_named or not all(map(is_called_property, amounts))

    def ranked(self) -> list[str]:
        """The columns, the likeliest first."""
        return sorted(self.values, key=lambda column: (-self._points(column), self.by_name[column]))

    def are_alike(self) -> bool:
        """Return whether the columns are rather series of one kind than a target and its covariates."""
        stamps = self.candidate.stamps
        are_events = self.candidate.is_of_events and 1 - len(np.unique(stamps)) / len(stamps) > MOST_REPEATED
        computed = {name for name in self.computed if not is_called_past(name)}
        columns = [column for name, column in self.values.items() if name not in computed]
        may_differ = self.is_named or are_events
        return not self.older and are_alike(columns, may_differ=may_differ, are_unnamed=self.are_unnamed)

    def is_called_amount(self, column: str) -> bool:
        """Return whether the name of a column says that it adds up over events, or that the table is about it."""
        is_subject = self._is_called_target(column) or column in self.prices | self.titled | self.outcomes
        return is_subject or ends_in_amount(column) or is_called_money(column) or is_called_count(column)

    def _is_called_target(self, column: str) -> bool:
        return self.by_name[column] < len(LIKELY_TARGETS)

    def _points(self, column: str) -> int:
        doubt, are_events = self.doubts[column], self.candidate.is_of_events
        evidence = {
            str(doubt): doubt is not None,
            "forecast, past or change of another": is_called_forecast(column)
            or is_called_past(column)
            or column in self.older | self.computed,
            "called a target": self._is_called_target(column),
            "named as the table": column in self.titled,
            "called an amount": ends_in_amount(column),
            "called an outcome or the last price": column in self.outcomes,
            "called a price": column in self.prices and not are_events,
            "drives others": column in self.drivers,
            "mostly empty": not _is_mostly_known(self.values[column]),
            "known in fewer rows than its copy": column in self.incomplete,
            "money of an event": are_events
            and is_called_money(column)
            and not (is_called_unit_price(column) or is_called_extra(column)),
            "tells of a device": is_called_of_device(column),
            "called a unit of time": len(column) >= len("days") and unit_of(column.removesuffix("s")) is not None,
            "called a duration": is_called_duration(column),
            "was there before": is_called_opening(column),
            "called a pollutant": column in self.pollutants,
            "called a total": column in self.totals,
            "counter of an amount": column in self.counters,
        }
        return sum(_POINTS[name] for name, is_so in evidence.items() if is_so)


def changes_within_series(frame: pd.DataFrame, name: str, item_id: str | None) -> bool:
    """Return whether a column has two values within some series; what has one in each is a property of the series."""
    return item_id is None or bool(_changing(frame, [name], series_numbers(frame, item_id)))


def coordinates(frame: pd.DataFrame, candidate: RoleCandidate) -> frozenset[str]:
    """The columns that say where a row is, by their names; of events, and beside a latitude, so does `y` beside `x`.

    So do `Centre X` and `Centre Y` of events.
    """
    names = [str(name) for name in frame.columns]
    is_of_places = candidate.is_of_events or any(map(is_called_coordinate, names))
    are_pair = is_of_places and {"x", "y"}.issubset(map(str.lower, names))
    pairs = {name[:-1] for name in names if name[-1:] == "X" and f"{name[:-1]}Y" in names and len(name) > 1}
    in_pairs = {f"{stem}{axis}" for stem in pairs for axis in "XY"} if is_of_places else set()
    at_pair = {name for name in names if are_pair and name.lower() in ("x", "y")} | in_pairs
    return frozenset(name for name in names if is_called_coordinate(name) or name in at_pair)


def _numbers(frame: pd.DataFrame, candidate: RoleCandidate, config: DataConfig) -> list[str]:
    """The columns of numbers that have no role and more than one value."""
    taken = {*candidate.columns, *config.ignore, *config.past_covariates, *config.future_covariates}
    taken |= {*config.static_covariates, *config.categorical, config.weight or "", ROW_NUMBER}
    names = [name for name in map(str, frame.columns) if name not in taken and name.lower() not in ROW_NAMES]
    return [
        name for name in names if is_numeric(frame[name]) and frame[name].nunique() > 1 and not is_unnamed_counter(name)
    ]


def _as_numbers(column: pd.Series) -> pd.Series:
    """The numbers of a column, none where they are infinite."""
    numbers = pd.to_numeric(column.astype("string"), errors="coerce").to_numpy(np.float64, na_value=np.nan)
    return pd.Series(np.where(np.isinf(numbers), np.nan, numbers), name=column.name)


def _changing(frame: pd.DataFrame, names: list[str], series: NDArray[np.int64]) -> list[str]:
    """Columns with two values within some series: what has one in each is a property of the series."""

    def changes(name: str) -> bool:
        codes = pd.factorize(frame[name])[0]
        known = codes >= 0
        of_series = np.zeros(series.max(initial=0) + 1, codes.dtype)
        of_series[series[known]] = codes[known]
        return bool((codes[known] != of_series[series[known]]).any())

    return [name for name in names if changes(name)]


# --------------------------------------------------------------------------- names


def _by_name(column: str, others: list[str]) -> int:
    """The place of a column among those that are targets by name, without marks of footnotes: `Close*`, `y(t)`."""
    plain = column.lower().removesuffix("(t)").strip("* ")
    if "target" in words_of(column):
        return -1
    if plain not in LIKELY_TARGETS or _is_one_of_many(plain, others) or is_one_of_letters(column, others):
        return len(LIKELY_TARGETS)
    return LIKELY_TARGETS.index(plain)


def _is_one_of_many(name: str, others: list[str]) -> bool:
    """Return whether a name singles out no column: `price` beside `oil price` and `eprice`."""
    return sum(len(name) > 3 and other.lower().endswith(name) for other in others) > 3


def _names_the_table(column: str, table: str) -> bool:
    """Return whether a column's name is in the table's, or they begin alike: `approve`, `Life expectancy (men)`."""
    name = column.lower()
    words = [word.lower() for word in re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+", table)]
    starts = {" ".join(words[at:])[:SAME_START] for at in range(len(words))}
    start = " ".join(re.findall("[a-z]+", name))[:SAME_START]
    begins_alike = len(start) == SAME_START and start in starts and not is_called_base(column)
    is_part = len(name) >= 4 and (name in table.lower() or begins_alike)
    return is_part or (len(name) == 3 and (name in words or table.lower().endswith(name)))


# --------------------------------------------------------------------------- cells


def _are_events(frame: pd.DataFrame, values: pd.Series, candidate: RoleCandidate, series: NDArray[np.int64]) -> bool:
    """Return whether rows have titles, or a number says nothing of that of the next row: bedrooms of houses sold.

    What was measured goes on from row to row; of events, their number says more than a sum.
    """
    if _have_titles(frame):
        return True
    order = np.lexsort((candidate.stamps, series))
    numbers = values.to_numpy()[order]
    is_unlike = may_be_summed(str(values.name), numbers, series[order])
    are_points = candidate.is_of_events and are_scores(numbers[~np.isnan(numbers)])  # bedrooms, and no words known
    is_unlike = is_unlike or are_points
    return is_unlike and not _are_cells_of_a_cube(frame, candidate.stamps)


def _is_alone(frame: pd.DataFrame, values: pd.Series, candidate: RoleCandidate) -> bool:
    """Return whether a table has but one number with fractions beside its time and series: what was measured then."""
    others = [name for name in map(str, frame.columns) if name not in (*candidate.columns, values.name)]
    is_number = values.notna().mean() >= 1 - EVEN and not are_whole(values)  # and no remark with one in it
    return candidate.stamps.dtype.kind == "M" and is_number and all(map(counts_rows, others))


def _have_keys(frame: pd.DataFrame) -> bool:
    """Return whether a text differs in every row, as the number of a ticket."""
    texts = frame.columns[frame.dtypes.map(lambda dtype: isinstance(dtype, pd.CategoricalDtype))]
    return any(frame[name].nunique() == len(frame) and not looks_like_dates(frame[name]) for name in texts)


def _have_titles(frame: pd.DataFrame) -> bool:
    """Return whether rows have titles or subjects: text of some words that differs in nearly all of them."""
    for name in frame.columns[frame.dtypes.map(lambda dtype: isinstance(dtype, pd.CategoricalDtype))]:
        cells = frame[name].dropna()
        are_own = len(cells) > (1 - EVEN) * len(frame) and cells.nunique() > _MOSTLY_DISTINCT * len(cells)
        if are_own and cells.head(1000).astype(str).str.count(r"[^\W\d_]{2,}").median() >= _WORDS_OF_TITLES:
            return True
    return False


def _are_cells_of_a_cube(frame: pd.DataFrame, stamps: NDArray[Any]) -> bool:
    """Return whether the same words stand at most times: those of the cells of statistics, and not of events."""
    texts = [frame[name] for name in frame.columns if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    words = pd.DataFrame({at: text.cat.codes for at, text in enumerate(texts) if not looks_like_dates(text)})
    if words.empty:
        return False
    cells = words.assign(time=stamps).drop_duplicates()
    all_cells = len(words.drop_duplicates()) * cells["time"].nunique()
    return cells["time"].nunique() < len(cells) >= max(_MOSTLY_FILLED * all_cells, _MOSTLY_OWN * len(frame))


def _is_mostly_known(values: pd.Series) -> bool:
    return bool(values.notna().mean() >= _MOSTLY_KNOWN)


def _completes(values: pd.Series, others: pd.Series) -> bool:
    """Return whether a column is another one with some of its empty cells filled, as by the limits of an instrument."""
    known, of_others = values.notna(), others.notna()
    return bool(known.sum() > of_others.sum() > len(others) / 2 and (values == others)[of_others].all())
