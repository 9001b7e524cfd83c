"""From a table, or the table a run was started with, to a validated panel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from forecast_attn.config import RunConfig
from forecast_attn.errors import DataError, RunError
from forecast_attn.run_dir import DataSource, RunDir, sha256_of

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.data.panel import Panel

Table = Path | str
"""A file, or - for stdin; where one is accepted, a DataFrame is too."""
STDIN = "-"


def read_panel(data: pd.DataFrame | Table, config: RunConfig) -> tuple[Panel, DataSource]:
    """Read and validate a table.

    Raises:
        DataError: what is wrong with it.
        ConfigError: declared columns contradict each other.
    """
    from forecast_attn.data.memory import release_memory
    from forecast_attn.data.panel_building import build_panel
    from forecast_attn.data.reading import read_table
    from forecast_attn.data.roles import resolve_roles

    name = name_of(data)
    frame = read_table(data, config.data)
    is_file = isinstance(data, str | Path) and str(data) != STDIN
    source = DataSource(str(data), sha256_of(Path(data))) if is_file else DataSource(name, None)
    panel = build_panel(frame, resolve_roles(frame, config.data, name), config.data, source=name)
    del frame
    release_memory()
    return panel, source


def panel_of_run(run: RunDir, config: RunConfig, data: pd.DataFrame | Table | None) -> Panel:
    """The table a run was started with."""
    recorded = run.read_json(run.config)["data"]
    table = recorded["file"] if data is None else data
    if data is None and recorded["sha256"] is None:
        raise RunError(f"'{run.path}' was not trained on a file; the table must be given again", "pass it as DATA")
    try:
        panel, source = read_panel(table, config)
    except DataError as error:
        hint = error.hint or (f"forecast train DATA --resume {run.path}" if data is None else None)
        raise DataError(error.message, hint) from None
    if recorded["sha256"] is not None and source.sha256 not in (recorded["sha256"], None):
        raise RunError(
            f"'{table}' is not the table that '{run.path}' was started with",
            "resume with the original file, or train a new run",
        )
    return panel


def name_of(data: pd.DataFrame | Table | None) -> str:
    if not isinstance(data, str | Path):
        return "DataFrame"
    return "stdin" if str(data) == STDIN else Path(data).name
