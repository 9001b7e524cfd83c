"""Anomaly scores of the rows of a table: how far each lies outside the interval that was forecast for it, and how often
rows known to be normal lie as far outside theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.backtest.backtest import rows_as_forecast
from forecast_attn.backtest.backtest_options import BacktestOptions
from forecast_attn.backtest.backtest_plan import plan_on_panel, plan_on_validation
from forecast_attn.backtest.backtest_table import read_actuals
from forecast_attn.backtest.cutoffs import Axis, Schedule, axis_of, parse_stamp
from forecast_attn.backtest.forecast_rows import actual_values
from forecast_attn.backtest.job import Backtest
from forecast_attn.config.requests import ScoreRequest
from forecast_attn.config.values import quantile_name
from forecast_attn.data.csv_text import csv_text
from forecast_attn.data.findings import counted
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.future import extend, extend_by_guess
from forecast_attn.data.panel import Panel
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.forecasting.history import with_calendar_of
from forecast_attn.forecasting.inference import load_model
from forecast_attn.forecasting.model import Model
from forecast_attn.forecasting.prediction_table import with_written_times
from forecast_attn.runs.atomic import replacing, write_atomically, write_errors_of
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import Table, name_of

if TYPE_CHECKING:
    from forecast_attn.data.zones import Zone

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def interval_scores(actual: Floats, lower: Floats, upper: Floats, side: str) -> Floats:
    """Distance beyond the interval, in widths of the interval: above 0 outside, 0 on a bound, below 0 inside.

    This is the conformity score of Sesia and Candès 2020, "A comparison of some conformal quantile regression methods"
    (CQR-r). An interval without width has an infinite score outside of it.

    Args:
        actual: values (num_rows,).
        lower: lower bounds (num_rows,).
        upper: upper bounds (num_rows,).
        side: above, below or both: the bounds that count.
    """
    above, below = actual - upper, lower - actual
    distance = {"above": above, "below": below, "both": np.maximum(above, below)}[side]
    width = upper - lower
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == 0, 0.0, distance / width)


def numbers_above(scores: Floats, reference: Floats) -> Ints:
    """Return the number of reference scores that are at least as high as each score (num_rows,)."""
    return len(reference) - np.searchsorted(np.sort(reference), scores, side="left")


def most_above(rate: float, num_reference: int) -> int:
    """The most reference scores that may be as high as that of a flagged row; -1 where no row can be flagged.

    A row as normal as the reference is then flagged with a probability of at most `rate`: its conformal p-value,
    (1 + the number above) / (1 + the number of the reference), is at most `rate` (Vovk, Gammerman and Shafer 2005).
    """
    exact = Fraction(repr(rate)) * (num_reference + 1)
    return exact.numerator // exact.denominator - 1


@dataclass(frozen=True)
class _EveryRow(Schedule):
    """The cut-offs `step` steps before each row from the first one on."""

    step: int = 1
    after: Any = None
    """The stamp before the first row to score, where `start` names none."""
    since: Any = None
    """The first cut-off; of all of them when None."""

    def cutoff_stamps(self, panel: Panel, horizon: int, trained_until: Any = None) -> Stamps:
        """The stamps to forecast from, ascending (num_cutoffs,); see `Schedule.cutoff_stamps`."""
        axis = axis_of(panel)
        first = np.searchsorted(axis.stamps, self.first_row(panel, axis))
        cutoffs = axis.stamps[max(first - self.step, 0) : len(axis.stamps) - self.step]
        return cutoffs if self.since is None else cutoffs[cutoffs >= self.since]

    def first_row(self, panel: Panel, axis: Axis) -> Any:
        """The stamp of the first row to score.

        Raises:
            ConfigError: `start` is no date.
        """
        if self.start is None:
            return axis.frequency.shift(np.array([self.after]), 1)[0]
        try:
            return parse_stamp(self.start, panel)
        except DataError as error:
            raise ConfigError(f"--start '{self.start}': {error.message}", error.hint) from None


@dataclass(frozen=True, eq=False)
class AnomalyScores:
    """Result of `Forecaster.anomalies`."""

    frame: pd.DataFrame
    """item_id, timestamp, cutoff, step, target, prediction, lower, upper, score, p_value, flagged; sorted by series and
    time."""
    summary: dict[str, Any]
    """Rows, flags, rate, reference and what was not scored, JSON-able."""

    def __repr__(self) -> str:
        return f"<AnomalyScores: {counted(len(self.frame), 'row')}, {self.summary['flagged']:,} flagged>"

    @property
    def flagged(self) -> pd.DataFrame:
        """The flagged rows, those furthest outside first."""
        rows = self.frame[self.frame["flagged"]]
        return rows.sort_values("score", ascending=False, kind="stable").reset_index(drop=True)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able form: the summary and the flagged rows; an infinite score is None."""
        rows = with_written_times(self.flagged) if len(self.frame) else self.flagged
        records = rows.astype({"cutoff": object, "timestamp": object}).to_dict("records")
        finite = [{name: _finite(value) for name, value in record.items()} for record in records]
        return {**self.summary, "flagged_rows": finite}

    def write(self, path: Path) -> None:
        """Write the rows as .csv or .parquet, whole or not at all.

        Raises:
            RunError: it cannot be written.
        """
        if path.suffix.lower() == ".parquet":
            with replacing(path) as stream, write_errors_of(path):
                self.frame.to_parquet(stream, index=False)
        else:
            write_atomically(path, csv_text(with_written_times(self.frame), float_format="%.10g"))


def score_rows(
    run: RunDir, data: pd.DataFrame | Table, request: ScoreRequest, scratch: Callable[[], Path]
) -> AnomalyScores:
    """Score every row of a table that has a target, from the first one after the reference on.

    Args:
        run: finished, with two quantiles or more.
        data: the rows, and at least a lookback before them.
        request: the options.
        scratch: makes a folder for the forecasts.

    Raises:
        ConfigError: options that contradict each other, or the run has no intervals.
        RunError: the run is damaged, or its table is not to be had.
        DataError: what is wrong with a table, or it has no row to score.
    """
    model = load_model(run)
    _check_request(model, request)
    normal = plan_on_validation(run, request.reference, request.accelerator)
    reference = _scored(normal, request, scratch())["score"].to_numpy()
    allowed = most_above(request.rate, len(reference))
    if allowed < 0:
        raise _too_few(request.rate, len(reference))
    known = read_actuals(model, run, data)
    panels, unknown_future = _with_room(known, model)
    panel = panels[0]
    model = with_calendar_of(model, panel)
    schedule = _EveryRow(start=request.start, step=request.step, after=axis_of(normal.panel).stamps[-1])
    first = _check_start(schedule, panel, name_of(data))
    options = BacktestOptions(baselines=(), accelerator=request.accelerator)
    backtest = plan_on_panel(run, model, panel, options, schedule)
    rows = _scored(backtest, request, scratch())
    if unknown_future is not None:
        # Earlier forecasts read nothing that was guessed.
        since = _first_cutoff_beyond(known, model.schema.horizon)
        late = rows["cutoff"] >= pd.Series(known.zone.column(np.array([since])))[0]
        if late.any():
            again = plan_on_panel(run, model, panels[1], options, replace(schedule, since=since))
            rows = rows[_same_in_both(rows, late.to_numpy(), _scored(again, request, scratch()))]
            rows = rows.reset_index(drop=True)
    above = numbers_above(rows["score"].to_numpy(), reference)
    rows = rows.assign(p_value=(1 + above) / (1 + len(reference)), flagged=above <= allowed)
    observed = _observed_rows(panel, first)
    summary = {
        "rows": len(rows),
        "flagged": int(rows["flagged"].sum()),
        "rate": request.rate,
        "side": request.side,
        "step": request.step,
        "interval": [backtest.model.quantiles[0], backtest.model.quantiles[-1]],
        "from": panel.zone.stamp_text(first),
        "reference": {"rows": len(reference), **_span(normal)},
        "inside_training": int(backtest.folds.inside_training > 0),
        "not_scored": observed - len(rows),
        "unknown_future": unknown_future,
        "unseen_series": list(backtest.unseen),
    }
    return AnomalyScores(rows, summary)


def _check_request(model: Model, request: ScoreRequest) -> None:
    if len(model.quantiles) < 2:
        raise ConfigError(
            "the run has no intervals: it forecasts fewer than two quantiles",
            "forecast train DATA --quantiles 0.05,0.5,0.95 --calibration cqr",
        )
    if request.step > model.schema.horizon:
        raise ConfigError(
            f"--step {request.step} lies behind the horizon of the run, {model.schema.horizon} steps",
            f"--step {model.schema.horizon} or less",
        )


def _scored(backtest: Backtest, request: ScoreRequest, folder: Path) -> pd.DataFrame:
    """One row per row of the table, as it was forecast `step` steps before, with its score."""
    frame = rows_as_forecast(backtest, folder)
    at_step = (frame["step"] == request.step) & frame["target"].notna()
    rows = frame[at_step].sort_values(["item_id", "timestamp"], kind="stable", ignore_index=True)
    lower, upper = (rows[quantile_name(backtest.model.quantiles[at])].to_numpy() for at in (0, -1))
    kept = rows[["item_id", "timestamp", "cutoff", "step", "target", "prediction"]]
    scores = interval_scores(rows["target"].to_numpy(), lower, upper, request.side)
    return kept.assign(lower=lower, upper=upper, score=scores)


def _same_in_both(rows: pd.DataFrame, late: NDArray[np.bool_], others: pd.DataFrame) -> NDArray[np.bool_]:
    """Mask of the rows whose forecast is the same under two guesses: those that do not depend on what was guessed.

    Args:
        rows: forecast under one guess.
        late: those that may depend on it (num_rows,).
        others: the late ones under the other guess.
    """
    names, same = ["prediction", "lower", "upper"], ~late
    same[late] = (rows.loc[late, names].to_numpy() == others[names].to_numpy()).all(axis=1)
    return same


def _first_cutoff_beyond(panel: Panel, horizon: int) -> Any:
    """The first cut-off from which a horizon reaches beyond the rows of a series."""
    return panel.timestamps[np.maximum(panel.ends - horizon, panel.starts[:-1])].min()


def _with_room(panel: Panel, model: Model) -> tuple[list[Panel], str | None]:
    """The panel with empty rows after each series, so that its last row can be the first step of a horizon.

    Returns:
        The panel; or two, with a low and a high guess for covariates that are not known, and which ones these are.
    """
    room = model.schema.horizon - 1
    if not room:
        return [panel], None
    try:
        longer, unknown = [extend(panel, room, masked=model.schema.masked)], None
    except DataError as error:
        longer, unknown = [extend_by_guess(panel, room, high=high) for high in (False, True)], error.message
    return [_known_up_to_its_end(panel, each, room) for each in longer], unknown


def _known_up_to_its_end(panel: Panel, longer: Panel, room: int) -> Panel:
    """The longer panel with its new rows as known ones, so that a horizon may reach into them."""
    shifted = {
        name: rows - panel.starts[panel.series_of(rows)] + longer.starts[panel.series_of(rows)]
        for name, rows in panel.filled.rows.items()
    }
    return replace(longer, num_known=longer.num_known + room, filled=replace(panel.filled, rows=shifted))


def _check_start(schedule: _EveryRow, panel: Panel, source: str) -> Any:
    """The stamp of the first row to score.

    Raises:
        DataError: the table ends before it.
    """
    axis = axis_of(panel)
    first = schedule.first_row(panel, axis)
    observed = panel.timestamps[~np.isnan(panel.target)]
    last = observed.max() if len(observed) else axis.stamps[-1]
    if last < first:
        ended = "" if schedule.start is not None else ", where the reference ends"
        raise DataError(
            f"'{source}' has no value at or after {panel.zone.stamp_text(first)}{ended}: its last one is of "
            f"{panel.zone.stamp_text(last)}",
            "--start DATE scores older rows, too; or a table with newer ones",
        )
    return first


def _observed_rows(panel: Panel, first: Any) -> int:
    """Number of rows that have a value and are not before `first`."""
    return int((~np.isnan(actual_values(panel)) & (panel.timestamps >= first)).sum())


def _span(backtest: Backtest) -> dict[str, str]:
    """First and last stamp that a backtest forecasts."""
    zone: Zone = backtest.panel.zone
    folds = backtest.folds.folds
    return {"from": zone.stamp_text(folds[0].first), "until": zone.stamp_text(folds[-1].last)}


def _too_few(rate: float, rows: int) -> DataError:
    exact = 1 / Fraction(repr(rate)) - 1
    digits = 10 ** max(math.ceil(math.log10(rows + 1)) + 1, 2)
    smallest = math.ceil(digits / (rows + 1)) / digits
    return DataError(
        f"a rate of {rate:g} takes {math.ceil(exact):,} rows of reference; there are {rows:,}",
        f"--rate {smallest:g} or more, or --reference FILE with more rows known to be normal",
    )


def _finite(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
