"""Builds the validated panel of a run from a table, or from the table the run was started with."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.config.options import DataConfig, RunConfig
from forecast_attn.data.findings import coded
from forecast_attn.errors import ConfigError, DataError, RunError, shell_command
from forecast_attn.runs.run_dir import DataSource, RunDir
from forecast_attn.urls import url_of

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.data.panel import Panel
    from forecast_attn.data.panel_building import VintageTable
    from forecast_attn.data.reading import Progress
    from forecast_attn.data.zones import Zone


Table = Path | str
"""A file, or - for stdin; where one is accepted, a DataFrame is too."""
STDIN = "-"


def read_panel(
    data: pd.DataFrame | Table,
    config: RunConfig,
    vintages: pd.DataFrame | Table | None = None,
    progress: Progress | None = None,
    rows_in: Path | None = None,
    zone: Zone | None = None,
) -> tuple[Panel, DataSource]:
    """Read and validate a table.

    Args:
        data: the table.
        config: what its columns mean and how it is read.
        vintages: future covariates as they were forecast; the file that the configuration names when None.
        progress: called with the bytes read so far and the bytes there are.
        rows_in: folder on the disk for the rows of a table in many files that is too large for memory; it may be made
            later. None where all must be in memory.
        zone: of the run that was trained on it, which then counts; found when None.

    Raises:
        DataError: what is wrong with it.
        ConfigError: declared columns contradict each other.
    """
    from forecast_attn.data.panel_parts import is_too_large, read_by_parts
    from forecast_attn.data.reading import Source, parts_of
    from forecast_attn.data.row_storage import RowStorage

    options, path = config.data, _path_of(data)
    parts = data.parts if isinstance(data, Source) else () if path is None else parts_of(path)
    if rows_in is not None and vintages is None and is_too_large(parts, options):
        folder = next(each for each in (rows_in, *rows_in.absolute().parents) if each.is_dir())
        panel = read_by_parts(parts, options, RowStorage(folder), progress, zone)
    else:
        panel = _read_at_once(data, options, vintages, progress, zone)
    forecasts = options.vintages if vintages is None else None
    recorded = data.url if isinstance(data, Source) else path
    return panel, DataSource(recorded or name_of(data), _digest_of(data), _digest_of(forecasts))


def _read_at_once(
    data: pd.DataFrame | Table,
    options: DataConfig,
    vintages: pd.DataFrame | Table | None,
    progress: Progress | None,
    zone: Zone | None,
) -> Panel:
    from forecast_attn.data.panel_building import build_panel
    from forecast_attn.data.reading import read_table
    from forecast_attn.data.roles import resolve_roles
    from forecast_attn.memory import release_memory

    name = name_of(data)
    frame = read_table(data, options, progress=progress)
    release_memory()
    frame, options, table = with_vintages(frame, options, vintages)
    roles = resolve_roles(frame, options, name)
    panel = build_panel(frame, roles, options, source=name, vintages=table, zone=zone, emptied=True)
    release_memory()
    return panel


@coded("FA501")
def with_vintages(
    frame: pd.DataFrame, config: DataConfig, vintages: pd.DataFrame | Table | None
) -> tuple[pd.DataFrame, DataConfig, VintageTable | None]:
    """The table and its options with the columns that were forecast declared, and the table of forecasts.

    Raises:
        DataError: the table of forecasts cannot be read, or has a column that is neither in the data nor declared.
    """
    from forecast_attn.data.issued import ISSUED_AT, declare_issued
    from forecast_attn.data.panel_building import VintageTable
    from forecast_attn.data.reading import read_beside

    if vintages is None and config.vintages is None:
        return frame, config, None
    table = read_beside(config.vintages if vintages is None else vintages, config, time=ISSUED_AT)
    frame, config, absent = declare_issued(frame, table, config)
    return frame, config, VintageTable(table, name_of(vintages if vintages is not None else config.vintages), absent)


def panel_of_run(
    run: RunDir,
    config: RunConfig,
    data: pd.DataFrame | Table | None,
    vintages: pd.DataFrame | Table | None = None,
    progress: Progress | None = None,
    rows_in: Path | None = None,
) -> Panel:
    """The table a run was started with.

    Args:
        run: its recorded file is read when `data` is None.
        config: its options.
        data: the table.
        vintages: see `read_panel`.
        progress: see `read_panel`.
        rows_in: see `read_panel`.

    Raises:
        RunError: it was not trained on a file, or on another table than this.
        DataError: what is wrong with the table.
    """
    recorded = run.read_json(run.config)["data"]
    table = recorded["file"] if data is None else data
    if data is None and recorded["sha256"] is None:
        raise RunError(f"'{run.path}' was not trained on a file; the table must be given again", "pass it as DATA")
    check_recorded_files(str(run.path), recorded, config, data=data, vintages=vintages)
    try:
        panel, source = _read_as_in_training(run, table, config, vintages, progress, rows_in)
    except (DataError, ConfigError) as error:
        with contextlib.suppress(OSError):  # what is wrong with another table does not matter
            _refuse_another(run, table, recorded["sha256"], _digest_of(table))
        if isinstance(error, ConfigError):
            raise
        if error.hint is None and data is None:
            raise error.reworded(hint=shell_command("train", "DATA", "--resume", run.path)) from None
        raise
    _refuse_another(run, table, recorded["sha256"], source.sha256)
    _refuse_another(run, config.data.vintages, recorded["vintages_sha256"], source.vintages_sha256)
    return panel


def _read_as_in_training(
    run: RunDir,
    table: pd.DataFrame | Table,
    config: RunConfig,
    vintages: pd.DataFrame | Table | None,
    progress: Progress | None,
    rows_in: Path | None,
) -> tuple[Panel, DataSource]:
    """The table by the options of a run, on its axis, and by the closed days that it had.

    Days that were closed only once would be gaps. An earlier version may have put the stamps on another axis.
    """
    from forecast_attn.data.frequency import parse_frequency
    from forecast_attn.data.reading import Source
    from forecast_attn.data.reading.columnar import OF_FILES
    from forecast_attn.data.zones import Zone

    if not isinstance(table, Path | str | Source):  # a DataFrame of the same rows
        config = replace(config, data=replace(config.data, **{name: getattr(DataConfig, name) for name in OF_FILES}))
    if not run.schema.is_file():
        return read_panel(table, config, vintages, progress, rows_in)
    schema = run.read_json(run.schema)
    alias, zone = schema["frequency"]["alias"], Zone.from_dict(schema["zone"])
    sessions = parse_frequency(alias).sessions
    if sessions is not None and len(sessions.closed):
        config = replace(config, data=replace(config.data, freq=alias))
    return read_panel(table, config, vintages, progress, rows_in, zone)


def check_recorded_files(
    name: str,
    recorded: dict[str, Any],
    config: RunConfig,
    *,
    data: pd.DataFrame | Table | None,
    vintages: pd.DataFrame | Table | None,
) -> None:
    """Refuse to open files that nobody but the run names, unless they are the regular files it was trained with.

    Args:
        name: of the run, which may be somebody else's.
        recorded: what its config.json says of the table.
        config: its options, which may name tables beside it.
        data: the table that the user named; None for the recorded one.
        vintages: the table of forecasts that the user named; None for the recorded one.

    Raises:
        RunError: a pipe, a device or a folder, or another table.
    """
    from forecast_attn.data.reading import digest_of

    known = {} if data is not None else {recorded["file"]: recorded["sha256"]}
    if vintages is None:
        known[config.data.vintages] = recorded["vintages_sha256"]
    for file, digest in known.items():
        check_is_regular(name, file)
        if file is not None and digest_of(file) not in (digest, None):
            raise RunError(
                f"'{file}' is not the table that '{name}' was started with",
                "resume with the original file, or train a new run",
            )


def check_is_regular(name: str, file: str | None) -> None:
    """Refuse a file that only a run names, if opening it might never end or would open a connection.

    Args:
        name: of the run.
        file: that it was trained with; it need not exist any more.

    Raises:
        RunError: it is a URL, a pipe, a device, a folder without Parquet files, or parts of half a disk.
    """
    from forecast_attn.data.reading import is_crowded, parts_of

    if url_of(file) is not None:
        message = f"'{name}' was trained with '{file}', and a URL is read only where you name it"
        raise RunError(message, "name the table, or a copy of it on this machine")
    if file is not None and is_crowded(file):
        raise RunError(f"'{file}', which '{name}' was trained with, is looked for in too many files", "name the table")
    if file is not None and Path(file).exists() and not (Path(file).is_file() or parts_of(file)):
        raise RunError(f"'{file}', which '{name}' was trained with, is not a regular file", "name the table")


def table_of_training(run: RunDir) -> Path | None:
    """The file or folder that a run was trained on, where it still is as it was; else None.

    Raises:
        RunError: config.json is damaged.
    """
    from forecast_attn.data.reading import digest_of

    recorded = run.read_json(run.config)["data"]
    with contextlib.suppress(RunError):
        check_is_regular(str(run.path), recorded["file"])
        if recorded["sha256"] is not None and digest_of(recorded["file"]) == recorded["sha256"]:
            return Path(recorded["file"])
    return None


def _refuse_another(run: RunDir, name: pd.DataFrame | Table | None, was: str | None, now: str | None) -> None:
    if was is not None and now not in (was, None):
        raise RunError(
            f"'{name}' is not the table that '{run.path}' was started with",
            "resume with the original file, or train a new run",
        )


def _path_of(data: pd.DataFrame | Table | None) -> str | None:
    """The path of a file; None for a DataFrame, stdin and nothing."""
    return str(data) if isinstance(data, str | Path) and str(data) != STDIN else None


def _digest_of(data: pd.DataFrame | Table | None) -> str | None:
    from forecast_attn.data.reading import Source, digest_of

    path = data if isinstance(data, Source) else _path_of(data)
    return None if path is None else digest_of(path)


def name_of(data: pd.DataFrame | Table | None) -> str:
    from forecast_attn.data.reading import table_name

    return table_name(data)
