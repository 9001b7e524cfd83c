"""Texts and examples of the OpenAPI document."""

from __future__ import annotations

from typing import Any

from forecast_attn.serving.bodies import ARROW, CSV, JSON

TITLE = "forecast-attn"
DESCRIPTION = "Forecasts of trained runs, with the numbers of `forecast predict`."

_HISTORY = [
    {"date": "2024-01-01", "target": 10.1, "temperature": 3.5},
    {"date": "2024-01-02", "target": 11.4, "temperature": 4.0},
]
_FUTURE = [{"date": "2024-01-03", "temperature": 4.2}]
_TABLE = {
    "oneOf": [
        {"type": "array", "items": {"type": "object"}, "description": "records"},
        {"type": "object", "additionalProperties": {"type": "array"}, "description": "columns"},
    ]
}
_BODY = {
    "type": "object",
    "properties": {
        "history": {
            **_TABLE,
            "description": "rows up to now, and later ones with known covariates; the end of the "
            "training table when absent",
        },
        "future": {
            **_TABLE,
            "description": "covariates of the steps to forecast, where the history does not have them",
        },
        "attention": {"type": "boolean", "default": False, "description": "return the attention weights"},
        "cold_start": {"type": "boolean", "default": False, "description": "forecast series that training did not see"},
        "non_negative": {"type": "boolean", "description": "cut forecasts off at 0; as in training when absent"},
        "combine_with": {
            "type": "string",
            "description": "baselines to average with, or none; as in training when absent",
        },
    },
    "additionalProperties": False,
}
_PREDICTION = {"item_id": "target", "cutoff": "2024-01-02", "timestamp": "2024-01-03", "step": 1, "prediction": 11.8}
_ERROR = {
    "error": {
        "kind": "DataError",
        "message": "'history' has too few rows: the lookback needs 14, the longest series has 2",
        "hint": "add older rows",
        "code": None,
        "column": None,
        "row": None,
    }
}


def _refusal(description: str) -> dict[str, Any]:
    return {"description": description, "content": {JSON: {"example": _ERROR}}}


FORECAST: dict[str, Any] = {
    "summary": "Forecast the steps after the end of a history",
    "response_model": None,
    "responses": {
        200: {
            "description": "Forecasts; as CSV the bytes of `forecast predict --out`",
            "content": {
                JSON: {"example": {"run": "runs/a", "predictions": [_PREDICTION], "skipped": [], "findings": []}},
                CSV: {"example": "item_id,cutoff,timestamp,step,prediction\ntarget,2024-01-02,2024-01-03,1,11.8\n"},
                ARROW: {},
            },
        },
        400: _refusal("An unknown option, or several runs and none named"),
        401: _refusal("The token is missing or wrong"),
        404: _refusal("No run of that name"),
        406: _refusal("An answer format that is not written"),
        413: _refusal("The body is too large"),
        415: _refusal("A content type that is not read"),
        422: _refusal("The table cannot be forecast from; the same codes and sentences as `forecast predict`"),
        503: _refusal("Too many requests, or it took too long"),
    },
    "openapi_extra": {
        "requestBody": {
            "content": {
                JSON: {
                    "schema": _BODY,
                    "examples": {
                        "history": {"value": {"history": _HISTORY}},
                        "with a known future": {"value": {"history": _HISTORY, "future": _FUTURE, "attention": True}},
                        "the end of the training table": {"value": {}},
                    },
                },
                CSV: {
                    "schema": {"type": "string"},
                    "example": "date,target,temperature\n2024-01-01,10.1,3.5\n2024-01-02,11.4,4.0\n2024-01-03,,4.2\n",
                },
                ARROW: {"schema": {"type": "string", "format": "binary"}},
            }
        }
    },
}
"""Keywords of the routes that forecast."""
