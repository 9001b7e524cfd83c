"""Runs a backtest: model and baselines forecast every cut-off, rows go to a file, finished parts survive an
interruption.
"""

from __future__ import annotations

import contextlib
import copy
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import safetensors.torch
import torch
from numpy.typing import NDArray

from forecast_attn.backtest.cutoffs import axis_of
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
from forecast_attn.baselines.registry import FITTED_BASELINES, BaselineSetup, fitted_baseline, quantile_forecasts
from forecast_attn.cluster import shared_out
from forecast_attn.config.values import NETWORK
from forecast_attn.data.cleaning import without_later_values
from forecast_attn.data.windows import WindowArrays
from forecast_attn.devices import cpu_threads
from forecast_attn.errors import DataError
from forecast_attn.forecasting.attention_output import AttentionDumpPlan, NetworkShare
from forecast_attn.forecasting.calibration import Calibration
from forecast_attn.forecasting.inference import forecast_windows
from forecast_attn.forecasting.model import Model
from forecast_attn.forecasting.predict import predictions_csv
from forecast_attn.runs.atomic import PARTIAL_SUFFIX, make_scratch, remove_scratch, write_atomically, write_errors_of
from forecast_attn.training.refit import weights_after
from forecast_attn.training.update import Updated, updated


class WrittenRows(NamedTuple):
    """The rows of a backtest's file, and how they were combined."""

    rows: RowsFile
    """Stamps as the user sees them."""
    weights: dict[int, dict[str, float]]
    """Weights of the network and baselines, by the number of the model; empty where validation chose none."""


def write_backtest(
    backtest: Backtest, out: Path, listener: BacktestListener, jobs: int = 1, engine: str = "local"
) -> WrittenRows:
    """Forecast everything and write the file, whole or not at all; parts of the same backtest are used again.

    Args:
        backtest: what to do.
        out: a file whose name ends in .parquet or .csv.
        listener: called with the progress.
        jobs: see `shared_out`.
        engine: see `shared_out`.

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
        if jobs > 1 or engine != "local":
            work.share(jobs, engine)  # all parts are finished
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
    weights = work.weights()
    parts.remove()
    return WrittenRows(rows, weights)


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
        self._update, self._number = Updated(backtest.model, backtest.start or backtest.model), 0
        self._left_out: set[str] = set()

    def share(self, jobs: int, engine: str) -> None:
        """Have other processes make the parts that are not there yet."""
        backtest, groups = self.backtest, dict[int, list[Part]]()
        for part in backtest.parts:
            if not self.parts.forecasts(part.number).is_file():
                groups.setdefault(self._group_of(part), []).append(part)
        names = [name for name in backtest.baselines if not self.parts.baseline(name).is_file()]
        tasks: list[str | list[Part]] = [*groups.values(), *names]
        work = _RunningBacktest(backtest, self.parts, BacktestListener())
        with (
            shared_out(engine, jobs, backtest.device.type) as in_order,
            contextlib.closing(in_order(_make, work, tasks)) as made,
        ):
            for _ in made:
                pass

    def _group_of(self, part: Part) -> int:
        """Number of the group of parts that one process makes, one after the other."""
        refit = self.backtest.refit
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
            write_part(path, self._forecast_rows(self.model_of(part.model), part))
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

    # ------------------------------------------------------------------ refits

    def model_of(self, number: int) -> Model:
        """The model of a number: the run's own, a refit of before, or a new one of the model before it."""
        return self._update_of(number).model

    def _update_of(self, number: int) -> Updated:
        if number != self._number:
            self._update, self._number = self._loaded(number) or self._refitted(number), number
        return self._update

    def _loaded(self, number: int) -> Updated | None:
        base = self.backtest.model
        if number == 0:
            return Updated(base, self.backtest.start or base)
        if not self.parts.weights(number).is_file():
            return None
        calibration = self.parts.calibration(number)
        if calibration.is_file():
            base = replace(base, calibration=Calibration.from_dict(json.loads(calibration.read_text(encoding="utf-8"))))
        model = _with_weights(base, self.parts.weights(number))
        start = self.parts.start(number)
        return Updated(model, _with_weights(base, start) if start.is_file() else model)

    def _refitted(self, number: int) -> Updated:
        backtest, parts = self.backtest, self.parts
        before = self._update_of(0 if backtest.refit.origin == "run" else number - 1)
        fold = next(fold for fold in backtest.folds.folds if fold.model == number)
        self.listener.refitting(number, fold.cutoff)
        scratch = parts.scratch(number)
        request = backtest.refit.request(number, fold.cutoff, axis_of(backtest.panel), backtest.accelerator)
        update = updated(before, backtest.panel, request, scratch, backtest.device, self.listener.epoch_done)
        if backtest.chooses_weights:  # before the weights of the network, whose file says that the refit is done
            chosen = weights_after(update.start, backtest.panel, request, backtest.device) if update.is_new else None
            if chosen:
                write_atomically(parts.combination(number), json.dumps(chosen))
        if update.model.calibration is not None:
            write_atomically(parts.calibration(number), json.dumps(update.model.calibration.to_dict()))
        if update.start is not update.model:
            write_atomically(parts.start(number), safetensors.torch.save(_weights(update.start)))
        write_atomically(parts.weights(number), safetensors.torch.save(_weights(update.model)))
        shutil.rmtree(scratch)
        if number > 1 and backtest.attention_path is None:
            parts.weights(number - 1).unlink(missing_ok=True)
            parts.start(number - 1).unlink(missing_ok=True)
        return update

    # ------------------------------------------------------------------ combination

    def weights_of(self, number: int) -> dict[str, float]:
        """The weights of the combination with the model of a number, which a refit that chose none has from before;
        empty where the network has one half.
        """
        numbers = (each for each in range(number, 0, -1) if self.parts.combination(each).is_file())
        last = next(numbers, None)
        if last is None:
            return self.backtest.weights
        return dict(json.loads(self.parts.combination(last).read_text(encoding="utf-8")))

    def weights(self) -> dict[int, dict[str, float]]:
        """Weights that were chosen on validation windows, by the number of the model."""
        return {number: self.weights_of(number) for number in self.backtest.folds.models if self.backtest.weights}

    def _combined_rows(self, paths: list[Path]) -> Iterator[pa.Table]:
        non_negative = self.backtest.model.config.data.non_negative
        names = [name for name in self.backtest.combine_with if name not in self._left_out]
        of_each = {name: row_groups(self.parts.baseline(name)) for name in names}  # a group per part
        for part, path in zip(self.backtest.parts, paths, strict=True):
            others = {name: next(groups) for name, groups in of_each.items()}
            rows, weights = rows_of_part(path), self.weights_of(part.model)
            yield combined_rows(rows, others, weights, non_negative=non_negative)

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
        backtest, path = self.backtest, self.backtest.attention_path
        if path is None:
            return
        every = np.sort(backtest.folds.windows)
        first = self.model_of(backtest.folds.models[0])
        output = AttentionDumpPlan.plan(
            first, backtest.panel, self.arrays, every, backtest.attention, self._network_share()
        )
        self.listener.attention_planned(output.size, path)
        with output.open(path) as writer:
            for number in backtest.folds.models:
                windows = backtest.folds.windows[backtest.folds.windows_of_model(number)]
                cutoffs = np.intersect1d(output.cutoffs, windows)
                model = self.model_of(number).uncalibrated
                for forecasts in forecast_windows(model, backtest.panel, cutoffs, self.arrays):
                    output.write(writer, forecasts)

    def _network_share(self) -> NetworkShare:
        """The weight of the network in the combination; None where refits chose several."""
        if not self.backtest.weights:
            return NetworkShare(0.5 if self.backtest.combine_with else 1.0)
        chosen = {each.get(NETWORK, 0.0) for each in self.weights().values()}
        return NetworkShare(chosen.pop() if len(chosen) == 1 else None)

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


def _with_weights(model: Model, path: Path) -> Model:
    """The model with the weights that `_weights` gave, from their file."""
    saved = safetensors.torch.load_file(path)
    networks = copy.deepcopy(model.networks)
    for number, network in enumerate(networks):
        prefix = f"{number}."
        parameters = {key.removeprefix(prefix): value for key, value in saved.items() if key.startswith(prefix)}
        network.load_state_dict(parameters)
    return replace(model, networks=networks)


def _weights(model: Model) -> dict[str, torch.Tensor]:
    """Parameters of all networks of a model, by the number of the network and the name of the parameter."""
    return {
        f"{number}.{name}": value.detach().cpu().contiguous()
        for number, network in enumerate(model.networks)
        for name, value in network.state_dict().items()
    }


# --------------------------------------------------------------------------- parts
# Finished parts of a backtest, in a hidden folder beside its file, so that a kill costs no more than one part.


class Parts:
    """The folder of a backtest's parts.

    Attributes:
        folder: gone when the backtest is whole.
        changed: what an earlier backtest into the same file had otherwise, whose parts are deleted; None where there
            was none, or the same.
        num_finished: how many finished parts of the windows there were; baselines are no parts.
    """

    def __init__(self, out: Path, identity: dict[str, Any]) -> None:
        """Open or begin.

        Args:
            out: the file that is to be.
            identity: everything its bytes depend on, JSON-able.

        Raises:
            RunError: the folder cannot be made.
        """
        self.folder = out.with_name(f".{out.name}.parts")
        self._identity = self.folder / "backtest.txt"
        identity = json.loads(json.dumps(identity))  # as it will be read: JSON has no tuples
        self.changed = self._difference(identity)
        with write_errors_of(out):
            if self.changed is not None or not self._identity.is_file():
                make_scratch(self.folder, self._identity.name)
                write_atomically(self._identity, json.dumps(identity))  # in ASCII: a path may be no UTF-8
            for leftover in self.folder.glob(f".*{PARTIAL_SUFFIX}"):
                leftover.unlink()
        self.num_finished = len(list(self.folder.glob("part-*.arrow")))

    def _difference(self, identity: dict[str, Any]) -> str | None:
        """The first thing that is not as in the folder."""
        if not self._identity.is_file():
            return None
        try:
            before = json.loads(self._identity.read_text(encoding="utf-8"))
            return next((name for name in identity if before.get(name) != identity[name]), None)
        except (OSError, ValueError, AttributeError):
            return "parts that can be read"

    def forecasts(self, number: int) -> Path:
        """Forecasts of one part of the windows by the model."""
        return self.folder / f"part-{number:06d}.arrow"

    def baseline(self, name: str) -> Path:
        """All forecasts of a baseline."""
        return self.folder / f"baseline-{name}.parquet"

    def weights(self, number: int) -> Path:
        """Weights of a refit."""
        return self.folder / f"refit-{number:06d}.safetensors"

    def start(self, number: int) -> Path:
        """Weights that the next refit begins with, where these are others."""
        return self.folder / f"refit-{number:06d}.start.safetensors"

    def calibration(self, number: int) -> Path:
        """Calibration of a refit."""
        return self.folder / f"refit-{number:06d}.calibration"

    def combination(self, number: int) -> Path:
        """Weights of the combination with a refit."""
        return self.folder / f"refit-{number:06d}.weights"

    def scratch(self, number: int) -> Path:
        """An empty folder to refit in."""
        folder = self.folder / f"refit-{number:06d}"
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def remove(self) -> None:
        """Delete the folder: the backtest is whole."""
        remove_scratch(self.folder, self._identity.name)


# --------------------------------------------------------------------------- comparing
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
    setup = replace(BaselineSetup.of(backtest.model.schema, boundary), chronos_model=backtest.chronos_model)
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
    if not backtest.refit.every:
        # Nothing that the first forecast did not know, and nothing that training did not see.
        yield slice(None), min(backtest.trained_until, folds.folds[0].cutoff)
        return
    for model in folds.models:
        yield folds.windows_of_model(model), next(fold.cutoff for fold in folds.folds if fold.model == model)
