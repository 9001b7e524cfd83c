"""Scores of a backtest: errors, skill and tests against each baseline, error by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from forecast_attn.backtest.forecast_rows import rows_table
from forecast_attn.baselines.naive import insample_scales
from forecast_attn.data.split import Split
from forecast_attn.evaluation.scoring import score, scores_to_records
from forecast_attn.evaluation.significance import COLUMNS, compare_models

if TYPE_CHECKING:
    from forecast_attn.backtest.job import Backtest


REFERENCE = "seasonal-naive"
"""The baseline that rmae compares with, where it is among them."""

_FEWEST = 4
"""Cut-offs below which there is nothing to test."""


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
    """The one with the smallest MAE; None where there is none."""
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


def score_backtest(
    frame: pd.DataFrame, backtest: Backtest, metrics: Sequence[str] | None, by: Sequence[str] = ()
) -> Scores:
    """Score the rows of a backtest.

    Args:
        frame: of its file.
        backtest: for the scales of MASE and RMSSE, from rows that the run was trained on.
        metrics: names; all that the rows allow when None.
        by: further groups.

    Raises:
        ConfigError: a metric or a group that there is not, or that these rows do not allow.
    """
    scales = training_scales(backtest)
    baseline = REFERENCE if REFERENCE in backtest.baselines else None
    overall = score(frame, metrics, scales=scales, baseline=baseline)
    best = _best_baseline(frame, backtest.baselines)
    if best is not None:
        overall = overall.assign(skill_per_cent=100 * (1 - score(frame, ["rmae"], baseline=best)["rmae"]))
    return Scores(
        overall=overall,
        by=score(frame, metrics, by, scales=scales, baseline=baseline) if by else None,
        by_step=score(frame, ["mae", "rmse"], "step"),
        skills=_skills(frame, backtest),
        best_baseline=best,
        tests=_tests(frame, _pairs(backtest)),
    )


def training_scales(backtest: Backtest) -> pd.DataFrame:
    """In-sample scales of the series, from rows before any forecast."""
    panel, season = backtest.panel, backtest.model.schema.frequency.season
    boundary = min(backtest.trained_until, backtest.folds.folds[0].cutoff)
    return insample_scales(panel, panel.starts[:-1] + Split(boundary).training_rows(panel), season)


def check_scores(backtest: Backtest, metrics: Sequence[str] | None, by: Sequence[str] = ()) -> None:
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
    score_backtest(frame, backtest, metrics, by)


def _pairs(backtest: Backtest) -> list[tuple[str, str]]:
    """Pairs to compare: the model with each baseline, the combination with the model and each of them."""
    pairs = [(backtest.name, baseline) for baseline in backtest.baselines]
    for name in backtest.models[1:]:
        pairs += [(name, other) for other in (backtest.name, *backtest.baselines)]
    return pairs


def _best_baseline(frame: pd.DataFrame, baselines: Sequence[str]) -> str | None:
    """The baseline with the smallest MAE on these rows."""
    errors = score(frame, ["mae"]).set_index("model")["mae"].reindex(list(baselines)).dropna()
    return None if errors.empty else str(errors.idxmin())


def _skills(frame: pd.DataFrame, backtest: Backtest) -> pd.DataFrame:
    """The skill of each model against those it is compared with; with its name where there are two."""
    if len(backtest.models) == 1:
        return _skills_of(frame, backtest.name, backtest.baselines)
    of_each = []
    for name in backtest.models:
        others = [other for own, other in _pairs(backtest) if own == name]
        of_each.append(_skills_of(frame, name, others))
        of_each[-1].insert(0, "model", name)
    return pd.concat(of_each, ignore_index=True)


def _skills_of(frame: pd.DataFrame, name: str, baselines: Sequence[str]) -> pd.DataFrame:
    """Reduction of the model's MAE against each baseline's, in per cent, on the rows that both have forecast.

    All models have the same rows in the same order.
    """
    error = (frame["prediction"] - frame["target"]).abs().to_numpy()
    of_model = {each: error[(frame["model"] == each).to_numpy()] for each in (name, *baselines)}
    skills = []
    for baseline in baselines:
        own, its = of_model[name], of_model[baseline]
        both = ~np.isnan(own) & ~np.isnan(its)
        below = its[both].sum()
        skills.append(100 * (1 - own[both].sum() / below) if below > 0 else math.nan)
    return pd.DataFrame({"baseline": list(baselines), "skill_per_cent": np.asarray(skills, np.float64)})


def _tests(frame: pd.DataFrame, pairs: list[tuple[str, str]]) -> pd.DataFrame:
    if not pairs or frame["cutoff"].nunique() < _FEWEST:
        return pd.DataFrame(columns=list(COLUMNS))
    return pd.concat([compare_models(_pair(frame, *pair), by_step=True) for pair in pairs], ignore_index=True)


def _pair(frame: pd.DataFrame, name: str, baseline: str) -> pd.DataFrame:
    """The rows of both, those of the model first."""
    return pd.concat([frame[frame["model"] == name], frame[frame["model"] == baseline]], ignore_index=True)
