"""Forecasts of a request -> the body of its answer: JSON, or the bytes that `forecast predict --out` writes."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas as pd
import pyarrow as pa

from forecast_attn.forecasting.forecast_result import ForecastResult
from forecast_attn.forecasting.model import WindowForecasts
from forecast_attn.forecasting.predict import PreparedForecast
from forecast_attn.forecasting.prediction_table import (
    prediction_columns,
    predictions_csv,
    predictions_table,
    written_times,
)
from forecast_attn.serving.bodies import ARROW, CSV


def answer(
    prepared: PreparedForecast, forecasts: list[WindowForecasts], run: str, content_type: str, *, attention: bool
) -> bytes:
    """Return the body of an answer.

    Args:
        prepared: of the request.
        forecasts: of all its windows, as the network gave them.
        run: the run directory.
        content_type: JSON, CSV or ARROW.
        attention: add the weights (JSON only).
    """
    columns = [prediction_columns(prepared.panel, prepared.model, prepared.combined(part)) for part in forecasts]
    table = predictions_table(columns, prepared.panel, prepared.not_learned)
    if content_type == CSV:
        return predictions_csv(table).encode()
    if content_type == ARROW:
        return _arrow(table)
    records = _records(table)
    document = {"run": run, "predictions": records, **_notes(prepared.result(table))}
    if attention and prepared.model.has_attention:
        cutoffs = [record["cutoff"] for record in records[:: prepared.model.schema.horizon]]
        weights = [row for part in forecasts for row in _weights(prepared, part)]
        document["attention"] = [{**row, "cutoff": cutoff} for row, cutoff in zip(weights, cutoffs, strict=True)]
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode()


def _arrow(table: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    with pa.ipc.new_stream(stream, arrow.schema) as writer:
        writer.write_table(arrow)
    return stream.getvalue()


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    times, names = written_times(table), list(table.columns)
    columns = [times[name] if name in times else table[name].tolist() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _notes(result: ForecastResult) -> dict[str, Any]:
    """Notes that `forecast predict` prints on stderr."""
    return {
        "skipped": list(result.skipped),
        "cold": list(result.cold),
        "not_learned": list(result.not_learned),
        "combined_with": list(result.combined_with),
        "weights": result.weights,
        "weights_by_series": result.weights_by_series,
        "alone": list(result.alone),
        "unknown_categories": [vars(unknown) for unknown in result.unknown_categories],
        "repairs": [repair.message for repair in result.repairs],
        "findings": [finding.to_dict() for finding in result.findings],
    }


def _weights(prepared: PreparedForecast, forecasts: WindowForecasts) -> list[dict[str, Any]]:
    """One record per series: its weights (heads, steps, keys), the first key at the start of the lookback."""
    assert forecasts.weights is not None
    names = [prepared.panel.item_ids[index] for index in forecasts.series]
    patch_length = prepared.model.patch_length
    return [
        {"item_id": name, "patch_length": patch_length, "weights": weights.tolist()}
        for name, weights in zip(names, forecasts.weights, strict=True)
    ]
