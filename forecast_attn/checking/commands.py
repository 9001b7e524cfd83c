"""The commands that train on a table, each tried before it is printed: `forecast check` ends with them.

A table is taken as it stands if training would take it. Otherwise its time, its series and its target are looked for by
evidence, and every error that training would stop at is answered by the option that answers it, until none is left.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.examination import Examination, categories_of, examine
from forecast_attn.checking.fix import config_after_reading
from forecast_attn.checking.role_candidates import (
    DATES,
    RoleCandidate,
    changes_within_series,
    event_stamps,
    regular_order,
    role_candidates,
    target_candidates,
)
from forecast_attn.checking.table_reading import TableReading, marks_of_missing, possible_readings
from forecast_attn.config.options import DataConfig, find_option
from forecast_attn.config.values import flag_name
from forecast_attn.data.axis import uneven_steps
from forecast_attn.data.cells import Cells, epoch_unit
from forecast_attn.data.findings import Finding, counted, quoted
from forecast_attn.data.frequency import distinct_values, parse_frequency, step_name
from forecast_attn.data.reading.joined import ROW_COUNT, ROW_NUMBER, with_joined
from forecast_attn.data.reading.positions import LAYOUT_ROWS, WIDE_ROWS
from forecast_attn.data.reading.source import Source, table_name
from forecast_attn.data.resampling import floored
from forecast_attn.data.roles import MOST_UNDECLARED, Roles, is_empty, is_numeric, resolve_roles
from forecast_attn.data.timestamps import SERIAL_DAYS, are_serial_days
from forecast_attn.data.zones import changes_at
from forecast_attn.errors import ConfigError, DataError

MOST_COMMANDS = 6
MOST_REPAIRS = 8
"""Errors that one command answers by options; more of them are no table that somebody meant to forecast."""
LARGE = 1_000_000
"""A table of more rows gets one command: each is tried on the whole table."""
MANY_COLUMNS = 500
"""A table of more columns gets one command, too."""
MOST_AVERAGED = 0.03
"""Share of rows that `--duplicates` may put together."""
MOST_HIDDEN = 0.5
"""Share of rows that `--missing mask` may hide."""
FEWEST_SHARE = 0.5
"""Share of a table's rows that must reach training."""
COARSER = ("s", "min", "5min", "15min", "30min", "h", "D", "B", "W-MON", "MS", "QS-JAN", "YS-JAN")
"""Steps that `--resample` is tried with, finest first."""
FEWEST_STEPS = 20
ENOUGH_STEPS = 200
"""Steps at which events are counted per step, rather than per shorter one."""
UNLIKE = 0.3
"""Correlation of neighbouring rows below which they are amounts rather than levels."""
FULL = 0.8
"""Share of steps that have a row, of a step that is fine enough."""
FULL_OF_AMOUNTS = 0.55
"""The same, of amounts that are summed: a day without a booking is a zero, no hole. Hours on half hours fill 0.5."""
ZONES_BY_CLOCK = {
    "Europe/Berlin": "",
    "Europe/London": "",
    "Europe/Helsinki": "",
    "America/New_York": "Chicago, Denver or Los_Angeles",
    "Australia/Sydney": "Adelaide",
    "Pacific/Auckland": "",
}
"""Zones by the hour of their changes, and the cities of other offsets that change their clocks at the same hour."""
Table = Source | pd.DataFrame


@dataclass(frozen=True)
class Proposal:
    """Options with which training takes a table, and what it would forecast."""

    options: Mapping[str, Any]
    """By field name, in addition to the given ones."""
    forecasts: str
    target: str
    time: str
    item_id: str | None
    num_series: int
    horizon: int
    step: str

    def to_dict(self, command: str) -> dict[str, Any]:
        """JSON-able."""
        return {"command": command, **dataclasses.asdict(self), "options": dict(self.options)}


def command_text(table: str, given: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """`forecast train data.csv --target y`, as a shell takes it.

    Args:
        table: the file.
        given: options that the user gave, by field name.
        options: added to them.
    """
    words = ["forecast", "train", table]
    for name, value in {**given, **options}.items():
        flag = "out" if name == "out" else flag_name(find_option(name)[1])
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)]
    return shlex.join(words)


def find_proposals(
    table: Path | str | Table, config: DataConfig, examination: Examination | None = None, most: int = MOST_COMMANDS
) -> tuple[Proposal, ...]:
    """The ways to train on a table, the likeliest first; none where no option makes it trainable.

    Args:
        table: as for `examine`.
        config: the options that were given, which every proposal keeps.
        examination: of the table with these options, where there is one already.
        most: proposals that are looked for.

    Raises:
        ConfigError: the options contradict each other.
    """
    examination = examine(table, config) if examination is None else examination
    if examination.table is None:
        return ()
    table = examination.table
    if not examination.has_errors and examination.preparation is not None:
        return (*_alternatives(table, config, examination), _proposal(examination, {}))
    if _has_too_many_columns(examination):
        proposal = _wide_proposal(table, config) if _holds_mostly_numbers(examination.frame) else None
        return () if proposal is None else (proposal,)
    proposals: list[Proposal] = []
    for reading in possible_readings(table, config, examination):
        if proposals and not reading.is_another_table:
            continue
        search = _search(table, config, reading)
        num_rows, num_columns = search.frame.shape
        is_large = num_rows > LARGE or num_columns > MANY_COLUMNS
        proposals += search.proposals(1 if is_large else most - len(proposals))
        if len(proposals) >= most:
            break
    return tuple(proposals)


@dataclass(frozen=True)
class Obstacle:
    """The problem that stops the likeliest reading of a table on which nothing trains."""

    options: Mapping[str, Any]
    """By field name: those that come to the given ones."""
    finding: Finding

    def command(self, table: str, given: Mapping[str, Any]) -> str:
        """The `forecast check` that shows it.

        Args:
            table: the file.
            given: options that the user gave, by field name; `check` takes none of training's.
        """
        of_tables = {field.name for field in dataclasses.fields(DataConfig)}
        kept = {name: value for name, value in given.items() if name in of_tables}
        return command_text(table, kept, self.options).replace("forecast train", "forecast check", 1)


def find_obstacle(
    table: Path | str | Table, config: DataConfig, examination: Examination | None = None
) -> Obstacle | None:
    """Return what to mend first in a table without a proposal; None where no reading is likelier than as it is.

    Args:
        table: as for `examine`.
        config: the options that were given.
        examination: of the table with these options, where there is one already.

    Raises:
        ConfigError: the options contradict each other.
    """
    examination = examine(table, config) if examination is None else examination
    if examination.table is None or _names_an_absent_column(examination) or _has_too_many_columns(examination):
        return None
    for reading in possible_readings(examination.table, config, examination):
        search = _search(examination.table, config, reading)
        for candidate in role_candidates(search.frame, search.config):
            options = next(search._options_of(candidate, 1), None)
            if options is None:
                continue
            errors = examine(search.table, replace(search.config, **options)).to_report().errors
            if errors and (reading.options or options):
                return Obstacle({**reading.options, **options}, errors[0])
    return None


def _names_an_absent_column(examination: Examination) -> bool:
    """Return whether an option misspells a column: no reading of the table has it."""
    frame = examination.frame
    absent = (f for f in examination.findings if f.code == "FA102" and f.column is not None)
    return frame is not None and any(finding.column not in frame.columns for finding in absent)


def _has_too_many_columns(examination: Examination) -> bool:
    """Return whether a table has so many columns with values that none gets a role by itself: looking for one, or for
    another way to read each, would take minutes.
    """
    frame = examination.frame
    if frame is None or frame.shape[1] <= MOST_UNDECLARED:
        return False
    return sum(not is_empty(frame[name]) for name in frame.columns) > MOST_UNDECLARED


def _holds_mostly_numbers(frame: pd.DataFrame | None) -> bool:
    return frame is not None and sum(dtype.kind in "iuf" for dtype in frame.dtypes) > frame.shape[1] / 2


def _wide_proposal(table: Table, config: DataConfig) -> Proposal | None:
    """The table with a series in every column; None where errors are left."""
    if config.wide or config.target is not None or config.item_id is not None:
        return None
    return _Search(table, config, pd.DataFrame(), {})._verified({"wide": True})


def _alternatives(table: Table, config: DataConfig, examination: Examination) -> Iterator[Proposal]:
    """Another reading of a table that can be read as it stands: its steps are seconds since 1970, its -999 no value."""
    options: dict[str, Any] = {}
    frame, panel = examination.frame, examination.panel
    assert frame is not None
    assert panel is not None
    unit = epoch_unit(panel.timestamps)
    if unit is not None and config.date_format is None:
        options["date_format"] = unit
    if config.date_format is None and panel.roles.time in frame.columns and are_serial_days(frame[panel.roles.time]):
        options["date_format"] = SERIAL_DAYS
    if not config.na and isinstance(table, Source):
        used = [name for name in panel.roles.numeric if name in frame.columns]
        marks = marks_of_missing(frame[used])
        options |= {"na": marks} if marks else {}
    if options:
        better = examine(table, replace(config, **options))
        if not better.has_errors and better.preparation is not None:
            yield _proposal(better, options)
        elif "na" in options and "missing" not in options and config.missing == "auto":
            better = examine(table, replace(config, **options, missing="mask"))
            if not better.has_errors and better.preparation is not None:
                yield _proposal(better, {**options, "missing": "mask"})


# --------------------------------------------------------------------------- searching


def _search(table: Table, config: DataConfig, reading: TableReading) -> _Search:
    """The search in a reading; of a sheet with thousands of empty columns without these, which have no role."""
    frame = reading.frame
    frame = frame if frame.shape[1] <= MOST_UNDECLARED else frame.dropna(axis="columns", how="all")
    return _Search(table, replace(config, **reading.options), frame, reading.options)


@dataclass
class _Search:
    """The candidates for time, series and target of one table, tried one after the other."""

    table: Table
    config: DataConfig
    """With the options that reading takes."""
    frame: pd.DataFrame
    reading_options: dict[str, Any]
    tried: set[tuple[str, str]] = field(default_factory=set)

    def proposals(self, most: int) -> Iterator[Proposal]:
        """Return the proposals of the likeliest candidate that has any, and of other dates that are as likely."""
        rank: tuple[Any, ...] | None = None
        for candidate in role_candidates(self.frame, self.config):
            if rank is not None and (rank[0] != DATES or candidate.rank[:2] != rank):
                return
            proposals = []
            for options in self._options_of(candidate, most):
                proposal = self._settled(options)
                if proposal is not None:
                    proposals.append(proposal)
                if len(proposals) == most:
                    break
            if proposals:
                rank = candidate.rank[:2]
                yield from proposals

    def _options_of(self, candidate: RoleCandidate, most: int) -> Iterator[dict[str, Any]]:
        """The options of each target of a candidate, and of the wide one."""
        options = candidate.options(self.config)
        if self.config.wide:
            yield {name: value for name, value in options.items() if name != "item_id"}
            return
        if self.config.target is not None:
            yield options
            return
        if self._knows_target(options):
            yield options
            return
        targets = target_candidates(self.frame, candidate, self.config, table_name(self.table).partition(".")[0])
        wide = {name: value for name, value in options.items() if name != "item_id"} | {"wide": True}
        others = self._numbers_besides(targets.names, candidate)
        wide |= {"ignore": (*wide.get("ignore", self.config.ignore), *others)} if others else {}
        can_be_wide = candidate.item_id is None and self.config.item_id is None and len(targets.names) > 1
        if can_be_wide and targets.are_alike:
            yield wide
        counted_rows = self._rows_counted(candidate)
        others_wait = can_be_wide + (counted_rows is not None)
        ways = [options | {"target": name} for name in targets.names[: max(most - others_wait, 1)]]
        if counted_rows is not None:
            ways.insert(0 if targets.are_unlikely else len(ways), options | counted_rows)
        yield from ways
        if can_be_wide and not targets.are_alike:
            yield wide

    def _rows_counted(self, candidate: RoleCandidate) -> dict[str, Any] | None:
        """The options that count events per step; None for rows that are steps, or of which each step has as many.

        The step is the longest up to a day that leaves enough rows, or a longer one that most rows fill.
        """
        given = (self.config.resample, self.config.freq, self.config.season)
        stamps = event_stamps(self.frame, candidate, self.config)
        if stamps is None or any(option is not None for option in given) or self.config.missing != "auto":
            return None
        day = COARSER.index("D")
        for step in (*reversed(COARSER[: day + 1]), *COARSER[day + 1 :]):
            frequency = parse_frequency(step)
            steps, counts = np.unique(floored(stamps, frequency), return_counts=True)
            number = frequency.steps_between(steps[:1], steps[-1:])[0] + 1 if len(steps) > 1 else 1
            is_fine = number >= ENOUGH_STEPS and step in COARSER[: day + 1]
            is_coarse = number >= FEWEST_STEPS and step in COARSER[day:]
            if (is_fine or is_coarse) and len(steps) >= FULL * number:
                counts_rows = {"target": ROW_COUNT, "resample": step, "aggregate": "sum", "missing": "zero"}
                return counts_rows if len(np.unique(counts)) > 1 else None
        return None

    def _numbers_besides(self, targets: tuple[str, ...], candidate: RoleCandidate) -> tuple[str, ...]:
        """The columns of numbers that are no series: counters, parts of a date, and what never changes."""
        config = self.config
        declared = {*config.ignore, *config.past_covariates, *config.future_covariates, *config.static_covariates}
        taken = {*targets, *declared, *config.categorical, *candidate.columns, config.weight}
        names = [str(name) for name in self.frame.columns if name not in taken and is_numeric(self.frame[name])]
        return tuple(name for name in names if name.lower() != "unnamed: 0" and self.frame[name].notna().any())

    def _knows_target(self, options: dict[str, Any]) -> bool:
        """Return whether training finds the target by itself."""
        config = replace(self.config, **options)
        try:
            frame = with_joined(self.frame, config, "")
            roles = resolve_roles(frame, config, "")
        except (DataError, ConfigError):
            return False
        return changes_within_series(frame, roles.target, roles.item_id)

    def _settled(self, options: dict[str, Any]) -> Proposal | None:
        """The options with those that answer every error, tried on the table itself; None where an error is left."""
        for _ in range(MOST_REPAIRS):
            config = self._config(options)
            if config is None:
                return None
            examination = examine(self.frame, config_of_frame(config))
            if not examination.has_errors:
                break
            answer = self._answer(examination, options)
            if answer is None:
                return None
            options = options | answer
            if "resample" in answer:  # which puts equal stamps together, too
                options.pop("duplicates", None)
        proposal = self._verified(options)
        if proposal is None and "missing" in options:  # most of it would be hidden
            longer = _longer_step(self, examination, options)
            if longer is not None:
                return self._settled({name: value for name, value in options.items() if name != "missing"} | longer)
        return proposal

    def _config(self, options: Mapping[str, Any]) -> DataConfig | None:
        try:
            return replace(self.config, **options)
        except ConfigError:
            return None

    def _verified(self, options: dict[str, Any]) -> Proposal | None:
        config = self._config(options)
        if config is None:
            return None
        examination = examine(self.table, config)
        if examination.has_errors or examination.preparation is None or not _is_enough(examination):
            return None
        proposal = _proposal(examination, {**self.reading_options, **options})
        is_wide_for_nothing = "wide" in options and proposal.num_series == 1
        if is_wide_for_nothing or (proposal.time, proposal.forecasts) in self.tried:
            return None
        self.tried.add((proposal.time, proposal.forecasts))
        return proposal

    def _answer(self, examination: Examination, options: dict[str, Any]) -> dict[str, Any] | None:
        """The option that answers the first error for which there is one."""
        for finding in examination.findings:
            if finding.severity == "error" and finding.code in _ANSWERS:
                answer = _ANSWERS[finding.code](self, finding, examination, options)
                if answer is not None and any(options.get(name) != value for name, value in answer.items()):
                    return answer
                return None
        return None


def config_of_frame(config: DataConfig) -> DataConfig:
    """The options for the frame of a table that has been read; one that is wide still is."""
    return replace(config_after_reading(config), wide=config.wide)


def _is_enough(examination: Examination) -> bool:
    """Return whether training sees most of a table's rows, and not mostly holes."""
    panel, frame = examination.panel, examination.frame
    assert panel is not None
    assert frame is not None
    observed = int(np.count_nonzero(~np.isnan(panel.target)))
    if observed < (1 - MOST_HIDDEN) * panel.num_known.sum():
        return False
    if any(repair.kind.startswith("resample") for repair in panel.repairs):
        return True
    averaged = sum(repair.count for repair in panel.repairs if repair.kind.startswith("duplicates:"))
    rows = int(frame[panel.roles.target].notna().sum())
    if _repeats_are_equal(examination):
        return True
    return averaged <= MOST_AVERAGED * rows and observed >= FEWEST_SHARE * rows


# --------------------------------------------------------------------------- answers


def _mask(
    search: _Search, finding: Finding, examination: Examination, options: dict[str, Any]
) -> dict[str, Any] | None:
    """Hide missing values, unless --missing was given or a clock change explains the gap."""
    cells, panel = examination.cells, examination.panel
    if finding.code == "FA204" and cells is not None and panel is not None and panel.frequency.is_within_day:
        uneven = uneven_steps(cells, panel.frequency)
        zone = _zone_of_changes(search, cells, uneven.at[uneven.gaps], options)
        if zone is not None:
            return {"tz": zone}
    if search.config.missing == "auto" and "missing" not in options:
        return {"missing": "mask"}
    column, roles = finding.column, examination.roles
    if column is not None and roles is not None and column in (*roles.past_covariates, *roles.past_categories):
        return _leave_out(search, finding, examination, options)
    return _longer_step(search, examination, options) if finding.code == "FA204" else None


def _leave_out(
    search: _Search, finding: Finding, examination: Examination, options: dict[str, Any]
) -> dict[str, Any] | None:
    """Leave a covariate out that nobody declared; one of few words and numbers has categories."""
    column, roles = finding.column, examination.roles
    config = search.config
    declared = (config.target, config.time, config.item_id, config.weight, *config.past_covariates)
    declared += (*config.future_covariates, *config.static_covariates, options.get("target"))
    if column is None or column in declared or (roles is not None and column in (roles.target, roles.time)):
        return None
    frame, name = examination.frame, "ignore"
    is_column = frame is not None and column in frame.columns  # no longer, of a wide table
    if finding.code == "FA103" and frame is not None and is_column and _has_categories(frame[column]):
        name = "categorical"
    return {name: tuple(dict.fromkeys((*getattr(config, name), *options.get(name, ()), column)))}


def _has_categories(column: pd.Series) -> bool:
    """Return whether cells are a few words and whole numbers that all come again: `0`, `a`, `b`."""
    categories = categories_of(column)
    return bool(categories) and all(re.fullmatch(r"\w+", category) for category in categories)


def _one_of_equal_rows(
    search: _Search, finding: Finding, examination: Examination, options: dict[str, Any]
) -> dict[str, Any] | None:
    """Keep the first of rows that are equal; average the few that are not; resample where there are many."""
    cells = examination.cells
    if search.config.duplicates != "error" or "duplicates" in options or cells is None:
        return None
    zone = _zone_of_changes(search, cells, np.flatnonzero(cells.repeats), options)
    if zone is not None:
        return {"tz": zone}
    same = cells.repeats[1:]
    equal = all(np.array_equal(v[1:][same], v[:-1][same], equal_nan=True) for v in cells.columns.values())
    if equal or _repeats_are_equal(examination):
        return {"duplicates": "first"}
    if same.sum() <= MOST_AVERAGED * len(cells.rows):
        return {"duplicates": "mean"}
    return _longer_step(search, examination, options)


def _zone_of_changes(search: _Search, cells: Cells, changes: NDArray[np.int64], options: dict[str, Any]) -> str | None:
    """The zone whose clocks are changed at rows, and in which every stamp is one instant, where one such is known.

    Args:
        search: of the table.
        cells: as written.
        changes: rows that repeat the stamp before them, or that have a gap before them.
        options: those found so far.
    """
    is_said = search.config.tz is not None or "tz" in options or cells.zone.name is not None
    if is_said or cells.stamps.dtype.kind != "M":
        return None
    for zone in ZONES_BY_CLOCK:
        config = search._config({**options, "tz": zone})
        if config is not None and changes_at(zone, cells.between(changes)).any():
            findings = examine(search.frame, config_of_frame(config)).findings
            if not any(finding.code in ("FA202", "FA210", "FA211") for finding in findings):
                return zone
    return None


def _repeats_are_equal(examination: Examination) -> bool:
    """Return whether rows of one series and stamp all have the same target."""
    cells, roles = examination.cells, examination.roles
    if cells is None or roles is None:
        return False
    same = cells.repeats[1:]
    target = cells.columns[roles.target]
    return bool(same.any()) and np.array_equal(target[1:][same], target[:-1][same], equal_nan=True)


def _resample(
    search: _Search, finding: Finding, examination: Examination, options: dict[str, Any]
) -> dict[str, Any] | None:
    return _longer_step(search, examination, options)


def _longer_step(search: _Search, examination: Examination, options: dict[str, Any]) -> dict[str, Any] | None:
    """Put the rows on the finest step that most rows fill; fewer steps suffice for amounts, zero elsewhere."""
    cells = examination.cells
    if cells is None or cells.stamps.dtype.kind != "M" or search.config.resample is not None or search.config.freq:
        return None
    lengths = np.diff(cells.starts)
    longest = int(np.argmax(lengths))
    stamps = cells.stamps[cells.starts[longest] : cells.starts[longest + 1]]
    tried = options.get("resample")
    sums = _are_amounts(cells, examination.roles) and search.config.aggregate == DataConfig.aggregate
    least = FULL_OF_AMOUNTS if sums else FULL
    for step in COARSER[COARSER.index(tried) + 1 if tried in COARSER else 0 :]:
        frequency = parse_frequency(step)
        filled = distinct_values(floored(stamps, frequency))
        if len(filled) < FEWEST_STEPS:
            return None
        if len(filled) >= least * (frequency.steps_between(filled[:1], filled[-1:])[0] + 1):
            return {"resample": step} | ({"aggregate": "sum", "missing": "zero"} if sums else {})
    return None


def _are_amounts(cells: Cells, roles: Roles | None) -> bool:
    """Return whether rows are amounts of events, whose sum means more than their mean: sales, and no temperatures.

    Several stand at one time, and an amount says nothing of the next one, as a level does.
    """
    if roles is None or cells.repeats.mean() <= MOST_AVERAGED:
        return False
    values = cells.columns[roles.target]
    pairs = ~(np.isnan(values[1:]) | np.isnan(values[:-1])) & (cells.series[1:] == cells.series[:-1])
    before, after = values[:-1][pairs], values[1:][pairs]
    if len(before) < FEWEST_STEPS or not (before.std() and after.std()):
        return False
    return bool(np.corrcoef(before, after)[0, 1] < UNLIKE)


def _date_order(
    search: _Search, finding: Finding, examination: Examination, options: dict[str, Any]
) -> dict[str, Any] | None:
    """The order of day and month in which the stamps are most regular, where one is."""
    frame = examination.frame
    if finding.column is None or frame is None or finding.column not in frame.columns or "date_format" in options:
        return None
    order = regular_order(frame[finding.column])
    return None if order is None else {"date_format": order}


_Answer = Callable[[_Search, Finding, Examination, dict[str, Any]], dict[str, Any] | None]
_ANSWERS: dict[str, _Answer] = {
    "FA103": _leave_out,
    "FA201": _date_order,
    "FA202": _one_of_equal_rows,
    "FA203": _resample,
    "FA204": _mask,
    "FA205": _resample,
    "FA301": _mask,
    "FA302": _mask,
    "FA303": _leave_out,
    "FA304": _mask,
}
"""Code of a finding -> the function that proposes the option."""


# --------------------------------------------------------------------------- words


def _proposal(examination: Examination, options: dict[str, Any]) -> Proposal:
    panel, preparation = examination.panel, examination.preparation
    assert panel is not None
    assert preparation is not None
    roles, schema = panel.roles, preparation.schema
    wide = examination.frame is not None and examination.frame.index.name == WIDE_ROWS
    step = "1 row" if schema.frequency.is_integer else step_name(schema.frequency.alias).partition(" (")[0]
    trained = panel.num_series - len(preparation.split.skipped)
    names = panel.item_ids
    has_other_layout = examination.frame is not None and examination.frame.index.name == LAYOUT_ROWS
    if has_other_layout:
        what = f"the rows as {trained:,} series" if roles.item_id is not None else "the cells as one series"
    elif wide:
        shown = quoted(list(names[:3])) + (", …" if len(names) > 3 else "")
        what = f"{counted(trained, 'column')} as one series each ({shown})"
    else:
        target = "the number of rows" if roles.target == ROW_COUNT else f"'{roles.target}'"
        what = target if roles.item_id is None else f"{target} of {trained:,} series told apart by '{roles.item_id}'"
    merged = " of" if roles.target == ROW_COUNT else f", {options.get('aggregate', 'mean')} of"
    resampled = f"{merged} each {step}" if "resample" in options else ""
    ahead = f"{schema.horizon} steps of {step} ahead" if schema.horizon > 1 else f"1 step of {step} ahead"
    if roles.time == ROW_NUMBER:
        ahead += ", if the rows are in the order of time"
    if "tz" in options and ZONES_BY_CLOCK[options["tz"]]:
        ahead += f", if {options['tz']} is the zone, not that of {ZONES_BY_CLOCK[options['tz']]}"
    if "decimal" in options:
        ahead += f", with '{options['decimal']}' before decimals"
    if "na" in options:
        ahead += f", with {quoted(list(options['na']))} as no value"
    return Proposal(
        options,
        f"{what}{resampled}, {ahead}",
        target=roles.target,
        time=roles.time,
        item_id=roles.item_id,
        num_series=trained,
        horizon=schema.horizon,
        step=schema.frequency.alias,
    )
