"""Puts parsed stamps onto the axis: UTC for steps below a day, the wall clock from a day on and for closed hours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.cells import Cells, sorted_cells
from forecast_attn.data.closures import calendar_by_evidence
from forecast_attn.data.daylight_saving import to_instants
from forecast_attn.data.findings import Finding, Report, coded, ended, row_and_line
from forecast_attn.data.frequency import Stamps, distinct_values, guess_alias, parse_frequency
from forecast_attn.data.number_stamps import Mask
from forecast_attn.data.timestamps import offset_name, read_stamps
from forecast_attn.data.zones import WINTER_AND_SUMMER, Zone, changed_hours, checked_zone


@coded("FA201")
def localise(cells: Cells, report: Report, *, tz: str | None, freq: str | None, zone: Zone | None = None) -> Cells:
    """Put the cells on the axis of their zone, sorted; `zone` says how they are shown.

    Args:
        cells: as parsed.
        report: called with every problem. Rows at times that do not exist are left out.
        tz: zone of stamps without one, and the one to show instants in.
        freq: the time step, of --resample too; inferred when absent.
        zone: the run's, when there is one; it then replaces `tz` and `freq`.

    Raises:
        ConfigError: there is no zone `tz`, or no frequency `freq`.
        DataError: a zone for an axis of whole numbers, or for one whose stamps had none in training.
    """
    if cells.stamps.dtype.kind != "M":
        if tz is not None:
            message = f"--tz {tz} does not fit a time column of whole numbers"
            raise ended(report, Finding("FA203", "error", message, "leave --tz out", options=("tz",)))
        return _report_unsorted(replace(cells, zone=Zone(), offsets=None), report)
    if zone is None:
        zone = _zone_of(cells, None if tz is None else checked_zone(tz), freq, report)
    localised = _onto(cells, zone, report)
    _report_unsorted(cells if _are_instants(cells) else localised, report)  # the wall clock repeats an hour of them
    return localised


def axis_stamps(
    column: pd.Series,
    zone: Zone,
    report: Report,
    *,
    series: NDArray[np.int64],
    item_ids: tuple[str, ...],
    date_format: str | None = None,
) -> tuple[Stamps, Mask]:
    """Put a column of another table on a run's axis (num_rows,); also return a mask of cells that are not times.

    Args:
        column: as read.
        zone: the run's.
        report: called with every stamp that does not exist in the zone or can be two.
        series: index into `item_ids` of every row; rows below 0 are of no interest, NaT.
        item_ids: the series, for messages.
        date_format: how the stamps are written; found when None.

    Raises:
        ConfigError, DataError: as `read_stamps` and `localise`.
    """
    time = read_stamps(column, str(column.name), date_format)
    if time.stamps.dtype.kind != "M":
        return time.stamps, time.bad
    rows = np.flatnonzero(~time.bad & (series >= 0))
    written = Zone() if time.zone is None else Zone(time.zone, "utc")
    offsets = None if time.offsets is None else time.offsets[rows]
    of_rows = series[rows].astype(np.int32)
    cells = Cells((rows + 1).astype(np.int32), of_rows, item_ids, time.stamps[rows], {}, offsets=offsets, zone=written)
    cells = _onto(sorted_cells(cells), zone, report, column) if len(rows) else cells
    stamps = np.full(len(column), np.datetime64("NaT"), "datetime64[ns]")
    stamps[cells.rows - 1] = cells.stamps
    return stamps, time.bad


# --------------------------------------------------------------------------- which zone


def _zone_of(cells: Cells, tz: str | None, freq: str | None, report: Report) -> Zone:
    """The zone that the user or the stamps name; local from steps of a day on, and where hours are closed."""
    name = tz or cells.zone.name
    offsets = np.unique(cells.offsets) if cells.offsets is not None else np.zeros(0, np.int32)
    if name is None and len(offsets) == 1:
        name = offset_name(int(offsets[0]))
    wall = replace(cells, stamps=_wall_clock(cells, name))
    has_no_clock = name is None and len(offsets) > 0  # to cut rows into days on
    if not (_is_within_day(wall, freq) or (has_no_clock and _is_within_day(wall, None))):
        return Zone(name, "local")
    if name is not None:
        return Zone(name, "local" if _has_closed_hours(wall, name, freq) else "utc")
    if not len(offsets):
        return Zone()
    report(_offsets_vary(offsets))
    return Zone("+00:00", "utc")


def _wall_clock(cells: Cells, name: str | None) -> NDArray[np.datetime64]:
    """The stamps on the clock of a zone; without a name on that of their column, or as they are written."""
    if not _are_instants(cells):
        return cells.stamps
    name = name or cells.zone.name
    if name is None:
        assert cells.offsets is not None
        return np.asarray(cells.stamps + cells.offsets.astype("timedelta64[s]"), "datetime64[ns]")
    zone = Zone(name, "utc")
    wall = np.asarray(zone.local(cells.stamps), "datetime64[D]")
    # Where a zone skips midnight, its day starts at 1:00: that instant is the day all the same.
    starts_day = np.asarray(zone.local(cells.stamps - np.timedelta64(1, "ns")), "datetime64[D]") < wall
    return np.where(starts_day, wall, zone.local(cells.stamps))


def _are_instants(cells: Cells) -> bool:
    return cells.offsets is not None or cells.zone.type_name is not None


def _is_within_day(cells: Cells, freq: str | None) -> bool:
    """Return whether the longest series steps by less than a day; if irregular, whether its clock times differ."""
    stamps = _longest_series(cells)
    alias = freq if freq is not None else guess_alias(stamps)
    if alias is not None:
        return parse_frequency(alias).is_within_day
    return bool((stamps.astype(np.int64) % (86_400 * 10**9) != stamps[0].astype(np.int64) % (86_400 * 10**9)).any())


def _longest_series(cells: Cells) -> Stamps:
    starts = cells.starts
    longest = int(np.argmax(np.diff(starts)))
    return distinct_values(cells.stamps[starts[longest] : starts[longest + 1]])


def _has_closed_hours(wall: Cells, name: str, freq: str | None) -> bool:
    """Return whether the rows keep to hours of the wall clock, of which the zone skips and repeats none.

    In UTC such hours are others in summer.
    """
    stamps = _longest_series(wall)
    alias = freq if freq is not None else guess_alias(stamps)
    if freq is None and alias is not None and len(np.unique(np.diff(stamps))) > 1:
        alias = calendar_by_evidence(wall.stamps, alias)
    sessions = None if alias is None else parse_frequency(alias).sessions
    if sessions is None or not Zone(name, "utc").changes(wall.stamps)[1].any():  # UTC is its own wall clock
        return False
    begin, end = (sessions.positions(edge)[0] for edge in changed_hours(name, wall.stamps))
    return bool((begin == end).all())


def _offsets_vary(offsets: NDArray[np.int32]) -> Finding:
    names = ", ".join(offset_name(int(offset)) for offset in offsets[:4])
    message = f"the time stamps carry different offsets ({names}); results are in UTC"
    hint = f"pass a zone, such as --tz {_zone_with(offsets)}, to show them on one clock"
    return Finding("FA209", "note", message, hint, options=("tz",))


_USUAL_ZONES = (
    *("Europe/Berlin", "Europe/London", "Europe/Helsinki", "America/New_York", "America/Chicago", "America/Denver"),
    *("America/Los_Angeles", "America/Anchorage", "Australia/Adelaide", "Australia/Sydney", "Pacific/Auckland"),
)


def _zone_with(offsets: NDArray[np.int32]) -> str:
    """The usual zone with these offsets in winter and in summer; Berlin where none has them."""
    for name in _USUAL_ZONES:
        of_zone = Zone(name, "utc").local(WINTER_AND_SUMMER) - WINTER_AND_SUMMER
        if np.array_equal(np.sort(of_zone.astype("timedelta64[s]").astype(np.int64)), offsets):
            return name
    return _USUAL_ZONES[0]


# --------------------------------------------------------------------------- onto the axis


def _onto(cells: Cells, zone: Zone, report: Report, column: pd.Series | None = None) -> Cells:
    """The sorted cells on the axis of the zone, sorted; the column they are from, for messages."""
    written = _are_instants(cells)
    bare = replace(cells, offsets=None, zone=zone)
    if zone.axis == "local":
        wall = replace(bare, stamps=_wall_clock(cells, zone.name))
        if written and zone.name is None and _is_within_day(wall, None):
            problem = "carry an offset; those of training have none"
            hint = "write them without one, on the clock of training; or train with --tz ZONE"
            raise ended(report, _unlike_training(cells, column, problem, hint))
        return sorted_cells(wall) if written else bare
    if written:
        return sorted_cells(bare)
    if zone.is_fixed:
        problem = f"have no offset; those of training have one (shown as {zone.name})"
        raise ended(report, _unlike_training(cells, column, problem, f"write {zone.name} behind each of them"))
    return sorted_cells(to_instants(bare, report))


def _unlike_training(cells: Cells, column: pd.Series | None, problem: str, hint: str) -> Finding:
    """Error for stamps written otherwise than those of training, with the first of them where its column is known."""
    row = int(cells.rows.min())
    if column is None:
        return Finding("FA201", "error", f"the time stamps {problem}", hint, row=row)
    name, cell = str(column.name), str(column.iloc[row - 1])
    message = f"the time stamps in column '{name}' {problem}: {row_and_line(row)} is {cell!r}"
    return Finding("FA201", "error", message, hint, column=name, row=row, value=cell)


def _report_unsorted(cells: Cells, report: Report) -> Cells:
    row = _first_unsorted_row(cells)
    if row is not None:
        message = f"rows are not sorted by series and time, first at {row_and_line(row)}; they are sorted here"
        report(Finding("FA207", "note", message, row=row))
    return cells


def _first_unsorted_row(cells: Cells) -> int | None:
    """The first row of the file that belongs before the one above it."""
    backward = np.diff(cells.rows) < 0
    if not backward.any():
        return None
    if np.bincount(cells.rows).max() > 1:  # a row of a wide table holds a cell of every series
        backward &= np.diff(cells.series) == 0
        return int(cells.rows[:-1][backward].min()) if backward.any() else None
    in_file = np.argsort(cells.rows)
    return int(cells.rows[in_file[np.flatnonzero(np.diff(in_file) < 0)[0] + 1]])
