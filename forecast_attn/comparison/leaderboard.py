"""The leaderboard of a comparison: reads the finished runs, ranks mechanisms, tests them, and notes what the numbers
show.
"""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.comparison.comparison_plan import ComparisonDir, Entry
from forecast_attn.config.options import RunConfig
from forecast_attn.data.csv_text import csv_text
from forecast_attn.data.windows import WindowArrays
from forecast_attn.devices import cpu_threads
from forecast_attn.evaluation.scoring import scores_to_records
from forecast_attn.evaluation.significance import compare_models
from forecast_attn.forecasting.inference import load_model
from forecast_attn.notebook import Drawn
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.training.preparation import Preparation
from forecast_attn.training.validation import forecast_validation, validation_rows

SHOWN = ("rank", "attention", "seeds", "mae", "mae_std", "mase", "skill_per_cent", "dm_p_value", "seconds")
"""Columns of the leaderboard that a notebook shows."""
WITH_SPREAD = ("mae", "rmse", "mase", "pinball", "coverage", "skill_per_cent", "seconds")


@dataclass(frozen=True, eq=False)
class Comparison(Drawn):
    """Result of a comparison of mechanisms."""

    folder: Path
    """Directory of the comparison."""
    leaderboard: pd.DataFrame
    """One row per mechanism, the smallest mean MAE first: rank, attention, seeds, mean and standard deviation over the
    seeds (`mae`, `mae_std`, …) in the target's units, cost, tests against the winner, whether it is within the spread
    of the winner, and its best run. Pinball and coverage where there are quantiles."""
    runs: pd.DataFrame
    """One row per training."""
    validation: dict[str, Any]
    """The windows that all were scored on: how many, out of how many, after which stamp; and the interval whose
    coverage is reported, with its nominal coverage."""
    seasonal_naive: dict[str, Any]
    """Errors of seasonal-naive on the same windows."""
    baselines: dict[str, dict[str, Any]]
    """Errors of every baseline on the same windows, by its name."""
    notes: tuple[str, ...]
    """Conclusions that the numbers support."""

    def __repr__(self) -> str:
        rows = len(self.leaderboard)
        return f"<Comparison of {rows} mechanisms: {self.winner} first, MAE {self.leaderboard['mae'].iloc[0]:.4g}>"

    def _repr_html_(self) -> str:
        """The leaderboard and what it allows to conclude, for a notebook."""
        import forecast_attn.notebook as notebook

        notes = map(notebook.caption, self.notes)
        return notebook.titled(repr(self)[1:-1], notebook.table(self.leaderboard, SHOWN), *notes)

    @property
    def winner(self) -> str:
        """The mechanism with the smallest mean MAE."""
        return str(self.leaderboard["attention"].iloc[0])

    @property
    def winner_run(self) -> Path:
        """The winner's run with the smallest MAE."""
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
        write_atomically(directory.leaderboard_csv, csv_text(self.leaderboard))
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(directory.leaderboard_json, text + "\n")


def leaderboard_of(directory: ComparisonDir, preparation: Preparation, configs: dict[Entry, RunConfig]) -> Comparison:
    """Rank the mechanisms of a comparison whose runs are finished.

    Raises:
        RunError: a run is damaged.
    """
    arrays = preparation.schema.windows_of(preparation.panel)
    read = {entry: read_run(directory.run(entry), entry, preparation, arrays) for entry in configs}
    runs = pd.DataFrame([scores for scores, _ in read.values()])
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
    table = _without_quantiles(table)
    first = directory.run(next(iter(configs)))
    metrics = first.read_json(first.metrics)
    about = {name: metrics["validation"][name] for name in ("windows", "windows_available", "after")}
    naive, baselines = metrics["seasonal_naive"], _baselines(metrics)
    about["interval"] = _interval(metrics["validation"].get("interval"))
    notes = notes_of(table, baselines)
    return Comparison(directory.path, table, _without_quantiles(runs), about, naive, baselines, notes)


def _baselines(metrics: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Errors of the baselines; a run's skill against them is its own."""
    errors = ("mae", "rmse", "mase")
    baselines = metrics.get("baselines") or {"seasonal-naive": metrics["seasonal_naive"]}  # of runs of earlier versions
    return {name: {error: scored[error] for error in errors} for name, scored in baselines.items()}


def _row(rank: int, runs: pd.DataFrame, attention: str, tests: Tests) -> dict[str, Any]:
    of_mechanism = runs[runs["attention"] == attention]
    row: dict[str, Any] = {"rank": rank, "attention": attention, "seeds": len(of_mechanism)}
    for name in WITH_SPREAD:
        row |= {name: of_mechanism[name].mean(), f"{name}_std": of_mechanism[name].std(ddof=1)}
    best = of_mechanism["run"].iloc[int(of_mechanism["mae"].to_numpy().argmin())]
    speed, size = of_mechanism["windows_per_second"].mean(), int(of_mechanism["parameters"].iloc[0])
    return {**row, "windows_per_second": speed, "parameters": size, **tests._asdict(), "run": best}


def _interval(scored: dict[str, float] | None) -> dict[str, float] | None:
    return None if scored is None else {name: scored[name] for name in ("lower", "upper", "nominal")}


def within_spread(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Mask of the mechanisms whose mean MAE is as near to the winner's as two seeds may be (num_mechanisms,).

    As near as the standard deviation of the difference of two runs, one of each; False without a spread.
    """
    mean, deviation = (table[name].to_numpy(np.float64) for name in ("mae", "mae_std"))
    near = mean - mean[0] <= np.hypot(deviation, deviation[0])
    return np.asarray(near & (np.arange(len(table)) > 0), bool)


def _without_quantiles(table: pd.DataFrame) -> pd.DataFrame:
    """Drop the columns of quantiles if there are none."""
    empty = [name for name in ("pinball", "coverage") if table[name].isna().all()]
    return table.drop(columns=[name for name in table if str(name).removesuffix("_std") in empty])


# --------------------------------------------------------------------------- losses
# Tests of whether differences between mechanisms are chance, on the windows that all have forecast.


Floats = NDArray[np.float64]
TESTED_ON = (
    "the mean absolute error of each validation cut-off over all series and steps, averaged over the seeds; each "
    "mechanism against the winner, not corrected for the number of tests"
)


class Tests(NamedTuple):
    """A mechanism against the winner; NaN where a test is not defined."""

    dm_statistic: float = math.nan
    """Statistic of Diebold–Mariano; positive where the mechanism loses more than the winner."""
    dm_p_value: float = math.nan
    gw_statistic: float = math.nan
    """Statistic of Giacomini–White."""
    gw_p_value: float = math.nan
    tested_cutoffs: int = 0
    note: str = ""


def tests_against(
    winner: str, losses: dict[str, Floats], preparation: Preparation, cutoffs: NDArray[np.int64]
) -> dict[str, Tests]:
    """Test every mechanism against one of them.

    Args:
        winner: its name.
        losses: absolute errors of each mechanism, averaged over its seeds (num_windows, horizon); NaN where the target
            is missing.
        preparation: whose panel the windows are of.
        cutoffs: rows of the last known values, (num_windows,).
    """
    coordinates = _coordinates(preparation, cutoffs)
    return {
        name: Tests() if name == winner else _tests(coordinates, loss, losses[winner]) for name, loss in losses.items()
    }


def _coordinates(preparation: Preparation, cutoffs: NDArray[np.int64]) -> pd.DataFrame:
    """One row per window and step: item_id, cutoff, timestamp, step."""
    panel, horizon = preparation.panel, preparation.schema.horizon
    series = panel.series_of(cutoffs)
    steps = np.arange(1, horizon + 1)
    return pd.DataFrame(
        {
            "item_id": np.repeat(np.array(panel.item_ids, object)[series], horizon),
            "cutoff": np.repeat(panel.timestamps[cutoffs], horizon),
            "timestamp": panel.timestamps[cutoffs[:, None] + steps].ravel(),
            "step": np.tile(steps, len(cutoffs)),
        }
    )


def _tests(coordinates: pd.DataFrame, loss: Floats, winner: Floats) -> Tests:
    # As forecasts of a target of 0, whose absolute errors are the losses.
    models = [
        coordinates.assign(model=name, target=0.0, prediction=values.ravel())
        for name, values in (("mechanism", loss), ("winner", winner))
    ]
    tests = compare_models(pd.concat(models, ignore_index=True))
    if not len(tests):
        return Tests(note="too few cut-offs to test")
    rows: dict[str, dict[Any, Any]] = {str(row["test"]): row for row in tests.to_dict("records")}
    dm, gw = rows["DM"], rows["GW"]
    return Tests(
        dm["statistic"],
        dm["p_value"],
        gw["statistic"],
        gw["p_value"],
        dm["n"],
        "; ".join(f"{name}: {row['note']}" for name, row in rows.items() if row["note"]),
    )


# --------------------------------------------------------------------------- runs
# Scores and cost of one finished run, and the errors of its forecasts.


class RunScores(NamedTuple):
    """One row of the table of runs; NaN where a number is not defined."""

    attention: str
    seed: int
    run: str
    """Directory of the run within the comparison's."""
    mae: float
    rmse: float
    mase: float
    skill_per_cent: float
    """Against the best of the baselines."""
    pinball: float
    """Mean over the quantiles; NaN without quantiles."""
    coverage: float
    """Share of values between the lowest and the highest quantile; NaN without two quantiles."""
    seconds: float
    """Time of training and validating all epochs of all members."""
    windows_per_second: float
    """Training speed in the median epoch."""
    parameters: int
    """Numbers that are learnt, of all members."""


def read_run(
    run: RunDir, entry: Entry, preparation: Preparation, arrays: WindowArrays
) -> tuple[RunScores, NDArray[np.float64]]:
    """Scores of a finished run, and its absolute errors on the validation windows (num_windows, horizon).

    Raises:
        RunError: the run is damaged.
    """
    model, metrics = load_model(run, validated=True), run.read_json(run.metrics)
    with cpu_threads(model.config.training.threads):
        validation = forecast_validation(model, preparation, arrays)
    scored, epochs = metrics["validation"], [epoch for part in run.parts for epoch in part.epochs]
    pinball, interval = scored.get("pinball"), scored.get("interval")
    scores = RunScores(
        attention=entry.attention,
        seed=entry.seed,
        run=run.path.name,
        mae=_number(scored["mae"]),
        rmse=_number(scored["rmse"]),
        mase=_number(scored["mase"]),
        skill_per_cent=_number(metrics["skill_per_cent"]),
        pinball=statistics.fmean(pinball.values()) if pinball else math.nan,
        coverage=_number(interval["coverage"]) if interval else math.nan,
        seconds=sum(float(epoch["seconds"]) for epoch in epochs),
        windows_per_second=statistics.median(float(epoch["windows_per_second"]) for epoch in epochs),
        parameters=sum(each.numel() for network in model.networks for each in network.parameters()),
    )
    return scores, np.abs(validation.prediction - validation.actual)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


# --------------------------------------------------------------------------- wording
# Conclusions from a comparison, in sentences.


SIGNIFICANT = 0.05
_IN_WORDS = {
    "naive": "repeating the last value",
    "seasonal-naive": "repeating the last season",
    "mean": "repeating the mean of the last values",
    "median": "repeating the median of the last values",
    "drift": "the line from the first value to the last",
    "linear": "the linear network",
}


def notes_of(table: pd.DataFrame, baselines: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    """The sentences that belong to a leaderboard.

    Args:
        table: see `Comparison.leaderboard`.
        baselines: errors of each baseline on the same windows.
    """
    winner, others = str(table["attention"].iloc[0]), table.iloc[1:]
    notes = [*_spread(winner, table, others), *_significance(winner, others)]
    notes += [
        f"no mechanism beats {_IN_WORDS.get(name, name)}: use that instead"
        for name, errors in baselines.items()
        if table["mae"].iloc[0] >= errors["mae"]
    ]
    return tuple(notes)


def _spread(winner: str, table: pd.DataFrame, others: pd.DataFrame) -> list[str]:
    """Notes on differences that another seed may reverse."""
    if int(table["seeds"].iloc[0]) == 1:
        return ["one seed each: the effect of the seed on the errors is unknown; measure it with --seeds 3"]
    near = others[others["within_spread"]]
    if not len(near):
        return []
    notes = [
        f"within the spread of the seeds: {_listed(near)} cannot be distinguished from '{winner}'; "
        "another seed may reverse the order"
    ]
    significant = near[near["dm_p_value"] < SIGNIFICANT]
    if len(significant):
        notes.append(
            f"p below {SIGNIFICANT:g} of {_listed(significant)} compares these trained networks: "
            "it does not cover other seeds"
        )
    return notes


def _significance(winner: str, others: pd.DataFrame) -> list[str]:
    """Notes on the tests: significant, not significant, and not tested with the reason."""
    alike, untested = others[others["dm_p_value"] >= SIGNIFICANT], others[others["dm_p_value"].isna()]
    notes = []
    if len(alike):
        notes.append(f"not significantly worse than '{winner}' (p of {SIGNIFICANT:g} or more): {_listed(alike)}")
    if len(untested):
        notes.append(f"not tested: {_listed(untested)}; {untested['note'].iloc[0] or 'a test is not defined'}")
    return notes


def _listed(rows: pd.DataFrame) -> str:
    return ", ".join(f"'{name}'" for name in rows["attention"])
