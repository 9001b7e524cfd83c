"""The result of a search: its leaderboard, the importance of each option, and the document that its run keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from forecast_attn.config.requests import TuneRequest
from forecast_attn.data.findings import counted
from forecast_attn.errors import RunError
from forecast_attn.evaluation.scoring import scores_to_records
from forecast_attn.notebook import Drawn
from forecast_attn.tuning.space import Space
from forecast_attn.tuning.study import ERROR, GIVEN_UP, SAME, counts
from forecast_attn.version import package_version

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from optuna.study import Study
    from optuna.trial import FrozenTrial

SCORED, PRUNED, FAILED = "scored", "pruned", "failed"
"""States of a trial in the leaderboard."""
FEWEST_FOR_IMPORTANCE = 10
"""Scored trials below which the importance of an option is chance."""


@dataclass(frozen=True, eq=False)
class TuningResult(Drawn):
    """Result of a search."""

    leaderboard: pd.DataFrame
    """One row per trial, the smallest error first: rank, trial, state (scored, pruned, failed), the error, epochs,
    seconds, a column per option, same_as (the trial that had the same options), and why it failed."""
    importance: dict[str, float]
    """Importance of each option by PED-ANOVA, the largest first; empty for a few trials."""
    best_options: dict[str, Any]
    """Values of the searched options in the best trial."""
    metric: str
    scored_on: str
    """`validation`, or `backtest of the last K cut-offs`."""
    study: str
    """Name of the study in its storage."""
    space: dict[str, Any]
    """Searched options and their values, as a space file has them."""
    seed: int
    run: Path | None = None
    """The run of the winner, where one was trained."""

    def __repr__(self) -> str:
        trials = counted(len(self.leaderboard), "trial")
        return f"<TuningResult of {trials}: {self.metric} {self.best_value:.4g} on {self.scored_on}>"

    def _repr_html_(self) -> str:
        """The leaderboard, for a notebook."""
        import forecast_attn.notebook as notebook

        shown = self.leaderboard.replace("", None).dropna(axis="columns", how="all")
        return notebook.titled(repr(self)[1:-1], notebook.table(shown))

    @property
    def best_value(self) -> float:
        """The smallest error."""
        return float(self.leaderboard[self.metric].iloc[0])

    @property
    def counts(self) -> dict[str, int]:
        """Trials in each state."""
        states = self.leaderboard["state"]
        return {state: int((states == state).sum()) for state in (SCORED, PRUNED, FAILED)}

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; what is not defined is None."""
        return {
            "package_version": package_version(),
            "study": self.study,
            "seed": self.seed,
            "metric": self.metric,
            "scored_on": self.scored_on,
            "trials": self.counts,
            "best": {"trial": int(self.leaderboard["trial"].iloc[0]), "value": self.best_value},
            "best_options": self.best_options,
            "space": self.space,
            "importance": self.importance,
            "leaderboard": scores_to_records(self.leaderboard),
        }

    def figure(self) -> Figure:
        """The importance of each option as a figure of matplotlib.

        Raises:
            ConfigError: matplotlib is not installed.
        """
        from forecast_attn.inspection.figures import empty_figure, write_heading
        from forecast_attn.notebook import FORECAST

        names = list(self.importance)[::-1]
        figure = empty_figure(0.8 + 0.35 * max(len(names), 1))
        axes = figure.add_subplot()
        axes.barh(names, [100 * self.importance[name] for name in names], color=FORECAST)
        axes.set_xlabel("share, %")
        axes.spines[["top", "right"]].set_visible(False)
        about = f"{counted(self.counts[SCORED], 'scored trial')}, {self.metric} on {self.scored_on}"
        write_heading(figure, "Importance of each option", about=about)
        return figure


def result_of(study: Study, request: TuneRequest, space: Space) -> TuningResult:
    """Read the result of a study whose trials are over.

    Raises:
        RunError: no trial was scored.
    """
    trials = [trial for trial in study.get_trials(deepcopy=False) if counts(trial)]
    rows = [_row(trial, request.metric, space) for trial in trials]
    if not any(row["state"] == SCORED for row in rows):
        reasons = [row["error"] for row in rows if row["error"]]
        hint = f"the first trial: {reasons[0]}" if reasons else "a longer --max-time, or more --trials"
        raise RunError(f"none of {counted(len(rows), 'trial')} was scored", hint)
    order = {SCORED: 0, PRUNED: 1, FAILED: 2}
    rows.sort(key=lambda row: (order[row["state"]], np.nan_to_num(row[request.metric]), row["trial"]))
    table = pd.DataFrame([{"rank": rank, **row} for rank, row in enumerate(rows, start=1)])
    best = next(trial for trial in trials if trial.number == rows[0]["trial"])
    scored_on = "validation" if request.backtest is None else f"backtest of the last {request.backtest} cut-offs"
    return TuningResult(
        leaderboard=table,
        importance=_importance(study, rows),
        best_options=dict(best.params),
        metric=request.metric,
        scored_on=scored_on,
        study=study.study_name,
        space={name: dimension.to_document() for name, dimension in space.items()},
        seed=request.seed,
    )


def _row(trial: FrozenTrial, metric: str, space: Space) -> dict[str, Any]:
    from optuna.trial import TrialState

    states = {TrialState.COMPLETE: SCORED, TrialState.PRUNED: PRUNED}
    attributes = trial.user_attrs
    state = states.get(trial.state, FAILED)
    given_up = GIVEN_UP if state == FAILED else ""
    return {
        "trial": trial.number,
        "state": state,
        metric: float(trial.values[0]) if state == SCORED else math.nan,
        "epochs": attributes.get("epochs", 0),
        "seconds": attributes.get("seconds", 0.0),
        **{name: trial.params.get(name) for name in space},
        "same_as": attributes.get(SAME),
        "error": attributes.get(ERROR, given_up),
    }


def _importance(study: Study, rows: list[dict[str, Any]]) -> dict[str, float]:
    """Importance of each option by PED-ANOVA (Watanabe et al. 2023): how the best tenth of trials differs from all."""
    import optuna

    if sum(row["state"] == SCORED for row in rows) < FEWEST_FOR_IMPORTANCE:
        return {}
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    importance = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(value) for name, value in importance.items() if np.isfinite(value)}
