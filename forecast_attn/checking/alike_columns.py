"""Evidence that columns are series of one kind, rather than a target and what drives it."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pandas as pd

from forecast_attn.checking.number_times import FEWEST_ROWS
from forecast_attn.checking.value_names import (
    is_called_base,
    is_called_intensity,
    is_called_past,
    is_called_property,
    is_called_weather,
)
from forecast_attn.data.reading.time_parts import are_whole

MANY = 6
"""Fewest columns of one kind that are rather series than covariates."""
_MANY_CALLED_ALIKE = 4
"""Fewest such columns where they are called by the codes of shares, or end in the same words."""
_LETTERS_OF_SHARES = {3, 4, 5}
_MANY_OF_A_STEM = 40
"""Fewest columns that only a number tells apart, as `MT_001` of meters."""
_LETTERS_OF_A_STEM = 3
"""Fewest letters before a number that say what all columns are: `store_1`, and no `X1`."""
_SCALE_APART = 20.0
"""Largest over smallest median of columns that are alike."""
_MOVES_APART, _MOVES_OF_MANY_APART = 4.0, 16.0
"""Largest over smallest usual step, as a share of its column's median, of series of one kind and unlike size."""
_MANY_SHARES = 12
"""Shares beside which one column may be of another size, as cash is."""
_MOST_CODES = 3
"""Distinct numbers of a column of codes beside columns of measurements."""
_LONG_TAIL = 5
"""Letters of the words or the unit in which all names end."""


def are_alike(columns: list[pd.Series], *, may_differ: bool, are_unnamed: bool) -> bool:
    """Return whether columns of numbers are series of one kind, by their names and sizes.

    Args:
        columns: that may be the target.
        may_differ: whether one of them may be the target: named so, or a number of each event.
        are_unnamed: whether the file has no names of columns.
    """
    names = [str(column.name) for column in columns]
    are_of_one_scale = _have_one_scale(_without_cash(columns))
    stem = _common_stem(names) if len(names) > 1 else None
    is_word = stem is not None and len(stem) >= _LETTERS_OF_A_STEM
    if stem is not None and (is_word or len(names) > 2) and are_of_one_scale:
        return not (are_unnamed and _have_codes_among(columns))  # of how good each number is
    if are_unnamed and len(names) >= _MANY_SHARES and all(column.dropna().between(0, 1).all() for column in columns):
        return True  # how busy each part of a server is
    if is_word and len(names) > 2 and _differ_by_one_number(names):
        return not are_unnamed
    is_weather = [is_called_weather(name) for name in names]
    is_driven = any(is_weather) and not all(is_weather)  # deaths beside temperatures
    if may_differ or is_driven or any(map(is_called_past, names)) or _have_codes_among(columns):
        return False
    if len(names) >= MANY and all(column.dropna().isin((0, 1)).all() for column in columns):  # crises of countries
        return True
    if stem is not None and len(names) >= _MANY_OF_A_STEM:
        return True
    if are_of_one_scale:
        return len(names) >= (_MANY_CALLED_ALIKE if _are_called_alike(names) else MANY)
    return len(names) >= MANY and (_are_codes_of_series(names) or _move_alike(columns))


def _have_codes_among(columns: list[pd.Series]) -> bool:
    """Return whether some columns hold few whole numbers, as 1 and -1 of two parties do, and others have fractions."""
    have_few = any(column.nunique() <= _MOST_CODES and are_whole(column) for column in columns)
    return have_few and not all(map(are_whole, columns))


def _are_called_alike(names: list[str]) -> bool:
    """Return whether names are codes of shares, or all end in the same words or unit: `France[€/MWh]`."""
    letters = itertools.takewhile(lambda of_names: len(set(of_names)) == 1, zip(*map(reversed, names), strict=False))
    tail = "".join(of_names[0] for of_names in letters)[::-1]
    return _lengths_of_codes(names) <= _LETTERS_OF_SHARES or len(re.sub(r"^[^\W_]+", "", tail)) >= _LONG_TAIL


def _are_codes_of_series(names: list[str]) -> bool:
    """Return whether names are numbers of stations, counties or shops, or codes of three letters."""
    return all(map(str.isdecimal, names)) or _lengths_of_codes(names) == {3}


def _lengths_of_codes(names: list[str]) -> set[int]:
    """The lengths of names in capitals; 0 for others."""
    return {len(each) if re.fullmatch("[A-Z]+", each) else 0 for each in names}


def _common_stem(names: list[str]) -> str | None:
    """The name of all columns but for numbers, or a letter behind: `store` of store_1, `X` of X1 and X2.

    Of two columns, the letter stands apart: `temp_a` and `temp_b`, and no `TempC` and `TempF`.
    """
    letter = r"(?<=[ _.-])[A-Za-z]$" if len(names) == 2 else r"[A-Za-z]$"
    for differing, shortest in ((r"\d+", 0), (letter, _LETTERS_OF_A_STEM)):
        stem, *others = {re.sub(differing, "", name) for name in names}
        if not others and len(stem) >= shortest:
            return stem.strip(" _.-")
    return None


def _differ_by_one_number(names: list[str]) -> bool:
    """Return whether names have one number that differs, as of a station, and not another one of what it measures."""
    numbers = zip(*(re.findall(r"\d+", name) for name in names), strict=False)
    return sum(len(set(of_names)) > 1 for of_names in numbers) <= 1


def _have_one_scale(columns: list[pd.Series]) -> bool:
    """Return whether columns are of one kind by their size; of rain, which is mostly zero, by the rest."""
    medians = np.array([column.abs().median() for column in columns])
    if not medians.any() and all(column.nunique() > 2 for column in columns):
        medians = np.array([column[column != 0].abs().median() for column in columns])
    return len(medians) > 0 and bool((medians > 0).all() and medians.max() <= _SCALE_APART * medians.min())


def _without_cash(columns: list[pd.Series]) -> list[pd.Series]:
    """The columns without one that is no code of a share beside many that are."""
    shares = [column for column in columns if re.fullmatch("[A-Z]{1,5}", str(column.name))]
    return shares if len(columns) - 1 == len(shares) >= _MANY_SHARES else columns


def _move_alike(columns: list[pd.Series]) -> bool:
    """Return whether amounts of unlike size go up and down by like shares: the product of countries, beef and veal.

    Shares, weather and the number of persons beside them are of another kind, by their names.
    """
    others = (is_called_weather, is_called_intensity, is_called_base, is_called_property)
    if any(is_other(str(column.name)) for column in columns for is_other in others):
        return False
    known = [column.dropna().to_numpy() for column in columns]
    if min(map(len, known)) < FEWEST_ROWS or min(numbers.min() for numbers in known) < 0:
        return False
    moves = np.array([np.median(np.abs(np.diff(numbers))) / max(np.median(numbers), 1e-12) for numbers in known])
    most = _MOVES_OF_MANY_APART if len(columns) >= 2 * MANY else _MOVES_APART
    return bool(moves.min() > 0 and moves.max() <= most * moves.min())
