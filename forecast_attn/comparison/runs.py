"""What one finished run says of itself: its scores, its cost, and how far each of its forecasts was off."""

from __future__ import annotations

import csv
import math
import statistics
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.comparison.plan import Entry
from forecast_attn.data.windows import WindowArrays
from forecast_attn.inference import load_model
from forecast_attn.preparation import Preparation
from forecast_attn.run_dir import RunDir
from forecast_attn.threads import cpu_threads
from forecast_attn.training.finish import forecast_validation


@dataclass(frozen=True)
class RunScores:
    """One row of the table of runs; NaN where a number is not defined."""

    attention: str
    seed: int
    run: str
    """Its directory, in the comparison's."""
    mae: float
    rmse: float
    mase: float
    skill_per_cent: float
    """Against seasonal-naive."""
    pinball: float
    """Mean over the levels; NaN without levels."""
    coverage: float
    """Share of values between the lowest and the highest level; NaN without two levels."""
    seconds: float
    """Of training and validating all epochs, of all members."""
    windows_per_second: float
    """Of training, in the median epoch."""
    parameters: int
    """Numbers that are learnt, of all members."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def read_run(
    run: RunDir, entry: Entry, preparation: Preparation, arrays: WindowArrays
) -> tuple[RunScores, NDArray[np.float64]]:
    """Scores of a finished run, and its absolute errors on the validation windows (num_windows, horizon).

    Raises:
        RunError: the run is damaged.
    """
    model, metrics = load_model(run), run.read_json(run.metrics)
    with cpu_threads(model.config.training.threads):
        validation = forecast_validation(model, preparation, arrays)
    scored, epochs = metrics["validation"], _epochs(run)
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


def _epochs(run: RunDir) -> list[dict[str, str]]:
    """The rows of history.csv, of all members."""
    rows: list[dict[str, str]] = []
    for part in run.parts:
        rows += csv.DictReader(part.history.read_text(encoding="utf-8").splitlines())
    return rows
