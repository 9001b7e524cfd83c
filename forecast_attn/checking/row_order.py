"""Evidence that rows without a date are in no order of time: names of things, ages, numbers that follow no others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.amounts import are_marks
from forecast_attn.checking.number_times import is_of_the_calendar
from forecast_attn.data.column_names import counts_rows, is_called_age, is_called_coordinate
from forecast_attn.data.reading.cell_kinds import shape
from forecast_attn.data.reading.clocks import is_clock
from forecast_attn.data.reading.text_columns import holds_texts
from forecast_attn.data.reading.time_parts import are_whole, holds_years
from forecast_attn.data.timestamps import looks_like_dates

FEWEST_ROWS = 20
"""Rows whose numbers show whether they follow each other."""
MOST_ROWS, MOST_COLUMNS = 5000, 30
"""Rows and columns that are looked at."""
_LAGS = (1, 4, 7, 12, 24)
"""Rows apart, of which the longer ones are seasons."""
_BY_CHANCE = 0.01
"""Chance that any of the numbers of shuffled rows looks as if it followed itself."""
_FEWEST_DISTINCT = 3
_OFF_ZERO = 0.3
"""Share of their deviation by which the mean of returns is off 0."""
_SPREADS_APART = 5
"""Largest over smallest deviation of returns of several shares."""
_FAR = 0.1
"""Share of the deviation of a coordinate by which the places of two events differ, and not those of a track."""
_NAMED = 0.9
"""Share of rows with a name of their own."""
_FEWEST_IN_BLOCKS = 5
"""Rows of one property, on average, without whose mean the others may follow each other."""
_MOSTLY_UP = 0.6
"""Share of rows at which a time of day goes up."""
_MANY_SHAPES = 3
"""Forms of codes, `V90/2000` and `E-101`, that no numbering of rows has."""


def may_be_steps(frame: pd.DataFrame) -> bool:
    """Return whether the rows of a table may follow each other in time, though no column says when.

    Rows with a name each are things, and not times; those with an age are persons, or a life table; those far from each
    other are places. Of other numbers, some follow themselves, in level or spread, at the next row or a season later. A
    column alone is not judged.

    Args:
        frame: of one series.
    """
    columns = [frame[name] for name in map(str, frame.columns) if not counts_rows(name)]
    texts = [column for column in columns if holds_texts(column)]
    texts = [each for each in texts if not (is_of_the_calendar(each) or looks_like_dates(each) or _are_durations(each))]
    numbers = [each for each in columns if each.dtype.kind in "iuf" and each.nunique() >= _FEWEST_DISTINCT]
    if _are_things(texts, numbers):
        return False
    are_few = len(frame) < FEWEST_ROWS or len(numbers) + len(texts) < 2 or not numbers
    if are_few or (not texts and _are_returns(numbers)):
        return True
    switches = [each for each in columns if each.dtype.kind in "biuf" and each.nunique() == 2]
    return _follow_themselves(numbers[:MOST_COLUMNS], [*(text.cat.codes for text in texts), *switches])


def _are_durations(text: pd.Series) -> bool:
    """Return whether cells such as `0:02:36` do not go on from row to row, as the hours of days do."""
    if not is_clock(text):
        return False
    cells = text.head(MOST_ROWS).dropna().astype("str").to_numpy()
    return bool(np.count_nonzero(cells[1:] > cells[:-1]) < _MOSTLY_UP * len(cells))


def _are_things(texts: list[pd.Series], numbers: list[pd.Series]) -> bool:
    """Return whether rows are things with names, persons with an age, or places far from each other."""
    names = [str(column.name) for column in numbers]
    are_places = any(is_called_coordinate(name) and jumps(each) for name, each in zip(names, numbers, strict=True))
    return _name_things(texts) or any(map(is_called_age, names)) or are_places


def _follow_themselves(numbers: list[pd.Series], groups: list[pd.Series]) -> bool:
    """Return whether some of the numbers that measure something follow themselves within the groups of a table.

    True, too, where all of them are properties or count the rows.
    """
    numbers, groups = ([column.head(MOST_ROWS) for column in each] for each in (numbers, groups))
    are_properties = [_is_a_property(column) for column in numbers]
    groups = [*groups, *itertools.compress(numbers, are_properties)]
    groups += _joined(groups)
    others = [column for column, is_one in zip(numbers, are_properties, strict=True) if not is_one]
    measured = [column for column in others if not _rises_in_every_row(column)]
    scores = [score for column in measured for score in _scores(column, groups)]
    return max(scores, default=np.inf) > NormalDist().inv_cdf(1 - _BY_CHANCE / (2 * max(len(scores), 1)))


def jumps(coordinate: pd.Series) -> bool:
    """Return whether a coordinate is mostly far from that of the row before, as on no track."""
    numbers = coordinate.dropna().to_numpy()
    return len(numbers) > FEWEST_ROWS and bool(np.median(np.abs(np.diff(numbers))) > _FAR * numbers.std())


def _name_things(texts: list[pd.Series]) -> bool:
    """Return whether nearly each row has a name of its own: words, codes of several shapes, or a cell of a cube."""
    if any(map(_names_things, texts)):
        return True
    together = pd.DataFrame({at: text.cat.codes for at, text in enumerate(texts)})
    return len(texts) > 1 and len(together.drop_duplicates()) >= _NAMED * len(together)


def _names_things(column: pd.Series) -> bool:
    """Return whether nearly each row has a word of its own, without digits, or a code unlike those of others."""
    cells = column.dropna().astype(str)
    if not len(cells) or column.nunique() < _NAMED * len(column):
        return False
    are_words = cells.str.fullmatch(r"\D*[^\W\d_]{2}\D*").mean() >= _NAMED
    return bool(are_words or cells.map(shape).nunique() >= _MANY_SHAPES)


def _are_returns(columns: list[pd.Series]) -> bool:
    """Return whether all numbers lie around 0, about as far from it: returns of shares, which follow no others."""
    means, spreads = (np.array([getattr(column, name)() for column in columns]) for name in ("mean", "std"))
    are_around = (np.abs(means) <= _OFF_ZERO * spreads).all()
    return bool(len(columns) > 1 and are_around and spreads.max() <= _SPREADS_APART * spreads.min())


def _is_a_property(column: pd.Series) -> bool:
    """Return whether numbers are years or settings, or stand in blocks of one each, as rows sorted by a property do."""
    codes = pd.factorize(column)[0]
    num_blocks = int(np.count_nonzero(np.diff(codes))) + 1
    are_blocks = num_blocks == codes.max() + 1 <= len(codes) / _FEWEST_IN_BLOCKS
    return are_blocks or are_marks(column.dropna().to_numpy()) or holds_years(column)


def _rises_in_every_row(column: pd.Series) -> bool:
    """Return whether whole numbers go up with every row, as those of persons or trials."""
    return are_whole(column) and bool((np.diff(column.to_numpy()) > 0).all())


def _joined(groups: list[pd.Series]) -> list[pd.Series]:
    """The combinations of several groups, as men of one island; none where these are hardly groups."""
    if len(groups) < 2:
        return []
    joined = pd.DataFrame(dict(enumerate(groups))).groupby(list(range(len(groups))), dropna=False).ngroup()
    return [joined] if joined.nunique() <= len(joined) / _FEWEST_IN_BLOCKS else []


def _scores(column: pd.Series, groups: list[pd.Series]) -> Iterator[float]:
    """Autocorrelations of the ranks within groups, in standard deviations of those of shuffled rows."""
    known = column.notna()
    values = column[known]
    for numbers in (values, (values - values.median()).abs()):
        ranks = numbers.rank()
        for group in groups:
            ranks = ranks - ranks.groupby(group[known]).transform("mean")
        yield from _autocorrelations(np.asarray(ranks - ranks.mean(), np.float64))


def _autocorrelations(ranks: NDArray[np.float64]) -> Iterator[float]:
    for lag in _LAGS:
        if len(ranks) >= max(3 * lag, FEWEST_ROWS) and ranks.any():
            shared = float(np.mean(ranks[lag:] * ranks[:-lag]) / np.mean(ranks**2))
            yield abs(shared) * np.sqrt(len(ranks) - lag)
