"""Outlines, as pivot tables are saved: one column holds headings, and below each of them its dates, months or names."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.reading.cell_kinds import YEAR, is_year
from forecast_attn.data.reading.positions import KEPT_ROWS, LONG_ID, file_positions
from forecast_attn.data.reading.text_columns import holds_texts
from forecast_attn.data.timestamps import parse_timestamps
from forecast_attn.data.written_dates import month_number
from forecast_attn.errors import DataError

FEWEST_ROWS = 8
"""Rows of a table in which headings are looked for."""
FEWEST_MONTHS = 1 / 2
"""Share of rows that are months, where others name the year above them."""
_FIRST = 4
"""Labels of which one is a heading, and another one stands below it."""
_MAY_BE_DATE = re.compile(r".*\d{4}.*|\d{1,2}[-./]\d{1,2}[-./]\d{2}")


def without_headings(frame: pd.DataFrame) -> pd.DataFrame | None:
    """The rows below the headings of an outline, with a date in the first column; None for other tables.

    Headings are years above their months, names above their dates, or dates above names. Names come into a column
    `item_id`. The rows of headings hold sums, and are left out.
    """
    texts = _labels(frame)
    if texts is None:
        return None
    months = _months_below_years(frame, texts)
    return _below_names_or_dates(frame, texts, _dates) if months is None else months


def months_below_names(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of months below the names of an outline, with these in a column `item_id`; other tables as they are.

    Of which year the months are, other columns say.
    """
    texts = _labels(frame)
    outline = None if texts is None else _below_names_or_dates(frame, texts, _months)
    return frame if outline is None else outline


def _labels(frame: pd.DataFrame) -> pd.Series | None:
    """The stripped cells of a first column of text without empty cells; None for other tables.

    A heading and what stands below it are among the first ones, be there a sum above: nearly every table ends here.
    """
    labels = frame.iloc[:, 0]
    may_have_headings = holds_texts(labels) and len(labels) >= FEWEST_ROWS and not labels.hasnans
    if not may_have_headings or LONG_ID in frame:
        return None
    first = [str(cell).strip() for cell in labels.iloc[:_FIRST]]
    are_times = {_MAY_BE_DATE.fullmatch(cell) is not None or month_number(cell) is not None for cell in first}
    return labels.astype(str).str.strip() if len(are_times) == 2 or is_year(first[0]) else None


def _months_below_years(frame: pd.DataFrame, texts: pd.Series) -> pd.DataFrame | None:
    """The rows of months below the row of each year, as `Jan 2019`."""
    if not is_year(texts.iloc[0]):  # as in nearly every table
        return None
    years = texts.where(texts.str.fullmatch(YEAR.pattern)).ffill()
    if not 1 < years.nunique() <= FEWEST_MONTHS * len(texts):
        return None
    months = (texts + " " + years).where(texts.str.fullmatch(r"[^\W\d_]+\.?"))
    stamps, bad = parse_timestamps(months.astype(object), str(frame.columns[0]))
    if stamps.dtype.kind != "M" or not (np.diff(stamps[~bad]) > np.timedelta64(0)).all():
        return None
    return _kept(frame, ~bad, months, None) if np.mean(~bad) >= FEWEST_MONTHS else None


def _below_names_or_dates(
    frame: pd.DataFrame, texts: pd.Series, times_of: Callable[[list[str]], NDArray[np.float64] | None]
) -> pd.DataFrame | None:
    """The rows below names or dates, whichever stand above the others.

    Args:
        frame: as it stands in the file.
        texts: its labels.
        times_of: the times of distinct labels, in numbers, and not a number for names; None where there are too few.
    """
    codes, cells = pd.factorize(texts)
    times = times_of(list(map(str, cells)))
    if times is None:
        return None
    below_names = _dates_below_names(frame, texts, times[codes])
    return _names_below_dates(frame, texts, times[codes]) if below_names is None else below_names


def _dates_below_names(frame: pd.DataFrame, texts: pd.Series, times: NDArray[np.float64]) -> pd.DataFrame | None:
    """The rows of times that rise below each of several names, all of them; the last name may be that of a sum."""
    is_time = ~np.isnan(times)
    is_heading = ~is_time & np.append(is_time[1:], False)
    names, blocks = texts[is_heading], np.cumsum(is_heading)
    if not (1 < len(names) == names.nunique() and len(names) < is_time.sum() and blocks[is_time].all()):
        return None
    are_neighbours = (np.diff(blocks) == 0) & is_time[1:] & is_time[:-1]
    rise = np.diff(times)[are_neighbours] > 0
    return _kept(frame, is_time, texts, names.reindex(texts.index).ffill()) if rise.all() else None


def _names_below_dates(frame: pd.DataFrame, texts: pd.Series, times: NDArray[np.float64]) -> pd.DataFrame | None:
    """The rows of names below each of several dates that rise; a name that stands once is that of a sum."""
    is_time = ~np.isnan(times)
    dates, below = times[is_time], texts.where(~is_time)
    counts = below.value_counts()
    is_name = np.isin(below, counts.index[counts > 1]) & (np.cumsum(is_time) > 0)
    repeats = pd.DataFrame({"date": np.cumsum(is_time), "name": below})[is_name].duplicated().any()
    is_outline = (np.diff(dates) > 0).all() and not repeats and is_name.sum() >= len(dates) >= FEWEST_ROWS
    return _kept(frame, is_name, texts.where(is_time).ffill(), texts) if is_outline else None


def _kept(frame: pd.DataFrame, is_kept: NDArray[np.bool_], dates: pd.Series, names: pd.Series | None) -> pd.DataFrame:
    """Some rows, with dates in the first column, and names in one of their own."""
    rows = pd.Index(file_positions(frame).rows()[is_kept], name=KEPT_ROWS)
    columns = {str(frame.columns[0]): dates} | ({} if names is None else {LONG_ID: names})
    kept = frame.assign(**columns)[is_kept]
    return kept.assign(**{name: kept[name].astype("category") for name in columns}).set_index(rows)


def _dates(cells: list[str]) -> NDArray[np.float64] | None:
    """The dates of distinct cells beside names, in numbers."""
    may_be = np.array([_MAY_BE_DATE.fullmatch(cell) is not None for cell in cells])
    if not FEWEST_ROWS <= may_be.sum() < len(cells):
        return None
    try:
        stamps, bad = parse_timestamps(pd.Series(cells, dtype=object)[may_be])
    except DataError:  # days that may be months
        return None
    if bad.any() or stamps.dtype.kind != "M":
        return None
    times = np.full(len(cells), np.nan)
    times[may_be] = stamps.astype("datetime64[s]").astype(np.float64)
    return times


def _months(cells: list[str]) -> NDArray[np.float64] | None:
    """The numbers of all twelve months beside names."""
    numbers = [None if re.search(r"\d", cell) else month_number(cell) for cell in cells]
    times = np.array([np.nan if number is None else number for number in numbers], np.float64)
    are_all = np.array_equal(np.sort(times[~np.isnan(times)]), np.arange(1, 13))
    return times if are_all and len(cells) > len(np.arange(1, 13)) else None
