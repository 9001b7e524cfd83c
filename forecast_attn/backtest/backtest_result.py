"""Results of a backtest: its rows, scores and folds."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from forecast_attn.backtest.backtest import write_backtest
from forecast_attn.backtest.backtest_scores import Scores, score_backtest
from forecast_attn.backtest.folds import Fold, Folds
from forecast_attn.backtest.forecast_rows import RowsFile
from forecast_attn.backtest.job import Backtest, BacktestListener
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.data.findings import counted
from forecast_attn.notebook import Drawn
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.version import package_version

if TYPE_CHECKING:
    from collections.abc import Callable

    from forecast_attn.data.zones import Zone


SHOWN = ("model", "mae", "rmse", "wape", "mase", "skill_per_cent")
"""Columns of the scores that a notebook shows."""


@dataclass(frozen=True, eq=False)
class BacktestResult(Drawn):
    """Result of `Forecaster.backtest`."""

    rows: RowsFile
    """The file of the rows, or for a CSV the same rows in memory."""
    scores: Scores
    """Errors of every model, skill and tests against seasonal-naive."""
    folds: pd.DataFrame
    """number, cutoff, first, last, series, model (refit number), trained_until."""
    left_out: dict[str, int]
    """Windows that are no part of it, by reason."""
    path: Path
    """The file of the rows."""
    num_series: int
    """Series with a forecast."""
    combinations: dict[int, Combination] = field(default_factory=dict)
    """Weights of `network` and of each baseline in `combination`, by the number of the model (0 the run's own, then
    the refits); empty where they were not chosen on validation windows."""
    draw: Callable[..., Any] | None = None
    """Draws the errors of `forecasts` by step. It holds the Forecaster, and with it a temporary file of the rows."""

    @property
    def weights(self) -> dict[int, dict[str, float]]:
        """Weights of the `combinations` by name, without those of single series."""
        return {number: each.weights for number, each in self.combinations.items()}

    @functools.cached_property
    def frame(self) -> pd.DataFrame:
        """item_id, cutoff, timestamp, step, target, prediction, a column per quantile, model; NaN targets are missing.

        The rows are read from their file when they are first asked for.

        Raises:
            RunError: the file was deleted, or is another one now.
        """
        return self.rows.frame()

    def __repr__(self) -> str:
        table, best = self.metrics.set_index("model"), self.scores.best_baseline
        name = self.rows.models[0]
        scored = "mae" in table
        beside = f", {table['mae'][best]:.4g} of {best}, the best baseline" if scored and best is not None else ""
        error = f"MAE {table['mae'][name]:.4g} of {name}{beside}" if scored else f"model {name}"
        return f"<BacktestResult: {counted(len(self.folds), 'cut-off')} of {self.num_series:,} series, {error}>"

    def _repr_html_(self) -> str:
        """The scores of every model, for a notebook."""
        import forecast_attn.notebook as notebook

        return notebook.titled(repr(self)[1:-1], notebook.table(self.metrics, SHOWN))

    @property
    def metrics(self) -> pd.DataFrame:
        """One row per model, one column per metric."""
        return self.scores.overall


@dataclass(frozen=True, eq=False)
class BacktestPlan:
    """Cut-offs that a backtest would forecast from: the result of `Forecaster.plan_backtest`."""

    folds: Folds
    zone: Zone
    """Zone of the time axis."""
    document: dict[str, Any]
    """All that is known before anything is forecast, JSON-able."""


def run_backtest(backtest: Backtest, out: Path, listener: BacktestListener) -> BacktestResult:
    """Forecast, compare, score; write the rows and, beside them, the scores.

    Args:
        backtest: as planned.
        out: Parquet or CSV file of the rows; the scores go to the file of the same name that ends in .json.
        listener: called with the progress.

    Raises:
        RunError: a file cannot be written.
        KeyboardInterrupt: Ctrl-C; what is finished is kept, and found by the next call.
    """
    listener.planned(backtest)
    rows, combinations = write_backtest(backtest, out, listener)
    backtest = replace(backtest, baselines=tuple(name for name in backtest.baselines if name in rows.models))
    scores = score_backtest(rows.parts(), backtest)
    document = {**describe(backtest, combinations), "file": out.name, **scores.to_dict()}
    write_atomically(
        out.with_suffix(".json"), json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    )
    num_series = len(np.unique(backtest.panel.series_of(backtest.folds.windows)))
    return BacktestResult(rows, scores, fold_frame(backtest), backtest.folds.left_out, out, num_series, combinations)


def describe(backtest: Backtest, combinations: dict[int, Combination] | None = None) -> dict[str, Any]:
    """Describe a backtest, JSON-able.

    Args:
        backtest: as it was written.
        combinations: by the number of the model, where they were chosen.
    """
    by_series = {str(number): each.by_series for number, each in (combinations or {}).items() if each.by_series}
    return {
        "package_version": package_version(),
        "run": str(backtest.run.path),
        "model": backtest.name,
        "trained_until": backtest.panel.zone.stamp_text(backtest.trained_until),
        "windows": len(backtest.folds.windows),
        "folds": fold_records(backtest.folds, backtest.panel.zone),
        "inside_training": backtest.folds.inside_training,
        "left_out": backtest.folds.left_out,
        "empty_cutoffs": backtest.folds.empty,
        "unseen_series": list(backtest.unseen),
        "findings": [finding.to_dict() for finding in backtest.findings],
        **backtest.options.refits.to_dict(),
        "baselines": list(backtest.baselines),
        **({"combine_with": list(backtest.combine_with)} if backtest.combine_with else {}),
        **({"weights": {str(number): each.weights for number, each in combinations.items()}} if combinations else {}),
        **({"weights_by_series": by_series} if by_series else {}),
        "validated_network": backtest.is_validated,
    }


STAMPS = ("cutoff", "first", "last", "trained_until")
"""Fields of a fold that are times."""


def fold_records(folds: Folds, zone: Zone) -> list[dict[str, Any]]:
    """The fold table, JSON-able, stamps as text."""
    return [
        {name: zone.stamp_text(value) if name in STAMPS else value for name, value in fold._asdict().items()}
        for fold in folds.folds
    ]


def fold_frame(backtest: Backtest) -> pd.DataFrame:
    """The fold table, stamps as the user sees them."""
    zone, folds = backtest.panel.zone, backtest.folds.folds
    columns = {name: np.array(values) for name, values in zip(Fold._fields, zip(*folds, strict=True), strict=True)}
    return pd.DataFrame({name: zone.column(values) if name in STAMPS else values for name, values in columns.items()})
