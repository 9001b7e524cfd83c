"""Scores any table of forecasts against the actual values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.baselines.naive import seasonal_naive
from forecast_attn.baselines.scales import insample_scales
from forecast_attn.config.options import DataConfig, RunConfig
from forecast_attn.config.requests import READING, EvaluateRequest, takes
from forecast_attn.data.csv_text import csv_text
from forecast_attn.data.findings import counted
from forecast_attn.data.panel import Panel
from forecast_attn.data.reading import fetched
from forecast_attn.data.zones import in_zone
from forecast_attn.errors import ConfigError, did_you_mean
from forecast_attn.evaluation.actuals import read_actuals, reading_of_run, rows_at
from forecast_attn.evaluation.metrics import check_metrics
from forecast_attn.evaluation.scoring import check_groups, score, scores_to_records
from forecast_attn.evaluation.significance import TEST_COLUMNS, compare_models
from forecast_attn.evaluation.tidy import ForecastTable, absent_stamps, joined, without_copies
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.runs.output_paths import refuse_outputs

if TYPE_CHECKING:
    from forecast_attn.config.keywords import EvaluateKeywords

Ints = NDArray[np.int64]

SEASONAL_NAIVE = "seasonal-naive"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores and tests of a table of forecasts."""

    scores: pd.DataFrame
    """Table of `score`, with `skill_per_cent` where there is a reference."""
    tests: pd.DataFrame
    """Table of `compare_models`; empty without cut-offs."""
    forecasts: pd.DataFrame
    """Scored rows: item_id, [cutoff,] timestamp, [step,] target, prediction, quantiles, model; in the zone."""
    reference: str | None
    """The model that rmae and skill compare with."""
    season: int
    """Steps of the seasonal-naive forecast and of the scales of MASE and RMSSE."""
    notes: tuple[str, ...]
    """Remarks about the rows."""

    def __repr__(self) -> str:
        return f"<Evaluation: {counted(len(self.scores), 'row')} of scores, {counted(len(self.forecasts), 'forecast')}>"

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able form; undefined values are None."""
        return {
            "reference": self.reference,
            "season": self.season,
            "rows": len(self.forecasts),
            "scores": scores_to_records(self.scores),
            "tests": scores_to_records(self.tests),
            "notes": list(self.notes),
        }

    def write(self, path: Path) -> None:
        """Write the scores as .csv, or scores and tests as .json, whole or not at all."""
        as_json = path.suffix == ".json"
        document = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n" if as_json else ""
        write_atomically(path, document if as_json else csv_text(self.scores))


@takes([EvaluateRequest, DataConfig], only=READING)
def evaluate(forecasts: Any, actuals: Any, **options: Unpack[EvaluateKeywords]) -> Evaluation:
    """Score a table of forecasts against the actual values.

    Args:
        forecasts: a table that `forecast` reads: our predictions, or time stamps and a column per model (or per step,
            h0 to h23); a list of such tables, of different models. If one lies in a run directory, the actuals are
            read as the run's table was, except for what `options` say.
        actuals: a table with the target. Rows are joined on series and time stamp.
        **options: listed below. Every column of numbers that has no other meaning is a model without `model_columns`.
            With `block`, each block of that many steps of a table without cut-offs counts as one forecast made right
            before it; `season` when absent; without either there is no seasonal-naive and no test. Grouped by step,
            each step is tested too.

    Raises:
        ConfigError: an unknown metric, group, model or option.
        DataError: a table cannot be read, or the forecasts are not of these actuals.
    """
    request = EvaluateRequest.from_options({name: value for name, value in options.items() if name not in READING})
    metrics, by, season, block = request.metrics, request.by, request.season, request.block
    model_columns, norm, reference = request.model_columns, request.norm, request.reference
    check_metrics(list(metrics or ()))
    check_groups(by)
    several = list(forecasts) if isinstance(forecasts, list | tuple) else [forecasts]
    if not several:
        raise ConfigError("there is no table of forecasts", "evaluate('predictions.csv', 'data.csv')")
    _refuse_shared_files(request.out, [*several, actuals])
    given = {name: value for name, value in options.items() if name in READING}
    of_run, run_notes = reading_of_run(several)
    if "ignore" in of_run:  # what is asked for now has a role
        of_run = {**of_run, "ignore": [name for name in of_run["ignore"] if name not in given.values()]}
    reading = RunConfig.from_options({**of_run, **given}).data
    panel = read_actuals(fetched(actuals), reading)
    tables = [ForecastTable.read(fetched(each), panel, tuple(model_columns)) for each in several]
    _refuse_idle_options(tables, season, block, norm)
    tidy = joined(tables, block or season)
    notes = [*run_notes, *(note for table in tables for note in table.notes(block or season))]
    if not model_columns:
        tidy, copies = without_copies(tidy)
        notes += copies
    notes += absent_stamps(tidy, panel)
    season = season or panel.frequency.season
    has_cutoffs = "cutoff" in tidy
    if has_cutoffs and SEASONAL_NAIVE not in set(tidy["model"]):
        tidy = pd.concat([tidy, _seasonal_naive_rows(tidy, panel, season)], ignore_index=True)
    reference = _reference(reference, tidy, has_cutoffs)
    scales = insample_scales(panel, _first_forecast_rows(tidy, panel), season)
    shown = in_zone(tidy, panel.zone, ("cutoff", "timestamp") if has_cutoffs else ("timestamp",))
    shown = shown.drop(columns=["series", "row"])
    scores = score(shown, metrics, by, scales=scales, baseline=reference)
    if "rmae" in scores:
        scores["skill_per_cent"] = 100 * (1 - scores["rmae"])
    tests = pd.DataFrame(columns=list(TEST_COLUMNS))
    if has_cutoffs:
        tests = compare_models(shown, norm=norm, by_step="step" in check_groups(by))
    evaluation = Evaluation(scores, tests, shown, reference, season, tuple(notes))
    if request.out is not None:
        evaluation.write(request.out)
    return evaluation


def _refuse_shared_files(out: Path | None, tables: list[Any]) -> None:
    """Refuse to read stdin twice, and to write over a table that is read.

    Raises:
        ConfigError: saying which.
    """
    named = [str(table) for table in tables if isinstance(table, str | Path)]
    if named.count("-") > 1:
        raise ConfigError("forecasts and actuals cannot both come from stdin", "--actuals FILE")
    if out is None:
        return
    if out.suffix not in (".csv", ".json"):
        raise ConfigError(f"--out '{out}' is neither .csv nor .json", "--out scores.csv")
    refuse_outputs({"--out": out}, read=named)


def _refuse_idle_options(tables: Sequence[ForecastTable], season: int | None, block: int | None, norm: int) -> None:
    """Refuse options that would have no effect."""
    has_cutoffs = all(table.has_cutoffs for table in tables)
    if block is not None and has_cutoffs:
        source = tables[0].source
        raise ConfigError(f"--block {block}: '{source}' has a column cutoff", "leave it out")
    if norm != 1 and not (has_cutoffs or block or season):
        raise ConfigError(f"--norm {norm} is for tests, which need to know when forecasts were made", "--block 24")


def _reference(reference: str | None, tidy: pd.DataFrame, has_cutoffs: bool) -> str | None:
    models = [str(name) for name in pd.unique(tidy["model"])]
    if reference is None:
        return SEASONAL_NAIVE if has_cutoffs else None
    if reference not in models:
        if reference == SEASONAL_NAIVE:
            raise ConfigError("seasonal-naive needs to know when the forecasts were made", "--block 24, or --season 24")
        raise ConfigError(f"there is no model '{reference}' to compare with", did_you_mean(reference, models))
    return reference


# --------------------------------------------------------------------------- seasonal-naive


def _seasonal_naive_rows(tidy: pd.DataFrame, panel: Panel, season: int) -> pd.DataFrame:
    """Seasonal-naive forecasts for every row of the first model; NaN where a cut-off is not in the actuals."""
    keys = ["series", "item_id", "cutoff", "timestamp", "step", "row", "target"]
    rows = tidy[keys].drop_duplicates(["series", "cutoff", "timestamp"]).reset_index(drop=True)
    cutoff_rows = rows_at(panel, rows["series"].to_numpy(), rows["cutoff"].to_numpy())
    cutoffs, which = np.unique(cutoff_rows, return_inverse=True)
    known = cutoffs >= 0
    horizon = int(rows["step"].max())
    forecast = np.full((len(cutoffs), horizon), np.nan)
    starts = panel.starts[panel.series_of(cutoffs[known])]
    forecast[known] = seasonal_naive(panel.target, starts, cutoffs[known], season=season, horizon=horizon)
    return rows.assign(prediction=forecast[which, rows["step"].to_numpy() - 1], model=SEASONAL_NAIVE)


def _first_forecast_rows(tidy: pd.DataFrame, panel: Panel) -> Ints:
    """Row of each series after which forecasts begin (num_series,)."""
    firsts = tidy[tidy["row"] >= 0].groupby("series")["row"].min()
    stops = panel.ends.copy()
    stops[firsts.index.to_numpy(np.int64)] = firsts.to_numpy(np.int64)
    return stops
