"""The mechanisms of a comparison, ranked: means over seeds, their spread, cost, and tests against the winner."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.atomic import write_atomically
from forecast_attn.comparison.directory import ComparisonDir
from forecast_attn.comparison.losses import TESTED_ON, Tests, tests_against
from forecast_attn.comparison.plan import Entry
from forecast_attn.comparison.runs import read_run
from forecast_attn.comparison.wording import notes_of
from forecast_attn.config import RunConfig
from forecast_attn.evaluation.scoring import scores_to_records
from forecast_attn.preparation import Preparation
from forecast_attn.training.finish import validation_rows

WITH_SPREAD = ("mae", "rmse", "mase", "pinball", "coverage", "skill_per_cent", "seconds")


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` gives."""

    folder: Path
    """Where it is."""
    leaderboard: pd.DataFrame
    """One row per mechanism, the smallest mean MAE first: rank, attention, seeds, mean and standard deviation over the
    seeds (`mae`, `mae_std`, …) in the target's units, cost, tests against the winner, whether it is within the spread
    of the winner, and its best run. Pinball and coverage where there are levels."""
    runs: pd.DataFrame
    """One row per training."""
    validation: dict[str, Any]
    """The windows that all were scored on: how many, out of how many, after which stamp; and the interval whose
    coverage is told, with its nominal one."""
    seasonal_naive: dict[str, Any]
    """Its errors on the same windows."""
    baselines: dict[str, dict[str, Any]]
    """Errors of every baseline on the same windows, by its name."""
    notes: tuple[str, ...]
    """What the numbers allow to say."""

    @property
    def winner(self) -> str:
        """The mechanism with the smallest mean MAE."""
        return str(self.leaderboard["attention"].iloc[0])

    @property
    def winner_run(self) -> Path:
        """Of the winner's runs the one with the smallest MAE."""
        return self.folder / str(self.leaderboard["run"].iloc[0])

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; what is not defined is None."""
        return {
            "winner": self.winner,
            "run": self.winner_run.name,
            "ranked_by": "mean MAE over the seeds, on the validation windows",
            "spread": "standard deviation over the seeds",
            "tested_on": TESTED_ON,
            "validation": self.validation,
            "seasonal_naive": self.seasonal_naive,
            "baselines": self.baselines,
            "leaderboard": scores_to_records(self.leaderboard),
            "runs": scores_to_records(self.runs),
            "notes": list(self.notes),
        }

    def write(self, directory: ComparisonDir) -> None:
        """Write leaderboard.csv and leaderboard.json, each whole or not at all.

        Raises:
            RunError: a file cannot be written.
        """
        write_atomically(directory.leaderboard_csv, self.leaderboard.to_csv(index=False, lineterminator="\n"))
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(directory.leaderboard_json, text + "\n")


def leaderboard_of(directory: ComparisonDir, preparation: Preparation, configs: dict[Entry, RunConfig]) -> Comparison:
    """Rank the mechanisms of a comparison whose runs are finished.

    Raises:
        RunError: a run is damaged.
    """
    arrays = preparation.schema.windows_of(preparation.panel)
    read = {entry: read_run(directory.run(entry), entry, preparation, arrays) for entry in configs}
    runs = pd.DataFrame([scores.to_dict() for scores, _ in read.values()])
    losses = {
        name: np.mean([errors for entry, (_, errors) in read.items() if entry.attention == name], axis=0)
        for name in pd.unique(runs["attention"])
    }
    means = runs.groupby("attention", sort=False)["mae"].mean()
    ranked = [str(name) for name in means.sort_values(kind="stable").index]
    cutoffs = validation_rows(preparation, next(iter(configs.values())))
    tests = tests_against(ranked[0], losses, preparation, cutoffs)
    table = pd.DataFrame([_row(rank, runs, name, tests[name]) for rank, name in enumerate(ranked, start=1)])
    table.insert(list(table.columns).index("mae_std") + 1, "within_spread", within_spread(table))
    table = _without_levels(table)
    first = directory.run(next(iter(configs)))
    metrics = first.read_json(first.metrics)
    about = {name: metrics["validation"][name] for name in ("windows", "windows_available", "after")}
    naive, baselines = metrics["seasonal_naive"], _baselines(metrics)
    about["interval"] = _interval(metrics["validation"].get("interval"))
    notes = notes_of(table, baselines)
    return Comparison(directory.path, table, _without_levels(runs), about, naive, baselines, notes)


def _baselines(metrics: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Errors of the baselines; a run's skill against them is its own."""
    errors = ("mae", "rmse", "mase")
    found = metrics.get("baselines") or {"seasonal-naive": metrics["seasonal_naive"]}  # of runs of earlier versions
    return {name: {error: scored[error] for error in errors} for name, scored in found.items()}


def _row(rank: int, runs: pd.DataFrame, attention: str, tests: Tests) -> dict[str, Any]:
    own = runs[runs["attention"] == attention]
    row: dict[str, Any] = {"rank": rank, "attention": attention, "seeds": len(own)}
    for name in WITH_SPREAD:
        row |= {name: own[name].mean(), f"{name}_std": own[name].std(ddof=1)}
    best = own["run"].iloc[int(own["mae"].to_numpy().argmin())]
    speed, size = own["windows_per_second"].mean(), int(own["parameters"].iloc[0])
    return {**row, "windows_per_second": speed, "parameters": size, **asdict(tests), "run": best}


def _interval(scored: dict[str, float] | None) -> dict[str, float] | None:
    return None if scored is None else {name: scored[name] for name in ("lower", "upper", "nominal")}


def within_spread(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether each mechanism's mean MAE is as near to the winner's as two seeds may be (num_mechanisms,).

    As near as the standard deviation of the difference of two runs, one of each; False without a spread.
    """
    mean, deviation = (table[name].to_numpy(np.float64) for name in ("mae", "mae_std"))
    near = mean - mean[0] <= np.hypot(deviation, deviation[0])
    return np.asarray(near & (np.arange(len(table)) > 0), bool)


def _without_levels(table: pd.DataFrame) -> pd.DataFrame:
    """Without the columns of levels, where there are none."""
    empty = [name for name in ("pinball", "coverage") if table[name].isna().all()]
    return table.drop(columns=[name for name in table if str(name).removesuffix("_std") in empty])
