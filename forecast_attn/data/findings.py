"""Everything that can be said about a table before training on it: roles, time axis, series, problems."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config import DataConfig
from forecast_attn.data.cells import Cells, parse_cells
from forecast_attn.data.frame import read_csv
from forecast_attn.data.frequency import Frequency
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import panel_of_cells
from forecast_attn.data.problems import Finding, Report, counted, finding_of, report_each, stamp_text
from forecast_attn.data.roles import Roles, resolve_roles
from forecast_attn.data.scaling import constant_series
from forecast_attn.data.split import split_panel
from forecast_attn.errors import DataError

__all__ = ["CheckReport", "Finding", "SeriesSummary", "check_table"]

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class SeriesSummary:
    """One series in figures. Before a frequency is found, gaps and what follows are not known."""

    item_id: str
    first: str
    last: str
    """First and last time stamp; the last may be a future row's."""
    rows: int
    duplicates: int
    """Rows whose time stamp an earlier row has."""
    gaps: int | None = None
    """Rows missing between the first and the last."""
    future_rows: int | None = None
    """Rows after the last known target."""
    missing: int | None = None
    """Empty cells where a value is needed."""
    lowest: float | None = None
    highest: float | None = None
    """Range of the target."""
    constant: bool | None = None


@dataclass(frozen=True)
class CheckReport:
    """What `check_table` found. `roles` and `frequency` are None where they cannot be told."""

    path: str
    rows: int
    roles: Roles | None
    frequency: Frequency | None
    series: tuple[SeriesSummary, ...]
    findings: tuple[Finding, ...]
    """Errors first, then warnings, then notes."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return asdict(self)


@dataclass
class _Draft:
    """The report while it is written; each stage adds what the next one needs."""

    findings: list[Finding] = field(default_factory=list)
    stage: str = "FA101"
    """The code of an error that ends the present stage."""
    frame: pd.DataFrame | None = None
    roles: Roles | None = None
    cells: Cells | None = None
    panel: Panel | None = None


def check_table(path: Path | str, config: DataConfig) -> CheckReport:
    """Read a table as training would, and list all that is wrong or worth knowing instead of stopping at the first.

    Raises:
        ConfigError: the options contradict each other; a table is never the cause.
    """
    draft = _Draft()
    try:
        _examine(draft, Path(path), config)
    except DataError as error:
        if all(finding.message != error.message for finding in draft.findings):
            draft.findings.append(finding_of(error, draft.stage))
    return CheckReport(
        path=str(path),
        rows=0 if draft.frame is None else len(draft.frame),
        roles=draft.roles,
        frequency=None if draft.panel is None else draft.panel.frequency,
        series=() if draft.cells is None else _summaries(draft.cells, draft.panel),
        findings=tuple(
            replace(finding, file=finding.file or str(path))
            for finding in sorted(_once_per_cell(draft.findings), key=lambda found: SEVERITIES.index(found.severity))
        ),
    )


def _once_per_cell(findings: list[Finding]) -> list[Finding]:
    """Without "has no value" for cells already said to hold text or infinity."""
    bad = {(finding.column, finding.row) for finding in findings if finding.code in ("FA103", "FA303")}
    return [f for f in findings if f.code not in ("FA301", "FA302", "FA304") or (f.column, f.row) not in bad]


def _examine(draft: _Draft, path: Path, config: DataConfig) -> None:
    """Fill the draft stage by stage, as far as the table allows."""
    report = draft.findings.append
    draft.frame = read_csv(path, config.delimiter, (config.item_id,) if config.item_id else ())
    draft.stage = "FA102"
    draft.roles = resolve_roles(draft.frame, config, path.name)
    for column, reason in draft.roles.ignored.items():
        if reason != "declared":
            report(Finding("FA104", "note", f"column '{column}' is left out: {reason}", column=column))
    draft.stage = "FA201"
    draft.cells = parse_cells(draft.frame, draft.roles, report, path.name)
    draft.stage = "FA203"
    draft.panel = panel_of_cells(draft.cells, draft.roles, config, report)
    if not any(finding.severity == "error" for finding in draft.findings):
        draft.stage = "FA403"
        _report_constants(draft.panel, report)
        _report_sizes(draft.panel, config, report)


def _report_constants(panel: Panel, report: Report) -> None:
    constant = constant_series(panel, panel.known)
    for name in constant[:1]:
        said = (
            f"'{name}' never changes" if len(constant) == 1 else f"'{name}' and {len(constant) - 1} more never change"
        )
        hint = "the forecast will be that value; leave it out if that is no help"
        report(Finding("FA401", "warning", f"target of series {said}", hint, item_id=name, column=panel.roles.target))
    groups = (
        (panel.roles.past_covariates, panel.past_covariates),
        (panel.roles.future_covariates, panel.future_covariates),
    )
    for names, values in groups:
        for position, name in enumerate(names):
            column = values[:, position]
            if np.nanmin(column, initial=np.inf) == np.nanmax(column, initial=-np.inf):
                report(Finding("FA404", "warning", f"column '{name}' never changes", f"--ignore '{name}'", column=name))


def _report_sizes(panel: Panel, config: DataConfig, report: Report) -> None:
    """Report series too short to learn from, and future rows that end before the horizon."""
    horizon = config.horizon or panel.frequency.default_horizon
    lookback = config.lookback or panel.frequency.default_lookback
    split = split_panel(panel, validation=config.validation, horizon=horizon, lookback=lookback)

    def short(at: int) -> Finding:
        item_id, rows, needed = split.skipped[at]
        message = f"series '{item_id}' has {counted(rows, 'row')} for training; lookback + horizon need {needed}"
        return Finding("FA402", "warning", message, "it is left out of training", item_id=item_id)

    report_each(report, range(len(split.skipped)), short)
    ahead = panel.starts[1:] - panel.ends
    if panel.roles.future_covariates and (ahead < horizon).any():
        at = int(np.argmax(ahead < horizon))
        message = (
            f"series '{panel.item_ids[at]}' has {counted(int(ahead[at]), 'future row')}; the horizon needs {horizon}"
        )
        hint = "predict will need --future FILE with the future covariates"
        report(Finding("FA405", "note", message, hint, item_id=panel.item_ids[at]))


def _summaries(cells: Cells, panel: Panel | None) -> tuple[SeriesSummary, ...]:
    starts = cells.starts
    first, last = cells.stamps[starts[:-1]], cells.stamps[starts[1:] - 1]
    repeats = np.append(False, (cells.series[1:] == cells.series[:-1]) & (cells.stamps[1:] == cells.stamps[:-1]))
    columns: list[list[Any]] = [
        [stamp_text(stamp) for stamp in first],
        [stamp_text(stamp) for stamp in last],
        np.diff(starts).tolist(),
        _per_series(repeats, starts).tolist(),
        *([] if panel is None else _panel_columns(panel)),
    ]
    return tuple(SeriesSummary(*values) for values in zip(cells.item_ids, *columns, strict=True))


def _panel_columns(panel: Panel) -> list[list[Any]]:
    """Gaps, future rows, missing cells, lowest, highest and whether constant, each (num_series,)."""
    inside = panel.series_of_rows[1:] == panel.series_of_rows[:-1]
    steps = np.append(
        0, np.where(inside, panel.frequency.steps_between(panel.timestamps[:-1], panel.timestamps[1:]), 1)
    )
    known = np.arange(panel.num_rows) < np.repeat(panel.ends, np.diff(panel.starts))
    missing = known & np.isnan(panel.target)
    empty = (np.isnan(panel.past_covariates) & known[:, None]).sum(axis=1) + np.isnan(panel.future_covariates).sum(
        axis=1
    )
    constant = set(constant_series(panel, panel.known))
    return [
        _per_series(np.maximum(np.floor(steps) - 1, 0), panel.starts).astype(int).tolist(),
        (panel.starts[1:] - panel.ends).tolist(),
        _per_series(missing + empty, panel.starts).tolist(),
        [_or_none(value) for value in np.fmin.reduceat(panel.target, panel.starts[:-1])],
        [_or_none(value) for value in np.fmax.reduceat(panel.target, panel.starts[:-1])],
        [item_id in constant for item_id in panel.item_ids],
    ]


def _per_series(values: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Sum of each series' rows (num_series,)."""
    return np.asarray(np.add.reduceat(values.astype(np.int64), starts[:-1]))


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
