"""`forecast inspect --html`: the size on stderr, then the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from forecast_attn.attention_dump import AttentionDump


def write_page(dump: AttentionDump, path: Path, *, num_windows: int | None, table: Path | None) -> None:
    """Write the page of these windows; with what the run beside the attention file adds to it.

    Raises:
        ConfigError: a table is named, but the attention file lies in no run.
        DataError: the table cannot be read.
        RunError: the run is damaged, or the page cannot be written.
    """
    from forecast_attn.errors import ConfigError
    from forecast_attn.inspection.html_report import build_report
    from forecast_attn.run_dir import RunDir

    folder = RunDir(dump.path.parent)
    run = folder if folder.is_finished else None
    if table is not None and run is None:
        raise ConfigError(
            f"--data needs the run that wrote '{dump.path}': its columns are known there", "name the run directory"
        )
    report = build_report(dump, run, num_windows=num_windows, table=table)
    typer.echo(f"page: {report.size_words()}", err=True)
    report.write(path)
