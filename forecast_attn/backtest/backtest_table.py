"""The table a backtest runs over, read as in training, and the part of it that a new run may be trained on."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.backtest.cutoffs import parse_stamp
from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import stop_at_errors
from forecast_attn.data.frequency import Stamps, parse_frequency
from forecast_attn.data.issued import series_in
from forecast_attn.data.localise import axis_stamps
from forecast_attn.data.panel import ARRAYS, Panel
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.resampling import floored
from forecast_attn.data.scaling import Scaler
from forecast_attn.errors import DataError, RunError, reason_of, shell_command
from forecast_attn.forecasting.history import select_series, table_beside
from forecast_attn.forecasting.model import Model, trained_until
from forecast_attn.runs.run_dir import DAMAGED_HINT, RunDir
from forecast_attn.runs.training_table import Table, check_recorded_files, name_of, panel_of_run, with_vintages

if TYPE_CHECKING:
    from forecast_attn.data.reading import Progress


def read_actuals(
    model: Model,
    run: RunDir,
    data: pd.DataFrame | Table | None,
    vintages: pd.DataFrame | Table | None = None,
    progress: Progress | None = None,
    *,
    weighted: bool = False,
) -> Panel:
    """The table to forecast and to compare with, read as in training.

    Args:
        model: whose roles, time step and options count.
        run: its recorded table is read when `data` is None.
        data: the table.
        vintages: future covariates as they were forecast; the file that the run names when None.
        progress: called with the bytes read so far and the bytes there are.
        weighted: read the column of weights too, which only training needs.

    Raises:
        DataError: what is wrong with the table.
        RunError: the run was not trained on a file, or a file that only the run names is another one now.
    """
    if data is None:
        return _recorded_table(run, model, vintages, progress)
    _check_recorded_vintages(run, model, data, vintages)
    return actuals_of(model, table_beside(data, model), name_of(data), vintages, weighted=weighted)


def _check_recorded_vintages(
    run: RunDir, model: Model, data: pd.DataFrame | Table, vintages: pd.DataFrame | Table | None
) -> None:
    """Refuse a table of forecasts that has changed since the run was trained, unless it is named again."""
    try:
        check_recorded_files(
            str(run.path), run.read_json(run.config)["data"], model.config, data=data, vintages=vintages
        )
    except RunError as error:
        raise error.reworded(hint=_again(run, model)) from None


def _again(run: RunDir, model: Model) -> str:
    """The command that names the tables a run was trained with anew."""
    vintages = () if model.config.data.vintages is None else ("--vintages", "FILE")
    return shell_command("backtest", run.path, "--data", "FILE", *vintages)


def actuals_of(
    model: Model,
    frame: pd.DataFrame,
    source: str,
    vintages: pd.DataFrame | Table | None = None,
    *,
    weighted: bool,
) -> Panel:
    """The panel of a table as it was read; see `read_actuals`."""
    schema, options = model.schema, model.config.data
    frame, _, table = with_vintages(frame, options, vintages)
    roles = schema.roles if weighted else replace(schema.roles, weight=None)
    form = options.date_format or schema.date_order
    options = replace(options, freq=schema.frequency.alias, date_format=form)
    return build_panel(frame, roles, options, source=source, zone=schema.zone, vintages=table)


def _recorded_table(
    run: RunDir, model: Model, vintages: pd.DataFrame | Table | None, progress: Progress | None
) -> Panel:
    try:
        return panel_of_run(run, model.config, None, vintages, progress)
    except RunError as error:
        raise error.reworded(hint=_again(run, model)) from None
    except DataError as error:
        again = shell_command("backtest", run.path, "--data", "FILE")
        raise error.reworded(hint=f"{again}, if the table was moved") from None


def trained_series(scaler: Scaler, panel: Panel) -> tuple[Panel, tuple[str, ...]]:
    """The panel without the series that training did not see, and their names.

    Raises:
        DataError: it saw none of them.
    """
    unseen = scaler.unseen(panel.item_ids)
    if not unseen:
        return panel, ()
    if len(unseen) == panel.num_series:
        scaler.for_series(panel.item_ids)  # names them
    keep = ~np.isin(np.array(panel.item_ids, dtype=object), np.array(unseen, dtype=object))
    rows = np.flatnonzero(keep[panel.series_of_rows])
    chosen = select_series(panel, keep)
    # Filled rows are counted anew: what was drawn from later values must stay known.
    filled = {
        name: np.searchsorted(rows, each[keep[panel.series_of(each)]]) for name, each in panel.filled.rows.items()
    }
    return replace(chosen, filled=replace(panel.filled, rows=filled)), unseen


def training_end(run: RunDir, panel: Panel, *, validated: bool) -> Any:
    """The last stamp the run was trained on, on the panel's axis; see `trained_until`. The panel's last where the run
    does not know.

    Raises:
        RunError: metrics.json does not say.
    """
    try:
        end = trained_until(run, validated=validated)
        return panel.timestamps.max() if end is None else parse_stamp(end, panel)
    except (KeyError, TypeError, DataError) as error:
        raise RunError(f"'{run.metrics}' is damaged: {reason_of(error)}", DAMAGED_HINT) from None


def rows_until(frame: pd.DataFrame, panel: Panel, config: DataConfig, cutoff: Any) -> pd.DataFrame:
    """The rows of a table up to and with a stamp, and no others: what may be trained on before that stamp.

    Args:
        frame: as it was read.
        panel: made of it.
        config: how its stamps are written.
        cutoff: on the panel's axis.
    """
    series, _, steps = stamps_of_rows(frame, panel, config)
    kept: pd.DataFrame = frame[(series >= 0) & (steps <= cutoff)]
    return kept


def stamps_of_rows(frame: pd.DataFrame, panel: Panel, config: DataConfig) -> tuple[NDArray[np.int64], Stamps, Stamps]:
    """Put the rows of a table on the axis of the panel that was made of it.

    Args:
        frame: as it was read.
        panel: made of it.
        config: how its stamps are written, and whether they are put on other steps.

    Returns:
        Series of each row, -1 where the panel left it out; its stamp; and the stamp of its step (num_rows,).
    """
    roles, form = panel.roles, config.date_format or panel.date_order
    series = series_in(frame, roles, panel.item_ids)
    stamps, bad = axis_stamps(
        frame[roles.time], panel.zone, stop_at_errors, series=series, item_ids=panel.item_ids, date_format=form
    )
    series = np.where(bad, -1, series)
    if config.resample is None:
        return series, stamps, stamps
    steps, is_kept = stamps.copy(), series >= 0
    steps[is_kept] = floored(stamps[is_kept], parse_frequency(config.resample), panel.zone)
    return series, stamps, steps


def panel_digest(panel: Panel) -> str:
    """Digest of every value that a forecast of the panel may depend on."""
    hashed = hashlib.blake2b(digest_size=16)
    codes = ("past_categories", "future_categories", "static_categories", "weights")
    for name in (*ARRAYS, *codes):
        hashed.update(_bytes(getattr(panel, name)))
    if panel.issued is not None:
        for name in ("series", "stamps", "issued_at", "values"):
            hashed.update(_bytes(getattr(panel.issued, name)))
    metadata = (panel.item_ids, panel.roles, panel.categories, panel.zone, panel.frequency.alias)
    hashed.update(repr(metadata).encode())
    return hashed.hexdigest()


def _bytes(values: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(values).ravel().view(np.uint8).data
