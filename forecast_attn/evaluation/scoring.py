"""Scores every model of a tidy table of forecasts, overall or by step, series, hour, weekday or cut-off.

The table has one row per model, series, cut-off and step: item_id, cutoff, timestamp, step, target, prediction, model,
and a column per quantile. Its stamps are those the user sees, so that an hour is one on the user's clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.errors import ConfigError, did_you_mean
from forecast_attn.evaluation.metrics import LEAVES_OUT, METRICS, SAMPLE_CRPS, Ratio, ScoredRows, check_metrics, ratios
from forecast_attn.evaluation.quantile_scores import Floats, quantile_columns

__all__ = ["GROUPS", "METRICS", "check_groups", "check_metrics", "score", "scores_to_records"]

Ints = NDArray[np.int64]

KEYS = ("item_id", "cutoff", "timestamp")
"""Columns that identify a row of one model; a table has some of them."""
GROUPS = ("overall", "step", "item_id", "hour", "weekday", "cutoff")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def score(
    frame: pd.DataFrame,
    metrics: Sequence[str] | None = None,
    by: str | Sequence[str] = "overall",
    *,
    scales: pd.DataFrame | None = None,
    baseline: str | None = None,
) -> pd.DataFrame:
    """Score every model of a tidy table.

    Args:
        frame: target, prediction and model; what `by` needs; and a column per quantile, named by it, which is NaN for
            models without quantiles. Rows without target or prediction are left out and counted.
        metrics: names out of `METRICS`; all that the table allows when None.
        by: what to group by, out of `GROUPS`; several give every combination.
        scales: in-sample scales `mae` and `rmse` of each series, by item_id (see `insample_scales`).
        baseline: the model that rmae divides by, on the rows that both have forecast.

    Returns:
        One row per group and model: model, the groups, rows (scored), no_target, no_forecast, and a column per metric
        in the target's units (mape, smape and wape are fractions, mase, rmsse and rmae ratios), NaN where it is not
        defined. `mape_left_out` and its like count rows that the metric cannot use.

    Raises:
        ConfigError: an unknown metric, group or model, or one that the table does not allow.
    """
    check_metrics(list(metrics or ()))
    frame = frame.reset_index(drop=True)
    groups = {name: _group(frame, name) for name in check_groups(by)}
    keys = pd.DataFrame({**groups, "model": pd.Categorical(frame["model"], pd.unique(frame["model"]), ordered=True)})
    codes, table = _numbered(keys)
    target, prediction = (frame[name].to_numpy(np.float64) for name in ("target", "prediction"))
    no_target = np.isnan(target)
    no_forecast = ~no_target & np.isnan(prediction)
    scored = ~no_target & ~no_forecast
    table = pd.concat([table["model"].astype(object), table.drop(columns="model")], axis=1)
    for name, chosen in (("rows", scored), ("no_target", no_target), ("no_forecast", no_forecast)):
        table[name] = np.bincount(codes[chosen], minlength=len(table))
    wanted = None if metrics is None else tuple(metrics)
    for ratio in ratios(_scored_rows(frame, scored, scales, baseline), wanted):
        _add(table, ratio, codes[scored])
    return table


def scores_to_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table of scores or tests, JSON-able: NaN as None, stamps as text."""
    return [{str(name): _plain(value) for name, value in row.items()} for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return int(value) if isinstance(value, int | np.integer) else str(value)


def _add(table: pd.DataFrame, ratio: Ratio, codes: Ints) -> None:
    """Write a metric's column, and the number of rows it leaves out where there are any."""
    used = ~np.isnan(ratio.numerator)
    number = np.bincount(codes[used], minlength=len(table))
    above = np.bincount(codes[used], ratio.numerator[used], len(table))
    below: Floats = number.astype(np.float64)
    if not isinstance(ratio.denominator, float):
        below = np.bincount(codes[used], ratio.denominator[used], len(table)).astype(np.float64)
    value = np.divide(above, below, out=np.full(len(table), np.nan), where=below > 0)
    table[ratio.column] = np.sqrt(value) if ratio.root else value
    if ratio.column in LEAVES_OUT:
        table[f"{ratio.column}_left_out"] = table["rows"] - number


# --------------------------------------------------------------------------- groups


def check_groups(by: str | Sequence[str]) -> tuple[str, ...]:
    """Return the groups to score, without `overall`.

    Raises:
        ConfigError: one that is none.
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    for name in names:
        if name not in GROUPS:
            raise ConfigError(f"forecasts cannot be grouped by '{name}'", did_you_mean(name, GROUPS))
    return tuple(dict.fromkeys(name for name in names if name != "overall"))


def _group(frame: pd.DataFrame, name: str) -> Any:
    """Key shared by a group's rows (num_rows,)."""
    if name in ("hour", "weekday"):
        stamps = frame["timestamp"]
        if not pd.api.types.is_datetime64_any_dtype(stamps):
            raise ConfigError(f"there is no {name} on a time axis of whole numbers", "group by step or item_id")
        if name == "hour":
            return stamps.dt.hour
        names = np.array(WEEKDAYS)[stamps.dt.day_of_week.to_numpy()]
        return pd.Categorical(names, categories=list(WEEKDAYS), ordered=True)
    if name not in frame.columns:
        raise ConfigError(f"these forecasts have no '{name}' to group by", "add a column cutoff, the last known time")
    return frame[name]


def _numbered(keys: pd.DataFrame) -> tuple[Ints, pd.DataFrame]:
    """The group of each row (num_rows,), and the groups in order."""
    grouped = keys.groupby(list(keys.columns), sort=True, observed=True, dropna=False)
    codes = np.asarray(grouped.ngroup(), np.int64)
    first = np.zeros(grouped.ngroups, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes, keys.iloc[first].reset_index(drop=True)


# --------------------------------------------------------------------------- rows


def _scored_rows(
    frame: pd.DataFrame, scored: NDArray[np.bool_], scales: pd.DataFrame | None, baseline: str | None
) -> ScoredRows:
    chosen = frame[scored]
    baseline_error = None if baseline is None else _baseline_error(frame, baseline)[scored]
    return ScoredRows(
        target=chosen["target"].to_numpy(np.float64),
        prediction=chosen["prediction"].to_numpy(np.float64),
        quantiles={
            quantile: chosen[name].to_numpy(np.float64) for name, quantile in quantile_columns(frame.columns).items()
        },
        mae_scale=None if scales is None else _scale(chosen, scales["mae"]),
        rmse_scale=None if scales is None else _scale(chosen, scales["rmse"]),
        baseline_error=baseline_error,
        sample_crps=chosen[SAMPLE_CRPS].to_numpy(np.float64) if SAMPLE_CRPS in chosen else None,
    )


def _scale(rows: pd.DataFrame, scale: pd.Series) -> Floats:
    codes, item_ids = pd.factorize(rows["item_id"])  # each name is looked up once
    return scale.reindex(item_ids).to_numpy(np.float64)[codes]


def _baseline_error(frame: pd.DataFrame, baseline: str) -> Floats:
    """Absolute error of the baseline at each row (num_rows,), NaN where it has no forecast."""
    baseline_rows = frame[frame["model"] == baseline]
    if not len(baseline_rows):
        models = [str(name) for name in pd.unique(frame["model"])]
        raise ConfigError(f"there is no model '{baseline}' to compare with", did_you_mean(baseline, models))
    keys = [name for name in KEYS if name in frame.columns]
    error = baseline_rows[keys].assign(error=(baseline_rows["prediction"] - baseline_rows["target"]).abs())
    return frame[keys].merge(error, how="left", on=keys, validate="many_to_one")["error"].to_numpy(np.float64)
