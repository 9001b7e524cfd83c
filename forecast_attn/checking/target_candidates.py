"""Likely targets of a table whose time and series are known, by the evidence of names and cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.amounts import are_answers_of_a_year, are_scores, may_be_summed
from forecast_attn.checking.number_times import is_of_the_calendar
from forecast_attn.checking.role_candidates import RoleCandidate
from forecast_attn.checking.row_order import jumps
from forecast_attn.checking.series_candidates import series_numbers
from forecast_attn.checking.target_doubts import EVEN, Doubt, doubt_about, places_its_row
from forecast_attn.checking.target_evidence import TargetEvidence, is_mostly_known
from forecast_attn.checking.value_names import (
    are_called_of_persons,
    is_called_count,
    is_called_pay,
    is_called_turnover,
    is_count_of_record,
)
from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import (
    ROW_NAMES,
    counts_rows,
    is_called_beginning,
    is_called_coordinate,
    is_called_year,
    is_named_date,
    is_unnamed_counter,
)
from forecast_attn.data.reading.header import unnamed_column
from forecast_attn.data.reading.joined import ROW_NUMBER
from forecast_attn.data.reading.text_columns import text_columns
from forecast_attn.data.reading.time_parts import are_whole, holds_years
from forecast_attn.data.roles import is_numeric
from forecast_attn.data.timestamps import looks_like_dates

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
    as_series: tuple[str, ...]
    """Those of them that are no names, clocks or coordinates, which may be a series each."""
    are_alike: bool
    """True where they look like series of one kind rather than a target and its covariates."""
    are_unlikely: bool
    """True where all look like properties, names or coordinates, or rows are events, with places or with numbers that
    no name calls amounts; the number of events is then forecast.
    """
    is_measured: bool
    """True where one number with fractions is all that a row has beside its time and series: no event to count."""


def target_candidates(
    frame: pd.DataFrame, candidate: RoleCandidate, config: DataConfig, table: str, codes: frozenset[str]
) -> Targets:
    """Columns of numbers that are neither time, identifier, calendar nor counter, unless there are no others.

    Args:
        frame: as it stands in the file.
        candidate: time and series.
        config: what is given is kept.
        table: its name, which may name the target.
        codes: columns of numbers that the file writes as names: `012`.
    """
    series = series_numbers(frame, candidate.item_id)
    numbers = _numbers(frame, candidate, config)
    numbers = _changing(frame, numbers, series) if series.any() else numbers
    values = {name: _as_numbers(frame[name]) for name in numbers}
    likely = [name for name in numbers if not places_its_row(frame[name], values[name], series)]
    others = [name for name in numbers if not (is_named_date(name) or _is_of_the_calendar(frame[name]))]
    likely = likely or ([] if series.any() else others)
    located = coordinates(frame, candidate)
    doubts = {name: Doubt.NAME if name in codes else doubt_about(values[name], series, candidate) for name in likely}
    doubts |= {name: Doubt.AXIS for name in located.intersection(likely) if doubts[name] is None}
    are_persons = are_called_of_persons(name for name in map(str, frame.columns) if not is_called_pay(name))
    known = {name: values[name] for name in likely}
    kinds = {"are_unnamed": unnamed_column(1) in frame, "are_persons": are_persons}
    evidence = TargetEvidence(known, doubts, located, candidate, series, table, **kinds)
    ranked = evidence.ranked() if evidence.may_be_forecast or not candidate.counts_rows else []
    happen_at_places = not evidence.is_named and any(jumps(values[name]) for name in located.intersection(numbers))
    are_events, is_measured = _are_events_or_measured(frame, values[ranked[0]], evidence) if ranked else (False, False)
    certain = [name for name in ranked if doubts[name] in (None, Doubt.AXIS)]
    placeless = [name for name in certain if name not in located]
    return Targets(
        names=tuple(ranked),
        likely=tuple(placeless or certain or ranked),
        as_series=tuple(name for name in ranked if doubts[name] != Doubt.NAME and name not in located),
        are_alike=evidence.are_alike(),
        are_unlikely=all(doubts.values()) or happen_at_places or are_events,
        is_measured=is_measured,
    )


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


def _is_of_the_calendar(column: pd.Series) -> bool:
    """Return whether a column is a part of a date, or the year of another one: `Year Founded`."""
    return is_of_the_calendar(column) or (is_called_year(str(column.name)) and holds_years(column.dropna()))


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


# --------------------------------------------------------------------------- cells


def _are_events_or_measured(frame: pd.DataFrame, values: pd.Series, evidence: TargetEvidence) -> tuple[bool, bool]:
    """Return whether the number of rows says more than the likeliest target, and whether that is all a row measures."""
    name, candidate = str(values.name), evidence.candidate
    are_subjects = evidence.are_persons and candidate.event_stamps is not None and candidate.item_id is None
    is_amount = evidence.is_called_amount(name, of_persons=are_subjects)
    is_amount = is_amount and not (is_count_of_record(name) and _have_keys(frame))
    is_amount = is_amount and (is_called_count(name) or not is_called_beginning(candidate.time))
    is_measured = not is_amount and _is_alone(frame, values, candidate)
    if candidate.is_of_events and not is_mostly_known(values) and not is_called_turnover(name):
        return True, is_measured
    if is_amount or is_measured or not candidate.may_be_counted or are_answers_of_a_year(candidate.time, frame):
        return False, is_measured
    return are_subjects or _are_events(frame, values, candidate, evidence.series), False


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
    texts = (frame[name] for name in text_columns(frame))
    return any(text.nunique() == len(frame) and not looks_like_dates(text) for text in texts)


def _have_titles(frame: pd.DataFrame) -> bool:
    """Return whether rows have titles or subjects: text of some words that differs in nearly all of them."""
    for name in text_columns(frame):
        cells = frame[name].dropna()
        are_own = len(cells) > (1 - EVEN) * len(frame) and cells.nunique() > _MOSTLY_DISTINCT * len(cells)
        texts = cells.head(1000).astype(str)
        have_blanks = are_own and bool(texts.str.contains(" ").mean() > 0.5)  # as keys of several words have none
        if have_blanks and texts.str.count(r"[^\W\d_]{2,}").median() >= _WORDS_OF_TITLES:
            return True
    return False


def _are_cells_of_a_cube(frame: pd.DataFrame, stamps: NDArray[Any]) -> bool:
    """Return whether the same words stand at most times: those of the cells of statistics, and not of events."""
    texts = [frame[name] for name in text_columns(frame)]
    words = pd.DataFrame({at: text.cat.codes for at, text in enumerate(texts) if not looks_like_dates(text)})
    if words.empty:
        return False
    cells = words.assign(time=stamps).drop_duplicates()
    all_cells = len(words.drop_duplicates()) * cells["time"].nunique()
    return cells["time"].nunique() < len(cells) >= max(_MOSTLY_FILLED * all_cells, _MOSTLY_OWN * len(frame))
