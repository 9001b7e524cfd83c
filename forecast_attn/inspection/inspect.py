"""The steps of `forecast inspect` and `Forecaster.inspect`: find an attention file, describe, compare and draw it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from forecast_attn.attention_file import AttentionDump, read_attention
from forecast_attn.config.requests import InspectRequest
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.forecasting.identifiability import with_rank
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.differences import WeightComparison, compare_attention
from forecast_attn.inspection.figures import check_pictures, save_figure
from forecast_attn.inspection.grouping import check_grouping
from forecast_attn.inspection.heatmap import draw_heatmap
from forecast_attn.inspection.interpretation import evidence_of
from forecast_attn.inspection.results import Inspection
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.runs.output_paths import refuse_outputs
from forecast_attn.runs.run_dir import RunDir

EXPORTS = (".csv", ".npz")


@dataclass(frozen=True)
class AttentionSource:
    """An attention file, and its run where a run was named."""

    path: Path
    run: RunDir | None
    name: str
    """Name of the source as the user wrote it."""

    @property
    def title(self) -> str:
        """Name for the titles of pictures: of the run's folder, or of the file."""
        return self.path.name if self.run is None else self.run.title

    @property
    def is_stand_in(self) -> bool:
        """Return True for the validation windows of a run that has no forecast yet."""
        return self.run is not None and self.path == self.run.validation_attention and not self.run.attention.is_file()

    def read(self, request: InspectRequest) -> AttentionDump:
        """Read the chosen windows, and the rank of what they weigh where it can be known.

        Raises:
            DataError: no such series or cut-off.
            ConfigError: no such step or head.
            RunError: the file is damaged.
        """
        part = {name: getattr(request, name) for name in ("item", "cutoff", "step", "head")}
        return with_rank(read_attention(self.path).select(**part), self.run)


def find_attention(source: Path | RunDir | None, *, validation: bool) -> AttentionSource:
    """Find the file to read: the one named, or the run's forecast, or its validation windows before any forecast.

    Args:
        source: a run, its directory, or an attention file; the newest finished run when None.
        validation: the run's validation windows though there be a forecast.

    Raises:
        ConfigError: `validation` with a file.
        RunError: there is no such run, or it has no attention.
    """
    if isinstance(source, Path) and not source.is_dir():
        if validation and source.exists():
            raise ConfigError("--validation is about a run; the given path is a file", "name the run directory")
        return AttentionSource(source, None, str(source))
    run = source if isinstance(source, RunDir) else RunDir.open_finished(source)
    name = str(source if isinstance(source, Path) else run.path)
    if run.attention.is_file() and not validation:
        return AttentionSource(run.attention, run, name)
    if run.validation_attention.is_file():
        return AttentionSource(run.unaltered(run.validation_attention), run, name)
    raise RunError(
        f"'{run.path}' has no attention to show: it was trained with --attention none",
        "train with an attention mechanism: forecast train data.csv --attention luong-general",
    )


def inspect_source(
    source: AttentionSource, request: InspectRequest, table: Path | None
) -> tuple[Inspection | WeightComparison, list[str]]:
    """Describe the weights, or compare them with another's; write the files that are asked for.

    Args:
        source: as `find_attention` found it.
        request: checked by `check_combination`.
        table: file of the series to draw; found through the run when None.

    Returns:
        The inspection or comparison, and notes on the files written.

    Raises:
        DataError: no such series or cut-off, a file without windows, or a table that cannot be read.
        ConfigError: no such step or head, nothing to group by, or a table without a run.
        RunError: a file is damaged, or one cannot be written.
    """
    chosen = source.read(request)
    if request.compare is not None:
        return _compared(source, chosen, request)
    if source.run is None and table is not None:
        raise ConfigError(
            "--data needs a run, whose columns and time step the table has", "name the run instead of its file"
        )
    inspection = inspect_attention(chosen, top=request.top, by=request.by, evidence=evidence_of(source.run))
    if request.export is not None:
        (chosen.export_csv if request.export.suffix == ".csv" else chosen.export_npz)(request.export)
    notes = _save_pictures(inspection, chosen, source, request, table)
    return inspection, notes + _write_page(chosen, source.run, request, table)


def _compared(
    source: AttentionSource, chosen: AttentionDump, request: InspectRequest
) -> tuple[WeightComparison, list[str]]:
    """The comparison with the other file, written as pictures and as a page if requested; and notes on these."""
    other = find_attention(request.compare, validation=request.validation)
    names, evidence = (source.name, other.name), (evidence_of(source.run), evidence_of(other.run))
    compared = compare_attention(chosen, other.read(request), names=names, top=request.top, evidence=evidence)
    notes = _save_pictures(compared, chosen, source, request, None)
    if request.html is not None:
        from forecast_attn.inspection.comparison_page import comparison_page

        write_atomically(request.html, comparison_page(compared))
    return compared, notes


WRITTEN = ("export", "png", "svg", "html")
"""Options that name a file to write."""


def check_targets(source: AttentionSource, request: InspectRequest, table: Path | None) -> None:
    """Refuse to write over a file that is read or belongs to the run.

    Raises:
        ConfigError: another file is needed, or two options name one.
        RunError: the folder of a file is missing or may not be written to.
    """
    written = {f"--{name}": getattr(request, name) for name in WRITTEN}
    if any(written.values()):
        refuse_outputs(written, read=[source.path, table], runs=[source.run])


def check_combination(request: InspectRequest, *, has_table: bool) -> None:
    """Refuse, before any work, options that do not go together.

    Raises:
        ConfigError: names them.
    """
    if request.html is None and request.html_windows is not None:
        raise ConfigError("--html-windows is about the page of --html", "add --html report.html")
    if request.by is not None:
        check_grouping(request.by)
    others = [name for name in ("by", "export", "html_windows") if getattr(request, name) is not None]
    if request.compare is not None and others:
        raise ConfigError(f"--compare does not go with --{others[0].replace('_', '-')}", "run them one after the other")
    check_pictures(png=request.png, svg=request.svg)
    if has_table and request.png is request.svg is request.html is None:
        raise ConfigError("--data is for pictures and pages: it holds the series they draw", "add --png weights.png")
    grouped = request.compare is not None or (request.by is not None and request.html is None)
    if has_table and grouped:
        raise ConfigError("--data is for pictures of a series; groups and comparisons have none", "leave --data out")
    export = request.export
    if export is not None and export.suffix not in EXPORTS:
        raise ConfigError(
            f"--export writes .csv or .npz; got '{export.name}'", f"--export {export.stem or 'weights'}.csv"
        )


def _save_pictures(
    shown: Inspection | WeightComparison,
    dump: AttentionDump,
    source: AttentionSource,
    request: InspectRequest,
    table: Path | None,
) -> list[str]:
    """Write the pictures of weights, of groups or of a comparison; return notes on them."""
    paths = [path for path in (request.png, request.svg) if path is not None]
    if not paths:
        return []
    from forecast_attn.inspection.series_lines import lines_of_run
    from forecast_attn.inspection.side_by_side import draw_comparison, draw_groups

    if not isinstance(shown, Inspection):
        figure = draw_comparison(shown)
    elif shown.groups:
        figure = draw_groups(shown, name=source.title)
    else:
        lines = None if source.run is None else lines_of_run(source.run, dump, table)
        figure = draw_heatmap(shown, lines, name=source.title)
    return [f"note: {note}" for path in paths for note in save_figure(figure, path)]


def _write_page(dump: AttentionDump, run: RunDir | None, request: InspectRequest, table: Path | None) -> list[str]:
    """Write the page of these windows, with what their run adds to it; return its size in words."""
    if request.html is None:
        return []
    from forecast_attn.inspection.html_report import build_report

    report = build_report(dump, run, num_windows=request.html_windows, table=table, by=request.by)
    report.write(request.html)
    return [f"page: {report.size_words()}"]
