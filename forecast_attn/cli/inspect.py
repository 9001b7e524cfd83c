"""`forecast inspect`: what the attention weights say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.completion import finished_runs
from forecast_attn.cli.flags import ConfigFile, Json, command_options, with_options
from forecast_attn.config.requests import InspectRequest

if TYPE_CHECKING:
    from forecast_attn.attention_file import AttentionDump
    from forecast_attn.inspection.results import Inspection
    from forecast_attn.runs.run_dir import RunDir


class InspectedFile(NamedTuple):
    """An attention file, and the run it belongs to where a run was named."""

    path: Path
    run: RunDir | None


@with_options(InspectRequest)
def inspect(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN|FILE]",
            help="Run directory or attention file; the newest finished run when absent.",
            autocompletion=finished_runs,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Table of the series to draw; found through the run when absent."),
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    **options: Any,
) -> None:
    """Show what a forecast looked at: heat map, top lags, entropy and warnings."""
    request = InspectRequest.from_options(command_options("inspect", config, options))
    from forecast_attn.inspection.reading import evidence_of
    from forecast_attn.inspection.report import inspect_attention

    html, export, pictures = request.html, request.export, {"png": request.png, "svg": request.svg}
    _check_page_options(html, html_windows=request.html_windows, compare=request.compare, by=request.by)
    drawn = None if html is not None else data
    _check_options(by=request.by, compare=request.compare, export=export, pictures=pictures, data=drawn)
    inspected = _find(source, validation=request.validation)
    files = {"export": export, **pictures, "html": html}
    _check_targets(inspected, {f"--{name}": path for name, path in files.items()}, data)
    part = {name: getattr(request, name) for name in ("item", "cutoff", "step", "head")}
    chosen = _read(inspected, part)
    if request.compare is not None:
        other = _find(request.compare, validation=request.validation)
        names = _name(source, inspected), _name(request.compare, other)
        _compare((chosen, _read(other, part)), names, top=request.top, as_json=json)
        return
    inspection = inspect_attention(chosen, top=request.top, by=request.by, evidence=evidence_of(inspected.run))
    if export is not None:
        _export(chosen, export)
    _draw(inspected, chosen, inspection, [path for path in pictures.values() if path is not None], data)
    if html is not None:
        write_page(chosen, inspected.run, html, num_windows=request.html_windows, table=data)
    _print(inspection, as_json=json, written={"export": [export], "picture": [*pictures.values()], "page": [html]})


def _check_page_options(html: Path | None, *, html_windows: int | None, compare: Path | None, by: str | None) -> None:
    """Refuse, before any work, what does not go with a page, or not without one."""
    from forecast_attn.errors import ConfigError

    if html is None and html_windows is not None:
        raise ConfigError("--html-windows is about the page of --html", "add --html report.html")
    if html is not None and by is not None:
        raise ConfigError(
            "--by does not go with --html: a page shows windows and one mean, not groups",
            "run them one after the other",
        )
    if html is not None and compare is not None:
        raise ConfigError("--compare does not go with --html", "write a page of each run")


def _check_options(*, by: Any, compare: Any, export: Path | None, pictures: dict[str, Path | None], data: Any) -> None:
    """Refuse, before any work, what does not go together."""
    from forecast_attn.errors import ConfigError
    from forecast_attn.inspection.grouping import check_grouping

    if by is not None:
        check_grouping(by)
    drawn = [name for name, path in pictures.items() if path is not None]
    others = [f"--{name}" for name, value in (("by", by), ("export", export)) if value is not None]
    others += [f"--{name}" for name in drawn]
    if compare is not None and others:
        raise ConfigError(f"--compare does not go with {others[0]}", "run them one after the other")
    if by is not None and drawn:
        raise ConfigError(
            f"--by does not go with --{drawn[0]}: a picture shows one mean, not groups",
            "draw a group by itself, such as with --item NAME or --head 0",
        )
    for name in drawn:
        path = pictures[name]
        if path is not None and path.suffix.lower() != f".{name}":
            raise ConfigError(f"--{name} writes a .{name}; got '{path.name}'", f"--{name} {path.stem}.{name}")
    if data is not None and not drawn:
        raise ConfigError("--data is for pictures and pages: it holds the series they draw", "add --png weights.png")
    if export is not None and export.suffix not in (".csv", ".npz"):
        raise ConfigError(
            f"--export writes .csv or .npz; got '{export.name}'", f"--export {export.stem or 'weights'}.csv"
        )


def _check_targets(source: InspectedFile, written: dict[str, Path | None], table: Path | None) -> None:
    if any(written.values()):
        from forecast_attn.cli.tables import refuse_targets

        refuse_targets(written, read=[source.path, table], runs=[source.run])


def _find(source: Path | None, *, validation: bool) -> InspectedFile:
    """The file to read: the one named, or the run's forecast, or its validation windows before any forecast."""
    from forecast_attn.errors import ConfigError, RunError
    from forecast_attn.runs.run_dir import RunDir

    if source is not None and not source.is_dir():
        if validation and source.exists():
            raise ConfigError("--validation is about a run; the given path is a file", "name the run directory")
        return InspectedFile(source, None)
    run = RunDir.open_finished(source)
    if run.attention.is_file() and not validation:
        return InspectedFile(run.attention, run)
    if run.validation_attention.is_file():
        if not validation:
            printing.say("no forecast yet: showing the run's validation windows", err=True)
        return InspectedFile(run.unaltered(run.validation_attention), run)
    raise RunError(
        f"'{run.path}' has no attention to show: it was trained with --attention none",
        "train with an attention mechanism: forecast train data.csv --attention luong-general",
    )


def _read(source: InspectedFile, part: dict[str, Any]) -> AttentionDump:
    """The chosen windows, and the rank of what they weigh where it can be known."""
    from forecast_attn.attention_file import read_attention
    from forecast_attn.forecasting.identifiability import with_rank

    return with_rank(read_attention(source.path).select(**part), source.run)


def _name(given: Path | None, inspected: InspectedFile) -> str:
    return str(given if given is not None else inspected.run.path if inspected.run is not None else inspected.path)


def _export(dump: AttentionDump, path: Path) -> None:
    writers = {".csv": dump.export_csv, ".npz": dump.export_npz}
    writers[path.suffix](path)


def _draw(
    source: InspectedFile, dump: AttentionDump, inspection: Inspection, paths: list[Path], data: Path | None
) -> None:
    """Write the pictures, with the series above the weights where it is known."""
    if not paths:
        return
    from forecast_attn.errors import ConfigError
    from forecast_attn.inspection.plots import save_picture
    from forecast_attn.inspection.series_lines import lines_of_run

    if source.run is None and data is not None:
        raise ConfigError(
            "--data needs a run, whose columns and time step the table has", "name the run instead of its file"
        )
    lines = None if source.run is None else lines_of_run(source.run, dump, data)
    for path in paths:
        save_picture(inspection, path, lines)


def _compare(dumps: tuple[AttentionDump, AttentionDump], names: tuple[str, str], *, top: int, as_json: bool) -> None:
    from forecast_attn.cli.tables import make_console
    from forecast_attn.inspection.differences import compare_attention
    from forecast_attn.inspection.terminal import render_comparison

    comparison = compare_attention(*dumps, names=names, top=top)
    if as_json:
        _write_json(comparison.to_dict())
    else:
        render_comparison(comparison, make_console())


def _print(inspection: Inspection, *, as_json: bool, written: dict[str, list[Path | None]]) -> None:
    from forecast_attn.cli.tables import make_console
    from forecast_attn.inspection.terminal import render

    if as_json:
        _write_json(inspection.to_dict())
        return
    render(inspection, make_console())
    for name, paths in written.items():
        for path in paths:
            if path is not None:
                printing.say(f"{name}: {path}")


def _write_json(document: dict[str, Any]) -> None:

    printing.write_json(document)


# --------------------------------------------------------------------------- html page
# `forecast inspect --html`: the size on stderr, then the page.


def write_page(
    dump: AttentionDump, run: RunDir | None, path: Path, *, num_windows: int | None, table: Path | None
) -> None:
    """Write the page of these windows, with what their run adds to it.

    Raises:
        ConfigError: a table is named, but no run.
        DataError: the table cannot be read.
        RunError: the run is damaged, or the page cannot be written.
    """
    from forecast_attn.errors import ConfigError
    from forecast_attn.inspection.html_report import build_report

    if table is not None and run is None:
        raise ConfigError(
            "--data needs a run, whose columns and time step the table has", "name the run instead of its file"
        )
    report = build_report(dump, run, num_windows=num_windows, table=table)
    printing.say(f"page: {report.size_words()}", err=True)
    report.write(path)
