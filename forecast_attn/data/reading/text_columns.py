"""Columns of text, each distinct text stored once; those that hold nothing but numbers or truth values become them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from forecast_attn.data.reading.cell_numbers import (
    bare_number,
    have_codes,
    parse_texts,
    unit_around,
    without_code,
    without_footnote,
)

FEW = 50
"""Texts that show that a column holds no numbers, as most columns of text do."""
MOST_FOOTNOTES = 0.5
"""Largest share of numbers with the mark of a footnote."""
_BOOLEANS = {"true": True, "false": False}


class Texts(NamedTuple):
    """A column of text, each distinct one stored once.

    A table may have thousands of columns: these are Arrow's arrays, as long as nobody needs pandas.
    """

    codes: NDArray[np.int32]
    """Number of each cell's text (num_rows,); -1 where it is empty."""
    distinct: pa.Array
    """The texts (num_distinct,), in the order of their first cells."""

    def to_categorical(self) -> pd.Categorical:
        """The column as pandas knows it."""
        categories = pd.Index(self.distinct.to_pylist(), dtype="str")
        return pd.Categorical.from_codes(self.codes, categories=categories, validate=False)


def holds_texts(column: pd.Series) -> bool:
    """Return whether a column of a table that was read holds texts."""
    return isinstance(column.dtype, pd.CategoricalDtype)


def text_columns(frame: pd.DataFrame) -> list[str]:
    """The names of the columns of texts."""
    return [str(name) for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.CategoricalDtype)]


def finish_text(column: Texts, decimal: str, *, grouped: bool) -> tuple[Texts | NDArray[Any], tuple[str, str] | None]:
    """Convert a column of text to numbers or booleans when every cell is one.

    Args:
        column: the stripped cells (num_rows,).
        decimal: the decimal mark.
        grouped: whether numbers may have marks between thousands.

    Returns:
        The column; a cell and the number in it where more than digits and marks stand in the cells.
    """
    texts = column.distinct[:FEW].to_pylist()
    if texts and all(text.lower() in _BOOLEANS for text in texts) and len(texts) == len(column.distinct):
        return _spread(np.array([_BOOLEANS[text.lower()] for text in texts]), column), None
    if not texts or not re.search(r"\d|inf", texts[0], re.IGNORECASE):  # as of most columns of text
        return column, None
    # A plain number needs no further evidence; one in other signs has to be alike in all cells, or an exception.
    for shown, may_be in (
        (str, None),
        (bare_number, _has_one_unit),
        (without_footnote, _has_few_footnotes),
        (without_code, _has_codes),
    ):
        numbers = _numbers(column, shown, decimal, grouped=grouped)
        if numbers is not None and (may_be is None or may_be(column)):
            dressed = next((text for text in column.distinct.to_pylist() if shown(text) != text), None)
            return _spread(numbers, column), None if dressed is None else (dressed, shown(dressed))
    return column, None


def _numbers(column: Texts, shown: Callable[[str], str], decimal: str, *, grouped: bool) -> NDArray[np.float64] | None:
    """The number that each distinct text shows (num_distinct,); None where one shows none."""
    for most in (1, FEW, None):  # one word tells of most columns
        numbers = parse_texts(map(shown, column.distinct[:most].to_pylist()), decimal, grouped=grouped)
        if np.isnan(numbers).any() or not len(numbers):
            return None
    return numbers


def _has_one_unit(column: Texts) -> bool:
    """Return whether all cells have the same unit or none: 5 % among plain numbers may be 0.05.

    Accountants write a currency in sums only; a single one is a slip.
    """
    units = list(map(unit_around, column.distinct.to_pylist()))
    others = {unit for unit in units if unit}
    is_of_sums = len(others) == 1 and others <= set("$€£¥₹") and len(units) - units.count("") > 1
    return len(set(units)) <= 1 or is_of_sums


def _has_few_footnotes(column: Texts) -> bool:
    """Return whether at most half of the cells have a footnote: what all have is no exception."""
    marked = np.array([without_footnote(text) != text for text in column.distinct.to_pylist()])
    return bool(marked[column.codes[column.codes >= 0]].mean() <= MOST_FOOTNOTES)


def _has_codes(column: Texts) -> bool:
    return have_codes(column.distinct.to_pylist())


def stripped(column: Texts, missing: tuple[str, ...]) -> Texts:
    """Strip the text; words for a missing value become missing."""
    texts = pc.utf8_trim_whitespace(column.distinct)
    gone = pc.is_in(texts, pa.array(missing, texts.type))
    if not pc.any(gone).as_py() and texts.equals(column.distinct):
        return column
    kept = pc.if_else(gone, None, texts).dictionary_encode()
    codes = np.append(kept.indices.fill_null(-1).to_numpy(), np.int32(-1))
    return Texts(codes[column.codes], kept.dictionary)


def _spread(values: NDArray[Any], column: Texts) -> NDArray[Any]:
    """The value of each cell's text (num_rows,), NaN where it is empty."""
    if (column.codes < 0).any():
        values = np.append(values.astype(np.float64), np.nan)
    return np.asarray(values[column.codes])
