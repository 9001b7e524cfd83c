"""The search for options under which training takes one reading of a table, each tried on the table itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn.checking.amounts import cells_may_be_summed
from forecast_attn.checking.candidate_options import CandidateOptions
from forecast_attn.checking.error_options import (
    MOST_AVERAGED,
    MOST_HIDDEN,
    Problem,
    config_of_frame,
    repeats_are_equal,
)
from forecast_attn.checking.examination import Examination, examine
from forecast_attn.checking.likely_roles import likely_roles
from forecast_attn.checking.proposal import Proposal, proposal_of
from forecast_attn.checking.role_candidates import RoleCandidate
from forecast_attn.checking.series_candidates import column_of_levels
from forecast_attn.checking.table_reading import Table, columns_with_leading_zeros
from forecast_attn.checking.value_names import ends_in_amount, is_called_turnover
from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading.joined import ROW_COUNT
from forecast_attn.data.reading.source import table_name
from forecast_attn.errors import ConfigError
from forecast_attn.training.preparation import Preparation

MOST_REPAIRS = 8
"""Errors that one command answers by options; more of them are no table that somebody meant to forecast."""
FEWEST_SHARE = 0.5
"""Share of a table's rows that must reach training."""


@dataclass
class OptionSearch:
    """The candidates for time, series and target of one table, tried one after the other."""

    table: Table
    config: DataConfig
    """With the options that reading takes."""
    frame: pd.DataFrame
    reading_options: dict[str, Any]
    lines: str | None = None
    """Where the table stands, if others stand in its file."""
    likely: list[tuple[dict[str, Any], bool]] = field(default_factory=list)
    """The options of each candidate looked at with its likeliest target, and whether something may be forecast."""

    @cached_property
    def _candidate_options(self) -> CandidateOptions:
        codes = columns_with_leading_zeros(self.table, self.config, self.frame)
        return CandidateOptions(self.frame, self.config, table_name(self.table), codes)

    def proposals(self, most: int) -> Iterator[Proposal]:
        """Return the proposals of the likeliest candidate that has any, and of other dates that are as likely."""
        first: RoleCandidate | None = None
        for candidate in likely_roles(self.frame, self.config):
            if first is not None and not candidate.is_as_likely_as(first):
                return
            ways = list(self._candidate_options.of(candidate, most))
            if candidate.counts_rows and not ways:  # persons, one below the other
                continue
            likeliest = ways[0] if ways else self._candidate_options.with_any_target(candidate)
            self.likely.append((likeliest, bool(ways) and not candidate.is_in_no_order))
            proposals = [] if candidate.is_in_no_order else self._proposals_of(candidate, ways, most)
            if proposals:
                first = candidate
                yield from proposals

    def _proposals_of(self, candidate: RoleCandidate, ways: list[dict[str, Any]], most: int) -> list[Proposal]:
        """The first of the ways to take a candidate that train, and the other aggregate of the very first."""
        proposals: list[Proposal] = []
        for options in ways:
            proposal = self._settled(options)
            if proposal is None:
                continue
            proposals.append(self._by_level(proposal, options, candidate) or proposal)
            other = self._other_aggregate(proposals[0], candidate) if len(proposals) == 1 < most else None
            proposals += [] if other is None else [other]
            if len(proposals) == most:
                break
        return proposals

    def _by_level(self, proposal: Proposal, options: dict[str, Any], candidate: RoleCandidate) -> Proposal | None:
        """The proposal with a series for each group of events of other levels, whose mean would follow their mix."""
        is_averaged = "resample" in proposal.options and "aggregate" not in proposal.options
        if not is_averaged or candidate.event_stamps is None or proposal.item_id is not None:
            return None
        is_amount = is_called_turnover(proposal.target) or ends_in_amount(proposal.target)
        name = None if is_amount else column_of_levels(self.frame, proposal.target, candidate.columns)
        by_level = None if name is None else self._settled({**options, "item_id": name})
        return by_level if by_level is not None and by_level.num_series > 1 else None

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
        is_amount = cells_may_be_summed(events.roles.target, events.cells)
        return self._verified({**kept, "aggregate": "sum", "missing": "zero"}) if is_amount else None

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
        try:
            examination = examine(self.table, config)
        except ConfigError:  # a layout and a time, say, contradict each other
            return None
        preparation = examination.preparation
        past = () if preparation is None or _lacks_future_rows(preparation) else not_known_ahead(examination, config)
        if past:
            return self._verified({**options, "past_covariates": (*config.past_covariates, *past)})
        return self.accepted(examination, options)

    def accepted(self, examination: Examination, options: dict[str, Any]) -> Proposal | None:
        """The proposal of the table examined with options; None where errors or too few rows are left."""
        if examination.has_errors or examination.preparation is None or not _is_enough(examination):
            return None
        if "target" in options and _lacks_future_rows(examination.preparation):
            return None  # `predict` would refuse it: other targets end with their table
        if options.get("wide") and examination.preparation.panel.num_series < 2:
            return None
        proposal = proposal_of(examination, {**self.reading_options, **options})
        if self.lines is None:
            return proposal
        return replace(proposal, forecasts=f"{proposal.forecasts}, of the table in {self.lines}")


def _lacks_future_rows(preparation: Preparation) -> bool:
    """Return whether some series has fewer rows known ahead than the horizon, which those of others set."""
    panel = preparation.panel
    return bool(panel.roles.future and (panel.starts[1:] - panel.ends < preparation.schema.horizon).any())


def not_known_ahead(examination: Examination, config: DataConfig) -> tuple[str, ...]:
    """The undeclared future covariates without a value in some step of the horizon, for which `predict` would ask.

    All of them, where some series have fewer rows ahead: their targets are known up to the end of the table.
    """
    preparation = examination.preparation
    if preparation is None or not preparation.panel.roles.future_covariates:
        return ()
    panel = preparation.panel
    declared = {*config.future_covariates, *panel.roles.known_steps}
    undeclared = [name for name in panel.roles.future_covariates if name not in declared]
    if _lacks_future_rows(preparation):
        return tuple(undeclared)
    rows = panel.ends[:, None] + np.arange(preparation.schema.horizon)
    lacking = np.isnan(panel.future_covariates[rows]).any(axis=(0, 1))
    is_lacking = dict(zip(panel.roles.future_covariates, lacking, strict=True))
    return tuple(name for name in undeclared if is_lacking[name])


def _is_enough(examination: Examination) -> bool:
    """Return whether training sees most of a table's rows, and not mostly holes."""
    panel = examination.panel
    assert panel is not None
    observed = int(np.count_nonzero(~np.isnan(panel.target)))
    return observed >= (1 - MOST_HIDDEN) * panel.num_known.sum() and keeps_most_rows(examination)


def changes_somewhere(examination: Examination) -> bool:
    """Return whether the target has two values in some series."""
    panel = examination.panel
    assert panel is not None
    return bool((pd.Series(panel.target).groupby(panel.series_of_rows).nunique() > 1).any())


def keeps_most_rows(examination: Examination) -> bool:
    """Return whether most rows of a table reach training by themselves, or an option puts them on another step.

    A few long series among many that are too short are not most.
    """
    panel, frame, preparation = examination.panel, examination.frame, examination.preparation
    assert panel is not None
    assert frame is not None
    assert preparation is not None
    short = np.isin(panel.item_ids, [each.item_id for each in preparation.split.skipped])
    if panel.num_known[~short].sum() < FEWEST_SHARE * panel.num_known.sum():
        return False
    observed = int(np.count_nonzero(~np.isnan(panel.target)))
    if any(repair.kind.startswith("resample") for repair in panel.repairs):
        return True
    averaged = sum(repair.count or 0 for repair in panel.repairs if repair.kind.startswith("duplicates:"))
    rows = int(frame[panel.roles.target].notna().sum())
    return repeats_are_equal(examination) or (averaged <= MOST_AVERAGED * rows and observed >= FEWEST_SHARE * rows)
