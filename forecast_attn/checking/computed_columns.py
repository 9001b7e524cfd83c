"""Columns that others explain, row by row: the past or change of one, the last of four prices, what a number costs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

_MOST_COMPARED, _FEWEST_COMPARED, _ROWS_COMPARED = 60, 10, 500
"""Columns that are compared with each other, and the rows of them."""
_MOST_FACTORS = 20
"""Columns of which the products of two are compared with a third one."""
_CENT = 0.01
_NUMBER_IN_NAME = re.compile(r"\d+(?=$|\W)")
_NEARLY, _MOSTLY = 1e-3, 0.95
"""Share of their size by which two columns may differ, and of the rows in which they hardly do."""


def computed_columns(columns: Mapping[str, pd.Series]) -> set[str]:
    """The columns that hold what another one held in the row before, how it changed since, or its logarithm.

    Of a counter that never falls and what it has gone up by, the counter is computed: all cases, and new ones.

    Args:
        columns: of one table, by name; none of many are compared.
    """
    if len(columns) > _MOST_COMPARED:
        return set()
    cells = {name: column.to_numpy()[:_ROWS_COMPARED] for name, column in columns.items()}
    pairs = list(itertools.permutations(cells, 2))
    counters = {name for name in cells if _never_falls(cells[name])}
    sums = {other: name for name, other in pairs if other in counters and _are_changes(cells[name], cells[other])}
    computed = {
        name for name, other in pairs if sums.get(other) != name and _is_computed_from(cells[name], cells[other])
    }
    return computed | set(sums)


def closing_prices(columns: Mapping[str, pd.Series]) -> set[str]:
    """The last of four neighbouring columns of which the second is the highest in each row, and the third the lowest.

    Nearly in each: the first, the highest, the lowest and the last price of a day, in a file without names of columns.

    Args:
        columns: of one table, by name, in its order.
    """
    names = list(columns)
    fours = (names[at : at + 4] for at in range(len(names) - 3))
    return {four[-1] for four in fours if _are_prices_of_a_day(*(columns[name].to_numpy() for name in four))}


def amounts_paid(columns: Mapping[str, pd.Series]) -> dict[str, str]:
    """The columns that are a price times a whole number of pieces in nearly each row, and the price of each.

    Args:
        columns: of one table, by name; none of many are compared.
    """
    if len(columns) > _MOST_FACTORS:
        return {}
    cells = {name: column.to_numpy()[:_ROWS_COMPARED] for name, column in columns.items()}
    numbers = [name for name in cells if _are_numbers_of_pieces(cells[name])]
    pairs = [(price, number) for number in numbers for price in cells if price not in numbers]
    return {
        paid: price
        for price, number in pairs
        for paid in cells
        if paid not in (price, number) and _are_products(cells[paid], cells[price], cells[number])
    }


def sums_of_numbered(columns: Mapping[str, pd.Series]) -> set[str]:
    """The columns that are the sum of those of the same name and a number, in nearly each row: `P(W)` of `P1(W)`, …"""
    numbered: dict[str, list[str]] = {}
    for name in columns:
        numbered.setdefault(_NUMBER_IN_NAME.sub("", name), []).append(name)
    parts = {name: [each for each in numbered.get(name, []) if each != name] for name in columns}
    return {
        name for name in columns if len(parts[name]) > 1 and _is_sum(columns[name], [columns[p] for p in parts[name]])
    }


def _is_sum(whole: pd.Series, parts: list[pd.Series]) -> bool:
    total = np.sum([part.to_numpy() for part in parts], axis=0)
    known = np.isfinite(whole.to_numpy() + total)
    numbers = whole.to_numpy()[known]
    near = np.abs(numbers - total[known]) <= _NEARLY * np.abs(numbers).max(initial=0)
    return bool(known.sum() >= _FEWEST_COMPARED and near.mean() >= _MOSTLY)


def _are_products(paid: Numbers, prices: Numbers, numbers: Numbers) -> bool:
    """Return whether amounts are prices times numbers, to a cent or so, in nearly all rows of more than one piece."""
    known = np.isfinite(paid + prices + numbers) & (np.abs(numbers) > 1) & (paid != 0)
    near = np.abs(paid - prices * numbers)[known] <= _NEARLY * np.abs(paid[known]) + _CENT
    return bool(known.sum() >= _FEWEST_COMPARED and near.mean() >= _MOSTLY and len(np.unique(prices[known])) > 1)


def _are_numbers_of_pieces(numbers: Numbers) -> bool:
    known = numbers[np.isfinite(numbers)]
    return bool(len(known) and (known == np.round(known)).all() and len(np.unique(known)) > 1)


def _are_prices_of_a_day(first: Numbers, highest: Numbers, lowest: Numbers, last: Numbers) -> bool:
    known = np.isfinite(first + highest + lowest + last)
    lie_within = (lowest <= np.minimum(first, last)) & (np.maximum(first, last) <= highest)
    differ = (lowest < highest) & (first != last)
    are_many = known.sum() >= _FEWEST_COMPARED
    return bool(
        are_many and lie_within[known].mean() >= _MOSTLY and differ[known].mean() > 0.5 and lowest[known].min() > 0
    )


def _never_falls(numbers: Numbers) -> bool:
    """Return whether hardly a number is below the one before, as of a counter, which may begin anew each year."""
    steps = np.diff(numbers[np.isfinite(numbers)])
    return bool(len(steps) and (steps >= 0).mean() >= _MOSTLY)


def _are_changes(numbers: Numbers, others: Numbers) -> bool:
    """Return whether numbers are what others have changed by since the row before, be most of them 0, 1 or 2."""
    changes = np.diff(others)
    has_changed = np.isfinite(changes) & (changes != 0)
    return has_changed.sum() >= _FEWEST_COMPARED and _are_nearly_equal(numbers[1:], changes, may_repeat=True)


def _is_computed_from(numbers: Numbers, others: Numbers) -> bool:
    """Return whether a column is the past, the change or the logarithm of another one, in nearly all rows that tell."""
    with np.errstate(divide="ignore", invalid="ignore"):
        candidates = (others[:-1], np.diff(others), np.log(others[1:]))
    return any(_are_nearly_equal(numbers[1:], each) for each in candidates)


def _are_nearly_equal(numbers: Numbers, others: Numbers, *, may_repeat: bool = False) -> bool:
    known = np.isfinite(numbers) & np.isfinite(others)
    do_repeat = not may_repeat and len(np.unique(numbers[known])) < known.sum() / 2
    if known.sum() < _FEWEST_COMPARED or do_repeat:
        return False
    near = np.abs(numbers[known] - others[known]) <= _NEARLY * np.abs(numbers[known]).mean()
    return bool(near.mean() >= _MOSTLY)
