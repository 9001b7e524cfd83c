"""Evidence that the numbers of rows add up, as amounts do, or do not: levels, shares, marks."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.value_names import (
    are_called_of_persons,
    ends_in_amount,
    is_called_count,
    is_called_intensity,
    is_called_mean,
    is_called_money,
    is_called_total,
    is_called_way,
)
from forecast_attn.data.cells import Cells
from forecast_attn.data.column_names import is_called_year
from forecast_attn.data.reading.text_columns import text_columns

_OF_PRICES = re.compile(r"\s*(?:[$€£¥₹]|[A-Z]{1,3}\$|[A-Z]{3}|Rs\.?)\s*(?:/|per )\s*[^\W\d_]")
FEWEST_NUMBERS = 20
_UNLIKE, _UNLIKE_OF_COUNTS = 0.3, 0.6
"""Correlation of neighbouring rows below which they are amounts rather than levels; of what is called a count, more."""
_CLOSE, _CLOSE_OF_WHOLE = 2, 4 / 3
"""Ratio to their median within which numbers are levels; of whole ones, such as votes in per cent, a smaller one."""
_MOST_MARKS = 6
"""Largest number of distinct marks, as those of a rating or a priority, or of settings of a machine."""
_MOST_POINTS, _FEWEST_POINTS = 10, 3
"""Largest number of points, and the smallest one that may be the most frequent; of pieces sold, one or two are."""
_FEWEST_MARKED = 100
"""Fewest rows of which so few distinct numbers say something."""
_MOST_SHUFFLED = 200_000
"""Rows that tell whether amounts add up, where those of one time are taken in no order."""
_FEWEST_CENTS = 0.2
"""Share of amounts of money that end in a cent: most prices may be 4.90 and 12.50."""
_MOSTLY_CENTS = 0.9


def may_be_summed(name: str, values: NDArray[np.float64], series: NDArray[np.signedinteger]) -> bool:
    """Return whether values are no shares, and no level, of which neighbouring rows show nearly the same.

    Args:
        name: of the column.
        values: in the order of time within each series (num_rows,).
        series: number of each row's series (num_rows,).
    """
    if _are_shares(name, values[~np.isnan(values)]):
        return False
    likeness = likeness_to_next(values, series)
    if np.isnan(likeness):
        return (is_called_count(name) or is_called_total(name)) and bool(_are_pairs(values, series).any())
    return bool(likeness < (_UNLIKE_OF_COUNTS if is_called_count(name) or is_called_way(name) else _UNLIKE))


def likeness_to_next(values: NDArray[np.float64], series: NDArray[np.signedinteger]) -> float:
    """The correlation of the values of neighbouring rows of a series; NaN for fewer than `FEWEST_NUMBERS` of them.

    Args:
        values: in the order of time within each series (num_rows,).
        series: number of each row's series (num_rows,).
    """
    pairs = _are_pairs(values, series)
    largest = np.abs(values[~np.isnan(values)]).max(initial=1)  # whose square may be infinite
    before, after = values[:-1][pairs] / largest, values[1:][pairs] / largest
    is_known = len(before) >= FEWEST_NUMBERS and before.std() and after.std()
    return float(np.corrcoef(before, after)[0, 1]) if is_known else np.nan


def _are_pairs(values: NDArray[np.float64], series: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
    """Rows whose value, and the next one of the same series, are known (num_rows - 1,)."""
    is_known = ~np.isnan(values)
    return np.asarray(is_known[1:] & is_known[:-1] & (series[1:] == series[:-1]), np.bool_)


def cells_may_be_summed(name: str, cells: Cells) -> bool:
    """Return whether a column of a table may be summed, if called an amount whatever the order of rows of one time.

    Rows that are sorted by their numbers within each month show nearly the same one after the other.
    """
    is_called = is_called_count(name) or is_called_money(name) or ends_in_amount(name)
    values, series, stamps = cells.columns[name], cells.series, cells.stamps
    if not is_called or len(values) < FEWEST_NUMBERS:
        return may_be_summed(name, values, series)
    values, series, stamps = values[:_MOST_SHUFFLED], series[:_MOST_SHUFFLED], stamps[:_MOST_SHUFFLED]
    steps = np.cumsum((stamps[1:] != stamps[:-1]) | (series[1:] != series[:-1]))
    order = np.lexsort((np.random.default_rng(0).permutation(len(values)), np.append(0, steps)))
    return may_be_summed(name, values[order], series[order])


def _are_shares(name: str, values: NDArray[np.float64]) -> bool:
    """Return whether numbers are means, shares, marks or degrees, which nobody sums, by their cells or their name.

    Shares lie within 0 and 1; other levels lie close to each other, as amounts, save those of money, hardly do.
    """
    if is_called_intensity(name) or is_called_mean(name):
        return True
    if is_called_money(name) or is_called_count(name) or len(values) < FEWEST_NUMBERS:
        return False
    if are_marks(values) or are_scores(values):
        return True
    is_whole = bool((values == np.round(values)).all())
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    are_parts = not is_whole and values.min() >= 0 and values.max() <= 1
    spread = _CLOSE_OF_WHOLE if is_whole else _CLOSE
    return are_parts or bool(low > middle / spread > 0 and high < spread * middle)


def has_unit_of_prices(frame: pd.DataFrame) -> bool:
    """Return whether a column says in all its cells of what a price is: `R$ / litro`, `EUR/MWh`."""
    texts = (frame[name].cat.categories for name in text_columns(frame))
    return any(0 < len(cells) <= _MOST_MARKS and all(map(_OF_PRICES.match, map(str, cells))) for cells in texts)


def are_answers_of_a_year(time: str, frame: pd.DataFrame) -> bool:
    """Return whether rows are persons who were asked in some year: their answers are averaged, not counted or summed.

    Args:
        time: name of the column of time.
        frame: as it stands in the file.
    """
    is_year = time in frame.columns and is_called_year(time)  # and no date of which a year is a part
    return is_year and are_called_of_persons(map(str, frame.columns))


def are_marks(values: NDArray[np.float64]) -> bool:
    """Return whether numbers are marks or settings: many rows of few whole numbers above zero, as 1 to 5 or 8, 16, 24.

    Of pieces sold, one is the most frequent number by far.
    """
    if len(values) < _FEWEST_MARKED or values.min() <= 0 or (values != np.round(values)).any():
        return False
    distinct, counts = np.unique(values, return_counts=True)
    return bool(2 < len(distinct) <= _MOST_MARKS and counts[0] < 0.5 * len(values))


def are_scores(values: NDArray[np.float64]) -> bool:
    """Return whether numbers are points of a test, from 0 to 10 at most: those in the middle are the most frequent."""
    if len(values) < _FEWEST_MARKED or values.min() < 0 or (values != np.round(values)).any():
        return False
    distinct, counts = np.unique(values, return_counts=True)
    return bool(_MOST_MARKS < distinct[-1] <= _MOST_POINTS and distinct[counts.argmax()] >= _FEWEST_POINTS)


def are_in_cents(values: NDArray[np.float64]) -> bool:
    """Return whether numbers have two decimals, as money does: some of them both, few of them more."""
    cents = values[~np.isnan(values)] * 100
    is_whole = np.isclose(cents, np.round(cents), rtol=0, atol=1e-6)
    return bool(len(cents) and is_whole.mean() >= _MOSTLY_CENTS and np.mean(np.round(cents) % 10 != 0) >= _FEWEST_CENTS)
