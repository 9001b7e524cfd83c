"""Tables with a day per row and its hours as columns, or with a month per row and years as columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.reading.joined import month_number
from forecast_attn.errors import DataError

FEWEST_YEARS = 3
DAY = 24 * 60
"""Minutes."""
_HOUR = re.compile(r"(?:h|he|hr|hour|std|stunde)?[ ._-]?(\d{1,2})h?", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::00)?(?: ?- ?\d{1,2}:\d{2}(?::00)?)?")
_YEAR = re.compile(r"X?((?:1[5-9]|20|21)\d\d)")


@dataclass(frozen=True)
class CellGrid:
    """The cells of such a table, in the order of time."""

    names: tuple[str, ...]
    """Columns that hold values."""
    label: str
    """The column of days or months."""
    rows: NDArray[np.int64]
    """Row of each cell (num_cells,)."""
    stamps: NDArray[np.datetime64]
    values: NDArray[Any]


def find_grid(frame: pd.DataFrame, date_format: str | None = None) -> CellGrid | None:
    """The cells of a table of hours beside days, or of years beside months; None for others.

    Args:
        frame: as it stands in the file.
        date_format: as `--date-format` takes it.
    """
    return _years_across(frame) or _hours_across(frame, date_format)


def has_grid(frame: pd.DataFrame) -> bool:
    """Return whether a table is such a grid, each day in one row."""
    try:
        grid = find_grid(frame)
    except DataError:  # days that may be months: a grid all the same
        return True
    return grid is not None and bool(frame[grid.label].is_unique)


def _hours_across(frame: pd.DataFrame, date_format: str | None) -> CellGrid | None:
    names = [str(name) for name in frame.columns]
    minutes = _minutes_of(names)
    label = next((name for name in names if name not in minutes and _is_days(frame[name])), None)
    if not minutes or label is None:
        return None
    from forecast_attn.data.timestamps import parse_timestamps

    days, bad = parse_timestamps(frame[label], label, date_format)
    if bad.any() or days.dtype.kind != "M":
        return None
    order = sorted(minutes, key=lambda name: minutes[name])
    offsets = np.array([minutes[name] for name in order], "timedelta64[m]")
    stamps = (days[:, None] + offsets[None, :]).astype("datetime64[ns]").ravel()
    rows = np.repeat(np.arange(len(frame)), len(order))
    return CellGrid(tuple(order), label, rows, stamps, _values(frame, order).ravel())


def _minutes_of(names: list[str]) -> dict[str, int]:
    """Column -> minutes after midnight, of columns that are all steps of a day; hours from 1 to 24 end at theirs."""
    clocks = {name: match for name in names if (match := _CLOCK.fullmatch(name.strip()))}
    minutes = {name: int(match[1]) * 60 + int(match[2]) for name, match in clocks.items()}
    if not minutes:
        hours = {name: int(match[1]) for name in names if (match := _HOUR.fullmatch(name.strip()))}
        first = min(hours.values(), default=0)
        minutes = {name: (hour - first) * 60 for name, hour in hours.items()} if first in (0, 1) else {}
    elif min(minutes.values()) > 0 and max(minutes.values()) == DAY:  # 01:00 to 24:00
        minutes = {name: at - min(minutes.values()) for name, at in minutes.items()}
    step = DAY // len(minutes) if minutes else 0
    is_day = len(minutes) >= 24 and sorted(minutes.values()) == list(range(0, DAY, step))
    return minutes if is_day else {}


def _is_days(column: pd.Series) -> bool:
    from forecast_attn.data.timestamps import looks_like_dates

    return looks_like_dates(column)


def _years_across(frame: pd.DataFrame) -> CellGrid | None:
    """A row for each month in order, and a column for each of several years."""
    names = [str(name) for name in frame.columns]
    years = {name: int(match[1]) for name in names if (match := _YEAR.fullmatch(name.strip()))}
    label = next((name for name in names[:2] if name not in years), None)
    if len(frame) != 12 or len(years) < FEWEST_YEARS or label is None:
        return None
    if [month_number(str(cell)) for cell in frame[label]] != list(range(1, 13)):
        return None
    order = sorted(years, key=lambda name: years[name])
    months = np.array([(years[name] - 1970) * 12 for name in order])[:, None] + np.arange(12)[None, :]
    stamps = months.ravel().astype("datetime64[M]").astype("datetime64[ns]")
    rows = np.tile(np.arange(12), len(order))
    return CellGrid(tuple(order), label, rows, stamps, _values(frame, order).T.ravel())


def _values(frame: pd.DataFrame, names: list[str]) -> NDArray[Any]:
    columns = [pd.to_numeric(frame[name].astype("object"), errors="coerce") for name in names]
    return np.stack([column.to_numpy(np.float64, na_value=np.nan) for column in columns], axis=1)
