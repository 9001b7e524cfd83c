"""The commands that train on a table, each tried before it is printed: `forecast check` ends with them.

A table is taken as it stands if training would take it. Otherwise its time, its series and its target are looked for by
evidence, and every error that training would stop at is answered by the option that answers it, until none is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn.checking.amounts import may_be_summed
from forecast_attn.checking.changed_options import SMALLEST_SIZES, named_in, possible_changes
from forecast_attn.checking.error_options import (
    COARSER,
    FEWEST_STEPS,
    FULL,
    MOST_AVERAGED,
    MOST_HIDDEN,
    Problem,
    config_of_frame,
    repeats_are_equal,
)
from forecast_attn.checking.examination import Examination, examine
from forecast_attn.checking.likely_roles import likely_roles
from forecast_attn.checking.missing_marks import marks_of_missing
from forecast_attn.checking.proposal import Proposal, check_command_text, proposal_of
from forecast_attn.checking.role_candidates import RoleCandidate
from forecast_attn.checking.series_candidates import FEWEST_TOGETHER, series_numbers
from forecast_attn.checking.table_reading import (
    Table,
    TableReading,
    columns_with_leading_zeros,
    options_up_to_a_row,
    possible_readings,
    without_empty_columns,
)
from forecast_attn.checking.target_candidates import changes_within_series, coordinates, target_candidates
from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import epoch_unit
from forecast_attn.data.column_names import counts_rows
from forecast_attn.data.findings import Finding
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.data.number_stamps import SERIAL_DAYS, are_serial_days
from forecast_attn.data.reading.joined import ROW_COUNT, with_joined
from forecast_attn.data.reading.source import Source, table_name
from forecast_attn.data.resampling import floored
from forecast_attn.data.roles import is_numeric, resolve_roles
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.training.preparation import Preparation

MOST_COMMANDS = 6
MOST_CHANGES = 2
"""Given options that one command answers by others."""
MOST_REPAIRS = 8
"""Errors that one command answers by options; more of them are no table that somebody meant to forecast."""
LARGE = 1_000_000
"""A table of more rows gets one command: each is tried on the whole table."""
MANY_COLUMNS = 500
"""A table of more columns gets one command, too."""
FEWEST_SHARE = 0.5
"""Share of a table's rows that must reach training."""
ENOUGH_STEPS = 200
"""Steps at which events are counted per step, rather than per shorter one."""
EARLY = 0.01
"""Share of events that may lie long before the others."""


def find_proposals(
    table: Path | str | Table, config: DataConfig, examination: Examination | None = None, most: int = MOST_COMMANDS
) -> tuple[Proposal, ...]:
    """The ways to train on a table, the likeliest first; see `find_commands`."""
    return find_commands(table, config, examination, most)[0]


def find_commands(
    table: Path | str | Table, config: DataConfig, examination: Examination | None = None, most: int = MOST_COMMANDS
) -> tuple[tuple[Proposal, ...], Obstacle | None]:
    """The ways to train on a table, the likeliest first; where there is none, what to mend first.

    Args:
        table: as for `examine`.
        config: the options that were given, which every proposal keeps.
        examination: of the table with these options, where there is one already.
        most: proposals that are looked for.

    Returns:
        The proposals, none where no option makes the table trainable; and then the obstacle, None where no reading is
        likelier than the table as it is.

    Raises:
        ConfigError: the options contradict each other.
    """
    examination = examine(table, config) if examination is None else examination
    if examination.table is None:
        return (), None
    table = examination.table
    searches: list[_Search] = []
    proposals = _proposals(table, config, examination, most, searches)
    proposals = proposals or _with_changed_options(table, config, examination)
    return (proposals, None) if proposals else _small_or_stopped(config, examination, searches)


def _proposals(
    table: Table, config: DataConfig, examination: Examination, most: int, searches: list[_Search]
) -> tuple[Proposal, ...]:
    """The ways to train on a table that keep every option that was given.

    Args:
        table: opened.
        config: the options that were given.
        examination: of the table with them.
        most: proposals that are looked for.
        searches: gets the search of each reading.
    """
    if not examination.has_errors and examination.preparation is not None:
        others = [*_of_another_time(table, config, examination), *_alternatives(table, config, examination)]
        return (*others, proposal_of(examination, {}))
    proposals: list[Proposal] = []
    for reading in possible_readings(table, config, examination):
        if proposals and not reading.is_another_table:
            continue
        if reading.is_too_wide:
            proposal = _wide_proposal(table, config, reading)
            proposals += [] if proposal is None else [proposal]
            continue
        search = _search(table, config, reading)
        searches.append(search)
        num_rows, num_columns = search.frame.shape
        is_large = num_rows > LARGE or num_columns > MANY_COLUMNS
        proposals += search.proposals(1 if is_large else most - len(proposals))
        if len(proposals) >= most:
            break
    return tuple(proposals)


def _with_changed_options(
    table: Table, config: DataConfig, examination: Examination, most: int = MOST_CHANGES
) -> tuple[Proposal, ...]:
    """The likeliest way to train on a table that the given options do not read, by the first change to them.

    Where the likeliest change is not enough, as when two options are misspelt, by another one to those changed.
    """
    for at, changes in enumerate(possible_changes(config, examination)):
        try:
            changed = replace(config, **changes)
            again = examine(table, changed)
        except ConfigError as error:
            withdrawn = named_in(error.message, config)
            try:
                changed = replace(config, **{**changes, **withdrawn})
                again = examine(table, changed)
            except ConfigError:
                continue
            changes = {**changes, **withdrawn}
        proposals = _proposals(table, changed, again, 1, [])
        if not proposals and at == 0 and most > 1 and _first_error(again) != _first_error(examination):
            proposals = _with_changed_options(table, changed, again, most - 1)
        if proposals:
            options = proposals[0].options
            return (proposal_of(examine(table, replace(changed, **options)), {**changes, **options}),)
    return ()


def _first_error(examination: Examination) -> str | None:
    return next((each.message for each in examination.findings if each.severity == "error"), None)


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
        return check_command_text(table, {**given, **self.options})


def _small_or_stopped(
    config: DataConfig, examination: Examination, searches: list[_Search]
) -> tuple[tuple[Proposal, ...], Obstacle | None]:
    """The likeliest reading of a table without a proposal, if it has but few rows or values; or what stops it."""
    if _names_an_absent_column(examination):
        return (), None
    assert examination.table is not None
    unread = options_up_to_a_row(examination.table, config)
    if unread:
        errors = examine(examination.table, replace(config, **unread)).to_report().errors
        return (), Obstacle(unread, errors[0])
    candidates = ((search, options) for search in searches for options in search.likely)
    for at, (search, options) in enumerate(candidates):
        attempt = search.with_answers(options)
        if attempt is None:
            continue
        again = examine(search.table, replace(search.config, **attempt[0]))
        options = {**search.reading_options, **attempt[0]}
        proposal = _small_proposal(config, options, again) if at == 0 else None
        if proposal is not None:
            return (proposal,), None
        errors = again.to_report().errors
        if errors and options:
            return (), Obstacle(options, errors[0])
    return (), None


def _small_proposal(config: DataConfig, options: dict[str, Any], again: Examination) -> Proposal | None:
    """The proposal of a table read by options, if all that stops it is that it has few rows or few values."""
    assert again.table is not None
    smallest = [{"lookback": lookback, "horizon": horizon} for lookback, horizon in SMALLEST_SIZES]
    sizes: list[dict[str, Any]] = [{}, *smallest]
    for size in sizes if all(error.code == "FA403" for error in again.to_report().errors) else ():
        smaller = examine(again.table, replace(config, **options, **size)) if size else again
        if not smaller.has_errors and smaller.preparation is not None and _averages_little(smaller):
            return proposal_of(smaller, {**options, **size})
    return None


def _names_an_absent_column(examination: Examination) -> bool:
    """Return whether an option misspells a column: no reading of the table has it."""
    frame = examination.frame
    absent = (f for f in examination.findings if f.code == "FA102" and f.column is not None)
    return frame is not None and any(finding.column not in frame.columns for finding in absent)


def _wide_proposal(table: Table, config: DataConfig, reading: TableReading) -> Proposal | None:
    """The reading with a series in every column, if most hold numbers; None where errors are left."""
    frame = reading.frame
    if config.wide or config.target is not None or config.item_id is not None or config.layout != "long":
        return None
    if sum(dtype.kind in "iuf" for dtype in frame.dtypes) <= frame.shape[1] / 2:
        return None
    search = _search(table, config, reading)
    return search.accepted(examine(table, replace(search.config, wide=True), wide=search.frame), {"wide": True})


def _of_another_time(table: Table, config: DataConfig, examination: Examination) -> Iterator[Proposal]:
    """The likeliest way where rows that a column numbers are those of a panel."""
    frame, panel = examination.frame, examination.panel
    assert frame is not None
    assert panel is not None
    is_counter = counts_rows(panel.roles.time) and panel.timestamps.dtype.kind == "i"
    if config.time is None and not config.wide and is_counter and panel.num_series == 1:
        others = _Search(table, config, frame, {}).proposals(1)
        yield from (each for each in others if each.time != panel.roles.time and each.num_series > 1)


def _alternatives(table: Table, config: DataConfig, examination: Examination) -> Iterator[Proposal]:
    """Another reading of a table that can be read as it stands: its steps are seconds since 1970, its -999 no value."""
    options: dict[str, Any] = {}
    frame, panel = examination.frame, examination.panel
    assert frame is not None
    assert panel is not None
    time = panel.roles.time
    unit = SERIAL_DAYS if time in frame.columns and are_serial_days(frame[time]) else epoch_unit(panel.timestamps)
    if unit is not None and config.date_format is None:
        options["date_format"] = unit
    if not config.na and isinstance(table, Source):
        marks = marks_of_missing(frame[[name for name in panel.roles.numeric if name in frame.columns]])
        options |= {"na": marks} if marks else {}
    ways = [options] if options else []
    ways += [{**options, "missing": "mask"}] if "na" in options and config.missing == "auto" else []
    for way in ways:
        better = examine(table, replace(config, **way))
        if not better.has_errors and better.preparation is not None:
            yield proposal_of(better, way)
            return


# --------------------------------------------------------------------------- searching


def _search(table: Table, config: DataConfig, reading: TableReading) -> _Search:
    frame = without_empty_columns(reading.frame)  # once more, where it was read again
    return _Search(table, replace(config, **reading.options), frame, reading.options, reading.lines)


@dataclass
class _Search:
    """The candidates for time, series and target of one table, tried one after the other."""

    table: Table
    config: DataConfig
    """With the options that reading takes."""
    frame: pd.DataFrame
    reading_options: dict[str, Any]
    lines: str | None = None
    """Where the table stands, if others stand in its file."""
    likely: list[dict[str, Any]] = field(default_factory=list)
    """The options of each candidate tried with its likeliest target."""

    @cached_property
    def codes(self) -> frozenset[str]:
        """Columns of numbers that the file writes as names: `012`."""
        return columns_with_leading_zeros(self.table, self.config, self.frame)

    def proposals(self, most: int) -> Iterator[Proposal]:
        """Return the proposals of the likeliest candidate that has any, and of other dates that are as likely."""
        first: RoleCandidate | None = None
        for candidate in likely_roles(self.frame, self.config):
            if first is not None and not candidate.is_as_likely_as(first):
                return
            proposals = []
            ways = list(self._options_of(candidate, most))
            self.likely.append(ways[0] if ways else self._with_any_target(candidate))
            for options in ways:
                proposal = self._settled(options)
                if proposal is not None:
                    proposals.append(proposal)
                    other = self._other_aggregate(proposal, candidate) if len(proposals) == 1 < most else None
                    proposals += [] if other is None else [other]
                if len(proposals) == most:
                    break
            if proposals:
                first = candidate
                yield from proposals

    def _with_any_target(self, candidate: RoleCandidate) -> dict[str, Any]:
        """The options of a candidate whose numbers never change, with the first of them."""
        free = (str(name) for name in self.frame.columns if name not in candidate.columns and not counts_rows(name))
        target = next((name for name in free if self.config.target is None and is_numeric(self.frame[name])), None)
        return candidate.options(self.config) | ({} if target is None else {"target": target})

    def _other_aggregate(self, proposal: Proposal, candidate: RoleCandidate) -> Proposal | None:
        """The mean of each step where amounts of events are summed, or the sum: which is meant, nobody can see."""
        options = dict(proposal.options)
        if "resample" not in options or candidate.event_stamps is None or proposal.target == ROW_COUNT:
            return None
        kept = {name: options[name] for name in options if name not in (*self.reading_options, "aggregate", "missing")}
        if "aggregate" in options:
            return self._verified(kept) or self._verified({**kept, "missing": "mask"})
        config = self._config({name: value for name, value in kept.items() if name != "resample"})
        events = None if config is None else examine(self.frame, config_of_frame(config))
        if events is None or events.cells is None or events.roles is None:
            return None
        cells, target = events.cells, events.roles.target
        is_amount = may_be_summed(target, cells.columns[target], cells.series)
        return self._verified({**kept, "aggregate": "sum", "missing": "zero"}) if is_amount else None

    def _options_of(self, candidate: RoleCandidate, most: int) -> Iterator[dict[str, Any]]:
        """The options of each target of a candidate, and of the wide one."""
        options = candidate.options(self.config)
        if self.config.wide:
            yield {name: value for name, value in options.items() if name != "item_id"}
            return
        if self.config.target is not None:
            yield options
            return
        name = table_name(self.table).partition(".")[0]
        targets = target_candidates(self.frame, candidate, self.config, name, self.codes)
        may_be_counted = candidate.event_stamps is not None or targets.are_unlikely
        counted_rows = self._rows_counted(candidate) if may_be_counted else None
        if self._knows_target(options, candidate):
            ways = [options] if counted_rows is None else [options, counted_rows]
            yield from reversed(ways) if targets.are_unlikely else ways
            return
        wide = {name: value for name, value in options.items() if name != "item_id"} | {"wide": True}
        others = self._numbers_besides(targets.names, candidate)
        wide |= {"ignore": (*wide.get("ignore", self.config.ignore), *others)} if others else {}
        can_be_wide = candidate.item_id is None and self.config.item_id is None and len(targets.names) > 1
        if can_be_wide and targets.are_alike:
            yield wide
        others_wait = can_be_wide + (counted_rows is not None)
        ways = [options | {"target": name} for name in targets.names[: max(most - others_wait, 1)]]
        if counted_rows is not None:
            ways.insert(0 if targets.are_unlikely else len(ways), counted_rows)
        yield from ways
        if can_be_wide and not targets.are_alike:
            yield wide

    def _rows_counted(self, candidate: RoleCandidate) -> dict[str, Any] | None:
        """The options that count events per step; None for rows that are steps, or of which each step has as many.

        The step is the longest up to a day that leaves enough rows, or a longer one that most rows fill, but for the
        few rows long before the others. Events of series that have few each, as of visitors, are counted together.
        """
        given = (self.config.resample, self.config.freq, self.config.season)
        if any(option is not None for option in given) or self.config.missing != "auto" or not candidate.may_be_counted:
            return None
        stamps = candidate.event_stamps
        if stamps is None:
            are_as_many = len(np.unique(np.unique(candidate.stamps, return_counts=True)[1])) == 1
            return None if are_as_many else candidate.options(self.config) | _rows_of("1")
        stamps = stamps[int(len(stamps) * EARLY) :]
        day = COARSER.index("D")
        for step in (*reversed(COARSER[: day + 1]), *COARSER[day + 1 :]):
            frequency = parse_frequency(step)
            steps, counts = np.unique(floored(stamps, frequency), return_counts=True)
            number = frequency.steps_between(steps[:1], steps[-1:])[0] + 1 if len(steps) > 1 else 1
            is_fine = number >= ENOUGH_STEPS and step in COARSER[: day + 1]
            is_coarse = number >= FEWEST_STEPS and step in COARSER[day:]
            if (is_fine or is_coarse) and len(steps) >= FULL * number:
                if len(np.unique(counts)) == 1:
                    return None
                series = series_numbers(self.frame, candidate.item_id)
                times = pd.DataFrame({"series": series, "step": floored(candidate.stamps, frequency)})
                are_few = len(times.drop_duplicates()) < FEWEST_TOGETHER * len(steps) * len(np.unique(series))
                together = replace(candidate, item_id=None) if are_few and self.config.item_id is None else candidate
                return together.options(self.config) | _rows_of(step)
        return None

    def _numbers_besides(self, targets: tuple[str, ...], candidate: RoleCandidate) -> tuple[str, ...]:
        """The columns of numbers that are no series: counters, parts of a date, and what never changes."""
        config = self.config
        declared = {*config.ignore, *config.past_covariates, *config.future_covariates, *config.static_covariates}
        taken = {*targets, *declared, *config.categorical, *candidate.columns, config.weight}
        names = [str(name) for name in self.frame.columns if name not in taken and is_numeric(self.frame[name])]
        return tuple(name for name in names if name.lower() != "unnamed: 0" and self.frame[name].notna().any())

    def _knows_target(self, options: dict[str, Any], candidate: RoleCandidate) -> bool:
        """Return whether training finds the target by itself, and it is none of the codes and coordinates."""
        config = replace(self.config, **options)
        try:
            frame = with_joined(self.frame, config, "")
            roles = resolve_roles(frame, config, "")
        except (DataError, ConfigError):
            return False
        if roles.target in self.codes or roles.target in coordinates(frame, candidate):
            return False
        return changes_within_series(frame, roles.target, roles.item_id)

    def _settled(self, options: dict[str, Any]) -> Proposal | None:
        """The options with those that answer every error, tried on the table itself; None where an error is left."""
        item_id = options.get("item_id")
        is_named = item_id not in self.frame.columns or self.frame[item_id].notna().all()
        proposal = None if is_named else self._verified(options)
        if proposal is not None:  # `NA` is a name where the table is read with this identifier
            return proposal
        attempt = self.with_answers(options)
        if attempt is None:
            return None
        options, problem = attempt
        if problem.examination.has_errors:
            return None
        proposal = self._verified(options)
        longer = problem.longer_step() if proposal is None and "missing" in options else None
        if longer is None:
            return proposal
        return self._settled({name: value for name, value in options.items() if name != "missing"} | longer)

    def with_answers(self, options: dict[str, Any]) -> tuple[dict[str, Any], Problem] | None:
        """The options with those that answer errors, and what is left; None if they contradict each other."""
        for _ in range(MOST_REPAIRS):
            config = self._config(options)
            if config is None:
                return None
            examination = examine(self.frame, config_of_frame(config))
            problem = Problem(self.frame, self.config, options, examination)
            answer = problem.answer() if examination.has_errors else None
            if answer is None:
                break
            options = options | answer
            if "resample" in answer:  # which puts equal stamps together, too
                options.pop("duplicates", None)
        return options, problem

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
        past = _not_known_ahead(examination, config)
        if past:
            return self._verified({**options, "past_covariates": (*config.past_covariates, *past)})
        return self.accepted(examination, options)

    def accepted(self, examination: Examination, options: dict[str, Any]) -> Proposal | None:
        """The proposal of the table examined with options; None where errors or too few rows are left."""
        if examination.has_errors or examination.preparation is None or not _is_enough(examination):
            return None
        if "target" in options and _lacks_future_rows(examination.preparation):
            return None  # `predict` would refuse it: other targets end with their table
        proposal = proposal_of(examination, {**self.reading_options, **options})
        if self.lines is None:
            return proposal
        return replace(proposal, forecasts=f"{proposal.forecasts}, of the table in {self.lines}")


def _rows_of(step: str) -> dict[str, Any]:
    """The options that count the rows of each step."""
    return {"target": ROW_COUNT, "resample": step, "aggregate": "sum", "missing": "zero"}


def _lacks_future_rows(preparation: Preparation) -> bool:
    """Return whether some series has fewer rows known ahead than the horizon, which those of others set."""
    panel = preparation.panel
    return bool(panel.roles.future and (panel.starts[1:] - panel.ends < preparation.schema.horizon).any())


def _not_known_ahead(examination: Examination, config: DataConfig) -> tuple[str, ...]:
    """The undeclared future covariates without a value in some step of the horizon, for which `predict` would ask."""
    preparation = examination.preparation
    if preparation is None or not preparation.panel.roles.future_covariates or _lacks_future_rows(preparation):
        return ()
    panel = preparation.panel
    rows = panel.ends[:, None] + np.arange(preparation.schema.horizon)
    declared = {*config.future_covariates, *panel.roles.known_steps}
    lacking = np.isnan(panel.future_covariates[rows]).any(axis=(0, 1))
    names = zip(panel.roles.future_covariates, lacking, strict=True)
    return tuple(name for name, is_lacking in names if is_lacking and name not in declared)


def _is_enough(examination: Examination) -> bool:
    """Return whether training sees most of a table's rows, and not mostly holes."""
    panel, frame = examination.panel, examination.frame
    assert panel is not None
    assert frame is not None
    observed = int(np.count_nonzero(~np.isnan(panel.target)))
    return observed >= (1 - MOST_HIDDEN) * panel.num_known.sum() and _averages_little(examination)


def _averages_little(examination: Examination) -> bool:
    """Return whether most rows of a table reach training by themselves, or an option puts them on another step."""
    panel, frame = examination.panel, examination.frame
    assert panel is not None
    assert frame is not None
    observed = int(np.count_nonzero(~np.isnan(panel.target)))
    if any(repair.kind.startswith("resample") for repair in panel.repairs):
        return True
    averaged = sum(repair.count for repair in panel.repairs if repair.kind.startswith("duplicates:"))
    rows = int(frame[panel.roles.target].notna().sum())
    return repeats_are_equal(examination) or (averaged <= MOST_AVERAGED * rows and observed >= FEWEST_SHARE * rows)
