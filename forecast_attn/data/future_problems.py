"""What can be wrong with the rows to be forecast, in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.issued import IssuedForecasts
from forecast_attn.data.panel import Panel
from forecast_attn.data.problems import Finding, Report, counted, place, quoted
from forecast_attn.data.timestamps import Stamps
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError

SHOWN = 5
"""Missing stamps that are named one by one."""


def missing_future(
    panel: Panel, stamps: Stamps, missing: NDArray[np.bool_], source: str | None, found: Stamps | None = None
) -> None:
    """Refuse to forecast without what has to be known.

    Args:
        panel: the history.
        stamps: of the steps to forecast (num_series, horizon).
        missing: cells (num_series, horizon, num_columns) that are needed and not known.
        source: name of the table of future covariates; None where there is none.
        found: the stamps of that table (num_rows,).

    Raises:
        DataError: names the missing stamps.
    """
    lacking = np.flatnonzero(missing.any(axis=(1, 2)))
    if not len(lacking):
        return
    index, columns = int(lacking[0]), (*panel.roles.future_covariates, *panel.roles.future_categories)
    names = tuple(name for name, is_missing in zip(columns, missing[index].any(axis=0), strict=True) if is_missing)
    steps = np.flatnonzero(missing[index].any(axis=1))
    where = "the data" if source is None else f"'{source}'"
    extent = "" if found is None else _extent(found, panel.zone)
    message = (
        f"{where} has no {quoted(names)} for {len(steps)} of the {counted(stamps.shape[1], 'step')} to forecast of "
        f"series '{panel.item_ids[index]}': {_listed(stamps[index, steps], panel.zone)}"
        f"{_others(missing, lacking[1:])}{extent}"
    )
    span = f"{panel.zone.stamp_text(stamps[index, 0])} … {panel.zone.stamp_text(stamps[index, -1])}"
    hint = f"--future FILE with columns {quoted(columns)} for {span}; forecast future-template writes it, to be filled"
    raise DataError(message, hint, item_id=panel.item_ids[index], column=names[0])


def _listed(stamps: Stamps, zone: Zone) -> str:
    """The first few stamps, and the last one."""
    texts = [zone.stamp_text(stamp) for stamp in stamps]
    return ", ".join(texts if len(texts) <= SHOWN + 1 else [*texts[:SHOWN], "…", texts[-1]])


def _others(missing: NDArray[np.bool_], lacking: NDArray[np.int64]) -> str:
    """`; and for 24 to 96 steps of 12 more series`."""
    if not len(lacking):
        return ""
    counts = missing[lacking].any(axis=2).sum(axis=1)
    least, most = int(counts.min()), int(counts.max())
    steps = counted(most, "step") if least == most else f"{least} to {counted(most, 'step')}"
    return f"; and for {steps} of {len(lacking):,} more series"


def _extent(found: Stamps, zone: Zone) -> str:
    """How many rows the table has, from when to when."""
    times = found if found.dtype.kind != "M" else found[~np.isnat(found)]
    span = f", from {zone.stamp_text(times.min())} to {zone.stamp_text(times.max())}" if len(times) else ""
    return f"; it has {counted(len(found), 'row')}{span}"


def bad_time(frame: pd.DataFrame, column: str, at: int, source: str) -> DataError:
    """A cell that is no time stamp."""
    value = frame[column].iloc[at]
    said = "empty" if pd.isna(value) else f"'{value}'"
    return DataError(
        f"'{source}': column '{column}' is {said} at {place(at + 1)}; expected a time stamp", row=at + 1, column=column
    )


def other_kind_of_time(column: str, found: Stamps, wanted: Stamps, source: str) -> DataError:
    """Steps where the history has dates, or the other way round."""
    kinds = {"M": "dates", "i": "whole numbers"}
    return DataError(f"'{source}' has {kinds[found.dtype.kind]} in '{column}', the history {kinds[wanted.dtype.kind]}")


def twice(item_id: str, stamp: str, at: int, source: str) -> DataError:
    """Two rows for one step."""
    return DataError(
        f"'{source}' has {stamp} of series '{item_id}' twice, the second at {place(at + 1)}",
        "keep one of the rows",
        row=at + 1,
        item_id=item_id,
    )


# --------------------------------------------------------------------------- issued forecasts


def all_issued_later(
    panel: Panel, issued: IssuedForecasts, found: NDArray[np.int64], cutoffs: NDArray[np.generic]
) -> None:
    """Refuse forecasts of a series that were all made after its last known target.

    Args:
        panel: the history.
        issued: the forecasts of its series.
        found: place of the forecast used for each step (num_series, horizon), -1 for none.
        cutoffs: stamp of the last known target of each series (num_series,).

    Raises:
        DataError: names the series, its cut-off and the first issue.
    """
    earliest = _earliest(issued, panel.num_series)
    for index in np.flatnonzero((found < 0).all(axis=1) & (earliest > cutoffs))[:1]:
        message = (
            f"every forecast of series '{panel.item_ids[index]}' in '{issued.source}' was issued after its last known "
            f"target, at {panel.zone.stamp_text(cutoffs[index])}; the first at {panel.zone.stamp_text(earliest[index])}"
        )
        hint = "add the forecasts that were known then, or a history that reaches further with --data"
        raise DataError(message, hint, item_id=panel.item_ids[index])


def _earliest(issued: IssuedForecasts, num_series: int) -> Stamps:
    """When the first forecast of each series was issued (num_series,); the beginning of time where it has none."""
    bounds = np.searchsorted(issued.series, np.arange(num_series + 1))
    has_any = np.diff(bounds) > 0
    earliest = np.full(num_series, np.iinfo(np.int64).min + 1).astype(issued.issued_at.dtype)
    if has_any.any():
        earliest[has_any] = np.minimum.reduceat(issued.issued_at, bounds[:-1][has_any])
    return earliest


def which_issues(issued: IssuedForecasts, found: NDArray[np.int64], report: Report) -> None:
    """Note which issues are used."""
    used = np.unique(issued.issued_at[found[found >= 0]])
    if not len(used):
        return
    first, last, newest = (issued.zone.stamp_text(at) for at in (used[0], used[-1], issued.issued_at.max()))
    which = first if len(used) == 1 else f"{first} to {last}"
    message = f"'{issued.source}': the forecasts of {quoted(issued.columns)} issued at {which} are used"
    unused = f"; those issued later, up to {newest}, are not" if issued.issued_at.max() > used[-1] else ""
    report(Finding("FA509", "note", message + unused))
