"""The option that answers an error at which training would stop, where the evidence of the table names one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.amounts import are_answers_of_a_year, are_in_cents, cells_may_be_summed, has_unit_of_prices
from forecast_attn.checking.examination import Examination, categories_of, examine
from forecast_attn.checking.fix import config_after_reading
from forecast_attn.checking.number_times import (
    FEWEST_ROWS,
    MOSTLY_REGULAR,
    REGULAR,
    denser_order,
    drifting_step,
    is_day_count,
    is_of_the_calendar,
    regular_order,
    regularity,
)
from forecast_attn.checking.series_blocks import FEWEST_PER_SERIES
from forecast_attn.checking.series_candidates import MOST_REPEATED
from forecast_attn.checking.time_candidates import MOST_BAD_STAMPS
from forecast_attn.checking.value_names import (
    ends_in_amount,
    is_called_count,
    is_called_money,
    is_called_total,
    is_called_turnover,
    is_called_way,
    is_price_of_pieces,
)
from forecast_attn.config.options import DataConfig
from forecast_attn.data.axis import uneven_steps
from forecast_attn.data.cells import Cells
from forecast_attn.data.column_names import counts_rows
from forecast_attn.data.findings import Finding
from forecast_attn.data.frequency import LONGEST_NUMBER, are_regular, distinct_values, guess_alias, parse_frequency
from forecast_attn.data.reading.time_parts import holds_years, unit_of_column
from forecast_attn.data.reading.undated import first_dates
from forecast_attn.data.resampling import floored
from forecast_attn.data.roles import Roles, is_numeric
from forecast_attn.data.timestamps import parse_timestamps
from forecast_attn.data.zone_names import formats_of_named, unread_name
from forecast_attn.data.zones import Zone, changes_at
from forecast_attn.errors import ConfigError, DataError

MOST_AVERAGED = 0.03
"""Share of rows that `--duplicates` may put together."""
COARSER = ("s", "min", "5min", "15min", "30min", "h", "D", "B", "W-MON", "MS", "QS-JAN", "YS-JAN")
"""Steps that `--resample` is tried with, finest first."""
FEWEST_STEPS = 20
ENOUGH_STEPS = 200
"""Steps at which events are counted or summed per step, rather than per shorter one."""
MOST_HIDDEN = 0.5
"""Share of steps without a value that `--missing mask` may hide without a word."""
FULL = 0.8
"""Share of steps that have a row, of a step that is fine enough."""
FULL_OF_AMOUNTS = 0.55
"""The same, of amounts that are summed: a day without a booking is a zero, no hole. Hours on half hours fill 0.5."""
_HALF = 1 - MOST_HIDDEN
"""The same, where no step has as many: the other steps are hidden."""
_LONGEST_CHANGE = np.timedelta64(2, "h")
"""From the row before to the row after the hour that a clock skips; a night without rows tells no zone."""
_FEWEST_FILLED = 10
"""Steps that irregular rows must fill."""
_ROUND = tuple(digit * 10**power for power in range(15) for digit in (1, 2, 5))
_MOST_ROUND = 6
"""Round numbers of a step that are tried where the usual one leaves many steps out."""
ZONES_BY_CLOCK = {
    "Europe/Berlin": "",
    "Europe/London": "",
    "Europe/Helsinki": "Berlin, with hours called by their end",
    "America/New_York": "Chicago, Denver or Los_Angeles",
    "Australia/Sydney": "Adelaide",
    "Pacific/Auckland": "",
}
"""Zones by the hour of their changes, and the cities of other offsets that change their clocks at the same hour."""
Options = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """A table as options read it, and what stops it."""

    frame: pd.DataFrame
    """As it stands in the file."""
    config: DataConfig
    """The options that were given."""
    options: Options
    """Those found so far, by field name."""
    examination: Examination
    """Of the table with both."""

    def answer(self) -> Options | None:
        """The option that answers the first error for which there is one."""
        for finding in self.examination.findings:
            if finding.severity == "error" and finding.code in _ANSWERS:
                answer = _ANSWERS[finding.code](self, finding)
                is_new = answer is not None and any(self.options.get(name) != answer[name] for name in answer)
                return answer if is_new else None
        return None

    def longer_step(self) -> Options | None:
        """Put the rows on the finest step that most rows fill; of amounts, zero elsewhere, on a longer one."""
        cells, config = self.examination.cells, self.config
        if cells is None or config.resample is not None or config.freq:
            return None
        sums = config.aggregate == DataConfig.aggregate and _are_amounts(cells, self.examination.roles, self.frame)
        of_sums: Options = {"aggregate": "sum", "missing": "zero"} if sums else {}
        may_hide = "missing" not in self.options  # else the gaps of a regular step were hidden
        if cells.stamps.dtype.kind != "M":
            if {"resample", "freq"} & self.options.keys():
                return None
            repeated = self._step_of_repeated_units(cells)
            return _usual_whole_step(cells, may_hide=may_hide) if repeated is None else {"resample": repeated} | of_sums
        stamps = _longest_stamps(cells)
        tried = self.options.get("resample")
        drifting = None if tried is not None or sums else drifting_step(distinct_values(stamps))
        if drifting is not None:
            return {"resample": drifting}
        if tried is None and not sums and _come_every_two_months(stamps):  # a quarter would have one or two of them
            return {"resample": "2MS"}
        of_grid = step_of_grid(stamps) if tried is None else None
        steps = ((of_grid,) if of_grid else ()) + COARSER[COARSER.index(tried) + 1 if tried in COARSER else 0 :]
        fewest = _FEWEST_FILLED if may_hide else FEWEST_STEPS
        step = step_of_events(stamps, FULL_OF_AMOUNTS) if sums and tried is None else None
        step = step or _filled_step(stamps, steps, FULL_OF_AMOUNTS if sums else FULL, fewest)
        if step is None and may_hide:
            step = _filled_step(stamps, steps, _HALF, fewest)
        return None if step is None else {"resample": step} | of_sums

    def _step_of_repeated_units(self, cells: Cells) -> str | None:
        """The step of rows of years that stand more than once, or of days or weeks in order, and of no part."""
        steps, roles = distinct_values(cells.stamps), self.examination.roles
        if roles is None or roles.item_id is not None or len(steps) < 2 or not cells.repeats.any():
            return None
        column = self.frame[roles.time] if roles.time in self.frame.columns else None
        are_years = holds_years(pd.Series(steps))
        are_in_order = column is not None and (is_day_count(column) or _is_unit_in_order(column))
        others = (self.frame[name] for name in self.frame.columns if name != roles.time and not counts_rows(name))
        is_divided = any(map(is_of_the_calendar, others))
        usual = int(np.median(np.diff(steps)))
        return str(usual) if (are_years or (are_in_order and usual == 1)) and not is_divided else None


def _longest_stamps(cells: Cells) -> NDArray[Any]:
    """The stamps of the series with most rows."""
    longest = int(np.argmax(np.diff(cells.starts)))
    return np.asarray(cells.stamps[cells.starts[longest] : cells.starts[longest + 1]])


def _come_every_two_months(stamps: NDArray[Any]) -> bool:
    """Return whether nearly all rows come two months after the one before, as bills do, be it on another day."""
    days = np.diff(stamps).astype("timedelta64[h]").astype(np.int64) / 24
    return len(days) >= FEWEST_ROWS and bool(np.mean((days > 56) & (days < 66)) >= MOSTLY_REGULAR)


def step_of_events(stamps: NDArray[Any], share: float) -> str | None:
    """The longest step up to a day that leaves enough steps, or else a longer one, of which events fill a share.

    Args:
        stamps: sorted.
        share: of the steps from the first to the last event.
    """
    stamps, day = stamps[~np.isnat(stamps)], COARSER.index("D")
    fine = (step for step in reversed(COARSER[: day + 1]) if _num_steps(stamps, step, share) >= ENOUGH_STEPS)
    coarse = (
        step
        for fewest in (FEWEST_STEPS, _FEWEST_FILLED)
        for step in COARSER[day:]
        if _num_steps(stamps, step, share) >= fewest
    )
    return next(fine, None) or next(coarse, None) or step_of_grid(stamps)


def step_of_grid(stamps: NDArray[Any]) -> str | None:
    """The step within a day of stamps that are regular but for repeats, of several rows each: `10min`, or `4h`."""
    distinct = distinct_values(stamps)
    if len(distinct) < FEWEST_STEPS or len(distinct) == len(stamps) or not are_regular(distinct):
        return None
    alias = guess_alias(distinct)
    return alias if alias is not None and parse_frequency(alias).is_within_day else None


def _num_steps(stamps: NDArray[Any], step: str, share: float) -> int:
    """Steps from the first to the last stamp, empty ones too; 0 where the stamps fill a smaller share of them."""
    filled, number = _filled_and_all(stamps, step)
    return number if filled > 1 and filled >= share * number else 0


def _filled_and_all(stamps: NDArray[Any], step: str) -> tuple[int, int]:
    """The steps that have a stamp, and all from the first to the last one; (0, 0) for work days with weekends."""
    if step == "B" and not _are_of_business_days(stamps):
        return 0, 0
    frequency = parse_frequency(step)
    filled = distinct_values(floored(stamps, frequency, Zone()))
    if not len(filled):
        return 0, 0
    return len(filled), int(frequency.steps_between(filled[:1], filled[-1:])[0]) + 1


def _are_of_business_days(stamps: NDArray[Any]) -> bool:
    """Return whether hardly any stamp is on a weekend, whose rows would be put to the Friday before."""
    days = stamps[~np.isnat(stamps)].astype("datetime64[D]")
    return len(days) == 0 or bool(np.is_busday(days).mean() >= 1 - MOST_REPEATED)


def _filled_step(stamps: NDArray[Any], steps: Sequence[str], share: float, fewest: int) -> str | None:
    """The first of steps, finest first, of which the stamps of a series fill this share, and at least a few."""
    for step in steps:
        filled, number = _filled_and_all(stamps, step)
        if number and filled < fewest:
            return None
        if number and filled >= share * number:
            return step
    return None


def _is_unit_in_order(column: pd.Series) -> bool:
    return unit_of_column(column) is not None and bool(column.is_monotonic_increasing)


def _usual_whole_step(cells: Cells, *, may_hide: bool) -> Options | None:
    """Put numbers on the step that most of them follow, above 1, or on a round one; None where all leave many out.

    Numbers that all lie on longer steps, as 1951, 1955 and 1963 do, stay as they are.
    """
    stamps = _longest_stamps(cells)
    steps = np.sort(np.diff(stamps))
    if len(steps) == 0 or steps[len(steps) // 2] < 2:
        return None
    common = _common_step(cells)
    if len(str(common)) > LONGEST_NUMBER:
        return None
    if common > 1 and _filled_step(stamps, [str(common)], _HALF, 0) is not None:
        return {"freq": str(common)}
    usual = int(steps[len(steps) // 2])
    longer = list(map(str, (usual, *(number for number in _ROUND if number > usual))))[: _MOST_ROUND + 1]
    step = _filled_step(stamps, longer[:1], FULL, 0)
    if step is None and may_hide:
        are_short = len(cells.item_ids) > 1  # as those of a study are
        step = _filled_step(stamps, longer, _HALF, FEWEST_PER_SERIES if are_short else _FEWEST_FILLED)
    return None if step is None else {"resample": step}


def repeats_are_equal(examination: Examination) -> bool:
    """Return whether rows of one series and stamp all have the same target."""
    cells, roles = examination.cells, examination.roles
    return cells is not None and roles is not None and _are_repeated(cells.columns[roles.target], cells)


def config_of_frame(config: DataConfig) -> DataConfig:
    """The options for the frame of a table that has been read; one that is wide still is."""
    return replace(config_after_reading(config), wide=config.wide)


# --------------------------------------------------------------------------- missing values


def _mask(problem: Problem, finding: Finding) -> Options | None:
    """Hide missing values, unless --missing was given or a clock change explains the gap."""
    cells, panel, roles = problem.examination.cells, problem.examination.panel, problem.examination.roles
    if finding.code == "FA204" and cells is not None and panel is not None and panel.frequency.is_within_day:
        uneven = uneven_steps(cells, panel.frequency)
        after = uneven.at[uneven.gaps]
        lost = cells.stamps[after] - cells.stamps[after - 1]
        zone = _zone_of_changes(problem, cells, after[lost <= _LONGEST_CHANGE])
        if zone is not None:
            return {"tz": zone}
    if problem.config.missing == "auto" and "missing" not in problem.options:
        return {"missing": "mask"}
    if roles is not None and finding.column in (*roles.past_covariates, *roles.past_categories):
        return _leave_out(problem, finding)
    return problem.longer_step() if finding.code == "FA204" else None


def _leave_out(problem: Problem, finding: Finding) -> Options | None:
    """Leave a covariate out that nobody declared; one of few words and numbers has categories."""
    column, config, frame = finding.column, problem.config, problem.examination.frame
    roles, options = problem.examination.roles, problem.options
    declared = {config.target, config.time, config.item_id, config.weight, options.get("target"), None}
    declared |= {*config.past_covariates, *config.future_covariates, *config.static_covariates}
    if column in declared or (roles is not None and column in (roles.target, roles.time)):
        return None
    name = "ignore"
    if finding.code == "FA103" and frame is not None and column in frame.columns:  # a wide table has it no longer
        name = "categorical" if _has_categories(frame[column]) else name
    return {name: tuple(dict.fromkeys((*getattr(config, name), *options.get(name, ()), column)))}


def _has_categories(column: pd.Series) -> bool:
    """Return whether cells are a few words and whole numbers that all come again: `0`, `a`, `b`."""
    categories = categories_of(column)
    return bool(categories) and all(re.fullmatch(r"\w+", category) for category in categories)


# --------------------------------------------------------------------------- stamps


def _resample(problem: Problem, finding: Finding) -> Options | None:
    return problem.longer_step()


def _one_step(problem: Problem, finding: Finding) -> Options | None:
    """Put series of whole numbers on the step that all of theirs are made of."""
    cells, config = problem.examination.cells, problem.config
    if cells is None or cells.stamps.dtype.kind == "M" or config.freq or {"resample", "freq"} & problem.options.keys():
        return problem.longer_step()
    return {"freq": str(_common_step(cells))}


def _common_step(cells: Cells) -> int:
    return int(np.gcd.reduce(np.diff(np.unique(cells.stamps))))


def _one_of_equal_rows(problem: Problem, finding: Finding) -> Options | None:
    """Keep the first of rows that are equal; average the few that are not; resample where there are many."""
    cells = problem.examination.cells
    if problem.config.duplicates != "error" or "duplicates" in problem.options or cells is None:
        return None
    zone = _zone_of_changes(problem, cells, np.flatnonzero(cells.repeats))
    if zone is not None:
        return {"tz": zone}
    if repeats_are_equal(problem.examination):
        return {"duplicates": "first"}
    if cells.repeats[1:].sum() <= MOST_AVERAGED * len(cells.rows):
        return {"duplicates": "mean"}
    return problem.longer_step()


def _are_repeated(values: NDArray[np.float64], cells: Cells) -> bool:
    """Return whether rows of one series and stamp, of which there are some, all have the same value."""
    same = cells.repeats[1:]
    return bool(same.any()) and np.array_equal(values[1:][same], values[:-1][same], equal_nan=True)


def _zone_of_changes(problem: Problem, cells: Cells, changes: NDArray[np.int64]) -> str | None:
    """The zone whose clocks are changed at rows, and in which every stamp is one instant, where one such is known.

    Args:
        problem: of the table.
        cells: as written.
        changes: rows that repeat the stamp before them, or that have a gap before them.
    """
    is_said = problem.config.tz is not None or "tz" in problem.options or cells.zone.name is not None
    if is_said or cells.stamps.dtype.kind != "M":
        return None
    return next(_zones(problem, cells, changes), None)


def _zones(problem: Problem, cells: Cells, changes: NDArray[np.int64]) -> Iterator[str]:
    moments, are_repeats = cells.between(changes), cells.stamps[changes] == cells.stamps[changes - 1]
    for zone in ZONES_BY_CLOCK:
        try:
            config = replace(problem.config, **{**problem.options, "tz": zone})
        except ConfigError:
            continue
        are_changes = changes_at(zone, moments)
        if are_changes.any() and are_changes[are_repeats].all():  # a stamp of another hour would stay repeated
            findings = examine(problem.frame, config_of_frame(config)).findings
            if not any(finding.code in ("FA202", "FA210", "FA211") for finding in findings):
                yield zone


def _are_amounts(cells: Cells, roles: Roles | None, frame: pd.DataFrame) -> bool:
    """Return whether rows are amounts of events, whose sum means more than their mean: sales, and no temperatures.

    Several stand at one time, or they are money, counts or energy at no regular time; and an amount says nothing of
    the next one, as a level does. Answers of persons who were asked in some year are none, nor are prices of a litre,
    or those beside the size of a trade.
    """
    if roles is None or are_answers_of_a_year(roles.time, frame):
        return False
    numbers = (name for name in map(str, frame.columns) if is_numeric(frame[name]))
    is_price = is_called_money(roles.target) and has_unit_of_prices(frame)
    if is_price or is_price_of_pieces(roles.target, numbers):
        return False
    is_irregular = cells.stamps.dtype.kind == "M" and regularity(cells.stamps) < REGULAR
    values = cells.columns[roles.target]
    is_sum = is_called_total(roles.target) or are_in_cents(values)
    is_money = is_called_turnover(roles.target) or (is_called_money(roles.target) and is_sum)
    adds_up = is_money or is_called_count(roles.target) or is_called_way(roles.target) or ends_in_amount(roles.target)
    are_bookings = is_irregular and adds_up
    return (cells.repeats.mean() > MOST_AVERAGED or are_bookings) and cells_may_be_summed(roles.target, cells)


def _without_totals(problem: Problem, finding: Finding) -> Options | None:
    """Leave out rows without a series: a few of them, or all where the user named --id."""
    is_given = problem.config.undated_rows != DataConfig.undated_rows
    column = problem.frame.get(finding.column)
    are_few = column is not None and column.isna().mean() <= MOST_AVERAGED
    if is_given or not (are_few or problem.config.item_id is not None):
        return None
    return {"undated_rows": "drop", "item_id": finding.column}


def _readable_stamps(problem: Problem, finding: Finding) -> Options | None:
    """The format in which all stamps are read, where one is known; or leave out the few rows that have none."""
    frame = problem.examination.frame
    if frame is None or finding.column not in frame.columns or "date_format" in problem.options:
        return None
    column = frame[finding.column]
    if unread_name(finding.value) is not None:
        return _format_with_zone(column, str(finding.value))
    order = _date_order(column, str(finding.value))
    return _without_undated(problem, column) if order is None else {"date_format": order}


def _date_order(column: pd.Series, cell: str) -> str | None:
    """The order of day and month in which stamps are most regular, or else the likeliest; dots stand behind days."""
    order = regular_order(column)
    return "day-first" if order is None and re.match(r"\d\d?\.\d\d?\.", cell) else order or denser_order(column)


def _without_undated(problem: Problem, column: pd.Series) -> Options | None:
    """Leave out the few rows without a date, or of a day or hour that there is none of where columns are joined."""
    roles, config = problem.examination.roles, problem.config
    if config.undated_rows != DataConfig.undated_rows:
        return None
    try:
        is_bad = parse_timestamps(column, str(column.name), config.date_format)[1]
    except DataError:  # of the order of day and month
        return None
    is_joined = roles is not None and "," in roles.time
    are_missing = is_joined or column[is_bad].isna().all()
    if not are_missing or is_bad.mean() > MOST_BAD_STAMPS:
        return None
    is_known = config.time is not None or "time" in problem.options or first_dates(problem.frame) == column.name
    return {"undated_rows": "drop"} | ({} if is_known else {"time": str(column.name)})  # as of numbered steps


def _format_with_zone(column: pd.Series, cell: str) -> Options | None:
    """The format of stamps that all end in one name of a zone, which then says nothing; the one of regular stamps."""
    formats = {date_format: parse_timestamps(column, date_format=date_format) for date_format in formats_of_named(cell)}
    fitting = {name: regularity(distinct_values(stamps)) for name, (stamps, bad) in formats.items() if not bad.any()}
    best = max(fitting, key=lambda name: fitting[name], default=None)
    return None if best is None or list(fitting.values()).count(fitting[best]) > 1 else {"date_format": best}


_ANSWERS: dict[str, Callable[[Problem, Finding], Options | None]] = {
    "FA103": _leave_out,
    "FA201": _readable_stamps,
    "FA202": _one_of_equal_rows,
    "FA203": _resample,
    "FA204": _mask,
    "FA205": _one_step,
    "FA208": _without_totals,
    "FA301": _mask,
    "FA302": _mask,
    "FA303": _leave_out,
    "FA304": _mask,
}
"""Code of a finding -> the function that proposes the option."""
