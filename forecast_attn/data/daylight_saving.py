"""Hours of the wall clock that daylight saving skips in spring and repeats in autumn.

Of an hour that occurs twice, the order of the file tells two equal stamps apart when the series is sorted in time.
Nothing else is evidence: every other case is an error, never a guess.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.cells import Cells
from forecast_attn.data.findings import Finding, Report, report_each, row_and_line, stamp_text
from forecast_attn.data.number_stamps import Mask


def to_instants(cells: Cells, report: Report) -> Cells:
    """Convert stamps on the wall clock to UTC, without the rows at times that do not exist.

    Args:
        cells: sorted, in the zone whose clock shows their stamps.
        report: called with the stamps that do not exist, and with those that are ambiguous.
    """
    first, second = cells.zone.instants(cells.stamps)
    is_second, is_unclear = _in_second_hour(cells, first, second)
    absent = first > second
    report_each(report, _in_file(cells, absent), lambda index: _absent_hour(cells, index))
    report_each(report, _in_file(cells, is_unclear), lambda index: _unclear_hour(cells, index))
    resolved = replace(cells, stamps=np.where(is_second, second, first))
    return resolved.take(~absent) if absent.any() else resolved


def _in_second_hour(cells: Cells, first: NDArray[np.datetime64], second: NDArray[np.datetime64]) -> tuple[Mask, Mask]:
    """Masks of stamps in a repeated hour: after the change, and ambiguous (num_rows,) each.

    The order decides when the series runs forward or backward in the file and holds each such stamp twice.
    """
    repeated = first < second
    if not repeated.any():
        return repeated, repeated
    # Sorted cells hold equal stamps side by side: the one that stands later in the file follows.
    follows = np.append(False, (np.diff(cells.series) == 0) & (cells.stamps[1:] == cells.stamps[:-1]) & repeated[1:])
    group = np.cumsum(~follows) - 1
    # Rows outside the repeated hour show whether a series runs forward in the file or, newest first, backward.
    order = np.lexsort((cells.rows, cells.series))
    direction = _directions(cells, order[~repeated[order]])[cells.series]
    is_second = repeated & (follows == (direction >= 0))
    # As resolved, the series must go on in its direction; where a step leads back, the order was no evidence.
    steps = np.diff(np.where(is_second, second, first)[order].astype(np.int64)) * direction[order][1:]
    backward = (np.diff(cells.series[order]) == 0) & (steps < 0)
    disordered = np.zeros(len(order), np.bool_)
    disordered[order[1:][backward]] = disordered[order[:-1][backward]] = True
    return is_second, repeated & ((np.bincount(group)[group] != 2) | (direction == 0) | disordered)


def _directions(cells: Cells, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """1 for series whose rows run forward in time, -1 backward, 0 neither (num_series,); `order` as in the file."""
    inside = np.diff(cells.series[order]) == 0
    steps, series = np.diff(cells.stamps[order]).astype(np.int64)[inside], cells.series[order][1:][inside]
    forward, backward = (np.bincount(series[steps * sign > 0], minlength=len(cells.item_ids)) for sign in (1, -1))
    return np.where(backward == 0, 1, np.where(forward == 0, -1, 0))


def _in_file(cells: Cells, which: Mask) -> NDArray[np.int64]:
    """Places of the rows, in the order of the file."""
    rows = np.flatnonzero(which)
    return rows[np.argsort(cells.rows[rows])]


def _absent_hour(cells: Cells, index: int) -> Finding:
    row, name = int(cells.rows[index]), cells.item_ids[cells.series[index]]
    stamp = stamp_text(cells.stamps[index])
    message = (
        f"{stamp} at {row_and_line(row)}, series '{name}', does not exist in {cells.zone.name}: "
        "the clock was put forward past it"
    )
    hint = "leave --tz out if the stamps do not follow that clock; or correct the stamp"
    return Finding("FA210", "error", message, hint, item_id=name, row=row, value=stamp, options=("tz",))


def _unclear_hour(cells: Cells, index: int) -> Finding:
    row, name, stamp = int(cells.rows[index]), cells.item_ids[cells.series[index]], cells.stamps[index]
    times = int(np.sum((cells.series == cells.series[index]) & (cells.stamps == stamp)))
    reasons = {1: "the series has it once", 2: "the series is not sorted in time there"}
    message = (
        f"{stamp_text(stamp)} at {row_and_line(row)}, series '{name}', comes twice in {cells.zone.name}, "
        f"before and after the clock is put back; {reasons.get(times, f'it stands {times} times in the series')}"
    )
    with_offset = " or ".join(
        cells.zone.stamp_text(instants[0]) for instants in cells.zone.instants(cells.stamps[[index]])
    )
    hint = f"write the offset into the stamps: {with_offset}; or leave --tz out if they do not follow that clock"
    return Finding("FA211", "error", message, hint, item_id=name, row=row, value=stamp_text(stamp), options=("tz",))
