"""Examination of a table before training on it: roles, time axis, series, problems, repairs.

The stages are those of training, which stops at the first error; here they report, and go on as far as the table lets
them.
"""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import Cells, parse_cells
from forecast_attn.data.findings import Finding, Repair, Report, counted, finding_of, option_for, with_line_numbers
from forecast_attn.data.frequency import Frequency
from forecast_attn.data.future_rows import future_stamps
from forecast_attn.data.localise import localise
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import panel_of_cells
from forecast_attn.data.reading import Progress, opened, read_table
from forecast_attn.data.reading.source import Source, table_name
from forecast_attn.data.reading.wide import made_long
from forecast_attn.data.roles import Roles, resolve_roles
from forecast_attn.data.scaling import constant_series
from forecast_attn.data.seasons import autocorrelation_at
from forecast_attn.data.split import report_short_series
from forecast_attn.errors import DataError
from forecast_attn.runs.training_table import with_vintages
from forecast_attn.training.preparation import Preparation, list_windows, season_of_rows, training_values

SEVERITIES = ("error", "warning", "note")
MOST_CATEGORIES = 12
"""Different texts of a column that may be categories."""


@dataclass(frozen=True)
class CheckReport:
    """Findings of `check_table`. `roles` and `frequency` are None where they cannot be inferred."""

    path: str
    rows: int
    roles: Roles | None
    frequency: Frequency | None
    series: tuple[SeriesSummary, ...]
    findings: tuple[Finding, ...]
    """Errors first, then warnings, then notes; each in the order of the stages."""
    repairs: tuple[Repair, ...] = ()
    """Changes made by options while the table was read."""
    short_series: tuple[dict[str, Any], ...] = ()
    """Every series with fewer training rows than a window has, and what becomes of it: "skip" or "pad"."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def of(self, path: str) -> CheckReport:
        """The same report under another path of the table."""
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
    table: pd.DataFrame | Source | None = None
    """The table itself, opened; None where it cannot be."""
    frame: pd.DataFrame | None = None
    roles: Roles | None = None
    cells: Cells | None = None
    panel: Panel | None = None
    preparation: Preparation | None = None

    @property
    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)

    def to_report(self) -> CheckReport:
        """Report of the findings, errors first."""
        findings = sorted(_once_per_cell(self.findings), key=lambda finding: SEVERITIES.index(finding.severity))
        return CheckReport(
            path=self.path,
            rows=0 if self.frame is None else len(self.frame),
            roles=self.roles,
            frequency=None if self.panel is None else self.panel.frequency,
            series=() if self.cells is None else summarise(self.cells, self.panel),
            findings=tuple(map(self._placed, findings)),
            repairs=self._repairs(),
            short_series=() if self.preparation is None else tuple(self.preparation.split.short_series()),
        )

    def _repairs(self) -> tuple[Repair, ...]:
        read = () if self.panel is None else self.panel.repairs
        return read if self.preparation is None else (*read, *self.preparation.split.repairs)

    def _placed(self, finding: Finding) -> Finding:
        """Add file, column and series to a finding that lacks them."""
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
    table: Path | str | pd.DataFrame | Source,
    config: DataConfig,
    progress: Progress | None = None,
    *,
    wide: pd.DataFrame | None = None,
) -> Examination:
    """Take a table through every stage it can pass; see `check_table`.

    Args:
        table: the table.
        config: the options.
        progress: called while it is read.
        wide: the wide table, where it was read without `--wide` already: it is not read again.

    Raises:
        ConfigError: the options contradict each other.
    """
    name = table_name(table)
    examination = Examination(str(table) if isinstance(table, Path | str) else name, _beside(config))
    try:
        examination.table = opened(table)
        report = examination.findings.append
        if wide is None:
            examination.frame = read_table(examination.table, config, progress=progress, report=report)
        else:
            examination.frame = made_long(wide, config, name, report)
        _pass_stages(examination, examination.frame, name, config)
    except DataError as error:
        if not _is_reported(error, examination.findings):
            examination.findings.append(finding_of(error))
    return examination


def _is_reported(error: DataError, findings: list[Finding]) -> bool:
    """Return whether the error is a finding that was reported before it was raised; a stage may have added its file."""
    finding = error.finding
    return isinstance(finding, Finding) and any(replace(each, file=finding.file) == finding for each in findings)


@with_line_numbers
def _pass_stages(draft: Examination, frame: pd.DataFrame, source: str, config: DataConfig) -> None:
    report = draft.findings.append
    draft.frame, config, vintages = with_vintages(frame, config, None)
    draft.roles = resolve_roles(draft.frame, config, source)
    for column, reason in draft.roles.ignored.items():
        if reason != "declared":
            hint = _declaring(draft.frame, column) if reason == "text" else None
            report(Finding("FA104", "note", f"column '{column}' is left out: {reason}", hint, column=column))
    cells = parse_cells(draft.frame, draft.roles, report, source, config.date_format)
    draft.cells = localise(cells, report, tz=config.tz, freq=config.freq or config.resample)
    draft.panel = panel_of_cells(draft.cells, draft.roles, config, report, vintages=vintages)
    if draft.has_errors:  # cells that cannot be read are not missing, and nothing is trained on
        draft.findings = [finding for finding in draft.findings if finding.code != "FA214"]
    else:
        report_constants(draft.panel, report)
        draft.preparation = list_windows(draft.panel, config)
        report_preparation(draft.preparation, report)


def _declaring(frame: pd.DataFrame, column: str) -> str | None:
    """The way to use a column of a few words that come again; None for other text."""
    categories = categories_of(frame[column])
    if not categories:
        return None
    return (
        f"to use its {len(categories)} categories: {option_for('future', column)} if they are known ahead, "
        "--past if not, --static if each series has one; --ignore if it is of no use"
    )


def categories_of(column: pd.Series) -> list[str]:
    """The different cells of a column, if they are few and all come again; else none."""
    counts = column.value_counts()
    counts = counts[counts > 0]
    return [str(cell) for cell in counts.index] if 1 < len(counts) <= MOST_CATEGORIES and counts.min() > 1 else []


def _once_per_cell(findings: list[Finding]) -> list[Finding]:
    """Drop "has no value" for cells with another finding: text, infinity, or a forecast issued too late."""
    bad = {(finding.column, finding.row) for finding in findings if finding.code in ("FA103", "FA303", "FA506")}
    return [f for f in findings if f.code not in ("FA301", "FA302", "FA304") or (f.column, f.row) not in bad]


# --------------------------------------------------------------------------- series findings
# Findings about the series of a table that can be read: constant, short, without a future.


def report_constants(panel: Panel, report: Report) -> None:
    """Report targets and covariates that are one number throughout."""
    constant = constant_series(panel, panel.num_known)
    for name in constant[:1]:
        series = (
            f"'{name}' never changes" if len(constant) == 1 else f"'{name}' and {len(constant) - 1} more never change"
        )
        hint = "the forecast will be that value; leave the series out if that does not help"
        report(Finding("FA401", "warning", f"target of series {series}", hint, item_id=name, column=panel.roles.target))
    groups = (
        (panel.roles.past_covariates, panel.past_covariates),
        (panel.roles.future_covariates, panel.future_covariates),
    )
    for names, values in groups:
        for position, name in enumerate(names):
            column = values[:, position]
            if np.nanmin(column, initial=np.inf) == np.nanmax(column, initial=-np.inf):
                message, hint = f"column '{name}' never changes", option_for("ignore", name)
                report(Finding("FA404", "warning", message, hint, column=name, options=("ignore",)))


def report_preparation(preparation: Preparation, report: Report) -> None:
    """Report series too short to learn from, windows left out, and what is not known of the future."""
    report_short_series(preparation.split, report)
    _report_other_season(preparation, report)
    panel, horizon, holidays = preparation.panel, preparation.schema.horizon, preparation.schema.calendar.holidays
    ahead_of_dates = () if holidays is None else holidays.notes(panel.zone.local(future_stamps(panel, horizon).ravel()))
    for finding in (*preparation.findings, *ahead_of_dates):
        report(finding)
    ahead = panel.starts[1:] - panel.ends
    if panel.roles.future and (ahead < horizon).any():
        at = int(np.argmax(ahead < horizon))
        message = (
            f"series '{panel.item_ids[at]}' has {counted(int(ahead[at]), 'future row')}; the horizon needs {horizon}"
        )
        hint = "predict will need --future FILE with the future covariates"
        report(Finding("FA405", "note", message, hint, item_id=panel.item_ids[at]))


CLEARER = 0.1
"""By how much the autocorrelation at another season must be higher to be reported."""


def _report_other_season(preparation: Preparation, report: Report) -> None:
    """Report a season that the training rows show more clearly than that of the frequency, which stays."""
    panel, season = preparation.panel, preparation.schema.frequency.season
    shown = season_of_rows(panel, preparation.split) if season > 1 else None
    if shown is None or shown[0] % season:  # one within the season, or beside it, is noise of the frequency's
        return
    usual = autocorrelation_at(training_values(panel, preparation.split), season)
    if shown[1] - usual >= CLEARER:
        message = (
            f"the training rows repeat more clearly after {shown[0]} steps (autocorrelation {shown[1]:.2f}) than after "
            f"the {season} of the frequency ({usual:.2f})"
        )
        hint = f"--season {shown[0]} if that is the season"
        report(Finding("FA216", "note", message, hint, options=("season",)))


# --------------------------------------------------------------------------- series summaries
# Each series of a table in figures: its span, its holes, its range.


@dataclass(frozen=True)
class SeriesSummary:
    """Figures of a series; gaps and the figures after them are unknown until a frequency is found."""

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


def summarise(cells: Cells, panel: Panel | None) -> tuple[SeriesSummary, ...]:
    """Figures of every series, as far as the table could be read."""
    starts = cells.starts
    first, last = cells.stamps[starts[:-1]], cells.stamps[starts[1:] - 1]
    stamp_text = functools.cache(cells.zone.stamp_text)  # most series begin and end together
    columns: list[list[Any]] = [
        list(map(stamp_text, first)),
        list(map(stamp_text, last)),
        np.diff(starts).tolist(),
        _per_series(cells.repeats, starts).tolist(),
    ]
    # A series without any target is in the file and not in the panel.
    known = {} if panel is None else dict(zip(panel.item_ids, zip(*_panel_columns(panel), strict=True), strict=True))
    return tuple(
        SeriesSummary(name, *values, *known.get(name, ()))
        for name, *values in zip(cells.item_ids, *columns, strict=True)
    )


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
    constant = set(constant_series(panel, panel.num_known))
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
