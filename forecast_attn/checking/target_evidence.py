"""Evidence for the likeliest target: points for what the names and cells of columns of numbers say for each."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.alike_columns import MANY, are_alike
from forecast_attn.checking.amounts import likeness_to_next
from forecast_attn.checking.computed_columns import (
    amounts_paid,
    closing_prices,
    computed_columns,
    sums_of_numbered,
)
from forecast_attn.checking.role_candidates import RoleCandidate
from forecast_attn.checking.series_candidates import MOST_REPEATED
from forecast_attn.checking.target_doubts import Doubt, counts_many
from forecast_attn.checking.value_names import (
    LIKELY_TARGETS,
    PRICE,
    active_powers,
    ends_in_amount,
    extremes_beside_means,
    flows_of_rain,
    is_called_base,
    is_called_close,
    is_called_count,
    is_called_demand,
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
    is_called_output,
    is_called_past,
    is_called_pay,
    is_called_pollutant,
    is_called_property,
    is_called_total,
    is_called_turnover,
    is_called_unit_price,
    is_called_weather,
    is_mean_beside_spread,
    last_prices,
    mean_temperatures,
    net_weights,
    numbered_inputs,
)
from forecast_attn.data.column_names import TARGET_NAMES, is_one_of_letters, is_plan, unit_of, words_of

_SAME_START = 5
"""Letters with which the names of a column and its table begin alike."""
_MOST_OUTCOMES, _SHARE_OF_OUTCOMES = 2, 1 / 3
"""Columns called alike of which one may be the target: the close, and the adjusted one, or that of each share."""
_MOSTLY_KNOWN = 0.6
"""Share of rows in which a column has a value that is no more than a remark on some of them."""
_ALIKE = 0.9
"""Correlation with the next number of a series from which on a column measures what goes on between events; the share
of numbers that are no smaller than the one before from which on it counts."""
_POINTS = {
    Doubt.NAME: -3000,
    Doubt.CONSTANT: -2000,
    Doubt.AXIS: -1000,
    "forecast, past or change of another": -100,
    "called a target": 80,
    "named as the table": 40,
    "called an amount": 30,
    "called an outcome or the last price": 25,
    "last price of a day": 20,
    "called a price": 20,
    "drives others": -20,
    "mostly empty": -90,
    "known in fewer rows than its copy": -10,
    "money of an event": 40,
    "price times number of pieces": 45,
    "smallest or largest": -5,
    "called a unit of time": -30,
    "called a duration": -15,
    "was there before": -25,
    "called a pollutant": 10,
    "mean temperature of a day": 10,
    "tells of a device": -40,
    "active power": 10,
    "called an output": 10,
    "counter of an amount": -15,
    "called a total": 2,
    "called a demand": 2,
    "goes on in its series": 5,
    "numbered input": -5,
}
"""What speaks for a column as the target, and what against it; the column of most points is the likeliest."""


@dataclass(frozen=True)
class TargetEvidence:
    """Names and cells of the columns that may be the target, and what they say for and against each."""

    values: dict[str, pd.Series]
    doubts: dict[str, Doubt | None]
    """Why a column is hardly the target, by its cells."""
    located: frozenset[str]
    """Coordinates."""
    candidate: RoleCandidate
    series: NDArray[np.int64]
    """Number of each row's series (num_rows,)."""
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
        """The columns called an outcome, the last price or a wage, or else the mean of a spread, unless several are."""
        called = {each for each in self.values if is_called_outcome(each) or is_called_close(each)}
        called |= closing_prices(self.values) if self.are_unnamed else set()
        called |= flows_of_rain(self.values) | net_weights(self.values)
        called |= {each for each in self.values if self.are_persons and is_called_pay(each)}
        called = called or {each for each in self.values if is_mean_beside_spread(each, self.values)}
        called -= {each for each in called if is_called_forecast(each) or is_called_past(each)}
        return called if len(called) <= max(_MOST_OUTCOMES, _SHARE_OF_OUTCOMES * len(self.values)) else set()

    @cached_property
    def totals(self) -> set[str]:
        """The columns that are called a total, or are the sum of others of the same name and a number."""
        return {each for each in self.values if is_called_total(each)} | sums_of_numbered(self.values)

    @cached_property
    def drivers(self) -> set[str]:
        """The columns that drive others, if there are others: weather, shares, the number of persons, games played."""
        weather = {each for each in self.values if is_called_weather(each)}
        averaged = {each for each in self.values if is_called_intensity(each) and not is_called_level(each)}
        bases = {each for each in self.values if is_called_base(each)}
        are_of_some = averaged or any(map(is_called_money, self.values))
        examined = {each for each in self.values if are_of_some and is_called_of_examined(each)}
        averaged = (averaged - weather) | (bases if len(bases) == 1 else set())  # men, women and all are the subject
        averaged |= examined | self.unit_prices | {each for each in self.values if is_called_exposure(each)}
        others = [each for each in self.values if self.doubts[each] is None and each not in weather | averaged]
        counts = [each for each in others if ends_in_amount(each) or counts_many(self.values[each])]
        is_driven = len(others) == 1 or any(is_mostly_known(self.values[each]) for each in counts)
        return (averaged if others else set()) | (weather if is_driven else set())

    @cached_property
    def paid(self) -> dict[str, str]:
        """The amounts that are a price times a number of pieces in each event, and the prices."""
        return amounts_paid(self.values) if self.candidate.has_events else {}

    @cached_property
    def unit_prices(self) -> set[str]:
        """The prices of one piece of what events sell, beside the number of pieces or an amount."""
        prices = {each for each in self.values if self.candidate.has_events and is_called_unit_price(each)}
        prices |= {*self.paid.values()}
        others = (each for each in self.values if each not in prices and self.doubts[each] is None)
        return prices if self.paid or any(is_called_count(each) or ends_in_amount(each) for each in others) else set()

    @cached_property
    def pollutants(self) -> set[str]:
        """The columns that measure what is in the air, beside nothing but weather."""
        called = {each for each in self.values if is_called_pollutant(each)}
        others = (each for each in self.values if each not in called and self.doubts[each] is None)
        return called if all(map(is_called_weather, others)) else set()

    @cached_property
    def last_prices(self) -> set[str]:
        """The last price of a day beside the highest and the lowest one."""
        return last_prices(self.values)

    @cached_property
    def mean_temperatures(self) -> set[str]:
        """The mean temperature of a day in the codes of a weather service."""
        return mean_temperatures(self.values)

    @cached_property
    def active_powers(self) -> set[str]:
        """The active power beside the reactive and the apparent one."""
        return active_powers(self.values)

    @cached_property
    def inputs(self) -> set[str]:
        """The many columns with a letter and a number for a name, beside others that have words."""
        return numbered_inputs(self.values)

    @cached_property
    def extremes(self) -> set[str]:
        """The columns of the smallest or largest of what another one holds, or the mean of."""
        return extremes_beside_means(self.values)

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
    def in_time(self) -> dict[str, pd.Series]:
        """The cells of the first series, in the order of time."""
        rows = np.flatnonzero(self.series == self.series[0])
        rows = rows[np.argsort(self.candidate.stamps[rows], kind="stable")]
        return {name: column.iloc[rows] for name, column in self.values.items()}

    @cached_property
    def counters(self) -> set[str]:
        """The amounts that never fall in time, beside others that do: the readings of a meter.

        At uneven times, any number that never falls: the kilometres of a car.
        """
        are_uneven = self.candidate.event_stamps is not None
        likely = [each for each in self.values if self.doubts[each] is None and (are_uneven or ends_in_amount(each))]
        rising = {each for each in likely if self.in_time[each].dropna().is_monotonic_increasing}
        return rising if len(rising) < len(likely) else set()

    @cached_property
    def going_on(self) -> set[str]:
        """The columns that show nearly the same again at the next event of their series: the level of each well.

        No counters, which do so, too.
        """
        is_of_series = self.candidate.event_stamps is not None and self.candidate.item_id is not None
        if not is_of_series or any(map(_adds_up, self.values)):
            return set()
        order = np.lexsort((self.candidate.stamps, self.series))
        series = self.series[order]
        likely = {each: self.values[each].to_numpy()[order] for each, doubt in self.doubts.items() if doubt is None}
        inside = series[1:] == series[:-1]
        falling = {each for each, numbers in likely.items() if (np.diff(numbers)[inside] < 0).mean() > 1 - _ALIKE}
        return {each for each in falling if likeness_to_next(likely[each], series) >= _ALIKE}

    @cached_property
    def computed(self) -> set[str]:
        """The columns that follow from another one, but for what was paid, which changes a balance."""
        names = set() if self.candidate.may_be_counted else computed_columns(self.in_time)
        amounts = {name for name in names if is_called_money(name) and not is_called_total(name)}
        return {name for name in names - amounts if not is_called_turnover(name)}

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

    def is_called_amount(self, column: str, *, of_persons: bool = False) -> bool:
        """Return whether a column adds up over events, by its name or its cells, or the table is about it.

        A value of a person who was examined, such as the glucose, adds up over none.
        """
        is_called = self._is_called_target(column) and not of_persons
        is_subject = is_called or column in self.prices | self.titled | self.outcomes
        return is_subject or _adds_up(column) or column in self.paid

    def _is_called_target(self, column: str) -> bool:
        return self.by_name[column] < len(LIKELY_TARGETS)

    def _points(self, column: str) -> int:
        doubt, are_events = self.doubts[column], self.candidate.has_events
        evidence = {
            str(doubt): doubt is not None,
            "forecast, past or change of another": is_called_forecast(column)
            or is_called_past(column)
            or column in self.older | self.computed,
            "called a target": self._is_called_target(column),
            "named as the table": column in self.titled,
            "called an amount": ends_in_amount(column),
            "called an outcome or the last price": column in self.outcomes,
            "last price of a day": column in self.last_prices,
            "called a price": column in self.prices and not are_events,
            "drives others": column in self.drivers,
            "mostly empty": not is_mostly_known(self.values[column]),
            "known in fewer rows than its copy": column in self.incomplete,
            "money of an event": are_events
            and is_called_money(column)
            and not (is_called_unit_price(column) or is_called_extra(column)),
            "price times number of pieces": column in self.paid,
            "smallest or largest": column in self.extremes,
            "tells of a device": is_called_of_device(column),
            "called a unit of time": len(column) >= len("days") and unit_of(column.removesuffix("s")) is not None,
            "called a duration": is_called_duration(column),
            "was there before": is_called_opening(column),
            "called a pollutant": column in self.pollutants,
            "mean temperature of a day": column in self.mean_temperatures,
            "called a total": column in self.totals,
            "called a demand": is_called_demand(column),
            "goes on in its series": column in self.going_on,
            "numbered input": column in self.inputs,
            "called an output": is_called_output(column),
            "active power": column in self.active_powers,
            "counter of an amount": column in self.counters,
        }
        return sum(_POINTS[name] for name, is_so in evidence.items() if is_so)


# --------------------------------------------------------------------------- names


def _adds_up(column: str) -> bool:
    return ends_in_amount(column) or is_called_money(column) or is_called_count(column)


def _by_name(column: str, others: list[str]) -> int:
    """The place of a column among those that are targets by name, without its footnote or unit: `Close*`, `y (m)`."""
    plain = column.lower().removesuffix("(t)").strip("* ")
    without_unit = re.sub(r"\s*(\([^()]*\)|\[[^\[\]]*\])$", "", plain)
    plain = without_unit if without_unit in TARGET_NAMES else plain
    if is_plan(column, others):
        return len(LIKELY_TARGETS)
    if "target" in words_of(column) and not is_called_intensity(column):  # and no `target_share` of players
        return -1
    if plain == "bid" and any(map(is_called_close, others)):
        return len(LIKELY_TARGETS)
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
    starts = {" ".join(words[at:])[:_SAME_START] for at in range(len(words))}
    start = " ".join(re.findall("[a-z]+", name))[:_SAME_START]
    begins_alike = len(start.strip()) == _SAME_START and start in starts and not is_called_base(column)
    is_part = len(name) >= 4 and (name in table.lower() or begins_alike)
    return is_part or (len(name) == 3 and (name in words or table.lower().endswith(name)))


# --------------------------------------------------------------------------- cells


def is_mostly_known(values: pd.Series) -> bool:
    return bool(values.notna().mean() >= _MOSTLY_KNOWN)


def _completes(values: pd.Series, others: pd.Series) -> bool:
    """Return whether a column is another one with some of its empty cells filled, as by the limits of an instrument."""
    known, of_others = values.notna(), others.notna()
    return bool(known.sum() > of_others.sum() > len(others) / 2 and (values == others)[of_others].all())
