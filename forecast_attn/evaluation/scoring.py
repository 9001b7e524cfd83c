"""Scores every model of a tidy table of forecasts, overall or by step, series, hour, weekday or cut-off.

The table has one row per model, series, cut-off and step: item_id, cutoff, timestamp, step, target, prediction, model,
and a column per quantile. Its stamps are those the user sees, so that an hour is one on the user's clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.errors import ConfigError, did_you_mean
from forecast_attn.evaluation.metrics import LEAVES_OUT, METRICS, SAMPLE_CRPS, Ratio, ScoredRows, check_metrics, ratios
from forecast_attn.evaluation.quantile_scores import Floats, quantile_columns

__all__ = ["GROUPS", "METRICS", "RunningScores", "check_groups", "check_metrics", "score", "scores_to_records"]

Ints = NDArray[np.int64]

ROW_KEYS = ("item_id", "cutoff", "timestamp")
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
    scores = RunningScores(metrics, by, scales=scales)
    scores.add(frame, None if baseline is None else _baseline_error(frame, baseline))
    return scores.table()


class RunningScores:
    """The scores of a table that comes in parts, with the bits of `score` for the whole table.

    Every sum of a group goes on where the part before it ended, so memory grows with the groups and not with the rows.
    """

    def __init__(
        self,
        metrics: Sequence[str] | None = None,
        by: str | Sequence[str] = "overall",
        *,
        scales: pd.DataFrame | None = None,
    ) -> None:
        """Begin; arguments as for `score`."""
        check_metrics(list(metrics or ()))
        self._metrics = None if metrics is None else tuple(metrics)
        self._by, self._scales = check_groups(by), scales
        self._keys: pd.DataFrame | None = None
        self._rows: dict[str, Ints] = {}
        self._sums: dict[str, _Sums] = {}

    def add(self, frame: pd.DataFrame, baseline_error: Floats | None = None) -> None:
        """Score the next rows.

        Args:
            frame: see `score`.
            baseline_error: the baseline's absolute error at each row (num_rows,), where rmae is wanted.
        """
        frame = frame.reset_index(drop=True)
        codes = self._groups_of(frame)
        target, prediction = (frame[name].to_numpy(np.float64) for name in ("target", "prediction"))
        no_target = np.isnan(target)
        no_forecast = ~no_target & np.isnan(prediction)
        scored = ~no_target & ~no_forecast
        for name, chosen in (("rows", scored), ("no_target", no_target), ("no_forecast", no_forecast)):
            self._rows[name] = _counted_on(self._rows.get(name), codes[chosen], self._num_groups)
        error = None if baseline_error is None else baseline_error[scored]
        for ratio in ratios(_scored_rows(frame, scored, self._scales, error), self._metrics):
            before = self._sums.get(ratio.column, _Sums())
            self._sums[ratio.column] = before.with_rows(ratio, codes[scored], self._num_groups)

    def table(self) -> pd.DataFrame:
        """The scores of all rows so far; see `score`."""
        assert self._keys is not None
        keys = self._keys.assign(model=_in_this_order(self._keys["model"]))
        order = np.argsort(_codes(keys, sort=True))
        table = keys.iloc[order].reset_index(drop=True)
        table = pd.concat([table["model"].astype(object), table.drop(columns="model")], axis=1)
        for name, counts in self._rows.items():
            table[name] = counts[order]
        for column, sums in self._sums.items():
            table[column] = sums.score()[order]
            if column in LEAVES_OUT:
                table[f"{column}_left_out"] = table["rows"] - sums.number[order]
        return table

    @property
    def _num_groups(self) -> int:
        return 0 if self._keys is None else len(self._keys)

    def _groups_of(self, frame: pd.DataFrame) -> Ints:
        """The group of each row (num_rows,); new groups are numbered on."""
        known = self._num_groups
        keys = pd.DataFrame(
            {**{name: _group(frame, name) for name in self._by}, "model": frame["model"].astype(object)}
        )
        every = keys if self._keys is None else pd.concat([self._keys, keys], ignore_index=True)
        codes = _codes(every, sort=False)
        first = np.zeros(codes.max(initial=-1) + 1, np.int64)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        self._keys = every.iloc[first].reset_index(drop=True)
        return codes[known:]


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


@dataclass(frozen=True, eq=False)
class _Sums:
    """The sums of a metric, by group (num_groups,)."""

    above: Floats = field(default_factory=lambda: np.zeros(0))
    below: Floats | None = None
    """None where the denominator is the number of rows."""
    number: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    root: bool = False

    def with_rows(self, ratio: Ratio, codes: Ints, num_groups: int) -> _Sums:
        """The sums after more rows, whose groups have these codes."""
        used = ~np.isnan(ratio.numerator)
        below = None
        if not isinstance(ratio.denominator, float):
            so_far = np.zeros(0) if self.below is None else self.below
            below = _summed_on(so_far, codes[used], ratio.denominator[used], num_groups)
        above = _summed_on(self.above, codes[used], ratio.numerator[used], num_groups)
        return _Sums(above, below, _counted_on(self.number, codes[used], num_groups), ratio.root)

    def score(self) -> Floats:
        """The metric of each group; NaN where it is not defined."""
        below = self.number.astype(np.float64) if self.below is None else self.below
        value: Floats = np.divide(self.above, below, out=np.full(len(below), np.nan), where=below > 0)
        return np.sqrt(value, out=value) if self.root else value


def _summed_on(total: Floats, codes: Ints, values: Floats, num_groups: int) -> Floats:
    """Sums of groups, continued: added one after the other, as one pass over all rows adds them."""
    codes, values = np.concatenate([np.arange(len(total)), codes]), np.concatenate([total, values])
    return np.asarray(np.bincount(codes, values, num_groups), np.float64)


def _counted_on(number: Ints | None, codes: Ints, num_groups: int) -> Ints:
    counts = np.bincount(codes, minlength=num_groups)
    if number is not None:
        counts[: len(number)] += number
    return counts


# --------------------------------------------------------------------------- groups


def check_groups(by: str | Sequence[str]) -> tuple[str, ...]:
    """Return the groups to score, without `overall`.

    Raises:
        ConfigError: a metric that does not exist.
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


def _codes(keys: pd.DataFrame, *, sort: bool) -> Ints:
    """The group of each row (num_rows,), numbered in order, or as they come."""
    return np.asarray(keys.groupby(list(keys.columns), sort=sort, observed=True, dropna=False).ngroup(), np.int64)


def _in_this_order(names: pd.Series) -> pd.Categorical:
    return pd.Categorical(names, pd.unique(names), ordered=True)


# --------------------------------------------------------------------------- rows


def _scored_rows(
    frame: pd.DataFrame, scored: NDArray[np.bool_], scales: pd.DataFrame | None, baseline_error: Floats | None
) -> ScoredRows:
    chosen = frame[scored]
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
    keys = [name for name in ROW_KEYS if name in frame.columns]
    error = baseline_rows[keys].assign(error=(baseline_rows["prediction"] - baseline_rows["target"]).abs())
    return frame[keys].merge(error, how="left", on=keys, validate="many_to_one")["error"].to_numpy(np.float64)
