"""Columns that are steps of time: those whose names are dates, parts of a year, or numbers that go on by one."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.column_names import unit_of
from forecast_attn.data.reading.text_columns import holds_texts
from forecast_attn.data.timestamps import parse_timestamps
from forecast_attn.data.written_dates import month_number
from forecast_attn.errors import DataError

FEWEST_STEPS = 3
"""Columns that are steps, in a table of one series per row."""

_NUMBERED = re.compile(r"(\D*?)[ ._-]?(\d{1,6})")
"""Names that have a number: `d_1`, `wk12`, `3`."""
_DATED = re.compile(
    r"\d{4}([-./]\d{1,2}){0,2}|\d{4}[- ]?[QqMm]\d{1,2}|(\d{1,2}[-./]){1,2}\d{4}|\d{1,2}[-./]\d{1,2}[-./]\d{2}"
)
"""Names that may be dates in digits."""
_OF_DATES = re.compile(r"(.*?[^\d]+?)[ ._-]?((?:1[6-9]|2[0-2])\d{2}(?:[-./]\d{2}|[ -]?[QqMm]\d{1,2})?)")
"""Names of one value in several years, quarters or months: `gdp1990`, `gdp2000`, `Visitors 2015M01`."""
_WITH_WORDS = re.compile(
    r"([^\W\d_]{3,9}\.?|[QqTt][1-4]|[Ww]\d\d?)[ /_'-]*\d{2,4}|\d{4}[ /_-]*([^\W\d_]{3,9}|[Ww]\d\d?)"
)
"""Names that may be months, quarters or weeks: `Jan-24`, `Q1 2024`, `2024 W05`."""
_OF_A_YEAR = re.compile(r"\b(annual|average|total|anual|annuel|totale)\b", re.IGNORECASE)
"""Words of columns that sum up the months beside them: `2014 Annual`."""
_FORMS = (_DATED, _WITH_WORDS)
_PLAINER = [
    (re.compile(form), plain)
    for form, plain in (
        (r"(?i)^(X|(year|yr|fy)[ _.-]?)(?=\d{4})", ""),  # X2015.07.01
        (r"\s*\[YR\d{4}\]$", ""),  # 1960 [YR1960]
        (r"^MO?(0[1-9]|1[0-2])(\d{4})$", r"\2-\1"),  # MO012008
        (r"^((?:19|20)\d{2})(0[1-9]|1[0-2])$", r"\1-\2"),  # 202301
        (r"^(\d{4})[年년] ?(\d{1,2})(?=[月월]$)", r"\1-\2"),
        (r" ?г\.?$", ""),  # Январь 2021 г.
        (r"(?<=\d)\s*([/.-])\s+(?=\d)", r"\1"),  # 03/ 01/ 2022
        (r"^([^\W\d_]+);(\d{4});\[[^\[\]]*\]$", r"\1 \2"),  # styczeń;2017;[%]
        (r"(?: [a-z]\))? ?[年년月월]$", ""),  # 2023年, 2016.01 월, 2023.12 p) 월
    )
]
"""What stands around a date in a name -> a plainer one."""


@dataclass(frozen=True)
class StepColumns:
    """Columns whose names are steps, in the order of time."""

    names: tuple[str, ...]
    stamps: NDArray[Any]
    """Dates, or numbers from 1 (num_columns,)."""
    are_dates: bool


def find_steps(frame: pd.DataFrame, variable: str | None = None) -> StepColumns | None:
    """The columns of numbers whose names are dates, or go on by one; None where there are too few.

    Of years beside their quarters or months, the finer ones, which are more. None, too, where several variables have a
    column for each year, unless one of them is named.

    Args:
        frame: as it stands in the file.
        variable: what stands before the years, as `variables_by_year` has it.
    """
    numbers = _numbers(frame)
    if variable is not None:
        return _by_variable(numbers).get(variable)
    parts = [name for name in numbers if _OF_A_YEAR.search(name) is None]
    forms = ({name: text for name in parts if form.fullmatch(text := _plain_date(name))} for form in _FORMS)
    dated = [steps for texts in forms if (steps := _dated(texts)) is not None]
    if dated:
        return max(dated, key=lambda steps: len(steps.names))
    variables = _by_variable(numbers)
    if len(variables) > 1:
        return None
    return next(iter(variables.values()), None) or _months_of_one_year(numbers) or _numbered(numbers)


def variables_by_year(frame: pd.DataFrame) -> dict[str, StepColumns]:
    """The variables that have a column for each of some years, and these: `gdp` of `gdp1990`, `gdp1991`, …"""
    return _by_variable(_numbers(frame))


def _numbers(frame: pd.DataFrame) -> list[str]:
    """The names of the columns of numbers."""
    types = zip(frame.columns, frame.dtypes, strict=True)
    return [str(name) for name, dtype in types if dtype.kind in "iuf" or _is_number_or_empty(frame[name])]


def _by_variable(names: list[str]) -> dict[str, StepColumns]:
    """The columns that have one name before a year, by that name, whose case and marks may differ between years."""
    texts: dict[str, dict[str, str]] = {}
    spelt: dict[str, str] = {}
    for name in names:
        match = _OF_DATES.fullmatch(name.strip())
        if match:
            variable = spelt.setdefault(re.sub(r"[\W_]+", " ", match[1]).lower(), match[1])
            texts.setdefault(variable, {})[name] = match[2]
    dated = {variable: _dated(of_variable) for variable, of_variable in texts.items()}
    return {variable: steps for variable, steps in dated.items() if steps is not None}


def _dated(texts: dict[str, str]) -> StepColumns | None:
    """The columns in the order of their dates; None where there are too few, or one is no date, or two are one.

    Args:
        texts: name -> date.
    """
    if len(texts) < FEWEST_STEPS:
        return None
    with contextlib.suppress(DataError):
        if parse_timestamps(pd.Series(list(texts.values())[:FEWEST_STEPS], dtype="str"))[1].any():
            return None  # as of column_1, column_2, … in a table of thousands
    try:
        stamps, bad = parse_timestamps(pd.Series(list(texts.values()), dtype="str"))
    except DataError:
        return None
    if bad.any() or stamps.dtype.kind != "M" or len(np.unique(stamps)) < len(stamps):
        return None
    order = np.argsort(stamps)
    return StepColumns(tuple(np.array(list(texts), object)[order]), stamps[order], True)


def _plain_date(name: str) -> str:
    """A name without what R and offices add, and without words for years and months."""
    name = name.strip()
    for form, plain in _PLAINER:
        name = form.sub(plain, name)
    return name


def _months_of_one_year(names: list[str]) -> StepColumns | None:
    """The columns that are called by the words of all twelve months, of a table that does not say of which year."""
    months = {_month_of_word(name): name for name in names}
    ordered = tuple(months[month] for month in range(1, 13) if month in months)
    return StepColumns(ordered, np.arange(1, 13), False) if are_all_months(ordered) else None


def are_all_months(names: tuple[str, ...]) -> bool:
    """Return whether names are the words of the months from January to December."""
    return [_month_of_word(name) for name in names] == list(range(1, 13))


def _month_of_word(name: str) -> int | None:
    return None if re.search(r"\d", name) else month_number(name.strip().lower().rstrip("."))


def _numbered(names: list[str]) -> StepColumns | None:
    """The largest group of columns that have one name before a number, and numbers one apart; of times, as far each."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name.strip())
        if match:
            groups.setdefault(match[1], []).append((int(match[2]), name))
    largest = max(groups.values(), key=len, default=[])
    numbers = sorted(largest)
    apart = np.unique(np.diff([number for number, _ in numbers]))
    if len(numbers) < FEWEST_STEPS or len(apart) > 1 or apart[0] == 0:
        return None
    steps = StepColumns(tuple(name for _, name in numbers), np.arange(1, len(numbers) + 1), False)
    return steps if apart[0] == 1 or unit_of_steps(steps) is not None else None  # wk0, wk2, wk4


def unit_of_steps(steps: StepColumns) -> str | None:
    """The unit of time that is counted in the names of steps: wk1, wk2, …; None for others."""
    match = None if steps.are_dates else _NUMBERED.fullmatch(steps.names[0].strip())
    return None if match is None else "week" if match[1].lower() == "w" else unit_of(match[1])


def _is_number_or_empty(column: pd.Series) -> bool:
    from forecast_attn.data.roles import is_numeric  # which imports this package

    if holds_texts(column):
        has_digits = any(re.search(r"\d", str(cell)) for cell in column.cat.categories)
        return bool((column.array.codes < 0).all()) or (has_digits and is_numeric(column))
    return bool(column.isna().all()) or (is_numeric(column) and not pd.api.types.is_bool_dtype(column.dtype))
