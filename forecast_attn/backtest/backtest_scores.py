"""Scores of a backtest: errors, skill and tests against each baseline, error by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.backtest.forecast_rows import rows_table
from forecast_attn.backtest.losses import Differences, steps_between
from forecast_attn.baselines.scales import insample_scales
from forecast_attn.data.split import Split
from forecast_attn.evaluation.scoring import RunningScores, scores_to_records
from forecast_attn.evaluation.significance import TEST_COLUMNS

if TYPE_CHECKING:
    from forecast_attn.backtest.job import Backtest

Floats = NDArray[np.float64]

REFERENCE = "seasonal-naive"
"""The baseline that rmae compares with, where it is among them."""


@dataclass(frozen=True)
class Scores:
    """Scores of a backtest's rows."""

    overall: pd.DataFrame
    """One row per model: see `forecast_attn.evaluation.scoring.score`; and skill_per_cent against `best_baseline`."""
    by: pd.DataFrame | None
    """The same per group, where groups were asked for."""
    by_step: pd.DataFrame
    """MAE of each model at each step: model, step, rows, mae …"""
    skills: pd.DataFrame
    """Reduction of the MAE in per cent: baseline, skill_per_cent. With a combination: model, baseline, skill_per_cent,
    where the combination is compared with `model`."""
    best_baseline: str | None
    """The baseline with the smallest MAE; None without baselines."""
    tests: pd.DataFrame
    """Tests of the same pairs, overall and per step: see `compare_models`."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {
            "metrics": scores_to_records(self.overall),
            "by": None if self.by is None else scores_to_records(self.by),
            "by_step": scores_to_records(self.by_step),
            "skills": scores_to_records(self.skills),
            "best_baseline": self.best_baseline,
            "tests": scores_to_records(self.tests),
        }


def score_backtest(parts: Iterable[pd.DataFrame], backtest: Backtest) -> Scores:
    """Score the rows of a backtest, a part at a time.

    Args:
        parts: rows of its file in the order of the windows; each part has the same rows of every model, one model
            after the other.
        backtest: with the options, and the rows that the run was trained on, for the scales of MASE and RMSSE.

    Raises:
        ConfigError: an unknown metric or group, or one that these rows do not allow.
        RunError: the losses cannot be kept in a temporary file.
    """
    names = (*backtest.models, *backtest.baselines)
    metrics, by, scales = backtest.options.metrics or None, backtest.options.by, training_scales(backtest)
    overall, by_step = RunningScores(metrics, scales=scales), RunningScores(["mae", "rmse"], "step")
    grouped = RunningScores(metrics, by, scales=scales) if by else None
    pairs = _pairs(backtest)
    errors = _PairedErrors(names, backtest.baselines)
    with Differences(pairs, names, backtest.model.schema.horizon) as differences:
        for part in parts:
            error = (part["prediction"] - part["target"]).abs().to_numpy().reshape(len(names), -1)
            reference = np.tile(error[names.index(REFERENCE)], len(names)) if REFERENCE in backtest.baselines else None
            overall.add(part, reference)
            by_step.add(part)
            if grouped is not None:
                grouped.add(part, reference)
            errors.add(error)
            differences.add(part.iloc[: error.shape[1]], error)
        horizon = backtest.model.schema.horizon
        tests = differences.tests(lambda: steps_between(backtest.panel, backtest.folds, horizon))
    best = errors.best_baseline()
    table = overall.table()
    if best is not None:
        table = table.assign(skill_per_cent=[errors.skill(str(name), best) for name in table["model"]])
    return Scores(
        overall=table,
        by=None if grouped is None else grouped.table(),
        by_step=by_step.table(),
        skills=_skills(errors, backtest),
        best_baseline=best,
        tests=pd.DataFrame(tests, columns=list(TEST_COLUMNS)).astype({"step": "Int64"}),
    )


def training_scales(backtest: Backtest) -> pd.DataFrame:
    """In-sample scales of the series, from rows before any forecast."""
    panel, season = backtest.panel, backtest.model.schema.frequency.season
    boundary = min(backtest.trained_until, backtest.folds.folds[0].cutoff)
    return insample_scales(panel, panel.starts[:-1] + Split(boundary).training_rows(panel), season)


def check_scores(backtest: Backtest) -> None:
    """Refuse metrics and groups that the rows will not allow, before they are computed.

    Raises:
        ConfigError: as `score_backtest`.
    """
    panel, quantiles = backtest.panel, backtest.model.quantiles
    one = rows_table(
        panel,
        panel.target,
        backtest.name,
        backtest.folds.windows[:1],
        np.ones((1, backtest.model.schema.horizon)),
        {quantile: np.ones((1, backtest.model.schema.horizon)) for quantile in quantiles},
    ).to_pandas()
    frame = pd.concat(
        [one, *(one.assign(model=name) for name in (*backtest.models[1:], *backtest.baselines))], ignore_index=True
    )
    score_backtest([frame], backtest)


def _pairs(backtest: Backtest) -> list[tuple[str, str]]:
    """Pairs to compare: the model with each baseline, the combination with the model and each of them."""
    pairs = [(backtest.name, baseline) for baseline in backtest.baselines]
    for name in backtest.models[1:]:
        pairs += [(name, other) for other in (backtest.name, *backtest.baselines)]
    return pairs


def _skills(errors: _PairedErrors, backtest: Backtest) -> pd.DataFrame:
    """The skill of each model against those it is compared with; with its name where there are two."""
    pairs = _pairs(backtest)
    skills = np.array([errors.skill(*pair) for pair in pairs], np.float64)
    frame = pd.DataFrame({"baseline": [other for _, other in pairs], "skill_per_cent": skills})
    if len(backtest.models) > 1:
        frame.insert(0, "model", [name for name, _ in pairs])
    return frame


class _PairedErrors:
    """Sums of absolute errors, of two models over the rows that both have forecast."""

    def __init__(self, names: Sequence[str], baselines: Sequence[str]) -> None:
        self._names, self._baselines = names, baselines
        self._sums = np.zeros((len(names), len(names)))
        """[a, b]: the sum of a's errors where b has one, too."""
        self._rows = np.zeros(len(names))

    def add(self, errors: Floats) -> None:
        """Add the errors (num_models, num_rows) of the next rows, NaN where there is none."""
        known = ~np.isnan(errors)
        self._rows += known.sum(axis=1)
        for model, error in enumerate(errors):
            for other, is_known in enumerate(known):
                self._sums[model, other] = self._continued(self._sums[model, other], error[known[model] & is_known])

    @staticmethod
    def _continued(total: float, values: Floats) -> float:
        """The sum of one value after the other, which does not depend on the parts they come in."""
        return float(np.add.accumulate(np.concatenate([[total], values]))[-1])

    def best_baseline(self) -> str | None:
        """The baseline with the smallest MAE on all of its rows."""
        sums = dict(zip(self._names, self._sums.diagonal(), strict=True))
        rows = dict(zip(self._names, self._rows, strict=True))
        means = {name: sums[name] / rows[name] for name in self._baselines if rows[name]}
        return min(means, key=means.__getitem__) if means else None

    def skill(self, name: str, other: str) -> float:
        """Reduction of the other one's MAE in per cent; NaN where its errors are 0, or there are none."""
        model, reference = self._names.index(name), self._names.index(other)
        below = self._sums[reference, model]
        return float(100 * (1 - self._sums[model, reference] / below)) if below > 0 else float("nan")
