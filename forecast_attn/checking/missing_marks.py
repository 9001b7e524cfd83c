"""Cells that stand for no value in columns of numbers: `-`, `..`, `<1`, -999."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from forecast_attn.checking.value_names import is_called_money
from forecast_attn.data.column_names import is_called_year
from forecast_attn.data.number_stamps import is_plain_number
from forecast_attn.data.reading.cell_numbers import shows_number, without_footnote
from forecast_attn.data.reading.text_columns import holds_texts

MOST_MARKS = 3
"""Different texts for no value in a column."""
MOST_LIMITS = 12
"""Different limits of what a laboratory can measure, `<0.05`."""
FEWEST_NUMBERS = 10
"""Different numbers that show what a column holds."""
MOST_LOOKED_AT = 10_000
_FEWEST_KNOWN, _FEWEST_MEASURED = 1 / 2, 1 / 5
"""Share of numbers beside marks for no value, and beside limits of what can be measured."""
_MOST_LINES_OF_NAMES = 2
"""Lines below the header that may be further lines of it."""
_NINES = re.compile(r"-?9{2,}(\.9+)?|-?9{2,}\.0+|-([78])\2{2,}")
_NEGATIVE_NINES = re.compile(rf"(?=-)(?:{_NINES.pattern})")
_HUNDREDS = re.compile(r"-[1-9]00")
_LEAST_ALONE = 100
_CODE = re.compile(r"0\d+")
_IS_WORD = re.compile(r"[^\W\d_]{3}")


def marks_of_missing(frame: pd.DataFrame) -> tuple[str, ...]:
    """Texts, and numbers far from all others, that stand for no value in columns of numbers.

    One that stands among few numbers, or may have been measured, as -200 and a 99 alone may, has to stand in another
    column, too. An amount of money may well be 99. Different words in one row are the names of another table below.
    """
    numbers_beside: dict[str, list[int]] = {}
    words_of_row: dict[int, set[str]] = {}
    for name in map(str, frame.columns):
        column = frame[name]
        if holds_texts(column):
            texts, count = _texts_among_numbers(column)
            for text in filter(_IS_WORD.search, texts):
                words_of_row.setdefault(int(np.argmax(column == text)), set()).add(text)
        elif is_plain_number(column) and (name == "y" or not is_called_year(name)):
            nines = _NEGATIVE_NINES if is_called_money(name) else _NINES
            texts, count = _far_extremes(column, nines), FEWEST_NUMBERS
            if not texts:
                texts, count = [*_far_extremes(column, _HUNDREDS), *_far_extremes(column, nines, fewest=1)], 2
        else:
            continue
        for mark in texts:
            numbers_beside.setdefault(mark, []).append(count)
    names = set().union(*(words for words in words_of_row.values() if len(words) > 1))
    return tuple(mark for mark, counts in numbers_beside.items() if mark not in names and _are_enough(counts))


def _are_enough(counts: list[int]) -> bool:
    """Return whether many numbers stand beside a mark in a column, several in two, or one in each of many."""
    is_in_two = sum(count > 1 for count in counts) > 1
    return max(counts) >= FEWEST_NUMBERS or is_in_two or len(counts) >= FEWEST_NUMBERS


def _texts_among_numbers(column: pd.Series) -> tuple[list[str], int]:
    """The few texts without a digit, or with a doubt or a limit as `?0.2`, `<1`, among numbers; how many these are."""
    counts = column.value_counts()
    counts = counts[counts > 0]
    if counts.empty:
        return [], 0
    texts = [str(text) for text in counts.index]
    are_numbers = np.array([shows_number(without_footnote(text)) for text in texts[:MOST_LOOKED_AT]], np.bool_)
    others = [text for text, number in zip(texts, are_numbers, strict=False) if not number]
    share_of_numbers = counts.to_numpy()[: len(are_numbers)][are_numbers].sum() / counts.sum()
    are_words = not any(re.match(r"[^#?<>]*[\d,]", text) for text in others)
    below = column.iloc[_MOST_LINES_OF_NAMES:]
    are_names = len(below) >= FEWEST_NUMBERS and not below.isin(others).any()
    are_limits = all(text.startswith(("<", ">")) for text in others)
    enough = share_of_numbers >= (_FEWEST_MEASURED if are_limits else _FEWEST_KNOWN)
    few = 0 < len(others) <= (MOST_LIMITS if are_limits else MOST_MARKS) and are_words and not are_names
    are_codes = any(_CODE.fullmatch(text) for text in texts[:MOST_LOOKED_AT])  # of states, and `US` of all
    return others if few and enough and not are_codes else [], int(are_numbers.sum())


def _far_extremes(column: pd.Series, form: re.Pattern[str], fewest: int = 2) -> list[str]:
    """-999, say, where all other numbers are farther from it than from each other; a smaller number `fewest` times."""
    values = column.to_numpy(np.float64, na_value=np.nan)
    values = values[~np.isnan(values)]
    if not len(values):
        return []
    for extreme in (values.min(), values.max()):
        others = values[values != extreme]
        if not form.fullmatch(f"{extreme:.10g}") or len(others) < max(FEWEST_NUMBERS, len(values) / 2):
            continue
        if abs(extreme) < _LEAST_ALONE and len(values) - len(others) < fewest:
            continue
        if np.abs(others - extreme).min() > max(np.ptp(others), 1.0):
            return [f"{extreme:.10g}"]
    return []
