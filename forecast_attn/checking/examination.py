"""Everything that can be said about a table before training on it: roles, time axis, series, problems, repairs.

The stages are those of training, which stops at the first error; here they report, and go on as far as the table lets
them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn.checking.series_findings import report_constants, report_preparation
from forecast_attn.checking.series_summaries import SeriesSummary, summarise
from forecast_attn.config import DataConfig
from forecast_attn.data.cells import Cells, parse_cells
from forecast_attn.data.frequency import Frequency
from forecast_attn.data.localise import localise
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import panel_of_cells
from forecast_attn.data.problems import Finding, Repair, finding_of
from forecast_attn.data.reading import Progress, read_table
from forecast_attn.data.reading.source import Source, table_name
from forecast_attn.data.roles import Roles, resolve_roles
from forecast_attn.errors import DataError
from forecast_attn.panel_reading import with_vintages
from forecast_attn.preparation import Preparation, prepare

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class CheckReport:
    """What `check_table` found. `roles` and `frequency` are None where they cannot be told."""

    path: str
    rows: int
    roles: Roles | None
    frequency: Frequency | None
    series: tuple[SeriesSummary, ...]
    findings: tuple[Finding, ...]
    """Errors first, then warnings, then notes; each in the order of the stages."""
    repairs: tuple[Repair, ...] = ()
    """What the options had changed as the table was read."""
    short_series: tuple[dict[str, Any], ...] = ()
    """Every series with fewer training rows than a window has, and what becomes of it: "skip" or "pad"."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def of(self, path: str) -> CheckReport:
        """The same said of a table that was moved."""
        findings = (replace(f, file=path) if f.file == self.path else f for f in self.findings)
        return replace(self, path=path, findings=tuple(findings))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {**asdict(self), "findings": [finding.to_dict() for finding in self.findings]}


@dataclass
class Examination:
    """A table on its way through the stages; each adds what the next one needs."""

    path: str
    beside: dict[str, str] = field(default_factory=dict)
    """Name -> path of the files that options name."""
    findings: list[Finding] = field(default_factory=list)
    frame: pd.DataFrame | None = None
    roles: Roles | None = None
    cells: Cells | None = None
    panel: Panel | None = None
    preparation: Preparation | None = None

    @property
    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)

    def to_report(self) -> CheckReport:
        """What was found, the gravest first."""
        found = sorted(_once_per_cell(self.findings), key=lambda finding: SEVERITIES.index(finding.severity))
        return CheckReport(
            path=self.path,
            rows=0 if self.frame is None else len(self.frame),
            roles=self.roles,
            frequency=None if self.panel is None else self.panel.frequency,
            series=() if self.cells is None else summarise(self.cells, self.panel),
            findings=tuple(map(self._placed, found)),
            repairs=self._repairs(),
            short_series=() if self.preparation is None else tuple(self.preparation.split.short_series()),
        )

    def _repairs(self) -> tuple[Repair, ...]:
        read = () if self.panel is None else self.panel.repairs
        return read if self.preparation is None else (*read, *self.preparation.split.repairs)

    def _placed(self, finding: Finding) -> Finding:
        """With file, column and series, where the stage that found it could not know or did not say them."""
        if finding.file in self.beside:
            return replace(finding, file=self.beside[finding.file])
        column, item_id = finding.column, finding.item_id
        if column is None and finding.code.startswith("FA2") and self.roles is not None:
            column = self.roles.time
        if item_id is None and finding.row is not None and self.cells is not None:
            at = np.flatnonzero(self.cells.rows == finding.row)
            item_id = self.cells.item_ids[self.cells.series[at[0]]] if len(at) else None
        return replace(finding, file=self.path, column=column, item_id=item_id)


def _beside(config: DataConfig) -> dict[str, str]:
    paths = [path for path in (config.vintages, config.holiday_dates) if path is not None]
    return {Path(path).name: path for path in paths}


def check_table(
    table: Path | str | pd.DataFrame | Source, config: DataConfig, progress: Progress | None = None
) -> CheckReport:
    """Read a table as training would, and list all that is wrong or worth knowing instead of stopping at the first.

    Args:
        table: a file, `-` for standard input, a DataFrame, or bytes.
        config: the options it would be trained with.
        progress: called with the bytes read so far and the bytes there are.

    Raises:
        ConfigError: the options contradict each other; a table is never the cause.
    """
    return examine(table, config, progress).to_report()


def examine(
    table: Path | str | pd.DataFrame | Source, config: DataConfig, progress: Progress | None = None
) -> Examination:
    """Take a table through every stage it can pass; see `check_table`.

    Raises:
        ConfigError: the options contradict each other.
    """
    name = table_name(table)
    examination = Examination(str(table) if isinstance(table, Path | str) else name, _beside(config))
    try:
        examination.frame = read_table(table, config, progress=progress, report=examination.findings.append)
        _pass_stages(examination, name, config)
    except DataError as error:
        if all(finding.message != error.message for finding in examination.findings):
            examination.findings.append(finding_of(error))
    return examination


def _pass_stages(draft: Examination, source: str, config: DataConfig) -> None:
    assert draft.frame is not None
    report = draft.findings.append
    draft.frame, config, vintages = with_vintages(draft.frame, config, None)
    draft.roles = resolve_roles(draft.frame, config, source)
    for column, reason in draft.roles.ignored.items():
        if reason != "declared":
            report(Finding("FA104", "note", f"column '{column}' is left out: {reason}", column=column))
    cells = parse_cells(draft.frame, draft.roles, report, source, config.date_format)
    draft.cells = localise(cells, report, tz=config.tz, freq=config.freq)
    draft.panel = panel_of_cells(draft.cells, draft.roles, config, report, vintages=vintages)
    if not draft.has_errors:
        report_constants(draft.panel, report)
        draft.preparation = prepare(draft.panel, config)
        report_preparation(draft.preparation, report)


def _once_per_cell(findings: list[Finding]) -> list[Finding]:
    """Without "has no value" for cells already said to hold text or infinity, or to have been forecast too late."""
    bad = {(finding.column, finding.row) for finding in findings if finding.code in ("FA103", "FA303", "FA506")}
    return [f for f in findings if f.code not in ("FA301", "FA302", "FA304") or (f.column, f.row) not in bad]
