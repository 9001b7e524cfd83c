"""The commands that train on a table, each tried before it is printed: `forecast check` ends with them.

A table is taken as it stands if training would take it. Otherwise its time, its series and its target are looked for by
evidence, and every error that training would stop at is answered by the option that answers it, until none is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from forecast_attn.checking.changed_options import SMALLEST_SIZES, named_in, possible_changes
from forecast_attn.checking.examination import Examination, examine
from forecast_attn.checking.missing_marks import marks_of_missing
from forecast_attn.checking.option_search import OptionSearch, changes_somewhere, keeps_most_rows, not_known_ahead
from forecast_attn.checking.proposal import Proposal, check_command_text, proposal_of
from forecast_attn.checking.table_reading import (
    Table,
    TableReading,
    options_up_to_a_row,
    possible_readings,
    without_empty_columns,
)
from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import epoch_unit
from forecast_attn.data.column_names import counts_rows
from forecast_attn.data.findings import Finding
from forecast_attn.data.number_stamps import SERIAL_DAYS, are_serial_days
from forecast_attn.data.reading.source import Source
from forecast_attn.errors import ConfigError

MOST_COMMANDS = 6
MOST_CHANGES = 2
"""Given options that one command answers by others."""
LARGE = 1_000_000
"""A table of more rows gets one command: each is tried on the whole table."""
MANY_COLUMNS = 500
"""A table of more columns gets one command, too."""


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
        config: the options that were given, which a proposal keeps unless the table is trainable only without some.
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
    table = examination.table.keeping_frames() if isinstance(examination.table, Source) else examination.table
    searches: list[OptionSearch] = []
    proposals = _proposals(table, config, examination, most, searches)
    proposals = proposals or _with_changed_options(table, config, examination)
    return (proposals, None) if proposals else _small_or_stopped(config, examination, searches)


def _proposals(
    table: Table, config: DataConfig, examination: Examination, most: int, searches: list[OptionSearch]
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
        left = most - len(proposals)
        of_each = max(left // 2, 1) if reading.is_another_table else left  # for others may follow
        proposals += search.proposals(1 if is_large else of_each)
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
    config: DataConfig, examination: Examination, searches: list[OptionSearch]
) -> tuple[tuple[Proposal, ...], Obstacle | None]:
    """The likeliest reading of a table without a proposal, if it has but few rows or values; or what stops it."""
    if _names_an_absent_column(examination):
        return (), None
    assert examination.table is not None
    unread = options_up_to_a_row(examination.table, config)
    if unread:
        errors = examine(examination.table, replace(config, **unread)).to_report().errors
        return (), Obstacle(unread, errors[0])
    candidates = ((search, *likely) for search in searches for likely in search.likely)
    for at, (search, options, may_train) in enumerate(candidates):
        attempt = search.with_answers(options)
        if attempt is None:
            continue
        again = examine(search.table, replace(search.config, **attempt[0]))
        options = {**search.reading_options, **attempt[0]}
        proposal = _small_proposal(config, options, again) if at == 0 and may_train else None
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
        chosen = {**options, **size}
        smaller = examine(again.table, replace(config, **chosen)) if size else again
        past = not_known_ahead(smaller, replace(config, **chosen))
        if past:
            chosen["past_covariates"] = (*config.past_covariates, *past)
            smaller = examine(again.table, replace(config, **chosen))
        is_right = not smaller.has_errors and smaller.preparation is not None and changes_somewhere(smaller)
        if is_right and keeps_most_rows(smaller):
            return proposal_of(smaller, chosen)
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
    """The likeliest way where rows that a column numbers are those of a panel, or have dates in several columns."""
    frame, panel = examination.frame, examination.panel
    assert frame is not None
    assert panel is not None
    is_counter = counts_rows(panel.roles.time) and panel.timestamps.dtype.kind == "i"
    if config.time is None and not config.wide and is_counter and panel.num_series == 1:
        proposals = OptionSearch(table, config, frame, {}).proposals(1)
        others = (each for each in proposals if each.time != panel.roles.time)
        yield from (each for each in others if each.num_series > 1 or not each.step.isdecimal())


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


def _search(table: Table, config: DataConfig, reading: TableReading) -> OptionSearch:
    frame = without_empty_columns(reading.frame)  # once more, where it was read again
    return OptionSearch(table, replace(config, **reading.options), frame, reading.options, reading.lines)
