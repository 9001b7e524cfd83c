"""Makes forecasts of sums and of their parts add up, through `hierarchicalforecast`."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.backtest.backtest import rows_as_forecast
from forecast_attn.backtest.backtest_plan import plan_on_validation
from forecast_attn.config.options import DataConfig
from forecast_attn.config.requests import ReconcileRequest
from forecast_attn.data.cells import ids_as_text, parse_numbers
from forecast_attn.data.findings import naming, quoted, require_column, stop_at_errors
from forecast_attn.data.panel import Panel
from forecast_attn.data.reading import read_beside, table_name
from forecast_attn.errors import ConfigError, DataError, RunError, needing, shell_command
from forecast_attn.evaluation.actuals import stamps_of
from forecast_attn.evaluation.quantile_scores import quantile_columns
from forecast_attn.forecasting.model import read_config
from forecast_attn.forecasting.prediction_table import predictions_csv
from forecast_attn.forecasting.quantiles import cut_off
from forecast_attn.hierarchy.structure import Hierarchy
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.runs.run_dir import RunDir

Floats = NDArray[np.float64]

MIN_TRACE = {"ols": "ols", "wls-struct": "wls_struct", "wls-var": "wls_var", "mint": "mint_shrink"}
"""Methods of minimal variance, and their names in hierarchicalforecast."""
LEARNING = ("wls-var", "mint")
"""Methods that learn from errors of past forecasts."""
FEWEST_ERRORS = 10
"""Past forecasts that it takes to learn from."""
KEYS = {"item_id": "series name", "cutoff": "cut-off", "timestamp": "time stamp", "step": "whole number from 1"}
"""Columns that identify a forecast, and the content of their cells."""


@dataclass(frozen=True, eq=False)
class ReconciledForecast:
    """Result of `Forecaster.reconcile`."""

    predictions: pd.DataFrame
    """As the forecasts that were given, with other numbers; rows of sums that had no forecast come last."""
    levels: pd.DataFrame
    """level, series, forecast (mean absolute value), change (mean absolute change), gap_before, gap_after (largest
    difference from the sum of the bottom series)."""
    method: str
    errors: int
    """Past forecasts that the method learned from."""

    def __repr__(self) -> str:
        return f"<ReconciledForecast by {self.method}: {self.predictions['item_id'].nunique():,} series>"

    @property
    def without_quantiles(self) -> tuple[str, ...]:
        """Sums whose quantiles are empty, for they had no forecast of their own."""
        quantiles = list(quantile_columns(list(map(str, self.predictions.columns))))
        empty = self.predictions[quantiles].isna().all(axis=1) & bool(quantiles)
        return tuple(self.predictions.loc[empty, "item_id"].unique())

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able form; undefined numbers are None."""
        records = self.levels.astype(object).where(self.levels.notna(), None).to_dict("records")
        return {
            "method": self.method,
            "errors": self.errors,
            "rows": len(self.predictions),
            "levels": records,
        }

    def write(self, path: Path) -> None:
        """Write the forecasts as CSV, whole or not at all."""
        write_atomically(path, predictions_csv(self.predictions))


def reconcile_run(
    run: RunDir,
    hierarchy: pd.DataFrame | Path | str,
    forecasts: pd.DataFrame | Path | str | None,
    request: ReconcileRequest,
    scratch: Path,
) -> ReconciledForecast:
    """Reconcile forecasts of a run.

    Args:
        run: finished; of its errors on validation windows some methods learn.
        hierarchy: a column per level, a row per bottom series.
        forecasts: as `predict` gives them; the newest that were written into the run when None.
        request: the options.
        scratch: an empty folder.

    Raises:
        ConfigError: hierarchicalforecast is not installed, or the method does not fit the hierarchy.
        DataError: a table cannot be read, a series is missing, or there are too few errors to learn from.
        RunError: the run is damaged or has no forecasts.
    """
    structure, method = Hierarchy.of(hierarchy), request.method
    if method == "top-down" and not structure.is_tree:
        raise ConfigError(
            "--method top-down takes one series that holds all others, and levels that lie in each other",
            "--method mint or bottom-up",
        )
    if forecasts is None and not run.predictions.is_file():
        predict = shell_command("predict", run.path)
        raise RunError(f"'{run.path}' has no forecasts yet", f"{predict}, or --forecasts FILE")
    base = BaseForecasts.read(run.predictions if forecasts is None else forecasts, structure, method)
    errors: dict[int, Floats] = {}
    if method in LEARNING:
        errors = _errors(run, base, request, scratch)
    config = read_config(run).data
    values = base.values.copy()
    for step in base.steps:
        of_step = base.step_of == step
        values[:, of_step] = reconciled(
            structure, base.values[:, of_step], method, errors.get(step), config.non_negative
        )
    predictions = base.with_values(values, non_negative=config.non_negative)
    count = min((errors_of.shape[1] for errors_of in errors.values()), default=0)
    return ReconciledForecast(predictions, _levels(structure, base.values, values), method, count)


def reconciled(
    structure: Hierarchy, base: Floats, method: str, errors: Floats | None = None, non_negative: bool = False
) -> Floats:
    """The forecasts that add up (num_series, num_forecasts).

    Args:
        structure: the sums.
        base: forecasts of every series; NaN in a sum that has none, bottom-up only (num_series, num_forecasts).
        method: a choice of `--method`.
        errors: actual value minus forecast, of past forecasts of the same step (num_series, num_errors).
        non_negative: no forecast may lie below 0.

    Raises:
        ConfigError: hierarchicalforecast is not installed.
        DataError: the package cannot solve for these errors.
    """
    methods = _package()
    given: dict[str, Any] = {}
    base = np.where(np.isnan(base), 0.0, base)
    if non_negative:
        base = np.maximum(base, 0.0)
    if method == "bottom-up":
        reconciler = methods.BottomUp()
    elif method == "top-down":
        reconciler = methods.TopDown("forecast_proportions")
        given = {"tags": structure.rows_of_levels}
    else:
        reconciler = methods.MinTrace(MIN_TRACE[method], nonnegative=non_negative)
    if errors is not None:
        given |= {"y_insample": errors, "y_hat_insample": np.zeros_like(errors)}
    with _solver_errors(method):
        return np.asarray(reconciler.fit_predict(S=structure.summing, y_hat=base, **given)["mean"], np.float64)


def _package() -> Any:
    with needing("reconciling", "hierarchy"):
        import hierarchicalforecast.methods as methods
    return methods


@contextlib.contextmanager
def _solver_errors(method: str) -> Iterator[None]:
    """Turn the bare Exception that the package raises for an unsolvable problem into an error with a hint.

    Its warnings are about the form of matrices that it makes itself.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        raise DataError(
            f"--method {method} has no solution here: {error}", "--method wls-struct or bottom-up"
        ) from None


@dataclass(frozen=True, eq=False)
class BaseForecasts:
    """Forecasts of every series of a hierarchy at the same times, and the table that they come from."""

    source: str
    """Name of the table."""
    frame: pd.DataFrame
    """Rows as they were read, numbers parsed."""
    structure: Hierarchy
    values: Floats
    """(num_series, num_times); NaN in sums without a forecast."""
    rows: NDArray[np.int64]
    """Row of each forecast in the table, -1 where there is none (num_series, num_times)."""
    step_of: NDArray[np.int64]
    """(num_times,)"""

    @property
    def steps(self) -> list[int]:
        """The steps ahead that are forecast."""
        return sorted({int(step) for step in self.step_of})

    @classmethod
    def read(cls, table: pd.DataFrame | Path | str, structure: Hierarchy, method: str) -> BaseForecasts:
        """Read a table of forecasts.

        Raises:
            DataError: a column or a series is missing, a series is not in the hierarchy, forecasts end at different
                times, or a cell is no number or identifies no forecast.
        """
        source = table_name(table)
        frame = read_beside(table, DataConfig(), item_id="item_id").reset_index(drop=True)
        for name in (*KEYS, "prediction"):
            require_column(frame, name, source)
        codes, item_ids = ids_as_text(frame["item_id"])
        with naming(source):
            frame = frame.assign(item_id=np.array([*item_ids, None], object)[codes], **_numbers(frame))
        _check_keys(frame, source)
        frame = frame.astype({"step": np.int64})
        _check_series(item_ids, structure, source, needs_all=method != "bottom-up")
        times = frame.groupby(["cutoff", "timestamp", "step"], sort=False, observed=True).ngroup().to_numpy()
        index_of = {name: index for index, name in enumerate(structure.names)}
        rows = np.full((len(index_of), int(times.max()) + 1), -1)
        series = np.array([index_of[name] for name in frame["item_id"]])
        rows[series, times] = np.arange(len(frame))
        held = rows[np.isin(structure.names, item_ids)]
        if (held < 0).any() or np.count_nonzero(rows >= 0) != len(frame):
            raise DataError(
                f"the series of '{source}' are not all forecast once at the same times, from the same cut-off",
                "a table whose series end at the same time",
            )
        predictions = frame["prediction"].to_numpy()
        values = np.where(rows < 0, np.nan, predictions[rows])
        if np.isnan(values[rows >= 0]).any():
            raise DataError(f"'{source}' has rows without a prediction", "forecast them, or leave the series out")
        return cls(source, frame, structure, values, rows, frame["step"].to_numpy()[held[0]])

    def first_cutoff(self, panel: Panel) -> np.datetime64 | np.int64:
        """Return the earliest cut-off on the axis of a panel.

        Raises:
            DataError: a cut-off is no time stamp of this axis.
        """
        each = self.frame.drop_duplicates("cutoff")
        first: np.datetime64 = stamps_of(each, "cutoff", np.zeros(len(each), np.int64), panel, self.source).min()
        return first

    def with_values(self, values: Floats, *, non_negative: bool) -> pd.DataFrame:
        """The table with other forecasts; quantiles move as far as the forecast does, those of new sums are empty."""
        frame, quantiles = self.frame.copy(), list(quantile_columns(list(map(str, self.frame.columns))))
        there = self.rows >= 0
        # Forecasts stand by series and time here, and in the order of the rows in the table.
        order = np.argsort(self.rows[there])
        moved = values[there][order] - frame["prediction"].to_numpy()
        for name in quantiles:
            shifted = frame[name].to_numpy() + moved
            frame[name] = cut_off(shifted) if non_negative else shifted
        frame["prediction"] = values[there][order]
        new = [series for series in range(len(values)) if not there[series].any()]
        like = self.frame.iloc[self.rows[there.all(axis=1)][0]]
        empty = dict.fromkeys(quantiles, np.nan)
        parts = [
            like.assign(item_id=self.structure.names[series], prediction=values[series], **empty) for series in new
        ]
        every: pd.DataFrame = pd.concat([frame, *parts], ignore_index=True)
        return every


def _numbers(frame: pd.DataFrame) -> dict[str, Floats]:
    names = ["step", "prediction", *quantile_columns([str(name) for name in frame.columns])]
    return {name: parse_numbers(frame[name], stop_at_errors, needed=True) for name in names}


def _check_keys(frame: pd.DataFrame, source: str) -> None:
    """Refuse a table with a cell that identifies no forecast."""
    wrong = {name: frame[name].isna() for name in KEYS}
    wrong["step"] = ~((frame["step"] >= 1) & (frame["step"] % 1 == 0))
    for name, cells in wrong.items():
        if cells.any():
            row = int(cells.to_numpy().argmax()) + 1
            cell = frame[name].iloc[row - 1]
            given = "an empty cell" if pd.isna(cell) else f"{cell:g}"
            message = f"'{source}', column '{name}', row {row}: expected a {KEYS[name]}, got {given}"
            raise DataError(message, "correct the cell, or forecast again", row=row, column=name)


def _check_series(item_ids: tuple[str, ...], structure: Hierarchy, source: str, *, needs_all: bool) -> None:
    given = set(item_ids)
    unknown = sorted(given - set(structure.names))
    if unknown:
        raise DataError(
            f"'{source}' has series that the hierarchy lacks: {quoted(unknown)}",
            "a row of the hierarchy for each, or a table without them",
        )
    missing = [name for name in (structure.names if needs_all else structure.bottom) if name not in given]
    if missing:
        hint = "train on a table that holds the sums as series of their own, or --method bottom-up"
        raise DataError(
            f"'{source}' has no forecasts of {quoted(missing)}",
            hint if needs_all else "a forecast of every bottom series",
        )


def _errors(run: RunDir, base: BaseForecasts, request: ReconcileRequest, scratch: Path) -> dict[int, Floats]:
    """Step -> errors of past forecasts of all series from the same cut-offs (num_series, num_errors).

    Only those that could be known when the forecasts were made.
    """
    backtest, structure = plan_on_validation(run, request.reference, request.accelerator), base.structure
    frame = rows_as_forecast(backtest, scratch)
    cutoff = backtest.panel.zone.column(np.array([base.first_cutoff(backtest.panel)]))
    frame = frame[frame["timestamp"] <= pd.Series(cutoff)[0]]
    frame = frame.assign(error=frame["target"] - frame["prediction"])
    missing = sorted(set(structure.names) - set(frame["item_id"]))
    if missing:
        raise DataError(f"there are no past forecasts of {quoted(missing)}", "--method wls-struct learns from none")
    errors = {}
    for step in range(1, backtest.model.schema.horizon + 1):
        rows = frame[frame["step"] == step]
        table = rows.pivot(index="cutoff", columns="item_id", values="error").dropna()
        if len(table) < FEWEST_ERRORS:
            raise DataError(
                f"--method {request.method} learns from {FEWEST_ERRORS} past forecasts of all series or more; "
                f"there are {len(table)} up to the cut-off",
                "--reference FILE with more rows, a longer --validation in training, or --method wls-struct",
            )
        errors[step] = table[list(structure.names)].to_numpy().T
    return errors


def _levels(structure: Hierarchy, before: Floats, after: Floats) -> pd.DataFrame:
    """A row per level; see `ReconciledForecast`."""
    bottom = len(structure.bottom)
    gaps = [np.abs(values - structure.summing @ values[-bottom:]) for values in (before, after)]
    records = []
    for level, rows in structure.rows_of_levels.items():
        known = ~np.isnan(before[rows]).all(axis=1)
        records.append(
            {
                "level": level,
                "series": len(rows),
                "forecast": float(np.abs(after[rows]).mean()),
                "change": float(np.abs(after - before)[rows][known].mean()) if known.any() else np.nan,
                "gap_before": float(gaps[0][rows][known].max()) if known.any() else np.nan,
                "gap_after": float(gaps[1][rows].max()),
            }
        )
    return pd.DataFrame(records)
