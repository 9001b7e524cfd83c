"""From a history with the rows to forecast to the table of forecasts and the attention file."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forecast_attn.atomic import replacing, write_errors_of
from forecast_attn.attention_dump import AttentionWriter, DumpChoice
from forecast_attn.attention_output import AttentionOutput, DumpListener
from forecast_attn.combining import Other
from forecast_attn.data.cutoffs import forecast_cutoffs
from forecast_attn.data.panel import Panel
from forecast_attn.data.windows import WindowArrays
from forecast_attn.data.zones import in_zone, zone_of
from forecast_attn.inference import Model, WindowForecasts, forecast_windows
from forecast_attn.option_values import level_name
from forecast_attn.samples_output import SampleChoice, write_samples
from forecast_attn.threads import cpu_threads


def forecast_panel(
    model: Model,
    panel: Panel,
    device: torch.device,
    *,
    attention_path: Path,
    csv_path: Path | None = None,
    choice: DumpChoice | None = None,
    members: bool = False,
    on_dump: DumpListener | None = None,
    samples: SampleChoice | None = None,
    other: Other | None = None,
) -> pd.DataFrame:
    """Forecast every series from its last known row, and stream the attention to a file.

    All files take their places together at the end; a failure leaves older ones as they were.

    Args:
        model: the trained network and its schema.
        panel: with `horizon` future rows per series.
        device: where to compute.
        attention_path: not written by a model without attention.
        csv_path: where to write the table too.
        choice: what of the weights is written; all of them when None.
        members: of an ensemble, write the weights of each member too; see `member_path`.
        on_dump: hears how large each attention file will be, before it is written.
        samples: paths to draw, and where they are written; none when None.
        other: a baseline to forecast together with; none when None.

    Returns:
        item_id, cutoff, timestamp, step, prediction, and a column per level; sorted by series and step.
    """
    schema = model.schema
    cutoffs = forecast_cutoffs(panel, schema.lookback, schema.horizon, pad=schema.padded)
    parts: list[dict[str, Any]] = []
    with cpu_threads(model.config.training.threads), contextlib.ExitStack() as files:
        stream = None if csv_path is None else files.enter_context(replacing(csv_path))
        arrays, writer, output = model.schema.windows_of(panel), None, None
        wanted = _Wanted(choice or DumpChoice(), device, on_dump)
        if model.has_attention:
            output, writer = _open(model, panel, arrays, cutoffs, wanted, attention_path, files)
        for number, member in enumerate(model.members if members else ()):
            path = member_path(attention_path, number)
            _write_weights(member, *_open(member, panel, arrays, cutoffs, wanted, path, files), device)
        # Where weights are written, all windows are computed the way that has them: a forecast depends on no option.
        for forecasts in forecast_windows(
            model, panel, cutoffs, device=device, arrays=arrays, need_weights=output is not None
        ):
            told = forecasts
            if other is not None:
                told = other.combined(forecasts, non_negative=model.config.data.non_negative)
            parts.append(prediction_columns(panel, model, told))
            if output is not None and writer is not None:
                output.write(writer, forecasts)
        predictions = pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        predictions = in_zone(predictions, panel.zone)
        if samples is not None:
            drawn = files.enter_context(replacing(samples.path))
            write_samples(drawn, model, panel, arrays, cutoffs, samples, device)
        if csv_path is not None and stream is not None:
            # On disk before the attention is completed: a full disk must leave both older files, not one.
            with write_errors_of(csv_path):
                stream.write(predictions_csv(predictions).encode())
                stream.flush()
    return predictions


def member_path(averaged: Path, number: int) -> Path:
    """Where the weights of a member go: beside the averaged ones, as `attention-member-0.parquet`."""
    return averaged.with_name(f"{averaged.stem}-member-{number}{averaged.suffix}")


class _Wanted(NamedTuple):
    """What to write of the weights, where to compute, and whom to tell."""

    choice: DumpChoice
    device: torch.device
    on_dump: DumpListener | None


def _open(
    model: Model,
    panel: Panel,
    arrays: WindowArrays,
    cutoffs: NDArray[np.int64],
    wanted: _Wanted,
    path: Path,
    files: contextlib.ExitStack,
) -> tuple[AttentionOutput, AttentionWriter]:
    """The attention file of a model, which takes its place when `files` are closed."""
    output = AttentionOutput.plan(model, panel, arrays, cutoffs, wanted.choice, wanted.device)
    if wanted.on_dump is not None:
        wanted.on_dump(output.size, path)
    return output, files.enter_context(output.open(path))


def _write_weights(member: Model, output: AttentionOutput, writer: AttentionWriter, device: torch.device) -> None:
    """Forecast again with one member alone, for its weights."""
    for forecasts in forecast_windows(member, output.panel, output.cutoffs, device=device, arrays=output.arrays):
        output.write(writer, forecasts)


def prediction_columns(panel: Panel, model: Model, forecasts: WindowForecasts) -> dict[str, Any]:
    """The columns of predictions.csv for a batch: one row per window and step, the levels by their names."""
    horizon, batch = model.schema.horizon, len(forecasts.cutoffs)
    levels = np.empty((batch, horizon, 0)) if forecasts.levels is None else forecasts.levels
    steps = np.arange(1, horizon + 1)
    return {
        "item_id": np.repeat(np.array(panel.item_ids, dtype=object)[forecasts.series], horizon),
        "cutoff": np.repeat(panel.timestamps[forecasts.cutoffs], horizon),
        "timestamp": panel.timestamps[forecasts.cutoffs[:, None] + steps].ravel(),
        "step": np.tile(steps, batch),
        "prediction": forecasts.prediction.ravel(),
        **{level_name(level): levels[..., index].ravel() for index, level in enumerate(model.levels)},
    }


def predictions_csv(predictions: pd.DataFrame) -> str:
    """The text of predictions.csv. Ten digits are more than float32 weights can mean, and survive a round trip.

    Times of a zone carry their offset, as `2024-03-31 03:00:00+02:00`; without any clock, dates are only dates.
    """
    written = predictions.copy()
    dates = [name for name in ("cutoff", "timestamp") if written[name].dtype.kind == "M"]
    has_clock = any((written[name] != written[name].dt.normalize()).any() for name in dates)
    for name in dates:
        if isinstance(written[name].dtype, pd.DatetimeTZDtype):
            instants = written[name].dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
            written[name] = zone_of(written[name]).text(instants)
        else:
            written[name] = written[name].dt.strftime("%Y-%m-%d %H:%M:%S" if has_clock else "%Y-%m-%d")
    return written.to_csv(index=False, float_format="%.10g", lineterminator="\n")
