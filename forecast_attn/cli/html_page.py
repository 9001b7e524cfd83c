"""`forecast inspect --html`: the size on stderr, then the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from forecast_attn.attention_dump import AttentionDump
    from forecast_attn.run_dir import RunDir


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
    typer.echo(f"page: {report.size_words()}", err=True)
    report.write(path)
