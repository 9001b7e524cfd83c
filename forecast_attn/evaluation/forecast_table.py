"""Recognises the columns of a table of forecasts, whatever tool wrote it.

Known shapes: ours (prediction, quantiles, perhaps model); a column per model beside a time stamp; and the tables of
nixtla's libraries (unique_id, ds, cutoff, y, a column per model with NAME-lo-90 and NAME-hi-90).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.cells import parse_numbers
from forecast_attn.data.column_names import ITEM_ID_NAMES
from forecast_attn.data.findings import naming, quoted, require_column, stop_at_errors
from forecast_attn.data.frequency import Frequency, Stamps
from forecast_attn.data.roles import find_time, is_numeric
from forecast_attn.errors import DataError
from forecast_attn.evaluation.quantile_scores import quantile_columns

_BOUND = re.compile(r"(?P<model>.+)-(?:(?P<side>lo|hi)-(?P<share>\d+(?:\.\d+)?)|q-(?P<quantile>0\.\d+)|median)")
_ACTUALS = ("target", "y")


@dataclass(frozen=True)
class ModelColumns:
    """A model's columns."""

    prediction: str
    quantiles: dict[float, str]
    """Quantile -> column."""


@dataclass(frozen=True)
class ForecastColumns:
    """The meaning of a table's columns."""

    time: str
    item_id: str | None
    cutoff: str | None
    model: str | None
    """The column of model names, of a table with one column of forecasts."""
    models: dict[str, ModelColumns]
    """One per column of forecasts."""
    left_out: tuple[str, ...]
    """Columns that are not forecasts."""


def forecast_columns(
    frame: pd.DataFrame,
    source: str,
    *,
    chosen: tuple[str, ...],
    time: str | None,
    item_id: str | None,
    target: str | None,
) -> ForecastColumns:
    """Assign a meaning to the columns of a table of forecasts.

    Args:
        frame: as read.
        source: its name, for messages.
        chosen: the columns that are forecasts, one model each; found when empty.
        time: the time column of the actuals, which the forecasts may call the same.
        item_id: their identifier, likewise.
        target: the actuals' name, which is no model's.

    Raises:
        DataError: there is no column of time stamps or of forecasts, or a chosen one is missing or no number.
    """
    names = [str(name) for name in frame.columns]
    for name in chosen:
        require_column(frame, name, source, "model-columns")
    time = next((name for name in ("timestamp", time) if name in names), None)
    special = {n: n if n in names and n != time else None for n in ("cutoff", "step", "model")}
    identifier = next((name for name in (item_id, *ITEM_ID_NAMES) if name is not None and name in names), None)
    taken = {*(name for name in special.values() if name), identifier, *chosen}
    time = time or find_time(frame, [name for name in names if name not in taken], {}, source)
    actual = next((name for name in (*_ACTUALS, target) if name in names and name not in chosen), None)
    free = [name for name in names if name not in (taken - set(chosen)) | {time, actual}]
    models = _models(frame, free, chosen, source)
    used = {name for columns in models.values() for name in (columns.prediction, *columns.quantiles.values())}
    if special["model"] is not None and list(models) != ["prediction"]:
        raise DataError(
            f"'{source}' has a column 'model' and several columns of forecasts: {quoted(sorted(models))}",
            "--model-columns prediction, or leave the column 'model' out",
        )
    left_out = tuple(name for name in free if name not in used)
    return ForecastColumns(time, identifier, special["cutoff"], special["model"], models, left_out)


def _models(frame: pd.DataFrame, free: list[str], chosen: tuple[str, ...], source: str) -> dict[str, ModelColumns]:
    """The columns of each model: `prediction` with quantiles, or every other column of numbers."""
    if not chosen and "prediction" in free:
        chosen = ("prediction",)
    quantiles = {quantile: name for name, quantile in quantile_columns(free).items()}
    bounds = dict(_bounds(free))
    names = chosen or tuple(
        name for name in free if name not in quantiles.values() and name not in bounds and is_numeric(frame[name])
    )
    for name in names:
        if not is_numeric(frame[name]):
            raise DataError(f"column '{name}' of '{source}' does not hold numbers", "--model-columns NAME,NAME")
    if not names:
        columns = quoted([str(name) for name in frame.columns])
        raise DataError(f"'{source}' has no column of forecasts; its columns are {columns}", "--model-columns NAME")
    model_quantiles = {
        name: {quantile: column for column, (model, quantile) in bounds.items() if model == name} for name in names
    }
    if len(names) == 1 and not model_quantiles[names[0]]:
        model_quantiles = {names[0]: quantiles}
    return {name: ModelColumns(name, dict(sorted(model_quantiles[name].items()))) for name in names}


def _bounds(names: list[str]) -> Iterator[tuple[str, tuple[str, float]]]:
    """Columns such as ARIMA-lo-90, their model and the quantile that they are.

    The model of a network that forecasts quantiles alone is its median, NHITS-median.
    """
    for name in names:
        match = _BOUND.fullmatch(name)
        if match is None:
            continue
        models = [each for each in (match["model"], f"{match['model']}-median") if each in names and each != name]
        if models and 0 < (quantile := _quantile_of(match)) < 1:
            yield name, (models[0], quantile)


def _quantile_of(bound: re.Match[str]) -> float:
    if bound["side"] is None:
        return float(bound["quantile"] or 0.5)
    outside = round((1 - float(bound["share"]) / 100) / 2, 9)
    return outside if bound["side"] == "lo" else round(1 - outside, 9)


# --------------------------------------------------------------------------- sample table
# Tables of paths, as `forecast predict --samples` writes them: many values for each series, cut-off and stamp.


QUANTILES = (0.1, 0.5, 0.9)
"""Quantiles that paths are summed up in, beside their own score."""


def has_samples(frame: pd.DataFrame) -> bool:
    """Return whether a table holds one drawn value per row."""
    return {"sample", "value"} <= set(map(str, frame.columns))


def summed_up(frame: pd.DataFrame, source: str) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    """Summarise paths: one row per series, cut-off and stamp with median and quantiles; also return their values.

    Args:
        frame: of drawn values.
        source: its name, for messages.

    Returns:
        The rows, and what was drawn for each (num_rows, num_samples).

    Raises:
        DataError: a value is no number, or rows have different numbers of values.
    """
    with naming(source):
        drawn = parse_numbers(frame["value"], stop_at_errors)
    keys = [name for name in frame.columns if name not in ("sample", "value")]
    codes = frame.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    counts = np.bincount(codes)
    if (counts != counts.max(initial=0)).any():
        few, many = counts.min(), counts.max()
        raise DataError(
            f"'{source}' has {few} samples of some stamps and {many} of others",
            "give every stamp the same number of samples",
        )
    order = np.argsort(codes, kind="stable")
    samples = drawn[order].reshape(len(counts), -1)
    rows = frame[keys].iloc[order[:: samples.shape[1]]].reset_index(drop=True)
    quantiles = {f"{quantile:g}": np.quantile(samples, quantile, axis=1) for quantile in QUANTILES}
    return rows.assign(prediction=np.median(samples, axis=1), **quantiles), samples


# --------------------------------------------------------------------------- step columns
# Tables with a row per forecast and a column per step: h0, h1, … h23, as day-ahead forecasts are often written.


def step_columns(names: Iterable[str]) -> tuple[str, ...]:
    """h0, h1, … as far as they go on; none where there is no h1."""
    known = set(names)
    columns = tuple(itertools.takewhile(known.__contains__, (f"h{number}" for number in itertools.count())))
    return columns if len(columns) > 1 else ()


def first_step_alone(frame: pd.DataFrame, steps: Sequence[str]) -> pd.DataFrame:
    """Keep the first step as the forecast and drop the others, to recognise the other columns."""
    return frame.drop(columns=list(steps[1:])).rename(columns={steps[0]: "prediction"})


def unfolded(frame: pd.DataFrame, steps: Sequence[str], source: str) -> pd.DataFrame:
    """One row per step instead of a column, the steps of a row one after the other; `prediction` holds the values.

    Raises:
        DataError: a cell is no number.
    """
    with naming(source):
        values = np.stack([parse_numbers(frame[name], stop_at_errors) for name in steps], axis=1)
    rows = np.repeat(np.arange(len(frame)), len(steps))
    return first_step_alone(frame, steps).iloc[rows].reset_index(drop=True).assign(prediction=values.ravel())


def stamps_of_steps(stamps: Stamps, number: int, frequency: Frequency) -> tuple[Stamps, Stamps, NDArray[np.int64]]:
    """Stamp, cut-off and step of every unfolded row, (num_rows * number,) each.

    Args:
        stamps: what the first step of each row is a forecast of, (num_rows,). It was made one step before.
        number: steps of a row.
        frequency: of the actuals.
    """
    each = np.stack([frequency.shift(stamps, step) for step in range(number)], axis=1).ravel()
    cutoffs = np.repeat(frequency.shift(stamps, -1), number)
    return each, cutoffs, np.tile(np.arange(1, number + 1), len(stamps))
