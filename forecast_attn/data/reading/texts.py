"""Cells of text: stripped, and taken for what they say when all of them say numbers or yes and no."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.reading.numbers import MISSING_WORDS, parse_texts

FEW = 50
_BOOLEANS = {"true": True, "false": False}


def finish_text(column: pd.Categorical, decimal: str, *, grouped: bool) -> pd.Categorical | NDArray[Any]:
    """A column of text as numbers or booleans when every cell is one, else as text without blanks around it.

    Args:
        column: the cells (num_rows,).
        decimal: the decimal mark.
        grouped: whether numbers may have marks between thousands.
    """
    column = stripped(column)
    texts = [str(text) for text in column.categories[:FEW]]
    if texts and all(text.lower() in _BOOLEANS for text in texts) and len(texts) == len(column.categories):
        return _spread(np.array([_BOOLEANS[text.lower()] for text in texts]), column)
    # Most text is no number at all: a few cells show it.
    for cells in (texts, column.categories):
        numbers = parse_texts(cells, decimal, grouped=grouped)
        if np.isnan(numbers).any() or not len(numbers):
            return column
    return _spread(numbers, column)


def stripped(column: pd.Categorical) -> pd.Categorical:
    """The same text without blanks around it; what is then a word for a missing value is missing."""
    texts = column.categories.str.strip()
    gone = texts.isin(MISSING_WORDS)
    if not gone.any() and texts.equals(column.categories):
        return column
    codes, kept = pd.factorize(texts.where(~gone))
    return pd.Categorical.from_codes(np.append(codes, -1)[column.codes], categories=kept)


def _spread(values: NDArray[Any], column: pd.Categorical) -> NDArray[Any]:
    """The value of each cell's text (num_rows,), NaN where it is empty."""
    if (column.codes < 0).any():
        values = np.append(values.astype(np.float64), np.nan)
    return np.asarray(values[column.codes])
