"""The options under which training may take a candidate for time and series: one set for each likely target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.error_options import COARSER, FULL, FULL_OF_AMOUNTS, step_of_events
from forecast_attn.checking.role_candidates import RoleCandidate
from forecast_attn.checking.series_blocks import FEWEST_TOGETHER
from forecast_attn.checking.series_candidates import series_numbers
from forecast_attn.checking.target_candidates import changes_within_series, coordinates, target_candidates
from forecast_attn.config.options import DataConfig
from forecast_attn.data.column_names import counts_rows, is_called_a_name, is_called_year
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.data.reading.joined import ROW_COUNT, with_joined
from forecast_attn.data.resampling import floored
from forecast_attn.data.roles import is_numeric, resolve_roles
from forecast_attn.data.zones import Zone
from forecast_attn.errors import ConfigError, DataError

EARLY = 0.01
"""Share of events that may lie long before the others."""
_FEWEST_ASKED = 20
"""Usual rows of a year that has some from which on a year without any was not asked about, as in a survey."""
_LONGEST_OF_EVEN = 2.0
"""Long over usual time between two rows that come evenly."""
_MOSTLY_AS_MANY = 0.9
"""Share of steps with equally many rows, where those are steps themselves: the hours of days."""
_MOST_AT_ONCE = 0.2
"""Share of rows at the time of another one where they do: of events of which only the day is known, more are."""


@dataclass(frozen=True)
class CandidateOptions:
    """The options of each candidate of one table."""

    frame: pd.DataFrame
    config: DataConfig
    """Given options, which all sets keep."""
    name: str
    """Of the table, which may name its target."""
    codes: frozenset[str]
    """Columns of numbers that the file writes as names: `012`."""

    def of(self, candidate: RoleCandidate, most: int) -> Iterator[dict[str, Any]]:
        """The options of each target of a candidate, and of the wide one."""
        options = candidate.options(self.config)
        if self.config.wide:
            yield {name: value for name, value in options.items() if name != "item_id"}
            return
        if self.config.target is not None:
            yield options
            return
        name = self.name.partition(".")[0]
        targets = target_candidates(self.frame, candidate, self.config, name, self.codes)
        if candidate.counts_rows and not targets.names:
            return
        may_be_counted = not targets.is_measured and (candidate.event_stamps is not None or targets.are_unlikely)
        counted_rows = self._rows_counted(candidate) if may_be_counted else None
        if targets.are_unlikely and counted_rows is None and _are_rare(candidate):
            return
        if self._knows_target(options, candidate):
            ways = [options] if counted_rows is None else [options, counted_rows]
            yield from reversed(ways) if targets.are_unlikely else ways
            return
        wide = {name: value for name, value in options.items() if name != "item_id"} | {"wide": True}
        others = self._numbers_besides(targets.as_series, candidate)
        wide |= {"ignore": (*wide.get("ignore", self.config.ignore), *others)} if others else {}
        can_be_wide = candidate.item_id is None and self.config.item_id is None and len(targets.as_series) > 1
        if can_be_wide and targets.are_alike:
            yield wide
        others_wait = can_be_wide + (counted_rows is not None)
        ways = [options | {"target": name} for name in targets.likely[: max(most - others_wait, 1)]]
        if counted_rows is not None:
            ways.insert(0 if targets.are_unlikely else len(ways), counted_rows)
        yield from ways
        if can_be_wide and not targets.are_alike:
            yield wide

    def _rows_counted(self, candidate: RoleCandidate) -> dict[str, Any] | None:
        """The options that count events per step; None for rows that are steps, or of which each step has as many.

        None, too, for rows that come about evenly, as those of a device that reports each minute or so. The few rows
        long before the others do not tell the step. Events of series that have few each, as of visitors, are counted
        together, and so are those that no column called a name tells apart: their status is a property.
        """
        given = (self.config.resample, self.config.freq, self.config.season)
        if any(option is not None for option in given) or self.config.missing != "auto" or not candidate.may_be_counted:
            return None
        stamps = candidate.event_stamps
        if stamps is None:
            units, counts = np.unique(candidate.stamps, return_counts=True)
            if len(np.unique(counts)) == 1:
                return None
            step_of_units = np.gcd.reduce(np.diff(units))  # 2 of a survey every other year
            are_asked = is_called_year(candidate.time) and np.median(counts) >= _FEWEST_ASKED
            missing = "mask" if are_asked else "zero"
            return candidate.options(self.config) | _rows_of(str(step_of_units)) | {"missing": missing}
        stamps = stamps[int(len(stamps) * EARLY) :]
        step = None if _come_evenly(stamps) else _step_of_counts(stamps)
        if step is None:
            return None
        frequency = parse_frequency(step)
        steps, counts = np.unique(floored(stamps, frequency, Zone()), return_counts=True)
        if np.unique(counts, return_counts=True)[1].max() >= _MOSTLY_AS_MANY * len(counts):
            return None
        series = series_numbers(self.frame, candidate.item_id)
        times = pd.DataFrame({"series": series, "step": floored(candidate.stamps, frequency, Zone())})
        are_few = len(times.drop_duplicates()) < FEWEST_TOGETHER * len(steps) * len(np.unique(series))
        are_together = self.config.item_id is None and (are_few or not is_called_a_name(candidate.item_id or ""))
        together = replace(candidate, item_id=None) if are_together else candidate
        return together.options(self.config) | _rows_of(step)

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

    def with_any_target(self, candidate: RoleCandidate) -> dict[str, Any]:
        """The options of a candidate whose numbers never change, with the first of them."""
        free = (str(name) for name in self.frame.columns if name not in candidate.columns and not counts_rows(name))
        target = next((name for name in free if self.config.target is None and is_numeric(self.frame[name])), None)
        return candidate.options(self.config) | ({} if target is None else {"target": target})


def _are_rare(candidate: RoleCandidate) -> bool:
    """Return whether rows are events of which most steps have none, whatever the step: records of a century."""
    stamps = candidate.event_stamps
    return stamps is not None and not _come_evenly(stamps) and step_of_events(stamps, FULL) is None


def _come_evenly(stamps: NDArray[Any]) -> bool:
    """Return whether hardly any time between two stamps is far longer than most; of events, a tenth is three times so.

    Args:
        stamps: sorted.
    """
    steps = np.diff(stamps).astype(np.int64)
    usual, long = np.quantile(steps, (0.5, 0.9))
    return bool(usual > 0 and long <= _LONGEST_OF_EVEN * usual and np.mean(steps == 0) <= _MOST_AT_ONCE)


def _step_of_counts(stamps: NDArray[Any]) -> str | None:
    """The step at which events are counted: a day also where some days have none, for theirs is a zero.

    Args:
        stamps: sorted.
    """
    step = step_of_events(stamps, FULL)
    is_longer = step in COARSER and COARSER.index(step) > COARSER.index("B")
    return "D" if is_longer and step_of_events(stamps, FULL_OF_AMOUNTS) == "D" else step


def _rows_of(step: str) -> dict[str, Any]:
    """The options that count the rows of each step."""
    return {"target": ROW_COUNT, "resample": step, "aggregate": "sum", "missing": "zero"}
