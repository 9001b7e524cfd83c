"""A backtest from its plan to its file: refits, forecasts part by part, baselines, attention."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import safetensors.torch
import torch

from forecast_attn.atomic import write_atomically
from forecast_attn.attention_dump import DumpChoice
from forecast_attn.attention_output import AttentionOutput
from forecast_attn.backtest.actuals import digest_of
from forecast_attn.backtest.comparing import compared_forecasts
from forecast_attn.backtest.folds import Folds
from forecast_attn.backtest.forecast_rows import (
    actual_values,
    check_out,
    combined_rows,
    row_groups,
    rows_schema,
    rows_table,
    write_parquet,
)
from forecast_attn.backtest.parts import Parts
from forecast_attn.backtest.refit_options import RefitOptions
from forecast_attn.data.panel import Panel
from forecast_attn.data.windows import WindowArrays
from forecast_attn.evaluation.combination import COMBINATION
from forecast_attn.inference import BATCH_SIZE, Model, forecast_windows
from forecast_attn.prediction import predictions_csv
from forecast_attn.run_dir import RunDir, sha256_of
from forecast_attn.threads import cpu_threads
from forecast_attn.version import package_version

if TYPE_CHECKING:
    from forecast_attn.training.progress import EpochRecord

ROWS_PER_PART = 1 << 18
"""Rows of a part, which is a row group too: small enough that little is lost with a kill."""


class BacktestListener:
    """Hears how a backtest goes; every method may be overridden, none must be."""

    def planned(self, backtest: Backtest) -> None:
        """Before anything is computed."""

    def restarted(self, changed: str) -> None:
        """The parts of an earlier backtest with another `changed` are deleted."""

    def resumed(self, parts: int) -> None:
        """So many parts of the same backtest were there."""

    def refitting(self, number: int, cutoff: Any) -> None:
        """Before a refit; the cut-off is an axis stamp."""

    def epoch_done(self, record: EpochRecord) -> None:
        """After every epoch of a refit."""

    def forecasting(self, windows: int, model: int) -> None:
        """So many more windows are forecast, by the model of that number."""

    def comparing(self, name: str) -> None:
        """Before a baseline is computed."""

    def attention_planned(self, size: Any, path: Path) -> None:
        """Before the attention file is written."""


class Part(NamedTuple):
    """Windows that are forecast and kept together: neighbours, of one model."""

    number: int
    model: int
    windows: slice


@dataclass(frozen=True, eq=False)
class Backtest:
    """Everything a backtest is made of."""

    run: RunDir
    model: Model
    panel: Panel
    folds: Folds
    name: str
    """Of the model in the file."""
    device: torch.device
    trained_until: Any
    """The last stamp the run itself was trained on."""
    unseen: tuple[str, ...] = ()
    """Series left out because training did not see them."""
    baselines: tuple[str, ...] = ()
    combine_with: tuple[str, ...] = ()
    """Some of the baselines; the mean of theirs and the model's forecast is a model too."""
    refit: RefitOptions = field(default_factory=RefitOptions)
    accelerator: str = "auto"
    attention_path: Path | None = None
    attention: DumpChoice = field(default_factory=DumpChoice)

    @property
    def models(self) -> tuple[str, ...]:
        """Whoever forecasts and is no baseline."""
        return (self.name, COMBINATION) if self.combine_with else (self.name,)

    @property
    def parts(self) -> tuple[Part, ...]:
        """All windows in parts of whole batches."""
        size = max(ROWS_PER_PART // self.model.schema.horizon // BATCH_SIZE, 1) * BATCH_SIZE
        found: list[Part] = []
        for model in self.folds.models:
            own = self.folds.windows_of_model(model)
            for first in range(own.start, own.stop, size):
                found.append(Part(len(found), model, slice(first, min(first + size, own.stop))))
        return tuple(found)

    def identity(self) -> dict[str, Any]:
        """What the file's bytes depend on, by the names a user knows."""
        stamps, refit = [str(fold.cutoff) for fold in self.folds.folds], self.refit.to_dict()
        return {
            "version of forecast-attn": package_version(),
            "model": sha256_of(self.run.metrics),  # which holds the digest of the weights
            "options of the run": asdict(self.model.config),
            "table": digest_of(self.panel),
            "cut-offs": stamps,
            "--refit": refit.pop("refit_every"),
            **{f"--{name.replace('_', '-')}": value for name, value in refit.items()},
            "--accelerator": self.device.type,
            "name": self.name,
        }


def write_backtest(backtest: Backtest, out: Path, listener: BacktestListener) -> pd.DataFrame:
    """Forecast everything and write the file, whole or not at all; parts of the same backtest are used again.

    Args:
        backtest: what to do.
        out: a file whose name ends in .parquet or .csv.
        listener: hears how it goes.

    Returns:
        The rows, stamps as the user sees them.

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
    elif parts.found:
        listener.resumed(parts.found)
    # TensorFloat-32 and several threads would round otherwise: `predict` computes under the same settings.
    with cpu_threads(backtest.model.config.training.threads):
        work = _Work(backtest, parts, listener)
        work.forecast()
        work.compare()
        work.look()
    if out.suffix.lower() == ".parquet":
        write_parquet(out, work.tables(), rows_schema(backtest.panel, backtest.model.levels))
    frame: pd.DataFrame = pa.concat_tables(work.tables()).to_pandas()
    if out.suffix.lower() == ".csv":
        write_atomically(out, predictions_csv(frame))
    parts.remove()
    return frame


class _Work:
    """The steps of a backtest over its parts."""

    def __init__(self, backtest: Backtest, parts: Parts, listener: BacktestListener) -> None:
        self.backtest, self.parts, self.listener = backtest, parts, listener
        self.actual = actual_values(backtest.panel)
        self.arrays: WindowArrays = backtest.model.schema.windows_of(backtest.panel).to(backtest.device)
        self._model, self._number = backtest.model, 0

    def forecast(self) -> None:
        """Every part that is not there yet."""
        for part in self.backtest.parts:
            path = self.parts.forecasts(part.number)
            if not path.is_file():
                table = self._forecast_rows(self.model_of(part.model), part)
                write_parquet(path, [table], table.schema, compression="none")
            else:
                self.listener.forecasting(part.windows.stop - part.windows.start, part.model)

    def _forecast_rows(self, model: Model, part: Part) -> pa.Table:
        backtest, tables = self.backtest, []
        windows = backtest.folds.windows[part.windows]
        # As in `predict`: where there are weights, windows are computed the way that has them, which rounds otherwise.
        for batch in forecast_windows(
            model,
            backtest.panel,
            windows,
            device=backtest.device,
            arrays=self.arrays,
            need_weights=model.has_attention,
        ):
            of_level = () if batch.levels is None else np.moveaxis(batch.levels, -1, 0)
            levels = dict(zip(model.levels, of_level, strict=True))
            tables.append(
                rows_table(backtest.panel, self.actual, backtest.name, batch.cutoffs, batch.prediction, levels)
            )
            self.listener.forecasting(len(batch.cutoffs), part.model)
        return pa.concat_tables(tables).combine_chunks()

    # ------------------------------------------------------------------ refits

    def model_of(self, number: int) -> Model:
        """The model of a number: the run's own, a refit of before, or a new one of the model before it."""
        if number != self._number:
            self._model, self._number = self._loaded(number) or self._refitted(number), number
        return self._model

    def _loaded(self, model: int) -> Model | None:
        own = self.backtest.model
        if model == 0:
            return own
        path = self.parts.weights(model)
        if not path.is_file():
            return None
        saved = safetensors.torch.load_file(path)
        networks = copy.deepcopy(own.networks)
        for number, network in enumerate(networks):
            prefix = f"{number}."
            mine = {key.removeprefix(prefix): value for key, value in saved.items() if key.startswith(prefix)}
            network.load_state_dict(mine)
        return replace(own, networks=networks)

    def _refitted(self, number: int) -> Model:
        # With Lightning, which forecasting does not need.
        from forecast_attn.backtest.refitting import refit_in

        backtest = self.backtest
        before = backtest.model if backtest.refit.origin == "run" else self.model_of(number - 1)
        fold = next(fold for fold in backtest.folds.folds if fold.model == number)
        self.listener.refitting(number, fold.cutoff)
        scratch = self.parts.scratch(number)
        model = refit_in(scratch, before, backtest, number, fold.cutoff, self.listener)
        write_atomically(self.parts.weights(number), safetensors.torch.save(_weights(model)))
        shutil.rmtree(scratch)
        if number > 1 and backtest.attention_path is None:
            self.parts.weights(number - 1).unlink(missing_ok=True)
        return model

    # ------------------------------------------------------------------ baselines and attention

    def compare(self) -> None:
        """Every baseline that is not there yet, on the same windows."""
        backtest, panel = self.backtest, self.backtest.panel
        none = dict.fromkeys(backtest.model.levels)
        for name in backtest.baselines:
            path = self.parts.baseline(name)
            if path.is_file():
                continue
            self.listener.comparing(name)
            windows = backtest.folds.windows
            forecast = compared_forecasts(name, backtest)
            tables = (
                rows_table(panel, self.actual, name, windows[part.windows], forecast[part.windows], none)
                for part in backtest.parts
            )
            write_parquet(path, tables, rows_schema(panel, backtest.model.levels))

    def look(self) -> None:
        """Write the attention of the windows that were asked for, each by the model that forecast it."""
        backtest, path = self.backtest, self.backtest.attention_path
        if path is None:
            return
        every = np.sort(backtest.folds.windows)
        first = self.model_of(backtest.folds.models[0])
        output = AttentionOutput.plan(first, backtest.panel, self.arrays, every, backtest.attention, backtest.device)
        self.listener.attention_planned(output.size, path)
        with output.open(path) as writer:
            for number in backtest.folds.models:
                own = np.intersect1d(output.cutoffs, backtest.folds.windows[backtest.folds.windows_of_model(number)])
                model = self.model_of(number)
                for forecasts in forecast_windows(
                    model, backtest.panel, own, device=backtest.device, arrays=self.arrays
                ):
                    output.write(writer, forecasts)

    def tables(self) -> Iterator[pa.Table]:
        """All rows in the order of the file: the model's, the combination's, then those of each baseline."""
        paths = [self.parts.forecasts(part.number) for part in self.backtest.parts]
        for path in paths:
            yield from row_groups(path)
        if self.backtest.combine_with:
            non_negative = self.backtest.model.config.data.non_negative
            of_each = [row_groups(self.parts.baseline(name)) for name in self.backtest.combine_with]  # a group per part
            for path, *others in zip(paths, *of_each, strict=True):
                yield combined_rows(pa.concat_tables(row_groups(path)), others, non_negative=non_negative)
        for path in map(self.parts.baseline, self.backtest.baselines):
            yield from row_groups(path)


def _weights(model: Model) -> dict[str, torch.Tensor]:
    """Of all networks of a model, by the number of the network and the name of the parameter."""
    return {
        f"{number}.{name}": value.detach().cpu().contiguous()
        for number, network in enumerate(model.networks)
        for name, value in network.state_dict().items()
    }
