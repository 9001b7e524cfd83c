"""Runs a backtest: model and baselines forecast every cut-off, rows go to a file, finished parts survive an
interruption.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from forecast_attn.backtest.finished_parts import Parts
from forecast_attn.backtest.forecast_rows import (
    RowsFile,
    actual_values,
    check_out,
    combined_rows,
    parquet_in_memory,
    row_groups,
    rows_of_part,
    rows_schema,
    rows_table,
    write_parquet,
    write_part,
)
from forecast_attn.backtest.job import Backtest, BacktestListener, Part
from forecast_attn.backtest.refits import Refits
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.baselines.registry import FITTED_BASELINES, BaselineSetup, fitted_baseline, quantile_forecasts
from forecast_attn.cluster import shared_out
from forecast_attn.data.cleaning import without_later_values
from forecast_attn.data.windows import WindowArrays
from forecast_attn.devices import cpu_threads
from forecast_attn.errors import DataError
from forecast_attn.forecasting.attention_output import AttentionDumpPlan, NetworkShare
from forecast_attn.forecasting.inference import forecast_windows
from forecast_attn.forecasting.model import Model
from forecast_attn.forecasting.prediction_table import predictions_csv
from forecast_attn.runs.atomic import write_atomically


class WrittenRows(NamedTuple):
    """The rows of a backtest's file, and how they were combined."""

    rows: RowsFile
    """Stamps as the user sees them."""
    combinations: dict[int, Combination]
    """By the number of the model; empty where validation chose none."""


def write_backtest(backtest: Backtest, out: Path, listener: BacktestListener) -> WrittenRows:
    """Forecast everything and write the file, whole or not at all; parts of the same backtest are used again.

    Args:
        backtest: what to do.
        out: a file whose name ends in .parquet or .csv.
        listener: called with the progress.

    Raises:
        ConfigError: the file is neither.
        RunError: a file cannot be written, or a refit's loss became non-finite.
        DataError: there is too little to refit on, or to fit a baseline on.
        KeyboardInterrupt: Ctrl-C; the parts are kept.
    """
    check_out(out)
    parts = Parts(out, backtest.identity())
    if parts.changed is not None:
        listener.restarted(parts.changed)
    elif parts.num_finished:
        listener.resumed(parts.num_finished)
    # TensorFloat-32 and several threads would round otherwise: `predict` computes under the same settings.
    with cpu_threads(backtest.model.config.training.threads):
        work = _RunningBacktest(backtest, parts, listener)
        if backtest.options.jobs > 1 or backtest.options.engine != "local":
            work.share()  # all parts are finished
        work.compare()  # first, so that a baseline that cannot be fitted is reported before the long part
        work.forecast()
        work.write_attention()
    schema = rows_schema(backtest.panel, backtest.model.quantiles)
    if out.suffix.lower() == ".parquet":
        write_parquet(out, work.tables(), schema)
        rows = RowsFile(out, work.models)
    else:  # a CSV has fewer digits, so the exact rows are kept in memory
        rows = RowsFile(parquet_in_memory(work.tables(), schema), work.models)
        write_atomically(out, predictions_csv(rows.frame()))
    combinations = work.refits.combinations()
    parts.remove()
    return WrittenRows(rows, combinations)


def rows_as_forecast(backtest: Backtest, folder: Path) -> pd.DataFrame:
    """The rows of a backtest as the run forecasts them: of its combination, where it has one.

    Args:
        backtest: what to do.
        folder: for the file of the rows.

    Raises:
        ConfigError, RunError, DataError: as `write_backtest`.
    """
    frame = write_backtest(backtest, folder / backtest.run.backtest.name, BacktestListener()).rows.frame()
    return frame[frame["model"] == backtest.models[-1]]


class _RunningBacktest:
    """The steps of a backtest over its parts."""

    def __init__(self, backtest: Backtest, parts: Parts, listener: BacktestListener) -> None:
        self.backtest, self.parts, self.listener = backtest, parts, listener
        self.actual = actual_values(backtest.panel)
        self.arrays: WindowArrays = backtest.model.schema.windows_of(backtest.panel).to(backtest.device)
        self.refits = Refits(backtest, parts, listener)
        self._left_out: set[str] = set()

    def share(self) -> None:
        """Have other processes make the parts that are not there yet."""
        backtest, groups = self.backtest, dict[int, list[Part]]()
        for part in backtest.parts:
            if not self.parts.forecasts(part.number).is_file():
                groups.setdefault(self._group_of(part), []).append(part)
        names = [name for name in backtest.baselines if not self.parts.baseline(name).is_file()]
        tasks: list[str | list[Part]] = [*groups.values(), *names]
        work = _RunningBacktest(backtest, self.parts, BacktestListener())
        with (
            shared_out(backtest.options.engine, backtest.options.jobs, backtest.device.type) as in_order,
            contextlib.closing(in_order(_make, work, tasks)) as made,
        ):
            for _ in made:
                pass

    def _group_of(self, part: Part) -> int:
        """Number of the group of parts that one process makes, one after the other."""
        refit = self.backtest.options.refits
        if not refit.every:
            return part.number  # parts of the run's own model are independent
        if refit.origin == "run":
            return part.model  # its refit needs no other
        return 0  # a refit that begins where another ended waits for it

    def forecast(self) -> None:
        """Write every part that does not exist yet."""
        for part in self.backtest.parts:
            self.forecast_part(part)

    def forecast_part(self, part: Part) -> None:
        """The forecasts of a part."""
        path = self.parts.forecasts(part.number)
        if not path.is_file():
            write_part(path, self._forecast_rows(self.refits.model_of(part.model), part))
        else:
            self.listener.forecasting(part.windows.stop - part.windows.start, part.model)

    def _forecast_rows(self, model: Model, part: Part) -> pa.Table:
        backtest, points, quantiles = self.backtest, [], []
        windows = backtest.folds.windows[part.windows]
        # As in `predict`: where there are weights, windows are computed the way that has them, which rounds otherwise.
        for batch in forecast_windows(model, backtest.panel, windows, self.arrays, need_weights=model.has_attention):
            points.append(batch.prediction)
            if batch.quantiles is not None:
                quantiles.append(batch.quantiles)
            self.listener.forecasting(len(batch.cutoffs), part.model)
        of_quantile = np.moveaxis(np.concatenate(quantiles), -1, 0) if quantiles else ()
        named = dict(zip(model.quantiles, of_quantile, strict=True))
        return rows_table(backtest.panel, self.actual, backtest.name, windows, np.concatenate(points), named)

    def _combined_rows(self, paths: list[Path]) -> Iterator[pa.Table]:
        non_negative = self.backtest.model.config.data.non_negative
        names = [name for name in self.backtest.combine_with if name not in self._left_out]
        of_each = {name: row_groups(self.parts.baseline(name)) for name in names}  # a group per part
        for part, path in zip(self.backtest.parts, paths, strict=True):
            others = {name: next(groups) for name, groups in of_each.items()}
            rows, combination = rows_of_part(path), self.refits.combination_of(part.model)
            yield combined_rows(rows, others, combination, non_negative=non_negative)

    # ------------------------------------------------------------------ baselines and attention

    def compare(self) -> None:
        """Compute every baseline that is still missing, on the same windows."""
        for name in self.backtest.baselines:
            if not self.parts.baseline(name).is_file():
                self.listener.comparing(name)
                self.compare_with(name)

    def compare_with(self, name: str) -> None:
        """The forecasts of a baseline; empty for one that was not named and cannot be fitted."""
        backtest, panel = self.backtest, self.backtest.panel
        none, windows = dict.fromkeys(backtest.model.quantiles), backtest.folds.windows
        tables = (
            rows_table(panel, self.actual, name, windows[part.windows], point, quantiles or none)
            for part, (point, quantiles) in zip(backtest.parts, compared_forecasts(name, backtest), strict=True)
        )
        try:
            write_parquet(self.parts.baseline(name), tables, rows_schema(panel, backtest.model.quantiles))
        except DataError as error:
            if name not in backtest.dispensable:
                raise
            self.listener.baseline_left_out(name, error.message)
            self._left_out.add(name)

    def write_attention(self) -> None:
        """Write the attention of the chosen windows, each from the model that forecast it."""
        backtest, path = self.backtest, self.backtest.options.attention_out
        if path is None:
            return
        every = np.sort(backtest.folds.windows)
        first = self.refits.model_of(backtest.folds.models[0])
        output = AttentionDumpPlan.plan(
            first, backtest.panel, self.arrays, every, backtest.options.weights_to_write, self._network_share()
        )
        self.listener.attention_planned(output.size, path)
        with output.open(path) as writer:
            for number in backtest.folds.models:
                windows = backtest.folds.windows[backtest.folds.windows_of_model(number)]
                cutoffs = np.intersect1d(output.cutoffs, windows)
                model = self.refits.model_of(number).uncalibrated
                for forecasts in forecast_windows(model, backtest.panel, cutoffs, self.arrays):
                    output.write(writer, forecasts)

    def _network_share(self) -> NetworkShare:
        """The weight of the network in the combination; None where refits chose several."""
        if not self.backtest.combination.weights:
            return NetworkShare(0.5 if self.backtest.combine_with else 1.0)
        first, *others = [NetworkShare.of(each) for each in self.refits.combinations().values()]
        return first if all(each == first for each in others) else NetworkShare(None)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all whose rows are in the file, in its order."""
        return (*self.backtest.models, *(name for name in self.backtest.baselines if name not in self._left_out))

    def tables(self) -> Iterator[pa.Table]:
        """All rows in the order of the file: the model's, the combination's, then those of each baseline."""
        paths = [self.parts.forecasts(part.number) for part in self.backtest.parts]
        yield from map(rows_of_part, paths)
        if len(self.backtest.models) > 1:
            yield from self._combined_rows(paths)
        for name in self.models[len(self.backtest.models) :]:
            yield from row_groups(self.parts.baseline(name))


def _make(work: _RunningBacktest, task: str | list[Part]) -> None:
    """Make the forecasts of a baseline, or of some parts."""
    with cpu_threads(work.backtest.model.config.training.threads):
        if isinstance(task, str):
            work.compare_with(task)
        else:
            for part in task:
                work.forecast_part(part)


# --------------------------------------------------------------------------- baselines
# Forecasts of the baselines of a backtest, and the rows that fitted ones learn from.


OfPart = tuple[NDArray[np.float64], dict[float, NDArray[np.float64] | None] | None]
"""The point (num_windows, horizon), and of each quantile the same; None of a baseline that forecasts points alone."""


def compared_forecasts(name: str, backtest: Backtest) -> Iterator[OfPart]:
    """Forecast all windows of a backtest with a baseline.

    What is fitted is estimated when the network is: once, or at each refit.

    Yields:
        The forecasts of each part of the backtest, in the target's units; NaN where there is none.

    Raises:
        ConfigError: the baseline is not installed.
        DataError: there is too little to fit it on, at every refit.
    """
    fits = list(_fits(backtest))
    if name not in FITTED_BASELINES:
        fits = [(slice(None), fits[0][1])]
    windows, errors = range(len(backtest.folds.windows)), 0
    for served, boundary in fits:
        baseline = None
        try:
            baseline = _fitted_on(name, backtest, served, boundary)
        except DataError:  # of an early refit, which may have too little to learn from: no forecasts
            errors += 1
            if errors == len(fits):
                raise
        for part in backtest.parts:
            if part.windows.start in windows[served]:
                yield _unknown(backtest, part.windows) if baseline is None else baseline(part.windows)


def _unknown(backtest: Backtest, part: slice) -> OfPart:
    return np.full((part.stop - part.start, backtest.model.schema.horizon), np.nan), None


def _fitted_on(name: str, backtest: Backtest, served: slice, boundary: Any) -> Callable[[slice], OfPart]:
    """A baseline that was fitted on rows up to a boundary, as a function of some windows.

    Args:
        name: of the baseline.
        backtest: whose windows they are.
        served: the windows that it serves.
        boundary: stamp of the last row that it may learn from.

    Raises:
        ConfigError, DataError: see `compared_forecasts`.
    """
    windows = backtest.folds.windows
    setup = replace(BaselineSetup.of(backtest.model.schema, boundary), chronos_model=backtest.options.chronos_model)
    panel = without_later_values(backtest.panel, boundary) if name in FITTED_BASELINES else backtest.panel
    fitted = fitted_baseline(name, panel, setup)
    if fitted is not None:
        return lambda part: (fitted(windows[part]), None)
    names, first = backtest.model.quantiles, served.start or 0
    points, quantiles = quantile_forecasts(name, panel, windows[served], setup, names)

    def of_part(part: slice) -> OfPart:
        rows = slice(part.start - first, part.stop - first)
        if quantiles is None:
            return points[rows], None
        return points[rows], {name: quantiles[rows, :, index] for index, name in enumerate(names)}

    return of_part


def _fits(backtest: Backtest) -> Iterator[tuple[slice, Any]]:
    """The windows that one estimation serves, and the stamp of the last row that it may learn from."""
    folds = backtest.folds
    if not backtest.options.refits.every:
        # Nothing that the first forecast did not know, and nothing that training did not see.
        yield slice(None), min(backtest.trained_until, folds.folds[0].cutoff)
        return
    for model in folds.models:
        yield folds.windows_of_model(model), next(fold.cutoff for fold in folds.folds if fold.model == model)
