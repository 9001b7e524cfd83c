"""From a history and what is known of the future to the table of forecasts and the attention file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forecast_attn.atomic import replacing, write_errors_of
from forecast_attn.attention_dump import DumpChoice
from forecast_attn.attention_output import AttentionOutput, DumpListener
from forecast_attn.data.cutoffs import forecast_cutoffs
from forecast_attn.data.future import extend, join_future
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.panel_building import build_panel
from forecast_attn.errors import DataError, RunError
from forecast_attn.inference import Model, forecast_windows, prediction_columns
from forecast_attn.run_dir import RunDir
from forecast_attn.threads import cpu_threads


def history_panel(model: Model, run: RunDir, frame: pd.DataFrame | None, source: str) -> tuple[Panel, tuple[str, ...]]:
    """The series to forecast, read as in training, and the names of those too short for the lookback.

    Args:
        model: whose roles and frequency count.
        run: whose tail.parquet is read when `frame` is None.
        frame: the history.
        source: its name, for messages.

    Raises:
        DataError: a column is missing, the table has a problem, or every series is too short.
        RunError: tail.parquet is damaged.
    """
    schema = model.schema
    if frame is None:
        frame, source = _read_tail(run), run.tail.name
    with _without_flags_of_train():
        panel = build_panel(frame, schema.roles, replace(model.config.data, freq=schema.frequency.alias), source=source)
    long_enough = panel.known >= schema.lookback
    if not long_enough.any():
        longest = int(panel.known.max())
        raise DataError(
            f"'{source}' has too few rows: the lookback needs {schema.lookback}, the longest series has {longest}",
            "add older rows",
        )
    skipped = tuple(name for name, is_long in zip(panel.item_ids, long_enough, strict=True) if not is_long)
    return select_series(panel, long_enough), skipped


def future_panel(model: Model, history: Panel, future: pd.DataFrame | None, source: str) -> Panel:
    """The history with the rows to forecast: from a table of future covariates, or from the history's own end.

    Raises:
        DataError: a future covariate is missing; says for which steps of which series.
    """
    if future is None:
        return extend(history, model.schema.horizon)
    with _without_flags_of_train():
        return join_future(history, future, model.schema.horizon, source)


def forecast_panel(
    model: Model,
    panel: Panel,
    device: torch.device,
    *,
    attention_path: Path,
    csv_path: Path | None = None,
    choice: DumpChoice | None = None,
    on_dump: DumpListener | None = None,
) -> pd.DataFrame:
    """Forecast every series from its last known row, and stream the attention to a file.

    Both files take their places together at the end; a failure leaves older ones as they were.

    Args:
        model: the trained network and its schema.
        panel: with `horizon` future rows per series.
        device: where to compute.
        attention_path: not written by a model without attention.
        csv_path: where to write the table too.
        choice: what of the weights is written; all of them when None.
        on_dump: hears how large the attention file will be, before it is written.

    Returns:
        item_id, cutoff, timestamp, step, prediction; sorted by series and step.
    """
    cutoffs = forecast_cutoffs(panel, model.schema.lookback, model.schema.horizon)
    parts: list[dict[str, Any]] = []
    with cpu_threads(model.config.training.threads), contextlib.ExitStack() as files:
        stream = None if csv_path is None else files.enter_context(replacing(csv_path))
        arrays, writer, output = model.schema.windows_of(panel), None, None
        if model.has_attention:
            output = AttentionOutput.plan(model, panel, arrays, cutoffs, choice or DumpChoice(), device)
            if on_dump is not None:
                on_dump(output.size, attention_path)
            writer = files.enter_context(output.open(attention_path))
        # Where weights are written, all windows are computed the way that has them: a forecast depends on no option.
        for forecasts in forecast_windows(
            model, panel, cutoffs, device=device, arrays=arrays, need_weights=output is not None
        ):
            parts.append(prediction_columns(panel, model.schema.horizon, forecasts))
            if output is not None and writer is not None:
                output.write(writer, forecasts)
        predictions = pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        if csv_path is not None and stream is not None:
            # On disk before the attention is completed: a full disk must leave both older files, not one.
            with write_errors_of(csv_path):
                stream.write(predictions_csv(predictions).encode())
                stream.flush()
    return predictions


def predictions_csv(predictions: pd.DataFrame) -> str:
    """The text of predictions.csv. Ten digits are more than float32 weights can mean, and survive a round trip."""
    written = predictions.copy()
    dates = [name for name in ("cutoff", "timestamp") if written[name].dtype.kind == "M"]
    has_clock = any((written[name] != written[name].dt.normalize()).any() for name in dates)
    for name in dates:
        written[name] = written[name].dt.strftime("%Y-%m-%d %H:%M:%S" if has_clock else "%Y-%m-%d")
    return written.to_csv(index=False, float_format="%.10g", lineterminator="\n")


def select_series(panel: Panel, keep: NDArray[np.bool_]) -> Panel:
    """Some of the series, in the same order."""
    lengths = np.diff(panel.starts)[keep]
    chosen = panel.with_rows(ranges(panel.starts[:-1][keep], lengths), lengths, panel.known[keep])
    names = tuple(name for name, is_kept in zip(panel.item_ids, keep, strict=True) if is_kept)
    return replace(chosen, item_ids=names, static_covariates=panel.static_covariates[keep])


def _read_tail(run: RunDir) -> pd.DataFrame:
    try:
        return pd.read_parquet(run.tail)
    except (OSError, ValueError) as error:
        reason = str(error).split(". ")[0].rpartition(": ")[2]
        raise RunError(f"cannot read '{run.tail}': {reason}", "pass the history with --data FILE") from None


@contextlib.contextmanager
def _without_flags_of_train() -> Iterator[None]:
    """The roles and the step of a trained model are settled: hints that name their flags would mislead."""
    try:
        yield
    except DataError as error:
        if error.hint is not None and any(flag in error.hint for flag in ("--ignore", "--freq", "--id", "--time")):
            hint = "the table must be as in training: the same columns and the same time step"
            raise DataError(error.message, hint) from None
        raise
