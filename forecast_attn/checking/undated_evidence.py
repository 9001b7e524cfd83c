"""Rows that are no observations, by their cells: sources, sums and units, names that stand once more."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.line_evidence import MOST_FOOTERS
from forecast_attn.checking.missing_marks import FEWEST_NUMBERS
from forecast_attn.checking.number_times import is_of_digits
from forecast_attn.data.reading.text_columns import holds_texts
from forecast_attn.data.reading.time_parts import are_whole, holds_years, time_parts
from forecast_attn.data.reading.undated import dated_cells, dated_rows, thirteenth_months
from forecast_attn.data.timestamps import looks_like_dates
from forecast_attn.errors import DataError

MOST_UNDATED = 0.4
"""Share of rows without a time stamp, such as the mean of four quarters below each year."""
MOST_AT_AN_END = 15
"""Rows without a time stamp above or below all others."""
_PERIOD = r"\d{4}([ -]?[A-Z]{1,2}\d{0,2})?"
"""Years and quarters between the months of a column: `2012`, `2012KW01`, `2012JJ00`, `2012 Q1`."""


def rows_of_words_at_end(frame: pd.DataFrame) -> int:
    """Rows at the end of a table of names that hold text in their first cell alone, such as sources; 0 for none."""
    first = frame.iloc[:, 0]
    filled = np.flatnonzero(frame.iloc[:, 1:].notna().any(axis=1))
    alone = len(frame) - 1 - int(filled[-1]) if len(filled) else 0
    are_names = holds_texts(first) and not looks_like_dates(first)
    return alone if are_names and 0 < alone <= MOST_FOOTERS and first.iloc[-alone:].notna().any() else 0


def undated_rows(frame: pd.DataFrame) -> tuple[str, NDArray[np.bool_]] | None:
    """A column of dates, or the first one of numbers, and the few rows without one: sums, units, headers once more.

    They stand above or below all others, or have one and the same word. None where another column has a date in every
    row: what has not been shipped is no sum.
    """
    columns = {str(name): frame[name] for name in frame.columns}
    of_time = {name: dated_cells(column) for name, column in columns.items() if looks_like_dates(column)}
    if any(dated is not None and dated.all() for dated in of_time.values()):
        return None
    totals = ((name, thirteenth_months(column)) for name, column in columns.items())
    of_years = next(((name, is_total) for name, is_total in totals if is_total.any()), None)
    if of_years is not None:
        return of_years
    first_name = str(frame.columns[0])
    for name, dated in ({first_name: dated_cells(frame[first_name])} | of_time).items():
        column = frame[name]
        if dated is None or dated.all() or dated.sum() < FEWEST_NUMBERS:
            continue
        first, last = np.flatnonzero(dated)[[0, -1]]
        says_more = frame.drop(columns=[name]).notna().any(axis=1).to_numpy()  # than the title of a section
        between = column[first:last][(~dated & says_more)[first:last]]
        is_time = looks_like_dates(column) or _are_years_or_dates(column[dated])
        if not is_time and (first or len(between) or pd.api.types.is_numeric_dtype(column.dtype)):
            continue  # any numbers have a word below them
        below = len(dated) - 1 - int(last)
        are_few = first <= MOST_AT_AN_END and (below <= MOST_AT_AN_END or frame.iloc[-below:].isna().all(axis=None))
        are_named = between.notna().all() and _have_one_word(str(cell).split() for cell in between.unique())
        are_periods = len(between) > 0 and bool(between.astype("string").str.fullmatch(_PERIOD, na=False).all())
        if are_few and (are_named or are_periods or between.empty or _hold_what_no_other_does(frame, name, ~dated)):
            return name, ~dated
    return _undated_together(frame)


def _have_one_word(cells: Iterable[list[str]]) -> bool:
    """Return whether the first word of all cells is one and the same, `Total 2023`, or the last one, `2023/01 계`."""
    ends = {(words[0], words[-1]) if words else ("", "") for words in cells}
    first, last = {end[0] for end in ends}, {end[1] for end in ends}
    is_first = len(first) == 1 and re.fullmatch(r"[^\W\d_]{3,}:?", min(first)) is not None
    return is_first or (len(last) == 1 and re.fullmatch(r"[^\W\d_]+", min(last)) is not None)


def _hold_what_no_other_does(frame: pd.DataFrame, time: str, bad: NDArray[np.bool_]) -> bool:
    """Return whether some column has one text in all of a few rows and others elsewhere: `Total`, `M13`, `2015 Total`.

    Numbers in these texts may differ, and all words but the last one: `Hamburg Total`.
    """
    columns = (frame[name] for name in frame.columns if name != time and 0 < bad.mean() < MOST_UNDATED)
    texts = [column for column in columns if holds_texts(column)]
    known = [text.astype("string") for text in texts if not text[bad].hasnans]
    alike = [text.str.replace(r"\d+", "0", regex=True) for text in known]
    last = [text.str.extract(r"(\w+)\W*$", expand=False) for text in known]
    return any(text[bad].nunique() == 1 and not text[~bad].isin(text[bad]).any() for text in (*known, *alike, *last))


def _are_years_or_dates(column: pd.Series) -> bool:
    """Return whether whole numbers are years, or dates written in digits."""
    numbers = pd.Series(pd.to_numeric(column.astype("str"), errors="coerce"))
    return are_whole(numbers) and (holds_years(numbers) or is_of_digits(numbers.fillna(0).astype(np.int64)))


def _undated_together(frame: pd.DataFrame) -> tuple[str, NDArray[np.bool_]] | None:
    """The parts of dates in several columns, and the rows of a thirteenth month: what they hold, no other row holds."""
    parts = time_parts(frame, list(map(str, frame.columns)))
    if len(parts) < 2:
        return None
    try:
        dated = dated_rows(frame, tuple(parts))
    except DataError:
        return None
    are_named = any(_hold_what_no_other_does(frame[[part]], "", ~dated) for part in parts)
    return (",".join(parts), ~dated) if are_named else None
